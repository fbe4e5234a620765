"""What one system did over a run that its reader should know: counts go in, notices come out."""

from __future__ import annotations

from dataclasses import dataclass, field

from cce.errors import OutsideSystemError
from cce.quoting import counted, listed, on_one_line, quoted

_N_EXAMPLES = 3
_MANY_REPEATS = 10  # percent of the results
_MOST = 90  # percent of the results that make a kind of piece a system's own


@dataclass
class Tally:
    """Counts of one system, over all its answers."""

    system: str
    is_run: bool = False
    n_results: int = 0
    n_outside: int = 0
    n_surplus: int = 0
    n_named_again: int = 0
    n_out_of_scope: int = 0
    n_repeats: int = 0
    n_chunks: int = 0
    n_whole_files: int = 0
    n_answers: int = 0
    n_short_answers: int = 0
    outside: dict[str, None] = field(default_factory=dict)

    def add_outside(self, path: str) -> None:
        """One result that is in no file of the corpus; the first few paths are kept as examples."""
        self.n_outside += 1
        if len(self.outside) < _N_EXAMPLES:
            self.outside.setdefault(path)

    @property
    def piece(self) -> str:
        """What its results mostly are: `chunks`, `whole files`, or `other pieces`; empty without results."""
        n_inside = self.n_results - self.n_outside
        if not n_inside:
            return ""
        if self.n_chunks * 100 >= _MOST * n_inside:
            return "chunks"
        return "whole files" if self.n_whole_files * 100 >= _MOST * n_inside else "other pieces"

    def check(self) -> None:
        """Raise OutsideSystemError if there are results and none of them is in the corpus."""
        if self.n_results and self.n_outside == self.n_results:
            examples = listed(map(quoted, self.outside), len(self.outside), _N_EXAMPLES)
            raise OutsideSystemError(
                f"system {quoted(self.system)}: none of its {counted(self.n_results, 'result')} is in a file "
                f"of the corpus ({examples}): does it search another directory? "
                'root = "..." cuts off the front of its paths'
            )

    def notices(self) -> list[str]:
        """One line for each thing to know, in a fixed order."""
        texts = (
            self._outside(),
            self._cut(),
            self._out_of_scope(),
            self._repeats(),
            self._short(),
        )
        return [f"{on_one_line(self.system)}: {text}" for text in texts if text]

    def _outside(self) -> str:
        if not self.n_outside:
            return ""
        examples = listed(map(quoted, self.outside), self.n_outside, _N_EXAMPLES)
        lie, match = ("lies", "matches") if self.n_outside == 1 else ("lie", "match")
        return (
            f"{counted(self.n_outside, 'result')} {lie} outside of the corpus and {match} nothing: {examples}"
        )

    def _cut(self) -> str:
        texts = []
        if self.n_surplus and not self.is_run:  # a run may hold as many as it likes
            texts.append(f"cut {counted(self.n_surplus, 'result')} beyond the k asked for")
        if self.n_named_again:
            texts.append(f"left out {counted(self.n_named_again, 'repeat')} of a place")
        return "; ".join(texts)

    def _out_of_scope(self) -> str:
        n_results = self.n_out_of_scope
        return f"cut {counted(n_results, 'result')} outside of the scope" if n_results else ""

    def _repeats(self) -> str:
        """A finer cut must not win: of several lines of one function each counts in precision."""
        if self.n_repeats * 100 <= _MANY_REPEATS * self.n_results:
            return ""
        share = (200 * self.n_repeats + self.n_results) // (2 * self.n_results)  # per cent, halves up
        return (
            f"{share} % of its results repeat a function; precision and f1 are not comparable, "
            "use collapse = true"
        )

    def _short(self) -> str:
        if not self.n_answers or self.n_short_answers < self.n_answers:
            return ""
        return "fewer than k results for every query: was k passed on?"


def comparable(pieces: dict[str, str], most_ndcg: str | None) -> list[str]:
    """A notice if systems return pieces of different size.

    pieces     system -> its `Tally.piece`; our own backends return chunks
    most_ndcg  the mean that whole files could reach, as a report prints it
    """
    shown = {system: piece for system, piece in pieces.items() if piece}
    if len({*shown.values()}) < 2:
        return []
    spelled = ", ".join(f"{on_one_line(system)} {piece}" for system, piece in shown.items())
    limit = "" if most_ndcg is None else f"; ndcg of whole files cannot exceed {most_ndcg}"
    return [
        f"systems return pieces of different size ({spelled}): "
        f"compare hit, mrr, recall and the token figures{limit}"
    ]
