"""`--redact` and CCE_REDACT, as their users meet them: one corpus has one text in every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cce.domain.redaction import Redaction
from cce.retrieval.indexing.cache import Cache
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.store.reading import read_store
from conftest import Run

PASSWORD = "correcthorse"
MARK = "[REDACTED:SECRET]"
STORE = Path(".cce/index.json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two secrets that the standard rules leave, a file that only the strict ones keep closed, a gate."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/app.py").write_text(
        f'class Db:\n    password: str = "{PASSWORD}"\n\n\ndef connect(db):\n    return db\n'
    )
    (tmp_path / "src/settings.json").write_text(f'{{"db_password": "{PASSWORD}"}}\n')
    (tmp_path / "src/.npmrc").write_text("registry=https://example.org/\n")
    cases = [
        {"schema": "cce.relevance/v1", "corpus": "src"},
        {"id": "db", "query": "connect db", "expected": ["app.py@5-6", "app.py@1-2"], "k": 2},
        {"id": "pw", "query": f"password {PASSWORD}", "expected": ["settings.json"], "k": 2},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    (tmp_path / "gate.toml").write_text(
        'schema = "cce.gate/v1"\nfixtures = "set.jsonl"\nbackend = "bm25"\nbaseline = "baseline.json"\n'
    )
    return tmp_path


def text_of(project: Path) -> str:
    return (project / "src" / STORE).read_text(encoding="utf-8")


def test_a_strict_store_has_no_secret_and_says_strict_and_a_standard_one_has_no_such_key(
    project: Path, run_cce: Run
) -> None:
    result = run_cce("index", "src", "--redact", "strict", cwd=project)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"redact   : strict\n" in result.stdout
    assert b"sensitive: 1 not opened (.npmrc)\n" in result.stdout
    assert PASSWORD not in text_of(project)
    assert text_of(project).count(MARK) == 2
    assert text_of(project).endswith(',"redact":"strict"}')
    assert read_store(str(project / "src" / STORE)).redaction is Redaction.STRICT
    assert run_cce("index", "src", cwd=project).returncode == 0
    assert text_of(project).count(PASSWORD) == 2
    assert '"redact"' not in text_of(project)


def test_indexing_by_the_standard_rules_warns_once_of_what_they_leave(project: Path, run_cce: Run) -> None:
    result = run_cce("index", "src", cwd=project)
    assert result.returncode == 0
    assert result.stderr == (
        b"warning: src: the standard rules leave 3 likely secrets in 3 files; "
        b"--redact strict leaves them out\n"
    )
    assert run_cce("index", "src", "--allow-secrets", cwd=project).stderr == b""  # they were asked for
    (project / "src/settings.json").unlink()
    (project / "src/.npmrc").unlink()
    (project / "src/app.py").write_text("token = next_token()\n")
    assert run_cce("index", "src", cwd=project).stderr == b""


def test_drafts_and_pages_warn_and_what_writes_no_text_does_not(project: Path, run_cce: Run) -> None:
    (project / "queries").write_text("connect db\n")
    left = b"the standard rules leave 3 likely secrets in 3 files"
    drafting = "fixtures", "draft", "--from", "queries", "--dir", "src"
    assert left in run_cce(*drafting, cwd=project).stderr
    assert left not in run_cce(*drafting, "--redact", "strict", cwd=project).stderr
    assert left in run_cce("relevance", "set.jsonl", "--report", "html=page.html", cwd=project).stderr
    assert left not in run_cce("relevance", "set.jsonl", cwd=project).stderr
    assert left not in run_cce("relevance", "set.jsonl", "--json", cwd=project).stderr
    accepting = "gate", "gate.toml", "--accept"
    assert left in run_cce(*accepting, "--report", "html=gate.html", cwd=project).stderr
    assert left not in run_cce(*accepting, cwd=project).stderr
    assert PASSWORD in (project / "page.html").read_text(encoding="utf-8")
    strict = "relevance", "set.jsonl", "--report", "html=page.html", "--redact", "strict"
    assert left not in run_cce(*strict, cwd=project).stderr
    page = (project / "page.html").read_text(encoding="utf-8")
    assert f"str = \\u0022{PASSWORD}" not in page
    assert f'str = \\"{PASSWORD}' not in page
    assert MARK in page


def test_a_strict_report_says_so_in_its_head_and_a_standard_one_says_nothing(
    project: Path, run_cce: Run
) -> None:
    standard = run_cce("relevance", "set.jsonl", cwd=project).stdout.decode().splitlines()
    strict = run_cce("relevance", "set.jsonl", "--redact", "strict", cwd=project).stdout.decode().splitlines()
    assert strict[3] == "  redact  : strict"
    assert not [line for line in standard if "redact" in line]
    asked = "relevance", "set.jsonl", "--json"
    assert json.loads(run_cce(*asked, "--redact", "strict", cwd=project).stdout)["redact"] == "strict"
    assert "redact" not in json.loads(run_cce(*asked, "--redact", "standard", cwd=project).stdout)
    for form, sign in (("markdown", b"</code> \xc2\xb7 redact strict"), ("html", b">redact<")):
        for mode, is_told in (("strict", True), ("standard", False)):
            result = run_cce("relevance", "set.jsonl", "--report", f"{form}=-", "--redact", mode, cwd=project)
            assert (sign in result.stdout.split(b"<code>cce")[0].replace(b"\n", b"")) is is_told, (form, mode)


def test_explanations_benchmarks_and_searches_say_strict_too(project: Path, run_cce: Run) -> None:
    strict = "--redact", "strict"
    explained = run_cce("explain", "set.jsonl", "db", "--backend", "bm25", *strict, cwd=project)
    assert b"  redact  : strict\n" in explained.stdout
    told = run_cce("explain", "set.jsonl", "db", "--backend", "bm25", "--json", *strict, cwd=project)
    assert json.loads(told.stdout)["redact"] == "strict"
    timed = run_cce("bench", "--dir", "src", "--repeat", "1", "--backend", "bm25", *strict, cwd=project)
    assert b"  redact  : strict\n" in timed.stdout
    found = run_cce("search", PASSWORD, "--dir", "src", "--backend", "bm25", *strict, cwd=project)
    assert (found.returncode, PASSWORD.encode() in found.stdout) == (0, False)
    assert b"redact: strict\n" in found.stderr
    assert b"redact" not in run_cce("explain", "set.jsonl", "db", "--backend", "bm25", cwd=project).stdout


def test_the_variable_is_the_default_and_an_option_wins(project: Path, run_cce: Run) -> None:
    asked = "relevance", "set.jsonl", "--json"
    strict = {"CCE_REDACT": "strict"}
    assert json.loads(run_cce(*asked, cwd=project, **strict).stdout)["redact"] == "strict"
    assert "redact" not in json.loads(run_cce(*asked, "--redact", "standard", cwd=project, **strict).stdout)
    assert "redact" not in json.loads(run_cce(*asked, cwd=project, CCE_REDACT="").stdout)


@pytest.mark.parametrize(
    "command",
    [
        ("index", "src"),
        ("search", "x", "--dir", "src"),
        ("relevance", "set.jsonl"),
        ("explain", "set.jsonl", "db"),
        ("gate", "gate.toml"),
        ("bench", "--dir", "src"),
        ("fixtures", "lint", "set.jsonl"),
        ("fixtures", "pin", "set.jsonl"),
        ("fixtures", "reanchor", "set.jsonl"),
        ("fixtures", "label", "set.jsonl"),
        ("fixtures", "draft", "--from", "set.jsonl", "--dir", "src"),
    ],
)
def test_every_command_that_reads_a_corpus_refuses_a_wrong_mode_in_one_line(
    command: tuple[str, ...], project: Path, run_cce: Run
) -> None:
    typed = run_cce(*command, "--redact", "strong", cwd=project)
    assert (typed.returncode, typed.stdout) == (2, b"")
    assert typed.stderr == b"error: --redact is 'strong': write standard or strict\n"
    found = run_cce(*command, cwd=project, CCE_REDACT="of\nf")
    assert (found.returncode, found.stdout) == (2, b"")
    assert found.stderr == b"error: CCE_REDACT is 'of\\nf': write standard or strict\n"


def test_secrets_are_not_both_allowed_and_scrubbed(project: Path, run_cce: Run) -> None:
    result = run_cce("index", "src", "--allow-secrets", "--redact", "standard", cwd=project)
    assert result.returncode == 2
    assert result.stderr == b"error: --allow-secrets and --redact exclude each other: leave one out\n"
    allowed = run_cce("index", "src", "--allow-secrets", cwd=project, CCE_REDACT="strict")
    assert allowed.returncode == 0  # the option is nearer than the variable
    assert text_of(project).endswith(',"secrets_allowed":true}')


@pytest.mark.parametrize(
    ("made", "asked"),
    [("standard", "strict"), ("strict", "standard"), ("off", "standard"), ("off", "strict")],
)
def test_a_store_made_otherwise_than_asked_is_refused_with_the_way_out(
    made: str, asked: str, project: Path, run_cce: Run
) -> None:
    making = ("--allow-secrets",) if made == "off" else ("--redact", made)
    assert run_cce("index", "src", *making, cwd=project).returncode == 0
    store = f"src/{STORE}"
    for command in (
        ("relevance", "set.jsonl", "--store", store),
        ("explain", "set.jsonl", "db", "--store", store),
        ("search", "x", "--store", store),
        ("search", "x", "--dir", "src"),  # whose store is found beside it
        ("fixtures", "lint", "set.jsonl", "--store", store),
    ):
        result = run_cce(*command, "--redact", asked, cwd=project)
        assert (result.returncode, result.stdout) == (2, b"")
        told = result.stderr.decode()
        assert f"{store}: this store was made " in told
        assert f"cce index DIR --redact {asked}, or leave out --redact" in told
        assert run_cce(*command, cwd=project).returncode in (0, 1)


def test_without_the_option_a_store_shows_its_own_mode(project: Path, run_cce: Run) -> None:
    assert run_cce("index", "src", "--redact", "strict", cwd=project).returncode == 0
    asked = "relevance", "set.jsonl", "--store", f"src/{STORE}"
    assert b"  redact  : strict\n" in run_cce(*asked, cwd=project).stdout
    assert run_cce(*asked, "--redact", "strict", cwd=project).returncode == 0
    stats = run_cce("stats", "--dir", "src", cwd=project).stdout
    assert b"redact   : strict\n" in stats
    assert b"src matches\n" in stats  # compared by the rules of the store


def test_the_variable_over_a_standard_store_is_a_notice(project: Path, run_cce: Run) -> None:
    assert run_cce("index", "src", cwd=project).returncode == 0
    asked = "relevance", "set.jsonl", "--store", f"src/{STORE}"
    result = run_cce(*asked, cwd=project, CCE_REDACT="strict")
    assert result.returncode == 0
    assert b"this store was made with --redact standard, asked for is strict: index" in result.stderr
    assert b"redact  :" not in result.stdout


def test_a_snapshot_of_one_mode_is_never_read_by_the_other(project: Path, tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"))

    def texts(redaction: Redaction) -> bytes:
        index = index_directory(str(project / "src"), lambda *_: None, redaction=redaction, cache=cache).index
        return b"\n".join(chunk.content for chunk in index.chunks)

    for redaction in (Redaction.STANDARD, Redaction.STRICT) * 2:
        assert (PASSWORD.encode() in texts(redaction)) is (redaction is Redaction.STANDARD)
    names = sorted(entry.name for entry in cache.entries())
    assert len(names) == 2
    standard = next(name for name in names if ".strict." not in name)
    strict = next(name for name in names if ".strict." in name)
    (tmp_path / "cache" / standard).replace(tmp_path / "cache" / strict)  # a renamed one is not believed
    assert PASSWORD.encode() not in texts(Redaction.STRICT)


def test_pins_made_by_the_strict_rules_hold_for_them_and_are_stale_for_the_others(
    project: Path, run_cce: Run
) -> None:
    strict = {"CCE_REDACT": "strict"}
    assert run_cce("fixtures", "pin", "set.jsonl", "--write", cwd=project, **strict).returncode == 0
    assert b"no longer cover" not in run_cce("relevance", "set.jsonl", cwd=project, **strict).stderr
    assert b"2 of 3 pinned anchors no longer cover" in run_cce("relevance", "set.jsonl", cwd=project).stderr
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=project, **strict).returncode == 0
    assert run_cce("fixtures", "lint", "set.jsonl", cwd=project).returncode == 1
    moved = run_cce("fixtures", "reanchor", "set.jsonl", "--redact", "strict", cwd=project)
    assert b"0 of 0 stale anchors" in moved.stderr


def test_a_gate_says_when_its_baseline_went_through_other_rules(project: Path, run_cce: Run) -> None:
    assert run_cce("gate", "gate.toml", "--accept", cwd=project).returncode in (0, 1)
    assert "redact" not in json.loads((project / "baseline.json").read_text())
    result = run_cce("gate", "gate.toml", "--redact", "strict", "--json", cwd=project)
    told = b"baseline.json: was measured with --redact standard, the candidate with strict: a difference may"
    assert told in result.stderr
    assert json.loads(result.stdout)["redact"] == "strict"
    accepting = run_cce("gate", "gate.toml", "--redact", "strict", "--accept", cwd=project)
    assert accepting.returncode in (0, 1)
    assert json.loads((project / "baseline.json").read_text())["redact"] == "strict"
    assert told not in run_cce("gate", "gate.toml", "--redact", "strict", cwd=project).stderr
    assert (
        b"with --redact strict, the candidate with standard"
        in run_cce("gate", "gate.toml", cwd=project).stderr
    )


def test_saved_reports_of_two_modes_are_compared_with_a_notice(project: Path, run_cce: Run) -> None:
    for mode in ("standard", "strict"):
        asked = "relevance", "set.jsonl", "--backend", "bm25", "--json", "--redact", mode
        (project / f"{mode}.json").write_bytes(run_cce(*asked, cwd=project).stdout)
    mixed = run_cce("compare", "standard.json", "strict.json", cwd=project)
    assert mixed.returncode == 0
    assert b"standard.json: was measured with --redact standard, strict.json with strict" in mixed.stderr
    same = run_cce("compare", "strict.json", "strict.json", cwd=project)
    assert (same.returncode, same.stderr) == (0, b"")
    assert b"  redact  : strict\n" in same.stdout


def test_a_list_for_other_implementations_knows_the_standard_rules_only(project: Path, run_cce: Run) -> None:
    asked = "conformance", "src", "-o", "-"
    standard = run_cce(*asked, cwd=project).stdout
    assert run_cce(*asked, cwd=project, CCE_REDACT="strict").stdout == standard
