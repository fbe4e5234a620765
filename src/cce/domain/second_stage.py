"""The second stage of a system: a reranker scores the first results again, and they are sorted anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

NO_RERANKER = "none"
"""What a variant writes as `rerank` to go without the reranker of its base."""

DEFAULT_DEPTH = 20


class SecondStage(NamedTuple):
    """The keys of a second stage as a table has them; None where it leaves one out.

    rerank     the name of the reranker
    options    the reranker's own
    depth      how many first-stage results it scores
    max_words  a passage is cut to its first words before it is scored; None for no cut
    blend      sort by both orders fused, instead of by the scores alone
    """

    rerank: str | None = None
    options: Mapping[str, Any] | None = None
    depth: int | None = None
    max_words: int | None = None
    blend: bool | None = None

    @property
    def is_active(self) -> bool:
        """Whether anything is scored."""
        return self.rerank not in (None, NO_RERANKER)

    def over(self, base: SecondStage) -> SecondStage:
        """The keys of a variant of `base`: its own, else those of the base.

        The options of a reranker go with it: another reranker starts without any.
        """
        options = self.options
        if options is None and self.rerank in (None, base.rerank):
            options = base.options
        return SecondStage(
            base.rerank if self.rerank is None else self.rerank,
            options,
            base.depth if self.depth is None else self.depth,
            base.max_words if self.max_words is None else self.max_words,
            base.blend if self.blend is None else self.blend,
        )


NO_SECOND_STAGE = SecondStage()


class StageCounts(NamedTuple):
    """What a second stage did for one query.

    n_pairs  passages that it scored
    n_ties   neighbours with equal scores, of which at least one is among the final results
    n_cut    passages that were cut before they were scored
    """

    n_pairs: int = 0
    n_ties: int = 0
    n_cut: int = 0


class StageParts(NamedTuple):
    """How a second stage placed a result.

    first_rank  1-based rank in the first stage
    raw_score   what the reranker gave; None for a result beyond its depth
    beyond      words of the query that stand only behind the cut of the passage, in query order
    """

    first_rank: int
    raw_score: float | None
    beyond: tuple[str, ...] = ()
