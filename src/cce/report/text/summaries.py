"""Summaries of indexing runs and stores as aligned text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from cce.domain.redaction import Redaction
from cce.domain.summary import CachedCorpus, Freshness, IndexingSummary, StoreSummary
from cce.quoting import counted, listed, one_line

_N_PATHS_SHOWN = 5


def render_indexing_text(summary: IndexingSummary) -> str:
    """One line per fact, labels aligned."""
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


def render_store_text(summary: StoreSummary) -> str:
    """One line per fact, labels aligned."""
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


def render_cache_text(folder: str, corpora: Sequence[CachedCorpus], max_bytes: int) -> str:
    """Where the cache is, its size, and the size, last use and directory of each corpus, in that order."""
    n_bytes = sum(corpus.n_bytes for corpus in corpora)
    facts = _table(
        [
            ("folder", folder),
            ("corpora", str(len(corpora))),
            ("size", f"{_size(n_bytes)} of at most {_size(max_bytes)}"),
        ]
    )
    if not corpora:
        return facts
    rows = [("size", "last used (UTC)", "corpus")]
    for corpus in corpora:
        used = datetime.fromtimestamp(corpus.used, UTC).strftime("%Y-%m-%d %H:%M")
        rows.append((_size(corpus.n_bytes), used, one_line(corpus.directory or "(of an earlier version)")))
    width = max(len(size) for size, _, _ in rows)
    return facts + "\n" + "".join(f"{size:>{width}}  {used:<16}  {name}\n" for size, used, name in rows)


def render_cache_cleared(folder: str, n_corpora: int, n_bytes: int) -> str:
    """What was removed."""
    return f"removed {counted(n_corpora, 'corpus', 'corpora')} ({_size(n_bytes)}) from {one_line(folder)}\n"


def _redact_rows(redaction: Redaction) -> list[tuple[str, str]]:
    """One row for the strict rules; the standard rules are not shown."""
    return [("redact", redaction.value)] if redaction is Redaction.STRICT else []


def _freshness(freshness: Freshness | None) -> str:
    if freshness is None:
        return "not compared; name it with --dir"
    if freshness.is_fresh:
        return f"{freshness.directory} matches"
    differences = (("new", freshness.new), ("changed", freshness.changed), ("deleted", freshness.deleted))
    parts = [f"{len(paths)} {word}{_some_paths(paths)}" for word, paths in differences if paths]
    return f"{freshness.directory} differs: {'; '.join(parts)}"


def _counts(n_by_name: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in n_by_name.items()) or "nothing"


def _some_paths(paths: Sequence[str]) -> str:
    if not paths:
        return ""
    return f" ({listed(paths, len(paths), _N_PATHS_SHOWN)})"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 100_000 else f"{n_bytes / 1e3:.1f} kB"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{label:<9}: {one_line(text)}\n" for label, text in rows)
