"""Lists as JSON: the results of a search, the metrics, the chunks of a corpus."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.ranking import Chunk, Hit, Ranking
from cce.domain.scope import Scope
from cce.domain.scores import MetricEntry
from cce.domain.systems import SystemEntry
from cce.json_text import dump_json
from cce.report.json.fields import Json, kind_or_null, score_or_null

SPEC_VERSION = "2.0"


def render_search_json(ranking: Ranking) -> str:
    """One object, keys sorted, scores as text; nothing is logged, so `query_id` is null."""
    answer = {
        "query_id": None,
        "results": [_hit_record(rank, hit) for rank, hit in enumerate(ranking, start=1)],
    }
    return dump_json(answer)


def _hit_record(rank: int, hit: Hit) -> Json:
    found = hit.chunk
    chunk = found if isinstance(found, Chunk) else None
    return {
        "chunk_id": None if chunk is None else chunk.chunk_id,
        "chunk_type": None if chunk is None else chunk.chunk_type,
        "end_line": found.end_line,
        "file_path": found.file_path,
        "kind": kind_or_null(found),
        "rank": rank,
        "score": score_or_null(hit.score),
        "start_line": found.start_line,
    }


def render_metrics_json(entries: Iterable[MetricEntry]) -> str:
    """One record per metric."""
    rows = [
        {
            "name": each.name,
            "definition": each.definition,
            "range": list(each.range),
            "needs_index": each.needs_index,
        }
        for each in entries
    ]
    return dump_json({"metrics": rows})


def render_systems_json(entries: Iterable[SystemEntry], scopes: Iterable[Scope]) -> str:
    """The systems that a run can name, and the scopes that limit them."""
    systems = [{"name": each.name, "kind": each.kind, "origin": each.origin} for each in entries]
    limits = [
        {
            "name": scope.name,
            "include": None if scope.include is None else list(scope.include),
            "exclude": list(scope.exclude),
        }
        for scope in scopes
    ]
    return dump_json({"scopes": limits, "systems": systems})


def render_conformance(chunks: Iterable[Chunk]) -> str:
    """The chunk list by which implementations of the same pipeline are compared.

    Chunks by path, start line and id; keys not sorted, in the order of the specification.
    """
    ordered = sorted(chunks, key=lambda chunk: (chunk.file_path, chunk.start_line, chunk.chunk_id))
    conformance = {
        "spec_version": SPEC_VERSION,
        "impl_language": "python",
        "chunks": [_chunk_record(chunk) for chunk in ordered],
    }
    return dump_json(conformance, sort_keys=False)


def _chunk_record(chunk: Chunk) -> Json:
    return {
        "file_path": chunk.file_path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "chunk_type": chunk.chunk_type,
        "kind": chunk.kind,
        "chunk_id": chunk.chunk_id,
        "token_count": chunk.token_count,
    }
