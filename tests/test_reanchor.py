"""Re-anchoring: a label follows its text, and never goes to any other."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import Anchor, parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.errors import FixtureError
from cce.labels.pinning import pin_set
from cce.labels.reanchor import AnchorMove, reanchor_set
from cce.labels.revision import Revision
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.similarity import closest_stretch
from cce.labels.tracking.texts import AnchoredTexts
from cce.labels.tracking.tracker import TextFate, Tracker
from cce.measurement.fixtures.reading import parse_fixture_set, read_fixture_set
from cce.retrieval.corpus.texts import CorpusTexts
from oracle import Oracle
from planting import Corpus, plant

READ = "def read(path):\n    with open(path) as file:\n        return file.read()\n"
WRITE = "def write(path, text):\n    with open(path, 'w') as file:\n        file.write(text)\n"
OTHER = "import os\n\nLIMIT = 3\n"


class Bench:
    """A corpus in memory and a set of one case, pinned as soon as it is made."""

    def __init__(self, folder: Path, files: dict[str, str], *expected: str, **keys: Any) -> None:
        self.root = folder / "src"
        self.set = folder / "set.jsonl"
        self.files = files
        self.write(files)
        self.set.write_text(json.dumps({"id": "c", "query": "x", "expected": list(expected), **keys}) + "\n")
        revision = Revision(str(self.set))
        pin_set(self.read(), revision, self.table())
        revision.write()

    def write(self, files: dict[str, str]) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(text.encode())

    def edit(self, **files: str | None) -> None:
        """Files by name with `_` for the dot; None deletes."""
        changed = {name.replace("_", "."): text for name, text in files.items()}
        self.write({path: text for path, text in {**self.files, **changed}.items() if text is not None})

    def read(self) -> FixtureSet:
        return read_fixture_set(str(self.set))

    def table(self) -> LineTable:
        return LineTable(AnchoredTexts(CorpusTexts(str(self.root))))

    def reanchor(self) -> list[AnchorMove]:
        table, revision = self.table(), Revision(str(self.set))
        moves = reanchor_set(self.read().cases, revision, Tracker(table), table)
        revision.write()
        return moves

    def case(self) -> Case:
        (case,) = self.read().cases
        return case

    def expected(self) -> list[str]:
        return [anchor.text for anchor in self.case().anchors]


def test_nothing_is_stale_where_nothing_moved(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", "a.py", "#module")
    before = bench.set.read_bytes()
    assert bench.reanchor() == []
    assert bench.set.read_bytes() == before


def test_a_range_follows_its_text_down_the_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py#function_definition@4-6", "#module")
    bench.edit(a_py=OTHER + WRITE + READ)
    (move,) = bench.reanchor()
    assert str(move) == (
        "'c' 'a.py#function_definition@4-6': its text moved to 'a.py#function_definition@7-9'"
    )
    assert bench.expected() == ["a.py#function_definition@7-9", "#module"]
    assert bench.reanchor() == [], "and is pinned there"


def test_a_range_follows_its_text_into_another_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": WRITE}, "a.py@4-6")
    bench.edit(a_py=OTHER, b_py=WRITE + READ)
    bench.reanchor()
    assert bench.expected() == ["b.py@4-6"]


def test_a_file_and_its_ranges_follow_a_rename(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": WRITE}, "a.py", "a.py@4-6", "a.py#module")
    bench.edit(a_py=None, c_py=OTHER + READ)
    bench.reanchor()
    assert bench.expected() == ["c.py", "c.py@4-6", "c.py#module"]


def test_grades_pins_and_traces_follow_the_anchor(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", grades={"a.py@4-6": 3})
    pin = bench.case().pins["a.py@4-6"]
    bench.edit(a_py=WRITE + OTHER + READ)
    bench.reanchor()
    assert dict(bench.case().grades) == {"a.py@7-9": 3}
    assert dict(bench.case().pins) == {"a.py@7-9": pin}
    assert list(json.loads(bench.set.read_bytes())["traces"]) == ["a.py@7-9"]


def test_an_irrelevant_place_of_the_same_name_follows_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", irrelevant=["a.py", "a.py@4-6"])
    bench.edit(a_py=WRITE + OTHER + READ)
    bench.reanchor()
    assert [place.text for place in bench.case().irrelevant] == ["a.py", "a.py@7-9"]


def test_an_anchor_that_stands_twice_is_rewritten_twice(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", "a.py@4-6")
    bench.edit(a_py=WRITE + OTHER + READ)
    bench.reanchor()
    assert bench.expected() == ["a.py@7-9", "a.py@7-9"]


def test_two_ranges_may_swap_their_places(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, {"a.py": READ + WRITE}, "a.py@1-3", "a.py@4-6", grades={"a.py@1-3": 1, "a.py@4-6": 2}
    )
    bench.edit(a_py=WRITE + READ)
    bench.reanchor()
    assert bench.expected() == ["a.py@4-6", "a.py@1-3"]
    assert dict(bench.case().grades) == {"a.py@4-6": 1, "a.py@1-3": 2}


def test_a_move_onto_another_anchor_of_the_case_is_only_listed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", "a.py@7-9")
    bench.edit(a_py=WRITE + OTHER + READ)
    (move,) = bench.reanchor()
    assert str(move).endswith("moved to 'a.py@7-9', but the case would name it twice, remove one by hand")
    assert bench.expected() == ["a.py@4-6", "a.py@7-9"]


def test_an_edited_text_is_listed_with_what_is_most_similar(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6")
    bench.edit(a_py=WRITE + OTHER + READ.replace("file.read()", "file.read().strip()"))
    (move,) = bench.reanchor()
    # Two lines of three are left: 2 * 2 / (3 + 2).
    assert str(move) == "'c' 'a.py@4-6': its text changed, 'a.py@7-8' is similar (0.80)"
    assert bench.expected() == ["a.py@4-6"]


def test_a_text_that_is_nowhere_vanished(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": "x = 1\n"}, "a.py@4-6", "b.py")
    bench.edit(a_py=OTHER + WRITE, b_py=None)
    assert [move.whereabouts.fate for move in bench.reanchor()] == [TextFate.VANISHED, TextFate.VANISHED]


def test_a_file_that_was_edited_is_listed_as_changed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER}, "a.py")
    bench.edit(a_py=OTHER + READ)
    assert [str(move) for move in bench.reanchor()] == ["'c' 'a.py': its text changed"]


def test_a_copy_in_another_file_does_not_distract(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": WRITE}, "a.py@4-6")
    bench.edit(a_py="\n" + OTHER + READ, b_py=READ)
    bench.reanchor()
    assert bench.expected() == ["a.py@5-7"]


def test_two_copies_elsewhere_are_no_place_to_go(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": WRITE}, "a.py@4-6")
    bench.edit(a_py=OTHER, b_py=READ + WRITE, c_py=READ)
    (move,) = bench.reanchor()
    assert move.whereabouts.fate is TextFate.AMBIGUOUS
    assert "in 2 places cannot be told apart ('b.py@1-3', 'c.py@1-3'), choose one by hand" in str(move)
    assert bench.expected() == ["a.py@4-6"]


TWINS = "def one():\n    pass\n\n\ndef two():\n    pass\n"


def test_of_two_twins_each_follows_its_own_neighbours(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": TWINS}, "a.py@2-2", "a.py@6-6")
    bench.edit(a_py=OTHER + TWINS)
    bench.reanchor()
    assert bench.expected() == ["a.py@5-5", "a.py@9-9"]


def test_the_twin_of_a_deleted_text_does_not_inherit_its_label(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": TWINS}, "a.py@2-2")
    bench.edit(a_py=OTHER + TWINS.replace("def one():\n    pass\n\n\n", ""))
    (move,) = bench.reanchor()
    assert str(move).endswith("the same text at 'a.py@5-5' may be a twin of it, decide by hand")
    assert bench.expected() == ["a.py@2-2"]


def test_a_text_among_strangers_is_found_when_every_twin_is_still_at_home(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": TWINS, "b.py": WRITE}, "a.py@2-2")
    bench.edit(a_py=TWINS.replace("    pass\n", "", 1), b_py=WRITE + "if True:\n    pass\nend()\n")
    bench.reanchor()
    assert bench.expected() == ["b.py@5-5"]


def test_one_edit_beside_a_twin_does_not_make_it_a_stranger(tmp_path: Path) -> None:
    text = "def one():\n    pass\n    # 1\ndef two():\n    pass\n    # 2\n"
    bench = Bench(tmp_path, {"a.py": text, "b.py": WRITE}, "a.py@2-2")
    left = "def one():\n    # 1\ndef two():\n\n    pass\n    # 2\n"
    bench.edit(a_py=left, b_py=WRITE + "if True:\n    pass\nend()\n")
    bench.reanchor()
    assert bench.expected() == ["b.py@5-5"]


def test_a_twin_with_both_sides_edited_may_be_meant_so_nothing_moves(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": TWINS, "b.py": WRITE}, "a.py@2-2")
    bench.edit(a_py="def one():\n\n    pass\n\n", b_py=WRITE + "if True:\n    pass\nend()\n")
    assert [move.whereabouts.fate for move in bench.reanchor()] == [TextFate.AMBIGUOUS]


def test_a_twin_that_moves_up_to_the_neighbour_of_a_deleted_text_is_not_taken_for_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": TWINS + "end()\n"}, "a.py@2-2")
    # The lines from the first pass to the second def are gone, or those from the line after it on.
    bench.edit(a_py="\ndef one():\n    pass\nend()\n")
    assert [move.is_made for move in bench.reanchor()] == [False]


MANY = "".join(f"def f{n}():\n    pass\n\n" for n in range(40))


def test_one_of_very_many_twins_is_known_between_its_neighbours(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": MANY}, "a.py@23-23")  # of f7
    bench.edit(a_py="\n" + MANY)
    bench.reanchor()
    assert bench.expected() == ["a.py@24-24"]


def test_one_of_very_many_twins_is_not_known_by_one_neighbour(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": MANY}, "a.py@23-23")
    bench.edit(a_py="\n" + MANY.replace("f7():\n    pass\n\ndef f8():\n    pass\n\n", "f7():\n    pass\n"))
    assert [move.is_made for move in bench.reanchor()] == [False]


def test_lines_that_came_together_by_chance_are_not_taken_for_a_text(tmp_path: Path) -> None:
    files = {"a.py": "x = 1\none()\ntwo()\ny = 2\n", "b.py": "one()\n\ntwo()\n", "c.py": "two()\n"}
    bench = Bench(tmp_path, files, "a.py@2-3")
    bench.edit(a_py="x = 1\ny = 2\n", c_py="one()\ntwo()\n")
    assert [move.is_made for move in bench.reanchor()] == [False]
    bench.edit(a_py=None, d_py="z = 3\n" + files["a.py"])
    bench.reanchor()
    assert bench.expected() == ["d.py@3-4"], "beside the lines it stood beside"


def test_a_copy_that_was_made_since_does_not_stand_beside_the_old_neighbours(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ, "b.py": WRITE}, "a.py@4-6")
    bench.edit(a_py=None, b_py=WRITE + READ, c_py=WRITE + OTHER + READ)
    bench.reanchor()
    assert bench.expected() == ["c.py@7-9"]


def test_blank_lines_are_no_neighbours_to_be_known_by(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": "import os\n\n" + READ + "\n", "b.py": WRITE}, "a.py@3-5")
    bench.edit(a_py="import os\n", b_py=WRITE + READ, c_py="x = 1\n\n" + READ + "\n")
    assert [move.is_made for move in bench.reanchor()] == [False]


def test_of_two_copies_whose_files_have_new_names_neither_is_taken(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": READ, "b.py": READ}, "a.py@1-3")
    bench.write({"c.py": READ, "d.py": OTHER + READ})
    assert [move.is_made for move in bench.reanchor()] == [False]


def test_a_file_whose_name_is_gone_is_not_one_that_is_much_longer(tmp_path: Path) -> None:
    text = OTHER + READ + "END = 4\n"
    bench = Bench(tmp_path, {"a.py": text, "b.py": text}, "a.py@4-6")
    edited = text.replace("file.read()", "file.read().strip()")
    # So c.py is not what was a.py: the text came there from b.py, with its neighbours.
    bench.write({"a2.py": edited, "b.py": edited, "c.py": MANY + text})
    assert [move.is_made for move in bench.reanchor()] == [False]


def test_nothing_moves_where_two_files_may_be_the_one_whose_name_is_gone(tmp_path: Path) -> None:
    text = OTHER + READ + "END = 4\n"
    bench = Bench(tmp_path, {"a.py": text, "b.py": text}, "a.py@4-6")
    # One of c.py and d.py was a.py; only in d.py, where it may have come from b.py, are its neighbours.
    edited = text.replace("file.read()", "file.read().strip()")
    bench.write({"c.py": "x = 1\n" + READ + "y = 2\n", "b.py": edited, "d.py": text})
    assert [move.is_made for move in bench.reanchor()] == [False]


def test_a_text_with_twins_in_other_files_only_is_known_in_its_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": READ, "b.py": READ}, "a.py@1-3")
    bench.edit(a_py="\n\n" + READ)
    bench.reanchor()
    assert bench.expected() == ["a.py@3-5"]


def test_a_renamed_copy_is_known_when_the_other_copies_stand_where_they_stood(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": READ, "b.py": READ}, "a.py@1-3")
    bench.write({"c.py": READ, "b.py": READ})
    bench.reanchor()
    assert bench.expected() == ["c.py@1-3"]


def test_an_empty_file_is_not_taken_for_another_empty_file(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a/__init__.py": "", "b/__init__.py": "", "c.py": OTHER}, "a/__init__.py")
    bench.write({"b/__init__.py": "", "c.py": OTHER})
    (move,) = bench.reanchor()
    assert move.whereabouts.fate is TextFate.AMBIGUOUS
    assert bench.expected() == ["a/__init__.py"]


def test_a_range_to_the_end_of_its_file_gets_its_true_width(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": READ}, "a.py@1-999999999999")
    bench.edit(a_py=OTHER + READ)
    bench.reanchor()
    assert bench.expected() == ["a.py@4-6"]


def test_pins_without_traces_follow_a_text_that_stands_in_one_place(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6")
    case = json.loads(bench.set.read_bytes())
    del case["traces"]
    bench.set.write_text(json.dumps(case))
    bench.edit(a_py=WRITE, b_py=OTHER + WRITE + READ)
    bench.reanchor()
    assert bench.expected() == ["b.py@7-9"]


def test_pins_without_traces_go_nowhere_if_there_are_two_places(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6")
    case = json.loads(bench.set.read_bytes())
    del case["traces"]
    bench.set.write_text(json.dumps(case))
    bench.edit(a_py=OTHER + WRITE + READ + READ)
    assert [move.is_made for move in bench.reanchor()] == [False]


@pytest.mark.parametrize("name", ["c#.py", "b@1-2"])
def test_a_path_that_no_anchor_can_name_is_only_listed(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py")
    bench.write({name: OTHER + READ})
    (move,) = bench.reanchor()
    assert str(move).endswith("its text moved to a file that no anchor can name")
    assert bench.expected() == ["a.py"]


@pytest.mark.parametrize(
    "traces",
    [
        7,
        [],
        {"a.py@4-6": 3},
        *({"a.py@4-6": trace} for trace in ({"lines": "xyz"}, {"near": ["00"]}, {"near": 3}, {"file": "x"})),
        *({"a.py@4-6": {"twins": twins}} for twins in ("00ff", ["00ff"], 7)),
    ],
)
def test_broken_traces_are_an_error_with_the_line(tmp_path: Path, traces: object) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6")
    case = json.loads(bench.set.read_bytes()) | {"traces": traces}
    bench.set.write_text("\n" + json.dumps(case))
    bench.edit(a_py=READ)
    with pytest.raises(FixtureError) as caught:
        bench.reanchor()
    assert str(caught.value).startswith(f"{bench.set}:2: traces ")


def test_untouched_lines_and_values_keep_every_byte(tmp_path: Path) -> None:
    bench = Bench(tmp_path, {"a.py": OTHER + READ}, "a.py@4-6", "#x")
    line = bench.set.read_bytes().removesuffix(b"\n")
    odd = b'{ "query":"y" ,"expected":["#module"],"n":1.50}\r'
    line = line.replace(b'"query": "x"', b'"query" :\t"x" ,"mine":1e2')
    bench.set.write_bytes(b"\xef\xbb\xbf\n" + odd + b"\n\n" + line + b"\n" + odd)
    bench.edit(a_py=WRITE + OTHER + READ)
    bench.reanchor()
    assert bench.set.read_bytes() == (
        b"\xef\xbb\xbf\n" + odd + b"\n\n" + line.replace(b"@4-6", b"@7-9") + b"\n" + odd
    )


def test_a_stretch_with_an_inserted_line_is_found_whole() -> None:
    # Four lines of the old text, five of the new: 2 * 4 / 9.
    assert closest_stretch([1, 2, 3, 4], [9, 9, 1, 2, 7, 3, 4, 9]) == (8 / 9, 2, 7)
    assert closest_stretch([1, 2], [3, 4]) is None


def test_blank_lines_alone_are_no_likeness() -> None:
    assert closest_stretch([0, 0, 5], [0, 0, 0]) is None


# Laws


def anchors_of(targets: list[tuple[str, int, int]]) -> list[str]:
    return [f"{path}@{first}-{last}" for path, first, last in targets]


def verdict(move: AnchorMove, corpus: Corpus, numbers: tuple[int, ...]) -> str:
    """Right if most lines that the new range covers are the very ones that were labelled."""
    new = parse_anchor(move.whereabouts.anchor or "")
    assert new.path is not None
    assert new.lines is not None
    covered = corpus.numbers(new.path, new.lines.first, new.lines.last)
    if 2 * len(set(covered) & set(numbers)) >= len(covered):
        return "right"
    return "copied" if corpus.are_copies(covered, numbers) else "wrong"


@settings(deadline=None, max_examples=40)
@given(st.randoms(use_true_random=False), st.data())
def test_a_reanchored_range_covers_the_text_it_covered_before(
    tmp_path_factory: pytest.TempPathFactory, draw: random.Random, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("law")
    lines = st.lists(
        st.sampled_from(["", "pass", "a = 1", "b = 2", "return", "c()"]), min_size=1, max_size=12
    )
    files = {name: "".join(f"{line}\n" for line in data.draw(lines)) for name in ("a.py", "b.py")}
    n_lines = {path: text.count("\n") for path, text in files.items()}
    targets = []
    for path in data.draw(st.lists(st.sampled_from(sorted(files)), min_size=1, max_size=4)):
        first = data.draw(st.integers(1, n_lines[path]))
        targets.append((path, first, data.draw(st.integers(first, n_lines[path]))))
    bench = Bench(folder, files, *dict.fromkeys(anchors_of(targets)))
    before = {anchor.text: text_of(bench, anchor) for anchor in bench.case().anchors}
    corpus = Corpus.read(bench.root, sorted(files))
    plant(corpus, draw, targets, 3)
    corpus.write(bench.root)
    for move in bench.reanchor():
        if move.is_made:
            assert text_of(bench, parse_anchor(move.whereabouts.anchor or "")) == before[move.anchor.text]


def text_of(bench: Bench, anchor: Anchor) -> list[str]:
    assert anchor.path is not None
    assert anchor.lines is not None
    lines = (bench.root / anchor.path).read_text().split("\n")
    if not lines[-1]:
        lines.pop()
    return lines[anchor.lines.first - 1 : anchor.lines.last]


CORPORA = ["express", "flask", "psutil", "requests", "ruby-sinatra", "rxjs", "serde_derive"]


@pytest.mark.parametrize(("n_drawn", "seeds"), [(0, range(6)), (100, range(2))], ids=["set", "drawn"])
@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.process
def test_planted_edits_are_followed_and_nothing_is_rewritten_wrongly(
    oracle: Oracle, tmp_path: Path, name: str, n_drawn: int, seeds: range
) -> None:
    counts = Counter[str]()
    for seed in seeds:
        counts += follow_planted_edits(oracle, tmp_path / str(seed), name, seed, n_drawn)
    assert counts["wrong"] == 0
    assert counts["right"] >= 20
    assert counts["right"] >= 0.95 * (counts["right"] + counts["missed"]), counts


def follow_planted_edits(oracle: Oracle, folder: Path, name: str, seed: int, n_drawn: int) -> Counter[str]:
    """Pin the labelled ranges of a corpus and drawn ones, plant 100 edits, re-anchor; count what is followed.

    "copied" are the copies that Corpus.are_copies tells of.
    """
    draw = random.Random(seed)
    root = folder / name
    shutil.copytree(oracle.unpack(name) / name, root)
    texts = AnchoredTexts(CorpusTexts(str(root)))
    targets = labelled_ranges(oracle, name, texts) + drawn_ranges(texts, draw, n_drawn)
    path = folder / "set.jsonl"
    path.write_text(
        "".join(json.dumps({"query": "x", "expected": [anchor]}) + "\n" for anchor in anchors_of(targets))
    )
    revision = Revision(str(path))
    pin_set(parse_fixture_set(revision.raw, str(path)), revision, LineTable(texts))
    revision.write()

    corpus = Corpus.read(root, [path for path in texts.paths if texts.lines(path) is not None])
    numbers = dict(zip(anchors_of(targets), (corpus.numbers(*target) for target in targets), strict=True))
    plant(corpus, draw, targets, 100)
    corpus.write(root)

    table, counts = LineTable(AnchoredTexts(CorpusTexts(str(root)))), Counter[str]()
    for move in reanchor_set(
        parse_fixture_set(revision.raw, str(path)).cases, revision, Tracker(table), table
    ):
        old = numbers[move.anchor.text]
        if move.is_made:
            counts[verdict(move, corpus, old)] += 1
        elif corpus.place(old) is not None:
            counts["missed"] += 1
    return counts


def labelled_ranges(oracle: Oracle, name: str, texts: AnchoredTexts) -> list[tuple[str, int, int]]:
    """The ranges of the reference set that cover text."""
    found = set()
    for case in read_fixture_set(str(oracle.folder / "sets" / f"{name}.jsonl")).cases:
        for anchor in case.anchors:
            n_lines = len(texts.lines(anchor.path or "") or ())
            if anchor.path and anchor.lines and anchor.lines.first <= n_lines:
                found.add((anchor.path, anchor.lines.first, min(anchor.lines.last, n_lines)))
    return sorted(found)


def drawn_ranges(texts: AnchoredTexts, draw: random.Random, n: int) -> list[tuple[str, int, int]]:
    """Ranges of one to thirty lines anywhere in the corpus; nobody would label blank lines alone."""
    paths = [path for path in texts.paths if texts.lines(path)]
    found = set()
    for path in draw.choices(paths, k=n):
        lines = texts.lines(path) or ()
        first = draw.randint(1, len(lines))
        last = min(len(lines), first + draw.randint(0, 29))
        if any(lines[first - 1 : last]):
            found.add((path, first, last))
    return sorted(found)
