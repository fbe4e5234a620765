"""The pages for users: what they print runs and comes out as printed, and their links lead somewhere.

A page is run from its first block to its last in one folder that holds a copy of what the pages name. A
`console` block shows commands behind `$ ` and what they print; a line of three dots stands for any
lines. A `sh` block only has to succeed. A comment in front of a block says what else holds for it:

    <!-- not run: the reason -->
    <!-- exit code 1 -->
    <!-- needs rg -->

The last one is a program that is not installed everywhere; where it is not, the block is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cce.version import __version__
from conftest import ROOT, Run

README = ROOT / "README.md"
CHANGELOG = ROOT / "CHANGELOG.md"
INDEX = ROOT / "eval" / "README.md"
PAGES = (
    README,
    INDEX,
    *sorted(set((ROOT / "eval").glob("*.md")) - {INDEX}),
    ROOT / "eval/benchmarks/README.md",
    ROOT / "eval/hardening/README.md",
    ROOT / "eval/systems/README.md",
)

GLOSSARY = (
    *("fixture set", "case", "anchor", "grade", "corpus", "chunk", "span", "index", "store", "backend"),
    *("system", "ranking", "hit", "match", "relevant", "irrelevant", "unjudged", "metric"),
    *("reciprocal rank", "MRR", "comparison", "evidence", "randomisation p"),
    *("minimum detectable effect", "slice", "gate", "policy", "baseline", "verdict", "pin", "trace", "draft"),
)

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>(?:not run|exit code|needs)[^\n]*) -->\n\n)?"
    r"^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Step(NamedTuple):
    """One command of a page; `output` is None where the page does not show any, `needs` mostly empty."""

    line: int
    command: str
    output: str | None
    exit_code: int
    needs: str


def blocks(page: Path) -> Iterator[tuple[int, str, str, str]]:
    """(line number, note, language, body) of every fenced block."""
    text = page.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield line, found["note"] or "", found["language"], found["body"]


def steps(page: Path) -> Iterator[Step]:
    """What the page asks its reader to type, in order."""
    for line, note, language, body in blocks(page):
        exit_code = int(note.removeprefix("exit code ")) if note.startswith("exit code ") else 0
        needs = note.removeprefix("needs ") if note.startswith("needs ") else ""
        if note.startswith("not run: "):
            continue
        if language == "sh":
            yield Step(line, body, None, exit_code, needs)
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield Step(line, command, output, exit_code, needs)


def as_pattern(output: str) -> str:
    """A regular expression for `output`, in which a line of three dots stands for any lines."""
    lines = output.splitlines(keepends=True)
    return "".join(r"(?:.*\n)*?" if line == "...\n" else re.escape(line) for line in lines)


def without_trailing_blanks(text: str) -> str:
    """`text` as an editor keeps it in a page, one final line end included."""
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).rstrip("\n") + "\n"


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


SHIPPED = ("eval", "goldens", "test_fixtures")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what the pages name, and the command `cce` on the path of `tmp_path / "bin"`."""
    checkout = tmp_path / "checkout"
    for folder in SHIPPED:
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    program = tmp_path / "bin" / "cce"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cce "$@"\n')
    program.chmod(0o755)
    return checkout


def search_path(checkout: Path) -> str:
    return os.pathsep.join(
        (str(checkout.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"])
    )


def run(step: Step, checkout: Path) -> subprocess.CompletedProcess[str]:
    """Run one step as a shell would that stops at the first failure."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", step.command],
        cwd=checkout,
        env={**os.environ, "PATH": search_path(checkout)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="the pages are written for a POSIX shell")
@pytest.mark.parametrize("page", PAGES, ids=name)
@pytest.mark.process
def test_what_a_page_shows_is_what_its_commands_print(page: Path, checkout: Path) -> None:
    skipped = []
    for step in steps(page):
        if step.needs and not shutil.which(step.needs, path=search_path(checkout)):
            skipped.append(f"{name(page)}:{step.line} needs {step.needs}")
            continue
        result = run(step, checkout)
        place = f"{name(page)}:{step.line}: {step.command}\n{result.stdout}"
        assert result.returncode == step.exit_code, place
        if step.output is not None:
            shown, printed = map(without_trailing_blanks, (step.output, result.stdout))
            assert re.fullmatch(as_pattern(shown), printed), place
    assert [
        path for path in shipped_files() if (checkout / path).read_bytes() != (ROOT / path).read_bytes()
    ] == []
    if skipped:
        pytest.skip("all but " + ", ".join(skipped))


def shipped_files() -> list[Path]:
    """The files of the checkout that no page may change, relative to it."""
    files = (path for folder in SHIPPED for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path.relative_to(ROOT) for path in files if "__pycache__" not in path.parts]


def test_the_readme_walks_from_a_repository_to_a_gate_in_five_commands() -> None:
    typed = [step.command for step in steps(README)]
    walk = ["cce fixtures draft", "cce fixtures label", "cce fixtures pin", "cce relevance", "cce gate"]
    places = [next(n for n, command in enumerate(typed) if wanted in command) for wanted in walk]
    assert places == sorted(places)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_of_a_page_has_a_language(page: Path) -> None:
    assert [line for line, _, language, _ in blocks(page) if not language] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_command_that_is_not_run_says_why(page: Path) -> None:
    notes = [note for _, note, _, _ in blocks(page) if note.startswith("not run")]
    assert [note for note in notes if not re.fullmatch(r"not run: \S.+", note)] == []


def slugs(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in slugs(target)):
            broken.append(link)
    assert broken == []


def test_the_index_links_every_page_under_eval() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.md)", INDEX.read_text("utf-8")))
    pages = {page.name for page in PAGES if page.parent == INDEX.parent and page != INDEX}
    assert pages - linked == set()


def test_the_readme_stays_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) < 300


def test_the_readme_has_a_place_for_the_architecture() -> None:
    text = README.read_text("utf-8")
    assert re.search(
        r"^<!-- architecture -->\n\n```text\n.*?^```\n\n<!-- /architecture -->$", text, re.M | re.S
    )


def test_the_picture_is_small() -> None:
    pictures = list((ROOT / "eval" / "pictures").iterdir())
    assert pictures
    assert [path.name for path in pictures if path.stat().st_size > 60_000] == []


def test_the_glossary_has_every_word_once() -> None:
    _, _, glossary = INDEX.read_text("utf-8").partition("\n## Glossary\n")
    words = re.findall(r"^\| \*\*(.+?)\*\*", glossary, re.MULTILINE)
    assert [word for word in GLOSSARY if words.count(word) != 1] == []


def _options_shown(command: str) -> set[str]:
    """The long options in the table under a heading "Options of `cce COMMAND`", of whichever page has it."""
    for page in PAGES:
        section = re.search(
            rf"^#+ Options of `cce {command}`\n(.*?)(?=^#|\Z)",
            page.read_text("utf-8"),
            re.MULTILINE | re.DOTALL,
        )
        if section:
            return {
                option
                for row in re.findall(r"^\| (`-.+?) \|", section[1], re.MULTILINE)
                for option in re.findall(r"--[a-z-]+", row)
            }
    return set()


@pytest.mark.process
@pytest.mark.parametrize("command", ["relevance", "compare", "gate", "search", "index"])
def test_the_table_of_options_is_that_of_the_help(command: str, run_cce: Run, root: Path) -> None:
    help_text = run_cce(*command.split(), "--help").stdout.decode()
    options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", help_text, re.MULTILINE)) - {"--help"}
    assert options
    assert _options_shown(command) == options


def test_every_entry_of_the_changelog_says_what_it_does_to_the_bytes_of_a_report() -> None:
    text = re.sub(r"^### Installed size\n.*?(?=^#|\Z)", "", CHANGELOG.read_text("utf-8"), flags=re.M | re.S)
    entries = [" ".join(entry.split()) for entry in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]
    assert entries
    assert [entry for entry in entries if "Report bytes: " not in entry] == []


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    newest = re.search(
        r"^## (\S+) - \d{4}-\d{2}-\d{2}$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    assert newest is not None
    assert newest[1] == __version__


def test_each_retriever_of_your_own_takes_fewer_than_25_lines() -> None:
    text = (ROOT / "eval" / "retriever.md").read_text("utf-8")
    written = re.findall(r"^cat >(\S+) <<'END'\n(.*?)^END$", text, re.MULTILINE | re.DOTALL)
    assert {"mine.jsonl", "mine.run", "my_search.py", "my_service.py"} <= {file for file, _ in written}
    assert [file for file, body in written if len(body.splitlines()) >= 25] == []
