"""Labels that give the answer away: a query that quotes its own file's name, or its own answer.

Such a case tests whether a backend can find a copied string, which all of them can.
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
"""So many words in a row are a quotation."""

_N_READ = 64
_N_SEARCHED = 64  # more runs than that are looked up, not searched for
_N_TEXTS_KEPT = 1024

Run = tuple[bytes, ...]


def quoted_file_name(query: str, anchors: Sequence[Anchor]) -> str | None:
    """The first base name of an anchor's file that `query` holds as a word, in any case."""
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
    """Finds the chunk whose words a query repeats."""

    def __init__(self, index: SearchedIndex) -> None:
        """The index' postings are asked for only when a case matches very many chunks."""
        self._index = index
        self._words = lru_cache(_N_TEXTS_KEPT)(
            lambda position: b" %s " % b" ".join(tokenize(index.chunks[position].content))
        )

    def quoted(self, query: str, matched: Sequence[IntVector]) -> tuple[int, str] | None:
        """(position of a matched chunk, the words that `query` takes from it in a row); None without."""
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
        """The few chunks to read: all that match, or of very many those that hold all words of a run."""
        positions = np.unique(np.concatenate(matched))
        if len(positions) > _N_READ:
            holding = [self._holding(run, positions) for run in sorted(runs)]
            positions = np.unique(np.concatenate(holding))[:_N_READ]
        return [int(position) for position in positions]

    def _holding(self, run: Run, positions: IntVector) -> IntVector:
        postings = [self._index.postings.of_token(token)[0] for token in set(run)]
        for holders in sorted(postings, key=len):
            positions = np.intersect1d(positions, holders, assume_unique=True)
        return positions


def _first_run(words: bytes, runs: set[Run]) -> Run | None:
    """The first of `runs`, in byte order or in that of the text, which stands in `words`."""
    if len(runs) <= _N_SEARCHED:
        return next((run for run in sorted(runs) if b" %s " % b" ".join(run) in words), None)
    tokens = words.split()
    windows = (tuple(tokens[start : start + N_WORDS]) for start in range(len(tokens) - N_WORDS + 1))
    return next((run for run in windows if run in runs), None)
