"""What lies behind the figures of accuracy: steps of a last layer, noises, and the composed curve of the relaxed threat model."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mipsim import nn
from mipsim._precision import exact_scope
from mipsim.theory import kaissis
from sims import kaissis_utility, leemann_utility
from sims.last_layer import LastLayer, accuracies, clipped_means, with_ones
from sims.stored_values import stored

FAILURE = 1e-9
"""Probability with which a right curve fails the test of sampled releases, for each end of its intervals."""
RNG = np.random.default_rng(20_261_126)
CENTRES = 2.0 * RNG.normal(size=(3, 5))


def blobs(count: int) -> tuple[np.ndarray, np.ndarray]:
    y = RNG.integers(0, 3, count)
    return (CENTRES[y] + RNG.normal(size=(count, 5))).astype(np.float32), y


LAYER = LastLayer("blobs", *blobs(400), *blobs(300), 3)


def test_steps_of_all_noises_are_those_of_single_networks() -> None:
    """Mean clipped gradients against `per_example_gradients` of the linear network, shortened by NumPy."""
    network = nn.linear((5,), 3)
    weights, clips = RNG.normal(size=(6, 2, 3)).astype(np.float32), np.array([0.7, 50.0], np.float32)
    with exact_scope():
        result = np.asarray(clipped_means(weights, with_ones(LAYER.x[:20]), LAYER.y[:20], clips))
    for model, clip in enumerate(clips):
        parameters = {"layers_1": {"kernel": weights[:5, model], "bias": weights[5, model]}}
        rows = nn.per_example_gradients(network, parameters, LAYER.x[:20], LAYER.y[:20])  # pyright: ignore[reportArgumentType]
        norms = np.linalg.norm(rows, axis=1)
        mean = (rows * np.minimum(1.0, clip / norms)[:, None]).mean(axis=0)
        assert (norms < 50.0).all()
        ours = np.concatenate([result[5, model], result[:5, model].ravel()])  # offsets come first
        assert np.allclose(ours, mean, rtol=0, atol=1e-5)
    assert not np.allclose(result[:, 0], result[:, 1], rtol=0, atol=1e-2), "the small clip shortens some"


@pytest.mark.evidence
def test_noise_costs_accuracy_and_a_seed_fixes_the_bits() -> None:
    train = partial(accuracies, LAYER, np.array([0.0, 100.0]), np.full(2, 50.0), batch=50, steps=40, rate=0.2)
    plain, drowned = train(seed=0)
    # Nearest centres are right in nearly all of these; a weight vector of noise alone is right in as many as by chance, or in none.
    nearest = ((LAYER.test_x[:, None] - CENTRES) ** 2).sum(axis=2).argmin(axis=1)
    assert plain > np.mean(nearest == LAYER.test_y) - 0.1
    assert drowned < plain
    assert (train(seed=0) == (plain, drowned)).all()
    assert train(seed=1)[1] != drowned


def test_numbers_are_stored_and_computed_anew_for_other_settings(tmp_path: Path) -> None:
    path, calls = tmp_path / "stored" / "numbers.json", []

    def compute() -> np.ndarray:
        calls.append(1)
        return np.array([0.1, 1 / 3])

    for given, times in ((1, 1), (1, 1), (2, 2), ((1, 2), 3), ([1, 2], 3)):
        assert (stored(path, {"a": given}, compute) == (0.1, 1 / 3)).all()
        assert len(calls) == times
    for broken in ("", "{}", json.dumps([1])):
        path.write_text(broken)
        assert (stored(path, {"a": 1}, compute) == (0.1, 1 / 3)).all()
    assert len(calls) == 6


@pytest.mark.evidence
def test_a_sweep_has_the_noise_of_its_run(tmp_path: Path) -> None:
    """GMIP by the lesser noise is no worse than its parts allow; where equation 9 needs none it is the noiseless run."""
    run = leemann_utility.Run(18, 400.0, 100, 400, 5)
    task = leemann_utility.Task(run, 0.1, lambda *_: LAYER)
    mus = np.array([0.02, 5.0])
    gmip, dp = zip(*(leemann_utility.noises(run, mu) for mu in mus), strict=True)
    assert gmip[0] > dp[0], "equation 9 asks for more noise at a small mu"
    assert gmip[1] == 0.0 < dp[1]
    result = leemann_utility.sweep("blobs", 0, tmp_path, {"blobs": task}, mus)
    assert result.shape == (len(leemann_utility.ARMS), 2)
    assert result[0, 1] == result[1, 1] == result[-1, 1] > result[2, 1]
    few = {"blobs": task._replace(run=run._replace(records=300))}
    with pytest.raises(
        ValueError, match="layer of blobs has 18 parameters and 400 records; the run has 18 and 300"
    ):
        leemann_utility.sweep("blobs", 0, tmp_path, few, mus)


@pytest.mark.parametrize("sampling_rate", [0.3, 1.0])
def test_the_relaxed_curve_is_that_of_sampled_releases(sampling_rate: float) -> None:
    """Magnitudes of three steps sampled by NumPy, each with a coin and a side of its own, scored by their likelihood ratio.

    The curve meets the box that the exact binomial intervals of both rates leave; that of noise a tenth smaller misses it.
    """
    noise, steps, games, rng = 1.0, 3, 400_000, np.random.default_rng(5)
    mu = 1.0 / noise
    scores = []
    for member in (False, True):
        shift = member * (rng.random((games, steps)) < sampling_rate) * rng.choice([-mu, mu], (games, steps))
        z = rng.standard_normal((games, steps)) + shift
        ratio = np.exp(-(mu**2) / 2) * np.cosh(mu * z)
        scores.append(np.log1p(sampling_rate * (ratio - 1.0)).sum(axis=1))
    curve, wrong = (kaissis_utility.relaxed_curve(s, sampling_rate, steps) for s in (noise, 0.9 * noise))
    for level in (0.05, 0.3):
        at = np.quantile(scores[0], 1.0 - level)
        (low, high), (weak, strong) = (
            stats.binomtest(int((s > at).sum()), games).proportion_ci(1.0 - 2.0 * FAILURE, "exact")
            for s in scores
        )
        assert curve.tpr_at(low) <= strong
        assert curve.tpr_at(high) >= weak
        assert wrong.tpr_at(low) > strong


@pytest.mark.evidence
def test_the_relaxed_noise_is_the_least_for_its_budget_and_too_small_for_the_other() -> None:
    rate, steps = 0.1, 10
    delta = 1e-5
    noises = kaissis_utility.noises(rate, steps, 1.0, delta)
    assert noises["RTM"] < noises["DPTM"]

    def largest(noise: float) -> float:
        curve = kaissis_utility.relaxed_curve(noise, rate, steps)
        return max(float(item.delta(1.0)) for item in (curve, curve.inverse()))

    assert largest(noises["RTM"]) <= delta < largest(0.99 * noises["RTM"])
    assert kaissis_utility.promised_epsilon(noises["DPTM"], rate, steps, delta) == pytest.approx(
        1.0,
        rel=1e-4,  # an epsilon is known to 1e-4
    )
    assert kaissis_utility.promised_epsilon(noises["RTM"], rate, steps, delta) > 1.0
    exact = kaissis.FoldedGaussianTradeOff(0.5)
    alpha = np.geomspace(1e-6, 1.0, 50)
    assert np.abs(kaissis_utility.relaxed_curve(2.0, 1.0, 1).beta(alpha) - exact.beta(alpha)).max() < 1e-6
