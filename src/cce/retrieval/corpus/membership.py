"""Files of ours in a corpus: whether a path is one of its files, and what to say of what we write there.

A baseline or a report in the corpus is text like any other: it is indexed, and found by the very
queries that it holds. That is allowed, but never silent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Protocol

from cce.domain.redaction import Redaction
from cce.retrieval.corpus.rule_lines import rule_of
from cce.retrieval.corpus.source_files import read_raw, walk


def path_in(root: str, path: str) -> str | None:
    """The file that `path` leads to, relative to the directory `root`; None if it is not below it.

    Folders are compared by identity: two names of one folder are the same, in letters of any case.
    """
    try:
        root_status = os.stat(root)
        names = []
        rest = os.path.realpath(path)
        while True:
            rest, name = os.path.split(rest)
            if not name:
                return None
            names.append(name)
            if os.path.samestat(os.stat(rest), root_status):
                return "/".join(reversed(names))
    except (OSError, ValueError):  # ValueError: a NUL in a path
        return None


def has_file(root: str, path: str) -> bool:
    """Whether the file `path` is one that a walk of `root` lists, by whatever name; raises CorpusError."""
    status = os.stat(path)
    if path_in(root, path) is None and status.st_nlink == 1:
        return False
    return any(os.path.samestat(found, status) for found in _statuses(root))


def _statuses(root: str) -> Iterator[os.stat_result]:
    for name in walk(root).paths:
        try:
            yield os.lstat(os.path.join(root, name))
        except OSError:  # gone since the walk
            continue


class IndexedFiles(Protocol):
    """A corpus that was indexed, such as an `IndexedCorpus`."""

    root: str

    def holds(self, path: str) -> bool:
        """Whether the file `path` of the corpus is indexed."""


def notices_of_read(indexed: IndexedFiles, files: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each file of this run that is indexed with the corpus; `files` are nouns by path."""
    found = ((path, noun, path_in(indexed.root, path)) for path, noun in files.items())
    return tuple(
        f"{path}: the {noun} is indexed with the corpus, so it can be a hit itself; "
        f"{_way_out(indexed.root, name)}"
        for path, noun, name in found
        if name is not None and indexed.holds(name)
    )


def notices_of_written(root: str, files: Mapping[str, str]) -> tuple[str, ...]:
    """A line for each file just written that the next run indexes with `root`; `files` are nouns by path."""
    names = {path: name for path in files if (name := path_in(root, path)) is not None}
    if not names:
        return ()
    walked = frozenset(walk(root).paths)
    return tuple(
        f"{path}: the {files[path]} lies in the corpus, so the next run indexes it; {_way_out(root, name)}"
        for path, name in names.items()
        if name in walked and isinstance(read_raw(root, name, Redaction.STANDARD), bytes)
    )


def _way_out(root: str, name: str) -> str:
    return f"keep it out with the line {rule_of(name)} in {os.path.join(root, '.gitignore')}"
