"""`cce index`, `cce search`, `cce stats` and `cce relevance --store`, as their users meet them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from conftest import Run
from ollama_server import running_server
from oracle import Oracle

PASSWORD = "correct horse battery staple".replace(" ", "-")
AUTH = f'PASSWORD = "{PASSWORD}"\n\n\ndef hash_password(password):\n    return password[::-1]\n'
STORE = Path(".cce/index.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A corpus of three files, one of them sensitive, and a set that names it."""
    (tmp_path / "auth.py").write_text(AUTH)
    (tmp_path / "notes.md").write_text("hash tables and passwords\n")
    (tmp_path / ".env").write_text("TOKEN=1234\n")
    header = {"schema": "cce.relevance/v1", "corpus": "."}
    cases = [
        {"id": "hash", "query": "hash_password", "expected": ["auth.py@4-5"], "k": 2},
        {"id": "notes", "query": "passwords", "expected": ["notes.md"], "k": 2},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [header, *cases]))
    return tmp_path


def test_indexing_says_what_it_did(project: Path, run_cce: Run) -> None:
    result = run_cce("index", cwd=project)
    assert (result.returncode, result.stderr) == (0, b"")
    lines = dict(line.split(":", 1) for line in result.stdout.decode().splitlines())
    facts = {name.strip(): text.strip() for name, text in lines.items()}
    assert facts["indexed"] == "2 files of ."
    assert facts["chunks"] == "2 (about 19 tokens)"  # 54 // 4 + 26 // 4
    assert facts["skipped"] == "1 a .jsonl file"
    assert facts["sensitive"] == "1 not opened (.env)"
    assert facts["embedder"] == "hash"
    assert facts["store"].startswith("./.cce/index.json (")
    assert facts["elapsed"].endswith(" s")


def test_indexing_as_json_has_the_same_facts(project: Path, run_cce: Run) -> None:
    facts = json.loads(run_cce("index", "--json", cwd=project).stdout)
    assert facts["elapsed_seconds"].count(".") == 1
    assert facts["store_bytes"] == (project / STORE).stat().st_size
    del facts["elapsed_seconds"], facts["store_bytes"]
    assert facts == {
        "chunks": 2,
        "directory": ".",
        "embedder": "hash",
        "files": 2,
        "sensitive": [".env"],
        "skipped": {"a .jsonl file": 1},
        "store": "./.cce/index.json",
        "tokens": 19,
    }


def test_the_store_is_kept_out_of_git_and_holds_no_secret(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    assert sorted(path.name for path in (project / ".cce").iterdir()) == [".gitignore", "index.json"]
    assert (project / ".cce" / ".gitignore").read_bytes() == b"*\n"
    assert PASSWORD.encode() not in (project / STORE).read_bytes()


def test_secrets_stay_only_where_they_are_allowed(project: Path, run_cce: Run) -> None:
    (project / "settings.txt").write_text(AUTH)
    facts = json.loads(run_cce("index", "--allow-secrets", "--json", cwd=project).stdout)
    assert (facts["files"], facts["sensitive"]) == (4, [])
    assert PASSWORD.encode() in (project / STORE).read_bytes()
    assert b"matches" in run_cce("stats", cwd=project).stdout


def test_indexing_again_replaces_the_store(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    before = (project / STORE).read_bytes()
    run_cce("index", cwd=project)
    assert (project / STORE).read_bytes() == before
    (project / "auth.py").write_text("x = 1\n")
    run_cce("index", cwd=project)
    assert b"hash_password" not in (project / STORE).read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "nowhere"], "nowhere: No such file or directory"),
        (["index", "--store", "nowhere/s.json"], "nowhere/s.json: cannot be written"),
        (["index", "--embedder", "hsah"], "unknown embedder 'hsah'; did you mean 'hash'?"),
        (["search", "x", "--dir", "a", "--store", "b"], "exclude each other"),
        (["search", "x", "--backend", "bm25,vector"], "takes one name"),
        (["search", "x", "--backend", "bm52"], "did you mean 'bm25'?"),
        (["search", "x", "--top-k", "0"], "--top-k"),
        (["search", "x", "--store", "nowhere.json"], "nowhere.json: cannot be read"),
        (["search", "x", "--store", "auth.py"], "auth.py: "),
        (["stats"], ".cce/index.json: cannot be read"),
        (["relevance", "set.jsonl", "--store", "set.jsonl"], "set.jsonl: "),
        (["relevance", "set.jsonl", "--store", "s.json", "--dir", "."], "exclude each other"),
    ],
)
def test_a_wrong_call_is_one_line_with_the_way_out(
    project: Path, run_cce: Run, arguments: list[str], message: str
) -> None:
    result = run_cce(*arguments, cwd=project)
    assert (result.returncode, result.stdout) == (2, b"")
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("error: ")
    assert message in line


def test_a_search_prints_rank_score_place_and_first_line(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    result = run_cce("search", "hash_password", "--backend", "bm25", cwd=project)
    # ln(1 + (2 - 1 + 0.5) / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 6 / 5)), for 6 and 4 tokens
    assert result.stdout.decode() == (
        " 1. [0.640724] auth.py:4-5 (function/function_definition)\n    def hash_password(password):\n"
    )
    assert result.stderr == (
        b"./.cce/index.json: searched as it was written; cce stats --dir . shows what changed since\n"
    )
    assert run_cce("search", "hash", "--store", STORE, cwd=project).stderr == b"", "it was named"


def test_a_search_without_a_store_says_that_it_indexes_and_writes_nothing(
    project: Path, run_cce: Run
) -> None:
    with_store = (run_cce("index", cwd=project), run_cce("search", "hash", cwd=project).stdout)[1]
    (project / STORE).unlink()
    result = run_cce("search", "hash", cwd=project)
    assert result.stdout == with_store
    assert result.stderr == b".: no store, indexed in memory; keep an index with: cce index .\n"
    assert not (project / STORE).exists()


def test_a_search_that_finds_nothing_says_so(project: Path, run_cce: Run) -> None:
    assert run_cce("search", "zebra", "--backend", "bm25", cwd=project).stdout == b"(no results)\n"
    assert run_cce("search", " — ", cwd=project).stdout == b"(no results)\n"


def test_a_search_as_json_has_the_grammar_of_the_report(project: Path, run_cce: Run) -> None:
    result = run_cce("search", "hash_password", "--backend", "bm25", "--json", cwd=project)
    chunk_id = json.loads(result.stdout)["results"][0]["chunk_id"]
    assert result.stdout.decode() == (
        '{\n  "query_id": null,\n  "results": [\n    {\n'
        f'      "chunk_id": "{chunk_id}",\n'
        '      "chunk_type": "function",\n      "end_line": 5,\n      "file_path": "auth.py",\n'
        '      "kind": "function_definition",\n      "rank": 1,\n      "score": "0.640724",\n'
        '      "start_line": 4\n    }\n  ]\n}\n'
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("environment", "is_colourful"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
    ],
)
@pytest.mark.process
def test_colours_are_for_terminals_that_want_them(
    project: Path, environment: dict[str, str], is_colourful: bool
) -> None:
    shown = on_a_terminal(["search", "hash_password", "--backend", "bm25"], project, environment)
    assert ("\x1b[33m\x1b[1mhash_password\x1b[0m" in shown) == is_colourful
    assert ("\x1b[" in shown) == is_colourful


def on_a_terminal(arguments: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What `cce` shows when its standard output is a terminal."""
    import pty

    clean = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "TERM"}}
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(sys.executable, [sys.executable, "-m", "cce", *arguments], {**clean, **environment})
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # Linux reports the end of a terminal so
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return shown.decode()


def test_stats_count_and_compare_by_content(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    facts = json.loads(run_cce("stats", "--json", cwd=project).stdout)
    assert facts["directory"] == {"changed": [], "deleted": [], "matches": True, "new": [], "path": "."}
    del facts["directory"], facts["store_bytes"]
    assert facts == {
        "average_tokens": "9.500000",
        "chunks": 2,
        "embedder": "hash",
        "embedder_model": None,
        "files": 2,
        "format_version": "1.0",
        "kinds": {"function_definition": 1, "module": 1},
        "languages": {"plaintext": 1, "python": 1},
        "store": "./.cce/index.json",
        "tokens": 19,
    }


def test_stats_see_new_changed_and_deleted_files(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    times = (project / "auth.py").stat()
    # One byte of module-level code, the same size and the same times: only the content tells.
    (project / "auth.py").write_text(AUTH.replace("PASSWORD", "PASSWORT", 1))
    os.utime(project / "auth.py", ns=(times.st_atime_ns, times.st_mtime_ns))
    (project / "notes.md").unlink()
    (project / "new.txt").write_text("new\n")
    result = run_cce("stats", cwd=project)
    assert result.returncode == 0
    assert (
        b"directory: . differs: 1 new (new.txt); 1 changed (auth.py); 1 deleted (notes.md)\n" in result.stdout
    )


def test_stats_of_a_store_elsewhere_need_the_directory_named(project: Path, run_cce: Run) -> None:
    run_cce("index", "--store", "elsewhere.json", cwd=project)
    assert b"directory: not compared; name it with --dir\n" in (
        run_cce("stats", "--store", "elsewhere.json", cwd=project).stdout
    )
    # The store itself is a new file of the directory.
    assert b"directory: . differs: 1 new (elsewhere.json)\n" in (
        run_cce("stats", "--store", "elsewhere.json", "--dir", ".", cwd=project).stdout
    )


def test_stats_of_another_producers_store_compare_chunks(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    store = json.loads((project / STORE).read_bytes())
    del store["file_digests"]
    (project / STORE).write_text(json.dumps(store))
    assert b"directory: . matches\n" in run_cce("stats", cwd=project).stdout
    (project / "auth.py").write_text(AUTH.replace("::-1", "::-2"))
    assert b"directory: . differs: 1 changed (auth.py)\n" in run_cce("stats", cwd=project).stdout


def test_a_store_scores_like_its_directory(project: Path, run_cce: Run) -> None:
    run_cce("index", cwd=project)
    from_directory = run_cce("relevance", "set.jsonl", "--json", cwd=project)
    from_store = run_cce("relevance", "set.jsonl", "--store", ".cce/index.json", "--json", cwd=project)
    assert (from_store.returncode, from_store.stderr) == (0, b"")
    assert json.loads(from_store.stdout)["corpus"] == ".cce/index.json"
    assert from_store.stdout == from_directory.stdout.replace(
        b'"corpus": "."', b'"corpus": ".cce/index.json"'
    )


def test_the_reference_store_scores_like_the_reference_corpus(oracle: Oracle, run_cce: Run) -> None:
    store = str(oracle.folder / "reports" / "express.index.json")
    result = run_cce("relevance", str(oracle.folder / "sets" / "express.jsonl"), "--store", store, "--json")
    expected = json.loads(oracle.read("reports/express.json"))
    assert json.loads(result.stdout) == {**expected, "corpus": store}


@pytest.mark.parametrize("position", [0, 2, 5])
def test_the_command_answers_as_the_reference_did(oracle: Oracle, run_cce: Run, position: int) -> None:
    asked = json.loads(oracle.read("reports/express.search.jsonl").split(b"\n")[position])
    arguments = ["search", asked["query"], "--top-k", str(asked["top_k"]), "--json"]
    arguments += ["--store", str(oracle.folder / "reports" / "express.index.json")]
    result = run_cce(*arguments, *([] if asked["graph"] else ["--no-graph"]))
    expected = json.dumps(asked["output"], indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert result.stdout.decode() == expected


def test_a_model_store_needs_its_model_for_vectors_and_nothing_for_bm25(project: Path, run_cce: Run) -> None:
    with running_server() as server:
        result = run_cce("index", "--embedder", "ollama", cwd=project, CCE_OLLAMA_URL=server.url)
        assert (result.returncode, result.stderr) == (0, b"")
        assert b"embedder : ollama\n" in result.stdout
        asked = ("relevance", "set.jsonl", "--store", ".cce/index.json")
        measured = run_cce(*asked, "--json", cwd=project, CCE_OLLAMA_URL=server.url)
        assert json.loads(measured.stdout)["embedder"] == "ollama"
        other = run_cce(*asked, cwd=project, CCE_OLLAMA_URL=server.url)
        assert other.returncode == 0
    store = json.loads((project / STORE).read_bytes())
    assert store["embedder_model"] == "nomic-embed-text"
    assert store["embedding_dim"] == len(store["chunks"][0]["embedding"])
    refused = run_cce(*asked, cwd=project, CCE_OLLAMA_URL="http://127.0.0.1:9")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert len(refused.stderr.splitlines()) == 1
    assert b"ollama serve" in refused.stderr
    keywords = run_cce(*asked, "--backend", "bm25", cwd=project, CCE_OLLAMA_URL="http://127.0.0.1:9")
    assert keywords.returncode == 0


def test_a_model_that_does_not_answer_leaves_no_store(project: Path, run_cce: Run) -> None:
    result = run_cce("index", "--embedder", "ollama", cwd=project, CCE_OLLAMA_URL="http://127.0.0.1:9")
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert not (project / ".cce").exists()
