"""Texts in, their token counts out: in lists for little text, in arrays for much.

`arrays.counting` gives the same counts in another order of the vocabulary. It is faster once numpy has been
imported, and tokenises once what spans share.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count

from cce.retrieval.counting.flat import Ints
from cce.retrieval.counting.token_counts import (
    MANY_BYTES,
    MANY_POSTINGS,
    SpannedText,
    TokenCounts,
    merge_over,
)
from cce.tokens import tokenize


def count_span_tokens(texts: Sequence[SpannedText]) -> TokenCounts:
    """The token counts of all spans of all texts, in that order."""
    # Spans nest: a small file may hold its text a thousand times over.
    if sum(end - start for _, spans in texts for start, end in spans) >= MANY_BYTES:
        from cce.retrieval.counting.arrays.counting import count_span_tokens

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
    rename = _renamed
    if len(parts) > 1 and sum(len(part.terms) for part in parts) >= MANY_POSTINGS:
        from cce.retrieval.counting.arrays.terms import renamed as rename
    return merge_over(rename, parts)


def without_unused_words(counts: TokenCounts) -> TokenCounts:
    """The same counts, over the tokens that occur in them."""
    if len(counts.terms) >= MANY_POSTINGS:
        from cce.retrieval.counting.arrays.terms import without_unused_words

        return without_unused_words(counts)
    used = sorted(set(counts.terms))
    if len(used) == len(counts.vocabulary):
        return counts
    places = {term: place for place, term in enumerate(used)}
    return counts._replace(
        vocabulary=[counts.vocabulary[term] for term in used],
        terms=array("i", map(places.__getitem__, counts.terms)),
    )


def _renamed(terms: Ints, numbers: Ints) -> Ints:
    """`numbers[term]` for every term."""
    return array("i", map(numbers.__getitem__, terms))
