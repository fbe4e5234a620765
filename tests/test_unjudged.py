"""What unjudged results could change in a comparison: both extremes, by hand, and what the report says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.ranking import Hit, Location, Ranking
from cce.measurement.matching.matcher import Matcher
from cce.measurement.matching.scoping import ScopedCase
from cce.measurement.matching.spans import LineWeights
from cce.measurement.unjudged import Side, Unjudged, unjudged_notice, unjudged_results
from conftest import Run
from trees import plant, write_set


def case(expected: str, irrelevant: str = "", k: int = 2) -> Case:
    anchors, forbidden = (tuple(map(parse_anchor, text.split())) for text in (expected, irrelevant))
    return Case(f"q{k}", "query", anchors, k, 1, irrelevant=forbidden)


def ranking(paths: str) -> Ranking:
    return tuple(Hit(Location(path), 1.0) for path in paths.split())


def found(*answered: tuple[Case, str, str]) -> Unjudged | None:
    """Of cases with the paths that A and B returned."""
    cases = tuple(each for each, _, _ in answered)
    scoped = tuple(map(ScopedCase, cases))
    a = Side("A", scoped, [ranking(paths) for _, paths, _ in answered])
    b = Side("B", scoped, [ranking(paths) for _, _, paths in answered])
    matcher = Matcher(None, LineWeights(lambda _path: ()))
    return unjudged_results(FixtureSet("set.jsonl", None, cases), a, b, matcher)


def test_the_sign_flips_where_what_one_side_alone_returned_decides() -> None:
    # A: 1 of 2 relevant, the other judged. B: two that nobody judged.
    unjudged = found((case("a.py", "z.py"), "a.py z.py", "x.py y.py"))
    assert unjudged is not None
    assert (unjudged.n_of_a, unjudged.n_of_b, unjudged.n_unnoted) == (0, 2, 0)
    assert unjudged.extremes["precision_at_k"] == (-0.5, -0.5, 0.5)
    assert unjudged.extremes["mrr"] == (-1.0, -1.0, 0.0)
    assert unjudged.extremes["hit"] == (-1.0, -1.0, 0.0)
    assert unjudged.flipped == ("precision_at_k",), "0 is no other sign"


def test_an_unjudged_result_of_both_counts_for_neither() -> None:
    assert found((case("a.py", "z.py"), "a.py x.py", "x.py a.py")) is None


def test_a_result_past_k_is_not_returned() -> None:
    unjudged = found((case("a.py", "z.py", k=1), "a.py x.py", "x.py a.py"))
    assert unjudged is not None
    assert (unjudged.n_of_a, unjudged.n_of_b) == (0, 1)


def test_a_case_without_judgments_counts_as_it_is() -> None:
    unjudged = found((case("a.py"), "a.py", "x.py y.py"), (case("a.py", "z.py"), "a.py x.py", "a.py z.py"))
    assert unjudged is not None
    assert (unjudged.n_of_a, unjudged.n_of_b, unjudged.n_unnoted) == (1, 0, 1)
    # The first case is -0.5 whatever happens, the second is 0, or -0.5 if x.py were relevant.
    assert unjudged.extremes["precision_at_k"] == (-0.5, -0.25, -0.25)


def test_what_lies_outside_of_the_corpus_or_in_both_lists_is_not_unjudged() -> None:
    both = case("a.py", "a.py")
    assert found((both, "a.py", "a.py")) is None
    outside = (Hit(Location("../x.py", is_outside=True), 1.0),)
    scoped = (ScopedCase(both),)
    sides = Side("A", scoped, [outside]), Side("B", scoped, [ranking("a.py")])
    matcher = Matcher(None, LineWeights(lambda _path: ()))
    assert unjudged_results(FixtureSet("s", None, (both,)), *sides, matcher) is None


def test_the_notice_names_the_differences_and_the_way_out() -> None:
    answered = case("a.py", "z.py"), "a.py z.py", "x.py y.py"
    unjudged = found(answered)
    assert unjudged is not None
    assert unjudged_notice(unjudged, FixtureSet("set.jsonl", None, (answered[0],)), "A", "B") == (
        "unjudged results: A alone returned 0, B alone 2; B - A if those of A were relevant, as judged, "
        "and if those of B were: precision_at_k -0.500000, -0.500000, +0.500000; "
        "mrr -1.000000, -1.000000, +0.000000; "
        "hit -1.000000, -1.000000, +0.000000; the sign of precision_at_k flips: judge them with: "
        "cce fixtures draft --extend set.jsonl --backend B, then cce fixtures label set.jsonl"
    )


# The command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plant(tmp_path / "src", {f"{name}.py": f"def {name}():\n    pass\n" for name in "axyz"})
    return tmp_path


def compare(folder: Path, run_cce: Run, of_b: str, *options: str, **keys: Any) -> tuple[list[str], str]:
    """The notes of the report and standard error; A returns a.py and z.py."""
    write_set(folder, {"id": "q", "query": "a", "expected": ["a.py"], "k": 2, **keys})
    for name, paths in (("A", "a.py z.py"), ("B", of_b)):
        lines = [{"schema": "cce.run/v1", "system": name}]
        results = [{"path": path, "score": 2 - at} for at, path in enumerate(paths.split())]
        text = "".join(json.dumps(line) + "\n" for line in [*lines, {"id": "q", "results": results}])
        (folder / f"{name}.jsonl").write_text(text)
    runs = ("--run", "A=A.jsonl", "--run", "B=B.jsonl", "--compare", "A,B", "--json")
    done = run_cce("relevance", "set.jsonl", *runs, *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    notes = json.loads(done.stdout).get("notes", [])
    return [note for note in notes if note.startswith("unjudged")], done.stderr.decode()


def test_a_report_notes_what_could_flip(folder: Path, run_cce: Run) -> None:
    (note,), told = compare(folder, run_cce, "x.py y.py", irrelevant=["z.py"])
    assert "precision_at_k -0.500000, -0.500000, +0.500000" in note
    assert "cce fixtures draft --extend set.jsonl --backend B" in note
    assert f"warning: {note}\n" in told


def test_without_judgments_in_the_set_nothing_is_noted(folder: Path, run_cce: Run) -> None:
    notes, told = compare(folder, run_cce, "x.py y.py")
    assert notes == []
    assert "unjudged results" not in told


def test_a_note_without_a_flip_names_no_way_out(folder: Path, run_cce: Run) -> None:
    (note,), _ = compare(folder, run_cce, "a.py x.py", irrelevant=["z.py"])
    assert note == (
        "unjudged results: A alone returned 0, B alone 1; B - A if those of A were relevant, as judged, "
        "and if those of B were: precision_at_k +0.000000, +0.000000, +0.500000; "
        "mrr +0.000000, +0.000000, +0.000000; hit +0.000000, +0.000000, +0.000000"
    )
