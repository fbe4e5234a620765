"""ripgrep: a search without an index and without scores. Needs `rg` (`pip install ripgrep`, or Debian's).

Pitfalls
  no ranking     files are searched in threads and come in the order in which they are done, so two runs
                 differ: `--sort path`. There is no score: windows of 20 lines are ranked here by how many
                 words of the query they hold, each counted once, then by path and line.
  query syntax   a query is a regular expression: `-F` takes it as text, and `-e` keeps it from being read as
                 an option. Words of one or two letters match nearly everything, so they are dropped.
  no path        then rg reads standard input where that is no terminal; hence the `.` at the end.
  what is read   hidden files are not. .gitignore files count only inside a git repository, unless
                 `--no-require-git` is given; a user's own settings are shut out with `--no-config`.
  exit code      1 means that nothing was found, not that something failed.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from typing import Any

from corpus_chunks import allowed, words

from cce.retriever_stub import serve

RG = ("rg", "--json", "--no-config", "--no-require-git", "--sort=path", "--ignore-case", "--fixed-strings")
WINDOW = 20

root: list[str] = []


def search(query: str, k: int, scope: dict[str, Any] | None = None) -> list[tuple[str, int, int, float]]:
    """The windows with the most words of the query, from their first match to their last."""
    wanted = sorted({word for word in words(query) if len(word) > 2})
    windows: dict[tuple[str, int], list[tuple[int, str]]] = defaultdict(list)
    for match in matches(wanted) if wanted else ():
        # What is not UTF-8 comes as {"bytes": ..} in place of {"text": ..}.
        path, text = (match[key].get("text", "") for key in ("path", "lines"))
        number = match["line_number"]
        windows[path.removeprefix("./"), number // WINDOW].append((number, text.lower()))
    within = allowed(scope, (path for path, _ in windows))
    found = []
    for (path, _), lines in windows.items():
        if path and (within is None or path in within):
            n_words = sum(any(word in line for _, line in lines) for word in wanted)
            found.append((path, lines[0][0], lines[-1][0], float(n_words)))
    return sorted(found, key=lambda window: (-window[3], window[:2]))[:k]


def matches(wanted: list[str]) -> list[dict[str, Any]]:
    """The lines that hold one of the words, as `--json` describes them."""
    patterns = [argument for word in wanted for argument in ("-e", word)]
    done = subprocess.run([*RG, *patterns, "--", "."], cwd=root[0], capture_output=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return [told["data"] for told in map(json.loads, done.stdout.splitlines()) if told["type"] == "match"]


serve(search, name="ripgrep", start=lambda corpus: root.append(corpus or "."))
