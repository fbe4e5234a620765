"""What a whole run costs, beside what parsing the same files costs: one table, made in one run.

    python eval/benchmarks/speed.py [DIR ...] [--copies N] [--runs N]

Each DIR is a corpus; a copy of it is measured, it is left alone. Two more are made of
test_fixtures/samples, N and 2N copies (150 and 300 by default, 0 for none), each with names of its own.
Every corpus is asked 60 queries, made of its own chunks, on three backends.

    parse only   one process that reads the same files and parses those that have a grammar
    cold         cce relevance SET --dir DIR --json --no-cache
    cold, 1 cpu  the same, held to one processor (Linux)
    warm         with the cache of the run before, nothing changed
    one changed  with the cache, after one file grew by a line

Figures are medians of N whole processes (5 by default), start-up and all. The steps take turns, so that a
slow moment hits all alike, and the system has all files in memory. MB/s counts the text that is indexed.
`largest` is the peak of the largest process; `all` is that of all together, where shared pages count
once, sampled in one run more (Linux). Nothing is downloaded, and the cache is a temporary folder. A
warm report that is not byte for byte the cold one stops the script.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

MAKING = Path(__file__).with_name("making.py")
N_QUERIES = 60
SAMPLE_SECONDS = 0.02

PARSE = """
import json, os, sys
from importlib import import_module
from tree_sitter import Language, Parser
parsers = {}
with open(sys.argv[2], encoding="utf-8") as file:
    files = json.load(file)["files"]
for path, grammar in files:
    with open(os.path.join(sys.argv[1], path), "rb") as file:
        text = file.read()
    if grammar is not None:
        package, function = grammar
        if package not in parsers:
            parsers[package] = Parser(Language(getattr(import_module(package), function)()))
        parsers[package].parse(text)
"""
FLOOR, COLD, COLD_ALONE, WARM, CHANGED = "parse only", "cold", "cold, 1 cpu", "warm", "one changed"
STEPS = (FLOOR, COLD, COLD_ALONE, WARM, CHANGED)


class Cost(NamedTuple):
    """Of one process with its children; None is what this system does not tell."""

    seconds: float
    user_seconds: float | None
    system_seconds: float | None
    n_peak_bytes: float | None


@dataclass(frozen=True, slots=True)
class Corpus:
    """A copy that may be changed, with its fixture set and what `making.py` tells of it."""

    name: str
    folder: Path
    fixtures: Path
    facts: Path
    about: dict[str, Any]

    def command(self, step: str) -> list[str]:
        """What is measured in `step`."""
        if step == FLOOR:
            return [sys.executable, "-c", PARSE, str(self.folder), str(self.facts)]
        command = [*installed_command(), "relevance", str(self.fixtures), "--dir", str(self.folder)]
        return [*command, "--json", *(["--no-cache"] if step in (COLD, COLD_ALONE) else [])]

    def grow(self) -> None:
        """One more line in the middle one of the files with a grammar."""
        paths = [path for path, grammar in self.about["files"] if grammar]
        with (self.folder / paths[len(paths) // 2]).open("ab") as file:
            file.write(b"\n")


@dataclass(frozen=True, slots=True)
class Figures:
    """What the runs of one step say together; `n_all_bytes` is the peak of all its processes."""

    cost: Cost
    least_seconds: float
    n_all_bytes: int | None


def main() -> None:
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        os.environ["CCE_CACHE_DIR"] = str(root / "cache")
        corpora = list(prepare(root, arguments.directories, arguments.copies))
        figures = {corpus.name: measure(corpus, arguments.runs) for corpus in corpora}
    print(f"python {sys.version.split()[0]}, {n_processors()} processors, medians of {arguments.runs} runs\n")
    for corpus in corpora:
        print(headline(corpus))
    print()
    print_table(
        [
            ("corpus", "step", "s", "least", "user", "system", "MB/s", "largest MB", "all MB", "x parse"),
            *(row for corpus in corpora for row in rows(corpus, figures[corpus.name])),
        ]
    )
    if arguments.copies:
        single, double = corpora[-2:]
        print(f"\n{double.name} / {single.name}\n")
        print_table([("step", "text", "time", "memory"), *growth(single, double, figures)], n_left=1)


def installed_command() -> list[str]:
    """`cce` as it was installed beside this Python, else as a module."""
    script = shutil.which("cce", path=os.path.dirname(sys.executable))
    return [script] if script else [sys.executable, "-m", "cce"]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What whole runs cost, beside parsing the same files.")
    parser.add_argument("directories", metavar="DIR", nargs="*", type=Path)
    parser.add_argument("--copies", type=int, default=150, help="of the samples; 0 leaves them out")
    parser.add_argument("--runs", type=int, default=5)
    return parser.parse_args()


def prepare(root: Path, directories: Sequence[Path], n_copies: int) -> Iterator[Corpus]:
    for number, directory in enumerate(directories):
        folder = root / str(number) / "corpus"
        shutil.copytree(directory, folder, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        yield describe(directory.resolve().name, folder)
    for n in (n_copies, 2 * n_copies) if n_copies else ():
        folder = root / f"samples{n}" / "corpus"
        subprocess.run([sys.executable, MAKING, "corpus", folder, str(n)], check=True)
        yield describe(f"samples x{n}", folder)


def describe(name: str, folder: Path) -> Corpus:
    fixtures, facts = folder.with_name("set.jsonl"), folder.with_name("facts.json")
    # In another process: on Linux the peak of a child counts what its parent had, so this one stays small.
    subprocess.run([sys.executable, MAKING, "queries", folder, fixtures, facts, str(N_QUERIES)], check=True)
    return Corpus(name, folder, fixtures, facts, json.loads(facts.read_text("utf-8")))


def measure(corpus: Corpus, n_runs: int) -> dict[str, Figures]:
    steps = [step for step in STEPS if step != COLD_ALONE or hasattr(os, "sched_setaffinity")]
    run(corpus.command(WARM))  # fills the cache
    costs: dict[str, list[Cost]] = {step: [] for step in steps}
    for _ in range(n_runs):
        reports: dict[str, str] = {}
        for step in steps:
            if step == CHANGED:
                corpus.grow()
            costs[step].append(run_step(corpus, step, reports))
        if reports[WARM] != reports[COLD]:
            sys.exit(f"{corpus.name}: the warm report differs from the cold one")
    return {step: summarize(costs[step], total_memory(corpus, step)) for step in steps}


def run_step(corpus: Corpus, step: str, reports: dict[str, str]) -> Cost:
    with one_processor() if step == COLD_ALONE else contextlib.nullcontext():
        cost, reports[step] = run(corpus.command(step))
    return cost


def run(command: Sequence[str]) -> tuple[Cost, str]:
    """One process from its start to its end, and the digest of what it printed."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output)
        cost = wait(process, start)
        if process.returncode != 0:
            sys.exit(f"failed: {command[:4]}")
        output.seek(0)
        return cost, hashlib.sha256(output.read()).hexdigest()


def wait(process: subprocess.Popen[bytes], start: float) -> Cost:
    if not hasattr(os, "wait4"):
        process.wait()
        return Cost(time.perf_counter() - start, None, None, None)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(seconds, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * unit)


@contextlib.contextmanager
def one_processor() -> Iterator[None]:
    """Children started meanwhile may use one processor only."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def n_processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def total_memory(corpus: Corpus, step: str) -> int | None:
    """Peak of all processes of one more run together, looked at every 20 ms."""
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    if step == CHANGED:
        corpus.grow()
    most = 0
    with one_processor() if step == COLD_ALONE else contextlib.nullcontext():
        process = subprocess.Popen(corpus.command(step), stdout=subprocess.DEVNULL)
    while process.poll() is None:
        most = max(most, sum(map(own_memory, family(process.pid))))
        time.sleep(SAMPLE_SECONDS)
    return most


def family(pid: int) -> list[int]:
    """A process and all below it."""
    members = [pid]
    for member in members:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{member}/task").iterdir():
                members += map(int, (task / "children").read_text().split())
    return members


def own_memory(pid: int) -> int:
    """Bytes in memory, of pages shared by n processes the nth part."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def summarize(costs: Sequence[Cost], n_all_bytes: int | None) -> Figures:
    seconds = [cost.seconds for cost in costs]
    cost = Cost(
        statistics.median(seconds),
        median([each.user_seconds for each in costs]),
        median([each.system_seconds for each in costs]),
        median([each.n_peak_bytes for each in costs]),
    )
    return Figures(cost, min(seconds), n_all_bytes)


def median(figures: Sequence[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return statistics.median(known) if known else None


def headline(corpus: Corpus) -> str:
    about = corpus.about
    return (
        f"{corpus.name}: {len(about['files'])} files, {about['n_chunks']} chunks, "
        f"{about['n_bytes'] / 1e6:.2f} MB of text, {about['n_code_bytes'] / 1e6:.2f} MB of it code"
    )


def rows(corpus: Corpus, figures: dict[str, Figures]) -> Iterator[Sequence[str]]:
    floor = figures[FLOOR].cost.seconds
    for step, of_step in figures.items():
        cost = of_step.cost
        yield (
            corpus.name,
            step,
            f"{cost.seconds:.3f}",
            f"{of_step.least_seconds:.3f}",
            shown(cost.user_seconds),
            shown(cost.system_seconds),
            f"{corpus.about['n_bytes'] / 1e6 / cost.seconds:.2f}",
            megabytes(cost.n_peak_bytes),
            megabytes(of_step.n_all_bytes),
            f"{cost.seconds / floor:.2f}",
        )


def growth(single: Corpus, double: Corpus, figures: dict[str, dict[str, Figures]]) -> Iterator[Sequence[str]]:
    """How many times the larger corpus costs what the smaller one does."""
    text = double.about["n_bytes"] / single.about["n_bytes"]
    for step, less in figures[single.name].items():
        more = figures[double.name][step]
        before, after = memory(less), memory(more)
        times = None if before is None or after is None else after / before
        yield step, f"{text:.2f}", f"{more.cost.seconds / less.cost.seconds:.2f}", shown(times)


def memory(figures: Figures) -> float | None:
    """Peak of all processes, or where nobody tells of the largest."""
    return figures.n_all_bytes or figures.cost.n_peak_bytes


def shown(figure: float | None) -> str:
    return "n/a" if figure is None else f"{figure:.2f}"


def megabytes(n_bytes: float | None) -> str:
    return "n/a" if n_bytes is None else f"{n_bytes / 1e6:.0f}"


def print_table(table: Sequence[Sequence[str]], n_left: int = 2) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [
            f"{cell:<{width}}" if at < n_left else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells))


if __name__ == "__main__":
    main()
