"""Stochastic composition: the attacker is shown which target was drawn, and splits the FPR over the targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mipsim._validation import whole
from mipsim.tradeoff.averaged import distribution_over
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.compose import enclosure
from mipsim.tradeoff.points import polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff


def stochastic_composition(
    curves: Sequence[AbstractTradeOff], weights: object = None, *, points: int = 1 << 15
) -> AbstractTradeOff:
    """h(alpha) = min { sum w_i f_i(a_i) : sum w_i a_i = alpha }: the optimal split of alpha over known targets.

    At the optimum all targets are tested at one threshold of the likelihood ratio, the common slope of their curves.
    So the edges of all the curves, scaled by their weights, are sorted by slope: exact for polygons. Other
    curves are put between two polygons first, with an error of second order in the width of a sample.

    Args:
        curves: the trade-off function of each target, at least one.
        weights: probability of each, shape (m,), >= 0, sum 1; None for equal ones.
        points: samples of each curve, >= 16.

    Returns:
        A `BoundedTradeOff`, between certified bounds; of one curve, that curve.

    Source: Leemann, Pawelczyk and Kasneci (2023), "Gaussian membership inference privacy", theorem 4.1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, mix
        >>> targets = [GaussianTradeOff(0.0), GaussianTradeOff(2.0)]
        >>> split = stochastic_composition(targets)
        >>> round(float(split.beta(0.1)), 5), round(float(mix(*targets, weights=[0.5, 0.5]).beta(0.1)), 5)
        (0.55865, 0.56812)
    """
    curves = list(curves)
    shares = distribution_over(
        curves, np.full(len(curves), 1.0 / max(1, len(curves))) if weights is None else weights
    )
    count = whole("points", points, 16)
    used = [(curve, share) for curve, share in zip(curves, shares.tolist(), strict=True) if share > 0.0]
    if len(used) == 1:
        return used[0][0]
    enclosures = [(enclosure(curve, count), share) for curve, share in used]
    lower = _sorted_by_slope([(e.lower, share) for e, share in enclosures])
    upper = _sorted_by_slope([(e.upper, share) for e, share in enclosures])
    rounding = sum(share * e.rounding for e, share in enclosures) + 1e-15
    return BoundedTradeOff(lower, upper, rounding)


def _sorted_by_slope(laws: list[tuple[PrivacyLossDistribution, float]]) -> SampledTradeOff:
    losses = np.concatenate([law.losses for law, _ in laws])
    order = np.argsort(-losses, kind="stable")
    out = np.concatenate([share * law.out_masses for law, share in laws])[order]
    inside = np.concatenate([share * law.in_masses for law, share in laws])[order]
    out_only = sum(share * law.out_only for law, share in laws)
    in_only = sum(share * law.in_only for law, share in laws)
    return SampledTradeOff.from_points(*polygon(out, inside, out_only, in_only))
