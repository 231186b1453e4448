"""A gap in words: its digits, and the side from which it is known."""

import math
from collections.abc import Callable, Sequence

from mipsim._printed import ceiling, floor


def three_digits(value: float | None, rounded: Callable[..., str] | None = None) -> str:
    """Write a number with three significant digits; a minus is a minus, an infinity is the sign.
    `rounded`: `floor` or `ceiling` of `mipsim._printed` for an end.

    >>> [three_digits(x) for x in (0.012345, -1.0, 1e-9, 1234567.0, float("inf"), float("nan"), None, 0.0)]
    ['0.0123', '−1', '1e−9', '1.23e6', '∞', '–', '–', '0']
    >>> three_digits(0.12301, ceiling)
    '0.124'
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.3g}" if rounded is None else rounded(value, 3)
    if "e" in text:
        digits, exponent = text.split("e")
        text = f"{digits}e{int(exponent)}"
    return text.replace("-", "−")


def lone_gap(value: float, ends: Sequence[float], digits: int | None = None, sign: str = "") -> str:
    """Write a gap whose interval stands elsewhere; where an end is open, the other, rounded outwards, is all that is known.
    `digits`: as a terminal writes it; None: three, as a page does.

    >>> lone_gap(0.3, (0.2, 0.4)), lone_gap(6.99, (6.9876, float("inf"))), lone_gap(0.3, (0.2, 0.4), 4, "+")
    ('0.3', 'at least 6.98', '+0.3')
    """
    words = bound_words(value, ends)
    if not words:
        return three_digits(value) if digits is None else f"{value:{sign}.{digits}g}"
    end, rounded = (ends[0], floor) if words == "at least" else (ends[1], ceiling)
    return f"{words} {three_digits(end, rounded) if digits is None else rounded(end, digits, sign)}"


def bound_words(value: float, ends: Sequence[float]) -> str:
    """Say "at least" or "at most" where all that is known of a gap is an end of its interval; else say nothing.
    >>> bound_words(6.99, (6.98, float("inf"))), bound_words(-3.0, (-float("inf"), -2.9)), bound_words(0.3, (0.2, 0.4))
    ('at least', 'at most', '')
    """
    if math.isinf(ends[1]) and math.isfinite(ends[0]) and value >= ends[0] > 0.0:
        return "at least"
    return "at most" if math.isinf(ends[0]) and math.isfinite(ends[1]) and value <= ends[1] < 0.0 else ""


def gap_is(value: float, ends: Sequence[float]) -> str:
    """What a gap is, where it is known from a single side, for JSON, whose number is an estimate; else nothing.
    >>> gap_is(4.23, (2.8311774, float("inf"))), gap_is(0.3, (0.2, 0.4))
    ('at least 2.83117', '')
    """
    return lone_gap(value, ends, 6) if bound_words(value, ends) else ""
