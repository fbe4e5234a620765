"""Reports: everything a renderer shows, with nothing left to compute."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.costs import Costs
from cce.domain.redaction import Redaction
from cce.domain.scores import BackendScore

if TYPE_CHECKING:
    from cce.domain.comparison import Comparison
    from cce.domain.evidence import Evidence
    from cce.domain.labels import Labels, MadeBy


_NOTHING: Mapping[str, Mapping[str, object]] = MappingProxyType({})
_FREE: Mapping[str, Costs] = MappingProxyType({})


class SavedPair(NamedTuple):
    """The files of two saved reports that were compared, and how many cases only one of them has.

    `notices` are warnings about what the files hold.
    """

    old: str
    new: str
    n_left_out: int
    notices: tuple[str, ...] = ()


class Report(NamedTuple):
    """What was measured: `corpus` as the user named it, one score per backend in report order.

    `saved` is set where the figures come from two reports; their six decimals are all there is.
    `redaction` is what the text went through. `notes` are what the reader should know of the systems, where
    they were asked for; `systems` maps those that are more than a bare name to what they are, `costs` all to
    what they cost, where a price was given. `figures` names the metrics beside those of every report whose
    figures a saved report keeps for each case, `labels` what the cases were labelled with, and `made_by` what
    a baseline was measured with.
    """

    corpus: str
    embedder: str
    n_queries: int
    backends: tuple[BackendScore, ...]
    comparison: Comparison | None
    evidence: Evidence | None = None
    saved: SavedPair | None = None
    redaction: Redaction = Redaction.STANDARD
    notes: tuple[str, ...] = ()
    systems: Mapping[str, Mapping[str, object]] = _NOTHING
    costs: Mapping[str, Costs] = _FREE
    figures: tuple[str, ...] = ()
    labels: Labels | None = None
    made_by: MadeBy | None = None
