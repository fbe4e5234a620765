"""What the standard rules leave: an index in, one warning out if its text holds likely secrets.

Asked by the commands that write text of a corpus where others may read it. Nothing changes by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cce.domain.redaction import Redaction
from cce.quoting import on_one_line
from cce.retrieval.indexing.directory import IndexedCorpus
from cce.retrieval.indexing.index import Index, SegmentIndex
from cce.retrieval.redaction.sensitive import is_sensitive_if_strict
from cce.retrieval.redaction.strict import count_secrets


def warn_of_leftovers(indexed: IndexedCorpus) -> tuple[str, ...]:
    """One line where the strict rules would take more; none where they were used, or where none were."""
    if indexed.redaction is not Redaction.STANDARD:
        return ()
    n_by_path = {path: _n_likely(path, text) for path, text in _texts(indexed.index)}
    n_files = sum(1 for n in n_by_path.values() if n)
    if not n_files:
        return ()
    n_secrets = sum(n_by_path.values())
    secrets = "1 likely secret" if n_secrets == 1 else f"{n_secrets} likely secrets"
    files = "1 file" if n_files == 1 else f"{n_files} files"
    return (
        f"{on_one_line(indexed.root)}: the standard rules leave {secrets} in {files}; "
        "--redact strict leaves them out",
    )


def _n_likely(path: str, text: bytes) -> int:
    """A file that would not be opened at all counts as one at least."""
    return max(count_secrets(text, path), 1 if is_sensitive_if_strict(path) else 0)


def _texts(index: Index) -> Iterator[tuple[str, bytes]]:
    if isinstance(index, SegmentIndex):
        yield from zip(index.segment.paths, index.segment.texts, strict=True)
        return
    for path in index.positions_by_file:
        yield path, b"\n".join(chunk.content for chunk in index.outer_chunks_of(path))
