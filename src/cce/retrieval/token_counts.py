"""Token counts: how often each text holds each token, text after text, in flat sequences.

Counting here takes a span at a time. `arrays.counting` gives the same counts, in another order of the
vocabulary; it is faster once numpy has been imported, and tokenises once what spans share.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple

from cce.retrieval.flat import Ints, concatenated, concatenated_starts, shifted
from cce.tokens import tokenize

SpannedText = tuple[bytes, Sequence[tuple[int, int]]]
"""A text and spans of it, each as first byte and last (exclusive)."""

# From so many postings, or bytes to be tokenised, numpy is worth its import. The numbers are the same.
MANY_POSTINGS = 16_000
MANY_BYTES = 300_000


class TokenCounts(NamedTuple):
    """Text i holds `vocabulary[terms[j]]` `counts[j]` times, for j in `starts[i]:starts[i + 1]`.

    vocabulary  each token once
    starts      q[n_texts + 1]
    terms       i[n_postings]; no term twice within a text
    counts      i[n_postings]; at least 1
    """

    vocabulary: Sequence[bytes]
    starts: Ints
    terms: Ints
    counts: Ints


TokenCounter = Callable[[Sequence[SpannedText]], TokenCounts]
"""Gives the token counts of all spans of all texts, in that order."""


def count_span_tokens(texts: Sequence[SpannedText]) -> TokenCounts:
    """The token counts of all spans of all texts, in that order."""
    # Spans nest: a small file may hold its text a thousand times over.
    if sum(end - start for _, spans in texts for start, end in spans) >= MANY_BYTES:
        from cce.retrieval.arrays.counting import count_span_tokens

        return count_span_tokens(texts)
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    starts, terms, counts = array("q", [0]), array("i"), array("i")
    for text, spans in texts:
        for start, end in spans:
            bag = Counter(tokenize(text[start:end]))
            terms.extend(map(numbering.__getitem__, bag))
            counts.extend(bag.values())
            starts.append(len(terms))
    return TokenCounts(tuple(numbering), starts, terms, counts)


def merge_token_counts(parts: Sequence[TokenCounts]) -> TokenCounts:
    """The counts of all texts of `parts`, in that order, over one vocabulary in first-seen order."""
    if len(parts) == 1:
        return parts[0]
    renumber = _renumbered
    if sum(len(part.terms) for part in parts) >= MANY_POSTINGS:
        from cce.retrieval.arrays.terms import renumbered as renumber
    parts = renumber(parts)
    return TokenCounts(
        parts[0].vocabulary if parts else (),
        concatenated_starts([part.starts for part in parts]),
        concatenated("i", [part.terms for part in parts]),
        concatenated("i", [part.counts for part in parts]),
    )


def cut_token_counts(whole: TokenCounts, start: int, end: int) -> TokenCounts:
    """Texts `start` (inclusive) to `end` (exclusive), over the vocabulary of `whole`."""
    first, last = whole.starts[start], whole.starts[end]
    return whole._replace(
        starts=shifted(whole.starts[start : end + 1], first),
        terms=whole.terms[first:last],
        counts=whole.counts[first:last],
    )


def without_unused_words(counts: TokenCounts) -> TokenCounts:
    """The same counts, over the tokens that occur in them."""
    find_used = _used_terms
    if len(counts.terms) >= MANY_POSTINGS:
        from cce.retrieval.arrays.terms import used_terms as find_used
    used, terms = find_used(counts.terms, len(counts.vocabulary))
    return counts._replace(vocabulary=[counts.vocabulary[term] for term in used], terms=terms)


def _renumbered(parts: Sequence[TokenCounts]) -> list[TokenCounts]:
    """The same counts, all over one vocabulary in first-seen order."""
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    numbers: dict[int, list[int]] = {}
    for part in parts:
        if id(part.vocabulary) not in numbers:  # those that were cut from one whole share it
            numbers[id(part.vocabulary)] = list(map(numbering.__getitem__, part.vocabulary))
    vocabulary = tuple(numbering)
    return [
        part._replace(
            vocabulary=vocabulary,
            terms=array("i", map(numbers[id(part.vocabulary)].__getitem__, part.terms)),
        )
        for part in parts
    ]


def _used_terms(terms: Ints, n_terms: int) -> tuple[Sequence[int], Ints]:
    """Of the terms below `n_terms` those that occur, ascending, and the place of each term among them."""
    used = sorted(set(terms))
    if len(used) == n_terms:
        return used, terms
    places = {term: place for place, term in enumerate(used)}
    return used, array("i", map(places.__getitem__, terms))
