"""Exact moments of scalar Z-estimators in the fixed-target game, a single coordinate of a product problem each, and their draws.

The laws of sums of such coordinates follow by Berry's and Esseen's theorem, whose errors are proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, digamma, expit, polygamma

from mipsim.exact.binomial import binomial_probabilities


@dataclass(frozen=True)
class World:
    """Moments of a single term in a single world: itself a sum of independent parts, or normal given something random, or both."""

    # mean, variance: of the term; given what is random, where it is normal, their averages
    mean: float
    variance: float
    third: float  # sum over the independent parts of E|part - mean|^3; 0 for a normal term
    # mean_error, variance_error: bounds on what `mean` and `variance` are off
    mean_error: float = 0.0
    variance_error: float = 0.0
    # mean_spread, variance_spread: variances of the conditional mean and of the conditional variance
    mean_spread: float = 0.0
    variance_spread: float = 0.0
    elsewhere: float = 0.0  # probability of all that these moments leave out


Worlds = tuple[World, World]
"""Without the target, with it."""


@dataclass(frozen=True)
class Piece:
    """`share` of the coordinates: a scalar Z-estimator with a target record.
    >>> out, inside = mean_piece(0.0, 1.0, 2.0).worlds(100)  # a target two standard deviations out moves the mean
    >>> print(out.mean, inside.mean, inside.variance)
    0.0 0.2 0.99
    """

    # theta, derivative, psi, spread: theta_0, V, psi at the target, E psi^2
    theta: float
    derivative: float
    psi: float
    spread: float
    worlds: Callable[[int], Worlds]  # n -> moments of sqrt(n) (thetahat - theta_0) / sigma
    # (generator, games, coordinates, n, member) -> estimates of literal games, shape (games, coordinates)
    draw: Callable[[np.random.Generator, int, int, int, bool], np.ndarray]
    # n -> moments of the log ratio of the two laws of thetahat, where they are known in closed form
    ratio: Callable[[int], Worlds] | None = None
    share: float = 1.0  # of the coordinates of a problem

    @property
    def influence(self) -> float:
        """I(z) = -psi / V."""
        return -self.psi / self.derivative

    @property
    def sigma(self) -> float:
        """Asymptotic variance of sqrt(n) (thetahat - theta_0)."""
        return self.spread / self.derivative**2

    def ratio_worlds(self, n: int) -> Worlds:
        """Moments of the log ratio out and in; ValueError where they have no closed form."""
        if self.ratio is None:
            raise ValueError("the ratio of this estimator has no moments in closed form")
        return self.ratio(n)

    def weight(self, reading: str) -> float:
        """Coefficient of thetahat in the score, as `InfluenceScore` has it."""
        if reading == "corrected":
            return self.influence / self.sigma
        v = self.derivative if reading == "printed" else -self.derivative
        return (self.psi / v - self.theta) / v


def mean_piece(theta: float, sd: float, z: float) -> Piece:
    """The mean of N(theta, sd^2) records and a target z: psi = x - theta, V = -1; normal in both worlds."""

    def worlds(n: int) -> Worlds:
        shift, share = (z - theta) / sd / np.sqrt(n), (n - 1) / n
        return World(0.0, 1.0, 0.0), World(shift, share, 0.0)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        return _rows(rng.normal(theta, sd, (games, count, n)), z, member).mean(axis=2)

    return Piece(theta, -1.0, z - theta, sd**2, worlds, draw)


def logistic_median_piece(theta: float, size: float, quantile: float) -> Piece:
    """The median of n = 2k + 1 records of theta + size Logistic, density 1/(4 size) at theta, and a target at that quantile.

    In U = F(thetahat): Beta(k + 1, k + 1) out. In, Beta(k + 1, k) below a target above the median and Beta(k, k + 1) above it
    below it. logit U is the difference of two independent log-gamma numbers.
    """
    above = quantile > 0.5

    def worlds(n: int) -> Worlds:
        k, scale = n // 2, np.sqrt(n) / 2  # sigma = 2 size
        inside = _logit_beta(k + 1, k, scale) if above else _logit_beta(k, k + 1, scale)
        return _logit_beta(k + 1, k + 1, scale), _leaving(inside, k, quantile)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        z = theta + size * float(np.log(quantile / (1 - quantile)))
        return np.median(_rows(rng.logistic(theta, size, (games, count, n)), z, member), axis=2)

    sign = 1.0 if above else -1.0
    return Piece(theta, -0.5 / size, sign, 1.0, worlds, draw, _median_ratio(quantile))


def exponential_median_piece(quantile: float) -> Piece:
    """The median of n = 2k + 1 Exponential(1) records and a target at that quantile.

    The r-th smallest of N is a sum of independent exponential numbers of means 1/N ... 1/(N - r + 1) (Renyi).
    """
    theta, above = float(np.log(2.0)), quantile > 0.5

    def worlds(n: int) -> Worlds:
        k, scale = n // 2, np.sqrt(n)  # sigma = 1/(2 f) = 1
        inside = _renyi(k, 2 * k, scale) if above else _renyi(k + 1, 2 * k, scale)
        return _renyi(k + 1, n, scale), _leaving(inside, k, quantile)

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        z = -float(np.log1p(-quantile))
        return np.median(_rows(rng.exponential(size=(games, count, n)), z, member), axis=2)

    return Piece(theta, -1.0, 1.0 if above else -1.0, 1.0, worlds, draw, _median_ratio(quantile))


EXPONENTIAL_THIRD = float(12 / np.e - 2)
"""E|E - 1|^3 of an exponential number."""


def _logit_beta(a: int, b: int, scale: float) -> World:
    """Scale logit U for U ~ Beta(a, b): log G_a - log G_b, each a sum of independent exponential numbers of means 1/a, 1/(a + 1), ..."""
    mean = float(digamma(a) - digamma(b))
    variance = float(polygamma(1, a) + polygamma(1, b))
    third = EXPONENTIAL_THIRD * float(-polygamma(2, a) - polygamma(2, b)) / 2
    return World(scale * mean, scale**2 * variance, scale**3 * third)


def _renyi(bottom: int, top: int, scale: float) -> World:
    """Scale (sum of independent exponential numbers of means 1/bottom ... 1/top, less log 2)."""
    mean = float(digamma(top + 1) - digamma(bottom)) - np.log(2.0)
    variance = float(polygamma(1, bottom) - polygamma(1, top + 1))
    third = EXPONENTIAL_THIRD * float(polygamma(2, top + 1) - polygamma(2, bottom)) / 2
    return World(scale * mean, scale**2 * variance, scale**3 * third)


def _leaving(world: World, k: int, quantile: float) -> World:
    """The law with the target in differs from that of the others' order statistic only where the latter passes the target."""
    beyond = betainc(k, k + 1, 1 - quantile) if quantile > 0.5 else betainc(k, k + 1, quantile)
    return World(world.mean, world.variance, world.third, elsewhere=float(beyond))


def _median_ratio(quantile: float) -> Callable[[int], Worlds]:
    """log(k / ((2k + 1)(1 - U))) below a target above the median (mirrored for a target below): -log of a Beta number.

    Out 1 - U is Beta(k + 1, k + 1), in Beta(k, k + 1); -log Beta(a, b) is a sum of independent exponential numbers of means
    1/a ... 1/(a + b - 1) (Renyi).
    """

    def worlds(n: int) -> Worlds:
        k = n // 2
        result = []
        for a in (k + 1, k):
            item = _renyi(a, a + k, 1.0)
            mean = item.mean + float(np.log(2 * k / (2 * k + 1)))
            result.append(_leaving(World(mean, item.variance, item.third), k, quantile))
        return result[0], result[1]

    return worlds


def slope_piece(theta: float, sd: float, x: float, residual: float) -> Piece:
    """Least squares through 0 with x ~ N(0, sd^2), noise N(0, 1) and a target (x, x theta + residual)."""

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        inputs = _rows(rng.normal(0.0, sd, (games, count, n)), x, member)
        noise = _rows(rng.normal(0.0, 1.0, (games, count, n)), residual, member)
        return theta + (inputs * noise).sum(axis=2) / (inputs**2).sum(axis=2)

    def worlds(n: int) -> Worlds:
        return _regression(n, 1, (x / sd) ** 2, residual * float(np.sign(x)))

    return Piece(theta, -(sd**2), x * residual, sd**2, worlds, draw)


def block_piece(coefficients: int, distance: float, residual: float) -> Piece:
    """The score of a single regression of p coefficients, Gaussian design: x*'(thetahat - theta), ||x*||^2_{S^-1} = distance."""

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        x, y = rng.normal(size=(games, count, n, coefficients)), rng.normal(size=(games, count, n))
        target = np.full(coefficients, np.sqrt(distance / coefficients))
        if member:
            x[:, :, 0], y[:, :, 0] = target, residual
        across = x.swapaxes(2, 3)
        return np.linalg.solve(across @ x, across @ y[..., None])[..., 0] @ target

    def worlds(n: int) -> Worlds:
        return _regression(n, coefficients, distance, residual)

    return Piece(0.0, -1.0, distance * residual, distance, worlds, draw)


def _regression(n: int, p: int, a: float, r: float) -> Worlds:
    """X = sqrt(n / a) x*'(thetahat - theta), a = ||x*||^2_{S^-1}, residual r; moments by inverse moments of chi-square numbers.

    With h = a / Y, Y ~ chi-square (n - p + 1 degrees of freedom out, n - p in, the target being the n-th row): given Y the
    score is normal, out of variance h, in of mean r h/(1 + h) and variance h/(1 + h)^2. 1/(Y + a) lies between 1/Y - a/Y^2 and that
    plus a^2/Y^3, and 1/(Y + a)^2 between 1/Y^2 - 2a/Y^3 and 1/Y^2; both are positive, whatever the lower bounds are.
    """
    if n - p < 7:
        raise ValueError(
            f"n is {n}; it must be at least {p + 7}, so that E Y^-3 is finite with {p} coefficients"
        )
    i1, i2, _ = _inverse(n - p + 1)
    out = World(0.0, n * i1, 0.0, variance_spread=n**2 * (i2 - i1**2))
    i1, i2, i3 = _inverse(n - p)
    first, first_error = i1 - a * i2 + a**2 * i3 / 2, a**2 * i3 / 2
    second, second_error = i2 - a * i3, a * i3
    mean = float(np.sqrt(n * a) * r)
    variance, variance_error = n * (first - a * second), n * (first_error + a * second_error)
    inside = World(
        mean * first, variance, 0.0, abs(mean) * first_error, variance_error,
        mean_spread=mean**2 * max(second + second_error - max(first - first_error, 0.0) ** 2, 0.0),
        variance_spread=max(n**2 * i2 - max(variance - variance_error, 0.0) ** 2, 0.0),
    )  # fmt: skip
    return out, inside


def _inverse(df: int) -> tuple[float, float, float]:
    """E Y^-1, E Y^-2, E Y^-3 for a chi-square number Y."""
    item = 1 / (df - 2)
    two = item / (df - 4)
    return item, two, two / (df - 6)


def logit_piece(theta: float, agrees: bool) -> Piece:
    """Logistic regression through 0 with x = -1 or 1 evenly: thetahat = logit(S / n), S the records with y = 1{x = 1}.

    S ~ Binomial(n, p), in 1{agrees} + Binomial(n - 1, p); the moments are sums over 14 standard deviations and 64 counts. The
    ratio is that of the two binomial laws, since S is a function of thetahat; where it is infinite, its moments leave it out.
    """
    p = float(expit(theta))

    def estimate(s: np.ndarray, n: int) -> np.ndarray:
        inner = np.clip(s, 0.5, n - 0.5)  # no maximum exists at 0 and n; Newton steps stop at a large value
        return np.log(inner / (n - inner))

    def moments(n: int, of: Callable[[np.ndarray], np.ndarray]) -> Worlds:
        result = []
        for member in (0, 1):
            # Beyond 14 deviations and 63 counts lies less than 1e-40, by Bernstein's inequality; n - 1 trials have a mean 1 less at most.
            reach = 14 * np.sqrt(n * p * (1 - p)) + 64
            s = np.arange(max(0, int(n * p - reach)), min(n - member, int(n * p + reach)) + 1)
            mass = binomial_probabilities(n - member, np.array([p]), s[:1].astype(float), s.size)[0]
            with np.errstate(divide="ignore"):
                values = of(s + float(member and agrees))
            finite = np.isfinite(values)
            beyond = 1e-40 + float(mass[~finite].sum())
            mass, values = mass[finite] / mass[finite].sum(), values[finite]
            centre = float(mass @ values)
            gap = values - centre
            size = np.abs(gap)
            # Up to n = 1e9: of the masses, 3 EPS for each count from the mode (`binomial_probabilities`), 16,000 of which are a deviation;
            # of the values, some EPS of their size before theta is taken off, 16,000 deviations. Together less than 1e-10 of the gaps.
            rounding = 1e-10 * float(mass @ size)
            third = float(mass @ (gap * gap * size))  # NumPy's cube takes ten times as long
            result.append(World(centre, float(mass @ gap**2), third, rounding, elsewhere=beyond))
        return result[0], result[1]

    def worlds(n: int) -> Worlds:
        scale = np.sqrt(n * p * (1 - p))
        return moments(n, lambda s: scale * (estimate(s, n) - theta))

    def ratio(n: int) -> Worlds:
        return moments(n, lambda s: np.log(s / (n * p)) if agrees else np.log((n - s) / (n * (1 - p))))

    def draw(rng: np.random.Generator, games: int, count: int, n: int, member: bool) -> np.ndarray:
        return estimate(rng.binomial(n - member, p, (games, count)) + float(member and agrees), n)

    return Piece(theta, -p * (1 - p), float(agrees) - p, p * (1 - p), worlds, draw, ratio)


def _rows(rows: np.ndarray, target: Any, member: bool) -> np.ndarray:
    if member:
        rows[:, :, 0] = target  # the estimators are symmetric in the rows
    return rows
