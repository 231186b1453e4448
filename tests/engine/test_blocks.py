"""Blocks of an accelerator: tried out on a CPU that is taken for one. Counts do not depend on them; what does not fit is said."""

from itertools import count
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim.engine import blocks, counting
from mipsim.engine.memory import BlockTooLargeError

RNG = np.random.default_rng(0)
DATA = mi.Bernoulli(RNG.uniform(0.25, 0.75, 21))
EDGES = np.linspace(-20.0, 20.0, 500)
GAMES = 200_001


GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=50, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=50)


def play(games=GAMES, mechanism=None, **settings):
    game = mi.FixedTarget(mechanism or mi.EmpiricalMean(), DATA, n=50, target=DATA.easiest_target())
    return mi.play(game, mi.CovarianceScore(DATA, n=50), games, edges=EDGES, progress=False, **settings)


@pytest.fixture
def counters(monkeypatch):
    """An accelerator whose every larger block pays; the blocks that were made ready, in order."""
    made = []
    monkeypatch.setattr("mipsim.engine.run.wants_larger_blocks", lambda _: True)
    monkeypatch.setattr(blocks, "WORTH_A_TRIAL", 1)
    monkeypatch.setattr(blocks, "_BLOCKS_OF_A_RUN", 1)
    monkeypatch.setattr(blocks, "_GAIN", 0.0)

    class Seen(counting.Counter):
        def __init__(self, sampler, *rest):
            made.append(sampler.block)
            super().__init__(sampler, *rest)

    monkeypatch.setattr("mipsim.engine.run.Counter", Seen)
    return made


def test_few_games_of_many_coordinates_are_played_in_a_small_block(monkeypatch):
    """Counts are those of the usual block, and so are the thresholds of the pilot."""
    usual = mi.play(GAME, ATTACK, 3_000, progress=False)
    made = []
    monkeypatch.setattr(blocks, "LONG_BLOCK", 2**18)  # as if 21 coordinates took long
    monkeypatch.setattr(
        "mipsim.engine.run.Counter", lambda s, *rest: made.append(s.block) or counting.Counter(s, *rest)
    )
    few, many = (mi.play(GAME, ATTACK, games, progress=False) for games in (3_000, 20_000))
    assert made == [4096, 4096, 8192, 8192]
    for name in ("edges", "out", "inside"):
        assert np.array_equal(getattr(usual, name), getattr(few, name))
    assert np.array_equal(many.edges, few.edges)


@pytest.mark.parametrize("workers", [1, 3])
def test_counts_are_those_of_the_usual_block(counters, monkeypatch, workers):
    mine = play(workers=workers)
    assert counters == [2**13, 2**14, 2**15, 2**16, 2**17, 2**17]  # 2^18 are more games than there are
    monkeypatch.undo()
    whole = play()
    assert np.array_equal(mine.out, whole.out)
    assert np.array_equal(mine.inside, whole.inside)
    assert mine.manifest == whole.manifest


def test_a_run_goes_on_with_another_block(counters, monkeypatch, tmp_path):
    path = tmp_path / "run.npz"
    play(100_000, checkpoint=path)
    monkeypatch.undo()
    mine, whole = play(checkpoint=path), play()
    assert np.array_equal(mine.out, whole.out)
    assert np.array_equal(mine.inside, whole.inside)


def test_what_adds_floating_numbers_keeps_its_block(counters):
    """The last bits of such scores change with the block, by XLA's choice of arithmetic."""
    play(mechanism=mi.GaussianNoise(mi.EmpiricalMean(), 0.1))
    assert counters == [2**14]


@pytest.mark.parametrize(
    ("speeds", "room", "chosen"),
    [
        ([1.0, 1.9, 3.0, 3.1, 9.0], 1e12, 4),  # the fourth does not pay
        ([1.0, 1.0, 9.0], 1e12, 1),
        ([1.0, 2.0, 4.0, 8.0, 16.0], 2e6, 2),  # of a block that needs 1 MB
        ([1.0, 2.0, None], 1e12, 2),  # the third does not fit after all
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 1e12, 16),  # 32 blocks of the run are left
    ],
)
def test_doubling_goes_on_while_it_pays_and_fits(monkeypatch, speeds, room, chosen):
    monkeypatch.setattr(
        blocks, "replace", lambda sampler, block: SimpleNamespace(block=block, any_block=True)
    )
    tried = count()

    def counter_of(sampler):
        return SimpleNamespace(needs=lambda: 10**6, block=sampler.block)

    def speed(_, __):
        found = speeds[next(tried)]
        if found is None:
            raise BlockTooLargeError.of(2**16, jax.devices()[0])
        return found

    monkeypatch.setattr(blocks, "_speed", speed)
    start = SimpleNamespace(block=2**14, any_block=True)
    assert blocks.faster_block(start, counter_of, 512 * 2**14, room).block == chosen * 2**14  # pyright: ignore


@pytest.mark.parametrize(
    "raised",
    [
        "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.",
        "INTERNAL: YNNPACK operation failed: error",
    ],
)
def test_a_device_that_is_full_ends_in_one_sentence_and_counts_are_kept(monkeypatch, tmp_path, raised):
    path, played, real = tmp_path / "run.npz", count(), counting._count

    def full(*given):
        if next(played) == 2:
            raise jax.errors.JaxRuntimeError(raised)
        return real(*given)

    monkeypatch.setattr(counting, "_count", full)
    monkeypatch.setattr("mipsim.engine.ahead.Counter", None)  # what is compiled ahead is no block of the run
    with pytest.raises(
        ValueError,
        match=r"a block of 8,192 games does not fit into the memory of cpu:0 \(.*GB can be had.* is kept",
    ):
        play(checkpoint=path, chunk=2**14, workers=1)
    assert mi.Histogram.load(path).games == 2**15
    monkeypatch.undo()
    mine, whole = play(checkpoint=path), play()
    assert np.array_equal(mine.out, whole.out)
    assert np.array_equal(mine.inside, whole.inside)
