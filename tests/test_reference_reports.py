"""Reports of another implementation, rebuilt from their per-case counts: means, tests and layout.

A printed figure has six decimals, but the counts behind it are whole numbers: hits of k, anchors of
all anchors, a rank. From those the exact figures come back, and everything above them is ours.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cce.domain.report import Report
from cce.domain.scores import TOKEN_METRICS, BackendScore
from cce.measurement.evidence.comparison import compare
from cce.measurement.matching.matches import TokenScore
from cce.measurement.metrics.ranked import harmonic_mean
from cce.report.json.report_v2 import render_json
from cce.report.text.report import render_text
from oracle import Oracle
from score_rows import Row, score_of

NAMES = ("express", "flask", "psutil", "requests", "ruby-sinatra", "rxjs", "serde_derive")


def anchor_counts(oracle: Oracle, name: str) -> dict[str, int]:
    text = (oracle.folder / "sets" / f"{name}.jsonl").read_text("utf-8")
    rows = (json.loads(line) for line in text.split("\n") if line)
    return {row["id"]: len(row["expected"]) for row in rows if "query" in row}


def tokens_of(row: dict[str, Any]) -> TokenScore | None:
    if "tokens" not in row:
        return None
    return TokenScore(*(float(row["tokens"][key]) for key in ("precision", "recall", "iou")))


def case_of(row: dict[str, Any], n_anchors: int) -> Row:
    k, rank = row["k"], row["first_relevant_rank"]
    precision = round(float(row["precision_at_k"]) * k) / k
    recall = round(float(row["recall"]) * n_anchors) / n_anchors
    mrr = 1.0 / rank if rank else 0.0
    return Row(row["id"], k, precision, recall, mrr, harmonic_mean(precision, recall), rank, tokens_of(row))


def backend_of(row: dict[str, Any], counts: dict[str, int]) -> BackendScore:
    score = score_of(row["backend"], [case_of(each, counts[each["id"]]) for each in row["per_query"]])
    # Lines have no counts to rebuild from: six decimals are all there is of the token figures.
    tokens = dict(zip(TOKEN_METRICS, tokens_of(row) or (), strict=False))
    return score._replace(means={**score.means, **tokens})


def rebuilt(oracle: Oracle, name: str, a: str, b: str) -> Report:
    fields = json.loads((oracle.folder / "reports" / f"{name}.json").read_text("utf-8"))
    counts = anchor_counts(oracle, name)
    scores = {row["backend"]: backend_of(row, counts) for row in fields["backends"]}
    backends = (scores[a], scores[b])
    return Report(fields["corpus"], fields["embedder"], fields["queries"], backends, compare(*backends))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_report_comes_back_to_the_byte(oracle: Oracle, name: str) -> None:
    text = render_text(rebuilt(oracle, name, "vector", "bm25"))
    assert text.encode() == oracle.read(f"reports/{name}.vector-bm25.txt")


@pytest.mark.parametrize("name", NAMES)
def test_the_json_report_comes_back_to_the_byte(oracle: Oracle, name: str) -> None:
    text = render_json(rebuilt(oracle, name, "bm25", "hybrid"))
    assert text.encode() == oracle.read(f"reports/{name}.bm25-hybrid.json")
