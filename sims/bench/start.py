"""`python -m sims bench start`: how soon a new process answers, in seconds of the wall and of processors."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

GAME = """
import numpy as np, mipsim as mi
data = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 5000))
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=1000, target=data.easiest_target())
attack = mi.CovarianceScore(data, n=1000, target=game.target)
"""
EXACT = "game.exact(attack).tpr_bounds([1e-6, 0.01])\n"
GAMES = "mi.play(game, attack, games=10_000, progress=False).tradeoff()\n"
AUDIT = """
import sys, mipsim as mi
print(mi.audit(sys.argv[1], design="independent", runs=2000))
"""
SCORES = 2000


class Process(NamedTuple):
    """What a new process does, and the process that its seconds are counted beyond; "" where all of them count."""

    name: str
    arguments: Sequence[str]
    beyond: str = ""


class Seconds(NamedTuple):
    """Seconds of a process: on the wall, and of all processors together."""

    wall: float
    processor: float


def processes(scores: str) -> tuple[Process, ...]:
    """The processes that are timed; the first is what those on JAX cannot do without."""
    jax, curve = "import jax", "exact curve of the reference game"
    return (
        Process(jax, ["-c", "import jax"]),
        Process(curve, ["-c", GAME + EXACT], jax),
        Process("10,000 games of it, compiled code stored", ["-c", GAME + GAMES], jax),
        Process("the games after the curve, compiled code stored", ["-c", GAME + EXACT + GAMES], curve),
        Process(f"mi.audit of {SCORES:,} scores", ["-c", AUDIT, scores]),
        Process(
            f"mipsim audit of {SCORES:,} scores",
            ["-m", "mipsim", "audit", scores, "--design", "independent", "--runs", str(SCORES)],
        ),
    )


def run_start(quick: bool = False) -> dict[str, list[Seconds]]:
    """Time every process in turns, each in a folder of compiled code that an earlier process has filled, and print the seconds.
    `quick`: three rounds instead of nine. Returns the seconds of each process, for each round.
    """
    with tempfile.TemporaryDirectory() as folder:
        scores = Path(folder) / "scores.csv"
        rng = np.random.default_rng(0)
        member = np.arange(SCORES) % 2
        rows = zip(rng.normal(size=SCORES) + member, member, strict=True)
        scores.write_text("score,member\n" + "".join(f"{score},{world}\n" for score, world in rows))
        requested = processes(str(scores))
        for process in requested:
            seconds_of(process, folder)  # compiles bytecode and kernels
        result: dict[str, list[Seconds]] = {process.name: [] for process in requested}
        for _ in range(3 if quick else 9):
            for process in requested:
                result[process.name].append(seconds_of(process, folder))
    print_start(requested, result)
    return result


def print_start(requested: Sequence[Process], measured: Mapping[str, Sequence[Seconds]]) -> None:
    """Print the least and the median seconds of each process, less those of the process that it is counted beyond."""
    width = max(len(f"{process.name} beyond {process.beyond}") for process in requested)
    print(f"{'seconds of a new process':<{width}}    wall: least, median    processor: least, median")
    for process in requested:
        name = f"{process.name} beyond {process.beyond}" if process.beyond else process.name
        cells = []
        for clock in Seconds._fields:
            took = [getattr(item, clock) for item in measured[process.name]]
            less = [getattr(single, clock) for single in measured.get(process.beyond, ())] or [0.0]
            cells += [min(took) - min(less), statistics.median(took) - statistics.median(less)]
        print(f"{name:<{width}}  {cells[0]:>12.2f} {cells[1]:>7.2f}  {cells[2]:>17.2f} {cells[3]:>7.2f}")


def seconds_of(process: Process, folder: str) -> Seconds:
    """The seconds of a new process, which keeps compiled code in a folder.
    Raises RuntimeError if it fails; the message holds the end of its output.
    """
    known = {k: v for k, v in os.environ.items() if "COMPILATION_CACHE" not in k}
    known.pop("PYTHONDONTWRITEBYTECODE", None)
    begun, before = time.perf_counter(), _children()
    done = subprocess.run(
        [sys.executable, *process.arguments],
        env=known | {"XDG_CACHE_HOME": folder},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{process.name}: ended with {done.returncode}: {done.stderr[-300:]}")
    return Seconds(time.perf_counter() - begun, _children() - before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
