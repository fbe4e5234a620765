"""What writer and reader of a store agree on.

One JSON object: `spec_version`, `embedder`, for every embedder but `hash` also `embedder_model` and
`embedding_dim`, then `chunks`, `file_imports` and `file_tokens`. Three keys are our own, and other
readers pass over them: `file_digests`, path -> SHA-256 of the whole indexed text, tells exactly which
files changed since; `secrets_allowed`, only there when true, says that this text was not scrubbed, and
`redact`, only there when "strict", that it was by the strict rules.
"""

from __future__ import annotations

import re

FORMAT_VERSION = "1.0"
HASH = "hash"
"""The embedder of stores that name none; its vectors are recomputed from the content."""

_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def path_fault(path: str) -> str | None:
    """What is wrong with a file path of a store, which must stay below its corpus; None if nothing is."""
    if not path:
        return "is empty"
    if path.startswith("/") or _DRIVE.match(path):
        return "is absolute"
    if ".." in path.split("/"):
        return "leads out of the corpus"
    if "\0" in path:
        return "holds a NUL character"
    return None
