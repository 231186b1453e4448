"""What the fault tests run in other processes, to be killed or to meet at one file."""

import multiprocessing
import os
from multiprocessing.process import BaseProcess

import numpy as np

import mipsim as mi
from mipsim.engine.checkpoint import write_counts
from tests.engine.long_run import run

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload([__name__])


def start(work: str, *arguments: object) -> BaseProcess:
    """A process that does one of the functions here; JAX is imported already, and nothing computed yet."""
    process = _SERVER.Process(target=globals()[work], args=arguments, daemon=True)
    process.start()
    return process


def play(path: str, games: int) -> None:
    """The run of `long_run`, which goes on from what is stored."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    run(path, games)


def write(path: str, cells: int) -> None:
    """Nothing but writing, for ever: most moments are within a write."""
    edges = np.arange(cells - 1.0)
    counts = np.zeros(cells, np.int64)
    while True:
        counts[0] += 1
        write_counts(path, edges, counts, counts, {"games": int(counts[0])})


def load(path: str) -> mi.Histogram:
    """What a reader sees."""
    return mi.Histogram.load(path)
