"""What is compiled while tables are made is what will count the games."""

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine import ahead, play
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler

DATA = mi.Bernoulli(np.linspace(0.2, 0.8, 21))
COVARIANCE = mi.CovarianceScore(DATA, n=50)
MEAN = mi.EmpiricalMean()
SETTINGS = {"edges": np.linspace(-3.0, 3.0, 9), "progress": False}


def game_of(mechanism: mi.AbstractMechanism) -> mi.FixedTarget:
    return mi.FixedTarget(mechanism, DATA, n=50, target=DATA.easiest_target())


@pytest.mark.parametrize(
    "mechanism",
    [MEAN, mi.GaussianNoise(MEAN, 0.1), mi.Subsampled(MEAN, 0.5)],
    ids=["mean", "noisy mean", "sub-sampled mean"],
)
def test_the_sampler_that_is_foreseen_has_the_shapes_of_the_one_that_plays(mechanism):
    """Static fields, shapes and dtypes are all that code is compiled for."""
    foreseen = []
    with exact_scope():
        sampler = build_sampler(game_of(mechanism), COVARIANCE, "auto", foreseen.append)
        shapes = [
            jax.tree.map(lambda x: (x.shape, x.dtype), on_device(found)) for found in (*foreseen, sampler)
        ]
    assert len(shapes) == 2
    assert jax.tree.structure(on_device(foreseen[0])) == jax.tree.structure(on_device(sampler))
    assert jax.tree.leaves(shapes[0]) == jax.tree.leaves(shapes[1])


@pytest.mark.parametrize(
    ("attack", "fidelity"), [(mi.LikelihoodRatio(MEAN, DATA, 50), "auto"), (COVARIANCE, "literal")]
)
def test_nothing_is_foreseen_where_shapes_show_only_with_the_tables_or_there_are_none(attack, fidelity):
    foreseen = []
    with exact_scope():
        build_sampler(game_of(MEAN), attack, fidelity, foreseen.append)
    assert foreseen == []


def test_what_fails_there_fails_where_it_is_needed_and_nowhere_else(monkeypatch):
    whole = play(game_of(MEAN), COVARIANCE, 1_000, **SETTINGS)
    tried = []

    def full(*_, **__):
        tried.append(1)
        raise RuntimeError("no memory")

    monkeypatch.setattr(ahead, "Counter", full)
    mine = play(game_of(MEAN), COVARIANCE, 1_000, **SETTINGS)
    assert tried == [1]
    assert np.array_equal(mine.out, whole.out)
    assert np.array_equal(mine.inside, whole.inside)
