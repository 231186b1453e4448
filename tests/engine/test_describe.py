import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.describe import describe

SCALE = 2.0
DATA = mi.Bernoulli([0.3, 0.6])


def scaled(target, output):
    return SCALE * jnp.dot(target, output)


def close_over(constant):
    return lambda target, output: constant * output[0]


def itself(x):
    return itself(x)


class Held:
    def score(self, target, output):
        return output[0]


GAME = mi.FixedTarget(lambda key, r: r.mean(0), DATA, n=5, target=[1, 0])
THINGS = (GAME, mi.CovarianceScore(DATA, n=5), Held().score, scaled, partial(scaled, 1), jax.jit(scaled), itself, {"a": {1, 2}}, float("nan"))  # fmt: skip


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_descriptions_are_plain_json(thing):
    described = describe(thing)
    assert json.loads(json.dumps(described)) == described


def test_equal_things_are_described_alike_and_others_not(monkeypatch):
    """A global that a function uses counts too."""
    half = mi.Subsampled(mi.EmpiricalMean(), 0.5)
    for first, again, other in (
        (DATA, mi.Bernoulli([0.3, 0.6]), mi.Bernoulli([0.3, 0.6000001])),
        (half, mi.Subsampled(mi.EmpiricalMean(), 0.5), mi.Subsampled(mi.EmpiricalMean(), 0.25)),
        (close_over(1.0), close_over(1.0), close_over(2.0)),
        (close_over(np.zeros(2)), close_over(np.zeros(2)), close_over(np.ones(2))),
    ):
        assert describe(first) == describe(again) != describe(other)
    before = describe(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert describe(scaled) != before
