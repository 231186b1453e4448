"""The law of the sum of many independent draws from finite tables on a lattice, by fast Fourier transforms, with a proven bound.

A power of a transform multiplies its relative error by the number of draws. Transforms of few atoms are therefore summed directly, less one,
where they are right to units of their distance from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

import numpy as np

from mipsim.exact.rounding import UNIT, Bounded, ComplexArray, log_one_plus, summed

LEVEL = 16.0 * UNIT
"""What rounding makes of a fast Fourier transform for each doubling of its points, doubled: relative in the l2 norm (Higham 2002,
theorem 24.2), and, since each input reaches each output by one product a level, of the sum of the inputs' moduli at each output."""

DIRECT = 2**21
"""Products of atoms and frequencies up to which a transform is summed directly: a tenth of a second."""

NEARLY_ONE = 0.9
"""Modulus that a transform must exceed to be heard, above which it is looked at on a coarse grid first: of 600 draws and more."""

BETWEEN = 0.02
"""How far a modulus may rise between two frequencies of the coarse grid: few more are then taken for heard than are."""

SILENT = 1e-26
"""Values of a transform that are left out: all of them together, at most 2^20, move no sum of probabilities by 1e-22."""

Counted = tuple[np.ndarray, np.ndarray, np.ndarray, int]
"""A table, and how many coordinates have it."""


def laws_of_sums(tables: Sequence[Counted], points: int, start: int) -> tuple[list[np.ndarray], float]:
    """The laws (out, in), on the circle of lattice points from `start` on, of the sum of independent draws; their error in the l1 norm.

    Args:
        tables: (lattice indices, out, in, how many draws) of each kind.
        points: on the circle, a power of two.
        start: index of the first of them.
    """
    strides = [_stride(table, points) for table in tables]
    waves = [_waves(table, points, stride) for table, stride in zip(tables, strides, strict=True)]
    heard = _heard(tables, waves, strides, points)
    total: ComplexArray = np.zeros((2, heard.size), complex)
    doubt, beyond = np.zeros(total.shape), np.zeros(total.shape)
    unknown, shift = np.zeros(total.shape, bool), -start
    for wave, stride, table in zip(waves, strides, tables, strict=True):
        index, out, inside, count = table
        if heard.size * index.size <= DIRECT:
            centre = round(float(out @ index) / max(float(out.sum()), 1e-300))
            less_one = _less_one(index - centre, np.stack([out, inside]), heard, points)
            shift += count * centre
        else:
            # Right to the sum of the probabilities, which is 1, times what each level of the transform costs.
            whole = wave if stride == 1 else _waves(table, points, 1)
            less_one = whole[:, heard] - 1.0, np.full((2, heard.size), LEVEL * np.log2(points) + UNIT)
        value, off = log_one_plus(*less_one)
        unknown |= off >= 0.1
        total += count * value
        doubt += count * (2.0 * off + 4.0 * UNIT * np.abs(value))
        beyond += count * (off + 4.0 * UNIT * np.abs(value))
    found = np.exp(total)
    loud = np.abs(found) > SILENT
    found = np.where(loud, found, 0.0)
    size, known = np.abs(found), loud & ~unknown
    with np.errstate(over="ignore"):
        # Elsewhere the phase is unknown, or the value was left out: the two are at most as far apart as both are large.
        apart = size + np.exp(total.real + beyond)
        wrong = np.where(known, size * np.expm1(np.where(known, doubt, 0.0) + 8.0 * UNIT), apart)
    laws, error = [], 0.0
    for world in (0, 1):
        spectrum = np.zeros(points // 2 + 1, complex)
        spectrum[heard] = found[world]
        laws.append(np.roll(np.maximum(np.fft.irfft(spectrum, points), 0.0), shift % points))
        # The l1 norm is at most sqrt(points) times the l2 norm, and that of a spectrum is sqrt(points) times that of its law.
        norms = [float(np.sqrt(2.0 * np.sum(part[world] ** 2))) for part in (wrong, size)]
        error = max(error, 1.01 * (norms[0] + LEVEL * np.log2(points) * norms[1]) + SILENT * points)
    return laws, min(1.0, error)


def _less_one(index: np.ndarray, masses: np.ndarray, frequency: np.ndarray, points: int) -> Bounded:
    """sum_j mass_j e^(-2 pi i frequency index_j / points) - 1 in both worlds, and a bound on its error: of many draws it counts as often.

    What is linear in the angle is summed apart, by the mean of the index, as long as no angle goes half round.

    Args:
        index: lattice indices, shape (m,).
        masses: their probabilities out and in, shape (2, m).
        frequency: whole numbers, shape (k,).
        points: of the circle.

    Returns:
        Two arrays of shape (2, k).
    """
    value, error = np.empty((2, frequency.size), complex), np.empty((2, frequency.size))
    mean, missing, spread = (
        np.array([fsum(terms) for terms in rows])[:, None]
        for rows in (
            (masses * index).tolist(),
            np.append(masses, [[-1.0], [-1.0]], axis=1).tolist(),
            (masses * np.abs(index)).tolist(),
        )
    )
    furthest, turn = int(np.abs(index).max(initial=0)), 2.0 * np.pi / points
    block = max(1, 2**16 // max(1, index.size))
    for first in range(0, frequency.size, block):
        part = slice(first, first + block)
        k = frequency[part]
        near = k * furthest < points // 2
        angle = -turn * ((k[:, None] * index + points // 2) % points - points // 2)
        even, odd = -2.0 * np.sin(0.5 * angle) ** 2, np.sin(angle)
        odd -= np.where(near[:, None], angle, 0.0)
        # Angles and sines are right to four units of themselves, squares of sines of half of them to ten.
        own = UNIT * (10.0 * np.abs(angle) + 5.0 * angle**2)
        linear = np.where(near, -turn * k * mean, 0.0)
        for world, mass in enumerate(masses):
            rest, off = summed(mass * (even + 1j * odd), mass * own)
            value[world, part] = rest + 1j * linear[world] + missing[world]
            size = np.abs(value[world, part]) + np.abs(linear[world]) + turn * k * spread[world] * near
            error[world, part] = off + 4.0 * UNIT * (size + np.abs(missing[world]))
    return value, error


def _waves(table: Counted, points: int, stride: int) -> ComplexArray:
    """Transforms of a table's laws (out, in) on the circle at each `stride`-th frequency, shape (2, points / 2 / stride + 1)."""
    index, out, inside, _ = table
    short = points // stride
    return np.stack([np.fft.rfft(np.bincount(index % short, mass, short)) for mass in (out, inside)])


def _stride(table: Counted, points: int) -> int:
    """How many frequencies apart a table's transforms may be taken, only to see where their powers are heard; a power of two.

    One, where few draws are heard at most frequencies.
    """
    if _least(table[-1]) < NEARLY_ONE:
        return 1
    slope = max(_slopes(table, points))
    return 2 ** int(np.clip(np.floor(np.log2(2.0 * BETWEEN / max(slope, 1e-300))), 0, np.log2(points) - 4))


def _slopes(table: Counted, points: int) -> list[float]:
    """Bounds, in both worlds, on how fast the modulus of a table's transform changes from one frequency to the next."""
    index, out, inside, _ = table
    centre = float(out @ index) / max(float(out.sum()), 1e-300)
    # The centre turns the transform, and does not change its modulus; one per cent more holds the rounding of the sums.
    return [1.01 * 2.0 * np.pi / points * float(mass @ np.abs(index - centre)) for mass in (out, inside)]


def _least(count: int) -> float:
    """What the modulus of a transform must exceed for its power by the number of draws to be above `SILENT`; rather too low."""
    return float(np.exp((np.log(SILENT) - 1.0) / count))


def _heard(
    tables: Sequence[Counted], waves: Sequence[ComplexArray], strides: Sequence[int], points: int
) -> np.ndarray:
    """Frequencies at which, in a world, a product of powers of transforms may be above `SILENT`: few for many terms."""
    # None is above 1 but by rounding: where one power is far below `SILENT` so is the product.
    heard = np.ones((2, points // 2 + 1), bool)
    for table, wave, stride in zip(tables, waves, strides, strict=True):
        off = LEVEL * np.log2(2 * wave.shape[1])
        if stride > 1:
            off += 0.5 * stride * np.array(_slopes(table, points))[:, None]
        loud = wave.real**2 + wave.imag**2 > np.maximum(0.0, _least(table[-1]) - off) ** 2
        # Each frequency of the coarse grid speaks for those about it, half a stride to either side.
        heard &= np.repeat(loud, stride, axis=1)[:, stride // 2 :][:, : heard.shape[1]]
    return np.flatnonzero(heard.any(axis=0))
