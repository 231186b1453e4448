import numpy as np
import pytest

import mipsim as mi
from sims.runner import run, store_path
from sims.study import Study
from tests.sampler_laws import same


def build():
    data = mi.Bernoulli([0.3, 0.6, 0.5])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target())
    return game, mi.CovarianceScore(data, n=10)


def other():
    game, _ = build()
    return game, mi.ScalarProduct(np.zeros(3))


SMALL = Study("small", "for tests", build, {"quick": 10, "standard": 20, "full": 30}, seed=4)


def test_results_are_stored_reused_and_extended(tmp_path):
    folder = tmp_path / "deep" / "store"
    first = run(SMALL, 20_000, directory=folder)
    path = store_path(SMALL, 4, folder)
    assert path.name == "small-4.npz"
    written = path.stat().st_mtime_ns
    assert same(run(SMALL, 20_000, directory=folder), first, manifest=True)
    assert path.stat().st_mtime_ns == written
    longer = run(SMALL, 50_000, directory=folder)
    assert same(longer, run(SMALL, 50_000), manifest=True)
    assert same(mi.Histogram.load(path), longer, manifest=True)


def test_more_than_requested_is_left_alone(tmp_path):
    run(SMALL, 30_000, directory=tmp_path)
    before = store_path(SMALL, 4, tmp_path).read_bytes()
    assert same(run(SMALL, 9_000, directory=tmp_path), run(SMALL, 9_000), manifest=True)
    assert store_path(SMALL, 4, tmp_path).read_bytes() == before


def test_another_study_of_the_same_name_is_refused(tmp_path):
    run(SMALL, 100, directory=tmp_path)
    with pytest.raises(ValueError, match=r"small-4\.npz belongs to another run, which differs in attack"):
        run(Study("small", "", other, SMALL.games, seed=4), 100, directory=tmp_path)


def test_thresholds_of_another_study_serve_without_a_pilot(tmp_path, monkeypatch):
    shared = Study("shared", "", other, SMALL.games, seed=4, thresholds=SMALL)
    alone = run(shared, 200)
    assert np.array_equal(alone.edges, run(SMALL, 50, seed=9).edges)
    assert not np.array_equal(alone.edges, run(Study("own", "", other, SMALL.games), 200).edges)
    run(SMALL, 300, directory=tmp_path)
    before = store_path(SMALL, 4, tmp_path).read_bytes()
    monkeypatch.setattr(
        "mipsim.engine.run.pilot_edges", None
    )  # no pilot is played: the stored counts have the thresholds
    assert same(run(shared, 200, directory=tmp_path), alone, manifest=True)
    assert same(run(shared, 400, directory=tmp_path), run(shared, 400, directory=tmp_path), manifest=True)
    assert store_path(SMALL, 4, tmp_path).read_bytes() == before
