"""Exact strengths of attacks on gradients of networks at real records: those of scikit-learn's digits and diabetes data, which need no download."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from scipy.special import ndtri

import mipsim as mi
from mipsim import data
from mipsim import referee as rf
from sims.gradients import single_threaded

SEED = 20_250_906


def _digits() -> np.ndarray:
    """All 650 parameters of a linear network, at its start."""
    from mipsim import nn

    result, network = data.digits(), nn.linear((8, 8, 1), 10)
    return nn.per_example_gradients(network, network.start(SEED), result.x, result.y)


def _diabetes() -> np.ndarray:
    """The last layer, of 51 parameters, of a network with 50 hidden units and a real output, at its start."""
    from mipsim import nn

    result, network = data.diabetes(), nn.layered((10,), (50,), 1)
    x, y = result.x / result.x.std(axis=0), (result.y - result.y.mean()) / result.y.std()
    return nn.per_example_gradients(network, network.start(SEED), x, y, part="last")


RECORDS: dict[str, Callable[[], np.ndarray]] = {"digits": _digits, "diabetes": _diabetes}
"""Data set -> the gradient of each record, shape (N, d)."""


@cache
def gradients(records: str) -> np.ndarray:
    """Gradients at all records of a data set, float64, shape (N, d)."""
    return RECORDS[records]().astype(np.float64)


@lru_cache(maxsize=64)
@single_threaded
def reference(records: str, references: int, draw: int) -> tuple[mi.ShrunkMoments, np.ndarray, np.ndarray]:
    """(moments of sampled reference gradients, the other gradients, their estimated Mahalanobis scores)."""
    rows = gradients(records)
    order = np.random.default_rng([SEED, draw]).permutation(len(rows))
    moments, pool = mi.ShrunkMoments(rows[order[:references]]), rows[order[references:]]
    return moments, pool, moments.mahalanobis_squared(pool)


@lru_cache(maxsize=64)
@single_threaded
def curve(
    records: str, references: int, draw: int, place: int, batch: int, scalar: bool
) -> mi.AbstractTradeOff:
    """The exact curve of an attack on the mean gradient of a batch sampled from the records that are no reference.
    `records`: the data set; `references`: gradients that the moments are estimated from, the covariance shrunk as Ledoit
    and Wolf do; `draw`: which they are; `place`: of the target among the others; `batch`: records of the mean; `scalar`:
    the scalar product <g*, mean>, else the covariance attack with those moments.
    """
    moments, pool, _ = reference(records, references, draw)
    target = pool[place]
    weights = target if scalar else np.asarray(mi.CovarianceScore(moments, n=batch).weights(target))  # pyright: ignore[reportArgumentType]
    scores = pool @ weights
    game = mi.FixedTarget(mi.EmpiricalMean(), mi.Empirical(scores[:, None]), batch, [scores[place]])
    return game.exact(mi.ScalarProduct([0.0], target=[1.0]))


def strength(tradeoff: mi.AbstractTradeOff, alpha: float) -> rf.Number:
    """Phi^-1(power) - Phi^-1(alpha) at the FPR alpha: the mu of the Gaussian curve through that point, between proven bounds."""
    low, high = tradeoff.beta_bounds(alpha)
    if low == 0.0:  # the power may be 1, and the mu infinite
        least = float(ndtri(1.0 - high) - ndtri(alpha))
        return rf.Number(least, unit="probit", route="exact law, real gradients", unknown="above")
    ends = ndtri([1.0 - high, 1.0 - low]) - ndtri(alpha)
    return rf.Number.between(float(ends[0]), float(ends[1]), unit="probit", route="exact law, real gradients")


def candidates(records: str, references: int, draw: int, count: int) -> tuple[np.ndarray, int]:
    """(places of so many candidates among the records that are no reference, that of the candidate that algorithm 3 picks)."""
    _, pool, scores = reference(records, references, draw)
    result = np.random.default_rng([SEED, draw, count]).choice(len(pool), count, replace=False)
    return result, int(result[np.argmax(scores[result])])


def target_place(records: str, references: int, draw: int, rank: float) -> int:
    """The place of the record whose Mahalanobis score has that rank: 1 is the largest, 0 the least."""
    order = np.argsort(reference(records, references, draw)[2], kind="stable")
    return int(order[round(rank * (len(order) - 1))])


def scores_by_games(curves: list[tuple[str, int, int, int, int, bool]], games: int = 4000) -> list[rf.Draws]:
    """Scores of attacks as in `curve`, from literal batches sampled by NumPy with all of their coordinates."""
    result = []
    for records, references, draw, place, batch, scalar in curves:
        moments, pool, _ = reference(records, references, draw)
        target = pool[place]
        weights = target if scalar else np.asarray(mi.CovarianceScore(moments, n=batch).weights(target))  # pyright: ignore[reportArgumentType]
        rng = np.random.default_rng([SEED, place])
        scores = np.empty((2, games))
        for world in (0, 1):
            for game in range(games):
                rows = rng.integers(len(pool), size=batch)
                rows[0] = place if world else rows[0]
                scores[world, game] = pool[rows].mean(axis=0) @ weights
        result.append(rf.Draws(*scores, how=f"NumPy, {games:,} literal batches a world, all coordinates"))
    return result
