"""ranx's JSON: `{qid: {docid: score}}`, for runs and for judgments."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence

import msgspec

from cce.domain.run import Documents, Run, RunAnswer, RunOrder
from cce.errors import JsonError, OutsideSystemError
from cce.interchange.trec_run import trec_eval_order
from cce.json_text import is_mostly_brackets
from cce.quoting import on_one_line, quoted

_NUMBERS = (int, float)  # and not bool, which is an int
_TOO_MUCH = 1e308  # an integer of 400 digits is no float
_FORM = 'write {"query id": {"document id": 1.5}}'


def parse_ranx_run(raw: bytes, path: str, order: RunOrder) -> Run:
    """The run in `raw`; raises OutsideSystemError with the path and the query."""
    try:
        queries = parse_ranx(raw)
    except JsonError as exc:
        raise OutsideSystemError(f"{on_one_line(path)}: {exc}") from exc
    answers = {query: (RunAnswer(0, _documents(scores, order)),) for query, scores in queries.items()}
    return Run(path, answers, has_docids=True, order=order)


def parse_ranx(raw: bytes) -> dict[str, dict[str, float]]:
    """The scores by query and document id; raises JsonError without a place."""
    if is_mostly_brackets(raw):
        raise JsonError("more brackets than a run can need, remove the value that holds them")
    plainly = _read_plainly(raw)
    if plainly:
        return plainly
    try:
        queries = json.loads(raw.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_refused)
        _require_text(raw)
    except RecursionError as exc:
        raise JsonError(f"brackets nested too deep, {_FORM}") from exc
    except ValueError as exc:  # also of UTF-8
        raise JsonError(f"invalid JSON: {on_one_line(str(exc))}, {_FORM}") from exc
    if not isinstance(queries, dict) or not queries:
        raise JsonError(f"holds no query, {_FORM}")
    for query, scores in queries.items():
        _check_scores(query, scores)
    return queries


def _read_plainly(raw: bytes) -> dict[str, dict[str, float]] | None:
    """What msgspec reads, five times faster; None if it refuses, or if a key may be there twice."""
    try:
        queries = msgspec.json.decode(raw, type=dict[str, dict[str, float]])
    except (ValueError, RecursionError):
        return None
    # Every key has a colon; of a repeated one the last would win.
    n_keys = len(queries) + sum(map(len, queries.values()))
    return queries if raw.count(b":") == n_keys else None


def _require_text(raw: bytes) -> None:
    r"""Refuse half a surrogate pair, which `json` accepts: it can only come from an escape."""
    if b"\\u" in raw:
        json.dumps(json.loads(raw), ensure_ascii=False).encode()


def _check_scores(query: str, scores: object) -> None:
    if not isinstance(scores, dict):
        raise JsonError(f"query {quoted(query)} holds no object of scores, {_FORM}")
    for name, score in scores.items():
        if type(score) not in _NUMBERS or not abs(score) < _TOO_MUCH:
            place = f"query {quoted(query)}: document {quoted(name)}"
            raise JsonError(f"{place} has a score that is no finite number, {_FORM}")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{quoted(twice)} is there twice in one object")
    return found


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _documents(scores: dict[str, float], order: RunOrder) -> Documents:
    names = list(scores)
    values = array("d", map(float, scores.values()))
    positions = _ordered(names, values, order)
    return Documents([names[n] for n in positions], array("d", [values[n] for n in positions]))


def _ordered(names: Sequence[str], scores: Sequence[float], order: RunOrder) -> list[int]:
    """Positions, best first: without ranks the scores decide, then the file's order."""
    sign = 1 if order.is_rising else -1
    if order.ties == "trec_eval":
        return list(trec_eval_order([name.encode("utf-8", "surrogatepass") for name in names], scores, sign))
    # Stable in both directions.
    return sorted(range(len(names)), key=scores.__getitem__, reverse=not order.is_rising)
