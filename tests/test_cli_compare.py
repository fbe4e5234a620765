from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.cli.main import main
from cce.domain.report import Report
from cce.domain.scores import BackendScore
from cce.measurement.matching.matches import TokenScore
from cce.measurement.reports.model import ReportModel
from cce.measurement.reports.pairing import pair_cases
from cce.numerals import format_signed, ordering_key
from cce.report.json.report_v2 import render_json
from cce.usecases.compare import PairingPlan, compare_saved
from oracle import Oracle
from score_rows import Row, score_of

Capture = pytest.CaptureFixture[bytes]


def case(name: str, mrr: float, k: int = 10, tokens: TokenScore | None = None) -> Row:
    return Row(name, k, mrr / 2, mrr, mrr, mrr, 1 if mrr else None, tokens)


def score(backend: str, *cases: Row) -> BackendScore:
    return score_of(backend, cases)


def save(path: Path, *scores: BackendScore, corpus: str = "src", embedder: str = "hash") -> None:
    report = Report(corpus, embedder, scores[0].n_cases, scores, None)
    path.write_bytes(render_json(report).encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a report of seven cases before a change and one after it."""
    monkeypatch.chdir(tmp_path)
    old = [case(f"q{n}", 0.5) for n in range(1, 8)]
    new = [*(case(f"q{n}", 1.0) for n in range(1, 7)), case("q7", 0.5)]
    save(tmp_path / "old.json", score("bm25", *old), score("hybrid", *old))
    save(tmp_path / "new.json", score("hybrid", *new))
    return tmp_path


def printed(capture: Capture, *arguments: str) -> str:
    assert main(["compare", *arguments]) == 0
    out, err = capture.readouterr()
    assert err == b""
    return out.decode()


def as_json(capture: Capture, *arguments: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(printed(capture, *arguments, "--json"))
    return fields


def refused(capture: Capture, *arguments: str) -> str:
    assert main(["compare", *arguments]) == 2
    out, err = capture.readouterr()
    assert out == b""
    (line,) = err.decode().splitlines()
    return line.removeprefix("error: ")


def test_the_only_shared_backend_is_compared_without_asking(folder: Path, capsysbinary: Capture) -> None:
    assert printed(capsysbinary, "old.json", "new.json") == (
        """\
CCE compare — two saved reports, paired by case (cce.relevance.report/v2)
  old     : old.json
  new     : new.json
  figures : as saved, with six decimals
  corpus  : src
  embedder: hash
  queries : 7

  backend            P@k      recall         MRR          F1
  old:hybrid    0.250000    0.500000    0.500000    0.500000
  new:hybrid    0.464286    0.928571    0.928571    0.928571

  per-query deltas (old:hybrid → new:hybrid; positive = new:hybrid wins)
  query                           dP@k     drecall        dMRR         dF1
  q1                         +0.250000   +0.500000   +0.500000   +0.500000
  q2                         +0.250000   +0.500000   +0.500000   +0.500000
  q3                         +0.250000   +0.500000   +0.500000   +0.500000
  q4                         +0.250000   +0.500000   +0.500000   +0.500000
  q5                         +0.250000   +0.500000   +0.500000   +0.500000
  q6                         +0.250000   +0.500000   +0.500000   +0.500000
  q7                         +0.000000   +0.000000   +0.000000   +0.000000
  mean                       +0.214286   +0.428571   +0.428571   +0.428571

  paired t-test on the per-query deltas (two-sided, n=7, df=6)
  metric        mean-delta           t           p                    95% CI
  P@k            +0.214286   +6.000000    0.000965    [+0.126896, +0.301675]
  recall         +0.428571   +6.000000    0.000965    [+0.253792, +0.603351]
  MRR            +0.428571   +6.000000    0.000965    [+0.253792, +0.603351]
  F1             +0.428571   +6.000000    0.000965    [+0.253792, +0.603351]
"""
    )


def test_json_is_a_v2_report_of_two_backends_and_their_comparison(
    folder: Path, capsysbinary: Capture
) -> None:
    fields = as_json(capsysbinary, "old.json", "new.json")
    assert [row["backend"] for row in fields["backends"]] == ["old:hybrid", "new:hybrid"]
    assert (fields["compare"]["a"], fields["compare"]["b"]) == ("old:hybrid", "new:hybrid")
    assert fields["compare"]["metrics"]["mrr"]["mean_delta"] == "+0.428571"
    assert fields["saved"] == {"old": "old.json", "new": "new.json", "left_out": 0}
    assert (fields["schema"], fields["queries"]) == ("cce.relevance.report/v2", 7)
    assert "evidence" not in fields


def test_evidence_on_saved_reports(folder: Path, capsysbinary: Capture) -> None:
    fields = as_json(capsysbinary, "old.json", "new.json", "--evidence", "--metrics", "mrr,hit")
    mrr = fields["evidence"]["compare"]["metrics"]["mrr"]
    assert (mrr["better"], mrr["worse"], mrr["tied"]) == ([f"q{n}" for n in range(1, 7)], [], 1)
    # 6 to 0: 2 / 2^6; hit moved the same way on fewer cases, which costs nothing.
    assert (mrr["sign_p"], mrr["flip_p"], mrr["adjusted_p"]) == ("0.031250", "0.031250", "0.031250")
    assert mrr["verdict"] == "improved"
    assert "slices" not in fields["evidence"]
    alone = as_json(capsysbinary, "old.json", "new.json", "--evidence", "--metrics", "mrr")
    assert alone["evidence"]["compare"]["metrics"]["mrr"]["verdict"] == "improved"


def test_two_names_take_one_backend_of_each(folder: Path, capsysbinary: Capture) -> None:
    fields = as_json(capsysbinary, "old.json", "new.json", "--backend", "bm25, hybrid")
    assert [row["backend"] for row in fields["backends"]] == ["old:bm25", "new:hybrid"]


def test_two_backends_of_one_report_can_be_compared(folder: Path, capsysbinary: Capture) -> None:
    fields = as_json(capsysbinary, "old.json", "old.json", "--backend", "bm25,hybrid")
    assert fields["compare"]["metrics"]["mrr"]["p"] == "1.000000"


def test_the_only_backends_are_compared_whatever_their_names(folder: Path, capsysbinary: Capture) -> None:
    save(folder / "other.json", score("mine", *(case(f"q{n}", 0.5) for n in range(1, 8))))
    fields = as_json(capsysbinary, "other.json", "new.json")
    assert [row["backend"] for row in fields["backends"]] == ["old:mine", "new:hybrid"]


def test_several_shared_backends_must_be_chosen_from(folder: Path, capsysbinary: Capture) -> None:
    message = refused(capsysbinary, "old.json", "old.json")
    assert message == "both reports hold bm25, hybrid: choose one with --backend, as in --backend hybrid"


def test_no_shared_backend_lists_what_each_holds(folder: Path, capsysbinary: Capture) -> None:
    save(folder / "mine.json", score("x", case("q1", 1.0)), score("y", case("q1", 1.0)))
    message = refused(capsysbinary, "old.json", "mine.json")
    assert "old.json holds bm25, hybrid, mine.json x, y" in message
    assert "--backend bm25,x" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["old.json"], "Missing argument 'NEW.json'"),
        (["old.json", "new.json", "--backend", "hybird"], "did you mean 'hybrid'?"),
        (["old.json", "new.json", "--backend", "bm25"], "new.json: unknown backend 'bm25' (known: hybrid)"),
        (["old.json", "new.json", "--backend", "a,b,c"], "takes one name, or one for OLD and one for NEW"),
        (["old.json", "new.json", "--backend", ","], "takes one name"),
        (["old.json", "gone.json"], "gone.json: cannot read the report"),
        (["old.json", "new.json", "--evidence", "--metrics", "ndcg"], "needs the rankings and the index"),
        (["old.json", "new.json", "--evidence", "--metrics", "mmr"], "did you mean 'mrr'?"),
        (
            ["old.json", "new.json", "--alpha", "0.1"],
            "--alpha says how to weigh the evidence: add --evidence",
        ),
    ],
)
def test_a_wrong_call_is_one_line_with_the_way_out(
    folder: Path, capsysbinary: Capture, arguments: list[str], message: str
) -> None:
    assert message in refused(capsysbinary, *arguments)


def test_a_report_cut_in_half_is_named(folder: Path, capsysbinary: Capture) -> None:
    whole = (folder / "new.json").read_bytes()
    (folder / "new.json").write_bytes(whole[: len(whole) // 2])
    assert refused(capsysbinary, "old.json", "new.json").startswith("new.json: line ")


def test_a_duplicate_id_is_named(folder: Path, capsysbinary: Capture) -> None:
    save(folder / "new.json", score("hybrid", case("q1", 1.0), case("q1", 0.5)))
    assert "new.json: backend 'hybrid': case named more than once: 'q1'" in refused(
        capsysbinary, "old.json", "new.json"
    )


@pytest.fixture
def mismatched(folder: Path) -> Path:
    """A new report with q1 to q6 as before, q3 at another k, without q7, with two more."""
    cases = [case(f"q{n}", 1.0, k=5 if n == 3 else 10) for n in range(1, 7)]
    save(folder / "new.json", score("hybrid", *cases, case("r1", 1.0), case("r2", 1.0)))
    return folder


def test_what_differs_is_said(mismatched: Path, capsysbinary: Capture) -> None:
    assert refused(capsysbinary, "old.json", "new.json") == (
        "the reports differ in their cases: 1 only in the old one: 'q7'; 2 only in the new one: 'r1', 'r2'; "
        "1 with another k: 'q3' (10 and 5); compare reports of one fixture set, "
        "or give --common for the 5 shared cases"
    )


def test_common_compares_the_shared_cases_and_counts_the_others(
    mismatched: Path, capsysbinary: Capture
) -> None:
    text = printed(capsysbinary, "old.json", "new.json", "--common")
    assert "  queries : 5 (4 left out, not in both reports with the same k)\n" in text
    # The means are of the shared cases, not those of the reports.
    assert "  new:hybrid    0.500000    1.000000    1.000000    1.000000\n" in text
    fields = as_json(capsysbinary, "old.json", "new.json", "--common", "--evidence")
    assert (fields["queries"], fields["saved"]["left_out"]) == (5, 4)
    assert [row["id"] for row in fields["backends"][0]["per_query"]] == ["q1", "q2", "q4", "q5", "q6"]
    assert fields["evidence"]["compare"]["metrics"]["mrr"]["n"] == 5


def test_common_without_a_shared_case_is_refused(folder: Path, capsysbinary: Capture) -> None:
    save(folder / "new.json", score("hybrid", case("elsewhere", 1.0)))
    assert refused(capsysbinary, "old.json", "new.json", "--common").startswith("the reports share no case")


@pytest.mark.parametrize("options", [[], ["--common"]])
def test_equal_ids_with_other_ks_are_told_from_other_ids(
    folder: Path, capsysbinary: Capture, options: list[str]
) -> None:
    save(folder / "new.json", score("hybrid", *(case(f"q{n}", 1.0, k=5) for n in range(1, 8))))
    assert refused(capsysbinary, "old.json", "new.json", *options) == (
        "the reports share no case, since the 7 ids they share have another k each: 'q1' (10 and 5), "
        "'q2' (10 and 5), 'q3' (10 and 5), 'q4' (10 and 5), 'q5' (10 and 5), …: "
        "compare reports of one fixture set, made with the same k"
    )
    save(folder / "new.json", score("hybrid", case("q3", 1.0, k=4), case("elsewhere", 1.0)))
    assert refused(capsysbinary, "old.json", "new.json", *options) == (
        "the reports share no case, since the 1 id they share has another k: 'q3' (10 and 4): "
        "compare reports of one fixture set, made with the same k"
    )


def test_cases_are_paired_by_id_whatever_their_order(folder: Path, capsysbinary: Capture) -> None:
    before = as_json(capsysbinary, "old.json", "new.json")
    new = [case("q7", 0.5), *(case(f"q{n}", 1.0) for n in range(6, 0, -1))]
    save(folder / "new.json", score("hybrid", *new))
    assert as_json(capsysbinary, "old.json", "new.json") == before


def test_another_corpus_or_embedder_is_shown(folder: Path, capsysbinary: Capture) -> None:
    cases = [case(f"q{n}", 1.0) for n in range(1, 8)]
    save(folder / "new.json", score("hybrid", *cases), corpus="lib", embedder="ollama")
    text = printed(capsysbinary, "old.json", "new.json")
    assert "  corpus  : src → lib\n  embedder: hash → ollama\n" in text


def test_a_report_whose_mean_was_edited_is_compared_with_a_warning(
    folder: Path, capsysbinary: Capture
) -> None:
    fields = json.loads((folder / "new.json").read_bytes())
    fields["backends"][0]["mrr"] = "0.500000"
    (folder / "new.json").write_text(json.dumps(fields), "utf-8")
    assert main(["compare", "old.json", "new.json"]) == 0
    assert capsysbinary.readouterr().err.startswith(
        b"warning: new.json: backend 'hybrid' has means that its cases do not have, "
        b"mrr 0.500000 (its cases give 0.928571): it was edited, "
    )


def test_a_mean_that_is_made_anew_needs_no_warning(folder: Path, capsysbinary: Capture) -> None:
    fields = json.loads((folder / "new.json").read_bytes())
    del fields["backends"][0]["per_query"][0]
    (folder / "new.json").write_text(json.dumps({**fields, "queries": 6}), "utf-8")
    text = printed(capsysbinary, "old.json", "new.json", "--common")
    assert "new:hybrid    0.458333    0.916667    0.916667    0.916667\n" in text, "(5 + 0.5) / 6"


def test_people_are_told_what_was_left_out_and_how_exact_the_figures_are(
    mismatched: Path, capsysbinary: Capture
) -> None:
    markdown = printed(capsysbinary, "old.json", "new.json", "--common", "--report", "markdown=-")
    assert (
        "old report <code>old.json</code> · new report <code>new.json</code> · 4 cases left out, "
        "not in both with the same k · figures as saved, with six decimals · corpus <code>src</code>"
    ) in markdown
    html = printed(capsysbinary, "old.json", "new.json", "--common", "--report", "html=-")
    assert "4, not in both with the same k" in html
    assert "as saved, with six decimals" in html


def test_token_figures_of_unranged_cases_are_undefined(folder: Path, capsysbinary: Capture) -> None:
    ranged = case("q1", 1.0, tokens=TokenScore(0.25, 0.5, 0.125))
    save(folder / "old.json", score("hybrid", ranged, case("q2", 1.0)))
    save(folder / "new.json", score("hybrid", ranged, case("q2", 1.0)))
    fields = as_json(capsysbinary, "old.json", "new.json", "--evidence", "--metrics", "token_iou")
    assert fields["evidence"]["backends"][0]["metrics"]["token_iou"]["mean"] == "0.125000"
    assert fields["evidence"]["compare"]["metrics"]["token_iou"]["n"] == 1


def test_saved_means_are_kept_when_nothing_is_left_out() -> None:
    # Thirds were rounded when they were saved: the mean of the rows would be off by one unit.
    whole = score_of("a", [case("q1", 1 / 3), case("q2", 1 / 3)])
    a, _, n_left_out = pair_cases(whole, whole, only_shared=True)
    assert (a, n_left_out) == (whole, 0)


MICROS = st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 1_000_000)), min_size=1, max_size=20)


@given(MICROS)
@settings(deadline=None, max_examples=60)
def test_deltas_are_exact_and_their_mean_is_the_nearest(
    tmp_path_factory: pytest.TempPathFactory, micros: list[tuple[int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("exact")
    for name, side in (("old.json", 0), ("new.json", 1)):
        cases = [case(f"q{n}", pair[side] / 1e6) for n, pair in enumerate(micros)]
        save(folder / name, score("hybrid", *cases))
    plan = PairingPlan(str(folder / "old.json"), str(folder / "new.json"), None, False, None)
    comparison = compare_saved(plan)[0].comparison
    assert comparison is not None
    (mrr,) = [each for each in comparison.differences if each.metric == "mrr"]
    deltas = [new - old for old, new in micros]
    assert [format_signed(delta) for delta in mrr.per_case] == [
        f"{'-' if delta < 0 else '+'}{abs(delta) // 10**6}.{abs(delta) % 10**6:06d}" for delta in deltas
    ]
    # The nearest whole number of millionths; a mean halfway between two is no float, so either will do.
    assert 2 * abs(ordering_key(mrr.test.mean_delta) * len(deltas) - sum(deltas)) <= len(deltas)


@pytest.mark.parametrize("name", ["express", "serde_derive"])
def test_saved_reference_reports_compare_as_their_producer_compared(oracle: Oracle, name: str) -> None:
    path = str(oracle.folder / "reports" / f"{name}.json")
    fields = json.loads(render_json(*compare_saved(PairingPlan(path, path, ("bm25", "hybrid"), False, None))))
    expected = json.loads((oracle.folder / "reports" / f"{name}.bm25-hybrid.json").read_text("utf-8"))
    assert [row["per_query"] for row in fields["backends"]] == [
        row["per_query"] for row in expected["backends"]
    ]
    for metric, test in expected["compare"]["metrics"].items():
        for key, figure in test.items():
            # Six decimals per case are all that was saved: t moves a little more than the others.
            tolerance = 5e-4 if key == "t" else 5e-6
            assert float(fields["compare"]["metrics"][metric][key]) == pytest.approx(
                float(figure), abs=tolerance
            )


@pytest.mark.parametrize("name", ["express", "flask"])
def test_another_seed_moves_no_bound_by_a_hundredth(oracle: Oracle, name: str, capsysbinary: Capture) -> None:
    path = str(oracle.folder / "reports" / f"{name}.json")
    first, second = (
        as_json(capsysbinary, path, path, "--backend", "bm25,hybrid", "--evidence", "--seed", seed)[
            "evidence"
        ]
        for seed in ("0", "1")
    )
    for metric, difference in first["compare"]["metrics"].items():
        other = second["compare"]["metrics"][metric]
        for bound in ("ci95_low", "ci95_high"):
            assert float(difference[bound]) == pytest.approx(float(other[bound]), abs=0.01)


@pytest.fixture
def three(folder: Path) -> Path:
    """Two tries after the old report: new.json is better on six of seven cases, worse.json worse on all."""
    save(folder / "worse.json", score("hybrid", *(case(f"q{n}", 0.25) for n in range(1, 8))))
    return folder


def test_several_reports_are_compared_with_the_first_one_after_the_other(
    three: Path, capsysbinary: Capture
) -> None:
    text = printed(capsysbinary, "old.json", "new.json", "worse.json", "--evidence", "--metrics", "mrr")
    first, second = text.split("CCE compare — ")[1:]
    assert "  new     : new.json\n" in first
    assert "  new     : worse.json\n" in second
    # 6 to 0 and 7 to 0. The six cases turn together in both, so the least p of both is as rare as 2 / 2^7.
    assert "  mrr     0.031250  0.031250    0.031250        exact\n" in first
    assert "  mrr     0.015625  0.015625    0.015625        exact\n" in second
    assert "(two-sided p values; adjusted over 2 differences)" in first
    assert "Verdict: improved" in first
    assert "Verdict: regressed" in second
    assert "p = 0.015625 adjusted over 2 differences" in second


def test_the_json_of_several_reports_has_comparisons_in_their_order(
    three: Path, capsysbinary: Capture
) -> None:
    fields = as_json(capsysbinary, "old.json", "new.json", "worse.json", "--evidence", "--metrics", "mrr")
    assert "compare" not in fields
    assert "evidence" not in fields
    assert [row["backend"] for row in fields["backends"]] == ["old:hybrid", "new1:hybrid", "new2:hybrid"]
    assert [each["report"] for each in fields["comparisons"]] == ["new.json", "worse.json"]
    assert [each["compare"]["metrics"]["mrr"]["mean_delta"] for each in fields["comparisons"]] == [
        "+0.428571",
        "-0.250000",
    ]
    assert [each["evidence"]["compare"]["metrics"]["mrr"]["verdict"] for each in fields["comparisons"]] == [
        "improved",
        "regressed",
    ]
    assert fields["saved"] == {"old": "old.json", "new": ["new.json", "worse.json"], "left_out": 0}
    ReportModel.model_validate_json(json.dumps(fields))
    plain = as_json(capsysbinary, "old.json", "new.json", "worse.json")
    assert all(set(each) == {"report", "compare"} for each in plain["comparisons"])


def test_the_comment_of_several_reports_has_a_block_for_each(three: Path, capsysbinary: Capture) -> None:
    text = printed(
        capsysbinary,
        *("old.json", "new.json", "worse.json", "--evidence", "--metrics", "mrr"),
        *("--report", "markdown=-"),
    )
    assert text.count("<!-- cce relevance report -->") == 1
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## ✅ MRR improved", "## ❌ MRR regressed"]
    assert text.endswith(
        "Reproduce with\n\n```sh\ncce compare old.json new.json worse.json --evidence --metrics mrr\n```\n"
    )


def test_a_comment_on_many_large_reports_stays_short(folder: Path, capsysbinary: Capture) -> None:
    old = [case(f"a-case-with-a-long-name-{n:04}", 0.5) for n in range(400)]
    new = [case(f"a-case-with-a-long-name-{n:04}", 0.25 if n % 2 else 1.0) for n in range(400)]
    save(folder / "old.json", score("hybrid", *old))
    names = [f"new{number}.json" for number in range(12)]
    for name in names:
        save(folder / name, score("hybrid", *new))
    text = printed(
        capsysbinary,
        *("old.json", *names, "--evidence", "--resamples", "99", "--report", "markdown=-"),
    )
    assert len(text) < 65_000
    assert "cut to keep this comment short" in text


@pytest.mark.parametrize("name", ["html", "junit", "github"])
def test_pages_and_test_tabs_take_two_reports(three: Path, capsysbinary: Capture, name: str) -> None:
    assert refused(capsysbinary, "old.json", "new.json", "worse.json", "--report", f"{name}=page") == (
        f"--report {name}=page: {name} shows two reports: name two, or write text, markdown, json"
    )


def test_of_several_reports_the_cases_that_all_have_are_compared(three: Path, capsysbinary: Capture) -> None:
    save(three / "few.json", score("hybrid", *(case(f"q{n}", 1.0) for n in range(3, 9))))
    said = refused(capsysbinary, "old.json", "new.json", "few.json")
    assert "2 only in the old one: 'q1', 'q2'; 1 only in the new one: 'q8'" in said
    text = printed(capsysbinary, "old.json", "new.json", "few.json", "--common")
    # Against new.json q1 and q2 are left out, against few.json q8 as well.
    assert "  queries : 5 (2 left out, not in both reports with the same k)\n" in text
    assert "  queries : 5 (3 left out, not in both reports with the same k)\n" in text


def test_each_of_several_reports_may_have_a_backend_of_its_own(three: Path, capsysbinary: Capture) -> None:
    save(three / "other.json", score("mine", *(case(f"q{n}", 1.0) for n in range(1, 8))))
    reports = ("old.json", "new.json", "other.json")
    fields = as_json(capsysbinary, *reports, "--backend", "bm25,hybrid,mine")
    assert [row["backend"] for row in fields["backends"]] == ["old:bm25", "new1:hybrid", "new2:mine"]
    said = refused(capsysbinary, *reports, "--backend", "a,b,c,d")
    assert "one name, or one for OLD and one for the others, or one for each of the 3 reports" in said


def test_with_the_set_there_are_slices_of_saved_reports(folder: Path, capsysbinary: Capture) -> None:
    lines = [
        json.dumps({"id": f"q{n}", "query": "a", "expected": ["a.py"], "tags": [("even", "odd")[n % 2]]})
        for n in (8, 7, 6, 5, 4, 3, 2, 1)
    ]
    (folder / "set.jsonl").write_text("\n".join(lines) + "\n")
    arguments = ("old.json", "new.json", "--evidence", "--metrics", "mrr", "--fixtures", "set.jsonl")
    slices = as_json(capsysbinary, *arguments)["evidence"]["slices"]
    assert [(each["tag"], each["n"], each["compare"]["mrr"]["better"]) for each in slices] == [
        ("even", 3, 3),
        ("odd", 4, 3),
    ]
    (folder / "set.jsonl").write_text("\n".join(lines[3:]) + "\n")
    assert refused(capsysbinary, *arguments) == (
        "set.jsonl: lacks 2 cases of the reports ('q6', 'q7'): give the set that they were made from"
    )


def test_a_set_without_evidence_is_refused(folder: Path, capsysbinary: Capture) -> None:
    assert refused(capsysbinary, "old.json", "new.json", "--fixtures", "set.jsonl") == (
        "--fixtures adds slices to --evidence, which is not given: add --evidence"
    )
