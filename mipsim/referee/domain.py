"""What a parameter of a statement may be: a real number, a whole number, a choice among several values, or a fixed value."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mipsim._validation import check_fields, number, real, whole, words
from mipsim._words import plural, quoted

NEAREST = 4
"""Decades: a real number next to an end is put at 10^-1 to 10^-4 of the range from it, evenly in decades."""
STEPS = (1, 2)
"""How far from an end a whole number next to it lies: "d < 3" starts at 1."""
DIGITS = 3
"""Significant digits of the numbers that a counterexample is shrunk to, at most."""


@dataclass(frozen=True)
class AbstractParameter(ABC):
    """A parameter of a statement. A search sees it as a number u in [0, 1], its place in the range.

    `meaning`: what it is and its unit, in a few words, which reports show.
    """

    meaning: str = field(default="", kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        words("meaning", self.meaning)

    def means(self, words: str) -> Self:
        """The same parameter with another meaning."""
        result = copy(self)
        object.__setattr__(result, "meaning", words)
        result.__post_init__()
        return result

    @property
    @abstractmethod
    def ends(self) -> tuple[Any, ...]:
        """The corners: both ends of what is searched, or every choice."""

    @abstractmethod
    def allows(self, value: Any) -> bool:
        """Whether the statement allows this value, beyond what is searched too."""

    @abstractmethod
    def value(self, place: float) -> Any:
        """The value at a place in [0, 1]."""

    @abstractmethod
    def place(self, value: Any) -> float:
        """The place of a value, in [0, 1]."""

    @abstractmethod
    def next_to_end(self, generator: np.random.Generator) -> Any:
        """A value at either end, or next to it, at random."""

    @abstractmethod
    def simpler(self, value: Any) -> list[Any]:
        """Values that make a simpler counterexample than this value, the simplest first."""

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """What it is, as JSON holds it (infinities are null: that end is open)."""


@dataclass(frozen=True)
class _Range(AbstractParameter):
    low: float
    high: float
    log: bool = False
    hunt_to: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self)
        for name in ("low", "high"):
            self._check(name, getattr(self, name))
        if not self.low < self.high:
            raise ValueError(
                f"low is {self.low} and high is {self.high}; low must be below high, or take Fixed({self.low})"
            )
        open_ends = [name for name in ("low", "high") if math.isinf(getattr(self, name))]
        if open_ends and self.hunt_to is None:
            raise ValueError(
                f"{open_ends[0]} is {getattr(self, open_ends[0])} and hunt_to is missing; it must say how far a search goes"
            )
        if self.hunt_to is not None:
            if not open_ends:
                raise ValueError(f"hunt_to is {self.hunt_to}, but neither end is open; it must be left out")
            number("hunt_to", self.hunt_to)
        low, high = self._span
        if not low < high:
            raise ValueError(
                f"hunt_to is {self.hunt_to}, which leaves [{low:g}, {high:g}]; it must leave a range to search"
            )
        if self.log and not low > 0:
            raise ValueError(f"log is True with low = {low:g}; a logarithmic range must begin above 0")

    def _check(self, name: str, value: Any) -> None:
        if not math.isinf(real(name, value)):
            number(name, value)

    @property
    def _span(self) -> tuple[float, float]:
        """What is searched: an open end is cut at hunt_to, below at -hunt_to."""
        far = math.inf if self.hunt_to is None else float(self.hunt_to)
        return (
            -abs(far) if math.isinf(self.low) else self.low,
            far if math.isinf(self.high) else self.high,
        )

    def _between(self, place: float) -> float:
        low, high = self._span
        if place <= 0.0 or place >= 1.0:
            return low if place <= 0.0 else high
        if self.log:
            return float(np.clip(low * (high / low) ** place, low, high))
        return float(np.clip(low + (high - low) * place, low, high))

    def place(self, value: Any) -> float:
        """The place of a value in what is searched, in [0, 1]; a value beyond it is at the end."""
        low, high = self._span
        x = min(max(float(value), low), high)
        return math.log(x / low) / math.log(high / low) if self.log else (x - low) / (high - low)

    def record(self) -> dict[str, Any]:
        """What it is, as JSON holds it (infinities are null: that end is open)."""
        low, high = (None if math.isinf(end) else end for end in (self.low, self.high))
        result = {"kind": type(self).__name__.lower(), "low": low, "high": high, "log": self.log}
        return result if self.hunt_to is None else result | {"hunt_to": self.hunt_to}

    def __str__(self) -> str:
        left, right = "(" if math.isinf(self.low) else "[", ")" if math.isinf(self.high) else "]"
        far = "" if self.hunt_to is None else f", searched to {self.hunt_to:g}"
        return f"{left}{_short(self.low)}, {_short(self.high)}{right}{' on a log scale' if self.log else ''}{far}"


@dataclass(frozen=True)
class Real(_Range):
    """A real number in [low, high]; an infinite end is open.

    Args:
        low: the least value, or -inf.
        high: the largest value, or inf.
        log: whether a search spreads evenly over its logarithm.
        hunt_to: for an open end, how far a search goes (below: to -hunt_to).
        meaning: what it is and its unit, in a few words, which reports show.

    Raises:
        ValueError: if the range is empty, an open end has no `hunt_to`, or a logarithmic range touches 0.

    Examples:
        >>> print(Real(0.05, 20.0, log=True), Real(0.05, 20.0, log=True).value(0.5))
        [0.05, 20] on a log scale 1.0
        >>> Real(0.0, math.inf)
        Traceback (most recent call last):
            ...
        ValueError: high is inf and hunt_to is missing; it must say how far a search goes
    """

    @property
    def ends(self) -> tuple[float, ...]:
        """The two ends of what is searched."""
        return tuple(float(end) for end in self._span)

    def allows(self, value: Any) -> bool:
        """Whether it is a finite real number in [low, high]."""
        return _is_number(value) and math.isfinite(value) and self.low <= value <= self.high

    def value(self, place: float) -> float:
        """The value at a place in [0, 1]."""
        return self._between(place)

    def next_to_end(self, generator: np.random.Generator) -> float:
        """Either end, or a value at 10^-1 to 10^-4 of the range from it."""
        upper, exact = generator.random(2) < 0.5
        away = 0.0 if exact else 10.0 ** -(1.0 + (NEAREST - 1) * generator.random())
        return self.value(1.0 - away if upper else away)

    def simpler(self, value: float) -> list[float]:
        """0, 1, -1 and 1/2, then the value with 1, 2 and 3 digits, and what is searched's ends."""
        rounded = [float(f"{value:.{digits}g}") for digits in range(1, DIGITS + 1)]
        tried = [0.0, 1.0, -1.0, 0.5, *rounded[:1], *self.ends, *rounded[1:]]
        result: list[float] = []
        for item in tried:
            if item == value:
                break
            if self.allows(item) and item not in result:
                result.append(item)
        return result


@dataclass(frozen=True)
class Whole(_Range):
    """A whole number from low to high, both included; an infinite end is open.

    Args:
        low: the least value, or -inf.
        high: the largest value, or inf.
        log: whether a search spreads evenly over its logarithm.
        hunt_to: for an open end, how far a search goes (below: to -hunt_to).
        meaning: what it is and its unit, in a few words, which reports show.

    Raises:
        ValueError: as `Real`, or if an end is no whole number.

    Examples:
        >>> n = Whole(2, math.inf, log=True, hunt_to=1e6)
        >>> print(n, n.value(0.0), n.value(1.0), n.allows(2.5))
        [2, inf) on a log scale, searched to 1e+06 2 1000000 False
    """

    def _check(self, name: str, value: Any) -> None:
        if not (isinstance(value, float) and math.isinf(value)):
            whole(name, value, -(2**62))

    @property
    def ends(self) -> tuple[int, ...]:
        """The two ends of what is searched."""
        return tuple(int(end) for end in self._span)

    def allows(self, value: Any) -> bool:
        """Whether it is a whole number in [low, high]."""
        return (
            _is_number(value)
            and math.isfinite(value)
            and value == int(value)
            and self.low <= value <= self.high
        )

    def value(self, place: float) -> int:
        """The whole number at a place in [0, 1]."""
        low, high = self.ends
        # Each whole number has the same stretch of [0, 1] (of its logarithm, on a log scale), the ends included.
        if self.log:
            return int(np.clip(math.floor(low * ((high + 1) / low) ** min(max(place, 0.0), 1.0)), low, high))
        return int(np.clip(math.floor(low + (high - low + 1) * place), low, high))

    def next_to_end(self, generator: np.random.Generator) -> int:
        """Either end, or 1 or 2 away from it."""
        low, high = self.ends
        upper, exact = generator.random(2) < 0.5
        away = 0 if exact else int(generator.choice(STEPS))
        return max(high - away, low) if upper else min(low + away, high)

    def simpler(self, value: int) -> list[int]:
        """The smallest sizes, then round ones below the value, then the value rounded down to few digits."""
        low, high = self.ends
        small = [low, low + 1, low + 2, 0, 1]
        top = int(math.log10(max(abs(value), 1)))
        round_ones = [factor * 10**power for power in range(top + 1) for factor in (1, 2, 5)]
        below = [item for item in round_ones if abs(item) < abs(value)]
        near = [int(float(f"{value:.{digits}g}")) for digits in range(1, DIGITS + 1)]
        tried = [*small, *below, *([-single for single in below] if low < 0 else []), *near]
        result: list[int] = []
        for candidate in tried:
            if candidate == value:
                break
            if (
                self.allows(candidate)
                and low <= candidate <= high
                and abs(candidate) <= abs(value)
                and candidate not in result
            ):
                result.append(candidate)
        return result


@dataclass(frozen=True, init=False)
class Choice(AbstractParameter):
    """A choice among several values (words, numbers, booleans), the standard value first.

    Args:
        values: at least two, distinct, each a word, a number, a boolean or None.
        meaning: as of `Real`.

    Raises:
        ValueError: if there are fewer than two, two are equal, or any is of another type.

    Examples:
        >>> print(Choice("Bernoulli", "uniform"), Choice("Bernoulli", "uniform").value(0.7))
        Bernoulli or uniform uniform
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any, meaning: str = "") -> None:
        if len(values) < 2:
            raise ValueError(
                f"Choice has {plural(len(values), 'value')}; give two or more, or use rf.Fixed(value)"
            )
        for value in values:
            check_plain("values", value)
        if len({(type(value), value) for value in values}) < len(values):
            raise ValueError(f"Choice has values {quoted(values, 80)}; they must be distinct")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "meaning", meaning)
        super().__post_init__()

    @property
    def ends(self) -> tuple[Any, ...]:
        """Every choice."""
        return self.values

    def allows(self, value: Any) -> bool:
        """Whether it is among the choices."""
        return any(type(value) is type(item) and value == item for item in self.values)

    def value(self, place: float) -> Any:
        """The choice at a place in [0, 1]: all have the same stretch."""
        return self.values[min(max(int(place * len(self.values)), 0), len(self.values) - 1)]

    def place(self, value: Any) -> float:
        """The middle of the choice's stretch of [0, 1]."""
        return (self.index(value) + 0.5) / len(self.values)

    def next_to_end(self, generator: np.random.Generator) -> Any:
        """Any choice."""
        return self.values[int(generator.integers(len(self.values)))]

    def simpler(self, value: Any) -> list[Any]:
        """The choices that stand before it."""
        return list(self.values[: self.index(value)])

    def index(self, value: Any) -> int:
        """Which of the choices it is, from 0; True is not 1."""
        return next(k for k, item in enumerate(self.values) if type(item) is type(value) and item == value)

    def record(self) -> dict[str, Any]:
        """What it is, as JSON holds it."""
        return {"kind": "choice", "values": list(self.values)}

    def __repr__(self) -> str:
        return f"Choice({', '.join(map(repr, self.values))})"

    def __str__(self) -> str:
        return " or ".join(map(str, self.values))


@dataclass(frozen=True)
class Fixed(AbstractParameter):
    """A parameter that has a fixed value.

    Args:
        fixed: a word, a number, a boolean or None.
        meaning: as of `Real`.

    Raises:
        ValueError: if it is anything else.

    Examples:
        >>> Fixed(0.5).ends, Fixed(0.5).allows(0.4)
        ((0.5,), False)
    """

    fixed: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        check_plain("fixed", self.fixed)

    @property
    def ends(self) -> tuple[Any, ...]:
        """The value."""
        return (self.fixed,)

    def allows(self, value: Any) -> bool:
        """Whether it is the value."""
        return value == self.fixed

    def value(self, place: float) -> Any:
        """The value, wherever."""
        return self.fixed

    def place(self, value: Any) -> float:
        """The middle."""
        return 0.5

    def next_to_end(self, generator: np.random.Generator) -> Any:
        """The value."""
        return self.fixed

    def simpler(self, value: Any) -> list[Any]:
        """No value is simpler than the only value."""
        return []

    def record(self) -> dict[str, Any]:
        """What it is, as JSON holds it."""
        return {"kind": "fixed", "value": self.fixed}

    def __repr__(self) -> str:
        return f"Fixed({self.fixed!r})"

    def __str__(self) -> str:
        return f"= {self.fixed}"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def check_plain(name: str, value: Any) -> None:
    """Raise ValueError unless a value of a parameter can be written down: a word, a finite number, a boolean or None."""
    if value is not None and not isinstance(value, (str, bool, int, float)):
        raise ValueError(f"{name} holds {quoted(value, 80)}; it must hold words, numbers, booleans or None")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} holds {value}; a number must be finite")


def _short(end: float) -> str:
    return f"{int(end)}" if math.isfinite(end) and end == int(end) and abs(end) < 1e9 else f"{end:g}"
