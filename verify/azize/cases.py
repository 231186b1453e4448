"""Data laws and targets over which the statements about the mean are judged by exact laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from scipy.special import gamma as gamma_function
from scipy.special import kv

from mipsim.exact import (
    AdditiveLaw,
    Terms,
    additive_law,
    binomial_terms,
    covariance_score,
    density_terms,
    exponential_terms,
    normal_terms,
)
from verify.limits import SIZES


@dataclass(frozen=True)
class Coordinate:
    """A kind of coordinate: its law, the target's value there, and its share of the d coordinates."""

    law: str
    z: float
    share: float
    parameter: float = 0.5


@dataclass(frozen=True)
class Case:
    """A data law with a target, for every n.

    Attributes:
        name: short.
        coordinates: the kinds of coordinates.
        tau: d / n.
        special: one more coordinate whose law or target depends on n, if any.
        sizes: rows at which a limit is judged: larger where the approach is slow (it is n^-1/2 for a single coordinate).
        words: for the reader.
    """

    name: str
    coordinates: tuple[Coordinate, ...]
    tau: float
    words: str
    special: str = field(default="")
    sizes: tuple[int, ...] = SIZES

    @property
    def parameters(self) -> dict[str, object]:
        """What the report prints."""
        return {"data and target": self.words, "d/n": self.tau}

    def terms(self, rows: int, n: int, noise: float = 0.0) -> list[Terms]:
        """The terms of all coordinates when `rows` rows are released and d = tau n."""
        d = max(1, round(self.tau * n))
        counts = [max(1, round(c.share * d)) for c in self.coordinates]
        groups = [_terms(c, rows, count, noise) for c, count in zip(self.coordinates, counts, strict=True)]
        if self.special:
            groups.append(SPECIAL[self.special](rows, n, noise))
        return groups


def leakage(groups: Sequence[Terms]) -> float:
    """m* of these coordinates with the rows that they were built for."""
    return sum(g.count * g.leakage for g in groups) / groups[0].n


@lru_cache(maxsize=64)
def mean_law(
    case: Case, rows: int, n: int, noise: float = 0.0, score: str = "ratio"
) -> tuple[float, AdditiveLaw]:
    """(m*, exact law of the score) of a case; kept, since several statements ask for the same law."""
    groups = case.terms(rows, n, noise)
    law = additive_law(groups, covariance_score) if score == "covariance" else additive_law(groups)
    return leakage(groups), law


def _terms(c: Coordinate, rows: int, count: int, noise: float) -> Terms:
    if c.law == "bernoulli" and noise == 0.0:
        if c.z in (0.0, 1.0):
            return binomial_terms(rows, c.parameter, int(c.z), count)
        return off_support(rows, c.parameter, c.z, count)
    if c.law == "three atoms" and noise == 0.0:
        return three_atoms(rows, count)
    if c.law == "gaussian":
        return normal_terms(rows, 0.0, c.parameter**2, c.z, count, noise)
    if c.law == "exponential" and noise == 0.0:
        return exponential_terms(rows, c.parameter, c.z, count)
    characteristic, mean, variance = LAWS[c.law](c.parameter)
    return density_terms(rows, characteristic, mean, variance, c.z, count, noise)


def off_support(rows: int, p: float, z: float, count: int) -> Terms:
    """Bernoulli sums are whole numbers, and z + whole is not: the two worlds share no output."""
    t = (z - p) / np.sqrt(p * (1 - p))
    one = np.array([1.0, 0.0])
    return Terms(
        np.array([0.0, 0.5]), one, one[::-1], np.array([-np.inf, np.inf]), count, t, np.zeros(2), rows, 0.0
    )


def three_atoms(rows: int, count: int) -> Terms:
    """Values 0, 1, sqrt 2 with probabilities .6, .3, .1 and the target at sqrt 2.

    The sum determines how many of the rows hold sqrt 2 (1 and sqrt 2 are rationally independent), and given that
    number the other rows say nothing: the ratio is that of a Binomial count of the atom. Only `t` is the data's own.
    """
    atom = binomial_terms(rows, 0.1, 1, count)
    mean = 0.3 + 0.1 * np.sqrt(2)
    variance = 0.3 + 0.2 - mean**2
    return Terms(
        atom.total,
        atom.out,
        atom.inside,
        atom.ratio,
        count,
        float((np.sqrt(2) - mean) / np.sqrt(variance)),
        atom.deviation,
        rows,
        atom.error,
    )


def _bernoulli(p: float) -> tuple[Callable[[np.ndarray], np.ndarray], float, float]:
    return lambda u: (1 - p) * np.exp(-1j * u * p) + p * np.exp(1j * u * (1 - p)), p, p * (1 - p)


def _three(_: float) -> tuple[Callable[[np.ndarray], np.ndarray], float, float]:
    mean = 0.3 + 0.1 * np.sqrt(2)
    atoms, weights = np.array([0.0, 1.0, np.sqrt(2)]) - mean, np.array([0.6, 0.3, 0.1])
    return lambda u: np.exp(1j * np.multiply.outer(u, atoms)) @ weights, mean, 0.5 - mean**2


def _student(df: float) -> tuple[Callable[[np.ndarray], np.ndarray], float, float]:
    def characteristic(u: np.ndarray) -> np.ndarray:
        s = np.sqrt(df) * np.abs(np.where(u == 0, 1.0, u))
        return np.where(
            u == 0, 1.0, kv(df / 2, s) * s ** (df / 2) / (gamma_function(df / 2) * 2 ** (df / 2 - 1))
        )

    return characteristic, 0.0, df / (df - 2)


LAWS: dict[str, Callable[[float], tuple[Callable[[np.ndarray], np.ndarray], float, float]]] = {
    "bernoulli": _bernoulli,
    "three atoms": _three,
    "student": _student,
    "gaussian": lambda s: (lambda u: np.exp(-0.5 * s**2 * u**2), 0.0, s**2),
    "exponential": lambda s: (lambda u: np.exp(-1j * u * s) / (1 - 1j * u * s), s, s**2),
    "laplace": lambda b: (lambda u: 1 / (1 + b**2 * u**2), 0.0, 2 * b**2),
    "uniform": lambda w: (lambda u: np.sinc(u * w / (2 * np.pi)), 0.0, w**2 / 12),
}
"""Parameter -> (u -> E exp(iu(Z - mean)), mean, variance)."""

SPECIAL: dict[str, Callable[[int, int, float], Terms]] = {
    # All of the leakage but a little sits in one coordinate, sqrt(2 n) standard deviations out.
    "spike": lambda rows, n, noise: _terms(
        Coordinate("exponential", 1.0 + np.sqrt(2.0 * n), 1.0, 1.0), rows, 1, noise
    ),
    # D_j = Bernoulli(0.1 / j) at j = 100, 400, 1600, ...: each law is fixed and has all moments.
    "rare": lambda rows, n, noise: binomial_terms(rows, 0.1 / n, 1, 1),
}

_P = (0.3, 0.4, 0.55, 0.7)


def _b(z: Callable[[float], float], p: Sequence[float] = _P) -> tuple[Coordinate, ...]:
    return tuple(Coordinate("bernoulli", z(q), 1 / len(p), q) for q in p)


def _typical(p: Sequence[float]) -> tuple[Coordinate, ...]:
    both = [(q, z, share) for q in p for z, share in ((1.0, q / len(p)), (0.0, (1 - q) / len(p)))]
    return tuple(Coordinate("bernoulli", z, share, q) for q, z, share in both)


def _spread(law: str, parameter: float, points: Sequence[float]) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(law, z, 1 / len(points), parameter) for z in points)


REGULAR = (
    Case(
        "bernoulli-easiest", _b(lambda q: float(q <= 0.5)), 5.0, "Bernoulli(.3, .4, .55, .7), easiest target"
    ),
    Case(
        "bernoulli-hardest", _b(lambda q: float(q > 0.5)), 5.0, "Bernoulli(.3, .4, .55, .7), hardest target"
    ),
    Case("bernoulli-typical", _typical(_P), 5.0, "Bernoulli(.3, .4, .55, .7), a typical target"),
    Case("bernoulli-narrow", _typical(_P), 0.1, "Bernoulli(.3, .4, .55, .7), typical, few coordinates"),
    Case("bernoulli-wide", _typical(_P), 20.0, "Bernoulli(.3, .4, .55, .7), typical, many coordinates"),
    Case("bernoulli-skewed", _typical((0.05, 0.1, 0.95)), 1.0, "Bernoulli(.05, .1, .95), typical"),
    Case("gaussian", _spread("gaussian", 1.0, (0.0, 0.5, -1.0, 2.0)), 2.0, "N(0, 1), typical"),
    Case(
        "exponential",
        _spread("exponential", 1.0, (0.1, 0.5, 1.0, 2.5)),
        2.0,
        "Exponential(1), typical (skewness 2)",
    ),
    Case(
        "exponential-far",
        _spread("exponential", 1.0, (-2.0, 7.0)),
        0.2,
        "Exponential(1), far targets, one off support",
    ),
    Case(
        "student",
        _spread("student", 4.5, (0.3, -0.8, 1.5)),
        2.0,
        "Student t, 4.5 degrees of freedom, typical",
    ),
    Case(
        "student-far",
        _spread("student", 4.5, (12.0,)),
        0.05,
        "Student t, 4.5 degrees of freedom, outlying target",
    ),
    Case("laplace", _spread("laplace", 1.0, (0.2, -1.0, 2.0)), 2.0, "Laplace(1), typical"),
    Case(
        "uniform-corner",
        _spread("uniform", 1.0, (0.5, -0.5)),
        1.0,
        "Uniform(-1/2, 1/2), a corner of the support",
    ),
    Case(
        "spike",
        _spread("exponential", 1.0, (1.0,)),
        1.0,
        "Exponential(1), target at the mean but one coordinate",
        special="spike",
        sizes=(6400, 25_600, 102_400, 409_600),
    ),
)
"""Cases inside the regularity that a density expansion needs."""

OFF_SUPPORT = Case(
    "bernoulli-off-support",
    _b(lambda _: 0.5, (0.4, 0.5, 0.7)),
    1.0,
    "Bernoulli(.4, .5, .7), target (1/2, ...)",
)
THREE_ATOMS = Case(
    "three-atoms",
    _spread("three atoms", 0.0, (np.sqrt(2),)),
    0.5,
    "atoms 0, 1, sqrt 2 (.6, .3, .1), target sqrt 2",
)
RARE = Case(
    "rare-coordinate",
    (Coordinate("bernoulli", 1.0, 1.0, 0.5),),
    1.0,
    "Bernoulli(1/2) but D_j = Bernoulli(.1/j) at j = 100, 400, 1600, ...; target all ones at d",
    special="rare",
)
IRREGULAR = (OFF_SUPPORT, THREE_ATOMS, RARE)
"""Product laws with all moments whose means have no density expansion at the target."""
