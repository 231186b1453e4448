"""False claims are at most as frequent as stated: the count of all intervals, bands, bounds and audits.

A claim whose rate is as stated passes but for a chance of FAILURE. Each has a planted error, which must be wrong more often.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

FAILURE = 1e-9
Rng = np.random.Generator
Counts = Callable[[Rng, int], tuple[Any, Any]]
"""(generator, trials) -> how often each claim is wrong, and how often each with a planted error."""


def most(runs: int, risk: float, failure: float = FAILURE) -> float:
    """The most wrong claims of so many trials."""
    return float(binom.isf(failure, runs, risk))


@dataclass(eq=False)
class Row:
    """A design, the stated probability that a claim is wrong, and how many trials there are by default and under `slow`.

    `least`: a rate that is surely reached, at a boundary, without which nothing would be known.
    """

    counts: Counts
    risk: float
    runs: int
    many: int = 0
    least: float = 0.0
    marks: Any = ()


def each(trial: Callable[[Rng], tuple[Any, Any]]) -> Counts:
    """Single trials in turn; a trial says which claims are wrong, and which with a planted error."""

    def counts(rng: Rng, runs: int) -> tuple[Any, Any]:
        result = [trial(rng) for _ in range(runs)]
        return tuple(np.sum([np.atleast_1d(pair[k]) for pair in result], axis=0) for k in (0, 1))  # type: ignore[return-value]

    return counts


def as_rare_as_stated(row: Row, runs: int, failure: float = FAILURE, seed: int = 11) -> None:
    """The claims of a row are wrong as rarely as stated, and not those with a planted error."""
    wrong, planted = (np.atleast_1d(x) for x in row.counts(np.random.default_rng(seed), runs))
    limit = most(runs, row.risk, failure)
    print(f"{wrong.tolist()} of {runs} wrong, planted {planted.tolist()}, at most {limit:g}")
    assert (wrong <= limit).all()
    assert (wrong >= binom.ppf(failure, runs, row.least)).all()
    assert (planted > limit).all()


def draw_counts(rng: Rng, rates: Any, games: int, replicates: int) -> np.ndarray:
    """Counts with these monotone rates sampled from their law, multinomial bins between thresholds, shape (replicates, K)."""
    rates = np.asarray(rates)
    falling = rates[0] > rates[-1]
    rising = 1.0 - rates if falling else rates
    bins = np.diff(np.concatenate([[0.0], rising, [1.0]]))
    below = np.cumsum(rng.multinomial(games, bins, size=replicates), axis=1)[:, :-1]
    return games - below if falling else below


def counted(out: np.ndarray, inside: np.ndarray, at: Any = None) -> tuple[np.ndarray, int, np.ndarray, int]:
    """(FP, games, FN, games) at thresholds, by default at every score."""
    at = np.unique(np.concatenate([out, inside])) if at is None else at
    above = out.size - np.searchsorted(np.sort(out), at, side="right")
    return above, out.size, np.searchsorted(np.sort(inside), at, side="right"), inside.size
