"""Summaries of indexing runs and stores, as aligned text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from cce.domain.redaction import Redaction
from cce.domain.summary import Freshness, IndexingSummary, StoreSummary
from cce.numerals import format_score
from cce.report.text.tables import one_line

_N_PATHS_SHOWN = 5


def render_indexing_text(summary: IndexingSummary) -> str:
    """One line a fact, labels aligned."""
    rows = [
        ("indexed", f"{summary.n_files} files of {summary.directory}"),
        ("chunks", f"{summary.n_chunks} (about {summary.n_tokens} tokens)"),
        ("skipped", _counts(summary.n_skipped)),
        ("sensitive", f"{len(summary.sensitive)} not opened{_some_paths(summary.sensitive)}"),
        ("embedder", summary.embedder),
        *_redact_rows(summary.redaction),
        ("store", f"{summary.store} ({_size(summary.n_bytes)})"),
        ("elapsed", f"{summary.elapsed_seconds:.2f} s"),
    ]
    return _table(rows)


def render_indexing_json(summary: IndexingSummary) -> str:
    """One object, keys sorted; counts are integers."""
    return _json(
        {
            "chunks": summary.n_chunks,
            "directory": summary.directory,
            "elapsed_seconds": format_score(summary.elapsed_seconds),
            "embedder": summary.embedder,
            **dict(_redact_rows(summary.redaction)),
            "files": summary.n_files,
            "sensitive": list(summary.sensitive),
            "skipped": dict(summary.n_skipped),
            "store": summary.store,
            "store_bytes": summary.n_bytes,
            "tokens": summary.n_tokens,
        }
    )


def render_store_text(summary: StoreSummary) -> str:
    """One line a fact, labels aligned."""
    model = "" if summary.embedder_model is None else f" ({summary.embedder_model})"
    rows = [
        ("store", f"{summary.store} ({_size(summary.n_bytes)}, format {summary.format_version})"),
        ("files", str(summary.n_files)),
        ("chunks", f"{summary.n_chunks} (on average {summary.tokens_per_chunk:.1f} tokens)"),
        ("languages", _counts(summary.n_by_language)),
        ("kinds", _counts(summary.n_by_kind)),
        ("embedder", f"{summary.embedder}{model}"),
        *_redact_rows(summary.redaction),
        ("directory", _freshness(summary.freshness)),
    ]
    return _table(rows)


def render_store_json(summary: StoreSummary) -> str:
    """One object, keys sorted; `directory` is null where the store was compared with none."""
    return _json(
        {
            "average_tokens": format_score(summary.tokens_per_chunk),
            "chunks": summary.n_chunks,
            "directory": _freshness_record(summary.freshness),
            "embedder": summary.embedder,
            **dict(_redact_rows(summary.redaction)),
            "embedder_model": summary.embedder_model,
            "files": summary.n_files,
            "format_version": summary.format_version,
            "kinds": dict(summary.n_by_kind),
            "languages": dict(summary.n_by_language),
            "store": summary.store,
            "store_bytes": summary.n_bytes,
            "tokens": summary.n_tokens,
        }
    )


def render_cache_text(folder: str, sizes: Sequence[int], max_bytes: int) -> str:
    """Where the cache is and what it holds; `sizes` has the bytes of each corpus."""
    return _table(
        [
            ("folder", folder),
            ("corpora", str(len(sizes))),
            ("size", f"{_size(sum(sizes))} of at most {_size(max_bytes)}"),
        ]
    )


def render_cache_json(folder: str, sizes: Sequence[int], max_bytes: int) -> str:
    """One object, keys sorted; sizes in bytes."""
    return _json({"bytes": sum(sizes), "corpora": len(sizes), "folder": folder, "max_bytes": max_bytes})


def render_cache_cleared(folder: str, n_corpora: int, n_bytes: int) -> str:
    """What was removed."""
    noun = "corpus" if n_corpora == 1 else "corpora"
    return f"removed {n_corpora} {noun} ({_size(n_bytes)}) from {one_line(folder)}\n"


def _redact_rows(redaction: Redaction) -> list[tuple[str, str]]:
    """What is said of the strict rules; the standard ones go without saying."""
    return [("redact", redaction.value)] if redaction is Redaction.STRICT else []


def _freshness(freshness: Freshness | None) -> str:
    if freshness is None:
        return "not compared; name it with --dir"
    if freshness.is_fresh:
        return f"{freshness.directory} matches"
    differences = (("new", freshness.new), ("changed", freshness.changed), ("deleted", freshness.deleted))
    told = [f"{len(paths)} {word}{_some_paths(paths)}" for word, paths in differences if paths]
    return f"{freshness.directory} differs: {'; '.join(told)}"


def _freshness_record(freshness: Freshness | None) -> dict[str, object] | None:
    if freshness is None:
        return None
    return {
        "changed": list(freshness.changed),
        "deleted": list(freshness.deleted),
        "matches": freshness.is_fresh,
        "new": list(freshness.new),
        "path": freshness.directory,
    }


def _counts(n_by_name: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in n_by_name.items()) or "nothing"


def _some_paths(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    return f" ({', '.join(paths[:_N_PATHS_SHOWN])}{', …' if len(paths) > _N_PATHS_SHOWN else ''})"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:.1f} kB"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{label:<9}: {one_line(text)}\n" for label, text in rows)


def _json(record: Mapping[str, object]) -> str:
    return json.dumps(record, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
