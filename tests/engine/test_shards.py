from itertools import pairwise

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine.checkpoint import read_counts
from mipsim.engine.options import shard_of

DATA = mi.Gaussian(np.zeros(2), np.ones(2))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=5, target=np.ones(2))
ATTACK = mi.CovarianceScore(DATA, n=5)


def play(games, **settings):
    return mi.play(GAME, ATTACK, games, 3, progress=False, **settings)


def same(a, b):
    return np.array_equal(a.out, b.out) and np.array_equal(a.inside, b.inside) and a.manifest == b.manifest


@pytest.mark.parametrize(("first", "stop", "count"), [(0, 10, 3), (7, 7, 2), (5, 6, 4), (0, 10**12, 7)])
def test_shards_are_a_partition(first, stop, count):
    shares = [shard_of(range(first, stop), i, count) for i in range(count)]
    assert [shares[0].start, shares[-1].stop] == [first, stop]
    assert all(a.stop == b.start for a, b in pairwise(shares))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_shards_and_ranges_add_up_to_the_whole():
    whole = play(20_001)
    first, second, third = (play(20_001, shard=(i, 3)) for i in range(3))
    assert same(third + (first + second), whole)  # in any order
    assert same(play(range(9_000)) + play(range(9_000, 20_001)), whole)
    with pytest.raises(ValueError, match="both histograms hold game 8999 of seed 3"):
        _ = play(9_000) + play(range(8_999, 20_001))


def test_no_share_is_taken_for_another(tmp_path):
    path = tmp_path / "run.npz"
    play(1_000, shard=(1, 2), checkpoint=path)
    for games, settings, text in (
        (1_000, {"shard": (0, 2)}, "which differs in shard"),
        (2_000, {"shard": (1, 2)}, "which differs in shard"),
        (1_000, {}, "which differs in shard"),
    ):
        with pytest.raises(ValueError, match=text):
            play(games, checkpoint=path, **settings)
    play(range(100, 200), checkpoint=tmp_path / "range.npz")
    with pytest.raises(ValueError, match="which differs in range of games"):
        play(200, checkpoint=tmp_path / "range.npz")


def test_other_versions_do_not_add_up():
    old = play(range(100))
    versions = {**old.manifest["versions"], "jax": "0"}
    old = mi.Histogram(old.edges, old.out, old.inside, {**old.manifest, "versions": versions})
    with pytest.raises(ValueError, match="differ in their versions"):
        _ = old + play(range(100, 200))


def test_what_cannot_be_read_is_not_called_corrupt(tmp_path):
    with pytest.raises(OSError, match="cannot be read: Is a directory"):
        read_counts(tmp_path)
