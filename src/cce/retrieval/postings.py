"""Postings: which chunk holds which token how often, in flat arrays.

Texts enter in index order; per term its chunks leave in ascending order. bm25 scores by them and the
hash embedder sums them, so every text is tokenised once.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from cce.tokens import tokenize

IntVector = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Term t occurs in `chunks[starts[t]:starts[t + 1]]`, as often as `counts` says at the same place.

    vocabulary  token -> term, terms numbered in first-seen order
    starts      int64[n_terms + 1]
    chunks      int64[n_postings]; chunk positions, ascending within a term
    counts      int64[n_postings]; at least 1
    lengths     int64[n_chunks]; tokens of each chunk, repeats counted
    """

    vocabulary: dict[bytes, int]
    starts: IntVector
    chunks: IntVector
    counts: IntVector
    lengths: IntVector

    def of_token(self, token: bytes) -> tuple[IntVector, IntVector]:
        """(chunk positions, counts) of one token; both empty if no chunk holds it."""
        term = self.vocabulary.get(token)
        if term is None:
            return self.chunks[:0], self.counts[:0]
        span = slice(self.starts[term], self.starts[term + 1])
        return self.chunks[span], self.counts[span]


def build_postings(texts: Iterable[bytes]) -> Postings:
    """Tokenise every text; cost grows with their bytes."""
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    occurrences, lengths = array("q"), array("q")
    for text in texts:
        tokens = tokenize(text)
        lengths.append(len(tokens))
        occurrences.extend(map(numbering.__getitem__, tokens))
    return _group(dict(numbering), np.array(occurrences, np.int64), np.array(lengths, np.int64))


def _group(vocabulary: dict[bytes, int], terms: IntVector, lengths: IntVector) -> Postings:
    n_chunks = max(len(lengths), 1)
    # One integer per occurrence sorts by term, then by chunk; equal ones are one posting.
    occurrences = terms * n_chunks + np.repeat(np.arange(len(lengths)), lengths)
    occurrences.sort()
    is_first = np.ones(len(occurrences), bool)
    np.not_equal(occurrences[1:], occurrences[:-1], out=is_first[1:])
    firsts = np.flatnonzero(is_first)
    posted_terms, chunks = np.divmod(occurrences[firsts], n_chunks)
    return Postings(
        vocabulary,
        starts=np.searchsorted(posted_terms, np.arange(len(vocabulary) + 1)),
        chunks=chunks,
        counts=np.diff(firsts, append=len(occurrences)),
        lengths=lengths,
    )
