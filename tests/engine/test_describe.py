import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.describe import array_digest, describe

SCALE = 2.0


def scaled(target, output):
    return SCALE * jnp.dot(target, output)


def close_over(constant):
    return lambda target, output: constant * output[0]


def test_descriptions_are_plain_json():
    data = mi.Bernoulli([0.3, 0.6])
    game = mi.FixedTarget(lambda key, r: r.mean(0), data, n=5, target=[1, 0])
    for thing in (
        game,
        mi.CovarianceScore(data, n=5),
        scaled,
        partial(scaled, 1),
        jax.jit(scaled),
        {"a": {1, 2}},
        float("nan"),
    ):
        described = describe(thing)
        assert json.loads(json.dumps(described)) == described
    assert describe(game)["mechanism"]["class"].endswith("FunctionMechanism")


def test_equal_things_are_described_alike_and_others_not():
    data, other = mi.Bernoulli([0.3, 0.6]), mi.Bernoulli([0.3, 0.6000001])
    assert describe(data) == describe(mi.Bernoulli([0.3, 0.6]))
    assert describe(data) != describe(other)
    assert describe(mi.Subsampled(mi.EmpiricalMean(), 0.5)) != describe(
        mi.Subsampled(mi.EmpiricalMean(), 0.25)
    )
    assert describe(close_over(1.0)) == describe(close_over(1.0))
    assert describe(close_over(1.0)) != describe(close_over(2.0))
    assert describe(close_over(np.zeros(2))) != describe(close_over(np.ones(2)))


def test_a_global_that_the_function_uses_counts(monkeypatch):
    before = describe(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert describe(scaled) != before


def test_a_function_that_calls_itself_is_described():
    def loop(x):
        return loop(x)

    assert describe(loop)["function"].endswith("loop")


@pytest.mark.parametrize("array", [np.zeros((2, 3)), np.float64(1.0), np.arange(3), jnp.ones(2)])
def test_digests_see_shape_dtype_and_values(array):
    digest = array_digest(array)
    assert digest == array_digest(np.array(array))
    assert digest["shape"] == list(np.shape(array))
    assert digest != array_digest(np.asarray(array) + 1)
