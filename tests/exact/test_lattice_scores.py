"""Scores that are no line of a mean of discrete data: the bracket against every single data set."""

from fractions import Fraction

import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

import mipsim as mi
from tests.enumeration import as_fraction, masses_of


class Distance(mi.AbstractAdditiveAttack):
    """Minus the squared distance of the target."""

    def contributions(self, target, output):
        return -((output - target) ** 2)

    def link(self, target, total):
        return 2.0 * total


def enumerated(
    data: mi.Discrete, target: list[float], size: int, share: float, skew: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Every score and its probabilities in both worlds, in fractions; `skew` plants an error in the first probability."""
    law = data.probabilities.copy()
    law[:, 0] *= skew
    record = [
        {as_fraction(v): as_fraction(q) / sum(map(as_fraction, row)) for v, q in zip(data.values, row, strict=True)}
        for row in law
    ]  # fmt: skip
    goal = [as_fraction(z) for z in target]

    def distance(point: list[Fraction]) -> Fraction:
        return -2 * sum(((x / size - z) ** 2 for x, z in zip(point, goal, strict=True)), Fraction(0))

    scores, masses = zip(*masses_of(record, size, goal, distance).items(), strict=True)
    out, inside = np.array(masses, float).T
    return np.array(scores, float), np.stack([out, (1 - share) * out + share * inside])


CASES = [
    (mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=2), 4, [2.0, 0.0], 1.0),
    (mi.Discrete([-0.5, 0.0, 1.0], [[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]]), 4, [1.0, 0.3], 1.0),
    (mi.Discrete([0.1, 0.2, 0.4], [0.3, 0.3, 0.4], d=2), 4, [0.4, 0.1], 0.5),
    (mi.Discrete([0.0, 3.0], [0.98, 0.02], d=3), 3, [3.0, 3.0, 0.0], 1.0),
]


@pytest.mark.parametrize(("data", "n", "target", "rate"), CASES)
def test_the_law_is_that_of_every_data_set(data, n, target, rate) -> None:
    mechanism = mi.EmpiricalMean() if rate == 1.0 else mi.Subsampled(mi.EmpiricalMean(), rate)
    game = mi.FixedTarget(mechanism, data, n=n, target=target)
    law = game.exact(Distance()).law
    (scores, right), (_, planted) = (
        enumerated(data, target, round(rate * n), rate, skew) for skew in (1.0, 1.05)
    )
    atoms = np.unique(np.round(scores, 12))
    between = 0.5 * (atoms[1:] + atoms[:-1])  # on an atom rounding decides
    between = between[np.diff(atoms) > 1e-9]
    seen = 0.0
    for inside in (False, True):
        exact, wrong = (
            (mass[int(inside)] * (scores > between[:, None])).sum(axis=1) for mass in (right, planted)
        )
        error = np.abs(law.sf(between, inside=inside) - exact).max()
        assert error <= law.error_bound + 1e-15
        seen = max(seen, float(np.abs(exact - wrong).max()))
    assert seen > law.error_bound  # five per cent of a probability would show


@pytest.mark.evidence
def test_the_simulator_agrees() -> None:
    """20,000 games in each world; the DKW band fails with probability 1e-6."""
    data = mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=30)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=20, target=np.tile([2.0, 0.0, 1.0], 10))
    law = game.exact(Distance()).law
    assert law.error_bound < 1e-3
    played = mi.play(game, Distance(), games=20_000, progress=False)
    radius = np.sqrt(np.log(4e6) / 40_000)
    for inside, counts in ((False, played.out), (True, played.inside)):
        result = np.cumsum(counts)[:-1] / 20_000
        assert np.abs(result - law.cdf(played.edges, inside=inside)).max() < radius + law.error_bound


def test_values_on_no_lattice_are_refused() -> None:
    data = mi.Discrete([0.0, 1.0, float(np.sqrt(2.0))], [0.2, 0.5, 0.3], d=2)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=4, target=[1.0, 0.0])
    with pytest.raises(ValueError, match="Distance has no known exact distribution"):
        game.exact(Distance())


def test_a_term_that_is_nan_is_named() -> None:
    class Broken(mi.AbstractAdditiveAttack):
        def contributions(self, target, output):
            return jnp.where(output > 1.0, jnp.nan, output)

        def link(self, target, total):
            return total

    data = mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=2)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=4, target=[1.0, 0.0])
    with pytest.raises(ValueError, match="attack Broken contributes NaN or inf at a sum that can occur"):
        game.exact(Broken())


@pytest.mark.parametrize("n", [10, 1000, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_the_advantage_of_a_count_is_a_binomial_probability(n: int, rate: float) -> None:
    """(1 - p) P(Binomial(n - 1, p) = floor(n p)): the count of the others says as much as both tails differ by."""
    p, rows = 0.3, round(rate * n)
    mechanism = mi.EmpiricalMean() if rate == 1.0 else mi.Subsampled(mi.EmpiricalMean(), rate)
    game = mi.FixedTarget(mechanism, mi.Bernoulli([p]), n, [1.0])
    low, high = game.exact(mi.ScalarProduct([p])).advantage_bounds()
    with mp.workdps(60):
        q = mp.mpf(p)
        k = mp.floor(rows * q)
        choices = mp.loggamma(rows) - mp.loggamma(k + 1) - mp.loggamma(rows - k)
        truth = rate * mp.exp(choices + k * mp.log(q) + (rows - k) * mp.log1p(-q))
        assert low <= truth <= high
        if n <= 10**9:
            assert high - low <= (1e-9 if n <= 1000 else 1e-4) * truth
            assert not low <= truth * mp.mpf("1.03") <= high
