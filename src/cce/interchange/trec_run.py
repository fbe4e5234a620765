"""TREC runs: six columns, `qid Q0 docid rank score tag`; lines enter, a Run leaves.

Tools disagree on what orders a run. trec_eval looks at the scores alone, compares them as 32-bit floats, and
puts equal ones in falling order of their document ids; most people read the ranks. So a run in which the two
disagree is refused until somebody says which one counts.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NoReturn

from cce.domain.run import Documents, Run, RunAnswer, RunOrder
from cce.errors import OutsideSystemError
from cce.quoting import on_one_line, quoted

N_COLUMNS = 6
_BATCH = 300
_COLUMNS = "qid Q0 docid rank score tag"


class _Rows:
    """The rows of one query, column by column: objects for each row would take ten times the memory."""

    __slots__ = ("lines", "names", "ranks", "scores")

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self.ranks = array("q")
        self.scores = array("d")
        self.lines = array("q")


def parse_trec_run(lines: Iterable[bytes], path: str, order: RunOrder) -> Run:
    """The run in `lines`; raises OutsideSystemError with `path:line:`."""
    answers = {}
    for query, rows in _rows_by_query(lines, path).items():
        place = f"{on_one_line(path)}:{rows.lines[0]}"
        answers[_text(query, place)] = RunAnswer(rows.lines[0], _documents(rows, path, order))
    return Run(path, {query: (answer,) for query, answer in answers.items()}, has_docids=True, order=order)


def _rows_by_query(lines: Iterable[bytes], path: str) -> dict[bytes, _Rows]:
    queries: dict[bytes, _Rows] = {}
    number, rest = 0, iter(lines)
    while batch := list(islice(rest, _BATCH)):
        _add(queries, batch, number, path)
        number += len(batch)
    if not queries:
        _fail(path, max(number, 1), f"the run ends without a line, write {_COLUMNS}")
    return queries


def _add(queries: dict[bytes, _Rows], batch: Sequence[bytes], n_before: int, path: str) -> None:
    """Add lines, column by column: a million of them take one second this way, and three line by line."""
    # trec_eval, too, ignores what follows the tag.
    fields = [line.split(None, N_COLUMNS - 1) for line in batch]
    numbers: Sequence[int] = range(n_before + 1, n_before + 1 + len(batch))
    if set(map(len, fields)) != {N_COLUMNS}:
        numbers = [number for number, found in zip(numbers, fields, strict=True) if found]
        fields = [found for found in fields if found]
        for number, found in zip(numbers, fields, strict=True):
            if len(found) < N_COLUMNS:
                _fail(path, number, f"{len(found)} columns, a run has six: {_COLUMNS}")
    if not fields:
        return
    keys, _, names, rank_texts, score_texts, _ = zip(*fields, strict=True)
    try:
        ranks, scores = array("q", _integers(rank_texts)), array("d", _reals(score_texts))
    except (ValueError, OverflowError):
        _refuse_numbers(fields, numbers, path)
    start = 0
    for key, group in groupby(keys):
        end = start + len(list(group))
        rows = queries.setdefault(key, _Rows())
        rows.names.extend(names[start:end])
        rows.ranks.extend(ranks[start:end])
        rows.scores.extend(scores[start:end])
        rows.lines.extend(numbers[start:end])
        start = end


def _refuse_numbers(fields: Sequence[Sequence[bytes]], numbers: Sequence[int], path: str) -> NoReturn:
    """Raise for the first line whose rank or score is no number."""
    for number, (_, _, _, rank, score, _) in zip(numbers, fields, strict=True):
        try:
            array("q", _integers([rank])), array("d", _reals([score]))
        except (ValueError, OverflowError):
            _fail(path, number, f"the rank is {_shown(rank)} and the score {_shown(score)}, write numbers")
    raise AssertionError("a fault that no line has")


def _integers(texts: Sequence[bytes]) -> Iterator[int]:
    _refuse_grouped_digits(texts)
    return map(int, texts)


def _reals(texts: Sequence[bytes]) -> Iterator[float]:
    _refuse_grouped_digits(texts)
    return map(float, texts)


def _refuse_grouped_digits(texts: Sequence[bytes]) -> None:
    """Raise ValueError for `1_000`, which is a number in Python alone."""
    if b"_" in b" ".join(texts):
        raise ValueError("grouped digits")


def _documents(rows: _Rows, path: str, order: RunOrder) -> Documents:
    """The documents of one query, best first."""
    _refuse_repeats(rows, path)
    if not all(map(math.isfinite, rows.scores)):
        position = next(n for n, score in enumerate(rows.scores) if not math.isfinite(score))
        score = rows.scores[position]
        _fail(path, rows.lines[position], f"the score is {score}, write a finite number")
    names = _texts(rows, path)
    if order.ties == "rank" and _is_in_order(rows, order):
        return Documents(names, rows.scores)
    positions = list(_ordered(rows, path, order))
    return Documents([names[n] for n in positions], array("d", [rows.scores[n] for n in positions]))


def _is_in_order(rows: _Rows, order: RunOrder) -> bool:
    """Whether the rows stand in the order of both their ranks and their scores, as nearly always."""
    ranks, scores = rows.ranks.tolist(), rows.scores.tolist()
    return ranks == sorted(ranks) and scores == sorted(scores, reverse=not order.is_rising)


def _texts(rows: _Rows, path: str) -> list[str]:
    try:
        return [name.decode() for name in rows.names]
    except UnicodeDecodeError:
        places = [f"{on_one_line(path)}:{line}" for line in rows.lines]
        return list(map(_text, rows.names, places))  # raises, and names the line


def _refuse_repeats(rows: _Rows, path: str) -> None:
    if len(set(rows.names)) == len(rows.names):
        return
    first: dict[bytes, int] = {}
    for name, line in zip(rows.names, rows.lines, strict=True):
        if name in first:
            _fail(path, line, f"document {_shown(name)} is in line {first[name]} already, leave one of them")
        first[name] = line


def _ordered(rows: _Rows, path: str, order: RunOrder) -> Iterable[int]:
    """Positions of the rows, best first."""
    positions = range(len(rows.names))
    sign = 1 if order.is_rising else -1
    if order.ties == "trec_eval":
        return trec_eval_order(rows.names, rows.scores, sign)
    if order.by == "score":
        return sorted(positions, key=lambda n: (sign * rows.scores[n], rows.ranks[n]))
    if order.by is None:
        _refuse_contradiction(rows, path, sign)
        return sorted(positions, key=lambda n: (rows.ranks[n], sign * rows.scores[n]))
    return sorted(positions, key=rows.ranks.__getitem__)


def trec_eval_order(names: list[bytes], scores: Iterable[float], sign: int = -1) -> Iterable[int]:
    """Positions by score as a 32-bit float, then by id, its bytes falling: 1.00000001 and 1.0 tie."""
    single = array("f", scores)
    # Two stable sorts: a key cannot turn the order of bytes around.
    by_name = sorted(range(len(names)), key=names.__getitem__, reverse=True)
    return sorted(by_name, key=lambda n: sign * single[n])


def _refuse_contradiction(rows: _Rows, path: str, sign: int) -> None:
    """Raise if a better rank has a worse score; equal ranks contradict nothing."""
    ranks, scores = rows.ranks, rows.scores
    worst: int | None = None  # the position of the worst score of all better ranks
    for group in _groups_of_rank(rows):
        for n in group:
            if worst is not None and sign * scores[n] < sign * scores[worst]:
                better, worse = (worst, n)
                fault = (
                    f"rank {ranks[better]} has score {_number(scores[better])}, rank {ranks[worse]}"
                    f" {_number(scores[worse])}: a distance?"
                )
                way_out = "--run-order rank takes the ranks, --run-order score the scores (trec_eval's way)"
                raise OutsideSystemError(f"{on_one_line(path)}:{rows.lines[better]}: {fault} {way_out}")
        worst = max([*group, *([] if worst is None else [worst])], key=lambda n: sign * scores[n])


def _groups_of_rank(rows: _Rows) -> Iterator[list[int]]:
    """Positions with one rank, best rank first."""
    group: list[int] = []
    for n in sorted(range(len(rows.names)), key=rows.ranks.__getitem__):
        if group and rows.ranks[n] != rows.ranks[group[0]]:
            yield group
            group = []
        group.append(n)
    yield group


def _number(score: float) -> str:
    return f"{score:.10g}"


def _text(name: bytes, place: str) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError as exc:
        raise OutsideSystemError(f"{place}: {_shown(name)} is no UTF-8, save the file as UTF-8") from exc


def _shown(field: bytes) -> str:
    return quoted(field.decode("utf-8", "backslashreplace"))


def _fail(path: str, line: int, fault: str) -> NoReturn:
    raise OutsideSystemError(f"{on_one_line(path)}:{line}: {fault}")
