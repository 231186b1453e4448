"""Moments of many coordinates from few reference records: a covariance that is shrunk so that it can be inverted."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import solve_triangular

from mipsim._frozen import Frozen
from mipsim._validation import finite_matrix, number

_MOST_DENSE = 8192
"""Coordinates of a covariance that is written out as a matrix: half a gibibyte."""
_ZERO = 1e-12
"""Variances below this share of the largest are rounding: the reference does not vary there."""

_CONDITION = 1e-9
"""Of the trace: a ridge that is smaller leaves a Cholesky factor too few digits."""


class LowRankInverse(eqx.Module):
    """The inverse of `ridge` I + a matrix of low rank: v -> (v - axes' (share * (axes v))) / ridge.

    Source: Woodbury (1950).
    """

    axes: np.ndarray  # orthonormal rows, shape (k, d)
    share: np.ndarray  # in [0, 1), shape (k,)
    ridge: np.ndarray  # > 0, shape ()

    def apply(self, vector: Float[Array, " d"]) -> Float[Array, " d"]:
        """The inverse times a vector."""
        return (vector - ((self.axes @ vector) * self.share) @ self.axes) / self.ridge

    def matrix(self) -> np.ndarray:
        """The inverse written out, shape (d, d), d <= 8192."""
        d = _dense(self.axes.shape[1])
        return (np.eye(d) - (self.axes.T * self.share) @ self.axes) / self.ridge


class ShrunkMoments(Frozen):
    """Mean and covariance estimated from n0 reference records, the covariance shrunk towards a multiple of the identity.

    The covariance is weight S + ridge I, S the centred estimate with divisor n0. It is known by the axes along which the
    reference varies, at most n0 - 1, so that neither its matrix nor the inverse of d^2 numbers has to be made: d may be far above n0.

    Args:
        reference: records sampled independently of the game, shape (n0, d), n0 >= 2.
        ridge: "ledoit-wolf", the weight and ridge that minimise the expected squared error of all entries, estimated from the
            same records; or a number >= 0, in the units of the data squared, added to the diagonal (weight 1).

    Attributes:
        mean: shape (d,).
        axes: orthonormal rows, shape (k, d): S varies along these only. They are computed where they are first read.
        spread: the variances of S along them, shape (k,), computed with them.
        weight: of S.
        ridge: added to the diagonal.

    Raises:
        ValueError: if the covariance is singular: ridge = 0 where the reference does not vary along all coordinates (always
            where n0 <= d), 'ledoit-wolf' of two records, for which it is 0, or all records equal.

    Source: Ledoit & Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices"; Azize & Basu (2025),
        algorithm 3, which prints the estimate without regularisation, singular for n0 <= d.

    Examples:
        >>> reference = np.random.default_rng(0).normal(size=(20, 50))
        >>> moments = ShrunkMoments(reference)
        >>> moments.mean.shape, moments.axes.shape, round(moments.weight, 2)
        ((50,), (19, 50), 0.13)
        >>> moments
        ShrunkMoments(20 records of 50 coordinates, weight=0.1321, ridge=0.7876)
        >>> ShrunkMoments(reference, ridge=0.0)
        Traceback (most recent call last):
        ...
        ValueError: reference has 20 records of 50 coordinates and varies along 19 of them only: its covariance is singular; give ridge > 0 or 'ledoit-wolf'
    """

    mean: np.ndarray
    weight: float
    ridge: float
    _shifted: np.ndarray
    _gram: np.ndarray

    def __init__(self, reference: object, ridge: float | Literal["ledoit-wolf"] = "ledoit-wolf") -> None:
        records = finite_matrix("reference", reference)
        count, d = records.shape
        if count < 2:
            raise ValueError(f"reference has {count} record; a covariance needs at least 2")
        self.mean = records.mean(axis=0)
        self._shifted = shifted = records - self.mean
        # The smaller of the two Gram matrices: at most min(n0, d) numbers on a side.
        with np.errstate(over="ignore", invalid="ignore"):
            self._gram = shifted @ shifted.T if count <= d else shifted.T @ shifted
            variance = np.trace(self._gram) / count / d
        if (records == records[0]).all():
            raise ValueError("reference has equal records; a covariance needs records that differ")
        if not np.finfo(float).tiny < variance < np.inf:
            raise ValueError(
                f"reference has records that lie up to {abs(shifted).max():.2g} from their mean, which has no square in float64; scale it"
            )
        if ridge == "ledoit-wolf":
            intensity, level = _ledoit_wolf(shifted, self._gram, d)
            self.weight, self.ridge = 1.0 - intensity, intensity * level
        else:
            self.weight, self.ridge = 1.0, number("ridge", ridge, 0.0)
        if self.ridge == 0.0 and self.spread.size < d:
            other = "" if ridge == "ledoit-wolf" else " or 'ledoit-wolf'"
            raise ValueError(
                f"reference has {count} records of {d} coordinates and varies along {self.spread.size} of them only: its covariance is "
                f"singular; give ridge > 0{other}"
            )

    def __repr__(self) -> str:
        count, d = self._shifted.shape
        return f"ShrunkMoments({count} records of {d} coordinates, weight={self.weight:.4g}, ridge={self.ridge:.4g})"

    @cached_property
    def _eigen(self) -> tuple[np.ndarray, np.ndarray]:
        """(axes, spread), from the Gram matrix."""
        values, vectors = np.linalg.eigh(self._gram)
        varies = values > _ZERO * values[-1]
        values, axes = values[varies], vectors.T[varies]
        if len(self._shifted) <= self.mean.size:
            axes = axes @ self._shifted / np.sqrt(values)[:, None]
        return axes, values / len(self._shifted)

    @property
    def axes(self) -> np.ndarray:
        """Orthonormal rows, shape (k, d)."""
        return self._eigen[0]

    @property
    def spread(self) -> np.ndarray:
        """The variances of S along the axes, shape (k,)."""
        return self._eigen[1]

    @property
    def covariance(self) -> np.ndarray:
        """The matrix weight S + ridge I, shape (d, d), d <= 8192."""
        d = _dense(self.mean.size)
        return (self.axes.T * (self.weight * self.spread)) @ self.axes + self.ridge * np.eye(d)

    @property
    def inverse(self) -> LowRankInverse | np.ndarray:
        """The inverse of the covariance; a matrix where there is no ridge."""
        if self.ridge == 0.0:
            return (self.axes.T / self.spread) @ self.axes
        share = self.weight * self.spread / (self.weight * self.spread + self.ridge)
        return LowRankInverse(self.axes, share, np.asarray(self.ridge))

    def inverse_matrix(self) -> np.ndarray:
        """The inverse written out, shape (d, d), d <= 8192: by a Cholesky factor, which takes a third of the time of the axes.

        Examples:
            >>> print(ShrunkMoments([[1.0, 0.0], [-1.0, 0.0]], ridge=0.5).inverse_matrix())  # variances 1 and 0
            [[0.66666667 0.        ]
             [0.         2.        ]]
        """
        count, d = self._shifted.shape
        share = self.weight / count
        if self.ridge < _CONDITION * share * np.trace(self._gram):
            known = self.inverse
            return known.matrix() if isinstance(known, LowRankInverse) else known
        unit = np.eye(_dense(d))
        root = np.linalg.cholesky(share * self._gram + self.ridge * np.eye(len(self._gram)))
        half = solve_triangular(root, self._shifted if count <= d else unit, lower=True, check_finite=False)
        # Woodbury (1950), where the factor is that of the records' own Gram matrix.
        return (unit - share * (half.T @ half)) / self.ridge if count <= d else half.T @ half

    def mahalanobis_squared(self, points: object) -> np.ndarray:
        """||point - mean||^2 in the inverse covariance, a number without unit, of each row of points: shape (N, d) -> (N,).

        Examples:
            >>> moments = ShrunkMoments([[1.0, 0.0], [-1.0, 0.0]], ridge=0.5)  # variances 1 and 0
            >>> print(moments.mahalanobis_squared([[3.0, 1.0]]))
            [8.]
        """
        shifted = finite_matrix("points", points, self.mean.size) - self.mean
        along = shifted @ self.axes.T
        inside = np.sum(along**2 / (self.weight * self.spread + self.ridge), axis=1)
        if self.ridge == 0.0:
            return inside
        outside = np.sum(shifted**2, axis=1) - np.sum(along**2, axis=1)
        return inside + np.maximum(outside, 0.0) / self.ridge


def _dense(d: int) -> int:
    if d > _MOST_DENSE:
        raise ValueError(f"covariance has {d} x {d} entries; use `inverse`, which does not write them out")
    return d


def _ledoit_wolf(shifted: np.ndarray, gram: np.ndarray, d: int) -> tuple[float, float]:
    """(how much of the identity, its level) of Ledoit and Wolf's estimate, from centred records and a Gram matrix of theirs."""
    count = len(shifted)
    level = float(np.trace(gram)) / count / d
    scaled = gram / (count * level)  # whose squares do not overflow
    squares = float(np.vdot(scaled, scaled))
    distance = squares - d
    if distance <= 0.0:  # S is a multiple of the identity already
        return 0.0, level
    noise = (float(np.mean((np.sum(shifted**2, axis=1) / level) ** 2)) - squares) / count
    # Two records are as far from their mean in either direction: what is left of their noise is rounding, of either sign.
    return (min(noise, distance) / distance if noise > _ZERO * squares else 0.0), level
