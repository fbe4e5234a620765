"""The house is what README draws: rooms that say what they do, tables that exist, no circle, no name twice.

After a change to a layer, a room or its docstring: `pytest tests/test_architecture.py --accept-goldens`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from architecture import (
    PACKAGE,
    PLACES,
    SOURCES,
    WIDTH,
    Place,
    assigned_names,
    docstring,
    drawing,
    imports,
    modules,
)
from conftest import ROOT
from golden import Goldens

README = ROOT / "README.md"
BLOCK = re.compile(
    r"(?<=^<!-- architecture -->\n\n```text\n).*?(?=^```\n\n<!-- /architecture -->$)", re.M | re.S
)

PACKAGES = sorted(file.parent for file in PACKAGE.rglob("__init__.py"))


def shown(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


def test_readme_draws_the_house_as_it_is(goldens: Goldens) -> None:
    text = README.read_text("utf-8")
    assert len(BLOCK.findall(text)) == 1
    goldens.check_file(README, BLOCK.sub(lambda _: drawing() + "\n", text).encode())


@pytest.mark.parametrize("package", PACKAGES, ids=shown)
def test_a_package_says_in_one_line_what_it_is_for(package: Path) -> None:
    first_line, _, _ = docstring(package / "__init__.py").partition("\n")
    assert first_line.endswith("."), f"{shown(package)}/__init__.py has no sentence on its first line"


def test_the_drawing_is_no_wider_than_the_page() -> None:
    assert [line for line in drawing().splitlines() if len(line) > WIDTH] == []


@pytest.mark.parametrize("place", PLACES, ids=[place.new for place in PLACES])
def test_there_is_a_place_for_what_is_new(place: Place) -> None:
    assert place.table in assigned_names(PACKAGE / place.file)
    assert [room for room in place.room.split(" and ") if not (PACKAGE / room).is_dir()] == []


def test_no_two_classes_share_a_name() -> None:
    found = defaultdict(list)
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_imports_go_round_in_no_circle() -> None:
    try:
        TopologicalSorter(imports(modules())).prepare()
    except CycleError as exc:
        # The circle in the order of its imports; CycleError has it the other way round.
        pytest.fail(" imports ".join(reversed(exc.args[1])), pytrace=False)
