"""The estimates against NumPy and SciPy; the influence function against deleting and adding a record."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mipsim._precision import exact_scope
from mipsim.mechanisms.expansion import (
    least_squares_expansion,
    logistic_expansion,
)
from mipsim.mechanisms.z_estimator import LeastSquares, LogisticRegression

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 2))
LINE = np.column_stack([X, 1.0 + X @ [2.0, -1.0] + RNG.normal(size=60)])
LABELS = np.column_stack([X, RNG.uniform(size=60) < 1 / (1 + np.exp(-X[:, 0]))])


def estimate(mechanism, rows: np.ndarray) -> np.ndarray:
    with exact_scope():
        return np.asarray(mechanism.estimate(jnp.asarray(rows)), np.float64)


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("mechanism", "rows", "expansion", "record"),
    [
        (LeastSquares(), LINE, least_squares_expansion, [0.5, -1.0, 3.0]),
        (LogisticRegression(), LABELS, logistic_expansion, [0.5, -1.0, 1.0]),
    ],
)
def test_the_influence_is_the_slope_of_the_estimate_in_the_weight_of_a_record(
    mechanism, rows, expansion, record
):
    """Among 5000 copies of the population another record has weight 3e-6: a difference quotient of theta."""
    copies = np.tile(rows, (5000, 1))
    weight = 1.0 / (len(copies) + 1)
    slope = (estimate(mechanism, np.vstack([copies, record])) - estimate(mechanism, rows)) / weight
    with exact_scope():
        influence = np.asarray(expansion(rows).influence(jnp.asarray(record)))
    np.testing.assert_allclose(slope, influence, rtol=1e-3)


def test_influences_have_mean_zero_and_the_covariance_sigma():
    for expansion, rows in ((least_squares_expansion(LINE), LINE), (logistic_expansion(LABELS), LABELS)):
        with exact_scope():
            result = np.asarray(jax.vmap(expansion.influence)(jnp.asarray(rows)))
        np.testing.assert_allclose(result.mean(axis=0), 0.0, atol=1e-10)
        np.testing.assert_allclose(result.T @ result / len(rows), expansion.covariance, rtol=1e-8)
