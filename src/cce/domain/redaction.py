"""How the secrets of a corpus are treated: which rules its text went through, and who asked for them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Redaction(Enum):
    """The value is the name that options, stores and reports use."""

    OFF = "off"
    STANDARD = "standard"
    STRICT = "strict"


class RedactionChoice(NamedTuple):
    """What is asked for; `is_typed` if an option of this call says so, which nothing overrules."""

    redaction: Redaction = Redaction.STANDARD
    is_typed: bool = False


STANDARD = RedactionChoice()
