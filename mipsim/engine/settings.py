"""How games are played, checked once: what `play`, `play_many` and `play_targets` take besides what is played."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from mipsim._validation import file_path, flag, increasing_vector, whole
from mipsim._words import quoted
from mipsim.engine.devices import local_devices, threads_for
from mipsim.engine.executors import check_executor
from mipsim.engine.histogram import Histogram
from mipsim.engine.until import Until

MOST_NUMBERS = 2**62
"""Of games: an int64 holds the end of their last block."""


@dataclass(frozen=True)
class Settings:
    """The arguments of a run, as the user gives them; here they are checked. None but games, seed and edges changes a count.

    Raises ValueError naming the argument.
    """

    games: Any  # becomes the range of their numbers, of a shard only its own
    seed: int = 0  # in [0, 2^64)
    _: KW_ONLY
    edges: Any = None  # becomes the thresholds of every column as an array, or None for a pilot's
    chunk: int | None = None  # games per call
    progress: bool = True  # whether to show a line
    workers: int | None = None  # threads, or shards in flight on an executor; None for what suits the machine
    devices: Any = None  # becomes the list of where to play
    checkpoint: Any = None  # becomes the path of the file of a run of a single attack
    shard: Any = None  # becomes what the manifest says of the part that this run is of a larger run
    executor: Any = None  # where shards are played, or None for this process
    until: Any = None  # becomes the `Until` that ends the run before its last game
    # what manifests say of thresholds that are given: where they are from
    source: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        games, edges, source = game_range(self.games), self.edges, {"source": "given"}
        shard, until = self.shard, self.until
        if isinstance(edges, Histogram):
            source, edges = edges.manifest.get("edges", source), edges.edges
        checked = {
            "devices": local_devices(self.devices),
            "seed": whole("seed", self.seed, 0, 2**64 - 1),
            "edges": None if edges is None else increasing_vector("edges", edges).copy(),
            "source": source,
            "chunk": None if self.chunk is None else whole("chunk", self.chunk, 1),
            "workers": None if self.workers is None else whole("workers", self.workers, 1),
            "checkpoint": None if self.checkpoint is None else file_path("checkpoint", self.checkpoint),
            "progress": flag("progress", self.progress),
        }
        if shard is not None:
            index, count = check_shard(shard)
            checked["shard"] = {"index": index, "count": count, "games": [games.start, games.stop]}
            games = shard_of(games, index, count)
        if until is not None and shard is not None:
            raise ValueError(
                f"shard is {shard} beside until; it must be None then, since a shard does not know when the others' games decide"
            )
        if self.executor is not None:
            check_executor(self.executor)
        checked |= {"games": games, "until": None if until is None else Until.checked(until)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def threads(self) -> int:
        """How many threads play in this process."""
        return self.workers or threads_for(self.devices)


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
