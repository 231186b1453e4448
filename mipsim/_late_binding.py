"""Methods that a base class declares and whose bodies are bound later, by what is built on it.

`curve.subsampled(0.1)` is a method of the base class of all curves, and what it returns is a member of that class. So the base
file declares the method and calls `bound_body("subsampled")`; `mipsim._methods`, which may import everything, binds the body.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Body = TypeVar("Body", bound=Callable[..., Any])
_BODIES: dict[str, Callable[..., Any]] = {}


def bind(body: Body) -> Body:
    """Give the method of this name its body."""
    _BODIES[body.__name__] = body
    return body


def bound_body(name: str) -> Callable[..., Any]:
    """The body that is bound to the method of this name."""
    return _BODIES[name]
