"""The proven rate of lemma 5.1's game: its moments by quadrature, its bound against the exact laws, its fall with the steps."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from mipsim.referee.judging.law import contradicts
from mipsim.tradeoff import GaussianTradeOff
from verify.leemann.laws.long_run_rate import LEAST_STEPS, distance, game_rate, moments
from verify.leemann.laws.problems import GAUSSIAN
from verify.leemann.statements.finite_run import composed


@pytest.mark.parametrize("s", [0.06, 0.3, 0.6, 1.5])
def test_the_moments_are_those_of_the_ratio(s: float) -> None:
    result = moments(s)
    powers = (
        (result.second, abs, 2),
        (result.third, float, 3),
        (result.absolute, abs, 3),
        (result.fourth, abs, 4),
    )
    for value, base, power in powers:

        def density(x: float, base=base, power=power) -> float:
            return float(base(np.expm1(s * x - s * s / 2)) ** power * norm.pdf(x))

        integral = integrate.quad(density, -12, 20, points=[s / 2], limit=500)[0]
        assert value == pytest.approx(integral, rel=1e-7)


@pytest.mark.parametrize(("s", "c"), [(0.3, 0.2), (0.5, 2.0), (0.6, 1.0), (0.3, 6.0)])
def test_the_constant_serves_all_larger_numbers_of_steps(s: float, c: float) -> None:
    rate = game_rate(s, c)
    assert rate is not None
    scaled = [distance(s, c, LEAST_STEPS * 2**k) * (LEAST_STEPS * 2**k) ** 0.5 for k in range(20)]
    assert all(later <= sooner for sooner, later in pairwise(scaled))
    assert rate.at(LEAST_STEPS) == pytest.approx(distance(s, c, LEAST_STEPS))


def test_exact_curves_keep_within_it_and_another_limit_does_not() -> None:
    rate = game_rate(0.6, 1.0)
    assert rate is not None
    truth = composed(GAUSSIAN, 0.6, 1.0 / LEAST_STEPS**0.5, LEAST_STEPS)
    assert not contradicts(rate.limit, truth, rate.at(LEAST_STEPS))
    assert contradicts(rate.limit, truth, 0.01 * rate.at(LEAST_STEPS))  # it is loose
    assert contradicts(GaussianTradeOff(1.5), truth, rate.at(LEAST_STEPS))


def test_conditions_that_fail_give_no_rate() -> None:
    assert game_rate(0.3, 17.0) is None  # a rate above 1/2 at the first number of steps
    assert game_rate(2.0, 8.0) is None  # a bound that is none
