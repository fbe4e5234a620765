"""Scopes, read: which files their patterns hold.

Scopes enter, patterns in .gitignore syntax; tests of paths and allowed positions leave. A path is held or
not by the patterns alone, whether or not there is such a file. Patterns are read as the library `pathspec`
does, so one thing differs from git: where `src/*` holds the folder `src/gen`, a later `!keep.py` still takes
`src/gen/keep.py` out again.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from cce.domain.outside import ScopeRequest
from cce.domain.ranking import Ranking
from cce.domain.scope import Scope
from cce.errors import UsageError
from cce.quoting import listed_with_rest, quoted
from cce.retrieval.corpus.rule_lines import has_unclosed_set, rule_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_N_SHOWN = 5

# pathspec reads `[[:alpha:]]` as one of `[:alph` and a bracket behind it, and the set `[\]a]` as `[\]`.
_MISREAD_SET = r"(?<!\\)\[[^\]]*(?:\\|\[:)"


class ScopedFiles:
    """The files that every one of some scopes holds, of which there is at least one."""

    def __init__(self, scopes: Sequence[Scope]) -> None:
        """Raises UsageError for a pattern that cannot be read."""
        self.scopes = tuple(dict.fromkeys(scopes))
        self._patterns = [_ReadScope(scope) for scope in self.scopes]
        self._known: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Whether the scopes allow a file of this path, relative to the corpus and `/`-separated."""
        if path not in self._known:
            self._known[path] = all(patterns.hold(path) for patterns in self._patterns)
        return self._known[path]

    def positions(self, positions_by_file: Mapping[str, Sequence[int]]) -> frozenset[int]:
        """The positions of the chunks of all files that are held; an empty set is nothing, not everything."""
        return frozenset(
            position
            for path, positions in positions_by_file.items()
            if self.holds(path)
            for position in positions
        )

    def within(self, ranking: Ranking) -> Ranking:
        """The hits of `ranking` in files that are held, in their order."""
        return tuple(hit for hit in ranking if self.holds(hit.chunk.file_path))

    def notices(self, paths: Collection[str]) -> list[str]:
        """One line per scope with patterns that match none of `paths`, or that cannot match anything."""
        return [line for patterns in self._patterns for line in patterns.notices(paths)]

    def request(self, paths: Collection[str] | None, tenant: str | None = None) -> ScopeRequest:
        """The scopes as they travel to a system; `paths` are the files of the corpus, None if it is unknown.

        Two scopes become one where their patterns can be joined, else the list of the files that are held.
        Without a corpus that list is unknown: then the last scope travels, and what it lets through is cut.
        """
        if len(self.scopes) == 1:
            return ScopeRequest(self.scopes[0].name, tenant, *self.scopes[0][1:])
        including = [scope for scope in self.scopes if scope.include is not None]
        exclude = tuple(pattern for scope in self.scopes for pattern in scope.exclude)
        # A later `!a.py` would take back what an earlier scope excludes.
        if len(including) < 2 and not any(pattern.startswith("!") for pattern in exclude):
            return ScopeRequest(None, tenant, including[0].include if including else None, exclude)
        if paths is None:
            return ScopeRequest(self.scopes[-1].name, tenant, *self.scopes[-1][1:])
        held = tuple(rule_of(path) for path in sorted(paths) if self.holds(path))
        return ScopeRequest(None, tenant, held, ())


class _ReadScope:
    """One scope, its patterns compiled."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._include = None if scope.include is None else _read(scope.name, scope.include)
        self._exclude = _read(scope.name, scope.exclude)

    def hold(self, path: str) -> bool:
        return (self._include is None or _matches(self._include, path)) and not _matches(self._exclude, path)

    def notices(self, paths: Collection[str]) -> Iterator[str]:
        unclosed = [text for text in self._texts() if _is_unclosed(text)]
        if unclosed:
            yield self._notice("with a '[' that nothing closes, which match nothing", unclosed)
        idle = list(self._idle(paths))
        if idle:
            yield self._notice("that match no file of the corpus", idle)

    def _texts(self) -> tuple[str, ...]:
        return (*(self._scope.include or ()), *self._scope.exclude)

    def _idle(self, paths: Collection[str]) -> Iterator[str]:
        """The patterns that match none of `paths`."""
        for text in dict.fromkeys(self._texts()):
            compiled = _compile(self._scope.name, text)
            if compiled and not any(compiled[0].match_file(path) for path in paths):
                yield text

    def _notice(self, fault: str, texts: Sequence[str]) -> str:
        few = listed_with_rest(map(quoted, texts), len(texts), _N_SHOWN)
        return f"scope {quoted(self._scope.name)}: patterns {fault}: {few}"


def _matches(spec: GitIgnoreSpec, path: str) -> bool:
    # No separators: a `\` is a character of a name, on every operating system.
    return spec.match_file(path, separators=())


def _read(name: str, texts: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # few runs have a scope, and it takes 50 ms

    patterns = [pattern for text in texts for pattern in _compile(name, text)]
    # Its other engines are taken where they are installed; this one is always there.
    return GitIgnoreSpec(patterns, backend="simple")


def _compile(name: str, text: str) -> list[GitIgnoreSpecPattern]:
    """The pattern in `text`, none if it can match nothing; raises UsageError."""
    from pathspec.patterns.gitignore import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if "\n" in text or "\x00" in text:
        raise UsageError(f"{_place(name, text)} a pattern is one line")
    if not text.strip() or text.startswith("#") or _is_unclosed(text):
        return []
    if re.search(_MISREAD_SET, text):
        raise UsageError(f"{_place(name, text)} no [:class:] and no backslash is read between brackets")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of `re`, about a set that starts with a bracket
            return [GitIgnoreSpecPattern(text)]
    except (GitIgnorePatternError, re.error) as exc:  # the second: a range such as [z-a]
        raise UsageError(f"{_place(name, text)} no pattern, write one as in a .gitignore file") from exc


def _is_unclosed(text: str) -> bool:
    return has_unclosed_set(text.encode(errors="replace"))


def _place(name: str, text: str) -> str:
    return f"scope {quoted(name)}: pattern {quoted(text)}:"
