"""Between numpy and flat sequences, and the renaming of very many terms."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.flat import Ints


def flat(typecode: str, numbers: NDArray[np.int64]) -> array[int]:
    """The same numbers as the standard library holds them, which pickles as bytes."""
    return array(typecode, numbers.astype(np.dtype(typecode), copy=False).tobytes())


def renamed(terms: Ints, numbers: Ints) -> Ints:
    """i[n]: `numbers[term]` for every term; both are i."""
    taken: NDArray[np.int64] = np.asarray(numbers)[np.asarray(terms)]
    return flat("i", taken)


def used_terms(terms: Ints) -> tuple[Sequence[int], Ints]:
    """The distinct terms, ascending, and i[n]: the place of each term among them."""
    used, places = np.unique(np.asarray(terms), return_inverse=True)
    return used.tolist(), flat("i", places)
