"""The import graph: imported names resolved to files of the corpus.

A name resolves to the first file, in path order, whose base name without its last extension equals
it, else to the first whose path ends in `<name>.py` or `<name>.js`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from cce.retrieval.chunking.imports import without_extension

_SUFFIXES = (".py", ".js")


class ImportGraph:
    """Neighbours of files in both directions; no file is its own neighbour."""

    def __init__(self, paths: Sequence[str], file_imports: Mapping[str, Sequence[str]]) -> None:
        """`paths` in path order; `file_imports` maps a path to the names it imports."""
        resolver = _Resolver(paths)
        self._neighbours: dict[str, set[str]] = {}
        for importer, names in file_imports.items():
            for imported in map(resolver.resolve, names):
                if imported is not None and imported != importer:
                    self._neighbours.setdefault(importer, set()).add(imported)
                    self._neighbours.setdefault(imported, set()).add(importer)

    def neighbours(self, path: str) -> list[str]:
        """Files that `path` imports or that import it, in path order."""
        return sorted(self._neighbours.get(path, ()))


class _Resolver:
    """Finds the file behind a name without walking over all paths for each name."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._by_stem: dict[str, int] = {}
        for position, path in enumerate(paths):
            self._by_stem.setdefault(without_extension(path.rpartition("/")[2]), position)
        # Sorted by reversed path, all that end alike stand together.
        endings = sorted((p[::-1], i) for i, p in enumerate(paths) if p.endswith(_SUFFIXES))
        self._reversed = [reversed_path for reversed_path, _ in endings]
        self._positions = [position for _, position in endings]
        self._known: dict[str, str | None] = {}

    def resolve(self, name: str) -> str | None:
        if name not in self._known:
            position = self._by_stem.get(name)
            if position is None:
                position = min((p for s in _SUFFIXES for p in self._ending_in(name + s)), default=None)
            self._known[name] = None if position is None else self._paths[position]
        return self._known[name]

    def _ending_in(self, suffix: str) -> list[int]:
        # Reversed, `lib/util.py` is `yp.litu/bil` and `my_util.py` is `yp.litu_ym`: sorted, all paths that
        # end in `util.py` are neighbours, those whose first letters are `yp.litu`.
        beginning = suffix[::-1]

        def cut(reversed_path: str) -> str:
            return reversed_path[: len(beginning)]

        low = bisect_left(self._reversed, beginning, key=cut)
        high = bisect_right(self._reversed, beginning, lo=low, key=cut)
        return self._positions[low:high]
