"""Games of few records and outputs, all of which are enumerated."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from verify.azize.laws.enumeration import mean_game

Worlds = tuple[np.ndarray, np.ndarray]
MECHANISMS = ("mean", "mean of two columns", "mean of a sub-sample", "randomised response", "random laws")


def cells(
    mechanism: str, n: int, kept: int, p: float, q: float, z: float, y: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """(Bernoulli means, target, rows that are retained)."""
    d = 2 if mechanism == "mean of two columns" else 1
    return np.array([p, q][:d]), np.array([z, y][:d]), kept if mechanism == "mean of a sub-sample" else n


@lru_cache(maxsize=64)
def worlds(
    mechanism: str,
    n: int,
    kept: int,
    p: float,
    q: float,
    z: float,
    y: float,
    epsilon: float,
    outputs: int,
    spread: float,
    draw: int,
) -> Worlds:
    """The probabilities of each output, out and in."""
    if mechanism == "randomised response":
        keep = np.exp(epsilon) / (1 + np.exp(epsilon))
        return np.array([keep, 1 - keep]), np.array([1 - keep, keep])
    if mechanism == "random laws":
        rng = np.random.default_rng(draw)
        return rng.dirichlet(np.full(outputs, spread)), rng.dirichlet(np.full(outputs, spread))
    means, target, kept = cells(mechanism, n, kept, p, q, z, y)
    _, out, inside = mean_game(means, n, target, kept)
    return out, inside


def ratio(out: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """log(in / out), +-1000 where either is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(inside > 0, np.where(out > 0, np.log(inside / out), 1e3), -1e3), -1e3, 1e3)


def targets_of(d: int, p: float, q: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """(means, every point of {0, 1}^d)."""
    points = [np.array([(bits >> j) & 1 for j in range(d)], float) for bits in range(2**d)]
    return np.array([p, q][:d]), points


def formula_error(n: int, d: int, p: float, q: float, factor: float = 1.0) -> float:
    """The largest difference of equation 11 and the log ratio of enumerated probabilities, at every target and output."""
    mu, targets = targets_of(d, p, q)
    worst = 0.0
    for z in targets:
        outputs, out, inside = mean_game(mu, n, z)
        with np.errstate(divide="ignore"):
            printed = np.where(z == 1, np.log(outputs / mu), np.log((1 - outputs) / (1 - mu))).sum(axis=1)
            enumerated = np.log(inside / out)
        finite = np.isfinite(enumerated)
        if (np.isfinite(printed) != finite).any():
            worst = np.inf
        worst = max(worst, float(np.abs(factor * printed[finite] - enumerated[finite]).max(initial=0.0)))
    return worst


def guess(attack: str, n: int, mu: np.ndarray, z: np.ndarray, outputs: np.ndarray, draw: int) -> np.ndarray:
    """The probabilities of guessing "in": the covariance test, or a randomised attack without any sense."""
    if attack == "covariance score > 0":
        weights = (z - mu) / (mu * (1 - mu))
        return ((outputs - mu) @ weights - weights @ (z - mu) / (2 * n) > 0).astype(float)
    rng = np.random.default_rng([draw, int(z @ 2 ** np.arange(len(z)))])
    return rng.uniform(size=(n + 1,) * len(z))[tuple(np.round(outputs * n).astype(int).T)]


def expected_advantage(n: int, d: int, p: float, q: float, attack: str, draw: int) -> float:
    """The mean of the fixed-target advantages."""
    mu, targets = targets_of(d, p, q)
    result = 0.0
    for z in targets:
        outputs, out, inside = mean_game(mu, n, z)
        result += float(
            np.where(z == 1, mu, 1 - mu).prod() * ((inside - out) @ guess(attack, n, mu, z, outputs, draw))
        )
    return result
