"""Between numpy and flat sequences, and one vocabulary for very many terms."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.flat import Ints
from cce.retrieval.token_counts import TokenCounts

IntVector = NDArray[np.int64]

# Sorting the terms takes as long as a look at so many times as many.
_MOST_TERMS_A_POSTING = 16


def flat(typecode: str, numbers: NDArray[np.int64]) -> array[int]:
    """The same numbers as the standard library holds them, which pickles as bytes."""
    return array(typecode, numbers.astype(np.dtype(typecode), copy=False).tobytes())


class SharedVocabulary:
    """One vocabulary, in first-seen order, for counts that are to be merged.

    It grows with the counts that are adopted, and is the `vocabulary` of each of them: to merge such
    counts, or to send them together, no word is looked at again.
    """

    def __init__(self) -> None:
        self._words: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def adopt(self, counts: TokenCounts) -> TokenCounts:
        """The same counts over the shared vocabulary."""
        return self._renamed(counts, self._number(counts.vocabulary))

    def adopt_all(self, parts: Sequence[TokenCounts]) -> list[TokenCounts]:
        """As `adopt`; of a vocabulary that several parts share every word is looked up once."""
        numbers: dict[int, IntVector] = {}
        for part in parts:
            if id(part.vocabulary) not in numbers:
                numbers[id(part.vocabulary)] = self._number(part.vocabulary)
        return [self._renamed(part, numbers[id(part.vocabulary)]) for part in parts]

    def _number(self, vocabulary: Sequence[bytes]) -> IntVector:
        """int64[n]: the shared number of each word."""
        known = self._numbers
        new = [word for word in vocabulary if word not in known]
        known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
        self._words += new
        return np.fromiter(map(known.__getitem__, vocabulary), np.int64, len(vocabulary))

    def _renamed(self, counts: TokenCounts, numbers: IntVector) -> TokenCounts:
        return counts._replace(vocabulary=self._words, terms=flat("i", numbers[np.asarray(counts.terms)]))


def renumbered(parts: Sequence[TokenCounts]) -> list[TokenCounts]:
    """The same counts, all over one vocabulary in first-seen order."""
    return SharedVocabulary().adopt_all(parts)


def used_terms(terms: Ints, n_terms: int) -> tuple[Sequence[int], Ints]:
    """Of the terms below `n_terms` those that occur, ascending, and i[n]: the place of each among them."""
    taken: NDArray[np.int64] = np.asarray(terms)
    if n_terms > _MOST_TERMS_A_POSTING * len(taken):
        used, places = np.unique(taken, return_inverse=True)
        return used.tolist(), flat("i", places)
    is_used = np.zeros(n_terms, bool)
    is_used[taken] = True
    return np.flatnonzero(is_used).tolist(), flat("i", (np.cumsum(is_used) - 1)[taken])
