"""How a result is shown: a title and named lines, as text or as a table of a notebook."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape

from mipsim._html_table import html_table
from mipsim._words import visible

Bounds = tuple[float, float]
DIGITS = 4
"""That a bound is shown with."""


def shown(ends: Bounds) -> str:
    """Bounds with four digits, rounded outwards.
    >>> shown((1.23456, 1.23456)), shown((0.0, math.inf)), shown((2.0, 2.0))
    ('[1.234, 1.235]', '[0, inf]', '[2, 2]')
    """
    return f"[{rounded(ends[0], ROUND_FLOOR)}, {rounded(ends[1], ROUND_CEILING)}]"


def rounded(end: float, way: str, digits: int = DIGITS) -> str:
    """An end with so many digits, rounded the given way; 0.1, which float64 stores as a little more, stays 0.1."""
    if math.isinf(end):
        return f"{end:g}"
    return f"{float(Context(digits, way).create_decimal(Decimal(repr(float(end))))):.{max(digits, 6)}g}"


def at_least(bound: float, digits: int = DIGITS) -> str:
    """A proven lower bound, rounded down.
    >>> at_least(0.123456), at_least(0.3), at_least(1234.56)
    ('at least 0.1234', 'at least 0.3', 'at least 1234')
    """
    return f"at least {rounded(bound, ROUND_FLOOR, digits)}"


def at_most(bound: float, digits: int = DIGITS) -> str:
    """A proven upper bound, rounded up.
    >>> at_most(0.123421), at_most(0.1)
    ('at most 0.1235', 'at most 0.1')
    """
    return f"at most {rounded(bound, ROUND_CEILING, digits)}"


def printed(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """A title, and named lines indented below it.
    >>> print(printed("curve", [("FPR", "0.1"), ("games", "10")]))
    curve
      FPR    0.1
      games  10
    """
    width = max(len(name) for name, _ in lines)
    return "\n".join(
        [title, *(f"  {name:<{width}}  {visible(value, single_line=True)}" for name, value in lines)]
    )


class Printed(ABC):
    """Shown by `print` as a title and indented lines, and in a notebook as a table."""

    @abstractmethod
    def _title(self) -> str: ...

    @abstractmethod
    def _lines(self) -> list[tuple[str, str]]: ...

    def _html_title(self) -> str:
        return f"<b>{escape(self._title())}</b>"

    def _html_picture(self) -> str:
        return ""

    def __str__(self) -> str:
        return printed(self._title(), self._lines())

    def __repr__(self) -> str:
        """A single line; a subclass that is a dataclass sets repr=False."""
        return f"{type(self).__name__}({self._title()})"

    def _repr_html_(self) -> str:
        return f"<div>{self._html_title()}{html_table(self._lines())}{self._html_picture()}</div>"
