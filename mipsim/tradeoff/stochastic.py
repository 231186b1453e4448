"""Stochastic composition: the attacker sees the random target, and splits the FPR over the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mipsim._memory import fits_memory
from mipsim._validation import finite_vector, member, whole
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS, LEAST_NORMAL, TINY
from mipsim.tradeoff.enclosing import enclosing_laws
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff


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


def stochastic_composition(
    curves: Sequence[AbstractTradeOff],
    weights: object = None,
    *,
    points: int = 1 << 15,
    weights_off: float = 0.0,
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
        weights_off: relative error of each weight.

    Returns:
        A `BoundedTradeOff`, between proven bounds; of polygons a `SampledTradeOff`, of a single curve that curve.

    Source: Leemann, Pawelczyk and Kasneci (2023), "Gaussian membership inference privacy", theorem 4.1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> targets = [GaussianTradeOff(0.0), GaussianTradeOff(2.0)]
        >>> round(float(stochastic_composition(targets).beta(0.1)), 4)  # 0.5681 at the same FPR for each
        0.5587
    """
    curves = list(member("curves", curves, (list, tuple), "a sequence of trade-off functions"))
    equal = np.full(len(curves), 1.0 / max(1, len(curves)))
    shares = distribution_over(curves, equal if weights is None else weights)
    count = whole("points", points, 16)
    used = [(curve, share) for curve, share in zip(curves, shares.tolist(), strict=True) if share > 0.0]
    if len(used) == 1:
        return used[0][0]
    fits_memory(64 * len(used) * count, points=count)
    laws = [(enclosing_laws(curve, count), share) for curve, share in used]
    rounding = max(result[2] for result, _ in laws) + 2.0 * weights_off
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
