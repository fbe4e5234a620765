"""Summaries: what an indexing run did, and what a store holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from cce.domain.redaction import Redaction


@dataclass(frozen=True, slots=True)
class IndexingSummary:
    """One run of indexing: `n_skipped` counts files by reason, `sensitive` names those never opened."""

    directory: str
    store: str
    n_bytes: int
    n_files: int
    n_chunks: int
    n_tokens: int
    embedder: str
    redaction: Redaction
    n_skipped: Mapping[str, int]
    sensitive: tuple[str, ...]
    elapsed_seconds: float


@dataclass(frozen=True, slots=True)
class Freshness:
    """A store beside its directory; paths in byte order: only there, in both with other text, only stored."""

    directory: str
    new: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]

    @property
    def is_fresh(self) -> bool:
        """Whether indexing again would give the same index."""
        return not (self.new or self.changed or self.deleted)


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """What a store holds: counts of chunks by language and by kind, in byte order of name."""

    store: str
    n_bytes: int
    format_version: str
    embedder: str
    embedder_model: str | None
    redaction: Redaction
    n_files: int
    n_chunks: int
    n_tokens: int
    n_by_language: Mapping[str, int]
    n_by_kind: Mapping[str, int]
    freshness: Freshness | None

    @property
    def tokens_per_chunk(self) -> float:
        """Mean token count of a chunk; 0 without chunks."""
        return self.n_tokens / self.n_chunks if self.n_chunks else 0.0


class CachedCorpus(NamedTuple):
    """What the cache keeps of one corpus.

    directory  where it is; None if what is kept does not say so, as that of an earlier version
    n_bytes    on disk
    used       when it was last used, in seconds since 1970
    """

    directory: str | None
    n_bytes: int
    used: float
