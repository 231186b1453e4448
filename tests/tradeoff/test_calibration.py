"""Calibrated noise reaches its target, and no less noise does."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

import mipsim as mi


@pytest.mark.parametrize("steps", [1, 25])
def test_gaussian_noise_in_closed_form(steps: int) -> None:
    root = steps**0.5
    assert mi.find_noise_multiplier_for_mu(0.3, steps=steps) == pytest.approx(root / 0.3, rel=1e-10)
    mu = 2 * ndtri(0.5 * (1 + 0.2))
    assert mi.find_noise_multiplier_for_advantage(0.2, steps=steps) == pytest.approx(root / mu, rel=1e-10)
    shift = ndtri(0.05) - ndtri(1e-3)
    assert mi.find_noise_multiplier_for_tpr_at_fpr(0.05, 1e-3, steps=steps) == pytest.approx(
        root / shift, rel=1e-10
    )
    assert mi.find_noise_multiplier_for_err_rates(1e-3, 0.95, steps=steps) == pytest.approx(
        root / shift, rel=1e-10
    )


def test_laplace_noise_in_closed_form() -> None:
    # A single release: advantage 1 - e^(-mu/2), delta(eps) = 1 - e^((eps - mu)/2).
    assert mi.find_noise_multiplier_for_advantage(0.3, noise="laplace") == pytest.approx(
        -0.5 / np.log(0.7), rel=1e-9
    )
    result = mi.find_noise_multiplier_for_epsilon_delta(1.0, 0.1, noise="laplace")
    assert result == pytest.approx(1 / (1.0 - 2 * np.log(0.9)), rel=1e-9)
    assert mi.find_noise_multiplier_for_epsilon_delta(1.0, 0.0, noise="laplace") == pytest.approx(
        1.0, rel=1e-9
    )


@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_noise_for_a_mu_of_several_steps(rate: float) -> None:
    """Of sub-sampled steps mu is that of full ones, sqrt(steps) / noise: their rarest losses are as large."""
    noise = mi.find_noise_multiplier_for_mu(0.5, sampling_rate=rate, steps=10)
    assert noise == pytest.approx(10**0.5 / 0.5, rel=1e-6)
    assert mi.dpsgd(noise, rate, 10).least_mu() <= 0.5
    assert mi.dpsgd(0.999 * noise, rate, 10).least_mu_bounds()[0] > 0.5


@pytest.mark.parametrize("seed", range(20))
def test_no_noise_is_too_little_by_a_rounding(seed: int):
    """In rational numbers: mu^2 = steps / noise^2, and of Laplace noise epsilon is steps / noise, must be at most the request."""
    rng = np.random.default_rng(seed)
    steps, mu, epsilon = (
        int(rng.integers(1, 10**6)),
        float(rng.uniform(0.01, 2.0)),
        float(rng.uniform(0.01, 50.0)),
    )
    noise = mi.find_noise_multiplier_for_mu(mu, steps=steps)
    assert (Fraction(mu) * Fraction(noise)) ** 2 >= steps
    noise = mi.find_noise_multiplier_for_mu(mu, steps=steps, neighbours="replace", sampling="fixed_size")
    assert (Fraction(mu) * Fraction(noise)) ** 2 >= 4 * steps
    noise = mi.find_noise_multiplier_for_epsilon_delta(epsilon, 0.0, noise="laplace")
    assert Fraction(noise) * Fraction(epsilon) >= 1
    assert noise * epsilon <= 1.0 + 1e-11


@pytest.mark.parametrize("least", [1e-3, 0.7])
def test_the_least_noise_that_is_returned_was_tried(least: float):
    tried = []

    def curve(noise: float) -> mi.AbstractTradeOff:
        tried.append(noise)
        return mi.GaussianTradeOff(0.1)

    assert mi.calibrate(curve, mu=1.0, least=least) == least
    assert least in tried


_CLOSED, _COMPOSED = {"steps": 25}, {"sampling_rate": 0.1, "steps": 20}
_SHORT = {"sampling_rate": 0.002, "steps": 10_000}
_EPSILON = mi.find_noise_multiplier_for_epsilon_delta, (2.0, 1e-5), "epsilon at delta 1e-05", 2.0
_ADVANTAGE = mi.find_noise_multiplier_for_advantage, (0.2,), "advantage", 0.2
_TPR = mi.find_noise_multiplier_for_tpr_at_fpr, (0.1, 0.01), "TPR at FPR 0.01", 0.1


@pytest.mark.parametrize(
    ("find", "target", "number", "most", "how"),
    [
        (*_EPSILON, _CLOSED),
        (*_ADVANTAGE, _CLOSED),
        (*_TPR, _CLOSED),
        (mi.find_noise_multiplier_for_mu, (0.7,), "least mu of mu-GDP", 0.7, _CLOSED),
        (mi.find_noise_multiplier_for_err_rates, (0.01, 0.9), "TPR at FPR 0.01", 0.1, _CLOSED),
        (*_EPSILON, _COMPOSED),
        (*_ADVANTAGE, _COMPOSED),
        pytest.param(*_TPR, _COMPOSED, marks=pytest.mark.evidence),
        (*_EPSILON, {"sampling_rate": 0.1, "steps": 1}),
        pytest.param(*_EPSILON, _SHORT, marks=pytest.mark.evidence),
        *(
            pytest.param(*target, _COMPOSED | design, marks=pytest.mark.evidence)
            for target, design in (
                (_EPSILON, {"neighbours": "replace", "sampling": "fixed_size"}),
                (_EPSILON, {"neighbours": "add"}),
                (_ADVANTAGE, {"neighbours": "remove"}),
            )
        ),
    ],
)
def test_an_account_of_the_found_noise_prints_no_end_above_the_target(
    find: Any, target: tuple[float, ...], number: str, most: float, how: dict[str, Any]
) -> None:
    """Control: 0.1% less noise, and it does."""
    noise = find(*target, **how)
    requested: dict[str, Any] = {"delta": [], "epsilon": [], "fpr": []}
    requested |= (
        {"epsilon": 2.0, "delta": 1e-5} if number == _EPSILON[2] else {"fpr": 0.01} if "TPR" in number else {}
    )
    ends = [mi.account(s, **how, **requested).numbers for s in (noise, 0.999 * noise)]
    assert ends[0][number][1] <= most < ends[1][number][1]
    if number == _EPSILON[2]:
        assert ends[0]["delta at epsilon 2"][1] <= target[1]
