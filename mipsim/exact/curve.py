"""Bounds on the trade-off curve of a score from bounds on its law in both worlds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mipsim.exact.bracket import Bracket

_LINES = 2**22  # numbers of a batch of tangents: 32 MiB


@dataclass(frozen=True)
class CurveBracket:
    """The tests "score > x", randomised on ties, between bounds.

    T(alpha) is the largest P_in(test) of a test with P_out(test) <= alpha. At every threshold x the true point
    (P_out(S > x), P_in(S > x)) lies in a box. T does not fall, so it is at most the upper side of each box to the right of
    alpha and at least the lower side of each box to the left. Between the two sides of an atom the true curve is a straight
    line, and each bound is the line through the outer corners.

    For a score that is the log-likelihood ratio T is concave, so that chords between boxes are lower bounds, and
    T(alpha) <= P_in(S > x) + e^x (alpha - P_out(S > x)) at every x (Neyman and Pearson), so that a curve is known better
    than the law: an atom on the border of two thresholds does no harm.

    Attributes:
        law: the bracket of the law.
        ratio_error: a bound on |score - log-likelihood ratio|; None for another score.
    """

    law: Bracket
    ratio_error: float | None = None

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(threshold, lower and upper P_out, lower and upper P_in) of boxes with falling threshold, each of shape (B,).

        The first two have the threshold inf (nothing; +inf only), the last two -1e308 (all but -inf) and -inf (everything).
        """
        law = self.law
        sides, at = self._sides
        found = []
        for world in (0, 1):
            beyond, with_it = law.above_bounds(sides, world), law.above_bounds(sides, world, at=True)
            for k, error in ((0, -law.error[world]), (1, law.error[world])):
                inner = np.where(at, with_it[k], beyond[k])
                ends = law.above[world] + error, 1.0 - law.below[world] + error
                points = np.concatenate([[0.0, ends[0]], inner, [ends[1], 1.0]])
                found.append(np.maximum.accumulate(np.clip(points, 0.0, 1.0)))
        x = np.concatenate([[np.inf, np.inf], sides, [-1e308, -np.inf]])
        return x, found[0], found[1], found[2], found[3]

    @cached_property
    def _sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Thresholds, falling, each atom twice; and whether the second time, when the atom itself counts as above."""
        x = np.unique(np.concatenate([self.law.grid, self.law.atoms]))[::-1]
        atom = np.isin(x, self.law.atoms)
        at = np.zeros(x.size + int(atom.sum()), bool)
        at[np.cumsum(1 + atom)[atom] - 1] = True
        return np.repeat(x, 1 + atom), at

    @cached_property
    def _straight(self) -> np.ndarray:
        """Whether the true curve is a straight line from a box to the next, shape (B,): the two sides of an atom, or an infinity."""
        inner = np.append(self._sides[1], False)  # to every threshold, and from the last one on
        return np.concatenate([[True, False], inner[1:], [True, False]])

    @cached_property
    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Lower and upper FPR and FNR of the thresholds, FPR rising: all vertices of the curve lie in them; each of shape (B,)."""
        _, out_low, out_high, in_low, in_high = self.points
        return out_low, out_high, 1.0 - in_high, 1.0 - in_low

    def beta(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds on the FNR at the FPR alpha, each of the shape of alpha."""
        a = np.asarray(alpha, float)
        flat = a.ravel()
        _, out_low, out_high, in_low, in_high = self.points
        straight, last = self._straight, in_low.size - 1
        # A box strictly to the right: at an equal FPR more tests may follow.
        j = np.searchsorted(out_low, flat, side="right")
        beyond = j > last
        j = np.minimum(j, last)
        before = np.maximum(j - 1, 0)
        line = straight[before] & (out_low[j] > out_low[before])
        fraction = np.clip(
            (flat - out_low[before]) / np.where(line, out_low[j] - out_low[before], 1.0), 0.0, 1.0
        )
        high = np.where(line, in_high[before] + fraction * (in_high[j] - in_high[before]), in_high[j])
        high = np.where(beyond, 1.0, high)
        i = np.searchsorted(out_high, flat, side="right") - 1
        at = np.maximum(i, 0)
        low = np.where(i >= 0, in_low[at], 0.0)
        after = np.minimum(at + 1, last)
        line = (straight[at] | (self.ratio_error is not None)) & (i >= 0) & (out_high[after] > out_high[at])
        fraction = np.clip(
            (flat - out_high[at]) / np.where(line, out_high[after] - out_high[at], 1.0), 0.0, 1.0
        )
        low = np.where(line, in_low[at] + fraction * (in_low[after] - in_low[at]), low)
        if self.ratio_error is not None:
            high = np.minimum(high, self._tangents(flat))
            low = low - 8.0 * self.ratio_error - 1e-15
        high = np.where(flat >= 1.0, 1.0, high)
        low = np.clip(np.where(flat >= 1.0, 1.0, low), 0.0, 1.0)
        return (1.0 - high).reshape(a.shape), (1.0 - np.minimum(low, high)).reshape(a.shape)

    def _tangents(self, alpha: np.ndarray) -> np.ndarray:
        x, out_low, _, _, in_high = self.points
        assert self.ratio_error is not None
        # On S > x the ratio exceeds x - r, elsewhere it is at most x + r: either costs at most (e^r - 1) P_in.
        fits = np.abs(x) < 600.0
        slope, level = np.exp(x[fits]), in_high[fits] - np.exp(x[fits]) * out_low[fits]
        found = np.ones(alpha.shape)
        step = max(1, _LINES // max(1, level.size))
        for start in range(0, alpha.size if level.size else 0, step):
            a = alpha[start : start + step, None]
            found[start : start + step] = np.min(level + slope * a, axis=1)
        return np.clip(found + 4.0 * self.ratio_error + 1e-14, 0.0, 1.0)

    def advantage(self) -> tuple[float, float]:
        """(lower, upper) bounds on max over thresholds of TPR - FPR."""
        x, out_low, out_high, in_low, in_high = self.points
        low = float(np.max(in_low - out_high))
        corner = in_high - out_low
        between = np.where(self._straight[:-1], corner[1:], in_high[1:] - out_low[:-1])
        high = float(max(corner.max(), between.max()))
        if self.ratio_error is not None:
            near = np.abs(x) < 600.0
            rate = np.exp(x[near])
            lines = in_high[near] - rate * out_low[near] + np.maximum(rate - 1.0, 0.0)
            high = min(high, float(lines.min(initial=1.0)) + 4.0 * self.ratio_error + 1e-14)
        return min(max(low, 0.0), 1.0), min(max(high, low, 0.0), 1.0)
