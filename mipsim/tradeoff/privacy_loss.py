"""The distribution of the privacy loss: the log-likelihood ratio of in to out, under both worlds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mipsim._validation import finite_vector, number, real_array
from mipsim.tradeoff.points import Vector, polygon, rises
from mipsim.tradeoff.sampled import AbstractPolygon, SampledTradeOff

_MASS_ROUNDING = 1e-9  # of masses that a user has computed: they may miss a sum of 1 by so much
_EQUAL = 1e-13  # losses this near count as equal


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    """Atoms of the privacy loss l = log dP_in / dP_out, and the masses that reveal the world.

    A finite atom satisfies in_masses = e^l out_masses; both are stored, since either may be far below the other's
    rounding.

    Attributes:
        losses: strictly decreasing, finite, shape (m,).
        out_masses, in_masses: probabilities of each loss in the two worlds, shape (m,), >= 0; with the next two they sum to 1 (to 1e-9).
        out_only, in_only: probability of a loss of -inf in the world "out", of +inf in the world "in".

    Source: Sommer, Meiser and Mohammadi (2019), "Privacy loss classes".

    Examples:
        >>> response = PrivacyLossDistribution([1.0986, -1.0986], [0.25, 0.75], [0.75, 0.25])
        >>> response.tradeoff().advantage()
        0.5
    """

    losses: np.ndarray
    out_masses: np.ndarray
    in_masses: np.ndarray
    out_only: float = 0.0
    in_only: float = 0.0

    def __post_init__(self) -> None:
        losses = _vector("losses", self.losses)  # empty where two worlds have no common outcome
        if (np.diff(losses) >= 0).any():
            raise ValueError(
                "losses do not decrease strictly; they must be sorted from the largest to the least"
            )
        object.__setattr__(self, "losses", losses)
        for name, only in (("out_masses", "out_only"), ("in_masses", "in_only")):
            masses = _vector(name, getattr(self, name))
            if masses.size != losses.size:
                raise ValueError(
                    f"{name} has {masses.size} entries; it must have one for each of the {losses.size} losses"
                )
            if (masses < 0).any():
                raise ValueError(f"{name} holds {masses[masses < 0][0]:g}; every mass must be at least 0")
            rest = number(only, getattr(self, only), 0.0, 1.0)
            total = float(masses.sum()) + rest
            if abs(total - 1.0) > _MASS_ROUNDING:
                raise ValueError(f"{name} and {only} sum to {total:.12g}; they must sum to 1")
            object.__setattr__(self, name, masses)

    @classmethod
    def from_polygon(cls, curve: AbstractPolygon) -> PrivacyLossDistribution:
        """An atom for each edge of a convex polygon.

        Examples:
            >>> PrivacyLossDistribution.from_polygon(SampledTradeOff([0, 0.5, 1], [0.9, 0.1, 0])).in_only
            0.1
        """
        losses, out, inside = _edges(curve)
        return cls(*_merged(losses, out, inside), float(curve.complement[-1]), float(curve.tpr[0]))

    @classmethod
    def below_polygon(cls, curve: AbstractPolygon) -> PrivacyLossDistribution:
        """A distribution that reveals more than any whose curve passes through the corners of a polygon.

        Between two corners a convex curve stays above the neighbouring chords, prolonged until they meet: each edge goes
        to its two neighbours, which keeps its masses in both worlds, and the first and the last reveal the world by what
        they cannot keep. The distance from the curve is of second order in that of the samples.

        Examples:
            >>> law = PrivacyLossDistribution.below_polygon(SampledTradeOff([0, 0.25, 1], [1, 0.25, 0]))
            >>> round(law.in_only, 6)
            0.666667
        """
        losses, out, inside = _edges(curve)
        if losses.size == 0:
            return cls.from_polygon(curve)
        gaps = -np.diff(losses)
        up, down = split_masses(out, inside, np.append(np.inf, gaps), np.append(gaps, np.inf))
        out, inside = np.zeros(losses.size), np.zeros(losses.size)
        for total, raised, lowered in ((out, up[0], down[0]), (inside, up[1], down[1])):
            total[:-1] += raised[1:]
            total[1:] += lowered[:-1]
        out_only, in_only = float(curve.complement[-1] + down[0][-1]), float(curve.tpr[0] + up[1][0])
        return cls(*_merged(losses, out, inside), min(1.0, out_only), min(1.0, in_only))

    def tradeoff(self) -> SampledTradeOff:
        """The trade-off function of the distribution: its atoms are the edges, from the largest loss to the least.

        Examples:
            >>> PrivacyLossDistribution([0.0], [0.9], [0.9], 0.1, 0.1).tradeoff().corners.round(9).tolist()
            [0.9, 0.0]
        """
        corners = polygon(self.out_masses, self.in_masses, self.out_only, self.in_only)
        return SampledTradeOff.from_points(*corners)


def _vector(name: str, value: object) -> Vector:
    array = real_array(name, value)
    return array if array.shape == (0,) else finite_vector(name, array)


def split_masses(
    out: Vector, inside: Vector, up: Vector, down: Vector
) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    """Split atoms into an atom with a loss larger by `up` and an atom smaller by `down`, preserving both masses.

    With u = e^up - 1 and v = 1 - e^-down the share v / (u + v) of the out mass goes up, and (1 + u) v / (u + v) of
    the in mass. An infinite `up` takes in mass only, an infinite `down` out mass only.

    `out`: masses in the world "out", shape (m,); `inside`: masses in the world "in", shape (m,); `up`: distances to the
    larger loss, shape (m,), >= 0, inf allowed; `down`: distances to the smaller loss; where both are 0 all is sent down.
    Returns ((out, in) masses sent up, (out, in) masses sent down).

    >>> up, down = split_masses(np.ones(1), np.ones(1), np.log([2.0]), np.log([2.0]))
    >>> [part.round(6).tolist() for part in up + down]
    [[0.333333], [0.666667], [0.666667], [0.333333]]
    """
    u, v = np.expm1(np.minimum(up, 700.0)), -np.expm1(-np.asarray(down))
    sent = np.divide(v, u + v, out=np.zeros_like(u), where=u + v > 0)
    retained = np.divide(u, u + v, out=np.ones_like(u), where=u + v > 0)
    to_infinity = np.isinf(up)
    sent_out, retained_out = np.where(to_infinity, 0.0, sent), np.where(to_infinity, 1.0, retained)
    sent_in = np.where(to_infinity, v, (1.0 + u) * sent)
    retained_in = np.where(to_infinity, 1.0 - v, (1.0 - v) * retained)
    return (out * sent_out, inside * sent_in), (out * retained_out, inside * retained_in)


def _edges(curve: AbstractPolygon) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Losses, non-increasing, and (out, in) masses of the edges of a polygon."""
    out, inside = rises(curve.alpha, curve.complement, curve.corners, curve.tpr)
    sloped = (out > 0) & (inside > 0)
    out, inside = out[sloped], inside[sloped]
    return np.minimum.accumulate(np.log(inside) - np.log(out)), out, inside


def _merged(losses: Vector, out: Vector, inside: Vector) -> tuple[Vector, Vector, Vector]:
    """Atoms of equal losses, but for rounding, merged; those that are empty left out."""
    full = (out > 0) | (inside > 0)
    return merged(losses[full], out[full], inside[full], _EQUAL * np.maximum(1.0, np.abs(losses[full][1:])))


def merged(
    losses: Vector, out: Vector, inside: Vector, near: Vector | float
) -> tuple[Vector, Vector, Vector]:
    """Falling losses with their masses, neighbours at most `near` apart merged."""
    if losses.size == 0:
        return losses, out, inside
    starts = np.flatnonzero(np.concatenate([[True], -np.diff(losses) > near]))
    return losses[starts], np.add.reduceat(out, starts), np.add.reduceat(inside, starts)
