"""Warnings: which anchors, ids and queries are odd, and what each warning tells to do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from typing import Any

import pytest

from cce.domain.case import FixtureSet
from cce.measurement.fixtures.notices import notices
from cce.measurement.fixtures.reading import parse_fixture_set

FILES: Mapping[str, Set[str]] = {
    "a.py": {"function_definition", "class_definition"},
    "src/b.py": {"module"},
    "src/deep/Read.md": {"module"},
}


def fixture_set(*cases: dict[str, Any]) -> FixtureSet:
    lines = [json.dumps({"query": "parse", "expected": ["a.py"], **case}) for case in cases]
    return parse_fixture_set("\n".join(lines).encode(), "code.jsonl")


def not_there(path: str) -> str | None:
    return None


def only_notice(
    fixtures: FixtureSet,
    files: Mapping[str, Set[str]] = FILES,
    why_absent: Callable[[str], str | None] = not_there,
) -> str:
    (text,) = notices(fixtures, files, why_absent)
    assert text.isprintable(), "a warning is one line"
    return text


def reason(anchor: str, files: Mapping[str, Set[str]] = FILES, why: str | None = None) -> str:
    """What is said about one unmatched anchor."""
    text = only_notice(fixture_set({"id": "c", "expected": [anchor]}), files, lambda path: why)
    start = "code.jsonl: 1 of 1 anchors match nothing in this corpus: c "
    assert text.startswith(start + "'")
    return text.removeprefix(start).split("' (", 1)[1].removesuffix(")")


def test_more_kinds_than_are_listed_are_hinted_at() -> None:
    six = {"a.rb": {"f", "e", "d", "c", "b", "a"}}
    assert reason("a.rb#class", six) == "no such kind in this file, it has a, b, c, d, e, …"


def test_a_set_that_fits_its_corpus_gives_no_warning() -> None:
    expected = ["a.py", "a.py#class_definition", "#module", "src/b.py@1-999999999999", "src/b.py#module@1-2"]
    assert notices(fixture_set({"expected": expected}), FILES, not_there) == []


def test_unmatched_anchors_are_summed_in_one_line_with_case_and_reason() -> None:
    fixtures = fixture_set(
        {"id": "one", "expected": ["a.py", "gone.py"]},
        {"id": "two", "expected": ["big.py@1-2", "src/b.py"]},
    )
    why = {"big.py": "skipped: larger than 2 MiB"}
    assert only_notice(fixtures, FILES, why.get) == (
        "code.jsonl: 2 of 4 anchors match nothing in this corpus:"
        " one 'gone.py' (not there), two 'big.py@1-2' (skipped: larger than 2 MiB)"
    )


def test_only_the_first_five_are_named_but_all_are_counted() -> None:
    text = only_notice(fixture_set({"id": "c", "expected": [f"x{n}.py" for n in range(7)]}))
    assert text.startswith("code.jsonl: 7 of 7 anchors match nothing")
    assert text.endswith("c 'x4.py' (not there), …")
    assert text.count("not there") == 5


def test_five_are_all_named_without_an_ellipsis() -> None:
    text = only_notice(fixture_set({"id": "c", "expected": [f"x{n}.py" for n in range(5)]}))
    assert text.endswith("c 'x4.py' (not there)")


def test_why_a_file_is_absent_is_asked_for_the_named_ones_only() -> None:
    asked: list[str] = []

    def why_absent(path: str) -> str | None:
        asked.append(path)
        return "ignored"

    only_notice(fixture_set({"expected": [f"x{n}.py" for n in range(100)]}), FILES, why_absent)
    assert asked == ["x0.py", "x1.py", "x2.py", "x3.py", "x4.py"]


@pytest.mark.parametrize(
    ("anchor", "text"),
    [
        ("gone.py", "not there"),
        ("A.PY", "wrong case, write 'a.py'"),
        ("src/deep/read.md", "wrong case, write 'src/deep/Read.md'"),
        ("./a.py", "write 'a.py'"),
        ("/a.py", "write 'a.py'"),
        ("//a.py", "write 'a.py'"),
        ("../a.py", "write 'a.py'"),
        ("../../src/b.py", "write 'src/b.py'"),
        ("src\\b.py", "write 'src/b.py'"),
        (".\\src\\b.py", "write 'src/b.py'"),
        ("C:\\src\\b.py", "write 'src/b.py'"),
        ("src//b.py", "write 'src/b.py'"),
        ("src/../a.py", "write 'a.py'"),
        ("../gone.py", "write it relative to the corpus with '/' between the parts"),
        ("/home/me/a.py", "write it relative to the corpus with '/' between the parts"),
        ("src", "a directory, name a file in it"),
        ("src/deep/", "a directory, name a file in it"),
        ("C#/a.py", "the first '#' ends the path, so this asks for kind '/a.py' in 'C'"),
        ("a.py@3-4#method", "the range goes last, write 'a.py#method@3-4'"),
        ("gone.py@3-4#method", "the range goes last, write 'gone.py#method@3-4'"),
        ("a.py#module", "no such kind in this file, it has class_definition, function_definition"),
        ("#method", "no such kind anywhere"),
        ("#function_defintion", "no such kind anywhere, did you mean 'function_definition'?"),
        ("a.py#clas_definition", "no such kind in this file, it has class_definition, function_definition"),
        ("gone.py#module", "not there"),
    ],
)
def test_the_reason_says_how_to_write_it(anchor: str, text: str) -> None:
    assert reason(anchor) == text


def test_a_path_with_a_hash_sign_is_recognised_without_a_slash_behind_it() -> None:
    files = {"notes#1.md": {"module"}}
    assert (
        reason("notes#1.md", files) == "the first '#' ends the path, so this asks for kind '1.md' in 'notes'"
    )


def test_what_the_walk_knows_comes_before_a_guess_at_the_case() -> None:
    assert reason("A.PY", why="ignored") == "ignored"


def test_a_file_without_chunks_is_said_to_have_none() -> None:
    assert reason("empty.py#module", {"empty.py": set(), "a.py": {"module"}}) == "no chunk in this file"


def test_a_reason_stays_on_one_line() -> None:
    assert reason("x.py", why="ignored by\n.gitignore") == "ignored by\\n.gitignore"


def test_ids_and_anchors_are_cut_and_escaped() -> None:
    fixtures = fixture_set({"id": "c\n", "expected": ["x" * 1000]}, {"id": "", "expected": ["y\u2028"]})
    text = only_notice(fixtures)
    assert "corpus: 'c\\n' '" + "x" * 60 + "…' (not there), '' 'y\\u2028' (not there)" in text


def test_a_long_directory_climb_is_linear() -> None:
    assert reason("../" * 100_000 + "a.py") == "write 'a.py'"


def test_an_id_used_twice_names_both_lines() -> None:
    fixtures = fixture_set({"id": "same"}, {"id": "other"}, {"id": "same"})
    assert (
        only_notice(fixtures)
        == "code.jsonl: ids used more than once, give each case its own: 'same' (lines 1, 3)"
    )


def test_a_written_id_can_collide_with_a_default_one() -> None:
    assert "'q2' (lines 1, 2)" in only_notice(fixture_set({"id": "q2"}, {"id": None}))


def test_repeated_ids_are_one_line_with_the_first_few() -> None:
    fixtures = fixture_set(*({"id": f"i{n % 10}"} for n in range(80)))
    text = only_notice(fixtures)
    assert "'i0' (lines 1, 11, 21, 31, 41, …), 'i1' (" in text
    assert text.endswith("'i4' (lines 5, 15, 25, 35, 45, …), …")


@pytest.mark.parametrize("query", ["—?", "日本語", "+-*/"])
def test_a_query_without_a_token_is_named(query: str) -> None:
    text = only_notice(fixture_set({"id": "c"}, {"id": "d", "query": query}))
    assert text.startswith("code.jsonl: queries without a single token")
    assert text.endswith(f" which find nothing: d '{query}' (line 2)")


def test_one_letter_is_a_token() -> None:
    assert notices(fixture_set({"query": "日本 x"}, {"query": "_"}), FILES, not_there) == []


def test_an_empty_corpus_is_said_once_and_its_anchors_are_not_listed() -> None:
    fixtures = fixture_set({"id": "c", "expected": ["x.py"]}, {"id": "c"})
    empty, repeated = notices(fixtures, {}, not_there)
    assert empty.startswith("code.jsonl: the corpus has no indexable file")
    assert "ids used more than once" in repeated


def test_every_sort_of_warning_comes_in_a_fixed_order() -> None:
    fixtures = fixture_set({"id": "c", "expected": ["x.py"]}, {"id": "c", "query": "?"})
    starts = ["1 of 2 anchors", "ids used", "queries without"]
    texts = notices(fixtures, FILES, not_there)
    assert [text.startswith(f"code.jsonl: {start}") for text, start in zip(texts, starts, strict=True)] == [
        True
    ] * 3


def test_a_large_set_against_a_large_corpus_needs_one_look_per_anchor() -> None:
    class CountedFiles(dict[str, Set[str]]):
        n_looks = 0

        def get(self, key: str, default: Any = None) -> Any:
            self.n_looks += 1
            return super().get(key, default)

    files = CountedFiles({f"d{n % 100}/f{n}.py": {"module"} for n in range(20_000)})
    fixtures = fixture_set(*({"id": str(n), "expected": [f"d{n % 100}/F{n}.py"]} for n in range(500)))
    text = only_notice(fixtures, files)
    assert text.startswith("code.jsonl: 500 of 500 anchors")
    assert "0 'd0/F0.py' (wrong case, write 'd0/f0.py')" in text
    assert files.n_looks == 500
