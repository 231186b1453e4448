"""The exact trade-off curve of a score that is a sum over independent coordinates: no games, no bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mipsim.exact.bracket import NODES, Bracket, bracket
from mipsim.exact.curve import CurveBracket
from mipsim.exact.independent import Independent, stacked
from mipsim.exact.terms import Terms

Score = Callable[[Terms], np.ndarray]


def likelihood_ratio(terms: Terms) -> np.ndarray:
    """The term of the exact log-likelihood ratio."""
    return terms.ratio


def covariance_score(terms: Terms) -> np.ndarray:
    """The term of the covariance score."""
    return terms.covariance_score


@dataclass(frozen=True)
class AdditiveLaw:
    """The law of the score in both worlds, and its trade-off curve, between proven bounds.

    `below`, `beta`, `advantage` and the like are what is likely inside the bounds; the bounds are those of `law` (of
    P(score > x)), `beta_bracket` and `advantage_bracket`.

    Attributes:
        law: bounds on P(score > x) in both worlds at every x, given the tables of the terms.
        curve: bounds on the trade-off curve, given the tables.
        table_error: bound on the distance of the tables from the truth, of all coordinates together, in total variation;
            inf where it is not known. It is part of `law` where it is finite.

    Examples:
        >>> from mipsim.exact.terms import binomial_terms
        >>> law = additive_law([binomial_terms(50, 0.5, 1, 50)])
        >>> low, high = law.beta_bracket(0.05)
        >>> print(low.round(2), high.round(2), law.error_bound < 5e-4)
        0.74 0.74 True
    """

    law: Bracket
    curve: CurveBracket
    table_error: float

    @property
    def error_bound(self) -> float:
        """A proven bound on the error of `below`, in either world at every threshold; 1 where the tables are not proven."""
        return self.law.error_bound if np.isfinite(self.table_error) else 1.0

    @property
    def error_estimate(self) -> float:
        """The same if the tables were exact: nothing is decided by it where `error_bound` is larger."""
        return self.law.error_bound

    @property
    def is_proven(self) -> bool:
        """Whether the error of the tables is bounded. If not, the law is an estimate, and its brackets are [0, 1]."""
        return bool(np.isfinite(self.table_error))

    @property
    def score(self) -> np.ndarray:
        """Thresholds at which the rates below are given, increasing, shape (N,)."""
        return self._rates[0]

    @cached_property
    def _rates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x = np.unique(np.concatenate([self.law.grid, self.law.atoms]))
        return x, self.law.estimate(x, 0), self.law.estimate(x, 1)

    def advantage(self) -> float:
        """Max over thresholds of TPR - FPR."""
        found = float(np.max(self._rates[2] - self._rates[1], initial=0.0))
        ends = self.law.above[1] - self.law.above[0], self.law.below[0] - self.law.below[1]
        return float(max(found, *ends, 0.0))

    def advantage_bracket(self) -> tuple[float, float]:
        """Proven (lower, upper) bounds on `advantage`."""
        return self.curve.advantage() if self.is_proven else (0.0, 1.0)

    def advantage_at(self, threshold: float) -> float:
        """TPR - FPR of the test score > threshold."""
        return float(self.below(threshold, inside=False) - self.below(threshold, inside=True))

    def below(self, threshold: float | np.ndarray, *, inside: bool) -> np.ndarray:
        """P(score <= threshold); shape of threshold."""
        return 1.0 - self.law.estimate(np.asarray(threshold, float), int(inside))

    def below_bracket(self, threshold: float | np.ndarray, *, inside: bool) -> tuple[np.ndarray, np.ndarray]:
        """Proven (lower, upper) bounds on P(score <= threshold); each of the shape of threshold."""
        x = np.asarray(threshold, float)
        if not self.is_proven:
            return np.zeros(x.shape), np.ones(x.shape)
        low, high = self.law.above_bounds(x, int(inside))
        return 1.0 - high, 1.0 - low

    def beta(self, alpha: object) -> np.ndarray:
        """FNR of the threshold tests at FPR alpha, randomised between neighbouring thresholds; shape of alpha."""
        a = np.asarray(alpha, float)
        fpr, tpr = self._vertices
        at = np.clip(np.searchsorted(fpr, a, side="right") - 1, 0, fpr.size - 2)
        run = fpr[at + 1] - fpr[at]
        fraction = np.clip((a - fpr[at]) / np.where(run > 0.0, run, 1.0), 0.0, 1.0)
        return np.where(a >= 1.0, 0.0, 1.0 - tpr[at] - fraction * (tpr[at + 1] - tpr[at]))

    def beta_bracket(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """Proven (lower, upper) bounds on the FNR at FPR alpha; each of the shape of alpha."""
        a = np.asarray(alpha, float)
        return self.curve.beta(a) if self.is_proven else (np.zeros(a.shape), np.ones(a.shape))

    @property
    def vertices(self) -> tuple[np.ndarray, np.ndarray]:
        """(FPR, FNR) of all thresholds, from (0, 1) to (1, 0): `beta` is linear between them; each of shape (V,)."""
        a, tpr = self._vertices
        return a, 1.0 - tpr

    @cached_property
    def _vertices(self) -> tuple[np.ndarray, np.ndarray]:
        _, out_low, out_high, in_low, in_high = self.curve.points
        a, tpr = 0.5 * (out_low + out_high), 0.5 * (in_low + in_high)
        a[0] = tpr[0] = 0.0
        return a, tpr

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Hockey-stick divergences at e^epsilon: (in against out, out against in). Meaningful for the exact ratio."""
        (low, high), (back_low, back_high) = self.delta_bracket(epsilon, proven=False)
        return 0.5 * (low + high), 0.5 * (back_low + back_high)

    def delta_bracket(
        self, epsilon: float, *, proven: bool = True
    ) -> tuple[tuple[float, float], tuple[float, float]]:
        """Bounds on `delta` in both directions: P_in(S > eps) - e^eps P_out(S > eps), and P_out(S <= -eps) - e^eps P_in."""
        if proven and not self.is_proven:
            return (0.0, 1.0), (0.0, 1.0)
        e, found = float(np.exp(epsilon)), []
        for at, (first, second) in ((epsilon, (1, 0)), (-epsilon, (0, 1))):
            (a, b), (c, d) = (self.law.above_bounds(np.asarray(at), w) for w in (first, second))
            if at < 0 or (at == 0 and first == 0):
                a, b, c, d = 1.0 - b, 1.0 - a, 1.0 - d, 1.0 - c
            found.append((float(np.clip(a - e * d, 0.0, 1.0)), float(np.clip(b - e * c, 0.0, 1.0))))
        return found[0], found[1]

    def mirrored(self) -> AdditiveLaw:
        """The law of minus the score."""
        law = self.law.mirrored()
        return replace(self, law=law, curve=CurveBracket(law))


def additive_law(
    groups: Sequence[Terms], score: Score = likelihood_ratio, points: int | None = None
) -> AdditiveLaw:
    """Bracket the law of a sum over independent coordinates.

    Few outcomes are multiplied out. Else the likeliest are, if any is likely, and the rest is bracketed from its
    characteristic function by Selberg's polynomials (see `mipsim.exact.bracket`); infinite values are accounted apart. For
    the likelihood ratio the curve is bracketed by its tangents as well.

    Args:
        groups: the terms of groups of like coordinates.
        score: the term of the score, from the group's terms.
        points: frequencies; the bracket is about 16 standard deviations x density / points wide. By default 2^14, which is 3e-4
            in probability and .001 in probits.

    Raises:
        ValueError: if a term of the score is NaN at a possible value.

    Examples:
        >>> from mipsim.exact.terms import binomial_terms
        >>> law = additive_law([binomial_terms(50, 0.5, 1, 50)])
        >>> print(round(law.advantage(), 3))  # the limit, by theorem 3.1, is 0.383
        0.387
    """
    tables, finite, table_error, ratio_error = [], np.ones((2, 2)), 0.0, 0.0
    for g in groups:
        v = np.asarray(score(g), float)
        p = np.stack([g.out, g.inside])
        possible = p.max(axis=0) > 0.0
        if np.isnan(v[possible]).any():
            raise ValueError("score is NaN at a possible value of a term; it must be a number or infinite")
        kept = possible & np.isfinite(v)
        # Left without +inf, and then without -inf.
        finite[0] *= (1.0 - p[:, possible & (v == np.inf)].sum(axis=1)) ** g.count
        finite[1] *= (1.0 - p[:, possible & np.isinf(v)].sum(axis=1)) ** g.count
        if not kept.any():
            kept[np.argmax(possible)] = True
            v, p = np.where(kept, 0.0, v), np.zeros_like(p)
        order = np.flatnonzero(kept)[np.argsort(v[kept], kind="stable")]
        cells = _cells_of(g, score)
        tables.append((v[order], p[:, order], np.full(2, g.count), *(c[order] for c in cells or ())))
        table_error += g.count * (g.error if cells is not None else np.inf)
        ratio_error += g.count * 2.0**-50 * (1.0 + float(np.abs(v[kept]).max()))
    nodes = NODES if points is None else int(points) - 1
    found = bracket(
        Independent(stacked(tables), np.zeros(2)),
        nodes,
        above=1.0 - finite[0],
        below=finite[0] - finite[1],
        error=float(table_error) if np.isfinite(table_error) else 0.0,
    )
    calibrated = ratio_error if score is likelihood_ratio else None
    return AdditiveLaw(found, CurveBracket(found, calibrated), float(table_error))


def _cells_of(g: Terms, score: Score) -> tuple[np.ndarray, ...] | None:
    """(span, drift) of the score's values over cells of totals; empty for single values, None where nothing is proven.

    Of the ratio X with values in an interval of length w, log E_out e^X is the value; E_out X is at most w^2 / 8 below it by
    Hoeffding's lemma, and E_in X, from E_in e^-X, at most as much above it. Of a linear score the value is the mean "out", and the
    law in the cell "in" differs from it by at most w / 2 in total variation.
    """
    if g.cell is None or g.length is None:
        return ()
    if score is likelihood_ratio:
        return g.cell, g.cell**2 / 8.0
    if score is covariance_score:
        span = abs(g.t) / np.sqrt(g.n) * g.length
        return span, span * g.cell / 2.0 + 2.0**-45 * span
    return None
