"""The law of one coordinate's term of an additive score, in the two worlds, as a finite table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc, ndtr

from mipsim.exact.binomial import binomial_error, binomial_table, one_trial_less
from mipsim.special.gamma_tail import gamma_below

_REACH, _MORE = 12.0, 40.0  # standard deviations and counts at either side of a binomial mean
_BEYOND = 1e-24  # of what lies there: exp(-58) by Bernstein's inequality

Vector = np.ndarray
CharacteristicFunction = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Terms:
    """`count` independent coordinates that share one law and one target value.

    Attributes:
        total: the possible values of the released column sum (noise included), shape (m,), in units of the data.
        out: their probabilities when the target is out, shape (m,).
        inside: their probabilities when the target is in, shape (m,).
        ratio: log(inside / out) as the exact likelihood-ratio attack sees it, shape (m,); -inf and +inf allowed.
        count: how many coordinates.
        leakage: t^2 = (z - mean)^2 / (variance + noise variance) of one coordinate, without unit.
        deviation: (total - n mean) / sqrt(n (variance + noise variance)), shape (m,).
        t: (z - mean) / sd of one coordinate, signed.
        n: rows behind the sum.
        error: a proven bound on the distance of the tables from the truth in total variation, in either world, for one
            coordinate; inf where there is none, and then a law made of them is an estimate and decides nothing.
        cell: where a value stands for a cell of totals, a bound on how much log(inside / out) varies over it, shape (m,);
            None for single values. `ratio` is then log of the cell's two probabilities, `deviation` that of its mean "out".
        length: of the cell, in units of `deviation`, shape (m,).
    """

    total: Vector
    out: Vector
    inside: Vector
    ratio: Vector
    count: int
    t: float
    deviation: Vector
    n: int
    error: float = np.inf
    cell: Vector | None = None
    length: Vector | None = None

    @property
    def leakage(self) -> float:
        """t^2 of one coordinate."""
        return self.t**2

    @property
    def covariance_score(self) -> Vector:
        """The term of the covariance score with known moments: t deviation / sqrt(n) - t^2 / (2 n), shape (m,)."""
        return self.t * self.deviation / np.sqrt(self.n) - self.t**2 / (2 * self.n)


def binomial_terms(n: int, p: float, z: int, count: int) -> Terms:
    """Bernoulli(p) data and a target value z in {0, 1}: the sum is Binomial(n, p) or z + Binomial(n - 1, p).

    The ratio is log(s / (n p)) for z = 1 and log((n - s) / (n (1 - p))) for z = 0, by division of the two mass functions.
    The same table serves a law with rationally independent atoms: the sum then reveals how often the target's atom
    occurs, so with p its probability and z = 1 this is the exact law of the likelihood ratio.

    Examples:
        >>> terms = binomial_terms(2, 0.5, 1, 1)
        >>> print(terms.out, terms.inside, terms.ratio.round(3))
        [0.25 0.5  0.25] [0.  0.5 0.5] [ -inf 0.    0.693]
    """
    reach = _REACH * np.sqrt(n * p * (1 - p)) + _MORE
    low, high = max(0, int(n * p - reach)), min(n, int(n * p + reach) + 1)
    every, first = np.array([p]), np.array([float(low)])
    table = binomial_table(n, every, first, high - low + 1)
    s = np.arange(low, min(high + z, n) + 1)
    out, inside = np.zeros(s.size), np.zeros(s.size)
    out[: high - low + 1] = table[0]
    inside[z:] = one_trial_less(table, n, first)[0][: s.size - z]
    with np.errstate(divide="ignore"):
        ratio = np.log(s / (n * p)) if z == 1 else np.log((n - s) / (n * (1 - p)))
    deviation = (s - n * p) / np.sqrt(n * p * (1 - p))
    t = (z - p) / np.sqrt(p * (1 - p))
    error = float(binomial_error(n, every)[0]) + _BEYOND
    return Terms(s.astype(float), out, inside, ratio, count, t, deviation, n, error)


def normal_terms(
    n: int,
    mean: float,
    variance: float,
    z: float,
    count: int,
    noise_variance: float = 0.0,
    points: int = 8192,
    reach: float = 9.0,
) -> Terms:
    """N(mean, variance) data and Gaussian noise N(0, n noise_variance) on the sum: cells of the sum, with proven error.

    Args:
        n: rows, at least 2 where there is no noise.
        mean: of one record's coordinate.
        variance: of one record's coordinate.
        z: the target's value.
        count: how many such coordinates.
        noise_variance: gamma^2.
        points: cells.
        reach: half-width of the grid, in standard deviations of the sum.

    Examples:
        >>> terms = normal_terms(50, 0.0, 1.0, 1.0, 1)
        >>> print(terms.error < 1e-12, round(float(terms.inside @ terms.deviation), 4))  # 1 / sqrt(50)
        True 0.1414
    """
    sd = np.sqrt([n * (variance + noise_variance), (n - 1) * variance + n * noise_variance])
    shift = z - mean
    edge = np.linspace(-reach * sd[0], reach * sd[0] + shift, points + 1)
    if shift < 0:
        edge = np.linspace(-reach * sd[0] + shift, reach * sd[0], points + 1)
    place = np.stack([edge / sd[0], (edge - shift) / sd[1]])
    # Differences of the tail that is small: every probability keeps its digits.
    upper = place[:, :-1] > 0
    masses = np.where(upper, -np.diff(ndtr(-place), axis=1), np.diff(ndtr(place), axis=1))
    density = np.exp(-0.5 * place[0] ** 2) / np.sqrt(2 * np.pi)
    ratio = 0.5 * (place[0] ** 2 - place[1] ** 2) + np.log(sd[0] / sd[1])
    # The ratio is a parabola that is largest at `top` (sd[1] < sd[0]).
    top = shift * sd[0] ** 2 / (sd[0] ** 2 - sd[1] ** 2)
    peak = 0.5 * (top**2 / sd[0] ** 2 - (top - shift) ** 2 / sd[1] ** 2) + np.log(sd[0] / sd[1])
    highest = np.where((edge[:-1] < top) & (top < edge[1:]), peak, np.maximum(ratio[:-1], ratio[1:]))
    cell = highest - np.minimum(ratio[:-1], ratio[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        average = np.clip(-np.diff(density) / masses[0], place[0, :-1], place[0, 1:])
    average = np.where(masses[0] > 1e-200, average, 0.5 * (place[0, :-1] + place[0, 1:]))
    t = shift / np.sqrt(variance + noise_variance)
    return _cells(edge[:-1] + n * mean, masses, cell, average, np.diff(place[0]), count, float(t), n)


def exponential_terms(
    n: int, scale: float, z: float, count: int, points: int = 8192, reach: float = 9.0
) -> Terms:
    """Exponential(scale) data: the sum is a gamma variable, cells of it with proven error.

    The ratio (n - 1) log(1 - z / y) + z / scale + a constant rises in y for z > 0 and falls for z < 0.

    Args:
        n: rows, at least 2.
        scale: mean of one record's coordinate.
        z: the target's value; below 0 it is outside the support.
        count: how many such coordinates.
        points: cells.
        reach: half-width of the grid, in standard deviations of the sum.

    Examples:
        >>> terms = exponential_terms(50, 1.0, 2.0, 1)
        >>> print(terms.error < 1e-9, round(float(terms.inside @ terms.deviation), 3))  # 1 / sqrt(50)
        True 0.141
    """
    w, sd = z / scale, np.sqrt(n)
    low, high = max(0.0, n - reach * sd) + min(w, 0.0), n + 1.5 * reach * sd + max(w, 0.0)
    edge = np.unique(
        np.concatenate([np.linspace(low, high, points + 1), [0.0, w] if low <= max(0.0, w) else []])
    )
    place = np.stack([edge, edge - w])
    shape = np.array([n, n - 1.0])
    below = np.stack([gamma_below(k, np.maximum(y, 0.0)) for k, y in zip(shape, place, strict=True)])
    above = np.stack([gammaincc(k, np.maximum(y, 0.0)) for k, y in zip(shape, place, strict=True)])
    masses = np.where(below[:, :-1] > 0.5, -np.diff(above, axis=1), np.diff(below, axis=1))
    masses = np.maximum(masses, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (n - 1) * np.log(np.where(place.min(axis=0) > 0.0, place[1] / place[0], 0.0))
        cell = np.abs(np.diff(ratio))
        more = np.where(
            below[0, :-1] > 0.5,
            -np.diff(gammaincc(n + 1.0, np.maximum(edge, 0.0))),
            np.diff(gamma_below(n + 1.0, np.maximum(edge, 0.0))),
        )
        average = np.clip(n * more / masses[0], edge[:-1], edge[1:])
    average = np.where(masses[0] > 1e-200, average, 0.5 * (edge[:-1] + edge[1:]))
    single = (
        masses.min(axis=0) == 0.0
    )  # impossible in one of the worlds: the ratio is infinite all over the cell
    cell = np.where(single, 0.0, cell)
    t = (z - scale) / scale
    return _cells(edge[:-1] * scale, masses, cell, (average - n) / sd, np.diff(edge) / sd, count, t, n, 1e-12)


def _cells(
    total: Vector,
    masses: np.ndarray,
    cell: Vector,
    deviation: Vector,
    length: Vector,
    count: int,
    t: float,
    n: int,
    accuracy: float = 2.0**-50,
) -> Terms:
    """Cells over which the ratio varies by more than 1 are left out, and so is what lies beyond the grid: an error.

    accuracy: relative, of the distribution functions behind the masses.
    """
    wild = ~(cell <= 1.0)
    masses, cell = np.where(wild, 0.0, masses), np.where(wild, 0.0, cell)
    missing = float(np.max(np.abs(1.0 - masses.sum(axis=1)))) + 2.0 * accuracy
    with np.errstate(divide="ignore"):
        ratio = np.where(wild, 0.0, np.log(masses[1]) - np.log(np.where(masses[0] > 0, masses[0], 1.0)))
    ratio = np.where(~wild & (masses[0] == 0.0), np.inf, ratio)
    ratio = np.where((masses == 0.0).all(axis=0), 0.0, ratio)
    return Terms(total, masses[0], masses[1], ratio, count, t, deviation, n, missing, cell, length)


def density_terms(
    n: int,
    characteristic: CharacteristicFunction,
    mean: float,
    variance: float,
    z: float,
    count: int,
    noise_variance: float = 0.0,
    points: int = 4096,
    reach: float = 16.0,
) -> Terms:
    """Data with a known characteristic function: the sum's density on a grid, by a fast Fourier transform.

    Args:
        n: rows.
        characteristic: u -> E exp(i u (Z - mean)) of one record's coordinate, on an array of real u.
        mean: of one record's coordinate.
        variance: of one record's coordinate.
        z: the target's value at this coordinate; it need not lie in the support.
        count: how many such coordinates.
        noise_variance: gamma^2 of added N(0, n gamma^2) noise on the sum.
        points: grid points (a power of 2).
        reach: half-width of the grid in standard deviations of the sum.

    Both densities are trapezoid sums of the same transform, so their aliasing errors are alike; points whose density
    is below 1e-13 of its maximum carry a ratio clipped to +-60, and together hold less than 1e-9 of the probability.

    Examples:
        >>> import numpy as np
        >>> normal = density_terms(50, lambda u: np.exp(-u**2 / 2), 0.0, 1.0, 1.0, 1)
        >>> print(round(float(normal.out.sum()), 9), round(float(np.sum(normal.inside * normal.total)), 6))
        1.0 1.0
    """
    spread = np.sqrt(n * (variance + noise_variance))
    step = 2 * reach * spread / points
    grid = (np.arange(points) - points // 2) * step  # of the centred sum
    u = 2 * np.pi * np.fft.fftfreq(points, step)
    noise = np.exp(-0.5 * n * noise_variance * u**2)
    one = characteristic(u)
    out = _density(one**n * noise, step)
    inside = _density(one ** (n - 1) * noise * np.exp(1j * u * (z - mean)), step)
    floor = 1e-13 * out.max()
    ratio = np.where(
        (out > floor) | (inside > floor),
        np.log(np.maximum(inside, floor * 1e-3) / np.maximum(out, floor * 1e-3)),
        0.0,
    )
    out, inside = np.maximum(out, 0.0) * step, np.maximum(inside, 0.0) * step
    t = (z - mean) / np.sqrt(variance + noise_variance)
    return Terms(
        grid + n * mean, out / out.sum(), inside / inside.sum(), ratio, count, float(t), grid / spread, n
    )


def _density(transform: np.ndarray, step: float) -> np.ndarray:
    values = np.fft.fftshift(np.fft.fft(transform)).real
    return values / (values.shape[0] * step)
