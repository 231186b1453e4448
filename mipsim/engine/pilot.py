"""Thresholds fixed before the run, from a pilot with a random stream of its own."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim.bands.curve_band import just_below

THRESHOLDS = 1024
"""Neighbours are then .02 probits apart in either world, below the width of a band at a million games."""

_DISTINCT = 0.9
"""A score that takes fewer different values than this share of the pilot's games has atoms."""

PILOT_RULE = 4
"""Which rule places the thresholds, in manifests; counts on thresholds of another rule are resumed on them."""

_MOST_VALUES = 24
"""Values with a cell of their own: their thresholds are at most 48 of the 64 that a verdict uses, and a value that is left out holds below 1/25 of the games."""
_LEAST_SHARE, _LEAST_COUNT = 1 / 64, 8
"""Of a world's pilot games, by which a value of a score with many values has a cell of its own."""
_ANY_VALUES, _DIGITS = 4, 6
"""More values than this get cells only if all have so few decimal digits: others may be sums, whose last digits differ between samplers and machines."""
_SPLIT = 1.01
"""A value is no single float64 if so many times its games lie within rounding of it."""

LONG_PILOT = 2**32
"""Numbers that literal games of a pilot may draw in each world, in some seconds, before they have a line of progress."""

_OFFSET = 0.377
"""Of the grid from zero, in steps."""
_SUMMED = 1e-11
"""What the order of a sum may change, relative to the largest score."""
_LARGEST = float(np.finfo(np.float64).max)
_REACH = 6.0  # in probits: rates of 1e-9, the least that a run of 1e9 games can tell


def pilot_edges(scores: np.ndarray) -> np.ndarray:
    """At most 1024 increasing thresholds, spread evenly in probit scale over both worlds, from -6 to +6 standard deviations.

    For each world, threshold z in [-6, 6] is the pilot's quantile at Phi(z) where the pilot reaches so far, and beyond
    it continues as a straight line (a Gaussian tail). For Gaussian scores that is mean + z sd; for skewed,
    bounded or heavy-tailed scores the thresholds follow the law. Thresholds never sit on an atom of a discrete score:
    they lie midway between neighbouring values, so that rounding cannot move a score across a threshold. Such a score keeps at most
    as many thresholds beyond the pilot's values as between them: nothing is known of what comes there. Thresholds are
    rounded to a grid, so that machines whose scores differ by the rounding of float64 have the same ones; those of literal clipped
    steps, whose rows are float32, may differ.

    A value that many pilot games share, such as each of a yes/no attack, a rank, or the ends of a clipped score, has a threshold at it and a
    threshold at the next lower float64 (`mipsim.bands.curve_band.are_single`): all scores in between are equal, whatever the games show.
    More than four values have them only if they have few digits: others may be sums, whose last digits differ between samplers and machines.

    `scores`: pilot scores, shape (2, m); +-inf are allowed, NaN is not allowed.
    """
    worlds = [np.sort(row[np.isfinite(row)]) for row in scores]
    single = _single_values(scores)
    around = np.concatenate([just_below(single), np.clip(single, -_LARGEST, _LARGEST)])
    around = around[np.isfinite(around)]
    if single.size == 2 and np.unique(scores).size == 2:
        finite = np.clip(single, -_LARGEST, _LARGEST)
        return np.unique(np.append(around, 0.5 * finite[0] + 0.5 * finite[1]))
    result = [_spread(values, (THRESHOLDS - around.size) // 2) for values in worlds if values.size]
    if not result:
        return np.unique(np.append(around, 0.0))
    return np.unique(np.concatenate([around, _even(worlds, np.concatenate(result))]))


def _even(worlds: list[np.ndarray], edges: np.ndarray) -> np.ndarray:
    """Thresholds evenly spread in probits, moved between the values of a score with atoms."""
    pooled = np.sort(np.concatenate(worlds))
    values = _distinct(pooled)
    atomic = values.size < _DISTINCT * pooled.size
    edges = _between(edges, values, move_all=atomic)
    edges = np.sort(edges[np.isfinite(edges)])
    if not edges.size:
        return np.zeros(1)
    # Two worlds with equal tails place the same thresholds there, but for rounding.
    edges = edges[np.concatenate([[True], np.diff(edges) > _rounding(values)])]
    if atomic and values.size > 1:
        edges = _fewer_tails(edges, values)
    return _rounded(edges, values)


def _single_values(scores: np.ndarray) -> np.ndarray:
    """The values of a score that get cells of their own, increasing; infinite ones too."""
    values, counts = np.unique(scores, return_counts=True)
    values = values + 0.0  # -0.0 equals 0.0
    finite = np.sort(scores[np.isfinite(scores)])
    whole = bool((finite == np.rint(finite)).all()) and float(np.abs(finite).max(initial=0.0)) < 2.0**50
    if values.size > min(_MOST_VALUES, scores.size // 2):
        ranks = [
            [np.searchsorted(np.sort(row), values, side) for side in ("left", "right")] for row in scores
        ]
        most = max(_LEAST_COUNT, _LEAST_SHARE * scores.shape[1])
        heavy = np.any([right - left >= most for left, right in ranks], axis=0)
        heaviest = np.sort(
            np.argsort(np.where(heavy, -counts, 0), kind="stable")[: min(_MOST_VALUES, heavy.sum())]
        )
        values, counts = values[heaviest], counts[heaviest]
    known = np.isfinite(values)
    if not whole:
        width = _rounding(finite)
        with np.errstate(over="ignore"):
            low, high = values - width, values + width
        near = np.searchsorted(finite, high, "right") - np.searchsorted(finite, low)
        known &= near <= _SPLIT * counts
    # Compiled code takes subnormal numbers for 0.
    known &= (values == 0.0) | (np.abs(values) >= np.finfo(np.float64).tiny)
    if values.size > _ANY_VALUES:
        short = np.array([float(f"{value:.{_DIGITS}g}") for value in values])
        with np.errstate(over="ignore"):
            known &= ((values == short) | (values == short.astype(np.float32))).all()
    return values[known | np.isinf(values)]


def pilot_shares(scores: np.ndarray, edges: np.ndarray) -> list[int] | None:
    """For each edge, how many of the pilot's evenly spread thresholds it replaces; None where the score has no atoms.

    Where a score takes few values, many thresholds that are even in probits fall beside a single heavy value and become a single edge.
    A choice of few edges that is even in these counts misses no such value; taking every k-th edge may.

    `scores`: pilot scores, as in `pilot_edges`; `edges`: what it returned, shape (K,).

    >>> coins = np.array([[0.0, 1.0, 1.0, 1.0] * 100, [0.0, 0.0, 1.0, 1.0] * 100])
    >>> edges = pilot_edges(coins)
    >>> edges.round(3).tolist(), pilot_shares(coins, edges)
    ([-0.0, 0.0, 0.5, 1.0, 1.0], [338, 145, 0, 0, 541])
    """
    worlds = [np.sort(row[np.isfinite(row)]) for row in scores]
    pooled = np.sort(np.concatenate(worlds))
    if not pooled.size or _distinct(pooled).size >= _DISTINCT * pooled.size:
        return None
    spread = np.concatenate([_spread(values, THRESHOLDS // 2) for values in worlds if values.size])
    place = np.clip(np.searchsorted(edges, spread[np.isfinite(spread)]), 0, edges.size - 1)
    return np.bincount(place, minlength=edges.size).tolist()


def spread_evenly(shares: Any, edges: int, wanted: int) -> np.ndarray:
    """Which of the edges to use, at most `wanted`: evenly by the counts of `pilot_shares`, or every k-th where there are none.
    >>> spread_evenly(None, 100, 4), spread_evenly([1] * 48 + [50, 2], 50, 2), spread_evenly([0, 0], 2, 2)
    (array([12, 37, 62, 87]), array([25, 48]), array([0, 1]))
    """
    known = isinstance(shares, list) and len(shares) == edges
    if edges <= wanted or not known or not all(type(n) is int and n >= 0 for n in shares) or not any(shares):
        shares = [1] * edges
    upto = np.cumsum(shares)
    # The middles of `wanted` equal parts: the outermost edges are the least informative.
    middles = (np.arange(wanted) + 0.5) * upto[-1] / wanted
    return np.unique(np.searchsorted(upto, middles, side="right"))


def _spread(values: np.ndarray, count: int) -> np.ndarray:
    """Quantile function of sorted values on an even grid of probits, with straight tails."""
    if values[-1] - values[0] <= _SUMMED * np.abs(values).max():  # a constant, summed in different orders
        step = 1e-9 * max(1.0, abs(float(values[0])))
        offsets = step * 4.0 ** np.arange(16)
        return float(values[0]) + np.concatenate([-offsets[::-1], offsets])
    z = np.linspace(-_REACH, _REACH, count)
    # The outer ranks are noise: trust the quantiles up to eight games from either end.
    share = min(0.25, 8.0 / values.size)
    reach = float(-_probit(share))
    edges = np.quantile(values, ndtr(np.clip(z, -reach, reach)))
    low, middle, high = np.quantile(values, [share, 0.5, 1 - share])
    spread = max(high - low, 1e-9 * max(1.0, abs(float(middle)))) / (2 * reach)
    below, above = z < -reach, z > reach
    edges[below] = low + np.maximum((middle - low) / reach, 0.05 * spread) * (z[below] + reach)
    edges[above] = high + np.maximum((high - middle) / reach, 0.05 * spread) * (z[above] - reach)
    return edges


def _between(edges: np.ndarray, values: np.ndarray, move_all: bool) -> np.ndarray:
    """Move thresholds that sit on a value, or all of them, to the middle between their neighbouring values.

    A threshold on the outermost values lacks a neighbour on a side, and is left out.
    """
    right = np.searchsorted(values, edges, side="right")
    left, right = np.clip(right - 1, 0, None), np.clip(right, None, values.size - 1)
    away = np.minimum(np.abs(edges - values[left]), np.abs(edges - values[right]))
    near, within = away <= _rounding(values), left < right
    # On a value from just below, the neighbours are that value and the previous value: the middle is as good.
    moved = np.where(within & (near | move_all), 0.5 * (values[left] + values[right]), edges)
    return moved[within | ~near]


def _rounded(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Round each threshold to a multiple of a power of two: 1/50 to 1/24 of its distance to the nearest score or other threshold.

    Scores differ by some 1e-15 between vector units and versions of libraries: a threshold is rounded alike but with a
    probability of twice that over the step.
    """
    right = np.searchsorted(values, edges)
    room = np.minimum(
        np.abs(edges - values[np.clip(right - 1, 0, None)]),
        np.abs(edges - values[np.clip(right, None, values.size - 1)]),
    )
    gaps = np.concatenate([[np.inf], np.diff(edges), [np.inf]])
    room = np.minimum(room, np.minimum(gaps[:-1], gaps[1:]))
    # Distances and thresholds are often round numbers, where both roundings would be undecided, but for these two factors.
    step = np.ldexp(1.0, np.frexp(room * 1.2987)[1] - 6)
    place = np.where(step > 0.0, edges / np.where(step > 0.0, step, 1.0) - _OFFSET, np.inf)
    # Beyond 2^52 steps a threshold is on the grid already.
    return np.where(np.abs(place) < 2.0**52, (np.rint(place) + _OFFSET) * step, edges)


def _fewer_tails(edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """At most as many edges beyond the values as between them, on each side the nearest first and evenly thinned."""
    below, above = edges[edges <= values[0]][::-1], edges[edges >= values[-1]]
    inner = edges[(edges > values[0]) & (edges < values[-1])]
    retained = np.linspace(0.0, 1.0, max(1, inner.size // 2))
    tails = (
        tail[np.unique((retained * (tail.size - 1)).astype(int))] if tail.size else tail
        for tail in (below, above)
    )
    return np.sort(np.concatenate([*tails, inner]))


def _distinct(values: np.ndarray) -> np.ndarray:
    """Merge sorted values that differ by rounding only: atoms of a discrete score, summed in different orders."""
    return values[np.concatenate([[True], np.diff(values) > _rounding(values)])]


def _rounding(values: np.ndarray) -> float:
    """What counts as rounding: 1e-6 of the bulk's width, which the fixed point of the tables stays well below."""
    low, high = np.quantile(values, [0.05, 0.95])
    width = float(high - low) or float(values[-1] - values[0])
    return max(1e-6 * width, _SUMMED * float(np.abs(values).max()))


def _probit(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
