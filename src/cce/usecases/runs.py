"""Saved runs: a file becomes a system that can be asked about the cases of a set."""

from __future__ import annotations

from cce.domain.case import FixtureSet
from cce.domain.run import RunOrder
from cce.domain.systems import RunFile
from cce.interchange.run_file import read_run
from cce.retrieval.external.corpus_digest import corpus_digest
from cce.retrieval.external.saved_run import SavedRun
from cce.retrieval.indexing.index import Index

_DEFAULT_ORDER = RunOrder()


def open_saved_run(
    name: str,
    source: RunFile,
    fixtures: FixtureSet,
    index: Index | None,
    order: RunOrder = _DEFAULT_ORDER,
) -> SavedRun:
    """The run of `source` as the system `name`; raises OutsideSystemError.

    index  the corpus; without one the paths of the anchors are all that is known of it
    order  what --run-order and --ties say
    """
    if source.order is not None:
        order = order._replace(is_rising=source.order == "rising")
    run = read_run(source.path, order)
    known = _anchored_paths(fixtures) if index is None else index.positions_by_file.keys()
    # A digest reads the whole corpus: only for a run that has one to compare.
    corpus = None if index is None or "corpus" not in run.facts else corpus_digest(index)
    return SavedRun(name, run, is_file=known.__contains__, docid=source.docid or "{}", corpus=corpus)


def _anchored_paths(fixtures: FixtureSet) -> frozenset[str]:
    return frozenset(anchor.path for case in fixtures.cases for anchor in case.anchors if anchor.path)
