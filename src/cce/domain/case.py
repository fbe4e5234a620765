"""A case is one labelled query; a fixture set is a file of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from cce.domain.anchor import Anchor

_NO_GRADES: Mapping[str, int] = MappingProxyType({})
_NO_PINS: Mapping[str, str] = MappingProxyType({})


class Case(NamedTuple):
    """One labelled query: `line` is where it stands in its file, `grades` maps anchor texts to 1..3.

    `pins` maps anchor texts to 16 hex digits over the text that each was made for; `scope` names the scope of
    the systems file that its results are limited to; `irrelevant` has places that somebody judged not to
    answer.
    """

    id: str
    query: str
    anchors: tuple[Anchor, ...]
    k: int
    line: int
    tags: tuple[str, ...] = ()
    grades: Mapping[str, int] = _NO_GRADES
    critical: bool = False
    note: str | None = None
    pins: Mapping[str, str] = _NO_PINS
    scope: str | None = None
    irrelevant: tuple[Anchor, ...] = ()

    @property
    def is_ranged(self) -> bool:
        """Whether any anchor names lines, so that token spans are scored."""
        return any(anchor.lines is not None for anchor in self.anchors)

    @property
    def forbidden(self) -> tuple[Anchor, ...]:
        """The irrelevant places without those that are expected too: these count as relevant."""
        expected = {anchor[1:] for anchor in self.anchors}
        return tuple(place for place in self.irrelevant if place[1:] not in expected)


class FixtureSet(NamedTuple):
    """The cases of one file, in file order; `corpus` is the header's default directory as written.

    `drafts` are the ids of the lines that have candidates and no label yet, which are no cases.
    """

    path: str
    corpus: str | None
    cases: tuple[Case, ...]
    drafts: tuple[str, ...] = ()
