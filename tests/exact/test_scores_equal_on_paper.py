"""Scores that are equal on paper and not in float64 are equal: 3 times .3 is .9, but not in float64."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

import mipsim as mi
from tests.enumeration import coin, linear, masses_of, threshold_tests

ROWS, ON_PAPER = 4, (Fraction(3, 10), Fraction(9, 10))


def rates(p: Sequence[Fraction] = ON_PAPER) -> np.ndarray:
    """FPRs and TPRs at every threshold of the covariance score with target (1, 1), in rational arithmetic."""
    tests = threshold_tests(masses_of([coin(q) for q in p], ROWS, [1, 1], linear([1 / q for q in p])))
    return np.array(tests, float).T


def test_the_curve_is_that_on_paper():
    p = np.array([float(item) for item in ON_PAPER])
    assert 3 * p[0] != p[1]
    data, target = mi.Bernoulli(p), np.ones(2)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=ROWS, target=target)
    law = game.exact(mi.CovarianceScore(data, n=ROWS, target=target))
    alphas = np.linspace(0.0, 1.0, 1001)
    truth = np.interp(alphas, *rates())
    low, high = law.tpr_bounds(alphas)
    rounded = 1e-14  # the probabilities are 0.3 and 0.9 to 2^-53 only
    assert ((low - rounded <= truth) & (truth <= high + rounded)).all()
    assert (high - low).max() < 1e-12
    # The control: scores that float64 holds apart, of counts that differ by a factor of three, give another curve.
    apart = np.interp(alphas, *rates([Fraction(float(single)) for single in ON_PAPER]))
    assert ((apart < low - rounded) | (apart > high + rounded)).any()


def test_a_parabola_that_takes_a_value_twice_is_a_single_score() -> None:
    """o - o^2 is 0 at the sums 0 and 3 of three rows: the score is all but constant, and the advantage 2e-18, not 1e-9.

    It is read about the mean, where both values are so small that their own rounding is far below that of their parts.
    """
    data = mi.Discrete([0.0, 3.0], [1.0 - 1e-9, 1e-9])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, 3, [0.0])
    attack = mi.FunctionAttack(lambda target, output: (output - output * output).sum())
    low, high = game.exact(attack).advantage_bounds()
    assert low <= 1.999999998e-18 <= high <= 1e-12
