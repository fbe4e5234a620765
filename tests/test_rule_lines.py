"""Which lines of a rule file have a set that nothing closes: git is asked, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.retrieval.corpus.rule_lines import without_unclosed_sets

UNCLOSED = (
    *(
        "[",
        "a[",
        "[a",
        "foo[bar",
        "[!",
        "[^",
        "[]",
        "[!]",
        "[^]",
        "[a-",
        "[[",
        "*[",
        "?[",
        "[*",
        "[a/",
        "!a[",
    ),
    *(
        "[[:alpha:]",
        "[[:alpha:",
        "[[:",
        "[[:x",
        "[a-\\",
        "[\\",
        "[\\]",
        "[a]b[",
        "[!]a",
        "[a-[:b:]c[",
        "[\u00e9",
    ),
)
CLOSED = (
    *(
        "[a]",
        "[]]",
        "[!]]",
        "[^]a]",
        "[]a]",
        "[a-]",
        "[-a]",
        "[a]]",
        "[[]",
        "[[a]",
        "[[:]",
        "[[:]]",
        "[a-b-c]",
    ),
    *(
        "[[:alpha:]]",
        "[[:alpha:]-z]",
        "[[::]]",
        "[a-[:b]",
        "[\\]]",
        "[\\\\]",
        "\\[",
        "\\[a",
        "\\\\[a]",
        "[a][b]",
        "[\u00e9]",
    ),
    *("]", "a]", "{a,b}", "**", "#[", "# a [", "[.]", "[a-\\]b]", "[ ]"),
)


@pytest.mark.parametrize("line", UNCLOSED)
def test_a_line_whose_set_nothing_closes_goes(line: str) -> None:
    assert without_unclosed_sets(f"x\n{line}\ny\n".encode()) == b"x\n\ny\n"
    assert without_unclosed_sets(f"{line}  \r\n".encode()) == b"\n"


@pytest.mark.parametrize("line", CLOSED)
def test_any_other_line_stays(line: str) -> None:
    rules = f"x\n{line}\ny\n".encode()
    assert without_unclosed_sets(rules) == rules


def test_a_byte_order_mark_stays_and_belongs_to_no_line() -> None:
    assert without_unclosed_sets(b"\xef\xbb\xbf[a\nb") == b"\xef\xbb\xbf\nb"
    assert without_unclosed_sets(b"\xef\xbb\xbf# [a\n") == b"\xef\xbb\xbf# [a\n"


def test_what_only_begins_like_a_class_is_looked_through_once() -> None:
    # With a search for the bracket at each of them this would take minutes.
    rules = b"[" + b"[:" * 1_000_000 + b"x]"
    assert without_unclosed_sets(rules) == rules


def is_known_to_match(folder: Path, pattern: str, name: str) -> bool:
    """Whether git finds `name` ignored by `pattern`, without a file of that name."""
    (folder / ".gitignore").write_bytes(f"{pattern}\n".encode())
    command = ["git", "-c", "core.excludesFile=", "check-ignore", "--quiet", "--no-index", "--", name]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet", "--template="], cwd=folder, check=True)
    return folder


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="[]!^:-\\ab", min_size=1, max_size=7), st.sampled_from("[]!^:-ab"))
@pytest.mark.process
def test_a_line_that_goes_matches_nothing_in_git_either(repository: Path, pattern: str, name: str) -> None:
    pattern = f"[{pattern}"
    if without_unclosed_sets(pattern.encode()) == b"":
        assert not is_known_to_match(repository, pattern, name)
        assert not is_known_to_match(repository, pattern, f"{pattern}".replace("\\", "b"))


@settings(deadline=None, max_examples=40)
@given(st.text(alphabet="[]:-\\ab", min_size=1, max_size=5))
@pytest.mark.process
def test_a_set_that_git_sees_closed_stays(repository: Path, members: str) -> None:
    # A set that matches anything at all is closed.
    if any(is_known_to_match(repository, f"[{members}", name) for name in ("a", "b", ":", "[", "-")):
        assert without_unclosed_sets(f"[{members}".encode()) != b""
