"""Two sides of a comparison in, which of their cases are the same out: by id and by digest of the labels.

A figure can be compared with an earlier one only where both answered the same question. Without digests
cases are the same by id and k.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class SameCase(NamedTuple):
    """One case on both sides, by its 0-based positions."""

    then: int
    now: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which cases are the same.

    same     in the order of the newer side
    renamed  the id then and now, of those in `same` whose ids differ
    changed  ids on both sides whose labels differ
    added    ids of the newer side without a partner
    removed  ids of the older side without a partner
    is_foreign  whether the sides have nothing in common, no id and no digest
    """

    same: tuple[SameCase, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Digested:
    """The digests of both sides by position: one for each case then, all that stand for it now."""

    then: Sequence[str]
    now: Sequence[Sequence[str]]

    def agree(self, then: int, now: int) -> bool:
        """Whether the case at `then` has the labels of the case at `now`."""
        return self.then[then] in self.now[now]


def pair_by_labels(then: Sequence[str], now: Sequence[str], digests: Digested) -> Pairing:
    """Pair the cases with these ids, unique on each side, by id and digest."""
    olds, news = _positions(then), _positions(now)
    same = {new: olds[name] for name, new in news.items() if name in olds and digests.agree(olds[name], new)}
    paired = {**same, **_renamed(olds, news, same, digests)}
    taken = set(paired.values())
    free = {name: at for name, at in news.items() if at not in paired}
    changed = [name for name in free if name in olds and olds[name] not in taken]
    told = set(changed)
    return Pairing(
        same=tuple(SameCase(paired[at], at) for at in sorted(paired)),
        renamed=tuple((then[paired[at]], now[at]) for at in sorted(paired) if then[paired[at]] != now[at]),
        changed=tuple(changed),
        added=tuple(name for name in free if name not in told),
        removed=tuple(name for name, at in olds.items() if at not in taken and name not in told),
        is_foreign=olds.keys().isdisjoint(news) and {*digests.then}.isdisjoint(_flat(digests.now)),
    )


def pair_by_ids(then: Mapping[str, int], now: Mapping[str, int]) -> Pairing:
    """Pair cases by id and k, each side as id -> k; a case with another k left and came."""
    olds, news = _positions(then), _positions(now)
    same = [SameCase(olds[name], at) for name, at in news.items() if then.get(name) == now[name]]
    return Pairing(
        same=tuple(same),
        added=tuple(name for name, k in now.items() if then.get(name) != k),
        removed=tuple(name for name in then if name not in now),
        is_foreign=not same,
    )


def _renamed(
    olds: Mapping[str, int], news: Mapping[str, int], same: Mapping[int, int], digests: Digested
) -> dict[int, int]:
    """Position now -> then of cases under another id, where only one case can be meant on either side."""
    taken = set(same.values())
    free_now = {at: name for name, at in news.items() if at not in same}
    free_then = {at: name for name, at in olds.items() if at not in taken}
    by_digest: defaultdict[str, list[int]] = defaultdict(list)
    for at in free_then:
        by_digest[digests.then[at]].append(at)
    candidates = {at: sorted({*_flat(by_digest.get(d, ()) for d in digests.now[at])}) for at in free_now}
    n_wanted: defaultdict[int, int] = defaultdict(int)
    for at in _flat(candidates.values()):
        n_wanted[at] += 1
    return {
        at: found[0]
        for at, found in candidates.items()
        if len(found) == 1
        and n_wanted[found[0]] == 1
        # Of two ids that both sides have neither was renamed: their labels were exchanged.
        and (free_now[at] not in olds or free_then[found[0]] not in news)
    }


def _flat(lists: Iterable[Sequence[T]]) -> Iterator[T]:
    for each in lists:
        yield from each


def _positions(ids: Iterable[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(ids)}
