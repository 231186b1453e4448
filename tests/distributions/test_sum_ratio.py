"""sum_ratio against SciPy's densities, and against what every likelihood ratio satisfies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
QUIET = jnp.zeros(1)


def ratio(
    law: mi.AbstractDistribution, total: object, n: int, target: float, noise: float = 0.0
) -> np.ndarray:
    """Ratios of a law of a single coordinate at many totals."""
    totals, own = jnp.asarray(total), law.sum_ratio()
    assert own is not None
    return np.array([own(t[None], n, jnp.array([target]), jnp.array([noise]))[0] for t in totals])


@pytest.mark.parametrize("n", [2, 50])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_gaussian_against_normals(n: int, noise: float) -> None:
    mean, variance, target = 1.5, 2.0, 4.0
    law = mi.Gaussian(mean, variance)
    out = stats.norm(n * mean, np.sqrt(n * (variance + noise)))
    inside = stats.norm((n - 1) * mean + target, np.sqrt((n - 1) * variance + n * noise))
    total = np.linspace(out.ppf(1e-9), out.isf(1e-9), 7)
    result = ratio(law, total, n, target, noise)
    np.testing.assert_allclose(result, inside.logpdf(total) - out.logpdf(total), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("law", "target"), [(mi.Bernoulli(0.3), 0.5), (mi.Exponential(1.0), -1.0)])
def test_a_target_outside_the_support_gives_nan(law: mi.AbstractDistribution, target: float) -> None:
    """No number would be right; the engine takes NaN for an error."""
    assert np.isnan(ratio(law, np.array([0.0, 2.0]), 4, target)).all()
    assert not law.in_support([target])


def test_an_output_that_a_misspecified_target_cannot_explain() -> None:
    """The game's target may be another than the attack's: any output must then get a score."""
    assert np.isneginf(ratio(mi.Bernoulli(0.3), [5.5, -1.0], 4, 1.0)[1])
    assert np.isneginf(ratio(mi.Bernoulli(0.3), [5.5], 4, 0.0)[0])
    assert np.isneginf(ratio(mi.Exponential(1.0), [-3.0, 0.0], 4, 1.0)).all()
