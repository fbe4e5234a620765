"""What a report says of a system that is more than a bare name: its table, defaults filled in.

Secrets and absolute paths are left out: a report must not depend on the machine, nor tell a stranger of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cce.domain.second_stage import DEFAULT_DEPTH, SecondStage
from cce.domain.systems import Program, PythonObject, RunFile, Service, SystemTable, Variant
from cce.retrieval.external.corpus_digest import corpus_digest
from cce.version import __version__

if TYPE_CHECKING:
    from cce.retrieval.indexing.index import Index

_ENVIRONMENT = re.compile(r"\$\{env:[A-Za-z_][A-Za-z0-9_]*\}")
_HIDDEN = "***"


def described(table: SystemTable) -> dict[str, Any]:
    """The keys of the systems file for `table`; what a table leaves out and means nothing is absent."""
    facts: dict[str, Any] = {
        "collapse": table.collapse,
        "filter": table.filter,
        "final": table.final,
        "repeat": table.repeat,
        "scope": table.scope,
        **_source(table),
    }
    if table.stage.is_active:
        facts |= _stage(table.stage)
    if table.price is not None:
        facts["price"] = table.price._asdict()
    return {key: value for key, value in facts.items() if value is not None}


def recorded_facts(table: SystemTable, index: Index | None) -> Mapping[str, object]:
    """What the header of a recorded run says of a system; a program says its own name and version itself."""
    ours = {"name": "cce", "version": __version__} if isinstance(table.source, Variant) else {}
    corpus = {} if index is None else {"corpus": corpus_digest(index)}
    return {**ours, "table": described(table), **corpus}


def _stage(stage: SecondStage) -> dict[str, Any]:
    return {
        "rerank": stage.rerank,
        "rerank_options": dict(stage.options or {}),
        "depth": DEFAULT_DEPTH if stage.depth is None else stage.depth,
        "max_words": stage.max_words,
        "blend": bool(stage.blend),
    }


def _source(table: SystemTable) -> Mapping[str, Any]:
    source = table.source
    match source:
        case Variant():
            return {"backend": source.backend, "options": dict(source.options)}
        case Program():
            return {
                "command": [_relative(word) for word in source.command],
                "env": list(source.env),
                "processes": source.processes,
                "start_timeout": source.start_timeout,
                "timeout": source.timeout,
            }
        case Service():
            return {
                "headers": {name: _without_values(text) for name, text in source.headers.items()},
                "retries": source.retries,
                "timeout": source.timeout,
                "url": source.url,
            }
        case PythonObject():
            return {"object": source.factory, "options": dict(source.options), "path": source.path}
        case RunFile():
            return {"docid": source.docid, "order": source.order, "run": _relative(source.path)}


def _relative(text: str) -> str:
    """A word of a command, or a path; of an absolute path the last part alone."""
    return os.path.basename(text) if os.path.isabs(text) else text


def _without_values(text: str) -> str:
    """A header with the names of its variables, and everything else hidden if it has none."""
    return text if _ENVIRONMENT.search(text) else _HIDDEN
