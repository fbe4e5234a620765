"""The page in a real browser: Debian's chromium, or another one found on the way to commands."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cce.domain.case import Case
from cce.domain.drilldown import ShownMiss
from cce.domain.full_report import FullReport
from cce.report.html.renderer import render_html
from full_reports import (
    CASES,
    HOSTILE,
    MISSED,
    QUICK_EVIDENCE,
    WORSE,
    case,
    full_report,
    gated,
    large_report,
    ranking,
)

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)

pytestmark = pytest.mark.skipif(
    BROWSER is None or DRIVER is None, reason="no chromium with its chromedriver is installed here"
)


class Window:
    """One browser window and the page in it."""

    def __init__(self, chrome: Chrome, folder: Path) -> None:
        self._chrome = chrome
        self._folder = folder

    def show(self, full: FullReport, *, width: int = 1280, fragment: str = "", scheme: str = "light") -> None:
        """Open the page of `full`; what earlier pages logged is forgotten."""
        path = self._folder / "page.html"
        path.write_bytes(render_html(full).encode())
        self._chrome.get("about:blank")
        self._chrome.get_log("browser")  # type: ignore[no-untyped-call]
        self._chrome.get_log("performance")  # type: ignore[no-untyped-call]
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        # Without motion, or a click would meet a page that still scrolls.
        media = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in media.items()]
        self._chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self._chrome.get(path.as_uri() + fragment)

    def run(self, script: str, *arguments: object) -> Any:
        return self._chrome.execute_script(script, *arguments)

    def all(self, selector: str) -> list[WebElement]:
        return self._chrome.find_elements("css selector", selector)

    def one(self, selector: str) -> WebElement:
        return self._chrome.find_element("css selector", selector)

    def choose(self, selector: str, value: str) -> None:
        self.one(f"{selector} option[value='{value}']").click()

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        self._chrome.switch_to.active_element.send_keys(key)

    def address(self) -> str:
        """What stands behind the page's path."""
        address: str = self.run("return location.hash")
        return address

    def shown_cases(self) -> list[str]:
        shown: list[str] = self.run(
            """return [...document.querySelectorAll("#table > tbody > tr[data-case]")]
                .filter((row) => row.offsetHeight > 0)
                .map((row) => row.querySelector("button").textContent)"""
        )
        return shown

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self._chrome.get_log("browser")]  # type: ignore[no-untyped-call]

    def requests(self) -> list[str]:
        """What was asked for since the page was opened, without what the page holds itself."""
        entries = self._chrome.get_log("performance")  # type: ignore[no-untyped-call]
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        urls = [
            each["params"]["request"]["url"]
            for each in messages
            if each["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in urls if not url.startswith("data:")]


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed here")
    from selenium.webdriver.chrome.service import Service

    options = selenium.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = selenium.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def window(chrome: Chrome, tmp_path: Path) -> Window:
    return Window(chrome, tmp_path)


def compared() -> FullReport:
    return full_report(evidence=QUICK_EVIDENCE)


def test_a_page_loads_nothing_and_complains_about_nothing(window: Window) -> None:
    window.show(gated(MISSED, WORSE))
    for button in window.all("button.open"):
        button.click()
    assert window.complaints() == []
    assert [url.rsplit("/", 1)[1] for url in window.requests()] == ["page.html"]


def test_the_browser_itself_refuses_what_the_page_does_not_allow(window: Window) -> None:
    # The policy holds: what a way around the escaping could add would not run, load or send.
    window.show(compared())
    window.run(
        """
        const script = document.createElement("script");
        script.textContent = "document.title = 'pwned'";
        document.body.append(script);
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/x.png";
        document.body.append(image);
        """
    )
    assert "pwned" not in window.run("return document.title")
    assert len([message for message in window.complaints() if "Content Security Policy" in message]) == 2


def test_finding_filters_by_id_query_and_tag(window: Window) -> None:
    window.show(compared())
    assert window.shown_cases() == ["lost", "both", "won"]
    find = window.one("#find")
    find.send_keys("WRITE log")
    assert window.shown_cases() == ["lost"]
    assert window.one("#count").text == "1 of 3 cases"
    find.clear()
    find.send_keys("symbol")
    assert window.shown_cases() == ["lost", "both"]
    find.send_keys(" no such word")
    assert window.shown_cases() == []
    window.one("#clear").click()
    assert window.shown_cases() == ["lost", "both", "won"]
    assert window.one("#count").text == "3 cases"


@pytest.mark.parametrize(
    ("selector", "value", "expected"),
    [
        ("#show", "moved", ["lost", "both", "won"]),
        ("#show", "worse", ["lost", "both"]),
        ("#show", "better", ["won"]),
        ("#show", "missed", ["lost", "won"]),
        ("#show", "critical", ["both"]),
        ("#show", "blocking", ["lost"]),
        ("#tag", "kind", ["lost"]),
    ],
)
def test_choices_filter_the_cases(window: Window, selector: str, value: str, expected: Sequence[str]) -> None:
    window.show(gated(MISSED))
    window.choose(selector, value)
    assert window.shown_cases() == expected


def test_a_column_sorts_worst_first_then_best_first_then_as_at_first(window: Window) -> None:
    window.show(compared())
    heads = window.all("#table th[data-sort]")
    button = heads[3].find_element("css selector", "button")
    button.click()
    assert (window.shown_cases(), heads[3].get_attribute("aria-sort")) == (
        ["lost", "both", "won"],
        "ascending",
    )
    button.click()
    assert (window.shown_cases(), heads[3].get_attribute("aria-sort")) == (
        ["won", "both", "lost"],
        "descending",
    )
    button.click()
    assert (window.shown_cases(), heads[3].get_attribute("aria-sort")) == (["lost", "both", "won"], None)


def test_ids_sort_by_their_text(window: Window) -> None:
    window.show(full_report((case("b"), case("C"), case("a"))))
    window.one("#table th[data-sort=id] button").click()
    assert window.shown_cases() == ["C", "a", "b"]


def test_another_metric_changes_figures_differences_and_order(window: Window) -> None:
    window.show(compared())
    window.all("#table th[data-sort] button")[3].click()
    window.choose("#metric", "2")
    # Recall: `both` is tied, `lost` falls from 1 to 0, `won` rises.
    assert window.shown_cases() == ["lost", "both", "won"]
    texts = [cell.text.split()[0] for cell in window.all("#case-0 td")]
    assert texts == ["1.000", "1.000", "+0.000"]
    titles = [cell.get_attribute("title") for cell in window.all("#case-0 td")]
    assert titles == ["1.000000", "1.000000", "+0.000000"]
    window.choose("#show", "worse")
    assert window.shown_cases() == ["lost"]


def test_a_case_opens_to_its_anchors_and_results(window: Window) -> None:
    window.show(compared())
    window.one("#case-1 button.open").click()
    detail = window.one("#detail-1")
    assert [each.text.split("\n") for each in detail.find_elements("css selector", ".anchors li")] == [
        ["1", "a.py"],
        ["2", "b.py@1-2"],
    ]
    titles = [each.text for each in detail.find_elements("css selector", ".answers h3")]
    assert titles == ["bm25 all anchors matched", "hybrid missed 1 2"]
    hits = detail.find_elements("css selector", "ol.hits > li")
    assert [hit.get_attribute("class") for hit in hits] == ["match", "match", ""]
    first = hits[0].text
    assert "a.py:1-3" in first
    assert "function_definition" in first
    assert "✓ 1" in first
    assert "1.500" in first
    assert hits[0].find_element("css selector", ".score").get_attribute("title") == "1.500000"
    assert "def f():\n    return 1" in (
        hits[0].find_element("css selector", "pre").get_attribute("textContent") or ""
    )


def test_a_case_opens_and_closes_by_the_keyboard(window: Window) -> None:
    window.show(compared())
    button = window.one("#case-0 button.open")
    window.run("arguments[0].focus()", button)
    window.press("\ue007")
    assert button.get_attribute("aria-expanded") == "true"
    assert window.one("#detail-0 .note").text == "Not its callers."
    assert button.get_attribute("aria-controls") == window.one("tr.detail").get_attribute("id")
    window.press(" ")
    assert button.get_attribute("aria-expanded") == "false"
    assert window.all("tr.detail") == []


def test_an_open_case_moves_and_hides_with_its_row(window: Window) -> None:
    window.show(compared())
    window.one("#case-0 button.open").click()
    window.all("#table th[data-sort] button")[3].click()
    order = window.run("return [...document.querySelectorAll('#table > tbody > tr')].map(row => row.id)")
    assert order == ["case-1", "case-0", "detail-0", "case-2"]
    window.one("#find").send_keys("won")
    assert not window.one("#detail-0").is_displayed()


def test_an_address_opens_a_case_and_a_bar_leads_to_its_case(window: Window) -> None:
    window.show(compared(), fragment="#case=won")
    assert window.one("#case-2 button.open").get_attribute("aria-expanded") == "true"
    window.one("#find").send_keys("won")
    bar = window.one(".plot rect[data-case='1']")
    window.run("arguments[0].scrollIntoView({block: 'center'})", bar)
    bar.click()
    assert window.one("#case-1 button.open").get_attribute("aria-expanded") == "true"
    assert window.shown_cases() == ["lost", "both", "won"]
    assert window.run("return document.activeElement.textContent") == "lost"


def test_an_id_in_a_reason_leads_to_its_case_whatever_is_filtered(window: Window) -> None:
    window.show(gated(MISSED))
    window.choose("#show", "better")
    assert window.shown_cases() == ["won"]
    window.one(".reasons a").click()
    assert window.one("#case-1 button.open").get_attribute("aria-expanded") == "true"
    assert window.shown_cases() == ["lost", "both", "won"]
    assert window.address() == "#case=lost"


def test_the_address_follows_what_is_opened_and_filtered(window: Window) -> None:
    window.show(compared(), fragment="#means")
    assert window.address() == "#means"
    window.one("#case-2 button.open").click()
    assert window.address() == "#case=won"
    window.one("#case-0 button.open").click()
    assert window.address() == "#case=both"
    window.choose("#show", "worse")
    window.choose("#metric", "2")
    window.one("#find").send_keys("the log")
    assert window.address() == "#case=both&find=the%20log&show=worse&metric=recall"
    window.one("#find").clear()
    window.one("#find").send_keys(" ")
    window.one("#case-1 button.open").click()
    assert window.address() == "#case=lost&find=%20&show=worse&metric=recall"
    window.one("#case-1 button.open").click()
    assert window.address() == "#find=%20&show=worse&metric=recall"


def test_an_address_filters_and_opens_as_it_says(window: Window) -> None:
    window.show(compared(), fragment="#case=lost&find=the%20log&show=worse&tag=kind&metric=recall")
    assert window.shown_cases() == ["lost"]
    assert window.one("#detail-1").is_displayed()
    chosen = window.run(
        "return ['find', 'show', 'tag', 'metric'].map(id => document.getElementById(id).value)"
    )
    assert chosen == ["the log", "worse", "kind", "2"]
    # A case that it filters away is shown all the same; what is no choice is left alone.
    window.show(compared(), fragment="#case=won&show=worse&tag=nobody&metric=none&find=%zz%")
    assert window.shown_cases() == ["lost", "both", "won"]
    window.show(compared(), fragment="#case=nobody")
    assert window.all("tr.detail") == []
    assert window.complaints() == []


@pytest.mark.parametrize("name", ["a b&c=d%+é/?#x", "case-0", "1", HOSTILE])
def test_an_address_is_the_id_whatever_it_holds(window: Window, name: str) -> None:
    cases = (case("other"), case(name), case(name, "again"))
    rankings = {"bm25": ((),) * 3, "hybrid": ((),) * 3}
    window.show(full_report(cases, rankings))
    window.one("#case-1 button.open").click()
    first = window.address()
    window.one("#case-2 button.open").click()
    assert first == "#case=" + window.run("return encodeURIComponent(arguments[0])", name)
    assert window.address() == f"{first}&nth=2"
    for address, position in ((first, 1), (f"{first}&nth=2", 2)):
        window.show(full_report(cases, rankings), fragment=address)
        assert [row.get_attribute("id") for row in window.all("tr.detail")] == [f"detail-{position}"]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("position", [0, 700, 1999])
def test_an_address_lands_on_screen(window: Window, width: int, position: int) -> None:
    window.show(large_report(2000), width=width, fragment=f"#case=case-{position + 1:04}")
    time.sleep(0.5)  # what a browser lays out late must not push it away
    place = window.run(
        """const box = document.getElementById(arguments[0]).getBoundingClientRect();
        const bar = document.querySelector("nav").getBoundingClientRect();
        return [box.top, box.bottom, bar.bottom, innerHeight]""",
        f"case-{position}",
    )
    top, bottom, bar, height = place
    assert bar - 1 <= top < bottom <= height, place


def test_a_missed_anchor_shows_its_text_and_the_rank_it_would_have_had(window: Window) -> None:
    def find(backend: str, _: Case, missed: Sequence[int]) -> tuple[ShownMiss, ...]:
        known = ShownMiss(0, 7, None, "a.py", 3, 4, "function_definition", "def lost():")
        unknown = ShownMiss(1, reason="matches nothing in the index")
        early = ShownMiss(0, 1, None, "b.py", 1, 1, "module", "b")
        return (known, unknown) if backend == "hybrid" and len(missed) == 2 else (early,)

    window.show(full_report(find_misses=find))
    window.one("#case-1 button.open").click()
    texts = [entry.text.split("\n") for entry in window.all("#detail-1 .misses li")]
    assert texts == [
        ["missed anchor", "1", "a.py", "would be rank 7", "a.py:3-4", "function_definition", "def lost():"],
        ["missed anchor", "2", "b.py@1-2", "matches nothing in the index"],
    ]
    window.one("#case-2 button.open").click()
    assert "rank 1 if more are asked" in window.one("#detail-2 .misses li").text


def test_hostile_text_is_text_everywhere(window: Window) -> None:
    hostile = case(HOSTILE, HOSTILE, [HOSTILE], tags=(HOSTILE,), note=HOSTILE, critical=True)
    full = full_report(
        (hostile, *CASES[1:]),
        {HOSTILE: (ranking(HOSTILE), (), ()), f"{HOSTILE}2": (ranking("a.py"), (), ())},
        evidence=QUICK_EVIDENCE,
    )
    window.show(full)
    window.all("button.open")[0].click()
    assert window.run("return document.title") != "pwned"
    assert window.run("return document.images.length") == 0
    assert window.run("return document.scripts.length") == 2
    texts = window.run(
        """return ["button.open", "q", ".note", ".anchors code", ".hit .place", ".answers h3 .foreign"].map(
            (selector) => document.querySelector(selector).textContent)"""
    )
    assert texts == [HOSTILE, HOSTILE, HOSTILE, HOSTILE, f"{HOSTILE}:1-3", HOSTILE]
    assert window.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(window: Window, width: int, scheme: str) -> None:
    long = case(
        "an_id_without_a_single_space_" * 8,
        "q" * 300,
        ["path/" * 60 + "a.py"],
        tags=("t" * 90,),
        note="n" * 200,
    )
    reason = MISSED.__class__(MISSED.level, MISSED.rule, "r" * 400, case_ids=("lost",))
    window.show(gated(reason, cases=(long, *CASES[1:])), width=width, scheme=scheme)
    for button in window.all("button.open"):
        window.run("arguments[0].click()", button)
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert window.run("return matchMedia('(prefers-color-scheme: dark)').matches") is (scheme == "dark")


def test_text_stands_out_from_its_ground_in_both_schemes(window: Window) -> None:
    pairs = [
        (text, ground)
        for ground in ("surface", "ground", "sunken")
        for text in ("ink", "soft", "accent", "good", "bad", "s0", "s1", "s2", "s3", "s4", "s5")
    ]
    pairs += [(tone, f"{tone}-soft") for tone in ("accent", "good", "bad", "caution")]
    for scheme in ("light", "dark"):
        window.show(full_report(), scheme=scheme)
        colours = window.run(
            """const style = getComputedStyle(document.documentElement);
            return arguments[0].map(pair => pair.map(name => style.getPropertyValue("--" + name).trim()))""",
            pairs,
        )
        weak = [
            pair for pair, (text, ground) in zip(pairs, colours, strict=True) if contrast(text, ground) < 4.5
        ]
        assert weak == []


def contrast(text: str, ground: str) -> float:
    """The contrast ratio of WCAG 2.1 between two colours spelled #rrggbb."""
    light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_narrow_window_names_each_figure(window: Window) -> None:
    window.show(compared(), width=360)
    assert [cell.get_attribute("data-label") for cell in window.all("#case-0 td")] == [
        "bm25",
        "hybrid",
        "difference",
    ]
    roles = window.run(
        "return [...document.querySelectorAll('#case-0, #case-0 > *')].map(e => e.getAttribute('role'))"
    )
    assert roles == ["row", "rowheader", "cell", "cell", "cell"]


def test_two_thousand_cases_come_alive_and_open(window: Window) -> None:
    window.show(large_report(2000))
    assert window.run("return document.documentElement.dataset.ready") == "yes"
    window.one("#find").send_keys("case-1999")
    assert window.shown_cases() == ["case-1999"]
    window.one("#case-1998 button.open").click()
    assert len(window.all("#detail-1998 ol.hits > li")) == 30
    assert window.complaints() == []


def test_every_control_and_picture_has_a_name(window: Window) -> None:
    window.show(gated(MISSED))
    window.all("button.open")[0].click()
    nameless = window.run(
        """const all = "button, input, select, svg[role=img], [role=region], nav, form";
        return [...document.querySelectorAll(all)]
            .filter((each) => !each.getAttribute("aria-label") && !each.textContent.trim()
                && !(each.labels && each.labels.length))
            .map((each) => each.outerHTML)"""
    )
    assert nameless == []
    levels = window.run(
        "return [...document.querySelectorAll('h1, h2, h3')].map(each => Number(each.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
