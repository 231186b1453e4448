"""`python -m sims run --executor ...`: what plays the shards of a run, made from a word of the command line."""

import multiprocessing
import os
import re
import secrets
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mipsim._extras import MissingPackageError, optional
from mipsim.engine.devices import cores
from mipsim.engine.executors import ExecutorError

KINDS = "dask://HOST:PORT, slurm, mpi or processes"
_NEEDED = "shards on a cluster"
_CANCEL = 20.0  # seconds that Slurm has to take jobs out of its queue
_GRACE = 1.0  # seconds in which Dask says itself that nobody is there


def check_kind(text: str) -> str:
    """Return the word if it names an executor.
    >>> check_kind("dask://127.0.0.1:8786")
    'dask://127.0.0.1:8786'
    """
    if text in ("slurm", "mpi", "processes") or re.fullmatch(r"dask://[^\s/]+:\d{1,5}", text):
        return text
    raise ValueError(f"--executor is {text!r}; it must be {KINDS}")


@contextmanager
def executor_for(kind: str, seconds: float, folder: Path) -> Iterator[Any]:
    """Yield an executor for `mi.play`, and close what was opened.
    `kind`: dask://HOST:PORT, slurm, mpi or processes; `seconds`: how long to wait for Dask's scheduler; `folder`: where
    Slurm's jobs keep their logs; all nodes must see it. Raises ValueError if the word is none of these;
    MissingPackageError if its package is not installed; ExecutorError if nobody answers at the address, or this machine
    has no Slurm or MPI.

    >>> with executor_for("processes", 1.0, Path(".")) as pool:
    ...     type(pool).__name__
    'ProcessPoolExecutor'
    """
    kind = check_kind(kind)
    if kind.startswith("dask://"):
        client = _dask_client(kind, seconds)
        try:
            yield client.get_executor()
        finally:
            client.close(timeout=5)
    elif kind == "slurm":
        with _slurm(folder) as queue:
            yield queue
    elif kind == "mpi":
        with _mpi() as pool:
            yield pool
    else:
        # A process that has threads of JAX's cannot fork.
        spawn = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(cores(), mp_context=spawn, initializer=end_with_parent)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def end_with_parent() -> None:
    """Have this process end where the process that started it was killed: it would wait for tasks for ever."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def _slurm(folder: Path) -> Iterator[Any]:
    """An executor of Slurm's; no job of it stays in the queue, also where a signal ends the process."""
    submitit = optional("submitit", _NEEDED, "clusters")
    try:
        executor = submitit.SlurmExecutor(folder=str(folder))
    except RuntimeError as error:
        raise ExecutorError(f"Slurm cannot be used here: {error}") from error
    name = f"mipsim-{secrets.token_hex(4)}"
    executor.update_parameters(job_name=name)

    def cancel() -> None:
        subprocess.run(["scancel", f"--name={name}"], capture_output=True, timeout=_CANCEL, check=False)

    try:
        yield executor
    except KeyboardInterrupt:  # of which the run may have been in the middle of submitting
        with suppress(OSError, subprocess.SubprocessError):
            cancel()
        raise


def _mpi() -> Any:
    try:
        optional("mpi4py.MPI", _NEEDED, "clusters")  # the wheel brings no MPI itself
        return optional("mpi4py.futures", _NEEDED, "clusters").MPIPoolExecutor()
    except MissingPackageError:
        raise
    except (ImportError, RuntimeError) as error:
        raise ExecutorError(f"MPI cannot be used here: {str(error).splitlines()[0]}") from error


def _dask_client(kind: str, seconds: float) -> Any:
    address = "tcp://" + kind.removeprefix("dask://")
    distributed = optional("distributed", _NEEDED, "clusters")
    built: list[Any] = []

    def connect() -> None:
        try:
            built.append(distributed.Client(address, timeout=seconds, set_as_default=False))
        except BaseException as error:
            built.append(error)

    # Dask's own limit is none for a server that accepts the connection and says nothing.
    waiting = threading.Thread(target=connect, daemon=True)
    waiting.start()
    waiting.join(seconds + _GRACE)
    result = built[0] if built else TimeoutError()
    if isinstance(result, (OSError, TimeoutError)):
        raise ExecutorError(
            f"no scheduler of Dask answers at {kind} within {seconds:g} s; start a scheduler there, or give more time by --executor-timeout"
        ) from result
    if isinstance(result, BaseException):
        raise result
    return result
