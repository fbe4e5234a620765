"""Re-anchoring by name: a label follows its function, and never an equal text of another name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cce.labels.edited import at_least, never
from cce.labels.tracking.tracker import TextFate
from cce.usecases.corpora import CorpusChoice
from cce.usecases.pin import PinPlan, run_pin
from cce.usecases.reanchor import ReanchorPlan, ReanchorRun, run_reanchor

CLOSE = "    def close(self):\n        self.file.flush()\n        self.file.close()\n"
A, B = f"class A:\n{CLOSE}\n", f"class B:\n{CLOSE}\n"
LOAD = "def load(path):\n    file = open(path)\n    text = file.read()\n    return text\n"
EDITED = "def load(path):\n    file = open(path)\n    text = file.read()\n    return text.strip()\n"


class Pinned:
    """A set of one case, pinned over the files it was made for."""

    def __init__(self, folder: Path, files: Mapping[str, str], *expected: str, **keys: Any) -> None:
        self.root, self.set = folder / "src", folder / "set.jsonl"
        self.write(files)
        self.set.write_text(json.dumps({"id": "c", "query": "x", "expected": list(expected), **keys}) + "\n")
        run_pin(PinPlan(str(self.set), CorpusChoice(str(self.root)), is_writing=True))

    def write(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text)

    def reanchor(self, files: Mapping[str, str | None], least_ratio: float | None = None) -> ReanchorRun:
        self.write(files)
        accepts = never if least_ratio is None else at_least(least_ratio)
        return run_reanchor(ReanchorPlan(str(self.set), CorpusChoice(str(self.root)), True, accepts))

    def outcome(self, files: Mapping[str, str | None]) -> tuple[TextFate, str | None]:
        (move,) = self.reanchor(files).moves
        return move.whereabouts.fate, move.whereabouts.anchor

    @property
    def case(self) -> dict[str, Any]:
        case: dict[str, Any] = json.loads(self.set.read_bytes())
        return case


def test_a_trace_says_what_its_chunk_is_called(tmp_path: Path) -> None:
    text = f"@final\n{A}\nclass C:\n    @x\n{CLOSE}"
    pinned = Pinned(tmp_path, {"a.py": text}, "a.py@3-5", "a.py@4-4", "a.py@8-12", "a.py@1-5")
    about = {"name", "kind", "whole", "same", "head"}
    traces = pinned.case["traces"].items()
    kept = {anchor: {key: trace[key] for key in about & trace.keys()} for anchor, trace in traces}
    function = {"kind": "function_definition", "same": 1}
    assert kept == {
        "a.py@3-5": {"name": ["A", "close"], "whole": True, **function},
        "a.py@4-4": {"name": ["A", "close"], "whole": False, **function},
        "a.py@8-12": {"name": ["C"], "kind": "class_definition", "whole": True, "same": 1},
        "a.py@1-5": {"name": ["A"], "kind": "class_definition", "whole": True, "same": 1, "head": True},
    }


def test_an_edited_function_is_listed_with_all_of_its_lines(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    (move,) = pinned.reanchor({"a.py": f"import os\n{EDITED}    # end\n    pass\n"}).moves
    assert str(move) == "'c' 'a.py@1-4': its text changed, 'a.py@2-7' is similar (0.60)"
    assert not move.is_made
    assert pinned.case["expected"] == ["a.py@1-4"]


def test_a_function_of_which_nothing_is_left_but_its_name_is_not_vanished(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    assert pinned.outcome({"a.py": "X = 1\n\n\ndef load():\n    raise OSError\n"}) == (
        TextFate.CHANGED,
        "a.py@4-5",
    )


def test_similar_rewrites_every_key_that_names_the_anchor(tmp_path: Path) -> None:
    keys = {"grades": {"a.py@1-4": 2}, "irrelevant": ["a.py@1-4"], "note": "kept"}
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4", **keys)
    before = pinned.case
    (move,) = pinned.reanchor({"a.py": f"import os\n{EDITED}"}, least_ratio=0.75).moves
    assert str(move) == "'c' 'a.py@1-4': its text changed, 'a.py@2-5' is similar (0.75), 'a.py@2-5' is taken"
    after = pinned.case
    assert (after["expected"], after["irrelevant"]) == (["a.py@2-5"], ["a.py@2-5"])
    assert (after["grades"], after["note"]) == ({"a.py@2-5": 2}, "kept")
    assert list(after["pins"]) == list(after["traces"]) == ["a.py@2-5"]
    assert after["pins"]["a.py@2-5"] != before["pins"]["a.py@1-4"]
    assert pinned.reanchor({}).moves == ()


def test_similar_renews_the_pin_of_what_was_edited_on_its_lines(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    pinned.reanchor({"a.py": EDITED}, least_ratio=0.7)
    assert pinned.case["expected"] == ["a.py@1-4"]
    assert pinned.reanchor({}).moves == ()


def test_what_is_less_similar_stays(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    before = pinned.set.read_bytes()
    pinned.reanchor({"a.py": EDITED}, least_ratio=0.76)
    assert pinned.set.read_bytes() == before


def test_a_copy_that_takes_the_place_of_an_edited_method_is_noticed(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": A + B}, "a.py@2-4")
    # B comes first now, so that its method stands on the lines of A's: the pin holds.
    edited = A.replace("flush", "sync")
    assert pinned.outcome({"a.py": B + edited}) == (TextFate.CHANGED, "a.py@7-9")


def test_an_unchanged_method_among_copies_is_found_by_its_class(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": A + B}, "a.py@2-4")
    assert pinned.outcome({"a.py": B + A}) == (TextFate.MOVED, "a.py@7-9")


def test_a_copy_elsewhere_is_not_the_method_that_was_edited(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": A}, "a.py@2-4")
    edited = A.replace("flush", "sync")
    assert pinned.outcome({"a.py": "X = 1\n" + edited + B}) == (TextFate.CHANGED, "a.py@3-5")


def test_a_function_that_grew_at_its_end_is_edited_although_its_pin_holds(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    assert pinned.outcome({"a.py": f"{LOAD}    return None\n"}) == (TextFate.CHANGED, "a.py@1-5")


def test_the_head_of_a_label_is_kept(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": f"X = 1\n\n\n# Loads.\n@cached\n{LOAD}"}, "a.py@4-9")
    now = f"# Loads a file\n# as text.\n@cached\n{EDITED}"
    assert pinned.outcome({"a.py": now}) == (TextFate.CHANGED, "a.py@1-7")


def test_a_part_of_a_function_is_looked_for_in_that_function_first(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@2-3")
    other = LOAD.replace("load", "other")
    now = f"{other}\n\n{LOAD.replace('file.read()', 'file.read(9)')}"
    assert pinned.outcome({"a.py": now}) == (TextFate.CHANGED, "a.py@8-8")


def test_overloads_cannot_be_told_apart_by_name(tmp_path: Path) -> None:
    text = "".join(f"@overload\ndef f(a: {kind}) -> {kind}: ...\n" for kind in ("int", "str"))
    pinned = Pinned(tmp_path, {"a.py": text}, "a.py@2-2")
    (move,) = pinned.reanchor({"a.py": text.replace("a:", "b:")}).moves
    assert str(move) == (
        "'c' 'a.py@2-2': its text changed, and 2 places have its name ('a.py@2-2', 'a.py@4-4'),"
        " choose one by hand"
    )


def test_the_parameter_list_decides_between_twins(tmp_path: Path) -> None:
    text = "#ifdef X\nint f(int a) {\n  return a;\n}\n#else\nint f(long a) {\n  return a;\n}\n#endif\n"
    pinned = Pinned(tmp_path, {"a.c": text}, "a.c@6-8")
    now = "int x;\n" + text.replace("return a", "return a + 1")
    assert pinned.outcome({"a.c": now}) == (TextFate.CHANGED, "a.c@7-9")


def test_the_only_function_of_that_name_is_taken_where_the_file_is_gone(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    assert pinned.outcome({"a.py": None, "b/c.py": "X = 1\n" + EDITED}) == (TextFate.CHANGED, "b/c.py@2-5")


def test_a_name_of_another_kind_is_listed_and_never_written(tmp_path: Path) -> None:
    text = "function load(a) {\n  return a;\n}\n"
    pinned = Pinned(tmp_path, {"a.js": text}, "a.js@1-3")
    (move,) = pinned.reanchor({"a.js": "const load = (a) => {\n  return a;\n};\n"}, least_ratio=0).moves
    assert str(move) == "'c' 'a.js@1-3': its text changed, 'a.js@1-3' has its name but is of another kind"
    assert not move.is_made


def test_a_renamed_function_is_listed_with_all_of_its_lines(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    now = f"X = 1\n\n\n{LOAD.replace('load', 'read')}"
    assert pinned.outcome({"a.py": now}) == (TextFate.CHANGED, "a.py@4-7")


@pytest.mark.parametrize("trace", [{"name": []}, {"name": "f"}, {"name": [1]}, {"name": ["f"]}])
def test_a_broken_name_is_an_error_that_says_what_to_do(tmp_path: Path, trace: dict[str, object]) -> None:
    from cce.errors import FixtureError

    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    pinned.set.write_text(json.dumps({**pinned.case, "traces": {"a.py@1-4": trace}}) + "\n")
    with pytest.raises(FixtureError, match=r"set.jsonl:1: traces has no trace for 'a.py@1-4', remove it"):
        pinned.reanchor({"a.py": EDITED})


def test_traces_of_older_versions_are_read(tmp_path: Path) -> None:
    pinned = Pinned(tmp_path, {"a.py": LOAD}, "a.py@1-4")
    trace = pinned.case["traces"]["a.py@1-4"]
    old = {key: trace[key] for key in ("lines", "near") if key in trace}
    pinned.set.write_text(json.dumps({**pinned.case, "traces": {"a.py@1-4": old}}) + "\n")
    assert pinned.outcome({"a.py": f"X = 1\n{LOAD}"}) == (TextFate.MOVED, "a.py@2-5")
    assert pinned.case["traces"]["a.py@2-5"]["name"] == ["load"]
