"""`cce fixtures`: keep labels true, and make new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cce.cli.exits import ExitCode, say, warn, write_result
from cce.cli.options import cache_option, directory_option, redact_option, require_one_corpus
from cce.cli.outputs import refuse_output, warn_of_indexed
from cce.cli.paths import FILE
from cce.cli.progress import Progress
from cce.errors import UsageError
from cce.quoting import on_one_line

if TYPE_CHECKING:
    from cce.domain.case import FixtureSet
    from cce.domain.redaction import RedactionChoice
    from cce.labels.revision import Revision
    from cce.labels.tracking.places import LineTable
    from cce.retrieval.indexing.cache import Cache
    from cce.retrieval.indexing.directory import IndexedCorpus, Watch

_STORE = click.option(
    "--store",
    type=FILE,
    metavar="FILE",
    help="Use the index in this store instead of a directory; pins stay unchecked.",
)
_WRITE = click.option("--write", is_flag=True, help="Change SET instead of showing a diff.")


@click.group(
    name="fixtures",
    short_help="check, pin, re-anchor, draft and label fixture sets",
    epilog="\b\nExamples:\n"
    "  cce fixtures lint eval/code.jsonl\n"
    "  cce fixtures pin eval/code.jsonl --write\n"
    "  cce fixtures reanchor eval/code.jsonl | patch -p0",
)
def command() -> None:
    """Keep the labels of a fixture set true to the code they label."""


@command.command(short_help="find labels that are wrong, stale or worth little")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@_STORE
@click.option("--json", "as_json", is_flag=True, help="Print the findings as cce.lint/v1 JSON.")
@click.option("--strict", is_flag=True, help="Warnings fail as well.")
@click.option(
    "--level",
    type=click.Choice(["error", "warning", "note"]),
    default="note",
    show_default=True,
    help="The least to report.",
)
@click.option(
    "--report", type=FILE, metavar="FILE", help="A saved report of SET, to say what spread it measured."
)
@redact_option
@cache_option
def lint(
    fixtures: str,
    directory: str | None,
    store: str | None,
    as_json: bool,
    strict: bool,
    level: str,
    report: str | None,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> int:
    """Check every label of SET against its corpus.

    Errors make figures wrong: anchors that match nothing, ids and anchors that are there twice, pins
    whose text moved or changed. Warnings make them mean little. Notes say what the set can show at all.

    Exit code 1 if there is an error (with --strict also for a warning), else 0.
    """
    from cce.domain.findings import SEVERITIES
    from cce.labels.lint import lint_set
    from cce.measurement.fixtures.reading import stream_entries
    from cce.measurement.reports.reading import read_saved_report
    from cce.report.json.findings import render_findings_json
    from cce.report.text.findings import render_findings
    from cce.retrieval.corpus.membership import notices_of_read
    from cce.retrieval.corpus.texts import CorpusTexts

    saved = None if report is None else read_saved_report(report)
    with Progress() as progress:
        indexed = _index(fixtures, directory, store, cache, redaction, progress)
        texts = CorpusTexts(indexed.root, indexed.index.positions_by_file, indexed.redaction)
        found = lint_set(fixtures, stream_entries(fixtures), indexed, texts, saved)
    own = {fixtures: "fixture set"} if report is None else {fixtures: "fixture set", report: "report"}
    for notice in (*indexed.notices, *notices_of_read(indexed, own)):
        warn(notice)
    least = next(known for known in SEVERITIES if known == level)
    write_result(render_findings_json(found, least) if as_json else render_findings(found, least))
    is_refused = found.count("error") or (strict and found.count("warning"))
    return ExitCode.REFUSED if is_refused else ExitCode.MEASURED


@command.command(short_help="note which text each anchor was made for")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@_WRITE
@click.option("--renew", is_flag=True, help="Renew stale pins as well: the labels hold for the new text.")
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case; may be repeated.")
@redact_option
def pin(
    fixtures: str,
    directory: str | None,
    write: bool,
    renew: bool,
    ids: tuple[str, ...],
    redaction: RedactionChoice,
) -> None:
    """Add a pin to each anchor of SET that has none: a fingerprint of the text that it covers.

    A pin shows when that text moves or changes. Without --write a diff is printed and nothing changes.
    """
    from cce.labels.pinning import pin_set
    from cce.labels.revision import Revision
    from cce.measurement.fixtures.reading import parse_fixture_set

    revision = Revision(fixtures)
    fixture_set = parse_fixture_set(revision.raw, fixtures)
    table = _line_table(fixture_set, directory, redaction)
    pinning = pin_set(fixture_set, revision, table, is_renewal=renew, only_ids=ids)
    for line in pinning.left:
        warn(line)
    summary = f"pins added: {pinning.n_added}, renewed: {pinning.n_renewed}, dropped: {pinning.n_removed}"
    if write:
        revision.write()
        write_result(f"{summary} -> {on_one_line(fixtures)}\n")
    else:
        say(f"{summary}; nothing is written without --write")
        write_result(revision.diff())


@command.command(short_help="let stale anchors follow their text")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@_WRITE
@redact_option
def reanchor(fixtures: str, directory: str | None, write: bool, redaction: RedactionChoice) -> None:
    """Find where the text of each stale pin of SET went.

    Anchors whose text moved, unchanged, are rewritten. Where it changed as well, or where two places
    cannot be told apart, the anchor is only listed. Without --write a diff is printed and nothing changes.
    """
    from cce.labels.reanchor import reanchor_set
    from cce.labels.revision import Revision
    from cce.labels.tracking.tracker import Tracker
    from cce.measurement.fixtures.reading import parse_fixture_set

    revision = Revision(fixtures)
    fixture_set = parse_fixture_set(revision.raw, fixtures)
    table = _line_table(fixture_set, directory, redaction)
    moves = reanchor_set(fixture_set.cases, revision, Tracker(table), table)
    place = on_one_line(fixtures)
    lines = [f"{place}:{move.case.line}: {move}" for move in moves]
    n_made = sum(move.is_made for move in moves)
    summary = f"{n_made} of {len(moves)} stale anchors re-anchored"
    if write:
        revision.write()
        write_result("".join(f"{line}\n" for line in [*lines, f"{summary} -> {place}"]))
    else:
        for line in lines:
            say(line)
        say(f"{summary}; nothing is written without --write")
        write_result(revision.diff())


@command.command(short_help="make cases to judge out of real queries")
@click.option(
    "--from", "source", required=True, type=FILE, metavar="FILE", help="Queries; - is standard input."
)
@directory_option("The directory to search; the current one by default.")
@click.option(
    "--store", type=FILE, metavar="FILE", help="Search the index in this store; label then needs --dir."
)
@click.option(
    "--k", type=click.IntRange(min=1), default=10, show_default=True, metavar="N", help="Results a backend."
)
@click.option("--backend", "backends", metavar="A,B,..", help="Backends to pool, all three by default.")
@click.option(
    "-o", "--output", default="-", type=FILE, metavar="FILE", help="A new file; standard output by default."
)
@redact_option
@cache_option
def draft(
    source: str,
    directory: str | None,
    store: str | None,
    k: int,
    backends: str | None,
    output: str,
    redaction: RedactionChoice,
    cache: Cache | None,
) -> None:
    """Turn real queries into drafts: cases with candidates, and no label.

    FILE has a query a line, or an object a line with the key "query", as a search log has. Queries
    with the same words are taken once. Judge the drafts with: cce fixtures label SET
    """
    from cce.cli.options import parse_backends
    from cce.labels.draft import parse_queries, render_drafts
    from cce.retrieval.corpus.membership import notices_of_read
    from cce.retrieval.indexing.directory import index_directory
    from cce.retrieval.indexing.leftovers import warn_of_leftovers
    from cce.usecases.pooling import pool_candidates
    from cce.usecases.search import index_of_store

    require_one_corpus(directory, store)
    names = parse_backends(backends)
    if output != "-":
        refuse_output(output, "-o")
        _require_new(output)
    queries = parse_queries(_read(source), source)
    if not queries.texts:
        raise UsageError(f"{on_one_line(source)}: no query with a token, write one a line")
    place = directory or "."
    # A store does not tell where its directory is, and a wrong place would show the wrong text to a judge.
    corpus = _relative(place, output) if store is None else None
    with Progress() as progress:
        if store is None:
            indexed = index_directory(place, progress, redaction=redaction.redaction, cache=cache)
        else:
            indexed = index_of_store(store, redaction)
        pools = pool_candidates(queries.texts, indexed.index, names, k, progress)
        text = render_drafts(queries.texts, pools, k, corpus)
    own = {} if source == "-" else {source: "file of queries"}
    for notice in (*indexed.notices, *notices_of_read(indexed, own), *warn_of_leftovers(indexed)):
        warn(notice)
    drafts = "1 draft" if len(queries.texts) == 1 else f"{len(queries.texts)} drafts"
    say(
        f"{drafts}; left out: {queries.n_repeated} with the words of another query,"
        f" {queries.n_wordless} without a token"
    )
    if output == "-":
        write_result(text)
        return
    _write_new(output, text)
    warn_of_indexed(place if store is None else None, {output: "set of drafts"})
    write_result(f"{drafts} -> {on_one_line(output)}\n")


@command.command(short_help="judge the candidates of drafts at the terminal")
@click.argument("fixtures", type=FILE, metavar="SET")
@directory_option()
@click.option("--case", "ids", multiple=True, metavar="ID", help="Only this case; may be repeated.")
@redact_option
def label(fixtures: str, directory: str | None, ids: tuple[str, ...], redaction: RedactionChoice) -> None:
    """Show one candidate of SET after another and take the answer.

    Every answer is written to SET at once. Whoever stops goes on where they stopped.
    """
    from cce.cli.labelling import run_session
    from cce.labels.labelling import LabelSession
    from cce.labels.revision import Revision
    from cce.labels.tracking.texts import AnchoredTexts
    from cce.retrieval.corpus.texts import CorpusTexts

    revision = Revision(fixtures)
    session = LabelSession(revision, ids)
    texts = CorpusTexts(_corpus_of_drafts(revision, directory), redaction=redaction.redaction)
    run_session(session, AnchoredTexts(texts), revision)


def _read(source: str) -> bytes:
    """The bytes of a file of queries, or of standard input."""
    import sys

    from cce.files import read_bytes, reading

    what = ("the queries", UsageError, "name a readable file")
    if source != "-":
        return read_bytes(source, *what)
    with reading(source, *what):
        return sys.stdin.buffer.read()


def _require_new(output: str) -> None:
    import os

    if os.path.lexists(output):
        raise UsageError(
            f"{on_one_line(output)}: is there already and may hold answers, name a new file with -o"
        )


def _write_new(output: str, text: str) -> None:
    from cce.files import write_file

    _require_new(output)  # again: drafting takes its time
    content = text.encode("utf-8", "backslashreplace")
    write_file(output, content, UsageError, "cannot be written: {}; name another file with -o")


def _relative(directory: str, output: str) -> str:
    """The corpus as a set in the file `output` names it; one on standard output is for this folder."""
    import os

    folder = os.path.dirname(output) if output != "-" else ""
    try:
        path = os.path.relpath(directory, folder or os.curdir)
    except ValueError:  # another drive of Windows
        path = os.path.abspath(directory)
    return path.replace(os.sep, "/")


def _index(
    fixtures: str,
    directory: str | None,
    store: str | None,
    cache: Cache | None,
    redaction: RedactionChoice,
    watch: Watch,
) -> IndexedCorpus:
    """The index to hold a set against: of a store, of the directory named, or of the set's own corpus."""
    from cce.retrieval.indexing.directory import index_directory
    from cce.usecases.search import index_of_store

    require_one_corpus(directory, store)
    if store is not None:
        return index_of_store(store, redaction)
    corpus = _corpus(fixtures, directory)
    return index_directory(corpus, watch, redaction=redaction.redaction, cache=cache)


def _corpus(fixtures: str, directory: str | None) -> str:
    """The corpus of the set `fixtures`, of which only the first entry is read."""
    from cce.usecases.evaluate import header_of

    return _corpus_of(header_of(fixtures), directory)


def _corpus_of_drafts(revision: Revision, directory: str | None) -> str:
    """The corpus of a set whose cases need not be whole."""
    from cce.domain.case import FixtureSet
    from cce.labels.labelling import corpus_in_header

    return _corpus_of(FixtureSet(revision.path, corpus_in_header(revision), ()), directory)


def _corpus_of(fixtures: FixtureSet, directory: str | None) -> str:
    """The corpus of a set of which only path and header matter."""
    from cce.usecases.evaluate import Plan, corpus_name, foreign_corpus

    corpus = corpus_name(Plan(fixtures.path, directory, (), is_comparison=False), fixtures)
    foreign = foreign_corpus(fixtures, corpus)
    if foreign is not None:
        warn(foreign)
    return corpus


def _line_table(fixtures: FixtureSet, directory: str | None, redaction: RedactionChoice) -> LineTable:
    from cce.labels.tracking.places import LineTable
    from cce.labels.tracking.texts import AnchoredTexts
    from cce.retrieval.corpus.texts import CorpusTexts

    texts = CorpusTexts(_corpus(fixtures.path, directory), redaction=redaction.redaction)
    for notice in texts.notices:
        warn(notice)
    return LineTable(AnchoredTexts(texts))
