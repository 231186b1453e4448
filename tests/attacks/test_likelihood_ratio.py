"""The exact ratio against enumeration of every set of records, and against SciPy's densities."""

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from tests.enumeration import literal_sums, random_target_sums
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
MEAN = mi.EmpiricalMean()
P = (0.3, 0.6)
FULL = mi.Gaussian([0.0, 1.0], [[1.0, 0.7], [0.7, 2.0]])


def log_ratio(inside: float, out: float) -> float:
    return float(np.log(inside / out)) if inside > 0 else -np.inf


@pytest.mark.parametrize("target", list(itertools.product((0, 1), repeat=2)))
def test_bernoulli_mean_by_enumeration(target: tuple[int, int]) -> None:
    law_in, law_out = literal_sums(P, 3, target), literal_sums(P, 3, None)
    attack = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=target)
    for total, out in law_out.items():
        score = float(attack.score(jnp.array(target, float), jnp.array(total) / 3))
        assert score == pytest.approx(log_ratio(law_in.get(total, 0.0), out), rel=1e-12, abs=1e-12)
    assert set(law_in) < set(law_out)


def test_bernoulli_subsample_by_enumeration() -> None:
    """The mixture is of joint laws: mixing coordinate by coordinate is another number."""
    target, rho = (1, 0), 0.5
    law_in, law_out = literal_sums(P, 4, target, chosen=2), literal_sums(P, 4, None, chosen=2)
    attack = mi.LikelihoodRatio(mi.Subsampled(MEAN, rho), mi.Bernoulli(P), n=4)
    differs = 0.0
    for total, out in law_out.items():
        output = jnp.array(total) / 2
        score = float(attack.score(jnp.array(target, float), output))
        assert score == pytest.approx(np.log(law_in[total] / out), rel=1e-12, abs=1e-12)
        terms = np.asarray(attack.contributions(jnp.array(target, float), output))
        differs = max(differs, abs(score - float(np.log(0.5 + 0.5 * np.exp(terms)).sum())))
    assert differs > 0.1


def test_random_target_ratio_by_enumeration() -> None:
    """With the target of each game, the same score is the ratio of the random-target game."""
    law_in, law_out = random_target_sums(P, 3, True), random_target_sums(P, 3, False)
    attack = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3)
    for cell, out in law_out.items():
        target, total = jnp.array(cell[:2], float), jnp.array(cell[2:]) / 3
        assert float(attack.score(target, total)) == pytest.approx(
            log_ratio(law_in.get(cell, 0.0), out), rel=1e-12, abs=1e-12
        )


def test_an_aim_replaces_the_target_of_the_game() -> None:
    aimed = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=[0, 1])
    follows = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3)
    output, game_target = jnp.array([1 / 3, 2 / 3]), jnp.array([1.0, 0.0])
    assert float(aimed.score(game_target, output)) == float(follows.score(jnp.array([0.0, 1.0]), output))
    assert float(aimed.score(game_target, output)) != float(follows.score(game_target, output))


def normal_ratio(output: np.ndarray, n: int, target: np.ndarray, mean: np.ndarray, cov: np.ndarray) -> float:
    """Log ratio of the mean of n Gaussian records, from SciPy."""
    inside = stats.multivariate_normal(mean + (target - mean) / n, cov * (n - 1) / n**2)
    return float(inside.logpdf(output) - stats.multivariate_normal(mean, cov / n).logpdf(output))


@pytest.mark.parametrize("n", [2, 50])
def test_gaussian_full_and_diagonal(n: int) -> None:
    outputs, target = np.random.default_rng(0).normal([0.0, 1.0], size=(5, 2)), np.array([2.0, -1.0])
    full = mi.GaussianLikelihoodRatio(FULL, n, target)
    diagonal = mi.Gaussian([0.0, 1.0], [1.0, 2.0])
    for output in outputs:
        exact = normal_ratio(output, n, target, FULL.mean, FULL.covariance)
        assert float(full.score(jnp.asarray(target), jnp.asarray(output))) == pytest.approx(exact, rel=1e-10)
        exact = normal_ratio(output, n, target, diagonal.mean, np.diag(diagonal.covariance))
        for attack in (mi.GaussianLikelihoodRatio(diagonal, n), mi.LikelihoodRatio(MEAN, diagonal, n)):
            score = float(attack.score(jnp.asarray(target), jnp.asarray(output)))
            assert score == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("order", ["subsample of noise", "noise on subsample", "noise"])
def test_gaussian_noise_and_subsamples(order: str) -> None:
    n, rho, gamma = 10, 0.4, np.array([0.5, 1.0])
    data, target = mi.Gaussian([0.0, 1.0], [1.0, 2.0]), np.array([2.0, -1.0])
    mechanism, rows, rho, noise = {
        # gamma / sqrt(size of the data set that the noise mechanism sees)
        "subsample of noise": (mi.Subsampled(mi.GaussianNoise(MEAN, gamma), rho), 4, rho, gamma / np.sqrt(4)),
        "noise on subsample": (
            mi.GaussianNoise(mi.Subsampled(MEAN, rho), gamma),
            4,
            rho,
            gamma / np.sqrt(10),
        ),
        "noise": (mi.GaussianNoise(MEAN, gamma), 10, 1.0, gamma / np.sqrt(10)),
    }[order]
    out = stats.norm(data.mean, np.sqrt(data.variance / rows + noise**2))
    inside = stats.norm(
        data.mean + (target - data.mean) / rows,
        np.sqrt(data.variance * (rows - 1) / rows**2 + noise**2),
    )
    attack = mi.LikelihoodRatio(mechanism, data, n, target)
    for output in ([0.3, 0.8], [-1.0, 2.0], [1.0, 1.0]):
        joint = inside.logpdf(output).sum() - out.logpdf(output).sum()
        exact = joint if rho == 1.0 else np.logaddexp(np.log(rho) + joint, np.log(1 - rho))
        score = float(attack.score(jnp.asarray(target), jnp.array(output)))
        assert score == pytest.approx(float(exact), rel=1e-10)


def test_exponential_mean() -> None:
    data, n, target = mi.Exponential([1.0, 2.0]), 5, np.array([3.0, 0.5])
    attack = mi.LikelihoodRatio(MEAN, data, n, target)
    scale = data.mean
    for output in ([1.5, 1.0], [0.7, 4.0]):
        total = n * np.array(output)
        exact = (
            stats.gamma(n - 1, target, scale).logpdf(total) - stats.gamma(n, 0, scale).logpdf(total)
        ).sum()
        assert float(attack.score(jnp.asarray(target), jnp.array(output))) == pytest.approx(exact, rel=1e-10)
    assert float(attack.score(jnp.asarray(target), jnp.array([0.5, 1.0]))) == -np.inf


def test_an_impossible_output_of_a_subsample_means_not_sampled() -> None:
    attack = mi.LikelihoodRatio(mi.Subsampled(MEAN, 0.5), mi.Bernoulli(P), n=4)
    score = float(attack.score(jnp.array([1.0, 0.0]), jnp.array([0.0, 0.5])))
    assert score == pytest.approx(np.log(0.5), rel=1e-12)
