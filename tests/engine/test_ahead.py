"""What is compiled while tables are made is what will count the games."""

import os
import signal
import subprocess
import sys
import threading

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine import ahead, play
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.table import TableSampler

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


_INTERRUPTED = """
import os, signal, threading
import mipsim as mi
from mipsim.engine.ahead import CompilingAhead
wait = CompilingAhead.wait
def interrupted(ahead):
    threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    wait(ahead)
CompilingAhead.wait = interrupted
data = mi.Bernoulli([0.3, 0.6, 0.2])
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0, 1.0])
mi.play(game, mi.CovarianceScore(data, n=10), 100, progress=False)
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to send")
def test_ctrl_c_while_it_is_waited_for_ends_the_process_as_usual():
    """Not by an abort of the interpreter, which a compiler that outlives it causes."""
    # Nothing compiled is kept: the compiler must be at work when the signal comes.
    env = {k: v for k, v in os.environ.items() if "COMPILATION_CACHE" not in k}
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False, env=env
    )
    assert done.returncode == -signal.SIGINT, done.stderr
    assert "KeyboardInterrupt" in done.stderr


@pytest.mark.parametrize("edges", [None, np.linspace(-3.0, 3.0, 5_000)], ids=["pilot", "given"])
def test_what_was_compiled_ahead_is_what_counts(monkeypatch, edges):
    """The first call of the run itself finds its code, and traces nothing."""
    data = mi.Bernoulli(np.linspace(0.2, 0.8, 23 if edges is None else 25))  # shapes of no other test here
    game = mi.FixedTarget(MEAN, data, n=50, target=data.easiest_target())
    traced = []
    scores = TableSampler.scores

    def seen(sampler, draws):
        traced.append(threading.current_thread().name)
        return scores(sampler, draws)

    monkeypatch.setattr(TableSampler, "scores", seen)
    play(game, mi.CovarianceScore(data, n=50), 1_000, edges=edges, progress=False)
    assert traced == [threading.main_thread().name]
