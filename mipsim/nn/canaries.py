"""Canaries: examples and gradients that an auditor puts in to see whether their membership shows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mipsim._memory import fits_memory
from mipsim._validation import finite_matrix, member, number, real_array, sizes, whole
from mipsim._words import quoted
from mipsim.attacks.shrunk import ShrunkMoments

_DIRECTION = 0x4341  # so that a data set sampled with the same seed does not begin with the canary


def mahalanobis_canary(candidates: object, moments: ShrunkMoments) -> int:
    """Which candidate is the easiest to attack: the candidate whose gradient lies farthest from the others' mean, in their covariance.

    Args:
        candidates: gradients of the candidate examples, shape (N, d).
        moments: of reference gradients.

    Returns:
        Its place among the candidates.

    Source: Azize & Basu (2025), algorithm 3.

    Examples:
        >>> moments = ShrunkMoments([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]], ridge=0.001)
        >>> mahalanobis_canary([[2.0, 0.0], [0.0, 1.0]], moments)  # the shorter: gradients hardly vary along it
        1
    """
    known = member("moments", moments, ShrunkMoments, "ShrunkMoments")
    return int(np.argmax(known.mahalanobis_squared(finite_matrix("candidates", candidates))))


def dirac_canary(d: int, norm: float, coordinate: int = 0) -> np.ndarray:
    """A gradient of that length in a single coordinate, shape (d,).

    Args:
        d: number of coordinates, >= 1.
        norm: its length, > 0, such as the clip.
        coordinate: its index, 0 to d - 1.

    Source: Nasr et al. (2023), "Tight auditing of differentially private machine learning".

    Examples:
        >>> print(dirac_canary(3, 2.0, coordinate=1))
        [0. 2. 0.]
    """
    place = whole("coordinate", coordinate, 0)
    if place >= _coordinates(d):
        raise ValueError(f"coordinate is {quoted(coordinate)}; it must be a whole number from 0 to {d - 1}")
    return number("norm", norm, 0.0, low_open=True) * (np.arange(d) == place)


def random_canary(d: int, norm: float, seed: int = 0) -> np.ndarray:
    """A gradient of that length in a uniformly random direction, shape (d,).

    Args:
        d: number of coordinates, >= 1.
        norm: its length, > 0.
        seed: of the direction, a whole number >= 0.

    Source: Maddock, Sablayrolles, Stock (2022), "CANIFE: crafting canaries for empirical privacy measurement", as the baseline.

    Examples:
        >>> canary = random_canary(100, 2.0)
        >>> print(np.linalg.norm(canary).round(6), abs(canary).max() < 1.0)
        2.0 True
    """
    direction = np.random.default_rng([_DIRECTION, whole("seed", seed, 0)]).standard_normal(_coordinates(d))
    return number("norm", norm, 0.0, low_open=True) / np.linalg.norm(direction) * direction


def mislabelled(y: object, classes: int) -> np.ndarray:
    """The labels, each moved to the next class: examples that a model can only know by heart.

    Args:
        y: labels, shape (N,), whole numbers in [0, classes).
        classes: how many there are, >= 2.

    Source: Nasr et al. (2023), section 5; Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1) training run".

    Examples:
        >>> print(mislabelled([0, 1, 2], 3))
        [1 2 0]
    """
    count = whole("classes", classes, 2)
    labels = finite_matrix("y", real_array("y", y, coins=True)[..., None])[:, 0]
    wrong = (labels < 0) | (labels >= count) | (labels != np.floor(labels))
    if wrong.any():
        raise ValueError(f"y holds {labels[np.argmax(wrong)]:g}; it must hold classes 0 to {count - 1}")
    return ((labels + 1) % count).astype(np.int64)


def blank(shape: Sequence[int], count: int = 1) -> np.ndarray:
    """Inputs of zeros, `count` of them: a blank example is like none of the data.

    Args:
        shape: of an input.
        count: how many, >= 1.

    Returns:
        An array whose first axis has `count` entries and whose others are `shape`.

    Source: Nasr et al. (2023), section 5.

    Examples:
        >>> blank((2, 2, 1)).shape, float(blank((3,)).max())
        ((1, 2, 2, 1), 0.0)
    """
    sides = whole("count", count, 1), *sizes("shape", shape)
    fits_memory(math.prod(sides), count=count, shape=shape)
    return np.zeros(sides)


def _coordinates(d: object) -> int:
    result = whole("d", d, 1, 2**31)
    fits_memory(3 * result, d=result)
    return result
