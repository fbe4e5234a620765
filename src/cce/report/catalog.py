"""The renderers by format."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cce.domain.report import Report
from cce.report.json_v2 import render_json
from cce.report.text import render_text

RENDERERS: Mapping[str, Callable[[Report], str]] = {"text": render_text, "json": render_json}
