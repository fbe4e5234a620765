"""The `hybrid` backend: vector and bm25 fused by reciprocal rank, then weighed, thinned and widened.

candidates   the first 3k of vector and of bm25
fusion       reciprocal rank fusion (Cormack, Clarke & Büttcher 2009), bm25 weighing more for
             queries that look a name up
confidence   cosine and literal occurrence; paths of tests, docs and plans count less
diversity    at most three chunks of a file
graph        the best chunks of files that import, or are imported by, the best three
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cce.domain.ranking import Hit, Ranking
from cce.numerals import ordering_key
from cce.retrieval.backends.bm25 import bm25_scores
from cce.retrieval.backends.contract import best_positions
from cce.retrieval.index import Index
from cce.tokens import WHITE_SPACE, tokenize

RRF_OFFSET = 60
LOOKUP_WEIGHT = 1.5
PATH_PENALTY = 0.8
MAX_CHUNKS_OF_A_FILE = 3
GRAPH_DECAY = 0.85
N_GRAPH_SEEDS = 3
N_GRAPH_FILES = 2
N_GRAPH_CHUNKS = 2

_PENALIZED = ("tests/", "test_", "docs/", "spec", "plan")
_LOOKUP_TOKENS = frozenset((b"function", b"class", b"method", b"def"))
_LOOKUP_TEXT = re.compile(rb"\.(?:py|js|jsx|ts|go|rb|rs|java)(?![a-z0-9_])|where is | defined")
_WHITE_SPACE_RUN = re.compile(f"[{WHITE_SPACE}]+")


@dataclass(frozen=True, slots=True)
class _Query:
    text: bytes
    tokens: tuple[bytes, ...]
    hints: tuple[str, ...]
    keyword_weight: float


class HybridBackend:
    """Ranks by fused evidence; its order is not that of a single score alone once the graph adds hits."""

    def __init__(self, index: Index) -> None:
        """What it needs of the index is built when the first query comes."""
        self._index = index

    def rank(self, query: str, k: int) -> Ranking:
        """The first k hits of `search`."""
        return self.search(query, k)[:k]

    def search(self, query: str, k: int, *, use_graph: bool = True) -> Ranking:
        """The k best chunks and behind them, with `use_graph`, up to four from neighbouring files."""
        parsed = _parse_query(query)
        if not parsed.tokens or not self._index.chunks:
            return ()
        cosines = self._index.cosines(parsed.text)
        kept = self._fuse(parsed, cosines, bm25_scores(self._index, query), k)
        return (*kept, *self._widen(kept, cosines)) if use_graph else kept

    def _fuse(
        self, query: _Query, cosines: NDArray[np.float64], keyword_scores: NDArray[np.float64], k: int
    ) -> Ranking:
        by_vector = best_positions(self._index, cosines, max(3 * k, 1), positive=False)
        by_keyword = best_positions(self._index, keyword_scores, 3 * k, positive=True)
        fused: dict[int, float] = {}
        for rank, position in enumerate(by_vector.tolist()):
            fused[position] = 1 / (RRF_OFFSET + rank)
        for rank, position in enumerate(by_keyword.tolist()):
            fused[position] = fused.get(position, 0.0) + query.keyword_weight * (1 / (RRF_OFFSET + rank))
        best = max(fused.values())
        scores = {
            position: self._score(
                query,
                position,
                float(cosines[position]),
                rrf / best if ordering_key(best) else 0.0,
                has_token=bool(keyword_scores[position] > 0),
            )
            for position, rrf in fused.items()
        }
        return tuple(_thin_out((Hit(self._index.chunks[p], scores[p]) for p in self._order(scores)), k))

    def _score(self, query: _Query, position: int, cosine: float, norm: float, *, has_token: bool) -> float:
        chunk = self._index.chunks[position]
        path = chunk.file_path.lower()
        similarity = 1 - min(max((1 - cosine) / 2, 0.0), 1.0)
        # A chunk with a keyword score holds a query token: looking for it again would find it.
        is_literal = has_token or _occurs(query, chunk.content, path)
        confidence = 0.5 * similarity + 0.4 * (1.0 if is_literal else 1 - 2 / 5) + 0.1 * 0
        score = 0.5 * confidence + 0.5 * norm
        return score * PATH_PENALTY if any(mark in path for mark in _PENALIZED) else score

    def _order(self, scores: dict[int, float]) -> list[int]:
        id_rank = self._index.id_rank
        return sorted(scores, key=lambda position: (-ordering_key(scores[position]), id_rank[position]))

    def _widen(self, kept: Ranking, cosines: NDArray[np.float64]) -> Ranking:
        """The best chunks of the first files that neighbour the best ones and have no kept chunk."""
        kept_files = {hit.chunk.file_path for hit in kept}
        seeds = dict.fromkeys(hit.chunk.file_path for hit in kept[:N_GRAPH_SEEDS])
        neighbours = dict.fromkeys(
            path for seed in seeds for path in self._index.graph.neighbours(seed) if path not in kept_files
        )
        seen = {(hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line) for hit in kept}
        added: list[Hit] = []
        for path in list(neighbours)[:N_GRAPH_FILES]:
            for position in self._best_of_file(path, cosines):
                chunk = self._index.chunks[position]
                span = (chunk.file_path, chunk.start_line, chunk.end_line)
                if span not in seen:
                    seen.add(span)
                    added.append(Hit(chunk, max(0.0, float(cosines[position])) * GRAPH_DECAY))
        return tuple(added)

    def _best_of_file(self, path: str, cosines: NDArray[np.float64]) -> list[int]:
        scores = {
            position: float(cosines[position]) for position in self._index.positions_by_file.get(path, ())
        }
        return self._order(scores)[:N_GRAPH_CHUNKS]


def _parse_query(query: str) -> _Query:
    text = query.encode("utf-8", "replace")
    terms = _WHITE_SPACE_RUN.split(query)
    return _Query(
        text,
        tuple(tokenize(text)),
        tuple(term.lower() for term in terms if "." in term),
        LOOKUP_WEIGHT if is_code_lookup(text) else 1.0,
    )


def is_code_lookup(query: bytes) -> bool:
    """Whether a query looks a name or a file up rather than describing behaviour."""
    text = query.lower()
    return (
        not _LOOKUP_TOKENS.isdisjoint(tokenize(text))
        or _LOOKUP_TEXT.search(text) is not None
        or b" function" in text.partition(b"find ")[2]
    )


def _occurs(query: _Query, content: bytes, path: str) -> bool:
    lowered = content.lower()
    return any(token in lowered for token in query.tokens) or any(hint in path for hint in query.hints)


def _thin_out(ranked: Iterable[Hit], k: int) -> Iterable[Hit]:
    """The first k hits, leaving out those of a file that has three already."""
    n_of_file: dict[str, int] = {}
    n_kept = 0
    for hit in ranked:
        n = n_of_file.get(hit.chunk.file_path, 0)
        if n < MAX_CHUNKS_OF_A_FILE and n_kept < k:
            n_of_file[hit.chunk.file_path] = n + 1
            n_kept += 1
            yield hit
