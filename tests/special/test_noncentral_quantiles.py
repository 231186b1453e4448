"""Quantiles: round trips over the domain, order, levels beyond float64, and what is refused."""

import numpy as np
import pytest

from mipsim.special import noncentral_chi_square as law

LEVELS = np.concatenate(
    [10.0 ** -np.arange(300, 0, -23.0), np.linspace(0.05, 0.95, 7), 1 - 10.0 ** -np.arange(2, 16, 3.0)]
)
FREEDOM, CENTRES = np.array([1, 1.3, 2, 4, 17, 300, 1e4, 1e6]), np.array([0, 1e-4, 0.7, 12, 900, 1e5, 1e8])


@pytest.mark.parametrize("upper", [False, True])
def test_quantiles_have_their_levels(upper: bool) -> None:
    q, d, centre = (a.ravel() for a in np.meshgrid(LEVELS, FREEDOM, CENTRES))
    x = (law.isf if upper else law.ppf)(q, d, centre)
    retained = x > 1e-300  # the law of d = 1 has its 1e-300 quantile near 1e-600
    x, q, d, centre = x[retained], q[retained], d[retained], centre[retained]
    assert retained.mean() > 0.9
    small_is_lower = (q < 0.5) != upper
    level = np.where(q < 0.5, np.log(q), np.log1p(-q))
    result = np.where(small_is_lower, law.logcdf(x, d, centre), law.logsf(x, d, centre))
    # d log tail / d log x: what an error of x by its own rounding does to the tail
    steep = np.exp(np.log(x) + law.logpdf(x, d, centre) - level)
    error_of_x = np.abs(result - level) / steep
    assert error_of_x.max() < 1e-12


@pytest.mark.parametrize("log_q", [-1e-18, -0.3, -800.0, -1e4, -1e6])
def test_log_levels(log_q: float) -> None:
    d, centre = np.array([2.0, 50.0, 1e5])[:, None], np.array([0.0, 30.0, 1e7])
    assert np.allclose(law.logsf(law.logisf(log_q, d, centre), d, centre), log_q, rtol=2e-11, atol=0)
    x = law.logppf(log_q, d, centre)
    assert np.allclose(law.logcdf(x, d, centre)[x > 0], log_q, rtol=2e-11, atol=0)
    # log P of a chi-square with two degrees of freedom: x = -2 log q, and -2 log(1 - q)
    assert law.logisf(log_q, 2, 0.0) == pytest.approx(-2 * log_q, rel=1e-13, abs=0)


def test_a_quantile_below_the_smallest_float_is_zero() -> None:
    assert law.ppf(1e-300, 1, 0.0) == 0.0
    assert law.logppf(-1e6, 2, 0.0) == 0.0
    levels = np.array([1e-300, 4e-290, 6e-290, 1e-280])  # across the ends of the kernel's range
    assert np.allclose(law.ppf(levels, 2, 0.0), 2 * levels, rtol=1e-12, atol=0)
    far = np.array([-1e12, -4e149, -6e149, -1e307])
    assert np.allclose(law.logisf(far, [[2], [1]], 0.0), -2 * far, rtol=1e-10, atol=0)


def test_random_levels_agree_with_the_tails() -> None:
    rng = np.random.default_rng(5)
    size = 20_000
    q, d = rng.random(size) ** 8, 10.0 ** rng.uniform(0, 6, size)
    centre = 10.0 ** rng.uniform(-3, 8, size)
    x = law.isf(q, d, centre)
    assert np.allclose(law.sf(x, d, centre), q, rtol=3e-11, atol=0)
