"""trec_eval's figures, per query and in the mean: three runs over the Cranfield collection, one full of ties.

trec_eval orders by score as a 32-bit float, then by document id, falling. Its map divides by all relevant
documents, where `ap` divides by at most k of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from cce.domain.case import FixtureSet
from cce.domain.outside import FailedAnswer, Question
from cce.domain.ranking import Ranking
from cce.domain.run import RunOrder
from cce.domain.scores import BackendScore
from cce.domain.systems import RunFile
from cce.measurement.fixtures.reading import parse_fixture_set, read_fixture_set
from cce.measurement.matching.spans import LineWeights
from cce.measurement.scoring import SetScorer
from cce.measurement.ties import BOUNDED_METRICS
from cce.retrieval.external.door import Door, DoorRules
from cce.retrieval.indexing.index import Index
from cce.usecases.corpora import NO_CHOICE, open_corpus
from cce.usecases.importing import QrelsPlan, import_qrels
from cce.usecases.runs import open_saved_run
from cce.usecases.ties import ties_notice
from corpora import unwatched
from oracle import Oracle

RUNS = ["okapi", "lucene", "coarse"]
TREC_EVAL = RunOrder(ties="trec_eval")
# trec_eval's name -> ours, and the k that it cuts at.
FIGURES = {
    "P_5": ("precision_at_k", 5),
    "P_10": ("precision_at_k", 10),
    "P_20": ("precision_at_k", 20),
    "recall_10": ("recall", 10),
    "recall_20": ("recall", 20),
    "recip_rank": ("mrr", 50),
    "ndcg_cut_5": ("ndcg_linear", 5),
    "ndcg_cut_10": ("ndcg_linear", 10),
    "success_1": ("hit", 1),
    "success_10": ("hit", 10),
}
METRICS = ("hit", "ndcg_linear", "ap")


class Cranfield:
    """The collection, and what each run scores over it at each k."""

    def __init__(self, oracle: Oracle, folder: Path) -> None:
        self._oracle = oracle
        self.folder = oracle.folder / "trec"
        self.fixtures = read_fixture_set(str(oracle.folder / "trec" / "cranfield.jsonl"))
        self.index = open_corpus(NO_CHOICE._replace(directory=str(folder)), str(folder), unwatched).index

    def expected(self, run: str) -> tuple[Mapping[str, float], Mapping[str, Mapping[str, float]]]:
        found = json.loads(self._oracle.read(f"trec/{run}.figures.json"))
        return found["all"], found["per_query"]

    @cache  # noqa: B019 - one a session
    def score(self, run: str, k: int) -> BackendScore:
        cases = tuple(case._replace(k=k) for case in self.fixtures.cases)
        fixtures = self.fixtures._replace(cases=cases)
        path = str(self._oracle.folder / "trec" / f"{run}.run.gz")
        rankings = rank(self.index, fixtures, path)
        weights = LineWeights(self.index.outer_chunks_of)
        return SetScorer(fixtures, self.index.chunks, METRICS, weights).score(run, rankings)


def rank(index: Index, fixtures: FixtureSet, path: str, order: RunOrder = TREC_EVAL) -> list[Ranking]:
    system = open_saved_run("run", RunFile(path), fixtures, index, order)
    door = Door(index, "run", DoorRules(is_run=True))
    rankings = []
    for case in fixtures.cases:
        question = Question(case.id, case.query, case.k)
        answer = next(system.answer([question]))
        assert not isinstance(answer, FailedAnswer)
        rankings.append(door.ranking(question, answer))
    return rankings


@pytest.fixture(scope="module")
def cranfield(oracle: Oracle) -> Cranfield:
    return Cranfield(oracle, oracle.unpack("cranfield", "trec") / "cranfield")


@pytest.mark.process
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("run", RUNS)
def test_every_figure_is_trec_evals(cranfield: Cranfield, run: str, name: str) -> None:
    metric, k = FIGURES[name]
    means, per_query = cranfield.expected(run)
    score = cranfield.score(run, k)
    assert score.means[metric] == pytest.approx(means[name], abs=1e-6)
    for case_id, figure in zip(score.ids, score.columns[metric], strict=True):
        assert figure == pytest.approx(per_query[case_id][name], abs=1e-6), case_id
    assert len(score.ids) == len(per_query) == 225


@pytest.mark.process
@pytest.mark.parametrize(("name", "k"), [("map_cut_10", 10), ("map", 50)])
@pytest.mark.parametrize("run", RUNS)
def test_trec_evals_map_is_ours_times_the_share_of_the_relevant_within_k(
    cranfield: Cranfield, run: str, name: str, k: int
) -> None:
    _, per_query = cranfield.expected(run)
    score = cranfield.score(run, k)
    for case, figure in zip(cranfield.fixtures.cases, score.columns["ap"], strict=True):
        n_relevant = len(case.anchors)
        assert figure is not None
        assert figure * min(k, n_relevant) / n_relevant == pytest.approx(per_query[case.id][name], abs=1e-6)


@pytest.mark.process
@pytest.mark.parametrize("run", RUNS)
def test_ties_across_the_cut_off_bound_the_figures(cranfield: Cranfield, run: str) -> None:
    fixtures, index = cranfield.fixtures, cranfield.index
    path = str(cranfield.folder / f"{run}.run.gz")
    scorer = SetScorer(fixtures, index.chunks, BOUNDED_METRICS, LineWeights(index.outer_chunks_of))
    for order in (RunOrder(), TREC_EVAL):
        system = open_saved_run(run, RunFile(path), fixtures, index, order)
        told = ties_notice(system, fixtures, index, Door(index, run, DoorRules(is_run=True)))
        if run != "coarse":
            assert told is None
            continue
        assert told is not None
        spans = re.findall(r"(\w+) (\d\.\d{6}) to (\d\.\d{6})", told)
        assert [metric for metric, _, _ in spans] == list(BOUNDED_METRICS)
        score = scorer.score(run, rank(index, fixtures, path, order))
        for metric, least, most in spans:
            mean = score.means[metric]
            assert mean is not None
            assert float(least) <= round(mean, 6) <= float(most)
            assert float(least) < float(most)


@pytest.mark.process
def test_ties_by_rank_would_give_other_figures(cranfield: Cranfield, oracle: Oracle) -> None:
    """So the figures above do depend on the rule."""
    path = str(oracle.folder / "trec" / "coarse.run.gz")
    plain = open_saved_run("run", RunFile(path), cranfield.fixtures, cranfield.index)
    theirs = open_saved_run("run", RunFile(path), cranfield.fixtures, cranfield.index, TREC_EVAL)
    questions = [Question(case.id, case.query, 10) for case in cranfield.fixtures.cases]
    n_different = sum(a != b for a, b in zip(plain.answer(questions), theirs.answer(questions), strict=True))
    assert n_different > 100


# trec_eval's own test data: foreign ids and no documents. Its name -> ours, and the k that it cuts at.
NIST_FIGURES = {
    "P_5": ("precision_at_k", 5),
    "P_10": ("precision_at_k", 10),
    "P_30": ("precision_at_k", 30),
    "recall_100": ("recall", 100),
    "recip_rank": ("mrr", 1000),
    "ndcg_cut_10": ("ndcg_linear", 10),
    "ndcg_cut_100": ("ndcg_linear", 100),
    "success_1": ("hit", 1),
    "success_10": ("hit", 10),
    "map": ("ap", 1000),
}


@pytest.mark.parametrize(
    ("run", "printed"), [("results.test", "out.test.aq"), ("results.trunc", "out.test.aqc")]
)
@pytest.mark.parametrize("name", NIST_FIGURES)
def test_without_a_corpus_the_figures_are_trec_evals_own(
    oracle: Oracle, run: str, printed: str, name: str
) -> None:
    folder = oracle.folder / "trec" / "nist"
    metric, k = NIST_FIGURES[name]
    made = import_qrels(QrelsPlan(str(folder / "qrels.test"), k=k))
    fixtures = parse_fixture_set(made.content, "nist.jsonl")
    labelled = {anchor.path for case in fixtures.cases for anchor in case.anchors if anchor.path}
    system = open_saved_run("run", RunFile(str(folder / run)), fixtures, None, TREC_EVAL)
    door = Door(None, "run", DoorRules(is_run=True), labelled)
    rankings = []
    for case in fixtures.cases:
        question = Question(case.id, case.query, case.k)
        answer = next(system.answer([question]))
        assert not isinstance(answer, FailedAnswer)
        rankings.append(door.ranking(question, answer))
    score = SetScorer(fixtures, None, METRICS, LineWeights(lambda _: ())).score("run", rankings)
    rows = [line.split() for line in (folder / printed).read_text().splitlines()]
    expected = {query: float(value) for figure, query, value in rows if figure == name}
    found = {"all": score.means[metric], **dict(zip(score.ids, score.columns[metric], strict=True))}
    assert found == pytest.approx(expected, abs=5.1e-5)  # four decimals are printed
