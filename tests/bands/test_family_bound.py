"""The calibrated lower bounds: exact miscoverage by enumeration, laws of every kind, and the rivals they must beat."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom, laplace, norm

from mipsim.bands import approximate_dp, family_bound, family_lower_bound, gdp, total_variation

Sampler = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def counts(out: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, int, np.ndarray, int]:
    """Counts at every score, which is a threshold chosen after the scores."""
    t = np.unique(np.concatenate([out, inside]))
    above = out.size - np.searchsorted(np.sort(out), t, side="right")
    return above, out.size, np.searchsorted(np.sort(inside), t, side="right"), inside.size


FAMILIES = [gdp(), total_variation(), approximate_dp(0.01)]


def order_statistics(rng: np.random.Generator, ranks: np.ndarray, n: int, draws: int) -> np.ndarray:
    """The order statistics of n uniforms of these ranks, sampled from their definition, shape (ranks, draws)."""
    return np.sort(rng.random((n, draws)), axis=0)[ranks - 1]


@pytest.mark.parametrize("family", FAMILIES, ids=["mu", "v", "epsilon"])
@pytest.mark.parametrize("risk", [0.3, 0.02])
def test_rare_draws_are_those_of_all_draws(family, risk: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both how many are below a level, and how they lie there, each at five standard errors; without 1/N both are off."""
    i, j, n0, n1, count = np.array([1, 4, 9, 15, 25]), np.array([18, 14, 8, 5, 1]), 30, 20, 100_000
    rng = np.random.default_rng(5)
    a, b = order_statistics(rng, i, n0, count), order_statistics(rng, j, n1, count)
    plain = np.max([f(a) + g(b) for f, g in family.forms], axis=0).min(axis=0)
    rare = family_bound._RareMinimum(family, i, n0, j, n1)
    level, whole = rare.level(5.0 * risk)

    def distances() -> tuple[float, float]:
        result, below = rare.draw(rng, count, level), plain[plain <= level]
        assert result.max() <= level
        share, chance = below.size / count, whole * result.size / count
        error = np.sqrt((share + whole * chance) / count)
        middle = float(np.median(below))
        half = abs(float((result <= middle).mean()) - 0.5) / np.sqrt(0.25 / result.size + 0.25 / below.size)
        return abs(share - chance) / error, half

    assert max(distances()) < 5.0
    monkeypatch.setattr(family_bound, "_refused", lambda draws, several: several < 0)
    assert max(distances()) > 5.0


@pytest.mark.evidence
@pytest.mark.parametrize("risk", [0.05, 0.3])
@pytest.mark.parametrize("family", FAMILIES, ids=["mu", "v", "epsilon"])
def test_the_exact_miscoverage_of_a_binary_score(family, risk: float) -> None:
    """Every outcome of 12 and 9 games summed with its probability: all that the bound can do on a single threshold."""
    n0, n1 = 12, 9
    bounds = np.array(
        [[family_lower_bound([x], n0, [y], n1, family, risk) for y in range(n1 + 1)] for x in range(n0 + 1)]
    )
    for a, b in [(0.5, 0.5), (0.3, 0.3), (0.01, 0.6), (0.6, 0.05), (0.1, 0.1)]:
        theta = max(float(f(np.array(a)) + g(np.array(b))) for f, g in family.forms)
        law = np.outer(binom.pmf(range(n0 + 1), n0, a), binom.pmf(range(n1 + 1), n1, b))
        assert law[bounds > max(theta, 0.0)].sum() <= risk


def mu_of(a: np.ndarray, b: np.ndarray) -> float:
    """The least mu of which the curve through these rates is the worst: the largest Phi^-1(1 - a) - Phi^-1(b)."""
    inner = (a > 0) & (a < 1) & (b > 0) & (b < 1)
    return float((-ndtri(a[inner]) - ndtri(b[inner])).max())


def laws() -> dict[str, tuple[Sampler, float]]:
    t, k = np.linspace(-30, 30, 60_001), np.arange(-1, 21)

    def spread(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.laplace(size=n), rng.laplace(1.5, size=n)

    def coins(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.binomial(20, 0.4, n), rng.binomial(20, 0.55, n)

    def rounded(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        return np.round(rng.normal(size=n)), np.round(rng.normal(1.0, size=n))

    def rare(
        rng: np.random.Generator, n: int
    ) -> tuple[np.ndarray, np.ndarray]:  # strong on a tenth of the scores
        return rng.normal(size=n), np.where(rng.random(n) < 0.1, 3.0, 0.0) + rng.normal(size=n)

    def answers(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        return (rng.random(n) < 0.25) * 1.0, (rng.random(n) < 0.75) * 1.0

    half = np.arange(-8, 9) + 0.5
    return {
        "Gaussian": (lambda rng, n: (rng.normal(size=n), rng.normal(1.0, size=n)), 1.0),
        "Laplace": (spread, mu_of(laplace.sf(t), laplace.cdf(t - 1.5))),
        "binomial": (coins, mu_of(binom.sf(k, 20, 0.4), binom.cdf(k, 20, 0.55))),
        "rounded": (rounded, mu_of(norm.sf(half), norm.cdf(half - 1.0))),
        "rare": (rare, mu_of(norm.sf(t), 0.9 * norm.cdf(t) + 0.1 * norm.cdf(t - 3.0))),
        "randomised response": (answers, 2 * float(ndtri(0.75))),
    }


SMOOTH = ("Gaussian", "Laplace")
"""The kindest laws, run by name."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    "name", [pytest.param(item, marks=pytest.mark.slow) if item in SMOOTH else item for item in laws()]
)
def test_the_bound_holds_for_scores_of_any_law(name: str) -> None:
    """Misses of 50 runs stay below the 1e-9 quantile of the nominal binomial, and the bound is not trivial."""
    sampler, mu = laws()[name]
    rng, runs, risk = np.random.default_rng(11), 50, 0.05
    result = [family_lower_bound(*counts(*sampler(rng, 300)), gdp(), risk) for _ in range(runs)]
    assert sum(bound > mu for bound in result) <= binom.isf(1e-9, runs, risk)
    # The largest mu of the rare law is that of rates of 1e-6, which 300 games do not see.
    assert np.median(result) > (0.0 if name == "rare" else 0.4 * mu)


def test_the_best_threshold_without_calibration_would_be_caught() -> None:
    """The same statistic, taken as a bound as it stands at its own level, misses far more often than stated."""
    rng, runs, risk, n = np.random.default_rng(12), 150, 0.05, 300
    values = family_bound._Values(gdp(), n, n, float(-ndtri(risk)))
    missed = 0
    for _ in range(runs):
        x, _, y, _ = counts(rng.normal(size=n), rng.normal(1.0, size=n))
        missed += values.largest(x, y) > 1.0
    assert missed > binom.isf(1e-9, runs, risk)


@pytest.mark.parametrize("family", FAMILIES, ids=["mu", "v", "epsilon"])
def test_rounding_leaves_out_no_pair(family, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal values some lie below the statistic by rounding: here by errors of the rates as large as are allowed for."""
    n, exact = 3_000, family_bound._Values(family, 3_000, 3_000, 2.0)
    quantile = family_bound.betaincinv

    def off(a: np.ndarray, b: np.ndarray, p: float) -> np.ndarray:
        rate = quantile(a, b, p)
        return rate + family_bound._RATE * np.minimum(rate, 1.0 - rate) * np.cos(1e3 * a)

    rounded = family_bound._Values(family, n, n, 2.0)
    monkeypatch.setattr(family_bound, "betaincinv", off)
    for j in (1, 40, 1_000, 1_700, 2_900):
        reached = np.full(exact.ranks.size, j)
        with monkeypatch.context() as patch:
            patch.setattr(family_bound, "betaincinv", quantile)
            level = exact.at(reached, 0.0)
            pairs = [(exact.at(np.full(exact.ranks.size, other), 0.0), other) for other in exact.ranks]
        for i in range(0, exact.ranks.size, 9):
            result = rounded.most(float(rounded.at(reached, -1.0)[i]))
            for values, other in pairs:
                assert (result[values >= level[i]] >= other).all()


@pytest.mark.evidence
def test_a_truth_five_per_cent_larger_is_distinguished() -> None:
    """At 20,000 games the bound of scores of mu = 2.1 passes 2 in nearly all runs, and that of mu = 2 in few."""
    rng, runs, risk, n = np.random.default_rng(13), 15, 0.05, 20_000
    passed = [
        sum(
            family_lower_bound(*counts(rng.normal(size=n), rng.normal(mu, size=n)), gdp(), risk) > 2.0
            for _ in range(runs)
        )
        for mu in (2.0, 2.1)
    ]
    assert passed[0] <= binom.isf(1e-9, runs, risk)
    assert passed[1] >= binom.ppf(1e-9, runs, 0.9)


def test_swapped_or_perfect_scores() -> None:
    assert family_lower_bound([10, 5, 0], 10, [0, 5, 10], 10, gdp(), 0.05) == 0.0
    perfect = family_lower_bound([0], 1000, [0], 1000, gdp(), 0.05)
    assert 4.0 < perfect < 7.0
    assert 0.98 < family_lower_bound([0], 1000, [0], 1000, total_variation(), 0.05) < 1.0
    assert family_lower_bound([1000], 1000, [1000], 1000, gdp(), 0.05) == 0.0


def test_equal_counts_give_equal_bounds_and_few_thresholds_are_no_fault() -> None:
    many = counts(*(np.random.default_rng(1).normal(m, size=500) for m in (0.0, 1.0)))
    assert family_lower_bound(*many, gdp(), 0.05) == family_lower_bound(*many, gdp(), 0.05)
    few = many[0][::100], many[1], many[2][::100], many[3]
    assert 0 < family_lower_bound(*few, gdp(), 0.05) <= family_lower_bound(*many, gdp(), 0.05)
