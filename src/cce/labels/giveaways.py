"""Labels that give the answer away: the query quotes the name of its file, or the text of its answer.

Such a case only tests whether a backend finds a copied string, which all of them do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cce.domain.anchor import Anchor
from cce.domain.ranking import Chunk
from cce.tokens import tokenize

if TYPE_CHECKING:
    from cce.labels.coverage import IntVector

N_WORDS = 8
"""Words in a row that count as a quotation; shorter runs occur by chance, as in "return the value of the"."""

_MAX_CHUNKS_READ = 64
_MAX_RUNS_SEARCHED = 64  # more runs are looked up in a set of all windows of the text
_MAX_TEXTS_KEPT = 1024

Run = tuple[bytes, ...]


def quoted_file_name(query: str, anchors: Sequence[Anchor]) -> str | None:
    """The first base name of an anchor's file that `query` contains as a word, whatever its case."""
    folded = query.casefold()
    names = (anchor.path.rpartition("/")[2] for anchor in anchors if anchor.path is not None)
    return next((name for name in names if _holds_word(folded, name.casefold())), None)


def _holds_word(text: str, word: str) -> bool:
    position = text.find(word) if word else -1
    while position >= 0:
        before, after = text[position - 1 : position], text[position + len(word) :][:1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        position = text.find(word, position + 1)
    return False


class ReadPostings(Protocol):
    """Which chunks hold a token."""

    def of_token(self, token: bytes) -> tuple[IntVector, IntVector]:
        """(positions of the chunks, ascending, and how often each holds it)."""


class SearchedIndex(Protocol):
    """The read side of an index."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All chunks in index order."""

    @property
    def postings(self) -> ReadPostings:
        """Token counts of every chunk; built when first asked for."""


class QuotedAnswers:
    """Finds the chunk that a query quotes."""

    def __init__(self, index: SearchedIndex) -> None:
        """The postings of `index` are used only for cases that match very many chunks."""
        self._index = index
        self._words = lru_cache(_MAX_TEXTS_KEPT)(
            lambda position: b" %s " % b" ".join(tokenize(index.chunks[position].content))
        )

    def quoted(self, query: str, matched: Sequence[IntVector]) -> tuple[int, str] | None:
        """(position of a matched chunk, the words in a row that `query` takes from it), or None."""
        words = tokenize(query.encode())
        runs = {tuple(words[start : start + N_WORDS]) for start in range(len(words) - N_WORDS + 1)}
        if not runs or not matched:
            return None
        for position in self._worth_reading(runs, matched):
            run = _first_run(self._words(position), runs)
            if run is not None:
                return position, b" ".join(run).decode()
        return None

    def _worth_reading(self, runs: set[Run], matched: Sequence[IntVector]) -> list[int]:
        """The chunks to read: all matched ones, or if these are many those with all words of a run."""
        positions = np.unique(np.concatenate(matched))
        if len(positions) > _MAX_CHUNKS_READ:
            holding = [self._holding(run, positions) for run in sorted(runs)]
            positions = np.unique(np.concatenate(holding))[:_MAX_CHUNKS_READ]
        return [int(position) for position in positions]

    def _holding(self, run: Run, positions: IntVector) -> IntVector:
        postings = [self._index.postings.of_token(token)[0] for token in set(run)]
        for holders in sorted(postings, key=len):
            positions = np.intersect1d(positions, holders, assume_unique=True)
        return positions


def _first_run(words: bytes, runs: set[Run]) -> Run | None:
    """The first of `runs` that `words` contains: in byte order, or for many runs in the order of the text."""
    if len(runs) <= _MAX_RUNS_SEARCHED:
        return next((run for run in sorted(runs) if b" %s " % b" ".join(run) in words), None)
    tokens = words.split()
    windows = (tuple(tokens[start : start + N_WORDS]) for start in range(len(tokens) - N_WORDS + 1))
    return next((run for run in windows if run in runs), None)
