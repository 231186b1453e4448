"""Powers of measures on a lattice by tilted Fourier transforms, with a bound on all that the computation changes.

A measure w on the losses offset + k step is tilted, w_k e^(theta loss_k), so that the part of its power that is requested is
the common part: a transform is right to a share of the largest value, and after the tilt that share is small there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

UNIT = 2.0**-53
LEVEL = 16.0 * UNIT
"""What rounding makes of a transform for each doubling of its points, doubled, relative to the sum of the moduli of the
inputs, which each output takes by a product a level (Higham 2002, theorem 24.2)."""
_UNDERFLOW = 1e-300
"""More than tilts that underflow take from a sum."""
_CUTOFF = 50.0
"""Frequencies at which the power is below e^-50 are left out: all together they move a mass by less than 2e-22."""
_FINE = 32
"""Points of a coarse transform for each place of a measure's range."""


@dataclass(frozen=True, eq=False)
class Measure:
    """Masses on the losses offset + index step, tilted: mass = weights e^(log_scale - theta loss)."""

    index: np.ndarray  # places, whole numbers, rising, shape (m,)
    weights: np.ndarray  # tilted masses, >= 0, sum 1, shape (m,)
    offset: float  # loss of index 0
    step: float  # of the lattice, > 0
    theta: float  # the tilt
    log_scale: float  # logarithm of the sum of the tilted masses before they were scaled

    def log_ratio(self, shift: float) -> float:
        """Log of the moment at theta + shift over that at theta."""
        exponents = shift * (self.offset + self.index * self.step)
        seen = self.weights > 0.0
        top = float(exponents[seen].max())
        return top + math.log(float(self.weights[seen] @ np.exp(exponents[seen] - top)))


Terms = Sequence[tuple[Measure, int]]


@dataclass(frozen=True)
class Circle:
    """The lattice points low, ..., low + size - 1, on which sums are taken modulo size, in blocks of equal length."""

    low: int  # first place of the sum
    size: int  # places, blocks times a whole number
    blocks: int  # how many blocks the tails are computed at


class Power:
    """The sum of independent terms, tilted, on a circle.
    `terms`: measures of the same step and tilt, and how often each is added; `circle`: where the sum is computed; a power
    of two of blocks at least; `shifts`: two distances of tilts, > 0, by which Chernoff's bound tells what lies below the
    circle and above it.
    """

    def __init__(self, terms: Terms, circle: Circle, shifts: tuple[float, float]) -> None:
        first = terms[0][0]
        self.step, self.theta, self.circle = first.step, first.theta, circle
        self.offset = sum(count * term.offset for term, count in terms)
        self.log_scale = math.fsum(count * term.log_scale for term, count in terms)
        size, level = circle.size, LEVEL * math.log2(circle.size)
        turned = 0
        parts: list[tuple[Any, float, int]] = []
        slack = 0.0
        nonnegligible: np.ndarray | None = None
        for term, count in sorted(terms, key=lambda pair: -pair[1]):
            centre = round(float(term.weights @ term.index))
            turned += count * centre
            # Rounding of the tilted weights: of exponents, relative to themselves.
            exponent = np.abs(np.log(np.maximum(term.weights, 1e-300))) + 8.0
            off = level + UNIT * float(term.weights @ exponent) * 4.0
            places = term.index - centre
            if nonnegligible is None:
                nonnegligible = _candidates(places, term.weights, count, size)
            wave = _waves(places, term.weights, nonnegligible, size)
            least = max(0.0, math.exp(-_CUTOFF / count) - off)
            stays = wave.real**2 + wave.imag**2 > least * least
            nonnegligible = nonnegligible[stays]
            parts = [(part[stays], error, times) for part, error, times in [*parts, (wave, off, count)]]
            slack += count * off
        assert nonnegligible is not None
        power: Any = np.zeros(nonnegligible.size, complex)
        error = np.zeros(nonnegligible.size)
        for value, off, count in parts:
            square = value.real**2 + value.imag**2
            radius = np.sqrt(np.maximum(square, 1e-300))
            logs = np.log(radius) + 1j * np.arctan2(value.imag, value.real)
            power += count * logs
            error += count * np.log1p(off / radius) + 4.0 * UNIT * (count * np.abs(logs) + 4.0)
        self._nonnegligible, size_of = nonnegligible, np.exp(power.real)
        phase = 2.0 * np.pi / size * ((nonnegligible * ((circle.low - turned) % size)) % size)
        self._power = np.exp(power + 1j * phase)
        self._wrong = size_of * np.expm1(np.minimum(error + 16.0 * UNIT, 700.0))
        self._neglected = math.exp(-_CUTOFF + slack) + 1e-290
        # Transformed back at parts of blocks: as many as frequencies are nonnegligible, each of a whole number of places.
        furthest = int(nonnegligible[-1]) if nonnegligible.size else 0
        self.blocks, self.stride = circle.blocks, circle.size // circle.blocks
        self._parts = next(
            parts
            for parts in range(1, self.stride + 1)
            if self.stride % parts == 0 and (self.blocks * parts > 2 * furthest + 1 or parts == self.stride)
        )
        self.starts = circle.low + self.stride * np.arange(self.blocks + 1)
        self.losses = self.offset + self.step * self.starts
        # Sums are given relative to the midst of the tilted law, which a circle with a single long tail has near an end.
        mean = sum(count * float(term.weights @ term.index) for term, count in terms)
        nearest = round((mean - circle.low) / self.stride)
        self.centre = float(self.losses[min(max(nearest, 0), self.blocks)])
        self._places: tuple[np.ndarray, float, float] | None = None
        self._outside(terms, shifts)

    def _outside(self, terms: Terms, shifts: tuple[float, float]) -> None:
        low, high = float(self.losses[0]), float(self.losses[-1])
        down, up = shifts
        self._shifts = shifts
        self._log_below = math.fsum(n * term.log_ratio(-down) for term, n in terms) + down * low
        self._log_above = math.fsum(n * term.log_ratio(up) for term, n in terms) - up * high
        self._alias = math.exp(min(0.0, self._log_below)) + math.exp(min(0.0, self._log_above))

    def _blocks(self, slope: float) -> tuple[np.ndarray, float, float]:
        """Sums of w_k e^(slope (loss_k - loss of its block)) over each block, a bound on the error of each, and a bound on
        the root of the sum of their squares, but for neglected frequencies.

        A transform keeps sums of squares, and so bounds many errors together better than each (Higham 2002, theorem 24.2).
        """
        size, places, stride = self.circle.size, self.blocks * self._parts, self.stride // self._parts
        if stride > 1 or self._places is None:
            share = np.ones(self._nonnegligible.shape)
            if stride > 1:
                z = slope * self.step + 2j * np.pi * self._nonnegligible / size
                with np.errstate(invalid="ignore", divide="ignore"):
                    share = np.where(z == 0.0, float(stride), _expm1(stride * z) / _expm1(z))
            spectrum = np.zeros(places // 2 + 1, complex)
            spectrum[self._nonnegligible] = self._power * share
            sums = np.asarray(scipy.fft.irfft(spectrum, places)) * (places / size)
            sizes = np.abs(share)
            wrong, power = self._wrong * sizes, np.abs(self._power) * sizes
            wrong += (64.0 * UNIT + LEVEL * math.log2(places)) * power
            off = 1.01 * 2.0 / size * float(wrong.sum())
            norm = 1.01 * math.sqrt(2.0 * places) / size * float(np.linalg.norm(wrong))
            self._places = np.maximum(sums, 0.0), off, norm
        sums, off, norm = self._places
        if self._parts > 1:
            tilt = np.exp(slope * self.step * stride * np.arange(self._parts))
            sums = sums.reshape(self.blocks, self._parts) @ tilt
            off, norm = off * float(tilt.sum()), norm * float(np.linalg.norm(tilt))
        return sums, off, norm

    def _sides(self, slope: float) -> tuple[np.ndarray, np.ndarray, float, float, float]:
        relative, whole = self.losses - self.centre, float(self.stride)
        with np.errstate(over="ignore", invalid="ignore"):
            if slope:
                whole = abs(float(np.expm1(slope * self.step * whole)) / math.expm1(slope * self.step))
            tilt = np.exp(slope * relative)
            sums, off, norm = self._blocks(slope)
            return tilt, sums * tilt[:-1], off + self._neglected * whole, norm, self._neglected * whole

    def _summed(
        self, tilt: np.ndarray, growth: float, parts: np.ndarray, off: float, norm: float, rest: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sums from the first block on, and their errors, by the better of two bounds; a tilt is e^growth times the previous."""
        value, all_tilts = np.cumsum(parts), np.cumsum(tilt)
        # The root of the sum of squares, in closed form, since squares underflow.
        k = np.arange(1.0, tilt.size + 1.0)
        if growth:
            k = np.expm1(-2.0 * abs(growth) * k) / math.expm1(-2.0 * abs(growth))
        root = (tilt if growth > 0.0 else tilt[0]) * np.sqrt(k) * (1.0 + 1e-12)
        error = np.fmin(off * all_tilts, norm * root + rest * all_tilts) + _UNDERFLOW
        return value, error + 2.0 * UNIT * (self.blocks + self._parts + 8) * value

    def tails(self, slope: float) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Sums of w_k e^(slope (loss_k - centre)) from each block on upwards, and below each block, with bounds on their errors;
        shape (blocks + 1,).
        """
        tilt, parts, *errors = self._sides(slope)
        growth = slope * self.step * self.stride
        low, high = (float(self.losses[end] - self.centre) for end in (0, -1))
        down, up = self._shifts
        with np.errstate(over="ignore", invalid="ignore"):
            above, above_off = (
                np.append(end[::-1], 0.0) for end in self._summed(tilt[-2::-1], -growth, parts[::-1], *errors)
            )
            above_off += self._alias * np.maximum(tilt, tilt[-1])
            above_off += _exp(self._log_above + slope * high if up >= slope else math.inf)
            below, below_off = (
                np.append(0.0, end) for end in self._summed(tilt[:-1], growth, parts, *errors)
            )
            below_off += self._alias * np.maximum(tilt, tilt[0])
            below_off += _exp(self._log_below + slope * low if down >= -slope else math.inf)
        return (above, above_off), (below, below_off)


def _candidates(places: np.ndarray, weights: np.ndarray, count: int, size: int) -> np.ndarray:
    """Frequencies k of a circle, from 0 to size / 2, at which the power may be above e^-`_CUTOFF`.

    A transform g of positive weights of sum 1 on places of the range R is looked at on a coarser circle. |g|^2 is a trigonometric
    polynomial of degree R between 0 and 1, so that |d arccos |g(t)| / dt| <= R / 2 (the inequality of Bernstein and Szego for 2 |g|^2 - 1).
    """
    span = int(places[-1] - places[0])
    ratio = 1
    while size % (2 * ratio) == 0 and size // (2 * ratio) >= _FINE * max(span, 1):
        ratio *= 2
    if ratio < 4:
        return np.arange(size // 2 + 1)
    coarse = size // ratio
    sizes = np.abs(np.asarray(scipy.fft.rfft(np.bincount(places % coarse, weights, coarse))))
    angle = np.arccos(np.minimum(sizes + LEVEL * math.log2(size), 1.0)) - 0.5 * span * math.pi / coarse
    near = np.flatnonzero(angle <= math.acos(math.exp(-_CUTOFF / count)) + 1e-6)
    # In order already; neighbours share an end. NumPy's `unique` would take longer than the transform.
    built = (ratio * near[:, None] + np.arange(-(ratio // 2), ratio // 2 + 1)).ravel()
    return built[(built >= 0) & (built <= size // 2) & (np.diff(built, prepend=-size) > 0)]


def _waves(places: np.ndarray, weights: np.ndarray, frequencies: np.ndarray, size: int) -> Any:
    """The transform of weights at frequencies of a circle: each by itself where that takes less time than all."""
    if frequencies.size * weights.size > size:
        return np.asarray(scipy.fft.rfft(np.bincount(places % size, weights, size)))[frequencies]
    turns = frequencies[:, None] * places % size
    # Added in pairs by NumPy, which loses less than a transform.
    return (np.exp((-2j * math.pi / size) * turns) * weights).sum(axis=1)


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 709.0 else math.inf


def _expm1(z: Any) -> np.ndarray:
    """e^z - 1 for complex z, right to a few units of itself."""
    built: Any = np.empty(z.shape, complex)
    growth = np.expm1(z.real)
    half = np.sin(0.5 * z.imag)
    built.real = growth * np.cos(z.imag) - 2.0 * half * half
    built.imag = (growth + 1.0) * np.sin(z.imag)
    return built
