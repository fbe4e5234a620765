"""Planted edits: a corpus whose every line is known by name, so that nobody can take it for its twin."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Line = tuple[int, bytes]
"""Which line it is, and its text without the line feed."""


@dataclass
class Corpus:
    """The files of a directory as numbered lines; edits keep the numbers."""

    files: dict[str, list[Line]]
    next_number: int = 0
    dirty: set[str] = field(default_factory=set)
    sources: dict[int, int] = field(default_factory=dict)
    """Of a line that an edit copied: which one it was copied from."""

    @classmethod
    def read(cls, root: Path, paths: list[str]) -> Corpus:
        corpus = cls({})
        for path in paths:
            # A final line end opens no further line: there would be nothing that a range could cover.
            corpus.files[path] = corpus.number((root / path).read_bytes().removesuffix(b"\n").split(b"\n"))
        return corpus

    def number(self, texts: list[bytes]) -> list[Line]:
        start = self.next_number
        self.next_number += len(texts)
        return [(start + offset, text) for offset, text in enumerate(texts)]

    def write(self, root: Path) -> None:
        for path in self.dirty:
            target = root / path
            if path in self.files:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(b"".join(text + b"\n" for _, text in self.files[path]))
            else:
                target.unlink(missing_ok=True)

    def numbers(self, path: str, first: int, last: int) -> tuple[int, ...]:
        return tuple(number for number, _ in self.files.get(path, [])[first - 1 : last])

    def place(self, numbers: tuple[int, ...]) -> tuple[str, int] | None:
        """Where exactly these lines stand in a row now."""
        for path, lines in self.files.items():
            for start, (number, _) in enumerate(lines):
                if number == numbers[0]:
                    found = tuple(number for number, _ in lines[start : start + len(numbers)])
                    return (path, start + 1) if found == numbers else None
        return None

    def are_copies(self, numbers: tuple[int, ...], originals: tuple[int, ...]) -> bool:
        """Whether an edit copied these lines, blank ones aside, from those, which stand nowhere in a row now.

        Cut and pasted by hand it would be the same text in the same place: nobody could see the
        difference, so this is neither following a text rightly nor taking another one for it.
        """
        texts = dict(line for lines in self.files.values() for line in lines)
        said = [number for number in numbers if texts[number].strip()]
        return self.place(originals) is None and all(self.sources.get(number) in originals for number in said)


def plant(corpus: Corpus, draw: random.Random, targets: list[tuple[str, int, int]], n_edits: int) -> None:
    """`n_edits` edits in files that have targets: (path, first, last) of pinned ranges."""
    numbers = [corpus.numbers(*target) for target in targets]
    kinds: list[Callable[[Corpus, random.Random, tuple[int, ...]], None]] = [insert, move, rename, delete]
    for _ in range(n_edits):
        draw.choice(kinds)(corpus, draw, draw.choice(numbers))


def insert(corpus: Corpus, draw: random.Random, numbers: tuple[int, ...]) -> None:
    """New lines somewhere in the target's file, some of them copies of lines that are there."""
    place = corpus.place(numbers)
    if place is None:
        return
    lines = corpus.files[place[0]]
    new: list[Line] = []
    for _ in range(draw.randint(1, 6)):
        source, text = draw.choice([(None, b""), (None, b"    pass"), (None, b"# new"), draw.choice(lines)])
        new += corpus.number([text])
        if source is not None:
            corpus.sources[new[-1][0]] = source
    position = draw.randint(0, len(lines))
    lines[position:position] = new
    corpus.dirty.add(place[0])


def move(corpus: Corpus, draw: random.Random, numbers: tuple[int, ...]) -> None:
    """The target, perhaps with neighbours, to another place of its file or of another one."""
    place = corpus.place(numbers)
    if place is None:
        return
    path, first = place
    margin = draw.choice([0, 0, 1, 5, 20])
    start, end = max(0, first - 1 - margin), first - 1 + len(numbers) + margin
    block = corpus.files[path][start:end]
    del corpus.files[path][start:end]
    target = draw.choice([path, draw.choice(list(corpus.files))])
    lines = corpus.files[target]
    position = draw.randint(0, len(lines))
    lines[position:position] = block
    corpus.dirty |= {path, target}


def rename(corpus: Corpus, draw: random.Random, numbers: tuple[int, ...]) -> None:
    """The target's file under a new name."""
    place = corpus.place(numbers)
    if place is not None:
        path = place[0]
        new = f"renamed/{draw.randrange(10**9)}_{path.rpartition('/')[2]}"
        corpus.files[new] = corpus.files.pop(path)
        corpus.dirty |= {path, new}


def delete(corpus: Corpus, draw: random.Random, numbers: tuple[int, ...]) -> None:
    """Lines of the target's file: the target itself, or some anywhere."""
    place = corpus.place(numbers)
    if place is None:
        return
    path, first = place
    start, n_lines = first - 1, len(numbers)
    if draw.random() < 0.8:
        start, n_lines = draw.randrange(len(corpus.files[path])), draw.randint(1, 8)
    del corpus.files[path][start : start + n_lines]
    corpus.dirty.add(path)
