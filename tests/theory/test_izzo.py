"""Every formula against an independent route: enumeration, linear programs, quadrature, mpmath or fractions."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, isqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import betainc

from mipsim.theory import izzo, izzo_example
from verify.izzo.laws.noise_bounds import corollary_10_bounds, corollary_10_interval, largest_eta
from verify.izzo.laws.subset_enumeration import half_subsets
from verify.izzo.laws.subset_laplace import laplace_eta
from verify.izzo.laws.subset_shift import planar_shift_eta
from verify.izzo.statements.dp import eta_from_dp
from verify.izzo.statements.noise import mip_tradeoff


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3, 5.0, 60.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.4, 1.0])
def test_eta_of_dp_is_the_printed_formula(epsilon, delta):
    e, d = mpmath.mpf(epsilon), mpmath.mpf(delta)
    printed = d + (1 - d) / (1 + mpmath.exp(-e)) - mpmath.mpf("0.5")
    assert eta_from_dp(epsilon, delta) == pytest.approx(float(str(printed)), rel=1e-13, abs=1e-300)


@pytest.mark.parametrize("eta", [1e-12, 0.01, 0.25, 0.4999])
def test_epsilon_inverts_it(eta):
    assert eta_from_dp(izzo.epsilon_from_eta(eta), 0.0) == pytest.approx(eta, rel=1e-13)
    assert izzo.epsilon_from_eta(eta) == pytest.approx(np.log1p(2 * eta) - np.log1p(-2 * eta), rel=1e-9)


def test_the_noise_scales_are_the_printed_ones():
    assert izzo.mip_noise_scale(0.1, 3.0) == pytest.approx(61.6**2 * 3.0, rel=1e-13)
    assert izzo.noise_constant(0.1, 4.0) == pytest.approx(75.0**1.5, rel=1e-13)
    assert izzo.dp_noise_scale(0.25, 2.0) == pytest.approx(2.0 / np.log(3.0), rel=1e-13)


def test_the_sufficient_scale_suffices_and_little_less_does_not():
    """Against exact mixtures: random outputs of n = 6 stay below eta; two outputs at -1 and 1 nearly reach it."""
    rng = np.random.default_rng(0)
    for eta in (0.01, 0.2, 0.45):
        for _ in range(20):
            values = rng.standard_cauchy(len(half_subsets(6)))
            sigma = float(np.abs(values - values.mean()).mean())
            assert laplace_eta(values, izzo.sufficient_noise_scale(eta, sigma), 6).max() <= eta
    eta = 1e-3
    two = np.array([1.0, -1.0])
    assert laplace_eta(two, izzo.sufficient_noise_scale(eta, 1.0), 2)[0] == pytest.approx(eta, rel=0.01)
    assert laplace_eta(two, 0.98 * izzo.sufficient_noise_scale(eta, 1.0), 2)[0] > eta


@pytest.mark.parametrize("moment", [0.3, 0.7, 1.0, 2.0])
def test_the_largest_eta_is_a_ceiling(moment):
    rng = np.random.default_rng(1)
    for c in (0.5, 3.0, 50.0):
        for _ in range(20):
            values = rng.standard_cauchy(len(half_subsets(4))) ** 3
            sigma = float((np.abs(values - values.mean()) ** moment).mean() ** (1 / moment))
            assert laplace_eta(values, c * sigma, 4).max() <= largest_eta(c, moment) + 1e-12


def by_radius(c: float, dimension: int, law: Any) -> float:
    """Noise of norm r in any direction names the wrong one of two points at distance 2 where |U_1| < 1/r: half of that probability."""
    cuts = sorted({1.0, dimension**0.5, *law.ppf([1e-12, 0.01, 0.5, 0.99]), float(law.isf(1e-16))})
    if dimension == 1:
        return 0.5 * float(law.cdf(1.0))
    near = lambda r: betainc(0.5, 0.5 * (dimension - 1), min(1.0, r**-2.0)) * law.pdf(r)  # noqa: E731
    beyond = [quad(near, *ends, epsabs=1e-15, limit=400)[0] for ends in pairwise(x for x in cuts if x >= 1.0)]
    return 0.5 * (float(law.cdf(1.0)) + sum(beyond))


@pytest.mark.parametrize("dimension", [1, 2, 3, 50, 100_000])
@pytest.mark.parametrize("c", [0.7, 600.0])
def test_corollary_10_by_the_angle_and_by_the_radius(dimension, c):
    low, high = corollary_10_interval(c, dimension)
    assert low * (1 - 1e-9) <= by_radius(c, dimension, stats.expon(scale=c)) <= high * (1 + 1e-9)
    if dimension > 1:
        assert not low <= by_radius(c, dimension, stats.gamma(dimension, scale=c)) <= high


@pytest.mark.parametrize("eta", [0.0, 0.1, 0.5])
def test_the_curve_of_mip_has_the_advantage_2_eta(eta):
    curve = mip_tradeoff(eta)
    grid = np.linspace(0, 1, 101)
    np.testing.assert_allclose(curve.beta(grid), np.maximum(0.0, 1 - grid - 2 * eta), atol=1e-15)


def exact_outputs(n: int, reading: str, digits: int = 60) -> dict[tuple[int, ...], Fraction]:
    """A of every subset in fractions; the square root is rounded down at 60 digits."""
    m = n // 2
    size = comb(n, m)
    root = Fraction(isqrt(size * 10 ** (2 * digits)), 10**digits)
    s = root if reading == "text" else 1 / root
    records = [Fraction(2**i) for i in range(n - 1)] + [s - (2 ** (m - 1) - 1)]
    return {c: 1 / sum((records[i] for i in c), Fraction(0)) for c in combinations(range(n), m)}


@pytest.mark.parametrize("reading", izzo_example.READINGS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 10])
def test_proposition_11_by_fractions(n, reading):
    value = exact_outputs(n, reading)
    mean = sum(value.values()) / len(value)
    variance = float(sum(v * v for v in value.values()) / len(value) - mean**2)
    low, high = izzo_example.moments(n, reading).variance
    assert low - 1e-12 <= variance <= high + 1e-12
    assert high - low < 1e-3 * variance + 1e-12
    swaps = (
        (c, tuple(sorted((set(c) - {i}) | {j}))) for c in value for i in c for j in set(range(n)) - set(c)
    )
    largest = max(abs(value[c] - value[other]) for c, other in swaps)
    assert izzo_example.sensitivity(n, reading) == pytest.approx(float(largest), rel=1e-12)


def test_the_variance_stays_and_the_sensitivity_grows():
    for n in (60, 500, 1000):
        assert izzo_example.moments(n).variance == pytest.approx((1.0, 1.0), abs=1e-9)
        growth = comb(n, n // 2)
        assert izzo_example.sensitivity(n) == pytest.approx(float(str(mpmath.sqrt(growth))), rel=1e-9)


@pytest.mark.parametrize("n", [24, 36, 48])
def test_the_range_in_which_mip_wins(n):
    low, high = izzo_example.mip_wins_from(n, 1.0)
    delta = izzo_example.sensitivity(n)
    grid = np.linspace(0.0005, 0.4995, 999)
    wins = np.array(
        [izzo.mip_noise_scale(float(e), 1.0) < izzo.dp_noise_scale(float(e), delta) for e in grid]
    )
    np.testing.assert_array_equal(wins, (grid > low) & (grid < high))
    # For small eta the crossing is at 4 x 6.16^2 sigma / Delta.
    if n > 24:
        assert low == pytest.approx(4 * 6.16**2 / delta, rel=1e-4)


@pytest.mark.parametrize("dimension", [1, 2, 10, 1000, 100_000, 10_000_000])
@pytest.mark.parametrize("eta", [0.4, 0.05, 1e-3])
def test_the_bounds_of_corollary_10_hold_where_the_number_is_known(dimension, eta):
    """At M = 2 in every dimension; the bound below is the number itself in dimension 1, and near it where eta is near 1/2."""
    c = izzo.noise_constant(eta, 2.0, izzo.CONSTANT_FROM_2)
    low, high = corollary_10_bounds(c, dimension, 2.0)
    least, most = corollary_10_interval(c, dimension)
    assert low <= most
    assert least <= high
    assert high <= 0.5
    if dimension == 1:
        assert low == high == least == most


@pytest.mark.parametrize("moment", [2.0, 8.0, 100.0, 1000.0])
def test_the_bounds_of_corollary_10_hold_in_the_plane(moment):
    c = izzo.noise_constant(1e-3, moment, izzo.CONSTANT_FROM_2)
    low, high = corollary_10_bounds(c, 2, moment)
    assert low < planar_shift_eta(c, moment) < high
