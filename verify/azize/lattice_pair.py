"""The optimal curve of many independent coordinates between two bounds that are a few 1e-5 probits apart.

The terms of the log ratio are put on the lattice h Z in two ways. Stronger: an atom between two lattice points is split into
one at each, with the same mass in both worlds (its ratio is their mixture, so who sees the two atoms sees more). Weaker:
neighbouring atoms, cut where needed, are merged so that the ratio of each union is on the lattice (who sees only the union
sees less). Products keep both orders (Blackwell), and sums on a lattice are convolved exactly by fast Fourier transforms.
The bounds differ by about d h^2 in the variance of the ratio, a quantity of second order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from mipsim.exact import Terms
from mipsim.exact.rounding import ComplexArray

LEAST, MOST = 2**19, 2**20
"""Lattice points on a circle of `WIDTH` standard deviations (and the distance of the two worlds)."""

ADDED = 3e-5
"""About the relative difference that the lattice makes to the variance of the ratio, unless that takes `MOST` points."""

WIDTH = 22.0
TRIMMED = 1e-13
"""Probability that is left out at the far ends of all tables together; it is counted as an error."""

TRANSFORM = 1e-12
"""Bound on what rounding makes of a sum of probabilities: 16 u log2(N) sqrt(N) in the l2 norm (Higham 2002, theorem 24.2)."""

SILENT = 1e-26
"""Values of a transform that are left out: all of them together, at most `MOST`, move no sum of probabilities by 1e-19."""


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Law of a log ratio on a lattice in both worlds.

    Attributes:
        ratio: lattice values, increasing, shape (N,).
        out, inside: their probabilities, shape (N,).
        low, high: probability of -inf (out) and of +inf (in).
        error: bound on the error of any sum of these probabilities.
        relative: bound on the relative error of any such sum besides.
    """

    ratio: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    low: float
    high: float
    error: float
    relative: float = 0.0

    @cached_property
    def vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """(FPR, TPR) of the tests ratio >= value, from (0, mass at +inf) to (1, 1)."""
        alpha = np.concatenate([[0.0], np.cumsum(self.out[::-1]), [1.0]])
        power = np.concatenate([[self.high], self.high + np.cumsum(self.inside[::-1]), [1.0]])
        return np.minimum(np.maximum.accumulate(alpha), 1.0), np.minimum(np.maximum.accumulate(power), 1.0)

    def beta(self, alpha: np.ndarray, side: float = 0.0) -> np.ndarray:
        """FNR at the FPR alpha; with side -1 or +1 a lower or an upper bound of it in view of the error; shape of alpha."""
        moved = self._moved(np.asarray(alpha, float), -side)
        return self._moved(1.0 - np.interp(moved, *self.vertices), side)

    def _moved(self, rate: np.ndarray, side: float) -> np.ndarray:
        """An error rate as far up or down as its errors allow; the rate and 1 - rate are both right to the relative one."""
        grown = 1.0 + self.relative
        if side > 0:
            rate = np.minimum(rate * grown, 1.0 - (1.0 - rate) / grown)
        elif side < 0:
            rate = np.maximum(rate / grown, 1.0 - (1.0 - rate) * grown)
        return np.clip(rate + side * self.error, 0.0, 1.0)

    @property
    def doubt(self) -> float:
        """Bound on the error of any sum of these probabilities, both kinds together."""
        return self.error + self.relative

    def advantage(self) -> float:
        """The largest TPR - FPR."""
        alpha, power = self.vertices
        return float((power - alpha).max())

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Hockey-stick divergences at e^epsilon, of in against out and of out against in."""
        alpha, power = self.vertices
        e = np.exp(epsilon)
        return float((power - e * alpha).max()), float((1 - alpha - e * (1 - power)).max())


Table = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(log ratio, out, in) of finite atoms, by increasing ratio."""


def stronger(table: Table, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(lattice index, out, in, error): every finite atom split between its two neighbours on h Z, keeping both masses."""
    ratio, out, inside = table
    index = np.floor(ratio / h)
    below, above = np.exp(index * h), np.exp((index + 1) * h)
    upper = np.clip((inside - below * out) / (above - below), 0.0, out)
    lower = out - upper
    kept = lower * below + upper * above
    both = np.concatenate([index, index + 1]).astype(np.int64)
    return (
        both,
        np.concatenate([lower, upper]),
        np.concatenate([lower * below, upper * above]),
        float(np.abs(kept - inside).sum()),
    )


def weaker(table: Table, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(lattice index, out, in, error): neighbouring atoms merged, from the largest ratio down, to unions with ratio on h Z."""
    r, p, q = (v[::-1].tolist() for v in table)
    found: list[tuple[int, float, float]] = []
    lost, j, count = 0.0, 0, len(r)
    while j < count:
        index = int(np.floor(r[j] / h))
        level = float(np.exp(index * h))
        a, b = p[j], q[j]
        j += 1
        while j < count:
            if q[j] >= level * p[j]:
                share = 1.0
            else:
                share = min((b - level * a) / (level * p[j] - q[j]), 1.0) if b > level * a else 0.0
            a, b = a + share * p[j], b + share * q[j]
            p[j], q[j] = (1 - share) * p[j], (1 - share) * q[j]
            if share < 1.0:
                break
            j += 1
        # What the last union has too much of is counted as an error, as is rounding elsewhere.
        lost += abs(b - level * a)
        found.append((index, a, level * a))
    both = np.array(found, float).reshape(-1, 3)
    return both[:, 0].astype(np.int64), both[:, 1], both[:, 2], lost


def trimmed(terms: Terms, allowed: float) -> tuple[Table, float]:
    """The finite atoms by increasing ratio, without those at either end that together hold at most `allowed` in each world."""
    keep = np.isfinite(terms.ratio) & (terms.out > 0) & (terms.inside > 0)
    order = np.argsort(terms.ratio[keep], kind="stable")
    ratio, out, inside = (v[keep][order] for v in (terms.ratio, terms.out, terms.inside))
    most = np.maximum(out, inside)
    first = int(np.searchsorted(np.cumsum(most), allowed, side="right"))
    last = most.size - int(np.searchsorted(np.cumsum(most[::-1]), allowed, side="right"))
    part = slice(min(first, last), last)
    return (ratio[part], out[part], inside[part]), float(most.sum() - most[part].sum()) if most.size else 0.0


def pair_law(
    groups: Sequence[Terms], errors: Sequence[float], *, strong: bool, relatives: Sequence[float] = ()
) -> PairLaw:
    """The law of the sum of all coordinates' log ratios, moved to the lattice on the stronger or on the weaker side.

    Args:
        groups: the terms; probability off the finite ratios is accounted apart.
        errors: bound on the error in total variation of each group's tables, for one coordinate.
        strong: the side.
        relatives: bound on the relative error of each group's probabilities besides; none where empty.
    """
    d = sum(g.count for g in groups)
    points = int(np.clip(2 ** np.ceil(np.log2(WIDTH * np.sqrt(d / ADDED))), LEAST, MOST))
    cut = [trimmed(g, TRIMMED / d) for g in groups]
    spread = _spread([(*table, g.count) for (table, _), g in zip(cut, groups, strict=True)])
    width = WIDTH * np.sqrt(max(spread[1])) + abs(spread[0][1] - spread[0][0])
    h = max(width, 1e-9) / points
    start = int(np.floor((0.5 * (spread[0][0] + spread[0][1]) - 0.5 * width) / h))
    finite = np.ones(2)
    waves: list[list[tuple[ComplexArray, int]]] = [[], []]
    error, tables = TRANSFORM, []
    for g, own, (kept, left_out) in zip(groups, errors, cut, strict=True):
        index, out, inside, lost = stronger(kept, h) if strong else weaker(kept, h)
        error += g.count * (lost + left_out + own)
        tables.append((index, out, inside, g.count))
        possible = np.isfinite(g.ratio)
        for world, mass in enumerate((out, inside)):
            finite[world] *= min(float((g.out, g.inside)[world][possible].sum()), 1.0) ** g.count
            waves[world].append((np.fft.rfft(np.bincount(index % points, mass, points)), g.count))
    laws = [np.roll(np.maximum(np.fft.irfft(_product(w), points), 0.0), -(start % points)) for w in waves]
    if any(table[0].size for table in tables):
        error += _outside(tables, h, start, start + points - 1)
    ratio = (start + np.arange(points)) * h
    grown = float(np.expm1(1.01 * sum(g.count * own for g, own in zip(groups, relatives, strict=False))))
    return PairLaw(ratio, laws[0], laws[1], max(0.0, 1 - finite[0]), max(0.0, 1 - finite[1]), error, grown)


def _product(waves: Sequence[tuple[ComplexArray, int]]) -> ComplexArray:
    """The product of powers of transforms of probabilities, 0 where it is below `SILENT`: almost everywhere for many terms."""
    with np.errstate(divide="ignore"):
        modulus = np.sum([0.5 * n * np.log(wave.real**2 + wave.imag**2) for wave, n in waves], axis=0)
    heard = np.flatnonzero(modulus > np.log(SILENT))
    found = np.zeros(waves[0][0].size, complex)
    found[heard] = np.prod([wave[heard] ** count for wave, count in waves], axis=0)
    return found


def _spread(
    tables: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, int]],
) -> tuple[list[float], list[float]]:
    """(means, variances) of the finite sum in the two worlds."""
    means, variances = [0.0, 0.0], [0.0, 0.0]
    for ratio, out, inside, count in tables:
        for world, mass in enumerate((out, inside)):
            total = max(mass.sum(), 1e-300)
            mean = float(mass @ ratio / total)
            means[world] += count * mean
            variances[world] += count * float(mass @ (ratio - mean) ** 2 / total)
    return means, variances


def _outside(
    tables: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, int]], h: float, first: int, last: int
) -> float:
    """Bound, by Chernoff's inequality, on the probability of a sum off the circle, which the transform wraps around."""
    total = 0.0
    for world in (1, 2):
        for side, end in ((1.0, last), (-1.0, first)):
            best = 0.0
            for strength in (5.0, 10.0, 20.0, 40.0, 80.0, 120.0):
                s = side * strength * 2.0 / ((last - first) * h)
                log_mean = sum(
                    t[3] * float(np.asarray(logsumexp(s * h * t[0], b=t[world]))) for t in tables if t[0].size
                )
                best = min(best, log_mean - s * h * end)
            total += float(np.exp(best))
    return total
