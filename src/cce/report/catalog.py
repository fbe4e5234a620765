"""The renderers by format: a new format is one more entry here.

A renderer is imported when it is called, so that a terminal does not wait for a page's template engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cce.domain.full_report import FullReport

Renderer = Callable[[FullReport], str]


def _text(full: FullReport) -> str:
    if full.gate is None:
        from cce.report.text.report import render_text

        return render_text(full.report)

    from cce.report.text.gate import render_gate_text

    return render_gate_text(full.gate)


def _json(full: FullReport) -> str:
    if full.gate is None:
        from cce.report.json.report_v2 import render_json

        return render_json(full.report)

    from cce.report.json.gate import render_gate_json

    return render_gate_json(full.gate)


def _markdown(full: FullReport) -> str:
    from cce.report.markdown.comment import render_markdown

    return render_markdown(full)


def _html(full: FullReport) -> str:
    from cce.report.html.renderer import render_html

    return render_html(full)


def _junit(full: FullReport) -> str:
    from cce.report.ci.junit import render_junit

    return render_junit(full)


def _github(full: FullReport) -> str:
    from cce.report.ci.github import render_github

    return render_github(full)


RENDERERS: Mapping[str, Renderer] = {
    "text": _text,
    "json": _json,
    "markdown": _markdown,
    "html": _html,
    "junit": _junit,
    "github": _github,
}

WITH_DRILLDOWN = frozenset({"markdown", "html", "junit"})
"""The formats that show queries or results, and so need the drill-down of every case."""
