"""A noise is its law: from that alone it gets a fast sampler and an exact law, a user's own as well as the library's."""

import equinox as eqx
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.mechanisms.function import as_mechanism
from mipsim.mechanisms.noise import AbstractIndependentNoise
from mipsim.mechanisms.release import NoiseLaw
from tests.scope import in_exact_scope  # noqa: F401

MEAN = mi.EmpiricalMean()
N = 6
P = np.array([0.3, 0.6])
COINS = mi.Bernoulli(P)
TARGET = np.array([1.0, 0.0])
ATTACK = mi.CovarianceScore(COINS, n=N)
STEP = 1.0 / N


class UniformNoise(AbstractIndependentNoise):
    base: mi.AbstractMechanism = eqx.field(converter=as_mechanism)
    half: np.ndarray = eqx.field(converter=np.asarray)

    @property
    def noise_law(self):
        return NoiseLaw(mi.Uniform(-1.0, 1.0), self.half)


class DiscreteLaplaceNoise(AbstractIndependentNoise):
    """P(K = k) proportional to ratio^|k| on the integers, times a step; cut where 1e-18 is left."""

    base: mi.AbstractMechanism = eqx.field(converter=as_mechanism)
    ratio: float = eqx.field(static=True)
    step: float = eqx.field(static=True)

    @property
    def noise_law(self):
        most = int(np.ceil(np.log(1e-18) / np.log(self.ratio)))
        k = np.arange(-most, most + 1.0)
        weight = self.ratio ** np.abs(k)
        return NoiseLaw(mi.Discrete(k, weight / weight.sum()), self.step, 1e-14)


def discrete_gaussian_pmf(sigma, step):
    k = np.arange(-60, 61)
    weight = np.exp(-(k**2) / (2.0 * sigma**2))
    return step * k, weight / weight.sum()


def discrete_laplace_pmf(ratio, step):
    k = np.arange(-200, 201)
    return step * k, (1 - ratio) / (1 + ratio) * ratio ** np.abs(k)


NOISES = {
    "discrete Gaussian": (mi.DiscreteGaussianNoise(MEAN, deviation=1.5, step=STEP), discrete_gaussian_pmf(1.5, STEP)),
    "finer discrete Gaussian": (mi.DiscreteGaussianNoise(MEAN, deviation=0.7, step=0.3 * STEP), discrete_gaussian_pmf(0.7, 0.3 * STEP)),
    "discrete Laplace": (DiscreteLaplaceNoise(MEAN, 0.5, STEP), discrete_laplace_pmf(0.5, STEP)),
}  # fmt: skip
SMOOTH = {"uniform": UniformNoise(MEAN, 0.4), "Laplace": mi.LaplaceNoise(MEAN, 0.2)}
EVERY = {name: noise for name, (noise, _) in NOISES.items()} | SMOOTH


def direct_sum(noise, member, x):
    """P(score > x) over every outcome of the counts and of both noises: NumPy and SciPy alone."""
    weights = (TARGET - P) / (P * (1 - P))
    offset = -np.sum(weights * P) - np.sum(weights * (TARGET - P)) / (2 * N)
    values, mass = np.array([offset]), np.ones(1)
    for w, p, z in zip(weights, P, TARGET, strict=True):
        count = np.arange(N + 1 - member)
        for item, law in (
            (w * (count + member * z) / N, stats.binom.pmf(count, N - member, p)),
            (w * noise[0], noise[1]),
        ):
            values, mass = np.add.outer(values, item).ravel(), np.multiply.outer(mass, law).ravel()
            retained = mass > 1e-18
            values, mass = values[retained], mass[retained]
    order = np.argsort(values)
    upper = np.concatenate([np.cumsum(mass[order][::-1])[::-1], [0.0]])
    return upper[np.searchsorted(values[order], x, side="right")]


def thresholds():
    # Irrational places: none is on an atom, where rounding would decide.
    return np.sqrt(2.0) * np.linspace(-2.0, 2.0, 41) + 1e-3


@pytest.mark.parametrize("name", NOISES)
def test_the_exact_law_is_the_direct_sum(name):
    noise, pmf = NOISES[name]
    game = mi.FixedTarget(noise, COINS, n=N, target=TARGET)
    law = game.exact(ATTACK).law
    assert law.error_bound < 1e-3
    for member in (0, 1):
        off = np.abs(law.sf(thresholds(), inside=bool(member)) - direct_sum(pmf, member, thresholds()))
        assert off.max() <= law.error_bound + 1e-12  # of SciPy's binomial masses and what the sum leaves out


def test_a_sigma_three_per_cent_off_is_seen():
    """The negative control, through the same comparison."""
    law = mi.FixedTarget(NOISES["discrete Gaussian"][0], COINS, n=N, target=TARGET).exact(ATTACK).law
    wrong = discrete_gaussian_pmf(1.5 * 1.03, STEP)
    off = np.abs(law.sf(thresholds(), inside=False) - direct_sum(wrong, 0, thresholds()))
    assert off.max() > law.error_bound + 1e-12


@pytest.mark.evidence
@pytest.mark.parametrize("name", EVERY)
def test_noise_of_a_density_and_of_data_with_a_density(name):
    """Data with a density and any noise, several of them too, have a tight law; so have all noises over each other."""
    data = mi.Exponential([1.0, 2.0])
    stack = mi.GaussianNoise(mi.Subsampled(EVERY[name], 0.5), 0.1)
    curve = mi.FixedTarget(stack, data, n=12, target=[1.0, 3.0]).exact(mi.CovarianceScore(data, n=12))
    assert curve.law.error_bound < 1e-9
    both = mi.DiscreteGaussianNoise(EVERY[name], deviation=2.0, step=0.05)
    assert mi.FixedTarget(both, COINS, n=N, target=TARGET).exact(ATTACK).law.error_bound < 1e-3
