"""Saved runs through the installed command: recorded, replayed, and told from other sets and corpora."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Run

pytestmark = pytest.mark.process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    for name, text in (("a", "alpha beta\n"), ("b", "beta gamma\n"), ("c", "gamma alpha\n")):
        (tmp_path / "docs" / f"{name}.txt").write_text(text)
    write_set(tmp_path, "alpha")
    return tmp_path


def write_set(folder: Path, query: str) -> None:
    lines = [
        {"schema": "cce.relevance/v1", "corpus": "docs"},
        {"id": "one", "query": query, "expected": ["a.txt"], "k": 2},
        {"id": "two", "query": "gamma", "expected": ["b.txt@1-1"], "k": 3},
    ]
    (folder / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def figures(stdout: bytes) -> list[dict[str, Any]]:
    return [backend | {"backend": None} for backend in json.loads(stdout)["backends"]]


def record(run_cce: Run, folder: Path) -> bytes:
    done = run_cce(
        "relevance", "set.jsonl", "--backend", "hybrid", "--record", "hybrid=h.jsonl", "--json", cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert [each.name for each in sorted(folder.iterdir())] == ["docs", "h.jsonl", "set.jsonl"]
    return done.stdout


def test_a_recorded_run_replays_with_every_figure_and_without_a_word(run_cce: Run, folder: Path) -> None:
    live = record(run_cce, folder)
    replayed = run_cce("relevance", "set.jsonl", "--run", "saved=h.jsonl", "--json", cwd=folder)
    assert (replayed.returncode, replayed.stderr) == (0, b"")
    assert figures(replayed.stdout) == figures(live)
    assert "notes" not in json.loads(replayed.stdout)


def test_another_query_under_an_id_is_a_failed_case(run_cce: Run, folder: Path) -> None:
    record(run_cce, folder)
    write_set(folder, "alphabet")
    failed = run_cce("relevance", "set.jsonl", "--run", "saved=h.jsonl", cwd=folder)
    assert (failed.returncode, failed.stdout) == (2, b"")
    assert failed.stderr == (
        b"error: system 'saved': case one: recorded for another query, 'alpha': record it again\n"
    )
    going = run_cce("relevance", "set.jsonl", "--run", "saved=h.jsonl", "--keep-going", cwd=folder)
    assert going.returncode == 0
    assert b"saved: 1 of 2 cases failed" in going.stdout


def test_another_corpus_is_told(run_cce: Run, folder: Path) -> None:
    record(run_cce, folder)
    (folder / "docs" / "c.txt").write_text("gamma alpha delta\n")
    done = run_cce("relevance", "set.jsonl", "--run", "saved=h.jsonl", cwd=folder)
    assert done.returncode == 0
    note = b"saved: h.jsonl: recorded over another corpus than this one: record it again\n"
    assert note in done.stdout
    assert b"warning: " + note in done.stderr


def test_a_trec_run_needs_a_word_where_ranks_and_scores_disagree(run_cce: Run, folder: Path) -> None:
    (folder / "t.run").write_text("one Q0 b.txt 1 0.1 t\none Q0 a.txt 2 0.9 t\nthree Q0 a.txt 1 1 t\n")
    words = ("relevance", "set.jsonl", "--run", "t=t.run", "--json")
    refused = run_cce(*words, cwd=folder)
    assert (refused.returncode, refused.stderr) == (
        2,
        b"error: t.run:1: rank 1 has score 0.1, rank 2 0.9: a distance? --run-order rank takes the ranks,"
        b" --run-order score the scores (trec_eval's way)\n",
    )
    mrrs = {}
    for option in (("--run-order", "rank"), ("--run-order", "score"), ("--ties", "trec_eval")):
        done = run_cce(*words, *option, cwd=folder)
        mrrs[option[1]] = figures(done.stdout)[0]["per_query"][0]["mrr"]
    assert mrrs == {"rank": "0.500000", "score": "1.000000", "trec_eval": "1.000000"}
    notes = json.loads(done.stdout)["notes"]
    assert notes[0] == "t: t.run: 1 case not in it, scored as empty: 'two'"
    assert notes[1] == "t: t.run: 1 query of no case, not used: 'three'"


def test_ties_across_the_cut_off_are_told_with_what_they_leave_open(run_cce: Run, folder: Path) -> None:
    (folder / "t.run").write_text("one Q0 b.txt 1 1 t\none Q0 c.txt 2 1 t\none Q0 a.txt 3 1 t\n")
    done = run_cce("relevance", "set.jsonl", "--run", "t=t.run", cwd=folder)
    # At best a.txt is first of two, at worst behind both; case two has no results.
    spans = ["precision_at_k 0.000000 to 0.250000"]
    spans += [f"{metric} 0.000000 to 0.500000" for metric in ("hit", "mrr", "ndcg", "ap")]
    told = f"t: in 1 case ties reach across the cut-off; over all their orders {', '.join(spans)}\n"
    assert told.encode() in done.stdout


def test_runs_alone_are_scored_without_a_corpus(run_cce: Run, folder: Path) -> None:
    (folder / "t.run").write_text("one Q0 a.txt 1 2 t\ntwo Q0 b.txt 1 2 t\n")
    done = run_cce("relevance", "set.jsonl", "--run", "t=t.run", "--no-corpus", cwd=folder)
    assert done.returncode == 0
    assert b"  corpus  : (none)\n  embedder: (none)\n" in done.stdout


def test_a_recording_replaces_nothing_that_is_read(run_cce: Run, folder: Path) -> None:
    for words, says in (
        (
            ("--record", "hybrid=set.jsonl"),
            b"--record set.jsonl: would replace the fixture set, name another file",
        ),
        (
            ("--record", "hybrid=docs/a.txt"),
            b"--record docs/a.txt: would replace a file of the corpus docs, name",
        ),
        (
            ("--record", "hybrid=x", "--record", "bm25=./x"),
            b"--record ./x: is named for two systems, it takes",
        ),
        (("--record", "hybird=x"), b"--record hybird: unknown system 'hybird'; did you mean 'hybrid'?"),
        (("--record", "x"), b"--record takes NAME=FILE, as in mine=mine.jsonl; got 'x'"),
        (("--record", "hybrid=no/x"), b"no/x: its directory does not exist, make it first"),
        (("--resume",), b"--resume goes on with a --record NAME=FILE, name it"),
    ):
        done = run_cce("relevance", "set.jsonl", *words, cwd=folder)
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: " + says), done.stderr
    assert sorted(each.name for each in folder.iterdir()) == ["docs", "set.jsonl"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_note_is_shown_once_where_both_streams_are_one_screen(run_cce: Run, folder: Path) -> None:
    (folder / "mine.run").write_text("one Q0 a.txt 1 2 t\ntwo Q0 b.txt 1 2 t\n")
    words = ("relevance", "set.jsonl", "--run", "mine=mine.run")
    note = "nothing ties it to these questions"
    piped = run_cce(*words, cwd=folder)
    assert (piped.stdout.decode().count(note), piped.stderr.decode().count(note)) == (1, 1)
    assert on_one_screen(folder, words).count(note) == 1


def on_one_screen(folder: Path, words: Sequence[str]) -> str:
    """What a command shows whose standard output and standard error are one terminal."""
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "cce", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that nobody holds the other end any more
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return shown.decode()
