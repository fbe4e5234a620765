"""A pytest plug-in: a gate policy of cce is a test, and its reasons are the text of the failure.

pytest loads this module in every project of an environment that holds `cce`. So it imports nothing of `cce`
before a policy is measured, and it collects nothing unless asked: the policies that the ini key
`cce_policies` names, and those given on the command line as files.

    [tool.pytest.ini_options]
    cce_policies = ["eval/gate.toml"]

A refused policy fails, one that cannot be measured is an error, as the exit codes 1 and 2 of `cce gate`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cce import GateResult

_INI = "cce_policies"
_CONSENT = "CCE_RUN_SYSTEMS"
_REVIEW = "cce_review"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini key and the options."""
    parser.addini(_INI, "gate policies of cce, each of them a test; relative to this file", "paths", [])
    group = parser.getgroup("cce", "gate policies of cce")
    group.addoption(
        "--cce-run-systems",
        action="store_true",
        help=f"start the programs and services that a policy's systems name; so does {_CONSENT}=1",
    )
    group.addoption("--cce-strict", action="store_true", help="a policy that says REVIEW fails, too")


def pytest_configure(config: pytest.Config) -> None:
    """Raise UsageError for a policy that is not there, and add the others to a run of all tests."""
    policies: list[Path] = config.getini(_INI)
    for policy in policies:
        if not policy.is_file():
            raise pytest.UsageError(f"{_INI}: {policy}: there is no such file")
    # `testpaths` is what a bare `pytest` runs, and a policy seldom lies among the tests.
    if policies and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args += [str(policy) for policy in policies]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> PolicyFile | None:
    """A policy that was named."""
    if file_path.suffix != ".toml":
        return None
    if file_path in parent.config.getini(_INI) or (
        parent.session.isinitpath(file_path) and _is_policy(file_path)
    ):
        return PolicyFile.from_parent(parent, path=file_path)
    return None


def _is_policy(path: Path) -> bool:
    """Whether a file of the command line is ours: other plug-ins may collect TOML, too."""
    return b"cce.gate/" in path.read_bytes()


class PolicyFile(pytest.File):
    """A policy; it holds one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """The test, which reads the file when it is run."""
        yield GateItem.from_parent(self, name="gate")


class GateItem(pytest.Item):
    """`cce gate POLICY` as a test: it measures as its set-up, so that a fault there is an error."""

    result: GateResult

    def setup(self) -> None:
        """Measure; a fault that the user can fix is told in one line, without a traceback."""
        import cce

        options = self.config.option
        try:
            with _consent(given=options.cce_run_systems):
                self.result = cce.gate(self._shown(), strict=options.cce_strict)
        except cce.CceError as exc:
            pytest.fail(str(exc), pytrace=False)
        if self.result.notices:
            self.add_report_section("setup", "cce", "\n".join(self.result.notices))

    def runtest(self) -> None:
        """Fail with the reasons if the gate refuses."""
        if self.result.is_refused:
            pytest.fail(self._reasons(), pytrace=False)
        if self.result.reasons:  # told at the end, since nobody reads the output of a test that passed
            self.user_properties.append((_REVIEW, self._reasons()))

    def reportinfo(self) -> tuple[Path, None, str]:
        """The heading of a failure."""
        return self.path, None, self._shown()

    def _reasons(self) -> str:
        reasons = (f"{reason.level.value}: {reason.text}" for reason in self.result.gate.reasons)
        return "\n".join((f"{self._shown()}: {self.result.verdict}", *reasons))

    def _shown(self) -> str:
        """The path as `cce` would be given it from here."""
        here = Path.cwd()
        return str(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)


@contextmanager
def _consent(*, given: bool) -> Iterator[None]:
    """The environment that says so while `cce` measures."""
    before = os.environ.get(_CONSENT)
    if given:
        os.environ[_CONSENT] = "1"
    try:
        yield
    finally:
        if given and before is None:
            del os.environ[_CONSENT]
        elif given:
            os.environ[_CONSENT] = str(before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The reasons of policies that passed with REVIEW."""
    told = [
        text
        for report in terminalreporter.getreports("passed")
        for key, text in getattr(report, "user_properties", ())
        if key == _REVIEW
    ]
    if told:
        terminalreporter.section("cce: to review")
        terminalreporter.write_line("\n".join(map(str, told)))
