"""What a run is to do, checked once: the arguments that `play`, `play_many` and `play_targets` share."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._precision import users_precision
from mipsim._validation import choice, file_path, flag, increasing_vector, whole
from mipsim._words import quoted
from mipsim.engine.devices import Device, local_devices, threads_for
from mipsim.engine.executors import check_executor
from mipsim.engine.fidelity import check_fidelity
from mipsim.engine.histogram import Histogram
from mipsim.engine.until import Until

MOST_NUMBERS = 2**62
"""Of games: an int64 holds the end of their last block."""


@dataclass(frozen=True)
class Options:
    """The arguments of a run, checked; none of them but games, seed, edges, fidelity and precision changes a count."""

    games: range  # the numbers of the games to play
    seed: int  # in [0, 2^64)
    edges: np.ndarray | None  # the thresholds of every column, or None for a pilot's
    source: Mapping[str, Any]  # what manifests say of thresholds that are given: where they are from
    fidelity: str  # as in `play`
    precision: str  # of the user's functions
    chunk: int | None  # games per call, or None
    progress: bool  # whether to show a bar
    workers: int | None  # threads, or shards in flight on an executor; None for what suits the machine
    devices: Sequence[Device]  # where to play
    checkpoint: Path | None  # the file of a run of a single attack, or None
    # what the manifest says of the part that this run is of a larger run, or None
    shard: dict[str, Any] | None
    executor: Any  # where shards are played, or None for this process
    until: Until | None = None  # what ends the run before its last game, or None

    @classmethod
    def checked(
        cls,
        games: object,
        seed: object,
        *,
        edges: object = None,
        fidelity: object = "auto",
        fidelities: Sequence[str] = (),
        precision: object = None,
        chunk: object = None,
        progress: bool = True,
        workers: object = None,
        devices: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        shard: object = None,
        executor: object = None,
        until: object = None,
    ) -> "Options":
        """Check the arguments of `play`, before any work is done; `fidelities` are those that are allowed, where not all are.
        Raises ValueError naming the argument.
        """
        requested, places = game_range(games), local_devices(devices)
        source: Mapping[str, Any] = {"source": "given"}
        if isinstance(edges, Histogram):
            source, edges = edges.manifest.get("edges", source), edges.edges
        text = None
        options = {
            "seed": checked_seed(seed),
            "edges": None if edges is None else increasing_vector("edges", edges).copy(),
            "chunk": None if chunk is None else whole("chunk", chunk, 1),
            "workers": None if workers is None else whole("workers", workers, 1),
            "checkpoint": None if checkpoint is None else file_path("checkpoint", checkpoint),
        }
        if shard is not None:
            index, count = check_shard(shard)
            text = {"index": index, "count": count, "games": [requested.start, requested.stop]}
            requested = shard_of(requested, index, count)
        chosen = choice("fidelity", fidelity, fidelities) if fidelities else check_fidelity(fidelity)
        if until is not None and shard is not None:
            raise ValueError(
                f"shard is {shard} beside until; it must be None then, since a shard does not know when the others' games decide"
            )
        if executor is not None:
            check_executor(executor)
        return cls(
            games=requested,
            source=source,
            fidelity=chosen,
            precision=users_precision(precision),
            progress=flag("progress", progress),
            devices=places,
            shard=text,
            executor=executor,
            until=None if until is None else Until.checked(until),
            **options,
        )

    @property
    def threads(self) -> int:
        """How many threads play in this process."""
        return self.workers or threads_for(self.devices)


def checked_seed(seed: object) -> int:
    """Return a seed, a whole number in [0, 2^64), or say that it is none."""
    return whole("seed", seed, 0, 2**64 - 1)


def game_range(games: object) -> range:
    """The numbers of the games to play: 0, ..., games - 1, or a given `range` of numbers >= 0 with step 1.
    >>> game_range(1e3), game_range(range(500, 1000))
    (range(0, 1000), range(500, 1000))
    """
    requested = games if isinstance(games, range) else range(whole("games", games, 1))
    if requested.step != 1 or requested.start < 0 or requested.stop < requested.start:
        raise ValueError(
            f"games is {quoted(games)}; a range of games must have step 1 and begin at 0 or later"
        )
    if requested.stop > MOST_NUMBERS:
        raise ValueError(f"games is {quoted(games)}; their numbers must be below 2^62")
    return requested


def shard_of(games: range, index: int, count: int) -> range:
    """Shard `index` of the `count` contiguous shards of a range of games; their sizes differ by at most 1 game."""
    cuts = [games.start + len(games) * i // count for i in (index, index + 1)]
    return range(*cuts)


def check_shard(shard: object) -> tuple[int, int]:
    """Return (index, count) if 0 <= index < count."""
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise ValueError(f"shard is {quoted(shard)}; it must be a pair (i, k) with 0 <= i < k")
    index, count = whole("i of shard", shard[0], 0), whole("k of shard", shard[1], 1)
    if index >= count:
        raise ValueError(
            f"shard is {quoted(index)}/{quoted(count)}; i must be below k: shards are numbered from 0"
        )
    return index, count
