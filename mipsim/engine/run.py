"""A run of games: its thresholds, its manifests, its counts so far, and the loop that plays it to the end."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from mipsim._family import runs_users_code
from mipsim._precision import exact_scope, run_in
from mipsim._progress import progress_line
from mipsim.engine.checkpoint import DRAWS, FORMAT, counted, resume, store, stored_counts
from mipsim.engine.counting import GAMES, PILOT, Counter, play_range
from mipsim.engine.describe import array_digest, describe, versions
from mipsim.engine.executors import ShardCounter
from mipsim.engine.histogram import Histogram
from mipsim.engine.memory import WORTH_A_LOOK, fitting
from mipsim.engine.pilot import LONG_PILOT, PILOT_RULE, pilot_edges, pilot_shares
from mipsim.engine.recipe import Column, Recipe
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.literal import LiteralSampler
from mipsim.engine.settings import Settings
from mipsim.forms.score import name_of
from mipsim.games.base import AbstractMembershipGame

LONG_BLOCK = 2**28
"""Numbers of a block that take longer, about half a second in each world, than to compile code for another block."""
_LEAST = 1024  # games: a coordinate's part of the loop takes as long for fewer


class Run:
    """Games that are to be played and counted; a run of a single attack is the case of a single column.

    `settings`: how they are played; `recipe`: what is played; `columns`: what the scores are, where they are not those of the recipe.
    """

    def __init__(self, settings: Settings, recipe: Recipe, columns: Sequence[Column] | None = None) -> None:
        self._settings, self._recipe = settings, recipe
        self._columns = recipe.columns(settings.checkpoint) if columns is None else columns
        with run_in(recipe.precision):
            self._sampler = self._sized(recipe.sampler())

    def play(self) -> list[Histogram]:
        """Play the games that are not yet counted and return the counts of every column.
        Raises ValueError on a NaN score, or a checkpoint that is corrupt or belongs to another run; OSError if the
        checkpoint cannot be written.
        """
        with run_in(self._recipe.precision):
            return self._play()

    def _play(self) -> list[Histogram]:
        settings, sampler, workers, totals = self._settings, self._sampler, self._workers(), self._begun()
        edges, first = [counts.edges for counts in totals], settings.games.start
        if settings.executor is None:
            counter = Counter(sampler, edges, settings.seed, GAMES, settings.devices)
        else:
            counter = ShardCounter(settings.executor, self._recipe, sampler, edges, settings.seed)
            workers = settings.workers or counter.slots()
        until, looks = settings.until, () if settings.until is None else settings.until.looks(settings.games)
        begin = first + totals[0].games

        def decided() -> bool:
            return until is not None and begin in looks and until.decides(totals[0])

        stop = begin if decided() else settings.games.stop  # by an earlier run
        title, sooner = f"{sampler.fidelity} fidelity ({sampler.name})", until is not None
        with (
            progress_line(title, len(settings.games), begin - first, settings.progress, sooner) as advance,
            closing(play_range(counter, begin, stop, settings.chunk, workers, looks)) as chunks,
        ):
            for end, more in chunks:
                of = f"of the {2 * (end - begin)} games {begin} to {end - 1} of both worlds"
                self._refuse_nan(more, of, settings.seed, GAMES, range(begin, end))
                begin, now = end, counted(settings.seed, settings.games, end - first)
                totals = [_added(counts, more[:, i], now) for i, counts in enumerate(totals)]
                for column, counts in zip(self._columns, totals, strict=True):
                    if column.checkpoint is not None:
                        store(column.checkpoint, vars(counts))
                advance(end - first)
                if decided():
                    break
        return totals

    def _sized(self, sampler: AbstractSampler) -> AbstractSampler:
        """The sampler with a block that suits the number of games: scores of samplers that allow it do not depend on it."""
        game = self._recipe.game
        long = isinstance(game, AbstractMembershipGame) and sampler.block * game.data.dimension >= LONG_BLOCK
        if not (long and sampler.any_block):
            return sampler
        enough = 1 << (max(len(self._settings.games), _LEAST) - 1).bit_length()
        return replace(sampler, block=min(sampler.block, enough))

    def _workers(self) -> int:
        """As many threads as there is memory for; literal games hold all their records."""
        sampler, numbers = self._sampler, self._recipe.game.numbers
        threads, device = self._settings.threads, self._settings.devices[0]
        with exact_scope():  # some data tell their size by float64 arrays
            least = 8.0 * numbers * sampler.together
        if self._settings.executor is not None or sampler.fidelity != "literal" or least <= WORTH_A_LOOK:
            return threads
        what = f"{sampler.fidelity} fidelity ({sampler.name}) with {numbers:,} numbers a game"
        whole = isinstance(sampler, LiteralSampler) and not (
            device.platform == "cpu" and sampler.is_separable
        )
        if whole:
            fitting(least, what, 1, device)  # what needs no compiler
        needed = Counter(sampler, [np.zeros(1)] * len(self._columns), self._settings.seed).needs()
        # Beside what the compiler says, the library that adds up large arrays on a CPU takes a copy of them.
        needed += least if whole else 0.0
        return fitting(max(1, needed), what, threads, device)

    def _begun(self) -> list[Histogram]:
        """The counts of every column with which the run begins, on its thresholds: those of its file, or none yet."""
        stored = [stored_counts(column.checkpoint) for column in self._columns]
        begun = []
        for column, held, (edges, text) in zip(self._columns, stored, self._thresholds(stored), strict=True):
            manifest = self._manifest(column, edges, text)
            begun.append(Histogram(**resume(column.checkpoint, held, edges, manifest, self._settings.games)))
        if len({counts.games for counts in begun}) > 1:
            raise ValueError(
                "checkpoints of one run hold different numbers of games: another process writes them; start it again when that has ended"
            )
        return begun

    def _manifest(self, column: Column, edges: np.ndarray, edge_facts: dict[str, Any]) -> dict[str, Any]:
        settings, sampler = self._settings, self._sampler
        manifest = {
            "format": FORMAT,
            "game": describe(column.game),
            "attack": describe(column.attack),
            **column.also,
            "seed": settings.seed,
            **counted(settings.seed, settings.games, 0),
            "fidelity": sampler.fidelity,
            "sampler": sampler.name,
            "edges": edge_facts | array_digest(edges),
            "draws": DRAWS,
            "versions": versions(),
            "device": settings.devices[0].platform,
        }
        if runs_users_code((column.game, column.attack)):
            manifest["precision"] = self._recipe.precision
        if settings.until is not None:
            manifest["until"] = settings.until.manifest()
        return manifest if settings.shard is None else manifest | {"shard": settings.shard}

    def _thresholds(self, stored: Sequence[dict[str, Any] | None]) -> list[tuple[np.ndarray, dict[str, Any]]]:
        """The thresholds of every column, and what its manifest says of how they were placed.

        They are those that were given; those of the checkpoints, if a pilot placed them, whatever its rule was then; else the
        pilot is played and places them. Its games are the same for every seed: runs of different seeds can be added.
        """
        settings = self._settings
        if settings.edges is not None:
            return [(settings.edges, dict(settings.source))] * len(self._columns)
        held = [(own["edges"], own["manifest"].get("edges", {})) for own in stored if own is not None]
        if len(held) == len(self._columns) and all(text.get("source") == "pilot" for _, text in held):
            return held
        placed = []
        for own in self._pilot():
            edges = pilot_edges(own)
            shares = pilot_shares(own, edges)
            text = {"source": "pilot", "rule": PILOT_RULE} | ({} if shares is None else {"shares": shares})
            if settings.until is not None:  # narrower intervals are worth a larger manifest there
                text["counts"] = [
                    np.bincount(np.searchsorted(edges, world), minlength=edges.size + 1).tolist()
                    for world in own
                ]
            placed.append((edges, text))
        return placed

    def _pilot(self) -> np.ndarray:
        """The pilot's scores, shape (columns, 2, games): a fixed number for the problem, fewer where games are slow."""
        game, sampler, wanted = self._recipe.game, self._sampler, 4096
        with exact_scope():
            literal = sampler.fidelity == "literal"
            if literal:
                wanted = min(wanted, max(32, 2**28 // game.numbers))
            elif isinstance(game, AbstractMembershipGame) and sampler.draws_outputs:
                wanted = min(wanted, max(256, 2**22 // game.data.dimension))
            shown = self._settings.progress and literal and wanted * game.numbers > LONG_PILOT
        # A pilot is short: a single device plays it.
        counter, sample = Counter(sampler, [np.zeros(1)] * len(self._columns), 0, PILOT), []
        with progress_line("pilot, which places the thresholds", wanted, 0, shown) as advance:
            for start in range(0, wanted, counter.span):
                own = range(start, start + counter.span)
                counts, scores = counter(own.start, own.stop)
                self._refuse_nan(counts, f"of {2 * len(own)} pilot games", 0, PILOT, own)
                sample.append(scores)
                advance(min(own.stop, wanted))
        return np.concatenate(sample, axis=2)[:, :, :wanted].transpose(1, 0, 2)

    def _refuse_nan(self, counts: np.ndarray, of: str, seed: int, stream: int, games: range) -> None:
        """Raise ValueError if some score is NaN: of the mechanism if its outputs are, else of the attack."""
        bad = counts[:, :, -1].sum(axis=0)
        if not bad.any():
            return
        column = self._columns[int(np.argmax(bad > 0))]
        if result := self._sampler.nan_outputs(seed, stream, games):
            raise ValueError(
                f"mechanism {name_of(column.game.mechanism)} gave NaN for {result} {of}; an output must hold numbers or +-inf"
            )
        raise ValueError(
            f"attack {name_of(column.attack)} gave NaN for {bad[bad > 0][0]} {of}; a score must be a number or +-inf"
        )


def _added(counts: Histogram, more: np.ndarray, now: dict[str, Any]) -> Histogram:
    """Counts, and those of further games, shape (2, K + 2), with what the manifest says of how many they are by now."""
    cells = counts.edges.size + 1
    out, inside = counts.out + more[0, :cells], counts.inside + more[1, :cells]
    return Histogram(counts.edges, out, inside, {**counts.manifest, **now})
