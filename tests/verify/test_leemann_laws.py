"""Sums of records on whole numbers."""

import numpy as np
import pytest
from scipy import stats

from verify.leemann.laws.curves import whole_sum


@pytest.mark.parametrize("law", [[0.5, 0.05, 0.45], [0.9, 0.04, 0.03, 0.03], [0.05, 0.95]])
def test_a_sum_of_whole_numbers_by_fourier_is_that_of_literal_convolution(law):
    law, direct = np.array(law), np.array([1.0])
    for _ in range(40):
        direct = np.convolve(direct, law)
    at = np.arange(direct.size)
    assert whole_sum(law, 40, at) == pytest.approx(direct, abs=1e-14)


def test_a_sum_of_millions_of_whole_numbers_keeps_its_digits():
    n, p = 6_561_000, 0.05
    at = np.arange(int(n * p) - 6000, int(n * p) + 6000)
    result = whole_sum(np.array([1 - p, p]), n, at)
    assert float(np.abs(result - stats.binom.pmf(at, n, p)).sum()) < 1e-10
