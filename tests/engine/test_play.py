import jax
import numpy as np

import mipsim as mi
from mipsim.engine.counting import GAMES, PILOT
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
