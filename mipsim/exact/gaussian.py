"""Scores that are polynomials of degree two in a Gaussian output."""

from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from mipsim.exact.chi_square import ChiSquareLaw
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.rounding import EPS, ComplexArray, log_1_plus, log_of_1_plus
from mipsim.exact.transform import AbstractCumulants, Tail
from mipsim.tradeoff.bounds import CurveBounds
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

_SAME = 1e-10  # of the largest: eigenvalues that differ by less count as equal; the difference is counted
_ENOUGH = 4  # normals; of fewer the characteristic function falls too slowly
_SHARP = 1e-6  # error of an inversion that is preferred to the bounds of the chi-square
_FAR_OUT = 8.5  # exp(-8.5^2 / 2) < 1e-15
_TRUSTED = 2e-14  # of log_ndtr, relative; its tests find less than 1e-14
_DEEPEST = -1e5  # the log of the least rate whose quantile is requested


@dataclass(frozen=True)
class NormalLaw(AbstractScoreLaw):
    """N(mean_w, sd_w^2) in world w = out, in; exact to rounding."""

    # mean, sd: shape (2,)
    mean: np.ndarray
    sd: np.ndarray
    blur: float = 0.0  # a bound on the error of mean and of sd together, where they have been computed
    # whether the score itself is normal only to `blur`, and that with probability 1 - 1e-15
    curved: bool = False

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        z = (np.asarray(threshold, float) - self.mean[int(inside)]) / self.sd[int(inside)]
        return log_ndtr(-z if upper else z)

    def threshold_at(self, alpha: object) -> np.ndarray:
        a = np.asarray(alpha, float)
        with np.errstate(divide="ignore"):
            probit = np.where(a < 0.1, ndtri_exp(np.log(a)), ndtri(a))
        return self.mean[0] - self.sd[0] * probit

    @property
    def error_bound(self) -> float:
        """Rounding: with mean and threshold far from 0 in units of sd, their last digit counts.

        The density is at most .4 / sd. A threshold that matters is within 40 sd of the mean, so that a mean right to 4 EPS of itself
        and a threshold in its last digits move P by at most .4 (8 EPS |mean| / sd), and the quotient and sd, each to 4 EPS, by
        .25 (8 EPS). SciPy's log_ndtr is taken to be right to four ulp, and |log P| P <= .37.
        """
        return min(1.0, 0.4 * self._far + 16.0 * EPS + (1e-15 if self.curved else 0.0))

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        """Both tails at the threshold in units of sd, moved to either side by all that it may be off."""
        if self.curved:
            return super().tail_bounds(threshold, inside=inside)
        x, world = np.asarray(threshold, float), int(inside)
        z = (x - self.mean[world]) / self.sd[world]
        off = np.where(np.isfinite(z), self._off(np.where(np.isfinite(z), z, 0.0), world), 0.0)
        return CurveBounds.of_probit(z - off, z + off, _TRUSTED / EPS)

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Around the quantile, after a single step of Newton's method for the last digits of SciPy's."""
        if self.curved:
            return None
        upper = log_fpr < log_rest
        rate = np.maximum(np.where(upper, log_fpr, log_rest), _DEEPEST)
        z = ndtri_exp(rate)
        z = z - (log_ndtr(z) - rate) / np.exp(-0.5 * z**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(z))
        z = np.where(upper, -z, z)
        x = self.mean[0] + self.sd[0] * z
        step = self.sd[0] * (self._off(z, 0) + 4.0 * _TRUSTED * (1.0 + np.abs(z)))
        return x + 2.0 * step, x - 2.0 * step, x - 5.0 * step

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """A chord of the true rate is off by h^2 / 8 times its curvature at most: |z| phi(z), which is largest at |z| = 1."""
        if self.curved:
            return None
        world = int(inside)
        ends = (np.stack([low, high]) - self.mean[world]) / self.sd[world]
        off = self._off(ends, world)
        ends = np.stack([ends[0] - off[0], ends[1] + off[1]])
        far = np.abs(ends).max(axis=0)
        near = np.where((ends[0] <= 0.0) & (ends[1] >= 0.0), 0.0, np.abs(ends).min(axis=0))
        at = np.clip(1.0, near, far)
        curved = at * np.exp(-0.5 * np.square(at)) / np.sqrt(2.0 * np.pi)
        return 0.125 * (1.0 + 1e-9) * np.square(ends[1] - ends[0]) * curved, np.zeros(far.shape)

    def log_ratios(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """A quadratic function, which is off its chord by an eighth of its second derivative times the square of the distance."""
        if self.curved:
            return None
        z = (np.stack([low, high]) - self.mean[:, None, None]) / self.sd[:, None, None]
        value = np.log(self.sd[0] / self.sd[1]) + 0.5 * (z[0] - z[1]) * (z[0] + z[1])
        off = 4.0 * self.blur / float(self.sd.min()) + 8.0 * EPS * (
            1.0 + np.abs(z[0] - z[1]) * np.abs(z[0] + z[1])
        )
        off = off + sum(np.abs(z[w]) * self._off(z[w], w) for w in (0, 1))
        bend = 0.125 * abs(float((1.0 / self.sd**2) @ [1.0, -1.0])) * np.square(high - low) * (1.0 + 1e-6)
        bend = bend + 4.0 * EPS * np.square((high - low) / float(self.sd.min()))
        return (value - off).min(axis=0) - bend, (value + off).max(axis=0) + bend

    def auc_bounds(self) -> tuple[float, float] | None:
        """Of the difference of two scores, which is normal."""
        if self.curved:
            return None
        sd = float(np.hypot(*self.sd))
        z = float(self.mean[1] - self.mean[0]) / sd
        moved = 8.0 * EPS * float(np.abs(self.mean).sum()) + 2.0 * self.blur * (1.0 + abs(z))
        off = moved / max(sd - 2.0 * self.blur, 1e-300) + 8.0 * EPS * abs(z)
        low, high = float(ndtr(z - off)), float(ndtr(z + off))
        return max(0.0, low - 8.0 * EPS), min(1.0, high + 8.0 * EPS)

    def _off(self, z: np.ndarray, world: int) -> np.ndarray:
        """What a threshold in units of sd may be off: by its own last digits, those of mean and sd, and their error."""
        least = max(float(self.sd[world]) - self.blur, 1e-300)
        moved = 8.0 * EPS * abs(float(self.mean[world])) + self.blur * (1.0 + np.abs(z))
        return moved / least + 16.0 * EPS * np.abs(z)

    @property
    def _far(self) -> float:
        """What rounding of the mean and of a threshold moves, in units of sd."""
        return float(np.max((8.0 * EPS * np.abs(self.mean) + self.blur) / self.sd))


@dataclass(frozen=True)
class QuadraticTransform(AbstractCumulants):
    """constant_w + sum_j (slope_wj Z_j + curve_wj Z_j^2), Z_j standard normal.

    K(s) = sum_j s^2 slope^2 / (2 (1 - 2 s curve)) - log(1 - 2 s curve) / 2, less the mean.
    """

    constant: np.ndarray  # shape (2,)
    # slope, curve: shape (2, d)
    slope: np.ndarray
    curve: np.ndarray
    blur: float = 0.0  # by how much the score itself may be off
    lost: float = 0.0  # the probability that it is off by more

    @property
    def mean(self) -> np.ndarray:
        return self.constant + self.curve.sum(axis=1)

    @property
    def strip(self) -> tuple[float, float]:
        low, high = float(self.curve.min()), float(self.curve.max())
        return (0.5 / low if low < 0 else -np.inf), (0.5 / high if high > 0 else np.inf)

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates of equal curves add up: (curves, how many have them, sums of (slope / unit)^2, unit), all to be broadcast to (2, G, T).

        A unit is a power of 2, so that dividing by it is exact and no square of a largest slope overflows. Of each sum only its
        squares and itself are rounded.
        """
        curve, place, count = np.unique(self.curve, axis=1, return_inverse=True, return_counts=True)
        unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(self.slope).max(axis=1, keepdims=True), 1e-300))))
        order, ends = np.argsort(place.ravel(), kind="stable"), np.cumsum(count)[:-1]
        squares = np.square(self.slope / unit)[:, order]
        total = np.array([list(map(fsum, np.split(row, ends))) for row in squares])
        return curve[:, :, None], count[None, :, None].astype(float), total[:, :, None], unit[:, :, None]

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        curve, count, total, unit = self._groups
        u = 2.0 * curve * s
        gauss = 0.5 * total * np.square(unit * s) / (1.0 - u)
        return (gauss - 0.5 * count * (log_of_1_plus(-u) + u)).sum(axis=1)

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """Of the logarithms, of the quotients with 1 - 2 s curve, and of an addition for each group."""
        curve, count, total, unit = self._groups
        u = 2.0 * curve * s
        gauss = np.abs(0.5 * total * np.square(unit * s) / (1.0 - u))
        value, error = log_1_plus(-u, 4.0 * EPS * np.abs(u))
        lost = 8.0 * EPS * gauss * (1.0 + np.abs(u) / np.abs(1.0 - u))
        size = gauss + count * np.abs(value + u)
        terms = count * (error + 4.0 * EPS * np.abs(u)) + lost + (40.0 + curve.shape[1]) * EPS * size
        return terms.sum(axis=1).max(axis=0)

    @property
    def shift(self) -> float:
        """Of the constant and the sum of the curves, and of the coefficients."""
        return self.blur + 8.0 * EPS * float((np.abs(self.constant) + np.abs(self.curve).sum(axis=1)).max())

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The modulus itself falls with the frequency, in each factor."""
        total, height, k = 0.0, 1.0, first + 1
        at = self.cumulant(np.array([complex(c)])).real
        for _ in range(200):  # doublings
            height = float(np.exp(self.cumulant(np.array([c + 1j * k * spacing])).real - at).max())
            total += height * (1.0 / k + np.log(2.0))
            if height < 1e-30:
                break
            k *= 2
        # Beyond, each factor falls by 2^(-1/2) at least with every doubling.
        return Tail(total + 4.0 * height, np.inf)


def quadratic_law(
    constant: np.ndarray, slope: np.ndarray, curve: np.ndarray, blur: float = 0.0
) -> AbstractScoreLaw:
    """The law of constant_w + sum_j (slope_wj Z_j + curve_wj Z_j^2): normal, chi-square, or by inversion.

    Curves that differ by less than 1e-10 of the largest are taken as equal. That moves the score by at most their difference times
    |Z|^2, which counts in the law's bound, as the coefficients' rounding does. (|Z| <= sqrt d + 8.5 but for 1e-15.)

    `constant`: shape (2,), worlds out and in; `slope`: shape (2, d); `curve`: shape (2, d); `blur`: by how much the score
    may be off where |Z| <= sqrt d + 8.5, since the coefficients have been computed.
    """

    def by_inversion() -> InvertedLaw:
        return InvertedLaw(QuadraticTransform(constant, slope, curve, blur, 1e-15 if blur else 0.0))

    sd = np.sqrt(np.sum(slope**2, axis=1))
    size = np.abs(curve).max(axis=1)
    square = largest_norm(slope.shape[1]) ** 2
    if (size <= 1e-15 * sd).all():
        moved = blur + 4.0 * EPS * float(sd.max()) + 2.0 * float(size.max()) * square
        # A linear score that is off by blur at most where |Z| <= 8.5 has a mean and a slope that are off by less, together.
        return NormalLaw(constant + curve.sum(axis=1), sd, moved, curved=bool(size.any()))
    scale = curve.mean(axis=1)
    apart = np.abs(curve - scale[:, None]).max(axis=1)
    if (apart <= _SAME * size).all() and (scale[0] > 0) == (scale[1] > 0):
        centre = slope / (2.0 * scale[:, None])  # scale (Z + centre)^2
        noncentrality = np.sum(centre**2, axis=1)
        cancelled = 32.0 * EPS * float(np.max(np.abs(constant) + np.abs(scale) * noncentrality))
        moved = blur + float(apart.max()) * square + cancelled
        inverted = by_inversion() if slope.shape[1] >= _ENOUGH else None
        if inverted is not None and inverted.error_bound > _SHARP:
            inverted = None
        return ChiSquareLaw(
            slope.shape[1], constant - scale * noncentrality, scale, noncentrality, moved, inverted
        )
    return by_inversion()


def largest_norm(d: int) -> float:
    """What |Z|, Z ~ N(0, I_d), exceeds with a probability below 1e-15: |Z| is 1-Lipschitz with a mean below sqrt d.
    >>> largest_norm(4)
    10.5
    """
    return float(np.sqrt(d)) + _FAR_OUT
