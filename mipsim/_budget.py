"""How long exact answers may take: a clock that is looked at wherever an answer is refined."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from mipsim._validation import UndefinedError, number

_END: ContextVar[tuple[float, float]] = ContextVar("_END", default=(math.inf, math.inf))
"""The processor time at which the innermost budget ends, and its seconds."""


def budget(seconds: float) -> AbstractContextManager[None]:
    """Let all exact answers within the block together take at most so long.

    At its end bounds that are refined step by step stay as they are, with a warning that states their width: curves, compositions,
    `mi.account`. What has no bounds before it is complete, such as an exact distribution or the least noise, raises an error. Without a
    block, answers are limited by the amount of work alone, so that they do not depend on the clock. Of nested blocks the first to end counts.

    Args:
        seconds: of the processor, > 0. The clock is looked at between steps, of which the longest take some seconds.

    Raises:
        ValueError: if seconds are not > 0; within the block, for an answer that is not there at its end.

    Examples:
        >>> import mipsim as mi
        >>> with mi.budget(60.0):
        ...     low, high = mi.dpsgd(1.0, 0.01, 100).epsilon_bounds(1e-5)
        >>> print(round(low, 3), high - low < 1e-4)
        0.718 True
    """
    return _lasting(number("seconds", seconds, 0.0, low_open=True))


def within(seconds: float | None) -> AbstractContextManager[None]:
    """A budget of so many seconds, or none."""
    return nullcontext() if seconds is None else budget(seconds)


@contextmanager
def _lasting(seconds: float) -> Iterator[None]:
    token = _END.set(min(_END.get(), (time.process_time() + seconds, seconds)))
    try:
        yield
    finally:
        _END.reset(token)


def spent() -> bool:
    """Whether the budget is at its end.
    >>> spent()
    False
    """
    end, _ = _END.get()
    return end < math.inf and time.process_time() > end


def check_budget() -> None:
    """Raise UndefinedError at the end of the budget: a verdict is then INCONCLUSIVE."""
    if spent():
        _, seconds = _END.get()
        raise UndefinedError(
            f"no exact answer within {seconds:g} processor seconds; give mi.budget more seconds, or play games instead"
        )
