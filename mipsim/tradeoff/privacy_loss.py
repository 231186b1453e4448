"""The law of the privacy loss: the log-likelihood ratio of in to out, under both worlds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mipsim._validation import finite_vector, number
from mipsim.tradeoff.points import rises
from mipsim.tradeoff.sampled import SampledTradeOff

_MASS_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    """Atoms of the privacy loss l = log dP_in / dP_out, and the masses that reveal the world.

    A finite atom satisfies in_masses = e^l out_masses; both are kept, since one of them may be far below the other's
    rounding.

    Attributes:
        losses: strictly decreasing, finite, shape (m,).
        out_masses, in_masses: probabilities of each loss in the two worlds, shape (m,), >= 0.
        out_only, in_only: probability of a loss of -inf in the world "out", of +inf in the world "in".

    Raises:
        ValueError: if losses do not decrease, a mass is negative, or the masses of a world do not sum to 1 (1e-9).

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
        losses = np.asarray(self.losses, np.float64)
        if losses.size:  # two worlds without a common outcome have no finite loss
            losses = finite_vector("losses", losses)
            if (np.diff(losses) >= 0).any():
                raise ValueError("losses do not decrease strictly; they must be sorted from the largest to the least")
        object.__setattr__(self, "losses", losses)
        for name, only in (("out_masses", "out_only"), ("in_masses", "in_only")):
            masses = np.asarray(getattr(self, name), np.float64)
            if losses.size:
                masses = finite_vector(name, masses, losses.size)
            if (masses < 0).any():
                raise ValueError(f"{name} holds {masses[masses < 0][0]:g}; every mass must be at least 0")
            rest = number(only, getattr(self, only), 0.0, 1.0)
            total = float(masses.sum()) + rest
            if abs(total - 1.0) > _MASS_ROUNDING:
                raise ValueError(f"{name} and {only} sum to {total:.12g}; they must sum to 1")
            object.__setattr__(self, name, masses)

    @classmethod
    def from_polygon(cls, curve: SampledTradeOff) -> PrivacyLossDistribution:
        """One atom for each edge of a convex polygon.

        Examples:
            >>> PrivacyLossDistribution.from_polygon(SampledTradeOff([0, 0.5, 1], [0.9, 0.1, 0])).in_only.round(9)
            0.1
        """
        out, inside = rises(curve.alpha, curve.complement, curve.corners, curve.tpr)
        sloped = (out > 0) & (inside > 0)
        losses = np.log(inside[sloped]) - np.log(out[sloped])
        merged = np.concatenate([[True], np.diff(losses) < 0])[: losses.size]  # edges that rounding made parallel
        starts = np.flatnonzero(merged)
        out, inside = (np.add.reduceat(v[sloped], starts) if starts.size else v[:0] for v in (out, inside))
        losses = losses[starts]
        return cls(losses, out, inside, max(0.0, 1.0 - float(out.sum())) if curve.complement[-1] > 0 else 0.0, 0.0) \
            if False else cls(losses, out, inside, float(curve.complement[-1]), float(curve.tpr[0]))

    def spread_to_neighbours(self) -> PrivacyLossDistribution:
        """Move each atom to its two neighbours, so that its masses in both worlds are kept.

        The result is the least private law whose curve has the same corners: it reveals more, never less.
        """
        if self.losses.size == 0:
            return self
        ends = np.exp(self.losses)
        ratio = ends
        steeper = np.concatenate([[np.inf], ratio[:-1]])
        flatter = np.concatenate([ratio[1:], [0.0]])
        m = self.losses.size
        with np.errstate(invalid="ignore", divide="ignore"):
            up = (self.in_masses - flatter * self.out_masses) / (steeper - flatter)  # out mass sent to the left
        up = np.clip(np.where(np.isfinite(steeper), up, 0.0), 0.0, self.out_masses)
        down = self.out_masses - up
        down[-1] = 0.0
        if m == 1:
            return PrivacyLossDistribution(np.zeros(0), np.zeros(0), np.zeros(0), 1.0, 1.0)
        return self
