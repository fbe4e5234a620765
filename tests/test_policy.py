"""Gate policies: what a TOML file says, and how each mistake in it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.gate import GatePolicy, Limits
from cce.errors import CceError
from cce.measurement.gate.policy import parse_policy, read_policy, require_known
from cce.measurement.gate.policy_tables import PolicyError
from cce.measurement.gate.rules import named_metrics, weighed_metrics

LEAST = 'schema = "cce.gate/v1"\nfixtures = "code.jsonl"\nbackend = "hybrid"\nbaseline = "b.json"\n'


def parse(more: str = "", least: str = LEAST) -> GatePolicy:
    return parse_policy((least + more).encode(), "eval/gate.toml")


def fault(more: str = "", least: str = LEAST) -> str:
    with pytest.raises(PolicyError) as caught:
        parse(more, least)
    message = str(caught.value)
    assert message.startswith("eval/gate.toml:")
    assert "\n" not in message
    return message.removeprefix("eval/gate.toml:").strip()


def test_the_least_policy_asks_for_no_limit_and_no_evidence() -> None:
    assert parse() == GatePolicy("eval/gate.toml", "code.jsonl", "hybrid", "b.json", "hybrid")


def test_a_whole_policy() -> None:
    policy = parse(
        'baseline_backend = "bm25"\ndir = "src"\ncritical = ["b", "a", "b"]\n'
        "[floor]\nmrr = 1\nndcg = 0.5\nrecall = 0.9\n"
        "[drop]\nrecall = 0.02\n"
        '[evidence]\nmetrics = ["mrr"]\nalpha = 0.1\nmin_effect = 0.01\nseed = 7\nresamples = 100\n'
        "[slices.exact_term.floor]\nrecall = 1.0\n[slices.big.drop]\nhit = 0\n"
    )
    assert policy == GatePolicy(
        path="eval/gate.toml",
        fixtures="code.jsonl",
        backend="hybrid",
        baseline="b.json",
        baseline_backend="bm25",
        directory="src",
        critical=("b", "a"),
        limits=Limits({"recall": 0.9, "mrr": 1.0, "ndcg": 0.5}, {"recall": 0.02}),
        evidence=EvidenceOptions(("mrr",), 0.1, 0.01, 7, 100),
        slices={"big": Limits(drop={"hit": 0.0}), "exact_term": Limits(floor={"recall": 1.0})},
    )
    assert list(policy.limits.floor) == ["recall", "mrr", "ndcg"]
    assert list(policy.slices) == ["big", "exact_term"]
    assert named_metrics(policy) == ("ndcg", "hit")
    assert weighed_metrics(policy) == ("recall", "hit", "mrr")


def test_metrics_with_a_cutoff_stand_in_every_table_after_their_own() -> None:
    policy = parse(
        '[floor]\n"recall@10" = 0.9\n"recall@5" = 0.8\nrecall = 1\n"precision@3" = 0.5\n'
        '[drop]\n"ndcg@5" = 0\n[evidence]\nmetrics = ["mrr@10"]\n[ceiling]\n"irrelevant_hits@5" = 0\n'
    )
    assert list(policy.limits.floor) == ["precision@3", "recall", "recall@5", "recall@10"]
    assert policy.limits.ceiling == {"irrelevant_hits@5": 0.0}
    assert named_metrics(policy) == (
        *("precision@3", "recall@5", "recall@10", "irrelevant_hits@5", "ndcg@5", "mrr@10"),
    )


@pytest.mark.parametrize(
    "more", ["[floor]\nrecall@5 = 0.9", "[floor]\n  recall@5=0.9", "floor = {recall@5 = 1}"]
)
def test_a_bare_key_with_a_cutoff_is_told_to_be_quoted(more: str) -> None:
    assert fault(more).endswith('; a key with @ needs quotes, write "recall@5" = ...')


def test_another_fault_of_toml_says_nothing_about_quotes() -> None:
    assert "needs quotes" not in fault('[floor]\n"recall@5" 0.9')


def test_an_empty_evidence_table_asks_for_the_default_evidence() -> None:
    assert parse("[evidence]\n").evidence == EvidenceOptions()


def test_a_byte_order_mark_is_dropped() -> None:
    assert parse_policy(b"\xef\xbb\xbf" + LEAST.encode(), "p").backend == "hybrid"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("flor = 1", "unknown key 'flor'; did you mean 'floor'? (known: schema, floor, drop, ceiling,"),
        ("wombat = 1", "unknown key 'wombat' (known: "),
        ("[evidence]\nalhpa = 0.1", "evidence: unknown key 'alhpa'; did you mean 'alpha'?"),
        ("[slices.slow.flor]\nrecall = 1", "slices.slow: unknown key 'flor'; did you mean 'floor'?"),
        ("[floor]\nrecal = 1", "floor: unknown metric 'recal'; did you mean 'recall'?"),
        ("[drop]\nMRR = 0.1", "drop: unknown metric 'MRR'; did you mean 'mrr'?"),
        ("[drop]\nmmr = 0.1", "drop: unknown metric 'mmr'; did you mean 'mrr'?"),
        ("[slices.slow.drop]\nhits = 0.1", "slices.slow.drop: unknown metric 'hits'; did you mean 'hit'?"),
        (
            '[evidence]\nmetrics = ["recal"]',
            "evidence.metrics: unknown metric 'recal'; did you mean 'recall'?",
        ),
        ('[floor]\n"recal@5" = 1', "floor: unknown metric 'recal@5'; did you mean 'recall@5'?"),
        (
            '[floor]\n"recall@0" = 1',
            "floor: metric 'recall@0': the cut-off must be an integer from 1 to 10000",
        ),
        ("[floor]\njudged = 1", "floor: metric 'judged' needs a cut-off, write judged@10"),
        (
            '[floor]\n"irrelevant_hits@5" = 1',
            "floor: less of 'irrelevant_hits@5' is better, so it may stand in",
        ),
        ('[drop]\n"irrelevant_hits@5" = 1', "drop: less of 'irrelevant_hits@5' is better"),
        (
            '[evidence]\nmetrics = ["irrelevant_hits@5"]',
            "evidence.metrics: less of 'irrelevant_hits@5' is better",
        ),
        ("[ceiling]\nrecall = 1.5", "ceiling: recall never exceeds 1, write a smaller number"),
        ('[ceiling]\n"irrelevant_hits@5" = 6', "ceiling: irrelevant_hits@5 never exceeds 5, write a smaller"),
        ("[ceiling]\nrecall = -1", "ceiling.recall: must be a number from 0 such as 0.5, got -1"),
        ('[evidence]\nmetrics = ["mrr", "mrr"]', "evidence.metrics: names a metric twice"),
        ("[evidence]\nmetrics = []", "evidence.metrics: must be an array of metrics such as"),
        ("[evidence]\nalpha = 0.0", "evidence.alpha: must be a number between 0 and 1 such as 0.05, got 0.0"),
        ("[evidence]\nalpha = 1", "evidence.alpha: must be a number between 0 and 1"),
        ("[evidence]\nmin_effect = -0.1", "evidence.min_effect: must be a number from 0 to 1"),
        ("[evidence]\nseed = -1", "evidence.seed: must be an integer from 0 to 4294967295, got -1"),
        ("[evidence]\nresamples = 0", "evidence.resamples: must be an integer from 1 to 1000000"),
        ("evidence = true", "evidence: must be a table with keys such as metrics"),
        ("[floor]\nrecall = 1.1", "floor.recall: must be a number from 0 to 1 such as 0.9, got 1.1"),
        ("[floor]\nrecall = -0.1", "floor.recall: must be a number from 0 to 1 such as 0.9, got -0.1"),
        ("[floor]\nrecall = nan", "floor.recall: must be a number from 0 to 1 such as 0.9, got nan"),
        ("[floor]\nrecall = inf", "floor.recall: must be a number from 0 to 1 such as 0.9, got inf"),
        ("[floor]\nrecall = true", "floor.recall: must be a number from 0 to 1 such as 0.9, got true"),
        ('[floor]\nrecall = "1"', "floor.recall: must be a number from 0 to 1 such as 0.9, got '1'"),
        ("[slices.slow.floor]\nrecall = 2", "slices.slow.floor.recall: must be a number from 0 to 1"),
        ("floor = 0.9", "floor: must be a table of metrics and numbers from 0 to 1, got 0.9"),
        ("[slices]\nslow = 1", "slices.slow: must be tables such as [slices.TAG.floor], got 1"),
        ('critical = "a"', "critical: must be an array of case ids such as"),
        ("critical = [1]", "critical: must be an array of case ids such as"),
        ('dir = ""', "dir: must be a path of a directory, got ''"),
        ('dir = "a"\nstore = "b"', "dir and store exclude each other"),
        ("backend = 1", "at its end: no readable TOML"),
        ("a b = 1", "5: column 3: no readable TOML"),
        ('x = "', "at its end: no readable TOML"),
        ("x = " + "[" * 5000, "no readable TOML (a number too long or values nested too deep)"),
        ("x = 1" + "0" * 5000, "no readable TOML (a number too long or values nested too deep)"),
    ],
)
def test_a_mistake_is_named_with_its_key_and_the_way_out(more: str, message: str) -> None:
    assert fault(more).startswith(message)


@pytest.mark.parametrize(
    ("least", "message"),
    [
        ("", 'no schema, start the policy with schema = "cce.gate/v1"'),
        ("schema = 1", 'unsupported schema 1, write "cce.gate/v1"'),
        ('schema = "cce.gate/v2"', "unsupported schema 'cce.gate/v2'"),
        ('schema = "cce.gate/v1"', 'fixtures: missing, it must be a path such as "code.jsonl"'),
        ('schema = "cce.gate/v1"\nfixtures = "a"', "backend: missing, it must be the name of a backend"),
        (LEAST.replace("fixtures", "fixture"), "unknown key 'fixture'; did you mean 'fixtures'?"),
        (
            LEAST.replace('"hybrid"', "[1]"),
            'backend: must be the name of a backend such as "hybrid", got an array',
        ),
    ],
)
def test_what_every_policy_has(least: str, message: str) -> None:
    assert fault(least=least).startswith(message)


def test_a_policy_is_utf_8() -> None:
    with pytest.raises(PolicyError, match="p: not UTF-8"):
        parse_policy(b"\xff", "p")


def test_a_policy_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(PolicyError, match=r"cannot read the policy \(.+\), name a readable TOML file"):
            read_policy(str(path))
    with pytest.raises(PolicyError, match="cannot read the policy"):
        read_policy("a\0b")


def test_a_policy_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(LEAST, "utf-8")
    assert read_policy(str(tmp_path / "gate.toml")).path == str(tmp_path / "gate.toml")


def fixtures(n: int = 2) -> FixtureSet:
    anchors = (parse_anchor("a.py"),)
    cases = tuple(Case(f"case-{i}", "q", anchors, 1, i, (f"tag{i}",)) for i in range(n))
    return FixtureSet("code.jsonl", None, cases)


def test_a_set_must_have_the_cases_and_tags_that_a_policy_names() -> None:
    require_known(parse('critical = ["case-1"]\n[slices.tag0.floor]\nrecall = 1'), fixtures())
    with pytest.raises(PolicyError) as caught:
        require_known(parse('critical = ["case-1", "csae-0"]'), fixtures())
    assert str(caught.value) == (
        "eval/gate.toml: critical: unknown case id 'csae-0'; did you mean 'case-0'? (known: case-0, case-1)"
    )
    with pytest.raises(PolicyError) as caught:
        require_known(parse("[slices.tagO.floor]\nrecall = 1"), fixtures())
    assert str(caught.value) == (
        "eval/gate.toml: slices: unknown tag 'tagO'; did you mean 'tag1'? (known: tag0, tag1)"
    )


def test_a_large_set_is_not_listed_whole() -> None:
    with pytest.raises(PolicyError) as caught:
        require_known(parse('critical = ["case-1999x"]'), fixtures(2000))
    assert "did you mean 'case-1999'?" in str(caught.value)
    assert str(caught.value).endswith(", …)")
    assert len(str(caught.value)) < 300


def test_a_set_without_tags_has_none() -> None:
    bare = FixtureSet("s", None, (Case("a", "q", (parse_anchor("a"),), 1, 1),))
    with pytest.raises(PolicyError, match=r"unknown tag 'x' \(known: none\)"):
        require_known(parse("[slices.x.floor]\nrecall = 1"), bare)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=80))
def test_any_bytes_are_a_policy_or_a_fault_on_one_line(raw: bytes) -> None:
    try:
        parse_policy(LEAST.encode() + raw, "p")
    except CceError as exc:
        assert str(exc).startswith("p:")  # noqa: PT017
        assert "\n" not in str(exc)  # noqa: PT017


_VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["floor", "drop", "recall", "x"]), inner)
    ),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    ["fixtures", "backend", "baseline", "critical", "floor", "drop", "evidence", "slices", "dir", "wombat"]
)


def toml(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case bool() | str():
            return json.dumps(value, ensure_ascii=False)
    return str(value)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(_KEYS, _VALUES))
def test_any_tables_are_a_policy_or_a_fault_on_one_line(tables: dict[str, object]) -> None:
    lines = [f"{key} = {toml(value)}\n" for key, value in {"schema": "cce.gate/v1", **tables}.items()]
    try:
        parse_policy("".join(lines).encode(), "p")
    except CceError as exc:
        assert str(exc).startswith("p:")  # noqa: PT017
        assert "\n" not in str(exc)  # noqa: PT017


@pytest.mark.parametrize("number", [f"0x{'f' * 5000}", f"0o{'7' * 6000}", f"0b{'1' * 20000}"])
@pytest.mark.parametrize(
    ("more", "place"),
    [
        ("backend = {}\n", "backend: must be the name of a backend"),
        ("critical = [{}]\n", "critical: must be an array of case ids"),
        ("[evidence]\nseed = {}\n", "evidence.seed: must be an integer from 0 to"),
        ("[floor]\nmrr = {}\n", "floor.mrr: must be a number from 0 to 1"),
        ("[slices.a.drop]\nmrr = {}\n", "slices.a.drop.mrr: must be a number from 0 to 1"),
    ],
)
def test_an_integer_of_thousands_of_digits_is_a_huge_one(number: str, more: str, place: str) -> None:
    least = LEAST.replace('backend = "hybrid"\n', "") if more.startswith("backend") else LEAST
    told = fault(more.format(number), least)
    assert told.startswith(place)
    assert told.endswith("got a huge integer")


def test_a_schema_that_is_a_huge_integer_is_unsupported() -> None:
    assert fault(least=f"schema = 0x{'f' * 5000}\n").startswith("unsupported schema a huge integer, write")


def test_an_integer_that_can_be_taken_in_is_shown_in_digits() -> None:
    assert fault("[floor]\nmrr = 0xff\n") == "floor.mrr: must be a number from 0 to 1 such as 0.9, got 255"


@pytest.mark.parametrize("part", ["a", '"a b"', "'a'", "a-1 "])
def test_a_key_has_at_most_thirty_parts(part: str) -> None:
    # The reader's work grows with the square of the parts: 40,000 of them took it half a minute.
    long_key, short_key = ".".join([part] * 40_000), ".".join([part] * 30)
    for more in (f"{long_key} = 1\n", f"[{long_key}]\n", f"x = {{ {long_key} = 1 }}\n"):
        assert fault(more) == "a key of more than 30 parts, a policy needs no more than four"
    assert "unknown key" in fault(f"{short_key} = 1\n")


@pytest.mark.parametrize("text", ['"{}"', "'{}'", '"""\n{}\n"""', "'''\n{}'''", '"a" # {}'])
def test_dots_in_strings_and_comments_make_no_key(text: str) -> None:
    assert parse(f"dir = {text.format('a.' * 500)}\n").directory


def test_a_policy_has_at_most_a_megabyte() -> None:
    assert parse("#" + "x" * ((1 << 20) - len(LEAST) - 1)).backend == "hybrid"
    assert fault("#" + "x" * ((1 << 20) - len(LEAST))).startswith("larger than 1 MiB")
