"""Saved runs as systems: what replays, what is told, and what makes a case a failed one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cce.domain.outside import FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.domain.run import Documents, Run, RunAnswer, RunOrder, RunScope
from cce.retrieval.external.saved_run import SavedRun

A, B, C = (OutsideResult(f"{name}.py") for name in "abc")


def run_of(answers: Mapping[str, Sequence[RunAnswer]], **facts: object) -> Run:
    return Run("mine.jsonl", answers, facts=facts)


def ask(system: SavedRun, *questions: Question) -> list[object]:
    return list(system.answer(questions))


def test_a_plain_run_answers_by_id_cut_to_k_with_one_notice() -> None:
    system = SavedRun("mine", run_of({"q": [RunAnswer(2, (A, B, C))]}))
    assert ask(system, Question("q", "check", 2)) == [(A, B)]
    assert system.notices() == (
        "mine.jsonl: nothing ties it to these questions: it does not say which queries it answers",
    )


def test_each_k_and_repeat_has_its_own_answer() -> None:
    answers = [
        RunAnswer(2, (A,), k=1, query="check"),
        RunAnswer(3, (B, A), k=2, query="check"),
        RunAnswer(4, (C,), k=1, query="check", repeat=1),
    ]
    system = SavedRun("mine", run_of({"q": answers}))
    asked = [Question("q", "check", 1), Question("q", "check", 2), Question("q", "check", 1, repeat=1)]
    assert ask(system, *asked) == [(A,), (B, A), (C,)]
    assert system.notices() == ()


def test_another_k_takes_the_nearest_deeper_answer_and_is_told() -> None:
    answers = [RunAnswer(n, (A, B, C), k=k, query="check") for n, k in enumerate((3, 9, 30))]
    system = SavedRun("mine", run_of({"q": [answers[0], answers[2], answers[1]._replace(results=(B, C))]}))
    assert ask(system, Question("q", "check", 5), Question("q", "check", 99)) == [(B, C), (A, B, C)]
    assert system.notices() == ("mine.jsonl: 1 case recorded for another k than asked: 'q'",)


def test_another_query_or_scope_makes_the_case_a_failed_one() -> None:
    scoped = RunAnswer(3, (B,), query="b", scope=RunScope("current", None, ("old/**",)))
    system = SavedRun("mine", run_of({"a": [RunAnswer(2, (A,), query="check")], "b": [scoped]}))
    same = ScopeRequest("current", None, None, ("old/**",))
    asked = [
        Question("a", "chalk", 1),
        Question("b", "b", 1, same),
        Question("b", "b", 1),
        Question("b", "b", 1, same._replace(exclude=())),
    ]
    failed = FailedAnswer("recorded under another scope: record it again", "other-scope")
    assert ask(system, *asked) == [
        FailedAnswer("recorded for another query, 'check': record it again", "other-query"),
        (B,),
        failed,
        failed,
    ]


def test_a_recorded_error_is_an_error_again() -> None:
    error = FailedAnswer("Connection refused", None)
    system = SavedRun("mine", run_of({"a": [RunAnswer(2, error, query="check")]}))
    assert ask(system, Question("a", "check", 5)) == [error]


def test_missing_and_extra_queries_are_counted() -> None:
    answers = {name: [RunAnswer(2, (A,), query="check")] for name in ("a", "x", "y")}
    system = SavedRun("mine", run_of(answers))
    assert ask(system, *(Question(name, "check", 5) for name in ("a", "b", "b"))) == [(A,), (), ()]
    assert system.notices() == (
        "mine.jsonl: 1 case not in it, scored as empty: 'b'",
        "mine.jsonl: 2 queries of no case, not used: 'x', 'y'",
    )


def test_a_run_of_which_nothing_fits_is_probably_of_another_set() -> None:
    system = SavedRun("mine", run_of({"x": [RunAnswer(2, (A,))]}))
    assert ask(system, Question("a", "check", 5)) == [()]
    assert system.notices() == ("mine.jsonl: none of its 1 query is a case of the set: probably another set",)


def test_another_corpus_is_told_and_an_unknown_one_is_not() -> None:
    run = run_of({"a": [RunAnswer(2, (A,), query="check")]}, corpus="0123456789abcdef")
    for corpus, is_another in ((None, False), ("0123456789abcdef", False), ("fedcba9876543210", True)):
        system = SavedRun("mine", run, corpus=corpus)
        ask(system, Question("a", "check", 5))
        assert system.is_of_another_corpus is is_another
        assert len(system.notices()) == is_another


def test_document_ids_are_places_and_ids_of_queries_are_encoded() -> None:
    documents = Documents(["a%20b.py#kind@3-9", "a%20b.py#kind@3-9~2", "c.py"], [3.0, 2.0, 1.0])
    run = Run("t.run", {"my%20case": [RunAnswer(1, documents)]}, has_docids=True)
    system = SavedRun("mine", run, is_file={"a b.py"}.__contains__)
    assert ask(system, Question("my case", "check", 3)) == [
        (
            OutsideResult("a b.py", 3, 9, "kind", 3.0),
            OutsideResult("a b.py", 3, 9, "kind", 2.0),
            OutsideResult("c.py", score=1.0),
        )
    ]


def test_a_run_goes_on_to_the_end_of_the_ties_at_the_cut_off() -> None:
    documents = Documents(["a", "b", "c", "d"], [3.0, 2.0, 2.00000001, 1.0])
    question = Question("q", "check", 2)
    n_results = {}
    for order in (None, RunOrder(), RunOrder("rank"), RunOrder("score"), RunOrder(ties="trec_eval")):
        run = Run("t.run", {"q": [RunAnswer(1, documents)]}, has_docids=True, order=order)
        n_results[order] = len(SavedRun("mine", run).through_ties(question))
    assert list(n_results.values()) == [2, 2, 2, 2, 3]
    tied = RunAnswer(1, Documents(["a", "b", "c", "d"], [2.0, 2.0, 2.0, 2.0]))
    run = Run("t.run", {"q": [tied]}, has_docids=True, order=RunOrder())
    assert len(SavedRun("mine", run).through_ties(question)) == 4
    assert SavedRun("mine", run).through_ties(Question("p", "check", 2)) == ()
