"""Every fast sampler against the exact law of the score, and a wrong law, rejected."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.exact import exact_law
from tests.engine.kinds import kind_of
from tests.engine.one_sample import FAILURE, even_edges, kolmogorov_smirnov_p

RNG = np.random.default_rng(3)
N, D, GAMES, BINS = 40, 6, 100_000, 1_000
MEAN, SCALE = RNG.normal(size=D), RNG.uniform(0.5, 2.0, D)
FACTOR = RNG.normal(size=(D, D)) / 2
FULL = mi.Gaussian(MEAN, FACTOR @ FACTOR.T + np.eye(D))
DIAGONAL = mi.Gaussian(MEAN, SCALE)
POINT = MEAN + 2.0
MEAN_OF = mi.EmpiricalMean()


class Distance(mi.AbstractQuadraticAttack):
    """Any quadratic statistic plugs in by its centre and metric."""

    precision: np.ndarray

    def centre(self, target):
        return 0.5 * target

    def metric(self, target):
        return jnp.asarray(self.precision)

    def value(self, target, square):
        return -square


def fixed(mechanism, data, point=POINT):
    return mi.FixedTarget(mechanism, data, n=N, target=point)


LAPLACE = mi.Laplace(MEAN, SCALE)
EXPONENTIAL = mi.Exponential(SCALE)
CASES = {
    "Gaussian, full": (fixed(MEAN_OF, FULL), mi.CovarianceScore(FULL, N), "NormalSampler"),
    "Gaussian, noisy sub-sample": (fixed(mi.GaussianNoise(mi.Subsampled(MEAN_OF, 0.5), 0.7), DIAGONAL), mi.ScalarProduct(np.zeros(D)),
         "NormalSampler"),
    "Gaussian, likelihood ratio": (fixed(MEAN_OF, FULL), mi.GaussianLikelihoodRatio(FULL, N), "QuadraticSampler"),
    "Gaussian, ratio of a sub-sample": (fixed(mi.Subsampled(MEAN_OF, 0.5), DIAGONAL), mi.LikelihoodRatio(mi.Subsampled(MEAN_OF, 0.5), DIAGONAL, N),
         "QuadraticSampler"),
    "Laplace": (fixed(MEAN_OF, LAPLACE), mi.CovarianceScore(LAPLACE, N), "DensityColumns"),
    "exponential, noisy": (fixed(mi.GaussianNoise(MEAN_OF, 0.5), EXPONENTIAL, 2 * SCALE), mi.CovarianceScore(EXPONENTIAL, N), "DensityColumns"),
}  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize("name", CASES)
def test_a_sampler_draws_the_exact_law(name):
    game, attack, sampler = CASES[name]
    law = exact_law(game, attack)
    histogram = mi.play(game, attack, GAMES, seed=5, edges=even_edges(law, BINS), progress=False)
    assert kind_of(game, attack) == sampler
    for inside in (False, True):
        bins, p = kolmogorov_smirnov_p(histogram, law, inside=inside)
        assert bins > 300
        assert p >= FAILURE
    # The worlds differ, which the same check must see.
    swapped = mi.Histogram(histogram.edges, histogram.inside, histogram.out)
    assert kolmogorov_smirnov_p(swapped, law, inside=False)[1] < FAILURE


class DistanceLaw:
    """Minus the squared distance of a Gaussian mean from half its target, by SciPy's non-central chi-square."""

    def __init__(self, target):
        centres = MEAN, MEAN + (target - MEAN) / N
        self.scales = 1.0 / N, (N - 1.0) / N**2
        away = [c - 0.5 * target for c in centres]
        precision = np.linalg.inv(FULL.cov)
        self.lambdas = [a @ precision @ a / s for a, s in zip(away, self.scales, strict=True)]

    def cdf(self, x, *, inside):
        return stats.ncx2.sf(-x / self.scales[inside], D, self.lambdas[inside])

    def threshold_at(self, alpha):
        return -self.scales[0] * stats.ncx2.ppf(alpha, D, self.lambdas[0])


@pytest.mark.evidence
def test_any_quadratic_attack_is_projected():
    game, attack, law = fixed(MEAN_OF, FULL), Distance(np.linalg.inv(FULL.cov)), DistanceLaw(POINT)
    histogram = mi.play(game, attack, GAMES, seed=5, edges=even_edges(law, BINS), progress=False)
    assert (histogram.manifest["fidelity"], histogram.manifest["sampler"]) == ("projected", "projected")
    for inside in (False, True):
        assert kolmogorov_smirnov_p(histogram, law, inside=inside)[1] >= FAILURE
    # In a metric that is not the output's the form has no such law, and the outputs themselves are sampled.
    other = mi.play(game, Distance(np.eye(D)), 1000, progress=False)
    assert other.manifest["fidelity"] == "sufficient"


# From here on the Bernoulli game whose probabilities the planted errors change: 1 of 20, at n = 10,000.
LARGE, COLUMNS = 10_000, 20
P = np.random.default_rng(7).uniform(0.2, 0.8, COLUMNS)


def large_game(bias=0.0):
    p = P.copy()
    p[0] += bias
    target = (P < 0.5).astype(float)
    return mi.FixedTarget(MEAN_OF, mi.Bernoulli(p), n=LARGE, target=target)


# A single biased probability moves the "out" score by about sqrt(n / d) bias / sd = 4.5e-3 standard deviations at a bias
# of 1e-4: at 1e8 games a chi-square of 5,000 bins is then about 2,000 above its mean of 5,000, and rejects from 650
# above; at a bias of 1e-2 and 1e6 games (0.45 standard deviations) it is 200,000 above.
@pytest.mark.evidence
@pytest.mark.parametrize(
    ("games", "bias"),
    [(1_000_000, 1e-2), pytest.param(100_000_000, 1e-4, marks=pytest.mark.slow)],
)
def test_the_simulator_against_the_oracle(games, bias):
    attack = mi.CovarianceScore(large_game().data, LARGE)
    law = exact_law(large_game(), attack)
    edges = even_edges(law, 5_500)
    right = mi.play(large_game(), attack, games, seed=1, edges=edges, progress=False)
    wrong = mi.play(large_game(bias), attack, games, seed=2, edges=edges, progress=False)
    for inside in (False, True):
        bins, p = kolmogorov_smirnov_p(right, law, inside=inside)
        assert bins >= 5_000
        assert p >= FAILURE
        assert kolmogorov_smirnov_p(wrong, law, inside=inside)[1] < FAILURE
