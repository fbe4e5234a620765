"""A benchmark in, aligned text for a terminal out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cce.domain.benchmark import BackendBenchmark, Benchmark, Latency, Spread, TokenSaving
from cce.domain.redaction import Redaction
from cce.quoting import counted, one_line
from cce.report.json.benchmark import SCHEMA
from cce.report.text.tables import align
from cce.report.view.cells import UNDEFINED

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


def _facts(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    sizes = (
        f"{benchmark.n_files} files, {benchmark.n_chunks} chunks, {benchmark.n_bytes / 1e6:.2f} MB of text"
    )
    source = "made of evenly spaced chunks" if benchmark.fixtures is None else f"of {benchmark.fixtures}"
    speed = f"{_spread_text(benchmark.index_seconds)} s, {benchmark.bytes_per_second / 1e6:.2f} MB/s"
    peak = benchmark.n_peak_bytes
    yield "corpus", f"{benchmark.corpus} ({sizes})"
    if benchmark.redaction is Redaction.STRICT:
        yield "redact", benchmark.redaction.value
    yield "queries", f"{benchmark.n_queries}, {source}"
    yield "machine", benchmark.machine
    yield (
        "runs",
        f"{counted(benchmark.n_runs, 'timed run')} after {benchmark.n_warm_ups} warm-up; median [min .. max]",
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
