"""A directory in, the chunks that it is cut into out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cce.domain.ranking import Chunk
from cce.domain.redaction import STANDARD
from cce.retrieval.indexing.directory import ProgressCallback
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus


class ChunkList(NamedTuple):
    """All chunks in the order of the index, and of how many files they are."""

    chunks: Sequence[Chunk]
    n_files: int
    notices: tuple[str, ...]


def list_chunks(corpus: CorpusChoice, progress: ProgressCallback) -> ChunkList:
    """The chunks of the directory that `corpus` names; raises CceError."""
    # Other implementations know the standard rules only, whatever CCE_REDACT says.
    corpus = corpus._replace(redaction=STANDARD)
    indexed = open_corpus(corpus, corpus_of(corpus), progress)
    return ChunkList(indexed.index.chunks, len(indexed.index.positions_by_file), indexed.notices)
