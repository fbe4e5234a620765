"""Token counts: how often each text holds each token, text after text, in flat arrays.

Texts are taken in blocks of about a megabyte, so that memory does not grow with what is counted
twice (a class and its methods). Within a block arrays do the work: a token of up to eight bytes is
a 64-bit number and therefore known exactly; longer ones, one in five, are looked up as text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

IntVector = NDArray[np.int64]

_BLOCK_BYTES = 1 << 20
_N_PACKED = 8

# What the tokenizer sees in each byte: its lower-cased letter, or 0 between tokens.
_LETTERS = np.zeros(256, np.uint8)
for _letter in b"abcdefghijklmnopqrstuvwxyz0123456789_":
    _LETTERS[_letter] = _LETTERS[ord(chr(_letter).upper())] = _letter

# _MASKS[n] keeps the first n bytes of eight, whatever the byte order of the machine.
_MASKS = (np.tri(_N_PACKED + 1, _N_PACKED, -1, dtype=np.uint8) * np.uint8(255)).reshape(-1).view(np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounts:
    """Text i holds `vocabulary[terms[j]]` `counts[j]` times, for j in `starts[i]:starts[i + 1]`.

    vocabulary  tuple[bytes, ...]; each token once
    starts      int64[n_texts + 1]
    terms       int32[n_postings]; no term twice within a text
    counts      int32[n_postings]; at least 1
    """

    vocabulary: Sequence[bytes]
    starts: IntVector
    terms: NDArray[np.int32]
    counts: NDArray[np.int32]

    def lengths(self) -> IntVector:
        """int64[n_texts]: tokens of each text, repeats counted."""
        totals = np.zeros(len(self.counts) + 1, np.int64)
        np.cumsum(self.counts, out=totals[1:])
        return totals[self.starts[1:]] - totals[self.starts[:-1]]


def count_tokens(texts: Iterable[bytes]) -> TokenCounts:
    """The token counts of `texts`; cost grows with their bytes."""
    return merge_token_counts([_count_block(block) for block in _blocks(texts)])


def merge_token_counts(parts: Sequence[TokenCounts]) -> TokenCounts:
    """The counts of all texts of `parts`, in that order, over one vocabulary in first-seen order."""
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    terms = []
    for part in parts:
        renamed = np.fromiter(map(numbering.__getitem__, part.vocabulary), np.int32, len(part.vocabulary))
        terms.append(renamed[part.terms])
    return TokenCounts(
        tuple(numbering),
        concatenate_starts([part.starts for part in parts]),
        np.concatenate([np.empty(0, np.int32), *terms]),
        np.concatenate([np.empty(0, np.int32), *(part.counts for part in parts)]),
    )


def cut_token_counts(whole: TokenCounts, start: int, end: int) -> TokenCounts:
    """Texts `start` (inclusive) to `end` (exclusive), over the tokens that occur in them."""
    first, last = whole.starts[start], whole.starts[end]
    used, terms = np.unique(whole.terms[first:last], return_inverse=True)
    return TokenCounts(
        [whole.vocabulary[term] for term in used.tolist()],
        whole.starts[start : end + 1] - first,
        terms.astype(np.int32),
        whole.counts[first:last],
    )


def concatenate_starts(parts: Sequence[IntVector]) -> IntVector:
    """Boundaries of consecutive ranges, each part's beginning at 0, as those of one long sequence."""
    sizes = [np.diff(part) for part in parts]
    starts = np.zeros(sum(map(len, sizes)) + 1, np.int64)
    np.cumsum(np.concatenate([np.empty(0, np.int64), *sizes]), out=starts[1:])
    return starts


def _blocks(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    n_bytes = 0
    for text in texts:
        block.append(text)
        n_bytes += len(text)
        if n_bytes >= _BLOCK_BYTES:
            yield block
            block, n_bytes = [], 0
    if block:
        yield block


def _count_block(texts: Sequence[bytes]) -> TokenCounts:
    letters = _LETTERS[np.frombuffer(b"\n".join(texts), np.uint8)]
    starts, ends = _runs(letters)
    vocabulary, terms = _number(letters, starts, ends)
    # A text ends before the line end that joins it to the next.
    text_ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)
    token_starts = np.zeros(len(texts) + 1, np.int64)
    token_starts[1:] = np.searchsorted(starts, text_ends)
    owners = np.repeat(np.arange(len(texts), dtype=np.int64), np.diff(token_starts))
    occurrences = owners * max(len(vocabulary), 1) + terms
    occurrences.sort()
    firsts = np.flatnonzero(np.diff(occurrences, prepend=-1))
    posted, posted_terms = np.divmod(occurrences[firsts], max(len(vocabulary), 1))
    return TokenCounts(
        vocabulary,
        np.searchsorted(posted, np.arange(len(texts) + 1, dtype=np.int64)),
        posted_terms.astype(np.int32),
        np.diff(firsts, append=len(occurrences)).astype(np.int32),
    )


def _runs(letters: NDArray[np.uint8]) -> tuple[IntVector, IntVector]:
    """Where the runs of letters start and end (exclusive)."""
    is_letter = np.zeros(len(letters) + 2, bool)
    np.not_equal(letters, 0, out=is_letter[1:-1])
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1]).astype(np.int64, copy=False)
    return edges[::2], edges[1::2]


def _number(letters: NDArray[np.uint8], starts: IntVector, ends: IntVector) -> tuple[list[bytes], IntVector]:
    """Each token once, and int64[n_tokens]: which one stands at each place."""
    lowered = letters.tobytes()
    is_short = ends - starts <= _N_PACKED
    packed, terms_of_short = np.unique(_pack(letters, starts[is_short], ends[is_short]), return_inverse=True)
    vocabulary = [token.rstrip(b"\0") for token in packed.view("S8").tolist()]
    numbering: defaultdict[bytes, int] = defaultdict(count(len(vocabulary)).__next__)
    is_long = ~is_short
    spans = zip(starts[is_long].tolist(), ends[is_long].tolist(), strict=True)
    terms = np.empty(len(starts), np.int64)
    terms[is_short] = terms_of_short
    terms[is_long] = np.fromiter(
        (numbering[lowered[start:end]] for start, end in spans), np.int64, int(is_long.sum())
    )
    return [*vocabulary, *numbering], terms


def _pack(letters: NDArray[np.uint8], starts: IntVector, ends: IntVector) -> NDArray[np.uint64]:
    """uint64[n]: the bytes of each token, at most eight, padded with zeros."""
    padded = np.concatenate([letters, np.zeros(_N_PACKED, np.uint8)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _N_PACKED)[starts]
    packed: NDArray[np.uint64] = windows.reshape(-1).view(np.uint64) & _MASKS[ends - starts]
    return packed
