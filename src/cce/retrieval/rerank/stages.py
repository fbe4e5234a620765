"""The second stages of a run: systems share rerankers, passages and what one order gives to both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cce.domain.second_stage import SecondStage
from cce.retrieval.indexing.index import Index
from cce.retrieval.rerank.passages import Passages
from cce.retrieval.rerank.reranker import Reranker
from cce.retrieval.rerank.stage import Stage


class Stages:
    """The second stages over one index, each opened once."""

    def __init__(self, index: Index, *, remember: bool = True) -> None:
        """Without `remember` every pair is scored each time it is asked for, so that it can be timed."""
        self._passages = Passages(index, remember=remember)
        self._remember = remember
        self._rerankers: dict[str, Reranker] = {}
        self._stages: dict[str, Stage] = {}

    def open(self, keys: SecondStage) -> Stage:
        """The active second stage with these keys; raises UsageError and RankingError as a Reranker does."""
        options = dict(keys.options or {})
        key = _key({**keys._asdict(), "options": options})
        if key not in self._stages:
            self._stages[key] = Stage(keys, self._reranker(str(keys.rerank), options), self._passages)
        return self._stages[key]

    def _reranker(self, name: str, options: Mapping[str, Any]) -> Reranker:
        key = _key({"name": name, "options": options})
        if key not in self._rerankers:
            self._rerankers[key] = Reranker(name, options, remembers=self._remember)
        return self._rerankers[key]


def _key(values: Mapping[str, object]) -> str:
    # A systems file has dates, too.
    return json.dumps(values, sort_keys=True, default=str)
