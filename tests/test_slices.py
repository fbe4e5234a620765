from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case
from cce.domain.evidence import EvidenceOptions, SliceDifference, SliceMeans
from cce.domain.scores import BackendScore
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.evidence.slices import positions_by_tag, slice_evidence
from score_rows import score_of_columns


def case(*tags: str) -> Case:
    return Case("q", "a query", (parse_anchor("a.py"),), 10, line=1, tags=tags)


def mrr(backend: str, *figures: float | None) -> BackendScore:
    return score_of_columns(backend, {"mrr": figures})


def test_tags_come_in_byte_order_and_the_untagged_last() -> None:
    cases = [case("b"), case(), case("é"), case("Z", "b"), case("a")]
    assert positions_by_tag(cases) == [
        ("Z", [3]),
        ("a", [4]),
        ("b", [0, 3]),
        ("é", [2]),
        (None, [1]),
    ]


def test_the_name_of_the_last_slice_is_not_a_tag() -> None:
    slices = slice_evidence(("mrr",), [case("zzz"), case()], [mrr("a", 1.0, 0.0)])
    assert [each.name for each in slices] == ["zzz", "(untagged)"]
    assert [each.tag for each in slices] == ["zzz", None]


def test_a_set_without_tags_has_no_slices() -> None:
    assert slice_evidence(("mrr",), [case(), case()], [mrr("a", 1.0, 0.0)]) == ()


def test_a_set_where_every_case_has_a_tag_has_no_untagged_slice() -> None:
    assert [tag for tag, _ in positions_by_tag([case("x"), case("x")])] == ["x"]


def test_a_tag_that_a_case_repeats_counts_it_once() -> None:
    assert positions_by_tag([case("x", "x")]) == [("x", [0])]


def test_a_case_with_two_tags_is_in_both_slices() -> None:
    fast, slow = slice_evidence(("mrr",), [case("fast", "slow"), case("slow")], [mrr("a", 1.0, 0.5)])
    assert (fast.n, fast.backends) == (1, (SliceMeans("a", {"mrr": 1.0}),))
    assert (slow.n, slow.backends) == (2, (SliceMeans("a", {"mrr": 0.75}),))


def test_without_a_comparison_there_is_no_difference() -> None:
    (only,) = slice_evidence(("mrr",), [case("x")], [mrr("a", 1.0), mrr("b", 0.5)])
    assert only.compare is None
    assert [each.backend for each in only.backends] == ["a", "b"]


def test_the_difference_of_a_slice_counts_its_own_cases() -> None:
    a, b = mrr("a", 0.0, 0.5, 1.0, 0.25, 0.0), mrr("b", 1.0, 1.0, 0.5, 0.25, 0.0)
    cases = [case("x"), case("x"), case("x"), case("x"), case("y")]
    x, y = slice_evidence(("mrr",), cases, [a, b], (a, b))
    # deltas +1, +1/2, -1/2, 0; two wins and a loss: 2 * (1 + 3) / 8
    assert x.compare == {"mrr": SliceDifference(0.25, better=2, worse=1, tied=1, sign_p=1.0)}
    assert y.compare == {"mrr": SliceDifference(0.0, better=0, worse=0, tied=1, sign_p=1.0)}


def test_four_wins_to_none_in_a_slice_give_an_eighth() -> None:
    a, b = mrr("a", *[0.0] * 4), mrr("b", *[1.0] * 4)
    (only,) = slice_evidence(("mrr",), [case("x")] * 4, [a, b], (a, b))
    assert only.compare == {"mrr": SliceDifference(1.0, better=4, worse=0, tied=0, sign_p=0.125)}


def test_undefined_figures_are_left_out_of_means_and_differences() -> None:
    a, b = mrr("a", None, 0.5, 0.5), mrr("b", 1.0, None, 1.0)
    (only,) = slice_evidence(("mrr",), [case("x")] * 3, [a, b], (a, b))
    assert only.n == 3
    assert [each.metrics["mrr"] for each in only.backends] == [0.5, 1.0]
    assert only.compare == {"mrr": SliceDifference(0.5, better=1, worse=0, tied=0, sign_p=1.0)}


def test_a_slice_where_nothing_is_defined_has_no_mean() -> None:
    a, b = mrr("a", None), mrr("b", None)
    (only,) = slice_evidence(("mrr",), [case("x")], [a, b], (a, b))
    assert only.backends[0].metrics == {"mrr": None}
    assert only.compare == {"mrr": SliceDifference(None, better=0, worse=0, tied=0, sign_p=1.0)}


def test_a_difference_that_prints_as_zero_is_a_tie() -> None:
    a, b = mrr("a", 0.3, 0.0), mrr("b", 0.1 + 0.2, 4e-7)
    (only,) = slice_evidence(("mrr",), [case("x")] * 2, [a, b], (a, b))
    assert only.compare is not None
    assert (only.compare["mrr"].better, only.compare["mrr"].tied) == (0, 2)


@pytest.mark.parametrize(("n", "is_too_few"), [(1, True), (4, True), (5, False)])
def test_under_five_cases_are_too_few(n: int, is_too_few: bool) -> None:
    (only,) = slice_evidence(("mrr",), [case("x")] * n, [mrr("a", *[0.5] * n)])
    assert only.is_too_few == is_too_few


FIGURES = st.lists(
    st.tuples(*[st.one_of(st.none(), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]))] * 2),
    min_size=1,
    max_size=12,
)


@given(FIGURES)
@settings(deadline=None, max_examples=60)
def test_a_slice_of_all_cases_says_what_the_whole_set_says(
    figures: list[tuple[float | None, float | None]],
) -> None:
    a, b = mrr("a", *(x for x, _ in figures)), mrr("b", *(y for _, y in figures))
    (whole,) = slice_evidence(("mrr",), [case("x")] * len(figures), [a, b], (a, b))
    options = EvidenceOptions(metrics=("mrr",), resamples=1)
    evidence = gather_evidence(options, [a, b], (a, b))
    assert evidence.compare is not None
    assert whole.compare is not None
    sliced, of_set = whole.compare["mrr"], evidence.compare.metrics["mrr"]
    assert (sliced.better, sliced.worse, sliced.tied) == (
        len(of_set.better),
        len(of_set.worse),
        of_set.tied,
    )
    assert (sliced.mean_delta, sliced.sign_p) == (of_set.mean_delta, of_set.sign_p)
    assert [each.metrics["mrr"] for each in whole.backends] == [
        each.metrics["mrr"].mean for each in evidence.backends
    ]
