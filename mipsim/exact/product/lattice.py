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

import equinox as eqx
import numpy as np

from mipsim.exact.product.cells import BracketedTerms
from mipsim.exact.product.sums import Counted, laws_of_sums
from mipsim.exact.rounding import UNIT
from mipsim.exact.terms import Terms
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS as ULP
from mipsim.tradeoff.bounds import CurveBounds

LEAST, MOST = 2**18, 2**20
"""Lattice points on a circle of `WIDTH` standard deviations (and the distance of the two worlds).

Half as many at the upper end take half the time; the bounds of 25,600 coordinates are then 1e-5 probits wider, which hides whether a
slow approach goes on."""

ADDED = 3e-5
"""About the relative difference that the lattice makes to the variance of the ratio, unless that takes `MOST` points."""

BLOCKS = 2**12
"""Vertices that are kept of a curve; between them it is bounded by how far it sags below its chords."""

WIDTH = 22.0  # beyond 11 standard deviations at either side a normal law has less than 1e-27
TRIMMED = 1e-13
"""Probability that is left out at the far ends of all tables together; it is counted as an error."""

ROUNDED = 1e-13
"""A relative loss below this comes from rounding alone: it is larger where nothing is left to merge with."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """The curve of two finite laws, with what its error rates may be off.

    Attributes:
        alpha, power: vertices of tests "ratio >= value", from (0, mass at +inf) to (1, 1), shape (N,).
        sag: by how much the TPR may exceed the chord between two neighbouring vertices, shape (N - 1,).
        error: bound on the error of any sum of the probabilities.
        relative: bound on the relative error of any such sum besides.
    """

    alpha: np.ndarray
    power: np.ndarray
    sag: np.ndarray
    error: float
    relative: float = 0.0

    def beta(self, alpha: np.ndarray, side: float = 0.0) -> np.ndarray:
        """FNR at the FPR alpha; with side -1 or +1 a lower or an upper bound of it in view of the error; shape of alpha."""
        moved = self._moved(np.asarray(alpha, float), -side)
        power = np.interp(moved, self.alpha, self.power)
        if side < 0:
            power = power + self.sag[np.clip(np.searchsorted(self.alpha, moved) - 1, 0, self.sag.size - 1)]
        return self._moved(1.0 - power, side)

    def _moved(self, rate: np.ndarray, side: float) -> np.ndarray:
        """An error rate as far up or down as its errors allow; the rate and 1 - rate are both right to the relative one."""
        grown = 1.0 + self.relative
        if side > 0:
            rate = np.minimum(rate * grown, 1.0 - (1.0 - rate) / grown)
        elif side < 0:
            rate = np.maximum(rate / grown, 1.0 - (1.0 - rate) * grown)
        return np.clip(rate + side * self.error, 0.0, 1.0)

    def delta(self, epsilon: float, side: float) -> tuple[float, float]:
        """Bounds of the hockey-stick divergences at e^epsilon, of in against out and of out against in: side -1 lower, +1 upper."""
        e, more = np.exp(epsilon), float(self.sag.max()) if side > 0 else 0.0
        doubt = side * (1.0 + e) * (self.error + self.relative)
        forth = float((self.power - e * self.alpha).max()) + more + doubt
        back = float((1.0 - self.alpha - e * (1.0 - self.power)).max()) + e * more + doubt
        return forth, back


class ProductTradeOff(AbstractTradeOff):
    """The optimal curve of many independent coordinates, known between those of two finite experiments.

    Args:
        weaker: an attacker who sees less than the outputs.
        stronger: one who sees more.

    Source: Blackwell (1953), for the order of experiments, which products keep.

    Examples:
        >>> from mipsim.exact.product.cells import BracketedTerms
        >>> from mipsim.exact.terms import binomial_terms
        >>> terms = binomial_terms(100, 0.5, 1, 100)  # m = 1: nearly 1-GDP
        >>> curve = product_tradeoff([BracketedTerms(terms, terms, terms.error)])
        >>> low, high = curve.beta_bounds(0.1)
        >>> print(round(float(curve.beta(0.1)), 2), bool(0 < high - low < 1e-4))
        0.61 True
    """

    weaker: Experiment = eqx.field(static=True)
    stronger: Experiment = eqx.field(static=True)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        fpr = np.exp(log_fpr)
        fewer, more = (np.clip(fpr * (1.0 + sign * 8.0 * ULP), 0.0, 1.0) for sign in (-1.0, 1.0))
        with np.errstate(divide="ignore"):
            low, high = (
                np.log(np.maximum(self.stronger.beta(more, -1.0), 0.0)),
                np.log(self.weaker.beta(fewer, 1.0)),
            )
        return CurveBounds.of_log_fnr(low, np.minimum(high, 0.0))

    def is_convex(self) -> bool:
        return True

    def delta_brackets(self, epsilon: float) -> list[tuple[float, float]]:
        """Proven bounds of the divergences at e^epsilon, of in against out and of out against in; at 0 both are the advantage."""
        return list(zip(self.weaker.delta(epsilon, -1.0), self.stronger.delta(epsilon, 1.0), strict=True))


Atoms = tuple[np.ndarray, np.ndarray, np.ndarray]
"""(log ratio, out, in) of finite atoms, by increasing ratio."""

Moved = tuple[np.ndarray, np.ndarray, np.ndarray, float, float]
"""(lattice index, out, in, error, relative): atoms on the lattice, and bounds on the error of any sum of them."""


def stronger(table: Atoms, h: float) -> Moved:
    """Every finite atom split between its two neighbours on h Z, keeping both masses."""
    ratio, out, inside = table
    index = np.floor(ratio / h)
    below, above = np.exp(index * h), np.exp((index + 1) * h)
    upper = np.clip((inside - below * out) / (above - below), 0.0, out)
    lower = out - upper
    lost = np.abs(lower * below + upper * above - inside)
    parts = (index, index + 1), (lower, upper), (lower * below, upper * above)
    both, out, inside = (np.concatenate(part) for part in parts)
    return both.astype(np.int64), out, inside, *_doubt(lost, table[2], index * h, 1)


def weaker(table: Atoms, h: float) -> Moved:
    """Neighbouring atoms merged, from the largest ratio down, to unions with ratio on h Z."""
    r, p, q = (v[::-1].tolist() for v in table)
    found: list[list[float]] = []  # (lattice index, out, in)
    wanted, lost, most, j, count = [], [], 0, 0, len(r)
    while j < count:
        first = j
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
        if j == count and b > level * a:
            index, a, b = _lifted(found, index, a, b, h)
            level = float(np.exp(index * h))
        # What a union has too much of is counted as an error; it is rounding, but where nothing was left to merge with.
        lost.append(abs(b - level * a))
        wanted.append(b)
        most = max(most, j - first)
        found.append([index, a, level * a])
    both = np.array(found, float).reshape(-1, 3)
    doubt = _doubt(np.array(lost), np.array(wanted), both[:, 0] * h, most)
    return both[:, 0].astype(np.int64), both[:, 1], both[:, 2], *doubt


def _doubt(lost: np.ndarray, inside: np.ndarray, ratio: np.ndarray, merged: int) -> tuple[float, float]:
    """(error, relative): what is lost of the masses in world in counts relative to each of them where it is mere rounding, else in all.

    A ratio on the lattice is right to some units beside its own size, in units; what is split or merged costs two each.
    """
    rounding = UNIT * (12.0 + 4.0 * merged + 2.0 * float(np.abs(ratio).max(initial=0.0)))
    relative = float((lost / np.maximum(inside, 1e-300)).max(initial=0.0))
    return (0.0, rounding + relative) if relative < ROUNDED else (float(lost.sum()), rounding)


def _lifted(found: list[list[float]], index: int, a: float, b: float, h: float) -> tuple[int, float, float]:
    """The last union, merged with so much of another one of larger ratio that it comes to the next lattice point."""
    level = float(np.exp((index + 1) * h))
    room = [above - level * mass for _, mass, above in found]
    donor = int(np.argmax(room)) if room else 0
    lift = level * a - b
    if not room or room[donor] < lift or lift < 0.0:
        return index, a, b
    share = lift / room[donor]
    _, mass, above = found[donor]
    found[donor][1:] = [(1 - share) * mass, (1 - share) * above]
    return index + 1, a + share * mass, b + share * above


def trimmed(terms: Terms, allowed: float) -> tuple[Atoms, float]:
    """The finite atoms by increasing ratio, without those at either end that together hold at most `allowed` in each world."""
    keep = np.isfinite(terms.ratio) & (terms.out > 0) & (terms.inside > 0)
    order = np.argsort(terms.ratio[keep], kind="stable")
    ratio, out, inside = (v[keep][order] for v in (terms.ratio, terms.out, terms.inside))
    most = np.maximum(out, inside)
    first = int(np.searchsorted(np.cumsum(most), allowed, side="right"))
    last = most.size - int(np.searchsorted(np.cumsum(most[::-1]), allowed, side="right"))
    part = slice(min(first, last), last)
    return (ratio[part], out[part], inside[part]), float(most.sum() - most[part].sum()) if most.size else 0.0


def product_tradeoff(groups: Sequence[BracketedTerms]) -> ProductTradeOff:
    """The optimal curve of all coordinates together.

    Args:
        groups: tables of a weaker and a stronger attacker for each kind of coordinate.
    """
    errors, relatives = [g.error for g in groups], [g.relative for g in groups]
    return ProductTradeOff(
        experiment([g.weaker for g in groups], errors, strong=False, relatives=relatives),
        experiment([g.stronger for g in groups], errors, strong=True, relatives=relatives),
    )


def experiment(
    groups: Sequence[Terms], errors: Sequence[float], *, strong: bool, relatives: Sequence[float] = ()
) -> Experiment:
    """The tests on the sum of all coordinates' log ratios, moved to the lattice on the stronger or on the weaker side.

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
    finite, error, relative = np.ones(2), 0.0, 0.0
    tables: list[Counted] = []
    for place, (g, own, (kept, left_out)) in enumerate(zip(groups, errors, cut, strict=True)):
        index, out, inside, lost, doubt = stronger(kept, h) if strong else weaker(kept, h)
        error += g.count * (lost + left_out + own)
        relative += g.count * (doubt + (relatives[place] if relatives else 0.0))
        tables.append((index, out, inside, g.count))
        endless = ~np.isfinite(g.ratio)
        for world, mass in enumerate((g.out, g.inside)):
            finite[world] *= max(1.0 - float(mass[endless].sum()), 0.0) ** g.count
    laws, off = laws_of_sums(tables, points, start)
    error += off
    for law, whole in zip(laws, finite, strict=True):
        # Scaled to the probability of a finite ratio, so that what is not above a threshold is as right as what is.
        if (total := float(law.sum())) > 0.0 < whole:
            law *= whole / total
            relative += abs(np.log(whole / total)) + 4.0 * UNIT
    if any(table[0].size for table in tables):
        error += _outside(tables, h, start, start + points - 1)
    return thinned(laws[0], laws[1], max(0.0, 1 - finite[1]), error, float(np.expm1(1.01 * relative)))


def thinned(out: np.ndarray, inside: np.ndarray, high: float, error: float, relative: float) -> Experiment:
    """Keep `BLOCKS` vertices of the curve, from those of all N lattice points by increasing ratio, and how far it sags between."""
    alpha = np.minimum(np.concatenate([[0.0], _running(out[::-1]), [1.0]]), 1.0)
    power = np.minimum(np.concatenate([[high], high + _running(inside[::-1]), [1.0]]), 1.0)
    block = out.size // BLOCKS
    kept = np.append(np.arange(0, out.size + 1, block), out.size + 1)
    x, y = alpha[kept], power[kept]
    # The last vertex stands alone: there is nothing between (the rest of the mass, at ratio 0) and (1, 1).
    fine_x, fine_y = (v[1 : out.size + 1].reshape(BLOCKS, block) for v in (alpha, power))
    width = np.maximum(x[1:-1] - x[:-2], 1e-300)[:, None]
    # In place: of a million points each copy costs as much as what is computed.
    line = fine_x - x[:-2, None]
    line /= width
    np.clip(line, 0.0, 1.0, out=line)
    line *= (y[1:-1] - y[:-2])[:, None]
    line += y[:-2, None]
    sag = np.maximum(np.subtract(fine_y, line, out=line).max(axis=1), 0.0)
    rounding = 2.0 * UNIT * (block + 2.0 * np.sqrt(BLOCKS) + 8.0)
    return Experiment(x, y, np.append(sag, 0.0), error + rounding, relative)


def _running(mass: np.ndarray) -> np.ndarray:
    """Cumulative sums, added up in blocks, blocks of blocks and these: right to some hundred units of rounding, not to a million."""
    inner = np.cumsum(mass.reshape(BLOCKS, -1), axis=1)
    totals = np.cumsum(inner[:, -1].reshape(round(BLOCKS**0.5), -1), axis=1)
    totals[1:] += np.cumsum(totals[:-1, -1])[:, None]
    inner[1:] += totals.ravel()[:-1, None]
    return inner.ravel()


def _spread(tables: Sequence[Counted]) -> tuple[list[float], list[float]]:
    """(means, variances) of the finite sum in the two worlds."""
    means, variances = [0.0, 0.0], [0.0, 0.0]
    for ratio, out, inside, count in tables:
        for world, mass in enumerate((out, inside)):
            total = max(mass.sum(), 1e-300)
            mean = float(mass @ ratio / total)
            means[world] += count * mean
            variances[world] += count * float(mass @ (ratio - mean) ** 2 / total)
    return means, variances


def _outside(tables: Sequence[Counted], h: float, first: int, last: int) -> float:
    """Bound, by Chernoff's inequality, on the probability of a sum off the circle, which the transform wraps around."""
    total = 0.0
    for side, end in ((1.0, last), (-1.0, first)):
        best = np.zeros(2)  # in each world, of a few exponents, in inverse half-widths of the circle
        for strength in (5.0, 10.0, 20.0, 40.0, 80.0, 120.0):
            s = side * strength * 2.0 / ((last - first) * h)
            log_mean = np.zeros(2)
            for index, out, inside, count in tables:
                if index.size:
                    exponent = s * h * index
                    most = exponent.max()
                    share = np.exp(exponent - most)
                    log_mean += count * (most + np.log([out @ share, inside @ share]))
            best = np.minimum(best, log_mean - s * h * end)
        total += float(np.exp(best).sum())
    return total
