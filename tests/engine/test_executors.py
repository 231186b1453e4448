import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jax
import pytest

import mipsim as mi
from mipsim.engine import executors
from mipsim.engine.executors import ExecutorError
from mipsim.engine.memory import BlockTooLargeError
from sims.executors import executor_for
from tests.engine.ports import free_port
from tests.sampler_laws import same

pytestmark = pytest.mark.system

DATA = mi.Bernoulli([0.3, 0.6])
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=10, target=[1.0, 0.0])
ATTACK = mi.CovarianceScore(DATA, n=10)
GAMES, CHUNK = 160_000, 16_384


class Here(Executor):
    """Plays in this process, and does to answer number i what `after` says."""

    def __init__(self, after=lambda i, answer: answer):
        self.after, self.tasks, self.lock = after, 0, threading.Lock()

    def submit(self, fn, /, *args, **kwargs):
        with self.lock:
            i, self.tasks = self.tasks, self.tasks + 1
        future = Future()
        try:
            future.set_result(self.after(i, fn(*args, **kwargs)))
        except BaseException as error:
            future.set_exception(error)
        return future


def played(path=None, **kwargs):
    return mi.play(GAME, ATTACK, GAMES, 3, chunk=CHUNK, progress=False, checkpoint=path, **kwargs)


def stored(folder: Path, name: str, **kwargs) -> bytes:
    played(folder / name, **kwargs)
    return (folder / name).read_bytes()


def test_the_file_is_that_of_one_run(tmp_path):
    assert stored(tmp_path, "a", executor=Here(), workers=3) == stored(tmp_path, "b")


def test_play_many_gives_the_same_counts():
    other = mi.ScalarProduct([0.5, 0.5])
    item, two = (
        mi.play_many(GAME, [ATTACK, other], 5000, progress=False, executor=e) for e in (None, Here())
    )
    assert all(same(a, b, manifest=True) for a, b in zip(item, two, strict=True))


def test_an_executor_that_fails_ends_in_a_single_sentence():
    def fail(i, answer):
        raise RuntimeError("no disk")

    with pytest.raises(ExecutorError, match=r"^executor Here failed to play games 0 to \d+: .*no disk"):
        played(executor=Here(fail), workers=1)


def test_counts_before_a_failure_are_stored_and_resumed(tmp_path):
    def fail_later(i, answer):
        if i >= 4:
            raise RuntimeError("the cluster is gone")
        return answer

    path = tmp_path / "a"
    with pytest.raises(ExecutorError, match="the cluster is gone"):
        played(path, executor=Here(fail_later), workers=1)
    assert 0 < mi.Histogram.load(path).games < GAMES
    again = Here()
    assert stored(tmp_path, "a", executor=again, workers=1) == stored(tmp_path, "b")
    assert again.tasks < -(-GAMES // CHUNK)


@pytest.mark.parametrize("package", ["mipsim", "jax"])
def test_another_version_is_refused_by_name(tmp_path, package):
    """The third answer is of another version: it is refused, and what came before is stored."""

    def age(i, answer):
        if i < 2:
            return answer
        return replace(answer, identity={"versions": answer.identity["versions"] | {package: "0.0.1"}})

    path = tmp_path / "a"
    with pytest.raises(ValueError, match=rf"^worker .* has {package} 0\.0\.1, this process {package} "):
        played(path, executor=Here(age), workers=1)
    assert mi.Histogram.load(path).games == 2 * CHUNK
    # Such a worker does not even read the game.
    assert executors.count_shard({"mipsim": "0.0.1", "jax": "0"}, b"no pickle", 0, 1).counts is None


def test_another_game_is_refused():
    def change(i, answer):
        return replace(answer, identity=answer.identity | {"game": {}})

    with pytest.raises(ValueError, match="plays another run, which differs in game"):
        played(executor=Here(change))


def test_a_lambda_needs_a_package_that_carries_it():
    score = lambda z, output: output @ z  # noqa: E731
    with pytest.raises(ValueError, match="cannot be sent to the workers of Here"):
        mi.play(GAME, score, 100, progress=False, executor=Here())


def test_a_worker_whose_device_is_full_says_so():
    """Its error comes by pickle: an error that cannot be read there looks like a worker that died."""

    def full(i, answer):
        raise pickle.loads(pickle.dumps(BlockTooLargeError.of(CHUNK, jax.devices()[0])))

    with pytest.raises(ExecutorError, match=r"BlockTooLargeError: a block of 16,384 games does not fit"):
        played(executor=Here(full), workers=1)


def sims_run(words: str, out: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sims", "run", "azize_fig2_easy", "--games", "10", *words.split()]
    return subprocess.run(
        [*command, "--out", str(out)], env=os.environ | environment, cwd=Path(__file__).parents[2],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


def test_a_machine_without_slurm_says_so(tmp_path):
    """In a process of its own: submitit's logging holds on to the standard streams of the process that imports it."""
    if find_spec("submitit") is None:
        pytest.skip("submitit is not installed: the extra clusters brings it")
    run = sims_run("--executor slurm", tmp_path, PATH=str(tmp_path))
    assert run.returncode == 2
    assert "Slurm cannot be used here" in run.stderr


POOL = """
import os, sys, time
from pathlib import Path
from sims.executors import executor_for
if __name__ == "__main__":
    with executor_for("processes", 1.0, Path()) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""


@pytest.mark.slow
def test_workers_end_with_the_process_that_was_killed(tmp_path):
    (tmp_path / "pool.py").write_text(POOL)
    root = Path(__file__).parents[2]
    command, paths = [sys.executable, str(tmp_path / "pool.py")], os.pathsep.join([str(root), *sys.path])
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}) as pool:
        assert pool.stdout is not None
        worker = int(pool.stdout.readline())
        os.kill(worker, 0)
        pool.kill()
    until = time.monotonic() + 30
    while alive(worker) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(worker)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")  # a process that has ended and is waited for by nobody is a zombie
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Dask's own
def test_a_cluster_of_dask_gives_the_file_of_one_run(tmp_path):
    """What becomes of the shards of a dead worker is Dask's matter."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra clusters brings it")
    port = free_port()
    base = f"{sys.executable} -m distributed.cli.dask_"
    commands = (
        f"{base}scheduler --host 127.0.0.1 --port {port} --no-dashboard",
        f"{base}worker tcp://127.0.0.1:{port} --nthreads 1 --no-nanny --no-dashboard",
    )
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = [subprocess.Popen(command.split(), **quiet) for command in commands]
    try:
        with executor_for(f"dask://127.0.0.1:{port}", 60, tmp_path) as executor:
            executor._client.wait_for_workers(1, timeout=60)
            assert stored(tmp_path, "a", executor=executor, workers=2) == stored(tmp_path, "b")
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that accepts connections, by its system's queue, and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(8)
        yield server.getsockname()[1]


@contextmanager
def nobody() -> Iterator[int]:
    yield free_port()


@pytest.mark.system
@pytest.mark.parametrize("there", [nobody, silent_server])
def test_a_scheduler_that_nobody_answers(there, tmp_path):
    """In a process of its own, which must end too, whatever Dask's threads wait for."""
    pytest.importorskip("distributed", reason="Dask is not installed: the extra clusters brings it")
    with there() as port:
        address = f"dask://127.0.0.1:{port}"
        run = sims_run(f"--executor {address} --executor-timeout 1", tmp_path)
    assert run.returncode == 2
    assert f"no scheduler of Dask answers at {address} within 1 s" in run.stderr
    assert run.stderr.count("\n") == 1
