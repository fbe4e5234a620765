"""The index: chunks in index order with everything the backends look things up in.

Postings, vectors and the import graph are built when first asked for, so that bm25 alone never
pays for an embedding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cce.domain.chunk import Chunk
from cce.retrieval.chunk_table import ChunkTable
from cce.retrieval.embedding.hashing import HashEmbedder, HashVectors, hash_vectors
from cce.retrieval.graph import ImportGraph
from cce.retrieval.ordering import IntVector, id_ranks
from cce.retrieval.postings import Postings, build_postings, invert
from cce.retrieval.segment import Segment
from cce.tokens import estimate_tokens

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import Embedder, FloatMatrix, FloatVector

_T = TypeVar("_T")


class Index:
    """Built once, then only read; two indexes of the same chunks rank alike to the bit."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        file_imports: Mapping[str, tuple[str, ...]],
        file_tokens: Mapping[str, int],
        embedder: Embedder,
        embeddings: FloatMatrix | None = None,
    ) -> None:
        """`chunks` in index order; `file_imports` leaves out files without any.

        `embeddings`, float64[n_chunks, dimension], are what `embedder` gave for the chunks; without
        them it is asked when a query first needs them.
        """
        self.chunks = ChunkTable.of(chunks)
        self.file_imports = file_imports
        self._file_tokens = file_tokens
        self.embedder = embedder
        self._given_embeddings = embeddings
        self._columns: dict[int, FloatVector] = {}
        self._derived: dict[Callable[[Index], Any], Any] = {}
        self._query: str | None = None
        self._of_query: dict[Callable[[Index, str], Any], Any] = {}

    @property
    def file_tokens(self) -> Mapping[str, int]:
        """Token estimate of each whole scrubbed file, by path."""
        return self._file_tokens

    @cached_property
    def id_rank(self) -> IntVector:
        """int64[n_chunks]: rank of each chunk id in byte order."""
        return id_ranks(self.chunks.chunk_ids)

    @cached_property
    def postings(self) -> Postings:
        """Token counts of every chunk."""
        return build_postings(chunk.content for chunk in self.chunks)

    @cached_property
    def embeddings(self) -> FloatMatrix:
        """float64[n_chunks, dimension]: the embedder's vectors, one row a chunk."""
        if self._given_embeddings is not None:
            return self._given_embeddings
        if self._hash_vectors is not None:
            return self._hash_vectors.rows()
        return self.embedder.embed([chunk.content for chunk in self.chunks])

    @cached_property
    def _hash_vectors(self) -> HashVectors | None:
        """The vectors of the hash embedder, from the postings: nothing is tokenised twice."""
        is_hashed = isinstance(self.embedder, HashEmbedder) and self._given_embeddings is None
        return hash_vectors(self.postings) if is_hashed else None

    @cached_property
    def _embedding_columns(self) -> FloatMatrix:
        return np.ascontiguousarray(self.embeddings.T)

    @property
    def positions_by_file(self) -> Mapping[str, Sequence[int]]:
        """Chunk positions of each file, files in path order."""
        return self.chunks.positions_by_file

    def derived(self, build: Callable[[Index], _T]) -> _T:
        """What `build` makes of this index: made once, for all backends that ask."""
        if build not in self._derived:
            self._derived[build] = build(self)
        made: _T = self._derived[build]
        return made

    def of_query(self, compute: Callable[[Index, str], _T], query: str) -> _T:
        """What `compute` makes of `query`, once for all backends that are asked the same query in turn.

        Only the newest query's is kept: scores of every chunk for every query would fill the memory.
        """
        if query != self._query:
            self._query, self._of_query = query, {}
        if compute not in self._of_query:
            self._of_query[compute] = compute(self, query)
        made: _T = self._of_query[compute]
        return made

    def forget_query(self) -> None:
        """Let the next query be computed, even if it is the newest one again."""
        self._query = None

    def outer_chunks_of(self, path: str) -> list[Chunk]:
        """The chunks of a file in index order, without those that lie within an earlier one, as far as known.

        None for a file that is not indexed. All text of the file that is indexed is in them.
        """
        return [self.chunks[position] for position in self.chunks.outer_positions_of(path)]

    @cached_property
    def graph(self) -> ImportGraph:
        """Which indexed file imports which."""
        return ImportGraph(tuple(self.positions_by_file), self.file_imports)

    def cosines(self, query: bytes) -> FloatVector:
        """float64[n_chunks]: cosine of every chunk with the query, summed over dimensions in order.

        A dimension where the query is 0 adds exactly 0, so leaving it out keeps every bit.
        """
        cosines = np.zeros(len(self.chunks))
        if self.chunks:
            (vector,) = self.embedder.embed([query])
            for dimension in np.flatnonzero(vector).tolist():
                cosines += vector[dimension] * self._dimension(dimension)
        return cosines

    def _dimension(self, number: int) -> FloatVector:
        """One coordinate of all vectors; those that queries ask for stay at hand."""
        column = self._columns.get(number)
        if column is None:
            of_hash = self._hash_vectors
            column = self._embedding_columns[number] if of_hash is None else of_hash.dimension(number)
            self._columns[number] = column
        return column


class SegmentIndex(Index):
    """An index of files just chunked, or read from the cache: its tokens are counted already."""

    def __init__(self, segment: Segment, embedder: Embedder, embeddings: FloatMatrix | None = None) -> None:
        """`embeddings` as for Index."""
        super().__init__(
            segment.chunk_table(),
            {path: names for path, names in zip(segment.paths, segment.imports, strict=True) if names},
            {},
            embedder,
            embeddings,
        )
        self.segment = segment

    @cached_property
    def file_tokens(self) -> Mapping[str, int]:
        """Token estimate of each whole scrubbed file: asked for by stores, never by a ranking."""
        texts = zip(self.segment.paths, self.segment.texts, strict=True)
        return {path: estimate_tokens(len(text)) for path, text in texts}

    @cached_property
    def postings(self) -> Postings:
        """Token counts of every chunk."""
        return invert(self.segment.token_counts)
