"""The rerankers by name, in the order in which messages list them."""

from __future__ import annotations

from cce.registry import Registry
from cce.retrieval.rerank.contract import PairScorerFactory

RERANKERS: Registry[PairScorerFactory] = Registry(
    "reranker",
    {
        "overlap": "cce.retrieval.rerank.overlap:Overlap",
        "features": "cce.retrieval.rerank.features:Features",
    },
    group="cce.rerankers",
)
