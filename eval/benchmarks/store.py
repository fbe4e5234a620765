"""What a store costs: indexing a made-up corpus of 12,000 functions against writing and reading its store.

    python eval/benchmarks/store.py

Each row is the median of five fresh processes, imports not counted. `peak` is what the step added to
the memory of its process, in multiples of the store's size. The last rows parse the same file with
general readers that build every value, for comparison. Needs /proc, so Linux.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

N_FILES, N_FUNCTIONS, N_RUNS = 600, 20, 5

MEASURE = """
import time
def peak():
    with open("/proc/self/status") as status:
        return int(status.read().split("VmHWM:")[1].split()[0]) * 1024
corpus, store = {corpus!r}, {store!r}
{imports}
before, start = peak(), time.perf_counter()
{step}
print(time.perf_counter() - start, peak() - before)
"""

INDEX = "from cce.retrieval.indexing.directory import index_directory; import cce.retrieval.store.writing"
READ = "from cce.retrieval.store.reading import read_store"
RANK = "from cce.retrieval.backends.hybrid import HybridBackend"
QUERY = "HybridBackend({index}).search('parse the header', 10)"
STEPS = {
    "index": (INDEX, "index_directory(corpus, lambda *_: None)"),
    "index, write": (
        INDEX,
        "cce.retrieval.store.writing.write_store(store, index_directory(corpus, lambda *_: None).index, {})",
    ),
    "read": (READ, "read_store(store)"),
    "read, search": (f"{READ}\n{RANK}", QUERY.format(index="read_store(store).index")),
    "index, search": (
        f"{INDEX}\n{READ}",
        QUERY.format(index="index_directory(corpus, lambda *_: None).index"),
    ),
    "json": ("import json", "json.loads(open(store, 'rb').read())"),
    "pydantic_core": ("import pydantic_core", "pydantic_core.from_json(open(store, 'rb').read())"),
}


def make_corpus(folder: Path) -> None:
    """Python files whose functions are made of a few thousand words, the frequent ones often."""
    chance = random.Random(12_000)
    words = [f"{chance.choice('bcdfglmnprst')}{chance.choice('aeiou')}{n:x}" for n in range(4_000)]
    for n_file in range(N_FILES):
        lines = [f"import {words[n_file]}"]
        for n in range(N_FUNCTIONS):
            lines.append(f"\ndef {words[n]}_{n_file}(header, parse):")
            for _ in range(chance.randrange(4, 30)):
                left, called, right = (words[int(4_000 * chance.random() ** 3)] for _ in range(3))
                lines.append(f"    {left} = {called}(header, {right}, {chance.randrange(100)})")
        (folder / f"{words[n_file]}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")


def measure(corpus: Path, store: Path, imports: str, step: str) -> tuple[float, float]:
    """Seconds and bytes, each the median."""
    code = MEASURE.format(corpus=str(corpus), store=str(store), imports=imports, step=step)
    runs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(N_RUNS)
    ]
    return statistics.median(float(run[0]) for run in runs), statistics.median(float(run[1]) for run in runs)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus, store = Path(folder) / "corpus", Path(folder) / "index.json"
        corpus.mkdir()
        make_corpus(corpus)
        figures = {"index, write": measure(corpus, store, *STEPS["index, write"])}
        figures |= {
            name: measure(corpus, store, *step) for name, step in STEPS.items() if name not in figures
        }
        n_bytes = store.stat().st_size
    print(f"{N_FILES * N_FUNCTIONS} chunks, store of {n_bytes / 1e6:.1f} MB\n")
    print(f"{'step':14}{'seconds':>10}{'of index':>10}{'peak':>10}")
    for name in STEPS:
        seconds, peak = figures[name]
        print(f"{name:14}{seconds:10.3f}{seconds / figures['index'][0]:9.0%}{peak / n_bytes:9.2f}x")


if __name__ == "__main__":
    main()
