"""`features`: a weighted sum of four shares, on a scale that leaves [0, 1] as a model's raw scores do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from cce.retrieval.rerank.overlap import coverage, tokens_of

_COVERAGE, _ADJACENT, _IDENTIFIERS, _PLACE = 0.4, 0.2, 0.3, 0.1
_SCALE, _OFFSET = 10.0, 4.0

# A word of the query without the punctuation around it: `overdue_fee?` is overdue_fee, `(a.py)` is a.py.
_EDGE = "\"'`()[]{}<>,;:!?."
_IDENTIFIER = re.compile(r"[0-9_.]|(?<=.)[A-Z]")
# What declares a function or class in the languages that are cut into them, and the name behind it.
_DECLARATION = re.compile(
    r"\b(?:class|def|enum|fn|function|impl|interface|mod|module|struct|trait|type)\s+([A-Za-z_][A-Za-z0-9_]*)"
)
_WORD_CHARACTER = re.compile(r"[A-Za-z0-9_]")


class Features:
    """Looks at four things that a person would: words, phrases, identifiers, and the place."""

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """10 x weighted sum - 4, from -4 to 6.

        The parts: distinct query tokens that occur 0.4; adjacent pairs of query tokens that stand adjacent
        0.2; exact identifiers that occur 0.3; distinct query tokens in the path or the first declared name
        0.1. A part without anything to count is 0.
        """
        return [_score(query, passage) for query, passage in pairs]


def _score(query: str, passage: str) -> float:
    wanted, found = tokens_of(query), tokens_of(passage)
    path, _, text = passage.partition("\n")
    declared = _DECLARATION.search(text)
    place = tokens_of(f"{path} {declared[1] if declared else ''}")
    identifiers = {word for word in map(_trimmed, query.split()) if _IDENTIFIER.search(word)}
    n_exact = sum(_has_word(passage, word) for word in identifiers)
    total = _COVERAGE * coverage(set(wanted), set(found))
    total += _ADJACENT * coverage(set(pairwise(wanted)), set(pairwise(found)))
    total += _IDENTIFIERS * (n_exact / len(identifiers) if identifiers else 0.0)
    total += _PLACE * coverage(set(wanted), set(place))
    return _SCALE * total - _OFFSET


def _trimmed(word: str) -> str:
    return word.strip(_EDGE)


def _has_word(text: str, word: str) -> bool:
    """Whether `word` stands in `text`, upper and lower case kept, with no word character on either side."""
    start = text.find(word)
    while start >= 0:
        around = text[max(start - 1, 0) : start], text[start + len(word) : start + len(word) + 1]
        if not any(_WORD_CHARACTER.fullmatch(each) for each in around):
            return True
        start = text.find(word, start + 1)
    return False
