"""A set, a corpus and a backend in; a run or judgments in the formats of other tools out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cce.domain.case import Case, FixtureSet
from cce.domain.outside import OutsideResult, Question
from cce.domain.place_ids import DocumentPlace
from cce.domain.query import Query
from cce.domain.ranking import Chunk
from cce.errors import FixtureError, UsageError
from cce.interchange.recorded_run import render_answer, render_header
from cce.interchange.trec_text import JudgedPlace, render_qrels, render_trec_run
from cce.measurement.fixtures.reading import read_fixture_set
from cce.quoting import counted, on_one_line, quoted
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.retrieval.systems.opening import open_system
from cce.usecases.corpora import CorpusChoice, corpus_notices, corpus_of, open_corpus
from cce.usecases.recording import results_of
from cce.usecases.system_facts import recorded_facts

RUN_FORMATS = ("jsonl", "trec")

_Answers = list[tuple[Question, tuple[OutsideResult, ...]]]


class ExportPlan(NamedTuple):
    """What to export: `backend` ranks for a run, and judgments need none.

    depth  a larger k, for which each query is asked once more; None for the k of the cases alone
    """

    fixtures: str
    corpus: CorpusChoice
    backend: str = ""
    format: str = "jsonl"
    depth: int | None = None


class Export(NamedTuple):
    """The bytes of a file, how many cases are in it, and notices: one line each."""

    content: Sequence[bytes]
    n_cases: int
    notices: tuple[str, ...]


def export_run(plan: ExportPlan, progress: ProgressCallback) -> Export:
    """The rankings of `plan.backend` as a run that replays with every figure unchanged; raises CceError."""
    fixtures = read_fixture_set(plan.fixtures)
    if plan.format == "trec":
        _refuse_shared_ids(fixtures)
        if plan.depth is not None:
            raise UsageError("--depth asks every query twice, and a TREC run holds one answer: use jsonl")
    indexed = open_corpus(plan.corpus, corpus_of(plan.corpus, fixtures), progress)
    notices = corpus_notices(fixtures, indexed, {fixtures.path: "fixture set"})
    answers = _ranked(fixtures, indexed.index, plan, progress)
    if plan.format == "trec":
        lines = render_trec_run(((question.id, results) for question, results in answers), plan.backend)
    else:
        lines = _recorded(answers, indexed.index, plan.backend)
    return Export(tuple(lines), len(fixtures.cases), notices)


def export_qrels(plan: ExportPlan, progress: ProgressCallback) -> Export:
    """The chunks that the anchors of the set match as judgments; raises CceError."""
    fixtures = read_fixture_set(plan.fixtures)
    _refuse_shared_ids(fixtures)
    indexed = open_corpus(plan.corpus, corpus_of(plan.corpus, fixtures), progress)
    judged = [(case.id, _judged_chunks(case, indexed.index)) for case in fixtures.cases]
    n_empty = sum(not any(each.grade for each in places) for _, places in judged)
    place = on_one_line(fixtures.path)
    notices = [
        *corpus_notices(fixtures, indexed, {fixtures.path: "fixture set"}),
        f"{place}: judgments list chunks: recall over them counts chunks, where cce counts anchors",
    ]
    if n_empty:
        notices.append(
            f"{place}: {counted(n_empty, 'case')} without a relevant chunk, which other tools leave out"
        )
    return Export(tuple(render_qrels(judged)), len(judged) - n_empty, tuple(notices))


def _ranked(fixtures: FixtureSet, index: Index, plan: ExportPlan, progress: ProgressCallback) -> _Answers:
    system = open_system(plan.backend, index)
    answers: _Answers = []
    for n_done, case in enumerate(fixtures.cases):
        progress("ranked", n_done, len(fixtures.cases), "queries")
        query = Query(case.query)
        # The first results can depend on k, so a deeper ranking does not stand for the other one.
        for k in dict.fromkeys((case.k, max(case.k, plan.depth or 0))):
            answers.append((Question(case.id, case.query, k), results_of(system.rank(query, k))))
    return answers


def _recorded(answers: _Answers, index: Index, backend: str) -> Iterator[bytes]:
    yield render_header(backend, recorded_facts(Catalogue().resolve(backend).table, index))
    lines = (render_answer(question, results) for question, results in answers)
    yield from dict.fromkeys(lines)  # a case that is there twice has one line


def _judged_chunks(case: Case, index: Index) -> list[JudgedPlace]:
    """The places of all chunks that were judged, in index order, each with its highest grade."""
    judged = []
    for chunk in _candidates(case, index):
        grades = [case.grades.get(each.text, 1) for each in case.anchors if each.matches(chunk)]
        grades += [0 for each in case.irrelevant if each.matches(chunk)]
        if grades:
            place = DocumentPlace(chunk.file_path, chunk.start_line, chunk.end_line, chunk.kind)
            judged.append(JudgedPlace(place, max(grades)))
    return judged


def _candidates(case: Case, index: Index) -> Iterable[Chunk]:
    """The chunks that may match: those of the anchors' files, unless an anchor names none."""
    anchors = (*case.anchors, *case.irrelevant)
    if any(anchor.path is None for anchor in anchors):
        return index.chunks
    paths = dict.fromkeys(anchor.path for anchor in anchors if anchor.path is not None)
    positions = sorted({p for path in paths for p in index.positions_by_file.get(path, ())})
    return [index.chunks[position] for position in positions]


def _refuse_shared_ids(fixtures: FixtureSet) -> None:
    first: dict[str, int] = {}
    for case in fixtures.cases:
        if case.id in first:
            fault = f"id {quoted(case.id)} is that of line {first[case.id]} already"
            place = f"{on_one_line(fixtures.path)}:{case.line}"
            raise FixtureError(f"{place}: {fault}: TREC files tell queries apart by their ids, rename one")
        first[case.id] = case.line
