"""Data laws and targets with their numbers fixed, over which the two linear attacks of Azize & Basu (2025) are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mipsim as mi

LAWS: dict[str, Callable[[float], mi.AbstractDistribution]] = {
    "bernoulli": mi.Bernoulli,
    "student": mi.StudentT,
    "gaussian": lambda sd: mi.Gaussian(0.0, sd**2),
    "exponential": mi.Exponential,
    "laplace": lambda scale: mi.Laplace(0.0, scale),
    "uniform": lambda width: mi.Uniform(-width / 2, width / 2),
}
"""Name of a law -> parameter -> the law of a single coordinate."""


@dataclass(frozen=True)
class Coordinate:
    """A kind of coordinate: its law, the target's value there, its share of the d coordinates, and the law's parameter."""

    law: str
    z: float
    share: float
    parameter: float = 0.5

    @property
    def moments(self) -> tuple[float, float]:
        """(mean, variance) of the law.
        >>> Coordinate("exponential", 1.0, 1.0, 2.0).moments
        (2.0, 4.0)
        """
        law = LAWS[self.law](self.parameter)
        return float(law.mean[0]), float(law.variance[0])


@dataclass(frozen=True)
class Case:
    """A data law with a target, for every n."""

    name: str  # short
    coordinates: tuple[Coordinate, ...]  # the kinds of coordinates
    tau: float  # d / n
    words: str  # for the reader

    @property
    def parameters(self) -> dict[str, object]:
        """What the report prints."""
        return {"data and target": self.words, "d/n": self.tau}


def _bernoulli(z: Callable[[float], float]) -> tuple[Coordinate, ...]:
    p = (0.3, 0.4, 0.55, 0.7)
    return tuple(Coordinate("bernoulli", z(q), 1 / len(p), q) for q in p)


def _typical(p: Sequence[float]) -> tuple[Coordinate, ...]:
    both = [(q, z, share) for q in p for z, share in ((1.0, q / len(p)), (0.0, (1 - q) / len(p)))]
    return tuple(Coordinate("bernoulli", z, share, q) for q, z, share in both)


def _spread(law: str, parameter: float, points: Sequence[float]) -> tuple[Coordinate, ...]:
    return tuple(Coordinate(law, z, 1 / len(points), parameter) for z in points)


CASES = (
    Case("bernoulli-easiest", _bernoulli(lambda q: float(q <= 0.5)), 5.0, "Bernoulli(.3, .4, .55, .7), easiest target"),
    Case("bernoulli-hardest", _bernoulli(lambda q: float(q > 0.5)), 5.0, "Bernoulli(.3, .4, .55, .7), hardest target"),
    Case("bernoulli-typical", _typical((0.3, 0.4, 0.55, 0.7)), 5.0, "Bernoulli(.3, .4, .55, .7), a typical target"),
    Case("bernoulli-skewed", _typical((0.05, 0.1, 0.95)), 1.0, "Bernoulli(.05, .1, .95), typical"),
    Case("gaussian", _spread("gaussian", 1.0, (0.0, 0.5, -1.0, 2.0)), 2.0, "N(0, 1), typical"),
    Case("exponential", _spread("exponential", 1.0, (0.1, 0.5, 1.0, 2.5)), 2.0, "Exponential(1), typical (skewness 2)"),
    Case("student", _spread("student", 4.5, (0.3, -0.8, 1.5)), 2.0, "Student t, 4.5 degrees of freedom, typical"),
    Case("laplace", _spread("laplace", 1.0, (0.2, -1.0, 2.0)), 2.0, "Laplace(1), typical"),
    Case("uniform-corner", _spread("uniform", 1.0, (0.5, -0.5)), 1.0, "Uniform(-1/2, 1/2), a corner of the support"),
)  # fmt: skip
"""Regular laws: every coordinate has a density or is a coin, and a third moment."""
