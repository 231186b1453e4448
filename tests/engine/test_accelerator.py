"""What must hold on an accelerator; run by name with -m accelerator, or by `python -m sims accelerator`."""

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.counting import Counter, on_device
from mipsim.engine.route import build_sampler

pytestmark = pytest.mark.accelerator
GAMES = 20_000
FAILURE = 1e-9


def reference():
    data = mi.Bernoulli(np.linspace(0.25, 0.75, 200))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
    return game, mi.CovarianceScore(data, n=100)


def normal():
    data = mi.Gaussian([0.0, 1.0], [1.0, 2.0])
    game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), 0.3), data, n=8, target=[1.0, -1.0])
    return game, mi.CovarianceScore(data, n=8)


@pytest.mark.evidence
@pytest.mark.parametrize("build", [reference, normal])
@pytest.mark.parametrize("fidelity", ["auto", "literal"])
def test_played_rates_agree_with_the_exact_curve(build, fidelity):
    game, attack = build()
    law = game.exact(attack).law
    counts = mi.play(game, attack, GAMES, fidelity=fidelity, progress=False)
    for world, own in ((False, counts.out), (True, counts.inside)):
        away = np.abs(np.cumsum(own)[:-1] / GAMES - law.cdf(counts.edges, inside=world)).max()
        # Dvoretzky-Kiefer-Wolfowitz with Massart's constant: exceeded with probability FAILURE at most.
        assert away <= np.sqrt(np.log(2.0 / FAILURE) / (2.0 * GAMES))


@pytest.mark.evidence
@pytest.mark.parametrize("build", [reference, normal])
def test_counts_do_not_depend_on_chunks(build):
    game, attack = build()
    edges = np.linspace(-3.0, 3.0, 33)
    whole = mi.play(game, attack, GAMES, edges=edges, progress=False)
    parts = mi.play(game, attack, GAMES, edges=edges, chunk=1, workers=2, progress=False)
    assert np.array_equal(whole.out, parts.out)
    assert np.array_equal(whole.inside, parts.inside)


@pytest.mark.evidence
@pytest.mark.parametrize("build", [reference, normal])
def test_blocks_sampled_at_once_have_the_scores_of_single_blocks(build):
    game, attack = build()
    edges = [np.linspace(-3.0, 3.0, 33)]
    with exact_scope():
        sampler = on_device(build_sampler(game, attack, "auto"))
    item, four = (Counter(sampler, edges, 5, devices=jax.devices()[:1], blocks=blocks) for blocks in (1, 4))
    start, stop = 1000, 3 * sampler.block + 77
    assert np.array_equal(item(start, stop)[0], four(start, stop)[0])
