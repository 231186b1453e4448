"""Records known by their distribution function alone, against the exact laws of distributions that have their own."""

import jax
import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.distributions.base import AbstractWithCDF, coordinates, finite_vector
from mipsim.distributions.by_cdf import CharacteristicByCDF, reach_of
from mipsim.distributions.sum_table import standard_forms, sum_table
from mipsim.exact.by_cdf import cdf_law
from mipsim.exact.linear import linear_law
from mipsim.forms.problem import FixedProblem
from mipsim.mechanisms.release import Release

CDFS = {
    "uniform": (lambda x: np.clip(x, 0.0, 1.0), mi.Uniform(0.0, 1.0)),
    "exponential": (lambda x: -np.expm1(-np.maximum(x, 0.0)), mi.Exponential(1.0)),
    "laplace": (lambda x: np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1.0 - 0.5 * np.exp(-np.abs(x))), mi.Laplace(0.0, 1.0)),
    "normal": (ndtr, mi.Gaussian(0.0, 1.0)),
    "normal, 3% wider": (lambda x: ndtr(x / 1.03), mi.Gaussian(0.0, 1.03**2)),
    "no distribution function": (lambda x: 1.5 * ndtr(x), mi.Gaussian(0.0, 1.0)),
    "falling": (lambda x: ndtr(x) + 0.1 * np.sin(9.0 * x) * np.exp(-np.square(x)), mi.Gaussian(0.0, 1.0)),
}  # fmt: skip


class Known(AbstractWithCDF):
    """A distribution of the table, each coordinate with a scale of its own."""

    scale: np.ndarray
    name: str

    def __init__(self, name: str, scale: object = 1.0, d: int | None = None):
        self.name = name
        (self.scale,) = coordinates(d, scale=scale)

    @property
    def base(self):
        return CDFS[self.name][1]

    @property
    def mean(self):
        return self.scale * self.base.mean

    def cdf(self, points):
        return CDFS[self.name][0](points / self.scale)

    def central_moment(self, order):
        return self.scale**order * self.base.central_moment(order)

    def sample(self, key, n):
        keys = jax.random.split(key, self.dimension)
        return jax.numpy.concatenate([self.base.sample(item, n) for item in keys], axis=1) * self.scale

    def in_support(self, point):
        finite_vector("point", point, self.dimension)
        return True

    def easiest_target(self):
        return self.mean + 2.0 * self.scale

    def hardest_target(self):
        return self.mean


def own(name: str, scale: np.ndarray) -> mi.AbstractDistribution:
    return {
        "uniform": lambda: mi.Uniform(np.zeros_like(scale), scale),
        "exponential": lambda: mi.Exponential(scale),
        "laplace": lambda: mi.Laplace(np.zeros_like(scale), scale),
        "normal": lambda: mi.Gaussian(np.zeros_like(scale), scale**2),
    }[name.split(",")[0]]()


MECHANISMS = {
    "mean": mi.EmpiricalMean(),
    "half of the records": mi.Subsampled(mi.EmpiricalMean(), 0.5),
    "each by its coin": mi.GaussianNoise(mi.PoissonSubsampled(mi.EmpiricalMean(), 0.3), 0.5),
    "Gaussian noise": mi.GaussianNoise(mi.EmpiricalMean(), 0.5),
    "Laplace noise": mi.LaplaceNoise(mi.EmpiricalMean(), 0.2),
}


def both(name: str, mechanism: mi.AbstractMechanism, n: int, scale: np.ndarray, wrong: str | None = None):
    data, known = own(name, scale), Known(wrong or name, scale)
    target = np.asarray(data.mean + 1.5 * scale)
    attack = mi.ScalarProduct(data.mean + 0.25)
    return [mi.FixedTarget(mechanism, item, n=n, target=target).exact(attack).law for item in (data, known)]


def bounds(law, x: np.ndarray, inside: bool) -> tuple[np.ndarray, np.ndarray]:
    """Of P(score > x)."""
    result = law.tail_bounds(x, inside=inside)
    return np.exp(result.log_tpr_low), np.exp(result.log_tpr_high)


def thresholds(law) -> np.ndarray:
    return law.threshold_at(np.linspace(0.001, 0.999, 101))


def hold_the_truth(result, exact, worlds=(False, True)) -> bool:
    """Whether the bounds of both meet at every threshold."""
    x, ends = thresholds(exact), []
    for inside in worlds:
        (low, high), (true_low, true_high) = bounds(result, x, inside), bounds(exact, x, inside)
        ends += [(low <= true_high).all(), (true_low <= high).all()]
    return all(ends)


@pytest.mark.evidence
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", ["uniform", "exponential", "laplace", "normal"])
def test_the_bounds_hold_the_distribution_s_own_law(name, mechanism):
    exact, result = both(name, MECHANISMS[mechanism], 60, np.array([1.0, 0.5]))
    assert result.error_bound < 1e-3
    assert hold_the_truth(result, exact)


@pytest.mark.parametrize("n", [30, pytest.param(100_000, marks=pytest.mark.evidence)])
def test_a_mean_of_few_and_of_many(n):
    exact, result = both("exponential", mi.EmpiricalMean(), n, np.array([1.0, 1.0]))
    assert result.error_bound < 1e-3
    assert hold_the_truth(result, exact)


@pytest.mark.evidence
def test_a_target_adds_its_row_as_it_was_transformed():
    """The attack knows the point [3, 1]; what enters the mean is [0.9, 0.3]."""
    attack, scale = mi.ScalarProduct([0.25, 0.5]), np.ones(2)
    target, row = np.array([3.0, 1.0]), np.array([0.9, 0.3])
    with exact_scope():
        exact, result = (
            rule(FixedProblem(data, Release(40), attack, target, row))
            for rule, data in ((linear_law, own("uniform", scale)), (cdf_law, Known("uniform", scale)))
        )
    assert exact is not None
    assert result is not None
    assert hold_the_truth(result, exact, [True])


def test_another_distribution_function_is_distinguished_from_the_truth():
    exact, result = both("normal", mi.EmpiricalMean(), 40, np.ones(2), "normal, 3% wider")
    low, high = bounds(result, thresholds(exact), False)
    true = exact.sf(thresholds(exact), inside=False)
    assert (low > true).any()
    assert (high < true).any()


@pytest.mark.parametrize("rows", [20, 10**6])
def test_the_transform_is_the_distribution_s_own(rows):
    law, known = Known("exponential"), standard_forms(mi.Exponential(1.0))
    reach = reach_of(law)
    assert known is not None
    assert reach is not None
    (form,), _ = known
    sd = np.sqrt(rows)
    u = 2 * np.pi * np.fft.fftfreq(2**15, 16 * sd / 2**15)
    seen = np.abs(u) * sd < 8.0  # beyond it the sum's transform is below e^-30
    result = CharacteristicByCDF(law, reach)(u)[seen] ** rows
    np.testing.assert_allclose(result, form.characteristic(u)[seen].astype(complex) ** rows, atol=1e-8)


@pytest.mark.evidence
def test_games_are_played_without_records_and_follow_the_law():
    data = Known("laplace", [1.0, 0.5, 1.0])
    forms = standard_forms(data)
    assert forms is not None
    assert sum_table(forms[0][0], 30) is not None
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=30, target=[2.0, 1.0, 2.0])
    attack = mi.CovarianceScore(data, n=30)
    counts = mi.play(game, attack, games=200_000, progress=False)
    assert counts.manifest["sampler"] == "columns"
    # Simultaneous bands of confidence 1 - 1e-9, against bounds that are proven.
    curve = counts.tradeoff(1 - 1e-9)
    assert curve.compare(game.exact(attack), tolerance=0.3, least_rate=0.05).verdict == "CONFIRMED"
    other = mi.FixedTarget(
        mi.EmpiricalMean(), Known("laplace", [1.0, 0.5, 1.0]), n=30, target=[2.0, 1.3, 2.0]
    )
    with exact_scope():
        wrong = other.exact(mi.CovarianceScore(data, n=30))
    assert curve.compare(wrong, tolerance=0.3).verdict == "REFUTED"
