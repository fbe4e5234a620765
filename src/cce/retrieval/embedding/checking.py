"""The laws of embedders, checked where vectors enter; the error names the plug-in that breaks one.

A vector of the wrong norm or width would silently become a wrong cosine, so every block of vectors
that a plug-in gives is checked before anything is computed from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from cce.errors import EmbedderError
from cce.registry import ask_plug_in
from cce.retrieval.embedding.catalog import EMBEDDERS

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import Embedder, FloatMatrix

# Vectors that a model normalised in float32 have a norm within about 1e-6 of 1: each number is off by at most
# 6e-8 of itself. Ten times that passes, and moves no cosine by more than 1e-5.
_NORM_TOLERANCE = 1e-5


def make_embedder(name: str, *, model: str | None = None) -> Embedder:
    """The embedder called `name`, for `model` or for its own default.

    Raises UnknownNameError, UsageError for one that cannot be loaded, EmbedderError for one that fails.
    """
    factory = EMBEDDERS.load(name)
    if EMBEDDERS.package_of(name) is None:
        return factory(model=model)
    culprit = EMBEDDERS.spell(name)
    return CheckedEmbedder(ask_plug_in(culprit, EmbedderError, lambda: factory(model=model)), culprit)


class CheckedEmbedder:
    """An embedder of another package, held to the laws of `Embedder`."""

    def __init__(self, embedder: Embedder, culprit: str) -> None:
        """`culprit` names the embedder and its package in messages."""
        self._embedder = embedder
        self._culprit = culprit

    @property
    def name(self) -> str:
        """As the embedder says."""
        name = ask_plug_in(self._culprit, EmbedderError, lambda: self._embedder.name)
        if not isinstance(name, str) or not name:
            self._fail(f"its name must be a text, got {name!r}")
        return name

    @property
    def model(self) -> str | None:
        """The model in use, None for an embedder without models."""
        model: str | None = getattr(self._embedder, "model", None)
        return model

    @property
    def dimension(self) -> int:
        """Width of every vector."""
        dimension = ask_plug_in(self._culprit, EmbedderError, lambda: self._embedder.dimension)
        if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 1:
            self._fail(f"its dimension must be a positive integer, got {dimension!r}")
        return dimension

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, dimension], each row of norm 1 or zero; raises EmbedderError otherwise."""
        import numpy as np

        vectors = ask_plug_in(self._culprit, EmbedderError, self._embedder.embed, texts)
        try:
            matrix: FloatMatrix = np.asarray(vectors, np.float64)
        except (TypeError, ValueError):
            self._fail("vectors must be numbers, one row per text")
        expected = (len(texts), self.dimension)
        if matrix.shape != expected:
            self._fail(f"vectors have the shape {matrix.shape}, expected {expected}")
        norms = np.sqrt((matrix * matrix).sum(axis=1))
        is_wrong = ~((np.abs(norms - 1.0) <= _NORM_TOLERANCE) | (norms == 0.0))  # NaN is neither
        if is_wrong.any():
            row = int(is_wrong.argmax())
            self._fail(f"vector {row + 1} of {len(texts)} has the norm {norms[row]:g}, expected 1 or 0")
        return matrix

    def _fail(self, fault: str) -> NoReturn:
        raise EmbedderError(f"{self._culprit}: {fault}")
