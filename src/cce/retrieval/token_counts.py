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
    """Texts `start` (inclusive) to `end` (exclusive), over the tokens that occur in them."""
    first, last = whole.starts[start], whole.starts[end]
    find_used = _used_terms
    if last - first >= MANY_POSTINGS:
        from cce.retrieval.arrays.terms import used_terms as find_used
    used, terms = find_used(whole.terms[first:last], len(whole.vocabulary))
    return TokenCounts(
        [whole.vocabulary[term] for term in used],
        shifted(whole.starts[start : end + 1], first),
        terms,
        whole.counts[first:last],
    )


def _renumbered(parts: Sequence[TokenCounts]) -> list[TokenCounts]:
    """The same counts, all over one vocabulary in first-seen order."""
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    numbers = [list(map(numbering.__getitem__, part.vocabulary)) for part in parts]
    vocabulary = tuple(numbering)
    return [
        part._replace(vocabulary=vocabulary, terms=array("i", map(of_part.__getitem__, part.terms)))
        for part, of_part in zip(parts, numbers, strict=True)
    ]


def _used_terms(terms: Ints, n_terms: int) -> tuple[Sequence[int], Ints]:  # noqa: ARG001 - as for arrays
    """The distinct terms, ascending, and for each term its place among them."""
    used = sorted(set(terms))
    places = {term: place for place, term in enumerate(used)}
    return used, array("i", map(places.__getitem__, terms))
