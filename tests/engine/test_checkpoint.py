import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mipsim as mi
from mipsim.engine import checkpoint as stored
from mipsim.engine.executors import Recipe
from mipsim.engine.options import Options
from mipsim.engine.run import Column, Run
from tests.engine.long_run import ATTACK, EDGES, GAME, run

ROOT = Path(__file__).parents[2]
GAMES = 100_000


@pytest.fixture(scope="module")
def whole():
    return run(None, GAMES)


def same(a, b):
    return np.array_equal(a.out, b.out) and np.array_equal(a.inside, b.inside) and a.manifest == b.manifest


def test_a_finished_run_is_read_back(tmp_path, whole):
    path = tmp_path / "run.npz"
    assert same(run(path, GAMES), whole)
    written = path.stat().st_mtime_ns
    assert same(run(path, GAMES), whole)
    assert path.stat().st_mtime_ns == written
    assert same(mi.Histogram.load(path), whole)
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("first", [1, 8_192, 30_001])
def test_a_longer_run_goes_on_to_the_same_bits(tmp_path, whole, first):
    path = tmp_path / "run.npz"
    run(path, first)
    assert mi.Histogram.load(path).games == first
    assert same(run(path, GAMES), whole)


def test_checkpoints_of_a_run_hold_the_same_number_of_games(tmp_path: Path) -> None:
    """Two of other lengths stay as they are: counts of one would be stored with the games of the other."""
    files = [tmp_path / "a.npz", tmp_path / "b.npz"]

    def played(games: int, *paths: Path) -> None:
        recipe = Recipe(GAME, (ATTACK,) * len(paths), "literal", "float64", stacked=True)
        columns = [Column(GAME, ATTACK, checkpoint=path) for path in paths]
        Run(Options.checked(games, 0, edges=EDGES), recipe.sampler(), columns, recipe).play()

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
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from long_run import run; run({str(path)!r}, 10**9)",
    ]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
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
        assert b"KeyboardInterrupt" in text
        assert not [p for p in tmp_path.iterdir() if p.name.endswith(".part")]
    retained = mi.Histogram.load(path)
    assert 0 < retained.games < 10**9
    assert retained.games % 8192 == 0  # whole chunks, in order
    assert same(retained, run(None, retained.games))
    assert same(run(path, retained.games + 10_000), run(None, retained.games + 10_000))


CHANGES = {
    "seed": {"seed": 12},
    "edges": {"edges": EDGES + 1e-9},
    "fidelity": {"fidelity": "literal"},
    "attack": {"attack": mi.CovarianceScore(GAME.data, n=51, target=GAME.target)},
    "game": {"game": mi.FixedTarget(mi.EmpiricalMean(), GAME.data, n=51, target=GAME.target)},
}


@pytest.mark.filterwarnings("ignore:attack CovarianceScore is made for a mean")  # of games of another size
@pytest.mark.parametrize("part", CHANGES)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, part):
    path = tmp_path / "run.npz"
    run(path, 100)
    before = path.read_bytes()
    arguments = {"game": GAME, "attack": ATTACK, "games": 200, "seed": 11, "edges": EDGES, **CHANGES[part]}
    with pytest.raises(ValueError, match=rf"run\.npz belongs to another run, which differs in {part}"):
        mi.play(**arguments, checkpoint=path, progress=False)
    assert path.read_bytes() == before


def test_more_games_than_requested_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    run(path, 500)
    with pytest.raises(ValueError, match="holds 500 games, more than the 400 requested"):
        run(path, 400)


def test_another_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    run(path, 100)
    monkeypatch.setattr("mipsim.engine.run.versions", lambda: {"mipsim": "9", "jax": "9", "numpy": "9"})
    with pytest.raises(ValueError, match="which differs in versions"):
        run(path, 100)


def test_another_format_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "run.npz"
    run(path, 100)
    with np.load(path) as file:
        parts = dict(file)
    old = json.loads(parts["manifest"].tobytes())
    old = {**{k: v for k, v in old.items() if k != "fidelity"}, "format": 1, "route": "sufficient"}
    parts["manifest"] = np.frombuffer(json.dumps(old).encode(), dtype=np.uint8)
    np.savez(path, **parts)
    before = path.read_bytes()
    for read in (lambda: run(path, 200), lambda: mi.Histogram.load(path)):
        with pytest.raises(
            ValueError, match="holds counts of format 1; this version of mipsim reads format 3"
        ):
            read()
    assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused_and_left_alone(tmp_path, share):
    path = tmp_path / "run.npz"
    run(path, 100)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=r"run\.npz is truncated, corrupt or not a stored histogram"):
        run(path, 200)
    assert path.read_bytes() == data[: int(share * len(data))]


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    for content in (b"hello", b"PK\x03\x04 no"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="corrupt or not a stored histogram"):
            mi.Histogram.load(path)
    np.savez(path, edges=np.zeros(1))
    with pytest.raises(ValueError, match="corrupt or not a stored histogram"):
        mi.Histogram.load(path)
    np.savez(path, edges=np.array([object()], dtype=object), out=1, inside=1, manifest=1)
    with pytest.raises(ValueError, match="corrupt or not a stored histogram"):
        mi.Histogram.load(path)
    with pytest.raises(FileNotFoundError):
        mi.Histogram.load(tmp_path / "none.npz")


def test_counts_that_deny_their_manifest_are_refused(tmp_path):
    path = tmp_path / "run.npz"
    histogram = run(None, 100)
    stored.write_counts(
        path, histogram.edges, histogram.out, histogram.inside, {**histogram.manifest, "games": 99}
    )
    with pytest.raises(ValueError, match="does not hold what its manifest says"):
        mi.Histogram.load(path)


def test_a_flipped_byte_is_seen(tmp_path):
    path = tmp_path / "run.npz"
    run(path, 100)
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"run\.npz"):
        mi.Histogram.load(path)


def test_a_missing_folder_is_a_single_sentence_before_any_work(tmp_path, monkeypatch):
    """A pilot is work: of long games it takes minutes."""
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


@pytest.mark.parametrize("room", [0, 100, 700])
def test_a_disk_that_fills_while_writing_is_reported(tmp_path, room):
    """A limit on the size of files stands for a disk that takes only the first bytes."""
    path = tmp_path / "run.npz"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OSError, match=r"counts cannot be written to .*run\.npz: File too large"):
            run(path, 10**12)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())
