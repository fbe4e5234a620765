"""Two saved reports that say how their cases were labelled: cases are the same by their labels.

A renamed case gets its old id, and a case whose labels changed is left out, so that `pairing` can pair the
rest by id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cce.domain.scores import BackendScore
from cce.errors import UsageError
from cce.measurement.reports.exams import Digested, Pairing, pair_by_labels
from cce.measurement.reports.pairing import select_paired
from cce.measurement.reports.reading import SavedReport
from cce.quoting import counted, listed, listed_with_rest, on_one_line, quoted

_N_SHOWN = 5


def under_old_ids(
    reports: tuple[SavedReport, SavedReport],
    scores: tuple[BackendScore, BackendScore],
    *,
    only_shared: bool,
) -> tuple[BackendScore, tuple[str, ...]]:
    """The newer of two `scores` with the ids of the older one, and what there is to say about it.

    It stays as it is unless both reports have labels. Raises UsageError for cases whose labels changed, with
    `only_shared` only if no other case is left.
    """
    pairing = _pairing(*reports, *scores)
    if pairing is None:
        return scores[1], ()
    new, old_ids = scores[1], {now: then for then, now in pairing.renamed}
    # An id that went to another case has other labels, too.
    left_out = (*pairing.changed, *(name for name in pairing.added if name in old_ids.values()))
    _require_comparable(reports, left_out, has_others=bool(pairing.same), only_shared=only_shared)
    kept = [at for at, name in enumerate(new.ids) if name not in left_out]
    selected = select_paired(new, kept)
    ids = tuple(old_ids.get(name, name) for name in selected.ids)
    return selected._replace(ids=ids), tuple(_notices(reports[1], pairing, left_out))


def _pairing(old: SavedReport, new: SavedReport, then: BackendScore, now: BackendScore) -> Pairing | None:
    if old.labels is None or new.labels is None:
        return None
    digests = Digested(
        [old.labels[name].digest for name in then.ids], [(new.labels[name].digest,) for name in now.ids]
    )
    return pair_by_labels(then.ids, now.ids, digests)


def _require_comparable(
    reports: tuple[SavedReport, SavedReport], changed: Sequence[str], *, has_others: bool, only_shared: bool
) -> None:
    if not changed or (only_shared and has_others):
        return
    old, new = (on_one_line(report.path) for report in reports)
    few = listed(map(quoted, changed), len(changed), _N_SHOWN)
    fault = f"the labels of {counted(len(changed), 'case')} changed from {old} to {new}: {few}"
    if not has_others:
        raise UsageError(f"{fault}; no other case is in both: compare reports of the same labels")
    raise UsageError(f"{fault}; compare reports of the same labels, or give --common for the others")


def _notices(new: SavedReport, pairing: Pairing, left_out: Sequence[str]) -> Iterator[str]:
    place = on_one_line(new.path)
    if pairing.renamed:
        texts = (f"{on_one_line(then)} is now {on_one_line(now)}" for then, now in pairing.renamed)
        few = listed_with_rest(texts, len(pairing.renamed), _N_SHOWN)
        yield f"{place}: {counted(len(pairing.renamed), 'case')} renamed ({few})"
    if left_out:
        few = listed_with_rest(map(on_one_line, left_out), len(left_out), _N_SHOWN)
        yield f"{place}: labels changed for {counted(len(left_out), 'case')} ({few}), left out here"
