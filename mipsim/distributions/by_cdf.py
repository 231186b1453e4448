"""What follows from the distribution function of a single coordinate alone: cells with exact masses, and the transform of a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TypeVar

import jax
import numpy as np

from mipsim.distributions.base import AbstractDistribution, AbstractWithCDF

Law = TypeVar("Law", bound=AbstractDistribution)
CDF_ERROR = 1e-14
"""How far a distribution function that a user gives may be from the truth, absolutely."""

_WIDEST = 2.0**16  # standard deviations from the mean: beyond them cells would be too wide to be of use
_CELLS = 2**15  # of a transform's density
_MOST_BITS = 20  # log2 of the points of a Fourier transform
_LOWEST = 100  # frequencies, of a circle of 16 deviations of the sum: beyond it is less than e^-700


def coordinates_by_law(data: Law) -> tuple[list[Law], np.ndarray] | None:
    """One-dimensional distributions, and which of them each coordinate has, shape (d,).

    Coordinates with equal parameters share a distribution. None where neither `cdf` nor `characteristic` is given, or where a parameter
    is an array of another shape than (d,).

    Raises ValueError if a `cdf` is given and a parameter is an array of another shape than (d,).
    """
    by_cdf = isinstance(data, AbstractWithCDF)
    if not by_cdf and data.characteristic() is None:
        return None
    d = data.dimension
    arrays = [value for part in fields(data) if isinstance(value := getattr(data, part.name), np.ndarray)]
    wrong = [array.shape for array in arrays if array.shape != (d,)]
    if wrong or not arrays:
        if not by_cdf:
            return None
        raise ValueError(
            f"{type(data).__name__} has parameters of shapes {wrong}; with a cdf all must be vectors of shape ({d},)"
        )
    _, first, which = np.unique(np.stack(arrays, axis=1), axis=0, return_index=True, return_inverse=True)
    at = lambda j: jax.tree.map(lambda a: a[j : j + 1] if isinstance(a, np.ndarray) else a, data)  # noqa: E731
    return [at(j) for j in first], which.ravel()


@dataclass(frozen=True)
class Cells:
    """A one-dimensional distribution cut into cells of equal width."""

    left: float  # the left end of the first cell
    width: float
    masses: np.ndarray  # probabilities of the cells, shape (K,); they sum to 1 less `outside`
    outside: float  # probability below the first cell and above the last, and what rounding leaves unknown

    @property
    def middles(self) -> np.ndarray:
        """Middle of each cell, shape (K,)."""
        return self.left + self.width * (np.arange(self.masses.size) + 0.5)


def reach_of(law: AbstractWithCDF) -> tuple[float, float] | None:
    """(low, high) with all but some 1e-15 of the probability; None where the tails are too long.
    Raises ValueError if `cdf` has values outside [0, 1].
    """
    mean, sd = float(law.mean[0]), math.sqrt(float(law.variance[0]))
    if not (math.isfinite(mean) and 0.0 < sd < math.inf):
        return None
    ends = []
    for side in (-1.0, 1.0):
        away = 1.0
        while away < _WIDEST and _beyond(law, mean + side * away * sd, side) > 0.1 * CDF_ERROR:
            away *= 2.0
        if away >= _WIDEST:
            return None
        near = 0.5 * away if away > 1.0 else 0.0
        for _ in range(48):  # a bounded support ends somewhere between, and its density may jump there
            middle = 0.5 * (near + away)
            near, away = (
                (near, middle)
                if _beyond(law, mean + side * middle * sd, side) <= 0.1 * CDF_ERROR
                else (middle, away)
            )
        ends.append(mean + side * away * sd)
    return ends[0], ends[1]


def _beyond(law: AbstractWithCDF, x: float, side: float) -> float:
    below = float(values_of(law, np.array([x]))[0])
    return below if side < 0 else 1.0 - below


def values_of(law: AbstractWithCDF, x: np.ndarray) -> np.ndarray:
    """The distribution function of a one-dimensional distribution at x, shape of x.
    Raises ValueError if there is a value outside [0, 1], or it falls.
    """
    result = np.asarray(law.cdf(x[:, None]), float)
    name = f"{type(law).__name__}.cdf"
    if result.shape != (x.size, 1):
        raise ValueError(
            f"{name} returns shape {result.shape} for points of shape ({x.size}, 1); it must return the same shape"
        )
    if not ((result >= 0.0) & (result <= 1.0)).all():
        worst = int(np.argmin((result >= 0.0) & (result <= 1.0)))
        raise ValueError(f"{name} is {result.ravel()[worst]:g} at {x[worst]:g}; it must be in [0, 1]")
    if (np.diff(result[:, 0]) < -2.0 * CDF_ERROR).any():
        worst = int(np.argmin(np.diff(result[:, 0])))
        raise ValueError(
            f"{name} falls between {x[worst]:g} and {x[worst + 1]:g}; a distribution function must not fall"
        )
    return result[:, 0]


def cells_of(law: AbstractWithCDF, left: float, width: float, count: int) -> Cells:
    """Cut a one-dimensional distribution into `count` cells.
    Raises ValueError if `cdf` is no distribution function.
    """
    values = np.maximum.accumulate(values_of(law, left + width * np.arange(count + 1)))
    masses = np.diff(values)
    outside = float(values[0] + (1.0 - values[-1]))
    return Cells(left, width, masses, outside + 2.0 * CDF_ERROR)


@dataclass(frozen=True)
class CharacteristicByCDF:
    """u -> E exp(i u (X - mean)) at u = k u_1 for whole k, as a Fourier transform orders them.

    Masses of cells are those of the density blurred by a cell, and the blur is taken out again; what is left is the
    transform beyond the frequency 2 pi / width.
    """

    law: AbstractWithCDF  # one-dimensional, with a `cdf`
    reach: tuple[float, float]  # `reach_of` it

    def __call__(self, u: np.ndarray) -> np.ndarray:
        if u.size < 2:
            return np.ones(u.shape, complex)
        first, (low, high) = float(u[1]), self.reach
        k = np.rint(u / first).astype(np.int64)
        wished = math.ceil(math.log2(_CELLS * 2.0 * np.pi / (first * (high - low))))
        result = self._by_fft(k, first, 1 << min(max(wished, 10), _MOST_BITS))
        if wished > _MOST_BITS:
            # Cells of the transform are wide; of so many rows only the lowest frequencies count.
            lowest = np.abs(k) <= _LOWEST
            result[lowest] = self._directly(u[lowest])
        return result

    def _by_fft(self, k: np.ndarray, first: float, points: int) -> np.ndarray:
        width = 2.0 * np.pi / (first * points)
        cells = cells_of(self.law, self.reach[0], width, math.ceil((self.reach[1] - self.reach[0]) / width))
        masses = np.bincount(np.arange(cells.masses.size) % points, cells.masses, points)
        place = k % points
        half = np.conj(np.fft.rfft(masses))[np.minimum(place, points - place)]
        result = np.where(place <= points // 2, half, np.conj(half))
        return result * self._turned(k * first, cells)

    def _directly(self, u: np.ndarray) -> np.ndarray:
        width = (self.reach[1] - self.reach[0]) / _CELLS
        cells = cells_of(self.law, self.reach[0], width, _CELLS)
        # exp(i u (128 a + b) width) is a product: 384 exponentials a frequency instead of 32,768.
        turns = np.exp(1j * width * np.outer(u, 128.0 * np.arange(_CELLS // 128)))
        steps = np.exp(1j * width * np.outer(u, np.arange(128.0)))
        result = np.einsum("ua,ab,ub->u", turns, cells.masses.reshape(-1, 128), steps, optimize=True)
        return result * self._turned(u, cells)

    def _turned(self, u: np.ndarray, cells: Cells) -> np.ndarray:
        """From the first cell to the mean, without the blur, and with the variance that the distribution says it has."""
        masses = cells.masses / float(cells.masses.sum())
        middle = float(masses @ cells.middles)
        variance = float(masses @ np.square(cells.middles - middle)) - cells.width**2 / 12.0
        less = 0.5 * (variance - float(self.law.variance[0])) * np.square(u)
        return np.exp(1j * u * (float(cells.middles[0]) - middle) + less) / np.sinc(
            u * cells.width / (2.0 * np.pi)
        )
