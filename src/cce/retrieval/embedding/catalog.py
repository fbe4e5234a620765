"""What an embedder is, and the embedders by name.

A further embedder is one class that satisfies `Embedder` and one row here, or an entry point of the group
`cce.embedders`. `checking` makes them and holds those of other packages to their laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cce.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatVector = NDArray[np.float64]
    FloatMatrix = NDArray[np.float64]


class Embedder(Protocol):
    """Turns texts into unit vectors, always the same ones for the same text."""

    @property
    def name(self) -> str:
        """What reports and stores call it."""

    @property
    def dimension(self) -> int:
        """Width of every vector; asking may cost a first call of a model."""

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, dimension], one row per text, each of norm 1 or all zero; raises EmbedderError."""


class EmbedderFactory(Protocol):
    """A class of embedders, or a function that makes one."""

    def __call__(self, *, model: str | None = None) -> Embedder:
        """The embedder for `model`, or for its own default; one without models ignores the name.

        An embedder with models has the one in use as its attribute `model`: stores record it.
        """


EMBEDDERS: Registry[EmbedderFactory] = Registry(
    "embedder",
    {
        "hash": "cce.retrieval.embedding.hashing:HashEmbedder",
        "ollama": "cce.retrieval.embedding.ollama:OllamaEmbedder",
    },
    group="cce.embedders",
)
