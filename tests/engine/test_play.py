import json
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.counting import GAMES, PILOT
from mipsim.engine.describe import describe
from tests.sampler_laws import same

DATA = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 6))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=12, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=12, target=GAME.target)
NORMAL = mi.FixedTarget(mi.EmpiricalMean(), mi.Gaussian(np.zeros(3), np.ones(3)), n=5, target=np.ones(3))


def test_worlds_and_pilot_have_streams_of_their_own():
    """Edges that came from the games' own numbers would spoil the coverage of the band."""
    edges = np.linspace(-1, 1, 200)
    blind = mi.play(NORMAL, lambda target, output: output[1], 500, edges=edges, progress=False)
    assert not np.array_equal(blind.out, blind.inside)
    assert GAMES != PILOT


def test_settings_of_jax_are_left_alone_and_do_not_matter():
    before = {name: getattr(jax.config, name) for name in ("jax_enable_x64", "jax_threefry_partitionable")}
    first = mi.play(NORMAL, mi.ScalarProduct(np.zeros(3)), 500, progress=False)
    assert before == {name: getattr(jax.config, name) for name in before}
    with jax.threefry_partitionable(False), jax.enable_x64(True):
        assert same(first, mi.play(NORMAL, mi.ScalarProduct(np.zeros(3)), 500, progress=False))


def test_the_manifest_says_what_was_played():
    manifest = mi.play(GAME, ATTACK, 200, seed=5, progress=False).manifest
    assert manifest["game"]["class"] == "mipsim.games.fixed_target.FixedTarget"
    assert manifest["game"]["n"] == 12
    assert manifest["game"]["target"]["shape"] == [6]
    assert (manifest["seed"], manifest["games"], manifest["fidelity"]) == (5, 200, "sufficient")
    assert set(manifest["versions"]) == {"mipsim", "jax", "numpy"}
    assert len(manifest["edges"]["sha256"]) == 64
    assert manifest["edges"]["source"] == "pilot"


EDGES = np.linspace(-6, 6, 41)


def counted(seed=0, games=500):
    return mi.play(GAME, ATTACK, games, seed, edges=EDGES, progress=False)


def test_merging_adds_counts():
    a, b, c = counted(0), counted(1, 300), counted(2)
    both = a + b
    np.testing.assert_array_equal(both.out, a.out + b.out)
    assert both.games == both.manifest["games"] == 800
    assert both.manifest["runs"] == [[0, 0, 500], [1, 0, 300]]
    assert both.manifest["seed"] is None
    assert ((a + b) + c).manifest == (c + (b + a)).manifest | {"games": 1300}
    with pytest.raises(ValueError, match="seed 1"):
        _ = both + b
    bare = mi.Histogram(EDGES, a.out, a.inside)
    with pytest.raises(ValueError, match="without a manifest"):
        _ = bare + bare
    with pytest.raises(TypeError):
        _ = bare + 3


def test_the_curve_counts_what_it_says():
    histogram = counted(games=2_000)
    curve = histogram.tradeoff(thresholds=len(EDGES))
    np.testing.assert_allclose(curve.alpha, 1 - np.cumsum(histogram.out)[:-1] / 2_000)
    np.testing.assert_allclose(curve.beta, np.cumsum(histogram.inside)[:-1] / 2_000)
    few = histogram.tradeoff(thresholds=8)
    assert few.alpha.size == 8
    assert set(few.alpha) <= set(curve.alpha)
    assert histogram.tradeoff(thresholds=10**6).alpha.size == len(EDGES)
    for name, bad in (("thresholds", 0), ("thresholds", 1.5), ("confidence", 1.0), ("confidence", 0.49)):
        with pytest.raises(ValueError, match=name):
            histogram.tradeoff(**{name: bad})  # pyright: ignore[reportArgumentType]


def test_thresholds_do_not_depend_on_counts():
    few, many = counted(0, 100), counted(1, 5_000)
    np.testing.assert_array_equal(few.tradeoff().thresholds, many.tradeoff().thresholds)


SCALE = 2.0
COINS = mi.Bernoulli([0.3, 0.6])


def scaled(target, output):
    return SCALE * jnp.dot(target, output)


def close_over(constant):
    return lambda target, output: constant * output[0]


def itself(x):
    return itself(x)


class Held:
    def score(self, target, output):
        return output[0]


OWN_GAME = mi.FixedTarget(lambda key, r: r.mean(0), COINS, n=5, target=[1, 0])
THINGS = (OWN_GAME, mi.CovarianceScore(COINS, n=5), Held().score, scaled, partial(scaled, 1), jax.jit(scaled), itself, {"a": {1, 2}}, float("nan"))  # fmt: skip


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: type(thing).__name__)
def test_descriptions_are_plain_json(thing):
    described = describe(thing)
    assert json.loads(json.dumps(described)) == described


def test_equal_things_are_described_alike_and_others_not(monkeypatch):
    """A global that a function uses counts too."""
    half = mi.Subsampled(mi.EmpiricalMean(), 0.5)
    for first, again, other in (
        (COINS, mi.Bernoulli([0.3, 0.6]), mi.Bernoulli([0.3, 0.6000001])),
        (half, mi.Subsampled(mi.EmpiricalMean(), 0.5), mi.Subsampled(mi.EmpiricalMean(), 0.25)),
        (close_over(1.0), close_over(1.0), close_over(2.0)),
        (close_over(np.zeros(2)), close_over(np.zeros(2)), close_over(np.ones(2))),
        *(
            (close_over(np.zeros((2, 3))), close_over(np.zeros((2, 3))), close_over(other))
            for other in (np.zeros((3, 2)), np.zeros((2, 3), np.int64))
        ),
    ):
        assert describe(first) == describe(again) != describe(other)
    before = describe(scaled)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert describe(scaled) != before
