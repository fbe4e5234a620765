from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.retrieval.indexing.graph import ImportGraph
from corpora import plain_neighbours


def neighbours(path: str, files: list[str], **imports: list[str]) -> list[str]:
    """Neighbours of `path` where each keyword names an importing `.py` file."""
    return ImportGraph(sorted(files), {f"{name}.py": names for name, names in imports.items()}).neighbours(
        path
    )


def test_an_import_joins_two_files_in_both_directions() -> None:
    assert neighbours("a.py", ["a.py", "b.py", "c.py"], a=["b"]) == ["b.py"]
    assert neighbours("b.py", ["a.py", "b.py", "c.py"], a=["b"]) == ["a.py"]
    assert neighbours("c.py", ["a.py", "b.py", "c.py"], a=["b"]) == []


def test_importers_and_imported_stand_together_sorted_and_once() -> None:
    files = ["a.py", "m.py", "x.py", "z.py"]
    assert neighbours("m.py", files, m=["z", "a"], a=["m"], x=["m", "m"]) == ["a.py", "x.py", "z.py"]


def test_a_file_never_neighbours_itself() -> None:
    assert neighbours("a.py", ["a.py", "b.py"], a=["a"]) == []


def test_an_unknown_file_or_name_has_no_neighbours() -> None:
    assert neighbours("a.py", ["a.py"], a=["os"]) == []
    assert neighbours("elsewhere.py", ["a.py"], a=["os"]) == []


@pytest.mark.parametrize(
    ("name", "files", "resolved"),
    [
        ("util", ["lib/util.rb", "util.py"], ["lib/util.rb"]),  # the first in path order, whatever its kind
        ("util", ["a/my_util.py", "z/util.txt"], ["z/util.txt"]),  # a whole base name before an ending
        ("util", ["a/my_util.py", "b/util.tar.gz"], ["a/my_util.py"]),  # without its last extension only
        ("util.tar", ["a/my_util.py", "b/util.tar.gz"], ["b/util.tar.gz"]),
        ("til", ["b_util.js", "util.py"], ["b_util.js"]),  # an ending need not start at a word
        ("til", ["util.ts", "util.rb", "util.jsx", "util.PY"], []),  # only .py and .js
        ("@scope/pkg", ["x/@scope/pkg.js", "pkg.js"], ["x/@scope/pkg.js"]),
        (".hidden", [".hidden", "x/.hidden.py"], [".hidden"]),  # a first dot opens no extension
        (".hidden", ["x.hidden.py"], ["x.hidden.py"]),
        ("Makefile", ["Makefile"], ["Makefile"]),
        ("Util", ["util.py"], []),
        ("util", ["util/__init__.py"], []),  # a directory is no base name
    ],
)
def test_a_name_resolves_to_a_base_name_first_then_to_an_ending(
    name: str, files: list[str], resolved: list[str]
) -> None:
    assert neighbours("main.py", [*files, "main.py"], main=[name]) == resolved


def test_a_file_that_only_ends_alike_does_not_hide_the_importer_itself() -> None:
    # `main` is the importer's own base name: no edge, although b_main.py ends in main.py.
    assert neighbours("main.py", ["b_main.py", "main.py"], main=["main"]) == []


def test_paths_of_any_letters_are_found_by_their_ending() -> None:
    assert neighbours("main.py", ["main.py", "ﬀ\U0010fffdutil.py"], main=["util"]) == ["ﬀ\U0010fffdutil.py"]


def test_the_last_letter_of_unicode_hides_no_file() -> None:
    assert neighbours("main.py", ["main.py", "\U0010ffffutil.py"], main=["util"]) == ["\U0010ffffutil.py"]


FILES = st.lists(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "a/", "ab/"]),
        st.text("ab", min_size=1, max_size=3),
        st.sampled_from([".py", ".js", ".rb", ".b.py", ""]),
    ),
    min_size=1,
    max_size=8,
    unique=True,
).map(sorted)


@settings(deadline=None, max_examples=200)
@given(FILES, st.data())
def test_the_graph_is_what_looking_at_every_path_gives(files: list[str], data: st.DataObject) -> None:
    names = st.lists(st.text("ab/.", min_size=1, max_size=4), max_size=4)
    imports = data.draw(st.dictionaries(st.sampled_from(files), names, max_size=len(files)))
    graph = ImportGraph(files, imports)
    for path in files:
        assert graph.neighbours(path) == plain_neighbours(files, imports, path)
