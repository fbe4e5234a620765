"""Strict redaction put to the test: hostile texts in, counts out; or a directory in, what strict adds out.

python eval/hardening/redaction.py           tries and faults: slow texts, and texts that a second run changes
python eval/hardening/redaction.py DIR [..]  each line of DIR that the strict rules change, and how many
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from cce.retrieval.redaction.assignments import WORDS
from cce.retrieval.redaction.shapes import ROWS
from cce.retrieval.redaction.standard import redact
from cce.retrieval.redaction.strict import redact_strictly

N_BYTES = 60_000
# Of the process itself. Linear work on such a text takes some hundredths, quadratic work minutes.
MAX_SECONDS = 2.0
_SIGNS = (b"", b"=", b":", b'="', b"=`", b'=\\"', b": |\n ", b">", b'=="', b"=a(", b"= ", b'","value":')
_FILLERS = tuple(bytes([sign]) for sign in b' \nAa0-_./\\"`=:[(<@')
_KEYS = (b"://", b"://a:", b"://a@", b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n", b"Private-Lines: 1\n")


def hostile_texts(n_bytes: int) -> Iterator[bytes]:
    """Each literal that a rule looks for, repeated, and followed by a run of one sign."""
    heads = [
        *(row.literal for row in ROWS),
        *(b"db_" + word + sign for word, _ in WORDS for sign in _SIGNS),
        *_KEYS,
    ]
    for head in heads:
        yield head * (n_bytes // len(head))
        for filler in _FILLERS:
            yield head + filler * n_bytes


def faults_of(text: bytes) -> Iterator[str]:
    """What is wrong with how `text` is scrubbed."""
    started = time.process_time()
    once = redact_strictly(text, "a.yml")
    if time.process_time() - started > MAX_SECONDS:
        yield f"slow: {text[:40]!r}"
    if redact_strictly(once, "a.yml") != once:
        yield f"changed by a second run: {text[:40]!r}"


def additions(directory: str) -> Iterator[str]:
    """The lines that the strict rules change and the standard ones leave."""
    for folder, _, names in os.walk(directory):
        for path in (os.path.join(folder, name) for name in sorted(names)):
            standard = redact(_text(path))
            strict = redact_strictly(standard, path)
            if strict != standard:
                pairs = zip(standard.split(b"\n"), strict.split(b"\n"), strict=True)
                yield from (f"{path}: {new[:160]!r}" for old, new in pairs if old != new)


def _text(path: str) -> bytes:
    """The text of a file that is worth a look; none of others."""
    try:
        text = Path(path).read_bytes()
        text.decode()
    except (OSError, UnicodeDecodeError):
        return b""
    return text


def main() -> int:
    """Print what was found; 1 if there was a fault."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", nargs="*")
    parser.add_argument("--bytes", type=int, default=N_BYTES, dest="n_bytes")
    arguments = parser.parse_args()
    if arguments.directory:
        lines = [line for directory in arguments.directory for line in additions(directory)]
        sys.stdout.write("".join(f"{line}\n" for line in [*lines, f"{len(lines)} lines"]))
        return 0
    texts = list(hostile_texts(arguments.n_bytes))
    faults = [fault for text in texts for fault in faults_of(text)]
    sys.stdout.write("".join(f"{line}\n" for line in [*faults, f"{len(texts)} tries, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
