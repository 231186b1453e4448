"""Finite tables that bracket a single continuous coordinate: for an attacker who sees less than the sum, and for another who sees more.

Cut the line into cells. Who sees only the cell is weaker than who sees the sum. In a cell the ratio L = dQ/dP lies
between two values a <= b; move the cell's probability to two atoms of ratio a and b that keep both of its masses. The
law of L in the cell is a contraction of these two, so who sees the atoms is stronger (Blackwell's order, which
products of experiments keep). The optimal curves of the two tables therefore bracket the true curve, and so do their
advantages and divergences. With cells of w standard deviations the bracket of mu is about w^2 / 6 wide, relatively.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy import special

from mipsim.exact.rounding import EPS
from mipsim.special.gamma_tail import gamma_below
from verify.azize.laws.terms import Terms

CELLS, REACH = 1000, 9.0
"""Cells, and how many standard deviations they cover; what lies beyond are two more cells with ratios 0 to infinity."""

FAINT = 1e-22
"""Cells of less probability have no relative error: all of it is absolute."""

EDGE = 1e-13
"""Relative error of the smaller tail of a normal or gamma law as it is computed (a test compares with 40 digits, to shapes of 1e8)."""

Bounds = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class BracketedTerms:
    """Tables of a weaker and of a stronger attacker for the same coordinates (twice the same table for a discrete sum)."""

    weaker: Terms
    stronger: Terms
    error: float  # bound on the error of either in total variation, for a single coordinate
    # bound on the relative error of every probability besides: d of them make any test's error rates wrong by the factor
    # (1 + relative)^d, which says much more of rare events than d times an error in total variation
    relative: float = 0.0

    @classmethod
    def exactly(cls, terms: Terms) -> BracketedTerms:
        """The same table twice: the outputs are finitely many."""
        return cls(terms, terms, terms.error, terms.relative)

    @property
    def count(self) -> int:
        """How many coordinates."""
        return self.weaker.count

    @property
    def leakage(self) -> float:
        """t^2 of a single coordinate."""
        return self.weaker.leakage


@dataclass(frozen=True)
class Pair:
    """A single coordinate's two worlds, in units of the sum's standard deviation around its mean."""

    # out, inside: mass of each cell that the points cut the line into, the outer two unbounded: m points, shape (m + 1,)
    out: Callable[[np.ndarray], np.ndarray]
    inside: Callable[[np.ndarray], np.ndarray]
    bounds: Bounds  # the least and the largest log L between neighbouring points, each of shape (m - 1,)
    t: float  # (z - mean) / sd of a single record
    peak: float = np.inf  # where L has its only maximum, if that is how `bounds` knows
    shift: float = 1e-15  # by how much rounding may move a cut


def bracketed_terms(pair: Pair, n: int, count: int, cells: int = CELLS) -> BracketedTerms:
    """Cut a pair into cells and bound it by a weaker and a stronger table.
    `pair`: the two worlds; `n`: rows; `count`: coordinates with this pair; `cells`: how many.
    """
    cuts = np.linspace(-REACH, REACH, cells + 1)
    if abs(pair.peak) < REACH:
        near = np.abs(cuts - pair.peak) < REACH / cells  # a sliver of a cell would have no digits
        cuts = np.sort(np.append(cuts[~near], pair.peak))
    out, inside = pair.out(cuts), pair.inside(cuts)
    errors = [_table_errors(mass, 0.5 * pair.shift * cells / REACH) for mass in (out, inside)]
    relative = max(error[0] for error in errors)
    # Within a cell the two worlds are those of the table up to a factor within 1 + relative each: so is their ratio.
    wide = 1.0 + 3.0 * relative + 1e-14
    low, high = (np.exp(end) * room for end, room in zip(pair.bounds(cuts), (1 / wide, wide), strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(inside) - np.log(out)
    weak = _terms(out, inside, ratio, n, count, pair.t)
    inner, outer = slice(1, -1), [0, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        width = high - low
        upper = np.clip((inside[inner] - low * out[inner]) / width, 0.0, out[inner])
    upper = np.where(width > 0, upper, 0.0)
    lower = out[inner] - upper
    with np.errstate(invalid="ignore"):
        lower_in = np.where(lower > 0.0, np.minimum(lower * low, inside[inner]), 0.0)
    # Of the unbounded cells nothing is known: all that is out has ratio 0, all that is in has ratio infinity.
    strong_out = np.concatenate([lower, upper, out[outer], np.zeros(2)])
    strong_in = np.concatenate([lower_in, inside[inner] - lower_in, np.zeros(2), inside[outer]])
    values = np.concatenate([low, high, np.zeros(2), np.full(2, np.inf)])
    with np.errstate(divide="ignore"):
        strong = _terms(strong_out, strong_in, np.log(values), n, count, pair.t)
    return BracketedTerms(weak, strong, max(error[1] for error in errors), relative)


def _single_peak(ratio: Callable[[np.ndarray], np.ndarray]) -> Bounds:
    """Bounds of a log ratio that rises up to a point, which is a cut, and falls beyond: its values at the cuts."""

    def bounds(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = ratio(x)
        return np.minimum(value[:-1], value[1:]), np.maximum(value[:-1], value[1:])

    return bounds


def gamma_pair(n: int, shape: float, t: float) -> Pair:
    """Gamma(shape) records, scale 1, and a target t standard deviations from their mean, possible as a record or not.

    The sum is Gamma(n shape) out and z + Gamma((n - 1) shape) in. The exponentials of the two densities divide to exp(z), and
    d log L / ds has the sign of (n shape - 1) z - shape s, where s > max(z, 0).
    """
    a, b, sd = n * shape, (n - 1) * shape, np.sqrt(n * shape)
    z = shape + t * np.sqrt(shape)
    # log Gamma(a) - log Gamma(b) by Stirling's series, without the cancellation of two large numbers.
    series = [
        x**-1 / 12 - x**-3 / 360 + x**-5 / 1260 - x**-7 / 1680 + x**-9 / 1188 - 691 * x**-11 / 360_360
        for x in (a, b)
    ]
    constant = shape * np.log(a) - (b - 0.5) * np.log1p(-shape / a) - shape + series[0] - series[1] + z
    if b < 8.0:  # where the series leaves more than 1e-14, and little cancels
        constant = float(special.gammaln(a) - special.gammaln(b)) + z

    def ratio(x: np.ndarray) -> np.ndarray:
        s = a + sd * x
        with np.errstate(divide="ignore", invalid="ignore"):
            # Far from the origin both logarithms are near each other: log(s - z) = log s + log1p(-z / s).
            value = constant + (b - 1) * np.log1p(-z / s) - shape * np.log(s)
        value = np.where(s <= z, -np.inf, value)
        return np.where(s <= 0, np.inf if z < 0 else -np.inf, value)

    return Pair(
        lambda x: _gamma_masses(a, a + sd * x),
        lambda x: _gamma_masses(b, a + sd * x - z),
        _single_peak(ratio),
        t,
        ((a - 1) * z / shape - a) / sd,
        2 * EPS * (a + abs(z) + REACH * sd) / sd,  # a + sd x, less z, each rounded by half of EPS
    )


def gaussian_pair(n: int, t: float, noise: float = 0.0) -> Pair:
    """N(0, 1) records, a target at t sqrt(1 + noise), and noise of variance `noise` a record: all is Gaussian.

    N(0, n v) out and N(z, n v - 1) in, v = 1 + noise: log L is a parabola with its maximum at s = n v z.
    """
    v = 1.0 + noise
    z = t * np.sqrt(v)
    total, inner = n * v, n * v - 1.0
    sd = np.sqrt(total)

    def ratio(x: np.ndarray) -> np.ndarray:
        s = sd * x
        # (s - z)^2 / inner - s^2 / total, over a common denominator.
        square = (s**2 + total * z * (z - 2 * s)) / (inner * total)
        return -0.5 * np.log1p(-1.0 / total) - 0.5 * square

    return Pair(
        lambda x: _masses(scipy.stats.norm(), x),
        lambda x: _masses(scipy.stats.norm(), (sd * x - z) / np.sqrt(inner)),
        _single_peak(ratio),
        t,
        total * z / sd,
        4 * EPS * (REACH + abs(z) / sd),
    )


def noisy_bernoulli_pair(n: int, p: float, z: float, gamma: float) -> Pair:
    """Bernoulli(p) records with N(0, gamma^2) noise a record, and any target, on the lattice of the data or off.

    In and out the sum is a mixture of N(y, n gamma^2). The log of such a density plus s^2/(2 n gamma^2) is convex, with slope
    E[y | s]/(n gamma^2): above a tangent, below a chord. The difference of two of them is bounded by chord minus tangent.
    """
    reach = 13.0 * np.sqrt(n * p * (1 - p)) + 40.0
    count = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1) + 1)
    sd = np.sqrt(n * (p * (1 - p) + gamma**2))
    places = (count - n * p, count - n * p + z)
    weights = (scipy.stats.binom.pmf(count, n, p), scipy.stats.binom.pmf(count, n - 1, p))
    width = gamma * np.sqrt(n)

    def masses(world: int, x: np.ndarray) -> np.ndarray:
        y, weight = places[world], weights[world]
        s = (sd * x)[:, None]
        cdf = special.ndtr((s - y) / width) @ weight
        tail = special.ndtr((y - s) / width) @ weight
        return _from_tails(cdf, tail)

    def convex(world: int, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(log of the density up to a constant, plus s^2/(2 width^2); its slope)."""
        y, weight = places[world], weights[world]
        with np.errstate(divide="ignore"):
            exponent = np.log(weight) + (np.outer(s, y) - 0.5 * y**2) / width**2
        top = exponent.max(axis=1)
        share = np.exp(exponent - top[:, None])
        total = share.sum(axis=1)
        return top + np.log(total), share @ y / (total * width**2)

    def bounds(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = sd * x
        (a, a_slope), (b, b_slope) = convex(0, s), convex(1, s)
        step = np.diff(s)
        left, right, at = slice(None, -1), slice(1, None), b - a
        high = np.minimum(
            np.maximum(at[left], b[right] - a[left] - a_slope[left] * step),
            np.maximum(at[right], b[left] - a[right] + a_slope[right] * step),
        )
        low = np.maximum(
            np.minimum(at[left], b[left] + b_slope[left] * step - a[right]),
            np.minimum(at[right], b[right] - b_slope[right] * step - a[left]),
        )
        return low, high

    t = float((z - p) / np.sqrt(p * (1 - p) + gamma**2))
    # Cuts are compared with places of up to `reach` and the target's, in units of the noise.
    shift = 4 * EPS * (REACH + (reach + n * p + abs(z)) / sd) * sd / width
    return Pair(lambda x: masses(0, x), lambda x: masses(1, x), bounds, t, shift=shift)


def _masses(law: Any, points: np.ndarray) -> np.ndarray:
    return _from_tails(law.cdf(points), law.sf(points))


def _gamma_masses(shape: float, points: np.ndarray) -> np.ndarray:
    inside = np.maximum(points, 0.0)
    return _from_tails(gamma_below(shape, inside), special.gammaincc(shape, inside))


def _from_tails(cdf: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """Mass of the cells between the points, from the side whose tail is smaller, so that small masses stay exact."""
    below = np.diff(np.concatenate([[0.0], cdf, [1.0]]))
    above = -np.diff(np.concatenate([[1.0], tail, [0.0]]))
    return np.maximum(np.where(np.concatenate([cdf, [1.0]]) < 0.5, below, above), 0.0)


def _table_errors(mass: np.ndarray, moved: float) -> tuple[float, float]:
    """(relative, absolute): bounds on the error of every cell's probability and, for faint cells, on that of all.

    Each cut moves EDGE of its smaller tail between its cells, and, by rounding, `moved` (in widths of a cell) of their density, which
    is at most twice that of the fuller cell: log-concave densities of 9 standard deviations change by less within a cell.
    """
    below, above = np.cumsum(mass)[:-1], np.cumsum(mass[::-1])[::-1][1:]
    cut = EDGE * np.minimum(below, above) + 2.0 * moved * np.maximum(mass[:-1], mass[1:])
    each = np.append(cut, 0.0) + np.append(0.0, cut)
    seen = mass > FAINT
    relative = float((each[seen] / mass[seen]).max(initial=0.0))
    return 1.01 * relative, float((each + mass)[~seen].sum()) + 1e-20


def _terms(out: np.ndarray, inside: np.ndarray, ratio: np.ndarray, n: int, count: int, t: float) -> Terms:
    keep = (out > 0) | (inside > 0)  # elsewhere the ratio is NaN
    # The ratio of a table is that of its own masses up to rounding; its sums have no use here.
    return Terms(out[keep], inside[keep], ratio[keep], count, t, np.zeros(int(keep.sum())), n)
