"""What a run needs is known before it begins, and a single sentence says where it cannot be had."""

import tracemalloc

import numpy as np
import pytest

import mipsim as mi
from mipsim import _memory
from mipsim._precision import exact_scope
from mipsim.distributions.sum_table import lattice_table
from mipsim.engine import memory
from mipsim.engine.devices import local_devices
from mipsim.engine.route import build_sampler

MEAN = mi.EmpiricalMean()


def play(data, n, games: int | range = 4, mechanism: mi.AbstractMechanism = MEAN, **settings):
    game = mi.FixedTarget(mechanism, data, n=n, target=np.ones(data.dimension))
    return mi.play(game, mi.CovarianceScore(data, n=n), games, edges=[0.0], progress=False, **settings)


def test_records_that_no_memory_holds_are_refused_at_once(tmp_path, monkeypatch):
    """Before anything is compiled or sampled, on a machine of 64 GB."""
    data, path = mi.Bernoulli(np.full(100_000, 0.3)), tmp_path / "run.npz"
    monkeypatch.setattr(memory, "available", lambda _: 64e9)
    monkeypatch.setattr("mipsim.engine.run.Counter", lambda *_, **__: pytest.fail("games were prepared"))
    with pytest.raises(
        ValueError, match=r"100,000,000,000 numbers a game needs 800\.0 GB of memory, and 64\.0 GB can be had"
    ):
        play(data, 10**6, mechanism=mi.Median(), fidelity="literal", checkpoint=path)
    assert not path.exists()


def test_a_run_that_fits_with_fewer_threads_is_played_with_fewer(monkeypatch):
    data = mi.Bernoulli([0.3, 0.6])
    needed = []
    monkeypatch.setattr("mipsim.engine.run.WORTH_A_LOOK", 0)
    monkeypatch.setattr(memory, "available", lambda _: 1e12)
    monkeypatch.setattr(
        "mipsim.engine.run.fitting", lambda n, *rest: needed.append(n) or memory.fitting(n, *rest)
    )
    whole = play(data, 50, 100, fidelity="literal", workers=4)
    assert (
        needed[0] < needed[1] < 10 * needed[0]
    )  # what the records take at least, and what the compiler says
    monkeypatch.setattr(memory, "available", lambda _: 2.5 * needed[1])
    device = local_devices()[0]
    assert memory.fitting(needed[1], "a game", 4, device) == 2
    assert np.array_equal(play(data, 50, 100, fidelity="literal", workers=4).out, whole.out)
    monkeypatch.setattr(memory, "available", lambda _: 0.9 * needed[1])
    with pytest.raises(ValueError, match="literal fidelity"):
        play(data, 50, 100, fidelity="literal", workers=4)


def test_the_least_of_what_limits_a_process_is_available(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:       3000 kB\n")
    (tmp_path / "max").write_text("2000000\n")
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path / "max")
    device = local_devices()[0]
    assert memory.available(device) == 2_000_000
    (tmp_path / "max").write_text("max\n")
    assert memory.available(device) == 3_072_000
    # What a container has is taken off, but for the files that its system keeps for speed.
    (tmp_path / "max").write_text("2000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\nfile 400000\n")
    assert memory.available(device) == 1_500_000
    (tmp_path / "max").write_text("max\n")
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "none")
    assert memory.available(device) > 1e6


def test_more_records_than_float64_counts_are_refused():
    for n in (2**53 + 1, 2**63 - 1):
        for data in (mi.Bernoulli([0.3]), mi.Gaussian([0.0], [1.0])):
            with pytest.raises(ValueError, match=f"n is {n}; it must be at most 9007199254740992"):
                play(data, n)


@pytest.mark.evidence
@pytest.mark.parametrize("data", [mi.Bernoulli([0.3]), mi.Gaussian([0.0], [1.0]), mi.Exponential(1.0, d=1)])
def test_as_many_records_as_float64_counts_are_played(data):
    assert play(data, 2**53).games == 4


def test_numbers_of_games_stay_below_what_an_int64_holds():
    for games in (2**62 + 1, range(2**62, 2**62 + 5), 2**63 - 1):
        with pytest.raises(ValueError, match=r"their numbers must be below 2\^62"):
            play(mi.Bernoulli([0.3]), 5, games)


def test_a_table_that_is_too_large_is_left_before_it_is_made():
    """5,000 laws of the sum of 2^19 records took 40 GB and ten minutes, and gave no table."""
    data = mi.Bernoulli(np.linspace(0.2, 0.8, 5_000))
    tracemalloc.start()
    try:
        assert lattice_table(data, 2**19, most=2**28) is None
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()
    data = mi.Discrete([0.0, 1.0, 2.0], [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])
    whole = lattice_table(data, 1000)
    assert whole is not None
    assert lattice_table(data, 1000, most=whole.entries.nbytes) is not None
    assert lattice_table(data, 1000, most=whole.entries.nbytes - 1) is None


def test_a_million_coordinates_are_seen_to_have_no_tables(monkeypatch):
    """Before a million quantiles or transforms are computed, which took six minutes."""
    for where, name in (
        ("mipsim.distributions.binomial_table", "binomial_window"),
        ("mipsim.engine.samplers.columns", "lattice_table"),
    ):
        monkeypatch.setattr(f"{where}.{name}", lambda *_: pytest.fail("it looked"))
    data = mi.Bernoulli(np.linspace(0.25, 0.75, 10**6))
    target = np.ones(10**6)
    for game in (mi.FixedTarget(MEAN, data, 1000, target), mi.RandomTarget(MEAN, data, 1000)):
        with exact_scope():
            assert build_sampler(game, mi.CovarianceScore(data, n=1000), "auto").name == "exact draw"
