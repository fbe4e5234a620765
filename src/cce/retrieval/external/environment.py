"""What of the environment a system gets: the basics, and the names that its table lists.

What a CI sets up for itself reaches no system: its variables hold tokens that write to the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from cce.errors import OutsideSystemError

_BASICS = ("PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT")
_BASIC_STARTS = ("LC_",)
_CI_STARTS = ("GITHUB_", "ACTIONS_", "RUNNER_")


def is_of_ci(name: str) -> bool:
    """Whether a variable is one that no system may have."""
    return name.upper().startswith(_CI_STARTS)


def require_no_ci(names: Iterable[str], place: str) -> None:
    """Raise OutsideSystemError for a variable of the CI; `place` starts the message."""
    for name in names:
        if is_of_ci(name):
            raise OutsideSystemError(
                f"{place}: {name} belongs to the CI and reaches no system: pass the value under another name"
            )


def child_environment(names: Iterable[str]) -> Mapping[str, str]:
    """The variables of a child, as far as they are set."""
    wanted = {*_BASICS, *names}
    return {
        name: value
        for name, value in os.environ.items()
        if (name in wanted or name.startswith(_BASIC_STARTS)) and not is_of_ci(name)
    }
