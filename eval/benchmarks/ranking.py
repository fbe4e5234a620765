"""Ranking beside what one would otherwise write: rank-bm25, and a dense product of numpy.

    python eval/benchmarks/ranking.py [DIR ...] [--copies N] [--queries N] [--runs N]

The same chunks, tokens and queries for everybody, the best 10 wanted. Each DIR is a corpus; N copies of
test_fixtures/samples (150 by default, 0 for none), with names of their own, are one more. The queries, 200
by default, are made of evenly spaced chunks.

    bm25         the backend of this package
    rank-bm25    BM25Okapi of that package with our k1 and b, then the best 10 by argpartition
    vector       the backend of this package, with its hash embedder
    numpy dense  the same vectors as one matrix, times the query's, then the best 10 by argpartition

`ready s` is what must happen once before the first query, given the chunks. `ms` is the mean over the
queries in the median of N runs (3 by default), after one to warm up; numpy may use all its threads.
`top 10 agree` is in how many of the queries the ten are equally good: their scores, as we score, are the
same figures in six decimals. So ties may fall either way, while a chunk that we score lower is a
disagreement. rank-bm25 gives common words less weight and counts a word as often as it is asked for, so
it need not agree.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from making import make_corpus, questions, read_index
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.numerals import ordering_keys
from cce.retrieval.backends.bm25 import Bm25Backend, bm25_scores
from cce.retrieval.backends.vector import VectorBackend
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.index import Index
from cce.retrieval.scoring.scorer import K1, B
from cce.tokens import tokenize

K = 10

Answer = Callable[[str], object]
Scores = Callable[[str], NDArray[np.float64]]


class Contestant(NamedTuple):
    """Somebody who ranks: `top` gives positions of chunks, `answer` whatever users are given."""

    name: str
    ready_seconds: float
    answer: Answer
    top: Callable[[str], Sequence[int]]


def main() -> None:
    arguments = read_arguments()
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}, medians of {arguments.runs} runs\n")
    table: list[Sequence[str]] = [
        ("corpus", "chunks", "queries", "ranked by", "ready s", "ms", "x ours", "top 10 agree")
    ]
    with tempfile.TemporaryDirectory() as folder:
        corpora = [(directory.resolve().name, directory) for directory in arguments.directories]
        if arguments.copies:
            corpora.append((f"samples x{arguments.copies}", Path(folder)))
            make_corpus(Path(folder), arguments.copies)
        for name, corpus in corpora:
            table += rows(name, list(read_index(corpus).chunks), arguments.queries, arguments.runs)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ranking beside what one would otherwise write.")
    parser.add_argument("directories", metavar="DIR", nargs="*", type=Path)
    parser.add_argument("--copies", type=int, default=150, help="of the samples; 0 leaves them out")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def rows(corpus: str, chunks: Sequence[Chunk], n_queries: int, n_runs: int) -> Iterator[tuple[str, ...]]:
    asked = [question.text for _, question in questions(chunks, n_queries)]
    for pair, scores in ((words(chunks), bm25_of(chunks)), (vectors(chunks), cosine_of(chunks))):
        ours = None
        for contestant in pair:
            ms = milliseconds(contestant.answer, asked, n_runs)
            ours = ours or ms
            n_agreeing = sum(agrees(contestant.top(query), scores(query)) for query in asked)
            yield (
                corpus,
                str(len(chunks)),
                str(len(asked)),
                contestant.name,
                f"{contestant.ready_seconds:.2f}",
                f"{ms:.3f}",
                f"{ms / ours:.1f}",
                f"{n_agreeing} of {len(asked)}",
            )


def words(chunks: Sequence[Chunk]) -> Iterator[Contestant]:
    """Ours, then rank-bm25."""
    start = time.perf_counter()
    index = Index(chunks, {}, {}, HashEmbedder())
    backend = Bm25Backend(index)
    backend.rank(Query("a"), K)
    yield ours("bm25", time.perf_counter() - start, backend, index)

    start = time.perf_counter()
    scorer = BM25Okapi([tokenize(chunk.content) for chunk in chunks], k1=K1, b=B)

    def top(query: str) -> Sequence[int]:
        return best(scorer.get_scores(tokenize(query.encode())))

    yield Contestant("rank-bm25", time.perf_counter() - start, top, top)


def vectors(chunks: Sequence[Chunk]) -> Iterator[Contestant]:
    """Ours, then a dense product."""
    start = time.perf_counter()
    index = Index(chunks, {}, {}, HashEmbedder())
    backend = VectorBackend(index)
    backend.rank(Query("a"), K)
    yield ours("vector", time.perf_counter() - start, backend, index)

    start = time.perf_counter()
    embedder = HashEmbedder()
    matrix = embedder.embed([chunk.content for chunk in chunks])

    def top(query: str) -> Sequence[int]:
        (vector,) = embedder.embed([query.encode()])
        return best(matrix @ vector)

    yield Contestant("numpy dense", time.perf_counter() - start, top, top)


def ours(name: str, seconds: float, backend: Bm25Backend | VectorBackend, index: Index) -> Contestant:
    positions = {id(chunk): position for position, chunk in enumerate(index.chunks)}

    def top(query: str) -> Sequence[int]:
        return [positions[id(hit.chunk)] for hit in backend.rank(Query(query), K)]

    return Contestant(name, seconds, lambda query: backend.rank(Query(query), K), top)


def bm25_of(chunks: Sequence[Chunk]) -> Scores:
    index = Index(chunks, {}, {}, HashEmbedder())
    return lambda query: np.asarray(bm25_scores(Query(query), index).at(range(len(chunks))))


def cosine_of(chunks: Sequence[Chunk]) -> Scores:
    index = Index(chunks, {}, {}, HashEmbedder())
    return lambda query: np.asarray(index.scorer.cosines(query.encode()).at(range(len(chunks))))


def best(scores: NDArray[np.float64]) -> Sequence[int]:
    """Positions of the ten best scores, best first, as one would write it."""
    found = np.argpartition(-scores, K)[:K] if len(scores) > K else np.arange(len(scores))
    positions: list[int] = found[np.argsort(-scores[found])].tolist()
    return positions


def agrees(positions: Sequence[int], scores: NDArray[np.float64]) -> bool:
    """Whether no ten chunks are better than those at `positions`, rank by rank."""
    keys = ordering_keys(scores)
    wanted = np.sort(keys)[::-1][: len(positions)]
    return bool(np.array_equal(keys[list(positions)], wanted))


def milliseconds(answer: Answer, queries: Sequence[str], n_runs: int) -> float:
    """Mean of a query, in the median run."""
    seconds = []
    for _ in range(n_runs + 1):
        start = time.perf_counter()
        for query in queries:
            answer(query)
        seconds.append(time.perf_counter() - start)
    return 1000 * statistics.median(seconds[1:]) / len(queries)


if __name__ == "__main__":
    main()
