"""The second stage that a table describes, opened over one index."""

from __future__ import annotations

from cce.domain.systems import SystemTable
from cce.quoting import on_one_line
from cce.retrieval.indexing.index import Index
from cce.retrieval.rerank.catalog import RERANKERS
from cce.retrieval.rerank.stage import Stage
from cce.retrieval.rerank.stages import Stages
from cce.retrieval.systems.options import require_options


def open_stage(table: SystemTable, index: Index, stages: Stages | None = None) -> Stage:
    """The active second stage of `table`; raises UsageError, RankingError if the reranker cannot be made.

    stages  those of the run over `index`; None for one of its own
    """
    keys = table.stage
    place = f"{on_one_line(table.origin)}: system.{table.name}.rerank_options"
    require_options(RERANKERS.load(str(keys.rerank)), keys.options or {}, place)
    return (stages or Stages(index)).open(keys)
