"""Shards of games on any `concurrent.futures.Executor`: processes, Dask, Slurm, MPI.

A shard is a range of games, and counts depend on the games only: whichever worker plays a shard, as often as it takes, the sum is
that of a single process. Nothing here imports a cluster's package; the caller does, and hands over what it made.
"""

import importlib
import os
import pickle
import socket
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mipsim._precision import run_in
from mipsim._words import quoted
from mipsim.engine.checkpoint import difference
from mipsim.engine.counting import GAMES, Counter
from mipsim.engine.describe import versions
from mipsim.engine.devices import cores, local_devices
from mipsim.engine.recipe import Recipe
from mipsim.engine.samplers.base import AbstractSampler

_LOOK = 0.2  # seconds between two looks at whether the run has ended
_CARRIED = ("distributed", "loky", "submitit")  # executors whose packages bring cloudpickle to both ends


class ExecutorError(OSError):
    """Workers do not play: they are gone, fail, or cannot be reached. Counts so far are in the checkpoint."""


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
    """Raise ValueError unless it is an executor.
    >>> check_executor(3)
    Traceback (most recent call last):
    ...
    ValueError: executor is 3; it must have a method submit, as a concurrent.futures.Executor has
    """
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise ValueError(
            f"executor is {quoted(executor, 80)}; it must have a method submit, as a concurrent.futures.Executor has"
        )


class ShardCounter:
    """Counts ranges of games on an executor; many threads may call it at once.
    `executor`: a `concurrent.futures.Executor` or what has its `submit`; it stays open, and what it does about lost workers is its
    own; `recipe`: what is played; `sampler`: the recipe's, in this process; `edges`: increasing thresholds of every column;
    `seed`: in [0, 2^64). Raises ValueError if the game or the attack cannot be sent to workers.
    """

    seconds = 2.0  # long beside what a cluster takes to hand out a task, short beside what the loss of a worker may cost

    def __init__(
        self, executor: Any, recipe: Recipe, sampler: AbstractSampler, edges: Sequence[np.ndarray], seed: int
    ) -> None:
        self._executor, self._ended = executor, threading.Event()
        self._identity, self._versions = recipe.identity(sampler), versions()
        self.span = sampler.block
        self._payload = _pickled((recipe, [np.asarray(own) for own in edges], seed), executor)

    def slots(self) -> int:
        """How many shards to keep in flight: the workers that the executor says it has, or twice the cores of this machine."""
        executor = self._executor
        client: Any = getattr(executor, "_client", None)  # Dask's
        if hasattr(client, "nthreads"):
            return max(1, sum(client.nthreads().values()))
        result = getattr(executor, "_max_workers", None) or getattr(executor, "num_workers", None)
        return result if isinstance(result, int) and result > 0 else 2 * cores()

    def __call__(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """Count a range. Returns counts as `Counter`, and no scores.
        Raises ValueError if a worker has another version, or plays another game; ExecutorError if the executor fails.
        """
        try:
            answer = self._answer(start, stop)
        except (Exception, CancelledError) as error:
            if self._ended.is_set():
                raise
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".removesuffix(": ")
            raise ExecutorError(
                f"executor {type(self._executor).__name__} failed to play games {start} to {stop - 1}: {text}; "
                "counts so far are stored if a checkpoint is given, from which the same call goes on"
            ) from error
        return self._checked(answer), np.zeros(0)

    def stop(self) -> None:
        """End every wait, cancelling what is waited for."""
        self._ended.set()

    def _answer(self, start: int, stop: int) -> Answer:
        future = self._executor.submit(count_shard, self._versions, self._payload, start, stop)
        while not future.done():
            if self._ended.is_set():
                # Here and not by `stop`, which cannot know of a future that is being made; a job of Slurm's would go on without us.
                with suppress(Exception):  # it may have ended meanwhile
                    future.cancel()
                raise CancelledError
            if isinstance(future, Future):
                wait([future], _LOOK)
            else:  # a job of submitit's
                self._ended.wait(_LOOK)
        return future.result()

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
