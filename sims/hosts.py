"""Several processes, on one host or many, by JAX's distributed runtime: how they meet and exchange whole numbers."""

import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import cache

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mipsim._precision import exact_scope
from mipsim.engine.devices import Device

_RUNNING, _DONE, _FAILED = 0, 1, 2
_LONGEST_WAIT = 1.0
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def connect(
    coordinator: str | None, process_id: int | None, processes: int | None, patience: float = 300.0
) -> None:
    """Join the processes of a run: `jax.distributed.initialize`, before any other use of JAX.

    What is None is found by JAX itself where it can (JAX_COORDINATOR_ADDRESS, Slurm, Open MPI, Cloud TPU).

    Args:
        coordinator: HOST:PORT, served by process 0; a loopback address is served to this machine only.
        process_id: which process this is, 0, ..., processes - 1.
        processes: how many there are.
        patience: seconds to wait for process 0.

    Raises:
        ValueError: if an argument is missing or wrong, or the processes do not meet.
        ConnectionError: if process 0 does not answer.
    """
    if coordinator is not None and not coordinator.rpartition(":")[2].isdecimal():
        raise ValueError(f"coordinator is {coordinator!r}; it must be HOST:PORT")
    if processes is not None and process_id is not None and process_id >= processes:
        raise ValueError(
            f"process-id is {process_id}; with {processes} processes it must be below {processes}"
        )
    if coordinator is not None and process_id:
        _await(coordinator, patience)
    local = coordinator is not None and coordinator.rpartition(":")[0] in _LOOPBACK
    try:
        jax.distributed.initialize(
            coordinator, processes, process_id, coordinator_bind_address=coordinator if local else None
        )
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            f"the processes cannot be joined: {str(error).splitlines()[0].rstrip('.')}; give --coordinator HOST:PORT, "
            "--process-id and --processes, or start them where JAX finds these itself"
        ) from error


def _await(coordinator: str, patience: float) -> None:
    """Wait until process 0 listens: JAX itself would abort the process, with a stack, if it never does."""
    host, _, port = coordinator.rpartition(":")
    end = time.monotonic() + patience
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5.0).close()
            return
        except (OSError, OverflowError) as error:
            if time.monotonic() >= end:
                raise ConnectionError(f"coordinator {coordinator} does not answer: {error}") from error
        time.sleep(0.1)


def is_first() -> bool:
    """Whether this is process 0, which stores and prints the result.

    Examples:
        >>> is_first()
        True
    """
    return jax.process_index() == 0


def gathered(step: Callable[[], np.ndarray], size: int) -> np.ndarray:
    """Do a step in every process and gather what the steps return: int64, shape (processes, size).

    Some take hours more than others: while the step runs in a thread, all exchange a word on how they fare about once a
    second, so that a failure in one, or its end, stops all at once.

    Raises:
        ValueError: if the step fails in another process.
        ConnectionError: if another process is gone.
        Exception: whatever the step raises here.

    Examples:
        >>> gathered(lambda: np.array([7]), 1)
        array([[7]])
    """
    outcome: list[np.ndarray | BaseException] = []

    def run() -> None:
        try:
            outcome.append(np.asarray(step(), dtype=np.int64))
        except BaseException as error:  # raised in the main thread
            outcome.append(error)

    # A daemon: an interrupt leaves the process at once, and what the thread had finished is on disk.
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    wait = 0.01
    while True:
        thread.join(wait)
        wait = min(2 * wait, _LONGEST_WAIT)
        result = outcome[0] if outcome else None
        word = np.zeros(1 + size, dtype=np.int64)
        if isinstance(result, np.ndarray):
            word[0], word[1:] = _DONE, result
        elif result is not None:
            word[0] = _FAILED
        words = _gather(word)
        if isinstance(result, BaseException):
            raise result
        if (words[:, 0] == _FAILED).any():
            failed = np.flatnonzero(words[:, 0] == _FAILED).tolist()
            raise ValueError(
                f"process {', '.join(map(str, failed))} failed, as it says itself; this one stops too"
            )
        if (words[:, 0] == _DONE).all():
            return words[:, 1:]


@cache
def _meeting() -> tuple[NamedSharding, Device, Callable[[jax.Array], jax.Array]]:
    """One CPU device a process, and a function that gives all of them the rows of all.

    A few kilobytes need no accelerator, and hosts may have different numbers of those.
    """
    firsts = {device.process_index: device for device in reversed(jax.devices("cpu"))}
    mesh = Mesh(np.array([firsts[i] for i in range(jax.process_count())]), ("process",))
    rows = NamedSharding(mesh, PartitionSpec("process"))
    everywhere = NamedSharding(mesh, PartitionSpec())
    return rows, firsts[jax.process_index()], jax.jit(lambda x: x, out_shardings=everywhere)


def _gather(row: np.ndarray) -> np.ndarray:
    """The rows (int64) of all processes."""
    if jax.process_count() == 1:
        return row[None]
    rows, device, share = _meeting()
    found: list[np.ndarray | BaseException] = []

    def exchange() -> None:
        try:
            with exact_scope():
                shape = (jax.process_count(), *row.shape)
                local = jax.device_put(row[None], device)
                out = share(jax.make_array_from_single_device_arrays(shape, rows, [local]))
                found.append(np.asarray(out.addressable_data(0)))
        except BaseException as error:
            found.append(error)

    # In a thread, since signals do not reach Python while a collective waits in the main one.
    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.05)
    if isinstance(found[0], BaseException):
        raise ConnectionError("another process is gone; start all of them again to go on") from found[0]
    return found[0]


def leave(status: int) -> None:
    """Exit at once if this process is joined with others: a normal exit waits minutes for those that are gone."""
    if jax.distributed.is_initialized():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
