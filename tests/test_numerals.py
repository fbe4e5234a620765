from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.numerals import (
    format_micro,
    format_score,
    format_signed,
    mean,
    ordered_sum,
    ordering_key,
    ordering_keys,
)

SCORES = st.floats(min_value=-1e6, max_value=1e6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.000000"),
        (1.0, "1.000000"),
        (16 / 35, "0.457143"),
        (1 / 128, "0.007813"),  # 7812.5 millionths: "%.6f" and round() go to the even 7812
        (3 / 128, "0.023438"),
        (0.5e-6, "0.000001"),
        (4.999999999999999e-07, "0.000000"),
        (0.9999995, "1.000000"),
        (0.0000994999, "0.000099"),
        (12.5, "12.500000"),
        (4503599627.370497, "4503599627.370497"),  # 2^52 + 1 millionths: adding a half would round up
        (1e15, "1000000000000000.000000"),
    ],
)
def test_a_score_has_six_decimals_rounded_half_away_from_zero(value: float, text: str) -> None:
    assert format_score(value) == text
    assert format_signed(value) == f"+{text}"


@pytest.mark.parametrize("value", [-0.0, -0.4e-6, -4.999999999999999e-07, -5e-324])
def test_what_rounds_to_zero_has_no_minus_sign(value: float) -> None:
    assert format_score(value) == "0.000000"
    assert format_signed(value) == "+0.000000"


@pytest.mark.parametrize(
    ("value", "text"), [(-1 / 128, "-0.007813"), (-0.5e-6, "-0.000001"), (-2.0, "-2.000000")]
)
def test_a_negative_value_rounds_as_its_positive_twin(value: float, text: str) -> None:
    assert format_score(value) == text
    assert format_signed(value) == text


@pytest.mark.parametrize("spell", [format_score, format_signed, ordering_key])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_have_no_text_and_no_order(spell: Callable[[float], object], value: float) -> None:
    with pytest.raises(ValueError, match="no text form"):
        spell(value)


@given(st.lists(SCORES, max_size=20))
@settings(deadline=None, max_examples=200)
def test_the_keys_of_an_array_are_the_keys_of_its_elements(values: list[float]) -> None:
    halves = [*values, -0.0, 1 / 128, -1 / 128, 4.999999999999999e-07, 2.5e-6]
    assert ordering_keys(np.array(halves)).tolist() == [ordering_key(value) for value in halves]


@given(SCORES, SCORES)
@settings(deadline=None, max_examples=200)
def test_a_greater_score_never_has_a_smaller_key(a: float, b: float) -> None:
    assert ordering_key(min(a, b)) <= ordering_key(max(a, b))


@given(SCORES)
@settings(deadline=None, max_examples=200)
def test_a_printed_score_reads_back_to_the_same_text(value: float) -> None:
    text = format_score(value)
    assert format_score(float(text)) == text
    assert format_score(-value).lstrip("-") == text.lstrip("-")


@given(st.integers(-(10**12), 10**12))
@settings(deadline=None, max_examples=200)
def test_millionths_survive_text_and_back(micro: int) -> None:
    assert ordering_key(float(format_micro(micro))) == micro


def test_a_sum_is_rounded_at_every_step_on_every_python() -> None:
    assert ordered_sum([0.1] * 10) == 0.9999999999999999
    assert ordered_sum([1e16, 1.0, -1e16]) == 0.0
    assert ordered_sum([1e16, -1e16, 1.0]) == 1.0
    assert ordered_sum([]) == 0.0


def test_a_mean_divides_the_ordered_sum() -> None:
    assert mean([0.0, 0.5, 1.0]) == 0.5
    assert mean([0.1] * 10) == 0.09999999999999999


def test_no_values_have_no_mean() -> None:
    with pytest.raises(ValueError, match="no mean"):
        mean([])
