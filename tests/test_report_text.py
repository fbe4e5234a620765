from __future__ import annotations

import pytest

from cce.domain.comparison import Comparison, Difference, PairedTest
from cce.domain.report import Report
from cce.domain.scores import METRICS, BackendScore
from cce.measurement.matching.matches import TokenScore
from cce.report.text.report import render_text
from score_rows import Row, score_with_means

HEADING = """\
CCE relevance — ranking quality vs labeled fixtures (cce.relevance/v1)
  corpus  : eval/corpus
  embedder: hash
  queries : 2

  backend            P@k      recall         MRR          F1
"""


def case(name: str, tokens: TokenScore | None = None) -> Row:
    return Row(name, 10, 0.5, 0.5, 0.5, 0.5, 2, tokens)


def backend(name: str, *cases: Row, tokens: TokenScore | None = None) -> BackendScore:
    return score_with_means(name, cases, (16 / 35, 1.0, 19 / 21, 1 / 128), tokens)


def report(
    *backends: BackendScore, comparison: Comparison | None = None, corpus: str = "eval/corpus"
) -> Report:
    return Report(corpus, "hash", 2, backends, comparison)


def comparison(test: PairedTest, *names: str) -> Comparison:
    cases = tuple(case(name) for name in names)
    deltas = (-1 / 128, *(0.0 for _ in names[1:]))
    differences = tuple(Difference(metric, deltas, 1 / 42, test) for metric in METRICS)
    return Comparison(backend("bm25", *cases), backend("hybrid", *cases), differences)


DEFINED = PairedTest(2, 1 / 42, 1.0, 0.355918, -0.034450, 0.082069)
CONSTANT = PairedTest(2, -0.2, None, 0.0, -0.2, -0.2)
LONELY = PairedTest(1, 0.5, None, None, None, None)


def test_a_report_lists_its_backends_in_order() -> None:
    row = "0.457143    1.000000    0.904762    0.007813\n"
    expected = f"{HEADING}  vector        {row}  bm25          {row}"
    assert render_text(report(backend("vector"), backend("bm25"))) == expected


def test_ranged_cases_add_a_table_of_token_figures() -> None:
    tokens = TokenScore(5 / 17, 1.0, 0.25)
    scored = backend("bm25", case("q1", tokens), tokens=tokens)
    assert (
        render_text(report(scored)).split("\n", 7)[7]
        == """\

  token-level span metrics (1 of 2 queries carry ranged anchors)
  backend          tok-P  tok-recall     tok-IoU
  bm25          0.294118    1.000000    0.250000
"""
    )


def test_a_comparison_adds_deltas_and_significance() -> None:
    compared = comparison(DEFINED, "code-read-config", "docs")
    text = render_text(report(compared.a, compared.b, comparison=compared))
    assert (
        text.split("\n", 8)[8]
        == """\

  per-query deltas (bm25 → hybrid; positive = hybrid wins)
  query                           dP@k     drecall        dMRR         dF1
  code-read-config           -0.007813   -0.007813   -0.007813   -0.007813
  docs                       +0.000000   +0.000000   +0.000000   +0.000000
  mean                       +0.023810   +0.023810   +0.023810   +0.023810

  paired t-test on the per-query deltas (two-sided, n=2, df=1)
  metric        mean-delta           t           p                    95% CI
  P@k            +0.023810   +1.000000    0.355918    [-0.034450, +0.082069]
  recall         +0.023810   +1.000000    0.355918    [-0.034450, +0.082069]
  MRR            +0.023810   +1.000000    0.355918    [-0.034450, +0.082069]
  F1             +0.023810   +1.000000    0.355918    [-0.034450, +0.082069]
"""
    )


@pytest.mark.parametrize(
    ("test", "row"),
    [
        (CONSTANT, "  F1             -0.200000         n/a    0.000000    [-0.200000, -0.200000]\n"),
        (LONELY, "  F1             +0.500000         n/a         n/a                       n/a\n"),
    ],
)
def test_an_undefined_statistic_prints_as_not_available(test: PairedTest, row: str) -> None:
    assert render_text(report(backend("bm25"), comparison=comparison(test, "x"))).endswith(row)


def test_a_single_case_has_no_degrees_of_freedom() -> None:
    assert "(two-sided, n=1, df=0)\n" in render_text(
        report(backend("bm25"), comparison=comparison(LONELY, "x"))
    )


def test_a_name_longer_than_its_column_pushes_the_rest() -> None:
    long = "014-parseExtendedQueryString"
    text = render_text(report(backend("bm25-okapi-plus"), comparison=comparison(DEFINED, long)))
    assert "\n  bm25-okapi-plus    0.457143    1.000000" in text
    assert f"\n  {long}   -0.007813   -0.007813" in text


def test_widths_count_characters_not_bytes() -> None:
    text = render_text(report(backend("bm25"), comparison=comparison(DEFINED, "größe-日本", "x" * 8)))
    assert f"\n  größe-日本{' ' * 16}   -0.007813" in text
    assert f"\n  xxxxxxxx{' ' * 16}   +0.000000" in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", r"a\nb"),
        ("a\r\tb", r"a\r\tb"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\u2028b\x85", r"a\u2028b\x85"),
        ("a\udcffb", r"a\udcffb"),
        ("a\\nb", r"a\nb"),  # a backslash is ordinary text: Windows paths are full of them
        ("a👩‍💻b", "a👩‍💻b"),
    ],
)
def test_a_name_never_breaks_its_line(name: str, shown: str) -> None:
    text = render_text(report(backend("bm25"), comparison=comparison(DEFINED, name), corpus=name))
    assert f"\n  corpus  : {shown}\n" in text
    assert f"\n  {shown:<24}   -0.007813" in text
    assert text.encode("utf-8").count(b"\n") == 19


def test_the_text_ends_with_one_newline_and_no_line_with_a_blank() -> None:
    text = render_text(report(backend("bm25"), comparison=comparison(DEFINED, "x")))
    assert text.endswith("]\n")
    assert all(line == line.rstrip() for line in text.split("\n"))
