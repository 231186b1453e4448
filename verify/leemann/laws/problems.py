"""Problems of Leemann et al.'s statements, with their exact curves: steps, runs of steps, mechanisms, components of K."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
import scipy
from scipy.special import ndtr

import mipsim as mi
from mipsim.exact.chi_square import ChiSquareLaw
from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    NoncentralChiSquareTradeOff,
    PiecewiseLinearTradeOff,
)
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.stochastic import stochastic_composition
from verify.leemann.laws.curves import between, polygon_of


def gradients(
    d: int, n: int, mean: float, target: float, spread: float, evenness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Mean and variance of the Gaussian law, the target's gradient) for the clip C = 1.
    `d`: dimension; `n`: rows; `mean`: of every coordinate, in sqrt(n/d) of its standard deviations: targets that far off
    are distinguishable from strangers; `target`: the target's gradient, in the same unit; `spread`: largest standard
    deviation of a coordinate, at most C; `evenness`: the least over the largest.
    """
    scales = spread * np.geomspace(evenness, 1.0, d) if d > 1 else np.array([spread])
    unit = scales * (n / d) ** 0.5
    return mean * unit, scales**2, target * unit


@lru_cache(maxsize=64)  # theorem 5.1 and its correction are judged at the same points in sequence
def step_curve(
    d: int, n: int, mean: float, target: float, tau: float, spread: float, evenness: float
) -> AbstractTradeOff:
    """The exact curve of the likelihood ratio; tau, the noise on the mean, in units of C / sqrt(n).

    Where both worlds are Gaussian with proportional covariances the ratio is a scaled non-central chi-square in both, as a
    theorem says, so that only the parameters of two formulas are compared. Any other law keeps its proven error.
    """
    centre, variance, gradient = gradients(d, n, mean, target, spread, evenness)
    data = mi.Gaussian(centre, variance)
    mechanism = mi.GaussianNoise(mi.EmpiricalMean(), tau) if tau > 0 else mi.EmpiricalMean()
    game = mi.FixedTarget(mechanism, data, n=n, target=gradient)
    exact = game.exact(mi.LikelihoodRatio(mechanism, data, n=n))
    law = exact.law
    if not isinstance(law, ChiSquareLaw):
        return exact
    rejects = "small" if law.scale[0] < 0 else "large"
    return NoncentralChiSquareTradeOff(d, *law.noncentrality, *np.abs(law.scale), rejects=rejects)


VALUES, ROWS, OUTPUTS = 3, 2, 4
FINITE = ("finite, dense", "finite, sparse", "finite, of little exposure")


def finite_laws(mechanism: str, skew: float, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """A random mechanism on two rows of three values, and a law of the data, from a Dirichlet law with parameter `skew`.
    Returns (laws of the output for each pair of rows, shape (VALUES, VALUES, OUTPUTS); probabilities of the values).
    """
    rng = np.random.default_rng(draw)
    weights = rng.gamma(0.3, size=(*(VALUES,) * ROWS, OUTPUTS))
    if mechanism == "finite, sparse":
        weights *= rng.random(weights.shape) < 0.6
    laws = (weights + 1e-12) / (weights + 1e-12).sum(axis=-1, keepdims=True)
    if mechanism == "finite, of little exposure":
        laws = 0.1 * laws + 0.9 * laws.mean(axis=(0, 1))
    prior = rng.dirichlet(np.full(VALUES, skew)) + 1e-9
    return laws, prior / prior.sum()


@lru_cache(maxsize=4)
def finite_mechanism(
    mechanism: str, skew: float, draw: int
) -> tuple[SampledTradeOff, AbstractTradeOff, SampledTradeOff]:
    """(The least curve of neighbouring data sets, the MIP curve, that of the best test of the pair (sample, output)) of a random mechanism."""
    laws, prior = finite_laws(mechanism, skew, draw)
    neighbours = [
        polygon_of(laws[(*rest[:place], value, *rest[place:])], laws[(*rest[:place], other, *rest[place:])])
        for place in range(ROWS)
        for rest in product(range(VALUES), repeat=ROWS - 1)
        for value, other in product(range(VALUES), repeat=2)
        if value != other
    ]
    # f is the largest trade-off function below all neighbours: the lower convex hull of their minimum.
    alpha = np.unique(np.concatenate([curve.alpha for curve in neighbours]))
    least = np.min([curve.beta(alpha) for curve in neighbours], axis=0)
    most = np.max([curve.tpr_at(alpha) for curve in neighbours], axis=0)
    inside = np.tensordot(laws, prior, axes=(1, 0))  # (target, output)
    targets = [polygon_of(prior @ inside, law) for law in inside]
    return (
        SampledTradeOff.from_points(alpha, 1.0 - alpha, least, most),
        stochastic_composition(targets, prior),
        polygon_of(np.outer(prior, prior @ inside).ravel(), (prior[:, None] * inside).ravel()),
    )


FAMILIES: dict[str, tuple[tuple[AbstractTradeOff, ...], tuple[float, ...]]] = {
    "Gaussian": ((GaussianTradeOff(0.0), GaussianTradeOff(1.0), GaussianTradeOff(6.0)), (0.5, 0.4, 0.1)),
    "(epsilon, delta)": ((ApproxDPTradeOff(1.0, 0.0), ApproxDPTradeOff(3.0, 0.1)), (0.3, 0.7)),
    "disclosed at once": ((ApproxDPTradeOff(0.0, 1.0), GaussianTradeOff(0.5)), (0.2, 0.8)),
    "Laplace": ((LaplaceTradeOff(0.2), LaplaceTradeOff(4.0)), (0.99, 0.01)),
    "rare and steep": (
        tuple(PiecewiseLinearTradeOff([0.0, 10.0**-k, 1.0], [1.0, 0.0, 0.0]) for k in range(1, 9)),
        tuple(np.full(8, 1 / 8)),
    ),
    "asymmetric": (
        (PiecewiseLinearTradeOff([0.0, 0.1, 1.0], [0.9, 0.3, 0.0]), GaussianTradeOff(2.0)),
        (0.5, 0.5),
    ),
}


def random_family(targets: int, draw: int) -> tuple[list[AbstractTradeOff], list[float]]:
    """Random curves of four sorts, including curves with a jump at 0, and random weights."""
    rng = np.random.default_rng(draw)

    def curve() -> AbstractTradeOff:
        size = float(rng.uniform(0.0, 5.0))
        sort = rng.integers(4)
        if sort < 2:
            return GaussianTradeOff(size) if sort else LaplaceTradeOff(max(size, 1e-3))
        return ApproxDPTradeOff(size, float(rng.random()) * (sort == 2))

    return [curve() for _ in range(targets)], rng.dirichlet(np.full(targets, 0.7)).tolist()


def min_plus(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The least sums first[i] + second[j] with i + j = k, for every k."""
    total = np.full(first.size + second.size - 1, np.iinfo(np.int64).max)
    for i, value in enumerate(second):
        total[i : i + first.size] = np.minimum(total[i : i + first.size], first + value)
    return total


def random_polygons(targets: int, draw: int) -> np.ndarray:
    """Random convex polygons in whole numbers, some of them with a jump at 0 or reaching 0 early."""
    rng = np.random.default_rng(draw)
    grid = int(rng.integers(3, 30))
    curves = []
    for _ in range(targets):
        # Falls of at least what keeps the curve below 1 - alpha: sorted, with a sum of at most grid^2.
        falls = np.sort(rng.multinomial(grid**2, rng.dirichlet(np.full(grid + 1, 0.5))))[::-1]
        heights = grid**2 - np.cumsum(np.concatenate([[falls[0] * rng.integers(0, 2)], falls[:grid]]))
        capped = np.minimum(np.maximum(heights, 0), grid**2 - grid * np.arange(grid + 1))
        # The same ends, and every sum of the first falls at least as large: convex, and below.
        ordered = np.sort(-np.diff(capped))[::-1]
        curves.append(np.concatenate([[capped[0]], capped[0] - np.cumsum(ordered)]))
    return np.array(curves)


ATOMS_MEAN = 0.3 + 0.1 * 2**0.5
ATOMS_OWN = (2**0.5 - ATOMS_MEAN) ** 2 / (0.5 - ATOMS_MEAN**2)
"""K/d of the target sqrt 2 in all coordinates, for the values 0, 1, sqrt 2 with probabilities .6, .3, .1."""


def counted(out: object, inside: object, cuts: np.ndarray) -> SampledTradeOff:
    """Tests of a count: chords through those with at least `cuts`; each world a frozen law of SciPy and a shift."""
    (law, less), (other, more) = out, inside  # pyright: ignore[reportGeneralTypeIssues]
    cuts = np.unique(np.round(cuts))[::-1]
    tests = (
        law.sf(cuts - 1 - less),
        law.cdf(cuts - 1 - less),
        other.cdf(cuts - 1 - more),
        other.sf(cuts - 1 - more),
    )
    ends = ((0.0, 1.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    return SampledTradeOff.from_points(*(np.r_[a, rate, b] for rate, (a, b) in zip(tests, ends, strict=True)))


def atoms_curve(d: int, n: int, share: float = 0.1) -> SampledTradeOff:
    """The attack that counts the target's atom in each coordinate, which its sum determines; each record has it with probability `share`."""
    out, inside = scipy.stats.binom(n * d, share), scipy.stats.binom((n - 1) * d, share)
    spread = np.linspace(6.0, -6.0, 600) * (share * (1.0 - share) * n * d) ** 0.5
    return counted((out, 0), (inside, d), share * n * d + spread)


def coins_curve(epsilon: float, rate: float, steps: int) -> AbstractTradeOff:
    """Coins of e^epsilon : 1 that see the target at this rate: the number of ones is Binomial in both worlds.

    All thresholds where they are few; else some 1/200 of a standard deviation apart, and bounds between them.
    """
    out, inside = (scipy.stats.binom(steps, chance) for chance in coins(epsilon, rate))
    if steps < 3600:
        return counted((out, 0), (inside, 0), np.arange(steps + 1.0))
    ones = np.linspace(min(out.mean() + 12 * out.std(), steps), max(out.mean() - 6 * out.std(), 0.0), 3601)
    return between(counted((out, 0), (inside, 0), ones))


GAUSSIAN, COIN, LAPLACE = "Gaussian", "randomised response", "Laplace"


def curve_of(curve: str, size: float) -> AbstractTradeOff:
    """The curve of a step for an exposed target; `size` is mu, epsilon, or mu of Laplace's."""
    if curve == COIN:
        return ApproxDPTradeOff(size, 0.0)
    return GaussianTradeOff(size) if curve == GAUSSIAN else LaplaceTradeOff(size)


def over_targets(exposed: AbstractTradeOff, share: float) -> AbstractTradeOff:
    """The curve where this share of the targets is exposed and the others are not at all."""
    if share == 1.0:
        return exposed
    return stochastic_composition([exposed, GaussianTradeOff(0.0)], [share, 1.0 - share])


def coins(epsilon: float, rate: float) -> tuple[float, float]:
    """The chances of a 1, out and in, when a coin of e^epsilon : 1 sees the target at this rate."""
    q = 1 / (1 + np.exp(epsilon))
    return q, q + rate * (1 - 2 * q)


def endless(step: float, c: float, steps: int) -> float:
    """The advantage that an attacker has at least in `steps` steps with the falling rates min(1, c/sqrt(i)).

    It is 1 less the Hellinger affinity of the two worlds, which is the product of those of the steps.
    """
    x = np.linspace(-9.0, 9.0 + 2.0 * step, 2001)
    weight, ratio = np.diff(ndtr(x)), np.expm1(step * x - 0.5 * step**2)
    changes = ratio[1:] * ratio[:-1] < 0.0

    def loss(number: np.ndarray) -> np.ndarray:
        """-log of a step's affinity 1 - E[(sqrt(1 + z) - 1)^2]/2, z of mean 0, at least; it falls with the rate.

        The square falls in x up to where z = 0 and then rises: over a cell it is at least the smaller value at its ends.
        """
        z = np.outer(np.minimum(1.0, c / np.sqrt(number)), ratio)
        square = (z / (1.0 + np.sqrt(1.0 + z))) ** 2
        least = np.minimum(square[:, 1:], square[:, :-1])
        least[:, changes] = 0.0
        return -np.log1p(-0.5 * least @ weight)

    # Each of the first steps, then blocks of them at the least loss in the block, that of its last step.
    ends = np.unique(np.geomspace(1024, steps, 1500).astype(np.int64))
    whole = float(loss(np.arange(1.0, 1024 + 1)).sum()) + float(np.diff(ends) @ loss(ends[1:] * 1.0))
    return float(1.0 - np.exp(-whole))


COMPONENTS: dict[str, mi.AbstractDistribution] = {
    "Gaussian": mi.Gaussian(np.zeros(1), np.ones(1)),
    "uniform": mi.Uniform(np.zeros(1), np.ones(1)),
    "Laplace": mi.Laplace(np.zeros(1), np.ones(1)),
    "exponential": mi.Exponential(np.ones(1)),
    "Student t, 9 df": mi.StudentT(9.0, np.zeros(1), np.ones(1)),
}
BERNOULLI, MIXTURE = "Bernoulli", "two normals"


def kurtosis(components: str, p: float, deviation: float) -> float:
    """E[t^4] of a component of mean 0 and variance 1; the mixture has deviation 1, or `deviation` with probability p."""
    if components == BERNOULLI:
        return 1.0 / (p * (1 - p)) - 3.0
    if components == MIXTURE:
        return 3 * (1 - p + p * deviation**4) / (1 - p + p * deviation**2) ** 2
    law = COMPONENTS[components]
    return float(law.central_moment(4)[0] / law.variance[0] ** 2)


def mean_of_k(d: int, draw: int) -> float:
    """E[K] / d over all gradients with d Bernoulli components, each with its K by the formula."""
    p = np.random.default_rng(draw).uniform(0.001, 0.999, d)
    law, expected = mi.Bernoulli(p), 0.0
    for point in product((0.0, 1.0), repeat=d):
        expected += float(np.prod(np.where(point, p, 1 - p))) * law.mahalanobis_squared(np.array(point))
    return expected / d


def transform_of_k(at: float, variance: float = 1.0) -> float:
    """E exp(-at K) of a single Gaussian component, by a sum over a lattice; that of d is its d-th power.

    The integrand is itself a normal density but for a factor, and a sum of spacing h over all of the line misses the integral of a density of
    deviation s by 2 exp(-2 (pi s / h)^2) of it (Poisson): below 1e-30 at h = s / 2.
    """
    deviation = (2.0 * at + 1.0 / variance) ** -0.5
    x = 0.5 * deviation * np.arange(-30, 31)
    return float(
        0.5 * deviation * np.exp(-at * x**2 - 0.5 * x**2 / variance).sum() / np.sqrt(2.0 * np.pi * variance)
    )
