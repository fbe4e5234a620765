"""The sets that ship with the product must stay true to the corpora they label."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from cce.domain.anchor import Anchor
from cce.domain.case import FixtureSet
from cce.measurement.fixtures.reading import read_fixture_set
from cce.retrieval.chunking.languages import PACKS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EVAL = os.path.join(ROOT, "eval")
CORPORA = {"code.jsonl": "../test_fixtures/samples", "docs.jsonl": "../test_fixtures/handbook"}


def read_starter_set(name: str) -> FixtureSet:
    return read_fixture_set(os.path.join(EVAL, name))


def anchors_of(fixture_set: FixtureSet) -> list[Anchor]:
    return [anchor for case in fixture_set.cases for anchor in case.anchors]


def files_of(corpus: str) -> Iterator[str]:
    for folder, _, names in os.walk(os.path.join(EVAL, corpus)):
        yield from (os.path.join(folder, name) for name in names)


def n_lines_of(path: str) -> int:
    with open(path, "rb") as stream:
        return stream.read().count(b"\n")


@pytest.fixture(params=CORPORA)
def fixture_set(request: pytest.FixtureRequest) -> FixtureSet:
    return read_starter_set(request.param)


@pytest.fixture(params=CORPORA.values())
def corpus(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("name", "n_cases"), [("code.jsonl", 24), ("docs.jsonl", 12)])
def test_a_set_names_its_corpus_and_has_as_many_cases_as_the_readme_says(name: str, n_cases: int) -> None:
    starter = read_starter_set(name)
    assert starter.corpus == CORPORA[name]
    assert len(starter.cases) == n_cases


def test_every_case_has_an_id_of_its_own(fixture_set: FixtureSet) -> None:
    ids = [case.id for case in fixture_set.cases]
    assert len(set(ids)) == len(ids)


def test_every_anchor_names_a_file_of_the_corpus_and_lines_inside_it(fixture_set: FixtureSet) -> None:
    for anchor in anchors_of(fixture_set):
        if anchor.path is not None:
            n_lines = n_lines_of(os.path.join(EVAL, str(fixture_set.corpus), anchor.path))
            assert anchor.lines is None or anchor.lines.last <= n_lines, anchor.text


def test_every_kind_is_one_that_chunks_can_have(fixture_set: FixtureSet) -> None:
    known = {kind for pack in PACKS for kind in (*pack.functions, *pack.classes, "module")}
    assert {anchor.kind for anchor in anchors_of(fixture_set) if anchor.kind is not None} <= known


def test_the_code_set_shows_all_five_anchor_forms() -> None:
    forms = {
        (anchor.path is not None, anchor.kind is not None, anchor.lines is not None)
        for anchor in anchors_of(read_starter_set("code.jsonl"))
    }
    assert forms == {
        (True, False, False),  # path
        (True, True, False),  # path#kind
        (False, True, False),  # #kind
        (True, False, True),  # path@a-b
        (True, True, True),  # path#kind@a-b
    }


def test_every_case_is_tagged_and_each_set_shows_every_annotation(fixture_set: FixtureSet) -> None:
    assert all(case.tags for case in fixture_set.cases)
    assert any(case.critical for case in fixture_set.cases)
    assert any(case.grades for case in fixture_set.cases)
    assert any(case.note for case in fixture_set.cases)


def test_a_grade_names_an_anchor_of_its_own_case(fixture_set: FixtureSet) -> None:
    for case in fixture_set.cases:
        assert set(case.grades) <= {anchor.text for anchor in case.anchors}, case.id


def test_no_two_files_of_a_corpus_differ_only_by_case(corpus: str) -> None:
    paths = [path.lower() for path in files_of(corpus)]
    assert paths
    assert len(set(paths)) == len(paths)


def test_no_file_of_a_corpus_holds_a_carriage_return_that_would_change_its_chunk_ids(corpus: str) -> None:
    for path in files_of(corpus):
        with open(path, "rb") as stream:
            assert b"\r" not in stream.read(), path
