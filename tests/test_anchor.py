"""The anchor grammar: what each form means, what is an error, what is ordinary text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cce.domain.anchor import Anchor, LineRange, parse_anchor
from cce.domain.ranking import Chunk
from cce.errors import AnchorError
from cce.quoting import on_one_line, quoted
from cce.tokens import WHITE_SPACE


def chunk(path: str, kind: str, start: int, end: int) -> Chunk:
    return Chunk("0" * 16, path, start, end, "function", kind, "python", b"", 1)


@pytest.mark.parametrize(
    ("text", "path", "kind", "lines"),
    [
        ("a.py", "a.py", None, None),
        ("a.py#method", "a.py", "method", None),
        ("#method", None, "method", None),
        ("a.py@3-9", "a.py", None, (3, 9)),
        ("a.py#method@3-9", "a.py", "method", (3, 9)),
        ("a.py@7-7", "a.py", None, (7, 7)),
        ("a.py@007-09", "a.py", None, (7, 9)),
        ("a.py@1-999999999999", "a.py", None, (1, 999999999999)),
        (" a.py # method @ 3-9 ", "a.py", "method", (3, 9)),
        ("\u3000a.py\u00a0", "a.py", None, None),
        ("a.py#b#c", "a.py", "b#c", None),
        ("a@b@3-9", "a@b", None, (3, 9)),
        ("dir with space/a b.py", "dir with space/a b.py", None, None),
    ],
)
def test_each_form_says_its_path_kind_and_lines(
    text: str, path: str | None, kind: str | None, lines: tuple[int, int] | None
) -> None:
    assert parse_anchor(text) == Anchor(text, path, kind, LineRange(*lines) if lines else None)


@pytest.mark.parametrize(
    ("text", "path", "kind"),
    [
        ("user@host.py", "user@host.py", None),
        ("img@2x.ts", "img@2x.ts", None),
        ("a.py@٣-٥", "a.py@٣-٥", None),
        ("a.py@3–9", "a.py@3–9", None),
        ("a.py@3 - 9", "a.py@3 - 9", None),
        ("a.py@", "a.py@", None),
        ("a.py@  ", "a.py@", None),
        ("@", "@", None),
        ("a.py@1-2@x", "a.py@1-2@x", None),
        ("a.py@3-4#method", "a.py@3-4", "method"),
        ("C#/a.py", "C", "/a.py"),
        ("\x1fa.py", "\x1fa.py", None),
    ],
)
def test_a_tail_that_is_no_range_is_ordinary_text(text: str, path: str, kind: str | None) -> None:
    assert parse_anchor(text) == Anchor(text, path, kind, None)


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("f.py@10-", "write @a-b"),
        ("f.py@-4", "write @a-b"),
        ("f.py@42", "write @a-b"),
        ("f.py@-", "write @a-b"),
        ("f.py@1-2-3", "write @a-b"),
        ("f.py@1--3", "write @a-b"),
        ("f.py@4-3", "1 <= a <= b"),
        ("f.py@0-4", "1 <= a <= b"),
        ("f.py@000-4", "1 <= a <= b"),
        ("#k@1-5", "write path@a-b"),
        ("@1-5", "names no path and no kind"),
        ("f.py#", "drop the '#'"),
        ("f.py# @1-5", "drop the '#'"),
        ("#", "drop the '#'"),
        ("", "names no path and no kind"),
        (" \t\u2028", "names no path and no kind"),
    ],
)
def test_a_broken_anchor_is_an_error_that_shows_it_and_the_way_out(text: str, way_out: str) -> None:
    with pytest.raises(AnchorError) as caught:
        parse_anchor(text)
    assert str(caught.value).startswith(f"anchor {quoted(text)} ")
    assert way_out in str(caught.value)


def test_a_line_number_may_have_six_hundred_digits_and_no_more() -> None:
    assert parse_anchor("a.py@1-" + "9" * 600).lines == LineRange(1, 10**600 - 1)
    with pytest.raises(AnchorError, match="a line number of 5000 digits"):
        parse_anchor("a.py@1-" + "9" * 5000)


def test_leading_zeros_do_not_make_a_line_number_long() -> None:
    assert parse_anchor("a.py@" + "0" * 5000 + "3-4").lines == LineRange(3, 4)


def test_a_message_stays_short_and_on_one_line() -> None:
    with pytest.raises(AnchorError) as caught:
        parse_anchor("a\n\u2028" + "b" * 10_000 + "#")
    message = str(caught.value)
    assert len(message) < 200
    assert "'a\\n\\u2028bbb" in message
    assert message.isprintable()


def test_backslashes_are_shown_as_written() -> None:
    assert quoted("src\\a.py") == "'src\\a.py'"


def test_sixty_characters_are_shown_whole_and_the_next_is_cut() -> None:
    assert quoted("x" * 60) == "'" + "x" * 60 + "'"
    assert quoted("x" * 61) == "'" + "x" * 60 + "…'"


def test_a_lone_surrogate_is_shown_as_an_escape() -> None:
    assert on_one_line("a\udc80é") == "a\\udc80é"


@pytest.mark.parametrize(
    ("text", "is_match"),
    [
        ("a.py", True),
        ("A.PY", False),
        ("./a.py", False),
        ("a.py#method", True),
        ("a.py#class", False),
        ("#method", True),
        ("#class", False),
        ("b.py#method", False),
        ("a.py@1-9", False),
        ("a.py@1-10", True),
        ("a.py@12-13", True),
        ("a.py@20-99999999", True),
        ("a.py@21-30", False),
        ("a.py@1-99999999", True),
        ("a.py#class@10-20", False),
        ("b.py@10-20", False),
    ],
)
def test_an_anchor_matches_a_chunk_on_lines_10_to_20(text: str, is_match: bool) -> None:
    assert parse_anchor(text).matches(chunk("a.py", "method", 10, 20)) is is_match


def naive_reading(text: str) -> tuple[str, str, int, int] | None:
    """Path, kind, first and last line ('' and 0 for none), read letter by letter; None for an error."""
    first = last = 0
    body = text
    position = len(text) - 1
    while position >= 0 and text[position] != "@":
        position -= 1
    if position >= 0:
        tail = text[position + 1 :].strip(WHITE_SPACE)
        if tail and set(tail) <= set("0123456789-"):
            bounds = tail.split("-")
            if len(bounds) != 2 or "" in bounds:
                return None
            first, last = int(bounds[0]), int(bounds[1])
            if first < 1 or last < first:
                return None
            body = text[:position]
    parts = body.split("#")
    path, kind = parts[0].strip(WHITE_SPACE), "#".join(parts[1:]).strip(WHITE_SPACE)
    if len(parts) > 1 and not kind:
        return None
    if not path and (not kind or first):
        return None
    return path, kind, first, last


@settings(deadline=None, max_examples=500)
@given(st.text(alphabet="ab@#0129-٣ \u2003\x1f", max_size=12))
def test_the_grammar_agrees_with_a_naive_reading(text: str) -> None:
    expected = naive_reading(text)
    try:
        anchor = parse_anchor(text)
    except AnchorError:
        assert expected is None
        return
    first, last = (anchor.lines.first, anchor.lines.last) if anchor.lines else (0, 0)
    assert (anchor.path or "", anchor.kind or "", first, last) == expected
    assert anchor.text == text


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=80))
def test_any_text_is_an_anchor_or_a_one_line_error(text: str) -> None:
    message = ""
    try:
        parse_anchor(text)
    except AnchorError as exc:
        message = str(exc)
    assert message.isprintable()
