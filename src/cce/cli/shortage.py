"""Too little memory: detected before a library crashes, and reported as such, not as a bug.

It shows as MemoryError, as an OSError without a file or as an ImportError of the dynamic linker. OpenBLAS,
which numpy and scipy bring, ends the process or loops for ever.
"""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType

from cce.errors import CceError

_MIB = 1 << 20
# Loading numpy 2.4 takes 85 MiB of address space, scipy.special 1.17 another 91: OpenBLAS reserves as much.
_NEEDED_MIB = {"numpy": 128, "scipy.special": 128}
_LINKER_FAULTS = ("cannot allocate memory", "failed to map segment", "can't start new thread")
_WAY_OUT = (
    "free some memory, raise the limit (ulimit -v) or leave large files out with a .gitignore in the corpus"
)


class ShortageError(CceError):
    """The process needs more than it gets."""


class _ImportGuard:
    """An import hook that refuses what would crash for lack of memory; it finds no module itself."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:  # noqa: ARG004
        """Raises MemoryError."""
        needed = _NEEDED_MIB.get(name)
        if needed is not None and (free := _free_mib()) is not None and free < needed:
            raise MemoryError(
                f"{name} takes {needed} MiB, and the limit of this process leaves {max(0, free)}"
            )


def guard_imports() -> None:
    """Make imports that would crash raise MemoryError; limits are read at the import, not now."""
    if sys.platform == "linux" and _ImportGuard not in sys.meta_path:
        sys.meta_path.insert(0, _ImportGuard)


@contextlib.contextmanager
def naming_shortages(place: str) -> Iterator[None]:
    """Turn a lack of memory or of stack into a ShortageError."""
    fault = None
    try:
        yield
    except Exception as exc:
        fault = _shortage(exc)
        if fault is None:
            raise
    if fault is not None:  # raised here, because the frames that failed are freed only now
        raise ShortageError(f"{place}: {fault}")


def _shortage(exc: BaseException) -> str | None:
    """The fault if `exc` comes from a shortage; None for any other error."""
    if isinstance(exc, RecursionError):
        return "something in the input is nested too deep: simplify it, or leave it out"
    cause: BaseException | None = exc
    while cause is not None:
        if _is_memory_fault(cause):
            detail = " ".join(str(cause).split())[:200] if isinstance(cause, MemoryError) else ""
            return f"not enough memory{detail and f' ({detail})'}: {_WAY_OUT}"
        cause = cause.__cause__
    return None


def _is_memory_fault(exc: BaseException) -> bool:
    if isinstance(exc, OSError):
        return exc.errno == errno.ENOMEM
    text = str(exc).lower()
    is_of_linker = isinstance(exc, ImportError | RuntimeError) and any(
        fault in text for fault in _LINKER_FAULTS
    )
    return isinstance(exc, MemoryError) or is_of_linker


def _free_mib() -> int | None:
    """Address space that this process may still take; None without a limit."""
    if sys.platform != "linux":
        return None
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:  # in pages: all, .., data and stack, ..
        sizes = [int(field) * resource.getpagesize() for field in file.read().split()]
    limits = [(resource.RLIMIT_AS, sizes[0]), (resource.RLIMIT_DATA, sizes[5])]
    soft = [(resource.getrlimit(limit)[0], used) for limit, used in limits]
    free = [limit - used for limit, used in soft if limit != resource.RLIM_INFINITY]
    return min(free) // _MIB if free else None
