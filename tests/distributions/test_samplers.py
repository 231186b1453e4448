"""The samplers draw the law that the moments and densities describe; a wrong law is noticed."""

import jax
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.distributions.members import MEMBERS
from tests.law_agreement import follows, has_frequencies, has_mean, same_law
from tests.scope import in_exact_scope  # noqa: F401

DRAWS = 100_000
CONTINUOUS = [name for name, member in MEMBERS.items() if member.continuous]
DISCRETE = [name for name, member in MEMBERS.items() if member.atoms]
SUMMED = [name for name, member in MEMBERS.items() if member.law.has_exact_sum]


def records(name: str) -> np.ndarray:
    return np.asarray(MEMBERS[name].law.sample(jax.random.key(11), DRAWS))


@pytest.mark.evidence
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_records_follow_their_distribution_function(name: str) -> None:
    sample = records(name)
    for j, law in enumerate(MEMBERS[name].continuous):
        assert follows(sample[:, j], law.cdf)
        # The planted error: a scale 5 per cent too large, and a shift of 5 per cent of a standard deviation.
        assert not follows(law.mean() + 1.05 * (sample[:, j] - law.mean()) + 0.05 * law.std(), law.cdf)


@pytest.mark.evidence
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_records_have_their_frequencies(name: str) -> None:
    sample = records(name)
    for j, (values, weights) in enumerate(MEMBERS[name].atoms):
        counts = np.array([np.count_nonzero(sample[:, j] == v) for v in values])
        assert counts.sum() == DRAWS
        assert has_frequencies(counts, weights)
        wrong = weights * np.where(np.arange(values.size) == 0, 1.25, 1.0)  # 14 standard errors at the least
        assert not has_frequencies(counts, wrong / wrong.sum())


@pytest.mark.evidence
@pytest.mark.parametrize("name", MEMBERS)
def test_means_and_covariances_of_records(name: str) -> None:
    law, sample = MEMBERS[name].law, records(name)
    d = law.dimension
    assert has_mean(sample, law.mean, law.variance)
    shifted = sample - law.mean
    products = shifted[:, :, None] * shifted[:, None, :]
    covariance = np.diag(law.covariance) if law.is_product else law.covariance
    # The variance of a product is estimated: with 1e5 draws it moves the threshold by per cents only.
    assert has_mean(products.reshape(-1, d * d), covariance.ravel(), 1.1 * products.var(axis=0).ravel())
    assert not has_mean(sample, law.mean + 0.05 * np.sqrt(law.variance), law.variance)


def sums(law: mi.AbstractDistribution, n: int, games: int = 20_000) -> np.ndarray:
    keys, draw = jax.random.split(jax.random.key(n), games), law.sum_sampler()
    assert draw is not None
    # Not jitted as a whole: the compiled samplers inside then serve every n.
    return np.asarray(jax.vmap(lambda key: draw(key, n))(keys))


@pytest.mark.evidence
@pytest.mark.parametrize("name", SUMMED)
def test_sums_agree_with_summed_records(name: str) -> None:
    law = MEMBERS[name].law
    exact = sums(law, 7)
    literal = np.asarray(law.sample(jax.random.key(1), 20_000 * 7)).reshape(20_000, 7, -1).sum(axis=1)
    projection = np.arange(1.0, law.dimension + 1)  # sees the dependence between coordinates too
    assert same_law(exact @ projection, literal @ projection)
    for j in range(law.dimension):
        assert same_law(exact[:, j], literal[:, j])
    # The planted error: a spread 25 per cent too small, which moves the distribution function by about 0.07.
    centre = 7 * law.mean @ projection
    assert not same_law(centre + 0.75 * (exact @ projection - centre), literal @ projection)


@pytest.mark.evidence
@pytest.mark.parametrize("name", SUMMED)
def test_a_sum_of_nothing_is_zero(name: str) -> None:
    law = MEMBERS[name].law
    draw = law.sum_sampler()
    assert draw is not None
    assert (np.asarray(draw(jax.random.key(0), 0)) == np.zeros(law.dimension)).all()


@pytest.mark.evidence
@pytest.mark.parametrize("n", [1, 999])
def test_exponential_sums_follow_the_gamma_law(n: int) -> None:
    sample = sums(mi.Exponential([1.0, 3.0]), n)
    assert follows(sample[:, 0], stats.gamma(n).cdf)
    assert follows(sample[:, 1], stats.gamma(n, scale=3).cdf)
    assert not follows(sample[:, 0], stats.gamma(n * 1.1).cdf)


@pytest.mark.evidence
def test_laplace_sums_of_many_records() -> None:
    literal = np.random.default_rng(0).laplace(size=(20_000, 400)).sum(axis=1)
    exact = sums(mi.Laplace([0.0, 1.0], 1.0), 400)[:, 0]
    assert same_law(exact, literal)
    # A scale 25 per cent too large moves the distribution function by 0.054; 20,000 draws detect 0.033.
    assert not same_law(exact * 1.25, literal)


@pytest.mark.evidence
def test_bernoulli_sums_are_binomial() -> None:
    n = 999
    p = np.array([0.001, 0.3, 0.5, 0.97])  # both ways in which the sampler works, and both sides of 1/2
    sample, support = sums(mi.Bernoulli(p), n).astype(int), np.arange(n + 1)
    for j in range(p.size):
        counts = np.bincount(sample[:, j], minlength=n + 1)
        assert has_frequencies(counts, stats.binom.pmf(support, n, p[j]))
        # The planted error: a mean off by a tenth of a standard deviation, 14 standard errors.
        wrong = p[j] + 0.1 * np.sqrt(p[j] * (1 - p[j]) / n)
        assert not has_frequencies(counts, stats.binom.pmf(support, n, wrong))


@pytest.mark.parametrize("p", [1e-12, 2.0**-32, 0.1, 1 - 2.0**-32, 1 - 1e-12])
def test_bernoulli_threshold_never_makes_a_coordinate_constant(p: float) -> None:
    law = mi.Bernoulli(p)
    words = jax.random.bits(jax.random.key(4), (1000, 1), jax.numpy.uint32)
    threshold = min(max(round(p * 2**32), 1), 2**32 - 1)
    expected = np.asarray(words, dtype=np.uint64) < threshold
    assert (np.asarray(law.sample(jax.random.key(4), 1000)) == expected).all()


def test_singular_gaussian_stays_on_its_line() -> None:
    law = mi.Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 4.0]])
    sample = np.asarray(law.sample(jax.random.key(0), 1000))
    np.testing.assert_allclose(sample[:, 1], 2 * sample[:, 0], atol=1e-7)
    assert has_mean(sample**2, np.array([1.0, 4.0]), np.array([2.0, 32.0]))
    with pytest.raises(ValueError, match="covariance is not positive definite"):
        law.mahalanobis_squared([1.0, 1.0])
