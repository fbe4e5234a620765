"""What a command answers: exit code, standard output, standard error."""

from __future__ import annotations


def refused(answer: tuple[int, str, str]) -> str:
    """The message of a command that ended with 2: one line on standard error, and nothing else."""
    code, out, err = answer
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    return line.removeprefix("error: ")
