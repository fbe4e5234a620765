"""Drafts: which queries are taken, what their candidates say, and that no label is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cce.errors import FixtureError
from cce.labels.draft import Queries, parse_queries, render_drafts
from cce.measurement.fixtures.reading import parse_fixture_set
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.systems.opening import open_system
from cce.usecases.draft import pool_candidates
from conftest import Run
from corpora import unwatched

READ = "def read(path):\n    return open(path).read()\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "src"
    root.mkdir()
    (root / "b.py").write_bytes(b"# all about files\n\n" + READ.encode())
    (root / "a.md").write_bytes(b"How to read a file\n")
    (root / "c.md").write_bytes(b"Nothing of interest\n")
    return root


def drafts(corpus: Path, *queries: str, k: int = 10) -> list[dict[str, Any]]:
    index = index_directory(str(corpus), unwatched).index
    pools = pool_candidates(
        queries, index, [open_system(name, index) for name in ("bm25", "vector")], k, unwatched
    )
    text = render_drafts(queries, pools, k, "src")
    header, *cases = map(json.loads, text.splitlines())
    assert header == {"schema": "cce.relevance/v1", "corpus": "src"}
    return cases


def test_a_query_stands_on_a_line() -> None:
    raw = b"\xef\xbb\xbfread a file\r\n\n  parse {json} \nwhat does {x} mean"
    assert parse_queries(raw, "q").texts == ("read a file", "parse {json}", "what does {x} mean")


def test_or_in_an_object_a_line_as_a_search_log_has_it() -> None:
    raw = b'\n{"time": 1, "query": " read a file "}\n{"query": "parse"}\n'
    assert parse_queries(raw, "q").texts == ("read a file", "parse")


@pytest.mark.parametrize("line", [b"parse", b'{"q": "parse"}', b'{"query": 7}', b'{"query": "parse"'])
def test_a_line_unlike_the_first_object_is_an_error_with_its_number(line: bytes) -> None:
    with pytest.raises(FixtureError, match=r"^log\.jsonl:2: each line must be an object with a query"):
        parse_queries(b'{"query": "read"}\n' + line, "log.jsonl")


def test_a_line_that_is_not_utf8_is_an_error_with_its_number() -> None:
    with pytest.raises(FixtureError, match=r"^q\.txt:2: not UTF-8"):
        parse_queries(b"read\n\xff", "q.txt")


def test_queries_with_the_same_words_are_taken_once_and_wordless_ones_never() -> None:
    raw = b"read a file\nA file: read!\nread a file\n\xe2\x80\x94\nread a file file\n"
    assert parse_queries(raw, "q") == Queries(("read a file", "read a file file"), n_repeated=2, n_wordless=1)


def test_a_draft_pools_what_the_backends_found_in_the_order_of_the_index(corpus: Path) -> None:
    (case,) = drafts(corpus, "read path")
    assert (case["id"], case["query"], case["k"]) == ("read-path", "read path", 10)
    assert [candidate["path"] for candidate in case["candidates"]] == ["a.md", "b.py", "c.md"]
    assert case["candidates"][1] == {
        "path": "b.py",
        "kind": "function_definition",
        "lines": [3, 4],
        "first_line": "def read(path):",
        "backends": ["bm25", "vector"],
    }
    assert case["candidates"][2]["backends"] == ["vector"], "bm25 gives nothing without a word in common"


def test_no_more_than_k_candidates_a_backend(corpus: Path) -> None:
    (case,) = drafts(corpus, "read", k=1)
    assert 1 <= len(case["candidates"]) <= 2
    assert case["k"] == 1


def test_ids_are_made_of_words_and_differ(corpus: Path) -> None:
    ids = [case["id"] for case in drafts(corpus, "Read a file!", "read: a file", "read a file 2", "x " * 50)]
    assert ids[:2] == ["read-a-file", "read-a-file-2"]
    assert len(set(ids)) == 4
    assert len(ids[3]) <= 40


def test_a_draft_has_no_label_so_nothing_can_be_scored_with_it(corpus: Path) -> None:
    (case,) = drafts(corpus, "read")
    assert "expected" not in case
    with pytest.raises(FixtureError, match="ends without a case, all its lines are drafts"):
        parse_fixture_set(json.dumps(case).encode(), "p")


def test_a_secret_is_not_shown(corpus: Path) -> None:
    (corpus / "a.md").write_bytes(b'password = "correct-horse-battery"\n')
    (case,) = drafts(corpus, "password")
    assert case["candidates"][0]["first_line"] == 'password = "[REDACTED:SECRET]"'


def test_the_command_reads_standard_input_and_names_the_corpus(
    tmp_path: Path, corpus: Path, run_cce: Run
) -> None:
    done = run_cce("fixtures", "draft", "--from", "-", "--dir", "src", cwd=tmp_path, stdin=b"read\nread\n")
    assert done.returncode == 0
    assert done.stderr == b"1 draft; left out: 1 with the words of another query, 0 without a token\n"
    assert json.loads(done.stdout.splitlines()[0])["corpus"] == "src"


def test_the_corpus_is_named_from_the_folder_of_the_new_set(
    tmp_path: Path, corpus: Path, run_cce: Run
) -> None:
    (tmp_path / "eval").mkdir()
    (tmp_path / "q.txt").write_bytes(b"read\n")
    arguments = ("fixtures", "draft", "--from", "q.txt", "--dir", "src", "-o", "eval/new.jsonl")
    assert run_cce(*arguments, cwd=tmp_path).stdout == b"1 draft -> eval/new.jsonl\n"
    assert json.loads((tmp_path / "eval" / "new.jsonl").read_bytes().splitlines()[0])["corpus"] == "../src"


def test_a_draft_from_a_store_does_not_guess_its_directory(
    tmp_path: Path, corpus: Path, run_cce: Run
) -> None:
    run_cce("index", "src", "--store", "s.json", cwd=tmp_path)
    arguments = ("fixtures", "draft", "--from", "-", "--store", "s.json", "-o", "new.jsonl")
    assert run_cce(*arguments, cwd=tmp_path, stdin=b"read\n").returncode == 0
    header = (tmp_path / "new.jsonl").read_bytes().splitlines()[0]
    assert json.loads(header) == {"schema": "cce.relevance/v1"}
    blind = run_cce("fixtures", "label", "new.jsonl", cwd=tmp_path, stdin=b"y\n")
    assert (blind.returncode, blind.stdout) == (2, b"")
    assert b"--dir" in blind.stderr


@pytest.mark.parametrize("queries", [b"", b"\n \n", "—?\n".encode()])
def test_no_query_makes_no_draft(tmp_path: Path, corpus: Path, run_cce: Run, queries: bytes) -> None:
    arguments = ("fixtures", "draft", "--from", "-", "--dir", "src", "-o", "new.jsonl")
    done = run_cce(*arguments, cwd=tmp_path, stdin=queries)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"error: -: no query with a token, write one query per line\n"
    assert not (tmp_path / "new.jsonl").exists()


def test_a_set_that_is_there_is_never_overwritten(tmp_path: Path, corpus: Path, run_cce: Run) -> None:
    (tmp_path / "old.jsonl").write_bytes(b"answers\n")
    arguments = ("fixtures", "draft", "--from", "-", "--dir", "src", "-o", "old.jsonl")
    done = run_cce(*arguments, cwd=tmp_path, stdin=b"read\n")
    assert done.returncode == 2
    assert b"old.jsonl: is there already and may hold answers" in done.stderr
    assert (tmp_path / "old.jsonl").read_bytes() == b"answers\n"


def test_queries_that_cannot_be_read_exit_2(tmp_path: Path, corpus: Path, run_cce: Run) -> None:
    done = run_cce("fixtures", "draft", "--from", "gone.txt", "--dir", "src", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: gone.txt: cannot read the queries (")
