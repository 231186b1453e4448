"""The distribution of a clipped record, against transformed records."""

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.distributions.transforms import AbstractTransform, CoordinateClip, NormClip
from mipsim.forms.problem import problem_of
from tests.engine.kinds import kind_of
from tests.law_agreement import FAILURE, two_sample_p

THREE = mi.Discrete([-2.0, 0.0, 3.0], [[0.2, 0.3, 0.5], [0.5, 0.4, 0.1]])
COINS = mi.Bernoulli([0.3, 0.6])
RECORDS = mi.Empirical([[0.0, 1.0], [3.0, 4.0], [-1.0, 0.5], [6.0, 8.0]], covariance="diagonal")


def records_of(data: mi.AbstractDistribution, seed: int, n: int = 20_000) -> np.ndarray:
    with exact_scope():
        return np.asarray(data.sample(jax.random.key(seed), n))


CASES = {
    "three values, coordinates": (THREE, CoordinateClip(-1.0, 1.0)),
    "values that become equal": (THREE, CoordinateClip(0.0, 4.0)),
    "three values in dimension 1": (mi.Discrete([-2.0, 0.0, 3.0], [0.2, 0.3, 0.5]), NormClip(1.5)),
    "coins": (COINS, CoordinateClip(0.25, 0.75)),
    "a coin": (mi.Bernoulli([0.3]), NormClip(0.5)),
    "records": (RECORDS, NormClip(2.0)),
}


@pytest.mark.parametrize("name", CASES)
def test_transformed_records_have_the_stated_distribution(name):
    data, transform = CASES[name]
    law = data.transformed(transform)
    assert law is not None
    sample, text, plain = transform.apply(records_of(data, 1)), records_of(law, 2), records_of(data, 3)
    for j in range(data.dimension):
        # Values agree to rounding, or a bin holds records of a single side.
        edges = np.unique(np.concatenate([x[:, j].round(9) for x in (sample, text, plain)]))[1:] - 1e-8
        mine, theirs, other = (
            np.bincount(np.searchsorted(edges, x[:, j]), minlength=edges.size + 1)
            for x in (sample, text, plain)
        )
        assert two_sample_p(mine, theirs)[1] >= FAILURE
        assert two_sample_p(mine, other)[1] < FAILURE


@pytest.mark.parametrize(
    ("data", "transform"),
    [
        (COINS, NormClip(np.sqrt(2.0))),
        (COINS, CoordinateClip(0.0, 1.0)),
        (mi.Uniform(-1.0, [1.0, 2.0]), NormClip(np.sqrt(5.0))),
        (THREE, NormClip(np.sqrt(18.0))),
        (mi.Gaussian(0.0, 1.0, d=2), NormClip(np.inf)),
        (RECORDS, NormClip(10.0)),
    ],
)
def test_what_fixes_every_record_changes_nothing(data, transform):
    assert data.transformed(transform) is data


@pytest.mark.parametrize(
    ("data", "transform"),
    [
        (COINS, NormClip(1.4)),  # coordinates become dependent
        (COINS, CoordinateClip(-1.0, 0.0)),  # a constant is no distribution here
        (mi.Uniform(-1.0, [1.0, 2.0]), NormClip(2.2)),
        (mi.Gaussian(0.0, 1.0, d=2), NormClip(100.0)),
        (mi.Empirical([[1.0, 0.0], [2.0, 1.0]], covariance="diagonal"), CoordinateClip(-1.0, 0.5)),
    ],
)
def test_what_has_no_known_distribution_has_none(data, transform):
    assert data.transformed(transform) is None


def test_a_random_target_is_scored_as_it_was_before_it_was_clipped():
    data = mi.Bernoulli([0.3])
    whole, cut = (mi.RandomTarget(mi.SGDStep(clip, 0.4), data, n=20) for clip in (1.0, 0.5))
    attack = mi.ScalarProduct([0.0])
    problems = [problem_of(game, attack) for game in (whole, cut)]
    assert [problem is not None and problem.mean.is_plain for problem in problems] == [True, False]
    assert kind_of(cut, attack) == "LiteralSampler"


class Threshold(AbstractTransform):
    """1{z > 0}, a transform of a user's own."""

    def apply(self, rows):
        return np.where(rows > 0.0, 1.0, 0.0)

    def is_coordinatewise(self, dimension):
        return True

    def fixes(self, low, high):
        return False


def test_a_transform_of_a_users_own_has_its_distribution_too():
    law = THREE.transformed(Threshold())
    assert isinstance(law, mi.Discrete)
    assert np.allclose(law.probabilities, [[0.5, 0.5], [0.9, 0.1]])
