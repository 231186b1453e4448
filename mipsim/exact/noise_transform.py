"""The noise of a linear score: as independent parts with known transforms, and in closed form where it has any."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr, ndtr

from mipsim.exact.density_rows import LaplaceRow, NormalRow
from mipsim.exact.rounding import EPS, Bounded, precise_dot
from mipsim.exact.rows import AbstractRow, row_of
from mipsim.mechanisms.release import Release

_WORST = 1e-8  # a larger bound is of no use: scales that are nearly equal make the terms cancel
_MOST = 256  # scales: each threshold costs as many terms


@dataclass(frozen=True)
class ScoreNoise:
    """The sum of independent parts, which is weights . noise: independent of the rows, and the same in both worlds."""

    parts: tuple[AbstractRow, ...] = ()  # centred laws, in score units
    means: tuple[float, ...] = ()
    variances: tuple[float, ...] = ()
    # a bound on the distance of the parts' laws from the true ones in total variation, together
    error: float = 0.0

    @property
    def mean(self) -> float:
        """Of all parts together."""
        return fsum(self.means)

    @property
    def variance(self) -> float:
        """Of all parts together."""
        return fsum(self.variances)

    @property
    def smooth(self) -> ScoreNoise:
        """The parts that have a density."""
        retained = [i for i, part in enumerate(self.parts) if part.atoms is None]
        means, variances = (tuple(each[i] for i in retained) for each in (self.means, self.variances))
        return ScoreNoise(tuple(self.parts[i] for i in retained), means, variances, self.error)

    def on_axis(self, t: np.ndarray) -> Bounded:
        """Log E exp(i t (noise - mean)) and a bound on its error; shape of t."""
        value, error = np.zeros(t.shape, complex), np.zeros(t.shape)
        for result, unsure in (part.on_axis(t) for part in self.parts):
            value, error = value + result, error + unsure
        return value, error

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real s with a finite E exp(s noise)."""
        lows, highs = zip((-np.inf, np.inf), *(part.strip for part in self.parts), strict=True)
        return max(lows), min(highs)

    def log_mgf(self, s: float) -> float:
        """Log E exp(s (noise - mean)); inf outside the strip."""
        low, high = self.strip
        if not low < s < high:
            return np.inf
        return sum(float(part.cumulant(np.array([complex(s)])).real[0]) for part in self.parts)

    @property
    def tail(self) -> NoiseTail | None:
        """The closed form of its law, where there is noise and it is Gaussian and Laplace noise only."""
        known = all(isinstance(part, (NormalRow, LaplaceRow)) for part in self.parts)
        if not self.parts or not known or self.error > 0.0:
            return None
        variance = fsum(part.variance for part in self.parts if isinstance(part, NormalRow))
        scales = [part.scales for part in self.parts if isinstance(part, LaplaceRow)]
        return noise_tail(variance, np.concatenate([np.zeros(0), *scales]))


NO_NOISE = ScoreNoise()


def score_noise(release: Release, weights: np.ndarray) -> ScoreNoise | None:
    """The noise of a linear score, read from the release; None where `row_of` does not know the law of a noise.
    >>> import mipsim as mi
    >>> release = mi.LaplaceNoise(mi.EmpiricalMean(), 0.5).mean_of_rows(10)
    >>> score_noise(release, np.array([2.0, 0.0])).variance
    2.0
    """
    variance, error = float(np.sum(weights**2 * release.variance)), 0.0
    result: list[tuple[AbstractRow, float, float]] = (
        [(NormalRow(variance), 0.0, variance)] if variance else []
    )
    for noise in release.noises:
        pulled = weights * noise.scale
        used = pulled[pulled != 0.0]
        if not used.size:
            continue
        part = row_of(noise.law, used)
        if part is None:
            return None
        mean = precise_dot(used, np.broadcast_to(noise.law.mean, used.shape))
        result.append((part, mean, float(used @ used) * float(noise.law.variance[0])))
        error += used.size * noise.error
    parts, means, variances = zip(*result, strict=True) if result else ((), (), ())
    return ScoreNoise(parts, means, variances, error)


@dataclass(frozen=True)
class NoiseTail:
    """P(noise > x) for N(0, sd^2) plus Laplace noises of different scales, or Laplace noises of a single scale alone.

    Different scales: prod_i 1 / (1 - b_i^2 s^2) = sum_i c_i / (1 - b_i^2 s^2) with c_i = prod_j b_i^2 / (b_i^2 - b_j^2), so
    that the tail is the same combination of tails of a normal and a Laplace. A single scale, m times: the sum is a difference of two
    Erlang times, whose tail is sum_k w_k Q(k, x / b), k = 1 .. m, with w_k the chance that k stages are left when the other has
    ended; all positive.
    """

    sd: float  # >= 0
    scales: np.ndarray  # b > 0, shape (m,); with sd > 0 all different

    @property
    def error_bound(self) -> float:
        """Of `sf` at any point: rounding of the functions and of the combination, whose terms cancel."""
        if not self.scales.size:
            return 16.0 * EPS
        if self._equal:
            return 64.0 * EPS * (1.0 + self.scales.size)
        b, sd = self.scales, self.sd
        # Each exponent is right to some EPS of its largest part, sd^2 / (2 b^2), where the two halves count at all.
        each = 64.0 + 8.0 * np.square(sd / b) + 8.0 * b.size
        return float(EPS * np.abs(self._parts) @ each)

    @property
    def density(self) -> float:
        """The largest value of the density."""
        of_normal = 0.4 / self.sd if self.sd > 0.0 else np.inf
        return min(of_normal, 0.5 / float(self.scales.max()) if self.scales.size else np.inf)

    @property
    def spread(self) -> float:
        """A length beyond which the tail is far below every bound, under 1e-150 with 256 scales; what uses it counts what lies beyond."""
        return 40.0 * self.sd + 750.0 * float(self.scales.max(initial=0.0))

    @cached_property
    def _equal(self) -> bool:
        return self.sd == 0.0 and bool((self.scales == self.scales[0]).all())

    @cached_property
    def _parts(self) -> np.ndarray:
        b, m = self.scales, self.scales.size
        if m == 1:
            return np.ones(1)
        gaps = (b[:, None] - b) * (b[:, None] + b)
        with np.errstate(divide="ignore"):
            return np.prod(np.where(np.eye(m, dtype=bool), 1.0, np.square(b)[:, None] / gaps), axis=1)

    def sf(self, x: np.ndarray) -> np.ndarray:
        """P(noise > x), shape of x."""
        finite = np.isfinite(x)
        far = np.where(finite, self._upper(np.abs(np.where(finite, x, 0.0))), 0.0)
        return np.where(x >= 0.0, far, 1.0 - far)

    def _upper(self, x: np.ndarray) -> np.ndarray:
        if not self.scales.size:
            return ndtr(-x / self.sd)
        total = np.zeros_like(x)
        if not self._equal:
            for c, b in zip(self._parts, self.scales, strict=True):
                total += c * self._pair(x, b)
            return np.clip(total, 0.0, 1.0)
        m = self.scales.size
        k = np.arange(1, m + 1)
        weight = np.exp(gammaln(2 * m - k) - gammaln(m) - gammaln(m - k + 1.0) - (2 * m - k) * np.log(2.0))
        for i, w in zip(k, weight, strict=True):
            total += w * gammaincc(float(i), x / self.scales[0])
        return total

    def _pair(self, x: np.ndarray, b: float) -> np.ndarray:
        """A normal and a Laplace: Phi(-x / sd) + (half(x) - half(-x)) / 2."""
        if self.sd == 0.0:
            return 0.5 * np.exp(-x / b)
        u, v = x / self.sd, self.sd / b
        half = np.exp(0.5 * v * v - u * v + log_ndtr(u - v))
        other = np.exp(0.5 * v * v + u * v + log_ndtr(-u - v))
        return ndtr(-u) + 0.5 * (half - other)


def noise_tail(variance: float, scales: np.ndarray) -> NoiseTail | None:
    """The closed form, or None where it is of no use."""
    result = NoiseTail(float(np.sqrt(variance)), np.sort(np.asarray(scales, float)))
    b = result.scales
    twice = bool((np.diff(b) == 0.0).any())
    if (twice and (variance > 0.0 or b[0] != b[-1])) or b.size > _MOST:
        return None
    return result if result.error_bound < _WORST else None
