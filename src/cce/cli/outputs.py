"""What an output may replace, and the warning about an output that the next run would index.

A path enters; the reason not to write there leaves. It is checked before anything is measured.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from cce.cli.exits import warn
from cce.errors import CorpusError, UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.report.catalog import Mark

RUN_MARK = rb'\{"schema": "cce\.run/v1"|\S+ Q0 \S+ [0-9]+ '
"""How the runs begin that are written here."""

_RULE_FILE = ".gitignore"


def output_fault(
    path: str,
    mark: Mark | None = None,
    inputs: Mapping[str, str | None] | None = None,
    corpora: Callable[[], Iterable[str]] = tuple,
) -> str | None:
    """Why nothing may be written to `path`; None if it may.

    mark     how a file begins that may be replaced wherever it is, but for an input
    inputs   what is read in this run, by what it is
    corpora  the directories that are indexed; asked only if the file there is not known by its mark
    """
    if os.path.basename(os.path.realpath(path)).lower() == _RULE_FILE:
        return "would change which files are indexed"
    for noun, read in (inputs or {}).items():
        if read is not None and is_same_file(path, read):
            return f"would replace the {noun}"
    if not is_foreign(path, mark):
        return None
    for corpus in corpora():
        if _has_file(corpus, path):
            return f"would replace a file of the corpus {on_one_line(corpus)}"
    return None


def refuse_output(
    path: str, option: str, mark: Mark | None = None, corpora: Callable[[], Iterable[str]] = tuple
) -> None:
    """Raise UsageError for an output that `option` names and `output_fault` finds fault with."""
    fault = output_fault(path, mark, corpora=corpora)
    if fault is not None:
        raise UsageError(f"{on_one_line(path)}: {fault}; name another file with {option}")


def refuse_records(
    typed: Iterable[str], inputs: Mapping[str, str | None], corpora: Callable[[], Iterable[str]]
) -> tuple[str, ...]:
    """The files of `--record NAME=FILE`; raises UsageError for one that is read, or is another file's name.

    An older run is replaced wherever it is, unless it is an input.
    """
    from cce.usecases.recording import parse_records  # few runs record

    paths = tuple(parse_records(typed).values())
    for place, path in enumerate(paths):
        fault = output_fault(path, RUN_MARK, inputs, corpora)
        if fault is None and any(is_same_file(path, other) for other in paths[:place]):
            fault = "is named for two systems, it takes one"
        if fault is not None:
            raise UsageError(f"--record {on_one_line(path)}: {fault}, name another file")
    return paths


def is_foreign(path: str, mark: Mark | None) -> bool:
    """Whether `path` is a regular file with something in it that does not begin as `mark` says."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        with open(path, "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return False
    except (OSError, ValueError):  # it exists and cannot be read
        return os.path.isfile(path)
    return bool(text) and (mark is None or re.match(mark, text) is None)


def is_same_file(a: str, b: str) -> bool:
    """Whether two paths are one file, through links, `..`, letter case or hard links."""
    if identity(a) == identity(b):
        return True
    with contextlib.suppress(OSError, ValueError):
        return os.path.samefile(a, b)
    return False


def identity(path: str) -> str:
    """The canonical spelling of a path, whether or not the file exists."""
    try:
        return os.path.normcase(os.path.realpath(path))
    except (OSError, ValueError):  # a loop of links, a NUL: such a path is refused when it is checked
        return path


def warn_of_indexed(directory: str | None, written: Mapping[str, str]) -> None:
    """Warn of each file just written that the next run over `directory` indexes; nouns by path."""
    if directory is None or not written:
        return

    from cce.retrieval.corpus.membership import notices_of_written

    with contextlib.suppress(CorpusError):  # the run itself has succeeded
        for notice in notices_of_written(directory, written):
            warn(notice)


def _has_file(corpus: str, path: str) -> bool:
    from cce.retrieval.corpus.membership import has_file

    try:
        return has_file(corpus, path)
    except (CorpusError, OSError):  # then the run itself fails, with a better reason
        return False
