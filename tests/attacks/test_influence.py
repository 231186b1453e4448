"""The influence score, written out by hand in its three readings, and played."""

import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.attacks.influence import InfluenceScore
from mipsim.mechanisms.expansion import Expansion, mean_expansion, median_expansion
from mipsim.mechanisms.z_estimator import Median

V = np.array([[-2.0, 0.3], [0.1, -1.0]])
B = np.array([[1.5, 0.2], [0.2, 0.7]])
THETA = np.array([0.4, -1.2])


def score(attack: InfluenceScore, target: np.ndarray, output: np.ndarray) -> float:
    with exact_scope():
        return float(attack.score(jnp.asarray(target), jnp.asarray(output)))


@pytest.mark.parametrize("reading", ["corrected", "printed", "printed, V reversed"])
def test_a_reading_is_its_formula(reading):
    expansion = Expansion(THETA, V, B, lambda record: 2.0 * record)
    target, output, n = np.array([1.0, 3.0]), np.array([0.5, -1.0]), 9
    psi = 2.0 * target
    if reading == "corrected":
        point = -np.linalg.solve(V, psi)
        inverse = np.linalg.inv(np.linalg.solve(V, B) @ np.linalg.inv(V).T)
    else:
        v = V if reading == "printed" else -V
        point, inverse = np.linalg.solve(v, psi) - THETA, np.linalg.inv(v)
    expected = point @ inverse @ (output - THETA) - point @ inverse @ point / (2 * n)
    assert score(InfluenceScore(expansion, n, reading), target, output) == pytest.approx(expected, rel=1e-12)


def test_for_the_mean_the_corrected_score_is_the_covariance_score_and_the_printed_is_not():
    data = mi.Gaussian(np.array([3.0, 0.0]), np.array([[2.0, 0.5], [0.5, 1.0]]))
    target, output = np.array([1.0, 1.0]), np.array([2.5, 0.1])
    with exact_scope():
        known = float(mi.CovarianceScore(data, 20).score(jnp.asarray(target), jnp.asarray(output)))
    assert score(InfluenceScore(mean_expansion(data), 20), target, output) == pytest.approx(known)
    assert score(InfluenceScore(mean_expansion(data), 20, "printed"), target, output) != pytest.approx(
        known, abs=0.1
    )


def test_it_plays_and_tells_in_from_out():
    """Mean score in - mean score out is m = tau = 1; 400 games of sd 1 a world: the error is below 0.45 but for 1e-9."""
    data = mi.Laplace(np.zeros(31), np.ones(31))
    game = mi.FixedTarget(Median(), data, 31, np.where(np.arange(31) % 2, 2.0, -1.0))
    attack = InfluenceScore(median_expansion(np.zeros(31), np.full(31, 0.5)), 31)
    result = mi.play(game, attack, games=400, seed=3, edges=np.linspace(-4.0, 4.0, 81), progress=False)
    middle = np.concatenate([[-4.05], (result.edges[1:] + result.edges[:-1]) / 2, [4.05]])
    assert (result.inside - result.out) @ middle / 400 == pytest.approx(1.0, abs=0.45)
