"""A member of each law, with its density or its atoms written independently."""

from collections.abc import Callable
from dataclasses import dataclass

import mpmath
import numpy as np
from scipy import stats

import mipsim as mi

RECORDS = np.array([[0.0, 1.0, 5.0], [1.0, 3.0, 2.0], [4.0, 1.5, 2.5], [2.0, 0.0, 0.5], [0.5, 0.25, -1.0]])


@dataclass(frozen=True)
class Member:
    """A law; per coordinate a SciPy law (continuous), or values and probabilities (discrete).

    density: per coordinate an mpmath density and the points at which to split its integral.
    """

    law: mi.AbstractDistribution
    continuous: tuple = ()
    atoms: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    density: tuple[tuple[Callable, list], ...] = ()

    @property
    def points(self) -> list[list[float]]:
        """Per coordinate its possible values; of a continuous coordinate the ends of its support, and a point between them."""
        ends = [[float(x) for x in (*one.support(), one.median())] for one in self.continuous]
        return ends or [values[weights > 0].tolist() for values, weights in self.atoms]

    @property
    def unbounded(self) -> bool:
        """Whether some coordinate has values beyond all bounds."""
        return bool(np.isinf(np.concatenate(self.points)).any())


def _gaussian(m: float, v: float) -> tuple[Callable, list]:
    return lambda x: mpmath.npdf(x, m, mpmath.sqrt(v)), [-mpmath.inf, m, mpmath.inf]


def _laplace(m: float, b: float) -> tuple[Callable, list]:
    return lambda x: mpmath.exp(-abs(x - m) / b) / (2 * b), [-mpmath.inf, m, mpmath.inf]


def _student(df: float, m: float, s: float) -> tuple[Callable, list]:
    constant = mpmath.gamma((df + 1) / 2) / (mpmath.sqrt(df * mpmath.pi) * mpmath.gamma(df / 2) * s)
    return lambda x: constant * (1 + ((x - m) / s) ** 2 / df) ** (-(df + 1) / 2), [-mpmath.inf, m, mpmath.inf]


def _exponential(b: float) -> tuple[Callable, list]:
    return lambda x: mpmath.exp(-x / b) / b, [0, b, mpmath.inf]


def _uniform(low: float, high: float) -> tuple[Callable, list]:
    return lambda _: mpmath.mpf(1) / (high - low), [low, high]


_VALUES, _WEIGHTS = np.array([0.0, 1.0, np.sqrt(2.0)]), np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
_COV = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])

MEMBERS = {
    "Bernoulli": Member(
        mi.Bernoulli([0.3, 0.5, 0.97]),
        atoms=tuple((np.array([0.0, 1.0]), np.array([1 - p, p])) for p in (0.3, 0.5, 0.97)),
    ),
    "Gaussian": Member(
        mi.Gaussian([1.0, -2.0], [4.0, 0.25]),
        continuous=(stats.norm(1, 2), stats.norm(-2, 0.5)),
        density=(_gaussian(1, 4), _gaussian(-2, 0.25)),
    ),
    "Gaussian full": Member(
        mi.Gaussian([0.0, 1.0, 2.0], _COV),
        continuous=(stats.norm(0, np.sqrt(2)), stats.norm(1, 1), stats.norm(2, np.sqrt(0.5))),
        density=(_gaussian(0, 2), _gaussian(1, 1), _gaussian(2, 0.5)),
    ),
    "Laplace": Member(
        mi.Laplace([0.0, 3.0], [1.0, 0.5]),
        continuous=(stats.laplace(0, 1), stats.laplace(3, 0.5)),
        density=(_laplace(0, 1), _laplace(3, 0.5)),
    ),
    "StudentT": Member(
        mi.StudentT([9.5, 30.0], [0.0, 1.0], [1.0, 2.0]),
        continuous=(stats.t(9.5), stats.t(30, 1, 2)),
        density=(_student(9.5, 0, 1), _student(30, 1, 2)),
    ),
    "Exponential": Member(
        mi.Exponential([1.0, 3.0]),
        continuous=(stats.expon(scale=1), stats.expon(scale=3)),
        density=(_exponential(1), _exponential(3)),
    ),
    "Uniform": Member(
        mi.Uniform([0.0, -1.0], [1.0, 4.0]),
        continuous=(stats.uniform(0, 1), stats.uniform(-1, 5)),
        density=(_uniform(0, 1), _uniform(-1, 4)),
    ),
    "Discrete": Member(
        mi.Discrete(_VALUES, _WEIGHTS),
        atoms=tuple((_VALUES, row) for row in _WEIGHTS),
    ),
    "Empirical": Member(
        mi.Empirical(RECORDS),
        atoms=tuple((RECORDS[:, j], np.full(5, 0.2)) for j in range(3)),
    ),
}
