"""Sums of independent terms: brackets by Berry and Esseen against enumerations, exact laws and differences of closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from mipsim import GaussianTradeOff
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.gap import gap_between
from mipsim.referee.kinds import Equality
from verify.azize.laws.enumeration import roc_vertices
from verify.azize.laws.normal_sums import THIRD, NormalCurve, linear_curve, sum_curve, sum_law
from verify.azize.laws.z_moments import World
from verify.berry_esseen import OTHER_LAWS


@pytest.mark.parametrize("seed", range(8))
def test_the_bracket_of_a_linear_score_holds_by_enumeration(seed):
    """And the bracket is not so wide as to hold whatever mu is: with mu off by 1 it is broken at n = 60, d = 2."""
    rng = np.random.default_rng(seed)
    n, p, w = 60, rng.uniform(0.2, 0.8, 2), rng.normal(size=2)
    z, sums, sd = np.array([1.0, 0.0]), np.arange(61), np.sqrt(p * (1 - p))
    score = np.add.outer(w[0] * sums, w[1] * sums).ravel().round(10)
    out = np.outer(*(stats.binom.pmf(sums, n, q) for q in p)).ravel()
    inside = np.outer(*(stats.binom.pmf(sums - v, n - 1, q) for q, v in zip(p, z, strict=True))).ravel()
    alpha, power = roc_vertices(score, out, inside)
    curve = linear_curve(w * sd, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, np.ones(2), n)

    def broken(normal: NormalCurve) -> bool:
        low, high = normal.beta_bounds(np.clip(alpha, 0, 1))
        return bool((low - (1 - power) > 1e-9).any() or ((1 - power) - high > 1e-9).any())

    assert not broken(curve)
    assert broken(NormalCurve(curve.mu + 1.0, curve.scale, curve.error_out, curve.error_in))


def test_a_sum_is_as_near_to_normal_as_its_bracket_says():
    """100 exponential numbers: the exact distance, skewness / (6 sqrt(2 pi)) to first order, is below the bound."""
    law = sum_law([(1.0, 100.0, World(1.0, 1.0, 12 / np.e - 2))])
    x = np.linspace(70, 140, 2001)
    distance = np.abs(stats.gamma(100).cdf(x) - stats.norm(law.mean, law.variance**0.5).cdf(x)).max()
    assert distance == pytest.approx(0.2 / (6 * np.sqrt(2 * np.pi)), rel=0.05)
    assert distance < law.error
    assert law.error == pytest.approx(OTHER_LAWS * (12 / np.e - 2) / 10)


def test_the_gap_of_normal_curves_is_their_difference_in_mu():
    law = sum_law([(1.0, 50.0, World(0.0, 1.0, 0.0))])
    moved = sum_law([(1.0, 50.0, World(0.2, 1.0, 0.0))])
    result = gap_between(Claim(Equality(1.0, floor=1e-3), GaussianTradeOff(1.0)), sum_curve(law, moved))
    assert result.over.value == pytest.approx(0.2 * 50**0.5 - 1.0)
    assert result.over.value == pytest.approx(-result.under.value)
    assert np.ptp(result.over[1:]) < 0.0201 * result.over.value  # what refinement leaves of a gap


def test_the_three_ways_to_write_a_rate_agree():
    curve, alpha = NormalCurve(1.2, 0.9, 0.001, 0.002), np.array([1e-3, 0.2, 0.9])
    np.testing.assert_allclose(curve.beta(alpha), 1 - curve.tpr_at(alpha), atol=4e-15)
    np.testing.assert_allclose(stats.norm.ppf(curve.beta(alpha)), curve.probit_beta(alpha))
    low, high = curve.beta_bounds(alpha)
    normal = stats.norm.cdf((stats.norm.isf(alpha) - 1.2) / 0.9)
    assert (low < normal).all()
    assert (normal < high).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("df", [3.01, 4.5, 9.0, 400.0, 1e6])
def test_the_third_moment_of_student_is_that_of_its_density(df):
    edges = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 40)])
    result = sum(integrate.quad(lambda x: 2 * x**3 * stats.t.pdf(x, df), a, b)[0] for a, b in pairwise(edges))
    # Beyond 1000 the density is c x^-(df + 1), but for a factor 1 + O(df^2 / 1e6).
    far = 2 * stats.t.pdf(1e3, df) * 1e12 / (df - 3)
    assert THIRD["student"](df) * (df / (df - 2)) ** 1.5 == pytest.approx(result + far, rel=1e-4)


@pytest.mark.parametrize("df", [1.5, 2.5, 3.0])
def test_student_without_a_third_moment_has_no_bound(df):
    curve = linear_curve(np.ones(1), np.ones(1), np.array([THIRD["student"](df)]), np.ones(1), 100)
    assert curve.error_out == curve.error_in == np.inf
    assert [float(end[0]) for end in curve.beta_bounds(np.array([0.3]))] == [0.0, 1.0]
