"""Where the corpus of a run is, and the one place that opens it.

What a user chose and a fixture set enter; the corpus as reports name it, or its index, leaves. A store
wins over a directory, and both win over the corpus that the set names.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from cce.domain.case import FixtureSet
from cce.domain.redaction import STANDARD, Redaction, RedactionChoice
from cce.errors import UsageError
from cce.measurement.fixtures.line import Header
from cce.measurement.fixtures.reading import stream_entries
from cce.quoting import listed, on_one_line, quoted
from cce.retrieval.corpus.membership import notices_of_read
from cce.retrieval.indexing.cache import Cache, default_cache
from cce.retrieval.indexing.directory import IndexedCorpus, ProgressCallback, index_directory

if TYPE_CHECKING:
    from cce.labels.tracking.texts import AnchoredTexts
    from cce.retrieval.corpus.texts import CorpusTexts
    from cce.retrieval.embedding.catalog import Embedder
    from cce.retrieval.store.reading import Store

# The values of the variable CI: "true" on GitHub, GitLab, CircleCI and Travis; some services set "1".
_CI_VALUES = ("true", "1")
_HERE = "."
_REDACTIONS = {each.value: each for each in (Redaction.STANDARD, Redaction.STRICT)}
_REDACT_VARIABLE = "CCE_REDACT"


class CorpusChoice(NamedTuple):
    """What the user said about the corpus: `--dir`, `--store`, `--redact` and `--no-cache`.

    A `cache` saves time and changes no result; None indexes from scratch.
    """

    directory: str | None = None
    store: str | None = None
    redaction: RedactionChoice = STANDARD
    cache: Cache | None = None


NO_CHOICE = CorpusChoice()
"""The corpus that the set names, indexed from scratch by the standard rules."""


def choose_corpus(
    directory: str | None, store: str | None, redact: str | None, *, is_cached: bool
) -> CorpusChoice:
    """The choice that these values spell; raises UsageError.

    redact  "standard" or "strict"; None for what CCE_REDACT says, or else the standard rules
    """
    redaction = _redaction_choice(redact)
    if directory is not None and store is not None:
        raise UsageError("--dir and --store exclude each other: a store holds the chunks of its directory")
    return CorpusChoice(directory, store, redaction, default_cache() if is_cached else None)


def _redaction_choice(typed: str | None) -> RedactionChoice:
    if typed is not None:
        return RedactionChoice(_redaction_called("--redact", typed), is_typed=True)
    found = os.environ.get(_REDACT_VARIABLE)
    return RedactionChoice(_redaction_called(_REDACT_VARIABLE, found)) if found else STANDARD


def _redaction_called(place: str, name: str) -> Redaction:
    if name not in _REDACTIONS:
        raise UsageError(f"{place} is {quoted(name)}: write standard or strict")
    return _REDACTIONS[name]


def corpus_of(choice: CorpusChoice, fixtures: FixtureSet | None = None) -> str:
    """The corpus as reports name it, a store or a directory: as given, never normalised.

    Without a set it is the current directory by default. Raises UsageError if the set names none, and under
    CI for one that the set names outside its git work tree: the set may come from a stranger, and reports
    show what the corpus holds.
    """
    if choice.store is not None:
        return choice.store
    if choice.directory is not None:
        return choice.directory
    if fixtures is None:
        return _HERE
    if fixtures.corpus is None:
        raise UsageError(
            f"{fixtures.path}: no corpus: give --dir DIR or --store FILE, or start the set with "
            '{"schema": "cce.relevance/v1", "corpus": "DIR"}'
        )
    named = _named_corpus(fixtures, fixtures.corpus)
    fault = foreign_corpus(fixtures, named)
    if fault is not None and is_ci():
        raise UsageError(fault)
    return named


def is_ci() -> bool:
    """Whether this is a run of continuous integration, where files may come from a stranger."""
    return os.environ.get("CI", "").lower() in _CI_VALUES


def foreign_corpus(fixtures: FixtureSet, corpus: str) -> str | None:
    """A warning if `corpus` is what the set names, and lies outside the git work tree that holds the set."""
    if fixtures.corpus is None or corpus != _named_corpus(fixtures, fixtures.corpus):
        return None
    from cce.work_tree import is_outside  # --dir and --store name the corpus elsewhere

    if not is_outside(corpus, fixtures.path):
        return None
    fault = f"its corpus {quoted(fixtures.corpus)} lies outside the git work tree that holds the set"
    way_out = "if it is meant, name it with --dir, or as dir in the policy of a gate"
    return f"{on_one_line(fixtures.path)}: {fault}: {way_out}"


def _named_corpus(fixtures: FixtureSet, corpus: str) -> str:
    # Joined with `/` on every system, so that the report's bytes are the same.
    return posixpath.join(os.path.dirname(fixtures.path), corpus)


def header_of(fixtures: str) -> FixtureSet:
    """The set at this path without its cases: only its first entry is read. Raises FixtureError."""
    _, first = next(stream_entries(fixtures))
    return FixtureSet(fixtures, first.corpus if isinstance(first, Header) else None, ())


def corpus_directories(choice: CorpusChoice, fixtures: str) -> tuple[str, ...]:
    """The directories that are indexed, or that a store was probably made from; raises CceError.

    Of the set `fixtures` only its first entry is read.
    """
    if choice.store is None:
        return (corpus_of(choice, header_of(fixtures)),)

    from cce.retrieval.store.place import directory_of

    beside = directory_of(choice.store)
    found = () if beside is None else (beside,)
    try:
        named = corpus_of(choice._replace(store=None), header_of(fixtures))
    except UsageError:  # the set names no corpus
        return found
    return (named, *found)


def open_corpus(
    choice: CorpusChoice,
    corpus: str,
    progress: ProgressCallback,
    *,
    embedder: Embedder | None = None,
    trusts_stat: bool = False,
) -> IndexedCorpus:
    """The index of what `corpus_of` named: read from a store, or built now. Raises CceError.

    embedder     what embeds the chunks of a directory, the hash embedder by default
    trusts_stat  read no file again that the cache knows with this size, time and inode; not for figures
    """
    if choice.store is not None:
        from cce.retrieval.store.reading import read_store  # it needs msgspec

        store = read_store(choice.store)
        notices = (
            *_redaction_notices(choice.store, store, choice.redaction),
            *_outdated(choice.store, store),
        )
        # Which files were left out of a store is unknown.
        return IndexedCorpus(choice.store, store.index, {}, notices, store.redaction)
    redaction = choice.redaction.redaction
    return index_directory(
        corpus,
        progress,
        embedder=embedder,
        redaction=redaction,
        cache=choice.cache,
        trusts_stat=trusts_stat,
    )


def _outdated(path: str, store: Store) -> Iterator[str]:
    """A notice if a store in its default place no longer matches the directory it lies in."""
    from cce.retrieval.store.freshness import compare_quickly
    from cce.retrieval.store.place import directory_of

    directory = directory_of(path)
    found = None if directory is None else compare_quickly(store, path, directory)
    if found is None or found.is_fresh:
        return
    groups = (("changed", found.changed), ("new", found.new), ("gone", found.deleted))
    counts = ", ".join(f"{len(paths)} {what}" for what, paths in groups if paths)
    paths = [*map(on_one_line, (*found.changed, *found.new, *found.deleted))]
    yield (
        f"{on_one_line(path)}: no longer matches its directory: {counts} ({listed(paths, len(paths), 3)}): "
        f"index it again with: cce index {on_one_line(found.directory)}"
    )


def _redaction_notices(path: str, store: Store, choice: RedactionChoice) -> tuple[str, ...]:
    """A notice if `store` was made by other rules than asked for; UsageError if they were typed."""
    wanted = choice.redaction
    if store.redaction is wanted or not (choice.is_typed or wanted is Redaction.STRICT):
        return ()
    made = (
        "without scrubbing" if store.redaction is Redaction.OFF else f"with --redact {store.redaction.value}"
    )
    fault = f"{on_one_line(path)}: this store was made {made}, asked for is {wanted.value}"
    way_out = f"index its directory again with: cce index DIR --redact {wanted.value}"
    if choice.is_typed:
        raise UsageError(f"{fault}: {way_out}, or leave out --redact")
    return (f"{fault}: {way_out}",)


def corpus_notices(fixtures: FixtureSet, indexed: IndexedCorpus, read: Mapping[str, str]) -> tuple[str, ...]:
    """Notices about the corpus, one line each; `read` maps the files that this run reads to nouns."""
    foreign = foreign_corpus(fixtures, indexed.root) if indexed.is_directory else None
    return (
        *([] if foreign is None else [foreign]),
        *indexed.notices,
        *notices_of_read(indexed, read),
    )


def likely_secrets(indexed: IndexedCorpus) -> tuple[str, ...]:
    """A notice that counts likely secrets which the standard rules leave, for runs that write text."""
    from cce.retrieval.indexing.leftovers import (
        warn_of_leftovers,  # compiles many patterns; most runs write no text
    )

    return warn_of_leftovers(indexed)


def indexed_texts(indexed: IndexedCorpus) -> CorpusTexts:
    """The texts of the files that are indexed; nothing is read yet."""
    from cce.retrieval.corpus.texts import CorpusTexts  # few runs read a file again

    return CorpusTexts(indexed.root, indexed.index.positions_by_file, indexed.redaction)


def labelled_texts(choice: CorpusChoice, fixtures: FixtureSet) -> tuple[AnchoredTexts, tuple[str, ...]]:
    """The texts that the labels of `fixtures` are about, and notices of their corpus; raises CceError."""
    from cce.labels.tracking.texts import AnchoredTexts
    from cce.retrieval.corpus.texts import CorpusTexts

    corpus = corpus_of(choice, fixtures)
    foreign = foreign_corpus(fixtures, corpus)
    texts = CorpusTexts(corpus, redaction=choice.redaction.redaction)
    return AnchoredTexts(texts), (*([] if foreign is None else [foreign]), *texts.notices)
