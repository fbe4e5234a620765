"""What a corpus costs: time, memory and the tokens that hits save.

corpus ──> index, from scratch ──────────────┐
set, or made of the chunks ──> queries ──────┴──> rankings ──> latency, saving ──> benchmark

A warm-up of everything comes first; the memory reported is its peak. The queries are timed on its index.
Indexing is timed last, when that index is freed and its memory can be used again.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from cce.domain.benchmark import BackendBenchmark, Benchmark, Latency, Spread, TokenSaving
from cce.domain.case import FixtureSet
from cce.domain.query import Query
from cce.domain.ranking import Chunk, Location, Ranking
from cce.errors import CorpusError
from cce.measurement.fixtures.reading import read_fixture_set
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback
from cce.retrieval.indexing.index import Index, SegmentIndex
from cce.retrieval.systems.catalogue import Catalogue
from cce.tokens import estimate_tokens, tokenize
from cce.usecases.corpora import NO_CHOICE, CorpusChoice, corpus_of, open_corpus
from cce.usecases.evaluate import all_notices
from cce.usecases.opened_systems import Surroundings, opened
from cce.usecases.ranking import Ranker, rankers
from cce.usecases.scopes import CaseScopes
from cce.usecases.systems import BUILT_IN_SYSTEMS, SystemsChoice, require_askable

N_WARM_UPS = 1
# Of 100 queries the 95th percentile leaves out the five slowest.
N_MADE_QUERIES = 100
MADE_K = 10
# About as long as a query that a person types.
_N_QUERY_TOKENS = 8

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class BenchmarkPlan:
    """What to time, and in how many runs (at least one).

    Without `fixtures` the queries are made of the corpus. Its directory is indexed without a cache.
    """

    fixtures: str | None
    backends: tuple[str, ...]
    n_runs: int
    corpus: CorpusChoice = NO_CHOICE
    systems: SystemsChoice = BUILT_IN_SYSTEMS
    catalogue: Catalogue = field(default_factory=Catalogue)


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """The figures, and notices for their reader: one line each."""

    benchmark: Benchmark
    notices: tuple[str, ...]


class BenchQuery(NamedTuple):
    """A query, how many hits it wants, and the positions of the chunks that may answer; None for all."""

    text: str
    k: int
    allowed: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is kept of the warm-up and the timed queries; `sizes` counts files, chunks and bytes of text."""

    sizes: tuple[int, int, int]
    n_queries: int
    n_peak_bytes: int | None
    backends: tuple[BackendBenchmark, ...]
    notices: tuple[str, ...]


def run_benchmark(plan: BenchmarkPlan, progress: ProgressCallback) -> BenchmarkRun:
    """Carry out `plan`; raises CceError if it cannot be measured."""
    fixtures = None if plan.fixtures is None else read_fixture_set(plan.fixtures)
    corpus = corpus_of(plan.corpus, fixtures)
    asked = _ask(plan, fixtures, corpus, progress)
    seconds = [_timed(open_corpus, plan.corpus, corpus, progress)[0] for _ in range(plan.n_runs)]
    benchmark = Benchmark(
        corpus,
        plan.fixtures,
        machine(),
        *asked.sizes,
        asked.n_queries,
        N_WARM_UPS,
        plan.n_runs,
        Spread.of(seconds),
        asked.n_peak_bytes,
        asked.backends,
        plan.corpus.redaction.redaction,
    )
    return BenchmarkRun(benchmark, asked.notices)


def made_questions(chunks: Sequence[Chunk], n: int = N_MADE_QUERIES, k: int = MADE_K) -> list[BenchQuery]:
    """At most n queries made of evenly spaced chunks: the same for the same corpus.

    A query is the first line of a chunk that has a token, cut to eight tokens. A chunk without a token gives
    no query, and equal queries are kept once.
    """
    positions = dict.fromkeys(number * len(chunks) // n for number in range(n)) if chunks else ()
    names = (_name(chunks[position].content) for position in positions)
    return [BenchQuery(name, k) for name in dict.fromkeys(names) if name]


def token_saving(rankings: Iterable[Ranking], index: Index) -> TokenSaving:
    """The tokens of the hits, and of the files they come from; a file counts once per ranking."""
    n_in_hits = n_in_files = 0
    for ranking in rankings:
        n_in_hits += sum(_n_tokens(hit.chunk, index) for hit in ranking)
        n_in_files += sum(index.file_tokens.get(path, 0) for path in {hit.chunk.file_path for hit in ranking})
    return TokenSaving(n_in_hits, n_in_files)


def _n_tokens(found: Chunk | Location, index: Index) -> int:
    """The tokens of a chunk, or of the lines of another place; none for one outside of the corpus."""
    if isinstance(found, Chunk):
        return found.token_count
    if found.start_line is None or found.end_line is None:
        return index.file_tokens.get(found.file_path, 0)
    text = index.text(found.file_path, found.start_line, found.end_line).removesuffix(b"\n")
    return estimate_tokens(len(text)) if text else 0


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile of `values`, of which there is at least one.

    It is the smallest value that at least `percent` % of the values do not exceed: of 20 values the 95th
    percentile is the 19th smallest, since ceil(0.95 * 20) = 19.
    """
    return sorted(values)[max(1, -(-percent * len(values) // 100)) - 1]


def machine() -> str:
    """The Python, the system and the number of processors, on which the figures depend."""
    python = f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"
    return f"{python} on {sys.platform}, {os.cpu_count() or 'unknown'} processors"


def peak_memory() -> int | None:
    """Peak memory of this process in bytes, without its workers; None on Windows."""
    # /proc comes first: on Linux ru_maxrss survives exec, so it also counts the parent's peak.
    return _peak_by_proc() or _peak_by_usage()


def _peak_by_proc() -> int | None:
    try:
        with open("/proc/self/status", "rb") as status:
            found = re.search(rb"^VmHWM:[ \t]*([0-9]+) kB$", status.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _peak_by_usage() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # bytes on macOS, KiB elsewhere: getrusage(2)


def _ask(plan: BenchmarkPlan, fixtures: FixtureSet | None, corpus: str, progress: ProgressCallback) -> _Asked:
    """Index, then rank every query on every backend: once to warm up, then in `n_runs` timed runs."""
    for name in plan.backends:
        require_askable(plan.catalogue, name, "bench")
    indexed = open_corpus(plan.corpus, corpus, progress)
    index = indexed.index
    questions = _questions(plan, indexed, fixtures)
    over = Surroundings(index)
    with opened(plan.systems, plan.catalogue, plan.backends, over, is_timed=True) as systems:
        asked = rankers(systems, plan.backends, index)
        passes = {ranker.name: list(_answers(ranker, questions, progress)) for ranker in asked}
        n_peak_bytes = peak_memory()
        backends = []
        for ranker in asked:
            runs = [[t for t, _ in _answers(ranker, questions, progress)] for _ in range(plan.n_runs)]
            first_pass = passes[ranker.name]
            saving = token_saving((ranking for _, ranking in first_pass), index)
            backends.append(BackendBenchmark(ranker.name, _latency(first_pass[0][0], runs), saving))
        told = systems.notices()
    sizes = (len(index.file_tokens), len(index.chunks), _text_size(index))
    notices = indexed.notices if fixtures is None else all_notices(fixtures, indexed)
    return _Asked(sizes, len(questions), n_peak_bytes, tuple(backends), (*notices, *told))


def _questions(plan: BenchmarkPlan, indexed: IndexedCorpus, fixtures: FixtureSet | None) -> list[BenchQuery]:
    if fixtures is not None:
        scopes = CaseScopes(plan.catalogue.scopes, indexed.index, plan.catalogue.path)
        scopes.require_known(fixtures)
        return [BenchQuery(case.query, case.k, scopes.allowed(case)) for case in fixtures.cases]
    questions = made_questions(indexed.index.chunks)
    if not questions:
        raise CorpusError(f"{indexed.root}: no text to make queries of; name a directory of code, or a set")
    return questions


def _name(content: bytes) -> str:
    tokens = next(filter(None, map(tokenize, content.split(b"\n"))), [])
    return b" ".join(tokens[:_N_QUERY_TOKENS]).decode()


def _answers(
    ranker: Ranker, questions: Sequence[BenchQuery], progress: ProgressCallback
) -> Iterator[tuple[float, Ranking]]:
    """Seconds and ranking of each question."""
    for n_done, question in enumerate(questions):
        progress(f"{ranker.name}: timed", n_done, len(questions), "queries")
        yield _timed(_answer, ranker, question)


def _answer(ranker: Ranker, question: BenchQuery) -> Ranking:
    # A new query each time: a query keeps what was computed for it.
    return ranker.rank(Query(question.text).within(question.allowed), question.k)


def _timed(call: Callable[..., _T], *arguments: object) -> tuple[float, _T]:
    start = time.perf_counter()
    outcome = call(*arguments)
    return time.perf_counter() - start, outcome


def _latency(first: float, runs: Sequence[Sequence[float]]) -> Latency:
    """Milliseconds from seconds; `runs` holds one sequence per run."""
    p50, p95, most = (
        Spread.of([1000 * percentile(run, percent) for run in runs]) for percent in (50, 95, 100)
    )
    return Latency(1000 * first, p50, p95, most)


def _text_size(index: Index) -> int:
    assert isinstance(index, SegmentIndex)  # noqa: S101 - what indexing a directory gives
    return sum(map(len, index.segment.texts))
