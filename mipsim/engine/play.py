"""`play`: games by the million, counted on edges fixed before the run."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from mipsim._validation import one_of, real_array, whole
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.function import FunctionAttack
from mipsim.engine.checkpoint import read_counts
from mipsim.engine.counting import GAMES, PILOT, Counter, on_device
from mipsim.engine.drive import cores, play_range
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import DRAWS, array_digest, describe, versions
from mipsim.engine.pilot import pilot_edges
from mipsim.engine.precision import exact_scope
from mipsim.engine.progress import progress_line
from mipsim.engine.routes import ROUTES, build_sampler, check_shapes, choose_route, name_of, pilot_games
from mipsim.engine.sampler import AbstractSampler
from mipsim.games.base import AbstractGame

_IDENTITY = ("game", "attack", "seed", "route", "sampler", "edges", "draws")


def play(
    game: AbstractGame,
    attack: AbstractAttack | Callable[..., Any],
    games: int,
    seed: int = 0,
    *,
    edges: object = None,
    route: str = "auto",
    chunk: int | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    workers: int | None = None,
) -> Histogram:
    """Play `games` games in each world and count the attack's scores.

    Game g of world w draws from a stream made of (seed, w, g) only, and counts are integers: the result is
    bit-identical for every `chunk`, number of `workers` and resume.

    Args:
        game: what is played.
        attack: an `AbstractAttack`, or a function `(target, output) -> scalar` that JAX can trace; higher = "in".
        games: games in EACH world, >= 1.
        seed: a whole number in [0, 2^64).
        edges: increasing finite thresholds, in units of the score; None fixes them by a pilot with its own stream.
        route: "literal" plays all n records; "sufficient" draws the output from its exact law (same law, much faster);
            "auto" takes "sufficient" where the game has it.
        chunk: games per call, rounded up to whole blocks; None aims at half a second.
        progress: show a progress bar on stderr, if that is a terminal.
        checkpoint: a file to keep partial counts in. If it exists and holds the same run, the run goes on from there.
        workers: threads; None = one per core.

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
    games, seed = whole("games", games, 1), _seed(seed)
    one_of("route", route, ROUTES)
    chunk = None if chunk is None else whole("chunk", chunk, 1)
    workers = cores() if workers is None else whole("workers", workers, 1)
    if not isinstance(game, AbstractGame):
        raise ValueError(f"game is {type(game).__name__}; it must be a game such as FixedTarget")
    if not isinstance(attack, AbstractAttack):
        attack = FunctionAttack(attack)
    given = None if edges is None else _edges(edges)
    chosen = choose_route(game, route)
    path = None if checkpoint is None else Path(checkpoint)
    with exact_scope():
        check_shapes(game, attack, chosen)
        sampler = on_device(build_sampler(game, attack, chosen))
    thresholds = _pilot(game, attack, sampler, seed) if given is None else given
    manifest = {
        "format": 1,
        "game": describe(game),
        "attack": describe(attack),
        "seed": seed,
        "games": 0,
        "runs": [[seed, 0, 0]],
        "route": chosen,
        "sampler": sampler.name,
        "edges": {**array_digest(thresholds), "source": "pilot" if given is None else "given"},
        "draws": DRAWS,
        "versions": versions(),
        "device": jax.default_backend(),
    }
    start = _resume(path, thresholds, manifest, games)
    return _run(
        Counter(sampler, thresholds, seed, GAMES), attack, start, games, chunk, workers, progress, path
    )


def _run(
    counter: Counter,
    attack: AbstractAttack,
    state: Histogram,
    games: int,
    chunk: int | None,
    workers: int,
    progress: bool,
    path: Path | None,
) -> Histogram:
    title = f"{state.manifest['route']} route ({state.manifest['sampler']})"
    with progress_line(title, games, state.games, progress) as advance:
        for done, counts in play_range(counter, state.games, games, counter.block, chunk, workers):
            if bad := int(counts[:, -1].sum()):
                raise ValueError(
                    f"attack {name_of(attack)} gave NaN for {bad} of the {2 * (done - state.games)} games "
                    f"{state.games} to {done - 1} of both worlds; a score must be a number or +-inf"
                )
            state = _add(state, counts, done)
            if path is not None:
                state.save(path)
            advance(done)
    return state


def _add(state: Histogram, counts: np.ndarray, done: int) -> Histogram:
    manifest = {**state.manifest, "games": done, "runs": [[state.manifest["seed"], 0, done]]}
    return Histogram(state.edges, state.out + counts[0, :-1], state.inside + counts[1, :-1], manifest)


def _pilot(game: AbstractGame, attack: AbstractAttack, sampler: AbstractSampler, seed: int) -> np.ndarray:
    """Play the pilot and place the thresholds."""
    counter = Counter(sampler, np.zeros(1), seed, PILOT)
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


def _resume(path: Path | None, edges: np.ndarray, manifest: dict[str, Any], games: int) -> Histogram:
    """The counts to go on from: those of the checkpoint if there is one, else none."""
    nothing = np.zeros(edges.size + 1, dtype=np.int64)
    fresh = Histogram(edges, nothing, nothing.copy(), manifest)
    if path is None:
        return fresh
    if not path.exists():
        fresh.save(path)  # an unwritable folder must show before any work
        return fresh
    stored = read_counts(path)
    found = stored["manifest"]
    for part in (*_IDENTITY, "versions"):
        mine, theirs = manifest[part], found.get(part)
        if part == "versions":  # random streams belong to a version of mipsim and of jax
            mine, theirs = ({k: (v or {}).get(k) for k in ("mipsim", "jax")} for v in (mine, theirs))
        if mine != theirs:
            raise ValueError(
                f"checkpoint {path} belongs to another run: its {part} differs; name another file"
            )
    if found["games"] > games:
        raise ValueError(
            f"checkpoint {path} holds {found['games']} games, more than the {games} asked; load it instead"
        )
    return Histogram(
        edges, stored["out"], stored["inside"], {**manifest, **{k: found[k] for k in ("games", "runs")}}
    )


def _seed(seed: object) -> int:
    value = whole("seed", seed, 0)
    if value >= 2**64:
        raise ValueError(f"seed is {value}; it must be a whole number in [0, 2^64)")
    return value


def _edges(edges: object) -> np.ndarray:
    array = real_array("edges", edges)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"edges has shape {array.shape}; it must be a vector of at least one threshold")
    if not (np.diff(array) > 0).all():
        where = int(np.argmin(np.diff(array)))
        raise ValueError(f"edges falls or stays at index {where + 1}; thresholds must increase strictly")
    return array.copy()
