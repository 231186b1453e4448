"""Several statements at once, judged or hunted, each in a process; what takes long to import is imported by what they do."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import chain
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

from mipsim._signals import on_ctrl_c

if TYPE_CHECKING:
    from mipsim.referee import Outcome
    from verify.statement import Statement

WORKERS = 2
"""Statements judged or hunted at once: exact laws leave a core idle, and the games of a single statement use every core."""
PATIENCE = 60.0
"""Seconds that an interrupted hunt has to end its present probe and to judge its result."""
LOST = "the process that judged it was lost"
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""A single thread in each process: processes share the cores already, and threads that wait for each other's cores double a matrix product's time."""


def outcomes(
    # statements that share laws, which a process stores: it has a family in turn, and families are begun in this order
    families: Sequence[Sequence[Statement]],
    act: Callable[[Statement], Outcome],  # judges or hunts; for other processes a function of a module
    failed: Callable[[Statement, str], Outcome],  # called with a statement of which nothing came, and why
    # a function of a module that returns a statement by its name, in another process; None: all is done in this process
    find: Callable[[str], Statement] | None = None,
) -> Iterator[Outcome]:
    """Judge or hunt statements, and yield outcomes as they are finished; their values do not depend on the processes.

    What ends a process, or is raised in it, costs the statement that it was at. Raises KeyboardInterrupt on Ctrl-C, after the outcomes
    until then: SIGTERM asks a hunt for what it has, and ends the other processes; a second Ctrl-C waits for none.
    """
    workers = min(WORKERS, len(families))
    if find is None or workers == 1:
        for statement in chain.from_iterable(families):
            try:
                result = act(statement)
            except (
                Exception
            ) as error:  # such as stored probes of another definition; the others are judged still
                result = failed(statement, f"{type(error).__name__}: {error}")
            yield result
            if result.interrupted:
                raise KeyboardInterrupt
        return
    waiting, left = deque(families), [deque[Any]() for _ in range(workers)]
    others, presses, ending = mp.active_children(), [], False
    # Each has an executor of its own, which no other's death breaks.
    pools = [_process() for _ in range(workers)]
    running: dict[Future[Any], tuple[int, Any]] = {}

    def begin(place: int) -> None:
        if not left[place] and waiting:
            left[place].extend(waiting.popleft())
        if left[place] and not presses:
            statement = left[place].popleft()
            running[_submitted(pools[place], act, find, statement.name)] = place, statement

    def children() -> list[Any]:
        return [child for child in mp.active_children() if child not in others]

    with on_ctrl_c(lambda *_: presses.append(time.monotonic())):
        try:
            for place in range(workers):
                begin(place)
            while running and not (
                len(presses) > 1 or (presses and time.monotonic() > presses[0] + PATIENCE)
            ):
                if presses and not ending:
                    ending = True
                    for child in children():
                        child.terminate()
                for future in wait(running, timeout=0.2, return_when=FIRST_COMPLETED).done:
                    place, statement = running.pop(future)
                    error = future.exception()
                    if error is None:
                        yield _with_picture(statement, *future.result())
                    elif not presses:
                        lost = isinstance(error, BrokenProcessPool)
                        yield failed(statement, LOST if lost else f"{type(error).__name__}: {error}")
                        pools[place] = _process() if lost else pools[place]
                    begin(place)
        finally:
            for child in children():
                child.kill()
            for pool in pools:
                pool.shutdown(cancel_futures=True)
    if presses:
        raise KeyboardInterrupt


def _process() -> ProcessPoolExecutor:
    """A process, begun with its first work; JAX has threads, which a forked process would lack."""
    return ProcessPoolExecutor(1, mp.get_context("spawn"), _begun)


def _begun() -> None:
    """Let this process end with the process that began it, however that does."""
    os.environ.setdefault(BLAS_THREADS, "1")
    from sims.executors import end_with_parent

    end_with_parent()


def _submitted(pool: ProcessPoolExecutor, *work: Any) -> Future[Any]:
    """Give work to a process, which Ctrl-C does not reach: the reader alone is interrupted."""
    resource_tracker.ensure_running()  # the first process begins the tracker too, which would lift the block
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])  # inherited
    try:
        return pool.submit(_there, *work)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def _there(act: Callable[[Statement], Outcome], find: Callable[[str], Statement], name: str) -> Any:
    """An outcome without its statement, which holds functions that no process can send, and its picture."""
    from mipsim.referee.reporting import pictures

    outcome = act(find(name))
    return replace(outcome, statement=None), pictures.stored(outcome)  # pyright: ignore[reportArgumentType]


def _with_picture(statement: Statement, outcome: Outcome, sample: Any) -> Outcome:
    from mipsim.referee.reporting import pictures
    from verify.program import with_program

    result = with_program(replace(outcome, statement=statement))
    if sample is not None:
        pictures.keep(result, sample)
    return result
