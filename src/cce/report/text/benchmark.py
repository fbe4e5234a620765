"""A benchmark in, its figures out: as aligned text, and as `cce.bench/v1` JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from cce.domain.benchmark import BackendBenchmark, Benchmark, Latency, Spread, TokenSaving
from cce.domain.redaction import Redaction
from cce.numerals import format_score
from cce.report.text.tables import UNDEFINED, align, one_line

SCHEMA = "cce.bench/v1"

_LATENCIES = ("p50", "p95", "max")


def render_benchmark_text(benchmark: Benchmark) -> str:
    """What was measured, then a table of times and one of tokens; a spread is `median [min .. max]`."""
    lines = [f"CCE bench — is it fast and cheap? ({SCHEMA})"]
    lines += [f"  {label:<8}: {one_line(text)}" for label, text in _facts(benchmark)]
    lines += ["", "  ms a query; first builds what the backend needs and no backend before it built"]
    lines += align(list(_latency_rows(benchmark.backends)), n_left=1)
    lines += ["", "  tokens in the top k against those of the whole files they come from"]
    lines += align(list(_saving_rows(benchmark.backends)), n_left=1)
    return "\n".join(lines) + "\n"


def render_benchmark_json(benchmark: Benchmark) -> str:
    """One object, keys sorted: counts are integers, measured figures strings of six decimals."""
    record = {
        "backends": [_backend_record(each) for each in benchmark.backends],
        "chunks": benchmark.n_chunks,
        "corpus": benchmark.corpus,
        "files": benchmark.n_files,
        "fixtures": benchmark.fixtures,
        "index_mb_per_second": format_score(benchmark.bytes_per_second / 1e6),
        "index_seconds": _spread_record(benchmark.index_seconds),
        "machine": benchmark.machine,
        "peak_memory_bytes": benchmark.n_peak_bytes,
        "queries": benchmark.n_queries,
        "runs": benchmark.n_runs,
        "schema": SCHEMA,
        "text_bytes": benchmark.n_bytes,
        "warm_ups": benchmark.n_warm_ups,
    }
    if benchmark.redaction is Redaction.STRICT:
        record["redact"] = benchmark.redaction.value
    return json.dumps(record, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _facts(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    sizes = (
        f"{benchmark.n_files} files, {benchmark.n_chunks} chunks, {benchmark.n_bytes / 1e6:.2f} MB of text"
    )
    source = "made of evenly spaced chunks" if benchmark.fixtures is None else f"of {benchmark.fixtures}"
    plural = "" if benchmark.n_runs == 1 else "s"
    speed = f"{_spread_text(benchmark.index_seconds)} s, {benchmark.bytes_per_second / 1e6:.2f} MB/s"
    peak = benchmark.n_peak_bytes
    yield "corpus", f"{benchmark.corpus} ({sizes})"
    if benchmark.redaction is Redaction.STRICT:
        yield "redact", benchmark.redaction.value
    yield "queries", f"{benchmark.n_queries}, {source}"
    yield "machine", benchmark.machine
    yield (
        "runs",
        f"{benchmark.n_runs} timed run{plural} after {benchmark.n_warm_ups} warm-up; median [min .. max]",
    )
    yield "index", f"{speed}, from scratch without the cache"
    yield "memory", UNDEFINED if peak is None else f"{peak / 1e6:.1f} MB at most, the workers' aside"


def _latency_rows(backends: Sequence[BackendBenchmark]) -> Iterator[Sequence[str]]:
    yield "backend", "first", *_LATENCIES
    for each in backends:
        spreads = (_spread_text(spread) for spread in _spreads(each.latency))
        yield each.backend, f"{each.latency.first:.3f}", *spreads


def _saving_rows(backends: Sequence[BackendBenchmark]) -> Iterator[Sequence[str]]:
    yield "backend", "top k", "files", "saved"
    for each in backends:
        saving = each.saving
        yield each.backend, str(saving.n_in_hits), str(saving.n_in_files), _percentage(saving)


def _percentage(saving: TokenSaving) -> str:
    return UNDEFINED if saving.share is None else f"{100 * saving.share:.1f}%"


def _spreads(latency: Latency) -> tuple[Spread, ...]:
    """In the order of `_LATENCIES`."""
    return latency.p50, latency.p95, latency.most


def _spread_text(spread: Spread) -> str:
    return f"{spread.median:.3f} [{spread.least:.3f} .. {spread.most:.3f}]"


def _backend_record(each: BackendBenchmark) -> dict[str, object]:
    share = each.saving.share
    latency: dict[str, object] = {
        name: _spread_record(spread) for name, spread in zip(_LATENCIES, _spreads(each.latency), strict=True)
    }
    return {
        "backend": each.backend,
        "latency_ms": latency | {"first": format_score(each.latency.first)},
        "tokens": {
            "in_files": each.saving.n_in_files,
            "in_hits": each.saving.n_in_hits,
            "saved": None if share is None else format_score(share),
        },
    }


def _spread_record(spread: Spread) -> dict[str, str]:
    return {
        "max": format_score(spread.most),
        "median": format_score(spread.median),
        "min": format_score(spread.least),
    }
