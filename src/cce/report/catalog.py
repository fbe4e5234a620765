"""The report formats: a new one is one more row of FORMATS and one module.

A row has the mark by which an output knows what it may replace: the first bytes of a file that we wrote. A
report whose bytes are a promise has no room for a mark of its own. It is known by its first line, or by its
schema, which our renderer puts on a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cce.domain.full_report import FullReport

Renderer = Callable[["FullReport"], str]

Mark = bytes
"""A regular expression that matches at the start of the whole text; compiled only where a file is there."""

MARKDOWN_MARK = "<!-- cce relevance report -->"
GENERATOR = "cce relevance"
CONFORMANCE_MARK: Mark = rb'\{\s*"spec_version": "[^"]*",\s*"impl_language": "python"'


class Format(NamedTuple):
    """One report format.

    function     `module:function`, a Renderer; imported when called, so that text needs no template engine
    mark         how its files begin; no two formats have one that matches the same text
    shows_cases  whether it shows queries or results, and so needs the drill-down of every case
    shows_misses whether it shows the ranks that missed anchors would have had, which takes more rankings
    """

    function: str
    mark: Mark
    shows_cases: bool = False
    shows_misses: bool = False

    def render(self, full: FullReport) -> str:
        """The report in this format, with one final newline."""
        module, _, name = self.function.partition(":")
        render: Renderer = getattr(import_module(module), name)
        return render(full)


FORMATS: Mapping[str, Format] = {
    "text": Format(
        "cce.report.text.report:render_text_report",
        "CCE (?:relevance|compare|history) — |GATE: (?:GO|REVIEW|BLOCK)\n".encode(),
    ),
    "json": Format(
        "cce.report.json.report_v2:render_json_report",
        # Two blanks and no more: a key of the whole, not of something in it.
        rb'(?ms)\{\n.*?^  "schema": "cce\.(?:(?:relevance|gate)\.report|history)/v[0-9]+",?\n',
    ),
    "markdown": Format(
        "cce.report.markdown.comment:render_markdown", MARKDOWN_MARK.encode(), shows_cases=True
    ),
    "html": Format(
        "cce.report.html.renderer:render_html",
        b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        b'<meta name="generator" content="' + GENERATOR.encode() + b'">',
        shows_cases=True,
        shows_misses=True,
    ),
    "junit": Format(
        "cce.report.ci.junit:render_junit",
        rb'<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="cce relevance',
        shows_cases=True,
    ),
    "github": Format(
        "cce.report.ci.github:render_github", rb"::(?:error|warning|notice) title=(?:GATE%3A|cce relevance)"
    ),
}

RENDERERS: Mapping[str, Renderer] = {name: each.render for name, each in FORMATS.items()}
MARKS: Mapping[str, Mark] = {name: each.mark for name, each in FORMATS.items()}
WITH_DRILLDOWN = frozenset(name for name, each in FORMATS.items() if each.shows_cases)
WITH_MISSES = frozenset(name for name, each in FORMATS.items() if each.shows_misses)
