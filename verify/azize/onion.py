"""The privacy onion: what removing outliers does to the leakage score of the points that remain."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import integrate, stats

from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult, Verdict
from verify.limits import judge_identity

LAWS: dict[str, Any] = {
    "N(0, 1)": stats.norm(),
    "Laplace(1)": stats.laplace(),
    "Uniform(-1, 1)": stats.uniform(-1, 2),
    "Student t, 4.5 df": stats.t(4.5),
    "Exponential(1)": stats.expon(),
    "Gamma(2)": stats.gamma(2),
}


def _remaining(law: Any, keep: float) -> tuple[float, float, float, float]:
    """(low, high, mean, variance) after the (1 - keep) points farthest from the mean are removed."""
    centre = law.mean()
    reach = _radius(law, keep)
    low, high = max(centre - reach, law.support()[0]), min(centre + reach, law.support()[1])
    mean = integrate.quad(lambda x: x * law.pdf(x), low, high, limit=200)[0] / keep
    variance = integrate.quad(lambda x: (x - mean) ** 2 * law.pdf(x), low, high, limit=200)[0] / keep
    return low, high, mean, variance


def _radius(law: Any, keep: float) -> float:
    low, high = 0.0, 60.0 * law.std()
    for _ in range(200):
        middle = (low + high) / 2
        mass = law.cdf(law.mean() + middle) - law.cdf(law.mean() - middle)
        low, high = (middle, high) if mass < keep else (low, middle)
    return (low + high) / 2


def each_regime(name: str, keep: float, reverse: bool = False) -> Regime:
    """Is m* of every remaining point at least what it was? The largest fall of t^2 over the remaining points."""
    parameters = {"data": name, "share kept": keep}
    reading = "for each point that remains"

    def judge(_: Budget) -> RegimeResult:
        law = LAWS[name]
        low, high, mean, variance = _remaining(law, keep)
        z = np.linspace(low, high, 2001)
        before, after = (z - law.mean()) ** 2 / law.var(), (z - mean) ** 2 / variance
        fall = float((after - before if reverse else before - after).max())
        worst = float(z[np.argmax(before - after)])
        return judge_identity(
            fall,
            1e-7,
            parameters | {"point": round(worst, 3)},
            unit="t^2",
            route="quadrature",
            reading=reading,
            one_sided=True,
            detail=f"at z = {worst:.3f}: t^2 = {((worst - law.mean()) ** 2 / law.var()):.4f} before, "
            f"{((worst - mean) ** 2 / variance):.4f} after; mean {law.mean():.4f} to {mean:.4f}",
            second_route=lambda: _second(law, keep, worst),
        )

    return Regime(f"{name}, keep {keep:g}", parameters, judge, reading, random=False)


def _second(law: Any, keep: float, point: float) -> str:
    sample = law.rvs(size=400_000, random_state=np.random.default_rng(5))
    distance = np.abs(sample - sample.mean())
    rest = sample[distance <= np.quantile(distance, keep)]
    before, after = (point - sample.mean()) ** 2 / sample.var(), (point - rest.mean()) ** 2 / rest.var()
    return f"400,000 drawn points (seed 5), the farthest removed: t^2 of the same point falls from {before:.4f} to {after:.4f}"


def ball_regime(d: int, keep: float) -> Regime:
    """N(0, I_d) inside the ball that holds `keep` of it: C' = c I with c = P(chi2_{d+2} <= r) / P(chi2_d <= r)."""
    parameters = {"data": "N(0, I)", "d": d, "share kept": keep}
    reading = "for each point that remains"

    def judge(_: Budget) -> RegimeResult:
        shrink = float(stats.chi2.cdf(stats.chi2.ppf(keep, d), d + 2) / keep)
        return judge_identity(
            shrink - 1.0,
            0.0,
            parameters,
            unit="t^2",
            route="exact law",
            reading=reading,
            one_sided=True,
            detail=f"every m* grows by the factor {1 / shrink:.4f}",
        )

    return Regime(f"N(0, I_{d}), keep {keep:g}", parameters, judge, reading, random=False)


def average_regime(name: str, keep: float, d: int, factor: float = 1.0) -> Regime:
    """Points of d equal coordinates, the farthest by Mahalanobis distance removed: the mean of m* over the rest.

    By 400,000 drawn numbers: the rise must exceed the normal quantile of the regime's failure probability times its
    standard error.
    """
    parameters = {"data": name, "share kept": keep, "d": d}
    reading = "on average over the points that remain"

    def judge(budget: Budget) -> RegimeResult:
        law = LAWS[name]
        rng = np.random.default_rng(budget.seed)
        points = law.rvs(size=(400_000 // d, d), random_state=rng)
        squares = ((points - law.mean()) ** 2 / law.var()).sum(axis=1)
        rest = points[squares <= np.quantile(squares, keep)]
        kept = squares[squares <= np.quantile(squares, keep)]
        after = ((rest - rest.mean(axis=0)) ** 2 / rest.var(axis=0)).sum(axis=1) * factor
        fall = float(kept.mean() - after.mean())
        error = float(kept.std() / np.sqrt(len(kept)))
        quantile = float(stats.norm.isf(budget.failure_probability))
        low, high = fall - quantile * error, fall + quantile * error
        verdict = Verdict.CONFIRMED if high < 0 else Verdict.REFUTED if low > 0 else Verdict.INCONCLUSIVE
        return RegimeResult(
            parameters=parameters,
            verdict=verdict,
            games=0,
            gap=fall,
            interval=(low, high),
            smallest_tolerance=max(high, 0.0),
            detectable_gap=2 * quantile * error,
            unit="m* n",
            reading=reading,
            route="400,000 drawn numbers",
            detail=f"mean of m* n over the rest: {kept.mean():.4f} before, d = {after.mean():.4f} after, by definition of C'",
            seed=budget.seed,
        )

    return Regime(f"{name}, keep {keep:g}, d = {d}", parameters, judge, reading)


DOMAIN = {
    "data": OneOf(tuple(LAWS), "any law"),
    "share kept": Between(0, 1, "judged at .8, .9, .99"),
    "point": OneOf(("every remaining point",)),
}
_KEEPS = (0.8, 0.9, 0.99)
CLAIMS = (
    Claim(
        "azize-onion",
        "azize",
        "Removing the outliers raises m* of the points that remain.",
        Kind.ORDERING,
        1e-7,
        "t^2",
        DOMAIN,
        tuple(each_regime(name, keep) for name in LAWS for keep in _KEEPS),
        partial(each_regime, "N(0, 1)", 0.9, True),
        corrected_by="azize-onion-corrected",
    ),
    Claim(
        "azize-onion-corrected",
        "azize",
        "Removing the points of largest Mahalanobis distance raises the average m* of the points that remain; it lowers m* of "
        "none of them if the law is a product of symmetric densities.",
        Kind.ORDERING,
        0.0,
        "m* n",
        DOMAIN,
        (
            *(
                each_regime(name, keep)
                for name in ("N(0, 1)", "Laplace(1)", "Uniform(-1, 1)", "Student t, 4.5 df")
                for keep in _KEEPS
            ),
            *(ball_regime(d, keep) for d in (2, 20) for keep in _KEEPS),
            *(average_regime(name, keep, d) for name in LAWS for keep in (0.8, 0.95) for d in (1, 20)),
        ),
        partial(average_regime, "N(0, 1)", 0.8, 20, 0.7),
        corrects="azize-onion",
        derivation=(
            "Before: the mean of ||z - mu||^2_{C^-1} over the points with ||z - mu||^2_{C^-1} <= r is at most its mean over all, d. "
            "After: mu' and C' are the moments of the points that remain, so the mean of ||z - mu'||^2_{C'^-1} is exactly d, and n has "
            "not grown. A symmetric law keeps its mean and loses variance in each coordinate, so each t^2 rises. A skewed law moves "
            "its mean towards some of the points that remain, and their m* falls, to 0 at the new mean."
        ),
    ),
)
"""Each point, or the average."""
