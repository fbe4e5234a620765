"""Occurrences: all tokens of a text, each as its place and the number of its word.

Bytes enter, flat arrays leave. A word of up to eight bytes is a 64-bit number and therefore known
exactly, one of up to sixteen is two of them; longer ones, one in thirty, are looked up as text.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

IntVector = NDArray[np.int64]

_PACKED_BITS = 3
_N_PACKED = 1 << _PACKED_BITS
_LOWERED = b"abcdefghijklmnopqrstuvwxyz0123456789_"

# What the tokenizer sees in each byte: its lower-cased letter, or 0 between tokens.
_LETTERS = bytes(low if (low := ord(bytes([byte]).lower())) in _LOWERED else 0 for byte in range(256))

# _MASKS[n] keeps the first n bytes of eight, whatever the byte order of the machine: _MASKS[2] is the number
# whose bytes in memory are ff ff 00 00 00 00 00 00.
_MASKS = (np.tri(_N_PACKED + 1, _N_PACKED, -1, dtype=np.uint8) * np.uint8(255)).reshape(-1).view(np.uint64)

# Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4): 2**64 over the golden
# ratio; the upper bits of the product are the slot. 2**16 slots take half a megabyte; more are slower, since
# they do not stay in the processor's cache.
_HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MAX_SLOT_BITS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Token i stands at `starts[i]:ends[i]` and is `vocabulary[terms[i]]`, lower-cased.

    vocabulary  list[bytes]; each word once
    starts      int64[n_tokens]; ascending
    ends        int64[n_tokens]; exclusive
    terms       int64[n_tokens]
    """

    vocabulary: list[bytes]
    starts: IntVector
    ends: IntVector
    terms: IntVector


def find_occurrences(text: bytes) -> Occurrences:
    """The tokens of `text`, as `tokenize` finds them."""
    letters = text.translate(_LETTERS)
    starts, ends = _runs(np.frombuffer(letters, np.uint8))
    n_full_packs = np.minimum((ends - starts - 1) >> _PACKED_BITS, len(_WAYS) - 1)
    vocabulary: list[bytes] = []
    terms = np.empty(len(starts), np.int64)
    for number, name_words in enumerate(_WAYS):
        places = np.flatnonzero(n_full_packs == number)
        words, numbers = name_words(letters, starts[places], ends[places])
        terms[places] = numbers + len(vocabulary)
        vocabulary += words
    return Occurrences(vocabulary, starts, ends, terms)


def _runs(letters: NDArray[np.uint8]) -> tuple[IntVector, IntVector]:
    """Where the runs of letters start and end (exclusive)."""
    is_letter = np.zeros(len(letters) + 2, bool)
    np.not_equal(letters, 0, out=is_letter[1:-1])
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1]).astype(np.int64, copy=False)
    return edges[::2], edges[1::2]


def _name_short(letters: bytes, starts: IntVector, ends: IntVector) -> tuple[list[bytes], IntVector]:
    """Words of up to eight letters, each once, and int64[n]: which of them stands at each place."""
    distinct, numbers = distinct_values(_pack(letters, starts, ends - starts))
    return [word.rstrip(b"\0") for word in distinct.view("S8").tolist()], numbers


def _name_middling(letters: bytes, starts: IntVector, ends: IntVector) -> tuple[list[bytes], IntVector]:
    """As `_name_short` for words of up to sixteen letters: a pair of halves is a number again."""
    middles = starts + _N_PACKED
    _, heads = distinct_values(_pack(letters, starts, middles - starts))
    tails, numbers = distinct_values(_pack(letters, middles, ends - middles))
    distinct, numbers = distinct_values((heads * len(tails) + numbers).view(np.uint64))
    places = np.empty(len(distinct), np.int64)
    places[numbers] = np.arange(len(numbers))  # of many places of a word the last one stays
    spans = zip(starts[places].tolist(), ends[places].tolist(), strict=True)
    return [letters[start:end] for start, end in spans], numbers


def _name_long(letters: bytes, starts: IntVector, ends: IntVector) -> tuple[list[bytes], IntVector]:
    """As `_name_short` for words of any length."""
    numbering: defaultdict[bytes, int] = defaultdict(count().__next__)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    numbers = np.fromiter((numbering[letters[start:end]] for start, end in spans), np.int64, len(starts))
    return list(numbering), numbers


_WAYS = (_name_short, _name_middling, _name_long)


def distinct_values(values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], IntVector]:
    """Each value once, and int64[n]: which of them stands at each place.

    A table separates most of them in a fraction of the time that sorting takes. In a slot that several
    values fall into one stays, and the others are sorted.
    """
    n_bits = min(max(len(values).bit_length() - 1, 1), _MAX_SLOT_BITS)
    slots = ((values * _HASH_FACTOR) >> np.uint64(64 - n_bits)).astype(np.int64)
    holder = np.empty(1 << n_bits, np.uint64)
    holder[slots] = values
    others = np.flatnonzero(holder[slots] != values)
    is_used = np.zeros(len(holder), bool)
    is_used[slots] = True
    distinct = holder[is_used]
    numbers: IntVector = (np.cumsum(is_used) - 1)[slots]
    if len(others):
        sorted_out, places = np.unique(values[others], return_inverse=True)
        numbers[others] = places + len(distinct)
        distinct = np.concatenate([distinct, sorted_out])
    return distinct, numbers


def _pack(letters: bytes, starts: IntVector, lengths: IntVector) -> NDArray[np.uint64]:
    """uint64[n]: the letters of each token, at most eight, padded with zeros.

    `ab` in `ab,cd` is read as the eight bytes from its place, of which all but the first two become zero.
    """
    # A view of numbers that overlap, one from each byte: strides of 1, not 8. The zeros behind the text are
    # what the last tokens read.
    from_each_place = np.ndarray((len(letters) + 1,), np.uint64, letters + bytes(_N_PACKED), strides=(1,))
    packed: NDArray[np.uint64] = from_each_place[starts]
    packed &= _MASKS[lengths]
    return packed
