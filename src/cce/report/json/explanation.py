"""The explanation of one case in, JSON for programs out: every field spelled out, scores as text."""

from __future__ import annotations

from collections.abc import Sequence

from cce.domain.explanation import AnchorInIndex, BackendExplanation, CaseExplanation, MatchedHit, Miss
from cce.domain.ranking import Chunk
from cce.domain.ranking_account import AccountedHit, GraphParts, HybridParts
from cce.domain.second_stage import StageParts
from cce.json_text import dump_json
from cce.numerals import format_micro, format_score
from cce.report.json.fields import Json, kind_or_null, redact_field, score_or_null
from cce.report.view.cells import micro_shares

SCHEMA = "cce.explain/v1"


def render_explanation_json(explanation: CaseExplanation) -> str:
    """One object, keys sorted, scores as text."""
    case = explanation.case
    record: Json = {
        "schema": SCHEMA,
        **redact_field(explanation.redaction),
        "fixtures": explanation.fixtures,
        "line": case.line,
        "id": case.id,
        "query": case.query,
        "k": case.k,
        "tags": list(case.tags),
        "note": case.note,
        "corpus": explanation.corpus,
        "embedder": explanation.embedder,
        "chunks": explanation.n_chunks,
        "anchors": [_anchor_record(anchor) for anchor in explanation.anchors],
        "backends": [_backend_record(backend, explanation.anchors) for backend in explanation.backends],
    }
    return dump_json(record)


def _anchor_record(anchor: AnchorInIndex) -> Json:
    return {
        "anchor": anchor.text,
        "grade": anchor.grade,
        "chunks": anchor.n_chunks,
        "absence": anchor.absence,
    }


def _backend_record(backend: BackendExplanation, anchors: Sequence[AnchorInIndex]) -> Json:
    return {
        "backend": backend.backend,
        "formula": list(backend.formula),
        "terms": [{"term": t.token, "chunks": t.n_chunks, "idf": format_score(t.idf)} for t in backend.terms],
        "results": [_matched_record(hit, anchors) for hit in backend.hits],
        "cut": [_matched_record(hit, anchors) for hit in backend.cut],
        "missed": [_miss_record(miss, anchors) for miss in backend.misses],
    }


def _matched_record(matched: MatchedHit, anchors: Sequence[AnchorInIndex]) -> Json:
    return {
        **_hit_record(matched.account),
        "anchors": [anchors[position].text for position in matched.anchors],
    }


def _hit_record(account: AccountedHit) -> Json:
    found = account.hit.chunk
    shares = zip(account.shares, micro_shares(account.shares), strict=True)
    return {
        "rank": account.rank,
        "chunk_id": found.chunk_id if isinstance(found, Chunk) else None,
        "file_path": found.file_path,
        "start_line": found.start_line,
        "end_line": found.end_line,
        "kind": kind_or_null(found),
        "score": score_or_null(account.hit.score),
        "shares": [{"name": share.name, "share": format_micro(micro)} for share, micro in shares],
        "parts": _parts_record(account.parts),
    }


def _parts_record(parts: HybridParts | GraphParts | StageParts | None) -> Json | None:
    if isinstance(parts, StageParts):
        return {
            "first_rank": parts.first_rank,
            "raw_score": score_or_null(parts.raw_score),
            "beyond_max_words": list(parts.beyond),
        }
    if isinstance(parts, GraphParts):
        return {"graph": True, "seed": parts.seed, "cosine": format_score(parts.cosine)}
    if parts is None:
        return None
    return {
        "graph": False,
        "vector_rank": parts.vector_rank,
        "keyword_rank": parts.keyword_rank,
        "rrf": format_score(parts.rrf),
        "norm": format_score(parts.norm),
        "cosine": format_score(parts.cosine),
        "vs": format_score(parts.similarity),
        "ks": format_score(parts.literal),
        "confidence": format_score(parts.confidence),
        "penalty": format_score(parts.penalty),
    }


def _miss_record(miss: Miss, anchors: Sequence[AnchorInIndex]) -> Json:
    return {
        "anchor": anchors[miss.anchor].text,
        "reason": miss.reason,
        "best": None if miss.best is None else _hit_record(miss.best),
        "ranked": miss.n_ranked,
        "behind_by": None if miss.behind_by is None else format_micro(miss.behind_by),
        "fate": miss.fate,
    }
