"""Several statements at once, judged or hunted, each in a process."""

from __future__ import annotations

import contextlib
import math
import multiprocessing as mp
import os
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from mipsim._precision import run_in
from mipsim._signals import on_ctrl_c
from mipsim.referee.hunting.hunt import hunt
from mipsim.referee.outcome import Failure, Outcome
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting import pictures
from mipsim.referee.result import Verdict
from mipsim.referee.settings import GAMES
from mipsim.referee.statement import Statement

Say = Callable[[str, str], object]
"""Called with (statement, what its hunt is doing)."""
Before = Callable[[Statement, int], None]
"""Called with (statement, place) before each point."""
PATIENCE = 60.0
"""Seconds that an interrupted hunt has to end its present probe and to judge its result."""
RESUMED = "its probes are stored, and the same command resumes from them"
CUT_OFF = f"interrupted before it could judge its result; {RESUMED}"
LOST = f"the process that hunted it was lost; {RESUMED}"
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""A single thread in each process: processes share the cores already, and threads that wait for each other's cores double a matrix product's time."""
NOT_HUNTED = "not hunted"
""""How" of an outcome without a hunt."""


def judge_all(
    # statements that share laws, judged in turn by a single thread, begun in this order. A thread with nothing left to
    # begin takes over the last statements of another
    families: Sequence[Sequence[Statement]],
    # called with a statement and what it must call before each point; `ProcessJudge` for processes
    judge: Callable[[Statement, Before], Outcome],
    before: Before | None = None,  # called with (statement, place) before each point
    workers: int = 1,  # threads: exact laws leave a core idle, and so do compiling and drawing
) -> Iterator[Outcome]:
    """Judge statements and yield outcomes as they are finished; their values do not depend on `workers`.

    The threads are daemons and look at a flag between points, so that Ctrl-C in the reader ends the run at once. An
    interruption or another `BaseException` inside a statement's functions is raised in the reader.
    """
    waiting, begun, lock = (
        deque(map(deque, families)),
        [deque[Statement]() for _ in range(workers)],
        threading.Lock(),
    )
    done: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
    stop = threading.Event()

    def look(statement: Statement, place: int) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        if before is not None:
            before(statement, place)

    def following(number: int) -> Statement | None:
        with lock:
            if not begun[number] and waiting:
                begun[number] = waiting.popleft()
            longest = max(begun, key=len)
            if begun[number]:
                return begun[number].popleft()
            return longest.pop() if longest else None

    def work(number: int) -> None:
        try:
            while not stop.is_set() and (statement := following(number)) is not None:
                done.put(judge(statement, look))
        except BaseException as error:  # the reader must hear of it, whatever it is
            done.put(error)

    for number in range(workers):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    try:
        for _ in range(sum(map(len, families))):
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stop.set()


class ProcessJudge:
    """Judge in processes, a process for each thread that calls: much of a law is Python, which threads do not run in parallel.

    Ctrl-C does not reach the processes; they end with the reader. What else ends a process, or is raised in it, is reported for the
    statement that it was at.
    """

    def __init__(
        self,
        # a function of a module that returns a statement by its name, in another process
        find: Callable[[str], Statement],
        judge: Callable[..., Outcome],  # the function that judges, called with the statement and `before`
        # called in this process with a statement whose process was lost, and with why
        lost: Callable[[Statement, str], Outcome],
    ) -> None:
        """Keep what a process needs."""
        self._functions, self._lost = (find, judge), lost
        self._mine = threading.local()

    def __call__(self, statement: Statement, look: Before) -> Outcome:
        """Return the outcome of a statement, and look before each of its points."""
        if getattr(self._mine, "pipe", None) is None:
            self._mine.pipe, _ = _start(_judge_there, *self._functions)
        pipe = self._mine.pipe
        _send(pipe, statement)
        try:
            while isinstance(what := pipe.recv(), int):
                look(statement, what)
            if isinstance(what, str):
                return self._lost(statement, what)
        except (EOFError, OSError):
            pipe.close()
            self._mine.pipe = None
            return self._lost(statement, "the process that judged it was lost")
        return _from_message(statement, what)


def _judge_there(pipe: Connection, find: Callable[[str], Statement], judge: Callable[..., Outcome]) -> None:
    """Judge the statements that are named by the pipe, in a process of its own."""
    _end_with_the_reader()
    with contextlib.suppress(EOFError, OSError):  # EOFError: the reader is gone
        while True:
            name = pipe.recv()
            try:
                result: Any = _to_message(judge(find(name), before=lambda _, place: pipe.send(place)))
            except Exception as error:  # reported for this statement; the others are judged still
                result = f"{type(error).__name__}: {error}"
            pipe.send(result)


def _end_with_the_reader() -> None:
    """End this process at once when the process that began it ends, however it does."""

    def wait_for_it() -> None:
        reader = mp.parent_process()
        if reader is not None:
            reader.join()
            os._exit(1)

    threading.Thread(target=wait_for_it, daemon=True).start()


def _to_message(outcome: Outcome) -> dict[str, Any]:
    """An outcome without its statement, which holds functions that no pipe carries; the reader has it."""
    given = {item.name: getattr(outcome, item.name) for item in fields(outcome) if item.name != "statement"}
    return given | {"pictures": pictures.stored(outcome)}


def _from_message(statement: Statement, given: dict[str, Any]) -> Outcome:
    """The outcome of `_to_message`, with the pictures that were plotted of it."""
    sample = given.pop("pictures")
    result = Outcome(statement=statement, **given)
    if sample is not None:
        pictures.keep(result, sample)
    return result


def hunt_all(
    statements: Sequence[Statement],  # each with a name of its own
    budget: str,
    confidence: float,  # of each, in [0.5, 1)
    seed: int,
    # keeps every probe, in a file for each statement and seed, so that a hunt goes on where it was; or None
    folder: Path | None,
    say: Say,  # called with the progress of each hunt
    workers: int = 1,  # processes; 1: this process
    # for more than 1 worker: a function of a module that returns a statement by its name, in another process
    find: Callable[[str], Statement] | None = None,
) -> Iterator[Outcome]:
    """Hunt statements and yield each outcome as it is finished.
    Raises KeyboardInterrupt on Ctrl-C, after the outcomes until then were yielded; a second Ctrl-C does not wait for
    that.
    """
    requested = (budget, confidence, seed, folder)
    if workers == 1 or find is None:
        for item in statements:
            result = hunt_statement(item, *requested, say)
            yield result
            if result.interrupted:
                raise KeyboardInterrupt
        return
    waiting, presses, end = list(statements), [], math.inf
    # Process and statement, by the pipe between: each has its own, which no other's death spoils.
    pool: dict[Any, tuple[Any, Statement]] = {}
    pipe: Any
    begun: set[Any] = set()
    with on_ctrl_c(lambda *_: presses.append(time.monotonic())):
        try:
            while pool or (waiting and not presses):
                while waiting and len(pool) < workers and not presses:  # in the place of a lost process too
                    pipe, process = _start(_work, find, *requested)
                    pool[pipe] = process, _send(pipe, waiting.pop(0))
                if presses and end == math.inf:
                    end = presses[0] + PATIENCE
                    for pipe, (process, statement) in pool.items():
                        say(statement.name, "interrupted; Ctrl-C again does not wait for its probe")
                        if pipe not in begun:
                            process.kill()
                        elif process.is_alive():
                            os.kill(process.pid, signal.SIGALRM)
                if len(presses) > 1 or time.monotonic() > end:
                    yield from (failed(single, CUT_OFF, *requested[:3]) for _, single in pool.values())
                    break
                for pipe in wait(list(pool), timeout=0.5):
                    process, statement = pool[pipe]
                    try:
                        what = pipe.recv()
                    except (EOFError, OSError):
                        del pool[pipe]
                        yield failed(statement, CUT_OFF if presses else LOST, *requested[:3])
                        continue
                    begun.add(pipe)
                    if isinstance(what, str):
                        say(statement.name, what)
                        continue
                    if waiting and not presses:
                        pool[pipe] = process, _send(pipe, waiting.pop(0))
                    else:
                        del pool[pipe]
                        pipe.close()
                    yield _from_message(statement, what)
        finally:
            for process, _ in pool.values():
                process.kill()
                process.join()
    if presses:
        raise KeyboardInterrupt


def _start(work: Callable[..., None], *arguments: Any) -> tuple[Any, Any]:
    """A process that does `work` with a pipe and its arguments, and the other end of the pipe."""
    context = mp.get_context("spawn")  # JAX has threads, which a forked process would lack
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, *arguments), daemon=True)
    resource_tracker.ensure_running()  # the first process begins the tracker too, which would lift the block
    given = os.environ.get(BLAS_THREADS)
    os.environ.setdefault(BLAS_THREADS, "1")
    # Inherited: the reader alone is interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        if given is None:
            del os.environ[BLAS_THREADS]
    there.close()
    return here, process


def _send(pipe: Connection, statement: Statement) -> Statement:
    with contextlib.suppress(OSError):  # its process was lost just now, which the next look finds
        pipe.send(statement.name)
    return statement


def _work(
    pipe: Connection,
    find: Callable[[str], Statement],
    budget: str,
    confidence: float,
    seed: int,
    folder: Path | None,
) -> None:
    """Hunt the statements that are named by the pipe, in a process of its own."""
    _end_with_the_reader()
    # The terminal's Ctrl-C stays blocked, so that the reader alone interrupts, and once.
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt, EOFError, OSError):  # EOFError: there is nothing left to hunt
        while True:
            statement = find(pipe.recv())
            pipe.send("begun")
            result = hunt_statement(
                statement, budget, confidence, seed, folder, lambda _, line: pipe.send(line)
            )
            pipe.send(_to_message(result))


def hunt_statement(
    statement: Statement, budget: str, confidence: float, seed: int, folder: Path | None, say: Say
) -> Outcome:
    """The outcome of a single hunt; if it could not be made, an outcome that says why, since the others are hunted still."""
    file = None if folder is None else folder / f"{statement.name}-{seed}.jsonl"
    try:
        with run_in("float64"):  # as it is judged
            return hunt(
                statement,
                budget,
                confidence,
                seed,
                checkpoint=file,
                progress=lambda line: say(statement.name, line),
            )
    except Exception as error:  # such as stored probes of another definition
        return failed(statement, f"{type(error).__name__}: {error}", budget, confidence, seed)


def failed(
    statement: Statement, why: str, budget: str, confidence: float, seed: int, how: str = NOT_HUNTED
) -> Outcome:
    """The outcome of a hunt that could not be made, or of a judgement."""
    return Outcome(
        statement=statement,
        verdict=Verdict.INCONCLUSIVE,
        worst=None,
        judged=(),
        replay=replay_of(statement, None, confidence, seed, GAMES),
        confidence=confidence,
        seed=seed,
        seconds=0.0,
        how=how,
        failures=(Failure({}, why),),
        budget=budget,
    )
