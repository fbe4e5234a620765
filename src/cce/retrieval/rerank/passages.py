"""Passages: what a reranker reads of a result, and what of it a cut leaves out."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from cce.domain.ranking import Chunk, Location
from cce.retrieval.indexing.index import Index
from cce.tokens import WHITE_SPACE, tokenize

_DIGEST_BYTES = 16
_WORD = re.compile(f"[^{re.escape(WHITE_SPACE)}]+")


class Passage(NamedTuple):
    """The text that is scored, its digest, and the rest that was cut off."""

    text: str
    digest: bytes
    rest: str = ""


class Passages:
    """The passages of one index; each is made once."""

    def __init__(self, index: Index, *, remember: bool = True) -> None:
        self._index = index
        self._remember = remember
        self._known: dict[tuple[Chunk | Location, int | None], Passage] = {}

    def of(self, found: Chunk | Location, max_words: int | None) -> Passage:
        """As `passage_of`."""
        if not self._remember:
            return passage_of(found, self._index, max_words)
        key = found, max_words
        if key not in self._known:
            self._known[key] = passage_of(found, self._index, max_words)
        return self._known[key]


def passage_of(found: Chunk | Location, index: Index, max_words: int | None) -> Passage:
    """The path, a line feed, and the text to the end of its `max_words`-th word; the path is not counted.

    Words are separated by white space. Of a location the corpus gives the text, else the system that
    returned it.
    """
    text, rest = _text(found, index), ""
    if max_words is not None:
        ends = (word.end() for word in _WORD.finditer(text))
        end = next((end for n, end in enumerate(ends, start=1) if n == max_words), len(text))
        if _WORD.search(text, end):
            text, rest = text[:end], text[end:]
    whole = f"{found.file_path}\n{text}"
    return Passage(whole, digest(whole), rest)


def digest(text: str) -> bytes:
    """16 bytes that stand for a text: all passages of a run would fill the memory."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def words_beyond(query: str, passage: Passage) -> tuple[str, ...]:
    """Distinct tokens of `query` that stand in the rest of the passage and not in what was scored."""
    if not passage.rest:
        return ()
    rest, scored = (set(tokenize(text.encode("utf-8", "replace"))) for text in (passage.rest, passage.text))
    wanted = dict.fromkeys(tokenize(query.encode("utf-8", "replace")))
    return tuple(token.decode() for token in wanted if token in rest and token not in scored)


def _text(found: Chunk | Location, index: Index) -> str:
    if isinstance(found, Chunk):
        return found.content.decode("utf-8", "replace")
    from cce.retrieval.external.locating import corpus_text  # only outside systems return other places

    return corpus_text(found, index) or found.text or ""
