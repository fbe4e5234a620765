"""The terminal of `cce fixtures label`: plain lines out and in, so that it works over ssh and in a pipe."""

from __future__ import annotations

import sys

from cce.cli.exits import write_result
from cce.labels.labelling import Candidate, Judgment, LabelSession, unlabelled_ids
from cce.labels.revision import Revision
from cce.labels.tracking.texts import AnchoredTexts
from cce.quoting import counted, on_one_line, quoted

_MAX_LINES = 40
_MAX_COLUMNS = 160
_N_SHOWN = 5
_JUDGMENTS: dict[str, Judgment] = {"y": True, "n": False, "1": 1, "2": 2, "3": 3}
_QUESTION = "answer? [y n N 1 2 3 s u q, h for help] "
_HELP = """\
  y      yes, this is an answer
  n      no, which is kept as irrelevant
  N      no, and so are all that are left of this query
  1 2 3  yes: 1 related, 2 useful, 3 exactly this
  s      skip it for now
  u      undo: back to the one before
  q      quit; everything is saved
"""


def run_session(session: LabelSession, texts: AnchoredTexts, revision: Revision) -> None:
    """Ask until no candidate is open, or until the input ends."""
    while (candidate := session.current) is not None:
        write_result(_shown(candidate, session, texts))
        if not _take_answer(session):
            break
    write_result(_summary(session, unlabelled_ids(revision)))


def _take_answer(session: LabelSession) -> bool:
    """Carry out one answer; False if it was to quit."""
    while True:
        write_result(_QUESTION)
        typed = sys.stdin.readline()
        if typed.strip() == "N":  # alone has another meaning in capitals
            write_result(f"{counted(session.reject_rest(), 'candidate')} judged irrelevant\n")
            return True
        word = typed.strip().lower()
        if not typed or word in ("q", "quit"):
            return False
        if word in _JUDGMENTS:
            _answer(session, _JUDGMENTS[word])
            return True
        if word == "s":
            session.skip()
            return True
        if word == "u" and session.undo():
            return True
        write_result("nothing to undo\n" if word == "u" else _HELP)


def _answer(session: LabelSession, judgment: Judgment) -> None:
    candidate = session.current
    if judgment is not False and candidate is not None and candidate.anchor is None:
        write_result("no anchor can name this path, so it cannot be a label: answer n or s\n")
        return
    session.answer(judgment)


def _shown(candidate: Candidate, session: LabelSession, texts: AnchoredTexts) -> str:
    span = candidate.span
    found_by = f", found by {', '.join(map(on_one_line, candidate.backends))}" if candidate.backends else ""
    head = (
        f"\n[{session.n_passed + 1} of {session.n_open}] {on_one_line(candidate.case_id)}:"
        f" {on_one_line(candidate.query)}\n"
        f"{on_one_line(candidate.path)} lines {span.first}-{span.last}"
        f" ({on_one_line(candidate.kind)}){found_by}\n"
    )
    lines = (texts.lines(candidate.path) or ())[span.first - 1 : span.last]
    if not lines:
        return head + "  (the corpus no longer has these lines)\n"
    shown = [_code_line(number, line) for number, line in enumerate(lines[:_MAX_LINES], start=span.first)]
    if len(lines) > _MAX_LINES:
        shown.append(f"        … {len(lines) - _MAX_LINES} more lines\n")
    return head + "".join(shown)


def _code_line(number: int, line: bytes) -> str:
    # Escaped: a file may hold sequences that take over a terminal.
    return f"{number:6}  {on_one_line(line.decode().expandtabs(4))[:_MAX_COLUMNS]}\n"


def _summary(session: LabelSession, unlabelled: list[str]) -> str:
    lines = [f"{session.n_answers} answers saved, {session.n_open - session.n_answers} candidates still open"]
    if unlabelled:
        few = ", ".join(map(quoted, unlabelled[:_N_SHOWN])) + (", …" if len(unlabelled) > _N_SHOWN else "")
        lines.append(f"without a label, so skipped when the set is scored: {few}")
    return "\n" + "".join(f"{line}\n" for line in lines)
