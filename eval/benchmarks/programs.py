"""What asking a program costs beside its own work.

    python eval/benchmarks/programs.py [--queries N] [--runs N] [--copies N]

The `bm25` backend ranks the same index for all: called in this process, and in a program that is asked in
batches, query by query, or by two processes. The program measures its own work, which is ranking and
nothing else; of two processes the busier one counts. `overhead` is what is left of the time from the first
question to the last ranking that came through the door: writing, pipes, parsing, and making places chunks
again. Medians of N runs (3 by default), 2,000 queries by default, the best 10 wanted; the start of a
program is a column of its own, since it is paid once.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from making import make_corpus, questions, read_index

from cce.domain.outside import FailedAnswer, Question
from cce.domain.query import Query
from cce.domain.systems import Program
from cce.retrieval.backends.bm25 import Bm25Backend
from cce.retrieval.external.door import Door
from cce.retrieval.external.program import ProgramSystem
from cce.retrieval.indexing.index import Index

K = 10
_PROGRAM = """
import json, sys, time
from pathlib import Path
sys.path[:0] = {path!r}
from making import read_index
from cce.domain.query import Query
from cce.retrieval.backends.bm25 import Bm25Backend

backend = Bm25Backend(read_index(Path({corpus!r})))
backend.rank(Query("warm up"), 10)
spent = 0.0
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "hello":
        answer = {{"op": "hello", "protocol": "cce.retriever/v1", "capabilities": ["batch"],
                  "max_batch": {max_batch}}}
    else:
        started = time.perf_counter()
        rankings = [backend.rank(Query(each["query"]), each["k"]) for each in request["queries"]]
        spent += time.perf_counter() - started
        found = [
            {{"id": each["id"], "results": [
                {{"path": hit.chunk.file_path, "start": hit.chunk.start_line, "end": hit.chunk.end_line,
                  "kind": hit.chunk.kind, "score": hit.score}} for hit in ranking]}}
            for each, ranking in zip(request["queries"], rankings)
        ]
        answer = {{"id": request["id"], "results": found}}
    print(json.dumps(answer), flush=True)
Path({spent!r} + str(time.time_ns())).write_text(str(spent))
"""


class Measured(NamedTuple):
    """Seconds of one way to ask: its start, all questions, and what the ranking itself took."""

    start: float
    total: float
    own: float


class Rig:
    """An index, the queries, and a folder for programs."""

    def __init__(self, folder: Path, n_copies: int, n_queries: int) -> None:
        self.folder = folder
        self.corpus = folder / "corpus"
        self.corpus.mkdir()
        make_corpus(self.corpus, n_copies)
        self.index: Index = read_index(self.corpus)
        made = questions(list(self.index.chunks), n_queries)
        self.asked = [Question(f"q{number}", query.text, K) for number, (_, query) in enumerate(made)]

    def here(self) -> Measured:
        backend = Bm25Backend(self.index)
        backend.rank(Query("warm up"), K)
        started = time.perf_counter()
        for question in self.asked:
            backend.rank(Query(question.text), K)
        seconds = time.perf_counter() - started
        return Measured(0.0, seconds, seconds)

    def program(self, max_batch: int, processes: int) -> Measured:
        spent = self.folder / "spent"
        spent.mkdir(exist_ok=True)
        script = _PROGRAM.format(
            path=sys.path, corpus=str(self.corpus), max_batch=max_batch, spent=f"{spent}/"
        )
        command = (sys.executable, "-c", script)
        system = ProgramSystem("mine", Program(command, "", processes=processes), str(self.corpus))
        door = Door(self.index, "mine")
        started = time.perf_counter()
        # All processes must be up, so each gets a question before the clock runs.
        list(system.answer([Question(f"w{n}", "warm up", K) for n in range(processes)]))
        ready = time.perf_counter()
        answers = system.answer(self.asked)
        for question, answer in zip(self.asked, answers, strict=True):
            if isinstance(answer, FailedAnswer):
                sys.exit(answer.message)
            door.ranking(question, answer)
        total = time.perf_counter() - ready
        system.close()
        own = max(float(path.read_text()) for path in spent.iterdir())
        for path in spent.iterdir():
            path.unlink()
        return Measured(ready - started, total, own)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--copies", type=int, default=20)
    options = parser.parse_args()
    ways: dict[str, Callable[[Rig], Measured]] = {
        "in this process": Rig.here,
        "a program, batches of 64": lambda rig: rig.program(64, 1),
        "a program, one by one": lambda rig: rig.program(1, 1),
        "two processes, batches of 64": lambda rig: rig.program(64, 2),
    }
    with tempfile.TemporaryDirectory() as folder:
        rig = Rig(Path(folder), options.copies, options.queries)
        n_queries = len(rig.asked)
        print(f"{len(rig.index.chunks)} chunks, {n_queries} queries, medians of {options.runs} runs\n")
        print(f"{'bm25 ranks':<30}{'start s':>10}{'own ms':>10}{'all ms':>10}{'overhead ms':>14}")
        for name, way in ways.items():
            runs = [way(rig) for _ in range(options.runs)]
            start, total, own = (statistics.median(column) for column in zip(*runs, strict=True))
            cells = (own, total, total - own)
            shown = "".join(
                f"{1000 * seconds / n_queries:>{width}.3f}"
                for seconds, width in zip(cells, (10, 10, 14), strict=True)
            )
            print(f"{name:<30}{start:>10.2f}{shown}")


if __name__ == "__main__":
    main()
