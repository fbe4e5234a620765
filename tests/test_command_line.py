"""The installed command as its users meet it: streams, exit codes, messages, bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cce.cli.main import _COMMANDS
from conftest import Run
from trees import write_set

CASE = {"id": "load", "query": "load config", "expected": ["app.py"], "k": 2}
APP = "def load_config(path):\n    return open(path).read()\n\n\nclass Store:\n    pass\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A corpus of two files beside a fixture set that names it."""
    corpus = tmp_path / "src"
    corpus.mkdir()
    (corpus / "app.py").write_bytes(APP.encode())
    (corpus / "notes.md").write_bytes("load the café config\n".encode())
    write_set(tmp_path, CASE)
    return tmp_path


def one_error(result: subprocess.CompletedProcess[bytes]) -> str:
    """The only line of a refused run."""
    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def test_a_report_goes_to_standard_output_and_nothing_else_is_said(project: Path, run_cce: Run) -> None:
    result = run_cce("relevance", "set.jsonl", cwd=project)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == (
        "CCE relevance — ranking quality vs labeled fixtures (cce.relevance/v1)\n"
        "  corpus  : src\n"
        "  embedder: hash\n"
        "  queries : 1\n"
        "\n"
        "  backend            P@k      recall         MRR          F1\n"
        # Only notes.md holds the words, so that the function is second at best.
        "  bm25          0.000000    0.000000    0.000000    0.000000\n"
        "  vector        0.500000    1.000000    0.500000    0.666667\n"
        "  hybrid        0.500000    1.000000    0.500000    0.666667\n"
    )


def test_backends_come_in_the_order_asked_for_and_once(project: Path, run_cce: Run) -> None:
    result = run_cce("relevance", "set.jsonl", "--backend", "hybrid, bm25,hybrid", "--json", cwd=project)
    assert [row["backend"] for row in json.loads(result.stdout)["backends"]] == ["hybrid", "bm25"]


def test_the_classics_can_be_compared(project: Path, run_cce: Run) -> None:
    result = run_cce("relevance", "set.jsonl", "--compare", "bm25-okapi,bm25-l", "--json", cwd=project)
    comparison = json.loads(result.stdout)["compare"]
    assert (comparison["a"], comparison["b"]) == ("bm25-okapi", "bm25-l")


def test_dir_wins_over_the_header_and_is_shown_as_typed(project: Path, run_cce: Run) -> None:
    result = run_cce("relevance", "set.jsonl", "--dir", "./src/../src/", "--json", cwd=project)
    assert json.loads(result.stdout)["corpus"] == "./src/../src/"


def test_the_header_corpus_is_joined_to_the_folder_of_the_set(project: Path, run_cce: Run) -> None:
    result = run_cce("relevance", f"{project.name}/set.jsonl", "--json", cwd=project.parent)
    assert json.loads(result.stdout)["corpus"] == f"{project.name}/src"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.jsonl"], "missing.jsonl: cannot read the fixture set (No such file or directory)"),
        (["set.jsonl", "--dir", "nowhere"], "nowhere: No such file or directory"),
        (["set.jsonl", "--dir", "set.jsonl"], "set.jsonl: Not a directory"),
        (["set.jsonl", "--compare", "bm25"], "exactly two"),
        (["set.jsonl", "--compare", "bm25,bm25"], "exactly two"),
        (["set.jsonl", "--compare", "bm25,vector,hybrid"], "exactly two"),
        (["set.jsonl", "--backend", "hybird"], "unknown backend 'hybird'; did you mean 'hybrid'?"),
        (["set.jsonl", "--compare", "bm25,nope"], "known: bm25, vector, hybrid"),
        (["set.jsonl", "--backend", " , "], "--backend names no backend"),
        (["set.jsonl", "--backend", "bm25", "--compare", "bm25,hybrid"], "exclude each other"),
        (["set.jsonl", "--bakend", "bm25"], "--backend"),
        (["set.jsonl", "--backend"], "requires an argument"),
        ([], "Missing argument 'FIXTURES'"),
    ],
)
def test_a_wrong_call_is_one_line_with_the_way_out(
    project: Path, run_cce: Run, arguments: list[str], message: str
) -> None:
    assert message in one_error(run_cce("relevance", *arguments, cwd=project))


def test_a_missing_value_points_to_the_help_of_its_command(run_cce: Run) -> None:
    assert one_error(run_cce("relevance", "--dir")).endswith("see 'cce relevance --help'")


@pytest.mark.parametrize("arguments", [[], ["cache"], ["fixtures"]])
def test_a_group_without_a_command_shows_its_help(run_cce: Run, arguments: list[str]) -> None:
    result = run_cce(*arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"Usage: ")
    assert b"Commands:" in result.stderr


def test_an_unknown_command_names_the_nearest(run_cce: Run) -> None:
    assert "did you mean 'relevance'?" in one_error(run_cce("relevanse", "set.jsonl"))


def test_a_bad_line_is_named_and_nothing_is_scored(project: Path, run_cce: Run) -> None:
    write_set(project, CASE, {**CASE, "k": 0})
    assert one_error(run_cce("relevance", "set.jsonl", cwd=project)).startswith("set.jsonl:3: k must be")


def test_a_set_without_a_corpus_names_both_ways_out(project: Path, run_cce: Run) -> None:
    (project / "set.jsonl").write_text(json.dumps(CASE))
    message = one_error(run_cce("relevance", "set.jsonl", cwd=project))
    assert "no corpus" in message
    assert "--dir" in message
    assert '"corpus"' in message


def test_an_empty_corpus_is_measured_and_warned_about(project: Path, run_cce: Run) -> None:
    (project / "src" / "app.py").unlink()
    (project / "src" / "notes.md").unlink()
    result = run_cce("relevance", "set.jsonl", cwd=project)
    assert result.returncode == 0
    assert b"hybrid        0.000000    0.000000    0.000000    0.000000\n" in result.stdout
    assert b"no indexable file" in result.stderr


def test_a_warning_tells_why_an_anchor_matches_nothing(project: Path, run_cce: Run) -> None:
    (project / "src" / ".gitignore").write_text("made.py\n")
    (project / "src" / "made.py").write_text("x = 1\n")
    (project / "src" / "big.py").write_bytes(b"#" * (2 * 1024 * 1024 + 1))
    anchors = ["app.py", "made.py", "big.py", "APP.py", "gone.py"]
    write_set(project, {"query": "load", "expected": anchors})
    result = run_cce("relevance", "set.jsonl", cwd=project)
    assert result.stderr.decode() == (
        "warning: set.jsonl: 4 of 5 anchors match nothing in this corpus: q2 'made.py' (ignored), "
        "q2 'big.py' (larger than 2 MiB), q2 'APP.py' (wrong case, write 'app.py'), "
        "q2 'gone.py' (not there)\n"
    )


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["relevance", "set.jsonl", "--dir", "a\nb"], r"a\nb: "),
        (["search", "load", "--dir", "a\nb"], r"a\nb: "),
        (["relevance", "set.jsonl", "a\x1b[31mb"], r"Got unexpected extra argument (a\x1b[31mb)"),
        (["conformance", "src", "-o", "a\nb/chunks.json"], r"a\nb/chunks.json: cannot be written"),
    ],
    ids=["corpus", "directory", "argument", "output"],
)
def test_a_line_end_in_a_name_leaves_an_error_one_line(
    project: Path, run_cce: Run, arguments: list[str], start: str
) -> None:
    assert one_error(run_cce(*arguments, cwd=project)).startswith(start)


@pytest.mark.parametrize("command", ["relevance", "explain", "bench"])
def test_a_nul_in_the_corpus_of_a_set_is_a_fault_of_the_set_and_not_of_ours(
    project: Path, run_cce: Run, command: str
) -> None:
    header, case = {"schema": "cce.relevance/v1", "corpus": "a\0b"}, CASE
    (project / "set.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(case)}\n")
    case_id = ["load"] if command == "explain" else []
    message = one_error(run_cce(command, "set.jsonl", *case_id, cwd=project))
    assert message.startswith(r"a\x00b: ")
    assert message.endswith(": the corpus must be a directory that can be listed")


@pytest.mark.parametrize(
    "arguments",
    [
        ["relevance", "set.jsonl", "--dir", ""],
        ["search", "load", "--dir", ""],
        ["explain", "set.jsonl", "load", "--dir", ""],
        ["stats", "--dir", ""],
        ["bench", "--dir", ""],
        ["index", ""],
        ["conformance", ""],
        ["fixtures", "lint", "set.jsonl", "--dir", ""],
        ["fixtures", "draft", "--from", "set.jsonl", "--dir", ""],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_an_empty_directory_name_is_not_the_current_one(
    project: Path, run_cce: Run, arguments: list[str]
) -> None:
    message = one_error(run_cce(*arguments, cwd=project))
    assert "it is empty, write . for the current directory" in message
    assert sorted(path.name for path in project.iterdir()) == ["set.jsonl", "src"]


def test_a_header_may_name_the_folder_of_the_set_by_an_empty_path(project: Path, run_cce: Run) -> None:
    header, case = {"schema": "cce.relevance/v1", "corpus": ""}, {**CASE, "expected": ["src/app.py"]}
    (project / "set.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(case)}\n")
    report = json.loads(
        run_cce("relevance", "set.jsonl", "--backend", "vector", "--json", cwd=project).stdout
    )
    assert (report["corpus"], report["backends"][0]["recall"]) == ("", "1.000000")


def test_the_corpus_is_left_as_it_was(project: Path, run_cce: Run) -> None:
    before = sorted(path.name for path in (project / "src").iterdir())
    run_cce("relevance", "set.jsonl", cwd=project)
    assert sorted(path.name for path in (project / "src").iterdir()) == before


def test_a_read_only_corpus_is_measured_like_any_other(project: Path, run_cce: Run) -> None:
    usual = run_cce("relevance", "set.jsonl", "--json", "--no-cache", cwd=project)
    for path in (*(project / "src").iterdir(), project / "src"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        read_only = run_cce("relevance", "set.jsonl", "--json", "--no-cache", cwd=project)
    finally:
        (project / "src").chmod(0o755)
    assert (read_only.returncode, read_only.stdout) == (0, usual.stdout)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1"},
        {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "ascii:strict"},
    ],
    ids=["hash seed 0", "hash seed 1", "C locale", "cp1252", "ascii"],
)
@pytest.mark.parametrize("options", [["--compare", "bm25,hybrid"], ["--json"]], ids=["text", "json"])
def test_the_same_bytes_in_every_environment(
    project: Path, run_cce: Run, environment: dict[str, str], options: list[str]
) -> None:
    write_set(project, CASE, {"id": "café ✓", "query": "café", "expected": ["notes.md"]})
    usual = run_cce("relevance", "set.jsonl", *options, cwd=project)
    unusual = run_cce("relevance", "set.jsonl", *options, cwd=project, **environment)
    assert "café".encode() in usual.stdout
    assert unusual.stdout == usual.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names have one encoding in every locale")
@pytest.mark.parametrize("names_are", ["typed", "in the set"])
def test_names_are_utf8_in_every_locale(project: Path, run_cce: Run, names_are: str) -> None:
    (project / "src").rename(project / "café")
    (project / "café" / "app.py").rename(project / "café" / "été.py")
    lines = [{"schema": "cce.relevance/v1", "corpus": "café"}, {**CASE, "expected": ["été.py"]}]
    (project / "set.jsonl").write_bytes("".join(json.dumps(line) + "\n" for line in lines).encode())
    typed = ["--dir", "café"] if names_are == "typed" else []
    result = run_cce(
        *("relevance", "set.jsonl", *typed, "--backend", "vector", "--json"),
        cwd=project,
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
    )
    report = json.loads(result.stdout)
    assert (report["corpus"], report["backends"][0]["mrr"]) == ("café", "0.500000")


def test_the_order_in_which_files_were_made_does_not_matter(project: Path, run_cce: Run) -> None:
    names = [f"part{n}.py" for n in range(9)]
    reports = []
    for folder, ordered in (("up", names), ("down", names[::-1])):
        (project / folder / "src").mkdir(parents=True)
        write_set(project / folder, {"query": "load config", "expected": ["part3.py"], "k": 4})
        for name in ordered:
            (project / folder / "src" / name).write_text(APP)
        reports.append(run_cce("relevance", "set.jsonl", "--json", cwd=project / folder).stdout)
    assert reports[0] == reports[1]


@pytest.mark.parametrize("command", [[], *([name] for name in sorted(_COMMANDS))], ids=" ".join)
def test_help_fits_a_terminal_of_80_columns(run_cce: Run, command: list[str]) -> None:
    text = run_cce(*command, "--help", COLUMNS="80").stdout.decode()
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "..." not in text.partition("Commands:")[2]  # a description cut short says nothing


def test_help_has_examples_and_a_way_on(run_cce: Run) -> None:
    assert b"cce relevance FIXTURES --help" in run_cce("--help").stdout
    assert b"--compare bm25,hybrid" in run_cce("relevance", "--help").stdout
    assert b"cce conformance src" in run_cce("conformance", "--help").stdout


@pytest.mark.parametrize("arguments", [["--help"], ["relevance", "--help"], ["--version"], ["relevance"]])
@pytest.mark.process
def test_nothing_heavy_is_imported_before_it_is_needed(arguments: list[str]) -> None:
    heavy = ["numpy", "scipy", "pydantic", "pydantic_core", "tree_sitter", "rignore", "msgspec", "urllib3"]
    program = (
        "import sys; from cce.cli.main import main; main(sys.argv[1:]);"
        f"print(sorted(set({heavy!r}) & set(sys.modules)), file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("run", ["cold", "warm"])
@pytest.mark.process
def test_a_small_corpus_is_measured_without_numpy_and_pydantic(project: Path, run: str) -> None:
    write_set(project, CASE)
    program = (
        "import sys; from cce.cli.main import main; code = main(sys.argv[1:]);"
        "print(code, sorted({'numpy', 'pydantic', 'pydantic_core'} & set(sys.modules)), file=sys.stderr)"
    )
    for _ in range(1 if run == "cold" else 2):
        result = subprocess.run(
            [sys.executable, "-c", program, "relevance", "set.jsonl"],
            cwd=project,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert result.stderr.splitlines()[-1] == "0 []"


posix_only = pytest.mark.skipif(os.name != "posix", reason="pipes, devices and signals of POSIX")


@posix_only
@pytest.mark.process
def test_a_reader_that_leaves_early_is_a_clean_end(project: Path) -> None:
    write_set(project, *({**CASE, "id": f"case {n}"} for n in range(2000)))
    with subprocess.Popen(
        [sys.executable, "-m", "cce", "relevance", "set.jsonl", "--json"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"{\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


@posix_only
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["relevance", "--help"], ["metrics"]])
@pytest.mark.process
def test_a_reader_that_never_read_is_a_clean_end_too(project: Path, arguments: list[str]) -> None:
    nobody_reads, stdout = os.pipe()
    os.close(nobody_reads)
    try:
        result = subprocess.run(
            [sys.executable, "-m", "cce", *arguments],
            cwd=project,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    finally:
        os.close(stdout)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk that is always full")
@pytest.mark.parametrize("arguments", [["relevance", "set.jsonl"], ["--help"], ["relevance", "--help"]])
@pytest.mark.process
def test_a_full_disk_is_a_message_and_exit_2(project: Path, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [sys.executable, "-m", "cce", *arguments],
            cwd=project,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert result.returncode == 2
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("error: standard output: No space left on device")


@posix_only
@pytest.mark.process
def test_a_closed_standard_output_is_a_message_and_exit_2(project: Path) -> None:
    result = subprocess.run(
        ["sh", "-c", 'exec "$0" -m cce relevance set.jsonl >&-', sys.executable],
        cwd=project,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1


@posix_only
@pytest.mark.process
def test_an_interrupt_ends_with_130_and_one_word(project: Path, request: pytest.FixtureRequest) -> None:
    # A shell starts what runs behind it deaf to interrupts, and that is handed down.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    os.mkfifo(project / "slow.jsonl")
    with subprocess.Popen(
        [sys.executable, "-m", "cce", "relevance", "slow.jsonl"], cwd=project, stderr=subprocess.PIPE
    ) as process:
        # Opening for writing waits until the command has opened the pipe, and then waits for a line.
        with open(project / "slow.jsonl", "wb"):
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert process.stderr.read().split() == [b"interrupted"]
        assert process.wait(timeout=60) == 130


def test_our_own_fault_asks_for_a_report(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from cce.cli.main import main
    from cce.usecases import evaluate as pipeline

    def broken(*_: object) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(pipeline, "read_fixture_set", broken)
    assert main(["relevance", str(project / "set.jsonl")]) == 3
    captured = capfd.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert line.startswith("error: ZeroDivisionError: division by zero (at ")
    assert "please report it" in line


def test_conformance_writes_the_chunk_list(project: Path, run_cce: Run) -> None:
    result = run_cce("conformance", "src", "-o", "chunks.json", cwd=project)
    assert result.stdout == b"3 chunks of 2 files -> chunks.json\n"
    text = (project / "chunks.json").read_text("utf-8")
    assert text.startswith(
        '{\n  "spec_version": "2.0",\n  "impl_language": "python",\n  "chunks": [\n    {\n'
        '      "file_path": "app.py",\n      "start_line": 1,\n      "end_line": 2,\n'
    )
    assert text.endswith("    }\n  ]\n}\n")


def test_conformance_names_its_file_by_itself(project: Path, run_cce: Run) -> None:
    run_cce("conformance", "src", cwd=project)
    assert json.loads((project / "conformance.json").read_bytes())["spec_version"] == "2.0"


def test_conformance_writes_to_standard_output_for_a_dash(project: Path, run_cce: Run) -> None:
    assert json.loads(run_cce("conformance", "src", "-o", "-", cwd=project).stdout)["chunks"]


@pytest.mark.parametrize("output", ["src", "nowhere/chunks.json"])
def test_conformance_that_cannot_write_says_so(project: Path, run_cce: Run, output: str) -> None:
    message = one_error(run_cce("conformance", "src", "-o", output, cwd=project))
    assert message.startswith(f"{output}: cannot be written")
    assert list(project.glob(".cce-*")) == []
