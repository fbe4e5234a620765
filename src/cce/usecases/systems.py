"""Which systems a run may ask: what a user typed or a policy names enters, a Catalogue leaves.

Nothing is started unless the person who starts `cce` said so. `opened_systems` opens what was chosen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.run import RunOrder
from cce.domain.systems import (
    Price,
    Program,
    PythonObject,
    RunFile,
    Service,
    Source,
    SystemsFile,
    SystemTable,
)
from cce.errors import UsageError
from cce.quoting import on_one_line, quoted
from cce.retrieval.systems.catalogue import Catalogue, parse_run_option
from cce.usecases.corpora import CorpusChoice, is_ci

CONSENT_VARIABLE = "CCE_RUN_SYSTEMS"
CONSENT_OPTION = "--run-systems"

_TIES = ("rank", "trec_eval")
_VERBS = {Program: "runs a program", Service: "calls a service", PythonObject: "imports code"}


class SystemsChoice(NamedTuple):
    """What the user said about systems.

    file          a systems file; None for none
    runs          `NAME=FILE` each
    is_consented  whether programs, services and objects of the file may be opened
    hosts         what may be called under CI besides this machine
    order         how runs with ranks and scores are put in order
    keeps_going   whether a failed case scores as empty, where it else ends the run
    repeat        how often each question is asked; None for what the tables say
    price         for all systems without one of their own
    docid         what makes a path of a document id of a run, for runs without one of their own
    records       `NAME=FILE` each: where answers are kept; `resumes` asks only what is missing there
    """

    file: str | None = None
    runs: tuple[str, ...] = ()
    is_consented: bool = False
    hosts: tuple[str, ...] = ()
    order: RunOrder = RunOrder()
    keeps_going: bool = False
    repeat: int | None = None
    price: Price | None = None
    records: tuple[str, ...] = ()
    resumes: bool = False
    docid: str | None = None

    @property
    def has_notes(self) -> bool:
        """Whether a report ends with notes about its systems."""
        return self.file is not None or bool(self.runs) or self.repeat is not None


BUILT_IN_SYSTEMS = SystemsChoice()


def parse_order(order: str | None, ties: str | None) -> RunOrder:
    """What --run-order and --ties say; raises UsageError."""
    for option, typed, known in (("--run-order", order, ("rank", "score")), ("--ties", ties, _TIES)):
        if typed is not None and typed not in known:
            raise UsageError(f"{option} is {' or '.join(known)}, got {quoted(typed)}")
    if ties == "trec_eval" and order == "rank":
        raise UsageError("--ties trec_eval orders by score, so leave out --run-order rank")
    return RunOrder(order, ties or "rank")


def parse_price(typed: str | None) -> Price | None:
    """`query=4,pair=1.5,unit=ms`; raises UsageError."""
    if typed is None:
        return None
    values: dict[str, Any] = {}
    for part in typed.split(","):
        key, _, value = (text.strip() for text in part.partition("="))
        if key not in Price._fields or not value or key in values:
            known = ", ".join(Price._fields)
            raise UsageError(f"--price takes KEY=NUMBER with the keys {known}, each once; got {quoted(part)}")
        values[key] = value if key == "unit" else _amount(value)
    return Price(**values)


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise UsageError(f"--price: {quoted(text)} is no number from 0")
    return amount


def open_catalogue(choice: SystemsChoice) -> Catalogue:
    """All systems that `choice` names, none of them opened; raises CceError."""
    file = None
    if choice.file is not None:
        from cce.retrieval.systems.file import read_systems  # it needs pydantic

        file = read_systems(choice.file)
        _require_inside(file)
    return Catalogue(file, [parse_run_option(typed) for typed in choice.runs])


def input_files(catalogue: Catalogue) -> dict[str, str | None]:
    """The files that the systems of a run are read from, by what messages call them."""
    runs = {
        f"run of system {quoted(table.name)}": table.source.path
        for table in catalogue.tables()
        if isinstance(table.source, RunFile)
    }
    return {"systems file": catalogue.path, **runs}


def _require_inside(file: SystemsFile) -> None:
    """Under CI the file may come from a stranger: what it names on disk must lie in the same repository."""
    if not is_ci():
        return
    from cce.work_tree import is_outside

    for table in file.systems.values():
        for key, path in _paths(table.source):
            if is_outside(path, file.path):
                raise UsageError(
                    f"{on_one_line(file.path)}: system.{table.name}.{key}: lies outside of the git work tree "
                    "that holds this file, which CI does not read: name a path inside"
                )


def _paths(source: Source) -> Iterator[tuple[str, str]]:
    if isinstance(source, RunFile):
        yield "run", source.path
    if isinstance(source, PythonObject) and source.path is not None:
        yield "path", os.path.join(source.folder, source.path)
    if isinstance(source, Service) and source.ca is not None:
        yield "ca", os.path.join(source.folder, source.ca)


def require_consent(choice: SystemsChoice, table: SystemTable) -> None:
    """Raise UsageError if opening the system needs a word that nobody gave."""
    if not table.runs_code or choice.is_consented or os.environ.get(CONSENT_VARIABLE) == "1":
        return
    verb = _VERBS[type(table.source)]
    raise UsageError(
        f"system {quoted(table.name)} {verb} ({on_one_line(table.origin)}): "
        f"add {CONSENT_OPTION} if you trust it, or --run {table.name}=FILE"
    )


def needs_no_corpus(
    catalogue: Catalogue,
    names: Sequence[str],
    corpus: CorpusChoice,
    fixtures: FixtureSet,
    *,
    is_typed: bool,
) -> bool:
    """Whether saved runs are scored by the set alone: as typed, or because nothing names a corpus."""
    others = [name for name in names if _ranks_a_corpus(catalogue.resolve(name).table)]
    if is_typed:
        if others:
            raise UsageError(
                f"--no-corpus is for saved runs: {quoted(others[0])} needs a corpus, leave it out"
            )
        if corpus.directory is not None or corpus.store is not None:
            raise UsageError("--no-corpus goes with neither --dir nor --store, leave one out")
        return True
    is_named = corpus.directory is not None or corpus.store is not None or fixtures.corpus is not None
    return not is_named and not others


def _ranks_a_corpus(table: SystemTable) -> bool:
    """Whether it needs the text of a corpus: all but saved runs do, and what sorts one anew."""
    return not isinstance(table.source, RunFile) or table.stage.is_active


def require_askable(catalogue: Catalogue, name: str, command: str) -> None:
    """Raise UsageError for a saved run, which answers only the queries that it holds."""
    if isinstance(catalogue.resolve(name).table.source, RunFile):
        raise UsageError(
            f"system {quoted(name)} is a saved run, which answers only its own queries: "
            f"cce {command} cannot ask it, name another system"
        )
