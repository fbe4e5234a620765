"""Too little memory and odd environments: a line with the way out and exit 2, or only time is lost."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from cce.cli import shortage
from cce.cli.main import main
from cce.cli.shortage import ShortageError, naming_shortages
from cce.domain.redaction import Redaction
from cce.errors import CorpusError, GrammarError
from cce.retrieval.corpus.source_files import walk
from cce.retrieval.indexing import workers
from cce.retrieval.indexing.cache import default_cache
from cce.retrieval.indexing.workers import process_files

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no limit is kept")
posix_only = pytest.mark.skipif(os.name != "posix", reason="has uids and modes")
_MIB = 1 << 20


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A corpus of one file, and a set for it."""
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.py").write_text("def f():\n    return 1\n")
    cases = "".join(f'{{"query": "f {n}", "expected": ["a.py"]}}\n' for n in range(3))
    (tmp_path / "s.jsonl").write_text('{"schema": "cce.relevance/v1", "corpus": "c"}\n' + cases)
    return tmp_path


def run(
    project: Path, *arguments: str, prepare: Callable[[], None] | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "cce", *arguments],
        cwd=project,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=prepare,
    )


# 150 and 170 MiB: scipy's OpenBLAS turned round for ever; 100: it ended the process with 1; 14: no start.
@linux_only
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
@pytest.mark.parametrize("n_mib", [14, 20, 32, 60, 100, 150, 170])
@pytest.mark.process
def test_a_small_limit_is_named_or_is_enough(project: Path, root: Path, n_mib: int, limit: str) -> None:
    import resource

    def prepare() -> None:
        resource.setrlimit(getattr(resource, limit), (n_mib * _MIB, n_mib * _MIB))

    fixtures = str(root / "eval" / "code.jsonl")
    result = run(project, "relevance", fixtures, "--no-cache", "--compare", "bm25,hybrid", prepare=prepare)
    if limit == "RLIMIT_AS":
        assert result.returncode == 2
    if result.returncode == 0:
        assert result.stderr == b""
    else:
        assert result.returncode == 2
        assert result.stdout == b""
        (line,) = result.stderr.splitlines()
        assert b"memory" in line


@linux_only
def test_an_import_that_would_crash_is_refused_with_both_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortage, "_free_mib", lambda: 127)
    with pytest.raises(MemoryError, match="numpy takes 128 MiB, and the limit of this process leaves 127"):
        shortage._ImportGuard.find_spec("numpy")
    shortage._ImportGuard.find_spec("json")
    monkeypatch.setattr(shortage, "_free_mib", lambda: 128)
    shortage._ImportGuard.find_spec("numpy")
    monkeypatch.setattr(shortage, "_free_mib", lambda: None)
    shortage._ImportGuard.find_spec("scipy.special")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (MemoryError(), "cce gate: not enough memory: free some memory"),
        (MemoryError("1 GiB\nfor x"), "cce gate: not enough memory (1 GiB for x): free"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "cce gate: not enough memory: free"),
        (ImportError("a.so: failed to map segment from shared object"), "cce gate: not enough memory: free"),
        (RuntimeError("can't start new thread"), "cce gate: not enough memory: free"),
        (RecursionError("maximum recursion depth exceeded"), "cce gate: something in the input is nested"),
    ],
)
def test_every_face_of_a_shortage_is_told_as_one(fault: Exception, message: str) -> None:
    with pytest.raises(ShortageError) as caught, naming_shortages("cce gate"):
        raise fault
    assert str(caught.value).startswith(message)


def test_a_shortage_behind_another_error_is_seen() -> None:
    with pytest.raises(ShortageError), naming_shortages("cce"):
        raise GrammarError("reinstall it") from ImportError("x.so: cannot allocate memory")


@pytest.mark.parametrize(
    "fault", [ImportError("no module x"), OSError(errno.ENOSPC, "full"), ValueError("x")]
)
def test_other_errors_stay_what_they_are(fault: Exception) -> None:
    with pytest.raises(type(fault)), naming_shortages("cce"):
        raise fault


@pytest.mark.parametrize("fault", [MemoryError, RecursionError])
def test_a_shortage_anywhere_in_a_command_is_exit_2(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    fault: type[Exception],
) -> None:
    from cce.usecases import evaluate as pipeline

    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(pipeline, "read_fixture_set", broken)
    assert main(["relevance", str(project / "s.jsonl")]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("error: cce relevance: ")


def test_no_process_to_be_had_costs_time_and_nothing_else(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "c" / "b.py").write_text("def g():\n    return 2\n")
    paths = walk(str(project / "c")).paths

    def refused(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(workers, "_MIN_BYTES", 0)
    monkeypatch.setattr(workers, "_BATCH_BYTES", 1)
    monkeypatch.setattr(workers, "_n_processors", lambda: 2)
    monkeypatch.setattr(workers._Team, "start", refused)
    processed = process_files(str(project / "c"), paths, Redaction.STANDARD, lambda _: None)
    assert processed.segment.paths == ("a.py", "b.py")


_HOMELESS = """
import os, sys
from cce.cli.main import main
from cce.retrieval.indexing.cache import default_cache
import traceback
for command in (["relevance", "s.jsonl"], ["cache", "info"], ["cache", "clear"]):
    main(command)  # so that all is loaded before another user may not read it
default_cache()
for name in ("HOME", "XDG_CACHE_HOME"):
    os.environ.pop(name, None)
os.setgid(12345)
os.setuid(12345)
sys.exit(main(sys.argv[1:]))
"""


@posix_only
@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may become another user"
)
@pytest.mark.parametrize(
    ("arguments", "code"), [(["relevance", "s.jsonl"], 0), (["cache", "info"], 2), (["cache", "clear"], 2)]
)
@pytest.mark.process
def test_a_user_without_a_home_has_no_cache(project: Path, arguments: list[str], code: int) -> None:
    project.chmod(0o777)
    for folder in [project, *project.parents][:4]:
        folder.chmod(folder.stat().st_mode | 0o055)
    result = subprocess.run(
        [sys.executable, "-c", _HOMELESS, *arguments],
        cwd=project,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == code
    assert sorted(path.name for path in project.iterdir()) == ["c", "s.jsonl"]  # no folder called ~
    if code:
        (line,) = result.stderr.splitlines()
        assert line.endswith(b"set CCE_CACHE_DIR to a folder")


def test_a_cache_folder_that_is_not_absolute_is_nobodys_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *_, **__: "~/.cache/cce")
    assert default_cache() is None


@posix_only
@pytest.mark.parametrize(
    "place",
    ["s.jsonl", "s.jsonl/below", "/proc/nothing", "x" * 300, "/dev/null"],
    ids=lambda place: place[:15],
)
@pytest.mark.process
def test_an_unusable_cache_folder_only_costs_time(project: Path, place: str) -> None:
    result = run(project, "relevance", "s.jsonl", CCE_CACHE_DIR=place)
    assert (result.returncode, result.stderr) == (0, b"")
    assert run(project, "cache", "info", CCE_CACHE_DIR=place).returncode == 0


@pytest.mark.process
def test_a_missing_temporary_folder_is_used_by_nobody(project: Path) -> None:
    assert run(project, "relevance", "s.jsonl", TMPDIR=str(project / "none")).returncode == 0


@posix_only
def test_without_any_temporary_folder_rules_that_need_one_say_so(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "c" / "rules").write_text("x\n")
    (project / "c" / ".gitignore").symlink_to("rules")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(project / "none")])
    with pytest.raises(CorpusError, match="free some space in TMPDIR"):
        walk(str(project / "c"))


@posix_only
@pytest.mark.process
def test_closed_streams_are_no_bug(project: Path) -> None:
    def closed() -> None:
        for number in (0, 1, 2):
            os.close(number)

    assert run(project, "relevance", "s.jsonl", prepare=closed).returncode == 2
    result = run(project, "relevance", "s.jsonl", prepare=lambda: os.close(0))
    assert (result.returncode, result.stderr) == (0, b"")
