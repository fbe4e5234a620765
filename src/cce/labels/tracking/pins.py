"""Pins: which text a label was made for, and whether it still covers that text.

A pin is the first 16 hex digits of SHA-256 over the anchored text, normalised as `texts` says. A case
keeps its pins under the key `pins`, by anchor; an anchor of a kind alone covers no text of its own and
has none. This module compares pins; `pinning` adds them to a set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cce.domain.anchor import Anchor
from cce.domain.case import Case, FixtureSet
from cce.labels.tracking.texts import AnchoredTexts, Texts
from cce.quoting import on_one_line, quoted

_N_SHOWN = 5


def current_pin(texts: AnchoredTexts, anchor: Anchor) -> str | None:
    """The pin of the text that `anchor` covers now; None if it covers no text of its own."""
    return None if anchor.path is None else texts.pin(anchor.path, anchor.lines)


def is_current(texts: AnchoredTexts, anchor: Anchor, pin: str) -> bool:
    """Whether `pin`, of this version or an older one, holds for the text that `anchor` covers now."""
    return anchor.path is not None and pin in texts.pins(anchor.path, anchor.lines)


def stale_anchors(texts: AnchoredTexts, case: Case) -> Iterator[Anchor]:
    """The anchors of `case`, without repeats, that cover another text now than the pinned one."""
    for anchor in distinct(case.anchors):
        pin = case.pins.get(anchor.text)
        if pin is not None and not is_current(texts, anchor, pin):
            yield anchor


def distinct(anchors: Iterable[Anchor]) -> Iterator[Anchor]:
    """The anchors without repeats of the same text, in order."""
    return iter({anchor.text: anchor for anchor in anchors}.values())


def stale_pins(fixtures: FixtureSet, corpus: Texts) -> list[str]:
    """One warning if any pin of `fixtures` is stale, else none; without pins no file of `corpus` is read."""
    texts = AnchoredTexts(corpus)
    stale = [(case, anchor) for case in fixtures.cases for anchor in stale_anchors(texts, case)]
    if not stale:
        return []
    n_pins = sum(len(case.pins) for case in fixtures.cases)
    shown = ", ".join(f"{quoted(anchor.text)} (line {case.line})" for case, anchor in stale[:_N_SHOWN])
    more = ", …" if len(stale) > _N_SHOWN else ""
    return [
        f"{on_one_line(fixtures.path)}: {len(stale)} of {n_pins} pinned anchors no longer cover the text they"
        f" were made for: {shown}{more}; see cce fixtures lint, and cce fixtures reanchor for what moved"
    ]
