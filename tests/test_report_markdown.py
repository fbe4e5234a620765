from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from cce.domain.full_report import FullReport
from cce.domain.gate import Level, Reason, Rule
from cce.quoting import one_line
from cce.report.catalog import MARKDOWN_MARK
from cce.report.markdown.comment import MAX_NAME, code, prose, render_markdown
from full_reports import (
    CASES,
    FLOOR,
    HOSTILE,
    MISSED,
    QUICK_EVIDENCE,
    RANKINGS,
    WORSE,
    case,
    full_report,
    gated,
    ranking,
)

GITHUB_LIMIT = 65_000

commonmark = MarkdownIt("commonmark").enable("table")


def tokens(text: str) -> list[Token]:
    return commonmark.parse(text)


def shown(inline: Token) -> str:
    """The text of an inline token as a reader sees it; what is raw HTML gives no text."""
    return "".join(child.content for child in inline.children or [] if child.type != "html_inline")


def tables(text: str) -> list[list[list[str]]]:
    """Tables as rows of cells, the header first."""
    found: list[list[list[str]]] = []
    for token, following in zip(tokens(text), tokens(text)[1:], strict=False):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type in ("th_open", "td_open"):
            found[-1][-1].append(shown(following))
    return found


def headings(text: str) -> list[str]:
    parsed = tokens(text)
    return [shown(parsed[n + 1]) for n, token in enumerate(parsed) if token.type == "heading_open"]


def raw_html(text: str) -> list[str]:
    """Every piece of HTML that the text holds, as Markdown reads it."""
    pieces = []
    for token in tokens(text):
        if token.type == "html_block":
            pieces.append(token.content.strip())
        pieces += [child.content for child in token.children or [] if child.type == "html_inline"]
    return pieces


def many(n: int, query: str = "where") -> FullReport:
    """`n` cases that all fell from rank 1 to none."""
    cases = [case(f"case-{number}", query, line=number) for number in range(1, n + 1)]
    return full_report(cases, {"bm25": (ranking("a.py"),) * n, "hybrid": ((),) * n})


def test_the_verdict_of_a_gate_goes_first_and_its_reasons_follow() -> None:
    text = render_markdown(gated(MISSED, FLOOR, WORSE))
    mark, rest = text.split("\n\n", 1)
    assert mark == MARKDOWN_MARK
    assert rest.startswith("## ❌ GATE: BLOCK\n\nbm25 → hybrid\n\n- ❌ **block:** critical case lost has no")
    parsed = tokens(text)
    items = [shown(parsed[n + 2]) for n, token in enumerate(parsed) if token.type == "list_item_open"]
    assert items[:3] == [
        f"❌ block: {MISSED.text}",
        f"❌ block: {FLOOR.text}",
        f"⚠️ review: {WORSE.text}",
    ]


@pytest.mark.parametrize(
    ("reasons", "heading"),
    [((MISSED, WORSE), "❌ GATE: BLOCK"), ((WORSE,), "⚠️ GATE: REVIEW"), ((), "✅ GATE: GO")],
)
def test_every_outcome_has_its_mark(reasons: tuple[Reason, ...], heading: str) -> None:
    assert headings(render_markdown(gated(*reasons)))[0] == heading


def test_without_a_gate_the_verdicts_of_the_evidence_go_first() -> None:
    # Three cases can give no p below 0.25.
    head = headings(render_markdown(full_report(evidence=QUICK_EVIDENCE)))[0]
    assert head == "⚠️ P@k, recall, MRR and F1 cannot tell"


def test_without_evidence_the_comparison_says_how_to_get_a_verdict() -> None:
    text = render_markdown(full_report())
    assert headings(text)[0] == "📊 bm25 → hybrid"
    assert "no verdict was asked for: --evidence gives one" in text


def test_the_means_stand_beside_their_difference() -> None:
    # MRR: bm25 (1 + 1 + 0) / 3, hybrid (1/2 + 0 + 1) / 3.
    means = tables(render_markdown(full_report()))[0]
    assert means[0] == ["metric", "bm25", "hybrid", "delta", "95% CI", "better", "worse", "tied"]
    assert [row[0] for row in means[1:]] == ["P@k", "recall", "MRR", "F1"]
    assert means[3][1:4] == ["0.666667", "0.500000", "-0.166667"]
    assert means[3][5:] == ["1", "2", "0"]


def test_intervals_of_two_sorts_are_told_apart() -> None:
    told = "95% CI: t with two made-up cases where there is a verdict, paired t elsewhere."
    of_mrr = replace(QUICK_EVIDENCE, metrics=("mrr",))
    assert told in render_markdown(full_report(evidence=of_mrr))
    assert "95% CI:" not in render_markdown(full_report(evidence=QUICK_EVIDENCE)), "all are bootstrap"
    assert "95% CI:" not in render_markdown(full_report()), "all are of the t-test of the report"


def test_a_verdict_is_a_column_once_there_is_evidence() -> None:
    means = tables(render_markdown(full_report(evidence=QUICK_EVIDENCE)))[0]
    assert means[0][-1] == "verdict"
    assert {row[-1] for row in means[1:]} == {"cannot tell"}


def test_without_a_comparison_each_backend_has_a_row() -> None:
    means = tables(render_markdown(full_report(compared=False)))[0]
    assert means[0] == ["backend", "P@k", "recall", "MRR", "F1"]
    assert [row[0] for row in means[1:]] == ["bm25", "hybrid"]
    assert means[2][3] == "0.500000"


def test_cases_that_moved_come_worst_first_with_their_ranks() -> None:
    text = render_markdown(full_report())
    moved = tables(text)[1]
    assert headings(text)[1] == "3 cases moved"
    assert moved[0] == ["case", "query", "Δ P@k", "Δ recall", "Δ MRR", "Δ F1", "first relevant rank"]
    assert [(row[0], row[-1]) for row in moved[1:]] == [
        ("lost", "1 → none"),
        ("both ★", "1 → 2"),
        ("won", "none → 1"),
    ]


def test_cases_that_did_not_move_are_left_out() -> None:
    same = full_report(CASES, {"bm25": RANKINGS["bm25"], "hybrid": RANKINGS["bm25"]})
    text = render_markdown(same)
    assert len(tables(text)) == 1
    assert "moved" not in text


def test_many_moved_cases_are_folded_and_few_are_not() -> None:
    assert headings(render_markdown(many(10)))[1] == "10 cases moved"
    text = render_markdown(many(11))
    assert len(headings(text)) == 1
    assert "<details><summary><b>11 cases moved</b></summary>" in raw_html(text)
    # An empty line on both sides, or the table would be read as HTML.
    assert len(tables(text)[1]) == 12


def test_what_no_backend_found_is_listed_where_nothing_is_compared() -> None:
    empty = full_report(CASES, {"bm25": ((), RANKINGS["bm25"][1], ())}, compared=False)
    text = render_markdown(empty)
    assert headings(text)[1] == "2 cases without a relevant result"
    assert [row[0] for row in tables(text)[1][1:]] == ["both ★", "won"]


def test_slices_have_a_row_per_tag_and_metric() -> None:
    slices = tables(render_markdown(full_report(evidence=QUICK_EVIDENCE)))[2]
    assert slices[0] == ["slice", "metric", "cases", "bm25", "hybrid", "delta", "better", "worse", "tied"]
    assert len(slices) == 1 + 3 * 4
    assert slices[3] == ["kind", "MRR", "1 (too few)", "1.000000", "0.000000", "-1.000000", "0", "1", "0"]
    assert slices[-1][0] == "(untagged)"


def test_it_says_how_to_reproduce() -> None:
    text = render_markdown(full_report())
    fence = next(token for token in tokens(text) if token.type == "fence")
    assert fence.content == "cce relevance eval/code.jsonl --compare bm25,hybrid --evidence\n"
    assert "fixture set <code>eval/code.jsonl</code> · corpus <code>eval/../src</code>" in text


def test_no_word_of_a_command_closes_its_fence() -> None:
    full = full_report(command=("cce", "relevance", "a```\n# b\n````c.jsonl"))
    fences = [token for token in tokens(render_markdown(full)) if token.type == "fence"]
    assert [fence.content for fence in fences] == ["cce relevance 'a```\\n# b\\n````c.jsonl'\n"]


def test_a_hostile_id_and_query_are_text() -> None:
    text = render_markdown(full_report((case(HOSTILE, HOSTILE), *CASES[1:])))
    row = next(row for row in tables(text)[1] if "octocat" in row[0])
    assert row[:2] == [HOSTILE, HOSTILE]
    assert len(row) == 7
    assert set(raw_html(text)) == {MARKDOWN_MARK, "<code>", "</code>"}
    assert "@octocat" not in text
    assert "#123" not in text


def test_hostile_reasons_and_names_are_text() -> None:
    reason = Reason(Level.BLOCK, Rule.CRITICAL_MISSED, f"critical case {HOSTILE}\n# x", case_ids=(HOSTILE,))
    text = render_markdown(gated(reason))
    assert set(raw_html(text)) <= {MARKDOWN_MARK, "<code>", "</code>", "</details>"} | {
        piece for piece in raw_html(text) if piece.startswith("<details><summary><b>")
    }
    # A word joiner keeps what is no code from becoming a mention or a reference.
    assert "@\u2060octocat\\` #\u2060123" in prose_shown(f"{HOSTILE}").replace("`", "\\`")
    assert len(headings(text)) == 2


def prose_shown(text: str) -> str:
    return shown(commonmark.parseInline(prose(text))[0])


@pytest.mark.parametrize("text", ["- a", "1. a", "+ a", "2) b", "= x"])
def test_prose_starts_no_list(text: str) -> None:
    assert tokens(prose(text))[0].type == "paragraph_open"
    assert prose_shown(text) == text


def test_a_metric_is_no_mention_and_no_address() -> None:
    assert prose_shown("P@k nDCG@10") == "P@k nDCG@10"


ADDRESSES = [
    "see www.evil.example now",
    "(WWW.evil.example)",
    "http://evil.example",
    "HTTPS://evil.example/?a=b",
    "ftp://evil.example",
    "a.b+c-d_e@evil-er.example",
    "mailto:who@evil.example",
    "xmpp:who@evil.example/x",
    "a@@b@evil.example.org",
]
# As GFM's extended autolinks have it, of decoded text: wider than cmark-gfm, which reads some in the source.
AUTOLINK = re.compile(r"www\.|[a-z]+://|[\w.+-]+@[\w-]+\.\w", re.IGNORECASE)


def texts_between_tags(markdown: str) -> list[str]:
    """Text as a renderer puts it together, cut only where a tag or a comment stands."""
    inline = commonmark.parseInline(markdown)[0]
    return re.split(
        "\0", "".join("\0" if c.type == "html_inline" else c.content for c in inline.children or [])
    )


@pytest.mark.parametrize("text", ADDRESSES)
def test_no_address_becomes_a_link_neither_in_code_nor_in_prose(text: str) -> None:
    assert AUTOLINK.search(text), "or this test could not fail"
    for markdown in (code(text), prose(text)):
        assert [each for each in texts_between_tags(markdown) if AUTOLINK.search(each)] == []
        assert not re.search(r"www\.|://", markdown, re.IGNORECASE)
    assert shown(commonmark.parseInline(code(text))[0]) == text
    assert prose_shown(text).replace("\u2060", "") == text


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("me/it#12", "#12"),
        ("me/it@16c999e8c71134401a78d4d46435517b2271d6ac", "@16c999e8c71134401a78d4d46435517b2271d6ac"),
        ("in 16c999e8c7 it", "16c999e8c7"),
        ("GH-12", "GH-12"),
        ("GHSA-8hfj-j24r-96c4", "GHSA-8"),
        ("CVE-2021-42574", "CVE-2"),
        ("by @octocat", "@octocat"),
    ],
)
def test_what_github_refers_to_is_no_reference_in_prose(text: str, linked: str) -> None:
    assert linked in text
    assert linked not in prose_shown(text)
    assert prose_shown(text).replace("\u2060", "") == text


def test_ids_queries_and_tags_with_addresses_make_no_links_in_a_comment() -> None:
    bad = " ".join(ADDRESSES)[:150]
    missed = replace(MISSED, text=f"critical case {bad} has no relevant result", case_ids=(bad,))
    text = render_markdown(gated(missed, cases=(case(bad, bad, tags=(bad,)), *CASES[1:])))
    assert text.count("evil") > 10
    assert [each for each in texts_between_tags(text) if AUTOLINK.search(each)] == []


def test_numbers_stay_as_they_are() -> None:
    assert prose("mrr 0.666667 of 1234567 in 2026") == "mrr 0.666667 of 1234567 in 2026"


HUGE = {
    "mentions": "@a.b " * 20_000,
    "mails": "a@b.c " * 20_000,
    "numbers": "#" * 100_000,
    "www": "www." * 25_000,
    "bidi": "\u202e" * 100_000,
}


@pytest.mark.parametrize("huge", HUGE.values(), ids=HUGE)
@pytest.mark.process  # together they take five seconds
def test_the_limit_holds_with_names_of_any_length(huge: str) -> None:
    cases = [case(f"{huge}{n}", huge, line=n, tags=(f"{huge}{n}",)) for n in range(1, 301)]
    full = gated(*[replace(MISSED, text=huge)] * 300)
    rankings = {f"a{huge}": (ranking("a.py"),) * 300, f"b{huge}": ((),) * 300}
    measured = full_report(cases, rankings, evidence=QUICK_EVIDENCE, command=(huge, huge))
    assert full.gate is not None
    report = measured.report._replace(corpus=huge, embedder=huge)
    gate = replace(full.gate, report=report, candidate=report.backends[1])
    for each in (
        measured._replace(report=report, fixtures_path=huge),
        measured._replace(report=report, gate=gate),
    ):
        assert len(render_markdown(each)) < GITHUB_LIMIT


TEXTS = st.text(st.characters(), max_size=40)


@settings(deadline=None, max_examples=300)
@given(TEXTS)
def test_code_reads_as_what_was_written(text: str) -> None:
    inline = commonmark.parseInline(f"x{code(text)}x")[0]
    assert shown(inline) == f"x{one_line(text)}x"


@settings(deadline=None, max_examples=100)
@given(st.lists(TEXTS, min_size=2, max_size=4))
def test_a_row_has_as_many_cells_as_it_was_given(texts: Sequence[str]) -> None:
    row = " | ".join(map(code, texts))
    header = " | ".join("c" for _ in texts)
    ruler = " | ".join("---" for _ in texts)
    found = tables(f"| {header} |\n| {ruler} |\n| {row} |\n")
    assert found[0][1] == [one_line(text) for text in texts]


def test_a_long_id_is_cut() -> None:
    inline = commonmark.parseInline(code("a" * 5000))[0]
    assert shown(inline) == "a" * MAX_NAME + "…"


def test_thousands_of_moved_cases_stay_below_the_limit_and_the_rest_is_counted() -> None:
    text = render_markdown(many(2000, query=HOSTILE * 3))
    assert len(text) < GITHUB_LIMIT
    shown_rows = len(tables(text)[1]) - 1
    cut = re.search(r"… and ([0-9]+) more, cut to keep this comment short\.", text)
    assert cut is not None
    assert shown_rows > 20
    assert shown_rows + int(cut[1]) == 2000


def test_many_tags_are_cut_and_counted() -> None:
    cases = [case(f"case-{n}", line=n, tags=(f"tag {n} {HOSTILE}",)) for n in range(1, 301)]
    rankings = {"bm25": (ranking("a.py"),) * 300, "hybrid": ((),) * 300}
    text = render_markdown(full_report(cases, rankings, evidence=QUICK_EVIDENCE))
    assert len(text) < GITHUB_LIMIT
    assert "more rows, cut to keep this comment short." in text


def test_many_long_reasons_are_cut_and_counted() -> None:
    reasons = [replace(MISSED, text=f"{n} {HOSTILE * 100}") for n in range(500)]
    text = render_markdown(gated(*reasons))
    assert len(text) < GITHUB_LIMIT
    cut = re.search("… and ([0-9]+) more reasons, cut to keep this comment short", text)
    assert cut is not None
    assert text.count("**block:**") + int(cut[1]) == 500


def test_the_limit_holds_when_every_sign_of_every_text_must_be_escaped() -> None:
    sign = "<" * 5000
    cases = [case(f"{sign}{n}", sign, line=n, tags=(f"{sign}{n}",)) for n in range(1, 301)]
    rankings = {f"a{sign}": (ranking("a.py"),) * 300, f"b{sign}": ((),) * 300}
    full = full_report(cases, rankings, evidence=QUICK_EVIDENCE, command=(sign, sign))
    policy = gated().gate
    assert policy is not None
    gate = replace(policy, report=full.report, reasons=(replace(MISSED, text=sign),) * 300)
    assert len(render_markdown(full)) < GITHUB_LIMIT
    assert len(render_markdown(full._replace(gate=gate))) < GITHUB_LIMIT


def test_a_report_without_a_drilldown_renders() -> None:
    text = render_markdown(full_report()._replace(cases=(), fixtures_path=None))
    assert tables(text)[1][0][:2] == ["case", "Δ P@k"], "without queries there is no column for them"
    assert [row[0] for row in tables(text)[1][1:]] == ["lost", "both", "won"]


def test_the_same_report_gives_the_same_text_with_one_final_newline() -> None:
    text = render_markdown(gated(MISSED))
    assert text == render_markdown(gated(MISSED))
    assert text.endswith("```\n")
