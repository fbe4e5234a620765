"""The process behind `cce` and `python -m cce`."""

from __future__ import annotations

import gc
import sys

# By itself Python looks for unreachable cycles whenever there are 700 new objects: a fifteenth of a small
# run. A command makes few cycles, and so many objects are some megabytes at most.
_OBJECTS_A_LOOK = 100_000


def run() -> int:
    """Run the command that was typed; returns the exit code."""
    gc.set_threshold(_OBJECTS_A_LOOK, *gc.get_threshold()[1:])

    from cce.cli.main import main  # imported late, so that its imports profit as well

    return main()


if __name__ == "__main__":
    sys.exit(run())
