"""Repeated squaring, the error it is granted, and searches that end at the last number of a kind."""

from fractions import Fraction

import numpy as np
import pytest

from mipsim._powers import convolution_error, repeated
from mipsim._roots import least_float, least_whole


@pytest.mark.parametrize("copies", [1, 2, 3, 6, 7, 64, 1000])
def test_a_power_is_that_of_whole_numbers(copies):
    assert repeated(3, copies, lambda first, second: first * second) == 3**copies


@pytest.mark.parametrize("copies", [1, 7, 64, 255])
def test_sums_on_a_lattice_are_right_to_the_stated_error(copies):
    """Against whole numbers; a probability off by two per cent is detected."""
    counts = np.array([137, 402, 55, 430], object)  # of 1024
    true = np.array([float(Fraction(k, 1024**copies)) for k in repeated(counts, copies, np.convolve)])
    row = counts.astype(float) / 1024
    result, planted = (
        repeated(item, copies, np.convolve) for item in (row, row * np.array([1.0, 1.02, 1.0, 1.0]))
    )
    allowed = (convolution_error(copies, 4) + 2.0**-53) * true + 1e-300
    assert (np.abs(result - true) <= allowed).all()
    assert (np.abs(planted - true) > allowed).any()


def test_the_least_number_is_computed_at_the_ends_of_the_range():
    ends = np.array([[-(2**63), 2**63 - 1]])
    at = np.array([-(2**63) + 1, -1, 0, 7, 2**63 - 1])
    result = least_whole(lambda k: k >= at, *(np.repeat(ends, at.size, axis=0).T))
    assert result.tolist() == at.tolist()
    x = np.array([-1e300, -5e-324, 0.1, 5e-324, np.pi, 1e300])
    low, high = np.full(x.shape, -1.7e308), np.full(x.shape, 1.7e308)
    assert least_float(lambda z: z >= x, low, high).tolist() == x.tolist()
    assert least_float(lambda z: z > x, low, high).tolist() == np.nextafter(x, np.inf).tolist()
