"""One figure in, the text of its cell out, the same in every format for people.

An undefined figure is `n/a`: a mean over no case, the bounds of a single case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cce.domain.ranking import Chunk, Location
from cce.numerals import MICRO, format_score, format_signed, ordering_key

if TYPE_CHECKING:
    from cce.domain.ranking_account import Share

UNDEFINED = "n/a"
UNKNOWN_KIND = "-"
_SIX_DECIMALS = r"([+-]?)\b([0-9]+)\.([0-9]{6})\b"  # compiled when a page is first rendered
LABELS = {"precision_at_k": "P@k", "recall": "recall", "mrr": "MRR", "f1": "F1"}


def place(result: Chunk | Location) -> str:
    """Where a result stands: `a.py:3-9`, or `a.py` for a file whose lines are unknown; text from outside."""
    if result.start_line is None:
        return result.file_path
    return f"{result.file_path}:{result.start_line}-{result.end_line}"


def kind(result: Chunk | Location) -> str:
    """The kind of a chunk, or of the chunk that a location is most like; text from outside."""
    return result.kind if isinstance(result, Chunk) else result.likeness or result.kind or UNKNOWN_KIND


def label(metric: str) -> str:
    """A metric as tables name it."""
    return LABELS.get(metric, metric)


def unsigned(value: float | None) -> str:
    """Six decimals: a score or a p value."""
    return UNDEFINED if value is None else format_score(value)


def signed(value: float | None) -> str:
    """Six decimals with a sign: a difference."""
    return UNDEFINED if value is None else format_signed(value)


def number(value: int | None) -> str:
    """A count."""
    return UNDEFINED if value is None else str(value)


def brief(text: str) -> str:
    """`text` with three decimals where it has six: `0.774` for `0.774306`, `<0.001` for `0.000049`."""
    return re.sub(_SIX_DECIMALS, _three_decimals, text)


def _three_decimals(found: re.Match[str]) -> str:
    sign, whole, decimals = found.groups()
    micro = int(whole) * MICRO + int(decimals)
    thousandths = (micro + 500) // 1000
    if not sign and micro and not thousandths:
        return "<0.001"  # a p value that is small is not 0
    return f"{sign}{thousandths // 1000}.{thousandths % 1000:03d}"


def bounds(low: float | None, high: float | None) -> str:
    """`[0.100000, 0.300000]`: an interval of scores."""
    return UNDEFINED if low is None or high is None else f"[{format_score(low)}, {format_score(high)}]"


def signed_bounds(low: float | None, high: float | None) -> str:
    """`[-0.100000, +0.300000]`: an interval of differences."""
    return UNDEFINED if low is None or high is None else f"[{format_signed(low)}, {format_signed(high)}]"


def first_rank(rank: int | None) -> str:
    """The rank of the first relevant result, 1-based."""
    return "none" if rank is None else str(rank)


def direction(delta: float | None) -> int:
    """1 for better, -1 for worse, 0 for what is undefined or prints as 0."""
    micro = 0 if delta is None else ordering_key(delta)
    return (micro > 0) - (micro < 0)


def percent(fraction: float) -> str:
    """`fraction` as a percentage with two decimals, rounded half away from zero on 1e-6: `12.35%`."""
    whole, rest = divmod((ordering_key(fraction) + 50) // 100, 100)
    return f"{whole}.{rest:02d}%"


def micro_shares(shares: Iterable[Share]) -> list[int]:
    """The shares of a score in units of 1e-6, which sum to the score as it prints.

    Each is the difference of two rounded running sums, so the last digit of one may be off by one.
    Example: three shares of 0.3333334 print as 333333, 333334 and 333333, and their score as 1000000.
    """
    micros, total, rounded = [], 0.0, 0
    for share in shares:
        total += share.value
        micros.append(ordering_key(total) - rounded)
        rounded += micros[-1]
    return micros
