"""Measure how good a code search ranking is, and whether a change to it is an improvement or noise.

For notebooks and scripts: `cce.evaluate`, `cce.compare`, `cce.gate`, what they take and what they raise.
"""

TYPE_CHECKING = False  # as typing has it, which takes longer to import than all the rest here
if TYPE_CHECKING:
    from cce.domain.evidence import EvidenceOptions
    from cce.errors import CceError
    from cce.scripting import GateResult, ReportResult, compare, evaluate, gate

__all__ = ["CceError", "EvidenceOptions", "GateResult", "ReportResult", "compare", "evaluate", "gate"]

_HOMES = {"CceError": "cce.errors", "EvidenceOptions": "cce.domain.evidence"}


if not TYPE_CHECKING:  # else every name would be one of the package

    def __getattr__(name: str) -> object:
        """Import what is first asked for; the command line imports this package and needs none of it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES.get(name, "cce.scripting")), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
