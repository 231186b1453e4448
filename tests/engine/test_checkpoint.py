"""Stored counts: read back, gone on from, divided into shares, and refused where they are of something else or no counts."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine import checkpoint as stored
from mipsim.engine.recipe import Column, Recipe
from mipsim.engine.run import Run
from mipsim.engine.settings import Settings, shard_of
from tests.engine.long_run import ATTACK, EDGES, GAME, run
from tests.faults.forged import with_manifest
from tests.sampler_laws import same

ROOT = Path(__file__).parents[2]
GAMES = 100_000


@pytest.fixture(scope="module")
def whole():
    return run(None, GAMES)


def test_a_finished_run_is_read_back(tmp_path, whole):
    path = tmp_path / "run.npz"
    assert same(run(path, GAMES), whole, manifest=True)
    written = path.stat().st_mtime_ns
    assert same(run(path, GAMES), whole, manifest=True)
    assert path.stat().st_mtime_ns == written
    assert same(mi.Histogram.load(path), whole, manifest=True)
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("first", [1, 8_192, 30_001])
def test_a_longer_run_goes_on_to_the_same_bits(tmp_path, whole, first):
    path = tmp_path / "run.npz"
    run(path, first)
    assert mi.Histogram.load(path).games == first
    assert same(run(path, GAMES), whole, manifest=True)


def test_checkpoints_of_a_run_hold_the_same_number_of_games(tmp_path: Path) -> None:
    """Two of other lengths stay as they are: counts of the first would be stored with the games of the second."""
    files = [tmp_path / "a.npz", tmp_path / "b.npz"]

    def played(games: int, *paths: Path) -> None:
        recipe = Recipe(GAME, (ATTACK,) * len(paths), "literal", "float64", stacked=True)
        columns = [Column(GAME, ATTACK, checkpoint=path) for path in paths]
        Run(Settings(games, 0, edges=EDGES), recipe, columns).play()

    for path, games in zip(files, (200, 100), strict=True):
        played(games, path)
    before = [path.read_bytes() for path in files]
    with pytest.raises(ValueError, match="checkpoints of one run hold different numbers of games"):
        played(300, *files)
    assert [path.read_bytes() for path in files] == before


@pytest.mark.system
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path, whole, how):
    path = tmp_path / "run.npz"
    code = f"from tests.engine.long_run import run; run({str(path)!r}, 10**9)"
    where: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, **where)
    try:
        give_up = time.monotonic() + 300
        while not (path.exists() and mi.Histogram.load(path).games > 0):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up
            time.sleep(0.02)
        process.send_signal(how)
        _, text = process.communicate(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert process.returncode != 0
    if how == signal.SIGINT:
        assert b"KeyboardInterrupt" in text  # pyright: ignore[reportOperatorIssue]
        assert not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]
    retained = mi.Histogram.load(path)
    assert 0 < retained.games < 10**9
    assert retained.games % 8192 == 0  # whole chunks, in order
    assert same(retained, run(None, retained.games), manifest=True)
    assert same(run(path, retained.games + 10_000), run(None, retained.games + 10_000), manifest=True)


OTHER_SIZE = "ignore:attack CovarianceScore is made for a mean"
CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "seed": ({"seed": 12}, "which differs in seed"),
    "edges": ({"edges": EDGES + 1e-9}, "which differs in edges"),
    "fidelity": ({"fidelity": "literal"}, "which differs in fidelity"),
    "attack": ({"attack": mi.CovarianceScore(GAME.data, n=51, target=GAME.target)}, "which differs in attack"),
    "game": ({"game": mi.FixedTarget(mi.EmpiricalMean(), GAME.data, n=51, target=GAME.target)}, "which differs in game"),
    "a share": ({"shard": (1, 2)}, "which differs in shard"),
    "fewer": ({"games": 50}, "holds 100 games, more than the 50 requested"),
    "a range": ({"games": range(50, 200)}, "which differs in range of games"),
}  # fmt: skip


@pytest.mark.filterwarnings(OTHER_SIZE)
@pytest.mark.parametrize("part", CHANGES)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, part):
    path = tmp_path / "run.npz"
    run(path, 100)
    before, (change, words) = path.read_bytes(), CHANGES[part]
    arguments = {"game": GAME, "attack": ATTACK, "games": 200, "seed": 11, "edges": EDGES, **change}
    with pytest.raises(ValueError, match=rf"run\.npz .*{words}"):
        mi.play(**arguments, checkpoint=path, progress=False)
    assert path.read_bytes() == before


def test_a_share_is_taken_for_no_other_and_another_version_for_none(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    how: dict[str, Any] = {"seed": 11, "edges": EDGES, "checkpoint": path, "progress": False}
    old = mi.play(GAME, ATTACK, 1000, shard=(1, 2), **how)
    for games, shard in ((1000, (0, 2)), (2000, (1, 2)), (1000, None)):
        with pytest.raises(ValueError, match="which differs in shard"):
            mi.play(GAME, ATTACK, games, shard=shard, **how)
    monkeypatch.setattr("mipsim.engine.run.versions", lambda: {"mipsim": "9", "jax": "9", "numpy": "9"})
    with pytest.raises(ValueError, match="which differs in versions"):
        mi.play(GAME, ATTACK, 1000, shard=(1, 2), **how)
    how["checkpoint"] = None
    with pytest.raises(ValueError, match="differ in their versions"):
        _ = old + mi.play(GAME, ATTACK, 1000, shard=(0, 2), **how)


NONE = r"run\.npz is truncated, corrupt or not a stored histogram"
FORGED: dict[str, tuple[Any, str]] = {
    **{f"{share} of it": (lambda path, share=share: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)]), NONE) for share in (0.0, 0.3, 0.9, 0.999)},
    "a text": (lambda path: path.write_bytes(b"hello"), NONE),
    "a broken archive": (lambda path: path.write_bytes(b"PK\x03\x04 no"), NONE),
    "edges alone": (lambda path: np.savez(path, edges=np.zeros(1)), NONE),
    "objects": (lambda path: np.savez(path, edges=np.array([object()], dtype=object), out=1, inside=1, manifest=1), NONE),
    "a flipped byte": (lambda path: path.write_bytes((b := path.read_bytes())[:200] + bytes([b[200] ^ 1]) + b[201:]), r"run\.npz"),
    "other games": (with_manifest(games=99), "does not hold what its manifest says"),
    "another format": (with_manifest(format=1, fidelity=..., route="sufficient"), "holds counts of format 1; this version of mipsim reads format 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_is_no_sound_file_is_refused_and_left_alone(tmp_path, name):
    path, (forge, words) = tmp_path / "run.npz", FORGED[name]
    run(path, 100)
    forge(path)
    before = path.read_bytes()
    for read in (lambda: run(path, 200), lambda: mi.Histogram.load(path)):
        with pytest.raises(ValueError, match=words):
            read()
    assert path.read_bytes() == before


def test_where_there_is_no_file_a_single_sentence_says_so(tmp_path, monkeypatch):
    """Before any work: a pilot of long games takes minutes."""
    with pytest.raises(FileNotFoundError):
        mi.Histogram.load(tmp_path / "none.npz")
    with pytest.raises(OSError, match="cannot be read: Is a directory"):
        stored.read_counts(tmp_path)
    monkeypatch.setattr("mipsim.engine.run.Counter", lambda *_, **__: pytest.fail("games were prepared"))
    with pytest.raises(
        OSError, match=r"counts cannot be written to .*nowhere.run\.npz: No such file or directory"
    ):
        run(tmp_path / "nowhere" / "run.npz", 10**12)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_intact(tmp_path, monkeypatch, step):
    path = tmp_path / "run.npz"
    run(path, 100)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(stored.os, step, full)
    with pytest.raises(OSError, match=r"counts cannot be written to .*run\.npz: No space left on device"):
        run(path, 200)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize(("first", "stop", "count"), [(0, 10, 3), (7, 7, 2), (5, 6, 4), (0, 10**12, 7)])
def test_shards_are_a_partition(first, stop, count):
    shares = [shard_of(range(first, stop), i, count) for i in range(count)]
    assert [shares[0].start, shares[-1].stop] == [first, stop]
    assert all(a.stop == b.start for a, b in pairwise(shares))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_shards_and_ranges_add_up_to_the_whole(whole):
    def play(games, **how):
        return mi.play(GAME, ATTACK, games, 11, edges=EDGES, progress=False, **how)

    first, second, third = (play(GAMES, shard=(i, 3)) for i in range(3))
    assert same(
        third + (first + second), play(range(9_000)) + play(range(9_000, GAMES)), whole, manifest=True
    )
    with pytest.raises(ValueError, match="both histograms hold game 8999 of seed 11"):
        _ = play(9_000) + play(range(8_999, GAMES))
