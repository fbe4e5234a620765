"""The draft format: queries in, and with a pool of candidates for each a set of unlabelled cases out.

A draft has no `expected`, so nothing can be scored before a person has judged its candidates;
`labelling` takes the answers. Which chunks are in a pool is decided by the use case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cce.domain.ranking import Chunk, Location
from cce.errors import FixtureError
from cce.json_text import is_mostly_brackets
from cce.measurement.fixtures.schema import SCHEMA
from cce.quoting import on_one_line
from cce.tokens import WHITE_SPACE, tokenize

_MAX_ID = 40  # characters; long enough for the words of most queries
_MAX_FIRST_LINE = 120
MODULE = "module"  # the kind of text that is no function and no class


@dataclass(frozen=True, slots=True)
class Queries:
    """Queries in input order, without repeats of the same set of tokens; and how many were left out."""

    texts: tuple[str, ...]
    n_repeated: int
    n_wordless: int


def parse_queries(raw: bytes, place: str) -> Queries:
    """The queries in `raw`: one per line, as plain text or as the key `query` of a JSON object.

    The first line that is not blank decides which. Raises FixtureError with the line number.
    """
    texts: list[str] = []
    is_ndjson: bool | None = None
    for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            text = line.decode().strip(WHITE_SPACE)
        except UnicodeDecodeError as exc:
            raise FixtureError(
                f"{on_one_line(place)}:{number}: not UTF-8, save the queries as UTF-8"
            ) from exc
        if not text:
            continue
        if is_ndjson is None:
            is_ndjson = _query_of(text) is not None
        query = _query_of(text) if is_ndjson else text
        if query is None:
            raise FixtureError(
                f"{on_one_line(place)}:{number}: each line must be an object with a query, like the first"
            )
        texts.append(query.strip(WHITE_SPACE))
    return _distinct(texts)


def _query_of(text: str) -> str | None:
    from pydantic_core import from_json  # plain queries need none

    raw = text.encode()
    try:
        value = from_json(raw) if text.startswith("{") and not is_mostly_brackets(raw) else None
    except ValueError:
        return None
    query = value.get("query") if isinstance(value, dict) else None
    return query if isinstance(query, str) else None


def _distinct(texts: Iterable[str]) -> Queries:
    kept: dict[bytes, str] = {}
    n_repeated = n_wordless = 0
    for text in texts:
        tokens = b" ".join(sorted(tokenize(text.encode())))
        if not tokens:
            n_wordless += 1
        elif kept.setdefault(tokens, text) is not text:
            n_repeated += 1
    return Queries(tuple(kept.values()), n_repeated, n_wordless)


class PooledChunk(NamedTuple):
    """A chunk, or another place, to judge and the backends that returned it, in the order they were asked."""

    chunk: Chunk | Location
    backends: tuple[str, ...]


def render_drafts(
    queries: Sequence[str], pools: Iterable[Sequence[PooledChunk]], k: int, corpus: str | None
) -> str:
    """A set of drafts: a header that names `corpus`, if known, then one line per query with its pool.

    pools  one per query, each in the order of the index, so that no ranking can be read from it
    """
    header = {"schema": SCHEMA} if corpus is None else {"schema": SCHEMA, "corpus": corpus}
    lines: list[Mapping[str, object]] = [header]
    for case_id, text, pool in zip(_ids(queries), queries, pools, strict=True):
        candidates = [candidate_of(pooled) for pooled in pool]
        lines.append({"id": case_id, "query": text, "k": k, "candidates": candidates})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def candidate_of(pooled: PooledChunk) -> dict[str, object]:
    """The candidate as a draft holds it."""
    chunk = pooled.chunk
    text = chunk.content.decode() if isinstance(chunk, Chunk) else chunk.text or ""
    first_line = text.partition("\n")[0].strip()[:_MAX_FIRST_LINE]
    return {
        "path": chunk.file_path,
        "kind": chunk.kind if isinstance(chunk, Chunk) else chunk.likeness or MODULE,
        "lines": [chunk.start_line, chunk.end_line],
        "first_line": first_line,
        "backends": pooled.backends,
    }


def _ids(queries: Iterable[str]) -> Iterator[str]:
    """A unique id for each query, made of its words."""
    taken: dict[str, int] = {}
    for query in queries:
        words = b"-".join(tokenize(query.encode())).decode()
        base = words[:_MAX_ID].strip("-")
        name = base
        while name in taken:
            taken[base] += 1
            name = f"{base}-{taken[base]}"
        taken[name] = 1
        yield name
