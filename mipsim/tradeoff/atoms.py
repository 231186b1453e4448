"""Curves that are polygons, and the exact composition of their few atoms."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from mipsim._powers import repeated
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff, through_corners
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution, merged
from mipsim.tradeoff.sampled import SampledTradeOff, mixed

_LARGEST_PRODUCT = 1 << 21  # pairs of atoms: 16 MB an array
_EQUAL = 1e-12  # losses this near, relative to the largest, are one atom
Law = PrivacyLossDistribution


@singledispatch
def as_polygon(curve: AbstractTradeOff) -> SampledTradeOff | None:
    """The curve as its corners when it is a convex polygon, else None.

    Examples:
        >>> as_polygon(ApproxDPTradeOff(0.0, 0.5)).alpha.tolist()
        [0.0, 0.25, 0.5]
    """
    return None


as_polygon.register(SampledTradeOff, lambda curve: curve)
as_polygon.register(PiecewiseLinearTradeOff, through_corners)


@as_polygon.register
def _(curve: ApproxDPTradeOff) -> SampledTradeOff | None:
    open_mass = 1.0 - curve.at_delta
    corner = open_mass / (1.0 + np.exp(curve.at_epsilon))
    rest = (curve.at_delta + np.exp(curve.at_epsilon)) / (1.0 + np.exp(curve.at_epsilon))
    values = (
        [0.0, corner, open_mass],
        [1.0, rest, curve.at_delta],
        [open_mass, corner, 0.0],
        [curve.at_delta, rest, 1.0],
    )
    return SampledTradeOff.from_points(*(np.array(v) for v in values))


@as_polygon.register
def _(curve: MixtureTradeOff) -> SampledTradeOff | None:
    inner = as_polygon(curve.inner)
    return None if inner is None else mixed(inner, curve.sampling_rate)


def product(first: Law | None, second: Law | None) -> Law | None:
    """The law of the sum of two independent losses, equal ones merged; None if it has too many atoms, or one of them had.

    Examples:
        >>> law = PrivacyLossDistribution([1.0, -1.0], [0.26894142, 0.73105858], [0.73105858, 0.26894142])
        >>> product(law, law).losses.round(9).tolist()
        [2.0, 0.0, -2.0]
    """
    if first is None or second is None or first.losses.size * second.losses.size > _LARGEST_PRODUCT:
        return None
    sums = np.add.outer(first.losses, second.losses).ravel()
    order = np.argsort(-sums, kind="stable")
    losses = sums[order]
    out = np.multiply.outer(first.out_masses, second.out_masses).ravel()[order]
    inside = np.multiply.outer(first.in_masses, second.in_masses).ravel()[order]
    losses, out, inside = merged(losses, out, inside, _EQUAL * np.abs(losses).max(initial=1.0))
    out_only = first.out_only + second.out_only - first.out_only * second.out_only
    in_only = first.in_only + second.in_only - first.in_only * second.in_only
    return PrivacyLossDistribution(losses, out, inside, out_only, in_only)


def exact_power(law: Law, copies: int) -> Law | None:
    """The law of the sum of `copies` independent losses by repeated squaring; None if it has too many atoms.

    Examples:
        >>> law = PrivacyLossDistribution([1.0, -1.0], [0.26894142, 0.73105858], [0.73105858, 0.26894142])
        >>> exact_power(law, 5).losses.size
        6
    """
    return repeated(law, copies, product)


@as_polygon.register
def _(curve: GaussianTradeOff) -> SampledTradeOff | None:
    ends = np.array([0.0, 1.0])
    return SampledTradeOff.from_points(ends, ends[::-1], ends[::-1], ends) if curve.mu == 0.0 else None
