"""The `hybrid` backend: vector and bm25 fused by reciprocal rank, then weighed, thinned and widened.

candidates   the first 3k of vector and of bm25
fusion       reciprocal rank fusion (Cormack, Clarke & Büttcher 2009), bm25 weighing more for
             queries that look a name up
confidence   cosine and literal occurrence; paths of tests, docs and plans count less
diversity    at most three chunks per file
graph        the best chunks of files that import, or are imported by, the best three
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.query import Query
from cce.domain.ranking import Hit, Ranking
from cce.errors import UsageError
from cce.numerals import ordering_key
from cce.retrieval.backends.bm25 import bm25_order, bm25_scores
from cce.retrieval.backends.query_analysis import AnalyzedQuery, analyze_query
from cce.retrieval.backends.vector import query_cosines, vector_order
from cce.retrieval.indexing.index import Index
from cce.retrieval.scoring.ordering import by_key

if TYPE_CHECKING:
    from cce.domain.ranking_account import AccountedHit, HybridParts, RankingAccount, Share
    from cce.retrieval.scoring.scorer import Scores

# Cormack, Clarke & Büttcher (SIGIR 2009) fix 60 after a pilot and find the figures to vary little around it.
# Ranks count from 0 in this sum: the best chunk of both orders has 1/60 + 1/60.
RRF_OFFSET = 60
# The ranking that this package has to reproduce fixes the other values, and every report was made with them.
# `cce relevance` measures what another value does: a change of one is a change of figures, to be gated.
LOOKUP_WEIGHT = 1.5
PATH_PENALTY = 0.8
MAX_CHUNKS_PER_FILE = 3
GRAPH_DECAY = 0.85
N_GRAPH_SEEDS = 3
N_GRAPH_FILES = 2
N_GRAPH_CHUNKS = 2

CONFIDENCE_SHARE = 0.5
MAX_OPTION = 1_000_000

_PENALIZED = ("tests/", "test_", "docs/", "spec", "plan")


_Weighed = tuple[float, float, float, float, float]
"""Similarity, literal, confidence, penalty and score of a candidate."""

_Neighbour = tuple[Hit, str, float]
"""A hit of the import graph, the better file that brought it in, and its cosine."""


class HybridOptions(NamedTuple):
    """What a variant may change; the defaults are those of `hybrid`.

    rrf_offset      added to both ranks, which count from 0, in the fusion; above 0
    keyword_weight  of the bm25 order in the fusion, 0 or more; None for 1, but 1.5 where a name is looked up
    path_penalty    what scores of tests, docs and plans are multiplied with, from 0 to 1
    max_per_file    how many chunks of a file are kept, 1 or more
    confidence      its share of the score, from 0 to 1; norm has the rest
    """

    rrf_offset: float = RRF_OFFSET
    keyword_weight: float | None = None
    path_penalty: float = PATH_PENALTY
    max_per_file: int = MAX_CHUNKS_PER_FILE
    confidence: float = CONFIDENCE_SHARE


_DEFAULTS = HybridOptions()


class _Fusion(NamedTuple):
    """By position of each candidate: 1-based ranks, reciprocal rank fusion, and that over the best one's."""

    vector_ranks: Mapping[int, int]
    keyword_ranks: Mapping[int, int]
    rrf: Mapping[int, float]
    norm: Mapping[int, float]


class _Candidates(NamedTuple):
    """Positions of chunks, best first: those kept, and better ones than the last of them that were not.

    `weighed` has every candidate, also those that came after.
    """

    fusion: _Fusion
    weighed: Mapping[int, _Weighed]
    ordered: Sequence[int]
    kept: Sequence[int]
    cut: Sequence[int]
    cosines: Scores


class HybridBackend:
    """Ranks by fused evidence; its order is not that of a single score alone once the graph adds hits."""

    def __init__(
        self,
        index: Index,
        *,
        graph: bool = True,
        rrf_offset: float = RRF_OFFSET,
        keyword_weight: float | None = None,
        path_penalty: float = PATH_PENALTY,
        max_per_file: int = MAX_CHUNKS_PER_FILE,
        confidence: float = CONFIDENCE_SHARE,
    ) -> None:
        """What it needs of the index is built when the first query comes.

        graph  whether `rank` and `explain` widen the results by the import graph

        The others are those of HybridOptions. Raises UsageError, which begins with the option, for a value
        that it cannot have.
        """
        self._index = index
        self._has_graph = graph
        self._options = HybridOptions(rrf_offset, keyword_weight, path_penalty, max_per_file, confidence)
        _require_possible(self._options)

    def rank(self, query: Query, k: int) -> Ranking:
        """The first k hits of `search`."""
        return self.search(query, k, use_graph=self._has_graph)[:k]

    def search(self, query: Query, k: int, *, use_graph: bool = True) -> Ranking:
        """The k best chunks and behind them, with `use_graph`, up to four from neighbouring files."""
        candidates = self._candidates(query, k)
        if candidates is None:
            return ()
        kept = tuple(self._hit(candidates, position) for position in candidates.kept)
        return (*kept, *(hit for hit, _, _ in self._widen(query, candidates))) if use_graph else kept

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits of `rank`, what the cap left out before the last of them, and all other candidates."""
        from cce.domain.ranking_account import AccountedHit, GraphParts, RankingAccount, Share

        candidates = self._candidates(query, k)
        if self._options != _DEFAULTS:  # the shares and the formula are those of the defaults
            ranked_hits = enumerate(self.rank(query, k), start=1)
            return RankingAccount(tuple(AccountedHit(rank, hit) for rank, hit in ranked_hits))
        formula = _formula(analyze_query(query), k)
        if candidates is None:
            return RankingAccount((), behind=(), formula=formula)
        kept = [self._account(candidates, p, rank) for rank, p in enumerate(candidates.kept, start=1)]
        widened = self._widen(query, candidates) if self._has_graph else ()
        added = [
            AccountedHit(rank, hit, (Share("graph", hit.measured),), GraphParts(seed, cosine))
            for rank, (hit, seed, cosine) in enumerate(widened, start=len(kept) + 1)
        ]
        cut = set(candidates.cut)
        passed = cut.union(candidates.kept)
        ranked = tuple(enumerate(candidates.ordered, start=1))
        return RankingAccount(
            hits=(*kept, *added)[:k],
            cut=tuple(self._account(candidates, p, rank) for rank, p in ranked if p in cut),
            behind=tuple(self._account(candidates, p, rank) for rank, p in ranked if p not in passed),
            formula=formula,
        )

    def _hit(self, candidates: _Candidates, position: int) -> Hit:
        return Hit(self._index.chunks[position], candidates.weighed[position][-1])

    def _account(self, candidates: _Candidates, position: int, rank: int) -> AccountedHit:
        from cce.domain.ranking_account import AccountedHit, HybridParts

        fusion = candidates.fusion
        parts = HybridParts(
            fusion.vector_ranks.get(position),
            fusion.keyword_ranks.get(position),
            fusion.rrf[position],
            fusion.norm[position],
            candidates.cosines.at([position])[0],
            *candidates.weighed[position],
        )
        return AccountedHit(rank, self._hit(candidates, position), _shares(parts), parts)

    def _candidates(self, query: Query, k: int) -> _Candidates | None:
        """None for a query without a token, and where no chunk may be returned."""
        if not query.tokens:
            return None
        index = self._index
        by_vector = query.once(vector_order, index, k)
        if not by_vector:  # it ranks every chunk, so there is none that the query allows
            return None
        analyzed = analyze_query(query)
        cosines = query.once(query_cosines, index)
        weight = self._options.keyword_weight
        if weight is None:
            weight = _keyword_weight(analyzed)
        fusion = _fuse(by_vector, query.once(bm25_order, index, k), weight, self._options.rrf_offset)
        weighed = self._weigh(analyzed, fusion, cosines, query.once(bm25_scores, index))
        ordered = self._order({position: parts[-1] for position, parts in weighed.items()})
        return _Candidates(fusion, weighed, ordered, *self._thin_out(ordered, k), cosines)

    def _weigh(
        self, query: AnalyzedQuery, fusion: _Fusion, cosines: Scores, keyword_scores: Scores
    ) -> dict[int, _Weighed]:
        chunks = self._index.chunks
        share, least = self._options.confidence, self._options.path_penalty
        positions = list(fusion.norm)
        weighed: dict[int, _Weighed] = {}
        columns = cosines.at(positions), keyword_scores.at(positions), fusion.norm.values()
        for position, cosine, keyword_score, norm in zip(positions, *columns, strict=True):
            similarity = 1 - min(max((1 - cosine) / 2, 0.0), 1.0)
            # A chunk with a keyword score holds a query token: looking for it again would find it.
            literal = 1.0 if keyword_score > 0 or query.occurs_in(chunks[position]) else 1 - 2 / 5
            confidence = 0.5 * similarity + 0.4 * literal + 0.1 * 0
            penalty = least if _is_penalized(chunks.path_of(position)) else 1.0
            score = (share * confidence + (1 - share) * norm) * penalty
            weighed[position] = similarity, literal, confidence, penalty, score
        return weighed

    def _order(self, scores: Mapping[int, float]) -> list[int]:
        return [position for position, _ in by_key(scores, self._index.id_rank, scores)]

    def _thin_out(self, ordered: Sequence[int], k: int) -> tuple[list[int], list[int]]:
        """The first k positions with at most `max_per_file` per file, and those left out on the way."""
        most = self._options.max_per_file
        n_by_path: dict[str, int] = {}
        kept: list[int] = []
        cut: list[int] = []
        for position in ordered:
            if len(kept) >= k:
                break
            path = self._index.chunks.path_of(position)
            n = n_by_path[path] = n_by_path.get(path, 0) + 1
            (kept if n <= most else cut).append(position)
        return kept, cut

    def _widen(self, query: Query, candidates: _Candidates) -> list[_Neighbour]:
        """The best chunks of the first files that neighbour the best ones and have no kept chunk."""
        kept = [self._index.chunks[position] for position in candidates.kept]
        kept_files = {chunk.file_path for chunk in kept}
        seed_of: dict[str, str] = {}
        for seed in dict.fromkeys(chunk.file_path for chunk in kept[:N_GRAPH_SEEDS]):
            for path in self._index.graph.neighbours(seed):
                if path not in kept_files and self._allowed_in_file(query, path):
                    seed_of.setdefault(path, seed)
        seen = {(chunk.file_path, chunk.start_line, chunk.end_line) for chunk in kept}
        added: list[_Neighbour] = []
        for path in list(seed_of)[:N_GRAPH_FILES]:
            for position, cosine in self._best_in_file(query, path, candidates.cosines):
                chunk = self._index.chunks[position]
                span = (chunk.file_path, chunk.start_line, chunk.end_line)
                if span not in seen:
                    seen.add(span)
                    added.append((Hit(chunk, max(0.0, cosine) * GRAPH_DECAY), seed_of[path], cosine))
        return added

    def _best_in_file(self, query: Query, path: str, cosines: Scores) -> list[tuple[int, float]]:
        """Positions and cosines of the best chunks of one file, best first."""
        positions = self._allowed_in_file(query, path)
        cosine_of = dict(zip(positions, cosines.at(positions), strict=True))
        return [(position, cosine_of[position]) for position in self._order(cosine_of)[:N_GRAPH_CHUNKS]]

    def _allowed_in_file(self, query: Query, path: str) -> Sequence[int]:
        positions = self._index.positions_by_file.get(path, ())
        return positions if query.allowed is None else list(filter(query.allows, positions))


def _require_possible(options: HybridOptions) -> None:
    """Raise UsageError for the first option that has a value of another type or out of its range."""
    least_count = {"rrf_offset": "a number above 0", "max_per_file": "a whole number, 1 or more"}
    for name, value in options._asdict().items():
        rule = least_count.get(name, "a number from 0 to 1")
        if name == "keyword_weight":
            rule = "a number, 0 or more"
        if not _is_possible(name, value):
            raise UsageError(f"{name}: must be {rule}, got {value!r}")


def _is_possible(name: str, value: object) -> bool:
    if value is None:
        return name == "keyword_weight"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name == "max_per_file":
        return isinstance(value, int) and value >= 1
    if name == "rrf_offset":
        return 0 < value <= MAX_OPTION
    return 0 <= value <= (MAX_OPTION if name == "keyword_weight" else 1)


def _fuse(
    by_vector: Sequence[int], by_keyword: Sequence[int], keyword_weight: float, offset: float
) -> _Fusion:
    """Fuse two orders of positions, of which one at least is not empty."""
    vector_ranks, keyword_ranks = _ranks(by_vector), _ranks(by_keyword)
    fused = {position: 1 / (offset + rank - 1) for position, rank in vector_ranks.items()}
    for position, rank in keyword_ranks.items():
        share = keyword_weight * (1 / (offset + rank - 1))
        fused[position] = fused.get(position, 0.0) + share
    best = max(fused.values())
    has_norm = ordering_key(best) != 0
    norm = {position: rrf / best if has_norm else 0.0 for position, rrf in fused.items()}
    return _Fusion(vector_ranks, keyword_ranks, fused, norm)


def _keyword_weight(query: AnalyzedQuery) -> float:
    return LOOKUP_WEIGHT if query.is_code_lookup else 1.0


@lru_cache(maxsize=65_536)  # query after query comes back to the same files
def _is_penalized(path: str) -> bool:
    """Whether the score of every chunk of the file is multiplied with the penalty."""
    lowered = path.lower()
    return any(mark in lowered for mark in _PENALIZED)


def _ranks(positions: Sequence[int]) -> dict[int, int]:
    """1-based rank of each position."""
    return {position: rank for rank, position in enumerate(positions, start=1)}


def _shares(parts: HybridParts) -> tuple[Share, ...]:
    from cce.domain.ranking_account import Share

    # Half of a sum and a difference of neighbours are exact, so the shares sum to the score to the bit.
    confidence, norm = 0.5 * parts.confidence, 0.5 * parts.norm
    return (
        Share("confidence/2", confidence),
        Share("norm/2", norm),
        Share("penalty", parts.score - (confidence + norm)),
    )


def _formula(query: AnalyzedQuery, k: int) -> tuple[str, ...]:
    weight = f"{_keyword_weight(query):g} / "
    lookup = " (code lookup)" if query.is_code_lookup else ""
    return (
        "score = confidence/2 + norm/2, a fifth less for paths of tests, docs and plans (penalty)",
        "confidence = vs/2 + 0.4 ks; vs = (1 + cosine) / 2; ks = 1 where a query word occurs, else 0.6",
        f"norm = rrf / best rrf; rrf = 1 / (59 + vector rank) + {weight}(59 + keyword rank){lookup}",
        f"candidates: the first {max(3 * k, 1)} of vector and the first {3 * k} of bm25;"
        f" at most {MAX_CHUNKS_PER_FILE} of a file are kept",
        f"graph: files that import one of the first {N_GRAPH_SEEDS} or are imported by it;"
        f" score = {GRAPH_DECAY:g} cosine",
    )
