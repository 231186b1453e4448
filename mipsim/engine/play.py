"""`play`: games by the million, counted on edges fixed before the run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._validation import real_array, whole
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.engine.counting import GAMES, PILOT, Counter, on_device
from mipsim.engine.devices import local_devices, threads_for
from mipsim.engine.drive import play_range
from mipsim.engine.fidelity import build_sampler, check_fidelity, check_shapes, name_of, pilot_games
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import DRAWS, FORMAT, array_digest, describe, versions
from mipsim.engine.pilot import pilot_edges
from mipsim.engine.precision import exact_scope
from mipsim.engine.progress import progress_line
from mipsim.engine.resume import counted, resume
from mipsim.engine.sampler import AbstractSampler
from mipsim.engine.shares import check_shard, game_range, share
from mipsim.games.base import AbstractGame


def play(
    game: AbstractGame,
    attack: AbstractAttack | Callable[..., Any],
    games: int | range,
    seed: int = 0,
    *,
    edges: object = None,
    fidelity: str = "auto",
    chunk: int | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    devices: int | None = None,
    shard: tuple[int, int] | None = None,
) -> Histogram:
    """Play `games` games in each world and count the attack's scores.

    Game g of world w draws from a stream made of (seed, w, g) only, and counts are integers: the result is
    bit-identical for every `chunk`, number of `workers` and `devices`, and resume.

    Args:
        game: what is played.
        attack: an `AbstractAttack`, or a function `(target, output) -> scalar` that JAX can trace; higher = "in".
        games: games in EACH world, >= 1, or the `range` of their numbers: runs of disjoint ranges and equal edges add up.
        seed: a whole number in [0, 2^64).
        edges: increasing finite thresholds, in units of the score; None fixes them by a pilot with its own stream.
        fidelity: "literal" plays all n records; "sufficient" draws the output from its exact law; "projected" draws
            the score itself from its exact law, where that has one or two dimensions: the same law, each faster than
            the one before. "auto" takes the cheapest of them that this game and attack have; the manifest says which.
        chunk: games per call, rounded up to whole blocks; None aims at half a second.
        progress: show a progress bar on stderr, if that is a terminal.
        checkpoint: a file to keep partial counts in. If it exists and holds the same run, the run goes on from there.
        workers: threads; None = one per core, or two per device where devices are no CPUs.
        devices: how many of this process's JAX devices the chunks are spread over; None = all of them.
        shard: (i, k) plays only the i-th of k equal shares of the games, i = 0, ..., k - 1. The sum of all k results
            (`Histogram.__add__`) is the result of the whole.

    Returns:
        Counts per bin for both worlds, with the manifest of what was played.

    Raises:
        ValueError: on bad arguments, a NaN score, or a checkpoint that is corrupt or belongs to another run.
        OSError: if the checkpoint cannot be written; an old one stays intact.

    Source: Yeom et al. (2018), experiment 1; Ye et al. (2022), definition 3.3; Azize & Basu (2025), algorithms 1, 2, 5 and 6.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target())
        >>> play(game, mi.CovarianceScore(data, n=10), games=1000).games
        1000
    """
    whole_run, seed = game_range(games), checked_seed(seed)
    index, count = (0, 1) if shard is None else check_shard(shard)
    asked = share(whole_run, index, count)
    fidelity = check_fidelity(fidelity)
    chunk = None if chunk is None else whole("chunk", chunk, 1)
    places = local_devices(devices)
    workers = threads_for(places) if workers is None else whole("workers", workers, 1)
    if not isinstance(game, AbstractGame):
        raise ValueError(f"game is {type(game).__name__}; it must be a game such as FixedTarget")
    if not isinstance(attack, AbstractAttack):
        attack = FunctionAttack(attack)
    given = None if edges is None else checked_edges(edges)
    path = None if checkpoint is None else Path(checkpoint)
    with exact_scope():
        check_shapes(game, attack, fidelity)
        sampler = on_device(build_sampler(game, attack, fidelity))
    thresholds = _pilot(game, attack, sampler, seed) if given is None else given
    manifest = {
        "format": FORMAT,
        "game": describe(game),
        "attack": describe(attack),
        "seed": seed,
        **counted(seed, asked, 0),
        "fidelity": sampler.fidelity,
        "sampler": sampler.name,
        "edges": {**array_digest(thresholds), "source": "pilot" if given is None else "given"},
        "draws": DRAWS,
        "versions": versions(),
        "device": places[0].platform,
    }
    if shard is not None:
        manifest["shard"] = {"index": index, "count": count, "games": [whole_run.start, whole_run.stop]}
    state = resume(path, thresholds, manifest, asked)
    counter = Counter(sampler, thresholds, seed, GAMES, places)
    return _run(counter, attack, state, asked, chunk, workers, progress, path)


def _run(
    counter: Counter,
    attack: AbstractAttack,
    state: Histogram,
    asked: range,
    chunk: int | None,
    workers: int,
    progress: bool,
    path: Path | None,
) -> Histogram:
    title = f"{state.manifest['fidelity']} fidelity ({state.manifest['sampler']})"
    begin = asked.start + state.games
    with progress_line(title, len(asked), state.games, progress) as advance:
        for end, counts in play_range(counter, begin, asked.stop, counter.block, chunk, workers):
            if bad := int(counts[:, -1].sum()):
                raise ValueError(
                    f"attack {name_of(attack)} gave NaN for {bad} of the {2 * (end - begin)} games "
                    f"{begin} to {end - 1} of both worlds; a score must be a number or +-inf"
                )
            begin = end
            state = _add(state, counts, counted(state.manifest["seed"], asked, end - asked.start))
            if path is not None:
                state.save(path)
            advance(state.games)
    return state


def _add(state: Histogram, counts: np.ndarray, progress: dict[str, Any]) -> Histogram:
    return Histogram(
        state.edges,
        state.out + counts[0, :-1],
        state.inside + counts[1, :-1],
        {**state.manifest, **progress},
    )


def _pilot(game: AbstractGame, attack: AbstractAttack, sampler: AbstractSampler, seed: int) -> np.ndarray:
    """Play the pilot and place the thresholds."""
    counter = Counter(sampler, np.zeros(1), seed, PILOT)  # on one device: a pilot is short
    wanted, drawn = pilot_games(game, sampler), []
    for start in range(0, wanted, counter.block):
        counts, scores = counter(start, start + counter.block)
        if bad := int(counts[:, -1].sum()):
            raise ValueError(
                f"attack {name_of(attack)} gave NaN for {bad} of {2 * counter.block} pilot games; "
                "a score must be a number or +-inf"
            )
        drawn.append(scores)
    return pilot_edges(np.concatenate(drawn, axis=1)[:, :wanted])


def checked_seed(seed: object) -> int:
    """Return a seed, a whole number in [0, 2^64), or say that it is none."""
    value = whole("seed", seed, 0)
    if value >= 2**64:
        raise ValueError(f"seed is {value}; it must be a whole number in [0, 2^64)")
    return value


def checked_edges(edges: object) -> np.ndarray:
    """Return increasing finite thresholds, shape (K,), or say what is wrong with them."""
    array = real_array("edges", edges)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"edges has shape {array.shape}; it must be a vector of at least one threshold")
    if not (np.diff(array) > 0).all():
        where = int(np.argmin(np.diff(array)))
        raise ValueError(f"edges falls or stays at index {where + 1}; thresholds must increase strictly")
    return array.copy()
