"""Where a parameter matters: of statements that judge several mechanisms, laws or readings, each with parameters of its own."""

from collections.abc import Callable

Where = Callable[..., bool]
"""A function of a point's other parameters, as `matters_when` takes it."""


def where_in(name: str, *values: object) -> Where:
    """Where another parameter has any of these values.
    >>> where_in("data", "gamma")(data="gamma", n=3)
    True
    """
    return lambda **at: at[name] in values


def nowhere(**_: object) -> bool:
    """For a parameter that the words leave free and that changes neither claim nor truth.
    >>> nowhere(n=3)
    False
    """
    return False
