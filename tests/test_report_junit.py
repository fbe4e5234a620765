from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.scores import METRICS
from cce.report.ci.junit import render_junit, xml_text
from full_reports import CASES, FLOOR, HOSTILE, MISSED, RANKINGS, WORSE, case, full_report, gated


def parsed(text: str) -> Element:
    return ElementTree.fromstring(text)


def counts(element: Element) -> tuple[str | None, str | None]:
    return element.get("tests"), element.get("failures")


def test_there_is_a_suite_per_backend_and_a_test_per_case() -> None:
    root = parsed(render_junit(full_report()))
    assert [(suite.get("name"), counts(suite)) for suite in root] == [
        ("eval/code.jsonl: bm25", ("3", "0")),
        ("eval/code.jsonl: hybrid", ("3", "0")),
    ]
    assert [test.get("name") for test in root[0]] == ["both", "lost", "won"]
    assert {test.get("classname") for test in root[1]} == {"eval/code.jsonl: hybrid"}
    assert counts(root) == ("6", "0")


def test_without_a_gate_a_case_that_found_nothing_is_no_failure() -> None:
    root = parsed(render_junit(full_report()))
    won_by_bm25 = root[0][2]
    assert won_by_bm25.find("failure") is None
    assert "first relevant rank: none" in (won_by_bm25.findtext("system-out") or "")


def test_a_test_tells_its_query_and_its_figures() -> None:
    told = parsed(render_junit(full_report()))[1][0].findtext("system-out") or ""
    # hybrid has `both` at rank 2 of 2, one of two results relevant.
    assert told.split("\n") == [
        "query: read the config",
        "first relevant rank: 2",
        "precision_at_k: 0.500000",
        "recall: 1.000000",
        "mrr: 0.500000",
        "f1: 0.666667",
    ]
    assert all(metric in told for metric in METRICS)


def test_a_blocking_case_fails_in_the_suite_of_the_candidate() -> None:
    root = parsed(render_junit(gated(MISSED)))
    assert [(suite.get("name"), counts(suite)) for suite in root] == [
        ("eval/gate.toml: eval/code.jsonl: hybrid", ("3", "1"))
    ]
    failure = root[0][1].find("failure")
    assert failure is not None
    assert failure.get("type") == "critical-missed"
    assert failure.get("message") == failure.text == MISSED.text


def test_what_no_case_is_to_blame_for_fails_as_a_test_of_its_own() -> None:
    root = parsed(render_junit(gated(FLOOR)))
    assert counts(root[0]) == ("4", "1")
    assert root[0][3].get("name") == "gate: floor recall"
    assert root[0][3].find("failure") is not None


def test_a_case_fails_once_however_many_reasons_there_are() -> None:
    root = parsed(render_junit(gated(MISSED, replace(FLOOR, case_ids=("lost", "won")))))
    assert counts(root) == ("3", "2")
    failures = root[0][1].findall("failure")
    assert [failure.text for failure in failures] == [f"{MISSED.text}\n{FLOOR.text}"]


def test_what_is_only_to_review_is_no_failure() -> None:
    assert counts(parsed(render_junit(gated(WORSE)))) == ("3", "0")


def test_what_a_strict_gate_refuses_is_a_failure() -> None:
    full = gated(WORSE)
    assert full.gate is not None
    strict = full._replace(gate=replace(full.gate, is_strict=True))
    root = parsed(render_junit(strict))
    assert counts(root) == ("3", "2")
    assert [test.get("name") for test in root[0] if test.find("failure") is not None] == ["both", "lost"]


def test_a_report_without_a_drilldown_has_its_cases_still() -> None:
    root = parsed(render_junit(full_report()._replace(cases=(), fixtures_path=None)))
    assert counts(root) == ("6", "0")
    assert "query" not in (root[0][0].findtext("system-out") or "")


def test_an_id_used_twice_makes_two_tests() -> None:
    twice = (CASES[0], case("both", "again"), CASES[2])
    assert [test.get("name") for test in parsed(render_junit(full_report(twice)))[0]] == [
        "both",
        "both",
        "won",
    ]


def test_two_gates_on_one_set_and_one_gate_on_two_sets_stay_apart() -> None:
    first = gated(MISSED)
    assert first.gate is not None
    other = replace(first.gate, policy=replace(first.gate.policy, path="eval/strict.toml"))
    reports = (first, first._replace(gate=other), first._replace(fixtures_path="eval/docs.jsonl"))
    classes = [parsed(render_junit(full))[0][0].get("classname") for full in reports]
    assert classes == [
        "eval/gate.toml: eval/code.jsonl: hybrid",
        "eval/strict.toml: eval/code.jsonl: hybrid",
        "eval/gate.toml: eval/docs.jsonl: hybrid",
    ]


def test_saved_reports_have_no_set_to_name() -> None:
    root = parsed(render_junit(full_report()._replace(cases=(), fixtures_path=None)))
    assert [suite.get("name") for suite in root] == ["bm25", "hybrid"]


def test_names_of_any_length_are_cut_and_stay_different() -> None:
    huge = "x" * 100_000
    cases = (case(f"{huge}1", huge), case(f"{huge}2", huge), CASES[2])
    full = gated(replace(MISSED, text=huge, case_ids=(f"{huge}1",)), cases=cases)
    text = render_junit(full._replace(fixtures_path=huge))
    assert len(text) < 20_000
    names = [test.get("name") or "" for test in parsed(text)[0]]
    assert len(set(names)) == 3
    assert [len(name) for name in names] == [212, 212, 3]
    assert names[0].startswith("x" * 200 + "… (")


def test_what_xml_cannot_hold_is_replaced() -> None:
    assert (
        xml_text("a\x00b\x1bc\ufffed\uffffe\ud800f\tg\nh𝄞") == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf\tg\nh𝄞"
    )


def test_a_hostile_id_is_a_name_like_any_other() -> None:
    root = parsed(render_junit(full_report((case(HOSTILE, HOSTILE), *CASES[1:]))))
    assert root[0][0].get("name") == HOSTILE
    assert f"query: {HOSTILE}\n" in (root[0][0].findtext("system-out") or "")


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(), max_size=20))
def test_any_text_parses_back(text: str) -> None:
    root = parsed(render_junit(full_report((case(text, text), *CASES[1:]), RANKINGS)))
    # A parser reads a carriage return in an attribute or text as it was referenced or as a line feed.
    assert (root[0][0].get("name") or "").replace("\r", "\n") == xml_text(text).replace("\r", "\n")


def test_the_bytes_are_declared_and_end_with_one_line_feed() -> None:
    text = render_junit(full_report())
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="cce relevance"')
    assert text.endswith("</testsuites>\n")
    assert text == render_junit(full_report())
