"""Postings: which chunk holds which token how often, in flat arrays.

Token counts enter text after text; per term its chunks leave in ascending order. bm25 scores by
them and the hash embedder sums them, so every text is tokenised once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.counting.arrays.counting import count_span_tokens
from cce.retrieval.counting.token_counts import TokenCounts

if TYPE_CHECKING:
    from cce.retrieval.counting.arrays.nests import Nests

IntVector = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """Term t occurs in `chunks[starts[t]:starts[t + 1]]`, as often as `counts` says at the same place.

    Where there are nests, these are the chunks' own counts, which `of_token` adds up.

    vocabulary  token -> term
    starts      int64[n_terms + 1]
    chunks      int64[n_postings]; chunk positions, ascending within a term
    counts      int64[n_postings]; at least 1
    lengths     int64[n_chunks]; tokens of each chunk, repeats counted
    nests       the chunks that hold others so deep that only their own tokens are counted; None without
    """

    vocabulary: Mapping[bytes, int]
    starts: IntVector
    chunks: IntVector
    counts: IntVector
    lengths: IntVector
    nests: Nests | None = None

    def span(self, token: bytes) -> slice:
        """Where the postings of one token lie; empty if no chunk holds it."""
        term = self.vocabulary.get(token)
        return slice(0, 0) if term is None else slice(self.starts[term], self.starts[term + 1])

    def of_token(self, token: bytes) -> tuple[IntVector, IntVector]:
        """(chunk positions, counts) of one token; both empty if no chunk holds it."""
        span = self.span(token)
        chunks, counts = self.chunks[span], self.counts[span]
        return (chunks, counts) if self.nests is None else self.nests.totals(chunks, counts)


def build_postings(texts: Iterable[bytes]) -> Postings:
    """Tokenise every text; cost grows with their bytes."""
    return invert(count_span_tokens((text, [(0, len(text))]) for text in texts))


def invert(token_counts: TokenCounts) -> Postings:
    """The postings of texts whose tokens are counted already."""
    text_starts, counts = np.asarray(token_counts.starts), np.asarray(token_counts.counts)
    terms = np.asarray(token_counts.terms)
    n_texts, n_terms = len(text_starts) - 1, len(token_counts.vocabulary)
    chunks = np.repeat(np.arange(n_texts, dtype=np.int64), np.diff(text_starts))
    order = _places_by_term(terms)
    starts = np.zeros(n_terms + 1, np.int64)
    np.cumsum(np.bincount(terms, minlength=n_terms), out=starts[1:])
    totals = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=totals[1:])
    lengths, nests = np.diff(totals[text_starts]), _nests_of(token_counts)
    if nests is not None:
        nests.add_up(lengths)
    return Postings(
        {token: term for term, token in enumerate(token_counts.vocabulary)},
        starts,
        chunks[order],
        counts[order].astype(np.int64),
        lengths,
        nests,
    )


def _nests_of(token_counts: TokenCounts) -> Nests | None:
    if not len(token_counts.reaches):
        return None
    from cce.retrieval.counting.arrays.nests import Nests  # few corpora hold one

    return Nests.of(token_counts.reaches)


def _places_by_term(terms: NDArray[np.int32]) -> IntVector:
    """int64[n_postings]: places in `terms` by ascending term, and in their order within a term.

    Numbers are sorted several times as fast as places are sorted by number, so each place travels in
    the lower half of the number it is sorted by: of the terms 7, 3, 7 the keys are 7 << 32 | 0, 3 << 32 | 1
    and 7 << 32 | 2, and the lower halves of the sorted keys are 1, 0, 2.
    """
    keys = terms.astype(np.int64) << 32
    keys |= np.arange(len(terms), dtype=np.int64)
    keys.sort()
    keys &= 0xFFFFFFFF
    return keys
