"""Pins: what text they stand for, how they get into a set, and what is said when they are stale."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cce.domain.anchor import parse_anchor
from cce.errors import FixtureError, UsageError
from cce.labels.pinning import Pinning, pin_set
from cce.labels.revision import Revision
from cce.labels.tracking.pins import stale_pins
from cce.labels.tracking.places import LineTable
from cce.labels.tracking.texts import AnchoredTexts, line_prints
from cce.labels.tracking.traces import Trace, parse_traces, trace_of
from cce.measurement.fixtures.reading import parse_fixture_set, read_fixture_set
from cce.retrieval.corpus.texts import CorpusTexts

CODE = b"import os\n\ndef read(path):   \n    return open(path)\n\ndef write(path):\n    pass\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    root = tmp_path / "src"
    root.mkdir()
    (root / "a.py").write_bytes(CODE)
    return root


def digits(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def pin_now(corpus: Path, anchor: str) -> str | None:
    parsed = parse_anchor(anchor)
    return AnchoredTexts(CorpusTexts(str(corpus))).pin(parsed.path or "", parsed.lines)


def write_set(folder: Path, *cases: dict[str, Any]) -> Path:
    path = folder / "set.jsonl"
    lines = [json.dumps({"query": "read", "expected": ["a.py@3-4"], **case}) for case in cases]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def pin(path: Path, corpus: Path, **options: Any) -> tuple[Pinning, Revision]:
    revision = Revision(str(path))
    fixtures = parse_fixture_set(revision.raw, str(path))
    return pin_set(
        fixtures, revision, LineTable(AnchoredTexts(CorpusTexts(str(corpus)))), **options
    ), revision


def pins_of(path: Path) -> list[dict[str, str]]:
    return [dict(case.pins) for case in read_fixture_set(str(path)).cases]


def test_a_range_is_pinned_by_its_lines_without_trailing_white_space(corpus: Path) -> None:
    assert pin_now(corpus, "a.py@3-4") == digits(b"def read(path):\n    return open(path)")
    assert pin_now(corpus, "a.py#function_definition@3-4") == pin_now(corpus, "a.py@3-4")


def test_a_file_is_pinned_by_its_lines_without_trailing_white_space_and_empty_lines_at_the_end(
    corpus: Path,
) -> None:
    tidied = b"import os\n\ndef read(path):\n    return open(path)\n\ndef write(path):\n    pass"
    assert pin_now(corpus, "a.py") == digits(tidied)
    assert pin_now(corpus, "a.py#function_definition") == digits(tidied)


BOM = b"\xef\xbb\xbf"
TIDIED = {
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda text: BOM + text,
    "trailing blanks": lambda text: text.replace(b"\n", b" \t\n"),
    "no blanks": lambda text: text.replace(b"   \n", b"\n"),
    "no final newline": lambda text: text.rstrip(b"\n"),
    "empty lines at the end": lambda text: text + b"\n \n\n",
    "all of it": lambda text: BOM + text.replace(b"\n", b"\r\n") + b"\r\n",
}


def warnings_of(folder: Path, corpus: Path) -> list[str]:
    paths = sorted(path.name for path in corpus.iterdir())
    return stale_pins(read_fixture_set(str(folder / "set.jsonl")), CorpusTexts(str(corpus), paths))


@pytest.mark.parametrize("change", TIDIED.values(), ids=TIDIED)
@pytest.mark.parametrize("anchor", ["a.py", "a.py#function_definition", "a.py@1-4"])
def test_what_an_editor_or_a_checkout_tidies_makes_no_pin_stale(
    tmp_path: Path, corpus: Path, anchor: str, change: Callable[[bytes], bytes]
) -> None:
    for before, after in ((CODE, change(CODE)), (change(CODE), CODE)):
        (corpus / "a.py").write_bytes(before)
        _, revision = pin(write_set(tmp_path, {"expected": [anchor]}), corpus)
        revision.write()
        (corpus / "a.py").write_bytes(after)
        assert warnings_of(tmp_path, corpus) == []
        assert pin(tmp_path / "set.jsonl", corpus)[0] == Pinning(0, 0, 0, ())
        (corpus / "a.py").write_bytes(after.replace(b"read", b"load"))
        assert len(warnings_of(tmp_path, corpus)) == 1


def test_indentation_and_empty_lines_between_others_are_text(tmp_path: Path, corpus: Path) -> None:
    before = pin_now(corpus, "a.py")
    for text in (
        CODE.replace(b"    pass", b"  pass"),
        CODE.replace(b"\n\n", b"\n"),
        b"\n" + CODE,
        BOM + BOM + CODE,
    ):
        (corpus / "a.py").write_bytes(text)
        assert pin_now(corpus, "a.py") != before


def test_a_pin_of_the_bytes_as_they_were_written_once_still_holds(tmp_path: Path, corpus: Path) -> None:
    old = {"expected": ["a.py"], "pins": {"a.py": digits(CODE)}}
    path = write_set(tmp_path, old)
    assert warnings_of(tmp_path, corpus) == []
    pinning, revision = pin(path, corpus)
    assert (pinning, revision.diff()) == (Pinning(0, 0, 0, ()), "")
    pinning, revision = pin(path, corpus, is_renewal=True)
    revision.write()
    assert pinning == Pinning(0, 1, 0, ())
    assert pins_of(path) == [{"a.py": pin_now(corpus, "a.py")}]
    (corpus / "a.py").write_bytes(CODE.replace(b"\n", b"\r\n"))
    assert warnings_of(tmp_path, corpus) == []
    assert (
        len(
            stale_pins(
                parse_fixture_set(json.dumps({"query": "q", **old}).encode(), "s"),
                CorpusTexts(str(corpus), ["a.py"]),
            )
        )
        == 1
    )


def test_a_file_that_moved_is_found_by_either_pin(corpus: Path) -> None:
    table = LineTable(AnchoredTexts(CorpusTexts(str(corpus))))
    written = pin_now(corpus, "a.py")
    assert written != digits(CODE)
    assert table.files(written or "") == table.files(digits(CODE)) == ["a.py"]


def test_line_ends_and_trimmed_lines_change_no_pin_of_a_range(corpus: Path) -> None:
    before = pin_now(corpus, "a.py@3-4")
    (corpus / "a.py").write_bytes(CODE.replace(b"   \n", b"\n").replace(b"\n", b"\r\n"))
    assert pin_now(corpus, "a.py@3-4") == before


def test_a_range_that_reaches_past_the_end_covers_what_is_there(corpus: Path) -> None:
    assert pin_now(corpus, "a.py@6-999999999999") == digits(b"def write(path):\n    pass")
    assert pin_now(corpus, "a.py@8-9") is None


def test_a_pin_is_made_from_scrubbed_text_so_that_it_gives_no_secret_away(corpus: Path) -> None:
    (corpus / "a.py").write_bytes(b'password = "correct-horse-battery"\n')
    assert pin_now(corpus, "a.py@1-1") == digits(b'password = "[REDACTED:SECRET]"')


@pytest.mark.parametrize("path", ["../outside.py", "ignored.py", ".env", "gone.py", "big.jsonl"])
def test_what_is_not_in_the_corpus_has_no_pin(corpus: Path, path: str) -> None:
    (corpus.parent / "outside.py").write_bytes(b"x\n")
    (corpus / ".gitignore").write_bytes(b"ignored.py\n")
    for name in ("ignored.py", ".env", "big.jsonl"):
        (corpus / name).write_bytes(b"x\n")
    assert pin_now(corpus, path) is None


def test_pinning_adds_one_key_a_case_and_leaves_every_other_byte(tmp_path: Path, corpus: Path) -> None:
    path = tmp_path / "set.jsonl"
    first = b'\xef\xbb\xbf{"schema":"cce.relevance/v1" ,"by":"me"}\r\n'
    case = b'{"query" :"read","expected":[ "a.py@3-4","#x"],"k":05,"mine":{"n":1.50}}'.replace(b"05", b"5")
    path.write_bytes(first + b"\n  \n" + case + b"\r\n\n" + b'{"query":"y","expected":["#module"]}')
    _, revision = pin(path, corpus)
    revision.write()
    text = digits(b"def read(path):\n    return open(path)")
    trace = json.loads(path.read_bytes().splitlines()[3])["traces"]["a.py@3-4"]
    pins, traces = {"a.py@3-4": text}, {"a.py@3-4": {"lines": trace["lines"], "near": trace["near"]}}
    added = "," + json.dumps({"pins": pins, "traces": traces}, separators=(",", ":"))[1:]
    assert path.read_bytes() == (
        first + b"\n  \n" + case[:-1] + added.encode() + b"\r\n\n" + b'{"query":"y","expected":["#module"]}'
    )


def test_pinning_twice_changes_nothing_more(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {}, {"expected": ["a.py", "#module"]})
    pin(path, corpus)[1].write()
    again, revision = pin(path, corpus)
    assert (again.n_added, revision.diff()) == (0, "")


def test_a_stale_pin_stays_until_it_is_renewed(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {"id": "one"}, {"id": "two"})
    pin(path, corpus)[1].write()
    before = pins_of(path)
    (corpus / "a.py").write_bytes(CODE.replace(b"open(path)", b"path.open()"))
    kept, revision = pin(path, corpus)
    assert (kept.n_added, kept.n_renewed, revision.diff()) == (0, 0, "")
    assert kept.left[0].startswith(f"{path}:1: 'a.py@3-4' is stale and keeps its pin")
    renewed, revision = pin(path, corpus, is_renewal=True, only_ids=["two"])
    revision.write()
    assert renewed.n_renewed == 1
    assert pins_of(path)[0] == before[0]
    assert pins_of(path)[1] == {"a.py@3-4": digits(b"def read(path):\n    return path.open()")}


def test_a_pin_of_an_anchor_that_was_rewritten_by_hand_is_dropped(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {"pins": {"a.py@1-2": "0" * 16}})
    done, revision = pin(path, corpus)
    revision.write()
    assert (done.n_added, done.n_removed) == (1, 1)
    assert list(pins_of(path)[0]) == ["a.py@3-4"]


def test_an_anchor_that_covers_nothing_is_left_and_named(tmp_path: Path, corpus: Path) -> None:
    done, revision = pin(write_set(tmp_path, {"expected": ["gone.py", "a.py@90-91", "#module"]}), corpus)
    assert len(done.left) == 2
    assert "'gone.py' covers no text of this corpus" in done.left[0]
    assert revision.diff() == ""


def test_an_unknown_id_is_refused_with_the_nearest_one(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(UsageError, match=r"no case has the id 'reed-config'; did you mean 'read-config'\?"):
        pin(write_set(tmp_path, {"id": "read-config"}), corpus, only_ids=["reed-config"])


@pytest.mark.parametrize(
    ("pins", "got"),
    [
        ('"x"', "got 'x'"),
        ('["a"]', "got an array"),
        ('{"a.py": "0123"}', "got '0123' for 'a.py'"),
        ('{"a.py": "0123456789ABCDEF"}', "for 'a.py'"),
        ('{"a.py": 7}', "got 7 for 'a.py'"),
    ],
)
def test_pins_of_a_wrong_type_are_an_error_with_the_line(pins: str, got: str) -> None:
    case = '{"query":"x","expected":["a.py"]'
    raw = f'{case}}}\n{case},"pins":{pins}}}'
    with pytest.raises(FixtureError) as caught:
        parse_fixture_set(raw.encode(), "set.jsonl")
    assert str(caught.value).startswith("set.jsonl:2: pins must be an object of anchors with 16 hex digits")
    assert str(caught.value).endswith(got)


def trace_now(corpus: Path, anchor: str) -> Trace:
    trace = trace_of(LineTable(AnchoredTexts(CorpusTexts(str(corpus)))), parse_anchor(anchor))
    assert trace is not None
    return trace


def printed(*lines: str) -> str:
    return line_prints(line.encode() for line in lines).hex()


END = "\0"


def test_of_a_text_without_a_twin_two_lines_on_each_side_are_kept(corpus: Path) -> None:
    assert trace_now(corpus, "a.py@3-4").as_json() == {
        "lines": printed("def read(path):", "    return open(path)"),
        "near": [printed("", "import os"), printed("", "def write(path):")],
    }


def test_the_ends_of_a_file_count_as_a_line(corpus: Path) -> None:
    assert trace_now(corpus, "a.py@1-6").as_json()["near"] == [printed(END), printed("    pass", END)]


def test_of_a_twin_its_file_and_the_first_line_that_differs_are_kept(corpus: Path) -> None:
    (corpus / "a.py").write_bytes(b"one\npass\nend\ntwo\npass\nend\nthree\n")
    name = f"{zlib.crc32(b'a.py'):08x}"
    assert trace_now(corpus, "a.py@5-5").as_json() == {
        "lines": printed("pass"),
        "near": [printed("two", "end"), printed("end", "three")],
        "file": 7,
        # Seven lines; before it the first line differs, after it the second.
        "twins": [f"{name}0007" + "01" + printed("one") + "02" + printed("two")],
    }


def test_as_many_lines_are_kept_as_tell_a_text_from_its_twins(corpus: Path) -> None:
    (corpus / "a.py").write_bytes(b"1\na\nb\nc\npass\n2\na\nb\nc\npass\n")
    assert trace_now(corpus, "a.py@10-10").as_json()["near"] == [printed(*"cba2"), printed(END)]


def test_of_very_many_twins_those_between_the_same_lines_are_kept(corpus: Path) -> None:
    (corpus / "a.py").write_bytes(b"x\nin\ny\nx\nin\ny\n" + b"in\n" * 40)
    trace = trace_now(corpus, "a.py@2-2")
    assert trace.is_between
    assert [twin.after.depth for twin in trace.twins or ()] == [2], "y is followed by x, or by in"


def test_of_too_many_twins_between_the_same_lines_none_is_kept(corpus: Path) -> None:
    (corpus / "a.py").write_bytes(b"x\nin\ny\n" * 40)
    assert trace_now(corpus, "a.py@2-2").as_json() == {"lines": printed("in"), "twins": [], "between": True}


@pytest.mark.parametrize("anchor", ["a.py@1-1", "a.py@2-2", "a.py@5-5", "a.py@1-7", "a.py"])
def test_a_trace_is_read_as_it_was_written(corpus: Path, anchor: str) -> None:
    text = b"one\npass\nend\ntwo\npass\nend\nthree\n"
    (corpus / "a.py").write_bytes(text)
    (corpus / "b.py").write_bytes(text)
    trace = trace_now(corpus, anchor)
    assert parse_traces({"x": json.loads(json.dumps(trace.as_json()))}) == {"x": trace}


def warning(path: Path, corpus: Path) -> list[str]:
    fixtures = read_fixture_set(str(path))
    return stale_pins(fixtures, CorpusTexts(str(corpus)))


def test_a_set_with_true_pins_gives_no_warning(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {}, {"expected": ["a.py", "#module"]})
    assert warning(path, corpus) == []
    pin(path, corpus)[1].write()
    assert warning(path, corpus) == []


def test_stale_pins_are_one_line_whatever_their_number(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, *[{"id": f"c{n}"} for n in range(9)])
    pin(path, corpus)[1].write()
    (corpus / "a.py").write_bytes(b"\n" + CODE)
    (text,) = warning(path, corpus)
    assert text.isprintable()
    assert text.startswith(f"{path}: 9 of 9 pinned anchors no longer cover the text they were made for: ")
    assert "'a.py@3-4' (line 5), …; see cce fixtures lint" in text


def test_without_pins_no_file_is_read(tmp_path: Path) -> None:
    path = write_set(tmp_path, {})
    assert stale_pins(read_fixture_set(str(path)), CorpusTexts(str(tmp_path / "nowhere"), ["a.py"])) == []


# The file


def test_a_set_that_changed_meanwhile_is_not_overwritten(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {})
    _, revision = pin(path, corpus)
    path.write_bytes(path.read_bytes() + b"\n")
    theirs = path.read_bytes()
    with pytest.raises(UsageError, match="changed since it was read, so nothing was written"):
        revision.write()
    assert path.read_bytes() == theirs


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permission bits")
def test_a_set_that_nobody_may_write_is_not_replaced(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {})
    _, revision = pin(path, corpus)
    before = path.read_bytes()
    path.chmod(stat.S_IRUSR)
    with pytest.raises(UsageError, match="is not writable, so nothing was written"):
        revision.write()
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="Windows has no patch command and no such permission bits")
def test_writing_keeps_the_permissions_of_the_set(tmp_path: Path, corpus: Path) -> None:
    path = write_set(tmp_path, {})
    path.chmod(0o640)
    pin(path, corpus)[1].write()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("changed", [[1], [9], [1, 2, 3], [2, 9], [3, 4, 12], list(range(1, 13))])
@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.process
def test_the_diff_is_one_that_patch_applies(tmp_path: Path, changed: list[int], end: bytes) -> None:
    patch = shutil.which("patch")
    if patch is None:
        pytest.skip("no patch command")
    path = tmp_path / "set.jsonl"
    path.write_bytes(b"\n".join(b"line %d" % n for n in range(1, 13)) + end)
    revision = Revision(str(path))
    for number in changed:
        revision.replace(number, b"new %d" % number)
    (tmp_path / "changes.diff").write_bytes(revision.diff().encode())
    revision.write()
    wanted = path.read_bytes()
    path.write_bytes(b"\n".join(b"line %d" % n for n in range(1, 13)) + end)
    subprocess.run([patch, "-p0", str(path), "changes.diff"], cwd=tmp_path, check=True, capture_output=True)
    assert path.read_bytes() == wanted


def test_the_diff_marks_a_last_line_without_an_end(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(b"one\ntwo")
    revision = Revision(str(path))
    revision.replace(2, b"TWO")
    assert revision.diff() == (
        f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n"
        "+TWO\n\\ No newline at end of file\n"
    )
