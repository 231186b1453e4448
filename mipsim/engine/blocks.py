"""Smaller blocks for short runs, and a warning before long ones."""

from __future__ import annotations

import warnings
from dataclasses import replace

from mipsim.engine.samplers.base import AbstractSampler

LONG_BLOCK = 2**28
"""Numbers of a block that take longer, about half a second in each world, than to compile code for another block."""
_LEAST = 1024  # games: a coordinate's part of the loop takes as long for fewer


def smaller_block(sampler: AbstractSampler, games: int, numbers: int) -> AbstractSampler:
    """The sampler with a smaller block, if few games are requested and its own takes long. Scores of samplers that allow it do
    not depend on the block.
    `sampler`: with the block that suits many games; `games`: how many are to be played; `numbers`: how many a game draws.

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


LONG_RUN = 2**40
"""Numbers that a run may draw, in a quarter of an hour at 10^9 a second, before it says so."""


def warn_if_long(numbers: int, games: int, pilot: int) -> None:
    """Warn before literal games that will take long, since the first of them may take minutes.
    `numbers`: that a game draws; `games`: in each world; `pilot`: games of the pilot in each world; 0 = there is none.

    >>> warn_if_long(10**6, 1000, 64)
    """
    if (sample := 2 * (games + pilot) * numbers) > LONG_RUN:
        and_pilot = f" and {pilot:,} of a pilot, which edges=... spares," if pilot else ""
        warnings.warn(
            f"{games:,} games{and_pilot} in each world draw {numbers:,} numbers each: {sample:.1e} in all, which takes "
            f"{sample / 3.6e12:,.1f} hours at 10^9 a second; play fewer games, records or coordinates, or another fidelity",
            stacklevel=2,
        )
