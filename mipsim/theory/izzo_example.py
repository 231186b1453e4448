"""The data set of proposition 11 of Izzo et al. (2024): a tiny variance beside a huge sensitivity, by exact integers.

A(D) = 1/sum(D) over the m = floor(n/2)-subsets of {2^0, ..., 2^(n-2)} and x_last = s - (2^(m-1) - 1), with p = 1/C(n, m) and
s = p^(1/2) (the proof's reading) or s = p^(-1/2) (the text's). D* = {2^0, ..., 2^(m-2), x_last} has the sum s.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mipsim._validation import choice, whole
from mipsim._words import quoted
from mipsim.theory.izzo import dp_noise_scale, mip_noise_scale

READINGS = ("proof", "text")
NEGLIGIBLE = 1e-13
"""Groups of subsets that hold less of a moment than this are not split further."""


def special_sum(n: int, reading: str = "proof") -> float:
    """The sum s of D*, of n = 2 to 1000 records: C(n, m)^(-1/2) in the "proof" reading, C(n, m)^(1/2) in the "text".

    Source: Izzo et al. (2024), proposition 11.

    Examples:
        >>> round(special_sum(4) ** 2, 12), round(special_sum(4, "text") ** 2, 12)
        (0.166666666667, 6.0)
    """
    size = math.comb(_size(n), n // 2)
    return math.sqrt(size) if choice("reading", reading, READINGS) == "text" else 1.0 / math.sqrt(size)


def sensitivity(n: int, reading: str = "proof") -> float:
    """Delta: the largest change of A when a record of a half is replaced, exactly; arguments as in `special_sum`.

    Every sum without x_last is at least 2^m - 1; every sum with it is s plus a whole number >= 0, which is 0 for D* only.
    In the proof's reading D* is therefore an end of the largest change, 1/s - 1/(largest adjacent sum), and that sum is
    D* with x_last replaced by 2^(n-2). In the text's, A <= max(1/s, 1/(2^m - 1)) throughout and the pairs are compared.

    Source: Izzo et al. (2024), proposition 11.

    Examples:
        >>> round(sensitivity(4), 6), round(sensitivity(4, "text"), 6)  # sqrt(6) - 1/5
        (2.24949, 0.224745)
    """
    s, m = special_sum(n, reading), n // 2
    top = 2 ** (n - 2)
    ends = [(1.0 / s, 1.0 / (2 ** (m - 1) - 1 + top))]  # D*, and x_last replaced by the largest power
    if m >= 2:  # D* with 2^0 replaced by the largest power: x_last stays
        ends.append((1.0 / s, 1.0 / (s + (top - 1))))
    # The smallest set of powers, and its smallest power replaced by the largest power, or a power by x_last.
    low = 2**m - 1
    if n - 1 > m:
        ends.append((1.0 / low, 1.0 / (low - 1 + top)))
    ends.extend((1.0 / (s + (2 ** (m - 1) - 2**j)), 1.0 / low) for j in range(m))
    return max(abs(a - b) for a, b in ends)


@dataclass(frozen=True)
class HalfMoments:
    """Bounds on E A and E A^2 over a uniform half, hence on the variance.

    Attributes:
        mean: (low, high) of E A.
        square: (low, high) of E A^2.
    """

    mean: tuple[float, float]
    square: tuple[float, float]

    @property
    def variance(self) -> tuple[float, float]:
        """(low, high) of the variance."""
        return max(0.0, self.square[0] - self.mean[1] ** 2), self.square[1] - self.mean[0] ** 2


def moments(n: int, reading: str = "proof") -> HalfMoments:
    """Bounds on the first two moments of A, by splitting the subsets on their largest powers.

    All subsets that agree in their largest powers have sums in a common interval; a group is split until the ends of its
    interval agree to a thousandth, or until it holds a negligible part of the moment. The counts are exact integers.

    Args:
        n: records, 2 to 1000.
        reading: "proof" or "text".

    Examples:
        >>> result = moments(4)  # sums 3, 5, 6 and 6^(-1/2) + 0, 1, 3
        >>> [round(x, 2) for x in result.variance]
        [0.65, 0.65]
    """
    s, m = special_sum(n, reading), n // 2
    every = math.comb(n, m)
    low = high = square_low = square_high = 0.0
    # (powers still free, how many of them to take, whole part of the sum so far, its broken part)
    groups = [(n - 1, m, 0, 0.0)]
    if m >= 1:
        groups.append((n - 1, m - 1, -(2 ** (m - 1) - 1), s))
    while groups:
        free, take, base, broken = groups.pop()
        least = (base + 2**take - 1) + broken
        most = (base + 2**free - 2 ** (free - take)) + broken
        share = math.comb(free, take) / every
        small, large = share / most, share / least
        if most <= least * (1 + 1e-3) or max(large, large / least) < NEGLIGIBLE:
            low, high = low + small, high + large
            square_low, square_high = square_low + small / most, square_high + large / least
            continue
        if take >= 1:
            groups.append((free - 1, take - 1, base + 2 ** (free - 1), broken))
        if take <= free - 1:
            groups.append((free - 1, take, base, broken))
    return HalfMoments((low, high), (square_low, square_high))


def mip_wins_from(n: int, sigma: float) -> tuple[float, float]:
    """The range (low, high) of eta in (0, 1/2) where the printed MIP noise is below the DP noise; (nan, nan) where there is none.

    MIP is below DP where sensitivity eta^2 > (`CONSTANT_FROM_2`)^2 sigma log((1 + 2 eta)/(1 - 2 eta)). The ratio of the right
    side to eta^2 falls and then rises without bound, so that the range is an interval, cut off by a vanishing interval at 1/2;
    high is 1/2 where it cannot be distinguished from it in float64.

    Args:
        n: records, 2 to 1000.
        sigma: the standard deviation that the MIP noise is scaled by, > 0.

    Source: Izzo et al. (2024), figure 1.

    Examples:
        >>> low, high = mip_wins_from(36, 1.0)
        >>> round(low, 5), high
        (0.00159, 0.5)
        >>> mip_wins_from(12, 1.0)
        (nan, nan)
    """
    largest = sensitivity(n)

    def excess(eta: float) -> float:
        return float(np.log(mip_noise_scale(eta, sigma) / dp_noise_scale(eta, largest)))

    edge = 0.5 - 1e-15  # at 1/2 the DP noise vanishes
    grid = np.concatenate([np.geomspace(1e-12, 0.4, 400), 0.5 - np.geomspace(0.1, 1e-15, 400)[1:]])
    values = np.array([excess(float(x)) for x in grid])
    wins = np.flatnonzero(values < 0)
    if wins.size == 0:
        return float("nan"), float("nan")
    first, last = int(wins[0]), int(wins[-1])
    low = 0.0 if first == 0 else _root(excess, grid[first - 1], grid[first])
    high = 0.5 if last == len(grid) - 1 else _root(excess, grid[last], min(grid[last + 1], edge))
    return low, high


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import root_scalar  # a fourth of a second: not when the library is imported

    return root_scalar(function, bracket=(low, high)).root


def _size(n: int) -> int:
    records = whole("n", n, 2)
    if records > 1000:
        raise ValueError(f"n is {quoted(records)}; it must be at most 1000, since sums are stored in float64")
    return records
