"""Judgments and collections of other tools in, a fixture set out; documents of a collection become files."""

from __future__ import annotations

import atexit
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cce.domain.anchor import parse_anchor
from cce.domain.place_ids import DocumentPlace, place_of
from cce.errors import AnchorError, FixtureError, UsageError
from cce.files import read_bytes, reading, writing
from cce.interchange.beir import Document, file_names, parse_documents
from cce.interchange.qrels import Judged, Judgments, parse_beir_qrels, parse_qrels
from cce.interchange.queries import parse_queries_by_id
from cce.measurement.fixtures.schema import SCHEMA
from cce.quoting import counted, listed_with_rest, on_one_line, quoted

DEFAULT_K = 10
_MAX_GRADE = 3
_MAX_EXAMPLES = 3
_PART = ".part"
_NO_FOLDER = "cannot write the documents ({}); free some space or name another place"


class QrelsPlan(NamedTuple):
    """Judgments, the texts of their queries if there are any, and the k of every case."""

    qrels: str
    queries: str | None = None
    k: int = DEFAULT_K


class BeirPlan(NamedTuple):
    """A BEIR folder, which of its judgments to take, and where its documents and its set go."""

    folder: str
    split: str
    documents: str
    output: str
    k: int = DEFAULT_K


class ImportedSet(NamedTuple):
    """The bytes of a set, how many cases it has, and notices: one line each."""

    content: bytes
    n_cases: int
    notices: tuple[str, ...]


def import_qrels(plan: QrelsPlan) -> ImportedSet:
    """The judgments as a set without a corpus; raises FixtureError."""
    judgments = parse_qrels(_read(plan.qrels, "the judgments"), plan.qrels)
    texts: Mapping[str, str] = {}
    if plan.queries is not None:
        texts = parse_queries_by_id(_read(plan.queries, "the queries"), plan.queries)
    anchors = {
        judged.docid: _anchor_of(judged, plan.qrels) for found in judgments.values() for judged in found
    }
    return _set_of(judgments, texts, anchors, plan.qrels, {"schema": SCHEMA}, plan.k)


def import_beir(plan: BeirPlan) -> ImportedSet:
    """Write the documents of a collection as files, all or none, and give its set; raises CceError."""
    corpus, qrels = (
        os.path.join(plan.folder, "corpus.jsonl"),
        os.path.join(plan.folder, "qrels", f"{plan.split}.tsv"),
    )
    judgments = parse_beir_qrels(_read(qrels, f"the judgments of the split {quoted(plan.split)}"), qrels)
    queries = os.path.join(plan.folder, "queries.jsonl")
    texts = parse_queries_by_id(_read(queries, "the queries"), queries)
    names = file_names([document.name for document in _documents(corpus)], corpus)
    gone = dict.fromkeys(
        judged.docid for found in judgments.values() for judged in found if judged.docid not in names
    )
    anchors = {**names, **dict(zip(gone, file_names(tuple(gone), qrels).values(), strict=True))}
    header = {"schema": SCHEMA, "corpus": _relative(plan.documents, plan.output)}
    imported = _set_of(judgments, texts, anchors, qrels, header, plan.k)
    _write_documents(plan.documents, ((names[each.name], each.text) for each in _documents(corpus)))
    if not gone:
        return imported
    fault = f"{counted(len(gone), 'judged document')} not in the collection: {_some(gone)}"
    return imported._replace(notices=(*imported.notices, f"{on_one_line(qrels)}: {fault}"))


def _anchor_of(judged: Judged, path: str) -> str:
    """The anchor for a document id, which may spell a place as `cce export qrels` writes it."""
    place = place_of(judged.docid, lambda _: False)
    # Without lines or a kind it is any id at all, and the runs that hold it spell it alike.
    text = judged.docid if place.start is None and place.kind is None else _spelled(place)
    try:
        parse_anchor(text)
    except AnchorError as exc:
        at = f":{judged.line}" if judged.line else ""
        raise FixtureError(f"{on_one_line(path)}{at}: document {quoted(judged.docid)}: {exc}") from exc
    return text


def _spelled(place: DocumentPlace) -> str:
    kind = "" if place.kind is None else f"#{place.kind}"
    lines = "" if place.start is None else f"@{place.start}-{place.end}"
    return f"{place.path}{kind}{lines}"


def _set_of(
    judgments: Judgments,
    texts: Mapping[str, str],
    anchors: Mapping[str, str],
    path: str,
    header: Mapping[str, object],
    k: int,
) -> ImportedSet:
    lines: list[Mapping[str, object]] = [header]
    for query, found in judgments.items():
        case = _case(query, texts.get(query, "").strip() or f"topic {query}", found, anchors, k)
        if case is not None:
            lines.append(case)
    n_cases = len(lines) - 1
    if not n_cases:
        raise FixtureError(f"{on_one_line(path)}: no query has a relevant document, so there is no case")
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    notices = tuple(f"{on_one_line(path)}: {notice}" for notice in _notices(judgments, texts, n_cases))
    return ImportedSet(content, n_cases, notices)


def _case(
    query: str, text: str, found: Sequence[Judged], anchors: Mapping[str, str], k: int
) -> dict[str, object] | None:
    """The line of a case; None for a query without a relevant document. A negative grade judges nothing."""
    # Two ids of one place, such as `a.py@1-2` and `a.py@1-2~2`, are one anchor with the better grade.
    grades: dict[str, int] = {}
    for docid, grade, _ in found:
        grades[anchors[docid]] = max(grade, grades.get(anchors[docid], grade))
    expected = [anchor for anchor, grade in grades.items() if grade > 0]
    if not expected:
        return None
    case: dict[str, object] = {"id": query, "query": text, "expected": expected}
    if k != DEFAULT_K:
        case["k"] = k
    graded = {anchor: min(grades[anchor], _MAX_GRADE) for anchor in expected if grades[anchor] > 1}
    irrelevant = [anchor for anchor, grade in grades.items() if grade == 0]
    return case | ({"grades": graded} if graded else {}) | ({"irrelevant": irrelevant} if irrelevant else {})


def _notices(judgments: Judgments, texts: Mapping[str, str], n_cases: int) -> Iterator[str]:
    high = [judged for found in judgments.values() for judged in found if judged.grade > _MAX_GRADE]
    if high:
        yield f"{counted(len(high), 'grade')} above {_MAX_GRADE} cut to {_MAX_GRADE}"
    n_left_out = len(judgments) - n_cases
    if n_left_out:
        yield f"{counted(n_left_out, 'query', 'queries')} without a relevant document left out"
    kept = (query for query, found in judgments.items() if any(judged.grade > 0 for judged in found))
    nameless = [query for query in kept if not texts.get(query, "").strip()]
    if texts and nameless:
        n_queries = counted(len(nameless), "query", "queries")
        yield f"{n_queries} without a text, called by the id: {_some(nameless)}"


def _documents(path: str) -> Iterator[Document]:
    with reading(path, "the documents", FixtureError, "name a folder with a corpus.jsonl"):
        stream = open(path, "rb")  # noqa: SIM115 - closed below; only opening it is our door
    with stream:
        yield from parse_documents(stream, path)


def _write_documents(folder: str, files: Iterable[tuple[str, str]]) -> None:
    """Write `files` into a new folder, which appears whole or not at all."""
    target = os.path.realpath(folder)
    part = target + _PART
    with writing(folder, FixtureError, _NO_FOLDER):
        os.makedirs(part)

        def discard() -> None:
            shutil.rmtree(part, ignore_errors=True)

        atexit.register(discard)  # a signal ends the process without the line below
        try:
            for name, text in files:
                with open(os.path.join(part, name), "xb") as file:
                    file.write(text.encode())
            if os.path.isdir(target):  # an empty one: what holds files was refused before
                os.rmdir(target)
            os.rename(part, target)
        finally:
            discard()
            atexit.unregister(discard)


def refuse_folder(folder: str) -> None:
    """Raise UsageError for a place of documents that holds something already."""
    if os.path.isdir(folder) and not os.listdir(folder):
        return
    if os.path.lexists(folder) or os.path.lexists(os.path.realpath(folder) + _PART):
        raise UsageError(f"--corpus-out {on_one_line(folder)}: is there already, name a new folder")


def _relative(folder: str, output: str) -> str:
    """The folder of documents as the header of the set names it: seen from the folder of the set."""
    start = os.path.realpath(os.path.dirname(output) if output != "-" else os.curdir)
    return os.path.relpath(os.path.realpath(folder), start).replace(os.sep, "/")


def _read(path: str, noun: str) -> bytes:
    return read_bytes(path, noun, FixtureError, "name a readable file")


def _some(names: Sequence[str] | Mapping[str, None]) -> str:
    return listed_with_rest(map(quoted, names), len(names), _MAX_EXAMPLES)
