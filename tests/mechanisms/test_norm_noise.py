"""Noise by norms: directions, radii and densities against exact laws; responses; the wrapper."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.mechanisms.norm_noise import general_normal, weighted_norm
from tests.law_agreement import follows
from tests.scope import in_exact_scope  # noqa: F401

REPEATS = 20_000


def noises(mechanism: mi.AbstractMechanism, rows: np.ndarray) -> np.ndarray:
    keys = jax.random.split(jax.random.key(7), REPEATS)
    return np.asarray(jax.jit(jax.vmap(lambda key: mechanism.release(key, jnp.asarray(rows))))(keys))


@pytest.mark.evidence
@pytest.mark.parametrize("moment", [0.5, 1.0, 1.3, 2.0, 16.0, np.inf])
def test_the_general_normal(moment):
    draws = np.asarray(general_normal(jax.random.key(1), moment, (REPEATS,)))
    law = stats.uniform(-1, 2) if np.isinf(moment) else stats.gennorm(moment)
    assert follows(draws, law.cdf)
    assert not follows(draws * 1.25, law.cdf)


@pytest.mark.parametrize("moment", [2.0, 5.0, np.inf])
def test_the_norm_agrees_with_its_formula(moment):
    x, sigma = np.array([3.0, -1.0, 0.5]), np.array([1.0, 2.0, 0.1])
    ratio = np.abs(x) / sigma
    expected = ratio.max() if np.isinf(moment) else np.mean(ratio**moment) ** (1 / moment)
    assert float(weighted_norm(jnp.asarray(x), jnp.asarray(sigma), moment)) == pytest.approx(
        expected, rel=1e-12
    )
    assert float(weighted_norm(jnp.zeros(3), jnp.asarray(sigma), moment)) == 0.0


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("moment", "dimension"),
    [(4.0, 1), (3.0, 3), *(pytest.param(*item, marks=pytest.mark.slow) for item in ((1.0, 3), (np.inf, 2)))],
)
def test_the_radius_is_gamma_or_exponential_and_directions_have_the_cone_measure(moment, dimension):
    """|u_1|^M / d ~ Beta(1/M, (d - 1)/M), independent of the radius; a radius a fifth too large or another M is seen."""
    sigma = np.linspace(0.5, 2.0, dimension)
    zero = np.zeros((2, dimension))
    for radius, law in (
        ("gamma", stats.gamma(dimension, scale=1.5)),
        ("exponential", stats.expon(scale=1.5)),
    ):
        x = noises(mi.NormNoise(mi.EmpiricalMean(), 1.5, sigma, moment, radius), zero)
        r = np.asarray(weighted_norm(jnp.asarray(x), jnp.asarray(sigma), moment))
        assert follows(r, law.cdf)
        assert not follows(1.2 * r, law.cdf)
        if dimension == 3:
            share = np.abs(x[:, 0] / sigma[0] / r) ** moment / 3
            assert follows(share, stats.beta(1 / moment, 2 / moment).cdf)
            assert not follows(share, stats.beta(1.2 / moment, 2.4 / moment).cdf)
            assert abs(np.corrcoef(share, r)[0, 1]) < 6.1 / np.sqrt(REPEATS)  # 6.1 standard errors: 1e-9
