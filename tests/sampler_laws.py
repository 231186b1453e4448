"""Counts of games have a law, and none of the wrong laws beside it: the comparison of all samplers.

A law is `Histogram`s of other games, plain `Scores`, or anything with `cdf(x, inside=)`. Each comparison fails with probability <= FAILURE.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.stats

import mipsim as mi
from tests.law_agreement import FAILURE, frequencies_p, two_sample_p

stats: Any = scipy.stats


def same(first: Any, *others: Any, manifest: bool = False) -> bool:
    """Whether counts, and manifests where requested, are the very same."""
    return all(
        np.array_equal(first.edges, other.edges)
        and np.array_equal(first.out, other.out)
        and np.array_equal(first.inside, other.inside)
        and (not manifest or first.manifest == other.manifest)
        for other in others
    )


class Scores(NamedTuple):
    """Scores of other games in both worlds."""

    out: np.ndarray
    inside: np.ndarray

    def counted(self, edges: np.ndarray) -> mi.Histogram:
        cells = (np.searchsorted(edges, x) for x in self)
        out, inside = (np.bincount(cell, minlength=edges.size + 1) for cell in cells)
        return mi.Histogram(edges, out, inside)


@dataclass(frozen=True)
class Mixture:
    """Atoms, or normal parts around them where a deviation is given."""

    values: Any
    masses: Any = 1.0
    deviation: Any = 0.0

    @cached_property
    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        values, masses = (x.ravel() for x in np.broadcast_arrays(self.values, self.masses))
        order = np.argsort(values)
        return values[order], np.append(0.0, np.cumsum(masses[order]))

    def cdf(self, x: np.ndarray) -> np.ndarray:
        if np.any(self.deviation):
            return (self.masses * stats.norm.cdf((np.ravel(x)[:, None] - self.values) / self.deviation)).sum(
                axis=1
            )
        values, sums = self.sums
        return sums[np.searchsorted(values, x, side="right")]


class Law(NamedTuple):
    """A law of two mixtures."""

    out: Mixture
    inside: Mixture

    def cdf(self, x: np.ndarray, *, inside: bool) -> np.ndarray:
        return self[inside].cdf(x)

    def between(self) -> np.ndarray:
        """Thresholds midway between the possible scores, so that rounding cannot matter."""
        values = np.unique(np.concatenate([np.ravel(part.values) for part in self]))
        values = values[np.isfinite(values)]
        values = values[np.append(True, np.diff(values) > 1e-9)]
        return (values[1:] + values[:-1]) / 2


class Wrong(NamedTuple):
    """A law with a planted error: its worlds exchanged, or its scores moved by a share of their spread."""

    law: Any
    exchanged: bool = False
    moved: float = 0.0

    def cdf(self, x: np.ndarray, *, inside: bool) -> np.ndarray:
        return self.law.cdf(
            x - self.moved * spread(self.law) if self.moved else x, inside=inside ^ self.exchanged
        )


def spread(law: Any) -> float:
    """Half of what lies between the out world's 16th and 84th hundredths: a standard deviation of normal scores."""
    low, high = law.threshold_at(stats.norm.sf([-1.0, 1.0]))
    return float(high - low) / 2.0


def exchanged(law: Any) -> Any:
    """The worlds exchanged."""
    if isinstance(law, mi.Histogram):
        return mi.Histogram(law.edges, law.inside, law.out)
    if isinstance(law, Law):
        return Law(law.inside, law.out)
    return Scores(law.inside, law.out) if isinstance(law, Scores) else Wrong(law, exchanged=True)


def moved(law: Any, share: float = 0.1) -> Any:
    """Counts moved by 40 thresholds of a pilot, a quarter of a standard deviation or more; a law by a share of it."""
    if isinstance(law, mi.Histogram):
        return mi.Histogram(law.edges, np.roll(law.out, 40), np.roll(law.inside, 40))
    return Wrong(law, moved=share)


def even_edges(law: Any, bins: int, tail: float = 1e-6) -> np.ndarray:
    """Thresholds that cut the "out" law into about equally likely bins, between its two tails."""
    low, high = law.threshold_at(np.array([1 - tail, tail]))
    grid = np.linspace(low, high, 20_001)
    return np.unique(np.interp(np.arange(1, bins) / bins, law.cdf(grid, inside=False), grid))


def agreement(played: mi.Histogram, law: Any, inside: bool) -> tuple[int, float]:
    """(cells, p-value): a chi-square, or Kolmogorov's distance where a law is known to within an error only."""
    counts, edges = (played.inside if inside else played.out), played.edges
    if isinstance(law, Scores):
        law = law.counted(edges)
    if isinstance(law, mi.Histogram):
        return two_sample_p(counts, law.inside if inside else law.out)
    error = getattr(law.law if isinstance(law, Wrong) else law, "error_bound", 0.0)
    if error < 1e-8:
        return frequencies_p(counts, np.diff(np.concatenate([[0.0], law.cdf(edges, inside=inside), [1.0]])))
    # An edge in the last digit of an atom says nothing: two neighbours of every edge bound it.
    low, high = (law.cdf(edges + side * 1e-9, inside=inside) for side in (-1.0, 1.0))
    seen = np.cumsum(counts)[:-1] / played.games
    away = max(0.0, (seen - high).max() - error, (low - seen).max() - error)
    return counts.size, float(2.0 * np.exp(-2.0 * played.games * away**2))  # Dvoretzky, Kiefer & Wolfowitz


def has_law(
    played: mi.Histogram, law: Any, *wrong: Any, out: Any = (), inside: Any = (), cells: int = 2
) -> int:
    """Both worlds have the law, in so many cells, and none of the wrong ones; those of `out` and `inside` are wrong there alone.

    Returns the most cells of a comparison with what is wrong.
    """
    most = 0
    for world, more in ((False, out), (True, inside)):
        used, p = agreement(played, law, world)
        assert used >= cells
        assert p >= FAILURE, p
        for i, other in enumerate((*wrong, *more)):
            used, p = agreement(played, other, world)
            assert p < FAILURE, f"control {i} passes"
            most = max(most, used)
    return most
