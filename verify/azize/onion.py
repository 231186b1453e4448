"""The privacy onion: what removing outliers does to the leakage score of the points that remain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import optimize, stats
from scipy.special import betainc, gammainc

from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import judge_bound

Family = tuple[str, float, float]
"""("symmetric" or another word, two shape parameters): a law whose partial moments are incomplete gamma or beta functions."""

LAWS: dict[str, Family] = {
    "N(0, 1)": ("normal", 0.0, 0.0),
    "Laplace(1)": ("laplace", 0.0, 0.0),
    "Uniform(-1, 1)": ("uniform", 0.0, 0.0),
    "Student t, 4.5 df": ("student", 4.5, 0.0),
    "Exponential(1)": ("gamma", 1.0, 0.0),
    "Gamma(2)": ("gamma", 2.0, 0.0),
}
SYMMETRIC = tuple(LAWS)[:4]
EACH, AVERAGE = "each point that remains", "the points that remain, on average"


def _law(family: Family) -> Any:
    name, a, b = family
    return {
        "normal": lambda: stats.norm(), "laplace": lambda: stats.laplace(), "uniform": lambda: stats.uniform(-1, 2),
        "student": lambda: stats.t(a), "gamma": lambda: stats.gamma(a), "beta": lambda: stats.beta(a, b),
    }[name]()  # fmt: skip


def partial_moments(family: Family, low: float, high: float) -> tuple[float, float]:
    """(E[X; low <= X <= high], E[X^2; ...]) in closed form; the symmetric laws from -high to high only.

    Examples:
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


def _kept(family: Family, keep: float) -> tuple[float, float, float, float, float]:
    """(low, high, mean, variance, mean of t^2 before) of the `keep` points nearest the mean; one dimension."""
    law = _law(family)
    centre, sd = float(law.mean()), float(law.std())
    start, stop = law.support()

    def lost(reach: float) -> float:
        return float(law.cdf(centre + reach) - law.cdf(centre - reach) - keep)

    reach = float(optimize.brentq(lost, 0.0, 60.0 * sd, xtol=1e-14))  # pyright: ignore[reportArgumentType]
    low, high = max(centre - reach, start), min(centre + reach, stop)
    first, second = (moment / keep for moment in partial_moments(family, low, high))
    before = (second - 2 * centre * first + centre**2) / sd**2
    return low, high, first, second - first**2, before


def each_regime(name: str, keep: float, factor: float = 1.0) -> Regime:
    """The largest fall of t^2 over the points that remain; `factor` scales t^2 before."""
    family = LAWS[name]
    parameters: dict[str, object] = {"data": name, "share kept": keep}

    def judge(_: Budget) -> RegimeResult:
        law = _law(family)
        low, high, mean, variance = _kept(family, keep)[:4]

        def fall(z: float) -> float:
            return float(factor * (z - law.mean()) ** 2 / law.var() - (z - mean) ** 2 / variance)

        # A difference of two parabolas: largest at an end or at its one stationary point.
        curvature = factor / law.var() - 1 / variance
        points = [low, high]
        if curvature != 0:
            turn = (factor * law.mean() / law.var() - mean / variance) / curvature
            points += [turn] if low < turn < high else []
        worst = max(points, key=fall)
        return judge_bound(
            fall(worst), parameters | {"point": round(worst, 4)}, unit="t^2", reading=EACH,
            detail=f"at z = {worst:.3f}: t^2 = {factor * (worst - law.mean()) ** 2 / law.var():.4f} before, {(worst - mean) ** 2 / variance:.4f} "
            f"after; mean {law.mean():.4f} to {mean:.4f}.",
            second_route=lambda: _second(law, keep, worst),
        )  # fmt: skip

    return Regime(f"{name}, keep {keep:g}, {EACH}", parameters, judge, EACH, random=False)


def _second(law: Any, keep: float, point: float) -> str:
    sample = law.rvs(size=400_000, random_state=np.random.default_rng(5))
    distance = np.abs(sample - sample.mean())
    rest = sample[distance <= np.quantile(distance, keep)]
    before, after = (point - sample.mean()) ** 2 / sample.var(), (point - rest.mean()) ** 2 / rest.var()
    return f"400,000 drawn points (seed 5), the farthest removed: t^2 of the same point falls from {before:.4f} to {after:.4f}"


def average_regime(name: str, keep: float, factor: float = 1.0) -> Regime:
    """The fall of the mean of t^2 over the points that remain; after the removal it is 1 by definition of C'."""
    parameters: dict[str, object] = {"data": name, "share kept": keep, "d": 1}

    def judge(_: Budget) -> RegimeResult:
        before = factor * _kept(LAWS[name], keep)[4]
        return judge_bound(
            before - 1.0, parameters, unit="t^2", reading=AVERAGE,
            detail=f"mean of t^2 over the rest: {before:.4f} before, 1 after.",
        )  # fmt: skip

    return Regime(f"{name}, keep {keep:g}, {AVERAGE}", parameters, judge, AVERAGE, random=False)


def ball_regime(d: int, keep: float, factor: float = 1.0) -> Regime:
    """N(0, I_d) inside the ball that holds `keep` of it: C' = c I with c = P(chi2_{d+2} <= r) / P(chi2_d <= r)."""
    parameters: dict[str, object] = {"data": "N(0, I)", "share kept": keep, "d": d}

    def judge(_: Budget) -> RegimeResult:
        shrink = factor * float(stats.chi2.cdf(stats.chi2.ppf(keep, d), d + 2) / keep)
        return judge_bound(
            shrink - 1.0,
            parameters,
            unit="t^2",
            detail=f"every m* grows by the factor {1 / shrink:.4f}.",
            reading=EACH,
        )

    return Regime(f"N(0, I_{d}), keep {keep:g}", parameters, judge, EACH, random=False)


_SMALL, _ATOMS = (-2.0, -1.0, 0.0, 1.0, 2.0), np.array([0.05, 0.2, 0.5, 0.2, 0.05])


@cache
def _symmetric_grid(d: int) -> tuple[np.ndarray, np.ndarray]:
    """All points of d coordinates with values -2 ... 2 and their probabilities."""
    points = np.stack(np.meshgrid(*[_SMALL] * d, indexing="ij"), axis=-1).reshape(-1, d)
    return points, np.prod(_ATOMS[np.searchsorted(_SMALL, points)], axis=1)


def product_regime(d: int, radius: float, factor: float = 1.0) -> Regime:
    """A product of symmetric laws on few values, points outside an ellipsoid removed: the largest variance ratio, enumerated."""
    points, mass = _symmetric_grid(d)
    scale = np.geomspace(1.0, 5.0, d)
    parameters: dict[str, object] = {
        "data": "values -2 ... 2 with probabilities .05, .2, .5, .2, .05, times 1 ... 5", "d": d, "kept": f"distance^2 <= {radius:g}",
    }  # fmt: skip

    def judge(_: Budget) -> RegimeResult:
        x = points * scale
        variance = mass @ x**2
        kept = ((x**2 / variance).sum(axis=1)) <= radius
        weight = mass[kept] / mass[kept].sum()
        after = weight @ x[kept] ** 2 - (weight @ x[kept]) ** 2
        ratio = float((factor * after / variance).max())
        return judge_bound(
            ratio - 1.0, parameters | {"share kept": round(float(mass[kept].sum()), 4)}, unit="t^2", route="enumeration", reading=EACH,
            detail=f"the variances fall to {', '.join(f'{v:.3f}' for v in after / variance)} of what they were.",
        )  # fmt: skip

    return Regime(f"symmetric values, d = {d}, radius {radius:g}", parameters, judge, EACH, random=False)


def data_regime(points: np.ndarray, removed: int) -> Regime:
    """A finite data set: the fall of the mean of n m* over its points when the farthest are removed, by linear algebra."""
    n, d = points.shape
    parameters: dict[str, object] = {"points": n, "d": d, "removed": removed}

    def judge(_: Budget) -> RegimeResult:
        before = _distances(points, points)
        rest = points[np.argsort(before)[: n - removed]]
        kept = np.sort(before)[: n - removed]
        after = _distances(rest, rest)
        return judge_bound(
            float(kept.mean() - after.mean()), parameters, unit="t^2", route="linear algebra", reading=AVERAGE, scale=1e3,
            detail=f"mean of n m* over the rest: {kept.mean():.4f} before, {after.mean():.4f} after.",
        )  # fmt: skip

    return Regime(f"{n} points, d = {d}, {removed} removed", parameters, judge, AVERAGE, random=False)


def _distances(points: np.ndarray, of: np.ndarray) -> np.ndarray:
    centred = of - of.mean(axis=0)
    root = np.linalg.cholesky(centred.T @ centred / len(of))
    return (np.linalg.solve(root, (points - of.mean(axis=0)).T) ** 2).sum(axis=0)


def sampled_points(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """One law (beta, gamma or t, of any shape), one share, one of the points that remain."""
    return [_point(rng) for _ in range(count)]


def _point(rng: np.random.Generator) -> Regime:
    shape, other = np.exp(rng.uniform(-0.5, 2.5, 2))
    word, family = (
        (f"Beta({shape:.3f}, {other:.3f})", ("beta", shape, other)),
        (f"Gamma({shape:.3f})", ("gamma", shape, 0.0)),
        (f"Student t, {3 + shape:.3f} df", ("student", 3 + shape, 0.0)),
    )[int(rng.integers(3))]
    keep, place = float(rng.uniform(0.5, 0.99)), float(rng.uniform(0.0, 1.0))
    parameters: dict[str, object] = {
        "data": word,
        "share kept": round(keep, 4),
        "quantile among the rest": round(place, 4),
    }

    def judge(_: Budget) -> RegimeResult:
        law = _law(family)
        low, _high, mean, variance = _kept(family, keep)[:4]
        z = float(law.ppf(law.cdf(low) + place * keep))
        before, after = (z - law.mean()) ** 2 / law.var(), (z - mean) ** 2 / variance
        return judge_bound(
            float(before - after), parameters, unit="t^2", reading=EACH,
            second_route=lambda: _second(law, keep, z),
        )  # fmt: skip

    return Regime("a random point", parameters, judge, EACH, random=False)


def sampled_data(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Random finite data sets of skewed and dependent coordinates: the statement about the average."""
    return [_data(rng) for _ in range(count)]


def _data(rng: np.random.Generator) -> Regime:
    d = int(rng.integers(1, 7))
    n = d + 2 + int(rng.integers(3, 60))
    points = rng.gamma(np.exp(rng.uniform(-1, 2)), size=(n, d)) @ rng.normal(size=(d, d))
    return data_regime(points, int(rng.integers(1, n - d - 2)))


DOMAIN = {
    "data": OneOf(tuple(LAWS), "any law; random beta, gamma and t laws are sampled"),
    "share kept": Between(0, 1, "judged at .8, .9, .99, sampled from .5 to .99"),
    "point": OneOf((EACH, AVERAGE), '"the points which are not removed"'),
}
_KEEPS = (0.8, 0.9, 0.99)
ONION = Quote(
    "Removing a layer of outliers is equivalent to sampling from a new data-generating distribution, with a smaller variance. In this new "
    "data-generating distribution with smaller variance, the points which are not removed will naturally have an increased Mahalanobis distance.",
    "section 3, explaining the privacy onion effect",
)
CLAIMS = (
    Claim(
        "azize-onion",
        "azize",
        "Removing the outliers raises m* of the points that remain.",
        Kind.ORDERING, 0.0, "t^2", DOMAIN,
        (
            *(each_regime(name, keep) for name in LAWS for keep in _KEEPS),
            *(average_regime(name, keep) for name in LAWS for keep in _KEEPS),
        ),
        Control(partial(average_regime, "Uniform(-1, 1)", 0.99)),
        corrected_by="azize-onion-corrected",
        quote=ONION,
        sampled=sampled_points,
    ),
    Claim(
        "azize-onion-corrected",
        "azize",
        "Removing the points of largest Mahalanobis distance (all those beyond a radius; some of them, and the covariance C' of the rest nonsingular) "
        "raises the average m* of the points that remain, for any law with second moments and any finite data set. If the law is a product of "
        "laws each symmetric about its mean, it lowers m* of no point.",
        Kind.ORDERING, 0.0, "t^2",
        DOMAIN | {"C'": OneOf(("nonsingular",)), "removed": Between(0, 1, "more than nothing, less than all")},
        (
            *(each_regime(name, keep) for name in SYMMETRIC for keep in _KEEPS),
            *(average_regime(name, keep) for name in LAWS for keep in _KEEPS),
            *(ball_regime(d, keep) for d in (2, 20, 200) for keep in _KEEPS),
            *(product_regime(d, radius) for d in (2, 3, 5) for radius in (d, 1.5 * d, 2.0 * d)),
        ),
        Control(partial(ball_regime, 20, 0.99)),
        corrects="azize-onion",
        quote=ONION,
        same_formula=True,
        derivation=(
            "Write q(z) = ||z - mu||^2_{C^-1}. (1) Average: E q = d. The points removed have q > r and those that remain q <= r, so, some being removed, "
            "E[q | q <= r] < E q = d. For the rest, with their own mean mu' and covariance C', E ||Z - mu'||^2_{C'^-1} = tr(C'^-1 C') = d exactly, where C' is "
            "nonsingular (else it is the rank of C', and may be less than before). m* is that number over n, and n has not grown. The same holds word by word for "
            "the empirical law of a data set. (2) Each point, for independent coordinates symmetric about their means: the set q <= r is symmetric in each "
            "coordinate, so mu' = mu and C' is diagonal. The s_j = t_j^2 are independent, s_j increases and 1{sum s_i <= r} decreases in s_j for any values of the others, so "
            "Cov(s_j, 1{q <= r}) <= 0 (Chebyshev's association inequality, given the other coordinates, and then E s_j = 1 does not depend on them): "
            "E[s_j | q <= r] <= 1, each variance falls or stays, and each t_j^2 with it rises or stays. (3) A skewed law moves its mean towards some of the points that remain, "
            "and the m* of those falls, to 0 at the new mean."
        ),
        sampled=sampled_data,
    ),
)  # fmt: skip
"""Each point, or the average."""
