"""Results that are no chunks, shown with what the corpus says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.spans import LineWeights

if TYPE_CHECKING:
    from cce.measurement.matching.drilldown import LocationView
    from cce.retrieval.indexing.index import Index


def location_view(index: Index | None) -> LocationView:
    """What a drill-down shows locations by; `index` is None where there is no corpus."""
    from cce.measurement.matching.drilldown import LocationView  # text and JSON reports have no drill-down

    if index is None:
        return LocationView(Matcher(None, LineWeights(lambda _path: ())), lambda _path, _first, _last: b"")
    return LocationView(Matcher(index.chunks, LineWeights(index.outer_chunks_of)), index.text)
