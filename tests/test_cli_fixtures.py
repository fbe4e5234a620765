"""`cce fixtures` as it is installed: exit codes, what goes where, and that only SET is ever written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from trees import write_set

READ = "def read(path):\n    return open(path).read()\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a corpus and a set that names it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(READ.encode())
    for n in range(8):
        (tmp_path / "src" / f"page{n}.md").write_bytes(b"Page %d\n" % n)
    write_set(tmp_path, {"id": "read", "query": "read a file", "expected": ["a.py@1-2"], "k": 1})
    return tmp_path


def test_lint_of_a_sound_set_exits_0(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "lint", "set.jsonl", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"\n0 errors, 0 warnings, 1 note in 1 case\n")


def test_lint_exits_1_on_an_error_and_names_the_line(folder: Path, run_cce: Run) -> None:
    write_set(folder, {"id": "read", "query": "read", "expected": ["b.py"], "k": 1})
    done = run_cce("fixtures", "lint", "set.jsonl", "--level", "error", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.decode() == (
        "set.jsonl:2: read\n  error    'b.py' matches no chunk: not there; did you mean 'a.py'?\n\n"
        "1 error, 0 warnings, 3 notes in 1 case\n"
    )


def test_warnings_fail_only_if_asked(folder: Path, run_cce: Run) -> None:
    write_set(folder, {"query": "read in a.py", "expected": ["a.py"], "k": 1})
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=folder).returncode == 0
    assert run_cce("fixtures", "lint", "set.jsonl", "--strict", cwd=folder).returncode == 1


def test_lint_prints_json(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "lint", "set.jsonl", "--json", "--dir", "src", cwd=folder)
    assert json.loads(done.stdout)["schema"] == "cce.lint/v1"


@pytest.mark.parametrize("command", ["lint", "pin", "reanchor"])
def test_what_cannot_be_read_exits_2_with_one_line(folder: Path, run_cce: Run, command: str) -> None:
    (folder / "bad.jsonl").write_bytes(b'{"query":"x","expected":["a.py"]}\n{"query":"x"}\n')
    (folder / "nameless.jsonl").write_bytes(b'{"query":"x","expected":["a.py"]}\n')
    for arguments, fault in [
        (["gone.jsonl"], b"cannot read the fixture set"),
        (["bad.jsonl", "--dir", "src"], b"bad.jsonl:2: expected is missing"),
        (["nameless.jsonl"], b"no corpus"),
        (["set.jsonl", "--dir", "nowhere"], b"nowhere"),
    ]:
        done = run_cce("fixtures", command, *arguments, cwd=folder)
        assert (done.returncode, done.stdout) == (2, b""), arguments
        assert fault in done.stderr
        assert done.stderr.count(b"\n") == 1


def test_pin_shows_a_diff_and_writes_only_if_asked(folder: Path, run_cce: Run) -> None:
    before = (folder / "set.jsonl").read_bytes()
    shown = run_cce("fixtures", "pin", "set.jsonl", cwd=folder)
    assert shown.returncode == 0
    assert shown.stdout.startswith(b"--- set.jsonl\n+++ set.jsonl\n@@ -1,2 +1,2 @@\n")
    assert shown.stderr == b"pins added: 1, renewed: 0, dropped: 0; nothing is written without --write\n"
    assert (folder / "set.jsonl").read_bytes() == before
    written = run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    assert written.stdout == b"pins added: 1, renewed: 0, dropped: 0 -> set.jsonl\n"
    assert b'"pins": {"a.py@1-2": "' in (folder / "set.jsonl").read_bytes()


def test_the_diff_leads_to_the_bytes_that_write_writes(folder: Path, run_cce: Run) -> None:
    if shutil.which("patch") is None:
        pytest.skip("no patch command")
    diff = run_cce("fixtures", "pin", "set.jsonl", cwd=folder).stdout
    copy = folder / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"))
    subprocess.run(["patch", "-p0"], input=diff, cwd=copy, check=True, capture_output=True)
    run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    assert (copy / "set.jsonl").read_bytes() == (folder / "set.jsonl").read_bytes()


def test_a_label_follows_its_text_from_pin_to_reanchor(folder: Path, run_cce: Run) -> None:
    run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    (folder / "src" / "a.py").write_bytes(b"import os\n\n\n" + READ.encode())
    stale = run_cce("fixtures", "lint", "set.jsonl", "--level", "error", cwd=folder)
    assert stale.returncode == 1
    assert b"'a.py@1-2' is pinned, but its text moved to 'a.py@4-5'" in stale.stdout
    shown = run_cce("fixtures", "reanchor", "set.jsonl", cwd=folder)
    assert b'+{"id": "read", "query": "read a file", "expected": ["a.py@4-5"]' in shown.stdout
    assert b"set.jsonl:2: 'read' 'a.py@1-2': its text moved to 'a.py@4-5'\n" in shown.stderr
    written = run_cce("fixtures", "reanchor", "set.jsonl", "--write", cwd=folder)
    assert written.stdout.endswith(b"1 of 1 stale anchors re-anchored -> set.jsonl\n")
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=folder).returncode == 0


def test_a_renewed_pin_is_no_longer_stale(folder: Path, run_cce: Run) -> None:
    run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    (folder / "src" / "a.py").write_bytes(b"def read(path):\n    return path.read_text()\n")
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=folder).returncode == 1
    kept = run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    assert b"is stale and keeps its pin" in kept.stderr
    run_cce("fixtures", "pin", "set.jsonl", "--write", "--renew", "--case", "read", cwd=folder)
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=folder).returncode == 0


def test_an_unknown_case_and_an_unknown_command_are_refused(folder: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "pin", "set.jsonl", "--case", "raed", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no case has the id 'raed'; did you mean 'read'?" in done.stderr
    assert run_cce("fixtures", "lnt", cwd=folder).returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_a_set_that_nobody_may_write_is_refused(folder: Path, run_cce: Run) -> None:
    (folder / "set.jsonl").chmod(0o444)
    done = run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=folder)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"set.jsonl: is not writable, so nothing was written" in done.stderr


def test_nothing_but_the_set_is_written(folder: Path, run_cce: Run) -> None:
    before = set(folder.rglob("*"))
    for command in ("lint", "pin", "reanchor"):
        run_cce("fixtures", command, "set.jsonl", *(["--write"] if command != "lint" else []), cwd=folder)
    assert set(folder.rglob("*")) == before


@pytest.mark.process
def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom cce.cli.main import main\nmain(['fixtures', '--help'])\n"
        "main(['fixtures', 'lint', '--help'])\nmain(['schema', '--help'])\n"
        "print([name for name in ('numpy', 'pydantic', 'scipy', 'tree_sitter') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


def test_a_store_can_stand_in_for_the_directory(tmp_path: Path, run_cce: Run) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def load(path):\n    return open(path)\n")
    cases = [
        {"schema": "cce.relevance/v1", "corpus": "src"},
        {
            "id": "load",
            "query": "load",
            "expected": ["app.py@1-2"],
            "pins": {"app.py@1-2": "0123456789abcdef"},
        },
        {"id": "gone", "query": "gone", "expected": ["gone.py"]},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    run_cce("index", "src", "--store", "s.json", cwd=tmp_path)
    result = run_cce("fixtures", "lint", "set.jsonl", "--store", "s.json", "--level", "error", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (1, b"")
    # The stale pin of `load` cannot be seen in a store; what matches no chunk can.
    assert b"'gone.py' matches no chunk" in result.stdout
    assert b"load" not in result.stdout
    both = run_cce("fixtures", "lint", "set.jsonl", "--store", "s.json", "--dir", "src", cwd=tmp_path)
    assert b"exclude each other" in both.stderr
    (tmp_path / "queries.txt").write_text("load a path\n")
    drafted = run_cce("fixtures", "draft", "--from", "queries.txt", "--store", "s.json", cwd=tmp_path)
    assert b'"path": "app.py"' in drafted.stdout
