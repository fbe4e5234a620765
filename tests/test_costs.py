"""Costs a query, each to be checked by hand."""

from __future__ import annotations

import pytest

from cce.domain.costs import Costs
from cce.domain.ranking import Chunk, Hit, Location
from cce.domain.systems import Price
from cce.measurement.costs import costs_of, estimate, text_length
from cce.measurement.matching.spans import Span


def chunk(content: bytes) -> Chunk:
    return Chunk("id", "a.py", 1, 2, "module", "module", "python", content, 1)


def of_four_bytes_a_line(path: str, span: Span) -> int | None:
    return 4 * (span[1] - span[0] + 1) if path == "a.py" else None


def test_a_query_and_ten_scored_passages_cost_nineteen() -> None:
    assert estimate(Price(query=4, pair=1.5), pairs=10, tokens=0) == 19.0


def test_tokens_are_priced_by_the_thousand() -> None:
    assert estimate(Price(ktoken=0.02), pairs=0, tokens=500) == pytest.approx(0.01)


def test_costs_are_means_a_query() -> None:
    # 40 and 0 bytes are 10 and 0 tokens; 10 and 20 passages.
    rankings = [(Hit(chunk(b"x" * 20), 1.0), Hit(chunk(b"x" * 20), 0.5)), ()]
    costs = costs_of(
        rankings, [10, 20], Price(query=4, pair=1.5), lambda found: text_length(found, no_corpus)
    )
    assert costs == Costs(15.0, 5.0, 4 + 1.5 * 15, "ms")


def test_there_is_no_estimate_without_a_price() -> None:
    assert costs_of([()], [0], None, lambda found: 0) == Costs(0.0, 0.0, None)


def no_corpus(path: str, span: Span) -> int | None:
    return None


@pytest.mark.parametrize(
    ("location", "n_bytes"),
    [
        (Location("a.py", 3, 5, text="other"), 12),  # the corpus says what these lines hold
        (Location("b.py", 3, 5, text="é"), 2),  # not in the corpus
        (Location("a.py", text="whole"), 5),  # no lines
        (Location("a.py", 3, 5, text="text", is_outside=True), 4),
        (Location("b.py", 3, 5), 0),
    ],
)
def test_a_result_is_as_long_as_its_lines_in_the_corpus_else_its_text(
    location: Location, n_bytes: int
) -> None:
    assert text_length(location, of_four_bytes_a_line) == n_bytes
