"""The one place that opens systems: a choice and names enter, systems that are ready to answer leave.

They are closed whatever happens. What systems of one run share is opened once.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.scope import Scope
from cce.domain.systems import Program, PythonObject, RunFile, Service, Source, SystemTable, Variant
from cce.errors import UsageError
from cce.quoting import on_one_line, quoted
from cce.retrieval.systems.catalogue import RUN_OPTION, Catalogue, ResolvedSystem
from cce.retrieval.systems.opening import Backends, System
from cce.usecases.corpora import is_ci
from cce.usecases.systems import SystemsChoice, require_consent

if TYPE_CHECKING:
    from cce.retrieval.external.contract import OutsideSystem
    from cce.retrieval.external.door import Door, DoorRules
    from cce.retrieval.indexing.index import Index
    from cce.retrieval.rerank.stage import Stage
    from cce.retrieval.rerank.stages import Stages
    from cce.usecases.recording import Recorders


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
