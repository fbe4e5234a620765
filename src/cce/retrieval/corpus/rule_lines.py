"""Lines of a rule file: the one that matches a file, and those that match nothing by git's reading.

An opened set of characters that nothing closes (`a[`, `[!`, `[[:alpha:]`) makes git give up on the pattern:
it matches no name at all. The engine that walks takes such a bracket for a character.
"""

from __future__ import annotations

import re

_MEANINGFUL_TO_GIT = r"[\\*?\[]| (?= *$)"
_BOM = b"\xef\xbb\xbf"
_STOP = re.compile(rb"[\[\\]")
_OPENING, _CLOSING, _ESCAPE, _DASH, _COLON = b"[]\\-:"


def without_unclosed_sets(rules: bytes) -> bytes:
    """The text of a rule file with an empty line for each whose pattern has a set that nothing closes."""
    if b"[" not in rules:
        return rules
    lines = rules.removeprefix(_BOM).split(b"\n")
    kept = b"\n".join(b"" if has_unclosed_set(line) else line for line in lines)
    return _BOM + kept if rules.startswith(_BOM) else kept


def rule_of(path: str) -> str:
    """The line that matches the file `path`, relative to the folder of the rules, and no other."""
    return "/" + re.sub(_MEANINGFUL_TO_GIT, lambda found: f"\\{found[0]}", path)


def has_unclosed_set(line: bytes) -> bool:
    """Whether a line is a pattern with a set that nothing closes."""
    # What git cuts off the end of a line (CR, blanks, a slash) closes no set, and opens none.
    return b"[" in line and not line.startswith(b"#") and _is_unclosed(line)


def _is_unclosed(pattern: bytes) -> bool:
    position = 0
    while stop := _STOP.search(pattern, position):
        if stop[0] == b"\\":
            position = stop.end() + 1
        else:
            position = _end_of_set(pattern, stop.end())
            if position < 0:
                return True
    return False


def _end_of_set(pattern: bytes, position: int) -> int:
    """Behind the bracket that closes the set whose members start at `position`; -1 if there is none.

    As git's wildmatch.c has it: the first member may be a closing bracket, and a backslash takes the next
    byte along.
    """
    position += pattern.startswith((b"!", b"^"), position)
    first, closing = position, -1
    may_start_range = False  # whether a dash here is one between two members
    while position < len(pattern):
        byte = pattern[position]
        if byte == _CLOSING and position > first:
            return position + 1
        if byte == _DASH and may_start_range and pattern[position + 1 : position + 2] not in (b"]", b""):
            position += 3 if pattern[position + 1] == _ESCAPE else 2
            may_start_range = False
        elif byte == _OPENING and pattern.startswith(b":", position + 1):
            if closing < position:  # looked for once for all members before it: the work stays linear
                closing = pattern.find(b"]", position)
            if closing < 0:
                return -1
            # A class such as [:digit:]. Without its second colon it is an ordinary member.
            is_class = closing > position + 2 and pattern[closing - 1] == _COLON
            position = closing + 1 if is_class else position + 1
            may_start_range = not is_class
        else:
            position += 2 if byte == _ESCAPE else 1
            may_start_range = True
    return -1
