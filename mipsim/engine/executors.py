"""Shards of games on any `concurrent.futures.Executor`: processes, Dask, Slurm, MPI.

A shard is a range of games, and counts depend on the games only: whichever worker plays a shard, as often as it takes, the sum is
that of a single process. Nothing here imports a cluster's package; the caller does, and hands over what it made.
"""

import importlib
import os
import pickle
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mipsim._precision import exact_scope, run_in
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.checkpoint import difference
from mipsim.engine.counting import GAMES, Counter, on_device
from mipsim.engine.describe import describe, versions
from mipsim.engine.devices import cores, local_devices
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.multi_score import StackedAttacks
from mipsim.games.base import AbstractGame

ATTEMPTS = 3
"""How often a shard is given to workers before the run ends."""
SECONDS_PER_SHARD = 2.0
"""Long beside the milliseconds that a cluster takes to hand out a task, short beside what the loss of a worker may cost."""
_LOOK = 0.2  # seconds between two looks at whether the run has ended
ASK_QUEUE = 20.0
"""Seconds between two questions to Slurm's queue after a job of which its accounting says nothing; a queue serves many users."""
_LATE = 3.0  # seconds that a shared folder may take to show a result that was written
_ENDED = {
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "REVOKED",
    "TIMEOUT",
}
"""States in which Slurm leaves a job; in any other, such as held or preempted, it may still begin again."""
_CARRIED = ("distributed", "loky", "submitit")  # executors whose packages bring cloudpickle to both ends


class ExecutorError(OSError):
    """Workers do not play: they are gone, fail every time, or cannot be reached. Counts so far are in the checkpoint."""


@dataclass(frozen=True)
class Recipe:
    """What a worker needs to build the sampler of a run: plain Python that pickles, while samplers hold arrays of a device."""

    game: AbstractGame  # what is played
    attacks: tuple[AbstractAttack, ...]  # whose scores are counted, in the order of the columns
    fidelity: str  # as in `play`
    precision: str  # of the user's functions, whatever a worker's own is
    stacked: bool = False  # whether they are the attacks of `play_many`

    def sampler(self) -> AbstractSampler:
        """The sampler, the same in every process of the same versions."""
        with exact_scope(self.precision):
            attack = StackedAttacks.of(self.game, list(self.attacks)) if self.stacked else self.attacks[0]
            return on_device(build_sampler(self.game, attack, self.fidelity))

    def identity(self, sampler: AbstractSampler) -> dict[str, Any]:
        """What decides the counts, as manifests say it."""
        return {
            "versions": versions(),
            "game": describe(self.game),
            "attack": [describe(attack) for attack in self.attacks],
            "fidelity": sampler.fidelity,
            "precision": self.precision,
            "sampler": sampler.name,
        }


@dataclass(frozen=True)
class Answer:
    """What a worker returns: who it is, what it plays, and counts of shape (2, columns, K + 2), None where it does not play."""

    worker: str
    identity: dict[str, Any]
    counts: np.ndarray | None


def count_shard(wanted: Mapping[str, str], payload: bytes, start: int, stop: int) -> Answer:
    """Count games start, ..., stop - 1 in a worker; a worker of other versions only says which it has.
    `wanted`: the versions of the process that asks; `payload`: pickled (recipe, edges of every column, seed), not looked
    at under other versions; `start`: the first game; `stop`: the end of the range.
    """
    worker = f"{socket.gethostname()}, process {os.getpid()}"
    mine = {"versions": versions()}
    if difference(mine, {"versions": wanted}, ("versions",)):
        return Answer(worker, mine, None)
    counter, identity = _prepared(payload)
    counts, _ = counter(start, stop)
    return Answer(worker, identity, counts)


@lru_cache(maxsize=2)
def _prepared(payload: bytes) -> tuple[Counter, dict[str, Any]]:
    recipe, edges, seed = pickle.loads(payload)
    sampler = recipe.sampler()
    with run_in(recipe.precision):
        return Counter(sampler, edges, seed, GAMES, local_devices()), recipe.identity(sampler)


def check_executor(executor: object) -> None:
    """Raise ValueError unless it is an executor or a function that makes an executor.
    >>> check_executor(3)
    Traceback (most recent call last):
    ...
    ValueError: executor is 3; it must have a method submit, as a concurrent.futures.Executor has, or be a function that
        makes an executor
    """
    if not callable(getattr(executor, "submit", executor)):
        raise ValueError(
            f"executor is {executor!r}; it must have a method submit, as a concurrent.futures.Executor has, or be a function "
            "that makes an executor"
        )


class ShardCounter:
    """Counts ranges of games on an executor; many threads may call it at once.
    `executor`: a `concurrent.futures.Executor` or what has its `submit`, or a function that makes an executor. What that
    function made is replaced once it is broken, and shut down at the end; an executor that was given stays as it is;
    `recipe`: what is played; `sampler`: the recipe's, in this process; `edges`: increasing thresholds of every column;
    `seed`: in [0, 2^64). Raises ValueError if the game or the attack cannot be sent to workers; ExecutorError if the
    function makes no executor.
    """

    def __init__(
        self, executor: Any, recipe: Recipe, sampler: AbstractSampler, edges: Sequence[np.ndarray], seed: int
    ) -> None:
        given = hasattr(executor, "submit") and not isinstance(executor, type)  # a class makes an executor
        self._make: Callable[[], Any] | None = None if given else executor
        self._executor = executor if self._make is None else _made(self._make)
        self._identity, self._versions = recipe.identity(sampler), versions()
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._given_up: ExecutorError | None = None
        self._payload = _pickled((recipe, [np.asarray(own) for own in edges], seed), self._executor)

    def slots(self) -> int:
        """How many shards to keep in flight: the workers that the executor says it has, or twice the cores of this machine."""
        executor = self._executor
        client: Any = getattr(executor, "_client", None)  # Dask's
        if hasattr(client, "nthreads"):
            return max(1, sum(client.nthreads().values()))
        result = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
        return result if isinstance(result, int) and result > 0 else 2 * cores()

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Count a range, again where its worker is lost, `ATTEMPTS` times at most. Returns counts as `Counter`, and no scores.
        Raises ValueError if a worker has another version, or plays another game; ExecutorError if no attempt succeeds.
        """
        if self._given_up is not None:  # shards before this shard have begun, and may still be counted
            raise self._given_up
        error: BaseException | None = None
        for _ in range(ATTEMPTS):
            executor = self._executor
            try:
                answer = self._answer(executor, start, stop)
            except (Exception, CancelledError) as failed:
                if self._ended.is_set():
                    raise
                error = failed
                self._replace(executor, failed)
                continue
            return self._checked(answer), np.zeros(0)
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".removesuffix(": ")
        hint = (
            "; this executor is broken for good: give a function that makes executors, and a broken executor is replaced"
            if isinstance(error, BrokenExecutor) and self._make is None
            else ""
        )
        self._given_up = ExecutorError(
            f"executor {type(self._executor).__name__} failed {ATTEMPTS} times to play games {start} to {stop - 1}, the last time "
            f"with {text}{hint}; counts so far are stored if a checkpoint is given"
        )
        raise self._given_up from error

    def stop(self) -> None:
        """End every wait, cancelling what is waited for."""
        self._ended.set()
        if self._make is not None:
            _shut(self._executor)

    def _answer(self, executor: Any, start: int, stop: int) -> Answer:
        future = executor.submit(count_shard, self._versions, self._payload, start, stop)
        requested = time.monotonic()
        while not future.done():
            if self._ended.is_set():
                # Here and not by `stop`, which cannot know of a future that is being made; a job of Slurm's would go on without us.
                with suppress(Exception):  # it may have ended meanwhile
                    future.cancel()
                raise CancelledError
            if not hasattr(future, "set_result"):  # a job of submitit's, whose result() has no limit
                self._ended.wait(_LOOK)
                if time.monotonic() - requested > ASK_QUEUE and not future.done():
                    _refuse_lost_job(future)
                    requested = time.monotonic()
                continue
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if future.done():
                    break  # it may be the worker's own
        return future.result()

    def _replace(self, executor: Any, error: BaseException) -> None:
        """Make another executor in place of a broken executor, once for all threads that saw it break."""
        with self._lock:
            if self._make is not None and isinstance(error, BrokenExecutor) and executor is self._executor:
                _shut(executor)
                self._executor = _made(self._make)

    def _checked(self, answer: Any) -> np.ndarray:
        if not isinstance(answer, Answer):
            raise ExecutorError(
                f"executor {type(self._executor).__name__} returned {type(answer).__name__} instead of counts"
            )
        theirs = answer.identity
        for name in ("mipsim", "jax"):
            mine, result = self._versions[name], theirs["versions"].get(name)
            if mine != result:
                raise ValueError(
                    f"worker {answer.worker} has {name} {result}, this process {name} {mine}; its counts are refused: "
                    "install the same version on all machines"
                )
        part = difference(self._identity, theirs, ("game", "attack", "fidelity", "sampler"))
        if part is not None or answer.counts is None:
            raise ValueError(
                f"worker {answer.worker} plays another run, which differs in {part}; its counts are refused: give all machines the "
                "same code and Python"
            )
        return answer.counts


def _refuse_lost_job(job: Any) -> None:
    """Raise RuntimeError if Slurm has a job of submitit's no longer, which leaves no result.

    Submitit asks Slurm's accounting, which small clusters do not have: a job that was cancelled there would be waited for without end.
    """
    if getattr(job, "state", None) != "UNKNOWN":
        return
    command = ["squeue", "--noheader", "--states=all", f"--jobs={job.job_id}", "--format=%T"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=ASK_QUEUE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return  # nothing is known of it
    states = result.stdout.split()
    forgotten = result.returncode != 0 and "Invalid job id" in result.stderr
    if forgotten or (states and _ENDED.issuperset(states)):
        time.sleep(_LATE)
        if not job.done():
            raise RuntimeError(
                f"job {job.job_id} of Slurm ended without a result: {states[0] if states else 'forgotten'}"
            )


def _made(make: Callable[[], Any]) -> Any:
    try:
        executor = make()
    except Exception as error:
        raise ExecutorError(f"executor cannot be made: {type(error).__name__}: {error}") from error
    if not hasattr(executor, "submit"):
        raise ValueError(
            f"executor is a function that returned {type(executor).__name__}; it must return an executor, with a method submit"
        )
    return executor


def _shut(executor: Any) -> None:
    if hasattr(executor, "shutdown"):
        executor.shutdown(wait=False)


def _pickled(thing: Any, executor: Any) -> bytes:
    """Bytes for workers; functions without a name in a module go where cloudpickle is at both ends."""
    package = type(executor).__module__.partition(".")[0]
    try:
        dumps = importlib.import_module("cloudpickle").dumps if package in _CARRIED else pickle.dumps
        return dumps(thing)
    except Exception as error:  # whatever an object's own __reduce__ may raise
        raise ValueError(
            f"game or attack cannot be sent to the workers of {type(executor).__name__} "
            f"({type(error).__name__}: {' '.join(str(error).split())[:60]}); define its functions in a module, or use loky or Dask"
        ) from error
