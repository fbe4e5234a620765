"""Between numpy and flat sequences, and the renaming of very many terms."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.counting.flat import Ints
from cce.retrieval.counting.token_counts import TokenCounts

# Sorting n terms takes about as long as marking and summing up a table of 16 n.
_MAX_TERMS_PER_POSTING = 16


def flat(typecode: str, numbers: NDArray[np.int64]) -> array[int]:
    """The same numbers as the standard library holds them, which pickles as bytes."""
    return array(typecode, numbers.astype(np.dtype(typecode), copy=False).tobytes())


def renamed(terms: Ints, numbers: Ints) -> Ints:
    """i[n]: `numbers[term]` for every term; both are i."""
    taken: NDArray[np.int64] = np.asarray(numbers)[np.asarray(terms)]
    return flat("i", taken)


def without_unused_words(counts: TokenCounts) -> TokenCounts:
    """The same counts, over the tokens that occur in them."""
    used, terms = used_terms(counts.terms, len(counts.vocabulary))
    return counts._replace(vocabulary=[counts.vocabulary[term] for term in used], terms=terms)


def used_terms(terms: Ints, n_terms: int) -> tuple[Sequence[int], Ints]:
    """Of the terms below `n_terms` those that occur, ascending, and i[n]: the place of each among them."""
    taken: NDArray[np.int64] = np.asarray(terms)
    if n_terms > _MAX_TERMS_PER_POSTING * len(taken):
        used, places = np.unique(taken, return_inverse=True)
        return used.tolist(), flat("i", places)
    is_used = np.zeros(n_terms, bool)
    is_used[taken] = True
    return np.flatnonzero(is_used).tolist(), flat("i", (np.cumsum(is_used) - 1)[taken])
