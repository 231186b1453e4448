"""A gap in words: its digits, and the side from which it is known."""

import math
from collections.abc import Callable, Sequence


def three_digits(value: float | None) -> str:
    """Write a number with three significant digits; a minus is a minus, an infinity is the sign.
    >>> [three_digits(x) for x in (0.012345, -1.0, 1e-9, 1234567.0, float("inf"), float("nan"), None, 0.0)]
    ['0.0123', '−1', '1e−9', '1.23e6', '∞', '–', '–', '0']
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.3g}"
    if "e" in text:
        digits, exponent = text.split("e")
        text = f"{digits}e{int(exponent)}"
    return text.replace("-", "−")


def lone_gap(value: float, ends: Sequence[float], number: Callable[[float], str] = three_digits) -> str:
    """Write a gap whose interval stands elsewhere; where an end is open, the other is all that is known.
    >>> lone_gap(0.3, (0.2, 0.4)), lone_gap(6.99, (6.98, float("inf")))
    ('0.3', 'at least 6.98')
    """
    words = bound_words(value, ends)
    return f"{words} {number(ends[0] if words == 'at least' else ends[1])}" if words else number(value)


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
    ('at least 2.83118', '')
    """
    return lone_gap(value, ends, "{:.6g}".format) if bound_words(value, ends) else ""
