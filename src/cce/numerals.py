"""The one place where a float becomes text or an ordering key.

A figure enters as a float and leaves as six decimals, rounded half away from zero on
`abs(x) * 1e6`. `%.6f`, `round` and decimal halves all differ from this: 1/128 is `0.007813` here.
Order compares the same integers, so two figures that print alike rank alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MICRO = 1_000_000


def ordering_key(value: float) -> int:
    """`value` in units of 1e-6, rounded half away from zero.

    Raises ValueError for NaN and infinity: they have neither an order nor a text.
    """
    scaled = abs(value) * 1e6
    try:
        whole = int(scaled)
    except (ValueError, OverflowError) as exc:
        raise ValueError(f"{value} has no text form and no order") from exc
    # int(x + 0.5) would round 0.49999999999999994 up, since the sum is 1.0: compare the exact remainder.
    if scaled - whole >= 0.5:
        whole += 1
    return -whole if value < 0 else whole


def ordering_keys(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """`ordering_key` of every element: int64 of the same shape. Values must be finite and below 9e12."""
    import numpy as np

    scaled = np.abs(values) * 1e6
    whole = np.floor(scaled)
    whole += scaled - whole >= 0.5
    keys: NDArray[np.int64] = np.copysign(whole, values).astype(np.int64)
    return keys


def is_below(a: float, b: float) -> bool:
    """Whether `a` prints as less than `b`: both are compared on integers of 1e-6."""
    return ordering_key(a) < ordering_key(b)


def rounded(value: float) -> float:
    """The float that `format_score(value)` reads back as."""
    return ordering_key(value) / MICRO


def format_score(value: float) -> str:
    """Six decimals, a minus sign only on values that do not round to zero: `0.457143`."""
    return format_micro(ordering_key(value))


def format_signed(value: float) -> str:
    """Six decimals with `+` or `-` in front; whatever rounds to zero is `+0.000000`."""
    return format_micro(ordering_key(value), plus="+")


def format_micro(micro: int, plus: str = "") -> str:
    """The text of `micro` * 1e-6, with `plus` in front of what is not negative."""
    whole, rest = divmod(abs(micro), MICRO)
    return f"{'-' if micro < 0 else plus}{whole}.{rest:06d}"


def ordered_sum(values: Iterable[float]) -> float:
    """The sum from left to right, rounded at every step.

    `sum` is compensated since Python 3.12 and numpy adds in pairs: either gives other last bits.
    """
    total = 0.0
    for value in values:
        total += value
    return total


def mean(values: Sequence[float]) -> float:
    """`ordered_sum` over their number; raises ValueError for no values."""
    if not values:
        raise ValueError("no values have no mean")
    return ordered_sum(values) / len(values)
