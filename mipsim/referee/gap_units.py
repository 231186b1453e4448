"""The gap of a judged point in another unit: advantage, epsilon at a delta, TPR at an FPR."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mipsim._printed import shown
from mipsim._validation import member, number, words
from mipsim._words import quoted
from mipsim.referee.kinds import Limit
from mipsim.referee.values import Number, Played, Samplers, read
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from mipsim.referee.outcome import Outcome

UNITS = "advantage, epsilon=DELTA such as epsilon=1e-5, or tpr=FPR such as tpr=0.01"


def unit_of(unit: str) -> Callable[[AbstractTradeOff], tuple[float, float]]:
    """What bounds a curve's number in a unit.
    `unit`: "advantage", "epsilon=DELTA" or "tpr=FPR", the rates in (0, 1). Raises ValueError if it is anything else.

    >>> import mipsim as mi
    >>> [round(end, 4) for end in unit_of("tpr=0.01")(mi.GaussianTradeOff(1.0))]
    [0.0924, 0.0924]
    """
    unit = words("unit", unit)
    name, _, rate = unit.partition("=")
    of = {"epsilon": "DELTA of epsilon=DELTA", "tpr": "FPR of tpr=FPR"}
    if unit == "advantage":
        return lambda curve: curve.advantage_bounds()
    try:
        value = float(rate) if name in of else None
    except ValueError:
        value = None
    if value is None:
        raise ValueError(f"unit is {quoted(unit)}; it must be {UNITS}")
    value = number(of[name], value, 0.0, 1.0, low_open=True, high_open=True)
    if name == "tpr":
        return lambda curve: curve.tpr_bounds(value)
    return lambda curve: curve.epsilon_bounds(value)


def gap_in(outcome: Outcome, unit: str) -> str:
    """Describe claim, truth and their gap at the point that a report shows first, in another unit than the judge's.

    Args:
        outcome: what `judge` or `hunt` returned.
        unit: "advantage", "epsilon=DELTA" or "tpr=FPR". Of a limit, at its largest size.

    Returns:
        A sentence with bounds of both; it says so if either is no curve or has no exact distribution.

    Raises:
        ValueError: on another unit.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim import referee as rf
        >>> rounded = rf.Statement(
        ...     name="rounded", says="mu is 1.", source="nobody", kind=rf.Bound(), domain={"mu": rf.Real(0.5, 2.0)},
        ...     claimed=lambda: mi.GaussianTradeOff(1.0), truth=lambda mu: mi.GaussianTradeOff(mu),
        ... )
        >>> print(gap_in(rf.judge(rounded, at={"mu": 2.0}), "advantage"))
        advantage: claimed 0.382925, true 0.682689, gap +0.299765
    """
    from mipsim.referee.outcome import Outcome

    measure = unit_of(unit)
    statement = member("outcome", outcome, Outcome, "what judge or hunt returned").statement
    point = dict(outcome.point or {})
    if not point and outcome.worst is None:
        return f"{unit}: no point was judged"
    if isinstance(statement.kind, Limit) and isinstance(point.get(statement.kind.grows), list):
        point[statement.kind.grows] = point[statement.kind.grows][-1]
    ends = []
    for role in ("claimed", "truth"):
        value = read(role, statement.call(role, point))
        if isinstance(value, Played):
            try:
                value = value.game.exact(value.attack)
            except ValueError:
                which = "claim" if role == "claimed" else role
                return f"{unit}: cannot be given: the {which} is played, not computed"
        if isinstance(value, (Number, Samplers)):
            return f"{unit}: {role} is no curve"
        ends.append(measure(value))
    gap = ends[1][0] - ends[0][1], ends[1][1] - ends[0][0]
    return f"{unit}: claimed {_shown(ends[0])}, true {_shown(ends[1])}, gap {_shown(gap, '+', 'in ')}"


def _shown(ends: tuple[float, float], sign: str = "-", between: str = "") -> str:
    """A single number where the ends are near, else the interval, with a word before it."""
    low, high = map(float, ends)
    return (
        f"{0.5 * (low + high):{sign}.6g}"
        if high - low <= 1e-6 * max(1.0, abs(high))
        else f"{between}{shown((low, high), 6, sign.strip('-'))}"
    )
