"""The lower tail of a gamma law of a large shape, against 40 digits by another route."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammainc

from mipsim.special.gamma_tail import LARGE, gamma_below

ALLOWED = 1e-13
"""An exponent of 40 is right to three roundings, 3e-14; Gauss's weights and the sum to as much again."""


def exact(a: float, x: float) -> mp.mpf:
    """By the integral of the density over the last 20 deviations below x, each by itself."""
    with mp.workdps(40):
        shape, top = mp.mpf(a), mp.mpf(x)
        sd = mp.sqrt(shape)
        ends = [max(top - k * sd, mp.mpf(0)) for k in (20, 10, 5, 2, 1, 0.5, 0)]
        at = shape * mp.log(top) - top - mp.loggamma(shape)
        return mp.exp(at) * mp.quad(lambda t: mp.exp((shape - 1) * mp.log(t / top) - (t - top)) / top, ends)


@pytest.mark.parametrize("shape", [LARGE, 1e6, 4e6, 1e8])
@pytest.mark.parametrize("below", [4.05, 4.6, 6.0, 9.0])
def test_it_has_all_digits(shape: float, below: float) -> None:
    x = shape - below * np.sqrt(shape)
    assert abs(float(gamma_below(shape, np.array([x]))[0] / exact(shape, x)) - 1.0) < ALLOWED


def test_it_meets_scipys_where_that_is_right() -> None:
    x = 1e5 - np.sqrt(1e5) * np.linspace(-5.0, 9.0, 100)
    assert np.abs(gamma_below(1e5, x) / gammainc(1e5, x) - 1.0).max() < 2 * ALLOWED
    assert np.array_equal(
        gamma_below(50.0, np.linspace(0.0, 99.0, 100)), gammainc(50.0, np.linspace(0.0, 99.0, 100))
    )
