"""How many games are played at once: fewer where few are asked; on an accelerator by a short trial, each block twice the one before."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace

from mipsim.engine.counting import Counter
from mipsim.engine.devices import Device
from mipsim.engine.memory import BlockTooLargeError
from mipsim.engine.samplers.base import AbstractSampler

WORTH_A_TRIAL = 256
"""Blocks: a shorter run is over before the trial's compilations are."""
LONG_BLOCK = 2**28
"""Numbers of a block that take longer, about half a second in each world, than to compile code for another block."""
_LEAST = 1024  # games: a coordinate's part of the loop takes as long for fewer
_GAIN = 1.1  # a block must be so much faster than the last: less is noise, and costs memory
_BLOCKS_OF_A_RUN = 32  # at least: else devices would wait for the last of them


def wants_larger_blocks(device: Device) -> bool:
    """Whether a block that suits a CPU is small for this device.

    Examples:
        >>> import jax
        >>> wants_larger_blocks(jax.devices("cpu")[0])
        False
    """
    return device.platform != "cpu"


def smaller_block(sampler: AbstractSampler, games: int, numbers: int) -> AbstractSampler:
    """The sampler with a smaller block, if few games are asked and its own takes long. Scores of those that can do not depend on it.

    Args:
        sampler: with the block that suits many games.
        games: how many are to be played.
        numbers: how many a game draws.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim._precision import exact_scope
        >>> from mipsim.engine.fidelity import build_sampler
        >>> data = mi.Bernoulli([0.3])
        >>> game = mi.RandomTarget(mi.EmpiricalMean(), data, n=9)
        >>> with exact_scope():
        ...     sampler = build_sampler(game, mi.CovarianceScore(data, n=9), "auto")
        >>> [smaller_block(sampler, games, numbers).block for games, numbers in ((100, 1), (100, 10**5), (10**6, 10**5))]
        [16384, 1024, 16384]
    """
    if not sampler.any_block or sampler.block * numbers < LONG_BLOCK:
        return sampler
    enough = 1 << (max(games, _LEAST) - 1).bit_length()
    return replace(sampler, block=min(sampler.block, enough))


def faster_block(
    sampler: AbstractSampler,
    counter_of: Callable[[AbstractSampler], Counter],
    games: int,
    room: float,
    clock: Callable[[], float] = time.perf_counter,
) -> AbstractSampler:
    """The sampler with the block that plays most games a second, as far as doubling it goes on to pay.

    A game draws from a stream of its own, and samplers with `any_block` add whole numbers: scores do not depend on the block. Others
    keep the block that they have.

    Args:
        sampler: with the block to begin with, which is tuned for the cache of a CPU.
        counter_of: makes a counter of such a sampler.
        games: how many are to be played.
        room: bytes that a call may take beside its arguments.
        clock: seconds.

    Examples:
        >>> import numpy as np
        >>> import mipsim as mi
        >>> from mipsim._precision import exact_scope
        >>> from mipsim.engine.counting import on_device
        >>> from mipsim.engine.fidelity import build_sampler
        >>> data = mi.Gaussian([0.0], [1.0])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=9, target=[1.0])
        >>> with exact_scope():
        ...     sampler = on_device(build_sampler(game, mi.CovarianceScore(data, n=9), "auto"))
        >>> faster_block(sampler, lambda s: Counter(s, [np.zeros(1)], 0), games=1000, room=2.0**30).block
        16384
    """
    if not sampler.any_block or games < WORTH_A_TRIAL * sampler.block:
        return sampler
    first = counter_of(sampler)
    needs, begun = max(1, first.needs()), sampler.block
    speed = _speed(first, clock)
    while (
        2 * sampler.block * _BLOCKS_OF_A_RUN <= games
        and needs * (2 * sampler.block // begun) <= room  # the scores of a block, and what they are made of
    ):
        larger = replace(sampler, block=2 * sampler.block)
        try:
            found = _speed(counter_of(larger), clock)
        except BlockTooLargeError:
            break
        if found < _GAIN * speed:
            break
        sampler, speed = larger, found
    return sampler


def _speed(counter: Counter, clock: Callable[[], float]) -> float:
    """Games a second, the better of two calls after one that compiles; the games are played again by the run."""
    took = []
    for _ in range(3):
        begun = clock()
        counter(0, counter.block)
        took.append(clock() - begun)
    return counter.block / max(min(took[1:]), 1e-9)


LONG_RUN = 2**40
"""Numbers that a run may draw, in a quarter of an hour at 10^9 a second, before it says so."""


def tell_what_is_drawn(numbers: int, games: int, pilot: int) -> None:
    """Warn before literal games that will take long, since the first of them may take minutes.

    Args:
        numbers: that a game draws.
        games: in each world.
        pilot: games of the pilot in each world; 0 = there is none.

    Examples:
        >>> tell_what_is_drawn(10**6, 1000, 64)
    """
    if (drawn := 2 * (games + pilot) * numbers) > LONG_RUN:
        and_pilot = f" and {pilot:,} of a pilot, which edges=... spares," if pilot else ""
        warnings.warn(
            f"{games:,} games{and_pilot} in each world draw {numbers:,} numbers each: {drawn:.1e} in all, which takes "
            f"{drawn / 3.6e12:,.1f} hours at 10^9 a second; play fewer games, records or coordinates, or another fidelity",
            stacklevel=2,
        )
