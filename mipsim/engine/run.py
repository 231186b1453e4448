"""A run of games: its thresholds, its manifests, its counts so far, and the loop that plays it to the end."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._family import runs_users_code
from mipsim._precision import exact_scope, run_in
from mipsim._progress import progress_line
from mipsim.attacks.base import AbstractAttack
from mipsim.engine.checkpoint import DRAWS, FORMAT, counted, resume, store, stored_counts
from mipsim.engine.counting import GAMES, PILOT, Counter, CountRange, play_range
from mipsim.engine.describe import array_digest, describe, versions
from mipsim.engine.executors import SECONDS_PER_SHARD, Recipe, ShardCounter
from mipsim.engine.fidelity import check_shapes, pilot_games
from mipsim.engine.histogram import Histogram
from mipsim.engine.memory import WORTH_A_LOOK, fitting
from mipsim.engine.options import Options
from mipsim.engine.pilot import LONG_PILOT, PILOT_RULE, pilot_edges, pilot_shares
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.literal import LiteralSampler
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractGame, AbstractMembershipGame

LONG_BLOCK = 2**28
"""Numbers of a block that take longer, about half a second in each world, than to compile code for another block."""
_LEAST = 1024  # games: a coordinate's part of the loop takes as long for fewer


@dataclass(frozen=True)
class Column:
    """What a single score of every game is: the game as this score sees it, the attack, and what else its manifest says."""

    game: AbstractGame
    attack: AbstractAttack
    also: tuple[tuple[str, Any], ...] = ()
    # the file of its counts, or None; those of a run hold the same number of games
    checkpoint: Path | None = None


@dataclass(frozen=True)
class Run:
    """A run that is ready to be played; a run of a single attack is the case of a single column."""

    options: Options  # what it is to do
    sampler: AbstractSampler  # draws the scores of all columns; its leaves must be JAX arrays
    columns: Sequence[Column]  # what they are
    # what workers of an executor build the sampler from, or None where there are none
    recipe: Recipe | None = None

    def play(self) -> list[Histogram]:
        """Play the games that are not yet counted and return the counts of every column.
        Raises ValueError on a NaN score, or a checkpoint that is corrupt or belongs to another run; OSError if the
        checkpoint cannot be written.
        """
        options, columns = self.options, self.columns
        sampler = self._sized()
        workers = options.threads if options.executor is not None else self._workers(sampler)
        stored = [stored_counts(column.checkpoint) for column in columns]
        placed = self._thresholds(sampler, stored)
        edges = [own for own, _ in placed]
        begun = [
            Histogram(
                **resume(
                    column.checkpoint, held, own, self._manifest(sampler, column, own, text), options.games
                )
            )
            for column, held, (own, text) in zip(columns, stored, placed, strict=True)
        ]
        if len({counts.games for counts in begun}) > 1:
            raise ValueError(
                "checkpoints of one run hold different numbers of games: another process writes them; start it again when that has ended"
            )
        until, looks = options.until, () if options.until is None else options.until.looks(options.games)
        counting, workers, how = self._counting(sampler, edges, workers)
        counts = np.zeros((2, len(edges), max(map(len, edges)) + 2), np.int64)
        first = options.games.start
        done, begin = begun[0].games, first + begun[0].games
        title = f"{sampler.fidelity} fidelity ({sampler.name})"
        span = counting.span if isinstance(counting, Counter) else sampler.block

        def decided() -> bool:
            return (
                until is not None
                and begin in looks
                and until.decides(self._added(begun[0], counts[:, 0], done))
            )

        stop = begin if decided() else options.games.stop  # by an earlier run
        ways = counting, begin, stop, span, options.chunk, workers
        with (
            progress_line(title, len(options.games), done, options.progress, until is not None) as advance,
            closing(play_range(*ways, **how, looks=looks)) as chunks,
        ):
            for end, more in chunks:
                of = f"of the {2 * (end - begin)} games {begin} to {end - 1} of both worlds"
                _refuse_nan(more, columns, of, sampler, (options.seed, GAMES, range(begin, end)))
                counts, begin, done = counts + more, end, end - first
                for i, column in enumerate(columns):
                    if column.checkpoint is not None:
                        store(column.checkpoint, vars(self._added(begun[i], counts[:, i], done)))
                advance(done)
                if decided():
                    break
        return [self._added(state, counts[:, i], done) for i, state in enumerate(begun)]

    def _sized(self) -> AbstractSampler:
        """The sampler with a block that suits the number of games: scores of samplers that allow it do not depend on it."""
        sampler, game = self.sampler, self.columns[0].game
        long = isinstance(game, AbstractMembershipGame) and sampler.block * game.data.dimension >= LONG_BLOCK
        if not (long and sampler.any_block):
            return sampler
        enough = 1 << (max(len(self.options.games), _LEAST) - 1).bit_length()
        return replace(sampler, block=min(sampler.block, enough))

    def _counting(
        self, sampler: AbstractSampler, edges: list[np.ndarray], workers: int
    ) -> tuple[CountRange, int, dict[str, Any]]:
        """What counts a range of games, how many ranges at once, and how `play_range` treats it."""
        options = self.options
        if options.executor is None or self.recipe is None:
            return Counter(sampler, edges, options.seed, GAMES, options.devices), workers, {}
        remote = ShardCounter(options.executor, self.recipe, sampler, edges, options.seed)
        how = {"seconds": SECONDS_PER_SHARD, "end_waits": remote.stop}
        return remote, options.workers or remote.slots(), how

    def _workers(self, sampler: AbstractSampler) -> int:
        """As many threads as there is memory for; literal games hold all their records."""
        game, threads, device = self.columns[0].game, self.options.threads, self.options.devices[0]
        with exact_scope():  # some data tell their size by float64 arrays
            least = 8.0 * game.numbers * sampler.together
        if sampler.fidelity != "literal" or least <= WORTH_A_LOOK:
            return threads
        what = f"{sampler.fidelity} fidelity ({sampler.name}) with {game.numbers:,} numbers a game"
        whole = isinstance(sampler, LiteralSampler) and not (
            device.platform == "cpu" and sampler.is_separable
        )
        if whole:
            fitting(least, what, 1, device)  # what needs no compiler
        needed = Counter(sampler, [np.zeros(1)] * len(self.columns), self.options.seed).needs()
        # Beside what the compiler says, the library that adds up large arrays on a CPU takes a copy of them.
        needed += least if whole else 0.0
        return fitting(max(1, needed), what, threads, device)

    def _added(self, state: Histogram, counts: np.ndarray, done: int) -> Histogram:
        cells = state.edges.size + 1
        out, inside = state.out + counts[0, :cells], state.inside + counts[1, :cells]
        return Histogram(
            state.edges,
            out,
            inside,
            {**state.manifest, **counted(self.options.seed, self.options.games, done)},
        )

    def _manifest(
        self, sampler: AbstractSampler, column: Column, edges: np.ndarray, edge_facts: dict[str, Any]
    ) -> dict[str, Any]:
        options = self.options
        manifest = {
            "format": FORMAT,
            "game": describe(column.game),
            "attack": describe(column.attack),
            **dict(column.also),
            "seed": options.seed,
            **counted(options.seed, options.games, 0),
            "fidelity": sampler.fidelity,
            "sampler": sampler.name,
            "edges": edge_facts | array_digest(edges),
            "draws": DRAWS,
            "versions": versions(),
            "device": options.devices[0].platform,
        }
        if runs_users_code((column.game, column.attack)):
            manifest["precision"] = options.precision
        if options.until is not None:
            manifest["until"] = options.until.manifest()
        return manifest if options.shard is None else manifest | {"shard": options.shard}

    def _thresholds(
        self, sampler: AbstractSampler, stored: Sequence[dict[str, Any] | None]
    ) -> list[tuple[np.ndarray, dict[str, Any]]]:
        """The thresholds of every column, and what its manifest says of how they were placed.

        They are those that were given; those of the checkpoints, if a pilot placed them, whatever its rule was then; else the
        pilot is played and places them. Its games are the same for every seed: runs of different seeds can be added.
        """
        options, columns = self.options, self.columns
        if options.edges is not None:
            return [(options.edges, dict(options.source))] * len(columns)
        held = [(own["edges"], own["manifest"].get("edges", {})) for own in stored if own is not None]
        if len(held) == len(columns) and all(text.get("source") == "pilot" for _, text in held):
            return held
        # A pilot is short: a single device plays it.
        counter = Counter(sampler, [np.zeros(1)] * len(columns), 0, PILOT)
        wanted, sample = pilot_games(columns[0].game, sampler), []
        with exact_scope():
            long = sampler.fidelity == "literal" and wanted * columns[0].game.numbers > LONG_PILOT
        with progress_line(
            "pilot, which places the thresholds", wanted, 0, options.progress and long
        ) as advance:
            for start in range(0, wanted, counter.span):
                own = range(start, start + counter.span)
                counts, scores = counter(own.start, own.stop)
                _refuse_nan(counts, columns, f"of {2 * len(own)} pilot games", sampler, (0, PILOT, own))
                sample.append(scores)
                advance(min(own.stop, wanted))
        scores = np.concatenate(sample, axis=2)[:, :, :wanted]
        placed = []
        for own in scores.transpose(1, 0, 2):
            edges = pilot_edges(own)
            shares = pilot_shares(own, edges)
            text = {"source": "pilot", "rule": PILOT_RULE} | ({} if shares is None else {"shares": shares})
            if options.until is not None:  # narrower intervals are worth a larger manifest there
                text["counts"] = [
                    np.bincount(np.searchsorted(edges, world), minlength=edges.size + 1).tolist()
                    for world in own
                ]
            placed.append((edges, text))
        return placed


def play_attacks(
    options: Options, game: AbstractGame, attacks: Sequence[AbstractAttack], *, stacked: bool = False
) -> list[Histogram]:
    """Play a game and count the scores of each attack; `stacked`: whether they are those of `play_many`."""
    with run_in(options.precision):
        with exact_scope():
            for attack in attacks:
                check_shapes(game, attack, options.fidelity)
        recipe = Recipe(game, tuple(attacks), options.fidelity, options.precision, stacked)
        columns = [Column(game, attack, checkpoint=options.checkpoint) for attack in attacks]
        return Run(options, recipe.sampler(), columns, recipe).play()


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
    if result := sampler.nan_outputs(*played):
        raise ValueError(
            f"mechanism {name_of(column.game.mechanism)} gave NaN for {result} {of}; an output must hold numbers or +-inf"
        )
    raise ValueError(
        f"attack {name_of(column.attack)} gave NaN for {bad[bad > 0][0]} {of}; a score must be a number or +-inf"
    )
