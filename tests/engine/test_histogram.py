import numpy as np
import pytest

import mipsim as mi

EDGES = np.linspace(-6, 6, 41)
DATA = mi.Bernoulli(np.linspace(0.3, 0.7, 5))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=9, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=9)


def play(seed=0, games=500):
    return mi.play(GAME, ATTACK, games, seed, edges=EDGES, progress=False)


def test_merging_adds_counts():
    a, b, c = play(0), play(1, 300), play(2)
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
    histogram = play(games=2_000)
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
    few, many = play(0, 100), play(1, 5_000)
    np.testing.assert_array_equal(few.tradeoff().thresholds, many.tradeoff().thresholds)
