"""Judgments and collections of other tools as fixture sets: every grade rule, every format of queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cce.errors import CceError, FixtureError
from cce.interchange.beir import file_names
from cce.interchange.qrels import parse_beir_qrels, parse_qrels
from cce.interchange.queries import parse_queries_by_id
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.usecases.importing import BeirPlan, ImportedSet, QrelsPlan, import_beir, import_qrels
from conftest import Run
from oracle import Oracle


def imported(folder: Path, qrels: str, queries: str | None = None, k: int = 10) -> ImportedSet:
    source = folder / "a.qrels"
    source.write_text(qrels)
    texts = folder / "queries"
    if queries is not None:
        texts.write_text(queries)
    return import_qrels(QrelsPlan(str(source), None if queries is None else str(texts), k))


def cases(made: ImportedSet) -> list[dict[str, object]]:
    parse_fixture_set(made.content, "made.jsonl")  # it is a set
    return [json.loads(line) for line in made.content.splitlines()[1:]]


def test_each_grade_has_its_rule(tmp_path: Path) -> None:
    made = imported(tmp_path, "q 0 a 1\nq 0 b 2\nq 0 c 5\nq 0 d 0\nq 0 e -1\np 0 a 0\nr 0 a -2\n")
    assert cases(made) == [
        {
            "id": "q",
            "query": "topic q",
            "expected": ["a", "b", "c"],
            "grades": {"b": 2, "c": 3},
            "irrelevant": ["d"],
        }
    ]
    place = tmp_path / "a.qrels"
    assert made.notices == (
        f"{place}: 1 grade above 3 cut to 3",
        f"{place}: 2 queries without a relevant document left out",
    )


def test_k_is_that_of_every_case_and_is_left_out_where_it_is_the_default(tmp_path: Path) -> None:
    assert "k" not in cases(imported(tmp_path, "q 0 a 1"))[0]
    assert cases(imported(tmp_path, "q 0 a 1", k=50))[0]["k"] == 50


def test_a_place_is_decoded_and_another_id_stays_as_it_is(tmp_path: Path) -> None:
    made = imported(tmp_path, "q 0 a%20b.py#kind@3-9 1\nq 0 a%20b.py#kind@3-9~2 2\nq 0 100%25 1\n")
    assert cases(made)[0]["expected"] == ["a b.py#kind@3-9", "100%25"]
    assert cases(made)[0]["grades"] == {"a b.py#kind@3-9": 2}


@pytest.mark.parametrize(
    "queries",
    [
        '{"_id": "q", "text": "check the PIN"}\n',
        '{"qid": "q", "query": "check the PIN"}\n\n',
        "q\tcheck the PIN\r\n",
        "<top>\n<num> Number: q\n<title> check\n the PIN\n\n<desc> Description:\nx\n</top>\n",
        "<top><num>q</num><title>Topic: check the PIN</title></top>",
    ],
)
def test_queries_are_read_in_three_formats(tmp_path: Path, queries: str) -> None:
    assert cases(imported(tmp_path, "q 0 a 1", queries))[0]["query"] == "check the PIN"


def test_a_query_without_a_text_is_told(tmp_path: Path) -> None:
    made = imported(tmp_path, "q 0 a 1\np 0 a 1\nr 0 a 0", "p\tcheck")
    assert [case["query"] for case in cases(made)] == ["topic q", "check"]
    assert made.notices[-1].endswith("1 query without a text, called by the id: 'q'")


def test_ranx_judgments_are_read(tmp_path: Path) -> None:
    assert cases(imported(tmp_path, '{"q": {"a": 1, "b": 0}}'))[0]["irrelevant"] == ["b"]


@pytest.mark.parametrize(
    ("qrels", "says"),
    [
        ("", "a.qrels:1: no judgment, write qid 0 docid grade"),
        ("q 0 a 1\nq a 1", "a.qrels:2: 3 columns, judgments have four: qid 0 docid grade"),
        ("q 0 a 1.5", "a.qrels:1: the grade is '1.5', write an integer"),
        ("q 0 a 1_0", "a.qrels:1: the grade is '1_0', write an integer"),
        ("q 0 a 1\nq 0 b 1\n\nq 0 a 0", "a.qrels:4: document 'a' is in line 1 already, leave one of them"),
        ("q 0 a 0", "a.qrels: no query has a relevant document, so there is no case"),
        ("q 0 a@7 1", "a.qrels:1: document 'a@7': anchor 'a@7' has a malformed line range"),
        ('{"q": {"a": 1.5}}', "a.qrels: query 'q': document 'a' has grade 1.5, write an integer"),
    ],
)
def test_bad_judgments_are_named(tmp_path: Path, qrels: str, says: str) -> None:
    with pytest.raises(FixtureError) as raised:
        imported(tmp_path, qrels)
    assert str(raised.value).startswith(f"{tmp_path}/{says}")


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        ("q\ta\nno tab", "queries:2: no tab, write: the id, a tab, and the query"),
        ("q\ta\nq\tb", "queries:2: query 'q' is there twice, remove one"),
        ('{"_id": "q"}', "queries:1: each line needs an id and a text"),
        ('{"_id": "q", "text": "a"}\n{', "queries:2: invalid JSON"),
        ("\n<top><num>7</top>", "queries:2: a topic without <num> and <title>, add them"),
    ],
)
def test_bad_queries_are_named(tmp_path: Path, queries: str, says: str) -> None:
    with pytest.raises(FixtureError) as raised:
        imported(tmp_path, "q 0 a 1", queries)
    assert str(raised.value).startswith(f"{tmp_path}/{says}")


@given(st.binary(max_size=60) | st.text('q 0a-1\t\n{}:",<top>num', max_size=60).map(str.encode))
def test_no_bytes_make_a_reader_raise_anything_but_its_error(raw: bytes) -> None:
    for parse in (parse_qrels, parse_beir_qrels, parse_queries_by_id):
        told = ""
        try:
            parse(raw, "file")
        except CceError as exc:
            told = str(exc)
        assert told.isprintable()
        assert not told or told.startswith("file:")


def test_the_same_set_comes_of_cranfields_judgments_as_of_its_makers(oracle: Oracle) -> None:
    made = import_qrels(QrelsPlan(str(oracle.folder / "trec" / "cranfield.qrels")))
    theirs = parse_fixture_set(oracle.read("trec/cranfield.jsonl"), "theirs")
    ours = parse_fixture_set(made.content, "ours")
    assert len(ours.cases) == 225
    assert {case.id: sorted(a.text for a in case.anchors) for case in ours.cases} == {
        case.id: sorted(a.text for a in case.anchors) for case in theirs.cases
    }
    # The collection judges 225 documents as not relevant.
    assert sum(len(json.loads(line).get("irrelevant", ())) for line in made.content.splitlines()) == 225


def beir(folder: Path, documents: str) -> BeirPlan:
    (folder / "in" / "qrels").mkdir(parents=True)
    (folder / "in" / "corpus.jsonl").write_text(documents)
    (folder / "in" / "queries.jsonl").write_text('{"_id": "q", "text": "alpha"}\n')
    rows = "query-id\tcorpus-id\tscore\nq\t../a\t2\nq\tX\t1\nq\tx\t0\nq\tgone\t1\n"
    (folder / "in" / "qrels" / "test.tsv").write_text(rows)
    return BeirPlan(str(folder / "in"), "test", str(folder / "docs"), str(folder / "set.jsonl"))


DOCUMENTS = [
    {"_id": "../a", "title": "PIN", "text": "alpha"},
    {"_id": "x", "title": "", "text": "beta"},
    {"_id": "X", "text": "gamma"},
]
TEXT = "".join(json.dumps(document) + "\n" for document in DOCUMENTS)


def test_a_beir_collection_becomes_files_that_stay_in_their_folder(tmp_path: Path) -> None:
    made = import_beir(beir(tmp_path, TEXT))
    assert {file.name: file.read_text() for file in (tmp_path / "docs").iterdir()} == {
        "%2E.%2Fa.txt": "PIN\n\nalpha\n",
        "x.txt": "beta\n",
        "%58.txt": "gamma\n",
    }
    assert cases(made) == [
        {
            "id": "q",
            "query": "alpha",
            "expected": ["%2E.%2Fa.txt", "%58.txt", "gone.txt"],
            "grades": {"%2E.%2Fa.txt": 2},
            "irrelevant": ["x.txt"],
        }
    ]
    assert json.loads(made.content.splitlines()[0])["corpus"] == "docs"
    assert made.notices[0].endswith("test.tsv: 1 judged document not in the collection: 'gone'")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["docs", "in"]


def test_a_bad_document_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match=r"corpus\.jsonl:4: each line needs an id and a text"):
        import_beir(beir(tmp_path, TEXT + '{"_id": 4}\n'))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["in"]


def test_a_document_twice_or_with_a_huge_id_is_named(tmp_path: Path) -> None:
    with pytest.raises(FixtureError, match="document 'x' is there twice, remove one"):
        file_names(["x", "y", "x"], "c")
    with pytest.raises(FixtureError, match="has an id too long for a file"):
        file_names(["x" * 252], "c")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), unique=True))
def test_no_two_ids_share_a_file_on_any_system(ids: list[str]) -> None:
    names = list(file_names(ids, "c").values())
    assert len({name.casefold() for name in names}) == len(ids)
    assert not any(set(name) & set('/\\:*?"<>|#@\0 \n') or name.startswith(".") for name in names)


@pytest.mark.process
def test_the_commands_write_what_the_next_command_reads(run_cce: Run, tmp_path: Path) -> None:
    beir(tmp_path, TEXT)
    words = ("import", "beir", "in", "-o", "set.jsonl", "--corpus-out", "docs/")
    first = run_cce(*words, cwd=tmp_path)
    assert (first.returncode, first.stdout) == (0, b"1 case -> set.jsonl\n")
    assert run_cce("relevance", "set.jsonl", cwd=tmp_path).returncode == 0
    again = run_cce(*words, cwd=tmp_path)
    assert again.returncode == 2
    assert again.stderr == b"error: -o set.jsonl: is there already, name a new file\n"
    other = run_cce(*words[:4], "b.jsonl", *words[5:], cwd=tmp_path)
    assert other.stderr == b"error: --corpus-out docs/: is there already, name a new folder\n"
    own = run_cce("import", "qrels", "in/qrels/test.tsv", "-o", "in/qrels/test.tsv", cwd=tmp_path)
    assert b"would replace the file of judgments" in own.stderr
