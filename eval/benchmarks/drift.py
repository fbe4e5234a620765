"""What becomes of labels from one release to the next: one table, a row for each pair of releases.

    python eval/benchmarks/drift.py [--keep FOLDER] [--only NAME]      downloads the releases listed here
    python eval/benchmarks/drift.py OLD NEW                            two directories

Every function and class whose name stands once in its file is labelled and pinned in the old release, and
re-anchored in the new one. The truth is what another parser sees: `ast` for Python, universal-ctags (which
must be installed) for the other languages.

    rewritten       the text is the same and stands elsewhere: exact, short of its end, wrong
    edited          the name stands in the file with another text: the listed place is exact, overlaps it
                    in part, is wrong, is one of several (asked), or the label is called vanished
    twins           the pin holds, but for an equal text of another name
    gone            the name left its file: written to a place of another name is wrong
    twice           names that stand more than once in a file, which are not labelled

pip, npm and cargo fetch the releases; with --keep they stay in FOLDER for the next run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from definitions import Definition, definitions, standing_once

from cce.domain.anchor import LineRange, parse_anchor
from cce.labels.reanchor import AnchorMove
from cce.labels.tracking.tracker import TextFate
from cce.retrieval.chunking.naming import named_chunks
from cce.usecases.corpora import CorpusChoice
from cce.usecases.pin import PinPlan, run_pin
from cce.usecases.reanchor import ReanchorPlan, run_reanchor

COLUMNS = (
    *("labels", "unmoved", "rewritten", "short", "wrong", "kept"),
    *("edited", "exact", "part", "off", "asked", "vanished", "twins", "gone", "gone wrong", "twice"),
)
_NAME_LINES = 4
"""ctags gives the line of a name; a chunk in C may begin up to this many lines above it."""


class Pair(NamedTuple):
    """Two releases of a package; `glob` picks its source files."""

    source: str
    package: str
    old: str
    new: str
    glob: str = "**/*"


PAIRS = (
    Pair("pip", "click", "8.0.4", "8.1.8"),
    Pair("pip", "click", "8.1.8", "8.2.1"),
    Pair("pip", "rich", "12.6.0", "13.9.4"),
    Pair("pip", "rich", "13.9.4", "14.1.0"),
    Pair("pip", "requests", "2.25.1", "2.32.3"),
    Pair("pip", "flask", "2.0.3", "3.1.0"),
    Pair("npm", "commander", "9.5.0", "11.1.0"),
    Pair("npm", "commander", "11.1.0", "13.1.0"),
    Pair("npm", "react-native", "0.68.7", "0.72.17", "**/*.rb"),
    Pair("cargo", "serde_derive", "1.0.130", "1.0.210"),
    Pair("pip source", "psutil", "5.8.0", "6.1.1", "**/*.[ch]"),
)


def main() -> None:
    """Measure the pairs asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("directories", nargs="*", type=Path, metavar="OLD NEW")
    parser.add_argument("--keep", type=Path, help="a folder for the releases")
    parser.add_argument("--only", help="the package to measure")
    parser.add_argument("--list", action="store_true", help="print every label that is not exact")
    options = parser.parse_args()
    print("| releases | " + " | ".join(COLUMNS) + " |")
    print("|---|" + "---|" * len(COLUMNS))
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for title, old, new in _chosen(options, options.keep or Path(scratch)):
            counts = measured(old, new, is_listing=options.list)
            total += counts
            print(row(title, counts), flush=True)
    print(row("all", total))


def _chosen(options: argparse.Namespace, folder: Path) -> Iterator[tuple[str, Path, Path]]:
    if options.directories:
        old, new = options.directories
        yield f"{old.name} -> {new.name}", old, new
        return
    for pair in PAIRS:
        if options.only in (None, pair.package):
            old, new = (fetched(pair, version, folder) for version in (pair.old, pair.new))
            yield f"{pair.package} {pair.old} -> {pair.new}", old, new


def row(title: str, counts: Counter[str]) -> str:
    """One row of the table."""
    return f"| {title} | " + " | ".join(str(counts[column]) for column in COLUMNS) + " |"


def fetched(pair: Pair, version: str, folder: Path) -> Path:
    """The source files of a release, in a directory of their own."""
    target = folder / f"{pair.package}-{version}"
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            unpacked = _unpacked(pair, version, Path(scratch))
            shutil.copytree(unpacked, target, ignore=shutil.ignore_patterns("target", "*.dist-info"))
    for path in target.rglob("*"):
        if path.is_file() and path not in set(target.glob(pair.glob)):
            path.unlink()
    return target


def _unpacked(pair: Pair, version: str, scratch: Path) -> Path:
    """Where the ordinary client of its registry put the release."""
    out = scratch / "out"
    out.mkdir()
    match pair.source:
        case "npm":
            _run(scratch, "npm", "pack", "--silent", f"{pair.package}@{version}")
        case "cargo":
            return _cargo(pair.package, version, scratch)
        case _:
            form = ("--no-binary" if pair.source == "pip source" else "--only-binary", ":all:")
            wanted = f"{pair.package}=={version}"
            _run(scratch, sys.executable, "-m", "pip", "download", "-q", "--no-deps", *form, wanted)
    (archive,) = (path for path in scratch.iterdir() if path.is_file())
    shutil.unpack_archive(archive, out, "zip" if archive.suffix == ".whl" else "gztar")
    tops = [path for path in out.iterdir() if path.suffix != ".dist-info"]
    return tops[0] if len(tops) == 1 else out


def _cargo(package: str, version: str, scratch: Path) -> Path:
    """cargo unpacks what a crate of our own depends on."""
    (scratch / "src").mkdir()
    (scratch / "src" / "lib.rs").touch()
    manifest = f'[package]\nname = "scratch"\nversion = "0.0.0"\n[dependencies]\n{package} = "={version}"\n'
    (scratch / "Cargo.toml").write_text(manifest)
    _run(scratch, "cargo", "vendor", "--quiet", "--versioned-dirs", "vendor")
    return scratch / "vendor" / f"{package}-{version}"


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measured(old: Path, new: Path, *, is_listing: bool = False) -> Counter[str]:
    """The counts of one pair of releases."""
    before, after = definitions(old), definitions(new)
    labelled = standing_once(before)
    truth = {(each.path, each.name): each for each in standing_once(after)}
    names = {(each.path, each.end, each.last_name) for each in after}
    counts = Counter({"twice": len(before) - len(labelled)})
    labels = {f"{each.path}@{span.first}-{span.last}": each for each, span in _labels(old, labelled)}
    with tempfile.TemporaryDirectory() as scratch:
        moves = _moves(Path(scratch) / "set.jsonl", list(labels), old, new)
    for text, definition in labels.items():
        move, now = moves.get(text), truth.get((definition.path, definition.name))
        if now is None:
            verdict = judged_gone(definition, move, names)
        else:
            is_same = _text(old, definition) == _text(new, now)
            verdict = judged(text, move, now, is_same=is_same)
        counts.update(["labels", *verdict])
        if is_listing and verdict[-1] in _FAULTS:
            print(verdict, text, definition.name, now, move)
    return counts


_FAULTS = frozenset({"short", "wrong", "kept", "part", "off", "asked", "vanished", "twins", "gone wrong"})


def _labels(root: Path, labelled: list[Definition]) -> Iterator[tuple[Definition, LineRange]]:
    """Each definition with the lines of the chunk that the product makes of it."""
    by_path: dict[str, list[Definition]] = {}
    for each in labelled:
        by_path.setdefault(each.path, []).append(each)
    for path, here in by_path.items():
        spans = {
            (chunk.start_line, chunk.end_line) for chunk in named_chunks(path, (root / path).read_bytes())
        }
        for each in here:
            for start in range(each.start, each.start - _NAME_LINES, -1):
                if (start, each.end) in spans:
                    yield each, LineRange(start, each.end)
                    break


def _moves(path: Path, labels: list[str], old: Path, new: Path) -> dict[str, AnchorMove]:
    """What becomes of each label that is stale in the new release."""
    cases = ({"id": f"c{n}", "query": f"query {n}", "expected": [label]} for n, label in enumerate(labels))
    path.write_text("".join(f"{json.dumps(case)}\n" for case in cases))
    run_pin(PinPlan(str(path), CorpusChoice(str(old)), is_writing=True))
    run = run_reanchor(ReanchorPlan(str(path), CorpusChoice(str(new))))
    return {move.anchor.text: move for move in run.moves}


def judged(label: str, move: AnchorMove | None, truth: Definition, *, is_same: bool) -> tuple[str, ...]:
    """The columns in which a label of a standing name counts; the last one says how it went.

    is_same  whether the text is the same in both releases
    """
    place = parse_anchor(label if move is None else move.whereabouts.anchor or label)
    is_touching = place.path == truth.path and _touches(place.lines, truth)
    is_right = is_touching and _is_at(place.lines, truth)
    if move is None:
        return ("unmoved",) if is_right else ("twins",)
    fate = move.whereabouts.fate
    if is_same:
        how = () if is_right else ("short" if is_touching else "wrong",)
        return ("rewritten", *how) if move.is_made else ("kept",)
    if fate is TextFate.VANISHED:
        return "edited", "vanished"
    if fate is TextFate.AMBIGUOUS or move.whereabouts.anchor is None:
        return "edited", "asked"
    return "edited", "off" if not is_touching or move.is_made else "exact" if is_right else "part"


def judged_gone(
    definition: Definition, move: AnchorMove | None, names: set[tuple[str, int, str]]
) -> tuple[str, ...]:
    """The columns of a label whose name left its file: written to a place of another name is wrong."""
    if move is None or not move.is_made:
        return ("gone",)
    place = parse_anchor(move.whereabouts.anchor or "")
    end = 0 if place.lines is None else place.lines.last
    return ("gone",) if (place.path, end, definition.last_name) in names else ("gone", "gone wrong")


def _is_at(lines: LineRange | None, truth: Definition) -> bool:
    return lines is not None and lines.last == truth.end and 0 <= truth.start - lines.first < _NAME_LINES


def _touches(lines: LineRange | None, truth: Definition) -> bool:
    return lines is not None and lines.first <= truth.end and truth.start <= lines.last


def _text(root: Path, definition: Definition) -> list[bytes]:
    """The lines of a definition without trailing white space."""
    lines = (root / definition.path).read_bytes().split(b"\n")
    return [line.rstrip() for line in lines[definition.start - 1 : definition.end]]


if __name__ == "__main__":
    main()
