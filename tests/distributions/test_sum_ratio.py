"""sum_ratio against SciPy's densities, and against what every likelihood ratio satisfies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from scipy import integrate

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


@pytest.mark.evidence
@pytest.mark.parametrize("n", [2, 3, 40])
@pytest.mark.parametrize("target", [0.0, 1.0])
@pytest.mark.parametrize("p", [0.02, 0.5, 0.7])
def test_bernoulli_against_binomials(n: int, target: float, p: float) -> None:
    total = np.arange(n + 1.0)
    result = ratio(mi.Bernoulli(p), total, n, target)
    inside, out = stats.binom.pmf(total - target, n - 1, p), stats.binom.pmf(total, n, p)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(result, np.log(inside / out), rtol=1e-9, atol=1e-12)
    assert np.count_nonzero(np.isneginf(result)) == 1
    assert np.sum(out * np.exp(result)) == pytest.approx(1.0, rel=1e-12)


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


@pytest.mark.parametrize("n", [2, 3, 50])
def test_exponential_against_gammas(n: int) -> None:
    scale, target = 2.0, 3.0
    out, rest = stats.gamma(n, scale=scale), stats.gamma(n - 1, scale=scale)
    total = np.concatenate([[0.1, 2.9], 3.0 + out.ppf([1e-6, 0.1, 0.5, 0.999])])
    result = ratio(mi.Exponential(scale), total, n, target)
    assert np.isneginf(result[:2]).all()
    np.testing.assert_allclose(
        result[2:], rest.logpdf(total[2:] - target) - out.logpdf(total[2:]), rtol=1e-10, atol=1e-10
    )


@pytest.mark.parametrize("law", [mi.Gaussian(1.0, 2.0), mi.Exponential(1.0)], ids=["Gaussian", "Exponential"])
def test_the_ratio_averages_to_1_outside(law: mi.AbstractDistribution) -> None:
    n, target = 4, 1.7
    out = stats.norm(4.0, np.sqrt(8.0)) if isinstance(law, mi.Gaussian) else stats.gamma(4)
    grid = np.linspace(out.ppf(1e-13) if isinstance(law, mi.Gaussian) else target, out.isf(1e-15), 4001)
    total, own = jnp.asarray(grid)[:, None], law.sum_ratio()
    assert own is not None
    result = np.array(own(total, n, jnp.array([target]), QUIET))[:, 0]
    assert integrate.simpson(np.exp(result) * out.pdf(grid), x=grid) == pytest.approx(1.0, abs=1e-7)


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
