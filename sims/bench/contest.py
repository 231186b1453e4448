"""A contest: several ways to do the same thing, timed in turns, each as a ratio to a baseline."""

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass

import jax


@dataclass(frozen=True)
class Way:
    """A way to do the thing."""

    name: str  # what the table calls it
    # does the thing so many times and returns how often it was done, in fractions where a single time would take too
    # long; called once before the clock starts
    work: Callable[[int], float]
    times: int  # how often it is done in a repeat
    # whether it may use all cores: then the clock on the wall counts, else the time of all of the process's threads,
    # which is the time of a single core, whatever else the machine does
    all_cores: bool = False
    library: str = "jax"  # "numpy", "scipy" or "jax": says where it runs


def in_turn(single: Callable[[], object]) -> Callable[[int], int]:
    """The work of a way that does a thing so many times in sequence.
    >>> in_turn(int)(3)
    3
    """

    def work(times: int) -> int:
        for _ in range(times):
            single()
        return times

    return work


@dataclass(frozen=True)
class Contest:
    """Several ways to do the same thing; the first is the baseline."""

    title: str  # what is done
    unit: str  # what is counted ("games", "curves", "values", "scores"), that is what `work` returns
    ways: Sequence[Way]  # the baseline, then the others
    # lines on what the ways answered, computed after they were timed
    says: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True)
class Timing:
    """A way, timed."""

    name: str  # contest and way
    games_per_second: float  # median over the repeats, in `unit` per second
    baseline: str  # the way it is compared with
    ratio: float  # games_per_second over the baseline's: the median of the repeats' ratios
    spread: tuple[float, float]  # lowest and highest ratio of the repeats
    device: str  # where it ran
    unit: str = "games"  # what games_per_second counts


def measure(contest: Contest, repeats: int) -> list[Timing]:
    """Time the ways of a contest, interleaved, so that a slow spell of the machine hits all of them."""
    for way in contest.ways:
        way.work(1)  # compile and warm up
    speeds: dict[str, list[float]] = {way.name: [] for way in contest.ways}
    for _ in range(repeats):
        for way in contest.ways:
            clock = time.perf_counter if way.all_cores else _core_seconds(way)
            with nullcontext() if way.all_cores else on_cores(1):
                begun = clock()
                done = way.work(way.times)
                speeds[way.name].append(done / max(clock() - begun, 1e-9))
    base = contest.ways[0].name
    timings: list[Timing] = []
    for way in contest.ways:
        ratios = [mine / theirs for mine, theirs in zip(speeds[way.name], speeds[base], strict=True)]
        timings.append(
            Timing(
                f"{contest.title}: {way.name}",
                statistics.median(speeds[way.name]),
                base,
                statistics.median(ratios),
                (min(ratios), max(ratios)),
                where(way),
                contest.unit,
            )
        )
    return timings


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Keep all threads of this process on so many cores, where the system allows it.

    XLA's own threads would else share a way that is meant for a single core, and wait for each other at its cost.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    try:
        _put_on(set(sorted(allowed)[:count]))
        yield
    finally:
        _put_on(allowed)


def _put_on(cores: set[int]) -> None:
    for thread in os.listdir("/proc/self/task"):
        with suppress(OSError):  # a thread may have ended meanwhile
            os.sched_setaffinity(int(thread), cores)


def where(way: Way) -> str:
    """The device and the share of it that a way used."""
    device = jax.devices()[0]
    if way.library != "jax" or device.platform == "cpu":
        return f"cpu, {os.cpu_count() if way.all_cores else 1} of {os.cpu_count()} cores"
    return f"{device.platform} ({device.device_kind})"


def _core_seconds(way: Way) -> Callable[[], float]:
    # An accelerator's work is not in the process's time: there the wall has to do.
    if way.library == "jax" and jax.devices()[0].platform != "cpu":
        return time.perf_counter
    return time.process_time
