"""Python objects: by the methods and documents of the frameworks, and real ones where they are installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cce.domain.outside import FailedAnswer, OutsideResult, Question
from cce.domain.systems import PythonObject
from cce.errors import OutsideSystemError
from cce.retrieval.external.objects import ObjectSystem
from cce.retrieval.external.text_places import text_places
from corpora import index_files

INDEX = index_files(
    {"a.py": "import os\n\n\ndef load():\n    return 1\n", "docs/b.txt": "one\ntwo\nthree\ntwo\n"}
)
LOAD = "def load():\n    return 1"
QUESTION = Question("q", "load it", 3)

_made: list[Any] = []


def factory(**options: Any) -> Any:
    """What the table of these tests names: the object that a test has put here."""
    made = _made[-1]
    return made(**options) if isinstance(made, type) else made


def asked(made: Any, question: Question = QUESTION, **options: Any) -> Any:
    _made.append(made)
    source = PythonObject(f"{__name__}:factory", "", options)
    system = ObjectSystem("mine", source, text_places(INDEX, None, None))
    (answer,) = system.answer([question])
    return answer


def document(text: str | None = None, **metadata: Any) -> Any:
    return SimpleNamespace(page_content=text, metadata=metadata)


@pytest.mark.parametrize(
    "made",
    [
        SimpleNamespace(invoke=lambda query, k: [document(path=f"{query}{k}.py", start_line=1, end_line=2)]),
        SimpleNamespace(retrieve=lambda query: [document(path=f"{query}3.py", start_line=1, end_line=2)]),
        SimpleNamespace(
            run=lambda query, top_k: {
                "documents": [document(path=f"{query}{top_k}.py", start_line=1, end_line=2)]
            }
        ),
        lambda query, k: [document(path=f"{query}{k}.py", start_line=1, end_line=2)],
    ],
    ids=["invoke", "retrieve", "run", "function"],
)
def test_an_object_is_asked_by_the_method_that_it_has(made: Any) -> None:
    assert asked(made) == (OutsideResult("load it3.py", 1, 2),)


@pytest.mark.parametrize(
    ("said", "result"),
    [
        ("a.py", OutsideResult("a.py")),
        ({"path": "a.py", "start": 1, "end": 2, "score": 0.5}, OutsideResult("a.py", 1, 2, None, 0.5)),
        ((document(source="a.py"), 0.25), OutsideResult("a.py", score=0.25)),
        (SimpleNamespace(node=document(file_path="a.py"), score=2), OutsideResult("a.py", score=2.0)),
        (SimpleNamespace(content="x", meta={"path": "z.py"}), OutsideResult("z.py", text="x")),
        (document("    return 1\n", path="a.py"), OutsideResult("a.py", 5, 5, text="    return 1\n")),
        (
            document("def load():\n    return 1", path="a.py"),
            OutsideResult("a.py", 4, 5, text="def load():\n    return 1"),
        ),
        (document("two", path="docs/b.txt"), OutsideResult("docs/b.txt", 2, 2, text="two")),
        (document("two", path="docs/b.txt", start_index=14), OutsideResult("docs/b.txt", 4, 4, text="two")),
        (document("not there", path="a.py"), OutsideResult("a.py", text="not there")),
        (document("three"), OutsideResult("docs/b.txt", 3, 3, text="three")),
    ],
)
def test_a_document_becomes_a_place(said: Any, result: OutsideResult) -> None:
    assert asked(lambda query, k: [said]) == (result,)


def test_a_document_without_a_path_needs_a_text_that_stands_once_and_is_counted_else() -> None:
    _made.append(lambda query, k: [document("two"), document("nowhere"), document(), "a.py"])
    system = ObjectSystem("mine", PythonObject(f"{__name__}:factory", ""), text_places(INDEX, None, None))
    (answer,) = system.answer([QUESTION])
    assert answer == (OutsideResult("a.py"),)
    assert system.notices() == (
        "3 documents without a path, and no or several places with that text: left out",
    )


def test_the_factory_gets_the_options_and_is_called_once() -> None:
    calls: list[dict[str, Any]] = []

    class Made:
        def __init__(self, **options: Any) -> None:
            calls.append(options)

        def __call__(self, query: str, k: int) -> list[str]:
            return [f"{query}.py"]

    _made.append(Made)
    source = PythonObject(f"{__name__}:factory", "", {"size": 3})
    system = ObjectSystem("mine", source, text_places(INDEX, None, None))
    assert [len(answer) for answer in system.answer([QUESTION, QUESTION])] == [1, 1]
    assert calls == [{"size": 3}]


def test_an_object_that_takes_a_scope_gets_it() -> None:
    seen: list[Any] = []

    def ask(query: str, k: int, scope: Any = None) -> list[str]:
        seen.append(scope)
        return []

    asked(ask)
    assert seen == [None]


def failing(exc: BaseException) -> Callable[..., Any]:
    def ask(query: str, k: int) -> Any:
        raise exc

    return ask


@pytest.mark.parametrize(
    ("made", "fault"),
    [
        (failing(ConnectionRefusedError("Connection refused")), "ConnectionRefusedError: Connection refused"),
        (failing(KeyError()), "KeyError"),
        (failing(SystemExit(0)), "SystemExit: 0"),
        (lambda query, k: None, "TypeError: returned a NoneType, not a list of documents"),
        (lambda query, k: "a.py", "TypeError: returned a str, not a list of documents"),
    ],
)
def test_what_an_object_raises_is_the_failure_of_its_question(made: Any, fault: str) -> None:
    assert asked(made) == FailedAnswer(fault)


def test_what_an_object_prints_never_mixes_with_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    def ask(query: str, k: int) -> Any:
        print(query)  # noqa: T201
        return ["a.py"]

    assert asked(ask) == (OutsideResult("a.py"),)
    assert capsys.readouterr() == ("", "load it\n")


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        (
            PythonObject("no_such_module_here:make", ""),
            "ModuleNotFoundError: No module named 'no_such_module_here'",
        ),
        (PythonObject("json:no_such_thing", ""), "AttributeError: .*no_such_thing"),
        (PythonObject("json:__name__", ""), "__name__ is no function"),
        (PythonObject("json:loads", "", {"s": "3"}), "a int has no invoke, retrieve or run"),
        (PythonObject("json:loads", "", {"x": 1}), "TypeError"),
    ],
)
def test_a_factory_that_cannot_be_used_is_one_line(source: PythonObject, fault: str) -> None:
    system = ObjectSystem("mine", source, text_places(INDEX, None, None))
    with pytest.raises(OutsideSystemError, match=fault) as caught:
        list(system.answer([QUESTION]))
    assert str(caught.value).startswith("system 'mine': ")


def test_the_factory_is_imported_from_beside_the_systems_file(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "cce_test_finder.py").write_text("def make():\n    return lambda q, k: ['a.py']\n")
    source = PythonObject("cce_test_finder:make", str(tmp_path), path="tools")
    system = ObjectSystem("mine", source, text_places(INDEX, None, None))
    assert list(system.answer([QUESTION])) == [(OutsideResult("a.py"),)]


@pytest.mark.process
def test_a_real_retriever_of_langchain() -> None:
    retrievers = pytest.importorskip("langchain_core.retrievers", reason="needs langchain-core")
    documents = pytest.importorskip("langchain_core.documents", reason="needs langchain-core")

    class Real(retrievers.BaseRetriever):  # type: ignore[misc, name-defined]
        def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 4) -> list[Any]:
            return [documents.Document("def load():", metadata={"source": "a.py"})] * k

    assert asked(Real()) == (OutsideResult("a.py", 4, 4, text="def load():"),) * 3


@pytest.mark.process
def test_a_real_retriever_of_llama_index() -> None:
    core = pytest.importorskip("llama_index.core.retrievers", reason="needs llama-index-core")
    schema = pytest.importorskip("llama_index.core.schema", reason="needs llama-index-core")

    class Real(core.BaseRetriever):  # type: ignore[misc, name-defined]
        def _retrieve(self, query_bundle: Any) -> list[Any]:
            node = schema.TextNode(text="def load():", metadata={"file_path": "a.py"})
            return [schema.NodeWithScore(node=node, score=0.5)]

    (result,) = asked(Real())
    assert (result.path, result.start, result.end, result.score) == ("a.py", 4, 4, 0.5)


@pytest.mark.process
def test_a_real_retriever_of_haystack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")  # it reports its use unless told otherwise
    store_module = pytest.importorskip("haystack.document_stores.in_memory", reason="needs haystack-ai")
    retriever_module = pytest.importorskip(
        "haystack.components.retrievers.in_memory", reason="needs haystack-ai"
    )
    haystack = pytest.importorskip("haystack", reason="needs haystack-ai")
    store = store_module.InMemoryDocumentStore()
    store.write_documents([haystack.Document(content="def load():", meta={"file_path": "a.py"})])
    (result,) = asked(retriever_module.InMemoryBM25Retriever(store))
    assert (result.path, result.start, result.end) == ("a.py", 4, 4)
