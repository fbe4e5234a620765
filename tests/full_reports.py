"""Full reports small enough to check by hand, and ones as large as a page must bear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cce.domain.anchor import parse_anchor
from cce.domain.case import Case, FixtureSet
from cce.domain.evidence import EvidenceOptions
from cce.domain.full_report import FullReport
from cce.domain.gate import GatePolicy, GateReport, Level, Reason, Rule
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.domain.report import Report
from cce.domain.scores import METRICS
from cce.measurement.evidence.comparison import compare
from cce.measurement.evidence.gathering import gather_evidence
from cce.measurement.matching.drilldown import FindMisses, drill_down, only_missed
from cce.measurement.scoring import SetScorer
from corpora import line_weights

HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\">|`@octocat` #123 *b* [x](y)"
FIXTURES_PATH = "eval/code.jsonl"
COMMAND = ("cce", "relevance", FIXTURES_PATH, "--compare", "bm25,hybrid", "--evidence")


def chunk(path: str, first: int = 1, last: int = 3, text: str = "def f():\n    return 1\n") -> Chunk:
    return Chunk(
        f"{path}:{first}", path, first, last, "function", "function_definition", "python", text.encode(), 4
    )


def case(
    name: str, query: str = "where", anchors: Sequence[str] = ("a.py",), line: int = 2, **more: object
) -> Case:
    fields: dict[str, object] = {"k": 2, **more}
    return Case(name, query, tuple(map(parse_anchor, anchors)), line=line, **fields)  # type: ignore[arg-type]


def ranking(*paths: str) -> Ranking:
    return tuple(Hit(chunk(path), 1.5 / rank) for rank, path in enumerate(paths, start=1))


# Three cases on two backends, k = 2: hybrid finds `both` one rank lower, loses `lost`, gains `won`.
CASES = (
    case("both", "read the config", ["a.py"], 2, tags=("symbol",), critical=True, note="Not its callers."),
    case("lost", "write the log", ["a.py", "b.py@1-2"], 3, tags=("symbol", "kind")),
    case("won", "open a socket", ["#function_definition"], 5, grades={"#function_definition": 3}),
)
RANKINGS = {
    "bm25": (ranking("a.py", "c.py"), ranking("a.py", "b.py", "c.py"), ()),
    "hybrid": (ranking("c.py", "a.py"), ranking("c.py"), ranking("a.py", "b.py")),
}


def full_report(
    cases: Sequence[Case] = CASES,
    rankings: Mapping[str, Sequence[Ranking]] = RANKINGS,
    *,
    compared: bool = True,
    evidence: EvidenceOptions | None = None,
    command: tuple[str, ...] = COMMAND,
    find_misses: FindMisses = only_missed,
) -> FullReport:
    """A report as the pipeline makes it, from rankings that are given."""
    fixtures = FixtureSet(FIXTURES_PATH, "../src", tuple(cases))
    hits = (hit for of_backend in rankings.values() for ranked in of_backend for hit in ranked)
    chunks = [*dict.fromkeys(hit.indexed for hit in hits)]
    weights = line_weights(chunks)
    metrics = () if evidence is None else evidence.metrics
    scorer = SetScorer(fixtures, chunks, metrics, weights)
    scores = [scorer.score(name, ranked) for name, ranked in rankings.items()]
    comparison = compare(*scores) if compared else None
    weighed = None
    if evidence is not None:
        pair = (scores[0], scores[1]) if compared else None
        weighed = gather_evidence(evidence, scores, pair, fixtures.cases)
    report = Report("eval/../src", "hash", len(cases), tuple(scores), comparison, weighed)
    drilled = drill_down(fixtures.cases, rankings, find_misses=find_misses)
    return FullReport(report, FIXTURES_PATH, drilled, None, command)


QUICK_EVIDENCE = EvidenceOptions(metrics=METRICS, resamples=200)


def gated(*reasons: Reason, cases: Sequence[Case] = CASES) -> FullReport:
    """A gate that held `hybrid` against `bm25` and gave these reasons."""
    full = full_report(cases, evidence=QUICK_EVIDENCE)
    policy = GatePolicy("eval/gate.toml", "code.jsonl", "hybrid", "baseline.json", "bm25")
    fixtures = FixtureSet(FIXTURES_PATH, "../src", tuple(cases))
    gate = GateReport(policy, fixtures, "ab" * 32, full.report.backends[-1], full.report, reasons)
    return full._replace(gate=gate, command=("cce", "gate", "eval/gate.toml"))


MISSED = Reason(
    Level.BLOCK,
    Rule.CRITICAL_MISSED,
    "critical case lost has no relevant result in its top 2",
    case_ids=("lost",),
)
FLOOR = Reason(Level.BLOCK, Rule.FLOOR, "recall 0.666667 is below its floor 0.900000", "recall", 2 / 3, 0.9)
WORSE = Reason(
    Level.REVIEW, Rule.MORE_WORSE, "mrr worse for 2 cases, better for 1", "mrr", 2, 1, ("both", "lost")
)


def large_report(n_cases: int, backends: Sequence[str] = ("bm25", "vector", "hybrid")) -> FullReport:
    """Many cases with ten results each, of chunks that seldom repeat and text that fills its lines."""
    body = "\n".join(f"    value_{n} = compute_something({n}, other_argument_{n})" for n in range(6))
    chunks = [
        chunk(
            f"src/package_{n % 40}/module_{n % 900}.py", n, n + 30, f"def function_{n}(argument):\n{body}\n"
        )
        for n in range(1, 20_001)
    ]
    cases = [
        case(
            f"case-{n:04}",
            f"how does function {n} compute something from its argument",
            [f"src/package_{n % 40}/module_{n % 900}.py", f"{chunks[n * 7].file_path}@{n * 7}-{n * 7 + 9}"],
            n + 2,
            k=10,
            tags=(f"tag_{n % 7}",),
        )
        for n in range(1, n_cases + 1)
    ]
    rankings = {
        name: tuple(
            tuple(
                Hit(chunks[(n * 7 + place * (3 + shift * n % 11)) % 20_000], 9.5 - place)
                for place in range(10)
            )
            for n in range(1, n_cases + 1)
        )
        for shift, name in enumerate(backends)
    }
    return full_report(cases, rankings, compared=False, evidence=replace(QUICK_EVIDENCE, resamples=100))
