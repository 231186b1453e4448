"""From a named study to counts: the only place where a figure requests games."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mipsim.data import DataError
from mipsim.engine.histogram import Histogram
from mipsim.referee.reporting.wording import duration
from mipsim.theory import azize
from sims import runner
from sims.studies import STUDIES

# Games in each world, for each curve. Azize & Basu play 1000 games, half of them "in".
GAMES = {"quick": 20_000, "standard": 200_000, "full": 1_000_000}


@dataclass(frozen=True)
class Request:
    """What the command requests of a figure."""

    scale: str  # a key of `GAMES`
    seed: int  # the seed of every study of the figure
    out: Path  # where the figure is written; the counts are stored in its folder `counts`, and resumed from there
    progress: bool = False  # show a bar while games are played
    camera_ready: bool = False  # pictures without captions, and LaTeX that includes them
    # games per world and curve of a figure whose games are slow, in place of those of the scale
    fewer: int | None = None

    @property
    def games(self) -> int:
        """Games per world and curve."""
        return GAMES[self.scale] if self.fewer is None else self.fewer

    @property
    def counts(self) -> Path:
        """The folder of the counts, and of all else that is stored to continue from."""
        return self.out / "counts"


class CountsError(ValueError):
    """Stored counts that cannot be read, extended or written: a single sentence for the user."""


@contextmanager
def as_counts_error() -> Iterator[None]:
    """What is wrong with a stored file, as a `CountsError`; missing data stay a `DataError`."""
    try:
        yield
    except (DataError, CountsError):
        raise
    except (ValueError, OSError) as error:
        raise CountsError(str(error)) from error


class Trainings:
    """Counts the trainings of a figure and says on stderr, off a terminal too, how many are done and about how long the others take.
    `figure`: its name.
    """

    def __init__(self, figure: str, total: int) -> None:
        self._figure, self._total = figure, total
        self._begun, self._done, self._read = time.perf_counter(), 0, 0
        self._lock = Lock()  # figures train in threads

    @contextmanager
    def counted(self, words: str) -> Iterator[None]:
        """Around each training, with what is trained; what is only read from a file says nothing about the time of the others."""
        begun = time.perf_counter()
        yield
        now = time.perf_counter()
        with self._lock:
            self._done += 1
            self._read += now - begun < 1.0
            left, trained = self._total - self._done, self._done - self._read
            text = f"{self._figure}: {words}; {self._done} of {self._total} trainings done"
            if trained:
                text += f", about {duration((now - self._begun) * left / trained)} left"
            print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Played:
    """A study with its counts."""

    game: Any
    attack: Any
    histogram: Histogram  # the counts of the scores
    # fpr, tpr: every point of the empirical ROC curve, increasing, from (0, 0) to (1, 1)
    fpr: np.ndarray
    tpr: np.ndarray

    @property
    def games(self) -> int:
        """Games in each world."""
        return self.histogram.games

    def power_at(self, fpr: np.ndarray) -> np.ndarray:
        """The largest empirical TPR among the thresholds whose empirical FPR is at most `fpr`."""
        return self.tpr[np.searchsorted(self.fpr, fpr, side="right") - 1]

    @property
    def area(self) -> float:
        """Under the played ROC curve."""
        return float(np.trapezoid(self.tpr, self.fpr))

    def leakage(self, gamma: float = 0.0) -> float:
        """m* of the game's target, (1/n) ||z* - mu||^2 in the inverse of C + gamma^2 I."""
        return azize.leakage_score(self.game.data, self.game.target, self.game.n, gamma)


def play(study: str, request: Request) -> Played:
    """Play the named study, or read its counts where they are already stored.
    Raises CountsError if the stored counts are corrupt, belong to another run, or cannot be written.
    """
    chosen = STUDIES[study]
    with as_counts_error():
        histogram = runner.run(chosen, request.games, request.seed, request.counts, progress=request.progress)
    game, attack = chosen.build()
    fpr, tpr = roc_points(histogram)
    return Played(game, attack, histogram, fpr, tpr)


def roc_points(histogram: Histogram) -> tuple[np.ndarray, np.ndarray]:
    """(FPR, TPR) at every edge, from (0, 0) to (1, 1), both non-decreasing."""

    def above(counts: np.ndarray) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(counts[::-1])]) / counts.sum()

    return above(histogram.out), above(histogram.inside)


def rebinned(histogram: Histogram, bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge neighbouring cells into about `bins` bins of equal width; returns (edges, out, inside).

    The bins are unions of cells, so that their counts are exact; scores beyond the outermost edges
    are counted in the outermost bins.
    """
    occupied = np.flatnonzero(histogram.out + histogram.inside)
    first, last = max(int(occupied[0]), 1), min(int(occupied[-1]), len(histogram.edges) - 1)
    width = (histogram.edges[last] - histogram.edges[first - 1]) / bins
    wanted = histogram.edges[first - 1] + width * np.arange(bins + 1)
    cuts = np.unique(np.clip(np.searchsorted(histogram.edges, wanted), first - 1, last))

    def merged(counts: np.ndarray) -> np.ndarray:
        running = np.concatenate([[0], np.cumsum(counts)])
        cells = running[cuts + 1]
        cells[0], cells[-1] = 0, running[-1]
        return np.diff(cells)

    return histogram.edges[cuts], merged(histogram.out), merged(histogram.inside)
