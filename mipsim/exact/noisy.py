"""The law of a score with atoms plus noise, by direct sums: no transform, and no truncation of a transform."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mipsim.exact.atoms import AtomsLaw
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.noise_transform import NoiseTail
from mipsim.exact.rounding import EPS
from mipsim.exact.transform import Lattice, RowsTransform
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

MOST_SUMMED = 2**12
"""The most atoms that are summed individually."""

_LEFT_OUT = 1e-18
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


@dataclass(frozen=True)
class NoisyLatticeLaw(AbstractScoreLaw):
    """P(S > x) = E P(A > x - noise): an average, over the noise, of tails of a score A on a lattice.

    With lattice points a_k it is sum_k P(A > a_k) P(x - a_{k + 1} <= noise < x - a_k). Its error is at most that of A's law,
    plus the weight of the noise that is left out. For noise of up to some steps.

    >>> from mipsim.exact.discrete_rows import BernoulliRow
    >>> from mipsim.exact.transform import RowsTransform
    >>> base = InvertedLaw(RowsTransform(BernoulliRow(np.ones(30), np.full(30, 0.5)), 100, 15.0, 30.0, 0.0))
    >>> law = NoisyLatticeLaw(base, NoiseTail(0.0, np.array([0.1])))
    >>> print(law.sf(1500.0, inside=False).round(9), law.error_bound < 1e-10)  # by symmetry
    0.5 True
    """

    base: InvertedLaw  # the law of A by inversion, on a lattice
    noise: NoiseTail

    def threshold_at(self, alpha: object) -> np.ndarray:
        a = np.asarray(alpha, float)
        inner = a[(a > 0.0) & (a < 1.0)]
        levels = [0.5 * inner.min(), 0.5 + 0.5 * inner.max()] if inner.size else [0.4, 0.6]
        ends = self.base.threshold_at(np.array(levels))
        reach = self.noise.spread + self._lattice.step
        return continuous_threshold(self, a, float(ends[1]) - reach, float(ends[0]) + reach)

    @property
    def error_bound(self) -> float:
        """That of the lattice law and of the cells' probabilities, rounding of x - a_k included, and what is left out."""
        own = 2.0 * float(self.noise.sf(np.array([(self._cells - 1) * self._lattice.step]))[0])
        at = self.base.transform
        size = float(np.abs(at.mean).max() + np.abs(self._lattice.anchor).max())
        if isinstance(at, RowsTransform):  # what the anchor was before its parts cancelled
            size += abs(at.offset) + at.rows * abs(at.row.base) + abs(at.target)
        moved = 8.0 * EPS * (size + self.noise.spread) * self.noise.density
        # Errors at the cells' ends are summed by parts, with weights P(A = a_k).
        ends = 2.0 * (self.noise.error_bound + moved)
        return min(1.0, self.base.error_bound + own + 4.0 * EPS * self._cells + ends)

    @property
    def _lattice(self) -> Lattice:
        lattice = self.base.transform.lattice
        assert lattice is not None
        return lattice

    @cached_property
    def _cells(self) -> int:
        """So many that the noise beyond is less than the law of A is known to; its spread would be twenty times as far."""
        most = int(np.ceil(self.noise.spread / self._lattice.step)) + 1
        return 1 + int(np.argmax(self.noise.sf(self._lattice.step * np.arange(most)) <= _LEFT_OUT))

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        step, anchor, sf = self._lattice.step, self._lattice.anchor[int(inside)], self.noise.sf
        offsets = np.arange(-self._cells, self._cells + 1)

        def probability(x: np.ndarray) -> np.ndarray:
            k = np.floor((x - anchor) / step) + offsets
            points, place = np.unique(k, return_inverse=True)
            tail = np.exp(self.base.log_tail(anchor + step * points, inside=inside, upper=upper))
            # Cell k: the noise lies in [x - a_{k + 1}, x - a_k); the tail that is small gives the difference.
            near, far = x - (anchor + step * (k + 1.0)), x - (anchor + step * k)
            cell = np.where(near >= 0.0, sf(near) - sf(far), sf(-far) - sf(-near))
            return (np.maximum(cell, 0.0) * tail[place.reshape(k.shape)]).sum(axis=1)

        return _log_of(probability, threshold, offsets.size)


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
