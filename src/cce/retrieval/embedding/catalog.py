"""The embedders by name, and how one is made."""

from __future__ import annotations

from typing import Protocol

from cce.registry import Registry
from cce.retrieval.embedding.contract import Embedder


class EmbedderFactory(Protocol):
    """A class of embedders, or a function that makes one."""

    def __call__(self, *, model: str | None = None) -> Embedder:
        """The embedder for `model`, or for its own default; one without models ignores the name.

        An embedder with models shows the one in use as its attribute `model`: stores record it.
        """


EMBEDDERS: Registry[EmbedderFactory] = Registry(
    "embedder",
    {
        "hash": "cce.retrieval.embedding.hashing:HashEmbedder",
        "ollama": "cce.retrieval.embedding.ollama:OllamaEmbedder",
    },
    group="cce.embedders",
)
