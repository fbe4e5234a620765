"""`cce`: the group of commands, and the one place where an error becomes an exit code.

Each command lives in a module of its own that is imported when it is called, so that `cce --help`
loads nothing heavy.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module

import click

from cce.cli.exits import (
    ExitCode,
    OutputError,
    ReaderLeft,
    flush_results,
    prepare_streams,
    require_utf8,
    say,
    silence_stdout,
)
from cce.cli.shortage import guard_imports, naming_shortages
from cce.errors import CceError
from cce.quoting import on_one_line
from cce.version import __version__

_COMMANDS = {
    "relevance": "score rankings against a labelled fixture set",
    "compare": "compare saved reports case by case",
    "gate": "hold a ranking to a policy and a baseline",
    "history": "see how a baseline changed over the commits",
    "experiment": "compare several systems in one table",
    "ablate": "change one key of a system at a time",
    "sweep": "try every combination of settings of a system",
    "systems": "list what can be measured, and check that it answers",
    "metrics": "list the metrics and their definitions",
    "index": "keep an index beside the code",
    "search": "see what a backend answers to one query",
    "explain": "see why a case scores as it does",
    "stats": "see what a store holds and whether it is still true",
    "bench": "measure what indexing and asking cost",
    "export": "write rankings and labels for other tools",
    "fixtures": "check, pin, re-anchor, draft and label fixture sets",
    "import": "make fixture sets of other tools' labels",
    "schema": "print the JSON Schema of a file format",
    "cache": "see or clear what is kept between runs",
    "conformance": "write the chunk list of a directory, to compare implementations",
}


# Commands whose name is a word of Python.
_MODULES = {"import": "importing"}


@contextmanager
def _naming_lost_readers() -> Iterator[None]:
    """Raise ReaderLeft for a closed pipe: click prints help texts, and would end with exit code 1."""
    try:
        yield
    except BrokenPipeError as exc:
        raise ReaderLeft from exc


class _LazyGroup(click.Group):
    """A group that knows its commands by name and help line, and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(f"cce.cli.{_MODULES.get(cmd_name, cmd_name)}").command
        assert isinstance(command, click.Command)  # noqa: S101 - a promise between our own modules
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # A shell that completes a line shows no errors.
        is_typed = not ctx.resilient_parsing
        if is_typed and args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            import difflib

            nearest = difflib.get_close_matches(args[0], _COMMANDS, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            ctx.fail(f"unknown command {args[0]!r}{hint} (known: {', '.join(_COMMANDS)})")
        return super().resolve_command(ctx, args)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        with _naming_lost_readers():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        with _naming_lost_readers():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: cce relevance FIXTURES --help",
)
@click.version_option(__version__, message="cce %(version)s")
def cli() -> None:
    """Say how good a code search ranking is, and whether a change to it is an improvement or noise."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and never lets a traceback reach the user."""
    _prepare_process(is_ours=arguments is None)
    typed = sys.argv[1:] if arguments is None else list(arguments)
    try:
        with naming_shortages(_command_path(typed)):
            code = cli.main(args=typed, prog_name="cce", standalone_mode=False)
            flush_results()
        return int(code or ExitCode.MEASURED)
    except (ReaderLeft, BrokenPipeError):
        silence_stdout()
        return ExitCode.MEASURED
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted")
        return ExitCode.INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as exc:
        say(exc.format_message())
        return ExitCode.NOT_MEASURED
    except click.ClickException as exc:
        _say_error(_usage_fault(exc, typed))
        return ExitCode.NOT_MEASURED
    except CceError as exc:
        if isinstance(exc, OutputError):
            silence_stdout()
        _say_error(str(exc))
        return ExitCode.NOT_MEASURED
    except OSError as exc:
        # Only printing a help text fails without a file name; everything else has a message of its own.
        silence_stdout()
        place = exc.filename or "standard output"
        _say_error(f"{place}: {exc.strerror or exc}; free some space or name another place")
        return ExitCode.NOT_MEASURED
    except Exception as exc:
        _say_error(_bug_report(exc))
        return ExitCode.BUG


def _prepare_process(*, is_ours: bool) -> None:
    """Set what holds for the whole process; only a process of our own, `is_ours`, may be restarted."""
    if is_ours:
        require_utf8()
        # Without it Python collects garbage once more before it exits.
        atexit.register(gc.freeze)
        guard_imports()
    prepare_streams()
    # Nothing here multiplies large matrices, and only a process without threads can be forked safely.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Plug-ins of pydantic could change how a set is read.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def _say_error(message: str) -> None:
    """Print the message on one line: paths and names in it may hold line ends."""
    say(f"error: {on_one_line(message)}")


def _command_path(typed: Sequence[str]) -> str:
    return f"cce {typed[0]}" if typed and typed[0] in _COMMANDS else "cce"


def _usage_fault(exc: click.ClickException, typed: Sequence[str]) -> str:
    message = " ".join(exc.format_message().split())
    context = getattr(exc, "ctx", None)
    path = context.command_path if context is not None else _command_path(typed)
    return f"{message.rstrip('.')}; see '{path} --help'"


def _bug_report(exc: Exception) -> str:
    import traceback

    place = traceback.extract_tb(exc.__traceback__)[-1]
    file = place.filename.replace("\\", "/").rpartition("/cce/")[2]
    fault = " ".join(f"{type(exc).__name__}: {exc}".split())
    return (
        f"{fault} (at {file}:{place.lineno}, cce {__version__}, Python {sys.version_info.major}."
        f"{sys.version_info.minor}): this is a bug in cce, please report it with the command you ran"
    )
