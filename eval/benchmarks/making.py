"""What the other scripts measure on: corpora made of the samples, and queries made of any corpus.

python eval/benchmarks/making.py corpus FOLDER COPIES
python eval/benchmarks/making.py queries CORPUS SET.jsonl FACTS.json COUNT
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tree_sitter import Parser, Tree

from cce.domain.ranking import Chunk
from cce.retrieval.chunking.grammars import load_language
from cce.retrieval.chunking.languages import language_pack
from cce.retrieval.indexing.directory import index_directory
from cce.retrieval.indexing.index import SegmentIndex
from cce.usecases.bench import BenchQuery, made_questions

SAMPLES = Path(__file__).resolve().parents[2] / "test_fixtures" / "samples"


def make_corpus(folder: Path, n_copies: int) -> None:
    """The samples again and again, every copy with names of its own, so that the vocabulary grows.

    Files are renamed alike, so that imports by name stay within a copy.
    """
    segment = read_index(SAMPLES).segment
    for path, text in zip(segment.paths, segment.texts, strict=True):
        pieces = split_at_names(path, text)
        name = PurePosixPath(path)
        for number in range(n_copies):
            target = folder / f"copy_{number}" / name.with_stem(f"{name.stem}_{number}")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(f"_{number}".encode().join(pieces))


def split_at_names(path: str, text: bytes) -> list[bytes]:
    """`text` cut behind every name: in a syntax tree, names are the leaves whose kind says so."""
    pack = language_pack(path)
    pieces, end = [], 0
    if pack is not None:
        tree = Parser(load_language(pack)).parse(text)
        for start, stop in _names(tree):
            if not text[start:stop].startswith(b"require"):  # what Ruby imports with
                pieces.append(text[end:stop])
                end = stop
    return [*pieces, text[end:]]


def _names(tree: Tree) -> Iterator[tuple[int, int]]:
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is not None and not node.child_count and node.type.endswith(("identifier", "constant")):
            yield node.start_byte, node.end_byte
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def read_index(corpus: Path) -> SegmentIndex:
    """The index of a directory, made from scratch."""
    index = index_directory(str(corpus), lambda *_: None).index
    assert isinstance(index, SegmentIndex)
    return index


def questions(chunks: Sequence[Chunk], n: int) -> list[tuple[Chunk, BenchQuery]]:
    """At most n evenly spaced chunks, each with the query made of it."""
    positions = dict.fromkeys(number * len(chunks) // n for number in range(n))
    return [(chunks[at], question) for at in positions for question in made_questions([chunks[at]])]


def make_queries(corpus: Path, fixtures: Path, facts: Path, n: int) -> None:
    """A fixture set for `corpus`, and its sizes with the files that are indexed, each with its grammar."""
    index = read_index(corpus)
    with fixtures.open("w", encoding="utf-8") as file:
        for chunk, question in questions(index.chunks, n):
            place = f"{chunk.file_path}@{chunk.start_line}-{chunk.end_line}"
            anchor = place if "#" not in chunk.file_path else f"#{chunk.kind}"
            file.write(json.dumps({"query": question.text, "expected": [anchor]}) + "\n")
    packs = [language_pack(path) for path in index.segment.paths]
    sizes = [len(text) for text in index.segment.texts]
    record = {
        "n_chunks": len(index.chunks),
        "n_bytes": sum(sizes),
        "n_code_bytes": sum(size for size, pack in zip(sizes, packs, strict=True) if pack),
        "files": [
            (path, pack and (pack.grammar_package, pack.grammar_function))
            for path, pack in zip(index.segment.paths, packs, strict=True)
        ],
    }
    facts.write_text(json.dumps(record), encoding="utf-8")


def main() -> None:
    match sys.argv[1:]:
        case ["corpus", folder, n_copies]:
            make_corpus(Path(folder), int(n_copies))
        case ["queries", corpus, fixtures, facts, n]:
            make_queries(Path(corpus), Path(fixtures), Path(facts), int(n))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
