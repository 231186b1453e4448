"""The samplers draw the law that the moments and densities describe; a wrong law is noticed."""

import jax
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.distributions import agreement
from mipsim.distributions.agreement import check_agreement
from tests.distributions.members import MEMBERS, Member
from tests.law_agreement import follows, has_frequencies, has_mean, same_law
from tests.scope import in_exact_scope  # noqa: F401

DRAWS = 2**18


def has_its_law(member: Member, sample: np.ndarray) -> bool:
    """Whether records have the distribution that SciPy, or the table's atoms, give."""
    counts = [
        np.array([np.count_nonzero(sample[:, j] == v) for v in of[0]]) for j, of in enumerate(member.atoms)
    ]
    return all(follows(sample[:, j], law.cdf) for j, law in enumerate(member.continuous)) and all(
        seen.sum() == len(sample) and has_frequencies(seen, weights)
        for seen, (_, weights) in zip(counts, member.atoms, strict=True)
    )


@pytest.mark.parametrize("name", MEMBERS)
def test_records_have_their_law_and_agree_with_all_that_is_stated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    member, law = MEMBERS[name], MEMBERS[name].law
    sample = np.asarray(law.sample(jax.random.key(11), DRAWS))
    assert has_its_law(member, sample)
    # The planted error: a spread around the mean that is 4 per cent too large. What such an error contradicts has tests of its own.
    assert not has_its_law(member, law.mean + 1.04 * (sample - law.mean))
    monkeypatch.setattr(agreement, "_AGREEING", set())
    check_agreement(law)


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


def sums(law: mi.AbstractDistribution, n: int, games: int = 20_000) -> np.ndarray:
    keys, draw = jax.random.split(jax.random.key(n), games), law.sum_sampler()
    assert draw is not None
    # Not jitted as a whole: the compiled samplers inside then serve every n.
    return np.asarray(jax.vmap(lambda key: draw(key, n))(keys))


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
