from __future__ import annotations

import json
import math

import pytest

from cce.domain.comparison import Comparison, Difference, PairedTest
from cce.domain.report import Report
from cce.domain.scores import METRICS, BackendScore
from cce.measurement.matching.matches import TokenScore
from cce.report.json.report_v2 import render_json
from score_rows import Row, score_with_means


def case(name: str = "q1", rank: int | None = 2, tokens: TokenScore | None = None) -> Row:
    return Row(name, 5, 1 / 128, 0.25, 0.5, 0.125, rank, tokens)


def backend(*cases: Row, tokens: TokenScore | None = None) -> BackendScore:
    return score_with_means("bm25", cases, (16 / 35, 1.0, 19 / 21, 57 / 98), tokens)


def report(
    *backends: BackendScore, corpus: str = "eval/corpus", comparison: Comparison | None = None
) -> Report:
    return Report(corpus, "hash", 1, backends, comparison)


def test_a_small_report_is_spelled_to_the_byte() -> None:
    assert (
        render_json(report(backend(case())))
        == """\
{
  "backends": [
    {
      "backend": "bm25",
      "f1": "0.581633",
      "mrr": "0.904762",
      "per_query": [
        {
          "f1": "0.125000",
          "first_relevant_rank": 2,
          "id": "q1",
          "k": 5,
          "mrr": "0.500000",
          "precision_at_k": "0.007813",
          "recall": "0.250000"
        }
      ],
      "precision_at_k": "0.457143",
      "recall": "1.000000"
    }
  ],
  "corpus": "eval/corpus",
  "embedder": "hash",
  "queries": 1,
  "schema": "cce.relevance.report/v2"
}
"""
    )


def test_a_case_without_a_relevant_hit_has_a_null_rank() -> None:
    assert '\n          "first_relevant_rank": null,\n' in render_json(report(backend(case(rank=None))))


def test_ranged_cases_carry_token_figures_and_the_backend_counts_them() -> None:
    scored = backend(case(), case("q2", tokens=TokenScore(0.5, 1.0, 0.25)), tokens=TokenScore(0.5, 1.0, 0.25))
    (row,) = json.loads(render_json(report(scored)))["backends"]
    figures = {"iou": "0.250000", "precision": "0.500000", "recall": "1.000000"}
    assert row["tokens"] == {**figures, "queries": 1}
    assert row["per_query"][1]["tokens"] == figures
    assert "tokens" not in row["per_query"][0]


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        (
            PairedTest(7, 1 / 42, 1.0, 0.355918, -0.034450, 0.082069),
            {
                "ci95_high": "+0.082069",
                "ci95_low": "-0.034450",
                "mean_delta": "+0.023810",
                "n": 7,
                "p": "0.355918",
                "t": "+1.000000",
            },
        ),
        (
            PairedTest(2, -0.2, None, 0.0, -0.2, -0.2),
            {
                "ci95_high": "-0.200000",
                "ci95_low": "-0.200000",
                "mean_delta": "-0.200000",
                "n": 2,
                "p": "0.000000",
                "t": None,
            },
        ),
        (
            PairedTest(1, 0.0, None, None, None, None),
            {"ci95_high": None, "ci95_low": None, "mean_delta": "+0.000000", "n": 1, "p": None, "t": None},
        ),
    ],
)
def test_a_comparison_signs_everything_but_p(test: PairedTest, expected: dict[str, object]) -> None:
    differences = tuple(Difference(metric, (0.0,), 0.0, test) for metric in METRICS)
    compared = Comparison(backend(case()), backend(case()), differences)
    fields = json.loads(render_json(report(backend(case()), comparison=compared)))["compare"]
    assert (fields["a"], fields["b"]) == ("bm25", "bm25")
    assert fields["metrics"] == dict.fromkeys(["f1", "mrr", "precision_at_k", "recall"], expected)
    assert list(fields["metrics"]) == ["f1", "mrr", "precision_at_k", "recall"]


def test_text_outside_ascii_stays_as_it_is() -> None:
    assert '"corpus": "größe/日本/👩‍💻"' in render_json(report(backend(case()), corpus="größe/日本/👩‍💻"))


def test_control_characters_survive_the_round_trip() -> None:
    name = 'a\nb\x1b\u2028"\\'
    (row,) = json.loads(render_json(report(backend(case(name)))))["backends"]
    assert row["per_query"][0]["id"] == name


def test_a_path_that_is_not_utf8_still_gives_valid_json() -> None:
    text = render_json(report(backend(case()), corpus="caf\udce9"))
    assert '"corpus": "caf\\udce9"' in text
    assert json.loads(text.encode("utf-8"))["corpus"] == "caf\udce9"


def test_a_figure_that_is_not_a_number_is_refused() -> None:
    broken = Row("q1", 5, math.nan, 0.0, 0.0, 0.0, None, None)
    with pytest.raises(ValueError, match="nan has no text form"):
        render_json(report(backend(broken)))


def test_keys_are_sorted_at_every_level_and_no_line_ends_in_a_blank() -> None:
    text = render_json(
        report(backend(case(tokens=TokenScore(0.5, 0.5, 0.5)), tokens=TokenScore(0.5, 0.5, 0.5)))
    )
    assert json.dumps(json.loads(text), ensure_ascii=False, indent=2, sort_keys=True) + "\n" == text
    assert all(line == line.rstrip() for line in text.split("\n"))
