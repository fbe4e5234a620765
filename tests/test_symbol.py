"""Which qualified names a symbol fits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cce.domain.symbol import Symbol, is_name_of, name_text, parse_symbol, split_name


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        (":load", Symbol(None, "load")),
        ("method:A#load", Symbol("method", "A#load")),
        (" method : A::load ", Symbol("method", "A::load")),
        ("method:", Symbol("method", "")),
        ("function_item:fmt::Display for P::fmt", Symbol("function_item", "fmt::Display for P::fmt")),
    ],
)
def test_what_stands_right_of_the_hash_is_split_at_its_first_colon(text: str, symbol: Symbol) -> None:
    assert parse_symbol(text) == symbol


def test_without_a_colon_it_is_a_kind_as_ever() -> None:
    assert parse_symbol("method_definition") is None


@pytest.mark.parametrize(
    "name", ["A.B.m", "A::B#m", "A.B::.m", "..A..B#m.", "static A.get B.set m", "A. B .m"]
)
def test_a_name_is_split_at_dots_colons_and_hashes_however_it_is_written(name: str) -> None:
    assert split_name(name) == ("A", "B", "m")


@pytest.mark.parametrize(
    ("name", "segments", "is_meant"),
    [
        ("m", ("A", "m"), True),
        ("A.m", ("A", "m"), True),
        ("B.A.m", ("A", "m"), False),
        ("A", ("A", "m"), False),
        ("M", ("A", "m"), False),
        ("am", ("A", "m"), False),
        ("", ("A", "m"), False),
        ("..", ("A", "m"), False),
        ("m", (), False),
        ("A.x", ("A", "static get x"), True),
        ("get x", ("A", "get x"), True),
        ("get", ("A", "get"), True),
        ("setter", ("A", "x.setter"), True),
        ("A.x", ("A", "x.setter"), False),
        ("Stack#push", ("M", "Stack", "#push"), True),
        ("Stack.push", ("M", "Stack", "#push"), True),
        ("#p", ("A", "#p"), True),
        ("P::fmt", ("m", "Display for P", "fmt"), True),
        ("Display for P::fmt", ("m", "Display for P", "fmt"), True),
        ("m::Display for P::fmt", ("m", "Display for P", "fmt"), True),
        ("m::P::fmt", ("m", "Display for P", "fmt"), True),
        ("Debug for P::fmt", ("m", "Display for P", "fmt"), False),
        ("Display::fmt", ("m", "Display for P", "fmt"), False),
        ("fmt::Display for a::P::fmt", ("fmt::Display for a::P", "fmt"), True),
        ("Display for a::P::fmt", ("fmt::Display for a::P", "fmt"), False),
        ("a::P::fmt", ("fmt::Display for a::P", "fmt"), True),
        ("P", ("Display for P",), True),
    ],
)
def test_a_symbol_fits_a_chunk_whose_name_ends_with_it(
    name: str, segments: tuple[str, ...], is_meant: bool
) -> None:
    assert Symbol(None, name).fits("function_item", segments) is is_meant


def test_a_kind_must_be_equal() -> None:
    assert Symbol("method", "m").fits("method", ("A", "#m"))
    assert not Symbol("singleton_method", "m").fits("method", ("A", "#m"))


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        (("A", "B", "x"), "A.B.x"),
        (("Sinatra", "Base", "#call"), "Sinatra.Base#call"),
        (("M", ".flush"), "M.flush"),
        (("From<u8> for P", "from"), "From<u8> for P.from"),
    ],
)
def test_a_qualified_name_reads_as_one_text(segments: tuple[str, ...], text: str) -> None:
    assert name_text(segments) == text


WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_<>&]{0,3}", fullmatch=True)
SEGMENTS = st.lists(
    st.one_of(
        WORDS,
        WORDS.map("#{}".format),
        WORDS.map(".{}".format),
        WORDS.map("static get {}".format),
        WORDS.map("{}.setter".format),
        st.tuples(WORDS, WORDS, WORDS).map(lambda words: "{}::{} for {}".format(*words)),
        st.tuples(WORDS, WORDS, WORDS).map(lambda words: "{} for {}::{}".format(*words)),
    ),
    min_size=1,
    max_size=5,
)


@given(SEGMENTS)
def test_the_whole_name_and_every_end_of_it_fit(segments: list[str]) -> None:
    for start in range(len(segments)):
        assert is_name_of(split_name(name_text(segments[start:])), segments)


@given(SEGMENTS, WORDS)
def test_a_name_with_one_segment_more_does_not_fit(segments: list[str], outer: str) -> None:
    assert not is_name_of((outer, *split_name(name_text(segments))), segments)
