"""Lint: the faults of a fixture set that make its figures wrong or less meaningful.

The lines of a set and an index enter, findings leave. The set is read line by line; only the hashes of
ids and queries stay in memory, about a hundred bytes per case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Protocol

from cce.domain.anchor import Anchor
from cce.domain.case import Case
from cce.domain.findings import Finding, Lint, Severity
from cce.labels.coverage import AnchoredChunks, Ceiling, IntVector, ceiling
from cce.labels.giveaways import N_WORDS, QuotedAnswers, SearchedIndex, quoted_file_name
from cce.labels.misses import Misses
from cce.labels.reanchor import find_moves
from cce.labels.sensitivity import sensitivity
from cce.labels.tracking.chunks import ChunksIn, no_chunks
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.texts import AnchoredTexts, Texts
from cce.labels.tracking.tracker import Tracker
from cce.measurement.fixtures.line import Entry
from cce.measurement.reports.reading import SavedReport
from cce.numerals import format_score
from cce.quoting import quoted
from cce.tokens import tokenize

_BROAD_SHARE = 4  # an anchor that matches more than 1/4 of all chunks is broad


class Indexed(Protocol):
    """What a set is checked against."""

    @property
    def index(self) -> SearchedIndex:
        """The chunks and their postings."""

    @property
    def is_directory(self) -> bool:
        """Whether there are files to read; a store has chunks only."""

    def why_absent(self, path: str) -> str | None:
        """Why `path` is not indexed, None if there is no such file."""


class Linter:
    """Checks one case after another against one index."""

    def __init__(self, path: str, indexed: Indexed, texts: Texts, chunks_in: ChunksIn) -> None:
        """`path` is the set's, for messages; `texts` are the files that are indexed, `chunks_in` names."""
        self._path = path
        self._has_files = indexed.is_directory
        self._chunks = AnchoredChunks(indexed.index.chunks)
        self._table = LineTable(AnchoredTexts(texts), chunks_in)
        self._tracker = Tracker(self._table)
        self._misses = Misses(self._chunks, self._table.texts, indexed.why_absent)
        self._quoted_answers = QuotedAnswers(indexed.index)
        self._line_of_id: dict[bytes, int] = {}
        self._line_of_query: dict[bytes, int] = {}
        self._most = [0.0, 0.0, 0.0]
        self.n_cases = 0

    def check(self, case: Case, line: bytes) -> Iterator[Finding]:
        """The findings about `case`, worst first; `line` has the bytes of its line."""
        self.n_cases += 1
        matched = [self._chunks.matched(anchor) for anchor in case.anchors]
        checks = (
            self._repeated_id(case),
            self._wordless_query(case),
            self._repeated_anchors(case),
            self._contradictions(case),
            self._unmatched_anchors(case, matched),
            self._stale_pins(case, line),
            self._broad_anchors(case, matched),
            self._giveaway(case, matched),
            self._same_query(case),
            self._leftover_pins(case),
            self._low_ceiling(case, matched),
        )
        for findings in checks:
            yield from findings

    def _repeated_id(self, case: Case) -> Iterator[Finding]:
        first = self._line_of_id.setdefault(_digest(case.id.encode()), case.line)
        if first != case.line:
            yield _finding(
                "error", "repeated-id", case, f"the id is that of line {first}, give each case its own"
            )

    def _wordless_query(self, case: Case) -> Iterator[Finding]:
        if not tokenize(case.query.encode()):
            yield _finding(
                "error",
                "wordless-query",
                case,
                f"the query {quoted(case.query)} has no token (A-Z, a-z, 0-9 or _) and finds nothing",
            )

    def _repeated_anchors(self, case: Case) -> Iterator[Finding]:
        counts = Counter((anchor.path, anchor.kind, anchor.lines) for anchor in case.anchors)
        for anchor in case.anchors:
            n = counts.pop((anchor.path, anchor.kind, anchor.lines), 0)
            if n > 1:
                message = f"{quoted(anchor.text)} stands {n} times in expected and counts as often, keep one"
                yield _finding("error", "repeated-anchor", case, message, anchor)

    def _contradictions(self, case: Case) -> Iterator[Finding]:
        expected = {anchor[1:] for anchor in case.anchors}
        for place in dict.fromkeys(case.irrelevant):
            if place[1:] in expected:
                message = f"{quoted(place.text)} stands in expected and in irrelevant, and counts as relevant"
                yield _finding("error", "contradiction", case, f"{message}: remove it from one", place)

    def _unmatched_anchors(self, case: Case, matched: Sequence[IntVector]) -> Iterator[Finding]:
        for anchor, positions in _once(case, matched):
            if not len(positions):
                message = f"{quoted(anchor.text)} matches no chunk: {self._misses.reason(anchor)}"
                yield _finding("error", "no-match", case, message, anchor)

    def _stale_pins(self, case: Case, line: bytes) -> Iterator[Finding]:
        # A store has chunks and no files, so the text at a pinned range is not known.
        if case.pins and self._has_files:
            for move in find_moves(case, self._path, line, self._tracker, self._table):
                message = f"{quoted(move.anchor.text)} is pinned, but {move.whereabouts}"
                yield _finding("error", "stale-pin", case, message, move.anchor)

    def _broad_anchors(self, case: Case, matched: Sequence[IntVector]) -> Iterator[Finding]:
        n_chunks = len(self._chunks.chunks)
        for anchor, positions in _once(case, matched):
            if _BROAD_SHARE * len(positions) > n_chunks:
                message = (
                    f"{quoted(anchor.text)} matches {len(positions)} of {n_chunks} chunks, over a quarter:"
                    " almost any ranking is right, name a place"
                )
                yield _finding("warning", "broad-anchor", case, message, anchor)

    def _giveaway(self, case: Case, matched: Sequence[IntVector]) -> Iterator[Finding]:
        name = quoted_file_name(case.query, case.anchors)
        if name is not None:
            message = f"the query holds the file name {quoted(name)}, so the label gives the answer away"
            yield _finding("warning", "giveaway", case, message)
        found = self._quoted_answers.quoted(case.query, matched)
        if found is not None:
            chunk = self._chunks.chunks[found[0]]
            message = (
                f"the query holds {N_WORDS} words in a row of its answer ({quoted(found[1])} in"
                f" {quoted(chunk.file_path)}), so the label gives the answer away"
            )
            yield _finding("warning", "giveaway", case, message)

    def _same_query(self, case: Case) -> Iterator[Finding]:
        tokens = sorted(tokenize(case.query.encode()))
        if tokens:
            first = self._line_of_query.setdefault(_digest(b" ".join(tokens)), case.line)
            if first != case.line:
                message = (
                    f"the query has the same tokens as that of line {first}, so both measure one thing twice"
                )
                yield _finding("warning", "same-query", case, message)

    def _leftover_pins(self, case: Case) -> Iterator[Finding]:
        for text in sorted(case.pins.keys() - {anchor.text for anchor in case.anchors}):
            message = f"pins has {quoted(text)}, which is not in expected; cce fixtures pin --write drops it"
            yield _finding("warning", "leftover-pin", case, message)

    def _low_ceiling(self, case: Case, matched: Sequence[IntVector]) -> Iterator[Finding]:
        most = ceiling(case, matched)
        self._most = [total + value for total, value in zip(self._most, most, strict=True)]
        below = _below_one(most, f"P@{case.k}")
        if below:
            yield _finding("note", "ceiling", case, f"no ranking can reach more than {below}")

    def about_the_set(self, saved: SavedReport | None) -> Iterator[Finding]:
        """The findings about all checked cases together."""
        below = _below_one(Ceiling(*(total / self.n_cases for total in self._most)), "P@k")
        if below:
            yield Finding("note", "ceiling", None, None, f"no ranking can reach a mean of more than {below}")
        yield from sensitivity(self.n_cases, saved)


def lint_set(
    path: str,
    entries: Iterable[tuple[bytes, Entry]],
    indexed: Indexed,
    texts: Texts,
    saved: SavedReport | None,
    chunks_in: ChunksIn = no_chunks,
) -> Lint:
    """All findings about the set `path`; its entries are read one by one.

    texts  the files that are indexed
    saved  a report of the set
    chunks_in  what names the chunks of a file
    """
    linter = Linter(path, indexed, texts, chunks_in)
    findings: list[Finding] = []
    for line, entry in entries:
        if isinstance(entry, Case):
            findings += linter.check(entry, line)
    findings += linter.about_the_set(saved)
    return Lint(path, linter.n_cases, tuple(findings))


def _finding(level: Severity, code: str, case: Case, message: str, anchor: Anchor | None = None) -> Finding:
    return Finding(level, code, case.line, case.id, message, None if anchor is None else anchor.text)


def _once(case: Case, matched: Sequence[IntVector]) -> Iterator[tuple[Anchor, IntVector]]:
    """The anchors of `case` without repeats, with the chunks that each matches."""
    pairs = dict(
        zip((anchor.text for anchor in case.anchors), zip(case.anchors, matched, strict=True), strict=True)
    )
    return iter(pairs.values())


def _below_one(most: Ceiling, precision: str) -> str:
    names = (precision, "recall", "F1")
    return ", ".join(
        f"{name} {format_score(value)}" for name, value in zip(names, most, strict=True) if value < 1.0
    )


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()
