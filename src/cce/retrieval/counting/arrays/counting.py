"""Counting tokens in arrays: the same counts as `counter.count_span_tokens` gives.

Texts may be spans of others, which may lie in each other, such as a class and its methods: what they
share is tokenised once. Where they lie in each other very deep, `nests` counts them. Work goes on in blocks
of about a megabyte, so that memory does not grow with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from cce.retrieval.counting.arrays.occurrences import IntVector, Occurrences, find_occurrences
from cce.retrieval.counting.arrays.terms import flat, renamed, without_unused_words
from cce.retrieval.counting.token_counts import (
    MANY_BYTES,
    SharedVocabulary,
    SpannedText,
    TokenCounts,
    merge_over,
)

_BLOCK_BYTES = 1 << 20

# How many of its spans an average byte must lie in. In code that people write it is one to three.
_MIN_DEPTH = 8


def count_span_tokens(texts: Iterable[SpannedText]) -> TokenCounts:
    """The token counts of all spans of all texts, in that order; every text is tokenised once."""
    return merge_over(renamed, [_count_block(block) for block in _blocks(texts)])


class SharedCounter:
    """As `count_span_tokens`, call after call over one vocabulary: see `SharedVocabulary`."""

    def __init__(self) -> None:
        self._vocabulary = SharedVocabulary(renamed)

    def __call__(self, texts: Iterable[SpannedText]) -> TokenCounts:
        """The token counts of all spans of all texts, in that order."""
        return self._vocabulary.adopt(count_span_tokens(texts))


def is_nest(text: bytes, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the `spans` of `text` hold it so many times over that they are better counted as a nest."""
    if len(spans) < _MIN_DEPTH:
        return False
    n_bytes = sum(end - start for start, end in spans)
    return n_bytes >= max(MANY_BYTES, _MIN_DEPTH * len(text))


def _blocks(texts: Iterable[SpannedText]) -> Iterator[list[SpannedText]]:
    block: list[SpannedText] = []
    n_bytes = 0
    for text, spans in texts:
        if is_nest(text, spans):
            yield from filter(None, (block, [(text, spans)]))
            block, n_bytes = [], 0
            continue
        block.append((text, spans))
        n_bytes += len(text)
        if n_bytes >= _BLOCK_BYTES:
            yield block
            block, n_bytes = [], 0
    if block:
        yield block


def _count_block(block: Sequence[SpannedText]) -> TokenCounts:
    """The token counts of the spans of a few texts, or of one nest, over the tokens that occur in them."""
    if is_nest(*block[0]):
        from cce.retrieval.counting.arrays.nests import count_nest  # few corpora hold one

        counts = count_nest(*block[0])
        if counts is not None:
            return counts
    # Joined by what is no letter, so that no token reaches from one text into the next.
    joined = b"\n".join(text for text, _ in block)
    offsets = accumulate((len(text) + 1 for text, _ in block), initial=0)
    bounds = [
        (offset + start, offset + end)
        for (_, spans), offset in zip(block, offsets, strict=False)
        for start, end in spans
    ]
    return _count_between(joined, np.array(bounds, np.int64).reshape(-1, 2))


def _count_between(text: bytes, bounds: IntVector) -> TokenCounts:
    """The token counts of `text[start:end]` for every row of `bounds`, int64[n_spans, 2]."""
    found = find_occurrences(text)
    firsts = np.searchsorted(found.ends, bounds[:, 0], side="right")
    lasts = np.searchsorted(found.starts, bounds[:, 1], side="left")
    cutting = _cutting(found, bounds, firsts, lasts)
    if len(cutting):
        return _count_between(*_set_apart(text, bounds, cutting))
    parts = [
        _count_occurrences(found, firsts[group], lasts[group]) for group in _groups(np.cumsum(lasts - firsts))
    ]
    return without_unused_words(merge_over(renamed, parts))  # some words are in no span


def _cutting(found: Occurrences, bounds: IntVector, firsts: IntVector, lasts: IntVector) -> IntVector:
    """The spans that begin or end inside a word, of which they hold a part only."""
    holding = np.flatnonzero(firsts < lasts)
    begins_inside = found.starts[firsts[holding]] < bounds[holding, 0]
    ends_inside = found.ends[lasts[holding] - 1] > bounds[holding, 1]
    cutting: IntVector = holding[begins_inside | ends_inside]
    return cutting


def _set_apart(text: bytes, bounds: IntVector, cutting: IntVector) -> tuple[bytes, IntVector]:
    """The same spans, those that are `cutting` as texts of their own behind `text`."""
    pieces, moved = [text], bounds.copy()
    offset = len(text) + 1
    for position in cutting.tolist():
        start, end = bounds[position].tolist()
        pieces.append(text[start:end])
        moved[position] = offset, offset + end - start
        offset += end - start + 1
    return b"\n".join(pieces), moved


def _groups(sizes: IntVector) -> Iterator[slice]:
    """Spans in groups of about as many tokens as a block has; `sizes` are summed up.

    Spans nest, so that a text may hold many times its own tokens.
    """
    edges = np.flatnonzero(np.diff(sizes // _BLOCK_BYTES, prepend=-1, append=-1))
    yield from (slice(start, end) for start, end in pairwise(edges.tolist()))


def _count_occurrences(found: Occurrences, firsts: IntVector, lasts: IntVector) -> TokenCounts:
    """The counts of the tokens `firsts[i]:lasts[i]` for every i."""
    # A key is a span and in its lower bits a term: with 5 terms, 3 bits, term 2 of span 1 has 0b1_010. Equal
    # keys are neighbours once sorted. numpy shifts in a fraction of the time it divides in.
    n_spans, n_bits, sizes = len(firsts), len(found.vocabulary).bit_length(), lasts - firsts
    keys = np.repeat(np.arange(n_spans, dtype=np.int64) << n_bits, sizes)
    places = np.arange(len(keys), dtype=np.int64) + np.repeat(firsts - (np.cumsum(sizes) - sizes), sizes)
    keys += found.terms[places]
    keys.sort()
    changes = np.flatnonzero(np.diff(keys, prepend=-1))
    distinct = keys[changes]
    owners, terms = distinct >> n_bits, distinct & ((1 << n_bits) - 1)
    return TokenCounts(
        found.vocabulary,
        flat("q", np.searchsorted(owners, np.arange(n_spans + 1, dtype=np.int64))),
        flat("i", terms),
        flat("i", np.diff(changes, append=len(keys))),
    )
