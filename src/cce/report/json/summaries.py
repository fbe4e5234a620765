"""Summaries of indexing runs, stores and the cache as JSON. Every field is spelled out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cce.domain.summary import CachedCorpus, Freshness, IndexingSummary, StoreSummary
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.fields import Json, redact_field


def render_indexing_json(summary: IndexingSummary) -> str:
    """One object, keys sorted; counts are integers."""
    return dump_json(
        {
            "chunks": summary.n_chunks,
            "directory": summary.directory,
            "elapsed_seconds": format_score(summary.elapsed_seconds),
            "embedder": summary.embedder,
            **redact_field(summary.redaction),
            "files": summary.n_files,
            "sensitive": list(summary.sensitive),
            "skipped": dict(summary.n_skipped),
            "store": summary.store,
            "store_bytes": summary.n_bytes,
            "tokens": summary.n_tokens,
        }
    )


def render_store_json(summary: StoreSummary) -> str:
    """One object, keys sorted; `directory` is null where the store was compared with none."""
    return dump_json(
        {
            "average_tokens": format_score(summary.tokens_per_chunk),
            "chunks": summary.n_chunks,
            "directory": _freshness_record(summary.freshness),
            "embedder": summary.embedder,
            **redact_field(summary.redaction),
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


def render_cache_json(folder: str, corpora: Sequence[CachedCorpus], max_bytes: int) -> str:
    """One object, keys sorted; sizes in bytes, last use in UTC; a corpus of an earlier version is null."""
    entries = [
        {
            "bytes": corpus.n_bytes,
            "corpus": corpus.directory,
            "used": datetime.fromtimestamp(corpus.used, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        for corpus in corpora
    ]
    n_bytes = sum(corpus.n_bytes for corpus in corpora)
    return dump_json(
        {
            "bytes": n_bytes,
            "corpora": len(corpora),
            "entries": entries,
            "folder": folder,
            "max_bytes": max_bytes,
        }
    )


def _freshness_record(freshness: Freshness | None) -> Json | None:
    if freshness is None:
        return None
    return {
        "changed": list(freshness.changed),
        "deleted": list(freshness.deleted),
        "matches": freshness.is_fresh,
        "new": list(freshness.new),
        "path": freshness.directory,
    }
