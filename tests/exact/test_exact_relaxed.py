"""The exact laws of the relaxed threat model against SciPy's non-central chi-square and normal laws, and refusals."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import mipsim as mi

RECORDS = np.random.default_rng(0).normal(size=(20, 3)).round()  # sums are the same in float32
RECORD = np.array([1.0, -2.0, 0.5])
ALPHA = np.array([1e-12, 1e-4, 0.05, 0.5, 0.9])
LAMBDA = float(RECORD @ RECORD) / 4.0


def game(noise: mi.AbstractDistribution, **settings: Any) -> mi.RelaxedThreat:
    return mi.RelaxedThreat(lambda rows: rows.sum(axis=0), RECORDS, RECORD, noise, **settings)


WHITE = mi.Gaussian(np.zeros(3), 4.0 * np.ones(3))
FULL = mi.Gaussian(np.zeros(3), np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 3.0]]))


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_magnitude_is_a_chi_square(rate: float) -> None:
    curve = game(WHITE, sampling_rate=rate).exact(mi.Magnitude())
    x = stats.chi2.isf(ALPHA, 3)
    truth = rate * stats.ncx2.sf(x, 3, LAMBDA) + (1 - rate) * ALPHA
    np.testing.assert_allclose(curve.law.sf(curve.score_at(ALPHA), inside=True), truth, rtol=1e-8)
    assert not np.allclose(truth, stats.ncx2.sf(x, 3, 1.001 * LAMBDA + (rate < 1.0)), rtol=1e-8)
    low, high = curve.tpr_bounds(ALPHA)
    assert ((low <= truth) & (truth <= high)).all()


@pytest.mark.parametrize("noise", [WHITE, FULL])
def test_the_side_of_a_normal_pair_is_normal(noise: mi.Gaussian) -> None:
    direction = np.array([1.0, -1.0, 2.0])
    covariance = np.diag(noise.cov) if noise.cov.ndim == 1 else noise.cov
    mu = direction @ RECORD / np.sqrt(direction @ covariance @ direction)
    curve = game(noise).exact(lambda known, output: direction @ (output - known))
    truth = stats.norm.sf(stats.norm.isf(ALPHA) - mu)
    low, high = curve.tpr_bounds(ALPHA)
    assert ((low <= truth) & (truth <= high)).all()
    np.testing.assert_allclose(high, truth, rtol=1e-9, atol=1e-9)


def test_the_magnitude_in_coloured_noise_is_that_of_numpy_draws() -> None:
    law = game(FULL).exact(mi.Magnitude()).law
    draws = np.random.default_rng(1).multivariate_normal(RECORD, FULL.cov, 100_000)
    for x in (2.0, 6.0, 15.0):
        inside = int((np.square(draws).sum(axis=1) <= x).sum())
        # A right law fails with probability 1e-9.
        assert stats.binomtest(inside, 100_000, float(law.cdf(x, inside=True))).pvalue > 1e-9
        assert stats.binomtest(inside, 100_000, float(law.cdf(x, inside=False))).pvalue < 1e-9


@pytest.mark.parametrize(
    ("noise", "settings", "attack"),
    [
        (mi.Laplace(np.zeros(3), np.ones(3)), {}, mi.Magnitude()),
        (WHITE, {"shadows": 2}, mi.OfflineLiRA(lambda release: release[0])),
        (WHITE, {}, mi.FunctionAttack(lambda known, output: abs(output[0] - known[0]))),
    ],
)
def test_other_laws_are_refused(
    noise: mi.AbstractDistribution, settings: dict[str, Any], attack: mi.AbstractAttack
) -> None:
    with pytest.raises(ValueError, match="no known exact distribution in RelaxedThreat"):
        game(noise, **settings).exact(attack)
