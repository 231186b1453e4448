"""Stochastic composition: the attacker sees the random target, and splits the FPR over the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mipsim._validation import finite_vector, member, whole
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS, LEAST_NORMAL, TINY, CurveBounds
from mipsim.tradeoff.enclosing import enclosing_laws
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.sure_mass import SureMass, weighted


def distribution_over(curves: Sequence[AbstractTradeOff], weights: object) -> np.ndarray:
    """Return the weights as a float64 vector with a weight for each curve, scaled by their exact sum.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> distribution_over([GaussianTradeOff(1.0)], [0.5])
    Traceback (most recent call last):
    ...
    ValueError: weights sum to 0.5; they must sum to 1
    """
    checked_curves(curves)
    shares = finite_vector("weights", weights, len(curves))
    if (shares < 0).any():
        raise ValueError(f"weights holds {shares[shares < 0][0]:g}; every weight must be at least 0")
    total = math.fsum(shares)
    if not abs(total - 1.0) <= 1e-9:
        raise ValueError(f"weights sum to {total:.12g}; they must sum to 1")
    return shares / total


class AveragedTradeOff(AbstractTradeOff):
    """sum over i of w_i f_i(alpha): the attacker sees the random target and attacks each target at the same FPR.

    An attacker who may choose the FPR by the target does better: `stochastic_composition`.

    Args:
        curves: trade-off functions, at least 1.
        weights: probability of each, shape (m,), >= 0, sum 1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> both = AveragedTradeOff([GaussianTradeOff(0.0), GaussianTradeOff(2.0)], [0.5, 0.5])
        >>> round(float(both.beta(0.1)), 6)
        0.56812
    """

    curves: tuple[AbstractTradeOff, ...]
    weights: np.ndarray

    def __init__(self, curves: Sequence[AbstractTradeOff], weights: object) -> None:
        self.weights = distribution_over(curves, weights)
        self.curves = tuple(curves)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        with np.errstate(divide="ignore"):
            shares = np.log(self.weights)
        parts = [curve.enclosure(log_fpr) for curve in self.curves]
        ends = [
            np.logaddexp.reduce([share + part[k] for share, part in zip(shares, parts, strict=True)], axis=0)
            for k in range(4)
        ]
        off = 8.0 * EPS * (4.0 + len(parts) + np.max(np.abs(shares[np.isfinite(shares)])))
        slack = [off * (1.0 + np.where(np.isneginf(x), 0.0, np.abs(x))) for x in ends]
        signs = (-1.0, 1.0, -1.0, 1.0)
        return CurveBounds(
            *(np.minimum(x + sign * s, 0.0) for x, s, sign in zip(ends, slack, signs, strict=True))
        ).tightened()

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        parts = [
            (c._sure_mass(inside=inside), w) for c, w in zip(self.curves, self.weights.tolist(), strict=True)
        ]
        if not inside:  # nothing is missed where no curve misses anything
            ends = [mass for mass, w in parts if w > 0.0]
            return min(low for low, _ in ends), min(high for _, high in ends)
        return weighted(parts)

    def is_convex(self) -> bool:
        return all(curve.is_convex() for curve in self.curves)

    def largest_loss_bounds(self) -> tuple[float, float]:
        ends = np.array(
            [c.largest_loss_bounds() for c, w in zip(self.curves, self.weights, strict=True) if w > 0.0]
        )
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights[self.weights > 0.0])
        low, high = (float(np.logaddexp.reduce(logs + ends[:, k])) for k in (0, 1))
        return max(0.0, low - 1e-13), high + 1e-13

    def mu_ceiling(self) -> float:
        return max(c.mu_ceiling() for c, w in zip(self.curves, self.weights, strict=True) if w > 0.0)


def mix(*curves: AbstractTradeOff, weights: object) -> AbstractTradeOff:
    """The mean of curves at a common FPR, as `AveragedTradeOff`; of a single curve, that curve.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> mix(GaussianTradeOff(1.0), weights=[1.0])
        GaussianTradeOff(mu=1.0)
    """
    shares = distribution_over(curves, weights)
    return curves[0] if len(curves) == 1 else AveragedTradeOff(curves, shares)


def stochastic_composition(
    curves: Sequence[AbstractTradeOff], weights: object = None, *, points: int = 1 << 15
) -> AbstractTradeOff:
    """h(alpha) = min { sum w_i f_i(a_i) : sum w_i a_i = alpha }: the optimal split of alpha over known targets.

    At the optimum all targets are tested at the same threshold of the likelihood ratio, the common slope of their curves.
    So the edges of all the curves, scaled by their weights, are sorted by slope: exact for polygons. Other
    curves are put between two polygons first, by both ends of their bounds, which adds an error of second order in the
    width of a sample.

    Args:
        curves: the trade-off function of each target, at least 1.
        weights: probability of each, shape (m,), >= 0, sum 1; None for equal ones.
        points: samples of each curve, >= 16.

    Returns:
        A `BoundedTradeOff`, between proven bounds; of polygons a `SampledTradeOff`, of a single curve that curve.

    Source: Leemann, Pawelczyk and Kasneci (2023), "Gaussian membership inference privacy", theorem 4.1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, mix
        >>> targets = [GaussianTradeOff(0.0), GaussianTradeOff(2.0)]
        >>> split = stochastic_composition(targets)
        >>> round(float(split.beta(0.1)), 5), round(float(mix(*targets, weights=[0.5, 0.5]).beta(0.1)), 5)
        (0.55865, 0.56812)
    """
    curves = list(member("curves", curves, (list, tuple), "a sequence of trade-off functions"))
    equal = np.full(len(curves), 1.0 / max(1, len(curves)))
    shares = distribution_over(curves, equal if weights is None else weights)
    count = whole("points", points, 16)
    used = [(curve, share) for curve, share in zip(curves, shares.tolist(), strict=True) if share > 0.0]
    if len(used) == 1:
        return used[0][0]
    laws = [(enclosing_laws(curve, count), share) for curve, share in used]
    rounding = max(result[2] for result, _ in laws)
    lower = _sorted_by_slope([(law[0], share) for law, share in laws], rounding, 1.0)
    upper = _sorted_by_slope([(law[1], share) for law, share in laws], rounding, -1.0)
    # The sorted edges of polygons are the curve.
    same = all(
        np.array_equal(getattr(lower, side), getattr(upper, side))
        for side in ("alpha", "complement", "corners", "tpr")
    )
    return upper if same else BoundedTradeOff(lower, upper)


def _sorted_by_slope(
    laws: list[tuple[PrivacyLossDistribution, float]], error: float, way: float
) -> SampledTradeOff:
    """Right to its slack; a corner at which products lost digits to underflow reveals more (`way` 1) or less (-1)."""
    losses = np.concatenate([law.losses for law, _ in laws])
    order = np.argsort(-losses, kind="stable")
    parts = [(law.out_masses, law.in_masses, law.out_only, law.in_only) for law, _ in laws]
    least = np.nextafter(0.0, 1.0)  # of a product, which is not 0
    out, inside, out_only, in_only = (
        [
            np.maximum(share * part[k], least * (part[k] > 0.0))
            for (_, share), part in zip(laws, parts, strict=True)
        ]
        for k in range(4)
    )
    out, inside = np.concatenate(out)[order], np.concatenate(inside)[order]
    slack = 2.0 * (error + EPS * (8 + out.size))
    corners = polygon(out, inside, float(sum(out_only)), float(sum(in_only)), 1e-13 + 2.0 * slack)
    moved = (
        np.where(
            (rate > 0.0) & (rate < LEAST_NORMAL), np.maximum(rate + side * way * TINY * out.size, 0.0), rate
        )
        for rate, side in zip(corners, (-1.0, 1.0, -1.0, 1.0), strict=True)
    )
    return SampledTradeOff.from_points(*moved, slack=slack)
