"""The answer to one query as JSON for programs."""

from __future__ import annotations

from cce.domain.ranking import Hit, Ranking
from cce.json_text import dump_json
from cce.numerals import format_score
from cce.report.json.fields import Json


def render_search_json(ranking: Ranking) -> str:
    """One object, keys sorted, scores as text; nothing is logged, so `query_id` is null."""
    answer = {"query_id": None, "results": [_record(rank, hit) for rank, hit in enumerate(ranking, start=1)]}
    return dump_json(answer)


def _record(rank: int, hit: Hit) -> Json:
    chunk = hit.chunk
    return {
        "chunk_id": chunk.chunk_id,
        "chunk_type": chunk.chunk_type,
        "end_line": chunk.end_line,
        "file_path": chunk.file_path,
        "kind": chunk.kind,
        "rank": rank,
        "score": format_score(hit.score),
        "start_line": chunk.start_line,
    }
