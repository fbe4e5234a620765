"""A program that speaks `cce.retriever/v1`, and lies as its argument says; the standard library only.

    python lying_program.py BEHAVIOUR

A query is answered with the results that it spells: `a.py:3-9 b.py` gives two. The query `fault` is where
most behaviours show, so that others are answered as they should be.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Request = dict[str, Any]


def results(text: str) -> list[dict[str, Any]]:
    found = []
    for word in text.split():
        path, _, lines = word.partition(":")
        start, _, end = lines.partition("-")
        found.append({"path": path, **({"start": int(start), "end": int(end)} if lines else {})})
    return found


def answer(request: Request) -> dict[str, Any]:
    return {
        "id": request["id"],
        "results": [
            {"id": query["id"], "results": results(query["query"])[: query["k"]]}
            for query in reversed(request["queries"])  # in any order
        ],
    }


def write(record: dict[str, Any]) -> None:
    print(json.dumps(record), flush=True)


def replaced(request: Request, **members: Any) -> None:
    """An answer whose results are those given."""
    write({"id": request["id"], "results": [{"id": query["id"], **members} for query in request["queries"]]})


def raw(text: str) -> Callable[[Request], None]:
    def send(request: Request) -> None:
        sys.stdout.buffer.write(text.encode("latin-1") % {b"id": str(request["id"]).encode()})
        sys.stdout.flush()

    return send


def late(request: Request) -> None:
    time.sleep(1.5)
    write(answer(request))


def half_a_line(request: Request) -> None:
    sys.stdout.write('{"id": 1, "resu')
    sys.stdout.flush()
    os._exit(0)


def flood(request: Request) -> None:
    for _ in range(160):
        sys.stderr.write("x" * 65_535 + "\n")  # 10 MiB
    sys.stderr.write("Error: the index is damaged\n")
    sys.stderr.flush()
    os._exit(3)


def flood_and_answer(request: Request) -> None:
    for _ in range(160):
        sys.stderr.write("x" * 65_535 + "\n")
    write(answer(request))


def long_line(request: Request) -> None:
    sys.stdout.write('{"id": "' + "x" * 17 * 2**20 + '"}\n')
    sys.stdout.flush()
    time.sleep(60)


def fork(request: Request) -> None:
    """A grandchild that is deaf and holds all pipes; the child itself ends."""
    script = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", script])
    sys.stderr.write(f"grandchild {process.pid}\n")
    sys.stderr.flush()
    os._exit(0)


def twice(request: Request) -> None:
    write(answer(request))
    write(answer(request))


def tell_secret(request: Request) -> None:
    sys.stderr.write(f"login {os.environ['MY_TOKEN']} refused, password = 'hunter2-hunter2'\n")
    print("token is", os.environ["MY_TOKEN"], flush=True)
    time.sleep(60)


FAULTS: dict[str, Callable[[Request], None]] = {
    "never": lambda _: time.sleep(60),
    "deaf": lambda _: time.sleep(60),
    "late": late,
    "print": lambda _: print("Loading model... 100%", flush=True),
    "half-line": half_a_line,
    "wrong-id": lambda request: write({**answer(request), "id": 99}),
    "dies": lambda _: os._exit(7),
    "killed": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "flood": flood,
    "flood-answer": flood_and_answer,
    "long": long_line,
    "fork": fork,
    "nan": raw('{"id": %(id)b, "results": [{"id": "c", "results": [{"path": "a.py", "score": NaN}]}]}\n'),
    "latin-1": raw('{"id": %(id)b, "results": [{"id": "c", "results": [{"path": "caf\xe9.py"}]}]}\n'),
    "missing": lambda request: write({"id": request["id"], "results": []}),
    "extra": lambda request: write(
        {
            "id": request["id"],
            "results": [*answer(request)["results"], {"id": "other", "results": []}],
        }
    ),
    "same": lambda request: write({"id": request["id"], "results": answer(request)["results"] * 2}),
    "types": lambda request: replaced(request, results=[{"path": 7}]),
    "half-range": lambda request: replaced(request, results=[{"path": "a.py", "start": 3}]),
    "both": lambda request: replaced(request, results=[], error={"message": "x"}),
    "neither": replaced,
    "error": lambda request: replaced(request, error={"code": "bad_query", "message": "unbalanced\nquote"}),
    "secret": tell_secret,
    "list": lambda _: print("[]", flush=True),
}


def greet(behaviour: str) -> None:
    hello: dict[str, Any] = {"op": "hello", "protocol": "cce.retriever/v1", "name": "liar", "version": "1.2"}
    hello["capabilities"] = [] if behaviour == "singles" else ["batch", "scope"]
    hello["max_batch"] = int(os.environ.get("MAX_BATCH", "64"))
    if behaviour == "hello-never":
        time.sleep(60)
    if behaviour == "hello-dies":
        sys.exit("no index at /nowhere")
    if behaviour == "hello-version":
        hello["protocol"] = "cce.retriever/v2"
    if behaviour == "hello-list":
        hello["protocol"] = ["cce.retriever/v1"]
    if behaviour == "hello-zero":
        hello["max_batch"] = 0
    if behaviour == "hello-print":
        print("Welcome!", flush=True)
    write(hello)


def note(record: object) -> None:
    """What it was told goes to the file LOG, a line each."""
    if "LOG" in os.environ:
        with open(os.environ["LOG"], "a") as log:
            log.write(json.dumps(record) + "\n")


def main() -> None:
    behaviour = sys.argv[1]
    note({"pid": os.getpid(), "environment": sorted(os.environ), "folder": os.getcwd()})
    if behaviour == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in sys.stdin:
        request = json.loads(line)
        note(request)
        if request["op"] == "hello":
            greet(behaviour)
        elif behaviour in FAULTS and any(query["query"] == "fault" for query in request["queries"]):
            FAULTS[behaviour](request)
        else:
            write(answer(request))
    if behaviour == "deaf":
        time.sleep(60)


main()
