"""Nests: texts that lie in each other so deep that counting each on its own is quadratic.

Of 8,000 functions in each other the first holds every token of the file, the second all but one, and so
on: 32 million counts. In a nest each text has its own counts only, and its total is the sum over itself
and the texts inside it. Those follow it without a gap, so that every total is a difference of two prefix
sums. The totals are exact whole numbers, the same as counting each text would give.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cce.retrieval.counting.arrays.occurrences import IntVector, Occurrences, find_occurrences
from cce.retrieval.counting.arrays.terms import flat, without_unused_words
from cce.retrieval.counting.flat import Ints
from cce.retrieval.counting.token_counts import TokenCounts

_NO_PARENT = -1

# Example: text 0 holds text 1, which holds text 2, and text 3 stands alone; `reaches` are 3, 3, 3 and 4. Own
# counts of a token 2, 0, 1, 5 have the prefix sums 0, 2, 2, 3, 8. The total of text 0 is sums[3] - sums[0],
# which is 3, that of text 1 is sums[3] - sums[1], which is 1.


class Nests(NamedTuple):
    """The texts of a corpus that hold others: text `outer[i]` holds those up to `reaches[i]` (exclusive).

    outer     int64[n]; ascending
    reaches   int64[n]
    is_outer  bool[n_texts]
    """

    outer: IntVector
    reaches: IntVector
    is_outer: NDArray[np.bool_]

    @classmethod
    def of(cls, reaches: Ints) -> Nests | None:
        """From `TokenCounts.reaches`; None where no text holds another."""
        ends = np.asarray(reaches, np.int64)
        is_outer = ends > np.arange(1, len(ends) + 1)
        outer = np.flatnonzero(is_outer).astype(np.int64, copy=False)
        return cls(outer, ends[outer], is_outer) if len(outer) else None

    def add_up(self, own: NDArray[np.int64] | NDArray[np.int32]) -> None:
        """Make totals of the `own` numbers of all texts, in place."""
        sums = np.zeros(len(own) + 1, np.int64)
        np.cumsum(own, out=sums[1:])
        own[self.outer] = sums[self.reaches] - sums[self.outer]

    def totals(self, texts: IntVector, counts: IntVector) -> tuple[IntVector, IntVector]:
        """Which texts hold a token, ascending, and how often; `texts` and `counts` are its own counts."""
        sums = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=sums[1:])
        totals = sums[np.searchsorted(texts, self.reaches)] - sums[np.searchsorted(texts, self.outer)]
        is_alone, is_holding = ~self.is_outer[texts], totals > 0
        holders = np.concatenate([texts[is_alone], self.outer[is_holding]])
        order = np.argsort(holders)
        return holders[order], np.concatenate([counts[is_alone], totals[is_holding]])[order]


class _Tree(NamedTuple):
    """Spans in pre-order as a tree, and the text cut at every start and end.

    parents  of each span the innermost other one that holds it
    reaches  of each span the first one behind it that does not lie in it
    edges    where the pieces between starts and ends begin, ascending
    owners   of each piece the innermost span that holds it
    """

    parents: list[int]
    reaches: list[int]
    edges: list[int]
    owners: list[int]


def count_nest(text: bytes, spans: Sequence[tuple[int, int]]) -> TokenCounts | None:
    """The token counts of `text[start:end]` for all `spans`, as those of a nest; None if they overlap."""
    tree = _grow(spans)
    if tree is None:
        return None
    found = find_occurrences(text)
    numbers = {word: number for number, word in enumerate(found.vocabulary)}
    owners = _owners(found, spans, tree)
    keys = [(owners << 32 | found.terms)[owners >= 0]]
    signs = [np.ones(len(keys[0]), np.int64)]
    for number, (start, end) in _cut_words(found, spans):
        term = numbers.setdefault(text[start:end].lower(), len(numbers))
        parent = tree.parents[number]
        keys.append(np.array([number << 32 | term, parent << 32 | term][: 1 + (parent >= 0)], np.int64))
        signs.append(np.array([1, -1][: 1 + (parent >= 0)], np.int64))
    return _sum_up(list(numbers), np.concatenate(keys), np.concatenate(signs), tree.reaches)


def _grow(spans: Sequence[tuple[int, int]]) -> _Tree | None:
    """None if the spans are not in the order of their starts, or overlap without one holding the other."""
    tree = _Tree([], [len(spans)] * len(spans), [0], [_NO_PARENT])
    waiting: list[int] = []  # the spans that hold the present place, the innermost one last
    for number, (start, end) in enumerate(spans):
        while waiting and spans[waiting[-1]][1] <= start:
            _close(tree, waiting, spans, number)
        parent = waiting[-1] if waiting else _NO_PARENT
        if start < tree.edges[-1] or (waiting and spans[parent][1] < end):
            return None
        tree.parents.append(parent)
        tree.edges.append(start)
        tree.owners.append(number)
        waiting.append(number)
    while waiting:
        _close(tree, waiting, spans, len(spans))
    return tree


def _close(tree: _Tree, waiting: list[int], spans: Sequence[tuple[int, int]], reach: int) -> None:
    closed = waiting.pop()
    tree.reaches[closed] = reach
    tree.edges.append(spans[closed][1])
    tree.owners.append(waiting[-1] if waiting else _NO_PARENT)


def _owners(found: Occurrences, spans: Sequence[tuple[int, int]], tree: _Tree) -> IntVector:
    """int64[n_tokens]: the innermost span that holds the whole of each token; -1 without one."""
    edges = np.array(tree.edges, np.int64)
    first = np.searchsorted(edges, found.starts, side="right") - 1
    last = np.searchsorted(edges, found.ends - 1, side="right") - 1
    owners: IntVector = np.array(tree.owners, np.int64)[first]
    for place in np.flatnonzero(first != last).tolist():
        owner, end = int(owners[place]), int(found.ends[place])
        while owner >= 0 and spans[owner][1] < end:  # it ends inside this token, so in no other one
            owner = tree.parents[owner]
        owners[place] = owner
    return owners


def _cut_words(found: Occurrences, spans: Sequence[tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    """(span, first and last byte of what it holds of a word) for words that a span cuts."""
    bounds = np.array(spans, np.int64).reshape(-1, 2)
    firsts = np.searchsorted(found.ends, bounds[:, 0], side="right")
    lasts = np.searchsorted(found.starts, bounds[:, 1], side="left")
    pieces: dict[tuple[int, tuple[int, int]], None] = {}
    for number in np.flatnonzero((firsts < lasts) & (bounds[:, 0] < bounds[:, 1])).tolist():
        start, end = spans[number]
        for place in (int(firsts[number]), int(lasts[number]) - 1):
            word_start, word_end = int(found.starts[place]), int(found.ends[place])
            if word_start < start or end < word_end:
                pieces[number, (max(word_start, start), min(word_end, end))] = None
    return list(pieces)


def _sum_up(
    vocabulary: list[bytes], keys: IntVector, signs: IntVector, reaches: Sequence[int]
) -> TokenCounts:
    """One count for each of the `keys`, a text and in its lower half a term, unless its signs cancel out."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    changes = np.flatnonzero(np.diff(keys, prepend=-1))
    counts = np.add.reduceat(signs[order], changes) if len(changes) else signs
    distinct = keys[changes][counts != 0]
    starts = np.searchsorted(distinct >> 32, np.arange(len(reaches) + 1))
    return without_unused_words(
        TokenCounts(
            vocabulary,
            flat("q", starts.astype(np.int64, copy=False)),
            flat("i", distinct & 0xFFFFFFFF),
            flat("i", counts[counts != 0]),
            array("q", reaches),
        )
    )
