"""What the tests that reject where any step of a composition does prove of it."""

import math

import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff.any_step import any_step_tests, epsilon_of, log_delta_of


@pytest.mark.parametrize("copies", [1, 2, 1000, 10**6])
@pytest.mark.parametrize("mu", [0.0, 0.1, 3.0])
def test_rates_of_any_step_hold_in_high_precision(mu: float, copies: int):
    """1 - (1 - rate)^copies, the FPR rounded up and the TPR down; the TPR of a single Gaussian step by mpmath."""
    log_fpr, log_tpr = any_step_tests(mi.GaussianTradeOff(mu), copies)
    single, step = any_step_tests(mi.GaussianTradeOff(mu), 1)
    with mpmath.workdps(60):
        for k in range(0, log_fpr.size, 128):
            true = mpmath.log(-mpmath.expm1(copies * mpmath.log1p(-mpmath.exp(mpmath.mpf(single[k])))))
            assert float(log_fpr[k]) >= true * (1 + mpmath.mpf(2) ** -40) - mpmath.mpf(10) ** -12
            assert float(log_fpr[k]) - true <= 1e-11 * (1 + abs(true))
            caught = mpmath.log(-mpmath.expm1(copies * mpmath.log1p(-mpmath.exp(mpmath.mpf(step[k])))))
            assert abs(float(log_tpr[k]) - caught) <= 1e-11 * (1 + abs(caught))


@pytest.mark.parametrize(("mu", "copies"), [(0.01, 10_000), (0.3, 20), (5.0, 3), (1.0, 1)])
def test_the_bound_lies_below_a_composition_in_closed_form(mu: float, copies: int):
    epsilon = np.array([0.0, 0.5, 3.0, 20.0, 200.0])
    bound = log_delta_of(any_step_tests(mi.GaussianTradeOff(mu), copies), epsilon)
    truth = mi.compose(mi.GaussianTradeOff(mu), copies=copies)
    assert (bound <= truth.log_delta_bounds(epsilon)[1]).all()
    if copies == 1:
        near = epsilon <= 20.0  # beyond, the FPRs are rarer than those of the tests
        assert bound[near] == pytest.approx(truth.log_delta_bounds(epsilon[near])[0], rel=1e-2)
        at = epsilon_of(any_step_tests(mi.GaussianTradeOff(mu), 1), -50.0)
        assert truth.epsilon_bounds(log_delta=-50.0)[1] == pytest.approx(at, rel=1e-2)
        assert truth.log_delta_bounds(at)[1] >= -50.0


@pytest.mark.filterwarnings("ignore:.*both bounds hold")
@pytest.mark.parametrize("neighbours", ["remove", "add_or_remove"])
def test_an_epsilon_that_no_transform_resolves_has_a_lower_bound(neighbours: str):
    """A step's rare, large loss makes most of the sum, and the transform leaves the lower end at 0."""
    low, high = mi.dpsgd(8.0, 0.01, 1000, neighbours=neighbours).epsilon_bounds(1e-50)
    assert 0.05 < low < high < math.inf


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore:.*both bounds hold")
def test_a_delta_that_no_transform_resolves_has_a_lower_bound():
    """It is e^-255."""
    low, high = mi.dpsgd(4.0, 0.005, 1000, neighbours="remove").log_delta_bounds(1.0)
    assert -280.0 < low < -255.0 < high
