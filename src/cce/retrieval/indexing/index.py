"""The index: chunks in index order with everything the backends look things up in.

Postings, vectors and the import graph are built when first asked for, so that bm25 alone never
pays for an embedding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cce.domain.ranking import Chunk
from cce.retrieval.counting.token_counts import MANY_POSTINGS
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.chunk_table import ChunkTable
from cce.retrieval.indexing.graph import ImportGraph
from cce.retrieval.indexing.segment import Segment, spanned_texts
from cce.retrieval.scoring.ordering import id_ranks
from cce.retrieval.scoring.scorer import ListScorer
from cce.tokens import estimate_tokens

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import Embedder, FloatMatrix
    from cce.retrieval.scoring.arrays.hash_vectors import HashVectors
    from cce.retrieval.scoring.arrays.postings import Postings
    from cce.retrieval.scoring.scorer import Scorer

# Every query orders all chunks. From so many chunks on, a few hundred queries take longer in lists than in
# arrays by more than the import of numpy takes, some 70 ms.
_MANY_CHUNKS = 500


class Index:
    """Immutable: what it derives of its chunks it derives once. Two indexes of the same chunks rank alike."""

    def __init__(
        self,
        chunks: Sequence[Chunk],
        file_imports: Mapping[str, tuple[str, ...]],
        file_tokens: Mapping[str, int],
        embedder: Embedder,
        embeddings: FloatMatrix | None = None,
        root: str | None = None,
    ) -> None:
        """`chunks` in index order; `file_imports` leaves out files without any.

        `embeddings`, float64[n_chunks, dimension], are what `embedder` gave for the chunks; without
        them it is asked when a query first needs them. `root` is the directory that was indexed; a
        store has none.
        """
        self.chunks = ChunkTable.of(chunks)
        self.file_imports = file_imports
        self._file_tokens = file_tokens
        self.embedder = embedder
        self.root = root
        self._given_embeddings = embeddings

    @property
    def file_tokens(self) -> Mapping[str, int]:
        """Token estimate of each whole scrubbed file, by path."""
        return self._file_tokens

    @cached_property
    def id_rank(self) -> list[int]:
        """Rank of each chunk id in byte order, by position."""
        return id_ranks(self.chunks.chunk_ids)

    @cached_property
    def postings(self) -> Postings:
        """Token counts of every chunk."""
        from cce.retrieval.counting.arrays.counting import count_span_tokens
        from cce.retrieval.scoring.arrays.postings import invert

        return invert(count_span_tokens(spanned_texts(self.chunks)))

    @cached_property
    def embeddings(self) -> FloatMatrix:
        """float64[n_chunks, dimension]: the embedder's vectors, one row a chunk."""
        if self._given_embeddings is not None:
            return self._given_embeddings
        if not self._is_hashed:
            return self.embedder.embed([chunk.content for chunk in self.chunks])
        return self._hash_vectors().rows()

    @cached_property
    def scorer(self) -> Scorer:
        """What knows bm25 scores and cosines of all chunks."""
        from cce.retrieval.scoring.arrays.scorer import ArrayScorer, EmbeddingColumns

        if self._is_hashed:
            return ArrayScorer(self.postings, self.embedder, self._hash_vectors, self.id_rank)
        return ArrayScorer(
            self.postings, self.embedder, lambda: EmbeddingColumns(self.embeddings), self.id_rank
        )

    def _hash_vectors(self) -> HashVectors:
        from cce.retrieval.scoring.arrays.hash_vectors import hash_vectors

        return hash_vectors(self.postings)

    @property
    def _is_hashed(self) -> bool:
        """Whether the vectors follow from the tokens, so that nothing is tokenised twice."""
        return isinstance(self.embedder, HashEmbedder) and self._given_embeddings is None

    @property
    def positions_by_file(self) -> Mapping[str, Sequence[int]]:
        """Chunk positions of each file, files in path order."""
        return self.chunks.positions_by_file

    def has_file(self, path: str) -> bool:
        """Whether `path` is a file of the corpus, with chunks or without, as far as the index knows."""
        return path in self.positions_by_file or path in self.file_tokens

    @property
    def line_counts(self) -> Mapping[str, int]:
        """The number of lines of each file whose whole text is known: of none, unless it was just indexed.

        A final line end opens one more line, as for the chunk of a whole file.
        """
        return {}

    def outer_chunks_of(self, path: str) -> list[Chunk]:
        """The chunks of a file in index order, without those that lie within an earlier one, as far as known.

        None for a file that is not indexed. All text of the file that is indexed is in them.
        """
        return [self.chunks[position] for position in self.chunks.outer_positions_of(path)]

    def text(self, path: str, first_line: int, last_line: int) -> bytes:
        """The lines `first_line` to `last_line` of a file, 1-based and inclusive, as UTF-8 with their ends.

        Only indexed text: a line in no chunk is left out, and of chunks that share a line the first one
        in index order gives it. So a directory and a store of it answer alike.
        """
        lines: dict[int, bytes] = {}
        for chunk in self.outer_chunks_of(path):
            if chunk.end_line < first_line or last_line < chunk.start_line:
                continue
            for number, line in enumerate(chunk.content.split(b"\n"), start=chunk.start_line):
                if first_line <= number <= last_line:
                    lines.setdefault(number, line)
        return b"".join(lines[number] + b"\n" for number in sorted(lines))

    @cached_property
    def graph(self) -> ImportGraph:
        """Which indexed file imports which."""
        return ImportGraph(tuple(self.positions_by_file), self.file_imports)


class SegmentIndex(Index):
    """An index of files just chunked, or read from the cache: its tokens are counted already."""

    def __init__(
        self,
        segment: Segment,
        embedder: Embedder,
        embeddings: FloatMatrix | None = None,
        root: str | None = None,
    ) -> None:
        """`embeddings` and `root` as for Index."""
        super().__init__(
            segment.chunk_table(),
            {path: names for path, names in zip(segment.paths, segment.imports, strict=True) if names},
            {},
            embedder,
            embeddings,
            root,
        )
        self.segment = segment

    @cached_property
    def file_tokens(self) -> Mapping[str, int]:
        """Token estimate of each whole scrubbed file: asked for by stores, never by a ranking."""
        texts = zip(self.segment.paths, self.segment.texts, strict=True)
        return {path: estimate_tokens(len(text)) for path, text in texts}

    @cached_property
    def line_counts(self) -> Mapping[str, int]:
        """As for Index; the last chunk of a file may end before the file does."""
        texts = zip(self.segment.paths, self.segment.texts, strict=True)
        return {path: text.count(b"\n") + 1 for path, text in texts}

    @cached_property
    def postings(self) -> Postings:
        """Token counts of every chunk."""
        from cce.retrieval.scoring.arrays.postings import invert

        return invert(self.segment.token_counts)

    @cached_property
    def scorer(self) -> Scorer:
        """As for Index; a small corpus is scored without numpy, whose import would take longer."""
        token_counts = self.segment.token_counts
        is_small = len(token_counts.terms) < MANY_POSTINGS and len(self.chunks) < _MANY_CHUNKS
        if self._is_hashed and is_small and not len(token_counts.reaches):
            return ListScorer(token_counts, self.id_rank)
        return super().scorer
