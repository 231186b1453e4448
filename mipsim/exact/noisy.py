"""The law of a score with atoms plus noise, by direct sums: no transform, and no truncation of a transform."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mipsim.exact.atoms import AtomsLaw
from mipsim.exact.noise_transform import NoiseTail
from mipsim.exact.rounding import EPS
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

_BLOCK = 2**20  # numbers of a batch: 8 MiB


@dataclass(frozen=True)
class NoisyAtomsLaw(AbstractScoreLaw):
    """P(S > x) = sum_a P(A = a) P(noise > x - a): positive terms, so that every tail has its full relative accuracy.
    >>> coin = AtomsLaw(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    >>> law = NoisyAtomsLaw(coin, NoiseTail(0.0, np.array([0.1])))
    >>> print(law.sf([0.5, 1.0], inside=False).round(6), law.threshold_at(0.25))
    [0.5  0.25] 1.0
    """

    atoms: AtomsLaw  # the law of the score without noise
    noise: NoiseTail  # the law of the noise, the same in both worlds

    def threshold_at(self, alpha: object) -> np.ndarray:
        reach = self.noise.spread
        ends = float(self.atoms.score[0]) - reach, float(self.atoms.score[-1]) + reach
        return continuous_threshold(self, alpha, *ends)

    @property
    def error_bound(self) -> float:
        """Of the atoms' probabilities, their sum, the noise's tail, and of the differences x - a at its density."""
        off = 2.0 * EPS * (np.abs(self.atoms.score) + self.noise.spread / 40.0) + self.atoms.near
        moved = float(max(self.atoms.out @ off, self.atoms.inside @ off)) * self.noise.density
        return min(1.0, self.atoms.error_bound + self.noise.error_bound + moved)

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        sign, weights = 1.0 if upper else -1.0, self.atoms.inside if inside else self.atoms.out
        used = weights > 0.0
        score, weights = self.atoms.score[used], weights[used]
        return _log_of(lambda x: self.noise.sf(sign * (x - score)) @ weights, threshold, score.size)


def _log_of(probability: Callable[[np.ndarray], np.ndarray], x: Thresholds, width: int) -> np.ndarray:
    """Log of a probability that takes `width` numbers a threshold, for some thresholds at a time, shape (T, 1)."""
    flat = np.ravel(np.asarray(x, float))
    result, size = np.empty(flat.shape), max(1, _BLOCK // width)
    for start in range(0, flat.size, size):
        result[start : start + size] = probability(flat[start : start + size, None])
    with np.errstate(divide="ignore"):
        return np.log(np.minimum(result, 1.0)).reshape(np.shape(x))


def continuous_threshold(law: AbstractScoreLaw, alpha: object, low: float, high: float) -> np.ndarray:
    """The x in [low, high] with P_out(score > x) = alpha, by Chandrupatla's method; -inf and inf at 1 and 0.
    >>> from mipsim.exact.gaussian import NormalLaw
    >>> law = NormalLaw(np.zeros(2), np.ones(2))
    >>> continuous_threshold(law, np.array([0.5, 0.025, 0.0]), -10.0, 9.0).round(6)
    array([0.      , 1.959964,      inf])
    """
    a = np.asarray(alpha, float)
    flat = np.ravel(a)
    inner = (flat > 0.0) & (flat < 1.0)
    result = np.where(flat <= 0.0, np.inf, -np.inf)
    wanted = flat[inner]

    def gap(x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Falls in x; in logarithms of the side that is small."""
        upper, lower = law.logsf(x, inside=False), law.logcdf(x, inside=False)
        with np.errstate(invalid="ignore"):
            side = np.where(wanted <= 0.5, upper - np.log(wanted), np.log1p(-wanted) - lower)
        return np.clip(np.nan_to_num(side, nan=0.0, posinf=1e3, neginf=-1e3), -1e3, 1e3)

    from scipy.optimize import elementwise  # a fourth of a second: not when the library is imported

    root = elementwise.find_root(gap, (np.full(wanted.shape, low), high), args=(wanted,))
    # With the same sign at both ends there is no root: the nearer end.
    result[inner] = np.where(np.isnan(root.x), np.where(root.f_bracket[0] > 0.0, high, low), root.x)
    return result.reshape(a.shape)
