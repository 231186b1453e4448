"""Putting a privacy-loss distribution on a regular grid of losses, to either side of the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution, split_masses

_ON_THE_GRID = 1e-7  # cells: losses this near a grid point are taken to be on it


@dataclass(frozen=True, eq=False)
class GridLaw:
    """Masses at the losses offset + (first + i) step, i = 0, 1, ..., in both worlds, and what reveals the world.

    Attributes:
        first: index of the first loss.
        offset: loss of index 0.
        out_masses, in_masses: shape (m,), by rising loss.
        out_only, in_only: masses at -inf and at +inf.
    """

    first: int
    offset: float
    out_masses: np.ndarray
    in_masses: np.ndarray
    out_only: float
    in_only: float


@dataclass(frozen=True)
class LossGrid:
    """The losses offset + k step for low <= k <= high."""

    step: float
    low: int
    high: int
    offset: float = 0.0

    def places(self, law: PrivacyLossDistribution) -> np.ndarray:
        """Losses in cells, whole numbers where they are on the grid but for rounding."""
        place = (law.losses - self.offset) / self.step
        nearest = np.round(place)
        return np.where(np.abs(place - nearest) < _ON_THE_GRID, nearest, place)

    def moved(self, law: PrivacyLossDistribution) -> float:
        """How far `places` moves losses, on average over both worlds together."""
        shift = np.abs(self.places(law) * self.step + self.offset - law.losses)
        near = shift < 2.0 * _ON_THE_GRID * self.step
        return float((shift * near * (law.in_masses + law.out_masses)).sum())


def pessimistic(law: PrivacyLossDistribution, grid: LossGrid) -> GridLaw:
    """The law split over the grid points around each loss: it reveals more, and keeps both masses of each atom.

    A loss beyond an end of the grid is split between that end and the infinity beyond.

    Source: Doroshenko et al. (2022), "Connect the dots": this is their pessimistic estimate.

    Examples:
        >>> law = PrivacyLossDistribution([0.5, -0.5], [0.37754067, 0.62245933], [0.62245933, 0.37754067])
        >>> pessimistic(law, LossGrid(1.0, -2, 2)).in_masses.round(4).tolist()
        [0.0, 0.1425, 0.47, 0.3875, 0.0]
    """
    low, high, size = grid.low, grid.high, grid.high - grid.low + 1
    place = grid.places(law)
    below = np.clip(np.floor(place), low - 1, high).astype(np.int64)
    up = np.where(below >= high, np.inf, (below + 1 - place) * grid.step)
    down = np.where(below < low, np.inf, (place - below) * grid.step)
    up, down = split_masses(law.out_masses, law.in_masses, up, down)
    out, inside = (
        np.bincount(below - low + 2, raised, size + 2) + np.bincount(below - low + 1, lowered, size + 2)
        for raised, lowered in zip(up, down, strict=True)
    )
    out_only, in_only = law.out_only + float(out[0]), law.in_only + float(inside[-1])
    return GridLaw(low, grid.offset, out[1:-1], inside[1:-1], min(1.0, out_only), min(1.0, in_only))


def optimistic(law: PrivacyLossDistribution, grid: LossGrid) -> GridLaw:
    """The law with outcomes merged until each merged loss lies on the grid: it reveals less.

    From the largest loss on, outcomes are merged up to the point where their common likelihood ratio is the next
    grid point; an outcome at the border is divided by a coin. What remains in the end keeps its out mass and loses the
    in mass that is more than its grid point allows, which reveals less still.

    Source: Doroshenko et al. (2022), "Connect the dots", for optimistic estimates on a grid; merging is
    post-processing.

    Examples:
        >>> law = PrivacyLossDistribution([0.5, -0.5], [0.37754067, 0.62245933], [0.62245933, 0.37754067])
        >>> optimistic(law, LossGrid(1.0, -2, 2)).in_masses.round(4).tolist()
        [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    low, size = grid.low, grid.high - grid.low + 1
    out, inside = np.zeros(size), np.zeros(size)
    places, outs, ins = grid.places(law).tolist(), law.out_masses.tolist(), law.in_masses.tolist()
    m, i, k, lost = len(places), 0, grid.high, 0.0
    while i < m:
        k = min(k, math.floor(places[i]))
        if k < low:
            lost = sum(outs[i:])  # too rare for the grid: the in mass is dropped
            break
        taken_out = taken_in = excess = 0.0  # excess: of the in mass over e^loss times the out mass
        while i < m and places[i] >= k:
            taken_out, taken_in = taken_out + outs[i], taken_in + ins[i]
            excess -= ins[i] * math.expm1((k - places[i]) * grid.step)
            i += 1
        while i < m and excess > 0.0:
            shortage = ins[i] * math.expm1(min((k - places[i]) * grid.step, 700.0))
            share = min(1.0, excess / shortage) if shortage > 0.0 else 1.0
            taken_out, taken_in = taken_out + share * outs[i], taken_in + share * ins[i]
            if share < 1.0:
                outs[i], ins[i], excess = (1.0 - share) * outs[i], (1.0 - share) * ins[i], 0.0
            else:
                excess, i = excess - shortage, i + 1
        out[k - low], inside[k - low] = taken_out, max(0.0, taken_in - max(excess, 0.0))
        k -= 1
    return GridLaw(low, grid.offset, out, inside, min(1.0, law.out_only + lost), law.in_only)
