"""Outputs against files of the user: links nobody typed, inputs as targets, files that change the next run.

    python eval/hardening/outputs.py

Each try plants a small repository beside a home folder, runs one command in this process, and looks at
every file afterwards. Each fault is printed, then tries and faults by kind. Exit code 1 with a fault.

links    a committed link stands where an output goes by default: a fault if a file elsewhere changes or comes
inputs   an output is given the path of a file that is read or indexed: a fault if that file changed
unseen   an output or an input of cce lies in the corpus: a fault if the next run indexes it and no warning
         names it, or if there is a warning although a .gitignore keeps it out
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from cce.cli.main import main as cce

RC = "export PATH=/bin\n"
FORMATS = ("text", "json", "markdown", "html", "junit", "github")
SET = [
    {"schema": "cce.relevance/v1", "corpus": "src"},
    {"id": "load", "query": "load $(touch /tmp/owned)", "expected": ["a.py"], "k": 1},
]
POLICY = 'schema = "cce.gate/v1"\nfixtures = "{fixtures}"\nbackend = "bm25"\nbaseline = "{baseline}"\n{more}'


class Try(NamedTuple):
    """One run: what is prepared is `links` (path, target) or hard links (path, `=target`), then `command`."""

    kind: str
    links: tuple[tuple[str, str], ...]
    command: tuple[str, ...]
    victim: str | None = None
    baseline: str = "base.json"
    more: str = ""
    fixtures: str = "set.jsonl"
    files: tuple[tuple[str, str], ...] = ()
    written: str | None = None
    is_kept_out: bool = False

    @property
    def name(self) -> str:
        links = "".join(f"{path} -> {target}; " for path, target in self.links)
        return f"{self.kind}: {links}cce {' '.join(self.command)}"


def link_tries() -> Iterator[Try]:
    """Links in a clone, whole and dangling, to files and folders, in one step and in two."""
    index = ("index", "src")
    yield Try("links", (("src/.cce", "../../home"),), index)
    yield Try("links", (("src/.cce", "../../home/new"),), index)
    yield Try("links", (("src/.cce", "lib"),), index)
    yield Try("links", (("src/.cce", ".."),), index)
    for target in ("../../../home/.bashrc", "../../../home/new", "../a.py", "../../set.jsonl"):
        yield Try("links", (("src/.cce/index.json", target),), index)
    yield Try("links", (("src/.cce/index.json", "two"), ("src/.cce/two", "../../../home/.bashrc")), index)
    yield Try("links", (("src/.cce/.gitignore", "../../../home/new"),), index)
    yield Try("links", (("src/.cce/.gitignore", "../../../home/.bashrc"),), index)
    for target in ("../home/.bashrc", "../home/new", "src/a.py", "set.jsonl"):
        yield Try("links", (("conformance.json", target),), ("conformance", "src"))
    accept = ("gate", "gate.toml", "--accept")
    for target in ("../home/.bashrc", "../home/new", "old.json"):
        yield Try("links", (("base.json", target),), accept)
    yield Try("links", (("runs", "../home"),), accept, baseline="runs/new.json")
    yield Try("links", (("runs", "../home"),), accept, baseline="runs/../.profile")


def input_tries() -> Iterator[Try]:
    """Every command that writes, times what it must not replace, times the spelling of that path."""
    in_corpus = ("src/a.py", "src/lib/b.py", "src/.gitignore", "src/notes.md", "src/.env", "src/other.jsonl")
    relevance = ("relevance", "set.jsonl", "--backend", "bm25")
    for victim in in_corpus:
        for form in FORMATS:
            yield _onto(victim, *relevance, "--report", f"{form}=@")
            yield _onto(victim, "gate", "gate.toml", "--report", f"{form}=@")
        yield _onto(victim, "conformance", "src", "-o", "@")
        yield _onto(victim, "fixtures", "draft", "--from", "q.txt", "--dir", "src", "-o", "@")
        yield _onto(victim, "relevance", "set.jsonl", "--store", "st.json", "--report", "html=@")
    for victim in (*in_corpus, "set.jsonl", "gate.toml", "old.json"):
        yield _onto(victim, "index", "src", "--store", "@")
        yield _onto(victim, "gate", "gate.toml", "--accept", baseline=victim)
    read = {
        "set.jsonl": relevance,
        "st.json": ("relevance", "set.jsonl", "--store", "st.json"),
        "old.json": ("compare", "old.json", "old.json", "--backend", "bm25"),
        "gate.toml": ("gate", "gate.toml"),
        "base.json": ("gate", "gate.toml"),
    }
    for victim, command in read.items():
        for form in FORMATS:
            yield _onto(victim, *command, "--report", f"{form}=@")
    stored = Try(
        "inputs", (), ("gate", "gate.toml", "--report", "json=st.json"), "st.json", more='store = "st.json"'
    )
    yield stored
    yield stored._replace(command=("gate", "gate.toml", "--accept"), baseline="st.json")
    for spelled in ("./src/../src/a.py", "src//a.py", "src/lib/../a.py"):
        yield Try("inputs", (), (*relevance, "--report", f"html={spelled}"), "src/a.py")
    for victim in ("src/a.py", "set.jsonl"):
        for made in (victim, f"={victim}"):
            yield Try("inputs", (("other", made),), (*relevance, "--report", "html=other"), "other")
            yield Try("inputs", (("other", made),), ("index", "src", "--store", "other"), "other")
    for rules in ("src/.gitignore", "src/lib/.gitignore", ".gitignore"):
        empty = ((rules, ""),)
        yield Try("inputs", (), (*relevance, "--report", f"text={rules}"), rules, files=empty)
        yield Try("inputs", (), ("index", "src", "--store", rules), rules, files=empty)


def _onto(victim: str, *command: str, baseline: str = "base.json") -> Try:
    return Try("inputs", (), tuple(word.replace("@", victim) for word in command), victim, baseline)


def unseen_tries() -> Iterator[Try]:
    """What cce writes or reads beside the set, in the corpus; each also where a .gitignore keeps it out."""
    relevance = ("relevance", "set.jsonl", "--backend", "bm25")
    tries = [
        *(_into("src/r.out", *relevance, "--report", f"{form}=src/r.out") for form in FORMATS),
        *(_into("src/r.out", "gate", "gate.toml", "--report", f"{form}=src/r.out") for form in FORMATS),
        _into("src/st.json", "index", "src", "--store", "src/st.json"),
        _into("src/lib/st.json", "index", "src", "--store", "./src/lib/../lib/st.json"),
        _into("src/c.json", "conformance", "src", "-o", "src/c.json"),
        _into("src/d.txt", "fixtures", "draft", "--from", "q.txt", "--dir", "src", "-o", "src/d.txt"),
        _into("src/q.txt", "fixtures", "draft", "--from", "src/q.txt", "--dir", "src"),
        _into("src/b.json", "gate", "gate.toml", "--accept")._replace(baseline="src/b.json"),
        _into("src/b.json", "gate", "gate.toml")._replace(baseline="src/b.json"),
        _into("src/p.toml", "gate", "src/p.toml"),
        _into("src/s.ndjson", "relevance", "src/s.ndjson", "--dir", "src"),
        _into("src/s.ndjson", "explain", "src/s.ndjson", "load", "--dir", "src"),
        _into("src/s.ndjson", "fixtures", "lint", "src/s.ndjson", "--dir", "src"),
        _into("src/s.ndjson", "bench", "src/s.ndjson", "--dir", "src", "--repeat", "1"),
        _into("src/o.json", "fixtures", "lint", "set.jsonl", "--report", "src/o.json"),
        _into("src/s.ndjson", "gate", "gate.toml")._replace(fixtures="src/s.ndjson"),
    ]
    for each in tries:
        yield each
        rules = (("src/.gitignore", f"{os.path.basename(each.written or '')}\n"),)
        yield each._replace(files=(*each.files, *rules), is_kept_out=True)


def _into(written: str, *command: str) -> Try:
    return Try("unseen", (), command, written=written)


def run(tried: Try) -> str | None:
    """Carry out one try in a new folder; what went wrong, None if nothing did."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["CCE_CACHE_DIR"] = os.path.join(folder, "cache")
        Path("home").mkdir()
        Path("home/.bashrc").write_text(RC)
        _plant(Path("repo"), tried)
        os.chdir("repo")
        before = _snapshot()
        code, told = _call(tried.command)
        after = _snapshot()
        if code not in (0, 1, 2):
            return f"exit code {code}: {told}"
        if tried.kind == "unseen":
            return _fault_unseen(tried, code, told)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        return _fault_changed(tried, changed, code)


def _fault_changed(tried: Try, changed: set[str], code: int) -> str | None:
    if tried.victim is not None:
        return f"{tried.victim} changed" if tried.victim in changed else None
    if tuple(path for path, _ in tried.links) == ("src/.cce/.gitignore",):
        changed.discard(os.path.join("src", ".cce", "index.json"))  # no link is on its way
    return f"{', '.join(sorted(changed))} changed, exit code {code}" if changed else None


def _fault_unseen(tried: Try, code: int, told: str) -> str | None:
    place = tried.written or ""
    if code == 2:
        return f"not measured: {told}"
    is_named = any(
        line.startswith("warning: ") and os.path.basename(place) in line and ".gitignore" in line
        for line in told.splitlines()
    )
    is_indexed = _is_indexed(place)
    if tried.is_kept_out:
        return f"{place} is kept out and named" if is_named or is_indexed else None
    return None if is_indexed and is_named else f"{place} indexed: {is_indexed}, named: {is_named}"


def _is_indexed(place: str) -> bool:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        cce(["conformance", "src", "-o", "-"])
    paths = {chunk["file_path"] for chunk in json.loads(out.getvalue())["chunks"]}
    return place.removeprefix("src/") in paths


def _call(command: Sequence[str]) -> tuple[int, str]:
    told = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(told):
        code = cce(list(command))
    return code, told.getvalue()


def _plant(repo: Path, tried: Try) -> None:
    files = {
        "src/a.py": "def load():\n    return 1\n",
        "src/lib/b.py": "def save():\n    return 2\n",
        "src/.gitignore": "nothing\n",
        "src/notes.md": "How to load.\n",
        "src/.env": "TOKEN=1\n",
        "src/other.jsonl": '{"query": "load", "expected": ["a.py"]}\n',
        "q.txt": "load\n",
        "src/q.txt": "load\n",
        "set.jsonl": _lines(SET),
        "src/s.ndjson": _lines([{"schema": "cce.relevance/v1", "corpus": "."}, *SET[1:]]),
        "src/p.toml": POLICY.format(fixtures="../set.jsonl", baseline="../base.json", more=""),
        "gate.toml": POLICY.format(fixtures=tried.fixtures, baseline=tried.baseline, more=tried.more),
    }
    for path, text in {**files, **dict(tried.files)}.items():
        target = repo / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    with contextlib.chdir(repo):
        _prepare(tried)


def _prepare(tried: Try) -> None:
    """Stores and reports as the tool makes them, then the links of somebody else."""
    _call(("index", "src", "--store", "st.json"))
    report = io.StringIO()
    with contextlib.redirect_stdout(report), contextlib.redirect_stderr(io.StringIO()):
        cce(["relevance", "set.jsonl", "--backend", "bm25", "--json"])
    for path in ("old.json", "base.json", "src/o.json"):
        Path(path).write_text(report.getvalue())
    if tried.baseline.startswith("src/b") and "--accept" not in tried.command:
        Path(tried.baseline).write_text(report.getvalue())
    for path, target in tried.links:
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).unlink(missing_ok=True)
        if target.startswith("="):
            os.link(target[1:], path)
        else:
            os.symlink(target, path)


def _lines(entries: Sequence[object]) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def _snapshot() -> dict[str, object]:
    """Every file of the repository and of the home folder by its path as seen from the repository."""
    found: dict[str, object] = {}
    for root in (".", "../home"):
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.normpath(os.path.join(folder, name))
                found[path] = Path(path).read_bytes() if os.path.exists(path) else os.readlink(path)
    return found


def tries() -> list[Try]:
    """All of them, in a fixed order."""
    return [*link_tries(), *input_tries(), *unseen_tries()]


def main() -> int:
    faults: list[str] = []
    counts: dict[str, list[int]] = {}
    for tried in tries():
        count = counts.setdefault(tried.kind, [0, 0])
        count[0] += 1
        fault = run(tried)
        if fault is not None:
            count[1] += 1
            faults.append(f"{tried.name}: {fault}")
    for line in faults:
        print(line)
    for kind, (n_tries, n_faults) in counts.items():
        print(f"{kind}: {n_tries} tries, {n_faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
