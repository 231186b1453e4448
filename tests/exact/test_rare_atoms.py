"""The bracket of a curve holds at atoms of any weight, however rare they are "out"."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi

SIGMA, STEP, N = 0.3, 0.001, 2


def true_fnr(p: float, alpha: float) -> float:
    """Of the randomised threshold test of a coin that shows 1 with probability p and is 1 in the target, by a sum over all outcomes."""
    k = np.arange(-12, 13)
    noise = np.exp(-0.5 * (k / SIGMA) ** 2)
    count = np.arange(N + 1.0)
    scores = np.add.outer(count / N, STEP * k).ravel()
    worlds = stats.binom.pmf(count, N, p), stats.binom.pmf(count - 1, N - 1, p)
    order = np.argsort(-scores)
    masses = [np.multiply.outer(world, noise / noise.sum()).ravel()[order] for world in worlds]
    fpr, tpr = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in masses)
    return 1.0 - float(np.interp(alpha, fpr, tpr))


@pytest.mark.parametrize("p", [1e-3, 1e-8, 1e-11, 4e-12, 1e-12, 2e-13])
@pytest.mark.parametrize("share", [0.1, 1.0, 1.9])
def test_the_bracket_holds_at_a_rare_atom(p: float, share: float) -> None:
    """The atoms at a single 1 among two rows weigh 2p "out" and almost 1 "in"."""
    game = mi.FixedTarget(
        mi.DiscreteGaussianNoise(mi.EmpiricalMean(), SIGMA, STEP), mi.Bernoulli([p]), N, [1.0]
    )
    curve = game.exact(mi.ScalarProduct([0.0]))
    low, high = curve.beta_bounds(share * p)
    # The sums above are right to 1e-16 of 1, at FPRs to 1e-15 of themselves.
    assert low - 1e-12 <= true_fnr(p, share * p) <= high + 1e-12
    assert high - low < 1e-11 + 8.0 * curve.law.error_bound / p


def test_scores_too_rare_to_be_listed_may_lie_beyond_all_others() -> None:
    """In "out" alone the score 0 occurs, with probability 6e-18: that is the advantage, which was proven to be 0."""
    data = mi.Discrete([-1.0, 0.0, 1.0], [1.0 - 2e-9, 1e-9, 1e-9])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, 4, [0.25])
    curve = game.exact(mi.FunctionAttack(lambda target, output: jnp.sum(jnp.square(output))))
    low, high = curve.advantage_bounds()
    assert low <= 6e-18 <= high <= 1e-12
    delta = curve.delta_bounds(0.5)
    assert delta[0] == 0.0
    assert delta[1] <= 1e-12
