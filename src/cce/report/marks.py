"""How a file begins that we wrote: by these first bytes an output knows what it may replace.

A report has no room for a mark where its bytes are a promise. There it is known by its own first line
or by its schema, which our renderer puts on a line of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

Mark = bytes
"""A regular expression that matches at the start of the whole text; compiled only where a file is there."""

MARKDOWN_MARK = "<!-- cce relevance report -->"
GENERATOR = "cce relevance"

MARKS: Mapping[str, Mark] = {
    "text": "CCE (?:relevance|compare) — |GATE: (?:GO|REVIEW|BLOCK)\n".encode(),
    # Two blanks and no more: a key of the whole, not of something in it.
    "json": rb'(?ms)\{\n.*?^  "schema": "cce\.(?:relevance|gate)\.report/v[0-9]+",?\n',
    "markdown": MARKDOWN_MARK.encode(),
    "html": b'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    b'<meta name="generator" content="' + GENERATOR.encode() + b'">',
    "junit": rb'<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="cce relevance',
    "github": rb"::(?:error|notice) title=(?:GATE%3A|cce relevance)",
}
"""The marks of reports by format; every renderer's text has its own."""

CONFORMANCE_MARK: Mark = rb'\{\s*"spec_version": "[^"]*",\s*"impl_language": "python"'
