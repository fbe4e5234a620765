"""The status of a set as `cce.status/v1`. Every field is spelled out."""

from __future__ import annotations

from cce.domain.status import AGE_LIMITS, SetStatus
from cce.json_text import dump_json
from cce.report.json.fields import Json

SCHEMA = "cce.status/v1"


def render_status_json(status: SetStatus) -> str:
    """One object, keys sorted. `ages` is null where there is no git; a limit of null means no limit."""
    answers, refused = status.n_places
    return dump_json(
        {
            "schema": SCHEMA,
            "fixtures": status.fixtures,
            "cases": status.n_cases,
            "drafts": status.n_drafts,
            "open_cases": status.n_open_cases,
            "open_candidates": status.n_open,
            "answers": answers,
            "irrelevant": refused,
            "systems": {
                name: {"answer": each.n_relevant, "no_answer": each.n_irrelevant, "open": each.n_open}
                for name, each in status.by_system.items()
            },
            "ages": None if status.ages is None else _ages(status.ages),
            "ageless": status.n_ageless,
        }
    )


def _ages(ages: tuple[int, ...]) -> list[Json]:
    limits = (*AGE_LIMITS, None)
    return [{"under_days": limit, "labels": n} for limit, n in zip(limits, ages, strict=True)]
