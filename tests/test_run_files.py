"""Runs in every format: what is read, in which order, and what is refused."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cce.domain.outside import FailedAnswer, OutsideResult
from cce.domain.place_ids import DocumentPlace, docid, file_name, place_of
from cce.domain.run import Run, RunOrder
from cce.errors import OutsideSystemError
from cce.interchange.run_file import parse_run, read_run

HEADER = b'{"schema": "cce.run/v1", "system": "mine"}'


def parse(text: str | bytes, order: RunOrder = RunOrder()) -> Run:  # noqa: B008
    raw = text.encode() if isinstance(text, str) else text
    return parse_run(raw.split(b"\n"), "mine.run", order)


def names(run: Run, query: str = "q") -> list[str]:
    results = run.answers[query][0].results
    assert not isinstance(results, FailedAnswer)
    return [result.path for result in results]


def fault(text: str | bytes, order: RunOrder = RunOrder()) -> str:  # noqa: B008
    with pytest.raises(OutsideSystemError) as raised:
        parse(text, order)
    return str(raised.value)


def trec(*rows: tuple[str, int, float]) -> str:
    return "\n".join(f"q Q0 {name} {rank} {score} tag" for name, rank, score in rows)


def test_a_trec_run_is_read_by_rank_whatever_the_order_of_its_lines() -> None:
    assert names(parse(trec(("b", 2, 0.5), ("a", 1, 0.9), ("c", 3, 0.5)))) == ["a", "b", "c"]


def test_a_better_rank_with_a_lower_score_is_refused_with_both_ways_out() -> None:
    assert fault("\n" + trec(("a", 1, 0.1), ("b", 2, 0.9))) == (
        "mine.run:2: rank 1 has score 0.1, rank 2 0.9: a distance?"
        " --run-order rank takes the ranks, --run-order score the scores (trec_eval's way)"
    )


def test_either_way_out_reads_it() -> None:
    text = trec(("a", 1, 0.1), ("b", 2, 0.9))
    assert names(parse(text, RunOrder("rank"))) == ["a", "b"]
    assert names(parse(text, RunOrder("score"))) == ["b", "a"]
    assert names(parse(text, RunOrder(is_rising=True))) == ["a", "b"]


def test_equal_ranks_contradict_nothing_and_the_scores_order_them() -> None:
    assert names(parse(trec(("a", 1, 0.1), ("b", 1, 0.9), ("c", 2, 0.1)))) == ["b", "a", "c"]


def test_a_contradiction_is_found_behind_equal_ranks_and_far_apart() -> None:
    rows = [("a", 1, 0.9), ("b", 1, 0.2), ("c", 2, 0.2), ("d", 3, 0.2), ("e", 4, 0.3)]
    assert fault(trec(*rows)).startswith("mine.run:4: rank 3 has score 0.2, rank 4 0.3: a distance?")


def test_trec_eval_compares_32_bit_floats_and_then_the_bytes_of_the_ids_falling() -> None:
    rows = [("a", 1, 1.00000001), ("b", 2, 1.0), ("ü", 3, 0.5), ("z", 4, 0.5)]
    assert names(parse(trec(*rows))) == ["a", "b", "ü", "z"]
    assert names(parse(trec(*rows), RunOrder(ties="trec_eval"))) == ["b", "a", "ü", "z"]


def test_trec_eval_orders_by_score_even_where_the_ranks_say_otherwise() -> None:
    rows = [("a", 1, 1.0), ("b", 2, 3.0), ("c", 3, 2.0)]
    assert names(parse(trec(*rows), RunOrder(ties="trec_eval"))) == ["b", "c", "a"]


def test_scores_beyond_32_bits_tie_at_infinity_and_raise_nothing() -> None:
    rows = [("a", 1, 1e39), ("b", 2, 1e38)]
    assert names(parse(trec(*rows), RunOrder(ties="trec_eval"))) == ["a", "b"]


def test_a_document_twice_in_one_query_is_refused_with_both_lines() -> None:
    rows = [("a", 1, 0.9), ("b", 2, 0.8), ("a", 3, 0.7)]
    assert fault(trec(*rows)) == "mine.run:3: document 'a' is in line 1 already, leave one of them"


def test_what_follows_the_tag_and_blank_lines_are_ignored() -> None:
    run = parse("\r\nq Q0 a 1 0.9 tag more words\r\n\r\np\tQ0  b  1\t 2e0 t\n")
    assert {query: names(run, query) for query in run.answers} == {"q": ["a"], "p": ["b"]}
    assert run.answers["p"][0].line == 4


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("q Q0 a 1 0.5", "5 columns, a run has six: qid Q0 docid rank score tag"),
        ("q Q0 a x 0.5 t", "the rank is 'x' and the score '0.5', write numbers"),
        ("q Q0 a 1 1_0 t", "the rank is '1' and the score '1_0', write numbers"),
        ("q Q0 a 99999999999999999999 1 t", "the rank is '99999999999999999999' and the score '1', write"),
        ("q Q0 a 2 nan t", "the score is nan, write a finite number"),
        ("q Q0 a 2 1e400 t", "the score is inf, write a finite number"),
    ],
)
def test_a_bad_row_is_named(row: str, says: str) -> None:
    assert fault(f"q Q0 z 1 9 t\n{row}").startswith(f"mine.run:2: {says}")


def test_an_id_that_is_no_utf8_is_named() -> None:
    assert (
        fault(b"q Q0 a 1 9 t\nq Q0 \xff 2 8 t") == "mine.run:2: '\\xff' is no UTF-8, save the file as UTF-8"
    )


def test_the_content_tells_the_format_not_the_name(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(gzip.compress(trec(("a", 1, 0.9)).encode()))
    assert names(read_run(str(path))) == ["a"]
    path.write_bytes(b"\xef\xbb\xbf" + HEADER + b'\n{"id": "q", "results": [{"path": "b"}]}\n')
    assert names(read_run(str(path))) == ["b"]
    path.write_text('{\n "q": {"c": 1, "d": 2.5}\n}')
    assert names(read_run(str(path))) == ["d", "c"]


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(trec(*((f"d{n}", n, -n) for n in range(999))).encode())[:500])
    with pytest.raises(OutsideSystemError, match=r"cut\.gz: cannot decompress it .*, the file is damaged"):
        read_run(str(path))


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(OutsideSystemError, match=r"none: cannot read the run \(No such file"):
        read_run(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "mine.run:1: this is no run; a run is cce.run/v1 NDJSON, six TREC columns"),
        ("hello", "mine.run:1: this is no run; a run is"),
        ("\nq 0 doc 1", "mine.run:2: four columns are judgments, read them with cce import qrels FILE"),
        ('{"id": "q", "results": []}', "mine.run:1: the run has no header, start it with {"),
        ('{"schema": "cce.run/v2"}', "mine.run:1: unsupported schema 'cce.run/v2', write 'cce.run/v1'"),
        ('{"schema": "cce.run/v1", "system": 3}', "mine.run:1: system must be a string"),
        ("{}", "mine.run: holds no query, write {"),
        ('{"q": {"a": NaN}}', "mine.run: invalid JSON: NaN is no JSON, write {"),
        ('{"q": {"a": 1e999}}', "mine.run: query 'q': document 'a' has a score that is no finite number"),
        ('{"q": {"a": true}}', "mine.run: query 'q': document 'a' has a score that is no finite number"),
        ('{"q": {"a": 1, "a": 2}}', "mine.run: invalid JSON: 'a' is there twice in one object"),
        ('{"q": {"a": 1}, "q": {}}', "mine.run: invalid JSON: 'q' is there twice in one object"),
        ('{"q": {"\\ud800": 1}}', "mine.run: invalid JSON: "),
    ],
)
def test_what_is_no_run_is_told(text: str, says: str) -> None:
    assert fault(text).startswith(says)


def test_ranx_has_no_ranks_so_scores_and_then_the_file_order_it() -> None:
    text = '{"q": {"a": 1, "b": 2.5, "c": 2.5, "d:e": 0}}'
    assert names(parse(text)) == ["b", "c", "a", "d:e"]
    assert names(parse(text, RunOrder(is_rising=True))) == ["d:e", "a", "b", "c"]
    assert names(parse(text, RunOrder(ties="trec_eval"))) == ["c", "b", "a", "d:e"]


def recorded(line: str) -> str:
    return f"{HEADER.decode()}\n{line}"


def test_a_recorded_line_keeps_what_was_asked_and_what_came() -> None:
    run = parse(
        recorded(
            '{"id": "q", "k": 5, "query": "check", "repeat": 1, "tenant": "t", "extra": 1,'
            ' "scope": {"name": "s", "exclude": ["a/**"]},'
            ' "results": [{"path": "a.py", "start": 3, "end": 9, "score": 2, "text": "x"}]}'
        )
    )
    answer = run.answers["q"][0]
    assert tuple(answer.results) == (OutsideResult("a.py", 3, 9, None, 2.0, "x"),)
    assert (answer.line, answer.k, answer.query, answer.repeat, answer.tenant) == (2, 5, "check", 1, "t")
    assert answer.scope == ("s", None, ("a/**",))
    assert run.facts["system"] == "mine"


def test_an_error_is_an_answer() -> None:
    run = parse(recorded('{"id": "q", "error": {"code": "bad", "message": "unbalanced quote"}}'))
    assert run.answers["q"][0].results == FailedAnswer("unbalanced quote", "bad")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"results": []}', "id is missing, it must be a string, the id of the case"),
        ('{"id": 7, "results": []}', "Expected str, got int at id, id must be a string, the id of the case"),
        ('{"id": "q"}', "a line has results or an error, write one of them"),
        ('{"id": "q", "results": [], "error": {"message": ""}}', "a line has results or an error"),
        ('{"id": "q", "results": [{"path": "a", "start": 3}]}', "result 1 has half a range"),
        ('{"id": "q", "results": [{"path": "a", "start": 0, "end": 3}]}', "result 1 has lines 0 to 3; lines"),
        ('{"id": "q", "results": [{"path": "a", "start": 4, "end": 3}]}', "result 1 has lines 4 to 3; lines"),
        ('{"id": "q", "results": [{"path": "a"}, {"path": 3}]}', "Expected str, got int at results[1].path"),
        ('{"id": "q", "results": [{"start": 1, "end": 2}]}', "Object missing required field path at results"),
        ('{"id": "q", "results": [{"path": "a", "score": NaN}]}', "invalid JSON at column 48: NaN and"),
        ('{"id": "q", "results": [{"path": "a", "start": 1.5, "end": 2}]}', "Expected int | null, got float"),
        ('{"id": "q", "results": [{"path": "a", "start": true, "end": 2}]}', "Expected int | null, got bool"),
        ('{"id": "q", "results": [], "k": 0}', "k must be a positive integer, got 0"),
        ('{"id": "q", "results": [], "repeat": -1}', "repeat counts from 0, got -1"),
        ('{"id": "\\ud800", "results": []}', "invalid JSON at column"),
        ('["q"]', "each line must be a JSON object"),
        ('{"id": "q", "results": []', "invalid JSON at column"),
    ],
)
def test_a_bad_recorded_line_is_named(line: str, says: str) -> None:
    assert fault(recorded(line)).startswith(f"mine.run:2: {says}")


def test_a_query_twice_is_refused_unless_it_was_asked_otherwise() -> None:
    line = '{"id": "q", "results": []}'
    assert fault(recorded(f"{line}\n\n{line}")) == (
        "mine.run:4: query 'q' is in line 2 already, leave one of them"
    )
    assert len(parse(recorded(line + '\n{"id": "q", "k": 50, "results": []}')).answers["q"]) == 2


LINES = st.one_of(
    st.binary(max_size=40),
    st.text(alphabet='{}[]":,q 0123456789.eN\\u\n', max_size=60).map(str.encode),
    st.sampled_from([HEADER, b'{"id":"q","results":[]}', b"q Q0 d 1 0.5 t", b'{"q":{"d":1}}']),
)


@settings(max_examples=300, deadline=None)
@example([b'{"q":' + b"[" * 5000])
@example([HEADER, b'{"id":"q","x":' + b"[" * 100_000])
@example([b"q Q0 d " + b"9" * 5000 + b" 1 t"])
@example([HEADER, b"\xff"])
@example([HEADER, b'{"id":"q","results":[],"x":"\xff"}'])
@example([b'{"q":{"d":' + b"9" * 5000 + b"}}"])
@given(st.lists(LINES, max_size=4))
def test_no_bytes_make_a_reader_raise_anything_but_its_error(lines: Sequence[bytes]) -> None:
    for order in (RunOrder(), RunOrder(ties="trec_eval")):
        told = ""
        try:
            parse_run(lines, "mine.run", order)
        except OutsideSystemError as exc:
            told = str(exc)
        assert told.isprintable()
        assert not told or told.startswith("mine.run:")


PATHS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(PATHS, st.none() | PATHS, st.none() | st.tuples(st.integers(1, 99), st.integers(0, 9)))
def test_a_place_survives_as_a_document_id_in_one_column(
    path: str, kind: str | None, lines: tuple[int, int] | None
) -> None:
    start, end = (None, None) if lines is None else (lines[0], sum(lines))
    place = DocumentPlace(path, start, end, kind)
    for repeat in (1, 2, 13):
        spelled = docid(place, repeat)
        assert len(spelled.encode().split()) == len(spelled.split()) == 1
        assert place_of(spelled, lambda _: False) == place


def test_a_document_id_is_taken_literally_first() -> None:
    files = {"a%20b.txt", "v@1-2", "old~2"}
    assert place_of("a%20b.txt", files.__contains__).path == "a%20b.txt"
    assert place_of("v@1-2", files.__contains__) == DocumentPlace("v@1-2")
    assert place_of("old~2", files.__contains__) == DocumentPlace("old~2")
    assert place_of("a%20c.txt", files.__contains__).path == "a c.txt"
    assert place_of("c@1-2", files.__contains__) == DocumentPlace("c", 1, 2)


def test_a_pattern_finds_the_file_that_was_made_of_an_id() -> None:
    files = {"docs/a%2Fb.txt", "docs/%41b.txt", "docs/plain.txt"}
    found = [
        place_of(name, files.__contains__, "docs/{}.txt").path for name in ("a/b", "Ab", "plain", "gone")
    ]
    assert found == ["docs/a%2Fb.txt", "docs/%41b.txt", "docs/plain.txt", "docs/gone.txt"]


def test_a_file_name_leaves_no_folder_and_no_anchor() -> None:
    assert file_name("../a#b@1-2 c.") == "%2E.%2Fa%23b%401-2%20c%2E"
    assert file_name("aB", is_without_case=True) == "a%42"
