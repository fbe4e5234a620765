"""The second stage that a table describes, opened over one index."""

from __future__ import annotations

from cce.domain.systems import SystemTable
from cce.quoting import on_one_line
from cce.retrieval.indexing.index import Index
from cce.retrieval.rerank.catalog import RERANKERS
from cce.retrieval.rerank.reranker import Rerankers
from cce.retrieval.rerank.stage import Stage
from cce.retrieval.systems.options import require_options


def open_stage(table: SystemTable, index: Index, rerankers: Rerankers | None = None) -> Stage:
    """The active second stage of `table`; raises UsageError, RankingError if the reranker cannot be made.

    rerankers  those of the run over `index`; None for one of its own
    """
    rerankers = rerankers or Rerankers(index)
    keys = table.stage
    name, options = str(keys.rerank), keys.options or {}
    place = f"{on_one_line(table.origin)}: system.{table.name}.rerank_options"
    require_options(RERANKERS.load(name), options, place)
    return Stage(keys, rerankers.open(name, options), rerankers.passages)
