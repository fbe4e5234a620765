"""A saved run as a system: it answers with what a file holds, so no engine is started.

What was recorded must have been asked as it is asked now: another query under an id makes the case a failed
one. What the file does not say cannot be checked, and one notice says so.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.domain.place_ids import encoded_id, place_of
from cce.domain.run import Run, RunAnswer
from cce.quoting import counted, listed_with_rest, on_one_line, quoted

_MAX_EXAMPLES = 3
_OTHER_QUERY = "other-query"
_OTHER_SCOPE = "other-scope"


class SavedRun:
    """Answers questions from `run`; one question is one look at its id."""

    def __init__(
        self,
        name: str,
        run: Run,
        *,
        is_file: Callable[[str], bool] = lambda _: False,
        docid: str = "{}",
        corpus: str | None = None,
    ) -> None:
        """`name` is the system's.

        is_file  whether a path is known: a file of the corpus, or of an anchor where there is no corpus
        docid    what makes a path of a document id, put in for `{}`
        corpus   the digest of the corpus that is asked now; None where there is none
        """
        self.name = name
        self._run = run
        self._is_file = is_file
        self._docid = docid
        self._corpus = corpus
        self._missing: dict[str, None] = {}
        self._asked: dict[str, None] = {}
        self._other_k: dict[str, None] = {}
        self._is_unchecked = False

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One answer per question, in order; a case that the run lacks has no results."""
        for question in questions:
            yield self._answer(question)

    def close(self) -> None:
        """Nothing runs."""

    @property
    def is_of_another_corpus(self) -> bool:
        """Whether the run was recorded over a corpus that is not the one asked now: a gate then reviews."""
        recorded = self._run.facts.get("corpus")
        return self._corpus is not None and recorded is not None and recorded != self._corpus

    def notices(self) -> tuple[str, ...]:
        """What the reader of the figures should know, once all questions were asked: one line each."""
        place = on_one_line(self._run.path)
        found = [key for key in map(self._key, self._asked) if key is not None]
        if self._asked and not found:
            fault = f"none of its {counted(len(self._run.answers), 'query', 'queries')} is a case of the set"
            return (f"{place}: {fault}: probably another set",)
        return tuple(f"{place}: {notice}" for notice in self._notices(frozenset(found)))

    def _notices(self, found: frozenset[str]) -> Iterator[str]:
        if self._missing:
            yield f"{counted(len(self._missing), 'case')} not in it, scored as empty: {_some(self._missing)}"
        extra = [query for query in self._run.answers if query not in found]
        if extra and self._asked:
            yield f"{counted(len(extra), 'query', 'queries')} of no case, not used: {_some(extra)}"
        if self._other_k:
            n_cases = counted(len(self._other_k), "case")
            yield f"{n_cases} recorded for another k than asked: {_some(self._other_k)}"
        if self._is_unchecked:
            yield "nothing ties it to these questions: it does not say which queries it answers"
        if self.is_of_another_corpus:
            yield "recorded over another corpus than this one: record it again"

    def _key(self, case_id: str) -> str | None:
        """The id in the file: columns hold no white space, so ids are written as document ids are."""
        return next((key for key in (encoded_id(case_id), case_id) if key in self._run.answers), None)

    def _answer(self, question: Question) -> Answer:
        results = self._results(question)
        if results is None:
            return ()
        return results if isinstance(results, FailedAnswer) else self._first(results, question.k)

    def _results(self, question: Question) -> Sequence[OutsideResult] | FailedAnswer | None:
        """All results for the question, however many; None if the run lacks its case."""
        self._asked[question.id] = None
        key = self._key(question.id)
        if key is None:
            self._missing[question.id] = None
            return None
        recorded = self._run.answers[key]
        fault = _mismatch(recorded, question)
        if fault is not None:
            return fault
        return self._chosen([each for each in recorded if _is_asked_so(each, question)], question).results

    def n_with_ties(self, question: Question) -> int:
        """How many results `through_ties` gives."""
        results = self._results(question)
        if results is None or isinstance(results, FailedAnswer):
            return 0
        end = min(question.k, len(results))
        while 0 < end < len(results) and self.is_tied(results[end - 1].score, results[end].score):
            end += 1
        return end

    def through_ties(self, question: Question) -> tuple[OutsideResult, ...]:
        """What `answer` gives, and behind it all results that tie with the last of them.

        Nothing for a failed case.
        """
        results = self._results(question)
        if results is None or isinstance(results, FailedAnswer):
            return ()
        return self._first(results, self.n_with_ties(question))

    def is_tied(self, a: float | None, b: float | None) -> bool:
        """Whether two scores leave open which result is the better one."""
        order = self._run.order
        if order is None or order.by == "rank" or a is None or b is None:
            return False
        # trec_eval holds scores as 32-bit floats.
        return a == b or (order.ties == "trec_eval" and len({*array("f", (a, b))}) == 1)

    def _first(self, results: Sequence[OutsideResult], n: int) -> tuple[OutsideResult, ...]:
        return tuple(map(self._placed, results[:n])) if self._run.has_docids else tuple(results[:n])

    def _chosen(self, recorded: Sequence[RunAnswer], question: Question) -> RunAnswer:
        """The answer to this repeat and k; else the nearest, a deeper one first, since it can be cut."""
        self._is_unchecked |= any(each.query is None for each in recorded)
        same_repeat = [each for each in recorded if each.repeat == question.repeat] or recorded
        for each in same_repeat:
            if each.k is None or each.k == question.k:
                return each
        self._other_k[question.id] = None
        return min(same_repeat, key=lambda each: _distance(each, question))

    def _placed(self, result: OutsideResult) -> OutsideResult:
        path, start, end, kind = place_of(result.path, self._is_file, self._docid)
        return OutsideResult(path, start, end, kind, result.score)


def _distance(recorded: RunAnswer, question: Question) -> tuple[bool, int]:
    """How far its k is from the one asked: any deeper answer is nearer than all others."""
    k = recorded.k or 0
    return k < question.k, abs(k - question.k)


def _mismatch(recorded: Sequence[RunAnswer], question: Question) -> FailedAnswer | None:
    """What is wrong if no answer is to this question."""
    if any(_is_asked_so(each, question) for each in recorded):
        return None
    other = next((each for each in recorded if each.query not in (None, question.text)), None)
    if other is not None and other.query is not None:
        fault = f"recorded for another query, {quoted(other.query)}"
        return FailedAnswer(f"{fault}: record it again", _OTHER_QUERY)
    return FailedAnswer("recorded under another scope: record it again", _OTHER_SCOPE)


def _is_asked_so(recorded: RunAnswer, question: Question) -> bool:
    """Whether nothing that was recorded contradicts `question`."""
    if recorded.query is not None and recorded.query != question.text:
        return False
    scope = question.scope
    if recorded.tenant is not None and recorded.tenant != (None if scope is None else scope.tenant):
        return False
    return recorded.scope is None or (scope is not None and _is_same_scope(recorded, scope))


def _is_same_scope(recorded: RunAnswer, scope: ScopeRequest) -> bool:
    assert recorded.scope is not None  # noqa: S101 - asked by the caller
    return tuple(recorded.scope) == (scope.name, scope.include, scope.exclude)


def _some(ids: Sequence[str] | dict[str, None]) -> str:
    return listed_with_rest(map(quoted, ids), len(ids), _MAX_EXAMPLES)
