"""What the answers of a system cost, as means a query: results and a price in, costs out.

Nothing is timed here, so that a report stays the same from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cce.domain.costs import Costs
from cce.domain.ranking import Chunk, Location, Ranking
from cce.domain.systems import Price
from cce.measurement.matching.spans import Span
from cce.numerals import mean
from cce.tokens import estimate_tokens

TextLength = Callable[[str, Span], int | None]
"""File path and lines -> the length of these lines in bytes; None for a file that is not in the corpus."""


def costs_of(
    rankings: Sequence[Ranking],
    pairs: Sequence[int],
    price: Price | None,
    length: Callable[[Chunk | Location], int],
) -> Costs:
    """The costs of at least one query; `pairs` has the scored passages of each ranking.

    length  the bytes of a result, as `text_length` gives them
    """
    tokens = mean([float(sum(estimate_tokens(length(hit.chunk)) for hit in ranking)) for ranking in rankings])
    scored = mean([float(n_pairs) for n_pairs in pairs])
    if price is None:
        return Costs(scored, tokens)
    return Costs(scored, tokens, estimate(price, scored, tokens), price.unit)


def estimate(price: Price, pairs: float, tokens: float) -> float:
    """What a query costs that has `pairs` passages scored and returns `tokens`, in the unit of the price."""
    # A query of price 4 whose 10 passages cost 1.5 each: 4 + 1.5 x 10 = 19.
    return price.query + price.pair * pairs + price.ktoken * tokens / 1000


def text_length(found: Chunk | Location, corpus: TextLength) -> int:
    """The bytes of a result: of its lines in the corpus, else of the text that the system returned."""
    if isinstance(found, Chunk):
        return len(found.content)
    if not found.is_outside and found.start_line is not None and found.end_line is not None:
        length = corpus(found.file_path, (found.start_line, found.end_line))
        if length is not None:
            return length
    return len((found.text or "").encode())
