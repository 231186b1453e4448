"""Laws cut off at a distance from their mean: what removing outliers leaves, by partial moments in closed form."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from scipy.special import betainc, gammainc

from mipsim.referee import Replication

Family = tuple[str, float, float]
"""(word, two shape parameters): a law whose partial moments are incomplete gamma or beta functions."""


def law_of(family: Family) -> Any:
    """The law as SciPy has it."""
    name, a, b = family
    return {
        "normal": lambda: scipy.stats.norm(), "laplace": lambda: scipy.stats.laplace(), "uniform": lambda: scipy.stats.uniform(-1, 2),
        "student": lambda: scipy.stats.t(a), "gamma": lambda: scipy.stats.gamma(a), "beta": lambda: scipy.stats.beta(a, b),
    }[name]()  # fmt: skip


def partial_moments(family: Family, low: float, high: float) -> tuple[float, float]:
    """(E[X; low <= X <= high], E[X^2; ...]) in closed form; the symmetric laws from -high to high only.
    >>> print(partial_moments(("gamma", 1.0, 0.0), 0.0, np.inf), partial_moments(("uniform", 0.0, 0.0), -0.5, 0.5))
    (1.0, 2.0) (0.0, 0.041666666666666664)
    """
    name, a, b = family
    if name == "gamma":
        first, second = (float(gammainc(a + r, high) - gammainc(a + r, low)) for r in (1, 2))
        return a * first, a * (a + 1) * second
    if name == "beta":
        first, second = (float(betainc(a + r, b, high) - betainc(a + r, b, low)) for r in (1, 2))
        return a / (a + b) * first, a * (a + 1) / ((a + b) * (a + b + 1)) * second
    square = {
        "normal": lambda: gammainc(1.5, high**2 / 2),
        "laplace": lambda: 2 * gammainc(3.0, high),
        "uniform": lambda: high**3 / 3,
        "student": lambda: a / (a - 2) * betainc(1.5, a / 2 - 1, high**2 / (a + high**2)),
    }[name]()
    return 0.0, float(square)


@lru_cache(maxsize=256)
def kept_part(family: Family, keep: float) -> tuple[float, float, float, float, float]:
    """(low, high, mean, variance, mean of t^2 before) of the `keep` points nearest the mean; a single dimension."""
    law = law_of(family)
    centre, sd = float(law.mean()), float(law.std())
    start, stop = law.support()

    def lost(reach: float) -> float:
        return float(law.cdf(centre + reach) - law.cdf(centre - reach) - keep)

    reach = float(scipy.optimize.brentq(lost, 0.0, 60.0 * sd, xtol=1e-14))  # pyright: ignore[reportArgumentType]
    low, high = max(centre - reach, start), min(centre + reach, stop)
    first, second = (moment / keep for moment in partial_moments(family, low, high))
    before = (second - 2 * centre * first + centre**2) / sd**2
    return low, high, first, second - first**2, before


def on_values(d: int, radius: float) -> tuple[float, float]:
    """(largest ratio of a coordinate's variances after and before, share kept) when points beyond a radius are removed, enumerated.

    Coordinates have the values -2 ... 2 with probabilities .05, .2, .5, .2, .05, times 1 ... 5.

    >>> print([round(found, 4) for found in on_values(2, 2.0)])
    [0.3846, 0.65]
    """
    small, atoms = np.arange(-2.0, 3.0), np.array([0.05, 0.2, 0.5, 0.2, 0.05])
    points = np.stack(np.meshgrid(*[small] * d, indexing="ij"), axis=-1).reshape(-1, d)
    mass = np.prod(atoms[(points + 2).astype(int)], axis=1)
    x = points * np.geomspace(1.0, 5.0, d)
    variance = mass @ x**2
    retained = (x**2 / variance).sum(axis=1) <= radius
    weight = mass[retained] / mass[retained].sum()
    after = weight @ x[retained] ** 2 - (weight @ x[retained]) ** 2
    return float((after / variance).max()), float(mass[retained].sum())


def of_points(n: int, d: int, removed: int, draw: int) -> tuple[float, float]:
    """Mean of n m* over the points of a random data set that remain, before and after the farthest are removed."""
    rng = np.random.default_rng(draw)
    points = rng.gamma(np.exp(rng.uniform(-1, 2)), size=(n, d)) @ rng.normal(size=(d, d))
    before = _distances(points, points)
    rest = points[np.argsort(before)[: n - removed]]
    return float(np.sort(before)[: n - removed].mean()), float(_distances(rest, rest).mean())


def _distances(points: np.ndarray, of: np.ndarray) -> np.ndarray:
    centred = of - of.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred / len(of))
    return (np.linalg.solve(root, (points - of.mean(axis=0)).T) ** 2).sum(axis=0)


def worst_point(data: Family, keep: float) -> tuple[float, float, float]:
    """(the point that remains whose t^2 falls most, its t^2 before, after)."""
    law, (low, high, mean, variance, _) = law_of(data), kept_part(data, keep)
    centre, spread = float(law.mean()), float(law.var())

    def both(z: float) -> tuple[float, float, float]:
        return z, (z - centre) ** 2 / spread, (z - mean) ** 2 / variance

    # A difference of two parabolas: largest at an end or at its stationary point.
    curvature = 1 / spread - 1 / variance
    points = [low, high]
    if curvature != 0:
        turn = (centre / spread - mean / variance) / curvature
        points += [turn] if low < turn < high else []
    return max((both(z) for z in points), key=lambda ends: ends[1] - ends[2])


def fall_by_draws(data: Family, keep: float, parts: int = 40) -> Replication:
    """Random samples, the farthest removed: how far t^2 of a single point that remains falls, with the spread over the samples."""
    point, law = worst_point(data, keep)[0], law_of(data)
    rng, falls = np.random.default_rng(5), []
    for _ in range(parts):
        sample = law.rvs(size=10_000, random_state=rng)
        distance = np.abs(sample - sample.mean())
        rest = sample[distance <= np.quantile(distance, keep)]
        falls.append((point - sample.mean()) ** 2 / sample.var() - (point - rest.mean()) ** 2 / rest.var())
    value, error = float(np.mean(falls)), float(np.std(falls)) / parts**0.5
    how = f"SciPy, {parts} samples of 10,000 points, seed 5, the farthest removed; 6 standard errors"
    return Replication(
        value,
        value - 6 * error,
        value + 6 * error,
        f"fall of t^2 of the point {point:.3f}",
        how,
        claim=0.0,
        one_sided=True,
    )
