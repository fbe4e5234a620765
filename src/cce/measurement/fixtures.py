"""The door of the measurement wing: a file of labelled queries becomes a FixtureSet.

Bytes enter, one strict JSON object a line (`cce.relevance/v1`); frozen domain values leave, in file
order. The first bad line raises FixtureError: `path:line: fault, way out`. How an anchor is spelled
is the anchor's own affair; whether it can match anything in a corpus is said in `notices`.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from cce.domain.case import Case, FixtureSet
from cce.errors import CceError, FixtureError
from cce.measurement.fixture_line import Header, parse_entry
from cce.quoting import on_one_line

_CASE_WANTED = 'add a line such as {"query": "parse the config", "expected": ["config.py"]}'


def read_fixture_set(path: str) -> FixtureSet:
    """The fixture set in the file `path`; raises FixtureError when it cannot be read or parsed."""
    return parse_fixture_set(read_set_file(path), path)


def read_set_file(path: str) -> bytes:
    """The bytes of a set, whatever they spell; raises FixtureError when they cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except (OSError, ValueError) as exc:  # ValueError: a NUL in the path
        raise _unreadable(path, exc) from exc


def stream_entries(path: str) -> Iterator[tuple[bytes, Header | Case]]:
    """`parse_entries` of the file `path`, of which only one line is in memory at a time."""
    try:
        stream = open(path, "rb")  # noqa: SIM115 - closed below; only opening it is our door
    except (OSError, ValueError) as exc:
        raise _unreadable(path, exc) from exc
    with stream:
        yield from parse_entries((line.removesuffix(b"\n") for line in stream), path)


def _unreadable(path: str, exc: OSError | ValueError) -> FixtureError:
    reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return FixtureError(
        f"{on_one_line(path)}: cannot read the fixture set ({reason}), name a readable NDJSON file"
    )


def parse_fixture_set(raw: bytes, path: str) -> FixtureSet:
    """The fixture set that `raw` spells; `path` is only the place that messages name."""
    corpus: str | None = None
    cases: list[Case] = []
    # Only b"\n" ends a line: bytes.splitlines would break at a lone b"\r" as well.
    for _, entry in parse_entries(raw.removesuffix(b"\n").split(b"\n"), path):
        if isinstance(entry, Header):
            corpus = entry.corpus
        else:
            cases.append(entry)
    return FixtureSet(path, corpus, tuple(cases))


def parse_entries(lines: Iterable[bytes], path: str) -> Iterator[tuple[bytes, Header | Case]]:
    """What each line that is not blank says, beside that line; holds one line at a time.

    Raises FixtureError at the first bad line, and at the end if there was no case.
    """
    number, first_line, has_case = 0, None, False
    for number, line in enumerate(lines, start=1):
        try:
            text = line if number > 1 else line.removeprefix(codecs.BOM_UTF8)
            entry = parse_entry(text, number, first_line)
        except CceError as exc:
            raise FixtureError(f"{on_one_line(path)}:{number}: {exc}") from exc
        if entry is not None:
            first_line = first_line or number
            has_case = has_case or isinstance(entry, Case)
            yield line, entry
    if not has_case:
        place = f"{on_one_line(path)}:{max(number, 1)}"
        raise FixtureError(f"{place}: the set ends without a case, {_CASE_WANTED}")
