"""Reading a fixture set: what each line may hold, and one true line number for every fault."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic_core import SchemaValidator, ValidationError

from cce import strict_json
from cce.domain.anchor import LineRange
from cce.errors import CceError, FixtureError
from cce.measurement.fixtures.reading import parse_fixture_set, read_fixture_set
from cce.measurement.fixtures.schema import DEFAULTS, SCHEMA, case_schema, is_plainly_right
from cce.tokens import WHITE_SPACE

REFERENCE = Path(__file__).parents[2] / "shared" / "reference"
HEADER = b'{"schema":"cce.relevance/v1"}'
CASE = b'{"query":"parse","expected":["a.py"]}'


def line(**keys: Any) -> bytes:
    """One case line; every key can be replaced."""
    return json.dumps({"query": "parse", "expected": ["a.py"], **keys}).encode()


def with_raw(key: str, raw: bytes) -> bytes:
    """One case line with `key` as raw JSON."""
    return b'{"query":"parse","expected":["a.py"],"%s":%s}' % (key.encode(), raw)


def fault(raw: bytes) -> str:
    with pytest.raises(FixtureError) as caught:
        parse_fixture_set(raw, "code.jsonl")
    message = str(caught.value)
    assert message.isprintable(), "a message is one line"
    assert len(message) < 300
    return message


# What a set holds


def test_a_case_without_options_has_the_defaults() -> None:
    fixtures = parse_fixture_set(CASE, "code.jsonl")
    assert (fixtures.path, fixtures.corpus) == ("code.jsonl", None)
    (case,) = fixtures.cases
    assert (case.id, case.query, case.k, case.line) == ("q1", "parse", 10, 1)
    assert [anchor.text for anchor in case.anchors] == ["a.py"]
    assert (case.tags, dict(case.grades), case.critical, case.note, case.scope) == ((), {}, False, None, None)


def test_every_key_of_a_case_is_read() -> None:
    raw = line(
        id="c1",
        expected=["a.py@3-4", "#method", "a.py@3-4"],
        k=5,
        tags=["slow", "db"],
        grades={"#method": 3},
        critical=True,
        note="why",
        scope="current",
        owner={"ignored": [1]},
    )
    (case,) = parse_fixture_set(HEADER + b"\n" + raw, "p").cases
    assert (case.id, case.k, case.line) == ("c1", 5, 2)
    assert [anchor.text for anchor in case.anchors] == ["a.py@3-4", "#method", "a.py@3-4"]
    assert case.anchors[0].lines == LineRange(3, 4)
    assert case.scope == "current"
    assert (case.tags, dict(case.grades), case.critical, case.note) == (
        ("slow", "db"),
        {"#method": 3},
        True,
        "why",
    )


def test_the_header_names_the_corpus_as_written() -> None:
    raw = b'{"schema":"cce.relevance/v1","corpus":"eval/../x ","by":"me"}\n' + CASE
    assert parse_fixture_set(raw, "p").corpus == "eval/../x "


def test_a_header_without_a_corpus_names_none() -> None:
    assert parse_fixture_set(HEADER + b"\n" + CASE, "p").corpus is None


def test_an_object_with_schema_and_query_is_a_case() -> None:
    assert len(parse_fixture_set(line(schema="other") + b"\n" + line(schema=1), "p").cases) == 2


def test_blank_lines_are_skipped_but_counted() -> None:
    raw = b"\n \t\r\n\xe2\x80\xa8\xc2\xa0\n" + HEADER + b"\n\n" + CASE + b"\n\n"
    (case,) = parse_fixture_set(raw, "p").cases
    assert (case.line, case.id) == (6, "q6")


def test_cases_keep_file_order_and_may_repeat_an_id() -> None:
    raw = b"\n".join([line(id="b"), line(id="a"), line(id="b")])
    assert [case.id for case in parse_fixture_set(raw, "p").cases] == ["b", "a", "b"]


def test_a_carriage_return_before_the_line_end_is_white_space() -> None:
    raw = HEADER + b"\r\n" + CASE + b"\r\n"
    assert parse_fixture_set(raw, "p").cases[0].line == 2


def test_only_a_line_feed_ends_a_line() -> None:
    query = "a\u2028b\u2029c\x85d\x7fe"
    raw = json.dumps({"query": query, "expected": ["a.py"]}, ensure_ascii=False).encode()
    (case,) = parse_fixture_set(raw, "p").cases
    assert case.query == query


def test_a_carriage_return_alone_does_not_part_two_cases() -> None:
    assert "text after the object" in fault(CASE + b"\r" + CASE)


def test_a_byte_order_mark_is_dropped_at_the_very_start_only() -> None:
    bom = b"\xef\xbb\xbf"
    assert parse_fixture_set(bom + HEADER + b"\n" + CASE, "p").cases[0].line == 2
    assert fault(bom + bom + CASE).startswith("code.jsonl:1: invalid JSON at column 1")
    assert fault(CASE + b"\n" + bom + CASE).startswith("code.jsonl:2: invalid JSON at column 1")


def test_the_last_of_a_repeated_key_wins() -> None:
    raw = b'{"query":1,"k":0,"expected":"x","query":"parse","expected":["a.py"],"k":7}'
    (case,) = parse_fixture_set(raw, "p").cases
    assert (case.query, case.k) == ("parse", 7)


@pytest.mark.parametrize("value", [None, 5, True, ["x"], {"a": 1}])
def test_an_id_that_is_no_string_is_treated_as_absent(value: object) -> None:
    assert parse_fixture_set(line(id=value), "p").cases[0].id == "q1"


@pytest.mark.parametrize("value", ["", " ", "日本"])
def test_an_id_that_is_a_string_is_kept_as_written(value: str) -> None:
    assert parse_fixture_set(line(id=value), "p").cases[0].id == value


def test_a_query_is_trimmed_of_white_space_and_of_nothing_else() -> None:
    (case,) = parse_fixture_set(line(query=f"{WHITE_SPACE}\x1f a  b \x1c{WHITE_SPACE}"), "p").cases
    assert case.query == "\x1f a  b \x1c"


def test_k_may_be_large() -> None:
    assert parse_fixture_set(with_raw("k", b"9" * 4000), "p").cases[0].k == 10**4000 - 1


def test_an_empty_note_is_no_note() -> None:
    assert parse_fixture_set(line(note=""), "p").cases[0].note is None


# What breaks a set


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"0", "0"),
        (b"-0", "0"),
        (b"-1", "-1"),
        (b"5.0", "5.0"),
        (b"null", "null"),
        (b"true", "true"),
        (b'"5"', "'5'"),
        (b"[5]", "an array"),
        (b"{}", "an object"),
        (b"-" + b"9" * 4000, "a huge integer"),
    ],
)
def test_k_is_a_positive_integer_and_nothing_like_it(raw: bytes, shown: str) -> None:
    message = fault(b"\n" * 6 + with_raw("k", raw))
    assert message == f"code.jsonl:7: k must be a positive integer, got {shown}"


@pytest.mark.parametrize("key", ["k", "ignored"])
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"NaN", "NaN and Infinity are not JSON"),
        (b"Infinity", "NaN and Infinity are not JSON"),
        (b"-Infinity", "NaN and Infinity are not JSON"),
        (b"1e400", "a number too large"),
        (b"-1e400", "a number too large"),
        (b'[[1],{"a":[1e999]}]', "a number too large"),
        (b"9" * 5000, "a number too large"),
        (b"[" * 3000 + b"]" * 3000, "brackets nested too deep"),
        (b'{"a":' * 3000 + b"1" + b"}" * 3000, "brackets nested too deep"),
        (b"[" * 100_000, "brackets nested too deep"),
        (b"01", "invalid JSON"),
        (b"+1", "invalid JSON"),
        (b"'5'", "double quotes"),
        (b"5,", "an extra comma"),
        (b'"\t"', "a raw control character"),
        (b'"\\x"', "an unknown escape"),
    ],
)
def test_json_is_strict_under_every_key(key: str, raw: bytes, reason: str) -> None:
    message = fault(CASE + b"\n" + with_raw(key, raw))
    assert message.startswith("code.jsonl:2: invalid JSON")
    assert reason in message


@pytest.mark.parametrize(
    "raw",
    [
        rb'{"id":"x\ud800","query":"q","expected":["a"]}',
        rb'{"query":"x\udc00","expected":["a"]}',
        rb'{"query":"x\ud800\u0041","expected":["a"]}',
        rb'{"query":"q","expected":["a"],"ignored":["\udfff"]}',
        rb'{"query":"q","expected":["a"],"\ud800":1}',
        rb'{"query":"\ud800","query":"q","expected":["a"]}',
    ],
)
def test_a_lone_surrogate_is_refused_wherever_it_stands(raw: bytes) -> None:
    message = fault(raw)
    assert message.startswith("code.jsonl:1: invalid JSON at column ")
    assert "half a surrogate pair" in message


def test_a_surrogate_pair_is_one_character() -> None:
    raw = rb'{"query":"\ud83d\ude00","expected":["a"]}'
    assert parse_fixture_set(raw, "p").cases[0].query == "😀"


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xe2\x82"])
def test_invalid_utf_8_names_its_line_and_column(bad: bytes) -> None:
    raw = CASE + b'\n{"query":"\xc3\xa9' + bad + b'","expected":["a"]}\n'
    assert fault(raw) == "code.jsonl:2: invalid UTF-8 at column 12, save the file as UTF-8"


def test_a_column_counts_characters_and_not_bytes() -> None:
    assert fault('{"éé":tru}'.encode()).startswith("code.jsonl:1: invalid JSON at column 10:")
    assert fault('{"éé":1} x'.encode()).startswith("code.jsonl:1: invalid JSON at column 10:")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [(b"[1]", "an array"), (b"5", "5"), (b'"x"', "'x'"), (b"null", "null"), (b"false", "false")],
)
def test_a_line_that_is_no_object_is_refused(raw: bytes, shown: str) -> None:
    assert fault(raw) == f"code.jsonl:1: each line must be a JSON object, got {shown}"


def test_an_object_over_several_lines_is_told_to_stand_on_one() -> None:
    message = fault(b'{\n"query":"q","expected":["a.py"]}')
    assert message.startswith("code.jsonl:1: invalid JSON")
    assert "keep each object on one line" in message


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"query": None}, "query must be a string that is not empty, got null"),
        ({"query": "\u3000 "}, r"query must be a string that is not empty, got '\u3000 '"),
        (
            {"expected": "auth.py"},
            "expected must be a non-empty array of anchor strings such as [\"a.py\"], got 'auth.py'",
        ),
        (
            {"expected": []},
            'expected must be a non-empty array of anchor strings such as ["a.py"], got an empty array',
        ),
        (
            {"expected": ["a.py", 3]},
            'expected must be a non-empty array of anchor strings such as ["a.py"], got 3 at position 2',
        ),
        (
            {"expected": ["a.py", "f.py#"]},
            "anchor 'f.py#' has an empty kind after '#', write path#kind or drop the '#'",
        ),
        ({"tags": "slow"}, "tags must be an array of strings such as [\"slow\"], got 'slow'"),
        ({"tags": None}, 'tags must be an array of strings such as ["slow"], got null'),
        ({"tags": ["a", True]}, 'tags must be an array of strings such as ["slow"], got true at position 2'),
        ({"critical": 1}, "critical must be true or false, got 1"),
        ({"critical": "true"}, "critical must be true or false, got 'true'"),
        ({"critical": None}, "critical must be true or false, got null"),
        ({"note": None}, "note must be a string, got null"),
        ({"note": ["x"]}, "note must be a string, got an array"),
        ({"scope": ""}, "scope must be the name of a scope such as \"current\", got ''"),
        ({"scope": None}, 'scope must be the name of a scope such as "current", got null'),
        ({"scope": ["x"]}, 'scope must be the name of a scope such as "current", got an array'),
        ({"grades": {"b.py": 1}}, "grades names 'b.py', which is not in expected, spell both alike"),
        ({"grades": {"a.py ": 1}}, "grades names 'a.py ', which is not in expected, spell both alike"),
    ],
)
def test_a_value_that_breaks_a_rule_is_shown_beside_the_rule(keys: dict[str, Any], message: str) -> None:
    assert fault(CASE + b"\n" + line(**keys)) == f"code.jsonl:2: {message}"


@pytest.mark.parametrize(
    ("grade", "shown"),
    [(0, "0"), (4, "4"), (2.0, "2.0"), (True, "true"), ("2", "'2'"), (None, "null")],
)
def test_a_grade_is_an_integer_from_1_to_3(grade: object, shown: str) -> None:
    message = fault(line(grades={"a.py": grade}))
    assert message.startswith("code.jsonl:1: grades must be an object of anchors with integers from 1 to 3")
    assert message.endswith(f", got {shown} for 'a.py'")


def test_grades_of_another_shape_are_refused() -> None:
    assert fault(line(grades=[2])).endswith(", got an array")


@pytest.mark.parametrize(("key", "other"), [("query", '"expected":["a.py"]'), ("expected", '"query":"q"')])
def test_a_missing_key_is_named(key: str, other: str) -> None:
    assert fault(f"{{{other}}}".encode()).startswith(f"code.jsonl:1: {key} is missing, it must be a ")


CANDIDATE = b'{"path": "a.py", "kind": "module", "lines": [1, 2]}'


@pytest.mark.parametrize("expected", [b"", b'"expected": [], '])
def test_a_line_with_candidates_and_no_label_is_a_draft_and_no_case(expected: bytes) -> None:
    draft = b'{"id": "two", "query": "q", %s"candidates": [%s]}' % (expected, CANDIDATE)
    fixtures = parse_fixture_set(b"\n".join((HEADER, draft, CASE, draft.replace(b'"id": "two", ', b""))), "x")
    assert [case.id for case in fixtures.cases] == ["q3"]
    assert fixtures.drafts == ("two", "q4")


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        (b'"candidates": []', "expected is missing, and no candidate is there to judge: name an anchor"),
        (b'"candidates": 7', "expected is missing, and no candidate is there to judge"),
        (b'"candidates": [%s], "expected": null' % CANDIDATE, "expected must be a non-empty array"),
        (b'"candidates": [%s], "expected": false' % CANDIDATE, "expected must be a non-empty array"),
        (b'"candidates": [%s], "expected": ""' % CANDIDATE, "expected must be a non-empty array"),
        (b'"expected": []', "expected must be a non-empty array"),
        (b'"irrelevant": ["a.py"]', "expected is missing, it must be a non-empty array"),
    ],
)
def test_any_other_line_without_a_label_is_an_error(keys: bytes, reason: str) -> None:
    assert fault(b'{"query": "q", %s}' % keys).startswith(f"code.jsonl:1: {reason}")


def test_a_set_of_drafts_alone_has_nothing_to_score() -> None:
    draft = b'{"query": "q", "candidates": [%s]}' % CANDIDATE
    assert fault(HEADER + b"\n" + draft + b"\n") == (
        "code.jsonl:2: the set ends without a case, all its lines are drafts, "
        "label them with cce fixtures label"
    )


def test_a_second_header_is_refused() -> None:
    message = fault(b"\n" + HEADER + b"\n" + HEADER + b"\n" + CASE)
    assert message.startswith("code.jsonl:3: a header may only be the first line (line 2 stands before it)")


def test_a_header_after_a_case_is_refused() -> None:
    assert fault(CASE + b"\n" + HEADER).startswith(
        "code.jsonl:2: a header may only be the first line (line 1"
    )


@pytest.mark.parametrize(
    "value", ['"cce.relevance/v2"', '"CCE.relevance/v1"', "null", "1", '["cce.relevance/v1"]']
)
def test_another_schema_is_unsupported(value: str) -> None:
    message = fault(b'{"schema":%s}\n' % value.encode() + CASE)
    assert message.startswith("code.jsonl:1: unsupported schema ")
    assert message.endswith(f", write '{SCHEMA}'")


@pytest.mark.parametrize("value", [b"null", b"3", b'["x"]', b"true"])
def test_a_corpus_that_is_no_string_is_refused(value: bytes) -> None:
    message = fault(b'{"schema":"cce.relevance/v1","corpus":%s}' % value)
    assert message.startswith("code.jsonl:1: corpus must be a string")


@pytest.mark.parametrize(("raw", "number"), [(b"", 1), (b"\n", 1), (b"\n\n", 2), (HEADER + b"\n\n \n", 3)])
def test_a_set_without_a_case_names_its_last_line(raw: bytes, number: int) -> None:
    assert fault(raw).startswith(f"code.jsonl:{number}: the set ends without a case, add a line such as")


def test_the_first_bad_line_decides() -> None:
    assert fault(CASE + b"\n" + line(k=0) + b"\n\xff\n{").startswith("code.jsonl:2: k must be")


def test_long_and_wild_values_are_cut_and_escaped() -> None:
    assert fault(line(expected="\n" + "x" * 10_000)).endswith(", got '\\n" + "x" * 59 + "…'")


def test_the_path_is_shown_on_one_line() -> None:
    with pytest.raises(FixtureError, match=r"^a\\nb\.jsonl:1: "):
        parse_fixture_set(b"", "a\nb.jsonl")


# Reading files


def test_a_file_is_read_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "code.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + HEADER + b"\r\n" + CASE + b"\r\n")
    fixtures = read_fixture_set(str(path))
    assert (fixtures.path, len(fixtures.cases)) == (str(path), 1)


@pytest.mark.parametrize("name", ["missing.jsonl", ".", "nul\0byte"])
def test_a_file_that_cannot_be_read_is_named_with_the_way_out(tmp_path: Path, name: str) -> None:
    with pytest.raises(FixtureError) as caught:
        read_fixture_set(f"{tmp_path}/{name}")
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/".replace("\0", "\\x00"))
    assert "cannot read the fixture set (" in message
    assert message.endswith("name a readable NDJSON file")
    assert message.isprintable()


@pytest.mark.process
def test_importing_the_module_does_not_import_pydantic() -> None:
    code = (
        "import sys, cce.measurement.fixtures.reading\n"
        "sys.exit(any(m.startswith('pydantic') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not REFERENCE.is_dir(), reason="the reference data is not beside the repository")
def test_every_reference_set_parses() -> None:
    for path in REFERENCE.glob("sets/*.jsonl"):
        fixtures = read_fixture_set(str(path))
        assert fixtures.corpus == "."
        assert len(fixtures.cases) == (36 if path.stem == "express" else 60)


# Laws

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: text.strip(WHITE_SPACE)
)
paths = st.text("abc./é", min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def case_entries(draw: st.DrawFn) -> dict[str, Any]:
    expected = draw(st.lists(paths, min_size=1, max_size=4))
    entry: dict[str, Any] = {
        f"x-{key}": value for key, value in draw(st.dictionaries(words, json_values, max_size=2)).items()
    }
    entry |= {"query": draw(words), "expected": expected}
    optional = {
        "id": words,
        "k": st.integers(1, 10**30),
        "tags": st.lists(words, max_size=3),
        "grades": st.dictionaries(st.sampled_from(expected), st.integers(1, 3)),
        "critical": st.booleans(),
        "note": words,
    }
    for key in draw(st.sets(st.sampled_from(sorted(optional)))):
        entry[key] = draw(optional[key])
    return entry


@settings(deadline=None, max_examples=80)
@given(st.lists(case_entries(), min_size=1, max_size=4), st.none() | words, st.booleans(), st.data())
def test_a_set_written_by_json_parses_back(
    entries: list[dict[str, Any]], corpus: str | None, ascii_only: bool, data: st.DataObject
) -> None:
    header: dict[str, Any] = {"schema": SCHEMA} if corpus is None else {"schema": SCHEMA, "corpus": corpus}
    lines: list[bytes] = []
    numbers = []
    for entry in [header, *entries]:
        lines += [b" "] * data.draw(st.integers(0, 2))
        lines.append(json.dumps(entry, ensure_ascii=ascii_only).encode())
        numbers.append(len(lines))
    fixtures = parse_fixture_set(b"\n".join(lines), "p")
    assert fixtures.corpus == corpus
    assert len(fixtures.cases) == len(entries)
    for case, entry, number in zip(fixtures.cases, entries, numbers[1:], strict=True):
        assert case.line == number
        assert case.id == entry.get("id", f"q{number}")
        assert case.query == entry["query"].strip(WHITE_SPACE)
        assert [anchor.text for anchor in case.anchors] == entry["expected"]
        assert case.k == entry.get("k", 10)
        assert list(case.tags) == entry.get("tags", [])
        assert dict(case.grades) == entry.get("grades", {})
        assert case.critical == entry.get("critical", False)
        assert case.note == entry.get("note")


BAD_LINES = [b"{", b"[]", b"\xff", HEADER, b'{"query":"q"}', line(k=0), line(expected=["@1-2"]), CASE + CASE]


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.sampled_from([b"", b"\r", b" ", CASE, CASE + b"\r"]), max_size=8), st.sampled_from(BAD_LINES)
)
def test_the_line_number_of_a_fault_is_true(before: list[bytes], bad: bytes) -> None:
    raw = b"\n".join([CASE, *before, bad, CASE])
    assert fault(raw).startswith(f"code.jsonl:{len(before) + 2}: ")


def assert_parses_or_says_why(raw: bytes) -> None:
    message = "p:1: "
    try:
        parse_fixture_set(raw, "p")
    except FixtureError as exc:
        message = str(exc)
    path, number, _ = message.split(":", 2)
    assert path == "p"
    assert 1 <= int(number) <= raw.count(b"\n") + 1
    assert message.isprintable()


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60) | st.text('{}[]":,\\u d8019-.eE+truefalsn\n', max_size=60).map(str.encode))
def test_random_bytes_parse_or_raise_a_fixture_error(raw: bytes) -> None:
    assert_parses_or_says_why(raw)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(case_entries(), min_size=1, max_size=2),
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 3), st.binary(max_size=3)), min_size=1, max_size=4
    ),
)
def test_a_mutated_set_parses_or_raises_a_fixture_error(
    entries: list[dict[str, Any]], edits: list[tuple[int, int, bytes]]
) -> None:
    raw = b"\n".join([HEADER, *(json.dumps(entry).encode() for entry in entries)])
    for position, n_removed, inserted in edits:
        at = position % len(raw) if raw else 0
        raw = raw[:at] + inserted + raw[at + n_removed :]
    assert_parses_or_says_why(raw)


@settings(deadline=None, max_examples=200)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "query",
                "expected",
                "schema",
                "corpus",
                "id",
                "k",
                "tags",
                "grades",
                "critical",
                "note",
                "scope",
            ]
        ),
        json_values,
    )
)
def test_any_json_value_under_any_key_parses_or_raises_a_fixture_error(entry: dict[str, Any]) -> None:
    assert_parses_or_says_why(json.dumps(entry).encode())


# --- the plain way and the judge -----------------------------------------------------------------------

MARKS = [*'{}[]:,"- \t\\', '"a"', '"\\n"', "\\u00e9", "\\ud800", "é", "\x01", "\x0b", "[" * 60, "]" * 60]
NUMBERS = ["0", "1", "-0", "01", "1.", "1.5", "1e400", "1E5", "9" * 5000, "NaN", "Infinity", "true", "null"]
FRAGMENTS = st.lists(st.sampled_from([*MARKS, *NUMBERS]), max_size=12).map("".join)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
LINES = FRAGMENTS | st.builds(json.dumps, VALUES, ensure_ascii=st.booleans())


def outcome(read: Callable[[bytes], object], raw: bytes) -> str:
    """What became of a line; the text tells 1, 1.0 and true apart."""
    try:
        return repr(read(raw))
    except CceError as exc:
        return f"refused: {exc}"


@settings(deadline=None, max_examples=300)
@example('{"a": 1, "a": 2}')
@example("[" * 150 + "]" * 150)
@example("[1.0, -0.0, 1e5, 123456789012345678901234567890]")
@example("9" * 5000 + ".5")
@given(LINES)
def test_the_plain_reader_takes_nothing_that_the_strict_one_reads_otherwise(text: str) -> None:
    raw = text.encode()
    plainly = outcome(strict_json.parse_json, raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_json, "_is_doubtful", lambda _: True)
        assert plainly == outcome(strict_json.parse_json, raw)


ANY = st.none() | st.booleans() | st.integers(-1, 4) | st.floats(0, 2) | st.text("ab", max_size=2)
PINS = st.sampled_from(["0123456789abcdef", "0123456789ABCDEF", "0123456789abcdef\n", "0123"])
FIELDS = {
    "query": ANY,
    "expected": ANY | st.lists(ANY, max_size=2),
    "id": ANY,
    "k": ANY,
    "tags": ANY | st.lists(ANY, max_size=2),
    "grades": ANY | st.dictionaries(st.just("a"), ANY),
    "critical": ANY,
    "note": ANY,
    "pins": ANY | st.dictionaries(st.just("a"), PINS | ANY),
    "scope": ANY,
    "else": ANY,
}
RIGHT = {"query": "q", "expected": ["a"]}


@settings(deadline=None, max_examples=500)
@given(st.fixed_dictionaries({}, optional=FIELDS), st.booleans())
def test_what_is_plainly_right_is_what_the_schema_accepts(entry: dict[str, object], is_begun: bool) -> None:
    if is_begun:  # so that many are right in what every case needs
        entry |= RIGHT
    validator = SchemaValidator(case_schema())
    try:
        fields = validator.validate_python(entry)
    except ValidationError:
        assert not is_plainly_right(entry)
    else:
        assert is_plainly_right(entry)
        assert {key: value for key, value in (DEFAULTS | entry).items() if key != "else"} == fields


@pytest.mark.process
def test_a_set_without_faults_is_read_without_pydantic(root: Path) -> None:
    program = (
        "import sys; from cce.measurement.fixtures.reading import read_fixture_set;"
        "print(len(read_fixture_set('eval/code.jsonl').cases));"
        "print(any(name.startswith('pydantic') for name in sys.modules))"
    )
    seen = subprocess.run([sys.executable, "-c", program], cwd=root, check=True, capture_output=True)
    assert seen.stdout.split() == [b"24", b"False"]
