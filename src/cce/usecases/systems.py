"""Which systems a run may ask, and the one place that opens them.

What a user typed or a policy names enters; a Catalogue, and systems that are ready to answer, leave. Nothing
is started unless the person who starts `cce` said so.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.run import RunOrder
from cce.domain.scope import Scope
from cce.domain.systems import (
    Price,
    Program,
    PythonObject,
    RunFile,
    Service,
    Source,
    SystemsFile,
    SystemTable,
    Variant,
)
from cce.errors import UsageError
from cce.quoting import on_one_line, quoted
from cce.retrieval.systems.catalogue import RUN_OPTION, Catalogue, ResolvedSystem, parse_run_option
from cce.retrieval.systems.opening import Backends, System
from cce.usecases.corpora import CorpusChoice, is_ci

if TYPE_CHECKING:
    from cce.retrieval.external.contract import OutsideSystem
    from cce.retrieval.external.door import Door, DoorRules
    from cce.retrieval.indexing.index import Index
    from cce.retrieval.rerank.stage import Stage
    from cce.retrieval.rerank.stages import Stages
    from cce.usecases.recording import Recorders

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


class OpenOutside:
    """An outside system that was opened, and the door that its answers come through."""

    def __init__(
        self, resolved: ResolvedSystem, system: OutsideSystem, door: Door, stage: Stage | None = None
    ) -> None:
        self.table = resolved.table
        self.stage = stage
        self.scopes = resolved.scopes
        self.system = system
        self.door = door


class OpenSystems(NamedTuple):
    """Systems ready to answer, by name in the order asked."""

    inside: dict[str, System]
    outside: dict[str, OpenOutside]
    recorders: Recorders | None = None

    @property
    def has_runs(self) -> bool:
        """Whether any of them is a saved run."""
        return any(isinstance(each.table.source, RunFile) for each in self.outside.values())

    def table(self, name: str) -> SystemTable:
        """What describes the system `name`."""
        return self.inside[name].table if name in self.inside else self.outside[name].table

    def repeats(self, name: str, typed: int | None) -> int:
        """How often each question is asked of the system `name`."""
        return typed or self.table(name).repeat

    def scopes(self, name: str) -> tuple[Scope, ...]:
        """The scopes of the system `name` itself."""
        return self.inside[name].scopes if name in self.inside else self.outside[name].scopes

    def notices(self) -> tuple[str, ...]:
        """What outside systems did that the reader should know, once all were asked: one line each."""
        texts = [notice for system in self.inside.values() for notice in system.notices()]
        for name, each in self.outside.items():
            own = getattr(each.system, "notices", None)
            own_texts = own() if own is not None else ()
            texts += [f"{on_one_line(name)}: {text}" for text in own_texts]
            texts += each.door.tally.notices()
        return tuple(texts)

    def elsewhere(self) -> tuple[str, ...]:
        """The saved runs that were recorded over another corpus."""
        return tuple(
            name for name, each in self.outside.items() if getattr(each.system, "is_of_another_corpus", False)
        )


class Surroundings:
    """What systems are opened over: `index` is None where there is no corpus, `fixtures` where no set is."""

    def __init__(self, index: Index | None, fixtures: FixtureSet | None = None) -> None:
        self.index = index
        self.fixtures = fixtures


@contextmanager
def opened(
    choice: SystemsChoice,
    catalogue: Catalogue,
    names: Sequence[str],
    over: Surroundings,
    *,
    is_timed: bool = False,
) -> Iterator[OpenSystems]:
    """The systems `names`, which are closed whatever happens. Raises CceError.

    With `is_timed` a reranker scores a pair each time it is asked for, where it else does so once.
    """
    resolved = {name: catalogue.resolve(name) for name in names}
    for each in resolved.values():
        require_consent(choice, each.table)
    stages = _stages(resolved.values(), over.index, is_timed=is_timed)
    backends: Backends | None = None
    outside = _OutsideSystems(choice, over, () if is_timed else resolved.values())
    with ExitStack() as stack:
        systems = OpenSystems({}, {}, _recorders(choice, resolved, over.index))
        for name, each in resolved.items():
            if isinstance(each.table.source, Variant):
                index = _require_index(name, over.index)
                backends = backends or Backends(index)
                systems.inside[name] = System(each, index, stages, backends)
                continue
            system = outside.open(each.table)
            if systems.recorders is not None:
                system = systems.recorders.wrap(name, system, keeps_going=choice.keeps_going)
            atexit.register(system.close)  # a signal runs no `with`
            stack.callback(atexit.unregister, system.close)
            stack.callback(system.close)
            stage = _stage(each.table, over.index, stages)
            systems.outside[name] = OpenOutside(each, system, door_of(each.table, over), stage)
        yield systems


class _OutsideSystems:
    """Opens outside systems; those with one source are one system, which is asked once."""

    def __init__(self, choice: SystemsChoice, over: Surroundings, sharing: Iterable[ResolvedSystem]) -> None:
        self._choice = choice
        self._over = over
        self._sources = [each.table.source for each in sharing]
        self._shared: list[tuple[Source, OutsideSystem]] = []

    def open(self, table: SystemTable) -> OutsideSystem:
        """The system that `table` describes, opened now or for another table before."""
        if self._sources.count(table.source) < 2:
            return _open_outside(self._choice, table, self._over)
        known = next((system for source, system in self._shared if source == table.source), None)
        if known is None:
            from cce.retrieval.external.sharing import SharedSystem  # few systems have variants

            known = SharedSystem(_open_outside(self._choice, table, self._over))
            self._shared.append((table.source, known))
        return known


def _stages(resolved: Iterable[ResolvedSystem], index: Index | None, *, is_timed: bool) -> Stages | None:
    staged = next((each.table.name for each in resolved if each.table.stage.is_active), None)
    if staged is None:
        return None
    from cce.retrieval.rerank.stages import Stages  # few runs have a second stage

    return Stages(_require_index(staged, index), remember=not is_timed)


def _stage(table: SystemTable, index: Index | None, stages: Stages | None) -> Stage | None:
    if not table.stage.is_active:
        return None
    from cce.retrieval.systems.second_stages import open_stage

    return open_stage(table, _require_index(table.name, index), stages)


def _recorders(
    choice: SystemsChoice, resolved: Mapping[str, ResolvedSystem], index: Index | None
) -> Recorders | None:
    if not choice.records:
        return None
    from cce.usecases.recording import open_recorders
    from cce.usecases.system_facts import recorded_facts

    ours = [name for name, each in resolved.items() if isinstance(each.table.source, Variant)]
    facts = {name: partial(recorded_facts, each.table, index) for name, each in resolved.items()}
    return open_recorders(
        choice.records, list(resolved), ours, lambda name: facts[name](), is_resumed=choice.resumes
    )


def _require_index(name: str, index: Index | None) -> Index:
    if index is None:
        raise UsageError(f"system {quoted(name)} ranks a corpus, and there is none: give --dir DIR")
    return index


def door_of(table: SystemTable, over: Surroundings) -> Door:
    """A new door for the answers of an outside system."""
    from cce.retrieval.external.door import Door  # most runs have only systems of our own

    return Door(over.index, table.name, _door_rules(table), _labelled(over.fixtures))


def _labelled(fixtures: FixtureSet | None) -> frozenset[str]:
    cases = () if fixtures is None else fixtures.cases
    return frozenset(anchor.path for case in cases for anchor in case.anchors if anchor.path is not None)


def _door_rules(table: SystemTable) -> DoorRules:
    from cce.retrieval.external.door import DoorRules

    source = table.source
    assert not isinstance(source, Variant)  # noqa: S101 - it has no door
    final = None if table.stage.is_active else table.final  # a second stage limits what comes out of it
    # Paths may be relative to the folder of the systems file; a run that was typed has none.
    folder = None if table.origin == RUN_OPTION else os.path.dirname(table.origin)
    return DoorRules(source.root, folder, table.collapse, final, isinstance(source, RunFile))


def _open_outside(choice: SystemsChoice, table: SystemTable, over: Surroundings) -> OutsideSystem:
    """Start, call or read it; what each needs is imported only here."""
    source = table.source
    if isinstance(source, RunFile):
        from cce.usecases.runs import open_saved_run

        if over.fixtures is None:
            raise UsageError(
                f"system {quoted(table.name)} is a saved run, which answers only its own queries"
            )
        named = source._replace(docid=source.docid or choice.docid)
        return open_saved_run(table.name, named, over.fixtures, over.index, choice.order)
    corpus = None if over.index is None else over.index.root
    if isinstance(source, Program):
        from cce.retrieval.external.program import ProgramSystem

        return ProgramSystem(table.name, source, corpus, keeps_going=choice.keeps_going)
    if isinstance(source, Service):
        from cce.retrieval.external.service import ServiceSystem

        return ServiceSystem(
            table.name, source, is_ci=is_ci(), hosts=choice.hosts, keeps_going=choice.keeps_going
        )
    assert isinstance(source, PythonObject)  # noqa: S101 - the only kind that is left
    from cce.retrieval.external.objects import ObjectSystem
    from cce.retrieval.external.text_places import text_places

    return ObjectSystem(table.name, source, text_places(over.index, source.root, source.folder))
