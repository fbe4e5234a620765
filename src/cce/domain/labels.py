"""What a saved report keeps of the labels that its cases were measured with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Label(NamedTuple):
    """The label of one case: `digest` has 16 hex digits over its query, k and anchors."""

    digest: str
    critical: bool = False
    tags: tuple[str, ...] = ()


Labels = Mapping[str, Label]
"""Case id -> its label."""


class MadeBy(NamedTuple):
    """What a baseline was measured with; `version` is that of cce.

    grammars   package -> version of what cuts files into chunks
    system     the table of the candidate, empty for a backend by its name alone
    """

    version: str
    grammars: Mapping[str, str]
    redaction: str
    system: Mapping[str, object]
