"""Counts do not depend on how many blocks are sampled at once; what does not fit into memory ends in a sentence."""

from fractions import Fraction
from itertools import count
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine import counting
from mipsim.engine.random.counter import run_draws
from mipsim.engine.samplers.fixed_point import scaled
from mipsim.engine.samplers.table import TableSampler
from sims.every_sampler import every_sampler
from tests.sampler_laws import same

RNG = np.random.default_rng(0)
DATA = mi.Bernoulli(RNG.uniform(0.25, 0.75, 21))
MEAN, ATTACK = mi.EmpiricalMean(), mi.CovarianceScore(DATA, n=50)


def game(mechanism=MEAN):
    return mi.FixedTarget(mechanism, DATA, n=50, target=DATA.easiest_target())


def play(games=200_001, mechanism=MEAN, **settings):
    edges = np.linspace(-20.0, 20.0, 500)
    return mi.play(game(mechanism), ATTACK, games, edges=edges, progress=False, **settings)


@pytest.mark.evidence
def test_few_games_of_many_coordinates_are_played_in_a_small_block(monkeypatch):
    """Counts are those of the usual block, and so are the thresholds of the pilot."""
    usual = mi.play(game(), ATTACK, 3_000, progress=False)
    built = []
    monkeypatch.setattr("mipsim.engine.run.LONG_BLOCK", 2**17)  # as if 21 coordinates took long

    class Seen(counting.Counter):
        def __init__(self, sampler, *rest):
            built.append(sampler.block)
            super().__init__(sampler, *rest)

    monkeypatch.setattr("mipsim.engine.run.Counter", Seen)
    few, many = (mi.play(game(), ATTACK, games, progress=False) for games in (3_000, 20_000))
    assert built == [4096, 4096, 8192, 8192]
    assert same(usual, few)
    assert np.array_equal(many.edges, few.edges)


@pytest.mark.evidence
@pytest.mark.parametrize("mechanism", [MEAN, mi.GaussianNoise(MEAN, 0.1)])
def test_counts_are_those_of_a_single_block_at_a_time(monkeypatch, tmp_path, mechanism):
    """By any number of threads, and of a run that resumes with another number: a CPU here draws four blocks at once, as an accelerator does."""
    path = tmp_path / "run.npz"
    with monkeypatch.context() as patch:
        patch.setattr(counting, "blocks_at_once", lambda *_: 4)
        mine = [play(mechanism=mechanism, workers=workers) for workers in (1, 3)]
        play(100_001, mechanism, checkpoint=path)
    assert same(play(mechanism=mechanism), *mine, play(mechanism=mechanism, checkpoint=path), manifest=True)


def test_an_accelerator_is_filled_and_its_memory_is_respected():
    """By the numbers that a game holds; the sampler and the device alone decide."""

    def blocks_of(block, numbers, memory):
        device = SimpleNamespace(platform="gpu", memory_stats=lambda: {"bytes_limit": memory})
        return counting.blocks_at_once(SimpleNamespace(block=block, numbers=numbers), device)  # pyright: ignore

    assert blocks_of(2**13, 1, 2.0**36) == 2**7
    assert blocks_of(32, 50_000, 2.0**36) == 2**8  # 2^29 numbers in all
    assert blocks_of(32, 50_000, 2.0**32) == 2**5  # 64 bytes for each
    assert blocks_of(1, 10**9, 2.0**32) == 1


@pytest.mark.evidence
def test_an_accelerator_and_a_cpu_add_up_the_same_terms(monkeypatch):
    """The single reduction of an accelerator against the loop of a CPU, both run on this device."""
    tables = {name: sampler for name, sampler in every_sampler().items() if isinstance(sampler, TableSampler)}
    assert len(tables) > 3
    for name, sampler in tables.items():
        with exact_scope(), monkeypatch.context() as patch:
            draws = run_draws(3, 0, world=1)._replace(games=jnp.arange(2000, dtype=jnp.uint64))
            usual = sampler.scores(draws)
            patch.setattr(jax.lax, "platform_dependent", lambda *args, cpu, default: default(*args))
            other = sampler.scores(draws)
        assert np.array_equal(usual, other), name


def test_a_scaled_total_has_the_same_bits_with_and_without_fused_products():
    """Each product of parts is exact, so that a fused product and sum rounds as the two do in sequence."""
    rng = np.random.default_rng(0)
    units = np.exp(rng.uniform(-40.0, 10.0, 300))
    totals = rng.integers(-(2**52), 2**52, 300) >> rng.integers(0, 52, 300)
    with exact_scope():
        mine = np.asarray(scaled(jnp.asarray(units), jnp.asarray(totals)))
    for unit, total, got in zip(units.tolist(), totals.tolist(), mine.tolist(), strict=True):
        high = float(np.float64(unit).view(np.uint64).__and__(np.uint64(2**64 - 2**27)).view(np.float64))
        low, value = unit - high, 0.0
        for place in (42, 21, 0):
            part = abs(total) >> place & 2**21 - 1
            inner = float(
                Fraction(high) * part + Fraction(low) * part
            )  # fused or not: the products are exact
            assert Fraction(high * part) == Fraction(high) * part
            assert Fraction(low * part) == Fraction(low) * part
            value = float(Fraction(value) * 2**21 + Fraction(inner))
        assert got == (value if total >= 0 else -value)
        assert abs(Fraction(got) - Fraction(unit) * total) <= abs(Fraction(unit) * total) * Fraction(1, 2**51)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "raised", ["RESOURCE_EXHAUSTED: Out of memory", "INTERNAL: YNNPACK operation failed: error"]
)
def test_a_device_that_is_full_ends_in_a_single_sentence_and_counts_are_stored(monkeypatch, tmp_path, raised):
    path, played, real = tmp_path / "run.npz", count(), counting._count

    def full(*given):
        if next(played) == 2:
            raise jax.errors.JaxRuntimeError(raised)
        return real(*given)

    monkeypatch.setattr(counting, "_count", full)
    with pytest.raises(
        ValueError,
        match=r"a block of 8,192 games does not fit into the memory of cpu:0 \(.*GB can be had.*What a checkpoint holds is not lost",
    ):
        play(checkpoint=path, chunk=2**14, workers=1)
    assert mi.Histogram.load(path).games == 2**15
    monkeypatch.undo()
    assert same(play(checkpoint=path), play())
