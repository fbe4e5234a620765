"""Why an anchor matches no chunk, and which existing names are like it."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from heapq import nsmallest

from cce.domain.anchor import Anchor, LineRange
from cce.domain.ranking import Chunk
from cce.labels.coverage import AnchoredChunks
from cce.labels.tracking.texts import AnchoredTexts
from cce.measurement.fixtures.notices import IndexedNames
from cce.quoting import on_one_line, quoted

_ABSENT = "not there"
_N_NEAREST = 3
_MAX_SEARCHES = 20
"""How many missing names are compared with all names: each takes about 0.1 s with 10,000 files."""


class Misses:
    """Explains anchors that match nothing in one index."""

    def __init__(
        self, chunks: AnchoredChunks, texts: AnchoredTexts, why_absent: Callable[[str], str | None]
    ) -> None:
        """`why_absent` gives the reason why a path is not indexed, None if there is no such file."""
        self._chunks = chunks
        self._texts = texts
        kinds: dict[str, set[str]] = {}
        for chunk in chunks.chunks:
            kinds.setdefault(chunk.file_path, set()).add(chunk.kind)
        self._files = IndexedNames(kinds, why_absent)
        self._alike: dict[str, list[str]] = {}

    def reason(self, anchor: Anchor) -> str:
        """Why `anchor` matches no chunk; call it only if it matches none."""
        if not self._files.has(anchor):
            reason = on_one_line(self._files.why_not(anchor))
            return reason + self._hint(anchor.path or "") if reason == _ABSENT else reason
        if anchor.path is None or anchor.lines is None:
            return _ABSENT
        lines = self._texts.lines(anchor.path)
        # Without files, as in a store, nobody knows where a file ends.
        if lines is not None and anchor.lines.first > len(lines):
            return f"the file ends at line {len(lines)}"
        return self._between_chunks(anchor, anchor.path, anchor.lines)

    def _between_chunks(self, anchor: Anchor, path: str, span: LineRange) -> str:
        without_lines = Anchor(anchor.text, path, anchor.kind, None)
        chunks = [self._chunks.chunks[position] for position in self._chunks.matched(without_lines)]
        nearest = min(chunks, key=lambda chunk: _distance(chunk, span))
        noun = "chunk" if anchor.kind is None else f"{quoted(anchor.kind)}"
        return (
            f"no {noun} of this file touches these lines, the nearest is"
            f" {nearest.start_line}-{nearest.end_line}"
        )

    def _hint(self, path: str) -> str:
        names = self._nearest_paths(path)
        return f"; did you mean {' or '.join(map(quoted, names))}?" if names else ""

    def _nearest_paths(self, path: str) -> list[str]:
        folder, _, name = path.rpartition("/")
        moved = self._paths_by_name.get(name)
        if moved:
            return nsmallest(_N_NEAREST, moved, key=lambda other: -_n_common_parts(path, other))
        beside = [other.rpartition("/")[2] for other in self._paths_by_folder.get(folder, ())]
        alike = difflib.get_close_matches(name, beside, n=_N_NEAREST)
        if alike:
            return [f"{folder}/{other}" if folder else other for other in alike]
        return [path for other in self._names_like(name) for path in self._paths_by_name[other]][:_N_NEAREST]

    def _names_like(self, name: str) -> list[str]:
        if name not in self._alike and len(self._alike) < _MAX_SEARCHES:
            self._alike[name] = difflib.get_close_matches(name, self._paths_by_name, n=_N_NEAREST)
        return self._alike.get(name, [])

    @cached_property
    def _paths(self) -> list[str]:
        return sorted(self._chunks.positions_by_file)

    @cached_property
    def _paths_by_name(self) -> dict[str, list[str]]:
        return _grouped((path.rpartition("/")[2], path) for path in self._paths)

    @cached_property
    def _paths_by_folder(self) -> dict[str, list[str]]:
        return _grouped((path.rpartition("/")[0], path) for path in self._paths)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def _n_common_parts(path: str, other: str) -> int:
    """The number of parts that two paths share, in any order."""
    return len(set(path.split("/")) & set(other.split("/")))


def _distance(chunk: Chunk, span: LineRange) -> int:
    """The number of lines between a chunk and a range; they do not overlap."""
    return max(chunk.start_line - span.last, span.first - chunk.end_line)
