"""The covariance score, its estimated moments, the scalar product, and what every attack owes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from tests.scope import in_exact_scope  # noqa: F401

RNG = np.random.default_rng(0)
DIAGONAL = mi.Bernoulli([0.3, 0.6, 0.5])
FULL = mi.Gaussian([0.0, 1.0, -1.0], [[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
REFERENCE = RNG.normal([0.0, 3.0, 1.0], size=(20, 3))
GAME_TARGET, AIM, OUTPUT, N = np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), RNG.normal(size=3), 10


def covariance_score(
    mean: np.ndarray, covariance: np.ndarray, target: np.ndarray, output: np.ndarray, n: int
) -> float:
    """The formula in NumPy, with a linear solve in place of an inverse."""
    matrix = np.diag(covariance) if covariance.ndim == 1 else covariance
    direction = np.linalg.solve(matrix, target - mean)
    return float(direction @ (output - mean) - direction @ (target - mean) / (2 * n))


def score(attack: mi.AbstractAttack, target: np.ndarray = GAME_TARGET, output: np.ndarray = OUTPUT) -> float:
    return float(attack.score(jnp.asarray(target), jnp.asarray(output)))


@pytest.mark.parametrize("aim", [None, AIM])
@pytest.mark.parametrize("law", [DIAGONAL, FULL], ids=["diagonal", "full"])
@pytest.mark.parametrize("gamma", [0.0, 0.4, [0.1, 0.0, 2.0]])
def test_covariance_score(aim: np.ndarray | None, law: mi.AbstractDistribution, gamma: object) -> None:
    attack = mi.CovarianceScore(law, N, target=aim, record_deviation=gamma)
    noise = np.broadcast_to(np.asarray(gamma) ** 2, 3)
    covariance = law.covariance + (noise if law.covariance.ndim == 1 else np.diag(noise))
    aimed = GAME_TARGET if aim is None else aim
    exact = covariance_score(law.mean, covariance, aimed, OUTPUT, N)
    assert score(attack) == pytest.approx(exact, rel=1e-12)
    wrong = covariance_score(law.mean, covariance, aimed, OUTPUT, N + 1)
    assert score(attack) != pytest.approx(wrong, rel=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_estimated_moments(kind: Any, centred: bool, ridge: float) -> None:
    moments = mi.EstimatedMoments(REFERENCE, kind, centred=centred, regularisation=ridge)
    n0 = len(REFERENCE)
    second = np.cov(REFERENCE.T, bias=True) if centred else REFERENCE.T @ REFERENCE / n0
    second = second + ridge * np.eye(3)
    np.testing.assert_allclose(moments.mean, REFERENCE.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(moments.covariance, second if kind == "full" else np.diag(second), rtol=1e-12)
    exact = covariance_score(moments.mean, moments.covariance, GAME_TARGET, OUTPUT, N)
    assert score(mi.CovarianceScore(moments, N)) == pytest.approx(exact, rel=1e-10)


def test_any_object_with_moments_will_do() -> None:
    class Mine:
        mean = np.array([0.5, 0.5])
        covariance = np.array([0.25, 0.25])

    same = mi.CovarianceScore(mi.Bernoulli([0.5, 0.5]), N)
    at = (np.ones(2), np.array([0.6, 0.3]))
    assert score(mi.CovarianceScore(Mine(), N), *at) == score(same, *at)


ATTACKS = {
    "covariance": mi.CovarianceScore(DIAGONAL, N),
    "covariance full, aimed": mi.CovarianceScore(FULL, N, target=AIM),
    "scalar product": mi.ScalarProduct([0.1, 0.2, 0.3]),
    "likelihood ratio": mi.LikelihoodRatio(mi.EmpiricalMean(), DIAGONAL, N),
    "likelihood ratio, subsample": mi.LikelihoodRatio(mi.Subsampled(mi.EmpiricalMean(), 0.5), DIAGONAL, N),
    "gaussian likelihood ratio": mi.GaussianLikelihoodRatio(FULL, N),
    "function": mi.FunctionAttack(lambda target, output: -jnp.sum((target - output) ** 2)),
}
OUTPUTS = np.array([[0.2, 0.5, 0.5], [0.4, 0.6, 0.8], [1.0, 0.0, 0.6]])


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack(name: str) -> None:
    """A float64 scalar; jit, vmap and passing it as an argument change nothing; a single trace serves all."""
    attack, traces = ATTACKS[name], []

    @jax.jit
    def scores(attack: mi.AbstractAttack, target: jax.Array, outputs: jax.Array) -> jax.Array:
        traces.append(1)
        return jax.vmap(attack.score, in_axes=(None, 0))(target, outputs)

    plain = [score(attack, output=output) for output in OUTPUTS]
    jitted = scores(attack, jnp.asarray(GAME_TARGET), jnp.asarray(OUTPUTS))
    assert (jitted.shape, jitted.dtype) == ((3,), jnp.float64)
    np.testing.assert_allclose(jitted, plain, rtol=1e-12)
    scores(attack, jnp.asarray(AIM), jnp.asarray(OUTPUTS) / 2)
    assert len(traces) == 1


@pytest.mark.parametrize("name", [n for n, a in ATTACKS.items() if isinstance(a, mi.AbstractAdditiveAttack)])
def test_every_additive_attack(name: str) -> None:
    """Its score is a strictly increasing function of a sum, term j of which sees coordinate j only."""
    attack = ATTACKS[name]
    assert isinstance(attack, mi.AbstractAdditiveAttack)
    target, output = jnp.asarray(GAME_TARGET), jnp.asarray(OUTPUTS[0])
    terms = np.asarray(attack.contributions(target, output))
    assert terms.shape == (3,)
    total = float(attack.link(target, jnp.sum(terms)))
    assert score(attack, output=OUTPUTS[0]) == pytest.approx(total, rel=1e-12)
    totals = jnp.linspace(-3.0, 3.0, 50)
    assert (np.diff(jax.vmap(lambda total: attack.link(target, total))(totals)) > 0).all()
    for j in range(3):
        moved = np.asarray(attack.contributions(target, output.at[j].set(0.3)))
        assert (np.delete(moved == terms, j)).all()
