"""The games of figures 2b and 2c of Leemann et al., on the digits in the place of their data."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy.stats import ncx2

from mipsim import data, nn
from sims import last_layers
from sims.last_layers import Attacked, Features


@pytest.fixture(scope="module")
def digits() -> Features:
    """Twelve random features of the digits, and a last layer for ten classes."""
    some = data.digits()
    network = nn.layered((8, 8, 1), (12,), 10)
    start = network.start(1)
    return Features(nn.features(network, start, some.x), some.y, 10, np.asarray(network.flat(start, "last")))


@pytest.fixture(scope="module")
def attacked(digits: Features) -> Attacked:
    return last_layers.attack_on(digits, 0)


def mean_gradients(of: Features, vector: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """By hand: (softmax - label) x (1, features), the mean over rows; offsets first, the outputs side by side."""
    seen = np.c_[np.ones(len(rows)), of.x[rows]].astype(float)
    logits = seen @ vector.reshape(-1, of.outputs)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    residual = odds / odds.sum(axis=1, keepdims=True) - np.eye(of.outputs)[of.y[rows]]
    return (seen.T @ residual / len(rows)).ravel()


@pytest.mark.evidence
def test_gradients_vary_along_the_axes_alone(digits: Features) -> None:
    axes = digits.axes
    some = np.random.default_rng(0).normal(size=(3, 130))
    np.testing.assert_allclose(last_layers.along(some, digits.basis), some @ axes, atol=1e-12)
    assert axes.shape == (digits.dimension, digits.rank) == (130, 117)
    np.testing.assert_allclose(axes.T @ axes, np.eye(117), atol=1e-12)
    single = np.stack([mean_gradients(digits, digits.start, np.array([row])) for row in range(500)])
    np.testing.assert_allclose(single @ axes @ axes.T, single, atol=1e-12)
    assert np.linalg.matrix_rank(single, tol=1e-8) == 117
    # The control: the transposed layout, outputs first, is no layout of theirs.
    turned = single.reshape(-1, 13, 10).transpose(0, 2, 1).reshape(-1, 130)
    assert np.abs(turned @ axes @ axes.T - turned).max() > 0.05


@pytest.mark.evidence
@pytest.mark.parametrize("steps", [1, 3])
def test_a_game_is_the_training_and_its_score_the_log_p_values(
    attacked: Attacked, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps, mean gradients and p-values by NumPy and SciPy: the mean of the background is followed, the covariance that of the start."""
    monkeypatch.setattr(last_layers, "RATE", 0.5)
    monkeypatch.setattr(last_layers, "FOLLOWED", 100)
    n, of = 60, attacked.features
    game, attack = last_layers.steps_game(attacked, n, steps)
    target, output = game.play(jax.random.key(3), True)
    released: Any = output
    vector, expected, unfollowed = np.asarray(of.start, float), 0.0, 0.0
    own = attacked.pool[[int(np.asarray(target)[0])]]
    some = attacked.background[:100]
    moments = attacked.moments
    inverse = np.linalg.inv(moments.covariance)
    for at in range(steps):
        np.testing.assert_allclose(released.parameters[at], vector, atol=1e-5)
        mean = np.asarray(released.gradients[at], float)
        theta = mean_gradients(of, vector, own)
        moved = mean_gradients(of, vector, some) - mean_gradients(of, of.start, some)
        for followed in (True, False):
            away = (mean - theta) @ of.axes
            off = (theta - moved * followed) @ of.axes - moments.mean
            p = ncx2.logcdf(n * away @ inverse @ away, of.rank, n * off @ inverse @ off)
            expected -= p * followed
            unfollowed -= p * (not followed)
        vector = vector - 0.5 * mean
    result = float(attack.score(target, released))
    assert result == pytest.approx(expected, rel=5e-3, abs=5e-3)
    assert (
        steps == 1 or abs(result - unfollowed) > 0.05
    )  # the control: the mean of the start serves no later step


@pytest.mark.evidence
def test_the_background_is_of_no_game(attacked: Attacked) -> None:
    assert not set(attacked.background) & set(attacked.pool)
    assert len(attacked.background) + len(attacked.pool) == len(attacked.features.y)
