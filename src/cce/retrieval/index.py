"""The index: chunks in index order with everything the backends look things up in.

Chunked files enter in path order. Postings, vectors and the import graph are built when first
asked for, so that bm25 alone never pays for an embedding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cce.domain.chunk import Chunk
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.graph import ImportGraph
from cce.retrieval.ordering import IntVector, id_ranks
from cce.retrieval.postings import Postings, build_postings
from cce.tokens import estimate_tokens

if TYPE_CHECKING:
    from cce.retrieval.chunking.treesitter import ChunkedFile
    from cce.retrieval.embedding.contract import Embedder, FloatMatrix, FloatVector


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
        self.chunks = tuple(chunks)
        self.file_imports = file_imports
        self.file_tokens = file_tokens
        self.embedder = embedder
        self._given_embeddings = embeddings

    def with_embeddings(self, embeddings: FloatMatrix) -> Index:
        """The same index with the embedder's vectors given: float64[n_chunks, dimension]."""
        return Index(self.chunks, self.file_imports, self.file_tokens, self.embedder, embeddings)

    @cached_property
    def id_rank(self) -> IntVector:
        """int64[n_chunks]: rank of each chunk id in byte order."""
        return id_ranks([chunk.chunk_id for chunk in self.chunks])

    @cached_property
    def postings(self) -> Postings:
        """Token counts of every chunk."""
        return build_postings(chunk.content for chunk in self.chunks)

    @cached_property
    def embeddings(self) -> FloatMatrix:
        """float64[n_chunks, dimension]: the embedder's vectors, one row a chunk."""
        if self._given_embeddings is not None:
            return self._given_embeddings
        if isinstance(self.embedder, HashEmbedder):
            return self.embedder.embed_postings(self.postings)  # nothing is tokenised twice
        return self.embedder.embed([chunk.content for chunk in self.chunks])

    @cached_property
    def _embedding_columns(self) -> FloatMatrix:
        return np.ascontiguousarray(self.embeddings.T)

    @cached_property
    def positions_by_file(self) -> dict[str, list[int]]:
        """Chunk positions of each file, files in path order."""
        positions: dict[str, list[int]] = {}
        for position, chunk in enumerate(self.chunks):
            positions.setdefault(chunk.file_path, []).append(position)
        return positions

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
            for dimension in np.flatnonzero(vector):
                cosines += vector[dimension] * self._embedding_columns[dimension]
        return cosines


def build_index(files: Iterable[ChunkedFile], embedder: Embedder) -> Index:
    """The index of `files`, which come in path order."""
    files = tuple(files)
    return Index(
        [chunk for file in files for chunk in file.chunks],
        {file.path: file.imports for file in files if file.imports},
        {file.path: estimate_tokens(file.n_bytes) for file in files},
        embedder,
    )
