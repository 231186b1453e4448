"""Methods that a base class declares and whose bodies are bound later, by what is built on it.

`curve.subsampled(0.1)` is a method of the base class of all curves, and what it returns is a member of that class. So the base
file declares the method and calls `late("subsampled")`; `mipsim._methods`, which may import everything, binds the body.
"""

from collections.abc import Callable
from typing import Any, TypeVar

Body = TypeVar("Body", bound=Callable[..., Any])
_BODIES: dict[str, Callable[..., Any]] = {}


def bind(body: Body) -> Body:
    """Give the method of this name its body.

    Examples:
        >>> @bind
        ... def twice(number):
        ...     return 2 * number
        >>> late("twice")(3)
        6
    """
    _BODIES[body.__name__] = body
    return body


def late(name: str) -> Callable[..., Any]:
    """The body that is bound to the method of this name."""
    return _BODIES[name]
