"""A trade-off function given by samples: the chords through them, and the bound that convexity gives below."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from dataclasses import field

import numpy as np

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff, rates
from mipsim.tradeoff.bounds import EPS, CurveBounds, Vertices, log_complement, log_difference, lowered, raised
from mipsim.tradeoff.partition import Corners
from mipsim.tradeoff.points import (
    Vector,
    checked_corners,
    convex_points,
    first_loss,
    interpolated,
    vertices_of,
)
from mipsim.tradeoff.sure_mass import SureMass, outward

OUTWARD = 1e-14
"""Relative: rounding of corners that are known by logarithms."""
_LEAST_LOG = -690.0  # of a rate that float64 rounds relatively, with room
_ROUNDING = 1e-12  # of rates that a user has computed: beta + TPR may miss 1 by so much


class AbstractPolygon(AbstractTradeOff):
    """A convex polygon with all four rates of its corners."""

    alpha: np.ndarray
    complement: np.ndarray = field(repr=False)
    corners: np.ndarray
    tpr: np.ndarray = field(repr=False)
    slack: float = 0.0
    """Relative error of each corner, in the smaller of a rate and its complement; the bounds hold with it."""
    lost: float = 0.0
    """Mass, in either world, of edges at the two ends that are too rare for float64 and have no corner; the bounds hold with it."""
    steepest: float = -np.inf
    flattest: float = np.inf
    """The largest and the least privacy loss of the edges that are lost."""
    sure: tuple[SureMass, SureMass] | None = field(default=None, repr=False)
    """The masses that reveal "in" and "out", where they are known to more digits than the corners."""
    way: AbstractTradeOff | None = None
    """Of a hull of both directions the curve of the first; see `symmetrized`."""

    @abc.abstractmethod
    def __init__(self, alpha: object, beta: object) -> None:
        """The corners at FPR `alpha` and FNR `beta`."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64)
        if not self.slack and not self.lost:
            return interpolated(x, self.alpha, self.complement, self.corners, self.tpr)
        # A point of the true polygon is off sideways by that share of its FPR or TNR, and up or down by that of its FNR or TPR.
        off, other = 2.1 * self.slack, log_complement(x)
        fewer, fewer_other = self._within(lowered(x - off), np.minimum(raised(other) + off, 0.0))
        more_other, more = self._within(lowered(other - off), np.minimum(raised(x) + off, 0.0))
        fewer = np.where(x < -1.0, fewer, log_complement(fewer_other))
        more = np.where(x < -1.0, more, log_complement(more_other))
        ends = np.isneginf(x) | (x == 0.0)
        result = interpolated(
            np.stack([np.where(ends, x, fewer), np.where(ends, x, more)]),
            *(self.alpha, self.complement, self.corners, self.tpr),
        )
        fnr = result[0][1] - off, np.minimum(result[1][0] + off, 0.0)
        tpr = result[2][0] - off, np.minimum(result[3][1] + off, 0.0)
        if self.lost:
            # At FPR 0, and at FNR 0 for FPR 1, nothing that is lost counts.
            fnr, tpr = (
                tuple(np.where(ends, old, new) for old, new in zip(rate, self._within(*rate), strict=True))
                for rate in (fnr, tpr)
            )
        return CurveBounds(*fnr, *tpr).tightened()

    def _within(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log rates with what is lost taken off the lower bound and added to the upper bound."""
        if not self.lost:
            return low, high
        lost = raised(np.log(self.lost))
        return lowered(log_difference(low, np.minimum(lost, low))), np.minimum(
            raised(np.logaddexp(high, lost)), 0.0
        )

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self if self.way is not None else turned_over(self)

    def as_worse_of(self, way: AbstractTradeOff) -> SampledTradeOff:
        """The same curve, known to be the hull of another and its inverse.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> both = ApproxDPTradeOff(1.0).subsampled(0.5)
            >>> both.inverse() is both
            True
        """
        built = object.__new__(SampledTradeOff)
        vars(built).update(vars(self), way=way)
        return built

    def _one_way(self) -> AbstractTradeOff | None:
        return self.way

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        if self.sure is not None:
            return self.sure[not inside]
        mass = float(self.tpr[0] if inside else self.complement[-1])
        off = 1.1 * self.slack
        return outward(mass * (1.0 - off), min(mass * (1.0 + off), 1.0)) if off else (mass, mass)

    def vertices(self) -> Vertices:
        result = vertices_of(self.alpha, self.complement, self.corners, self.tpr)
        if not self.slack and not self.lost:
            return result
        off = 1.1 * self.slack
        low, high = (
            np.where(x < 0.0, x + way * off, x) for x, way in zip(result[:2], (-1.0, 1.0), strict=True)
        )
        late = high > -0.5  # there the complement is right to that share
        other = self._within(
            log_complement(result[1]) - off, np.minimum(log_complement(result[0]) + off, 0.0)
        )
        early = self._within(low, np.minimum(high, 0.0))
        inner = (low < 0.0) & np.isfinite(high)
        low = np.where(inner, np.where(late, log_complement(other[1]), early[0]), low)
        high = np.where(inner, np.where(late, log_complement(other[0]), early[1]), high)
        ends = zip(result.bounds, (-1.0, 1.0, -1.0, 1.0), strict=True)
        fnr_low, fnr_high, tpr_low, tpr_high = (np.minimum(end + way * off, 0.0) for end, way in ends)
        wide = CurveBounds(*self._within(fnr_low, fnr_high), *self._within(tpr_low, tpr_high))
        wide = wide.where(inner, CurveBounds(fnr_low, fnr_high, tpr_low, tpr_high)).tightened()
        known = Vertices(low, np.minimum(high, 0.0), wide)
        return self._with_steepest(known) if self.lost else known

    def _with_steepest(self, known: Vertices) -> Vertices:
        """With a corner that overstates each lost corner behind the first: TPRs up to what is lost, at the largest loss."""
        low, high, bounds = known
        lost = float(raised(np.log(self.lost)))
        place = min(1, low.size - 1)
        tpr = np.logaddexp(bounds.log_tpr_high[0], lost)
        rates = (
            log_complement(np.minimum(tpr, 0.0)),
            bounds.log_fnr_high[0],
            bounds.log_tpr_low[0],
            np.minimum(raised(tpr), 0.0),
        )
        return Vertices(
            np.insert(
                low,
                place,
                min(lost - self.steepest - 8.0 * EPS * (abs(lost) + abs(self.steepest)), low[place]),
            ),
            np.insert(high, place, min(lost, high[place])),
            CurveBounds(*(np.insert(end, place, rate) for end, rate in zip(bounds, rates, strict=True))),
        )

    def largest_loss_bounds(self) -> tuple[float, float]:
        low, high = first_loss(self.alpha, self.tpr)
        low, high = max(0.0, low - 4.0 * self.slack), high + 4.0 * self.slack
        if not self.lost:
            return low, high
        # Which is known to the slack, and may be infinite.
        return max(low, self.steepest * (1.0 - 4.0 * EPS) - self.slack), max(
            high, self.steepest * (1.0 + 4.0 * EPS)
        )


class SampledTradeOff(AbstractPolygon):
    """The chords through samples (alpha, beta) of a trade-off function; (0, 1) and (1, 0) are added where missing.

    The curve that was sampled lies on or below the chords, and on or above the curve of
    `PrivacyLossDistribution.below_polygon`. It stores alpha, 1 - alpha, beta and 1 - beta, so that neither end of the curve loses digits.

    Args:
        alpha: FPR, shape (m,), strictly increasing in [0, 1].
        beta: FNR, shape (m,): non-increasing, convex, at most 1 - alpha (each to 1e-12).
        tpr: 1 - beta where the caller knows it to more digits, shape (m,); None computes it.

    Source: Dong, Roth and Su (2022), section 2.1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, PrivacyLossDistribution
        >>> a, claim = np.linspace(0.01, 0.99, 99), GaussianTradeOff(1.0)
        >>> chords = SampledTradeOff(a, claim.beta(a), claim.tpr_at(a))
        >>> below = PrivacyLossDistribution.below_polygon(chords).tradeoff()
        >>> [round(float(c.beta(0.205)), 6) for c in (below, claim, chords)]
        [0.429923, 0.430105, 0.430166]
        >>> SampledTradeOff([0.1, 0.5], [0.5, 0.6])
        Traceback (most recent call last):
        ...
        ValueError: beta holds 0.6 at alpha 0.5; it must be at most 1 - alpha
    """

    def __init__(self, alpha: object, beta: object, tpr: object = None) -> None:
        a = rates("alpha", finite_vector("alpha", alpha))
        b = rates("beta", finite_vector("beta", beta, a.size))
        t = 1.0 - b if tpr is None else finite_vector("tpr", tpr, a.size)
        if (bad := np.abs(b + t - 1.0) > _ROUNDING).any():
            raise ValueError(f"tpr holds {t[bad][0]:g} where beta is {b[bad][0]:g}; it must be 1 - beta")
        first, last = bool(a[0] > 0.0), bool(a[-1] < 1.0)
        self.alpha = np.concatenate([[0.0] * first, a, [1.0] * last])
        self.corners = np.concatenate([[1.0] * first, b, [0.0] * last])
        self.tpr = np.concatenate([[0.0] * first, t, [1.0] * last])
        self.complement = 1.0 - self.alpha
        checked_corners(self.alpha, np.clip(self.corners, 0.0, 1.0))

    @classmethod
    def from_points(
        cls,
        alpha: Vector,
        complement: Vector,
        beta: Vector,
        tpr: Vector,
        *,
        slack: float = 0.0,
        lost: float = 0.0,
        losses: tuple[float, float] = (-np.inf, np.inf),
        sure: tuple[SureMass, SureMass] | None = None,
    ) -> SampledTradeOff:
        """From corners whose four rates are all known to the relative error `slack`; shapes (m,), trusted.

        Edges of the mass `lost` may be missing at the ends, with privacy losses between `losses`, the largest first.

        Only the corners of the lower convex hull remain, which removes the effect of rounding.

        Examples:
            >>> rare = SampledTradeOff.from_points(
            ...     *(np.array(v) for v in ([0, 1e-30, 1], [1, 1, 0], [1, 1, 0], [0, 1e-20, 1]))
            ... )
            >>> float(rare.tpr_at(5e-31))
            5e-21
        """
        built = object.__new__(cls)
        points = convex_points(alpha, complement, beta, tpr)
        for name, value in zip(("alpha", "complement", "corners", "tpr"), points, strict=True):
            object.__setattr__(built, name, value)
        known = (float(slack), float(lost), float(losses[0]), float(losses[1]))
        for name, value in zip(("slack", "lost", "steepest", "flattest"), known, strict=True):
            object.__setattr__(built, name, value)
        object.__setattr__(built, "sure", sure)
        return built


def with_trivial_tests(rates: Iterable[Vector], sure: float = 0.0) -> list[Vector]:
    """FPR, TNR, FNR and TPR of tests, and of the trivial ones: "out" but for a mass `sure` that only the world "in" has, and always "in".
    >>> [rate.tolist() for rate in with_trivial_tests([np.array([x]) for x in (0.1, 0.9, 0.5, 0.5)])]
    [[0.0, 0.1, 1.0], [1.0, 0.9, 0.0], [1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]
    """
    ends = zip(rates, (0.0, 1.0, 1.0 - sure, sure), (1.0, 0.0, 0.0, 1.0), strict=True)
    return [np.concatenate([[first], rate, [last]]) for rate, first, last in ends]


def mixed(inner: AbstractPolygon, rho: float) -> SampledTradeOff:
    """The points of rho f + (1 - rho) Id at the FPRs of the points of f, and (1, 0).
    >>> mixed(SampledTradeOff([0, 0.25, 0.5], [1, 0.25, 0]), 0.5).corners.tolist()
    [1.0, 0.5, 0.25, 0.0]
    """
    beta = rho * inner.corners + (1.0 - rho) * inner.complement
    tpr = rho * inner.tpr + (1.0 - rho) * inner.alpha
    rows = zip((inner.alpha, inner.complement, beta, tpr), (1.0, 0.0, 0.0, 1.0), strict=True)
    return SampledTradeOff.from_points(
        *(np.append(row, end) for row, end in rows),
        slack=inner.slack + 4.0 * EPS,
        lost=inner.lost,
        losses=(_mixed_loss(inner.steepest, rho), _mixed_loss(inner.flattest, rho)),
    )


def _mixed_loss(loss: float, rho: float) -> float:
    """The privacy loss log(1 + rho (e^loss - 1)) of an edge of a mixture."""
    return float(np.logaddexp(np.log(rho) + loss, np.log1p(-rho))) if 0.0 < rho < 1.0 else rho * loss


def around(parts: list[Corners], outward: float) -> SampledTradeOff:
    """The hull of points, each moved by a relative `outward` towards more leakage (or less, where that is negative)."""
    x, fnr, tpr = (np.concatenate([part[k] for part in parts]) for k in range(3))
    # What is rarer than float64 rounds relatively goes to the end that leaks more, or is left out.
    left = log_complement(x)
    if outward > 0.0:
        x = np.where(x < _LEAST_LOG, -np.inf, x)
        fnr = np.where((fnr < _LEAST_LOG) | (left < _LEAST_LOG), -np.inf, fnr)
        tpr = np.where(np.isneginf(tpr), tpr, np.maximum(tpr, _LEAST_LOG))
        known = np.ones(x.shape, bool)
    else:
        tpr = np.where(tpr < _LEAST_LOG, -np.inf, tpr)
        known = np.isneginf(x) | (
            (x > _LEAST_LOG) & (fnr > _LEAST_LOG) & (tpr > _LEAST_LOG) & (left > _LEAST_LOG)
        )
    first = np.isneginf(x) & np.isneginf(tpr)
    alpha, complement = (
        np.exp(x) * (1.0 - outward),
        np.clip(-np.expm1(x) * (1.0 + outward), np.exp(_LEAST_LOG), 1.0),
    )
    beta = np.where(first, 1.0, np.minimum(np.exp(fnr) * (1.0 - outward), 1.0))
    caught = np.where(
        first, 0.0, np.where(np.isneginf(fnr), 1.0, np.minimum(np.exp(tpr) * (1.0 + outward), 1.0))
    )
    rows = zip((alpha, complement, beta, caught), (1.0, 0.0, 0.0, 1.0), strict=True)
    return SampledTradeOff.from_points(*(np.append(np.minimum(row[known], 1.0), end) for row, end in rows))


def moved(curve: AbstractPolygon, way: float) -> SampledTradeOff:
    """The polygon below all that have these corners but for their error (`way` -1), or that above them (1)."""
    off = way * (1.01 * curve.slack + EPS)
    less, more = 1.0 - off, 1.0 + off
    late, rarely = curve.alpha > 0.5, curve.tpr <= 0.5
    lost = way * curve.lost
    tnr, tpr = curve.complement * less - lost, curve.tpr * less - lost
    fpr, fnr = curve.alpha * more + lost, curve.corners * more + lost
    fpr = np.where(curve.alpha > 0.0, fpr, 0.0)
    rows = (
        np.where(late, 1.0 - tnr, fpr),
        np.where(late, tnr, 1.0 - fpr),
        np.where(rarely, 1.0 - tpr, fnr),
        np.where(rarely, tpr, 1.0 - fnr),
    )
    return SampledTradeOff.from_points(
        *(np.clip(np.append(row, end), 0.0, 1.0) for row, end in zip(rows, (1.0, 0.0, 0.0, 1.0), strict=True))
    )


def turned_over(curve: AbstractPolygon) -> SampledTradeOff:
    """The inverse of a polygon: its corners with FPR and FNR exchanged.
    >>> turned_over(SampledTradeOff([0, 0.5, 1], [1, 0.25, 0])).alpha.tolist()
    [0.0, 0.25, 1.0]
    """
    item, zero = np.ones(1), np.zeros(1)
    alpha = np.concatenate([curve.corners[::-1], item])
    complement = np.concatenate([curve.tpr[::-1], zero])
    beta = np.concatenate([curve.alpha[::-1], zero])
    tpr = np.concatenate([curve.complement[::-1], item])
    return SampledTradeOff.from_points(
        alpha,
        complement,
        beta,
        tpr,
        slack=curve.slack,
        lost=curve.lost,
        losses=(-curve.flattest, -curve.steepest),
        sure=curve.sure and (curve.sure[1], curve.sure[0]),
    )
