"""JSON that is mostly brackets is refused before a parser makes objects of them, and no other JSON is."""

from __future__ import annotations

import json

import pytest

from cce.errors import FixtureError, ReportError
from cce.json_text import MAX_FREE, MIN_BYTES, is_mostly_brackets
from cce.labels.draft import parse_queries
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.measurement.reports.reading import parse_saved_report

WIDE = b"[" + b"[]," * MAX_FREE + b"[]]"
CASE = b'{"query":"parse","expected":["a.py"],"z":%s}'


@pytest.mark.parametrize(
    "text", [b"[]" * (MAX_FREE + 1), b'{"a":{}}' * (MAX_FREE // 2 + 1), b"[" * (MAX_FREE + 1)]
)
def test_two_hundred_thousand_lists_or_objects_need_no_text_and_one_more_does(text: bytes) -> None:
    assert is_mostly_brackets(text)
    assert not is_mostly_brackets(text[8:])


def test_above_that_each_needs_sixteen_bytes() -> None:
    roomy = b"[%s]" % (b"1" * (MIN_BYTES - 2))
    assert not is_mostly_brackets(roomy * (3 * MAX_FREE))
    assert is_mostly_brackets(roomy[1:].replace(b"1", b"[", 1) * (3 * MAX_FREE) + b"[")


@pytest.mark.parametrize("text", [b"[", b'\\"[', b"{[\\\\"])
def test_brackets_in_strings_are_text(text: bytes) -> None:
    assert not is_mostly_brackets(b'["' + text * (2 * MAX_FREE) + b'"]')


def test_a_string_without_an_end_is_looked_through_once() -> None:
    assert not is_mostly_brackets(b'"' + b'\\"[' * (2 * MAX_FREE))


def test_a_set_a_log_of_queries_and_a_report_say_so() -> None:
    with pytest.raises(
        FixtureError, match=r"^s\.jsonl:2: more brackets than a line can need, remove the value"
    ):
        parse_fixture_set(CASE % b"1" + b"\n" + CASE % WIDE, "s.jsonl")
    with pytest.raises(ReportError, match=r"^r\.json: more brackets than a report can need, save one with"):
        parse_saved_report(b'{"z":%s}' % WIDE, "r.json")
    with pytest.raises(FixtureError, match=r"^q\.jsonl:2: each line must be an object with a query"):
        parse_queries(b'{"query":"a"}\n' + CASE % WIDE, "q.jsonl")


def test_a_large_honest_case_is_read() -> None:
    candidates = [{"path": f"{n}.py", "lines": [n, n], "backends": ["bm25"]} for n in range(20_000)]
    line = json.dumps({"query": "parse", "expected": ["a.py"], "candidates": candidates}).encode()
    assert len(parse_fixture_set(line, "s.jsonl").cases) == 1
