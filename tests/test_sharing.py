"""What systems of one run share: a backend's rankings, and an outside system's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from cce.domain.outside import Answer, OutsideResult, Question
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.systems import Variant
from cce.errors import OutsideSystemError
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.external.sharing import SharedSystem
from cce.retrieval.systems.opening import Backends
from corpora import index_texts

INDEX = index_texts("alpha", "beta alpha")


class Recorded:
    """An outside system that keeps what it was asked."""

    facts = {"name": "recorded"}  # noqa: RUF012 - a test's own

    def __init__(self) -> None:
        self.asked: list[Question] = []
        self.n_closed = 0

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        for question in questions:
            if question.text == "stop":
                raise OutsideSystemError("stopped")
            self.asked.append(question)
            yield (OutsideResult(f"{question.id}.txt"),)

    def close(self) -> None:
        self.n_closed += 1


def question(name: str, k: int = 3, text: str = "q") -> Question:
    return Question(name, text, k)


def test_each_question_is_asked_once_and_answered_in_order() -> None:
    system = Recorded()
    shared = SharedSystem(system)
    first = list(shared.answer([question("a"), question("b")]))
    second = list(shared.answer([question("b"), question("c"), question("a"), question("b", k=4)]))
    assert [answer[0].path for answer in first] == ["a.txt", "b.txt"]  # type: ignore[union-attr]
    assert [answer[0].path for answer in second] == ["b.txt", "c.txt", "a.txt", "b.txt"]  # type: ignore[union-attr]
    assert system.asked == [question("a"), question("b"), question("c"), question("b", k=4)]


def test_a_question_that_comes_twice_in_one_call_is_answered_twice() -> None:
    system = Recorded()
    answers = list(SharedSystem(system).answer([question("a"), question("a"), question("b")]))
    assert [answer[0].path for answer in answers] == ["a.txt", "a.txt", "b.txt"]  # type: ignore[union-attr]


def test_what_failed_is_not_kept() -> None:
    shared = SharedSystem(Recorded())
    for _ in range(2):
        with pytest.raises(OutsideSystemError, match="stopped"):
            list(shared.answer([question("a", text="stop")]))


def test_its_other_sides_show_through() -> None:
    system = Recorded()
    shared = SharedSystem(system)
    assert shared.facts == {"name": "recorded"}
    shared.close()
    assert system.n_closed == 1


def test_systems_with_one_backend_and_its_options_share_its_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    rank = Bm25Backend.rank

    def counted(self: Bm25Backend, query: Query, k: int) -> Ranking:
        asked.append(k)
        return rank(self, query, k)

    monkeypatch.setattr(Bm25Backend, "rank", counted)
    backends = Backends(INDEX)
    one, other = (backends.open(Variant("bm25"), "place") for _ in range(2))
    query = Query("alpha")
    assert one.ranking(query, 2) is other.ranking(query, 2)
    one.ranking(query, 1)
    one.ranking(Query("alpha"), 2)
    assert asked == [2, 1, 2]
    hybrids = [Variant("hybrid"), Variant("hybrid", {"graph": False})]
    assert backends.open(hybrids[0], "place") is not backends.open(hybrids[1], "place")
