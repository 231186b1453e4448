"""Scores that are equal on paper and not in float64 are equal: 3 times .3 is .9, but not in float64."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np

import mipsim as mi

ROWS, ON_PAPER = 4, (Fraction(3, 10), Fraction(9, 10))


def rates(p: Sequence[Fraction] = ON_PAPER) -> list[tuple[Fraction, Fraction]]:
    """(FPR, TPR) at every threshold of the covariance score with target (1, 1), in rational arithmetic."""

    def pmf(count: int, trials: int, q: Fraction) -> Fraction:
        return (
            comb(trials, count) * q**count * (1 - q) ** (trials - count)
            if 0 <= count <= trials
            else Fraction(0)
        )

    masses: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for counts in product(range(ROWS + 1), repeat=2):
        score, out, inside = Fraction(0), Fraction(1), Fraction(1)
        for count, q in zip(counts, p, strict=True):
            score += (Fraction(count, ROWS) - q) / q
            out *= pmf(count, ROWS, q)
            inside *= pmf(count - 1, ROWS - 1, q)
        before = masses.get(score, (Fraction(0), Fraction(0)))
        masses[score] = before[0] + out, before[1] + inside
    result = [(Fraction(0), Fraction(0))]
    for score in sorted(masses, reverse=True):
        result.append((result[-1][0] + masses[score][0], result[-1][1] + masses[score][1]))
    return result


def test_the_curve_is_that_on_paper():
    p = np.array([float(item) for item in ON_PAPER])
    assert 3 * p[0] != p[1]
    data, target = mi.Bernoulli(p), np.ones(2)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=ROWS, target=target)
    law = game.exact(mi.CovarianceScore(data, n=ROWS, target=target))
    known = np.array([[float(rate) for rate in pair] for pair in rates()])
    alphas = np.linspace(0.0, 1.0, 1001)
    truth = np.interp(alphas, *known.T)
    low, high = law.tpr_bounds(alphas)
    rounded = 1e-14  # the probabilities are 0.3 and 0.9 to 2^-53 only
    assert ((low - rounded <= truth) & (truth <= high + rounded)).all()
    assert (high - low).max() < 1e-12
    # The control: scores that float64 holds apart, of counts that differ by a factor of three, give another curve.
    apart = np.interp(alphas, *np.array(rates(p=[Fraction(float(single)) for single in ON_PAPER]), float).T)
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
