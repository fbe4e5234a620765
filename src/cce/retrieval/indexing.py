"""From a directory to an index: walk, read and scrub, chunk, gather.

What was left out comes along with its reason, since an anchor may name it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cce.retrieval.chunking.treesitter import ChunkedFile, chunk_file
from cce.retrieval.corpus import Corpus, SkipReason, SourceFile, read_source, walk, why_absent
from cce.retrieval.embedding.contract import Embedder
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.index import Index, build_index

if TYPE_CHECKING:
    from cce.retrieval.embedding.contract import FloatMatrix

_BATCH = 64

Watch = Callable[[str, int, int, str], None]
"""Told how far the work is: verb, number done, number of all, noun."""


@dataclass(frozen=True, slots=True)
class IndexedCorpus:
    """An index with what the walk saw.

    `digests` has the SHA-256 of each file's scrubbed text in hex, `skipped` a reason for each file
    that was left out, `notices` are one line each.
    """

    root: str
    index: Index
    digests: Mapping[str, str]
    skipped: Mapping[str, SkipReason]
    notices: tuple[str, ...]

    def why_absent(self, path: str) -> str | None:
        """Why `path` is not indexed; None if there is no such file."""
        return why_absent(Corpus(self.root, (), self.skipped, ()), path)


def index_directory(
    directory: str, watch: Watch, *, embedder: Embedder | None = None, allow_secrets: bool = False
) -> IndexedCorpus:
    """The index of all files below `directory`; raises CorpusError or GrammarError."""
    walked = walk(directory)
    skipped = dict(walked.skipped)
    files: list[ChunkedFile] = []
    digests: dict[str, str] = {}
    for n_done, path in enumerate(walked.paths):
        watch("indexing", n_done, len(walked.paths), "files")
        source = read_source(directory, path, allow_secrets)
        if isinstance(source, SourceFile):
            files.append(chunk_file(source.path, source.text))
            digests[path] = text_digest(source.text)
        else:
            skipped[path] = source
    index = build_index(files, embedder or HashEmbedder())
    if not isinstance(index.embedder, HashEmbedder):
        index = index.with_embeddings(_embed_all(index, watch))
    return IndexedCorpus(directory, index, digests, skipped, walked.notices)


def _embed_all(index: Index, watch: Watch) -> FloatMatrix:
    """A model takes its time: ask it batch by batch, so that the user sees it work."""
    texts = [chunk.content for chunk in index.chunks]
    blocks = [np.empty((0, index.embedder.dimension))]
    for start in range(0, len(texts), _BATCH):
        watch("embedding", start, len(texts), "chunks")
        blocks.append(index.embedder.embed(texts[start : start + _BATCH]))
    embeddings: FloatMatrix = np.concatenate(blocks)
    return embeddings


def text_digest(text: bytes) -> str:
    """What tells whether a file's scrubbed text is still the same."""
    return hashlib.sha256(text).hexdigest()
