"""The calibrated lower bounds: exact miscoverage by enumeration, laws of every kind, and the rivals they must beat."""

import numpy as np
import pytest
from scipy.stats import binom

from mipsim.bands import approximate_dp, family_bound, family_lower_bound, gdp, total_variation

FAMILIES = [gdp(), total_variation(), approximate_dp(0.01)]


def order_statistics(rng: np.random.Generator, ranks: np.ndarray, n: int, draws: int) -> np.ndarray:
    """The order statistics of n uniforms of these ranks, sampled from their definition, shape (ranks, draws)."""
    return np.sort(rng.random((n, draws)), axis=0)[ranks - 1]


@pytest.mark.parametrize("family", FAMILIES, ids=["mu", "v", "epsilon"])
@pytest.mark.parametrize("risk", [0.3, 0.02])
def test_rare_draws_are_those_of_all_draws(family, risk: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both how many are below a level, and how they lie there, each at five standard errors; without 1/N both are off."""
    i, j, n0, n1, count = np.array([1, 4, 9, 15, 25]), np.array([18, 14, 8, 5, 1]), 30, 20, 40_000
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


def test_swapped_or_perfect_scores() -> None:
    assert family_lower_bound([10, 5, 0], 10, [0, 5, 10], 10, gdp(), 0.05) == 0.0
    perfect = family_lower_bound([0], 1000, [0], 1000, gdp(), 0.05)
    assert 4.0 < perfect < 7.0
    assert 0.98 < family_lower_bound([0], 1000, [0], 1000, total_variation(), 0.05) < 1.0
    assert family_lower_bound([1000], 1000, [1000], 1000, gdp(), 0.05) == 0.0
