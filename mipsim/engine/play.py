"""`play`: games by the million, counted on edges fixed before the run."""

import os
from collections.abc import Callable
from typing import Any, Never

from mipsim._signals import interruptible
from mipsim.attacks.base import AbstractAttack
from mipsim.bands.comparison import Comparison
from mipsim.engine.histogram import Histogram
from mipsim.engine.recipe import Recipe
from mipsim.engine.run import Run
from mipsim.engine.settings import Settings
from mipsim.engine.until import Until
from mipsim.games.base import AbstractGame
from mipsim.tradeoff.base import AbstractTradeOff

_ELSEWHERE = {
    "confidence": "; the confidence belongs to the curve: play(...).tradeoff(confidence=0.999)",
    "thresholds": "; thresholds belong to the curve: play(...).tradeoff(thresholds=64), or give edges",
    "claim": "; compare the counts with a claim: play(...).tradeoff().compare(claim), or use decide",
    "tolerance": "; the tolerance belongs to the comparison: play(...).tradeoff().compare(claim, tolerance)",
}
"""Arguments that new users look for in `play`."""


@interruptible
def play(
    game: AbstractGame,
    attack: AbstractAttack | Callable[..., Any],
    games: int | range,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    precision: str | None = None,
    chunk: int | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    devices: int | None = None,
    shard: tuple[int, int] | None = None,
    executor: Any = None,
    until: AbstractTradeOff | Until | None = None,
    **others: Never,
) -> Histogram:
    """Play `games` games in each world and count the attack's scores.

    Game g of world w draws from a stream made of (seed, w, g) only, and counts are integers: the result is
    bit-identical for every `chunk`, number of `workers` and `devices`, and resume.

    Args:
        game: what is played.
        attack: an `AbstractAttack`, or a function `(target, output) -> scalar` that JAX can trace; higher = "in".
        games: games in EACH world, >= 1, or the `range` of their numbers: runs of disjoint ranges and equal edges add up.
        seed: a whole number in [0, 2^64).
        edges: increasing finite thresholds, in units of the score; None fixes them by a pilot with its own stream. A
            `Histogram` gives its own, so that the two can be added.
        fidelity: "literal" plays all n records; "sufficient" draws the output from its exact law; "projected" draws
            the score itself from its exact law, where that has 1 or 2 dimensions: the same law, each faster than
            the previous. "auto" takes the cheapest of them that this game and attack have; the manifest says which.
        precision: in which your own functions run, and your own classes' `release`, `score`, `sample` and `play`: "float32", with the arrays,
            dtypes and keys that JAX would give them, or "float64". None = as your process has it (`jax_enable_x64`). Rounding and overflow
            are part of a mechanism, and the manifest says which. What mipsim itself computes is in float64.
        chunk: games per call, rounded up to whole blocks; None aims at half a second.
        progress: show how far it is, with games per second and the time left: on stderr or in a notebook; in a log from half a minute on.
        checkpoint: a file to keep partial counts in. If it exists and holds the same run, the run resumes from there, on the
            pilot's thresholds that it holds. Several processes may play the same run into it: it never loses games.
        workers: threads; None = 1 per core, or two per device where devices are no CPUs.
        devices: how many of this process's JAX devices the chunks are spread over; None = all of them.
        shard: (i, k) plays only the i-th of k equal parts of the games, i = 0, ..., k - 1. The sum of all k results
            (`Histogram.__add__`) is the result of the whole.
        executor: plays shards of the games elsewhere: a `concurrent.futures.Executor` (processes, loky, Dask's `get_executor()`,
            mpi4py's, submitit's). `workers` is then the number of shards in flight (None = what it says it has), `chunk` the games of a
            shard. Counts are the same.
        until: a claimed trade-off function, or an `Until` that says how it is judged: the run stops as soon as the claim is confirmed or refuted, at
            a number of games that `Until` fixes; else it ends after `games`. All intervals of such counts are wider, so that they
            hold at every number of games at once.
        **others: none; the error for an argument of `Histogram.tradeoff` or of `compare` names it.

    Raises:
        TypeError: on an argument that `play` does not have.
        ValueError: on bad arguments, a NaN score, a worker of another version, or a checkpoint that is corrupt or belongs to another run.
        OSError: if the checkpoint cannot be written, or the executor does not play; an old checkpoint stays intact.

    Source: Yeom et al. (2018), experiment 1; Ye et al. (2022), definition 3.3; Azize & Basu (2025), algorithms 1, 2, 5 and 6.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target())
        >>> play(game, mi.CovarianceScore(data, n=10), games=1000).games
        1000
    """
    for name in others:
        raise TypeError(f"play has no argument {name!r}{_ELSEWHERE.get(name, '')}")
    where = dict[str, Any](checkpoint=checkpoint, workers=workers, devices=devices, shard=shard)
    how = dict[str, Any](edges=edges, chunk=chunk, progress=progress, executor=executor, until=until)
    settings = Settings(games, seed, **where, **how)
    (counts,) = Run(settings, Recipe.checked(game, [attack], fidelity, precision)).play()
    return counts


@interruptible
def decide(
    game: AbstractGame,
    attack: AbstractAttack | Callable[..., Any],
    claim: AbstractTradeOff,
    games: int | range = 100_000_000,
    seed: int = 0,
    *,
    kind: str | None = None,
    tolerance: float | None = None,
    confidence: float = 0.999,
    least_rate: float = 0.01,
    **how: Any,
) -> Comparison:
    """Play games until they confirm or refute a claim, and return the comparison that does so.

    A claim that is as far off as its tolerance is decided by no number of games: it ends INCONCLUSIVE after `games`.

    Args:
        game: what is played.
        attack: as in `play`.
        claim: the claimed trade-off function.
        games: the most games in EACH world, or the range of their numbers.
        seed: a whole number in [0, 2^64).
        kind: what the claim says, as in `mipsim.Until`, like the next three.
        tolerance: what counts as equal, in probits.
        confidence: of the verdict, whenever the run stops.
        least_rate: the least error rates that a confirmation is about.
        **how: other arguments of `play`: `edges`, `fidelity`, `precision`, `chunk`, `progress`, `checkpoint`, `workers`, `devices`, `executor`.

    Raises:
        ValueError: as `play`.
        OSError: as `play`.

    Source: Robbins (1970); Howard, Ramdas, McAuliffe, Sekhon (2021).

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Gaussian([0.0], [1.0])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=9, target=[3.0])
        >>> attack = mi.CovarianceScore(data, n=9, target=[3.0])
        >>> result = decide(game, attack, mi.GaussianTradeOff(2.0), progress=False)  # about 1.06
        >>> result.verdict, result.out_games
        ('REFUTED', 8192)
    """
    until = Until(claim, kind, tolerance, confidence, least_rate)
    return until.compare(play(game, attack, games, seed, until=until, **how))
