"""The embedders by name."""

from __future__ import annotations

from collections.abc import Callable

from cce.registry import Registry
from cce.retrieval.embedding.contract import Embedder

EMBEDDERS: Registry[Callable[[], Embedder]] = Registry(
    "embedder",
    {"hash": "cce.retrieval.embedding.hashing:HashEmbedder"},
    group="cce.embedders",
)
