import numpy as np
import pytest

from mipsim.tradeoff import ApproxDPTradeOff


def test_it_is_the_curve_of_randomised_response_that_sometimes_tells_all() -> None:
    # Four outcomes: (out, in) masses; the optimal test is Neyman and Pearson's.
    eps, delta = 1.2, 0.07
    keep = (1 - delta) / (1 + np.exp(eps))
    out = np.array([0.0, keep, keep * np.exp(eps), delta])
    inside = np.array([delta, keep * np.exp(eps), keep, 0.0])
    curve = ApproxDPTradeOff(eps, delta)
    assert np.allclose(curve.tpr_at(np.minimum(np.cumsum(out), 1.0)), np.cumsum(inside), atol=1e-14)
    assert curve.eta() == pytest.approx(delta + (1 - delta) / (1 + np.exp(-eps)) - 0.5, abs=1e-12)


def test_delta_and_epsilon_come_back() -> None:
    curve = ApproxDPTradeOff(1.2, 0.07)
    for eps in (1.2, 5.0):
        low, high = curve.delta_bounds(eps)
        assert low <= 0.07 <= high < low + 1e-14
    assert float(curve.epsilon(0.07)) == pytest.approx(1.2, abs=1e-9)
    assert float(curve.epsilon(0.069)) == np.inf


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-0.1, 0.0), "epsilon is -0.1"),
        ((1.0, 1.1), r"delta is 1.1; it must be a finite number in \[0, 1\]"),
        ((1.0, -0.1), "delta is -0.1"),
        ((np.nan, 0.1), "epsilon is nan"),
    ],
)
def test_bad_input(arguments: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ApproxDPTradeOff(*arguments)
