"""`--report FORMAT=PATH`: where reports go, each written whole or not at all.

Targets are checked before anything is measured, so that a typing error costs no time and no file.
Every report that can be written is written; the first fault is raised at the end.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import click
from click.core import ParameterSource

from cce.cli.exits import OutputError, write_result
from cce.cli.options import NamingOption
from cce.cli.paths import FormatAndPath
from cce.errors import UsageError
from cce.files import reason, write_file
from cce.quoting import on_one_line
from cce.registry import unknown_name
from cce.report.catalog import MARKS

STANDARD_OUTPUT = "-"

# Options that decide where a report goes or what else is written: the report does not depend on them.
_ELSEWHERE = frozenset({"reports", "as_json", "is_accepting", "no_cache", "records", "resumes"})

_T = TypeVar("_T")


class ReportFile(NamedTuple):
    """One report to write: `path` as typed, `-` for standard output."""

    format: str
    path: str

    @property
    def is_standard_output(self) -> bool:
        """Whether it goes where results go by default."""
        return self.path == STANDARD_OUTPUT


def _formats() -> Iterable[str]:
    from cce.report.catalog import RENDERERS  # not before a shell completes a format

    return RENDERERS


def report_option(command: Callable[..., _T]) -> Callable[..., _T]:
    """Give a command `--report`, which it receives as `reports: tuple[str, ...]`."""
    return click.option(
        "--report",
        "reports",
        multiple=True,
        cls=NamingOption,
        type=FormatAndPath(_formats),
        metavar="FORMAT=PATH",
        help="Write a report, as in html=report.html; - is standard output. Formats: {formats}. "
        "May be given again.",
    )(command)


def parse_report_files(
    typed: Iterable[str], formats: Iterable[str], *, as_json: bool = False
) -> tuple[ReportFile, ...]:
    """What `--report` and `--json` ask for; text on standard output unless that is taken.

    Raises UsageError for what cannot be written, so before anything is.
    """
    formats = tuple(formats)
    files = [_parse(each, formats) for each in typed]
    if as_json:
        files.append(ReportFile("json", STANDARD_OUTPUT))
    _require_distinct(files)
    for file in files:
        if not file.is_standard_output:
            _require_writable(file)
    if not any(file.is_standard_output for file in files):
        files.append(ReportFile("text", STANDARD_OUTPUT))
    return tuple(files)


def require_apart(
    files: Iterable[ReportFile],
    inputs: Mapping[str, str | None],
    corpora: Callable[[], Iterable[str]] = tuple,
) -> None:
    """Raise UsageError if a report would replace what is read.

    `inputs` maps what it is to its path, and `corpora` gives the directories that are indexed. Of a
    corpus only a file that is empty, or an older report of the same format, is replaced.
    """
    for file in _to_disk(files):
        from cce.cli.outputs import output_fault  # most reports go to standard output

        fault = output_fault(file.path, MARKS.get(file.format), inputs, corpora)
        if fault is not None:
            raise _refusal(file, fault, "name another file")


def record_files(
    typed: Sequence[str], inputs: Mapping[str, str | None], corpora: Callable[[], Iterable[str]]
) -> tuple[str, ...]:
    """The files of `--record`; raises UsageError for one that would replace what is read."""
    if not typed:
        return ()
    from cce.cli.outputs import refuse_records  # few runs record

    return refuse_records(typed, inputs, corpora)


def warn_of_indexed_reports(
    directory: str | None, files: Iterable[ReportFile], records: Iterable[str] = ()
) -> None:
    """Warn of each report, and each recorded run, that the next run over `directory` indexes."""
    written = {**{file.path: "report" for file in _to_disk(files)}, **dict.fromkeys(records, "recorded run")}
    if written:
        from cce.cli.outputs import warn_of_indexed

        warn_of_indexed(directory, written)


def _to_disk(files: Iterable[ReportFile]) -> list[ReportFile]:
    return [file for file in files if not file.is_standard_output]


def typed_command() -> tuple[str, ...]:
    """The words that make the report of the running command again, without those that say where it goes."""
    context = click.get_current_context()
    words = ["cce", context.info_name or ""]
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in _ELSEWHERE or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        option = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words += option
            continue
        value = context.params[name]
        for each in value if isinstance(value, tuple) else (value,):  # what may be given again is a tuple
            words += [*option, str(each)]
    return tuple(words)


def write_reports(rendered: Sequence[tuple[ReportFile, str]]) -> None:
    """Write every text to its place, standard output last; raises OutputError, after trying all."""
    faults = [_fault(file, text) for file, text in rendered if not file.is_standard_output]
    for file, text in rendered:
        if file.is_standard_output:
            write_result(text)
    for fault in faults:
        if fault is not None:
            raise fault


def _parse(typed: str, formats: Sequence[str]) -> ReportFile:
    format_name, equals, path = typed.partition("=")
    if not equals or not path:
        raise UsageError(f"--report takes FORMAT=PATH, as in html=report.html or json=-; got {typed!r}")
    if format_name not in formats:
        raise UsageError(f"--report {on_one_line(typed)}: {unknown_name('format', format_name, formats)}")
    return ReportFile(format_name, path)


def _require_distinct(files: Sequence[ReportFile]) -> None:
    if len(files) < 2:
        return
    from cce.cli.outputs import identity

    seen: set[str] = set()
    for file in files:
        place = STANDARD_OUTPUT if file.is_standard_output else identity(file.path)
        if place in seen:
            shown = "standard output" if file.is_standard_output else on_one_line(file.path)
            raise UsageError(f"{shown} is named for two reports, it takes one: name another file")
        seen.add(place)


def _require_writable(file: ReportFile) -> None:
    try:
        mode = os.stat(file.path).st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as exc:
        raise _refusal(file, reason(exc), "name another file") from exc
    if file.path.endswith(("/", os.sep)) or (mode is not None and stat.S_ISDIR(mode)):
        raise _refusal(file, "is a directory", "name a file in it")
    if mode is not None and not _may(file.path, os.W_OK):
        raise _refusal(file, "is write-protected", "name another file")
    if mode is None or stat.S_ISREG(mode):
        _require_folder(file)


def _require_folder(file: ReportFile) -> None:
    """A file is written beside its place first, so that the folder must take new files."""
    folder = os.path.dirname(os.path.realpath(file.path))
    if not os.path.isdir(folder):
        raise _refusal(file, "its directory does not exist", "make it first")
    if not _may(folder, os.W_OK | os.X_OK):
        raise _refusal(file, "its directory is write-protected", "name another one")


def _may(path: str, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _refusal(file: ReportFile, fault: str, way_out: str) -> UsageError:
    return UsageError(f"--report {file.format}={on_one_line(file.path)}: {fault}, {way_out}")


def _fault(file: ReportFile, text: str) -> OutputError | None:
    content = text.encode("utf-8", "backslashreplace")
    try:
        write_file(file.path, content, OutputError, "{}; free some space or name another place")
    except OutputError as exc:
        return exc
    return None
