"""How long exact answers may take, and how much memory: a clock that is looked at wherever an answer is refined."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

from mipsim._validation import UndefinedError, number

GIB = 2.0**30
_MEMORY, _LEAST_MEMORY = 2.0 * GIB, 2.0**24
"""Without a block: what the largest answers take that are there within a minute of a core."""

_END: ContextVar[tuple[float, float]] = ContextVar("_END", default=(math.inf, math.inf))
"""The processor time at which the innermost budget ends, and its seconds."""

_BYTES: ContextVar[float | None] = ContextVar("_BYTES", default=None)


def budget(seconds: float | None = None, memory: float | None = None) -> AbstractContextManager[None]:
    """Let all exact answers within the block together take at most so long, and each at most so much memory.

    At the end of the seconds bounds that are refined step by step stay as they are, with a warning that states their width: curves,
    compositions, `mi.account`, audits. What has no bounds before it is complete, such as an exact distribution or the least noise, raises an
    error. Without a block, answers are limited by the amount of work alone, so that they do not depend on the clock.

    Memory is planned before the work: what needs more is refused in a sentence, and the lattice of a composition gets as many places as there is
    room for. Without a block it is 2 GiB. Of nested blocks the first to end counts, and the least memory.

    Args:
        seconds: of the processor, > 0; None for any. The clock is looked at between steps, of which the longest take some seconds.
        memory: bytes of the arrays of a single answer, beside what the library itself takes, at least 2^24; None for the default.

    Raises:
        ValueError: if neither is given, or an argument is outside its range; within the block, for an answer that is not there at its end, or
            needs more memory.

    Examples:
        >>> import mipsim as mi
        >>> with mi.budget(60.0):
        ...     low, high = mi.dpsgd(1.0, 0.01, 100).epsilon_bounds(1e-5)
        >>> print(round(low, 3), high - low < 1e-4)
        0.718 True
        >>> with mi.budget(memory=8 * 2**30):
        ...     low, high = mi.dpsgd(1.0, 0.01, 100).epsilon_bounds(1e-5)
    """
    if seconds is None and memory is None:
        raise ValueError("a budget is of seconds, of memory, or of both; neither is given")
    if seconds is not None:
        number("seconds", seconds, 0.0, low_open=True)
    if memory is not None:
        number("memory", memory, _LEAST_MEMORY)
    return _lasting(seconds, memory)


def within(seconds: float | None) -> AbstractContextManager[None]:
    """A budget of so many seconds, or none."""
    return nullcontext() if seconds is None else budget(seconds)


@contextmanager
def _lasting(seconds: float | None, memory: float | None) -> Iterator[None]:
    now, own = _END.get(), _BYTES.get()
    tokens = [
        _END.set(now if seconds is None else min(now, (time.process_time() + seconds, seconds))),
        _BYTES.set(min((size for size in (own, memory) if size is not None), default=None)),
    ]
    try:
        yield
    finally:
        for variable, token in zip((_END, _BYTES), tokens, strict=True):
            variable.reset(token)


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


def noted(what: str, bounds: tuple[Any, Any], aim: float = 1e-5) -> tuple[Any, Any]:
    """The bounds of a number, after a warning of their width where they are wider than the aim at the end of the budget.
    >>> noted("delta", (0.25, 0.75))  # no budget is at its end
    (0.25, 0.75)
    """
    if spent():
        low, high = map(np.asarray, bounds)
        with np.errstate(invalid="ignore"):
            width = float(np.nanmax(np.where(low == high, 0.0, high - low), initial=0.0))
        if width > aim:
            warn_of_end(f"{what} is known to {width:.1g} only", "both bounds hold, and are nearer")
    return bounds


def warn_of_end(first: str, last: str) -> None:
    """Warn of an answer that the budget cut short."""
    warnings.warn(f"{first}, at the end of mi.budget; {last} in more seconds", stacklevel=6)


def memory() -> float:
    """The bytes that an answer may take.
    >>> memory() / GIB
    2.0
    """
    return _BYTES.get() or _MEMORY


def check_memory(size: float, what: str, instead: str) -> None:
    """Raise UndefinedError where arrays of so many bytes are over the budget; `what` needs them.
    >>> check_memory(8 * GIB, "the table", "take fewer rows")
    Traceback (most recent call last):
    ...
    mipsim._validation.UndefinedError: the table needs 8 GiB, over the 2 GiB of mi.budget(memory=...): give more, or take fewer rows
    """
    if size > memory():
        raise UndefinedError(
            f"{what} needs {size / GIB:.2g} GiB, over the {memory() / GIB:.2g} GiB of mi.budget(memory=...): give more, or {instead}"
        )
