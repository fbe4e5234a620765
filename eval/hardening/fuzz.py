"""Damaged inputs by the thousand: a command measures them, or says in one line what is wrong.

    python eval/hardening/fuzz.py [--tries 2000] [--seed 0] [--kind set,draft,..]

Each try damages one small sound input (a set, a draft, a policy, a report, a baseline, a store or a rule
file), runs one command on it in a process of its own, and looks at how that ended. It is a fault if it

    bug      ends with 3, the exit code for a fault of our own
    refused  ends with 1 although it has no verdict to give, or says nothing
    silent   ends with 2 and not exactly one line that starts with `error: `
    trace    shows a traceback
    killed   ends by a signal, takes more than SECONDS or more than MEGABYTES
    left     leaves a file in the folder for temporary files

The same seed gives the same inputs. The last line counts tries and faults; the exit code is 1 if there is
a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from cce.cli.main import main as run_command

SECONDS = 20
MEGABYTES = 600
MEASURED, REFUSED, NOT_MEASURED, BUG = 0, 1, 2, 3
ANSWERS = b"y\n1\nn\n3\nu\n2\ns\nh\nq\n"

CORPUS = {
    "desk/fees.py": "import os\n\n\ndef overdue_fee(days):\n    return min(days * 10, 300)\n\n\nclass Desk:\n"
    "    def lend(self, card):\n        return card\n",
    "desk/cards.js": "import x from './fees';\nexport function card(id) { return id; }\n",
    "README.md": "# Desk\n\nLends books and charges a fee.\n",
    "empty.txt": "",
}
HEADER = {"schema": "cce.relevance/v1", "corpus": "corpus"}
CASES = [
    {
        "id": "fee",
        "query": "overdue fee of a day",
        "expected": ["desk/fees.py@4-5", "README.md"],
        "k": 3,
        "tags": ["code"],
        "grades": {"README.md": 1},
        "critical": True,
        "note": "cap",
        "pins": {"README.md": "0123456789abcdef", "desk/fees.py@4-5": "fedcba9876543210"},
        "traces": {
            "desk/fees.py@4-5": {"lines": "abcd1234", "near": ["0000", "1111"], "file": 9, "twins": []}
        },
    },
    {"id": "card", "query": "card id", "expected": ["desk/cards.js#function_declaration"], "k": 5},
    {"query": "lend", "expected": ["#class_definition"]},
]
DRAFT = {
    "id": "draft",
    "query": "lend a card",
    "k": 3,
    "candidates": [
        {
            "path": "desk/fees.py",
            "kind": "class_definition",
            "lines": [8, 10],
            "first_line": "x",
            "backends": ["bm25"],
        },
        {
            "path": "README.md",
            "kind": "module",
            "lines": [1, 4],
            "first_line": "# Desk",
            "backends": ["bm25", "vector"],
        },
    ],
    "expected": [],
    "grades": {},
}
POLICY = """\
schema = "cce.gate/v1"
fixtures = "set.jsonl"
backend = "bm25"
baseline = "baseline.json"
dir = "corpus"
critical = ["fee"]
[floor]
recall = 0.0
[drop]
recall = 1.0
[evidence]
metrics = ["mrr"]
alpha = 0.05
min_effect = 0.01
seed = 1
resamples = 100
[slices.code.floor]
mrr = 0
"""

Tree = Any
Place = tuple[str | int, ...]

# As written: json.dumps could spell neither the long numbers nor the depth.
RAW = {
    "huge integer": "7" * 5000,
    "infinity": "1e400",
    "NaN": "NaN",
    "minus zero": "-0",
    "fraction": "5.0",
    "depth 150": "[" * 150 + "]" * 150,
    "depth 3000": "[" * 3000 + "]" * 3000,
    "depth 3000 of objects": '{"a":' * 3000 + "1" + "}" * 3000,
    "many lists": "[" + ",".join(["[[]]"] * 2000) + "]",
    "half a pair": '"x\\ud800"',
    "object with half a pair": '{"\\udfff":1}',
    "NUL": '"a\\u0000b"',
    "escapes": '"\\u001b[31m\\u202e\\r"',
    "long string": '"' + "ab " * 20000 + '"',
}
PLAIN: tuple[Tree, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**63,
        2**64,
        0.5,
        "",
        " ",
        "x",
        "a.py@1-99999999999999",
        "a.py@9-3",
        "é\u2028ü",
    ),
    *(
        [],
        [1],
        [None],
        [[]],
        ["a.py"],
        ["a.py", "a.py"],
        {},
        {"a": 1},
        {"": None},
        {"a.py": 2},
        [{}],
        [{"path": 1}],
    ),
)
LONG_KEY = ".".join(["a"] * 40_000)
BAD_KEYS = ("\ud800", "", "a\u0000", "expected", "k", "id", "schema", "query", "x" * 3000)
TOML_VALUES = (
    *(
        f"0x{'f' * 5000}",
        f"0o{'7' * 5000}",
        f"0b{'1' * 15000}",
        "9" * 5000,
        "inf",
        "nan",
        "-1",
        "1e999",
        '""',
    ),
    *(
        "[" * 3000 + "]" * 3000,
        "{a=" * 300 + "1" + "}" * 300,
        '"\\u0000"',
        '"\\u001b[31m"',
        "1979-05-27T07:32:00Z",
    ),
    *(
        "[]",
        "[[]]",
        "{}",
        "true",
        "''",
        "0xff",
        "07",
        '"""a\nb"""',
        "[1]",
        '["x", 0x' + "f" * 4000 + "]",
        "/etc",
    ),
)
RULES = (
    "[a",
    "a[",
    "[!",
    "[]",
    "[]]",
    "\\[",
    "[a-",
    "[[:alpha:]",
    "[z-a]",
    "{a,b",
    "**",
    "/",
    "!",
    "\\",
    "a/**/b",
    "*[",
)


PRELOADED = (
    *(
        "cce.cli.relevance",
        "cce.cli.compare",
        "cce.cli.gate",
        "cce.cli.explain",
        "cce.cli.stats",
        "cce.cli.search",
    ),
    *(
        "cce.cli.fixtures",
        "cce.cli.index",
        "cce.usecases.gate",
        "cce.labels.lint",
        "cce.labels.labelling",
        "pydantic_core",
    ),
    *(
        "cce.measurement.reports.pairing",
        "cce.retrieval.store.reading",
        "cce.usecases.search",
        "cce.retrieval.indexing.workers",
    ),
    *("cce.retrieval.chunking.treesitter", "cce.measurement.gate.policy_tables", "scipy.special"),
)


class Ending(NamedTuple):
    """How one command ended: `code` is negative for a signal."""

    code: int
    stdout: bytes
    stderr: bytes
    megabytes: float
    n_left: int


class Try(NamedTuple):
    """One damaged input and the command that reads it."""

    kind: str
    damage: str
    arguments: tuple[str, ...]
    is_verdict: bool = False
    """Whether exit code 1 is an answer."""


def places(tree: Tree, place: Place = ()) -> list[Place]:
    found = [place]
    if isinstance(tree, dict):
        found += [deep for key, value in tree.items() for deep in places(value, (*place, key))]
    elif isinstance(tree, list):
        found += [deep for number, value in enumerate(tree) for deep in places(value, (*place, number))]
    return found


def damaged_json(tree: Tree, rng: random.Random) -> tuple[str, str]:
    """The text of a copy of `tree` with one to three faults, and what they are."""
    tree = json.loads(json.dumps(tree))
    raws: dict[str, str] = {}
    told = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.choice(places(tree)[1:] or [()])
        if not place:
            break
        holder = tree
        for step in place[:-1]:
            holder = holder[step]
        fault = rng.choice(("plain", "plain", "raw", "raw", "drop", "rename", "twice"))
        told.append(f"{fault} at {'.'.join(map(str, place))}")
        if fault == "drop":
            del holder[place[-1]]
        elif fault == "rename" and isinstance(holder, dict):
            holder[rng.choice(BAD_KEYS)] = holder.pop(place[-1])
        elif fault == "twice" and isinstance(holder, list) and isinstance(place[-1], int):
            holder.append(holder[place[-1]])
        elif fault == "raw":
            name = rng.choice(sorted(RAW))
            told[-1] += f" ({name})"
            mark = f"@@{len(raws)}@@"
            raws[mark] = RAW[name]
            holder[place[-1]] = mark
        else:
            holder[place[-1]] = json.loads(json.dumps(rng.choice(PLAIN)))
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5 or _has_half_a_pair(tree))
    for mark, raw in raws.items():
        text = text.replace(f'"{mark}"', raw)
    return text, "; ".join(told)


def _has_half_a_pair(tree: Tree) -> bool:
    return re.search(r"\\ud[89a-f]", json.dumps(tree)) is not None


def damaged_bytes(raw: bytes, rng: random.Random) -> tuple[bytes, str]:
    """`raw` as no editor would leave it."""
    at = rng.randrange(len(raw) + 1)
    match rng.choice(("cut", "insert", "insert", "swap", "BOM", "CR", "UTF-16", "nothing", "depth", "width")):
        case "cut":
            return raw[:at], f"cut at {at}"
        case "insert":
            piece = rng.choice(
                (b"\xff", b"\x00", b"\n", b'"', b"[", b"{", b"\xed\xa0\x80", b"\\", b"\xef\xbb\xbf")
            )
            return raw[:at] + piece + raw[at:], f"{piece!r} at {at}"
        case "swap":
            return raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :], f"another byte at {at}"
        case "BOM":
            return b"\xef\xbb\xbf" * rng.choice((1, 2)) + raw, "byte order marks"
        case "CR":
            return raw.replace(b"\n", b"\r\n"), "CRLF"
        case "UTF-16":
            return raw.decode("utf-8", "replace").encode("utf-16"), "UTF-16"
        case "depth":
            return rng.choice((b"[", b'{"a":', b"[{")) * 2_000_000, "two million brackets"
        case "width" if b"{" in raw:
            wide = b'"z":[' + b"[]," * 10_000_000 + b"[]],"
            return raw.replace(b"{", b"{" + wide, 1), "ten million empty lists"
    return b"", "empty"


def lines_of(entries: Sequence[Tree]) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


class Bench:
    """A folder with sound inputs, of which each try damages one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for path, text in CORPUS.items():
            file = folder / "corpus" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        (folder / "tmp").mkdir()
        self.write("set.jsonl", lines_of([HEADER, *CASES]))
        self.write("gate.toml", POLICY.encode())
        self.report = self.run("relevance", "set.jsonl", "--json").stdout
        self.write("old.json", self.report)
        self.write("baseline.json", self.report)
        self.run("index", "corpus", "--store", "store.json")
        self.store = (folder / "store.json").read_bytes()
        if not self.report or self.run("gate", "gate.toml").code != MEASURED:
            raise SystemExit("the sound inputs cannot be measured")

    def write(self, name: str, content: bytes) -> None:
        (self.folder / name).write_bytes(content)

    def run(self, *arguments: str) -> Ending:
        """The command in a process of its own, which has its modules already."""
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            tempfile.TemporaryFile() as typed,
        ):
            typed.write(ANSWERS)
            typed.seek(0)
            child = os.fork()
            if child == 0:
                self._become(arguments, typed.fileno(), out.fileno(), err.fileno())
            _, status, usage = os.wait4(child, 0)
            out.seek(0)
            err.seek(0)
            left = list((self.folder / "tmp").iterdir())
            for path in left:
                _remove(path)
            code = os.waitstatus_to_exitcode(status)
            return Ending(code, out.read(), err.read(), usage.ru_maxrss / 1024, len(left))

    def _become(self, arguments: Sequence[str], *streams: int) -> None:
        code = 99
        try:
            signal.alarm(SECONDS)
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            for target, source in enumerate(streams):
                os.dup2(source, target)
            os.chdir(self.folder)
            os.environ["TMPDIR"] = tempfile.tempdir = str(self.folder / "tmp")
            os.environ["CCE_CACHE_DIR"] = str(self.folder / "cache")
            sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - the process ends
            sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115

            code = run_command(list(arguments))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)

    # One function a kind: it writes the damaged file and says what to run.

    def try_set(self, rng: random.Random) -> Try:
        entries = [HEADER, *CASES]
        number = rng.randrange(len(entries))
        lines = [json.dumps(entry) for entry in entries]
        if rng.random() < 0.8:
            lines[number], damage = damaged_json(entries[number], rng)
            raw = "".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass")
        else:
            raw, damage = damaged_bytes(lines_of(entries), rng)
        self.write("bad.jsonl", raw)
        arguments, is_verdict = rng.choice(
            (
                (("relevance", "bad.jsonl"), False),
                (("relevance", "bad.jsonl", "--json", "--evidence", "--resamples", "50"), False),
                (("relevance", "bad.jsonl", "--report", "markdown=-"), False),
                (("relevance", "bad.jsonl", "--report", "html=-"), False),
                (("fixtures", "lint", "bad.jsonl"), True),
                (("fixtures", "lint", "bad.jsonl", "--json", "--dir", "corpus"), True),
                (("fixtures", "pin", "bad.jsonl", "--renew"), False),
                (("fixtures", "reanchor", "bad.jsonl"), False),
                (("fixtures", "label", "bad.jsonl"), False),
                (("explain", "bad.jsonl", "fee"), False),
                (("fixtures", "draft", "--from", "bad.jsonl", "--dir", "corpus"), False),
            )
        )
        return Try("set", damage, arguments, is_verdict)

    def try_draft(self, rng: random.Random) -> Try:
        if rng.random() < 0.85:
            text, damage = damaged_json(DRAFT, rng)
            raw = lines_of([HEADER]) + text.encode("utf-8", "surrogatepass") + b"\n"
        else:
            raw, damage = damaged_bytes(lines_of([HEADER, DRAFT]), rng)
        self.write("draft.jsonl", raw)
        arguments = rng.choice(
            (("fixtures", "label"), ("fixtures", "label"), ("fixtures", "label"), ("relevance",))
        )
        return Try("draft", damage, (*arguments, "draft.jsonl"))

    def try_policy(self, rng: random.Random) -> Try:
        lines = POLICY.splitlines()
        numbers = [number for number, line in enumerate(lines) if " = " in line]
        if rng.random() < 0.8:
            number = rng.choice(numbers)
            key = lines[number].partition(" = ")[0]
            key = rng.choice((key, key, key, key, key, key, '"\\u001b"', "x" * 2000, "a.b.c", LONG_KEY))
            value = rng.choice(TOML_VALUES)
            lines[number] = f"{key} = {value}"
            raw, damage = "\n".join(lines).encode(), f"{key[:20]} = {value[:20]}"
        else:
            raw, damage = damaged_bytes(POLICY.encode(), rng)
        self.write("bad.toml", raw)
        return Try(
            "policy", damage, ("gate", "bad.toml", *rng.choice(((), ("--json",), ("--strict",)))), True
        )

    def _bad_report(self, rng: random.Random) -> str:
        if rng.random() < 0.8:
            text, damage = damaged_json(json.loads(self.report), rng)
            self.write("bad.json", text.encode("utf-8", "surrogatepass"))
        else:
            raw, damage = damaged_bytes(self.report, rng)
            self.write("bad.json", raw)
        return damage

    def try_report(self, rng: random.Random) -> Try:
        damage = self._bad_report(rng)
        arguments, is_verdict = rng.choice(
            (
                (("compare", "old.json", "bad.json", "--backend", "bm25"), False),
                (("compare", "bad.json", "old.json", "--common", "--backend", "hybrid"), False),
                (("compare", "bad.json", "old.json", "--json", "--evidence"), False),
                (("compare", "old.json", "bad.json", "--report", "junit=-"), False),
                (("fixtures", "lint", "set.jsonl", "--report", "bad.json"), True),
            )
        )
        return Try("report", damage, arguments, is_verdict)

    def try_baseline(self, rng: random.Random) -> Try:
        damage = self._bad_report(rng)
        self.write("base.toml", POLICY.replace("baseline.json", "bad.json").encode())
        return Try(
            "baseline", damage, ("gate", "base.toml", *rng.choice(((), ("--json",), ("--accept",)))), True
        )

    def try_store(self, rng: random.Random) -> Try:
        if rng.random() < 0.8:
            text, damage = damaged_json(json.loads(self.store), rng)
            self.write("bad-store.json", text.encode("utf-8", "surrogatepass"))
        else:
            raw, damage = damaged_bytes(self.store, rng)
            self.write("bad-store.json", raw)
        arguments = rng.choice(
            (
                ("stats", "--store", "bad-store.json"),
                ("search", "fee", "--store", "bad-store.json"),
                ("relevance", "set.jsonl", "--store", "bad-store.json", "--json"),
                ("explain", "set.jsonl", "fee", "--store", "bad-store.json"),
            )
        )
        return Try("store", damage, arguments)

    def try_rules(self, rng: random.Random) -> Try:
        folder = self.folder / "ruled"
        _remove(folder)
        shutil.copytree(self.folder / "corpus", folder)
        rules = "\n".join(rng.choice(RULES) for _ in range(rng.randrange(1, 6))).encode()
        if rng.random() < 0.3:
            rules, _ = damaged_bytes(rules, rng)
        damage = repr(rules[:40])
        target = folder / rng.choice((".gitignore", "desk/.gitignore"))
        if rng.random() < 0.2:
            (folder / "rules").write_bytes(rules)
            target.symlink_to(folder / "rules")
            damage += " by a link"
        else:
            target.write_bytes(rules)
        if rng.random() < 0.2:
            _nest(folder, 1000)
            damage += " over 1,000 nested folders"
        return Try("rules", damage, ("search", "fee", "--dir", "ruled"))


def _nest(folder: Path, depth: int) -> None:
    for _ in range(depth):
        folder /= "n"
        folder.mkdir()


def _remove(folder: Path) -> None:
    """All of it: `shutil.rmtree` calls itself for each level, and Python ends that at a thousand."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def faults(tried: Try, ending: Ending) -> list[str]:
    """What is wrong with how a try ended; nothing if all is well."""
    found = []
    if ending.code == BUG:
        found.append("bug")
    if ending.code == REFUSED and not (tried.is_verdict and ending.stdout):
        found.append("refused")
    lines = ending.stderr.split(b"\n")
    if ending.code == NOT_MEASURED and sum(line.startswith(b"error: ") for line in lines) != 1:
        found.append("silent")
    if b"Traceback (most recent" in ending.stderr:
        found.append("trace")
    if ending.code not in (MEASURED, REFUSED, NOT_MEASURED, BUG) or ending.megabytes > MEGABYTES:
        found.append("killed")
    if ending.n_left:
        found.append("left")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", default="set,draft,policy,report,baseline,store,rules")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process with threads should not be forked
    for module in PRELOADED:
        import_module(module)
    with tempfile.TemporaryDirectory() as made:
        bench = Bench(Path(made))
        makers: list[Callable[[random.Random], Try]] = [
            getattr(bench, f"try_{kind}") for kind in options.kind.split(",")
        ]
        for number in range(options.tries):
            rng = random.Random(f"{options.seed}:{number}")
            tried = makers[number % len(makers)](rng)
            ending = bench.run(*tried.arguments)
            counts[f"exit {ending.code}"] += 1
            for fault in faults(tried, ending):
                counts[fault] += 1
                last = ending.stderr.decode(errors="replace").strip().rpartition("\n")[2][:160]
                command = f"cce {' '.join(tried.arguments)}: {tried.damage}"
                print(f"{options.seed}:{number} {fault}: {command}: {ending.megabytes:.0f} MB, {last}")
        _remove(Path(made) / "ruled")
    exits = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()) if name.startswith("exit"))
    n_faults = sum(n for name, n in counts.items() if not name.startswith("exit"))
    by_name = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()) if not name.startswith("exit"))
    print(f"{options.tries} tries ({exits}), {n_faults} faults{f' ({by_name})' if by_name else ''}")
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
