"""Whether a program, a service or an object answers as it should: it is talked to as a run talks to it.

A system and a corpus enter, a law by law account leaves. Queries are words of the corpus, so that an honest
system finds something. An error that a system tells is an answer where the question is odd, and a failure
where it is plain.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.domain.system_check import CheckedLaw, CheckOutcome, SystemCheck
from cce.domain.systems import Program, RunFile, Service, Variant
from cce.errors import OutsideSystemError, UsageError
from cce.quoting import counted, on_one_line, quoted, shortened
from cce.retrieval.indexing.directory import ProgressCallback
from cce.retrieval.indexing.index import Index
from cce.retrieval.systems.catalogue import Catalogue
from cce.tokens import tokenize
from cce.usecases.corpora import CorpusChoice, corpus_of, open_corpus
from cce.usecases.opened_systems import OpenOutside, Surroundings, opened
from cce.usecases.systems import SystemsChoice

if TYPE_CHECKING:
    from cce.retrieval.external.protocol import Hello

_N_QUERIES = 6
_N_WORDS = 5
_K = 10
_LARGE_K = 10_000
_LARGE_QUERY = 1 << 20  # bytes
_MAX_DETAIL = 300

_Finding = tuple[CheckOutcome, str]


class CheckPlan(NamedTuple):
    """What to check, over which corpus; `may_load` allows it for a service on another machine."""

    name: str
    corpus: CorpusChoice
    systems: SystemsChoice
    catalogue: Catalogue
    may_load: bool = False


class CheckRun(NamedTuple):
    """What was found, and notices: one line each."""

    check: SystemCheck
    notices: tuple[str, ...]


def check_system(plan: CheckPlan, progress: ProgressCallback) -> CheckRun:
    """Carry out `plan`; raises CceError where there is nothing to talk to."""
    source = plan.catalogue.resolve(plan.name).table.source
    if isinstance(source, Variant | RunFile):
        kind = "a backend of cce" if isinstance(source, Variant) else "a saved run"
        raise UsageError(
            f"system {quoted(plan.name)} is {kind}, which is not talked to: "
            "name a program, a service or an object"
        )
    indexed = open_corpus(plan.corpus, corpus_of(plan.corpus), progress)
    queries = _queries(indexed.index)
    if not queries:
        raise UsageError("the corpus has no words to ask for: name one with --dir")
    with opened(plan.systems, plan.catalogue, [plan.name], Surroundings(indexed.index)) as systems:
        system = systems.outside[plan.name]
        if getattr(system.system, "is_remote", False) and not plan.may_load:
            raise UsageError(
                f"system {quoted(plan.name)} is a service on another machine: "
                "add --load if it may be asked some thirty queries, one of a megabyte"
            )
        conversation = _Conversation(system, indexed.index, queries)
        laws: list[CheckedLaw] = []
        for law, check in conversation.checks():
            progress(f"checked {plan.name}", len(laws), len(conversation.checks()), "laws")
            laws.append(CheckedLaw(law, *conversation.held_to(check)))
    return CheckRun(SystemCheck(plan.name, tuple(laws)), indexed.notices)


def _queries(index: Index) -> tuple[str, ...]:
    """The first words of evenly spaced chunks."""
    n_chunks = len(index.chunks)
    step = max(1, n_chunks // _N_QUERIES)
    words = (tokenize(index.chunks[position].content)[:_N_WORDS] for position in range(0, n_chunks, step))
    texts = (b" ".join(each).decode() for each in words if each)
    return tuple(dict.fromkeys(texts))[:_N_QUERIES]


class _Conversation:
    """The questions to one system."""

    def __init__(self, opened: OpenOutside, index: Index, queries: Sequence[str]) -> None:
        self._opened = opened
        self._index = index
        self._queries = queries
        self._prefix = f"system {quoted(opened.table.name)}: "
        self._has_started = False
        self._slowest = 0.0
        self._late: str | None = None

    def checks(self) -> tuple[tuple[str, Callable[[], _Finding]], ...]:
        """All laws with what holds the system to them, in order."""
        return (
            ("handshake", self._handshake),
            ("places in the corpus", self._places),
            ("k = 0", lambda: self._odd(self._queries[0], 0)),
            ("k = 1", lambda: self._at_most(1)),
            (f"k = {_LARGE_K:,}", lambda: self._at_most(_LARGE_K)),
            ("a blank query", lambda: self._odd(" ", _K)),
            ("emoji", lambda: self._odd("\U0001f980 na\xefve caf\xe9 \u691c\u7d22", _K)),
            ("a query of 1 MB", lambda: self._odd("x" * 7 + " word " * (_LARGE_QUERY // 6), _K)),
            ("repeats are equal", self._repeats),
            ("a batch equals single queries", self._batch),
            ("a scope is kept", self._scope),
            ("time limits", self._times),
            ("a clean end", self._end),
        )

    def held_to(self, check: Callable[[], _Finding]) -> _Finding:
        """What came of a check; what the system raises is its failure."""
        if not self._has_started and check != self._handshake:
            return "not applicable", "it did not start"
        try:
            outcome, detail = check()
        except OutsideSystemError as exc:
            outcome, detail = "failed", str(exc).removeprefix(self._prefix)
            if "(timeout)" in detail or "no whole answer within" in detail:
                self._late = self._late or detail
        return outcome, shortened(on_one_line(detail), _MAX_DETAIL)

    def _handshake(self) -> _Finding:
        hello = self._hello()
        if hello is None:
            self._ask(self._question(self._queries[0]))
            self._has_started = True
            return "not applicable", "an object is made and asked, it says no hello"
        self._has_started = True
        name = " ".join(each for each in (hello.name, hello.version) if each) or "it gives no name"
        batches = f"batches of up to {hello.max_batch}" if hello.max_batch > 1 else "no batches"
        return "passed", f"{name}; {batches}; {'scopes' if hello.takes_scope else 'no scopes'}"

    def _hello(self) -> Hello | None:
        hello: Hello | None = getattr(self._opened.system, "hello", None)
        return hello

    def _places(self) -> _Finding:
        n_results = n_inside = 0
        for query in self._queries:
            question = self._question(query)
            ranking = self._opened.door.ranking(question, _results(self._ask(question)))
            n_results += len(ranking)
            n_inside += sum(self._index.has_file(hit.chunk.file_path) for hit in ranking)
        asked = counted(len(self._queries), "query", "queries")
        seen = f"{n_inside} of {counted(n_results, 'result')} to {asked}"
        return ("passed" if n_inside else "failed"), f"{seen} are in files of the corpus"

    def _odd(self, text: str, k: int) -> _Finding:
        """A question that may be answered with an error, but not with silence or too much."""
        answer = self._ask(Question("odd", text, k))
        if isinstance(answer, FailedAnswer):
            return "passed", f"an error: {answer.message}"
        if len(answer) > k:
            return "failed", f"{counted(len(answer), 'result')} for k = {k:,}"
        return "passed", counted(len(answer), "result")

    def _at_most(self, k: int) -> _Finding:
        n_results = len(_results(self._ask(self._question(self._queries[0], k))))
        return ("failed" if n_results > k else "passed"), counted(n_results, "result")

    def _repeats(self) -> _Finding:
        for query in self._queries:
            first, second = (_results(self._ask(self._question(query))) for _ in range(2))
            if first != second:
                return "failed", f"{quoted(query)} is answered otherwise the second time: use repeat = N"
        return "passed", f"{counted(len(self._queries), 'query', 'queries')}, each asked twice"

    def _batch(self) -> _Finding:
        hello = self._hello()
        if hello is None or hello.max_batch < 2:
            return "not applicable", "it takes no batches"
        questions = [self._question(query, n=n) for n, query in enumerate(self._queries)]
        together = [_results(answer) for answer in self._opened.system.answer(questions)]
        for question, results in zip(questions, together, strict=True):
            if _results(self._ask(question)) != results:
                return "failed", f"{quoted(question.text)} is answered otherwise when it is asked alone"
        return "passed", counted(len(questions), "query", "queries")

    def _scope(self) -> _Finding:
        hello = self._hello()
        if hello is None or not hello.takes_scope:
            return "not applicable", "it takes no scopes: cce cuts what lies outside"
        for chunk in (self._index.chunks[0], self._index.chunks[len(self._index.chunks) - 1]):
            # A pattern of .gitignore: what it gives a meaning to is written with a backslash.
            path = chunk.file_path
            pattern = "/" + "".join(f"\\{c}" if c in "*?[]\\! #" else c for c in path)
            scope = ScopeRequest("check", None, (pattern,), ())
            text = b" ".join(tokenize(chunk.content)[:_N_WORDS]).decode() or self._queries[0]
            question = Question("scoped", text, _K, scope)
            for hit in self._opened.door.ranking(question, _results(self._ask(question))):
                if hit.chunk.file_path != path:
                    found = quoted(hit.chunk.file_path)
                    return "failed", f"{found} is returned where only {quoted(path)} is allowed"
        return "passed", "two scopes of one file each"

    def _times(self) -> _Finding:
        source = self._opened.table.source
        if not isinstance(source, Program | Service):
            return "not applicable", "an object has no time limit"
        if self._late is not None:
            return "failed", self._late
        return "passed", f"at most {self._slowest:.3f} s a query, the limit is {source.timeout:g} s"

    def _end(self) -> _Finding:
        if not isinstance(self._opened.table.source, Program):
            return "not applicable", "no process was started"
        self._opened.system.close()
        fault: str | None = getattr(self._opened.system, "end_fault", None)
        return ("passed", "it ends when its standard input is closed") if fault is None else ("failed", fault)

    def _question(self, text: str, k: int = _K, n: int = 0) -> Question:
        return Question(f"check-{n}", text, k)

    def _ask(self, question: Question) -> Answer:
        started = time.monotonic()
        (answer,) = self._opened.system.answer([question])
        self._slowest = max(self._slowest, time.monotonic() - started)
        return answer


def _results(answer: Answer) -> tuple[OutsideResult, ...]:
    if isinstance(answer, FailedAnswer):
        raise OutsideSystemError(f"answers with an error: {answer.message}")
    return answer
