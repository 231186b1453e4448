"""The law of independent Gaussian and Laplace noises, added up, in closed form."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr, ndtr

_EPS = 2.0**-52
_WORST = 1e-8
_MOST = 256


@dataclass(frozen=True)
class NoiseTail:
    """P(noise > x) for N(0, sd^2) plus Laplace noises of different scales, or Laplace noises of one scale alone.

    Different scales: prod_i 1 / (1 - b_i^2 s^2) = sum_i c_i / (1 - b_i^2 s^2) with c_i = prod_j b_i^2 / (b_i^2 - b_j^2), so
    that the tail is the same combination of tails of a normal and one Laplace. One scale, m times: the sum is a difference of two
    Erlang times, whose tail is sum_k w_k Q(k, x / b), k = 1 .. m, with w_k the chance that k stages are left when the other has
    ended; all positive.

    Attributes:
        sd: >= 0.
        scales: b > 0, shape (m,); with sd > 0 all different.

    Examples:
        >>> NoiseTail(0.0, np.array([1.0, 1.0])).sf(np.array([0.0, 1.0])).round(6)  # (2 + x) exp(-x) / 4
        array([0.5     , 0.275910])
    """

    sd: float
    scales: np.ndarray

    @property
    def error_bound(self) -> float:
        """Of `sf` at any point: rounding of the functions and of the combination, whose terms cancel."""
        if not self.scales.size:
            return 16.0 * _EPS
        if self._equal:
            return 64.0 * _EPS * (1.0 + self.scales.size)
        b, sd = self.scales, self.sd
        # Each exponent is right to some EPS of its largest part, sd^2 / (2 b^2), where the two halves count at all.
        each = 64.0 + 8.0 * np.square(sd / b) + 8.0 * b.size
        return float(_EPS * np.abs(self._parts) @ each)

    @property
    def is_accurate(self) -> bool:
        """Whether the bound is of use: scales that are nearly equal make the terms cancel."""
        return bool(self.error_bound < _WORST)

    @property
    def density(self) -> float:
        """The largest value of the density."""
        of_normal = 0.4 / self.sd if self.sd > 0.0 else np.inf
        return min(of_normal, 0.5 / float(self.scales.max()) if self.scales.size else np.inf)

    @property
    def spread(self) -> float:
        """A length in which the tail falls by far."""
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
        far = self._upper(np.abs(x))
        return np.where(x >= 0.0, far, 1.0 - far)

    def _upper(self, x: np.ndarray) -> np.ndarray:
        if not self.scales.size:
            return ndtr(-x / self.sd)
        if self._equal:
            m = self.scales.size
            k = np.arange(1, m + 1)
            weight = np.exp(
                gammaln(2 * m - k) - gammaln(m) - gammaln(m - k + 1.0) - (2 * m - k) * np.log(2.0)
            )
            return sum(
                (w * gammaincc(float(i), x / self.scales[0]) for i, w in zip(k, weight, strict=True)),
                np.zeros_like(x),
            )
        return np.clip(
            sum(
                (c * self._one(x, b) for c, b in zip(self._parts, self.scales, strict=True)), np.zeros_like(x)
            ),
            0.0,
            1.0,
        )

    def _one(self, x: np.ndarray, b: float) -> np.ndarray:
        """A normal and a Laplace: Phi(-x / sd) + (half(x) - half(-x)) / 2."""
        if self.sd == 0.0:
            return 0.5 * np.exp(-x / b)
        u, v = x / self.sd, self.sd / b
        half = np.exp(0.5 * v * v - u * v + log_ndtr(u - v))
        other = np.exp(0.5 * v * v + u * v + log_ndtr(-u - v))
        return ndtr(-u) + 0.5 * (half - other)


def noise_tail(variance: float, scales: np.ndarray) -> NoiseTail | None:
    """The closed form, or None where it is of no use.

    Examples:
        >>> noise_tail(0.0, np.array([1.0, 1.0 + 1e-9])) is None
        True
    """
    found = NoiseTail(float(np.sqrt(variance)), np.sort(np.asarray(scales, float)))
    b = found.scales
    twice = bool((np.diff(b) == 0.0).any())
    if (twice and (variance > 0.0 or b[0] != b[-1])) or b.size > _MOST:
        return None
    return found if found.is_accurate else None
