"""Where a result is: what a system says goes in, a place of the corpus comes out, its lines checked and cut.

Files are read from the index when a result first names them, so the cost is linear in files and results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NoReturn

from cce.domain.outside import OutsideResult
from cce.domain.ranking import Chunk, Location, Ranking
from cce.quoting import quoted, shown_integer
from cce.retrieval.external.paths import PathReader
from cce.retrieval.external.places import FilePlaces
from cce.retrieval.indexing.index import Index


class BadResultError(Exception):
    """What is wrong with one result, in words."""


class Locator:
    """Locates the results of one system in one index; `index` is None where there is no corpus."""

    def __init__(
        self, index: Index | None, root: str | None, folder: str | None, labelled: Collection[str]
    ) -> None:
        """`root` and `folder` as for PathReader; `labelled` are the known files where there is no corpus."""
        self._index = index
        is_file: Callable[[str], bool] = {*labelled}.__contains__ if index is None else index.has_file
        self._paths = PathReader(is_file, None if index is None else index.root, root, folder)
        self._files: dict[str, FilePlaces] = {}
        # Many queries find the same places, and one object serves all of them.
        self._located: dict[tuple[str, int | None, int | None, str | None], Location] = {}

    def locate(self, result: OutsideResult) -> Location:
        """Where `result` is, as far as the corpus or the labels tell; raises BadResultError."""
        if result.text is not None:
            return self._locate(result)
        key = result.path, result.start, result.end, result.kind
        location = self._located.get(key)
        if location is None:
            location = self._located[key] = self._locate(result)
        return location

    def _locate(self, result: OutsideResult) -> Location:
        reading = self._paths.read(result.path)
        first, last = _lines(result, reading.lines)
        if self._index is None:
            return Location(reading.path, first, last, result.kind, result.text)
        outside = Location(result.path, first, last, result.kind, result.text, is_outside=True)
        return self._in_file(self._index, reading.path, outside) if reading.is_known else outside

    def _in_file(self, index: Index, path: str, said: Location) -> Location:
        file = self._file(index, path)
        first, last = said.start_line, said.end_line
        if first is None or last is None:
            first, last = 1, file.last_line
        elif file.n_lines is not None:
            last = min(last, file.n_lines)
        if last < first:
            # It begins behind the end of the file, as in a stale index; or the file has no known line.
            return said if said.start_line is not None else said._replace(file_path=path, is_outside=False)
        # The corpus has the text of its chunks, and 100,000 results need not hold it again.
        text = None if said.text is None or file.has_text(first, last) else said.text
        return Location(path, first, last, said.kind, text, likeness=file.likeness(first, last))

    def file_of(self, location: Location) -> FilePlaces | None:
        """The places of the file that `location` is in; None where no corpus holds it."""
        if self._index is None or location.is_outside:
            return None
        return self._file(self._index, location.file_path)

    def _file(self, index: Index, path: str) -> FilePlaces:
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = FilePlaces(index, path)
        return file

    def chunk(self, position: int) -> Chunk:
        """The chunk at a position of the index."""
        if self._index is None:
            raise ValueError("without a corpus there are no chunks")
        return self._index.chunks[position]

    @property
    def has_corpus(self) -> bool:
        """Whether there is an index to look places up in."""
        return self._index is not None


def with_corpus_text(ranking: Ranking, index: Index) -> Ranking:
    """`ranking` with the text of the corpus in every location that has any there, to be shown."""
    return tuple(
        hit if isinstance(hit.chunk, Chunk) else hit._replace(chunk=_with_text(hit.chunk, index))
        for hit in ranking
    )


def _with_text(location: Location, index: Index) -> Location:
    text = corpus_text(location, index)
    return location._replace(text=text) if text else location


def corpus_text(location: Location, index: Index) -> str | None:
    """The text of the corpus at `location`; None where it has no lines there."""
    if location.start_line is None or location.end_line is None:
        return None
    text = index.text(location.file_path, location.start_line, location.end_line)
    return text.decode("utf-8", "replace") if text else None


def _lines(result: OutsideResult, of_path: tuple[int, int] | None) -> tuple[int | None, int | None]:
    """First and last line that a result names, or that the tail of its path names; raises BadResultError."""
    first, last = result.start, result.end
    if first is None and last is None and of_path is not None:
        first, last = of_path
    if first is None and last is None:
        return None, None
    if first is None or last is None:
        _fail(result, "has only one end of its lines: give start and end, or neither")
    if first < 1:
        _fail(result, f"starts at line {shown_integer(first)}: lines count from 1")
    if last < first:
        _fail(
            result,
            f"ends at line {shown_integer(last)}, before its start at {shown_integer(first)}: "
            "lines are inclusive, start first",
        )
    return first, last


def _fail(result: OutsideResult, fault: str) -> NoReturn:
    raise BadResultError(f"{quoted(result.path)} {fault}")
