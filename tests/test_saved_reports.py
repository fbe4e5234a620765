from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.report import Report
from cce.domain.scores import METRICS, TOKEN_METRICS
from cce.errors import ReportError
from cce.measurement.matching.matches import TokenScore
from cce.measurement.reports.reading import edited_means, parse_saved_report, read_saved_report
from cce.report.json.report_v2 import render_json
from oracle import Oracle
from score_rows import Row, score_of

ROWS = (
    Row("first", 4, 0.25, 0.5, 1.0, 0.333333, 1, TokenScore(0.1, 0.2, 0.3)),
    Row("sécond", 10**30, 0.0, 0.0, 0.0, 0.0, None, None),
)
REPORT = Report("src", "hash", 2, (score_of("bm25", ROWS), score_of("hybrid", ROWS[::-1])), None)
TEXT = render_json(REPORT)


def refused(raw: bytes) -> str:
    with pytest.raises(ReportError) as caught:
        parse_saved_report(raw, "old.json")
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("old.json: ")
    return message.removeprefix("old.json: ")


def with_change(change: Callable[[dict[str, Any]], object]) -> bytes:
    fields = copy.deepcopy(json.loads(TEXT))
    change(fields)
    return json.dumps(fields).encode()


def first_case(**changes: object) -> bytes:
    return with_change(lambda fields: fields["backends"][0]["per_query"][0].update(changes))


def test_what_was_saved_comes_back() -> None:
    saved = parse_saved_report(TEXT.encode(), "old.json")
    assert (saved.path, saved.corpus, saved.embedder) == ("old.json", "src", "hash")
    assert [score.backend for score in saved.backends] == ["bm25", "hybrid"]
    assert saved.backends[0].columns == score_of("bm25", ROWS).columns
    assert [saved.backends[0].mean(name) for name in METRICS] == [0.125, 0.25, 0.5, 0.166667]
    assert [saved.backends[0].mean(name) for name in TOKEN_METRICS] == [0.1, 0.2, 0.3]
    assert saved.backends[0].n_ranged == 1


def test_a_mean_may_be_off_by_one_unit_and_no_more() -> None:
    # The cases have 0.5 and 0.
    def with_mean(recall: str) -> list[str]:
        raw = with_change(lambda fields: fields["backends"][0].update(recall=recall))
        return [*edited_means("old.json", parse_saved_report(raw, "old.json").backends[0])]

    assert [with_mean(recall) for recall in ("0.249999", "0.250000", "0.250001")] == [[], [], []]
    assert with_mean("0.250002") == [
        "old.json: backend 'bm25' has means that its cases do not have, recall 0.250002 (its cases give "
        "0.250000): it was edited, save one with cce relevance SET --json > FILE"
    ]


def test_keys_that_v2_does_not_know_are_ignored() -> None:
    def annotate(fields: dict[str, Any]) -> None:
        fields["evidence"] = {"alpha": 7}
        fields["backends"][0]["note"] = None

    assert (
        parse_saved_report(with_change(annotate), "old.json").backends[0].columns
        == score_of("bm25", ROWS).columns
    )


def test_a_byte_order_mark_and_any_layout_are_fine() -> None:
    compact = json.dumps(json.loads(TEXT), separators=(",", ":"))
    raw = b"\xef\xbb\xbf" + compact.encode()
    assert parse_saved_report(raw, "old.json").backends[0].columns == score_of("bm25", ROWS).columns


def test_a_corpus_path_that_is_not_utf_8_comes_back() -> None:
    text = render_json(Report("caf\udce9", "hash", 2, REPORT.backends, None))
    assert parse_saved_report(text.encode(), "old.json").corpus == "caf\udce9"


def test_a_report_of_every_reference_corpus_can_be_read(oracle: Oracle) -> None:
    for name in oracle.names:
        path = oracle.folder / "reports" / f"{name}.json"
        fields = json.loads(path.read_text("utf-8"))
        saved = read_saved_report(str(path))
        assert [score.backend for score in saved.backends] == ["bm25", "vector", "hybrid"]
        assert {score.n_cases for score in saved.backends} == {fields["queries"]}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "line 1, column 1: no whole JSON document"),
        (TEXT.encode()[: len(TEXT) // 2], "no whole JSON document"),
        (TEXT.encode() + b"{}", "no whole JSON document (Extra data)"),
        (b'{"schema": "\xff"}', "no readable JSON"),
        (b"[" * 200_000, "no readable JSON (nested too deep)"),
        (b'{"queries": NaN}', "NaN is not JSON and no score"),
        (b'{"queries": -Infinity}', "-Infinity is not JSON"),
        (b"[]", "not a report this version reads (no schema)"),
        (b'{"backends": []}', "not a report this version reads (no schema)"),
        (b'{"schema": "cce.relevance/v1"}', "(schema 'cce.relevance/v1')"),
        (b'{"schema": "cce.relevance.report/v3"}', "it must be 'cce.relevance.report/v2'"),
        (b'{"schema": "cce.relevance.report/v2"}', "the top: object missing required field"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(raw: bytes, message: str) -> None:
    assert message in refused(raw)


def test_a_number_of_thousands_of_digits_is_refused() -> None:
    assert "no readable JSON" in refused(b'{"queries": ' + b"9" * 5000 + b"}")


SCORE_RULE = 'expected a string from "0.000000" to "1.000000" with six decimals'


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recall": 0.5}, "backends[0].per_query[0].recall: expected str, got float"),
        ({"recall": None}, "backends[0].per_query[0].recall: expected str, got null"),
        ({"recall": "0.5"}, f"backends[0].per_query[0].recall: {SCORE_RULE}"),
        ({"recall": "1.000001"}, SCORE_RULE),
        ({"recall": "-0.500000"}, SCORE_RULE),
        ({"recall": "0.500000\n"}, SCORE_RULE),
        ({"recall": "NaN"}, SCORE_RULE),
        ({"id": 7}, "per_query[0].id: expected str, got int"),
        ({"k": 0}, "per_query[0].k: expected int >= 1"),
        ({"k": True}, "per_query[0].k: expected int, got bool"),
        ({"k": 4.0}, "per_query[0].k: expected int, got float"),
        ({"first_relevant_rank": 0}, "per_query[0].first_relevant_rank: expected int >= 1"),
        ({"tokens": {"iou": "0.100000"}}, "per_query[0].tokens: object missing required field"),
        ({"id": "sécond"}, "backend 'bm25': case named more than once: 'sécond'"),
    ],
)
def test_a_wrong_field_is_named_with_its_place(changes: dict[str, object], message: str) -> None:
    assert message in refused(first_case(**changes))


def test_a_missing_figure_is_named() -> None:
    raw = with_change(lambda fields: fields["backends"][1]["per_query"][1].pop("mrr"))
    assert refused(raw).startswith("backends[1].per_query[1]: object missing required field mrr")


def test_two_backends_of_one_name_are_refused() -> None:
    raw = with_change(lambda fields: fields["backends"][1].update(backend="bm25"))
    assert "backend named more than once: 'bm25'" in refused(raw)


def test_a_report_that_lost_a_case_is_refused() -> None:
    raw = with_change(lambda fields: fields["backends"][1]["per_query"].pop())
    assert "backend 'hybrid' has 1 cases, but the report counts 2 queries" in refused(raw)


def test_a_report_without_backends_or_cases_is_refused() -> None:
    assert "backends: expected array of length >= 1" in refused(
        with_change(lambda fields: fields["backends"].clear())
    )
    assert "per_query: expected array of length >= 1" in refused(
        with_change(lambda fields: fields["backends"][0]["per_query"].clear())
    )


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"missing\.json: cannot read the report"):
        read_saved_report(str(tmp_path / "missing.json"))
    with pytest.raises(ReportError, match="cannot read the report"):
        read_saved_report("a\0b")


@given(st.integers(0, len(TEXT.encode()) - 3))
@settings(deadline=None, max_examples=100)
def test_no_beginning_of_a_report_passes_for_the_whole(n_bytes: int) -> None:
    refused(TEXT.encode()[:n_bytes])


@given(st.integers(0, len(TEXT.encode()) - 1), st.binary(min_size=1, max_size=3))
@settings(deadline=None, max_examples=150)
def test_a_damaged_report_is_read_or_refused_but_never_breaks_the_reader(place: int, noise: bytes) -> None:
    raw = TEXT.encode()
    try:
        parse_saved_report(raw[:place] + noise + raw[place + len(noise) :], "old.json")
    except ReportError as exc:
        assert str(exc).startswith("old.json: ")  # noqa: PT017 - both outcomes are right


@pytest.mark.parametrize(
    "put",
    [
        lambda fields: fields,
        lambda fields: fields["backends"][0],
        lambda fields: fields["backends"][0]["per_query"][1],
        lambda fields: fields["backends"][0]["per_query"][0]["tokens"],
    ],
)
@pytest.mark.parametrize("key", ["\ud800", "x\udfff"])
def test_a_key_with_half_a_surrogate_pair_is_refused_wherever_it_stands(
    put: Callable[[dict[str, Any]], dict[str, Any]], key: str
) -> None:
    message = refused(with_change(lambda fields: put(fields).update({key: 1})))
    assert message.startswith("a key holds half a surrogate pair, ")


def test_a_corpus_with_half_a_surrogate_pair_is_a_path_that_is_not_utf8() -> None:
    assert (
        parse_saved_report(with_change(lambda fields: fields.update(corpus="\udcff")), "o").corpus == "\udcff"
    )
