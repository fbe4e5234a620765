"""Cases and open systems in, the rankings of every case out: for its k, and for a deeper cut-off.

Systems of our own rank a case one after the other, so what two of them need of a query is computed once. An
outside system is asked all its questions in one go, and its answers come through its door.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.case import Case
from cce.domain.outside import Answer, FailedAnswer, Question
from cce.domain.query import Query
from cce.domain.ranking import Ranking
from cce.domain.second_stage import StageCounts
from cce.domain.systems import SystemTable
from cce.errors import OutsideSystemError
from cce.quoting import counted, on_one_line, quoted
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.opening import System
from cce.usecases.opened_systems import OpenOutside, OpenSystems
from cce.usecases.scopes import CaseScopes

if TYPE_CHECKING:
    from cce.domain.ranking_account import RankingAccount
    from cce.retrieval.corpus.scopes import ScopedFiles


class Rankings(NamedTuple):
    """What a system answered when it was asked once; one ranking per case, in case order.

    deep    the same for the largest cut-off, where that is larger than the case's k; None if no metric asks
    counts  what a second stage did for each of `own`; empty without one
    """

    own: Sequence[Ranking]
    deep: Sequence[Ranking] | None = None
    counts: Sequence[StageCounts] = ()


class Answered(NamedTuple):
    """All that a system answered: one entry per repeat, and what failed by case id, in the system's words."""

    repeats: tuple[Rankings, ...]
    failed: Mapping[str, str]

    @property
    def first(self) -> Sequence[Ranking]:
        """The rankings that pages show."""
        return self.repeats[0].own


class Asking(NamedTuple):
    """How systems are asked.

    cutoff       the largest K of the metrics asked, None without any
    repeat       how often each question is asked; None for what the tables say
    keeps_going  whether a failed case scores as empty, where it else raises OutsideSystemError
    """

    cutoff: int | None = None
    repeat: int | None = None
    keeps_going: bool = False


PLAIN_ASKING = Asking()


def ask_all(
    systems: OpenSystems,
    names: Sequence[str],
    cases: Sequence[Case],
    scopes: CaseScopes,
    asking: Asking,
    progress: ProgressCallback,
) -> dict[str, Answered]:
    """What each system answers, by name in the order of `names`; raises CceError."""
    inside = _ask_inside(systems, cases, scopes, asking, progress)
    answered = {}
    for name in names:
        if name in inside:
            answered[name] = Answered(inside[name], {})
        else:
            n_repeats = systems.repeats(name, asking.repeat)
            answered[name] = _ask_outside(
                name, systems.outside[name], cases, scopes, asking._replace(repeat=n_repeats), progress
            )
    return answered


def _depths(case: Case, cutoff: int | None) -> tuple[int, ...]:
    """The k, and the cut-off if it is larger: two questions, since the first results can depend on k."""
    return (case.k,) if cutoff is None or cutoff <= case.k else (case.k, cutoff)


def _ask_inside(
    systems: OpenSystems,
    cases: Sequence[Case],
    scopes: CaseScopes,
    asking: Asking,
    progress: ProgressCallback,
) -> dict[str, tuple[Rankings, ...]]:
    inside = systems.inside
    n_repeats = {name: systems.repeats(name, asking.repeat) for name in inside}
    found: dict[str, list[_Collected]] = {
        name: [_Collected() for _ in range(n_repeats[name])] for name in inside
    }
    for n_done, case in enumerate(cases if inside else ()):
        progress("ranked", n_done, len(cases), "queries")
        query = Query(case.query).within(scopes.allowed(case))
        for name, system in inside.items():
            depths = _depths(case, asking.cutoff)
            for repeat, collected in enumerate(found[name]):
                if system.stage is None:
                    rankings = [system.rank(query, k) for k in depths]
                    collected.add(*rankings)
                else:
                    staged = [system.staged(query, k) for k in depths]
                    rankings = [each.ranking for each in staged]
                    collected.add(*rankings, counts=staged[0].counts)
                if systems.recorders is not None:
                    request = scopes.request(case, system.scopes)
                    for k, ranking in zip(depths, rankings, strict=True):
                        question = Question(case.id, case.query, k, request, repeat)
                        systems.recorders.record(name, question, ranking)
    if systems.recorders is not None:
        systems.recorders.finish(inside)
    return {
        name: tuple(collected.rankings(asking.cutoff) for collected in repeats)
        for name, repeats in found.items()
    }


class _Collected:
    """The rankings of one repeat, case by case."""

    def __init__(self) -> None:
        self._own: list[Ranking] = []
        self._deep: list[Ranking] = []
        self._counts: list[StageCounts] = []

    def add(self, own: Ranking, deep: Ranking | None = None, *, counts: StageCounts | None = None) -> None:
        self._own.append(own)
        self._deep.append(own if deep is None else deep)
        if counts is not None:
            self._counts.append(counts)

    def rankings(self, cutoff: int | None) -> Rankings:
        return Rankings(self._own, None if cutoff is None else self._deep, self._counts)


def _ask_outside(
    name: str,
    opened: OpenOutside,
    cases: Sequence[Case],
    scopes: CaseScopes,
    asking: Asking,
    progress: ProgressCallback,
) -> Answered:
    n_repeats = asking.repeat or 1
    asked = [
        _Wanted(case, k, Question(case.id, case.query, _n_asked(opened, k), request, repeat))
        for repeat in range(n_repeats)
        for case in cases
        for request in [scopes.request(case, opened.scopes)]
        for k in _depths(case, asking.cutoff)
    ]
    answers = _Answers(name, opened, scopes, asking)
    rankings = answers.rankings(asked, progress)
    repeats = []
    for _ in range(n_repeats):
        collected = _Collected()
        for case in cases:
            found = [next(rankings) for _ in _depths(case, asking.cutoff)]
            counts = None if opened.stage is None else found[0].counts
            collected.add(*(each.ranking for each in found), counts=counts)
        repeats.append(collected.rankings(asking.cutoff))
    opened.door.tally.check()
    return Answered(tuple(repeats), answers.failed)


def _n_asked(opened: OpenOutside, k: int) -> int:
    """How many results to ask for where k are wanted."""
    return k if opened.stage is None else opened.stage.n_asked(k)


class _Wanted(NamedTuple):
    """A question, and the k that its answer is ranked for: a second stage asks for more."""

    case: Case
    k: int
    question: Question


class _StagedAnswer(NamedTuple):
    """A ranking, and what a second stage did."""

    ranking: Ranking
    counts: StageCounts = StageCounts()


class _Answers:
    """The answers of one outside system, as rankings."""

    def __init__(self, name: str, opened: OpenOutside, scopes: CaseScopes, asking: Asking) -> None:
        self._name = name
        self._opened = opened
        self._scopes = scopes
        self._asking = asking
        self.failed: dict[str, str] = {}

    def rankings(self, asked: Sequence[_Wanted], progress: ProgressCallback) -> Iterator[_StagedAnswer]:
        """One ranking per question, in order; an empty one for a question that failed."""
        answers = self._opened.system.answer([each.question for each in asked])
        for n_done, each in enumerate(asked):
            progress(f"{self._name}: asked", n_done, len(asked), "queries")
            try:
                answer = next(answers)
            except OutsideSystemError as exc:
                if not self._asking.keeps_going:
                    raise
                # The system as a whole failed: whatever is still to come fails alike.
                answer = FailedAnswer(str(exc))
                answers = iter([answer] * (len(asked) - n_done - 1))
            yield self._ranking(each, answer)

    def _ranking(self, asked: _Wanted, answer: Answer) -> _StagedAnswer:
        case, question = asked.case, asked.question
        if isinstance(answer, FailedAnswer):
            return self._fail(question, answer.message)
        allowed = self._scopes.allowed(case, self._opened.scopes)
        is_first = asked.k == case.k  # what comes deeper repeats it
        try:
            ranking = self._opened.door.ranking(question, answer, allowed, is_counted=is_first)
            return _second_stage(self._opened, question.text, ranking, asked.k)
        except OutsideSystemError as exc:  # a result that cannot be, such as a score of NaN
            if not self._asking.keeps_going:
                raise
            return self._fail(question, str(exc))

    def _fail(self, question: Question, message: str) -> _StagedAnswer:
        # A service and a door name system and case themselves.
        own = f"system {quoted(self._name)}: "
        message = message.removeprefix(own).removeprefix(f"case {on_one_line(question.id)}: ")
        if not self._asking.keeps_going:
            place = f"system {quoted(self._name)}: case {on_one_line(question.id)}"
            raise OutsideSystemError(f"{place}: {on_one_line(message)}")
        self.failed.setdefault(question.id, message)
        return _StagedAnswer(())


def _second_stage(opened: OpenOutside, query: str, ranking: Ranking, k: int) -> _StagedAnswer:
    if opened.stage is None:
        return _StagedAnswer(ranking)
    staged = opened.stage.rerank(query, ranking, _n_final(opened, k))
    return _StagedAnswer(staged.ranking, staged.counts)


def _n_final(opened: OpenOutside, k: int) -> int:
    return k if opened.table.final is None else min(k, opened.table.final)


class OutsideRanker:
    """An outside system that is asked one query after the other, as a system of our own is."""

    def __init__(
        self, name: str, opened: OpenOutside, index: Index, depth: int | None = None, case_id: str = "query"
    ) -> None:
        """`depth` is the most results to ask for, None for any number; `case_id` names the query."""
        self.name = name
        self._case_id = case_id
        self._opened = opened
        self._index = index
        self._depth = depth
        self._files: ScopedFiles | None = None
        if opened.scopes:
            from cce.retrieval.corpus.scopes import ScopedFiles  # few runs have a scope

            self._files = ScopedFiles(opened.scopes)

    def rank(self, query: Query, k: int) -> Ranking:
        """What it answers, checked; raises OutsideSystemError, also for an answer that failed."""
        return _second_stage(self._opened, query.text, self._first_stage(query, k), k).ranking

    def _first_stage(self, query: Query, k: int) -> Ranking:
        paths = self._index.positions_by_file
        scope = None if self._files is None else self._files.request(paths.keys())
        asked = k if self._depth is None else min(k, self._depth)
        question = Question(self._case_id, query.text, _n_asked(self._opened, asked), scope)
        (answer,) = self._opened.system.answer([question])
        if isinstance(answer, FailedAnswer):
            raise OutsideSystemError(f"system {quoted(self.name)}: {on_one_line(answer.message)}")
        return self._opened.door.ranking(question, answer, query.within(self.allowed).allowed)

    @property
    def allowed(self) -> frozenset[int] | None:
        """Positions of the chunks that its own scopes allow; None without a scope."""
        return None if self._files is None else self._files.positions(self._index.positions_by_file)

    def search(self, query: Query, k: int, *, use_graph: bool) -> Ranking:  # noqa: ARG002 - hybrid's alone
        """As `rank`."""
        return self.rank(query, k)

    def explain(self, query: Query, k: int) -> RankingAccount:
        """The hits with their scores: what they are made of is the system's own affair."""
        from cce.domain.ranking_account import AccountedHit, RankingAccount  # few runs explain

        if self._opened.stage is not None:
            first = self._first_stage(query, k)
            staged = self._opened.stage.rerank(query.text, first, _n_final(self._opened, k))
            return self._opened.stage.account(query.text, staged)
        ranked = enumerate(self.rank(query, k), start=1)
        return RankingAccount(tuple(AccountedHit(rank, hit) for rank, hit in ranked))


Ranker = System | OutsideRanker
"""What can be asked one query."""


def rankers(
    systems: OpenSystems,
    names: Sequence[str],
    index: Index,
    depth: int | None = None,
    case_id: str = "query",
) -> tuple[Ranker, ...]:
    """The systems in the order of `names`.

    depth    limits what outside systems are asked for
    case_id  what they are told that the query is called; a saved run finds it by that
    """
    return tuple(
        systems.inside[name]
        if name in systems.inside
        else OutsideRanker(name, systems.outside[name], index, depth, case_id)
        for name in names
    )


def failure_notice(name: str, failed: Mapping[str, str], n_cases: int) -> str:
    """What a report says of the cases that failed, with the first one's reason."""
    first, reason = next(iter(failed.items()))
    return (
        f"{on_one_line(name)}: {len(failed)} of {n_cases} cases failed and score as empty; "
        f"the first is {on_one_line(first)}: {on_one_line(reason)}"
    )


def stage_notices(table: SystemTable, counts: Sequence[StageCounts]) -> Iterator[str]:
    """What a report says of a second stage, given what that did for each case."""
    n_pairs, n_ties, n_cut = (sum(each[at] for each in counts) for at in range(len(StageCounts._fields)))
    if n_ties:
        yield f"{on_one_line(table.name)}: ties at top: {n_ties}, which keep the order of the first stage"
    if n_cut:
        words = counted(table.stage.max_words or 0, "word")
        yield f"{on_one_line(table.name)}: cut passages: {n_cut} of {n_pairs}, after {words}"
