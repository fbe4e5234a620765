"""What a baseline was measured with, and what of that differs now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cce.domain.labels import MadeBy
from cce.domain.redaction import Redaction
from cce.quoting import on_one_line
from cce.retrieval.chunking.languages import PACKS
from cce.version import __version__


def made_by(redaction: Redaction, system: Mapping[str, object]) -> MadeBy:
    """What measures now; `system` is the table of the candidate."""
    from importlib.metadata import PackageNotFoundError, version  # some twenty milliseconds

    grammars: dict[str, str] = {}
    for package in ("tree_sitter", *(pack.grammar_package for pack in PACKS)):
        name = package.replace("_", "-")
        try:
            grammars[name] = version(name)
        except PackageNotFoundError:
            grammars[name] = "unknown"
    return MadeBy(__version__, grammars, redaction.value, system)


def differences(then: MadeBy, now: MadeBy) -> Iterator[str]:
    """What differs but the redaction mode, which every report says: one text for each."""
    if then.version != now.version:
        yield f"cce {on_one_line(then.version)} (now {now.version})"
    for name in sorted({*then.grammars, *now.grammars}):
        old, new = (each.grammars.get(name, "absent") for each in (then, now))
        if old != new:
            yield f"{on_one_line(name)} {on_one_line(old)} (now {new})"
    if dict(then.system) != dict(now.system):
        yield "another table of the system"
