"""What is odd about a fixture set beside a corpus: warnings that never change a score.

A FixtureSet and what is indexed enter, one-line texts leave; whoever prints them puts `warning:`
in front. What breaks a fixture set is an error and lives in `fixtures`.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from functools import cached_property
from itertools import islice

from cce.domain.anchor import Anchor
from cce.domain.case import FixtureSet
from cce.quoting import on_one_line, quoted
from cce.tokens import tokenize

_N_SHOWN = 5
_MAX_BARE_ID = 60
# Compiled when first used: most sets have no such anchor.
_NOT_LAST_RANGE = r"(?s)(.*)@([0-9]+-[0-9]+)"
_OUTSIDE = r"(?:[A-Za-z]:(?=/))?/*(?:\.\./)*"


def notices(
    fixtures: FixtureSet,
    files: Mapping[str, Set[str]],
    why_absent: Callable[[str], str | None],
) -> list[str]:
    """Warnings about `fixtures`, each starting with its path; empty when nothing is odd.

    files       every indexed path -> the kinds of its chunks
    why_absent  path -> why it is not indexed (`ignored`, ...), None when it does not exist
    """
    place = on_one_line(fixtures.path)
    texts = (
        _unmatched_anchors(fixtures, IndexedNames(files, why_absent)) if files else _EMPTY_CORPUS,
        _repeated_ids(fixtures),
        _wordless_queries(fixtures),
    )
    return [f"{place}: {text}" for text in texts if text]


_EMPTY_CORPUS = (
    "the corpus has no indexable file, so nothing can be found: check --dir or the header's corpus"
)


class IndexedNames:
    """What is indexed, and why an anchor matches none of it. Costly tables are made when first needed."""

    def __init__(self, files: Mapping[str, Set[str]], why_absent: Callable[[str], str | None]) -> None:
        self._files = files
        self._why_absent = why_absent

    def has(self, anchor: Anchor) -> bool:
        """Whether any chunk has the anchor's path and kind; its lines are not looked at."""
        if anchor.path is None:
            return anchor.kind in self._kinds
        kinds = self._files.get(anchor.path)
        return kinds is not None and (anchor.kind is None or anchor.kind in kinds)

    def why_not(self, anchor: Anchor) -> str:
        """Why `has` is false for `anchor`, and how to write it if that can be told."""
        if anchor.path is None or anchor.path in self._files:
            return self._why_no_kind(anchor)
        return (
            self._misplaced_part(anchor, anchor.path)
            or ("a directory, name a file in it" if anchor.path.rstrip("/") in self._directories else None)
            or self._misspelled_path(anchor.path)
            or self._why_absent(anchor.path)
            or self._wrong_case(anchor.path)
            or "not there"
        )

    def _why_no_kind(self, anchor: Anchor) -> str:
        if anchor.path is not None:
            kinds = sorted(self._files[anchor.path])
            listed = _first_few(iter(kinds), len(kinds))
            return f"no such kind in this file, it has {listed}" if kinds else "no chunk in this file"
        import difflib  # only a slip of the pen needs it

        kind = anchor.kind or ""
        nearest = difflib.get_close_matches(kind, sorted(self._kinds), n=1)
        return "no such kind anywhere" + (f", did you mean {quoted(nearest[0])}?" if nearest else "")

    def _misplaced_part(self, anchor: Anchor, path: str) -> str | None:
        """A range in front of the kind, or a `#` that was meant as part of the path."""
        if anchor.kind is None:
            return None
        ranged = re.fullmatch(_NOT_LAST_RANGE, path)
        if ranged:
            return f"the range goes last, write {quoted(f'{ranged[1]}#{anchor.kind}@{ranged[2]}')}"
        if "/" in anchor.kind or "\\" in anchor.kind or f"{path}#{anchor.kind}" in self._files:
            return (
                f"the first '#' ends the path, so this asks for kind {quoted(anchor.kind)} in {quoted(path)}"
            )
        return None

    def _misspelled_path(self, path: str) -> str | None:
        """A path that no index can hold: not relative to the corpus, not normal, or with backslashes."""
        slashed = path.replace("\\", "/")
        normal = posixpath.normpath(slashed)
        normal = re.sub(_OUTSIDE, "", normal, count=1)
        if normal == path:
            return None
        if normal in self._files:
            return f"write {quoted(normal)}"
        return "write it relative to the corpus with '/' between the parts"

    def _wrong_case(self, path: str) -> str | None:
        right = self._by_folded_path.get(path.casefold())
        return None if right is None else f"wrong case, write {quoted(right)}"

    @cached_property
    def _kinds(self) -> Set[str]:
        return frozenset().union(*self._files.values())

    @cached_property
    def _directories(self) -> Set[str]:
        return {path[:end] for path in self._files for end, character in enumerate(path) if character == "/"}

    @cached_property
    def _by_folded_path(self) -> Mapping[str, str]:
        return {path.casefold(): path for path in self._files}


def _unmatched_anchors(fixtures: FixtureSet, corpus: IndexedNames) -> str | None:
    anchors = [(case.id, anchor) for case in fixtures.cases for anchor in case.anchors]
    lost = [(case_id, anchor) for case_id, anchor in anchors if not corpus.has(anchor)]
    if not lost:
        return None
    described = (
        f"{_name(case_id)} {quoted(anchor.text)} ({on_one_line(corpus.why_not(anchor))})"
        for case_id, anchor in lost
    )
    few = _first_few(described, len(lost))
    return f"{len(lost)} of {len(anchors)} anchors match nothing in this corpus: {few}"


def _repeated_ids(fixtures: FixtureSet) -> str | None:
    lines_by_id: defaultdict[str, list[int]] = defaultdict(list)
    for case in fixtures.cases:
        lines_by_id[case.id].append(case.line)
    repeated = {case_id: lines for case_id, lines in lines_by_id.items() if len(lines) > 1}
    if not repeated:
        return None
    described = (
        f"{quoted(case_id)} (lines {_first_few(map(str, lines), len(lines))})"
        for case_id, lines in repeated.items()
    )
    return f"ids used more than once, give each case its own: {_first_few(described, len(repeated))}"


def _wordless_queries(fixtures: FixtureSet) -> str | None:
    wordless = [case for case in fixtures.cases if not tokenize(case.query.encode())]
    if not wordless:
        return None
    described = (f"{_name(case.id)} {quoted(case.query)} (line {case.line})" for case in wordless)
    return (
        "queries without a single token (a run of A-Z, a-z, 0-9 or _), which find nothing:"
        f" {_first_few(described, len(wordless))}"
    )


def _first_few(texts: Iterator[str], n_texts: int) -> str:
    """The first few of `n_texts` texts; the others are never made."""
    return ", ".join(islice(texts, _N_SHOWN)) + (", …" if n_texts > _N_SHOWN else "")


def _name(case_id: str) -> str:
    """A case's id: bare when it can be read at a glance, else quoted."""
    return case_id if 0 < len(case_id) <= _MAX_BARE_ID and case_id.isprintable() else quoted(case_id)
