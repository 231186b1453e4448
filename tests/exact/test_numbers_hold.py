"""Numbers of games that are known on paper lie within their bounds, and 3% off they do not: rare atoms, scores that tie on paper, advantages."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.bound_holds import holds
from tests.enumeration import coin, linear, masses_of, threshold_tests

mp: Any = mpmath
MEAN = mi.EmpiricalMean()
SIGMA, STEP, N = 0.3, 0.001, 2


def true_fnr(p: float, alpha: float) -> float:
    """Of the randomised threshold test of a coin that shows 1 with probability p and is 1 in the target, by a sum over all outcomes."""
    k, count = np.arange(-12, 13), np.arange(N + 1.0)
    noise = np.exp(-0.5 * (k / SIGMA) ** 2)
    scores = np.add.outer(count / N, STEP * k).ravel()
    worlds, order = (stats.binom.pmf(count, N, p), stats.binom.pmf(count - 1, N - 1, p)), np.argsort(-scores)
    masses = [np.multiply.outer(world, noise / noise.sum()).ravel()[order] for world in worlds]
    fpr, tpr = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in masses)
    return 1.0 - float(np.interp(alpha, fpr, tpr))


@pytest.mark.parametrize("p", [1e-3, 1e-8, 1e-11, 4e-12, 1e-12, 2e-13])
def test_the_bracket_holds_at_a_rare_atom(p: float) -> None:
    """The atoms at a single 1 among two rows weigh 2p "out" and almost 1 "in"; the sums are right to 1e-16 of 1, at FPRs to 1e-15 of themselves."""
    curve = mi.FixedTarget(mi.DiscreteGaussianNoise(MEAN, SIGMA, STEP), mi.Bernoulli([p]), N, [1.0]).exact(
        mi.ScalarProduct([0.0])
    )
    for share in (0.1, 1.0, 1.9):
        wrong = [true_fnr(p, share * 1.03 * p)] if p >= 1e-8 else []
        holds(
            curve.beta_bounds(share * p),
            true_fnr(p, share * p),
            *wrong,
            slack=1e-12,
            width=1e-11 + 8.0 * curve.law.error_bound / p,
        )


def test_scores_too_rare_to_be_listed_may_lie_beyond_all_others() -> None:
    """In "out" alone the score 0 occurs, with probability 6e-18: that is the advantage, which was proven to be 0."""
    data = mi.Discrete([-1.0, 0.0, 1.0], [1.0 - 2e-9, 1e-9, 1e-9])
    curve = mi.FixedTarget(MEAN, data, 4, [0.25]).exact(
        mi.FunctionAttack(lambda target, output: jnp.sum(jnp.square(output)))
    )
    holds(curve.advantage_bounds(), 6e-18, width=1e-12)
    low, high = curve.delta_bounds(0.5)
    assert (low, high <= 1e-12) == (0.0, True)


def test_a_parabola_that_takes_a_value_twice_is_a_single_score() -> None:
    """o - o^2 is 0 at the sums 0 and 3 of three rows: the score is all but constant, and the advantage 2e-18, not 1e-9.

    It is read about the mean, where both values are so small that their own rounding is far below that of their parts.
    """
    game = mi.FixedTarget(MEAN, mi.Discrete([0.0, 3.0], [1.0 - 1e-9, 1e-9]), 3, [0.0])
    attack = mi.FunctionAttack(lambda target, output: (output - output * output).sum())
    holds(game.exact(attack).advantage_bounds(), 1.999999998e-18, 1e-9, width=1e-12)


def test_scores_that_are_equal_on_paper_are_equal() -> None:
    """3 times .3 is .9, but not in float64. Wrong: scores that float64 holds apart, of counts that differ by a factor of three."""
    paper = (Fraction(3, 10), Fraction(9, 10))
    p, target, alphas = np.array([float(q) for q in paper]), np.ones(2), np.linspace(0.0, 1.0, 1001)
    assert 3 * p[0] != p[1]

    def tprs(probabilities: Sequence[Fraction]) -> np.ndarray:
        """At every threshold of the covariance score with target (1, 1), in rational arithmetic."""
        masses = masses_of(
            [coin(q) for q in probabilities], 4, [1, 1], linear([1 / q for q in probabilities])
        )
        return np.interp(alphas, *np.array(threshold_tests(masses), float).T)

    data = mi.Bernoulli(p)
    curve = mi.FixedTarget(MEAN, data, n=4, target=target).exact(mi.CovarianceScore(data, n=4, target=target))
    apart = tprs([Fraction(q) for q in p.tolist()])
    holds(curve.tpr_bounds(alphas), tprs(paper), apart, slack=1e-14, width=1e-12)  # p is right to 2^-53 only


def of_a_count(n: int) -> Any:
    """(1 - p) P(Binomial(n - 1, p) = floor(n p)): the count of the others says as much as both tails differ by."""
    q = mp.mpf(0.3)
    k = mp.floor(n * q)
    return mp.exp(
        mp.loggamma(n) - mp.loggamma(k + 1) - mp.loggamma(n - k) + k * mp.log(q) + (n - k) * mp.log1p(-q)
    )


def of_a_normal(n: int) -> Any:
    """Of N(0, 1 / n) against N(3 / n, (n - 1) / n^2); where both densities are equal (z - shift)^2 / ratio^2 - z^2 + 2 log ratio = 0."""
    shift, ratio = 3 / mp.sqrt(n), mp.sqrt(1 - mp.mpf(1) / n)
    a, b, c = 1 / ratio**2 - 1, -2 * shift / ratio**2, (shift / ratio) ** 2 + 2 * mp.log(ratio)
    z = -2 * c / (b - mp.sqrt(b * b - 4 * a * c))
    return mp.ncdf(z) - mp.ncdf((z - shift) / ratio)


COUNTS = [
    (10, 1.0, 1e-9),
    (10, 0.5, 1e-9),
    (1000, 0.5, 1e-9),
    (10**6, 1.0, 1e-4),
    (10**6, 0.5, 1e-4),
    (10**9, 0.5, 1e-4),
    (10**12, 1.0, np.inf),
]
NORMALS = [(n, rate, 1e-5) for n, rate in product([10**3, 10**6, 10**9, 10**12, 10**15, 2**53], (1.0, 0.5))]


@pytest.mark.parametrize(
    ("data", "truth", "target", "n", "rate", "width"),
    [
        *((mi.Bernoulli([0.3]), of_a_count, 1.0, *row) for row in COUNTS),
        *((mi.Gaussian(0.0, 1.0), of_a_normal, 3.0, *row) for row in NORMALS),
    ],
)  # fmt: skip
def test_an_advantage_is_known_relative_to_itself(
    data: Any, truth: Any, target: float, n: int, rate: float, width: float
) -> None:
    """With a record that takes part in half of the games or in all."""
    rows = round(rate * n) if rate == 1.0 else n // 2
    game = mi.FixedTarget(
        MEAN if rate == 1.0 else mi.Subsampled(MEAN, rate), data, n if rate == 1.0 else 2 * rows, [target]
    )
    bounds = game.exact(mi.ScalarProduct(data.mean)).advantage_bounds()
    true = rate * truth(rows)
    wrong = [true * mp.mpf(share) for share in ("0.97", "1.03")] if np.isfinite(width) else []
    holds(tuple(map(mp.mpf, bounds)), true, *wrong, width=width * true)
