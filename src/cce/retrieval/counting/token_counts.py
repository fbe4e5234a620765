"""Token counts: how often each text holds each token, text after text, in flat sequences.

`counter` makes them, `scoring` reads them. They are cut and merged at texts, as segments are at files.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cce.retrieval.counting.flat import Ints, concatenated, concatenated_starts, shifted

# From so many postings, or bytes to be tokenised, arrays save more time than the import of numpy takes, which
# is some 70 ms. The counts are the same.
MANY_POSTINGS = 16_000
MANY_BYTES = 300_000

SpannedText = tuple[bytes, Sequence[tuple[int, int]]]
"""A text and spans of it, each as first byte and last (exclusive)."""


class TokenCounts(NamedTuple):
    """Text i holds `vocabulary[terms[j]]` `counts[j]` times, for j in `starts[i]:starts[i + 1]`.

    vocabulary  each token once
    starts      q[n_texts + 1]
    terms       i[n_postings]; no term twice within a text
    counts      i[n_postings]; at least 1, but for texts that reach further
    reaches     q[n_texts], or empty, which means that no text reaches further than itself.
                Text i also holds what texts i + 1 to `reaches[i]` (exclusive) hold of their own: its counts
                are what is to be added to theirs, be it negative. See `arrays.nests`
    """

    vocabulary: Sequence[bytes]
    starts: Ints
    terms: Ints
    counts: Ints
    reaches: Ints = array("q")


TokenCounter = Callable[[Sequence[SpannedText]], TokenCounts]
"""Gives the token counts of all spans of all texts, in that order."""


Rename = Callable[[Ints, Ints], Ints]
"""Gives numbers[term] for every term, both i."""


class SharedVocabulary:
    """One vocabulary, in first-seen order, for counts that are to be merged.

    It grows with the counts that are adopted, and is the `vocabulary` of each of them: to merge such
    counts, or to send them together, no word is looked at again.
    """

    def __init__(self, rename: Rename) -> None:
        self._rename = rename
        self._words: list[bytes] = []
        self._numbers: dict[bytes, int] = {}

    def adopt(self, counts: TokenCounts) -> TokenCounts:
        """The same counts over the shared vocabulary."""
        return self.adopt_all([counts])[0]

    def adopt_all(self, parts: Sequence[TokenCounts]) -> list[TokenCounts]:
        """As `adopt`; of a vocabulary that several parts share every word is looked up once."""
        numbers: dict[int, Ints] = {}
        for part in parts:
            if id(part.vocabulary) not in numbers:
                numbers[id(part.vocabulary)] = self._number(part.vocabulary)
        return [
            part._replace(
                vocabulary=self._words, terms=self._rename(part.terms, numbers[id(part.vocabulary)])
            )
            for part in parts
        ]

    def _number(self, vocabulary: Sequence[bytes]) -> Ints:
        """The shared number of each word."""
        known = self._numbers
        new = [word for word in vocabulary if word not in known]
        known.update(zip(new, range(len(known), len(known) + len(new)), strict=True))
        self._words += new
        return array("i", map(known.__getitem__, vocabulary))


def merge_over(rename: Rename, parts: Sequence[TokenCounts]) -> TokenCounts:
    """The counts of all texts of `parts`, in that order, over one vocabulary in first-seen order."""
    if len(parts) == 1:
        return parts[0]
    parts = SharedVocabulary(rename).adopt_all(parts)
    return TokenCounts(
        parts[0].vocabulary if parts else (),
        concatenated_starts([part.starts for part in parts]),
        concatenated("i", [part.terms for part in parts]),
        concatenated("i", [part.counts for part in parts]),
        _concatenated_reaches(parts),
    )


def cut_token_counts(whole: TokenCounts, start: int, end: int) -> TokenCounts:
    """Texts `start` (inclusive) to `end` (exclusive), over the vocabulary of `whole`."""
    first, last = whole.starts[start], whole.starts[end]
    return whole._replace(
        starts=shifted(whole.starts[start : end + 1], first),
        terms=whole.terms[first:last],
        counts=whole.counts[first:last],
        reaches=shifted(whole.reaches[start:end], start),
    )


def _concatenated_reaches(parts: Sequence[TokenCounts]) -> array[int]:
    whole = array("q")
    if any(len(part.reaches) for part in parts):
        for part in parts:
            own = part.reaches if len(part.reaches) else range(1, len(part.starts))
            offset = len(whole)
            whole.extend(offset + reach for reach in own)
    return whole
