"""Exact laws of scalar Z-estimators in the fixed-target game, one coordinate of a product problem each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betainc, expit, ndtr

from mipsim.exact import Terms, binomial_terms

Table = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Estimates, their probabilities out and in, and the exact log ratio, all of shape (m,)."""

CELLS = 1600
REACH = 10.0
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)


@dataclass(frozen=True)
class Piece:
    """`share` of the coordinates: a scalar Z-estimator with a target record.

    Attributes:
        theta, derivative, psi, spread: theta_0, V, psi at the target, E psi^2.
        table: n -> exact law of the estimate.
        draw: (generator, games, coordinates, n, member) -> estimates of literal games, shape (games, coordinates).
    """

    theta: float
    derivative: float
    psi: float
    spread: float
    table: Callable[[int], Table]
    draw: Callable[[np.random.Generator, int, int, int, bool], np.ndarray]
    share: float = 1.0

    @property
    def influence(self) -> float:
        """I(z) = -psi / V."""
        return -self.psi / self.derivative

    @property
    def sigma(self) -> float:
        """Asymptotic variance of sqrt(n) (thetahat - theta_0)."""
        return self.spread / self.derivative**2

    def weight(self, reading: str) -> float:
        """Coefficient of thetahat in the score, as `InfluenceScore` has it."""
        if reading == "corrected":
            return self.influence / self.sigma
        v = self.derivative if reading == "printed" else -self.derivative
        return (self.psi / v - self.theta) / v

    def terms(self, n: int, count: int, reading: str = "corrected") -> Terms:
        """The law of this piece; `t` is such that `covariance_score` is the reading's score up to a constant."""
        estimate, out, inside, ratio = self.table(n)
        deviation = np.sqrt(n / self.sigma) * (estimate - self.theta)
        t = self.weight(reading) * np.sqrt(self.sigma)
        return Terms(estimate, out, inside, ratio, count, float(t), deviation, n)


def mean_piece(theta: float, sd: float, z: float) -> Piece:
    """The mean of N(theta, sd^2) records and a target z: psi = x - theta, V = -1."""

    def table(n: int) -> Table:
        grid = theta + sd / np.sqrt(n) * np.linspace(-REACH, REACH, CELLS)
        out = stats.norm.logpdf(grid, theta, sd / np.sqrt(n))
        inside = stats.norm.logpdf(grid, theta + (z - theta) / n, sd * np.sqrt(n - 1) / n)
        return _of_densities(grid, out, inside)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        return _rows(rng.normal(theta, sd, (games, count, n)), z, member).mean(axis=2)

    return Piece(theta, -1.0, z - theta, sd**2, lru_cache(maxsize=8)(table), draw)


def median_piece(law: Any, quantile: float) -> Piece:
    """The median of 2k + 1 records of a continuous law and a target at that quantile: psi = sign, V = -2 f(median).

    In U = F(thetahat): out it is Beta(k + 1, k + 1); in, with the target at v, it has density Beta(k + 1, k) below v,
    Beta(k, k + 1) above v, and it is v itself with probability P(Binomial(2k, v) = k).
    """
    theta, z = float(law.median()), float(law.ppf(quantile))

    def table(n: int) -> Table:
        k = n // 2
        low, high = (max(0.5 - REACH / (2 * n**0.5), 0.0), min(0.5 + REACH / (2 * n**0.5), 1.0))
        inner = min(max(quantile, low), high)
        parts = [
            np.linspace(a, b, max(2, round(CELLS * (b - a) / (high - low))))
            for a, b in ((low, inner), (inner, high))
        ]
        mid = [(p[1:] + p[:-1]) / 2 for p in parts]
        out = [np.diff(betainc(k + 1, k + 1, p)) for p in parts]
        inside = [np.diff(betainc(k + 1, k, parts[0])), np.diff(betainc(k, k + 1, parts[1]))]
        ratio = [np.log(k / ((2 * k + 1) * (1 - mid[0]))), np.log(k / ((2 * k + 1) * mid[1]))]
        kept = [i for i in (0, 1) if parts[i][-1] > parts[i][0]]
        columns = [np.concatenate([group[i] for i in kept]) for group in (mid, out, inside, ratio)]
        if low < quantile < high:  # the released median is the target's own value
            atom = (quantile, 0.0, float(stats.binom.pmf(k, 2 * k, quantile)), np.inf)
            columns = [np.append(column, value) for column, value in zip(columns, atom, strict=True)]
        return law.ppf(columns[0]), columns[1] / columns[1].sum(), columns[2] / columns[2].sum(), columns[3]

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        rows = _rows(law.rvs((games, count, n), random_state=rng), z, member)
        return np.partition(rows, n // 2, axis=2)[:, :, n // 2]

    sign = float(np.sign(quantile - 0.5))
    return Piece(theta, -2.0 * float(law.pdf(theta)), sign, 1.0, lru_cache(maxsize=8)(table), draw)


def slope_piece(theta: float, sd: float, x: float, residual: float) -> Piece:
    """Least squares through 0 with x ~ N(0, sd^2), noise N(0, 1) and a target (x, x theta + residual).

    Given W = the sum of the others' x^2, a scaled chi-square, thetahat - theta is normal; W is integrated out.
    """

    def table(n: int) -> Table:
        grid = np.linspace(-REACH, REACH, CELLS) / (sd * np.sqrt(n))
        logs = []
        for rows, top, own in ((n, 0.0, 0.0), (n - 1, x * residual, x**2)):
            tail, below = ndtr(-np.abs(_NODES)), _NODES < 0
            w = sd**2 * np.where(below, stats.chi2.ppf(tail, rows), stats.chi2.isf(tail, rows))[:, None]
            density = stats.norm.pdf(grid, top / (own + w), np.sqrt(w) / (own + w))
            logs.append(np.log(_WEIGHTS @ density / _WEIGHTS.sum() + 1e-300))
        estimate, *rest = _of_densities(grid, *logs)
        return estimate + theta, rest[0], rest[1], rest[2]

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        inputs = _rows(rng.normal(0.0, sd, (games, count, n)), x, member)
        noise = _rows(rng.normal(0.0, 1.0, (games, count, n)), residual, member)
        return theta + (inputs * noise).sum(axis=2) / (inputs**2).sum(axis=2)

    return Piece(theta, -(sd**2), x * residual, sd**2, lru_cache(maxsize=8)(table), draw)


def logit_piece(theta: float, agrees: bool) -> Piece:
    """Logistic regression through 0 with x = -1 or 1 evenly: thetahat = logit(S / n), S the records with y = 1{x = 1}."""
    p = float(expit(theta))

    def estimate(s: np.ndarray, n: int) -> np.ndarray:
        inner = np.clip(s, 0.5, n - 0.5)  # no maximum exists at 0 and n; Newton steps stop at a large value
        return np.log(inner / (n - inner))

    def table(n: int) -> Table:
        law = binomial_terms(n, p, int(agrees), 1)
        return estimate(law.total, n), law.out, law.inside, law.ratio

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        return estimate(rng.binomial(n - member, p, (games, count)) + float(member and agrees), n)

    return Piece(theta, -p * (1 - p), float(agrees) - p, p * (1 - p), lru_cache(maxsize=8)(table), draw)


def block_piece(coefficients: int, distance: float, residual: float) -> Piece:
    """The score of one regression of p coefficients, Gaussian design: D = x*'(thetahat - theta), ||x*||^2_{S^-1} = distance.

    Given h = x*' A^-1 x*, A the other records' X'X (distance / h is chi-square), D is normal: of variance h out (n rows), of
    mean residual h / (1 + h) and variance h / (1 + h)^2 in (n - 1 rows). Only D's law is here, so its ratio is not the estimate's.
    """

    def table(n: int) -> Table:
        grid = np.linspace(-REACH, REACH, CELLS) * np.sqrt(distance / (n - coefficients))
        tail, below = ndtr(-np.abs(_NODES)), _NODES < 0
        logs = []
        for rows, top in ((n, 0.0), (n - 1, residual)):
            df = rows - coefficients + 1
            h = distance / np.where(below, stats.chi2.ppf(tail, df), stats.chi2.isf(tail, df))[:, None]
            shrunk = 1.0 + h if rows < n else np.ones_like(h)
            density = stats.norm.pdf(grid, top * h / shrunk, np.sqrt(h) / shrunk)
            logs.append(np.log(_WEIGHTS @ density / _WEIGHTS.sum() + 1e-300))
        return _of_densities(grid, *logs)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        x, y = rng.normal(size=(games, count, n, coefficients)), rng.normal(size=(games, count, n))
        target = np.full(coefficients, np.sqrt(distance / coefficients))
        if member:
            x[:, :, 0], y[:, :, 0] = target, residual
        across = x.swapaxes(2, 3)
        return np.linalg.solve(across @ x, across @ y[..., None])[..., 0] @ target

    return Piece(0.0, -1.0, distance * residual, distance, lru_cache(maxsize=8)(table), draw)


def two_inputs_piece(theta: float, x: int, y: int) -> Piece:
    """Logistic regression through 0 with x = 1 or 2 evenly and a target (x, y): no count of successes is enough.

    thetahat solves N1 s(t) + 2 N2 s(2t) = T, s(t) = 1/(1 + exp(-t)), with N2 ~ Binomial, and T = S1 + 2 S2 given N2. The pair
    (N2, T) is enumerated within 7 standard deviations. The ratio is not filled in: the released number may tell N2 apart.
    """
    p1, p2 = float(expit(theta)), float(expit(2 * theta))

    def window(n: int, p: float) -> np.ndarray:
        reach = 7 * np.sqrt(n * p * (1 - p)) + 3
        return np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1) + 1)

    def atoms(n: int, member: bool) -> tuple[np.ndarray, np.ndarray]:
        others = n - member
        found = []
        for n2 in window(others, 0.5):
            n1 = others - n2
            s1, s2 = window(n1, p1), window(n2, p2)
            spread = np.zeros(2 * len(s2) - 1)
            spread[::2] = stats.binom.pmf(s2, n2, p2)
            mass = np.convolve(stats.binom.pmf(s1, n1, p1), spread) * stats.binom.pmf(n2, others, 0.5)
            total = s1[0] + 2 * s2[0] + np.arange(len(mass)) + member * x * y
            kept = mass > 1e-14
            twos = np.full(int(kept.sum()), float(n2 + member * (x == 2)))
            found.append(np.stack([twos, total[kept], mass[kept]]))
        twos, total, mass = np.concatenate(found, axis=1)
        return _root(n - twos, twos, total), mass / mass.sum()

    def table(n: int) -> Table:
        (out, out_mass), (inside, in_mass) = atoms(n, False), atoms(n, True)
        none_out, none_in = np.zeros_like(in_mass), np.zeros_like(out_mass)
        masses = np.concatenate([out_mass, none_out]), np.concatenate([none_in, in_mass])
        return np.concatenate([out, inside]), *masses, np.full(len(out) + len(inside), np.nan)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        inputs = _rows(rng.integers(1, 3, (games, count, n)).astype(float), x, member)
        labels = _rows((rng.uniform(size=inputs.shape) < expit(theta * inputs)).astype(float), y, member)
        twos = (inputs == 2).sum(axis=2).astype(float)
        return _root(n - twos, twos, (inputs * labels).sum(axis=2))

    spread = 0.5 * p1 * (1 - p1) + 2.0 * p2 * (1 - p2)
    psi = x * (y - float(expit(theta * x)))
    return Piece(theta, -spread, psi, spread, lru_cache(maxsize=8)(table), draw)


def _root(ones: np.ndarray, twos: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Newton steps for N1 s(t) + 2 N2 s(2t) = T."""
    t = np.zeros_like(total, dtype=np.float64)
    for _ in range(10):
        a, b = expit(t), expit(2 * t)
        t = t + (total - ones * a - 2 * twos * b) / (ones * a * (1 - a) + 4 * twos * b * (1 - b))
    return t


def _of_densities(grid: np.ndarray, out: np.ndarray, inside: np.ndarray) -> Table:
    masses = [np.exp(log) for log in (out, inside)]
    return grid, masses[0] / masses[0].sum(), masses[1] / masses[1].sum(), inside - out


def _rows(rows: np.ndarray, target: float, member: bool) -> np.ndarray:
    if member:
        rows[:, :, 0] = target  # the estimators are symmetric in the rows
    return rows
