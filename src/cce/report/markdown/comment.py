"""Full report in, a pull-request comment in GitHub's Markdown out: the verdict first, never too long.

Text from a set or a policy stands in `<code>`, and every character with a meaning in Markdown or on GitHub is
a character reference. Inside `<code>` GitHub makes no @mention, #number or emoji. A backtick span would need
a fence that the text cannot close, and could break a table row. Addresses need more: GFM makes links of
`www.`, `http://` and `a@b.c` in any text, also inside `<code>` and after references are resolved (GFM spec
6.9, github.github.com/gfm), so an invisible break stands in each.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from cce.domain.evidence import Evidence, SliceEvidence
from cce.domain.full_report import FullReport
from cce.domain.gate import Level, Reason
from cce.domain.redaction import Redaction
from cce.domain.report import SavedPair
from cce.domain.scores import METRICS
from cce.numerals import format_score
from cce.quoting import counted, one_line, shortened
from cce.report.catalog import MARKDOWN_MARK
from cce.report.view.cells import UNDEFINED, first_rank, label, signed, signed_bounds, unsigned
from cce.report.view.changes import Change, Tone, changes, headline, interval_kind
from cce.report.view.rows import CaseRow, case_rows, columns, compared_names, has_moved, worst_first
from cce.report.view.sentences import sentences

# GitHub refuses a comment above 65,536 characters.
MAX_CHARACTERS = 64_500
MAX_OPEN_ROWS = 10
MAX_NAME = 160
MAX_SENTENCE = 600

# Room that is kept for the slices and the way to reproduce before the table of cases takes the rest.
_RESERVED = 2_000
_ROOM_OF_REASONS = 16_000
_ROOM_OF_WARNINGS = 8_000
_ROOM_OF_WORDS = 12_000
_ROOM_OF_ONE = 8_000  # of several saved reports
# A colon only where it could make an emoji or a link of what follows.
_MEANINGFUL = re.compile(r"[&<>|*_`~$@#\[\]\\]|:(?=\S)")
# Behind each of these comes what keeps an address from being one. `P@k` has no dot behind it and is none.
_ADDRESS = re.compile(r"(?<=[\w.+-])@(?=[\w-]*\.)|www(?=\.)|:(?=//)", re.IGNORECASE)
# What GitHub makes links of where there is no code: @mentions, #numbers, a@commit, advisories, commits.
_REFERENCE = re.compile(
    r"(?<![a-z0-9])@|@(?=[0-9a-f]{7})|#|\b(?:GH|GHSA|CVE)-(?=\w)"
    r"|\b(?=[0-9a-f]{7,40}\b)(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]",
    re.IGNORECASE,
)
# Stands for the break until the text is escaped; none is left in text on one line.
_BREAK = "\x00"
# A comment splits the text and leaves it what it was to whoever copies it, but does not stop a mention.
_BREAK_IN_CODE = "<!-- -->"
_WORD_JOINER = "&#8288;"
_LIST_STARTS = tuple("-+=0123456789")
_MARKS = {Tone.GOOD: "✅", Tone.CAUTION: "⚠️", Tone.BAD: "❌", Tone.PLAIN: "📊"}


def render_markdown(full: FullReport) -> str:
    """The report as Markdown, with one final newline; it says what was cut to keep it short."""
    if full.others:
        return _several(full)
    return "\n\n".join([MARKDOWN_MARK, *_blocks(full, MAX_CHARACTERS - len(MARKDOWN_MARK) - 2)]) + "\n"


def _several(full: FullReport) -> str:
    """Saved reports against one baseline, one after the other in the order given."""
    reports = (full.report, *full.others)
    room = max(_ROOM_OF_ONE, MAX_CHARACTERS // len(reports) - 100)
    alone = [full._replace(report=each, others=(), command=()) for each in reports]
    blocks = ["\n\n".join(_blocks(each, room)) for each in alone]
    command = _command(full.command)
    shown, n_cut = _fitting([MARKDOWN_MARK, *blocks], MAX_CHARACTERS - len(command) - 200)
    if n_cut:
        shown.append(f"… and {counted(n_cut, 'more report')}, cut to keep this comment short.")
    return "\n\n".join(shown) + command + "\n"


def _blocks(full: FullReport, limit: int) -> list[str]:
    """The blocks of one report, within `limit` characters."""
    blocks = [_verdict(full), _means(full)]
    closing = [block for block in (_in_words(full.report.evidence, limit // 5), _reproduce(full)) if block]
    room = limit - _RESERVED - _length([*blocks, *closing])
    blocks += [block for block in (_cases(full, room),) if block]
    room = limit - _length([*blocks, *closing])
    blocks += [block for block in (_slices(full, room),) if block]
    return [*blocks, *closing]


def code(text: str) -> str:
    """Foreign text as code: readable as written, on one line, at most MAX_NAME characters."""
    shown = _ADDRESS.sub(rf"\g<0>{_BREAK}", _start(text, MAX_NAME))
    return f"<code>{escape(shown).replace(_BREAK, _BREAK_IN_CODE)}</code>"


def escape(text: str) -> str:
    """`text` with every character that has a meaning in Markdown as a character reference."""
    return _MEANINGFUL.sub(lambda found: f"&#{ord(found[0])};", text)


def prose(text: str) -> str:
    """Text with foreign words in it, outside of code: nothing in it becomes a mention or starts a list."""
    line = _start(text, MAX_SENTENCE)
    for pattern in (_REFERENCE, _ADDRESS):
        line = pattern.sub(rf"\g<0>{_BREAK}", line)
    escaped = escape(line).replace(_BREAK, _WORD_JOINER)
    return f"&#{ord(line[0])};{escaped[1:]}" if line[:1] in _LIST_STARTS else escaped


def _verdict(full: FullReport) -> str:
    head = headline(full)
    lines = [f"## {_MARKS[head.tone]} {prose(head.title)}"]
    if head.subtitle:
        lines += ["", prose(head.subtitle)]
    if full.gate is not None:
        lines += ["", *_reasons(full.gate.reasons)]
    if full.warnings:
        lines += ["", *_warnings(full.warnings)]
    return "\n".join(lines).rstrip("\n")


def _reasons(reasons: Sequence[Reason]) -> list[str]:
    shown, n_cut = _fitting([_reason(each) for each in reasons], _ROOM_OF_REASONS)
    return [*shown, f"- … and {n_cut} more reasons, cut to keep this comment short"] if n_cut else shown


def _reason(reason: Reason) -> str:
    mark = "❌ **block:**" if reason.level is Level.BLOCK else "⚠️ **review:**"
    return f"- {mark} {prose(reason.text)}"


def _warnings(warnings: Sequence[str]) -> list[str]:
    shown, n_cut = _fitting([f"- ❗ **warning:** {prose(each)}" for each in warnings], _ROOM_OF_WARNINGS)
    return [*shown, f"- … and {n_cut} more warnings, cut to keep this comment short"] if n_cut else shown


def _means(full: FullReport) -> str:
    sides = compared_names(full)
    if sides is not None:
        return "\n".join(_change_table(sides, changes(full)))
    header = ("backend", *map(label, METRICS))
    rows = (
        (code(column.name), *(format_score(column.score.mean(metric)) for metric in METRICS))
        for column in columns(full)
    )
    return "\n".join(table(header, rows))


def _change_table(sides: tuple[str, str], found: Sequence[Change]) -> list[str]:
    """The table, and a line that explains its intervals if they are of two kinds."""
    has_verdict = any(change.verdict is not None for change in found)
    header = ("metric", *map(code, sides), "delta", "95% CI", "better", "worse", "tied")
    rows = ((*_change_cells(each), *([each.verdict or ""] if has_verdict else [])) for each in found)
    lines = table((*header, "verdict") if has_verdict else header, rows)
    is_mixed = has_verdict and any(change.verdict is None for change in found)
    return [*lines, "", f"95% CI: {interval_kind(found)}."] if is_mixed else lines


def _change_cells(each: Change) -> Sequence[str]:
    means = (unsigned(each.mean_a), unsigned(each.mean_b))
    counts = map(str, (each.better, each.worse, each.tied))
    return (
        f"**{label(each.metric)}**",
        *means,
        signed(each.delta),
        signed_bounds(each.low, each.high),
        *counts,
    )


def _cases(full: FullReport, room: int) -> str | None:
    """The cases that moved; without a comparison, the cases without a relevant result."""
    rows = case_rows(full)
    if full.report.comparison is None:
        missed = [row for row in rows if row.is_missed]
        title = f"{counted(len(missed), 'case')} without a relevant result"
        return _case_table(title, ("case", "query"), [_case_cells(row) for row in missed], room, n_left=2)
    moved = sorted(filter(has_moved, rows), key=lambda row: worst_first(row, row.deltas))
    metrics = [change.metric for change in changes(full)]
    n_left = 2 if full.cases else 1  # saved reports hold no queries
    words = ("case", "query")[:n_left]
    header = (*words, *(f"Δ {label(metric)}" for metric in metrics), "first relevant rank")
    cells = [
        (*_case_cells(row)[:n_left], *(signed(row.deltas[metric]) for metric in metrics), _ranks(row))
        for row in moved
    ]
    return _case_table(f"{counted(len(moved), 'case')} moved", header, cells, room, n_left)


def _case_cells(row: CaseRow) -> tuple[str, str]:
    case = row.drilldown
    star = " ★" if case is not None and case.critical else ""
    return f"{code(row.id)}{star}", "" if case is None else code(case.query)


def _ranks(row: CaseRow) -> str:
    ranks = (UNDEFINED if score is None else first_rank(score.first_relevant_rank) for score in row.scores)
    return " → ".join(ranks)


def _case_table(
    title: str, header: Sequence[str], cells: Sequence[Sequence[str]], room: int, n_left: int
) -> str | None:
    """A table of as many cases as fit into `room`, folded if it is long; None for no case."""
    if not cells:
        return None
    shown, n_cut = _fitting(table(header, cells, n_left), room - 300)
    if n_cut:
        shown += ["", f"… and {n_cut} more, cut to keep this comment short."]
    if len(cells) <= MAX_OPEN_ROWS:
        return "\n".join([f"### {title}", "", *shown])
    return "\n".join([f"<details><summary><b>{title}</b></summary>", "", *shown, "", "</details>"])


def _slices(full: FullReport, room: int) -> str | None:
    evidence = full.report.evidence
    if evidence is None or not evidence.slices:
        return None
    names = [code(backend.backend) for backend in evidence.backends]
    deltas = () if evidence.compare is None else ("delta", "better", "worse", "tied")
    header = ("slice", "metric", "cases", *names, *deltas)
    rows = [_slice_cells(each, metric) for each in evidence.slices for metric in evidence.options.metrics]
    shown, n_cut = _fitting(table(header, rows, n_left=2), room - 300)
    if n_cut:
        shown += ["", f"… and {n_cut} more rows, cut to keep this comment short."]
    title = "<details><summary><b>Slices</b> (a hint where to look, never a verdict)</summary>"
    return "\n".join([title, "", *shown, "", "</details>"])


def _slice_cells(each: SliceEvidence, metric: str) -> Sequence[str]:
    means = (unsigned(backend.metrics[metric]) for backend in each.backends)
    n = f"{each.n} (too few)" if each.is_too_few else str(each.n)
    cells = (code(each.name), label(metric), n, *means)
    if each.compare is None:
        return cells
    moved = each.compare.get(metric)
    if moved is None:  # a metric with means only
        return *cells, "-", "-", "-", "-"
    return *cells, signed(moved.mean_delta), *map(str, (moved.better, moved.worse, moved.tied))


def _in_words(evidence: Evidence | None, room: int) -> str | None:
    if evidence is None or evidence.compare is None:
        return None
    paragraphs = sentences(evidence.compare, evidence.options)
    items, _ = _fitting([f"- {prose(each)}" for each in paragraphs], min(room, _ROOM_OF_WORDS))
    return "\n".join(["<details><summary><b>In words</b></summary>", "", *items, "", "</details>"])


def _reproduce(full: FullReport) -> str:
    report = full.report
    facts = [f"corpus {code(report.corpus)}", f"embedder {code(report.embedder)}"]
    if report.redaction is Redaction.STRICT:
        facts.append("redact strict")
    if full.fixtures_path is not None:
        facts.insert(0, f"fixture set {code(full.fixtures_path)}")
    if report.saved is not None:
        facts = [*_saved_facts(report.saved), *facts]
    if report.evidence is not None:
        options = report.evidence.options
        facts.append(f"seed {options.seed}, {options.resamples} resamples")
    return f"{' · '.join(facts)}{_command(full.command)}"


def _saved_facts(saved: SavedPair) -> Iterator[str]:
    yield f"old report {code(saved.old)}"
    yield f"new report {code(saved.new)}"
    if saved.n_left_out:
        yield f"{counted(saved.n_left_out, 'case')} left out, not in both with the same k"
    yield "figures as saved, with six decimals"


def _command(words: Sequence[str]) -> str:
    if not words:
        return ""
    line = one_line(shlex.join(words))
    # A fence longer than any in the text, so that nothing in it can close the block.
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", line)), default=0))
    return f"\n\nReproduce with\n\n{fence}sh\n{shortened(line, 4 * MAX_NAME)}\n{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]], n_left: int = 1) -> list[str]:
    """Lines of a table: the first `n_left` columns are words, the others numbers."""
    ruler = ["---"] * n_left + ["---:"] * (len(header) - n_left)
    return [f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows)]


def _fitting(lines: Sequence[str], room: int) -> tuple[list[str], int]:
    """As many lines as fit into `room` characters, and how many do not; the first two always stay."""
    shown = [*lines[:2]]
    left = room - _length(shown)
    for line in lines[2:]:
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    return shown, len(lines) - len(shown)


def _length(blocks: Iterable[str]) -> int:
    return sum(len(block) + 2 for block in blocks)


def _start(text: str, n: int) -> str:
    """The first `n` characters of `text` on one line; what is cut is not escaped first, it may be long."""
    return shortened(one_line(text[: n + 1]), n)
