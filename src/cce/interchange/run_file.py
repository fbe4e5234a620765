"""The one reader of runs: a file becomes a Run, whatever its format.

The format is recognised by the content: people name runs as they like, and compress them.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from itertools import chain

from cce.domain.run import Run, RunOrder
from cce.errors import JsonError, OutsideSystemError
from cce.files import reading, reason
from cce.interchange.trec_run import N_COLUMNS, parse_trec_run
from cce.quoting import on_one_line
from cce.strict_json import parse_json

_READING = ("the run", OutsideSystemError, "name a readable file")
_GZIP = b"\x1f\x8b"
_KNOWN = (
    "a run is cce.run/v1 NDJSON, six TREC columns (qid Q0 docid rank score tag),"
    ' or ranx JSON {"qid": {"docid": 1.5}}'
)
_DEFAULT_ORDER = RunOrder()
_N_QREL_COLUMNS = 4


def read_run(path: str, order: RunOrder = _DEFAULT_ORDER) -> Run:
    """The run in the file `path`; raises OutsideSystemError with the place, the fault and the way out."""
    with reading(path, *_READING):
        stream = open(path, "rb")  # noqa: SIM115 - closed below; only opening it is our door
    with stream:
        return parse_run(_lines(stream, path), path, order)


def parse_run(lines: Iterable[bytes], path: str, order: RunOrder = _DEFAULT_ORDER) -> Run:
    """The run in `lines`, each with its line end or without; `path` is used in messages."""
    rest = iter(lines)
    first: list[bytes] = []
    for line in rest:
        first.append(line.removeprefix(codecs.BOM_UTF8) if not first else line)
        if first[-1].strip():
            break
    everything = chain(first, rest)
    start = first[-1].strip() if first else b""
    if start.startswith(b"{"):
        return _parse_json_run(start, everything, path, order)
    n_columns = len(start.split(None, N_COLUMNS - 1))
    if n_columns == N_COLUMNS:
        return parse_trec_run(everything, path, order)
    place = f"{on_one_line(path)}:{max(len(first), 1)}"
    if n_columns == _N_QREL_COLUMNS:
        raise OutsideSystemError(f"{place}: four columns are judgments, read them with cce import qrels FILE")
    raise OutsideSystemError(f"{place}: this is no run; {_KNOWN}")


def _parse_json_run(start: bytes, lines: Iterable[bytes], path: str, order: RunOrder) -> Run:
    # msgspec and json cost some milliseconds: only for runs in JSON.
    if _is_entry(start):
        from cce.interchange.recorded_run import parse_recorded_run

        return parse_recorded_run(lines, path)
    from cce.interchange.ranx import parse_ranx_run

    return parse_ranx_run(b"".join(lines), path, order)


def _is_entry(line: bytes) -> bool:
    """Whether `line` is a whole object that is no ranx run: one of its values is no object."""
    try:
        value = parse_json(line)
    except JsonError:
        return False
    return isinstance(value, dict) and any(not isinstance(each, dict) for each in value.values())


def _lines(stream: BufferedReader, path: str) -> Iterator[bytes]:
    """The lines of `stream`, decompressed if need be."""
    try:
        is_compressed = stream.peek(len(_GZIP)).startswith(_GZIP)  # a pipe cannot go back
        yield from gzip.GzipFile(fileobj=stream) if is_compressed else stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        fault = f"cannot decompress it ({on_one_line(str(exc))})"
        raise OutsideSystemError(f"{on_one_line(path)}: {fault}, the file is damaged or cut off") from exc
    except OSError as exc:
        raise OutsideSystemError(f"{on_one_line(path)}: cannot read the run ({reason(exc)})") from exc
