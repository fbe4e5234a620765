"""The backends by name, in the order in which messages list them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cce.registry import Registry

if TYPE_CHECKING:
    from cce.retrieval.backends.contract import BackendFactory

DEFAULT_BACKENDS = ("bm25", "vector", "hybrid")

BACKENDS: Registry[BackendFactory] = Registry(
    "backend",
    {
        "bm25": "cce.retrieval.backends.bm25:Bm25Backend",
        "vector": "cce.retrieval.backends.vector:VectorBackend",
        "hybrid": "cce.retrieval.backends.hybrid:HybridBackend",
        "bm25-okapi": "cce.retrieval.backends.classic:Bm25OkapiBackend",
        "bm25-plus": "cce.retrieval.backends.classic:Bm25PlusBackend",
        "bm25-l": "cce.retrieval.backends.classic:Bm25LBackend",
    },
    group="cce.backends",
)
