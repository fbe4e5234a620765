"""A Python object as a system: what a factory returns is asked, and its documents become places.

Retrievers of LangChain, LlamaIndex and Haystack, and plain functions, are known by their methods alone: none
of these packages is imported here. The order of a list is its ranking; scores are never compared.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from importlib import import_module, invalidate_caches
from inspect import Parameter, signature
from typing import Any

from cce.domain.outside import Answer, FailedAnswer, OutsideResult, Question, ScopeRequest
from cce.domain.systems import PythonObject
from cce.errors import OutsideSystemError
from cce.quoting import counted, on_one_line, quoted
from cce.retrieval.external.outside_words import OutsideWords
from cce.retrieval.external.text_places import TextPlaces

_PATHS = ("path", "file_path", "source")
_STARTS = ("start_line", "start")
_ENDS = ("end_line", "end")
_TEXTS = ("page_content", "content", "text")
_METADATA = ("metadata", "meta")
_N_SHOWN = 400

_Ask = Callable[[Question], Any]


class ObjectSystem:
    """Asks what the factory made; it is made when the first question comes, and once."""

    def __init__(self, name: str, source: PythonObject, texts: TextPlaces) -> None:
        """`texts` finds the place of a document that names none."""
        self._name = name
        self._source = source
        self._texts = texts
        self._words = OutsideWords()
        self._ask: _Ask | None = None
        self._n_placeless = 0

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """One answer per question, in order; what the object raises is the failure of its question."""
        ask = self._asked()
        for question in questions:
            yield self._answer(ask, question)

    def _answer(self, ask: _Ask, question: Question) -> Answer:
        try:
            with _prints_aside():
                documents = _documents(ask(question))
                return tuple(result for each in documents if (result := self._result(each)) is not None)
        except (MemoryError, OutsideSystemError):
            raise
        # An exit of the object is a failure too: taken for ours, a gate would pass without a figure.
        except (Exception, SystemExit) as exc:
            return FailedAnswer(self._words.message(_reason(exc), _N_SHOWN))

    def close(self) -> None:
        """There is nothing to end: an object lives as long as the process."""

    def notices(self) -> tuple[str, ...]:
        """What the reader of the figures should know, once all questions were asked."""
        if not self._n_placeless:
            return ()
        documents = counted(self._n_placeless, "document")
        return (f"{documents} without a path, and no or several places with that text: left out",)

    def _asked(self) -> _Ask:
        if self._ask is None:
            try:
                with _prints_aside():
                    made = self._factory()(**self._source.options)
                    self._ask = _way_to_ask(made)
            except OutsideSystemError as exc:
                raise self._error(str(exc)) from exc
            except (Exception, SystemExit) as exc:
                raise self._error(self._words.message(_reason(exc), _N_SHOWN)) from exc
        return self._ask

    def _factory(self) -> Callable[..., Any]:
        module, _, attribute = self._source.factory.partition(":")
        if self._source.path is not None:
            folder = os.path.abspath(os.path.join(self._source.folder, self._source.path))
            if folder not in sys.path:
                sys.path.insert(0, folder)
                invalidate_caches()
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        if not callable(found):
            raise OutsideSystemError(f"{on_one_line(attribute)} is no function, write module:function")
        factory: Callable[..., Any] = found
        return factory

    def _result(self, document: Any) -> OutsideResult | None:
        """The place of one document; None if nothing says where it is."""
        if isinstance(document, OutsideResult):
            return document
        if isinstance(document, str):
            return OutsideResult(document)
        node, score = _unwrapped(document)
        facts = _facts(node)
        text = _text(node)
        path = next((facts[key] for key in _PATHS if isinstance(facts.get(key), str)), None)
        start, end = _line(facts, _STARTS), _line(facts, _ENDS)
        offset = facts.get("start_index")
        kind = facts.get("kind") if isinstance(facts.get("kind"), str) else None
        shown = None if text is None else self._words.clean(text)
        if path is None:
            place = None if text is None else self._texts.only_place(text)
            if place is None:
                self._n_placeless += 1
                return None
            return OutsideResult(*place, kind, score, shown)
        if start is None and end is None and text is not None:
            lines = self._texts.lines_in(path, text, offset if isinstance(offset, int) else None)
            start, end = (None, None) if lines is None else lines
        return OutsideResult(path, start, end if end is not None else start, kind, score, shown)

    def _error(self, fault: str) -> OutsideSystemError:
        place = f"system {quoted(self._name)}: {on_one_line(self._source.factory)}"
        return OutsideSystemError(f"{place}: {fault}")


def _way_to_ask(made: Any) -> _Ask:
    """How `made` is asked, by the method that it has; raises OutsideSystemError."""
    for method, call in (
        ("invoke", lambda ask, q: _with_k(ask, q.text, q.k)),
        ("retrieve", lambda ask, q: ask(q.text)),
        ("run", lambda ask, q: ask(query=q.text, top_k=q.k)),
    ):
        ask = getattr(made, method, None)
        if callable(ask):
            return _scoped(ask, call)
    if callable(made):
        return _scoped(made, lambda ask, q: ask(q.text, q.k))
    kind = type(made).__name__
    raise OutsideSystemError(
        f"a {kind} has no invoke, retrieve or run and cannot be called: return a retriever"
    )


def _with_k(ask: Callable[..., Any], text: str, k: int) -> Any:
    """LangChain hands further arguments on to the retriever, which may not take a k."""
    return ask(text, k=k)


def _scoped(ask: Callable[..., Any], call: Callable[[Callable[..., Any], Question], Any]) -> _Ask:
    """`call`, with the scope for an object that takes one."""
    if not _takes(ask, "scope"):
        return lambda question: call(ask, question)
    return lambda question: call(
        lambda *texts, **more: ask(*texts, scope=_scope(question.scope), **more), question
    )


def _takes(ask: Callable[..., Any], name: str) -> bool:
    try:
        parameters = signature(ask).parameters
    except (TypeError, ValueError):  # a function of C without a signature
        return False
    return name in parameters and parameters[name].kind is not Parameter.VAR_KEYWORD


def _scope(scope: ScopeRequest | None) -> dict[str, Any] | None:
    return None if scope is None else scope._asdict()


def _documents(answer: Any) -> list[Any]:
    """The documents of an answer, best first: a list, or the list that Haystack puts under `documents`."""
    if isinstance(answer, Mapping) and "documents" in answer:
        answer = answer["documents"]
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise TypeError(f"returned a {type(answer).__name__}, not a list of documents")
    return list(answer)


def _unwrapped(document: Any) -> tuple[Any, float | None]:
    """The document and its score: LlamaIndex wraps both, others return pairs."""
    score = getattr(document, "score", None)
    node = getattr(document, "node", document)
    if isinstance(document, tuple) and len(document) == 2:
        node, score = document
    if isinstance(node, Mapping) and score is None:
        score = node.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        return node, None
    return node, float(score)


def _facts(node: Any) -> Mapping[str, Any]:
    """Where a document says it is from: its metadata, over its own keys if it is a mapping."""
    own: Mapping[str, Any] = node if isinstance(node, Mapping) else {}
    for name in _METADATA:
        found = own.get(name) if own else getattr(node, name, None)
        if isinstance(found, Mapping):
            return {**own, **found}
    return own


def _text(node: Any) -> str | None:
    if isinstance(node, Mapping):
        return next((node[name] for name in _TEXTS if isinstance(node.get(name), str)), None)
    get = getattr(node, "get_content", None)
    found = (
        get()
        if callable(get)
        else next(
            (getattr(node, name) for name in _TEXTS if isinstance(getattr(node, name, None), str)), None
        )
    )
    return found if isinstance(found, str) else None


def _line(facts: Mapping[str, Any], names: Iterable[str]) -> int | None:
    for name in names:
        value = facts.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _prints_aside() -> AbstractContextManager[object]:
    """Prints go to standard error meanwhile: standard output is the report's."""
    return redirect_stdout(sys.stderr)


def _reason(exc: BaseException) -> str:
    text = str(exc)
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__
