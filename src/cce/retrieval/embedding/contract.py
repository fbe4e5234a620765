"""What an embedder is: a name, a dimension, and texts that become vectors.

A third embedder is one class that satisfies `Embedder` and one row in `catalog.py`, or an entry
point of the group named there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

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
        """float64[n_texts, dimension], one row a text, each of norm 1 or all zero; raises EmbedderError."""
