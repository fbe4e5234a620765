"""How long the parser may take over one file.

Error recovery is superlinear: 12 kB of `&->` take a JavaScript parser twelve seconds, 30 kB two minutes.
The parser cannot be interrupted from Python, but it looks at a clock of its own and gives up. It could also
be asked to go on, but the tree would then depend on when it stopped: a file that took too long is parsed
anew, by a process that may take longer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

from cce.errors import CorpusError, UsageError
from cce.quoting import quoted

VARIABLE = "CCE_PARSE_SECONDS"
_DEFAULT_SECONDS = 60.0

# How long an interrupt may wait: longer than any file of 2 MiB takes that does not provoke the parser.
PATIENCE_SECONDS = 1.0

_MAX_SECONDS = 1e9  # the parser's clock counts microseconds in 64 bits
_GLOB_CHARACTERS = "\\*?["

_limit: float | None = None


class TooSlowError(Exception):
    """The parser gave up on a text: its time was over. Who knows the path says so as a CorpusError."""


def seconds_per_file() -> float:
    """The limit from the environment, or else 60 seconds. Raises UsageError."""
    typed = os.environ.get(VARIABLE) or str(_DEFAULT_SECONDS)
    try:
        seconds = float(typed)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise UsageError(
            f"{VARIABLE}: must be a positive number of seconds, got {quoted(typed)}; "
            f"unset it for {_DEFAULT_SECONDS:g}"
        )
    return min(seconds, _MAX_SECONDS)


@contextmanager
def limited_to(seconds: float) -> Iterator[None]:
    """Within it the parser gives up on a text after `seconds`, for which TooSlowError is raised."""
    global _limit  # of the whole process, as the parsers are
    outer, _limit = _limit, seconds
    try:
        yield
    finally:
        _limit = outer


def limit_in_microseconds() -> int:
    """As the parser counts; 0 where nobody set a limit."""
    return 0 if _limit is None else max(1, int(_limit * 1e6))


def too_slow(root: str, path: str, seconds: float) -> CorpusError:
    """The error that names the file, and the line that leaves it out."""
    return CorpusError(
        f"{root}: {path}: parsing it takes longer than {seconds:g} s; leave it out with the line "
        f"{ignoring_line(path)} in {os.path.join(root, '.gitignore')}, or allow more with {VARIABLE}"
    )


def ignoring_line(path: str) -> str:
    """The `.gitignore` line at the root that ignores `path` and nothing else."""
    line = "".join(f"\\{letter}" if letter in _GLOB_CHARACTERS else letter for letter in path)
    return f"/{line[:-1]}\\ " if line.endswith(" ") else f"/{line}"
