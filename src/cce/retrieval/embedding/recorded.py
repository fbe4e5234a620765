"""The embedder of a store that a model made: its name on record, the model itself only when needed.

bm25 reads such a store without any server. A query is embedded by the very model that embedded the
chunks, or not at all: scores across two embedding spaces mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cce.errors import EmbedderError, UnknownNameError
from cce.retrieval.embedding.checking import make_embedder

if TYPE_CHECKING:
    from cce.retrieval.embedding.catalog import Embedder, FloatMatrix

_WAY_OUT = "rank with --backend bm25, or index again with an embedder of this machine"


class RecordedEmbedder:
    """Stands in for the embedder `name`, with what a store recorded of it; None where it recorded nothing."""

    def __init__(self, name: str, model: str | None, dimension: int | None) -> None:
        self.name = name
        self.model = model
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """As recorded, else the dimension of the embedder itself."""
        return self._live.dimension if self._dimension is None else self._dimension

    def embed(self, texts: Sequence[bytes]) -> FloatMatrix:
        """float64[n_texts, dimension]; raises EmbedderError unless the same model is here to do it."""
        return self._live.embed(texts)

    @cached_property
    def _live(self) -> Embedder:
        try:
            embedder = make_embedder(self.name, model=self.model)
        except UnknownNameError as exc:
            raise EmbedderError(f"the store needs an {exc}; install its package, or {_WAY_OUT}") from exc
        self._check(embedder)
        return embedder

    def _check(self, embedder: Embedder) -> None:
        model = getattr(embedder, "model", None)
        if model != self.model:
            raise EmbedderError(
                f"the store was embedded by {self.name!r} with {_spell(self.model)}, "
                f"here it has {_spell(model)}; {_WAY_OUT}"
            )
        if self._dimension is not None and embedder.dimension != self._dimension:
            raise EmbedderError(
                f"the store was embedded by {self.name!r} with {_spell(self.model)} in {self._dimension} "
                f"dimensions, here it has {embedder.dimension}; {_WAY_OUT}"
            )


def _spell(model: str | None) -> str:
    return "a model it does not name" if model is None else f"model {model!r}"
