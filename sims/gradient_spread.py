"""How far the areas of figure 3 of Azize & Basu (2025) depend on what the paper leaves open: the start of the network and the reference.

The gradient of the last layer is the outer product of the residual (probabilities less the label) and the features with a 1 before
them. Inner products of gradients are therefore products of two small ones, and a network is attacked without a gradient written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import ndtr, ndtri, softmax

import mipsim as mi
from mipsim import data
from sims.gradients import NETWORKS, REFERENCES, TARGETS, single_threaded


@dataclass(frozen=True)
class OuterProducts:
    """Records as the last layer of a network sees them."""

    features: np.ndarray  # with a 1 before them, shape (N, width + 1)
    residuals: np.ndarray  # probabilities less the label, shape (N, outputs)

    def __getitem__(self, rows: np.ndarray) -> OuterProducts:
        return OuterProducts(self.features[rows], self.residuals[rows])

    def inner(self, other: OuterProducts) -> np.ndarray:
        """Inner products of the gradients of these records and of those."""
        return (self.features @ other.features.T) * (self.residuals @ other.residuals.T)

    @property
    def gradients(self) -> np.ndarray:
        """All of them written out, float64, shape (N, (width + 1) x outputs)."""
        rows = self.features[:, :, None].astype(float) * self.residuals[:, None, :]
        return rows.reshape(len(rows), -1)


def last_layer_of(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> OuterProducts:
    """Records of these features and labels under a last layer of these weights, the offsets in the first row; the loss is the cross-entropy."""
    features = np.concatenate([np.ones((len(x), 1), np.float32), x.astype(np.float32)], axis=1)
    labels = np.eye(weights.shape[1], dtype=np.float32)[y]
    return OuterProducts(features, softmax(features @ weights, axis=1) - labels)


def away(known: OuterProducts, pool: OuterProducts, neighbours: int = 1) -> np.ndarray:
    """Standard deviations that a target's own score lies above the mean score of the pool.
    `known`: the reference of algorithm 3; `pool`: records that games draw; `neighbours`: further ranks of the Mahalanobis
    score on each side of a target; at the ends of the order, as many inside it. Returns shape (targets, 2 x neighbours +
    1, attacks), the targets in the order of `TARGETS`; the algorithm's own target is in place 0 of the easiest and the
    hardest, and in place `neighbours` of the medium ones.
    """
    moments = mi.ShrunkMoments(known.gradients)
    shifted = known.gradients - moments.mean
    # The axes are combinations of the centred reference, so that inner products with it give the coordinates along them.
    mixing = (shifted @ moments.axes.T) / (moments.spread * len(shifted))
    of_mean = known.inner(known).mean(axis=1)
    level = float(of_mean.mean())
    raw = pool.inner(known)
    along = (raw - of_mean.astype(raw.dtype)) @ mixing.astype(raw.dtype)
    with_mean = raw.mean(axis=1)
    squares = (pool.features**2).sum(axis=1) * (pool.residuals**2).sum(axis=1) - 2.0 * with_mean + level
    inner = 1.0 / (moments.weight * moments.spread + moments.ridge) - 1.0 / moments.ridge
    order = np.argsort(squares / moments.ridge + along**2 @ inner.astype(raw.dtype), kind="stable")
    count, wide = len(order), 2 * neighbours + 1
    middle = count // 2
    chosen = np.stack(
        [order[::-1][:wide], order[middle - neighbours : middle + neighbours + 1], order[:wide]]
    )
    flat = chosen.ravel()
    scalar = pool.inner(pool[flat]).astype(float)
    centred = scalar - with_mean[:, None] - with_mean[flat] + level
    covariance = centred / moments.ridge + along @ (along[flat] * inner).T
    scores = np.stack([covariance, scalar], axis=-1)
    own = scores[flat, np.arange(flat.size)]
    return ((own - scores.mean(axis=0)) / scores.std(axis=0)).reshape(len(TARGETS), wide, 2)


@single_threaded
def start(records: data.DataSet, victim: str, seed: int, neighbours: int = 1) -> np.ndarray:
    """The same of a victim of figure 3 with the network and the reference of another seed."""
    from mipsim import nn

    shape, classes = records.x.shape[1:], len(records.classes)
    convolutions, _ = NETWORKS[victim]
    network = nn.convolutional(shape, outputs=classes) if convolutions else nn.linear(shape, classes)
    parameters = network.start(seed)
    inputs = (
        nn.features(network, parameters, records.x) if convolutions else records.x.reshape(len(records), -1)
    )
    weights = np.asarray(network.flat(parameters, "last")).reshape(-1, classes)
    seen = last_layer_of(inputs, records.y, weights)
    order = np.random.default_rng(seed).permutation(len(records))
    return away(seen[order[:REFERENCES]], seen[order[REFERENCES:]], neighbours)


def area(away: np.ndarray | float, n: np.ndarray | float) -> np.ndarray:
    """Area under the ROC curve of a score of the mean of n gradients, as if scores were normal.
    >>> print(area(np.array([0.0, 10.0]), 50.0).round(4))
    [0.5    0.8426]
    """
    return ndtr(away / np.sqrt(2.0 * np.asarray(n) - 1.0))


def played_areas(areas: np.ndarray, games: int, draws: int, seed: int) -> np.ndarray:
    """Areas that so few games show, for normal scores of equal spread; all areas see the same draws.
    `areas`: true ones, shape (m,); `games`: in each world. Returns shape (m, draws).
    """
    shifts = np.sqrt(2.0) * ndtri(areas)
    below = [np.searchsorted(gaps, shifts) for gaps in _gaps(games, draws, seed)]
    return np.stack(below, axis=-1) / games**2


@cache
def _gaps(games: int, draws: int, seed: int) -> np.ndarray:
    """Sorted differences of all pairs of two samples of standard normals, a row a draw: a pair is in order where the shift exceeds its own."""
    out, inside = np.random.default_rng(seed).normal(size=(2, draws, games))
    return np.sort((out[:, :, None] - inside[:, None, :]).reshape(draws, -1))
