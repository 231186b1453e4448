from typing import Any

import numpy as np
import pytest

import mipsim as mi

EDGES = np.linspace(-6, 6, 41)
DATA = mi.Bernoulli(np.linspace(0.3, 0.7, 5))
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=9, target=DATA.easiest_target())
ATTACK = mi.CovarianceScore(DATA, n=9)


def play(seed=0, games=500, **changes):
    return mi.play(
        **{
            "game": GAME,
            "attack": ATTACK,
            "games": games,
            "seed": seed,
            "edges": EDGES,
            "progress": False,
            **changes,
        }
    )


def test_save_and_load(tmp_path):
    histogram = play()
    histogram.save(tmp_path / "h.npz")
    back = mi.Histogram.load(tmp_path / "h.npz")
    assert back.manifest == histogram.manifest
    for name in ("edges", "out", "inside"):
        np.testing.assert_array_equal(getattr(back, name), getattr(histogram, name))


def test_merging_adds_counts():
    a, b, c = play(0), play(1, 300), play(2)
    both = a + b
    np.testing.assert_array_equal(both.out, a.out + b.out)
    assert both.games == both.manifest["games"] == 800
    assert both.manifest["runs"] == [[0, 0, 500], [1, 0, 300]]
    assert both.manifest["seed"] is None
    assert ((a + b) + c).manifest == (c + (b + a)).manifest | {"games": 1300}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: play(0, 200), "both histograms hold game 0 of seed 0"),
        (lambda: play(1, edges=EDGES[1:]), "different edges"),
        (lambda: play(1, edges=EDGES + 1e-12), "different edges"),
        (lambda: play(1, fidelity="literal"), "differ in their fidelity"),
        (lambda: play(1, attack=mi.ScalarProduct(np.zeros(5))), "differ in their attack"),
        (lambda: play(1, game=mi.FixedTarget(mi.EmpiricalMean(), DATA, n=9, target=np.ones(5))), "differ in their game"),
        (lambda: mi.Histogram(EDGES, play().out, play().inside), "differ in their game"),
    ],
)  # fmt: skip
def test_what_cannot_be_merged(other, message):
    with pytest.raises(ValueError, match=message):
        _ = play(0) + other()


def test_merging_twice_is_refused():
    both = play(0) + play(1)
    with pytest.raises(ValueError, match="seed 1"):
        _ = both + play(1)
    bare = mi.Histogram(EDGES, play().out, play().inside)
    with pytest.raises(ValueError, match="without a manifest"):
        _ = bare + bare
    with pytest.raises(TypeError):
        _ = bare + 3


@pytest.mark.parametrize(
    ("edges", "out", "inside", "message"),
    [
        ([0.0, 0.0], [1, 0, 0], [1, 0, 0], "edges"),
        ([], [1], [1], "edges"),
        ([np.nan], [1, 0], [1, 0], "edges"),
        ([0.0], [1, 0, 0], [1, 0], "out has shape"),
        ([0.0], [1, 0], [1], "inside has shape"),
        ([0.0], [1.0, 0.5], [1, 0], "out has dtype"),
        ([0.0], [2, -1], [1, 0], "out has dtype"),
        ([0.0], [1, 1], [1, 0], "as many"),
    ],
)
def test_bad_counts(edges, out, inside, message):
    with pytest.raises(ValueError, match=message):
        mi.Histogram(np.array(edges), np.array(out), np.array(inside))


def test_the_curve_counts_what_it_says():
    histogram = play(games=2_000)
    curve = histogram.tradeoff(thresholds=len(EDGES))
    np.testing.assert_allclose(curve.alpha, 1 - np.cumsum(histogram.out)[:-1] / 2_000)
    np.testing.assert_allclose(curve.beta, np.cumsum(histogram.inside)[:-1] / 2_000)
    few = histogram.tradeoff(thresholds=8)
    assert few.alpha.size == 8
    assert set(few.alpha) <= set(curve.alpha)
    assert histogram.tradeoff(thresholds=10**6).alpha.size == len(EDGES)
    wrong: list[dict[str, Any]] = [
        {"thresholds": 0},
        {"thresholds": 1.5},
        {"confidence": 1.0},
        {"confidence": 0.49},
    ]
    for bad in wrong:
        with pytest.raises(ValueError, match=next(iter(bad))):
            histogram.tradeoff(**bad)


def test_thresholds_do_not_depend_on_counts():
    few, many = play(0, 100), play(1, 5_000)
    np.testing.assert_array_equal(few.tradeoff().thresholds, many.tradeoff().thresholds)


def test_how_it_shows():
    histogram = play()
    assert repr(histogram) == "Histogram(500 games per world, 41 edges from -6 to 6)"
    shown = histogram._repr_html_()
    assert "CovarianceScore" in shown
    assert "<script" not in shown
    sly = mi.Histogram(EDGES, histogram.out, histogram.inside, {"fidelity": "<script>"})
    assert "<script" not in sly._repr_html_()
