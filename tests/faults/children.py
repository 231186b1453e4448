"""What the fault tests run in other processes, to be killed or to write to the same file."""

import multiprocessing
import os
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np

from mipsim._files import replace_file
from mipsim.engine.checkpoint import write_counts
from tests.engine.long_run import run

NOBODY = 65534
"""A user without rights, as most systems number it."""

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload([__name__, "tests.faults.heavy_files"])


def start(work: str, *arguments: object) -> BaseProcess:
    """A process that runs a function of this module; JAX is imported already, and nothing computed yet."""
    process = SERVER.Process(target=globals()[work], args=arguments, daemon=True)
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


def planted(work: str, *arguments: object) -> None:
    """A function of `controls`, which plays or writes with a defect."""
    getattr(import_module("tests.faults.controls"), work)(*arguments)


def replace_read_only(path: str) -> None:
    """Write beside what a killed writer of a read-only file has left, as a user whom permissions bind."""
    if os.getuid() == 0:
        os.setuid(NOBODY)
    target = Path(path)
    left = target.with_name(f".{target.name}.part")
    for file in (target, left):
        file.write_bytes(b"half")
        file.chmod(0o444)
    replace_file(target, b"whole")
