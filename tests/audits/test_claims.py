"""Promises in text: each is the curve that it names."""

import math

import numpy as np
import pytest

import mipsim as mi
from mipsim.audits.claims import read_claim, zcdp
from mipsim.engine.describe import describe

ALPHA = np.geomspace(1e-9, 0.999, 300)


@pytest.mark.parametrize(
    ("text", "curve"),
    [
        ("gdp=1", mi.GaussianTradeOff(1.0)),
        ("epsilon=2", mi.ApproxDPTradeOff(2.0, 0.0)),
        (" delta=1e-5, epsilon=2", mi.ApproxDPTradeOff(2.0, 1e-5)),
        ("advantage=0.1", mi.ApproxDPTradeOff(0.0, 0.1)),
        ("sigma=2", mi.GaussianTradeOff(0.5)),
        ("sigma=1,rate=0.1,steps=3", mi.dpsgd(1.0, 0.1, 3, neighbours="add_or_remove")),
    ],
)
def test_a_text_is_its_curve(text: str, curve: mi.AbstractTradeOff) -> None:
    claim = read_claim(text)
    assert isinstance(claim, mi.AbstractTradeOff)
    assert describe(claim) == describe(curve) != describe(mi.dpsgd(1.0, 0.1, 4, neighbours="add_or_remove"))


@pytest.mark.parametrize("rho", [0.001, 0.02, 0.5, 3.0, 20.0])
def test_mechanisms_of_zero_concentrated_privacy_keep_its_curve(rho: float) -> None:
    """The Gaussian of mu^2 = 2 rho, and randomised response, whose rho is epsilon tanh(epsilon / 2) / 2 at order 1."""
    curve = zcdp(rho)
    gaussian = mi.GaussianTradeOff(math.sqrt(2.0 * rho))
    assert (curve.beta(ALPHA) <= gaussian.beta(ALPHA)).all()
    low, high = 0.0, 1.0 + 4.0 * rho + 4.0 * math.sqrt(rho)
    for _ in range(60):  # the pure epsilon of a Renyi divergence rho a at all orders a, on a grid
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _is_zcdp(middle, rho) else (low, middle)
    assert (curve.beta(ALPHA) <= mi.ApproxDPTradeOff(low, 0.0).beta(ALPHA)).all()


def _is_zcdp(epsilon: float, rho: float) -> bool:
    order = 1.0 + np.geomspace(1e-6, 1e3, 400)
    p, q = 1.0 / (1.0 + math.exp(-epsilon)), 1.0 / (1.0 + math.exp(epsilon))
    divergence = np.logaddexp(
        order * math.log(p) + (1.0 - order) * math.log(q), order * math.log(q) + (1.0 - order) * math.log(p)
    ) / (order - 1.0)
    return bool((divergence <= rho * order).all())


@pytest.mark.parametrize("rho", [0.02, 0.5, 3.0])
def test_the_curve_of_zero_concentrated_privacy_is_no_looser_than_its_conversion(rho: float) -> None:
    for epsilon in (rho, rho + math.sqrt(rho), rho + 4.0 * math.sqrt(rho)):
        order = 1.0 + np.geomspace(1e-4, 1e4, 100_000)
        logs = (order - 1.0) * (order * rho - epsilon) + order * np.log1p(-1.0 / order) - np.log(order - 1.0)
        delta = math.exp(logs.min())
        # 800 epsilons and 2,000 orders cost 2% at most; a rho 5% smaller does not hold.
        assert zcdp(rho).delta(epsilon) <= 1.02 * delta
        assert zcdp(0.95 * rho).delta(epsilon) < 0.98 * delta
