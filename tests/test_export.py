"""Exports: what other tools read, and that nothing is lost on the way back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from cce.domain.outside import FailedAnswer, OutsideResult, Question
from cce.domain.place_ids import DocumentPlace
from cce.domain.query import Query
from cce.domain.ranking import Hit, Ranking
from cce.domain.systems import RunFile
from cce.errors import FixtureError, UsageError
from cce.interchange.run_file import parse_run
from cce.interchange.trec_text import JudgedPlace, render_qrels, render_trec_run
from cce.measurement.fixtures.reading import read_fixture_set
from cce.measurement.matching.spans import LineWeights
from cce.measurement.metrics.catalog import metric_names
from cce.measurement.scoring import SetScorer
from cce.retrieval.external.door import Door, DoorRules
from cce.retrieval.systems.opening import open_system
from cce.usecases.corpora import NO_CHOICE, open_corpus
from cce.usecases.export import RUN_FORMATS, ExportPlan, export_qrels, export_run
from cce.usecases.runs import open_saved_run
from conftest import Run
from corpora import unwatched
from oracle import Oracle

CORPORA = ["express", "flask", "psutil", "requests", "ruby-sinatra", "rxjs", "serde_derive"]
BACKENDS = ("bm25", "vector", "hybrid")


def trec_lines(scores: Sequence[float | None]) -> list[str]:
    results = [OutsideResult(f"{n}.py", score=score) for n, score in enumerate(scores)]
    return [line.decode().rstrip() for line in render_trec_run([("q", results)], "mine")]


def test_scores_that_sort_into_the_order_are_written_as_they_are() -> None:
    assert trec_lines([2.5, 1e-3]) == ["q Q0 0.py 1 2.5 mine", "q Q0 1.py 2 0.001 mine"]


@pytest.mark.parametrize("scores", [[1.0, 2.0], [1.0, 1.0], [1.0, 0.99999999], [1.0, None]])
def test_falling_ranks_stand_for_scores_that_do_not_sort(scores: Sequence[float | None]) -> None:
    assert trec_lines(scores) == ["q Q0 0.py 1 2.0 mine", "q Q0 1.py 2 1.0 mine"]


def test_ids_are_one_column_each_and_a_repeated_place_is_numbered() -> None:
    place = OutsideResult("a b%.py", 3, 9, "kind", 1.0)
    lines = b"".join(render_trec_run([("my case", [place, place])], "my tag")).decode()
    assert lines == (
        "my%20case Q0 a%20b%25.py#kind@3-9 1 2.0 my%20tag\n"
        "my%20case Q0 a%20b%25.py#kind@3-9~2 2 1.0 my%20tag\n"
    )


def test_judgments_have_four_columns() -> None:
    judged = [JudgedPlace(DocumentPlace("a.py", 1, 2, "k"), 3), JudgedPlace(DocumentPlace("b.py"), 0)]
    assert b"".join(render_qrels([("q", judged)])) == b"q 0 a.py#k@1-2 3\nq 0 b.py 0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a b.py").write_text("def f():\n    return alpha\n\n\ndef g():\n    return alpha\n")
    (tmp_path / "docs" / "c.txt").write_text("beta\n")
    graded = {"expected": ["a b.py", "a b.py@5-6"], "grades": {"a b.py@5-6": 3}}
    cases = [
        {"id": "one", "query": "alpha", **graded, "irrelevant": ["c.txt", "a b.py@1-1"]},
        {"id": "two", "query": "beta", "expected": ["gone.py"]},
    ]
    lines = [{"schema": "cce.relevance/v1", "corpus": "docs"}, *cases]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def test_exported_judgments_list_chunks_with_their_highest_grade_and_say_so(folder: Path) -> None:
    export = export_qrels(ExportPlan(str(folder / "set.jsonl"), NO_CHOICE), unwatched)
    kind = "#function_definition"
    judged = f"one 0 a%20b.py{kind}@1-2 1\none 0 a%20b.py{kind}@5-6 3\none 0 c.txt#module@1-2 0\n"
    assert b"".join(export.content).decode() == judged
    assert [notice.removeprefix(f"{folder}/set.jsonl: ") for notice in export.notices] == [
        "judgments list chunks: recall over them counts chunks, where cce counts anchors",
        "1 case without a relevant chunk, which other tools leave out",
    ]


def test_a_deeper_ranking_is_kept_beside_that_for_k(folder: Path) -> None:
    plan = ExportPlan(str(folder / "set.jsonl"), NO_CHOICE, "bm25", depth=50)
    lines = [json.loads(line) for line in export_run(plan, unwatched).content[1:]]
    assert [(line["id"], line["k"]) for line in lines] == [("one", 10), ("one", 50), ("two", 10), ("two", 50)]
    with pytest.raises(UsageError, match="--depth asks every query twice, and a TREC run holds one answer"):
        export_run(plan._replace(format="trec"), unwatched)


def test_trec_files_need_ids_that_differ(folder: Path) -> None:
    with (folder / "set.jsonl").open("a") as file:
        file.write('{"id": "one", "query": "x", "expected": ["c.txt"]}\n')
    plan = ExportPlan(str(folder / "set.jsonl"), NO_CHOICE, "bm25", "trec")
    with pytest.raises(FixtureError, match=r"set\.jsonl:4: id 'one' is that of line 2 already: TREC files"):
        export_run(plan, unwatched)
    assert export_run(plan._replace(format="jsonl"), unwatched).n_cases == 3


class Corpus:
    """A reference corpus with its set, and what a run over it scores in every metric."""

    def __init__(self, oracle: Oracle, name: str) -> None:
        self.fixtures = read_fixture_set(str(oracle.folder / "sets" / f"{name}.jsonl"))
        self.choice = NO_CHOICE._replace(directory=str(oracle.unpack(name) / name))
        self.index = open_corpus(self.choice, str(self.choice.directory), unwatched).index
        weights = LineWeights(self.index.outer_chunks_of)
        self.scorer = SetScorer(self.fixtures, self.index.chunks, metric_names(), weights)

    def questions(self) -> list[Question]:
        return [Question(case.id, case.query, case.k) for case in self.fixtures.cases]

    def replayed(self, path: Path) -> list[Ranking]:
        """The rankings that the run in `path` gives, through the door."""
        system = open_saved_run("saved", RunFile(str(path)), self.fixtures, self.index)
        assert not system.is_of_another_corpus
        door = Door(self.index, "saved", DoorRules(is_run=True))
        rankings = []
        for question, answer in zip(self.questions(), system.answer(self.questions()), strict=True):
            assert not isinstance(answer, FailedAnswer)
            rankings.append(door.ranking(question, answer))
        assert door.tally.n_outside == 0
        return rankings


@pytest.mark.process
@pytest.mark.parametrize("name", CORPORA)
def test_an_exported_run_changes_no_figure_of_any_metric(oracle: Oracle, name: str, tmp_path: Path) -> None:
    corpus = Corpus(oracle, name)
    ranked = rank_backends(corpus)
    for backend in BACKENDS:
        expected = corpus.scorer.score(backend, ranked[backend])
        assert {*expected.columns} >= {"ndcg", "ap", "recall"}
        for format_name in RUN_FORMATS:
            path = tmp_path / f"{backend}.{format_name}"
            plan = ExportPlan(corpus.fixtures.path, corpus.choice, backend, format_name)
            path.write_bytes(b"".join(export_run(plan, unwatched).content))
            rankings = corpus.replayed(path)
            # Chunks with one place and kind stand for each other: nothing that is measured tells them apart.
            assert [[place(hit) for hit in ranking] for ranking in rankings] == [
                [place(hit) for hit in ranking] for ranking in ranked[backend]
            ]
            assert corpus.scorer.score(backend, rankings) == expected


def rank_backends(corpus: Corpus) -> Mapping[str, list[Ranking]]:
    systems = {backend: open_system(backend, corpus.index) for backend in BACKENDS}
    return {
        backend: [system.rank(Query(case.query), case.k) for case in corpus.fixtures.cases]
        for backend, system in systems.items()
    }


def place(hit: Hit) -> tuple[str, int, int, str]:
    chunk = hit.indexed  # no chunk of ours comes back as anything else
    return chunk.file_path, chunk.start_line, chunk.end_line, chunk.kind


@pytest.mark.process
def test_some_places_of_the_reference_corpora_repeat(oracle: Oracle) -> None:
    """So the law above covers them."""
    choice = NO_CHOICE._replace(directory=str(oracle.unpack("psutil") / "psutil"))
    index = open_corpus(choice, str(choice.directory), unwatched).index
    places = Counter((c.file_path, c.start_line, c.end_line, c.kind) for c in index.chunks)
    assert max(places.values()) > 1


def test_a_trec_run_of_ours_is_read_in_trec_evals_way_too(oracle: Oracle, tmp_path: Path) -> None:
    from cce.domain.run import RunOrder

    choice = NO_CHOICE._replace(directory=str(oracle.unpack("express") / "express"))
    plan = ExportPlan(str(oracle.folder / "sets" / "express.jsonl"), choice, "hybrid", "trec")
    lines = export_run(plan, unwatched).content
    plainly, theirs = (
        {query: list(answers[0].results) for query, answers in parse_run(lines, "r", order).answers.items()}
        for order in (RunOrder(), RunOrder(ties="trec_eval"))
    )
    assert plainly == theirs


@pytest.mark.process
def test_the_commands_write_files_and_never_replace_what_they_read(run_cce: Run, folder: Path) -> None:
    for words in (("run", "set.jsonl"), ("run", "set.jsonl", "--format", "trec"), ("qrels", "set.jsonl")):
        output = f"{words[0]}-{len(words)}"
        result = run_cce("export", *words, "-o", output, cwd=folder)
        assert (result.returncode, (folder / output).stat().st_size > 0) == (0, True)
        assert result.stdout.endswith(f" -> {output}\n".encode())
        assert run_cce("export", *words, "-o", output, cwd=folder).returncode == 0  # an older export
        own = run_cce("export", *words, "-o", "set.jsonl", cwd=folder)
        assert (own.returncode, own.stderr) == (
            2,
            b"error: -o set.jsonl: would replace the fixture set, name another file\n",
        )
    inside = run_cce("export", "qrels", "set.jsonl", "-o", "docs/c.txt", cwd=folder)
    assert b"would replace a file of the corpus docs" in inside.stderr
