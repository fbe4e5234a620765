"""The scrubbed text of a corpus' files by path, for those who look up what a label covers."""

from __future__ import annotations

from collections.abc import Iterable

from cce.domain.redaction import Redaction
from cce.retrieval.corpus.source_files import SourceFile, read_source, walk


class CorpusTexts:
    """Reads one file at a time and remembers none; the text is what is indexed, so it holds no secret."""

    def __init__(
        self,
        directory: str,
        paths: Iterable[str] | None = None,
        redaction: Redaction = Redaction.STANDARD,
    ) -> None:
        """`paths` are the files that may be read, in order; without them the directory is walked."""
        self._directory = directory
        self._redaction = redaction
        walked = walk(directory) if paths is None else None
        self.paths = tuple(paths or ()) if walked is None else walked.paths
        self.notices = () if walked is None else walked.notices
        self._known = frozenset(self.paths)

    def text(self, path: str) -> bytes | None:
        """The scrubbed text of the file `path`; None if the corpus has no such file or cannot index it."""
        if path not in self._known:
            return None
        source = read_source(self._directory, path, self._redaction)
        return source.text if isinstance(source, SourceFile) else None
