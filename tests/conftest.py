"""Fixtures of every test: a sealed home directory, the installed command, goldens, the outside oracle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from golden import Goldens
from oracle import Oracle
from two_speeds import TwoSpeeds

# In CI the same examples every time: a new one that fails there would stop a change that is not at fault.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

ROOT = Path(__file__).resolve().parent.parent

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept-goldens",
        action="store_true",
        help="write what the tests measured into goldens/ (not in CI)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marks and the guard of the two speeds."""
    config.pluginmanager.register(TwoSpeeds())


@pytest.fixture(scope="session", autouse=True)
def _kept_bytecode(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The processes that tests start share a folder of bytecode, so that only the first one compiles.

    It is a temporary folder, which keeps the checkout clean, or the one that the caller has set.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        if not os.environ.get("PYTHONPYCACHEPREFIX"):
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.mktemp("bytecode")))
        yield


@pytest.fixture(autouse=True)
def _sealed_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the home directory or the settings of whoever runs it."""
    home = str(tmp_path_factory.getbasetemp() / "home")
    for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.setenv(name, home)
    for name in [name for name in os.environ if name.startswith("CCE_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def run_cce(root: Path) -> Run:
    """Run the installed command as a user would: `run_cce("relevance", "set.jsonl", cwd=...)`."""

    def run(
        *arguments: str, cwd: Path = root, stdin: bytes | None = None, **environment: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "cce", *arguments],
            cwd=cwd,
            env={**os.environ, **environment},
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def goldens(pytestconfig: pytest.Config) -> Goldens:
    """Byte-exact expectations in goldens/."""
    return Goldens(ROOT / "goldens", accept=pytestconfig.getoption("--accept-goldens"))


@pytest.fixture(scope="session")
def oracle(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    """Reports of another implementation of the same contract, where they are at hand."""
    folder = ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip("the reference data of another implementation is not beside this checkout")
    oracle = Oracle(folder, tmp_path_factory.mktemp("corpora"))
    yield oracle
    pytestconfig.stash[_COMPARED] = len(oracle.compared)


_COMPARED = pytest.StashKey[int]()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    n_compared = config.stash.get(_COMPARED, None)
    if n_compared is not None:
        terminalreporter.write_line(f"byte for byte equal to {n_compared} files of the reference data")
