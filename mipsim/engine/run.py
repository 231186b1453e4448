"""One run of games: its thresholds, its manifests, its counts so far, and the loop that plays it to the end."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._precision import exact_scope
from mipsim._validation import increasing_vector, whole
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.blocks import smaller_block, tell_what_is_drawn
from mipsim.engine.counting import GAMES, PILOT, Counter, CountRange, play_range
from mipsim.engine.devices import Device, local_devices, threads_for
from mipsim.engine.executors import SECONDS_PER_SHARD, Recipe, ShardCounter, check_executor
from mipsim.engine.fidelity import pilot_games
from mipsim.engine.histogram import Histogram
from mipsim.engine.manifest import DRAWS, FORMAT, array_digest, describe, game_range, versions
from mipsim.engine.memory import WORTH_A_LOOK, fitting
from mipsim.engine.pilot import LONG_PILOT, PILOT_RULE, pilot_edges, pilot_shares
from mipsim.engine.progress import progress_line
from mipsim.engine.resuming import counted, resume, store, stored_counts
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.literal import LiteralSampler
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame


@dataclass(frozen=True)
class Column:
    """What one score of every game is: the game as this score sees it, the attack, and what else its manifest says."""

    game: AbstractGame
    attack: AbstractAttack
    also: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Run:
    """What is asked of a run, checked; a run of one attack is the case of one column.

    Attributes:
        asked: the numbers of the games to play.
        seed: in [0, 2^64).
        edges: the thresholds of every column, or None for a pilot's.
        executor: where shards are played, or None for this process; with the recipe of the sampler.
        remote_slots: shards in flight, or None for what the executor says.
        source: what manifests say of thresholds that are given: where they are from.
        chunk: games per call, or None.
        progress: whether to show a bar.
        workers: threads.
        devices: where to play.
        path: the checkpoint of a run of one column, or None.
        shard: what the manifest says of the part that this run is of a larger one, or None.
    """

    asked: range
    seed: int
    edges: np.ndarray | None
    chunk: int | None
    progress: bool
    workers: int
    devices: Sequence[Device]
    path: Path | None = None
    shard: dict[str, Any] | None = None
    executor: tuple[Any, Recipe] | None = None
    remote_slots: int | None = None
    source: Mapping[str, Any] = field(default_factory=lambda: {"source": "given"})

    @classmethod
    def checked(
        cls,
        games: object,
        seed: object,
        edges: object,
        chunk: object,
        progress: bool,
        workers: object,
        devices: Any = None,
    ) -> "Run":
        """What `play` and its kin take, checked before any work is done.

        Raises:
            ValueError: naming the argument.
        """
        asked, places = game_range(games), local_devices(devices)
        source: Mapping[str, Any] = {"source": "given"}
        if isinstance(edges, Histogram):
            source, edges = edges.manifest.get("edges", source), edges.edges
        return cls(
            asked,
            checked_seed(seed),
            None if edges is None else increasing_vector("edges", edges).copy(),
            None if chunk is None else whole("chunk", chunk, 1),
            progress,
            threads_for(places) if workers is None else whole("workers", workers, 1),
            places,
            source=source,
        )

    def play(self, sampler: AbstractSampler, columns: Sequence[Column]) -> list[Histogram]:
        """Play the games that are not yet counted and return the counts of every column.

        Args:
            sampler: draws the scores of all columns; its leaves must be JAX arrays.
            columns: what they are.

        Raises:
            ValueError: on a NaN score, or a checkpoint that is corrupt or belongs to another run.
            OSError: if the checkpoint cannot be written.
        """
        sampler = self.sized(sampler, columns[0].game)
        workers = self.workers if self.executor else self._workers(sampler, columns)
        stored = stored_counts(self.path)
        self._announce(sampler, columns[0].game, stored)
        placed = self._thresholds(sampler, columns, stored)
        edges = [own for own, _ in placed]
        begun = [
            resume(self.path, stored, own, self._manifest(sampler, column, own, said), self.asked)
            for column, (own, said) in zip(columns, placed, strict=True)
        ]
        counting, workers, how = self._counting(sampler, edges, workers)
        counts = np.zeros((2, len(edges), max(map(len, edges)) + 2), np.int64)
        done, begin = begun[0].games, self.asked.start + begun[0].games
        title = f"{sampler.fidelity} fidelity ({sampler.name})"
        span = counting.span if isinstance(counting, Counter) else sampler.block
        ways = counting, begin, self.asked.stop, span, self.chunk, workers
        with (
            progress_line(title, len(self.asked), done, self.progress) as advance,
            closing(play_range(*ways, **how)) as chunks,
        ):
            for end, more in chunks:
                of = f"of the {2 * (end - begin)} games {begin} to {end - 1} of both worlds"
                _refuse_nan(more, columns, of, sampler, (self.seed, GAMES, range(begin, end)))
                counts, begin, done = counts + more, end, end - self.asked.start
                if self.path is not None:
                    store(self.path, self._added(begun[0], counts[:, 0], done))
                advance(done)
        return [self._added(state, counts[:, i], done) for i, state in enumerate(begun)]

    def sized(self, sampler: AbstractSampler, game: AbstractGame) -> AbstractSampler:
        """The sampler with a block that suits the number of games."""
        if not isinstance(game, AbstractMembershipGame):
            return sampler
        return smaller_block(sampler, len(self.asked), game.data.dimension)

    def on(self, executor: object, workers: object, recipe: Recipe) -> "Run":
        """The same run on an executor, or as it is where that is None.

        Raises:
            ValueError: if it is no executor.
        """
        if executor is None:
            return self
        check_executor(executor)
        return replace(
            self, executor=(executor, recipe), remote_slots=None if workers is None else self.workers
        )

    def _counting(
        self, sampler: AbstractSampler, edges: list[np.ndarray], workers: int
    ) -> tuple[CountRange, int, dict[str, Any]]:
        """What counts a range of games, how many ranges at once, and how `play_range` treats it."""
        if self.executor is None:
            return Counter(sampler, edges, self.seed, GAMES, self.devices), workers, {}
        executor, recipe = self.executor
        remote = ShardCounter(executor, recipe, sampler, edges, self.seed)
        how = {"seconds": SECONDS_PER_SHARD, "end_waits": remote.stop}
        return remote, self.remote_slots or remote.slots(), how

    def _workers(self, sampler: AbstractSampler, columns: Sequence[Column]) -> int:
        """As many threads as there is memory for; literal games hold all their records."""
        game = columns[0].game
        with exact_scope():  # some data tell their size by float64 arrays
            least = 8.0 * game.numbers * sampler.together
        if sampler.fidelity != "literal" or least <= WORTH_A_LOOK:
            return self.workers
        what = f"{sampler.fidelity} fidelity ({sampler.name}) with {game.numbers:,} numbers a game"
        whole = isinstance(sampler, LiteralSampler) and not (
            self.devices[0].platform == "cpu" and sampler.is_separable
        )
        if whole:
            fitting(least, what, 1, self.devices[0])  # what no compiler need be asked for
        needed = Counter(sampler, [np.zeros(1)] * len(columns), self.seed).needs()
        # Beside what the compiler says, the library that adds up large arrays on a CPU takes a copy of them.
        needed += least if whole else 0.0
        return fitting(max(1, needed), what, self.workers, self.devices[0])

    def _announce(self, sampler: AbstractSampler, game: AbstractGame, stored: dict[str, Any] | None) -> None:
        """Say what a long run of literal games will draw, on this machine's own cores."""
        if sampler.fidelity == "literal" and self.executor is None and self.devices[0].platform == "cpu":
            left = len(self.asked) - (0 if stored is None else int(stored["out"].sum()))
            pilot = pilot_games(game, sampler) if stored is None and self.edges is None else 0
            with exact_scope():
                numbers = game.numbers
            tell_what_is_drawn(numbers, left, pilot)

    def _added(self, state: Histogram, counts: np.ndarray, done: int) -> Histogram:
        cells = state.edges.size + 1
        out, inside = state.out + counts[0, :cells], state.inside + counts[1, :cells]
        return Histogram(state.edges, out, inside, {**state.manifest, **counted(self.seed, self.asked, done)})

    def _manifest(
        self, sampler: AbstractSampler, column: Column, edges: np.ndarray, said: dict[str, Any]
    ) -> dict[str, Any]:
        manifest = {
            "format": FORMAT,
            "game": describe(column.game),
            "attack": describe(column.attack),
            **dict(column.also),
            "seed": self.seed,
            **counted(self.seed, self.asked, 0),
            "fidelity": sampler.fidelity,
            "sampler": sampler.name,
            "edges": said | array_digest(edges),
            "draws": DRAWS,
            "versions": versions(),
            "device": self.devices[0].platform,
        }
        return manifest if self.shard is None else manifest | {"shard": self.shard}

    def _thresholds(
        self, sampler: AbstractSampler, columns: Sequence[Column], stored: dict[str, Any] | None
    ) -> list[tuple[np.ndarray, dict[str, Any]]]:
        """The thresholds of every column, and what its manifest says of how they were placed.

        They are those that were given; those of the checkpoint, if a pilot placed them, whatever its rule was then; else the
        pilot is played and places them. Its games are the same for every seed: runs of different seeds can be added.
        """
        if self.edges is not None:
            return [(self.edges, dict(self.source))] * len(columns)
        said = {} if stored is None else stored["manifest"].get("edges", {})
        if stored is not None and said.get("source") == "pilot":
            return [(stored["edges"], said)]
        counter = Counter(sampler, [np.zeros(1)] * len(columns), 0, PILOT)  # on one device: a pilot is short
        wanted, drawn = pilot_games(columns[0].game, sampler), []
        with exact_scope():
            long = sampler.fidelity == "literal" and wanted * columns[0].game.numbers > LONG_PILOT
        with progress_line(
            "pilot, which places the thresholds", wanted, 0, self.progress and long
        ) as advance:
            for start in range(0, wanted, counter.span):
                own = range(start, start + counter.span)
                counts, scores = counter(own.start, own.stop)
                _refuse_nan(counts, columns, f"of {2 * len(own)} pilot games", sampler, (0, PILOT, own))
                drawn.append(scores)
                advance(min(own.stop, wanted))
        scores = np.concatenate(drawn, axis=2)[:, :, :wanted]
        placed = []
        for own in scores.transpose(1, 0, 2):
            edges = pilot_edges(own)
            shares = pilot_shares(own, edges)
            said = {"source": "pilot", "rule": PILOT_RULE} | ({} if shares is None else {"shares": shares})
            placed.append((edges, said))
        return placed


def _refuse_nan(
    counts: np.ndarray,
    columns: Sequence[Column],
    of: str,
    sampler: AbstractSampler,
    played: tuple[int, int, range],
) -> None:
    """Raise ValueError if some score is NaN: of the mechanism if its outputs are, else of the attack."""
    bad = counts[:, :, -1].sum(axis=0)
    if not bad.any():
        return
    column = columns[int(np.argmax(bad > 0))]
    if found := sampler.nan_outputs(*played):
        raise ValueError(
            f"mechanism {name_of(column.game.mechanism)} gave NaN for {found} {of}; an output must hold numbers or +-inf"
        )
    raise ValueError(
        f"attack {name_of(column.attack)} gave NaN for {bad[bad > 0][0]} {of}; a score must be a number or +-inf"
    )


def checked_seed(seed: object) -> int:
    """Return a seed, a whole number in [0, 2^64), or say that it is none."""
    value = whole("seed", seed, 0)
    if value >= 2**64:
        raise ValueError(f"seed is {value}; it must be a whole number in [0, 2^64)")
    return value
