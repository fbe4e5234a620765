"""Options of a systems file, held against what takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cce.errors import UsageError


def require_options(
    factory: Callable[..., object], options: Mapping[str, object], place: str, *, n_given: int = 0
) -> None:
    """Raise UsageError for an option that `factory` does not take, or takes as a flag and is none.

    place    of the options, for messages
    n_given  how many of its first arguments are no options
    """
    if not options:
        return
    from inspect import Parameter, signature  # only variants have options

    from cce.toml_tables import shown, unknown

    parameters = [*signature(factory).parameters.values()][n_given:]
    if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
        return
    known = {each.name: each for each in parameters if each.kind is not Parameter.VAR_POSITIONAL}
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"{place}: {unknown('option', name, known)}")
        if isinstance(known[name].default, bool) and not isinstance(value, bool):
            raise UsageError(f"{place}.{name}: must be true or false, got {shown(value)}")
