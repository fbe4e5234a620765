from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.gate import Level, Rule
from cce.report.ci.github import command, render_github
from cce.work_tree import path_in_work_tree
from full_reports import CASES, FLOOR, MISSED, WORSE, case, full_report, gated

RECALL = replace(MISSED, rule=Rule.CRITICAL_RECALL, text="recall of critical case lost fell")


def test_a_blocking_case_is_an_error_on_its_line_of_the_set() -> None:
    assert render_github(gated(MISSED)) == (
        "::error title=GATE%3A BLOCK (critical-missed),file=eval/code.jsonl,line=3::"
        "critical case lost has no relevant result in its top 2\n"
        "::notice title=cce relevance::GATE: BLOCK — bm25 → hybrid\n"
    )


def test_what_is_about_the_whole_set_names_the_file_alone_and_comes_first() -> None:
    lines = render_github(gated(MISSED, FLOOR)).splitlines()
    assert lines[0] == (
        "::error title=GATE%3A BLOCK (floor),file=eval/code.jsonl::"
        "recall 0.666667 is below its floor 0.900000"
    )
    assert ",line=3::" in lines[1]
    assert len(lines) == 3


def test_cases_come_in_the_order_of_the_reasons() -> None:
    # Ten errors a step are shown: what the gate tells first must be among them.
    lines = render_github(
        gated(replace(MISSED, case_ids=("won",)), replace(RECALL, case_ids=("both", "won")))
    )
    assert [line.split(",line=")[1].split("::")[0] for line in lines.splitlines()[:-1]] == ["5", "2"]


def test_a_case_with_two_reasons_has_one_annotation_of_two_lines() -> None:
    first = render_github(gated(MISSED, replace(RECALL, case_ids=("lost",)))).splitlines()[0]
    assert first.endswith(f"::{MISSED.text}%0A{RECALL.text}")


@pytest.mark.parametrize("rule", [Rule.FLOOR, Rule.DROP, Rule.REGRESSED])
def test_a_broken_mean_has_one_annotation_however_many_cases_are_below(rule: Rule) -> None:
    cases = [case(f"case-{n}", line=n + 1) for n in range(1, 31)]
    broken = replace(FLOOR, rule=rule, case_ids=tuple(each.id for each in cases))
    full = gated(broken, replace(MISSED, case_ids=("case-7",)), cases=CASES)
    assert full.gate is not None
    fixtures = full.gate.fixtures._replace(cases=(*full.gate.fixtures.cases, *cases))
    lines = render_github(full._replace(gate=replace(full.gate, fixtures=fixtures))).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith(f"::error title=GATE%3A BLOCK ({rule}),file=eval/code.jsonl::")
    assert ",line=8::critical case" in lines[1]


def test_a_path_starts_where_the_repository_does() -> None:
    full = gated(MISSED, FLOOR)._replace(fixtures_in_git="service/eval/code.jsonl")
    assert render_github(full).count(",file=service/eval/code.jsonl") == 2


@pytest.mark.parametrize("marker", ["folder", "file"])
def test_the_root_of_a_clone_or_of_a_worktree_is_found_from_anywhere_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    root = tmp_path / "clone"
    (root / "service" / "eval").mkdir(parents=True)
    (root / ".git").mkdir() if marker == "folder" else (root / ".git").write_text("gitdir: ../x\n", "utf-8")
    monkeypatch.chdir(root / "service")
    assert path_in_work_tree("eval/../eval/code.jsonl") == "service/eval/code.jsonl"
    assert path_in_work_tree(str(root / "service" / "a.jsonl")) == "service/a.jsonl"
    assert path_in_work_tree("../b.jsonl") == "b.jsonl"
    assert path_in_work_tree("../../c.jsonl") is None, "beside the clone"


def test_texts_of_any_length_make_short_annotations() -> None:
    huge = "x%" * 50_000
    reason = replace(MISSED, text=huge)
    lines = render_github(
        gated(reason, replace(FLOOR, text=huge))._replace(fixtures_in_git=huge)
    ).splitlines()
    assert [len(line) < 6_000 for line in lines] == [True, True, True]


def test_an_id_used_twice_is_annotated_twice() -> None:
    cases = (CASES[0], CASES[1], case("lost", "again", line=9))
    lines = render_github(gated(MISSED, cases=cases)).splitlines()
    assert [",line=3::" in lines[0], ",line=9::" in lines[1]] == [True, True]


def test_what_is_only_to_review_is_no_error() -> None:
    assert render_github(gated(WORSE)) == (
        "::warning title=GATE%3A REVIEW (more-worse),file=eval/code.jsonl::"
        "mrr worse for 2 cases, better for 1\n"
        "::notice title=cce relevance::GATE: REVIEW — bm25 → hybrid\n"
    )
    assert WORSE.level is Level.REVIEW


def test_what_a_strict_gate_refuses_is_an_error() -> None:
    full = gated(WORSE)
    assert full.gate is not None
    lines = render_github(full._replace(gate=replace(full.gate, is_strict=True))).splitlines()
    assert lines[0] == (
        "::error title=GATE%3A REVIEW (more-worse),file=eval/code.jsonl::mrr worse for 2 cases, better for 1"
    )
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::notice"]


def test_without_a_gate_there_is_a_notice_of_what_was_measured() -> None:
    text = render_github(full_report(compared=False))
    assert text == "::notice title=cce relevance::bm25 and hybrid on 3 queries\n"


def test_signs_are_escaped_as_github_asks() -> None:
    text = command("error", {"title": "a,b:c%d\r\n", "file": "x,y.jsonl"}, "50%, a:b\r\nnext")
    assert text == "::error title=a%2Cb%3Ac%25d%0D%0A,file=x%2Cy.jsonl::50%25, a:b%0D%0Anext"


def test_what_does_not_print_is_spelled_out() -> None:
    assert command("error", {}, "\x1b[31m\ud800") == "::error ::\\x1b[31m\\ud800"


@settings(deadline=None, max_examples=100)
@given(st.text(st.characters()), st.text(st.characters()))
def test_a_command_is_one_line_whatever_the_text(title: str, text: str) -> None:
    line = command("error", {"title": title, "file": "f"}, text)
    assert len(line.splitlines()) == 1
    told, _, _ = line.removeprefix("::error title=").partition("::")
    assert told.count(",") == 1
    assert told.count(":") == 0
