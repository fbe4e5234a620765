"""Lint: every finding, its level, its line, and what it tells to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cce.domain.findings import Finding, Lint
from cce.domain.ranking import Chunk
from cce.labels.coverage import AnchoredChunks, ceiling
from cce.labels.giveaways import quoted_file_name
from cce.labels.lint import lint_set
from cce.labels.pinning import pin_set
from cce.labels.revision import Revision
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.texts import AnchoredTexts
from cce.measurement.fixtures.reading import parse_fixture_set, stream_entries
from cce.measurement.reports.reading import read_saved_report
from cce.report.json.findings import render_findings_json
from cce.report.json.report_v2 import render_json as render_report
from cce.report.text.findings import render_findings
from cce.retrieval.corpus.texts import CorpusTexts
from cce.retrieval.indexing.directory import index_directory
from cce.usecases.corpora import CorpusChoice
from cce.usecases.evaluate import Plan, evaluate
from corpora import unwatched

READ = "def read(path):\n    return open(path).read()\n"
WRITE = "def write(path, text):\n    open(path, 'w').write(text)\n"


class Bench:
    """A small corpus: a.py has two functions with three lines between them, the rest is one chunk a file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "src"
        self.set = folder / "set.jsonl"
        (self.root / "docs").mkdir(parents=True)
        self.add("a.py", f"{READ}\n# between\n\n{WRITE}")
        self.add("docs/guide.md", "Nobody reads the guide before the first day of the new year is over.\n")
        for n in range(8):
            self.add(f"docs/page{n}.md", f"Page {n}\n")

    def add(self, path: str, text: str) -> None:
        (self.root / path).write_bytes(text.encode())

    def lint(self, *cases: dict[str, Any], report: str | None = None) -> Lint:
        lines = [
            json.dumps({"query": f"query {n}", "expected": ["a.py"], **case}) for n, case in enumerate(cases)
        ]
        self.set.write_text("".join(f"{line}\n" for line in lines))
        return self.lint_file(report)

    def lint_file(self, report: str | None = None) -> Lint:
        saved = None if report is None else read_saved_report(report)
        indexed = index_directory(str(self.root), unwatched)
        texts = CorpusTexts(str(self.root), indexed.index.positions_by_file)
        return lint_set(str(self.set), stream_entries(str(self.set)), indexed, texts, saved)

    def only(self, code: str, *cases: dict[str, Any]) -> Finding:
        (finding,) = [finding for finding in self.lint(*cases).findings if finding.code == code]
        assert finding.message.isprintable(), "a finding is one line"
        return finding

    def codes(self, *cases: dict[str, Any]) -> list[str]:
        return [f.code for f in self.lint(*cases).findings if f.level != "note"]

    def no_match(self, anchor: str) -> str:
        finding = self.only("no-match", {"expected": [anchor]})
        assert (finding.level, finding.line, finding.anchor) == ("error", 1, anchor)
        return finding.message.removeprefix(f"'{anchor}' matches no chunk: ")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_set_that_fits_its_corpus_has_notes_only(bench: Bench) -> None:
    found = bench.lint({"id": "a", "expected": ["a.py", "a.py#function_definition@1-2"]})
    assert found.count("error") == found.count("warning") == 0
    assert found.n_cases == 1


# Errors


def test_a_missing_file_is_named_with_the_nearest_names(bench: Bench) -> None:
    assert bench.no_match("docs/gude.md").startswith("not there; did you mean 'docs/guide.md'")
    assert bench.no_match("guide.md") == "not there; did you mean 'docs/guide.md'?", "it moved"
    assert bench.no_match("src/gide.md").startswith("not there; did you mean 'docs/guide.md'"), "both"
    assert bench.no_match("zzzzzzzz") == "not there"


def test_a_kind_that_its_file_has_not_is_named_with_those_it_has(bench: Bench) -> None:
    assert bench.no_match("a.py#module") == "no such kind in this file, it has function_definition"
    assert bench.no_match("#function_def") == "no such kind anywhere, did you mean 'function_definition'?"


def test_a_range_past_the_end_and_a_range_between_chunks_are_told_apart(bench: Bench) -> None:
    assert bench.no_match("a.py@8-9") == "the file ends at line 7"
    assert bench.no_match("a.py@4-4") == ("no chunk of this file touches these lines, the nearest is 1-2")
    assert bench.no_match("a.py#function_definition@4-5") == (
        "no 'function_definition' of this file touches these lines, the nearest is 6-7"
    )


def test_a_skipped_file_is_named_with_the_reason(bench: Bench) -> None:
    bench.add(".gitignore", "docs/page0.md\n")
    bench.add(".env", "x=1\n")
    bench.add("log.jsonl", "{}\n")
    (bench.root / "latin.py").write_bytes(b"\xe9\n")
    assert bench.no_match("docs/page0.md") == "ignored"
    assert bench.no_match(".env") == "its name promises secrets"
    assert bench.no_match("log.jsonl") == "a .jsonl file"
    assert bench.no_match("latin.py") == "not UTF-8"


def test_an_id_used_again_is_an_error_on_each_later_line(bench: Bench) -> None:
    found = bench.lint({"id": "x"}, {"id": "y"}, {"id": "x"}, {"id": "x"})
    repeated = [finding for finding in found.findings if finding.code == "repeated-id"]
    assert [(finding.level, finding.line) for finding in repeated] == [("error", 3), ("error", 4)]
    assert repeated[0].message == "the id is that of line 1, give each case its own"


def test_a_place_that_is_relevant_and_irrelevant(bench: Bench) -> None:
    case = {"expected": ["a.py@1-2"], "irrelevant": ["docs/guide.md", "a.py@01-2"]}
    finding = bench.only("contradiction", case)
    assert (finding.level, finding.line, finding.anchor) == ("error", 1, "a.py@01-2")
    assert finding.message == (
        "'a.py@01-2' stands in expected and in irrelevant, and counts as relevant: remove it from one"
    )


def test_an_anchor_twice_in_a_case_is_an_error_however_it_is_spelled(bench: Bench) -> None:
    finding = bench.only("repeated-anchor", {"expected": ["a.py@1-2", "#module", "a.py@01-2"]})
    assert (finding.level, finding.anchor) == ("error", "a.py@1-2")
    assert "stands 2 times in expected and counts as often" in finding.message


def test_a_query_without_a_token_is_an_error(bench: Bench) -> None:
    assert bench.only("wordless-query", {"query": "—?"}).level == "error"


def test_a_pinned_text_that_moved_changed_or_vanished_is_an_error(bench: Bench) -> None:
    bench.lint({"expected": ["a.py@1-2", "a.py@6-7", "docs/guide.md"]})
    revision = Revision(str(bench.set))
    pin_set(
        parse_fixture_set(revision.raw, revision.path),
        revision,
        LineTable(AnchoredTexts(CorpusTexts(str(bench.root)))),
    )
    revision.write()
    assert [finding.code for finding in bench.lint_file().findings if finding.level == "error"] == []
    bench.add("a.py", "import os\n\n" + READ)
    bench.add("docs/guide.md", "New.\n")
    stale = [finding for finding in bench.lint_file().findings if finding.code == "stale-pin"]
    assert [(finding.level, finding.message) for finding in stale] == [
        ("error", "'a.py@1-2' is pinned, but its text moved to 'a.py@3-4'"),
        ("error", "'a.py@6-7' is pinned, but its text vanished"),
        ("error", "'docs/guide.md' is pinned, but its text changed"),
    ]


# Warnings


def test_an_anchor_that_matches_over_a_quarter_of_all_chunks_is_a_warning(bench: Bench) -> None:
    # Eleven chunks: two functions and nine pages.
    finding = bench.only("broad-anchor", {"expected": ["#module", "#function_definition"]})
    assert (finding.level, finding.anchor) == ("warning", "#module")
    assert "matches 9 of 11 chunks" in finding.message


def test_exactly_a_quarter_is_not_over_a_quarter(bench: Bench) -> None:
    bench.add("docs/page8.md", "Page 8\n")
    assert bench.codes({"expected": ["#function_definition"]}) == []  # 2 of 12
    bench.add("b.py", READ)
    for name in ("page1.md", "page2.md", "page3.md"):
        (bench.root / "docs" / name).unlink()
    assert bench.codes({"expected": ["#function_definition"]}) == ["broad-anchor"]  # 3 of 10
    for n in range(9, 11):
        bench.add(f"docs/page{n}.md", f"Page {n}\n")
    assert bench.codes({"expected": ["#function_definition"]}) == []  # 3 of 12


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("open a.py please", "a.py"),
        ("the Guide.MD page", "guide.md"),
        ("see docs/guide.md", "guide.md"),
        ("data.pyx", None),
        ("extra.py", None),
        ("guide", None),
    ],
)
def test_a_query_that_holds_its_files_name_gives_the_answer_away(
    bench: Bench, query: str, name: str | None
) -> None:
    case = {"query": query, "expected": ["a.py", "docs/guide.md"]}
    assert bench.codes(case) == ([] if name is None else ["giveaway"])
    if name is not None:
        assert f"holds the file name '{name}'" in bench.only("giveaway", case).message


def test_a_query_that_holds_eight_words_of_its_answer_gives_it_away(bench: Bench) -> None:
    eight = "nobody READS the guide, before the first day"
    finding = bench.only("giveaway", {"query": f"{eight} comes", "expected": ["docs/guide.md"]})
    assert finding.level == "warning"
    assert "'nobody reads the guide before the first day' in 'docs/guide.md'" in finding.message
    assert bench.codes({"query": eight.removesuffix(" day"), "expected": ["docs/guide.md"]}) == []
    assert bench.codes({"query": eight, "expected": ["a.py"]}) == [], "only its own answer counts"


def test_a_quotation_is_found_among_very_many_matched_chunks(bench: Bench) -> None:
    for n in range(100):
        bench.add(f"docs/more{n}.md", f"first second third fourth fifth sixth seventh eighth{n}\n")
    query = "where is first second third fourth fifth sixth seventh eighth42"
    finding = bench.only("giveaway", {"query": query, "expected": ["#module"]})
    assert "'docs/more42.md'" in finding.message


def test_a_very_long_query_is_checked_too(bench: Bench) -> None:
    query = " ".join(f"w{n}" for n in range(500)) + " nobody reads the guide before the first day"
    assert bench.codes({"query": query, "expected": ["docs/guide.md"]}) == ["giveaway"]


def test_two_queries_with_the_same_tokens_are_a_warning_on_the_second(bench: Bench) -> None:
    found = bench.lint({"query": "parse the config"}, {"query": "x"}, {"query": "Config: parse, the!"})
    (finding,) = [finding for finding in found.findings if finding.code == "same-query"]
    assert (finding.level, finding.line) == ("warning", 3)
    assert "same tokens as that of line 1" in finding.message


def test_a_repeated_word_makes_another_query(bench: Bench) -> None:
    assert bench.codes({"query": "error handling"}, {"query": "error error handling"}) == []


def test_queries_without_tokens_are_not_the_same_query(bench: Bench) -> None:
    assert "same-query" not in bench.codes({"query": "—"}, {"query": "?"})


def test_a_pin_whose_anchor_is_not_expected_is_a_warning(bench: Bench) -> None:
    finding = bench.only("leftover-pin", {"pins": {"b.py": "0" * 16}})
    assert finding.level == "warning"
    assert "'b.py'" in finding.message


# Notes


def test_the_ceiling_counts_places_against_k(bench: Bench) -> None:
    # One chunk at k = 5 fills a fifth of the results; recall can be 1, F1 2 * 0.2 / 1.2.
    found = bench.lint({"expected": ["a.py@1-2"], "k": 5}, {"k": 2})
    (finding,) = [finding for finding in found.findings if finding.code == "ceiling" and finding.line]
    assert (finding.level, finding.line) == ("note", 1)
    assert finding.message == "no ranking can reach more than P@5 0.200000, F1 0.333333"


def test_a_mean_ceiling_covers_the_whole_set(bench: Bench) -> None:
    found = bench.lint({"expected": ["a.py@1-2"], "k": 5}, {"expected": ["a.py"], "k": 2})
    whole = [finding for finding in found.findings if finding.line is None]
    assert whole[0].message == "no ranking can reach a mean of more than P@k 0.600000, F1 0.666667"


def chunks_at(*spans: tuple[int, int]) -> AnchoredChunks:
    return AnchoredChunks([Chunk("", "a.py", a, b, "function", "f", "python", b"", 1) for a, b in spans])


def ceiling_of(chunks: AnchoredChunks, k: int, *expected: str) -> tuple[float, ...]:
    line = json.dumps({"query": "x", "expected": expected, "k": k})
    (case,) = parse_fixture_set(line.encode(), "p").cases
    return tuple(ceiling(case, [chunks.matched(anchor) for anchor in case.anchors]))


def test_more_anchored_places_than_k_lower_the_recall() -> None:
    chunks = chunks_at((1, 2), (3, 4), (5, 6))
    anchors = ["a.py@1-2", "a.py@3-4", "a.py@5-6"]
    assert ceiling_of(chunks, 3, *anchors) == (1.0, 1.0, 1.0)
    assert ceiling_of(chunks, 2, *anchors) == (1.0, 2 / 3, 0.8)


def test_one_chunk_may_answer_two_anchors() -> None:
    assert ceiling_of(chunks_at((1, 9)), 1, "a.py@1-2", "a.py@5-6") == (1.0, 1.0, 1.0)


def test_an_anchor_without_a_chunk_lowers_the_recall_and_none_at_all_is_zero() -> None:
    assert ceiling_of(chunks_at((1, 9)), 1, "a.py", "b.py")[:2] == (1.0, 0.5)
    assert ceiling_of(chunks_at((1, 9)), 1, "b.py") == (0.0, 0.0, 0.0)


def test_chunks_of_a_file_that_nest_are_all_matched() -> None:
    chunks = chunks_at((1, 100), (10, 20), (15, 16), (30, 40))
    (case,) = parse_fixture_set(b'{"query":"x","expected":["a.py@16-29"]}', "p").cases
    assert chunks.matched(case.anchors[0]).tolist() == [0, 1, 2]


def test_lines_of_six_hundred_digits_match_nothing_and_break_nothing() -> None:
    line = b'{"query":"x","expected":["a.py@%s-%s","a.py@1-%s"]}' % ((b"9" * 600,) * 3)
    (case,) = parse_fixture_set(line, "p").cases
    chunks = chunks_at((1, 2), (3, 4))
    assert [len(chunks.matched(anchor)) for anchor in case.anchors] == [0, 2]


def test_what_the_set_can_detect_follows_from_its_number_of_cases(bench: Bench) -> None:
    # n = 10: 1.00 sd, which at sd 0.25 is a quarter.
    found = bench.lint(*({} for _ in range(10)))
    assert found.findings[-1].message.startswith(
        "minimum detectable effect of 10 cases at 80% power: a mean difference of 0.249"
    )
    assert "one case can detect no difference" in bench.lint({}).findings[-1].message


def test_a_report_shows_the_spread_that_was_measured(bench: Bench, tmp_path: Path) -> None:
    cases = [{"query": "read path", "expected": ["a.py"]}, {"query": "page", "expected": ["docs/guide.md"]}]
    bench.lint(*cases)
    corpus = CorpusChoice(str(bench.root))
    plan = Plan(str(bench.set), ("bm25", "vector"), is_comparison=False, corpus=corpus)
    report = tmp_path / "report.json"
    report.write_text(render_report(evaluate(plan, unwatched).report))
    message = bench.lint(*cases, report=str(report)).findings[-1].message
    assert message.startswith(
        f"minimum detectable effects of 2 cases between bm25 and vector in {report}: precision_at_k "
    )
    assert message.count("(sd 0.") == 4


# Streams and forms


def test_cases_are_checked_as_they_come_and_none_is_kept(bench: Bench) -> None:
    alive: list[int] = []

    def entries() -> Iterator[Any]:
        for n in range(3):
            (case,) = parse_fixture_set(b'{"query":"q%d","expected":["a.py"],"id":"%d"}' % (n, n), "p").cases
            alive.append(n)
            yield b"", case

    indexed = index_directory(str(bench.root), unwatched)
    assert lint_set("p", entries(), indexed, CorpusTexts(str(bench.root)), None).n_cases == 3
    assert alive == [0, 1, 2]


FOUND = Lint(
    "set.jsonl",
    2,
    (
        Finding("error", "no-match", 2, "one", "first", "a.py"),
        Finding("note", "ceiling", 2, "one", "second"),
        Finding("warning", "giveaway", 5, "tw\no", "third"),
        Finding("note", "sensitivity", None, None, "fourth"),
    ),
)


def test_the_text_is_grouped_by_case_with_line_numbers() -> None:
    assert render_findings(FOUND) == (
        "set.jsonl:2: one\n  error    first\n  note     second\n\n"
        "set.jsonl:5: tw\\no\n  warning  third\n\n"
        "set.jsonl\n  note     fourth\n\n"
        "1 error, 1 warning, 2 notes in 2 cases\n"
    )


def test_a_level_hides_what_is_below_it_but_not_its_number() -> None:
    assert render_findings(FOUND, "error") == (
        "set.jsonl:2: one\n  error    first\n\n1 error, 1 warning, 2 notes in 2 cases\n"
    )


def test_the_json_has_every_finding_and_the_counts() -> None:
    report = json.loads(render_findings_json(FOUND))
    assert {key: report[key] for key in ("schema", "fixtures", "cases", "errors", "warnings", "notes")} == {
        "schema": "cce.lint/v1",
        "fixtures": "set.jsonl",
        "cases": 2,
        "errors": 1,
        "warnings": 1,
        "notes": 2,
    }
    assert report["findings"][0] == {
        "anchor": "a.py",
        "case": "one",
        "code": "no-match",
        "level": "error",
        "line": 2,
        "message": "first",
    }
    assert [finding["line"] for finding in report["findings"]] == [2, 2, 5, None]


def test_a_name_without_a_path_is_no_file_name() -> None:
    assert (
        quoted_file_name(
            "anything", parse_fixture_set(b'{"query":"x","expected":["#k"]}', "p").cases[0].anchors
        )
        is None
    )
