from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.domain.full_report import FullReport
from cce.measurement.scoring import select_cases
from cce.report.html.charts import extent_of, strip
from cce.report.html.figures import bucket
from cce.report.html.payload import OPENING_BUDGET, opening_length
from cce.report.html.renderer import render_html
from cce.report.view.cells import brief, percent
from cce.report.view.rows import case_rows, columns, compared_names
from full_reports import (
    CASES,
    FLOOR,
    HOSTILE,
    MISSED,
    QUICK_EVIDENCE,
    RANKINGS,
    WORSE,
    case,
    full_report,
    gated,
    large_report,
)

VOID = {"meta", "link", "input"}


class Page(HTMLParser):
    """A page as elements, attributes and text; checks on the way that every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.texts.setdefault(tag, [])
        if tag not in VOID:
            self._open.append(tag)
            self.texts[tag].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]][-1] += data

    def values(self, name: str) -> list[str]:
        return [value for _, attribute, value in self.attributes if attribute == name]


def payload(page: Page) -> Any:
    return json.loads(page.texts["script"][0])


@pytest.fixture(scope="module")
def compared() -> Page:
    return Page(render_html(full_report(evidence=QUICK_EVIDENCE)))


def test_style_and_script_run_by_their_digest_and_nothing_else_may(compared: Page) -> None:
    policy = next(value for value in compared.values("content") if value.startswith("default-src"))
    digests = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (compared.texts["style"][0], compared.texts["script"][1])
    ]
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digests[0]}'; script-src 'sha256-{digests[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # Either would be refused by that policy.
    assert compared.values("style") == []
    assert [name for _, name, _ in compared.attributes if name.startswith("on")] == []


def test_nothing_is_loaded_from_anywhere(compared: Page) -> None:
    assert compared.values("src") == []
    assert all(value.startswith(("#", "data:")) for value in compared.values("href"))
    for text in (compared.texts["style"][0], compared.texts["script"][1]):
        assert "url(" not in text
        assert "@import" not in text
        assert "fetch(" not in text
        assert "//" not in text.replace("// ", "")


def test_the_script_writes_text_and_never_markup(compared: Page) -> None:
    script = compared.texts["script"][1]
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script
    assert "document.write" not in script


def test_a_hostile_id_query_tag_note_and_path_add_no_element() -> None:
    hostile = case(HOSTILE, HOSTILE, [HOSTILE], tags=(HOSTILE,), note=HOSTILE, critical=True)
    tame = case("tame", "tame", ["tame"], tags=("tame",), note="tame", critical=True)
    pages = [
        Page(render_html(full_report((first, *CASES[1:]), evidence=QUICK_EVIDENCE)))
        for first in (hostile, tame)
    ]
    assert pages[0].elements == pages[1].elements
    assert pages[0].texts["b"][2] == HOSTILE
    assert pages[0].texts["q"][2] == HOSTILE
    assert not set("<>&") & set(pages[0].texts["script"][0])
    assert payload(pages[0])["cases"][0][1] == [HOSTILE]
    assert payload(pages[0])["cases"][0][3] == HOSTILE


def test_hostile_names_of_backends_files_and_reasons_add_no_element() -> None:
    def page(name: str) -> Page:
        full = full_report(
            CASES, {name: RANKINGS["bm25"], f"{name}2": RANKINGS["hybrid"]}, evidence=QUICK_EVIDENCE
        )
        gate = gated(replace(MISSED, text=name)).gate
        assert gate is not None
        report = full.report._replace(corpus=name, embedder=name)
        return Page(render_html(FullReport(report, name, full.cases, replace(gate, report=report), (name,))))

    assert page(HOSTILE).elements == page("tame").elements


@settings(deadline=None, max_examples=10)
@given(st.text(st.characters(), max_size=20))
@example("\ud800\x00\x1b\u2028\r\n")
def test_any_text_gives_a_whole_page_of_valid_utf_8(text: str) -> None:
    page = render_html(full_report((case(text, text, tags=(text,), note=text), *CASES[1:])))
    assert payload(Page(page))["cases"][0][1] == ["a.py"]
    page.encode("utf-8")


def test_the_verdict_is_the_title_and_the_reasons_follow() -> None:
    page = Page(render_html(gated(MISSED, FLOOR, WORSE)))
    assert page.texts["h1"] == ["GATE: BLOCK"]
    assert page.texts["title"][0] == "GATE: BLOCK · CCE relevance"
    assert ("header", "class", "top bad") in page.attributes
    links = [value for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    assert [link for link in links if link.startswith("#case=")] == ["#case=lost"]
    assert {FLOOR.text, WORSE.text} <= set(page.texts["span"]), "they name no case"


@pytest.mark.parametrize(
    ("text", "ids", "linked"),
    [
        ("mrr worse for 2 cases (pin, pin-check), better for 1", ["pin", "pin-check"], ["pin", "pin-check"]),
        ("mrr worse for 1 case (mrr)", ["mrr"], ["mrr"]),
        ("critical case a.b (c) has none", ["a.b (c)"], ["a.b (c)"]),
        ("3 cases (x, y, … 1 more)", ["x", "y", "z"], ["x", "y"]),
        ("recall fell", [], []),
        ("a\x1bb is lost", ["a\x1bb"], ["a\\x1bb"]),
    ],
)
def test_a_reason_links_the_cases_that_it_names(text: str, ids: list[str], linked: list[str]) -> None:
    page = Page(render_html(gated(replace(MISSED, text=text, case_ids=tuple(ids)))))
    start = page.texts["a"].index(linked[0]) if linked else 0
    assert page.texts["a"][start : start + len(linked)] == linked
    links = [value for value in page.values("href") if value.startswith("#case=")]
    assert links == [f"#case={quote(name, safe='')}" for name in linked]


def test_a_name_that_stands_twice_in_a_reason_is_linked_where_it_stands_last() -> None:
    text = render_html(gated(replace(WORSE, text="mrr worse for 1 case (mrr)", case_ids=("mrr",))))
    assert 'mrr worse for 1 case (<a href="#case=mrr">mrr</a>)' in text


def test_every_case_is_the_target_of_its_id() -> None:
    page = Page(render_html(full_report((CASES[0], case("both", "again"), case("a b&c=d%")))))
    targets = [value for tag, name, value in page.attributes if (tag, name) == ("b", "id")]
    assert sorted(targets) == ["case=a b&c=d%", "case=both", "case=both&nth=2"]


def test_cases_that_moved_come_first_and_the_worst_of_them_leads() -> None:
    cases = (case("still"), *CASES, case("stays"))
    rankings = {name: ((), *ranked, ()) for name, ranked in RANKINGS.items()}
    page = Page(render_html(full_report(cases, rankings)))
    assert page.texts["b"] == ["lost", "both", "won", "still", "stays"]
    assert [value for value in page.values("id") if value.startswith("case-")] == [
        *("case-2", "case-1", "case-3", "case-0", "case-4")
    ]
    alone = Page(render_html(full_report(cases, rankings, compared=False)))
    assert alone.texts["b"] == ["still", "both", "lost", "won", "stays"]


def test_three_decimals_are_shown_and_six_are_the_title(compared: Page) -> None:
    assert "0.667" in compared.texts["span"]
    assert "0.666667" in compared.values("title")
    assert "[0.000000, 1.000000]" in compared.values("title")
    # What is to be copied, and what is read aloud, has all six.
    assert "MRR of hybrid: 0.500000, interval [0.000000, 1.000000]" in compared.values("aria-label")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.774306", "0.774"),
        ("0.774500", "0.775"),
        ("0.999500", "1.000"),
        ("-0.000500", "-0.001"),
        ("-0.000400", "-0.000"),
        ("+0.000000", "+0.000"),
        ("0.000000", "0.000"),
        ("0.000499", "<0.001"),
        ("[-0.034450, +0.082069]", "[-0.034, +0.082]"),
        ("n/a", "n/a"),
        ("24", "24"),
        ("0.25", "0.25"),
        ("12.3456789", "12.3456789"),
    ],
)
def test_six_decimals_become_three(text: str, shown: str) -> None:
    assert brief(text) == shown


@pytest.mark.parametrize(("reasons", "tone"), [((WORSE,), "top caution"), ((), "top good")])
def test_every_outcome_has_its_tone(reasons: tuple[Any, ...], tone: str) -> None:
    assert ("header", "class", tone) in Page(render_html(gated(*reasons))).attributes


def test_a_case_is_a_row_with_a_figure_per_backend_and_the_difference(compared: Page) -> None:
    # MRR goes first: `both` falls from rank 1 to 2, `lost` from 1 to none, `won` rises to 1.
    assert compared.texts["b"] == ["lost", "both", "won"]
    assert compared.texts["q"] == ["write the log", "read the config", "open a socket"]
    cells = [text for text in compared.texts["td"] if text.endswith("00")][-9:]
    assert cells[:3] == ["1.000", "0.000", "-1.000"]
    assert cells[3:6] == ["1.000", "0.500", "-0.500"]
    assert cells[6:] == ["0.000", "1.000", "+1.000"]
    titles = [value for tag, name, value in compared.attributes if (tag, name) == ("td", "title")]
    assert titles[:3] == ["1.000000", "0.000000", "-1.000000"]


def test_the_payload_holds_results_scores_and_matches_by_position(compared: Page) -> None:
    data = payload(compared)
    assert data["metrics"] == ["mrr", "precision_at_k", "recall", "f1"]
    assert data["figures"][1][0] == [500_000, 0, 1_000_000]
    assert data["ranks"] == [[1, 1, 0], [2, 0, 1]]
    assert data["deltas"]["mrr"] == [-500_000, -1_000_000, 1_000_000]
    k, anchors, grades, note, rankings = data["cases"][1]
    assert (k, anchors, grades, note) == (2, ["a.py", "b.py@1-2"], 0, 0)
    bm25, hybrid = rankings
    assert [data["backends"][bm25[0]], data["backends"][hybrid[0]]] == ["bm25", "hybrid"]
    assert [(data["paths"][data["chunks"][hit[0]][0]], *hit[1:]) for hit in bm25[1]] == [
        ("a.py", 1_500_000, 0),
        ("b.py", 750_000, 1),
    ]
    assert (bm25[2], hybrid[2]) == ([], [[0, 0, -1, 0], [1, 0, -1, 0]])
    assert data["cases"][2][2] == [3]
    assert data["chunks"][0][1:3] == [1, 3]
    assert data["chunks"][0][4] == "def f():\n    return 1"


def test_a_chunk_is_stored_once_however_often_it_was_returned(compared: Page) -> None:
    assert len(payload(compared)["chunks"]) == 3


def test_intervals_are_drawn_where_there_is_evidence_and_only_there(compared: Page) -> None:
    assert ("rect", "class", "interval") in compared.attributes
    plain = Page(render_html(full_report(compared=False)))
    assert ("rect", "class", "interval") not in plain.attributes
    assert ("circle", "class", "mean") in plain.attributes


@pytest.mark.parametrize(
    ("metrics", "kind"),
    [
        ((), "paired t"),
        (("mrr",), "t with two made-up cases where there is a verdict, paired t elsewhere"),
        (("precision_at_k", "recall", "mrr", "f1"), "t with two made-up cases"),
    ],
)
def test_the_page_says_where_its_intervals_come_from(metrics: tuple[str, ...], kind: str) -> None:
    evidence = replace(QUICK_EVIDENCE, metrics=metrics) if metrics else None
    text = render_html(full_report(evidence=evidence))
    assert f"the 95% interval of the mean difference ({kind});" in text


def test_every_moved_case_is_a_bar_that_names_it(compared: Page) -> None:
    bars = compared.values("data-case")
    # P@k: lost and won; recall: the same; MRR: all three; F1: lost and won.
    assert bars == ["1", "2", "1", "2", "1", "0", "2", "1", "2"]
    assert compared.texts["title"][1] == "lost -1.000000"


def test_charts_are_told_in_words_too(compared: Page) -> None:
    labels = compared.values("aria-label")
    assert "MRR of hybrid: 0.500000, interval [0.000000, 1.000000]" in labels
    assert "MRR: 1 better, 0 tied, 2 worse" in labels


def test_a_page_of_saved_reports_has_no_drilldown_and_all_figures() -> None:
    page = Page(render_html(full_report()._replace(cases=(), fixtures_path=None)))
    assert page.texts["b"] == ["lost", "both", "won"]
    assert payload(page)["cases"] == []
    assert payload(page)["figures"][0][0] == [1_000_000, 1_000_000, 0]


def test_a_gate_shows_all_cases_of_the_candidate_and_those_the_baseline_lacks() -> None:
    full = gated(MISSED)
    assert full.gate is not None
    comparison = full.report.comparison
    assert comparison is not None
    short = select_cases(comparison.a, [0, 1])
    differences = tuple(each._replace(per_case=each.per_case[:2]) for each in comparison.differences)
    report = full.report._replace(
        comparison=comparison._replace(a=short, differences=differences), evidence=None
    )
    full = full._replace(report=report, gate=replace(full.gate, report=report))
    rows = case_rows(full)
    assert [row.id for row in rows] == ["both", "lost", "won"]
    assert rows[2].scores[0] is None
    assert rows[2].deltas["mrr"] is None
    page = Page(render_html(full))
    assert payload(page)["ranks"] == [[1, 1, None], [2, 0, 1]]
    assert page.texts["td"].count("n/a") == 2


def test_a_baseline_of_the_same_name_is_told_apart() -> None:
    full = gated()
    comparison = full.report.comparison
    assert comparison is not None
    same = comparison._replace(a=comparison.a._replace(backend="hybrid"))
    full = full._replace(report=full.report._replace(comparison=same))
    full = full._replace(gate=replace(full.gate, report=full.report))  # type: ignore[type-var]
    assert compared_names(full) == ("baseline:hybrid", "hybrid")
    assert [column.name for column in columns(full)] == ["baseline:hybrid", "hybrid"]


def test_an_id_used_twice_keeps_both_rows() -> None:
    twice = (CASES[0], case("both", "again"), CASES[2])
    rows = case_rows(full_report(twice))
    assert [row.id for row in rows] == ["both", "both", "won"]
    assert [row.drilldown.query for row in rows if row.drilldown is not None][1] == "again"


def test_the_same_report_gives_the_same_page() -> None:
    text = render_html(gated(MISSED))
    assert text == render_html(gated(MISSED))
    assert text.startswith("<!doctype html>\n<html lang=")
    assert text.endswith("</html>\n")
    assert "\r" not in text


@pytest.mark.process
def test_two_thousand_cases_on_three_backends_fit_into_six_megabytes() -> None:
    text = render_html(large_report(2000))
    assert len(text.encode()) <= 6_000_000
    assert text.count('<tr id="case-') == 2000


def test_openings_are_cut_alike_once_they_are_too_many() -> None:
    assert opening_length(["a" * 500] * 4000) == 500
    assert opening_length(["a" * 500] * (OPENING_BUDGET // 500 + 1)) == 320
    assert opening_length(["é" * 500] * (OPENING_BUDGET // 1000 + 1)) == 320
    assert opening_length(["a" * 500] * (OPENING_BUDGET // 30 + 1)) == 0
    assert opening_length([]) == 500


@pytest.mark.parametrize(
    ("figure", "expected"), [(None, 0), (0.0, 0), (1e-6, 1), (0.05, 1), (0.050001, 2), (0.5, 10), (1.0, 20)]
)
def test_a_meter_shows_as_much_as_there_is_and_never_nothing_for_something(
    figure: float | None, expected: int
) -> None:
    assert bucket(figure) == expected


@pytest.mark.parametrize(
    ("fraction", "expected"),
    [(0.0, "0.00%"), (1.0, "100.00%"), (1 / 3, "33.33%"), (2 / 3, "66.67%"), (0.00005, "0.01%")],
)
def test_places_are_percentages_with_two_decimals(fraction: float, expected: str) -> None:
    assert percent(fraction) == expected


def test_a_scale_holds_all_it_shows() -> None:
    assert extent_of([0.0, None]) == 0.01
    assert extent_of([0.05, -0.2]) == 0.2
    assert extent_of([-0.76]) == 1.0


def test_a_strip_places_mean_and_interval() -> None:
    drawn = strip(0.5, 0.25, 0.75)
    assert drawn is not None
    assert (drawn.mean, drawn.low, drawn.width) == ("50.00%", "25.00%", "50.00%")
    around_zero = strip(-0.1, -0.2, 0.0, extent=0.2)
    assert around_zero is not None
    assert (around_zero.mean, around_zero.low, around_zero.width) == ("25.00%", "0.00%", "50.00%")
    assert strip(None, None, None) is None


@pytest.mark.process
def test_the_template_engine_is_loaded_for_a_page_alone() -> None:
    code = (
        "import sys, cce.report.catalog, cce.report.html.renderer\n"
        "import cce.report.markdown.comment, cce.report.ci.junit\n"
        "sys.exit('jinja2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
