"""What the programs of this folder share: the chunks of a corpus, its words, and a vector of a text.

The chunks are those of `cce index`, so every engine here ranks the same pieces as the built-in backends: a
difference between two figures comes from the ranking, not from the cutting.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pathspec import GitIgnoreSpec  # a dependency of cce

DIMENSION = 256


class Chunk(NamedTuple):
    """A function, a class or a file; lines from 1."""

    path: str
    start: int
    end: int
    kind: str
    text: str

    def result(self, score: float) -> dict[str, object]:
        """What a program answers: the place, and a score of which more is better."""
        return {"path": self.path, "start": self.start, "end": self.end, "kind": self.kind, "score": score}


def read_chunks(corpus: str | None) -> list[Chunk]:
    """The chunks of `cce index`, in its order."""
    if corpus is None:  # cce was started with --store
        sys.exit("this program reads files: start cce with a set whose corpus is a folder, or with --dir")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "index.json"
        command = [sys.executable, "-m", "cce", "index", corpus, "--store", str(store)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        found = json.loads(store.read_text("utf-8"))["chunks"]
    return [
        Chunk(one["file_path"], one["start_line"], one["end_line"], one["kind"], one["content"])
        for one in found
    ]


def words(text: str) -> list[str]:
    """The words of code and of prose: `waive_fee` and `waiveFee` are two each."""
    return re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower())


def embed(text: str) -> list[float]:
    """float[256]: how often each word occurs, hashed; it stands for a model, which would know synonyms.

    The last dimension is never 0: cosine is not defined for a vector of zeros, and engines differ there.
    """
    vector = [0.0] * (DIMENSION - 1) + [0.1]
    for word in words(text):
        number = zlib.crc32(word.encode())
        vector[number % (DIMENSION - 1)] += 1.0 if number >> 31 else -1.0
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector]


def allowed(scope: Mapping[str, Any] | None, paths: Iterable[str]) -> list[str] | None:
    """The paths that a query is limited to, each once and sorted; None where there is no limit."""
    if scope is None:
        return None
    include, exclude = scope.get("include"), GitIgnoreSpec.from_lines(scope.get("exclude") or ())
    within = GitIgnoreSpec.from_lines(["**"] if include is None else include)
    return sorted({path for path in paths if within.match_file(path) and not exclude.match_file(path)})
