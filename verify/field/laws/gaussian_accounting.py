"""Epsilon and delta of Gaussian mechanisms: alone, on a Poisson sample, over many steps; each by a law and by another way."""

import math

import numpy as np
import scipy
from scipy.special import log_ndtr, ndtr

import mipsim as mi
from mipsim.referee import Number, Replication
from verify.by_hand import near

GRANTED = 1e-13
"""What SciPy's `log_ndtr` is granted, relative."""


def log_delta(epsilon: float, mu: float) -> Number:
    """log10 of the least delta for which a shift by mu standard deviations of a normal law is (epsilon, delta)-DP.

    delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), with r the ratio of the second term to the first: an error e of
    the logarithms is an error of e (1 + r) / (1 - r) of log delta.

    Source: Balle & Wang (2018), theorem 8.

    >>> round(10 ** log_delta(1.0, 1.0).value, 6)
    0.126937
    """
    first = float(log_ndtr(mu / 2.0 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))
    left = -math.expm1(second - first)  # 1 - r
    error = GRANTED * (2.0 + abs(first) + abs(second) + epsilon) * (2.0 - left) / left
    return Number((first + math.log(left)) / math.log(10.0), error)


def calibrated_by_quadrature(epsilon: float, log10_delta: float) -> Replication:
    """The delta as the integral of what the density of N(mu, 1) has above e^epsilon times that of N(0, 1)."""
    mu = epsilon / np.sqrt(2.0 * (math.log(1.25) - log10_delta * math.log(10.0)))
    start = epsilon / mu + mu / 2.0  # there the log ratio mu x - mu^2/2 is epsilon
    result = scipy.integrate.quad(
        lambda x: scipy.stats.norm.pdf(x - mu) - math.exp(epsilon) * scipy.stats.norm.pdf(x),
        start,
        start + 40.0,
        epsabs=0.0,
    )[0]
    value = math.log10(result)
    return Replication(
        value, value - 1e-6, value + 1e-6, "log10 delta", "SciPy, quadrature of the two densities"
    )


ADDED, REPLACED = "a record added or removed", "a record replaced"


ROUNDING = 1e-15
"""Of a difference of probabilities, absolute: a few units in the last place of 1."""


def sampled_delta(epsilon: float, sigma: float, rate: float, neighbours: str) -> Number:
    """log10 delta at log(1 + rate (e^epsilon - 1)), of a sum of numbers in [-1, 1] over a Poisson sample, with N(0, sigma^2) added.

    The record is 1, and in the neighbour it is absent or -1; the other records are 0. The likelihood ratio rises with the output, so
    that the best event is a half-line. With the record added or removed no other inputs show more, in either direction (Zhu,
    Dong, Wang 2022, theorem 11); with it replaced others may, so that the number is a lower bound and refutes only.

    Source: Lebeda, Regehr, Kamath, Steinke (2024), section 4.
    """
    slope = 1.0 + rate * math.expm1(epsilon)

    def above(end: float, shift: float) -> float:
        """P(output > end) where the record, if it is sampled, adds `shift`."""
        return (1.0 - rate) * float(ndtr(-end / sigma)) + rate * float(ndtr((shift - end) / sigma))

    def passed(x: float) -> float:
        """Log of the ratio at x, less the log of the slope: it rises with x."""
        ratio = [
            np.logaddexp(math.log1p(-rate), math.log(rate) + (shift * x - 0.5 * shift**2) / sigma**2)
            for shift in (1.0, 0.0 if neighbours == ADDED else -1.0)
        ]
        return float(ratio[0] - ratio[1]) - math.log(slope)

    # Beyond epsilon sigma^2 + 1/2 the ratio of the pair passes the slope.
    far = sigma**2 * (epsilon + 1.0) + 40.0 * sigma + 2.0
    end = float(scipy.optimize.brentq(passed, -far, far, xtol=1e-13))  # pyright: ignore[reportArgumentType]
    best = above(end, 1.0) - slope * above(end, 0.0 if neighbours == ADDED else -1.0)
    # the neighbour's half-line, below another end
    if neighbours == ADDED and passed(-far) < -2.0 * math.log(slope):
        back = scipy.optimize.brentq(lambda x: passed(x) + 2.0 * math.log(slope), -far, far, xtol=1e-13)
        other = float(back)  # pyright: ignore[reportArgumentType]
        best = max(best, (1.0 - above(other, 0.0)) - slope * (1.0 - above(other, 1.0)))
    error = ROUNDING * (1.0 + slope)
    route = "one event" if neighbours == REPLACED else "closed form"
    if best > 10.0 * error:
        result = math.log10(best), error / (best - error) / math.log(10.0)
        return Number(*result, unknown="above" if neighbours == REPLACED else "", route=route)
    # Float64 does not tell it from 0.
    if neighbours == REPLACED:
        return Number(-math.inf, unknown="above", route=route)
    return Number(math.log10(max(best, 0.0) + error), unknown="below", route=route)


def sampling_claim(epsilon: float, sigma: float, rate: float) -> Number:
    """log10 of rate times the delta of the mechanism without sampling, when a record is added or removed."""
    result = log_delta(epsilon, 1.0 / sigma)
    return Number(result.value + math.log10(rate), result.error)


def by_densities(epsilon: float, sigma: float, rate: float, neighbours: str) -> Replication:
    """The delta as the integral of what either density has above the other, on a grid; with a record replaced it is a lower bound."""
    slope = 1.0 + rate * math.expm1(epsilon)
    x = np.linspace(-1.0 - 12.0 * sigma, 1.0 + 12.0 * sigma, 400_001)
    null, there, other = (
        np.exp(-0.5 * ((x - at) / sigma) ** 2) for at in (0.0, 1.0, -1.0 if neighbours == REPLACED else 0.0)
    )
    above = (1.0 - rate) * null + rate * there - slope * ((1.0 - rate) * null + rate * other)
    result = float(np.maximum(above, 0.0).sum() * (x[1] - x[0]) / (sigma * math.sqrt(2.0 * math.pi)))
    value = math.log10(result)
    return Replication(
        value,
        value - 1e-4,
        math.inf if neighbours == REPLACED else value + 1e-4,
        "log10 delta",
        "NumPy, the two densities on a grid of 400,001 outputs",
    )


def limit_epsilon(sigma: float, nu: float, log10_delta: float) -> float:
    """Epsilon of G_mu with mu = nu sqrt(exp(1 / sigma^2) - 1), nu the sampling rate times the root of the number of steps.

    Source: Bu, Dong, Long, Su (2020), section 3.

    >>> round(limit_epsilon(0.5, 0.1, -5.0), 2)
    3.06
    """
    mu = nu * math.sqrt(math.expm1(1.0 / sigma**2))
    return float(mi.GaussianTradeOff(mu).epsilon(10.0**log10_delta))


def composed_epsilon(sigma: float, rate: float, steps: int, log10_delta: float) -> Number:
    """The true epsilon of the Poisson-sampled Gaussian steps, of both directions, between certified bounds.
    Raises ValueError if the composition is not known to that delta in both directions.
    """
    delta = 10.0**log10_delta
    curve = mi.dpsgd(sigma, rate, steps)
    ends = [item.epsilon_bounds(delta) for item in (curve, curve.inverse())]
    low, high = max(end[0] for end in ends), max(end[1] for end in ends)
    if not math.isfinite(high):
        raise ValueError(f"log10_delta is {log10_delta:g}; the composition is not known to that delta")
    return Number(0.5 * (low + high), 0.5 * (high - low))


def by_transform(sigma: float, nu: float, steps: int, log10_delta: float) -> Replication:
    """The delta at the claimed epsilon: the losses of a single step rounded to a grid, their law to the power `steps` by a Fourier transform."""
    mu, width, size = nu * math.sqrt(math.expm1(1.0 / sigma**2)), min(2e-4, 0.2 / steps), 1 << 21
    delta = lambda e: ndtr(mu / 2 - e / mu) - math.exp(e + log_ndtr(-mu / 2 - e / mu))  # noqa: E731
    epsilon = scipy.optimize.brentq(lambda e: delta(e) - 10.0**log10_delta, 0.0, mu**2 / 2 + 40 * mu)
    rate = nu / math.sqrt(steps)
    x = np.linspace(-12.0 * sigma, 1.0 + 12.0 * sigma, 2_000_001)
    loss = np.log1p(rate * np.expm1((2.0 * x[:-1] + np.diff(x) - 1.0) / (2.0 * sigma**2)))
    mass = (1.0 - rate) * np.diff(ndtr(x / sigma)) + rate * np.diff(ndtr((x - 1.0) / sigma))
    item = np.bincount(np.rint(loss / width).astype(int) % size, mass, size)
    law = np.maximum(np.fft.irfft(np.fft.rfft(item) ** steps, size), 0.0)
    total = width * np.fft.fftfreq(size, 1.0 / size)
    result = float((law * np.maximum(-np.expm1(epsilon - total), 0.0)).sum())
    what, how = (
        "delta at the claimed epsilon",
        f"NumPy, the losses of {steps} steps on a grid, by a Fourier transform",
    )
    # Each loss is rounded by at most half a cell.
    off = math.expm1(0.5 * width * steps)
    return Replication(*near(result, off), what=what, how=how, claim=10.0**log10_delta)
