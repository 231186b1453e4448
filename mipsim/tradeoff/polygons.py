"""Curves that are polygons, and the exact composition of their few atoms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mipsim._powers import repeated
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, LEAST_NORMAL
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.points import polygon, rises
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution, merged
from mipsim.tradeoff.sampled import AbstractPolygon, SampledTradeOff, mixed
from mipsim.tradeoff.sure_mass import SureMass

_LARGEST_PRODUCT = 1 << 21  # pairs of atoms: 16 MB an array
_EQUAL = 1e-14  # losses this near, relative to the largest, are the same atom
_LEAST = 1e-300  # masses below it lose their digits
_RARE = 1e-100  # an atom with such a mass in either world is left out if the other is below this
Law = PrivacyLossDistribution


def as_polygon(curve: AbstractTradeOff) -> AbstractPolygon | None:
    """The curve as its corners when it is a convex polygon, else None.
    >>> as_polygon(ApproxDPTradeOff(0.0, 0.5)).alpha.tolist()
    [0.0, 0.25, 0.5]
    """
    match curve:
        case AbstractPolygon():
            return curve
        case GaussianTradeOff(mu=0.0):
            ends = np.array([0.0, 1.0])
            return SampledTradeOff.from_points(ends, ends[::-1], ends[::-1], ends)
        case ApproxDPTradeOff(at_epsilon=epsilon, at_delta=delta):
            open_mass = 1.0 - delta
            corner = open_mass / (1.0 + np.exp(epsilon))
            if 0.0 < corner < LEAST_NORMAL:
                return None
            rest = (delta + np.exp(epsilon)) / (1.0 + np.exp(epsilon))
            values = (
                [0.0, corner, open_mass],
                [1.0, rest, delta],
                [open_mass, corner, 0.0],
                [delta, rest, 1.0],
            )
            return SampledTradeOff.from_points(*(np.array(v) for v in values), slack=8.0 * EPS)
        case MixtureTradeOff(inner=within, sampling_rate=p) if (inner := as_polygon(within)) is not None:
            for rate, other in ((inner.tpr, inner.alpha), (inner.corners, inner.complement)):
                some = ((rate > 0.0) & (p > 0.0)) | ((other > 0.0) & (p < 1.0))
                if ((p * rate + (1.0 - p) * other)[some] < LEAST_NORMAL).any():
                    return None  # such a sum has no relative error: `vertices` has its logarithm
            return mixed(inner, p)
        case _:
            return None


def mass_error(corners: AbstractPolygon) -> float:
    """A bound on the relative error of each mass between neighbouring corners, whose own error is their `slack`.
    >>> mass_error(SampledTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0])) < 1e-14
    True
    """
    worst = 2.0 * EPS
    if corners.slack:
        sides = ((corners.alpha, corners.complement), (corners.tpr, corners.corners))
        for mass, (rate, other) in zip(rises(*sides[0], *sides[1][::-1]), sides, strict=True):
            size = np.minimum(rate, other)
            with np.errstate(divide="ignore", invalid="ignore"):
                worst += (
                    float(np.nan_to_num((size[1:] + size[:-1]) / mass, nan=np.inf).max(initial=0.0))
                    * corners.slack
                )
    return worst


class SummedLosses(NamedTuple):
    """The distribution of a sum of independent losses, and its rounding error."""

    law: Law
    masses: float  # bound on the relative error of each mass
    losses: float  # bound on the error of the losses by which atoms were sorted and merged
    lost: float = 0.0  # mass, in either world, of atoms that are too rare for float64, and are left out
    # largest, least: the losses of the largest and of the least atom, including an atom that is left out
    largest: float = -np.inf
    least: float = np.inf

    @classmethod
    def of(cls, corners: AbstractPolygon) -> SummedLosses:
        """The distribution of a polygon.
        >>> SummedLosses.of(SampledTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0])).law.losses.round(6).tolist()
        [0.405465, -0.693147]
        """
        law, error = Law.from_polygon(corners), mass_error(corners)
        logs = np.abs(np.log(np.maximum([law.out_masses, law.in_masses], 1e-320))).sum(axis=0)
        off = 4.0 * EPS * float(logs.max(initial=0.0)) + 2.0 * error
        joined = corners.alpha.size - 1 - law.losses.size  # edges of nearly the same slope
        moved = off + 1e-13 * joined * max(1.0, float(np.abs(law.losses).max(initial=0.0)))
        largest = float(law.losses.max(initial=corners.steepest)) + moved
        return cls(
            law, error, moved, corners.lost, largest, float(law.losses.min(initial=corners.flattest)) - moved
        )

    def tradeoff(self, sure: tuple[SureMass, SureMass] | None = None) -> SampledTradeOff:
        """The curve, whose corners are right to the errors of masses and losses, with sure masses to more digits.
        >>> SummedLosses.of(SampledTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0])).tradeoff().slack < 1e-13
        True
        """
        error = 2.0 * (self.masses + self.losses + EPS * (8 + self.law.losses.size))
        parts = (self.law.out_masses, self.law.in_masses, self.law.out_only, self.law.in_only)
        corners = polygon(*parts, error=1e-13 + 2.0 * error)
        if not self.lost:
            return SampledTradeOff.from_points(*corners, slack=error, sure=sure)
        return SampledTradeOff.from_points(
            *corners, slack=error, lost=1.01 * self.lost, losses=(self.largest, self.least), sure=sure
        )


def product(first: SummedLosses | None, second: SummedLosses | None) -> SummedLosses | None:
    """The distribution of the sum of two independent losses, equal losses merged; None if it has too many atoms, or either of them had.

    None also if an atom is below float64's range in either world and not rare in the other.

    >>> coin = SummedLosses(Law([1.0, -1.0], [0.26894142, 0.73105858], [0.73105858, 0.26894142]), 0.0, 0.0)
    >>> product(coin, coin).law.losses.round(9).tolist()
    [2.0, 0.0, -2.0]
    """
    if first is None or second is None:
        return None
    item, two = first.law, second.law
    if item.losses.size * two.losses.size > _LARGEST_PRODUCT:
        return None
    sums = np.add.outer(item.losses, two.losses).ravel()
    order = np.argsort(-sums, kind="stable")
    losses = sums[order]
    out = np.multiply.outer(item.out_masses, two.out_masses).ravel()[order]
    inside = np.multiply.outer(item.in_masses, two.in_masses).ravel()[order]
    near = _EQUAL * float(np.abs(losses).max(initial=0.0))
    terms = min(item.losses.size, two.losses.size)
    starts = (
        np.flatnonzero(np.concatenate([[True], -np.diff(losses) > near])) if losses.size else np.zeros(0, int)
    )
    apart = float((losses[starts] - losses[np.append(starts[1:], losses.size) - 1]).max(initial=0.0))
    losses, out, inside = merged(losses, out, inside, near)
    rare = np.minimum(out, inside) < _LEAST
    rarest = np.maximum(out, inside)[rare]
    if (rarest > _RARE).any():
        return None
    lost = first.lost + second.lost + float(rarest.sum()) + rarest.size * _LEAST
    losses, out, inside = losses[~rare], out[~rare], inside[~rare]
    out_only = item.out_only + two.out_only - item.out_only * two.out_only
    in_only = item.in_only + two.in_only - item.in_only * two.in_only
    return SummedLosses(
        Law(losses, out, inside, out_only, in_only),
        first.masses + second.masses + EPS * (4 + terms) + first.masses * second.masses,
        first.losses + second.losses + apart + 2.0 * EPS * near / _EQUAL,
        lost,
        first.largest + second.largest,
        first.least + second.least,
    )


def exact_power(law: SummedLosses, copies: int) -> SummedLosses | None:
    """The distribution of the sum of `copies` independent losses by repeated squaring; None if it has too many atoms.
    >>> coin = SummedLosses(Law([1.0, -1.0], [0.26894142, 0.73105858], [0.73105858, 0.26894142]), 0.0, 0.0)
    >>> exact_power(coin, 5).law.losses.size
    6
    """
    return repeated(law, copies, product)
