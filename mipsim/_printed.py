"""How a result is shown: a title and named lines, as text or as a table of a notebook."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from html import escape

from mipsim._words import visible

Bounds = tuple[float, float]
DIGITS = 4
"""That a bound is shown with."""
_LEFT = 'style="text-align:left"'
"""In every cell: notebooks have a rule of their own for cells, which puts them on the right."""


def shown(ends: Bounds, digits: int = DIGITS, sign: str = "") -> str:
    """Bounds with so many digits, rounded outwards; `sign`: "+" writes that of positive ends too.
    >>> shown((1.23456, 1.23456)), shown((0.0, math.inf)), shown((2.0, 2.0)), shown((-0.5, 0.12341), sign="+")
    ('[1.234, 1.235]', '[0, inf]', '[2, 2]', '[-0.5, +0.1235]')
    """
    return f"[{floor(ends[0], digits, sign)}, {ceiling(ends[1], digits, sign)}]"


def floor(end: float, digits: int = DIGITS, sign: str = "") -> str:
    """A lower end, rounded down; 0.1, which float64 stores as a little more, stays 0.1.
    >>> floor(0.123456), floor(0.1), floor(-1234.56), floor(5e-324)
    ('0.1234', '0.1', '-1235', '5e-324')
    """
    return _rounded(end, ROUND_FLOOR, digits, sign)


def ceiling(end: float, digits: int = DIGITS, sign: str = "") -> str:
    """An upper end, rounded up.
    >>> ceiling(0.123421), ceiling(0.1), ceiling(1.23456e-320)
    ('0.1235', '0.1', '1.235e-320')
    """
    return _rounded(end, ROUND_CEILING, digits, sign)


def _rounded(end: float, way: str, digits: int, sign: str) -> str:
    if not math.isfinite(end):
        return f"{end:{sign}g}"
    exact = Context(digits, way, Emin=-999).create_decimal(Decimal(repr(float(end))))
    text = f"{float(exact):{sign}.{max(digits, 6)}g}"
    return text if Decimal(text) == exact else f"{exact.normalize():{sign}e}"  # no float64 of so few digits


def enough(larger: float, smaller: float, digits: int = DIGITS) -> int:
    """The fewest digits, `digits` at least, that show that a number is larger than another, however both are rounded;
    `digits` where it is not larger.
    >>> enough(9.99612, 3.2), enough(0.80004, 0.8), enough(1.95e-4, 1.9e-4, 1), enough(0.5, 0.5)
    (4, 5, 3, 4)
    """
    if not larger > smaller:
        return digits
    shows = (n for n in range(digits, 17) if float(floor(larger, n)) > float(ceiling(smaller, n)))
    return next(shows, 17)


def at_least(bound: float, digits: int = DIGITS, sign: str = "") -> str:
    """A proven lower bound, rounded down.
    >>> at_least(0.123456), at_least(0.3), at_least(1234.56)
    ('at least 0.1234', 'at least 0.3', 'at least 1234')
    """
    return f"at least {floor(bound, digits, sign)}"


def at_most(bound: float, digits: int = DIGITS, sign: str = "") -> str:
    """A proven upper bound, rounded up.
    >>> at_most(0.123421), at_most(0.1)
    ('at most 0.1235', 'at most 0.1')
    """
    return f"at most {ceiling(bound, digits, sign)}"


def shown_risk(probability: float) -> str:
    """A failure probability with three digits, rounded up, but for the rounding of 1 minus a confidence.
    >>> shown_risk(1.0 - 0.999), shown_risk(0.00123456)
    ('0.001', '0.00124')
    """
    return ceiling(float(f"{probability:.12g}"), 3)


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


def html_table(lines: Iterable[tuple[str, str]]) -> str:
    """Named values as an HTML table, a row each.
    >>> html_table([("a", "1 < 2")])
    '<table><tr><th style="text-align:left">a</th><td style="text-align:left">1 &lt; 2</td></tr></table>'
    """
    rows = (
        f"<tr><th {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(value)}</td></tr>" for name, value in lines
    )
    return f"<table>{''.join(rows)}</table>"
