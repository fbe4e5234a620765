"""A benchmark in, `cce.bench/v1` out. Every field is spelled out."""

from __future__ import annotations

from cce.domain.benchmark import BackendBenchmark, Benchmark, Latency, Spread
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.fields import Json, redact_field, score_or_null

SCHEMA = "cce.bench/v1"


def render_benchmark_json(benchmark: Benchmark) -> str:
    """One object, keys sorted: counts are integers, measured figures strings of six decimals."""
    record: Json = {
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
        **redact_field(benchmark.redaction),
        "text_bytes": benchmark.n_bytes,
        "warm_ups": benchmark.n_warm_ups,
    }
    return dump_json(record)


def _backend_record(each: BackendBenchmark) -> Json:
    return {
        "backend": each.backend,
        "latency_ms": _latency_record(each.latency),
        "tokens": {
            "in_files": each.saving.n_in_files,
            "in_hits": each.saving.n_in_hits,
            "saved": score_or_null(each.saving.share),
        },
    }


def _latency_record(latency: Latency) -> Json:
    return {
        "first": format_score(latency.first),
        "max": _spread_record(latency.most),
        "p50": _spread_record(latency.p50),
        "p95": _spread_record(latency.p95),
    }


def _spread_record(spread: Spread) -> Json:
    return {
        "max": format_score(spread.most),
        "median": format_score(spread.median),
        "min": format_score(spread.least),
    }
