"""The probability that an output surely reveals the world, as a number of its own: 1 less it has none of its digits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from functools import reduce

from mipsim._powers import repeated
from mipsim.tradeoff.bounds import EPS, TINY

SureMass = tuple[float, float]
"""Lower and upper bound, in [0, 1]."""
_DIGITS = Context(prec=60, Emin=-(10**9), Emax=10**9)


def outward(low: float, high: float) -> SureMass:
    """Bounds from ends that are each right to half a unit in the last place, and exact at 0 and at 1.
    >>> outward(0.0, 1.0), outward(0.5, 0.5)
    ((0.0, 1.0), (0.49999999999999994, 0.5000000000000001))
    """
    ends = zip((low, high), (0.0, 1.0), strict=True)
    return tuple(x if x in (0.0, 1.0) else math.nextafter(x, end) for x, end in ends)  # pyright: ignore[reportReturnType]


def weighted(parts: Iterable[tuple[SureMass, float]]) -> SureMass:
    """Bounds of a weighted sum, whose weights, products and sum are right to half a unit; 0 only where nothing is added.
    >>> weighted([((1e-300, 1e-300), 1e-300), ((0.0, 0.0), 1.0)])[1] > 0.0
    True
    """
    added = [(mass, weight) for mass, weight in parts if mass[1] > 0.0 < weight]
    low, high = (math.fsum(weight * mass[k] for mass, weight in added) for k in (0, 1))
    high = min(high * (1.0 + 2.0 * EPS) + TINY, 1.0) if added else 0.0
    return max(low * (1.0 - 2.0 * EPS) - TINY, 0.0), high


def of_any(masses: Iterable[tuple[SureMass, int]]) -> SureMass:
    """Bounds of the probability that any of independent steps reveals the world: masses, and how often each step runs.

    By a + b (1 - a), again and again. All terms are positive, so that 60 digits lose some units of the last of them.

    >>> of_any([((1e-300, 1e-300), 1), ((0.0, 0.0), 5)])
    (1e-300, 1e-300)
    >>> of_any([((1e-12, 1e-12), 10)])
    (9.999999999955e-12, 9.999999999955e-12)
    """
    telling = [(mass, count) for mass, count in masses if mass[1] > 0.0]
    if sum(count for _, count in telling) <= 1:
        return telling[0][0] if telling else (0.0, 0.0)
    with localcontext(_DIGITS):
        low, high = (
            float(reduce(_either, (repeated(Decimal(mass[k]), count, _either) for mass, count in telling)))
            for k in (0, 1)
        )
    return math.nextafter(low, 0.0), math.nextafter(high, 1.0)


def _either(first: Decimal, second: Decimal) -> Decimal:
    return first + second * (1 - first)
