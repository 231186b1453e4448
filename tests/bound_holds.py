"""A stated bound holds: the comparison of laws, curves and numbers with their truth; what is a few per cent off must leave it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


def holds(
    bounds: Any, truth: Any, *wrong: Any, slack: Any = 0.0, width: float = np.inf, name: Any = ""
) -> None:
    """Truths, or pairs of numbers between which they are, lie within their bounds but for `slack`; each wrong value leaves them somewhere."""

    def outside(value: Any) -> np.ndarray:
        least, most = value if isinstance(value, tuple) else (value, value)
        above, below = np.asarray(low) - slack <= most, least <= np.asarray(high) + slack
        return np.logical_not(np.logical_and(above, below)).astype(bool)

    low, high = bounds
    assert np.all(np.asarray(low) <= high), name
    assert not outside(truth).any(), (name, np.flatnonzero(np.atleast_1d(outside(truth))), bounds, truth)
    assert np.all(np.subtract(high, low) <= width), (name, bounds)
    for k, value in enumerate(wrong):
        assert outside(value).any(), (name, f"control {k} passes")


class Tail(NamedTuple):
    """P(score > x) of a world, what is wrong, how well the truth itself is known, and whether the lower tail is read too."""

    inside: bool
    x: Any
    truth: Any
    wrong: Sequence[Any] = ()
    slack: Any = 3e-12  # SciPy's own
    both: bool = False


def law_holds(law: Any, tails: Sequence[Tail], most: float = np.inf, name: Any = "") -> None:
    """Tails of a law are right to the error that it states, which is at most so much."""
    assert law.error_bound <= most, name
    for inside, x, truth, wrong, slack, both in tails:
        values = [law.sf(x, inside=inside), *([1.0 - law.cdf(x, inside=inside)] if both else [])]
        for value in values:
            ends = value - law.error_bound, value + law.error_bound
            holds(ends, truth, *wrong, slack=slack + 2e-16, name=name)
