"""Full report in, one self-contained HTML page out: nothing is loaded, nothing is sent.

The template engine escapes every value that a template shows, and the payload writes `<`, `>` and `&` as JSON
escapes. The page's Content-Security-Policy allows its own style and script by digest and nothing else. The
template engine is imported in functions: its import takes tens of milliseconds, and only a page needs it.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING

from cce.domain.full_report import FullReport
from cce.numerals import format_score
from cce.quoting import one_line
from cce.report.catalog import GENERATOR
from cce.report.html.page import build_page
from cce.report.html.payload import payload
from cce.report.view.cells import brief, label
from cce.report.view.rows import case_rows

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = "templates"
_PAGE, _STYLE, _SCRIPT = "report.html.j2", "report.css", "report.js"


def render_html(full: FullReport) -> str:
    """The report as a page, with one final newline, valid UTF-8 once encoded."""
    from markupsafe import Markup

    rows = case_rows(full)
    page = build_page(full, rows)
    style, script = _text_of(_STYLE), _text_of(_SCRIPT)
    data = payload(full, rows, [column.name for column in page.columns])
    # Markup: the two texts are ours, and the payload is escaped already.
    text = (
        _environment()
        .get_template(_PAGE)
        .render(
            page=page,
            generator=GENERATOR,
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            payload=Markup(data),  # noqa: S704
            policy=_policy(style, script),
        )
    )
    return text.rstrip("\n") + "\n"


def _policy(style: str, script: str) -> str:
    """The page's Content-Security-Policy; the icon is a data URL."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cce.report.html", _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters.update(label=label, score=format_score, brief=brief)
    return environment


def _text_of(name: str) -> str:
    """A style sheet or script as it stands in the page: its digest is over exactly this text."""
    environment = _environment()
    if environment.loader is None:
        raise ValueError("the page's templates have no loader")
    source, _, _ = environment.loader.get_source(environment, name)
    return "\n".join(source.splitlines()) + "\n"


def _printable(value: object) -> object:
    """What a template shows: control characters and lone surrogates of foreign text spelled out."""
    return one_line(value) if type(value) is str else value
