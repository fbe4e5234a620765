"""What a comparison could be if the results that nobody judged were relevant.

Two systems' rankings and a set with `irrelevant` places enter, one line for the reader leaves. A case without
such a place counts as it is: nobody noted what was looked at, so every result would be unjudged there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.matches import CaseMatch
from cce.measurement.matching.scoping import ScopedCase
from cce.measurement.metrics.ranked import hit, precision_at_k, reciprocal_rank
from cce.numerals import format_signed, mean, ordering_key
from cce.quoting import counted, on_one_line

_METRICS: Mapping[str, Callable[[CaseMatch], float]] = {
    "precision_at_k": precision_at_k,
    "mrr": reciprocal_rank,
    "hit": hit,
}
"""Those that are known once each result is known to be relevant or not; recall also asks which anchor."""


class Side(NamedTuple):
    """One system of a comparison, case by case; `scoped` are the cases as its scopes leave them."""

    name: str
    scoped: Sequence[ScopedCase]
    rankings: Sequence[Ranking]


class Extremes(NamedTuple):
    """The mean difference B - A of one metric, as judged and with what one side alone returned relevant."""

    if_a: float
    as_judged: float
    if_b: float

    @property
    def is_flipped(self) -> bool:
        """Whether the side that is better as judged is worse at an extreme; what prints as 0 has no sign."""
        signs = [(key > 0) - (key < 0) for key in map(ordering_key, self)]
        return any(sign * signs[1] < 0 for sign in signs)


class Unjudged(NamedTuple):
    """How many unjudged results each side alone returned, and what these could change.

    n_unnoted  cases without an irrelevant place
    """

    n_of_a: int
    n_of_b: int
    n_unnoted: int
    extremes: Mapping[str, Extremes]

    @property
    def flipped(self) -> tuple[str, ...]:
        """The metrics whose sign depends on results that nobody judged."""
        return tuple(name for name, extremes in self.extremes.items() if extremes.is_flipped)


class _Judged(NamedTuple):
    """One case of one side: its match as judged, and with what this side alone returned relevant."""

    as_judged: CaseMatch
    at_best: CaseMatch
    n_own: int


def unjudged_results(fixtures: FixtureSet, a: Side, b: Side, matcher: Matcher) -> Unjudged | None:
    """What nobody judged could change; None where no side alone returned any such result."""
    of_a = list(_judged(a, b, matcher))
    of_b = list(_judged(b, a, matcher))
    n_of_a, n_of_b = sum(each.n_own for each in of_a), sum(each.n_own for each in of_b)
    if not n_of_a + n_of_b:
        return None
    n_unnoted = sum(1 for case in fixtures.cases if not case.irrelevant)
    extremes = {name: _extremes(figure, of_a, of_b) for name, figure in _METRICS.items()}
    return Unjudged(n_of_a, n_of_b, n_unnoted, extremes)


def unjudged_notice(found: Unjudged, fixtures: FixtureSet, a: str, b: str) -> str:
    """One line: the differences at both extremes, and the way out if a sign depends on them."""
    a, b, path = on_one_line(a), on_one_line(b), on_one_line(fixtures.path)
    ranges = "; ".join(
        f"{name} {', '.join(map(format_signed, extremes))}" for name, extremes in found.extremes.items()
    )
    text = (
        f"unjudged results: {a} alone returned {found.n_of_a}, {b} alone {found.n_of_b}; "
        f"{b} - {a} if those of {a} were relevant, as judged, and if those of {b} were: {ranges}"
    )
    if found.n_unnoted:
        text += f"; {counted(found.n_unnoted, 'case')} without an irrelevant place counted as judged"
    if not found.flipped:
        return text
    asked = ",".join(name for name, n in ((a, found.n_of_a), (b, found.n_of_b)) if n)
    return (
        f"{text}; the sign of {', '.join(found.flipped)} flips: judge them with: "
        f"cce fixtures draft --extend {path} --backend {asked}, then cce fixtures label {path}"
    )


def _judged(side: Side, other: Side, matcher: Matcher) -> Iterator[_Judged]:
    for scoped, ranking, others in zip(side.scoped, side.rankings, other.rankings, strict=True):
        case = scoped.case
        if not case.anchors:  # its scope leaves none, and the case scores 0
            nothing = CaseMatch(case.k, (), ())
            yield _Judged(nothing, nothing, 0)
            continue
        match = matcher.match(case, ranking, (), scoped.allowed)
        own = () if not case.irrelevant else _own(scoped, ranking, others, match, matcher)
        at_best = tuple((0,) if at in own else matched for at, matched in enumerate(match.matches))
        yield _Judged(match, match._replace(matches=at_best), len(own))


def _own(
    scoped: ScopedCase, ranking: Ranking, others: Ranking, match: CaseMatch, matcher: Matcher
) -> tuple[int, ...]:
    """Positions of the unjudged results in the corpus that the other side did not return."""
    case = scoped.case
    forbidden = matcher.match(case._replace(anchors=case.forbidden), ranking, (), scoped.allowed).matches
    returned = {_place(hit) for hit in others[: case.k]}
    return tuple(
        at
        for at, (hit, matched, no) in enumerate(zip(ranking, match.matches, forbidden, strict=False))
        if not (matched or no or _is_outside(hit)) and _place(hit) not in returned
    )


def _place(hit: Hit) -> tuple[str, int | None, int | None]:
    return hit.chunk.file_path, hit.chunk.start_line, hit.chunk.end_line


def _is_outside(hit: Hit) -> bool:
    return not isinstance(hit.chunk, Chunk) and hit.chunk.is_outside


def _extremes(
    figure: Callable[[CaseMatch], float], of_a: Sequence[_Judged], of_b: Sequence[_Judged]
) -> Extremes:
    judged_a, judged_b = ([figure(each.as_judged) for each in side] for side in (of_a, of_b))
    best_a, best_b = ([figure(each.at_best) for each in side] for side in (of_a, of_b))
    return Extremes(
        if_a=_difference(best_a, judged_b),
        as_judged=_difference(judged_a, judged_b),
        if_b=_difference(judged_a, best_b),
    )


def _difference(of_a: Sequence[float], of_b: Sequence[float]) -> float:
    return mean(of_b) - mean(of_a)
