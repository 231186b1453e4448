"""The exact routes of the subset game against each other, against quadrature and against search."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy import integrate

from verify.izzo.laws.linear_programs import (
    adjacent_pairs,
    bracket_injection,
    largest_dp_eta,
    largest_posterior_odds,
    matching_size,
)
from verify.izzo.laws.subset_enumeration import finite_eta, half_subsets, subsets
from verify.izzo.laws.subset_laplace import laplace_difference, laplace_eta, scaled_laplace_eta
from verify.izzo.laws.subset_shift import planar_shift_eta


@pytest.mark.parametrize(("n", "k"), [(1, 0), (4, 2), (5, 5), (6, 1)])
def test_subsets_are_the_combinations(n, k):
    assert [tuple(np.flatnonzero(f)) for f in subsets(n, k)] == list(combinations(range(n), k))


@pytest.mark.parametrize("n", [2, 4, 6])
def test_finite_eta_is_the_best_of_all_attacks(n):
    rng = np.random.default_rng(n)
    law = rng.dirichlet(np.full(4, 0.4), size=len(half_subsets(n)))
    for target in range(n):
        flags = half_subsets(n)[:, target]
        best = max(
            float(np.where(flags, law @ np.array(g), 1 - law @ np.array(g)).mean())
            for g in product((0.0, 1.0), repeat=4)
        )
        assert finite_eta(law, n)[target] == pytest.approx(best - 0.5, abs=1e-14)


@pytest.mark.parametrize("scale", [0.1, 1.0, 40.0])
def test_laplace_mixtures_against_quadrature(scale):
    rng = np.random.default_rng(3)
    values = np.round(rng.standard_cauchy(len(half_subsets(4))), 2)
    exact = laplace_eta(values, scale, 4)
    scaled = scaled_laplace_eta(values, np.full(len(values), scale), 4)
    for target in range(4):
        weights = np.where(half_subsets(4)[:, target], 1.0, -1.0) / 6

        def difference(x: float, w: np.ndarray = weights) -> float:
            return abs(float(np.exp(-np.abs(x - values) / scale) @ w)) / (2 * scale)

        cuts = np.unique(np.concatenate([values, [values.min() - 45 * scale, values.max() + 45 * scale]]))
        total = sum(integrate.quad(difference, a, b, limit=200, epsabs=1e-12)[0] for a, b in pairwise(cuts))
        assert exact[target] == pytest.approx(total / 2, abs=1e-8)
    np.testing.assert_allclose(scaled, exact, atol=1e-9)


def test_unequal_scales_against_quadrature():
    values, scales = np.array([0.0, 1.0, 2.0, 0.5, 1.5, 4.0]), np.array([0.5, 1.0, 3.0, 0.2, 2.0, 8.0])
    weights = np.where(half_subsets(4)[:, 1], 1.0, -1.0) / 6

    def difference(x: float) -> float:
        return abs(float(np.exp(-np.abs(x - values) / scales) / (2 * scales) @ weights))

    cuts = np.unique(np.concatenate([values, np.linspace(-300.0, 300.0, 61)]))
    total = sum(integrate.quad(difference, a, b, limit=300)[0] for a, b in pairwise(cuts))
    result = scaled_laplace_eta(values, scales, 4)[1]
    assert result == pytest.approx(total / 2, abs=1e-6)
    assert result <= total / 2 + 1e-9


def test_each_laplace_law_integrates_to_its_weight():
    assert laplace_difference(np.array([2.0, 2.0]), np.array([0.25, -1.0]), 3.0) == pytest.approx(0.75)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 3), (6, 3)])
def test_adjacent_sets_differ_by_a_single_record(n, k):
    flags = subsets(n, k)
    pairs = adjacent_pairs(flags)
    assert len(pairs) == len(flags) * k * (n - k) // 2
    assert ((flags[pairs[:, 0]] ^ flags[pairs[:, 1]]).sum(axis=1) == 2).all()


def test_the_linear_program_is_not_beaten_by_random_algorithms():
    """Random binary algorithms, scaled until they are exactly (epsilon, delta)-DP, stay below its value."""
    n, delta = 4, 0.05
    flags = half_subsets(n)
    pairs = adjacent_pairs(flags)
    rng = np.random.default_rng(2)
    for epsilon in (0.2, 1.5):
        (attained, ceiling), best = largest_dp_eta(n, epsilon, delta), 0.0
        for _ in range(300):
            direction = rng.normal(size=len(flags)) + 2 * flags[:, 0]
            for size in np.geomspace(1e-3, 1.0, 30):
                q = np.clip(0.5 + size * direction, 0, 1)
                a, b = np.concatenate([q[pairs], q[pairs][:, ::-1]]).T
                slope = np.exp(epsilon)
                if (a <= slope * b + delta).all() and (1 - a <= slope * (1 - b) + delta).all():
                    best = max(best, 0.5 * (q[flags[:, 0]].mean() - q[~flags[:, 0]].mean()))
        assert 0.3 * ceiling < best <= ceiling + 1e-12
        assert ceiling - 1e-12 <= attained <= ceiling + 1e-12


@pytest.mark.parametrize("epsilon", [0.0, 1e-3, 1.0, 8.0, 15.0])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (5, 3), (6, 3), (8, 7)])
def test_the_posterior_odds_lie_between_proven_bounds(n, k, epsilon):
    """e^epsilon times the prior odds is the number: attained, and never exceeded, to rounding."""
    known = np.exp(epsilon) * (n - k) / k
    low, high = largest_posterior_odds(n, k, epsilon)
    assert low <= known * (1 + 1e-12) <= high * (1 + 2e-12)
    assert high - low <= 1e-9 * known


@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 3), (6, 3), (8, 5), (9, 9)])
def test_the_bracket_injection_is_injective(n, k):
    before, after = bracket_injection(n, k)
    assert len(np.unique(after, axis=0)) == len(before) == matching_size(n, k)[1] == matching_size(n, k)[0]
    assert not before[:, 0].any()
    assert after[:, 0].all()
    assert ((before ^ after).sum(axis=1) == 2).all()


@pytest.mark.parametrize("moment", [3.0, 40.0])
def test_the_planar_number_against_literal_draws(moment):
    """200,000 literal draws of the printed noise: 6.1 standard errors, 1e-9 each."""
    rng = np.random.default_rng(6)
    draws, scale = 200_000, 3.0
    y = rng.gamma(1 / moment, size=(draws, 2)) ** (1 / moment) * rng.choice([-1, 1], size=(draws, 2))
    x = (
        rng.exponential(scale, draws)[:, None]
        * y
        / np.mean(np.abs(y) ** moment, axis=1)[:, None] ** (1 / moment)
    )

    def norm(z: np.ndarray) -> np.ndarray:
        most = np.abs(z).max(axis=1)
        return most * np.mean((np.abs(z) / most[:, None]) ** moment, axis=1) ** (1 / moment)

    sign = np.sign(norm(x + 2.0) - norm(x))
    result = 0.5 * sign.mean()
    assert abs(result - planar_shift_eta(scale, moment)) < 6.1 * 0.5 / np.sqrt(draws)
    assert abs(result - planar_shift_eta(1.2 * scale, moment)) > 6.1 * 0.5 / np.sqrt(draws)
