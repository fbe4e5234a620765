"""Tiny corpora, and plain readings of the ranking rules to hold the fast ones against.

The plain readings follow the published formulas word by word, with dictionaries and loops, and share
nothing with the product but the ordering key, which has tests of its own.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from cce.domain.ranking import Chunk, Ranking
from cce.measurement.matching.spans import LineWeights
from cce.numerals import ordering_key
from cce.retrieval.chunking.treesitter import ChunkedFile, chunk_file
from cce.retrieval.counting.token_counts import TokenCounts
from cce.retrieval.embedding.catalog import Embedder
from cce.retrieval.embedding.hashing import HashEmbedder
from cce.retrieval.indexing.index import Index, SegmentIndex
from cce.retrieval.indexing.segment import Segment
from cce.retrieval.indexing.segmenting import build_segment
from cce.retrieval.scoring.scorer import Scores

WORD_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_"


def all_scores(scores: Scores, index: Index) -> list[float]:
    """The scores of all chunks, in index order."""
    return scores.at(range(len(index.chunks)))


def make_chunk(
    path: str, content: str, start_line: int = 1, end_line: int | None = None, identity: str | None = None
) -> Chunk:
    """A chunk with the id that its place and content give, unless the test wants another."""
    encoded = content.encode()
    end_line = start_line + content.count("\n") if end_line is None else end_line
    digest = hashlib.sha256(f"{path}:{start_line}:{end_line}:".encode() + encoded[:100]).hexdigest()
    return Chunk(
        identity or digest[:16],
        path,
        start_line,
        end_line,
        "function",
        "function_definition",
        "python",
        encoded,
        max(1, len(encoded) // 4),
    )


def build_index(files: Sequence[ChunkedFile], embedder: Embedder) -> SegmentIndex:
    """The index of `files`, which come in path order."""
    digests = [hashlib.sha256(file.text).digest() for file in files]
    return SegmentIndex(build_segment(files, digests), embedder)


def index_chunks(chunks: Sequence[Chunk], imports: Mapping[str, tuple[str, ...]] | None = None) -> Index:
    """An index of chunks made by hand, in the order given."""
    return Index(chunks, imports or {}, {}, HashEmbedder())


def index_texts(*texts: str) -> Index:
    """One plain-text file a text, `0.txt` first."""
    return index_files({f"{number}.txt": text for number, text in enumerate(texts)})


def index_files(files: Mapping[str, str]) -> Index:
    """An index of whole files, chunked as on disk."""
    return build_index([chunk_file(path, files[path].encode()) for path in sorted(files)], HashEmbedder())


def line_weights(chunks: Iterable[Chunk]) -> LineWeights:
    """The weights of the lines of chunks made by hand, in the order given."""
    by_file: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_file.setdefault(chunk.file_path, []).append(chunk)
    return LineWeights(lambda path: by_file.get(path, []))


def paths(ranking: Ranking) -> list[str]:
    return [hit.chunk.file_path for hit in ranking]


def scored(ranking: Ranking) -> list[tuple[Chunk, float]]:
    return [(hit.indexed, hit.measured) for hit in ranking]


def plain_tokens(text: bytes) -> list[bytes]:
    """Words letter by letter."""
    words, word = [], b""
    for letter in text + b" ":
        lowered = bytes([letter + 32]) if 65 <= letter <= 90 else bytes([letter])
        if lowered in WORD_BYTES:
            word += lowered
        elif word:
            words.append(word)
            word = b""
    return words


def plain_fnv(token: bytes) -> int:
    digest = 0xCBF29CE484222325
    for letter in token:
        digest = (digest ^ letter) * 0x100000001B3 % 2**64
    return digest


def plain_embedding(text: bytes) -> list[float]:
    vector = [0.0] * 256
    for token in plain_tokens(text):
        digest = plain_fnv(token)
        vector[digest % 256] += -1.0 if digest >> 63 else 1.0
    squares = 0.0
    for value in vector:
        squares += value * value
    norm = math.sqrt(squares)
    return [value / norm for value in vector] if norm > 0 else vector


def plain_cosine(left: Sequence[float], right: Sequence[float]) -> float:
    total = 0.0
    for a, b in zip(left, right, strict=True):
        total += a * b
    return total


def plain_cosines(index: Index, query: str) -> list[float]:
    vector = plain_embedding(query.encode())
    return [plain_cosine(vector, plain_embedding(chunk.content)) for chunk in index.chunks]


def plain_bm25(index: Index, query: str) -> list[float]:
    bags = [plain_tokens(chunk.content) for chunk in index.chunks]
    scores = [0.0] * len(bags)
    unique: list[bytes] = []
    for token in plain_tokens(query.encode()):
        if token not in unique:
            unique.append(token)
    for token in unique:
        n = len([bag for bag in bags if token in bag])
        for position, bag in enumerate(bags):
            f = bag.count(token)
            if f:
                idf = math.log(1 + (len(bags) - n + 0.5) / (n + 0.5))
                avgdl = sum(map(len, bags)) / len(bags)
                scores[position] += idf * (f * 2.2) / (f + 1.2 * (1 - 0.75 + 0.75 * len(bag) / avgdl))
    return scores


def plain_order(index: Index, scores: Mapping[int, float]) -> list[int]:
    """Positions by key descending, then by id; what shares an id keeps index order."""
    return sorted(
        sorted(scores),
        key=lambda position: (-ordering_key(scores[position]), index.chunks[position].chunk_id),
    )


def plain_neighbours(files: Sequence[str], imports: Mapping[str, Sequence[str]], path: str) -> list[str]:
    def resolve(name: str) -> str | None:
        for file in files:
            base = file.split("/")[-1]
            if (base[: base.rindex(".")] if "." in base[1:] else base) == name:
                return file
        return next((file for file in files if file.endswith((f"{name}.py", f"{name}.js"))), None)

    edges = {(importer, resolve(name)) for importer, names in imports.items() for name in names}
    imported = {b for a, b in edges if a == path and b is not None}
    importers = {a for a, b in edges if b == path}
    return sorted((imported | importers) - {path})


def plain_lookup(query: str) -> bool:
    text = "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in query)
    if {b"function", b"class", b"method", b"def"} & set(plain_tokens(query.encode())):
        return True
    for extension in (".py", ".js", ".jsx", ".ts", ".go", ".rb", ".rs", ".java"):
        for start in range(len(text)):
            following = text[start + len(extension) : start + len(extension) + 1]
            if text.startswith(extension, start) and (not following or following.encode() not in WORD_BYTES):
                return True
    if "where is " in text or " defined" in text:
        return True
    return "find " in text and " function" in text[text.index("find ") + len("find ") :]


def plain_hybrid(
    index: Index,
    query: str,
    k: int,
    *,
    use_graph: bool = True,
    allowed: Callable[[str], bool] = lambda path: True,
) -> list[tuple[Chunk, float]]:
    """The seven steps, one after the other; each list of chunks is of `allowed` files before it is cut."""
    if not plain_tokens(query.encode()):
        return []
    cosines = plain_cosines(index, query)
    rrf = _plain_fusion(index, query, k, cosines, allowed)
    if not rrf:
        return []
    best = max(rrf.values())
    scores = {
        position: _plain_score(
            index.chunks[position], query, cosines[position], fused / best if ordering_key(best) != 0 else 0.0
        )
        for position, fused in rrf.items()
    }
    kept = _plain_diversity(index, scores, k)
    result = [(index.chunks[p], scores[p]) for p in kept]
    return result + _plain_additions(index, kept, cosines, allowed) if use_graph else result


def _plain_fusion(
    index: Index, query: str, k: int, cosines: Sequence[float], allowed: Callable[[str], bool]
) -> dict[int, float]:
    """Steps 1 to 3."""
    positions = [p for p, chunk in enumerate(index.chunks) if allowed(chunk.file_path)]
    keywords = plain_bm25(index, query)
    vector = plain_order(index, {p: cosines[p] for p in positions})[: max(3 * k, 1)]
    bm25 = plain_order(index, {p: keywords[p] for p in positions if ordering_key(keywords[p]) > 0})[: 3 * k]
    weight = 1.5 if plain_lookup(query) else 1.0
    rrf: dict[int, float] = {}
    for position in {*vector, *bm25}:
        of_vector = 1 / (60 + vector.index(position)) if position in vector else 0.0
        of_bm25 = weight * (1 / (60 + bm25.index(position))) if position in bm25 else 0.0
        rrf[position] = of_vector + of_bm25
    return rrf


def _plain_score(chunk: Chunk, query: str, cosine: float, norm: float) -> float:
    """Steps 4 and 5."""
    hints = [term.lower() for term in re.split(r"\s+", query) if "." in term]
    content, path = chunk.content.lower(), chunk.file_path.lower()
    similarity = 1 - min(max((1 - cosine) / 2, 0.0), 1.0)
    occurs = any(token in content for token in plain_tokens(query.encode()))
    is_hinted = any(hint in path for hint in hints)
    confidence = 0.5 * similarity + 0.4 * (1.0 if occurs or is_hinted else 1 - 2 / 5) + 0.1 * 0
    score = 0.5 * confidence + 0.5 * norm
    return score * 0.8 if any(m in path for m in ("tests/", "test_", "docs/", "spec", "plan")) else score


def _plain_diversity(index: Index, scores: Mapping[int, float], k: int) -> list[int]:
    """Step 6."""
    kept: list[int] = []
    for position in plain_order(index, scores):
        path = index.chunks[position].file_path
        if len([p for p in kept if index.chunks[p].file_path == path]) < 3 and len(kept) < k:
            kept.append(position)
    return kept


def _plain_additions(
    index: Index, kept: Sequence[int], cosines: Sequence[float], allowed: Callable[[str], bool]
) -> list[tuple[Chunk, float]]:
    """Step 7."""
    chunks = index.chunks
    files = list(dict.fromkeys(chunk.file_path for chunk in chunks))
    kept_files = {chunks[p].file_path for p in kept}
    found: list[str] = []
    for seed in dict.fromkeys(chunks[p].file_path for p in kept[:3]):
        for neighbour in plain_neighbours(files, index.file_imports, seed):
            if neighbour not in kept_files and neighbour not in found and allowed(neighbour):
                found.append(neighbour)
    added: list[tuple[Chunk, float]] = []
    for path in found[:2]:
        of_path = {p: cosines[p] for p in range(len(chunks)) if chunks[p].file_path == path}
        for position in plain_order(index, of_path)[:2]:
            chunk = chunks[position]
            places = [(c.file_path, c.start_line, c.end_line) for c, _ in added]
            if (chunk.file_path, chunk.start_line, chunk.end_line) not in places:
                added.append((chunk, max(0.0, cosines[position]) * 0.85))
    return added


def unwatched(*_: object) -> None:
    """Progress that nobody looks at."""


def bags(counts: TokenCounts) -> list[dict[bytes, int]]:
    """Token -> count, a dictionary a text."""
    return [
        {counts.vocabulary[counts.terms[j]]: int(counts.counts[j]) for j in range(start, end)}
        for start, end in pairwise(counts.starts)
    ]


def content(segment: Segment) -> list[object]:
    """Everything that a segment holds, to compare it with another one."""
    return [
        list(segment.paths),
        list(segment.texts),
        list(segment.digests),
        list(segment.imports),
        segment.starts.tolist(),
        segment.spans.tolist(),
        segment.kinds.tolist(),
        segment.chunk_ids,
        bags(segment.token_counts),
    ]
