"""What sort of statement it is, which decides the logic of its verdict."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mipsim._validation import check_fields, number, refuse_class, whole
from mipsim._words import quoted

EVERYWHERE = 1e-9
"""Bounds are about every FPR; below this the rounding of float64 is all that there is to compare."""
FIXED_ALPHA = 1e-4
"""Equalities and limits are about a fixed FPR: error rates from here to 1 minus this are compared."""
LEAST_SIZES, SIZES = 6, 10
"""A limit is judged at so many sizes at least, and at so many unless its own are given."""


@dataclass(frozen=True)
class Kind:
    """What every kind of statement says of itself."""

    # of the gap of two numbers; that of two curves is the probit
    unit: str = field(default="number", kw_only=True)
    # error rates of curves from here to 1 minus this are judged, in (0, 1/2)
    floor: float = field(default=FIXED_ALPHA, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self)
        number("floor", self.floor, 0.0, 0.5, low_open=True, high_open=True)

    @property
    def one_sided(self) -> bool:
        """Whether only an excess counts against the statement."""
        return False

    def __str__(self) -> str:
        report = {
            "tolerance": "tolerance {:g}",
            "grows": "as {} grows",
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
            key: str(value)
            if isinstance(value, (Rate, Ceiling))
            else "depend on the point"
            if callable(value)
            else value
            for key, value in vars(self).items()
            if key not in ("rate", "ceiling", "along") or value
        }


@dataclass(frozen=True)
class Rate:
    """A proven bound on how far truth is from what it tends to: at most constant * size^-power, from the size `start` on.

    Of numbers it bounds the difference, in their unit. Of curves it bounds the distance in error rates, to which Berry-Esseen
    theorems lead: limit(alpha + r) - r <= truth(alpha) <= limit(alpha - r) + r at each alpha, r the bound. A judge compares the claim
    with `limit`, which the theorem gives and not the claim, and refuses a rate that the truth it computes contradicts. Conditions belong
    into the function that returns the rate, which returns None where a condition fails.

    Args:
        constant: > 0.
        power: > 0.
        limit: what truth tends to: a trade-off function or a number. Where both sides of a
            `Limit` move, a function of the size that is truth up to the bound; the claim must be equal to it at each judged size.
        source: the theorem, with its constant.
        claimed: of a `Limit` whose claim moves towards a number or curve of its own: this, up to the same bound.
        start: the least size of which it speaks, > 0.

    Raises:
        ValueError: if a number is not finite or not > 0, or there is no source.

    Examples:
        >>> Rate(2.0, 0.5, limit=1.0, source="school").at(100)
        0.2
    """

    constant: float
    power: float
    limit: Any = field(kw_only=True)
    source: str = field(kw_only=True)
    start: float = field(default=1.0, kw_only=True)
    claimed: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _curve_or_number("limit", self.limit, callable(self.limit))
        for name in ("constant", "power", "start"):
            number(name, getattr(self, name), 0.0, low_open=True)
        _named(self.source)

    def at(self, size: float) -> float:
        """The bound at a size; inf below the first of which it speaks."""
        return self.constant * size**-self.power if size >= self.start else math.inf


@dataclass(frozen=True)
class Ceiling:
    """A proven bound on truth at every size from `start` on, which refutes a limit on its other side, and confirms a `Limit` that is a bound.

    A judge compares the claim with `value`, and refuses a ceiling that a claim or a truth at a judged size contradicts. Conditions belong into
    the function that returns the ceiling, which returns None where a condition fails.

    Args:
        value: a number that truth never exceeds; or a trade-off function: the attacker is never stronger.
        source: the proof, or where it is.
        start: the least size of which it speaks, > 0.
        below: whether it is a floor: truth is never less, the attacker never weaker than `value`.
        claimed: what the claim tends to, where it moves with the size; None where it is the same at all sizes.

    Raises:
        ValueError: if `start` is not finite or not > 0, or there is no source.

    Examples:
        >>> Ceiling(0.5, source="a coin decides", start=10).start
        10
    """

    value: Any
    source: str = field(kw_only=True)
    start: float = field(default=1.0, kw_only=True)
    below: bool = field(default=False, kw_only=True)
    claimed: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self)
        _curve_or_number("value", self.value)
        number("start", self.start, 0.0, low_open=True)
        _named(self.source)


def _curve_or_number(name: str, value: Any, function: bool = False) -> None:
    refuse_class(name, value, "a trade-off function or a number")
    if not (function or hasattr(value, "beta") or hasattr(value, "error")):
        number(name, value)


def _named(source: object) -> None:
    if not isinstance(source, str) or not source.strip():
        raise ValueError(f"source is {quoted(source)}; it must name the theorem and its constant")


def rate_of(kind: Kind, at: Mapping[str, Any]) -> Rate | None:
    """The proven rate of a kind at a point; None if it has none, or its conditions fail there.
    Raises ValueError if its function returns something else.
    """
    return _theorem(kind, "rate", Rate, at)


def ceiling_of(kind: Kind, at: Mapping[str, Any]) -> Ceiling | None:
    """The ceiling of a limit at a point, as `rate_of`."""
    return _theorem(kind, "ceiling", Ceiling, at)


def _theorem(kind: Kind, name: str, sort: type[Any], at: Mapping[str, Any]) -> Any:
    own = getattr(kind, name, None)
    result = own if own is None or isinstance(own, sort) else _called(own, at)
    if result is not None and not isinstance(result, sort):
        raise ValueError(
            f"{name} returned {quoted(result)}; it must return a {sort.__name__}, or None where a condition fails"
        )
    return result


def _called(function: Callable[..., Any], at: Mapping[str, Any]) -> Any:
    """What a function returns that is called with the parameters that it names."""
    requested = inspect.signature(function).parameters
    takes_all = any(item.kind is item.VAR_KEYWORD for item in requested.values())
    return function(**{name: value for name, value in at.items() if takes_all or name in requested})


@dataclass(frozen=True)
class Bound(Kind):
    """The attacker is never stronger than claimed: curves, truth never below the claimed curve; numbers, truth <= claimed.

    By an exact distribution there is no tolerance: only the distribution's own proven error and the rounding of float64 are slack.

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
        floor: error rates of curves from here to 1 minus this are judged.

    Raises:
        ValueError: if the tolerance is not > 0.

    Source: equivalence tests; Wellek (2010), "Testing statistical hypotheses of equivalence", chapter 1.

    Examples:
        >>> Equality(0.01).tolerance
        0.01
    """

    tolerance: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tolerance is not None:
            number("tolerance", self.tolerance, 0.0, low_open=True)


@dataclass(frozen=True)
class Ordering(Kind):
    """A quantity never passes another: `truth` never above `claimed`, which may be a game and an attack too.

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
    """As `grows` goes to infinity truth and claim become equal.

    Only a theorem decides a limit: a proven `rate` or `ceiling`. By the gaps at growing sizes alone it is CONFIRMED up to the largest of them,
    and never REFUTED, by the rule of `mipsim.referee.limit_verdict`.

    Args:
        grows: the parameter that grows; it is part of the domain and of no point.
        sizes: at which it is judged, at least six, each at least twice the previous; or a function of the other
            parameters that returns them. None: ten of them, from the larger of 100 and the parameter's least value to the
            largest that is searched. The judge adds those of `companions`.
        along: where truth exists at some sizes only, these in words, such as "odd n": the listed sizes then stand alone, and the headline
            says so.
        tolerance: what counts as equal to the limit, as for `Equality`.
        bound: whether the statement is a bound in the limit: only an excess counts against it.
        rate: a proven `Rate`, or a function of the other parameters that returns a `Rate`, or None where a condition of it fails. It
            decides where its bound at the largest judged size is inside the tolerance; the claim must be the same at all sizes.
        ceiling: a proven `Ceiling`, or a function that returns a `Ceiling` or None.
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
    along: str = field(default="", kw_only=True)
    bound: bool = field(default=False, kw_only=True)
    rate: Rate | Callable[..., Rate | None] | None = field(default=None, kw_only=True)
    ceiling: Ceiling | Callable[..., Ceiling | None] | None = field(default=None, kw_only=True)

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


def _doubling(sizes: Sequence[float]) -> tuple[float, ...]:
    if len(sizes) < LEAST_SIZES:
        raise ValueError(f"sizes has {len(sizes)} entries; it must have at least {LEAST_SIZES}")
    pairs = itertools.pairwise(sizes)
    if near := [(a, b) for a, b in pairs if not (math.isfinite(b) and a > 0 and b >= 2 * a)]:
        raise ValueError(
            f"sizes holds {near[0][1]:g} after {near[0][0]:g}; each must be at least twice the previous"
        )
    return tuple(sizes)


def sizes_of(kind: Limit, low: float, high: float, at: Mapping[str, Any] | None = None) -> tuple[int, ...]:
    """The sizes at which a limit is judged.
    `kind`: the limit; its own sizes come first; `low`: the least value of what grows; `high`: the largest that is
    searched; `at`: the point, for sizes that depend on it. Raises ValueError if six sizes, each twice the previous, do
    not fit between them.

    >>> sizes_of(Limit("n"), 2, 51_200)
    (100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 51200)
    """
    if kind.sizes is not None:
        own = kind.sizes
        if callable(own):
            own = _doubling(_called(own, at or {}))
        return tuple(whole("sizes", size, 1) for size in own)
    start = max(100, int(low)) if high >= 100 * 2 ** (LEAST_SIZES - 1) else max(1, int(low))
    steps = min(SIZES - 1, int(math.log2(high / start)))
    if steps < LEAST_SIZES - 1:
        raise ValueError(
            f"{kind.grows} is searched from {low:g} to {high:g}; a limit needs {LEAST_SIZES} sizes, each twice the previous"
        )
    ratio = (high / start) ** (1.0 / steps)
    sizes = [start]
    for k in range(1, steps + 1):
        # Rounded down they could come too near to each other.
        sizes.append(max(2 * sizes[-1], int(start * ratio**k + 1e-6)))
    return tuple(size for size in sizes if size <= high)


def companions(sizes: Sequence[int], seed: int) -> tuple[int, ...]:
    """The sizes with at most three companions: what holds along 100, 200, 400, ... may fail at odd n.

    Two lie in the last third of the range, evenly in log n, where a limit is decided: next to the third largest size a size that is no multiple of 2, 3 or
    5, and at random up to the second largest an odd multiple of 30. One that is no multiple of 2, 3 or 5 lies next to the last size before that third.
    None lies at the largest sizes, where truth takes longest.

    `sizes`: listed, growing; `seed`: of the run. Statements that are judged at the same sizes have the same companions.

    >>> companions((100, 200, 400, 800, 1600, 3200), 0)
    (100, 200, 400, 800, 803, 1470, 1600, 1601, 3200)
    """
    low, high = math.log(sizes[0]), math.log(sizes[-1])
    first = (low + 2.0 * high) / 3.0
    late = [n for n in sizes if math.log(n) > first - 1e-9]
    most = math.log(late[-2 if len(late) > 1 else -1])
    random = int(math.exp(np.random.default_rng([seed, *sizes]).uniform(first, most)))
    before = sizes[-len(late) - 1]
    added = (
        next(n for n in itertools.count(before + 1) if math.gcd(n, 30) == 1 and n % 4 == 3),
        next(n for n in itertools.count((late[:-1][-2:] or late)[0] + 1) if math.gcd(n, 30) == 1 and n % 12 == 5),
        next(n for n in itertools.count(random) if n % 60 == 30),
    )  # fmt: skip
    return tuple(sorted({*sizes, *(n for n in added if n < sizes[-1])}))
