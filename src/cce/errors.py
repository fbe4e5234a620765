"""Every failure whose cause the user can fix.

    CceError                 exit 2: could not measure
    ├── UsageError           options that do not go together, or name nothing
    │   └── UnknownNameError a backend, embedder or metric that does not exist
    ├── AnchorError          an anchor string that breaks the grammar
    ├── JsonError            a line that is no JSON
    ├── FixtureError         a fixture set that cannot be read or parsed
    ├── ReportError          a saved report that cannot be read or paired
    ├── CorpusError          a corpus directory that cannot be read
    ├── GrammarError         a tree-sitter grammar that cannot be loaded
    ├── StoreError           an index store that is damaged, foreign or cannot be written
    ├── EmbedderError        an embedder that does not answer, or answers nonsense
    ├── RankingError         a backend that fails, or whose ranking breaks a law
    ├── OutsideSystemError   a program, service, object or saved run that fails, or a systems file
    └── MetricError          a metric that fails, or whose figure is outside its range

A message is one line: place, fault, way out. Code that finds a fault raises it, and the
reader that knows file and line adds the place. A bad score is a result, not an error.
"""

from __future__ import annotations


class CceError(Exception):
    """The root: a fault with a message made for people."""


class UsageError(CceError):
    """Options that contradict each other or lack something."""


class UnknownNameError(UsageError):
    """A name that is in no registry; the message lists the known ones."""


class AnchorError(CceError):
    """An anchor string that breaks the grammar."""


class JsonError(CceError):
    """Text that is no strict JSON; whoever knows the file and the line adds them."""


class FixtureError(CceError):
    """A fixture set that cannot be read or parsed; the message starts with `file:line:`."""


class ReportError(CceError):
    """A saved report that cannot be read or paired; the message starts with its path."""


class CorpusError(CceError):
    """A corpus directory that cannot be read."""


class GrammarError(CceError):
    """A tree-sitter grammar that is missing or does not fit the runtime."""


class StoreError(CceError):
    """An index store that is damaged, foreign or cannot be written; the message starts with its path."""


class EmbedderError(CceError):
    """An embedder that does not answer, or answers nonsense."""


class RankingError(CceError):
    """A backend that fails or returns what is no ranking; the message starts with its name."""


class OutsideSystemError(CceError):
    """A program, service, object or saved run that fails, or a table that says how to ask one."""


class MetricError(CceError):
    """A metric that fails or leaves its range; the message starts with its name."""
