"""Several processes on the loopback, by JAX's distributed runtime, and several simulated devices."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mipsim as mi
from sims.__main__ import main
from sims.hosts import Group
from sims.runner import run, run_on_hosts, shard_path, store_path
from tests.sims.ports import free_port
from tests.sims.tiny_study import TINY

ROOT = Path(__file__).parents[2]
GAMES = 200_003
PATIENCE = 240
TWO = ("--process-id", "0", "--processes", "2")


def same(a, b):
    return np.array_equal(a.out, b.out) and np.array_equal(a.inside, b.inside) and a.manifest == b.manifest


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The file that one process writes."""
    folder = tmp_path_factory.mktemp("alone")
    run(TINY, GAMES, directory=folder)
    return store_path(TINY, TINY.seed, folder)


@pytest.fixture
def start():
    """Starts `tiny_study.py ARGUMENTS`; whatever still runs at the end of the test is killed."""
    running = []

    def started(*arguments, **environment):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("tiny_study.py")), *map(str, arguments)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield started
    for process in running:
        process.kill()
        process.communicate()


def hosts(folder, count):
    """The arguments of process i of so many, each with a folder of its own as if on a disk of its own."""
    joined = ["--coordinator", f"127.0.0.1:{free_port()}", "--processes", count]
    play = ["run", "tiny", "--games", GAMES, *joined]
    return [[*play, "--process-id", i, "--out", folder / str(i)] for i in range(count)]


def finish(processes):
    for process in processes:
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said


def test_four_processes_give_the_counts_of_one(tmp_path, start, alone):
    finish([start(*arguments) for arguments in hosts(tmp_path, 4)])
    assert store_path(TINY, TINY.seed, tmp_path / "0").read_bytes() == alone.read_bytes()
    assert [p.name for p in tmp_path.rglob("*.npz")] == ["tiny-4.npz"]  # the shares are gone


@pytest.mark.slow
@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (signal.SIGKILL, "is gone; start all of them again to go on"),
        (signal.SIGSTOP, "has said nothing for 20 seconds; end it, and start all of them again to go on"),
    ],
)
def test_one_of_two_ends_and_all_start_again(tmp_path, start, alone, who, fault, said):
    run(TINY, 1_000, directory=tmp_path / "0")  # process 0 goes on from an earlier, shorter run
    rest = range(1_000, GAMES)
    paths = [shard_path(TINY, TINY.seed, tmp_path / str(i), rest, (i, 2)) for i in (0, 1)]
    halted = [[*arguments, "--chunk", 1, "--hosts-timeout", 20] for arguments in hosts(tmp_path, 2)]
    processes = [start("--halt", *arguments) for arguments in halted]
    give_up = time.monotonic() + PATIENCE
    while not all(path.exists() and mi.Histogram.load(path).games > 0 for path in paths):
        assert all(p.poll() is None for p in processes), [p.communicate() for p in processes]
        assert time.monotonic() < give_up
        time.sleep(0.02)
    processes[who].send_signal(fault)
    told = time.monotonic()
    assert processes[1 - who].communicate(timeout=PATIENCE)[1] == f"error: process {who} {said}\n"
    assert time.monotonic() - told < 40
    assert processes[1 - who].returncode == 2
    if fault == signal.SIGSTOP:  # it goes on, and finds that the others have ended
        processes[who].send_signal(signal.SIGCONT)
        shown = processes[who].communicate(timeout=PATIENCE)[1]
        assert shown.startswith("error: process ")
        assert shown.endswith("start all of them again to go on\n")
        assert shown.count("\n") == 1
        assert processes[who].returncode == 2
    kept = [mi.Histogram.load(path).games for path in paths]
    assert all(0 < games < len(rest) // 2 for games in kept)
    finish([start(*arguments) for arguments in hosts(tmp_path, 2)])
    assert store_path(TINY, TINY.seed, tmp_path / "0").read_bytes() == alone.read_bytes()
    assert [p.name for p in tmp_path.rglob("*.npz")] == ["tiny-4.npz"]


def test_a_shard_that_is_told_to_end_goes_on(tmp_path, start, alone):
    arguments = ["run", "tiny", "--games", GAMES, "--out", tmp_path, "--shard", "0/1"]
    process = start("--halt", *arguments, "--chunk", 1)
    path = shard_path(TINY, TINY.seed, tmp_path, range(GAMES), (0, 1))
    give_up = time.monotonic() + PATIENCE
    while not (path.exists() and mi.Histogram.load(path).games > 0):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)
    process.terminate()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == f"interrupted; finished chunks are kept in {tmp_path}\n"
    assert 0 < mi.Histogram.load(path).games < GAMES
    done = run(TINY, GAMES, directory=tmp_path, shard=(0, 1))
    whole = mi.Histogram.load(alone)
    assert same(mi.Histogram(done.edges, done.out, done.inside, whole.manifest), whole)
    assert not list(tmp_path.glob(".*"))


def test_four_devices_give_the_counts_of_one(tmp_path, start, alone):
    four = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    spread = start("run", "tiny", "--games", GAMES, "--out", tmp_path, "--devices", 4, **four)
    _, said = spread.communicate(timeout=PATIENCE)
    assert spread.returncode == 0, said
    assert store_path(TINY, TINY.seed, tmp_path).read_bytes() == alone.read_bytes()


def test_a_group_of_one_gives_the_counts_of_run(tmp_path):
    for games in (500, 900, 900, 300):  # afresh, extended, read back, and fewer than stored
        assert same(run_on_hosts(TINY, games, directory=tmp_path), run(TINY, games))
    assert [p.name for p in tmp_path.iterdir()] == ["tiny-4.npz"]
    assert mi.Histogram.load(tmp_path / "tiny-4.npz").games == 900


def test_a_failure_in_a_step_is_raised():
    def broken():
        raise OSError(28, "disk full")

    with pytest.raises(OSError, match="disk full"):
        Group().gathered(broken, 1)


def test_a_stored_result_of_another_run_is_refused(tmp_path):
    histogram = run(TINY, 100)
    other = mi.Histogram(histogram.edges, histogram.out, histogram.inside, {**histogram.manifest, "seed": 5})
    other.save(store_path(TINY, TINY.seed, tmp_path))
    with pytest.raises(ValueError, match=r"tiny-4\.npz belongs to another run, which differs in seed"):
        run_on_hosts(TINY, 200, directory=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--coordinator", "nowhere"], "coordinator is 'nowhere'; it must be HOST:PORT"),
        (["--coordinator", "127.0.0.1:9", "--process-id", "2", "--processes", "2"], "process-id is 2"),
        (["--process-id", "0", "--processes", "2"], "give --coordinator HOST:PORT"),
        (["--distributed", "--shard", "0/2"], "--shard is given with --coordinator"),
        (["--coordinator", "127.0.0.1:99999", *TWO], "'127.0.0.1:99999'; its port must be in 1, ..., 65535"),
        (["--coordinator", "127.0.0.1:0", *TWO], "its port must be in 1, ..., 65535"),
        (["--coordinator", ":1234", *TWO], "coordinator is ':1234'; it must be HOST:PORT"),
        (["--coordinator", "a..b:1234", *TWO], "coordinator is 'a..b:1234'; it must be HOST:PORT"),
        (["--coordinator", "127.0.0.1:9"], "cannot be joined without process-id, processes; give"),
        (["--hosts-timeout", "0"], "'0' is not a whole number >= 1"),
        (["--processes", "0"], "not a whole number >= 1"),
        (["--devices", "99"], "devices is 99; this process has"),
        (["--devices", "0"], "not a whole number >= 1"),
        *(([f"--shard={text}"], "is not i/k") for text in ("2/2", "1", "a/b", "-1/2", "0/0", "1/2/3")),
    ],
)
def test_bad_arguments(arguments, said, capsys, monkeypatch):
    monkeypatch.delenv("JAX_COORDINATOR_ADDRESS", raising=False)
    try:
        status = main(["run", "azize_counterexample_scalar_product", "--games", "10", *arguments])
    except SystemExit as stop:
        status = stop.code
    assert status == 2
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown
