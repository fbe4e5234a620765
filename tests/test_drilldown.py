from __future__ import annotations

from cce.measurement.matching.drilldown import N_LINE_CHARACTERS, drill_down, opening
from full_reports import CASES, RANKINGS


def test_every_hit_says_which_anchors_it_matches() -> None:
    lost = drill_down(CASES, RANKINGS)[1]
    assert [each.backend for each in lost.rankings] == ["bm25", "hybrid"]
    assert [(hit.rank, hit.path, hit.matches) for hit in lost.rankings[0].hits] == [
        (1, "a.py", (0,)),
        (2, "b.py", (1,)),
    ]
    assert [(hit.rank, hit.path, hit.matches) for hit in lost.rankings[1].hits] == [(1, "c.py", ())]


def test_hits_beyond_k_are_left_out() -> None:
    # bm25 gave three results to `lost`, whose k is 2.
    assert len(RANKINGS["bm25"][1]) == 3
    assert len(drill_down(CASES, RANKINGS)[1].rankings[0].hits) == 2


def test_an_empty_ranking_stays() -> None:
    assert drill_down(CASES, RANKINGS)[2].rankings[0].hits == ()


def test_a_case_keeps_what_its_label_says() -> None:
    both, lost, won = drill_down(CASES, RANKINGS)
    assert (both.critical, both.note, both.line, both.tags) == (True, "Not its callers.", 2, ("symbol",))
    assert (lost.anchors, lost.grades) == (("a.py", "b.py@1-2"), (1, 1))
    assert won.grades == (3,)


def test_a_short_chunk_opens_whole() -> None:
    assert opening(b"def f():\n    return 1\n") == "def f():\n    return 1"


def test_an_empty_chunk_has_no_opening() -> None:
    assert opening(b"") == ""


def test_the_fifth_line_is_cut_and_an_ellipsis_says_so() -> None:
    assert opening(b"1\n2\n3\n4\n5\n") == "1\n2\n3\n4\n…"
    assert opening(b"1\n2\n3\n4") == "1\n2\n3\n4"


def test_a_long_line_is_cut_at_a_character() -> None:
    line = "é" * N_LINE_CHARACTERS
    assert opening(line.encode()) == line
    assert opening(f"{line}é".encode()) == f"{line}…"


def test_a_line_far_longer_than_a_page_wants_costs_no_half_character() -> None:
    # 100,000 characters of four bytes each.
    assert opening(("𝄞" * 100_000).encode()) == "𝄞" * N_LINE_CHARACTERS + "…"


def test_carriage_returns_at_line_ends_are_dropped() -> None:
    assert opening(b"a\r\nb\r\n") == "a\nb"
