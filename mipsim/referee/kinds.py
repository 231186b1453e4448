"""What sort of statement it is, which decides the logic of its verdict."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mipsim._validation import number, whole

EVERYWHERE = 1e-9
"""Bounds are about every FPR; below this the rounding of float64 is all that there is to compare."""
FIXED_ALPHA = 1e-4
"""Equalities and limits are about a fixed FPR: error rates from here to 1 minus this are compared."""
LEAST_SIZES, SIZES = 6, 10
"""A limit is judged at so many sizes at least, and at so many unless its own are given."""


@dataclass(frozen=True)
class Kind:
    """What every kind of statement says of itself.

    Attributes:
        unit: of the gap of two numbers; that of two curves is the probit.
        floor: error rates of curves from here to 1 minus this are judged, in (0, 1/2).
    """

    unit: str = field(default="number", kw_only=True)
    floor: float = field(default=FIXED_ALPHA, kw_only=True)

    def __post_init__(self) -> None:
        number("floor", self.floor, 0.0, 0.5, low_open=True, high_open=True)

    @property
    def one_sided(self) -> bool:
        """Whether only an excess counts against the statement."""
        return False

    def __str__(self) -> str:
        report = {
            "tolerance": "tolerance {:g}",
            "relative": "tolerance {:.3g} of the claim",
            "grows": "as {} grows",
            "of": "of: {}",
        }
        message = [
            text.format(value)
            for key, text in report.items()
            if (value := getattr(self, key, None)) is not None
        ]
        if self.floor != type(self).floor:
            message.append(f"error rates from {self.floor:g} to 1 - {self.floor:g}")
        return ", ".join([type(self).__name__.lower(), *message])

    def record(self) -> dict[str, Any]:
        """The kind as JSON holds it."""
        return {"kind": type(self).__name__} | {
            key: value.record()
            if isinstance(value, Kind)
            else "depend on the point"
            if callable(value)
            else value
            for key, value in vars(self).items()
        }


@dataclass(frozen=True)
class Bound(Kind):
    """The attacker is never stronger than claimed: curves, truth never below the claimed one; numbers, truth <= claimed.

    By an exact law there is no tolerance: only the law's own proven error and the rounding of float64 are slack.

    Args:
        unit: of the gap of two numbers.
        floor: error rates of curves from here to 1 minus this are judged.

    Source: Dong, Roth and Su (2022), definition 2.3, for the order of trade-off functions.

    Examples:
        >>> Bound().one_sided, Bound().floor
        (True, 1e-09)
    """

    floor: float = field(default=EVERYWHERE, kw_only=True)

    @property
    def one_sided(self) -> bool:
        """True: only an attacker who is stronger than claimed counts."""
        return True


@dataclass(frozen=True)
class Equality(Kind):
    """Truth and claim are equal, to a tolerance that is declared before anything is computed.

    Args:
        tolerance: absolute, in probits for curves and in `unit` for numbers, > 0. None: the smaller of 0.02 probits and
            2% of the claim's own mu; for a number 2% of it.
        unit: of the gap of two numbers.
        relative: for numbers, another share of the claimed number than 2%, > 0.
        floor: error rates of curves from here to 1 minus this are judged.

    Raises:
        ValueError: if a tolerance is not > 0, or both are given.

    Source: equivalence tests; Wellek (2010), "Testing statistical hypotheses of equivalence", chapter 1.

    Examples:
        >>> Equality(0.01).tolerance, Equality(relative=0.001).relative
        (0.01, 0.001)
    """

    tolerance: float | None = None
    relative: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("tolerance", "relative"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), 0.0, low_open=True)
        if self.tolerance is not None and self.relative is not None:
            raise ValueError(
                f"tolerance is {self.tolerance} and relative is {self.relative}; give one of them"
            )


@dataclass(frozen=True)
class Ordering(Kind):
    """One quantity never passes another: `truth` never above `claimed`, which may be a game and an attack too.

    Curves: the attacker of `truth` is never stronger than that of `claimed`.

    Args:
        unit: of the gap of two numbers.
        floor: error rates of curves from here to 1 minus this are judged.

    Source: Blackwell (1953), for the order of experiments.

    Examples:
        >>> Ordering().one_sided
        True
    """

    @property
    def one_sided(self) -> bool:
        """True: only a truth that passes the claim counts."""
        return True


@dataclass(frozen=True)
class Limit(Kind):
    """As `grows` goes to infinity truth and claim become equal, judged by `mipsim.referee.limit_verdict`.

    Args:
        grows: the parameter that grows; it is part of the domain and of no point.
        sizes: at which it is judged, at least six, each at least twice the one before; or a function of the other
            parameters that returns them. None: ten of them, from the larger of 100 and the parameter's least value to the
            largest that is searched.
        tolerance: what counts as equal to the limit, as for `Equality`.
        bound: whether the statement is a bound in the limit: only an excess counts against it.
        unit: of the gap of two numbers.
        floor: error rates of curves from here to 1 minus this are judged.

    Raises:
        ValueError: if there are fewer than six sizes, or they are nearer than a factor of 2.

    Source: see `mipsim.referee.limit_verdict`.

    Examples:
        >>> Limit("n", sizes=(100, 200, 400, 800, 1600, 3200)).grows
        'n'
    """

    grows: str
    sizes: Sequence[float] | Callable[..., Sequence[float]] | None = field(default=None, kw_only=True)
    tolerance: float | None = field(default=None, kw_only=True)
    bound: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance is not None:
            number("tolerance", self.tolerance, 0.0, low_open=True)
        if self.sizes is not None and not callable(self.sizes):
            object.__setattr__(self, "sizes", _doubling(self.sizes))

    @property
    def one_sided(self) -> bool:
        """Whether the limit is a bound."""
        return self.bound


@dataclass(frozen=True)
class Exists(Kind):
    """There is a point of the domain at which the inner statement holds; a hunt looks for one.

    A point that satisfies it confirms it. Nothing that a search does not find refutes it.

    Args:
        of: what holds there: `Bound()`, `Equality(...)` or `Ordering()`.

    Raises:
        ValueError: if it is anything else.

    Examples:
        >>> Exists(Equality(0.01)).of.tolerance
        0.01
    """

    of: Kind = field(default_factory=Bound)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.of, (Bound, Equality, Ordering)):
            raise ValueError(f"of is {self.of!r}; it must be Bound(), Equality(...) or Ordering()")

    @property
    def one_sided(self) -> bool:
        """As the inner statement."""
        return self.of.one_sided


def _doubling(sizes: Sequence[float]) -> tuple[float, ...]:
    if len(sizes) < LEAST_SIZES:
        raise ValueError(f"sizes has {len(sizes)} entries; it must have at least {LEAST_SIZES}")
    pairs = itertools.pairwise(sizes)
    if near := [(a, b) for a, b in pairs if not (math.isfinite(b) and a > 0 and b >= 2 * a)]:
        raise ValueError(
            f"sizes holds {near[0][1]:g} after {near[0][0]:g}; each must be at least twice the one before"
        )
    return tuple(sizes)


def sizes_of(kind: Limit, low: float, high: float, at: Mapping[str, Any] | None = None) -> tuple[int, ...]:
    """The sizes at which a limit is judged.

    Args:
        kind: the limit; its own sizes come first.
        low: the least value of what grows.
        high: the largest that is searched.
        at: the point, for sizes that depend on it.

    Raises:
        ValueError: if six sizes, each twice the one before, do not fit between them.

    Examples:
        >>> sizes_of(Limit("n"), 2, 51_200)
        (100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
    """
    if kind.sizes is not None:
        own = kind.sizes
        if callable(own):
            requested = inspect.signature(own).parameters
            takes_all = any(item.kind is item.VAR_KEYWORD for item in requested.values())
            given = {name: value for name, value in (at or {}).items() if takes_all or name in requested}
            own = _doubling(own(**given))
        return tuple(whole("sizes", size, 1) for size in own)
    start = max(100, int(low)) if high >= 100 * 2 ** (LEAST_SIZES - 1) else max(1, int(low))
    steps = min(SIZES - 1, int(math.log2(high / start)))
    if steps < LEAST_SIZES - 1:
        raise ValueError(
            f"{kind.grows} is searched from {low:g} to {high:g}; a limit needs {LEAST_SIZES} sizes, each twice the one before"
        )
    ratio = (high / start) ** (1.0 / steps)
    sizes = [start]
    for k in range(1, steps + 1):
        # Rounded down they could come too near to each other.
        sizes.append(max(2 * sizes[-1], int(start * ratio**k + 1e-6)))
    return tuple(size for size in sizes if size <= high)
