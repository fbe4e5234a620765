from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.errors import CorpusError
from cce.retrieval.corpus.gitignore import Listing, list_files
from trees import (
    BYTE_NAMES,
    POSIX_NAMES,
    link,
    needs_fifo,
    open_directory,
    plant,
    plant_empty,
    unprivileged_with,
)

__all__ = ["open_directory"]  # a fixture

BOM = "\ufeff"


def shown(root: Path) -> list[str]:
    """Paths that are left, rule files aside."""
    return [path for path in list_files(str(root)).paths if not path.endswith(".gitignore")]


# --- rules: (rule files, files, what is left), all of it also git's own reading ------------------------

RULES: dict[str, tuple[dict[str, str], list[str], list[str]]] = {
    "nothing below an ignored directory comes back": (
        {".gitignore": "vendor_gen\n!keep.py\n"},
        ["vendor_gen/keep.py", "keep.py"],
        ["keep.py"],
    ),
    "a star ignores directories too": ({".gitignore": "*\n!*.py\n"}, ["a.py", "a/a.py"], ["a.py"]),
    "directories can be kept from a star": (
        {".gitignore": "*\n!*.py\n!*/\n"},
        ["a.py", "a/a.py", "a/b.txt"],
        ["a.py", "a/a.py"],
    ),
    "a nested file re-includes a directory": (
        {".gitignore": "**/gen/\n", "a/.gitignore": "!gen\n"},
        ["a/gen/f.py", "b/gen/f.py"],
        ["a/gen/f.py"],
    ),
    "foo/**/ takes the directories below foo": (
        {".gitignore": "foo/**/\n"},
        ["foo/f.py", "foo/sub/g.py"],
        ["foo/f.py"],
    ),
    "a slash anchors": (
        {".gitignore": "/a\nx/y\n"},
        ["a", "s/a", "x/y", "s/x/y"],
        ["s/a", "s/x/y"],
    ),
    "a nested file anchors at its directory": (
        {"s/.gitignore": "/a\nx/y\n"},
        ["a", "s/a", "s/t/a", "s/x/y", "x/y"],
        ["a", "s/t/a", "x/y"],
    ),
    "a final slash means directories only": ({".gitignore": "a/\n"}, ["a", "s/a/x"], ["a"]),
    "the last rule wins": ({".gitignore": "*.py\n!a.py\na.py\n!b.py\n"}, ["a.py", "b.py", "c.py"], ["b.py"]),
    "first characters can be escaped": (
        {".gitignore": "\\#a\n\\!b\n\\c\n"},
        ["#a", "!b", "c", "a", "b"],
        ["a", "b"],
    ),
    "two stars match any depth": (
        {".gitignore": "a/**/c\n**/q\nz/**\n"},
        ["a/c", "a/b/c", "a/b/d/c", "a/b/x", "q", "m/q", "z/1", "z/2/3"],
        ["a/b/x"],
    ),
    "one star stays within a name": (
        {".gitignore": "a/*/c\n"},
        ["a/c", "a/b/c", "a/b/d/c"],
        ["a/b/d/c", "a/c"],
    ),
    "sets of characters": (
        {".gitignore": "[ab].x\n[!c].y\n"},
        ["a.x", "c.x", "c.y", "e.y"],
        ["c.x", "c.y"],
    ),
    "a comment and a blank line say nothing": (
        {".gitignore": "# a\n\n  \nb#c\n"},
        ["a", "b", "b#c"],
        ["a", "b"],
    ),
    "case counts": ({".gitignore": "A.txt\n"}, ["a.txt"], ["a.txt"]),
    "non-ASCII rules": ({".gitignore": "é*\n"}, ["é.py", "e.py"], ["e.py"]),
    "an ignored rule file still applies": (
        {".gitignore": ".gitignore\na\n", "s/.gitignore": "b\n"},
        ["a", "b", "s/a", "s/b"],
        ["b"],
    ),
    "a byte order mark is dropped": ({".gitignore": f"{BOM}a\nb\n"}, ["a", "b", "c"], ["c"]),
    "a byte order mark before a comment": ({".gitignore": f"{BOM}# a\nb\n"}, ["a", "b"], ["a"]),
    "a byte order mark before a negation": (
        {".gitignore": "*.txt\n", "s/.gitignore": f"{BOM}!a.txt\n"},
        ["a.txt", "s/a.txt", "s/b.txt"],
        ["s/a.txt"],
    ),
    "a byte order mark further down is text": ({".gitignore": f"b\n{BOM}a\n"}, ["a", "b"], ["a"]),
    "CRLF ends a line": ({".gitignore": "a\r\nd/\r\nb\r"}, ["a", "b", "c", "d/x"], ["c"]),
    "escaped space before CRLF": ({".gitignore": "a\\ \r\nb\r\n"}, ["a", "b"], ["a"]),
    "trailing spaces are dropped": ({".gitignore": "a  \nd/ \n"}, ["a", "b", "d/x"], ["b"]),
    "a lone CR ends no line": ({".gitignore": "a\rb\nc\n"}, ["a", "b", "c"], ["a", "b"]),
    "no line end but CR": ({".gitignore": "a\rb\rc"}, ["a", "b", "c"], ["a", "b", "c"]),
    "a line separator ends no line": ({".gitignore": "a\u2028b\nc\n"}, ["a", "b", "c"], ["a", "b"]),
    "a malformed set ignores nothing else": ({".gitignore": "[a-\nb\n"}, ["a", "b"], ["a"]),
    "a set that nothing closes matches nothing": (
        {".gitignore": "a[\n[a\nfoo[bar\n[!\n[]\n[]]\n*[\n[a*\n[[:alpha:]\n[a/\n[^]\nz\n"},
        ["[", "[]", "[a", "]", "a", "a[", "b", "d/[a/x", "foo[bar", "foob", "z"],
        ["[", "[]", "[a", "a", "a[", "b", "d/[a/x", "foo[bar", "foob"],
    ),
    "a set that nothing closes brings nothing back": (
        {".gitignore": "*\n!a[\n!c\n", "s/.gitignore": "!*[\n"},
        ["a", "a[", "c", "s/a["],
        ["c"],
    ),
    "a set that nothing closes in a nested file": (
        {".gitignore": "x\n", "s/.gitignore": "a[\nb\n", "s/t/.gitignore": "[!\nc\n"},
        ["a[", "s/a[", "s/b", "s/t/[!", "s/t/c", "s/x"],
        ["a[", "s/a[", "s/t/[!"],
    ),
    "an escaped bracket is a character": (
        {".gitignore": "\\[a\nb\\[\n[\\]\n"},
        ["[", "[a", "a", "b", "b[", "\\"],
        ["[", "\\", "a", "b"],
    ),
    "a comment may hold half a set": ({".gitignore": "# [a\na\n"}, ["# [a", "a"], ["# [a"]),
    "a bare negation says nothing": ({".gitignore": "!\na\n/\n"}, ["a", "b"], ["b"]),
}


@pytest.mark.parametrize(("rules", "files", "left"), RULES.values(), ids=RULES)
def test_rules_are_read_as_documented(
    tmp_path: Path, rules: dict[str, str], files: list[str], left: list[str]
) -> None:
    plant_empty(plant(tmp_path, {**rules}), *files)
    assert shown(tmp_path) == left


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(("rules", "files", "left"), RULES.values(), ids=RULES)
@pytest.mark.process
def test_git_reads_them_the_same_way(
    tmp_path: Path, rules: dict[str, str], files: list[str], left: list[str]
) -> None:
    plant_empty(plant(tmp_path, {**rules}), *files)
    subprocess.run(["git", "init", "--quiet", "--template="], cwd=tmp_path, check=True)
    command = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "-o", "--exclude-standard"]
    seen = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True).stdout.decode()
    assert sorted(path for path in seen.split("\0") if path and not path.endswith(".gitignore")) == left


@POSIX_NAMES
def test_a_carriage_return_and_a_backslash_are_characters_of_a_name(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "a\rb\nc\\\\d\n"})
    plant_empty(tmp_path, "a\rb", "c\\d", "e\\f", "g\nh", "i\\j/k")
    assert shown(tmp_path) == ["e\\f", "g\nh", "i\\j/k"]


# --- what else is left out, and what has no effect -----------------------------------------------------


@pytest.mark.parametrize(
    "name", [".git", ".cce", "node_modules", ".venv", "venv", "__pycache__", "dist", "build", ".hidden", ".a"]
)
def test_pruned_directories_are_left_out_at_any_depth_but_not_files_of_that_name(
    tmp_path: Path, name: str
) -> None:
    plant_empty(tmp_path, f"{name}/f.py", f"a/{name}/b/f.py", f"files/{name}", f"x{name}/f.py")
    kept = [] if name == ".git" else [f"files/{name}"]
    assert shown(tmp_path) == sorted([*kept, f"x{name}/f.py"])


@pytest.mark.parametrize("rules", [{}, {".gitignore": "!.git\n"}, {"s/.gitignore": "x\n"}])
@pytest.mark.parametrize("place", [".git", "s/.git", "s/t/.git"])
def test_what_is_called_git_is_never_listed(tmp_path: Path, rules: dict[str, str], place: str) -> None:
    # In a worktree or a submodule it is a file with a path of that machine in it.
    plant(tmp_path, {**rules, place: "gitdir: /elsewhere\n", "s/.github": "", "s/a.git": "", ".Git": ""})
    assert [path for path in shown(tmp_path) if "git" in path.lower()] == [".Git", "s/.github", "s/a.git"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.process
def test_a_worktree_has_the_files_of_its_clone(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=n", "-c", "user.email=e"]
    plant(tmp_path / "clone", {"a.py": "", ".gitignore": "*.log\n"})
    for command in (
        ["init", "--quiet", "--template="],
        ["add", "."],
        ["commit", "--quiet", "--message=m"],
        ["worktree", "add", "--quiet", "../tree"],
    ):
        subprocess.run([*git, *command], cwd=tmp_path / "clone", check=True, capture_output=True)
    assert (tmp_path / "tree" / ".git").is_file()
    assert list_files(str(tmp_path / "tree")) == list_files(str(tmp_path / "clone"))


def test_the_names_of_pruned_directories_are_case_sensitive_and_whole(tmp_path: Path) -> None:
    if (plant_empty(tmp_path, "Dist/f.py") / "dist").exists():
        pytest.skip("this file system ignores case")
    plant_empty(tmp_path, "builds/f.py", "distance/f.py")
    assert shown(tmp_path) == ["Dist/f.py", "builds/f.py", "distance/f.py"]


@pytest.mark.parametrize("name", [".git", "build", ".hidden"])
def test_the_root_is_never_pruned(tmp_path: Path, name: str) -> None:
    plant_empty(tmp_path / name, "f.py")
    assert shown(tmp_path / name) == ["f.py"]


def test_a_rule_cannot_bring_back_a_pruned_directory(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "!build/\n!.github/\n!node_modules\n"})
    plant_empty(tmp_path, "build/f.py", ".github/f.yml", "node_modules/f.js", "f.py")
    assert shown(tmp_path) == ["f.py"]


def test_hidden_files_are_kept_unless_ignored(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": ".b\n", ".a": "", ".b": "", "s/.c": ""})
    assert list_files(str(tmp_path)).paths == (".a", ".gitignore", "s/.c")


def test_only_gitignore_files_at_or_below_the_root_have_an_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = plant(
        tmp_path / "home", {".config/git/ignore": "a.py\n", ".gitconfig": "[core]\nexcludesFile=~/x\n"}
    )
    plant(home, {"x": "a.py\n"})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    root = tmp_path / "checkout" / "root"
    plant(tmp_path, {".gitignore": "a.py\n", "checkout/.gitignore": "a.py\n", "checkout/.git/HEAD": ""})
    plant(root, {".ignore": "a.py\n", ".rgignore": "a.py\n", ".git/info/exclude": "a.py\n", "a.py": ""})
    assert shown(root) == [".ignore", ".rgignore", "a.py"]


def test_rules_reach_into_nested_checkouts(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "*.log\n", "sub/.git/HEAD": "ref: refs/heads/main\n"})
    plant_empty(tmp_path, "sub/a.log", "sub/a.py")
    assert shown(tmp_path) == ["sub/a.py"]


def test_a_rule_file_in_a_pruned_or_ignored_directory_is_not_read(tmp_path: Path) -> None:
    plant(tmp_path, {".gitignore": "gone/\n", "build/.gitignore": b"\xff\n", "gone/.gitignore": b"\xff\n"})
    assert list_files(str(tmp_path)) == Listing((".gitignore",), (), ())


def test_paths_are_in_byte_order(tmp_path: Path) -> None:
    plant_empty(tmp_path, "a/b", "a.b", "a-b", "Z", "é", "\uffee", "\U0001f600")
    assert shown(tmp_path) == ["Z", "a-b", "a.b", "a/b", "é", "\uffee", "\U0001f600"]


def test_an_empty_directory_holds_nothing(tmp_path: Path) -> None:
    assert list_files(str(tmp_path)) == Listing((), (), ())


NAMES = st.sampled_from(["a", "B.py", ".x", ".git", "build", "Build", "dist", "venv", "é", "a b", "[a]", "#"])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), max_size=8))
def test_a_tree_without_rules_is_listed_as_with_a_rule_file_that_holds_none(paths: list[str]) -> None:
    # With a rule file ripgrep's engine walks the tree, without one it is not even imported.
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path in paths:
            target = root / path
            if not target.exists() and not any(parent.is_file() for parent in target.parents):
                plant_empty(root, path)
        without = list_files(folder).paths
        plant_empty(root, ".gitignore")
        assert sorted([".gitignore", *without], key=str.encode) == list(list_files(folder).paths)


@BYTE_NAMES
def test_names_that_are_not_utf8_are_told_apart_without_rules_as_well(tmp_path: Path) -> None:
    root = os.fsencode(plant_empty(tmp_path, "z.py"))
    os.mkdir(root + b"/d\xff")
    for name in (b"/bad\xff.py", b"/d\xff/f.py"):
        with open(root + name, "wb"):
            pass
    assert list_files(str(tmp_path)) == Listing(("z.py",), ("bad\\xff.py", "d\\xff/"), ())


# --- links, pipes and names ----------------------------------------------------------------------------


def test_links_are_neither_followed_nor_listed(tmp_path: Path) -> None:
    outside = plant_empty(tmp_path / "outside", "secret.py") / "secret.py"
    root = plant_empty(tmp_path / "root", "a/f.py")
    link(outside, root / "file.py")
    link(tmp_path / "outside", root / "directory")
    link("..", root / "a" / "parent")
    link("nowhere", root / "broken.py")
    assert shown(root) == ["a/f.py"]


def test_a_linked_root_is_a_root(tmp_path: Path) -> None:
    plant(tmp_path / "real", {".gitignore": "/b.py\n", "a.py": "", "b.py": ""})
    link("real", tmp_path / "linked")
    assert shown(tmp_path / "linked") == ["a.py"]


@pytest.mark.parametrize("spelling", [".", "./", "../corpus", "./x/.."])
def test_any_spelling_of_the_root_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    root = plant(tmp_path / "corpus", {".gitignore": "/b.py\nx/c.py\n", "a.py": "", "b.py": "", "x/c.py": ""})
    monkeypatch.chdir(root)
    assert list_files(spelling).paths == (".gitignore", "a.py")


@needs_fifo
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    plant_empty(tmp_path, "a.py")
    os.mkfifo(tmp_path / "pipe.py")
    assert shown(tmp_path) == ["a.py"]


@needs_fifo
@pytest.mark.parametrize("place", [".", "sub", "sub/deep"])
def test_a_rule_file_that_is_a_pipe_is_not_opened(tmp_path: Path, place: str) -> None:
    plant(tmp_path, {"a/.gitignore": "*.log\n"})
    plant_empty(tmp_path, "a/f.log", "a/f.py", "sub/deep/f.log", "build/f.py")
    os.mkfifo(tmp_path / place / ".gitignore")
    listing = list_files(str(tmp_path))
    assert listing.paths == ("a/.gitignore", "a/f.py", "sub/deep/f.log")
    path = os.path.normpath(f"{place}/.gitignore")
    assert listing.notices == (
        f"{path}: not a regular file: its rules do not count; put a copy of the file there",
    )


@pytest.mark.parametrize("place", [".", "sub"])
def test_a_linked_rule_file_has_no_effect_and_is_reported(tmp_path: Path, place: str) -> None:
    root = plant_empty(tmp_path / "root", "sub/f.log", "sub/f.tmp")
    plant(tmp_path, {"rules": "*.log\n", "root/other/.gitignore": "f.tmp\n", "root/other/f.tmp": ""})
    link(tmp_path / "rules", root / place / ".gitignore")
    listing = list_files(str(root))
    assert listing.paths == ("other/.gitignore", "sub/f.log", "sub/f.tmp")
    assert len(listing.notices) == 1


def test_a_linked_rule_file_in_an_ignored_directory_is_nobodys_business(tmp_path: Path) -> None:
    root = plant(tmp_path / "root", {".gitignore": "gone/\n", "gone/f.py": "", "f.py": ""})
    link("nowhere", root / "gone" / ".gitignore")
    assert list_files(str(root)) == Listing((".gitignore", "f.py"), (), ())


def test_a_directory_in_place_of_a_rule_file_is_pruned_like_any_hidden_one(tmp_path: Path) -> None:
    plant_empty(tmp_path, ".gitignore/f.py", "f.py")
    assert list_files(str(tmp_path)) == Listing(("f.py",), (), ())


@BYTE_NAMES
def test_names_that_are_not_utf8_are_told_apart(tmp_path: Path) -> None:
    root = os.fsencode(plant(tmp_path, {".gitignore": "*.log\n", "f.log": "", "z.py": ""}))
    os.mkdir(root + b"/d\xff")
    for name in (b"/bad\xff.py", b"/d\xff/f.py", b"/z\n\xe9.py"):
        with open(root + name, "wb"):
            pass
    listing = list_files(str(tmp_path))
    assert listing.paths == (".gitignore", "z.py")
    assert listing.misnamed == ("bad\\xff.py", "d\\xff/", "z\\n\\xe9.py")


@BYTE_NAMES
def test_a_root_whose_name_is_not_utf8_works(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path) + b"/r\xff"
    os.mkdir(root)
    plant(tmp_path / os.fsdecode(b"r\xff"), {".gitignore": "*.log\n", "a/f.log": "", "a/f.py": ""})
    assert list_files(os.fsdecode(root)).paths == (".gitignore", "a/f.py")


# --- what cannot be read -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"), [(b"\xff\n", 1), (b"a\nb\xff\nc\n", 2), (b"a\n\n\xed\xa0\x80\n", 3)]
)
def test_a_rule_file_that_is_not_utf8_counts_up_to_the_bad_line(
    tmp_path: Path, text: bytes, line: int
) -> None:
    plant(tmp_path, {"s/.gitignore": text})
    plant_empty(tmp_path, "s/a", "s/c")
    listing = list_files(str(tmp_path))
    assert listing.notices == (
        f"s/.gitignore: not UTF-8: its rules from line {line} on do not count; save it as UTF-8",
    )
    assert listing.paths == ("s/.gitignore", "s/a", "s/c") if line == 1 else ("s/.gitignore", "s/c")


def test_a_directory_that_cannot_be_listed_is_reported_and_ends_nothing(open_directory: Path) -> None:
    plant(open_directory, {".gitignore": "gone/\n"})
    plant_empty(open_directory, "locked/f.py", "gone/f.py", "z/f.py")
    with unprivileged_with(open_directory, {"locked": 0, "gone": 0}):
        listing = list_files(str(open_directory))
    assert listing.paths == (".gitignore", "z/f.py")
    assert listing.notices == ("locked/: Permission denied: its files are left out; make it readable",)


def test_a_rule_file_that_cannot_be_read_is_reported(open_directory: Path) -> None:
    plant(open_directory, {".gitignore": "a.py\n", "a.py": ""})
    with unprivileged_with(open_directory, {".gitignore": 0}):
        listing = list_files(str(open_directory))
    assert listing.paths == (".gitignore", "a.py")
    assert listing.notices == (".gitignore: Permission denied: its rules do not count; make it readable",)


def test_both_are_reported_when_a_copy_is_walked(open_directory: Path) -> None:
    plant(open_directory, {"a/.gitignore": "f.py\n", "a/f.py": "", "locked/f.py": ""})
    link("nowhere", open_directory / ".gitignore")
    with unprivileged_with(open_directory, {"a/.gitignore": 0, "locked": 0}):
        listing = list_files(str(open_directory))
    assert listing.paths == ("a/.gitignore", "a/f.py")
    assert [notice.split(": ")[0] for notice in listing.notices] == [".gitignore", "a/.gitignore", "locked/"]


def test_a_root_that_cannot_be_listed_is_an_error(open_directory: Path) -> None:
    plant_empty(open_directory, "root/f.py")
    with (
        unprivileged_with(open_directory, {"root": 0}),
        pytest.raises(CorpusError, match="root: Permission denied: the corpus must be"),
    ):
        list_files(str(open_directory / "root"))


def test_a_missing_root_and_a_file_are_errors(tmp_path: Path) -> None:
    plant_empty(tmp_path, "f.py")
    with pytest.raises(CorpusError, match=r"nowhere: .*: the corpus must be a directory that can be listed"):
        list_files(str(tmp_path / "nowhere"))
    with pytest.raises(CorpusError, match=r"f\.py: .*: the corpus must be a directory that can be listed"):
        list_files(str(tmp_path / "f.py"))


def nest(root: Path, depth: int) -> str:
    """Folders in each other below `root`; returns the path of the innermost."""
    path = root
    for _ in range(depth):
        path = path / "n"
        path.mkdir()
    return "n/" * depth


@pytest.mark.parametrize("place", [".", "sub"])
@pytest.mark.process
def test_a_tree_of_a_thousand_levels_with_a_linked_rule_file_is_listed_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    # Python's own removal of a temporary folder calls itself for every level, and so fails at 1,000.
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "tmp").mkdir()
    deepest = nest(tmp_path / "root", 1100)
    plant(tmp_path / "root", {f"{deepest}f.py": "", ".ignored": ""})
    link("nowhere", tmp_path / "root" / place / ".gitignore")
    plant(tmp_path / "root", {"n/.gitignore": "*.log\n", "n/f.log": ""})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    listing = list_files(str(tmp_path / "root"))
    subprocess.run(
        ["rm", "-rf", str(tmp_path / "root")], check=True
    )  # pytest's own removal would fail as well
    assert listing.paths == (".ignored", "n/.gitignore", f"{deepest}f.py")
    assert os.listdir(tmp_path / "tmp") == []


def test_a_copy_that_cannot_be_made_leaves_nothing_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = plant_empty(tmp_path / "root", "a/b.py", "c.py")
    link("nowhere", root / ".gitignore")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))

    def mkdir(path: bytes, mode: int = 0o777) -> None:
        if os.path.basename(path) == b"a":
            raise OSError(28, "No space left on device")
        os_mkdir(path, mode)

    os_mkdir = os.mkdir
    monkeypatch.setattr("os.mkdir", mkdir)
    with pytest.raises(CorpusError, match=r"\(No space left on device\): free some space in .*tmp, or"):
        list_files(str(root))
    assert os.listdir(tmp_path / "tmp") == []


# --- size ----------------------------------------------------------------------------------------------

# Ends in a rule that counts; each line before it is a comment of 1,024 bytes.
MEBIBYTE = (b"#" * 1023 + b"\n") * 1023 + b"#" * 1016 + b"\n/a.log\n"[:7] + b"\n"


def test_a_rule_file_of_a_mebibyte_counts(tmp_path: Path) -> None:
    assert len(MEBIBYTE) == 1024 * 1024
    plant(tmp_path, {".gitignore": MEBIBYTE, "a.log": "", "a.py": ""})
    assert shown(tmp_path) == ["a.py"]


@pytest.mark.parametrize("place", ["", "sub/", "sub/deep/"])
@pytest.mark.parametrize("with_rules_above", [False, True])
def test_a_larger_rule_file_is_an_error_with_its_path(
    tmp_path: Path, place: str, with_rules_above: bool
) -> None:
    plant(tmp_path, {f"{place}.gitignore": MEBIBYTE + b"\n", "sub/deep/a.py": ""})
    if with_rules_above and place:
        plant(tmp_path, {".gitignore": "*.log\n"})
    expected = f"{tmp_path}/{place}.gitignore: is larger than 1 MiB, too much for ignore rules; shorten it"
    with pytest.raises(CorpusError, match=f"^{re.escape(expected)}"):
        list_files(str(tmp_path))


def test_it_is_not_read_to_learn_that(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").touch()
    os.truncate(tmp_path / ".gitignore", 1 << 40)  # a terabyte of nothing
    with pytest.raises(CorpusError, match="larger than 1 MiB"):
        list_files(str(tmp_path))


def test_one_in_a_directory_that_is_ignored_or_pruned_is_nobodys_business(tmp_path: Path) -> None:
    large = {"gone/.gitignore": MEBIBYTE + b"\n", "build/.gitignore": MEBIBYTE + b"\n"}
    plant(tmp_path, {".gitignore": "gone/\n*.log\n", "kept/a.py": "", "kept/a.log": "", **large})
    assert shown(tmp_path) == ["kept/a.py"]
