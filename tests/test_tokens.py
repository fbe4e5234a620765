from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.tokens import WHITE_SPACE, estimate_tokens, tokenize
from corpora import plain_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("—?", []),
        ("user login user", ["user", "login", "user"]),
        ("camelCase snake_case HTTP2", ["camelcase", "snake_case", "http2"]),
        ("__init__(self, x1)", ["__init__", "self", "x1"]),
        ("naïve café", ["na", "ve", "caf"]),
        ("\u212aelvin", ["elvin"]),  # KELVIN SIGN is a k to Unicode, and no letter here
        ("a\0b\r\nc", ["a", "b", "c"]),
        ("x٣y", ["x", "y"]),  # an Arabic digit is not an ASCII one
    ],
)
def test_tokens_are_runs_of_ascii_word_bytes_in_lower_case(text: str, tokens: list[str]) -> None:
    assert tokenize(text.encode()) == [token.encode() for token in tokens]


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=60) | st.text("aZ_9 é-", max_size=20).map(str.encode))
def test_tokens_are_what_reading_letter_by_letter_gives(text: bytes) -> None:
    assert tokenize(text) == plain_tokens(text)


@pytest.mark.parametrize(("n_bytes", "estimate"), [(0, 1), (1, 1), (7, 1), (8, 2), (11, 2), (400, 100)])
def test_four_bytes_are_one_token_and_nothing_weighs_less_than_one(n_bytes: int, estimate: int) -> None:
    assert estimate_tokens(n_bytes) == estimate


def test_white_space_is_what_unicode_says_without_the_four_separators_that_python_adds() -> None:
    assert set(WHITE_SPACE) == {c for c in map(chr, range(0x110000)) if c.isspace()} - set("\x1c\x1d\x1e\x1f")
