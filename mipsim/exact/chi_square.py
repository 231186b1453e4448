"""The non-central chi-square law with a proven error: values of high accuracy, held between proven bounds."""

from dataclasses import dataclass, replace
from functools import cached_property
from math import exp

import numpy as np
from scipy.special import gammaln, log_ndtr

from mipsim.exact.rounding import EPS
from mipsim.special import noncentral_chi_square
from mipsim.special.gamma_tail import gamma_below
from mipsim.tradeoff.bounds import CurveBounds, log_difference, lowered, raised
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

_CELLS = 2000  # widths of some 2e-5
_REACH = 8.5  # sqrt X is a 1-Lipschitz function of normals: beyond, less than 2 exp(-8.5^2 / 2) < 1e-15 on either side
_OUTSIDE = 1e-15
_TINY = 1e-40  # P(X <= 1e-40) is below 1e-20
_GOOD = 1e-6  # sums at the points themselves are taken where their error is below this
# of such sums: some 4,000 terms; beyond, values between grid points are bounded by convexity
_MOST_NONCENTRALITY = 1e5
_NEAR = 0.5  # of sqrt x: below, cells shrink towards 0, where the cdf of few degrees of freedom is steep
_GAMMA = 1e-10  # the relative error that `gamma_below` is granted; its tests find less than 1e-12
_OUTWARD = 1e-12  # covers the rounding of the interpolation
_FEW = 3  # degrees of freedom up to which both tails are bounded relatively
# cells of the root of the squares beside the first, and where the last begins: 1e-48 is beyond
_SQUARES, _WIDEST = 4000, 15.0
_ULPS = 64.0  # of a logarithm of a normal tail


@dataclass(frozen=True)
class ChiSquareBounds:
    """Proven bounds of P(X <= x) for X = |Z + m|^2, Z ~ N(0, I_d), |m|^2 = noncentrality.

    At a point: X is chi-square with d + 2 K degrees of freedom, K ~ Poisson(noncentrality / 2). In the sum over the
    likely k the terms are positive, P(a + 1, y) = P(a, y) - y^a exp(-y) / Gamma(a + 1), and what is left out is bounded by
    Bernstein's inequality. Where these sums are long they are taken at a grid. Between its points: {(z, x): |z|^2 <= x} is convex, so that the cdf is a log-concave function of x
    (Prekopa 1973). It lies above its chords and below their continuations.

    Source: Prekopa (1973): marginals of log-concave functions are log-concave; Boucheron, Lugosi & Massart (2013), section 2.8,
    for Bernstein's inequality.
    """

    d: float  # degrees of freedom, >= 1
    noncentrality: float  # >= 0

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds of P(X <= x), each of the shape of x."""
        if self._error < _GOOD:
            x = np.asarray(x, float)
            value, error = poisson_mixture(np.clip(x, _TINY, self._top).ravel(), self.d, self.noncentrality)
            low, high = np.maximum(value - error, 0.0), np.minimum(value + error, 1.0)
            low, high = low.reshape(x.shape), high.reshape(x.shape)
            low, high = np.where(x < _TINY, 0.0, low), np.where(x > self._top, 1.0, high)
            return low, np.where(x <= 0.0, 0.0, high)
        grid, low, high = self._grid
        i = np.searchsorted(grid, x, side="right") - 1
        inner = (i >= 0) & (i < grid.size - 1)
        k = np.clip(i, 0, grid.size - 2)
        fraction = np.clip((np.where(inner, x, grid[k]) - grid[k]) / (grid[k + 1] - grid[k]), 0.0, 1.0)
        below, left, right = self._lines(k, fraction)
        upper = np.exp(np.minimum(np.minimum(left, right), np.log(high[k + 1])))
        lower = np.maximum(np.exp(below), low[k])
        first, last = np.where(i < 0, 0.0, low[-1]), np.where(i < 0, high[0], 1.0)
        return (
            np.where(x <= 0.0, 0.0, np.where(inner, lower * (1.0 - _OUTWARD), first)),
            np.where(x <= 0.0, 0.0, np.where(inner, np.minimum(upper * (1.0 + _OUTWARD), 1.0), last)),
        )

    @cached_property
    def width(self) -> float:
        """How far the bounds are apart at most.

        In each half of a cell both are exponentials of straight lines, whose difference is largest at an end.
        """
        if self._error < _GOOD:
            return 2.0 * self._error + 2.0 * _OUTSIDE
        _, low, high = self._grid
        k = np.arange(low.size - 1)
        ends = []
        for fraction, sides in ((0.0, (1,)), (0.5, (1, 2)), (1.0, (2,))):
            lines = self._lines(k, np.full(k.shape, fraction))
            ends += [lines[side] - lines[0] for side in sides]
        apart = np.expm1(np.minimum(np.max(ends, axis=0), 50.0))
        cells = np.minimum(high[1:] - low[:-1], high[1:] * apart)
        return float(max(cells.max(), high[0], 1.0 - low[-1])) + 4.0 * _OUTWARD

    @property
    def _top(self) -> float:
        """A point that X passes with probability `_OUTSIDE` at most."""
        return float((np.sqrt(self.d + self.noncentrality) + _REACH) ** 2)

    @cached_property
    def _error(self) -> float:
        """The largest error of a sum at a point from `_TINY` to the top; 1 where sums at each point would take long.

        The error falls while y < 1 and rises from there on, so that it is largest at an end.
        """
        if self.noncentrality > _MOST_NONCENTRALITY:
            return 1.0
        return float(poisson_mixture(np.array([_TINY, self._top]), self.d, self.noncentrality)[1].max())

    def _lines(self, k: np.ndarray, fraction: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In cell k, at a fraction of its length: the log of the chord, and of the continued chords from the left and the right."""
        grid, low, high = self._grid
        with np.errstate(divide="ignore"):
            least, most = np.log(low), np.log(high)
        length = np.diff(grid)
        before, after = np.maximum(k - 1, 0), np.minimum(k + 2, grid.size - 1)
        with np.errstate(invalid="ignore"):
            chord = (1.0 - fraction) * least[k] + fraction * least[k + 1]
            chord = np.where(np.isfinite(least[k]), chord, -np.inf)
            r = fraction * length[k] / length[before]
            left = most[k] + r * (most[k] - least[before])
            r = (1.0 - fraction) * length[k] / length[np.minimum(k + 1, length.size - 1)]
            right = most[k + 1] + r * (most[k + 1] - least[after])
        from_left = (k > 0) & np.isfinite(least[before])
        from_right = (k + 2 < grid.size) & np.isfinite(least[after])
        return chord, np.where(from_left, left, np.inf), np.where(from_right, right, np.inf)

    @cached_property
    def _grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(points, lower and upper bounds there), each of shape (M,)."""
        middle = float(np.sqrt(self.d + self.noncentrality))
        # E sqrt X lies between sqrt(d + noncentrality - 1) and sqrt(d + noncentrality).
        root = np.linspace(max(middle - 1.0 - _REACH, 0.0), middle + _REACH, _CELLS)
        near = _NEAR * (np.arange(1, _CELLS // 5 + 1) / (_CELLS // 5)) ** 2
        root = np.concatenate([near, root[root > _NEAR]]) if root[0] < _NEAR else root
        value, error = poisson_mixture(root**2, self.d, self.noncentrality)
        low, high = np.maximum(value - error, 0.0), np.minimum(value + error, 1.0)
        # The cdf rises, and a bound may be taken from a neighbour.
        low = np.maximum.accumulate(low)
        return root**2, low, np.maximum(np.minimum.accumulate(high[::-1])[::-1], 1e-300)


def poisson_mixture(x: np.ndarray, d: float, noncentrality: float) -> tuple[np.ndarray, np.ndarray]:
    """(P(X <= x), a proven bound on its error) by sums over the likely values of a Poisson variable.
    `x`: points > 0, shape (M,); `d`: degrees of freedom; `noncentrality`: >= 0.
    """
    mean, y = 0.5 * noncentrality, 0.5 * x
    reach = 9.0 * np.sqrt(mean) + 50.0
    count = np.arange(max(0.0, np.floor(mean - reach)), np.ceil(mean + reach) + 1.0 if mean else 1.0)
    log_mean = np.log(mean) if mean else 0.0
    weight = np.exp(count * log_mean - mean - gammaln(count + 1.0))
    left_out = 2.0 * exp(-0.5 * reach**2 / (mean + reach / 3.0)) if mean else 0.0
    # An exponent is right to some EPS of its largest part.
    of_weight = 8.0 * EPS * float((count[-1] + 1.0) * (abs(log_mean) + np.log(count[-1] + 2.0)) + mean + 1.0)
    a = 0.5 * d + count[0]
    lower = gamma_below(a, y)
    with np.errstate(under="ignore"):
        term = np.exp(a * np.log(y) - y - gammaln(a + 1.0))
        of_term = 8.0 * EPS * (a * np.abs(np.log(y)) + y + np.abs(gammaln(a + 1.0)) + 1.0)
        # Terms that are 0 here grow again where y > a.
        known = (term > 0.0) | (y < a)
        value = np.zeros(y.shape)
        for w in weight:
            value += w * lower
            lower -= term
            a += 1.0
            term *= y / a
    # The terms of each y sum to 1 at most, and so do the weights.
    error = left_out + 1.01 * of_weight + _GAMMA + 1.01 * of_term + 8.0 * EPS * count.size
    return np.clip(value, 0.0, 1.0), np.where(known, error, 1.0)


def relative_tails(
    low: np.ndarray, high: np.ndarray, d: int, root: tuple[float, float]
) -> tuple[np.ndarray, ...]:
    """Bounds of log P(X <= x) and of log P(X > x) for X = |Z + m|^2 in d = 1, 2 or 3 dimensions, each (lower, upper).

    For a single normal they are sums and differences of two normal tails. For more the sum W of the other squares is cut into cells: P(X <= x) =
    E P((Z_1 + |m|)^2 <= x - W) falls in W, so that it lies between the sums over the cells with W at either end.

    `low`, `high`: ends of x, shape (M,); `root`: ends of |m|.

    >>> x = np.array([16.0])
    >>> low, high, *_ = relative_tails(x, x, 1, (9.0, 9.0))
    >>> print(np.exp(low).round(12), np.exp(high).round(12))
    [2.86652e-07] [2.86652e-07]
    """
    if d == 1:
        return (
            _single(low, root[1], -1.0)[0],
            _single(high, root[0], 1.0)[0],
            _single(high, root[0], -1.0)[1],
            _single(low, root[1], 1.0)[1],
        )
    edges = np.linspace(0.0, _WIDEST, _SQUARES + 1)
    beyond = np.log(2.0) + log_ndtr(-edges) if d == 2 else -0.5 * edges**2  # P(W > edge^2)
    mass = np.append(log_difference(beyond[:-1], beyond[1:]), beyond[-1])
    w = edges**2
    farther = np.append(w[1:], np.inf)
    result = []
    for x, m, sign, place, cells in (
        (low, root[1], -1.0, 0, farther),
        (high, root[0], 1.0, 0, w),
        (high, root[0], -1.0, 1, w),
        (low, root[1], 1.0, 1, farther),
    ):
        parts = [
            np.logaddexp.reduce(mass + _single(np.maximum(one - cells, -1.0), m, sign)[place]) for one in x
        ]
        total = np.array(parts)
        result.append(
            lowered(total, _ULPS) - 1e-11 if sign < 0.0 else np.minimum(raised(total, _ULPS) + 1e-11, 0.0)
        )
    return tuple(result)


def _single(x: np.ndarray, m: float, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of log P((Z + m)^2 <= x) and of log P((Z + m)^2 > x), lower (sign -1) or upper (1); x below 0 is passed surely."""
    root = np.sqrt(np.maximum(x, 0.0))
    off = 4.0 * EPS * (root + m)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        near, far = log_ndtr(root - m + sign * off), log_ndtr(-root - m - sign * off)
        inner = log_difference(near, np.minimum(near, far))
        # Each tail is right to some units of its logarithm, and the difference to as much of the larger.
        share = _ULPS * EPS * (1.0 + np.abs(near)) * np.exp(near - inner)
        inner = np.where(np.isfinite(inner), inner + sign * share, -np.inf if sign < 0.0 else near)
        outer = np.logaddexp(log_ndtr(m - root + sign * off), log_ndtr(-root - m + sign * off))
        outer = outer + sign * _ULPS * EPS * (1.0 + np.abs(outer))
    return np.where(x >= 0.0, inner, -np.inf), np.where(x >= 0.0, np.minimum(outer, 0.0), 0.0)


@dataclass(frozen=True)
class ChiSquareLaw(AbstractScoreLaw):
    """shift_w + scale_w chi2_d(noncentrality_w), all scales of the same sign.

    Values and bounds are those of `inverted`, whose errors are relative to each tail. Without it values are those of
    `mipsim.special.noncentral_chi_square`, which is accurate in both tails but only tested to be so; they are held between
    proven bounds, whose error is absolute.
    """

    d: int  # degrees of freedom
    # shift, scale, noncentrality: shape (2,)
    shift: np.ndarray
    scale: np.ndarray
    noncentrality: np.ndarray
    blur: float = 0.0  # a bound on the rounding error of the score, where the parameters have been computed
    # the same distribution by inversion of its characteristic function, where that has small errors
    inverted: AbstractScoreLaw | None = None
    near: bool = True  # whether small tails are bounded relatively, which takes longer

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        if self.inverted is not None:
            return self.inverted.log_tail(threshold, inside=inside, upper=upper)
        w = int(inside)
        lower = (self.scale[w] > 0) != upper
        x = (np.asarray(threshold, float) - self.shift[w]) / self.scale[w]
        low, high = self._bounds[w].at(x)
        if not lower:
            low, high = 1.0 - high, 1.0 - low
        tail = noncentral_chi_square.logcdf if lower else noncentral_chi_square.logsf
        result = np.asarray(tail(x, self.d, self.noncentrality[w]))
        value = np.exp(result)
        with np.errstate(divide="ignore"):
            return np.where(value < low, np.log(low), np.where(value > high, np.log(high), result))

    def threshold_at(self, alpha: object) -> np.ndarray:
        if self.inverted is not None:
            return self.inverted.threshold_at(alpha)
        a = np.asarray(alpha, float)
        inner = (a > 0.0) & (a < 1.0)
        quantile = noncentral_chi_square.isf if self.scale[0] > 0 else noncentral_chi_square.ppf
        x = self.shift[0] + self.scale[0] * quantile(np.where(inner, a, 0.5), self.d, self.noncentrality[0])
        return np.where(inner, x, np.where(a <= 0.0, np.inf, -np.inf))

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        if self.inverted is not None:
            return self.inverted.tail_bounds(threshold, inside=inside)
        w, t = int(inside), np.nan_to_num(np.asarray(threshold, float), posinf=np.inf, neginf=-np.inf)
        known = super().tail_bounds(t, inside=inside)
        if not self._is_near:
            return known
        finite = np.isfinite(t)
        x = (np.where(finite, t, 0.0) - self.shift[w]) / self.scale[w]
        off = self._off + 8.0 * EPS * np.abs(x)
        root = float(np.sqrt(self.noncentrality[w]))
        roots = root * (1.0 - 64.0 * EPS), root * (1.0 + 64.0 * EPS)
        cdf_low, cdf_high, sf_low, sf_high = relative_tails(
            (x - off).ravel(), (x + off).ravel(), self.d, roots
        )
        ends = (
            (cdf_low, cdf_high, sf_low, sf_high)
            if self.scale[w] > 0
            else (sf_low, sf_high, cdf_low, cdf_high)
        )
        take = (np.maximum, np.minimum, np.maximum, np.minimum)
        return CurveBounds(
            *(
                np.where(finite, better(end.reshape(t.shape), other), other)
                for better, end, other in zip(take, ends, known, strict=True)
            )
        )

    @property
    def _is_near(self) -> bool:
        return self.near and self.inverted is None and self.d <= _FEW

    @property
    def _off(self) -> float:
        """What X may be off by where the score is off by its blur."""
        return float(np.max((self.blur + 4.0 * EPS * np.abs(self.shift)) / np.abs(self.scale)))

    def whole(self) -> AbstractScoreLaw:
        return replace(self, near=False)

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """Some widths of the bounds away from the likely threshold, by the slope of the tail there."""
        if self.inverted is not None or not self._is_near:
            return None if self.inverted is None else self.inverted.around(log_fpr, log_rest)
        t = self.threshold_at(np.exp(log_fpr))
        t = np.where(np.isfinite(t), t, np.nan)  # at FPRs 0 and 1 there is no threshold
        step = 1e-4 * np.abs(self.scale[0]) * (1.0 + np.sqrt(np.abs((t - self.shift[0]) / self.scale[0])))
        at, next_to = (self.tail_bounds(x, inside=False) for x in (t, t + step))
        small = log_fpr < log_rest
        with np.errstate(all="ignore"):
            low, high = (np.where(small, at[k + 2], at[k]) for k in (0, 1))
            slope = np.abs(np.where(small, next_to.log_tpr_low - low, next_to.log_fnr_low - low)) / step
            width = (high - low + 64.0 * EPS * (1.0 + np.abs(low))) / slope
        width = np.where(np.isfinite(width), np.maximum(width, 4.0 * np.spacing(np.abs(t))), np.nan)
        return t + 2.0 * width, t - 2.0 * width, t - 5.0 * width

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        return None if self.inverted is None else self.inverted.bends(low, high, inside=inside)

    def auc_bounds(self) -> tuple[float, float] | None:
        return None if self.inverted is None else self.inverted.auc_bounds()

    @property
    def error_bound(self) -> float:
        """The width of the proven bounds, and what rounding of the parameters moves."""
        if self.inverted is not None:
            return self.inverted.error_bound
        return min(1.0, max(bounds.width for bounds in self._bounds) + self._moved)

    @cached_property
    def _bounds(self) -> tuple[ChiSquareBounds, ChiSquareBounds]:
        first, second = (ChiSquareBounds(float(self.d), float(item)) for item in self.noncentrality)
        return (first, first) if first == second else (first, second)

    @cached_property
    def _moved(self) -> float:
        """What a score, and a threshold in units of chi-square, that are off by little move the law by.

        P(x < X <= x + e) <= .8 sqrt e, as |z + m|^2 is in two intervals of length sqrt e at most for a single normal z, and
        independent terms only spread that; for two or more the density is at most 1/2. That is for errors of any x; the scale
        is off by a share s of x, which moves sqrt x by sqrt(x) s, and the density of sqrt X is .8 at most for a single normal. A
        noncentrality that is off by e moves the cdf by e times a density of d + 2 degrees of freedom.
        """
        largest = max(float(b.d + b.noncentrality) for b in self._bounds) ** 0.5 + _REACH
        e = self._off
        share = 8.0 * EPS
        near = 0.5 * (e + share * largest**2) if self.d >= 2 else 0.8 * (e**0.5 + share * largest)
        return near + 32.0 * EPS * float(self.noncentrality.max()) + (1e-15 if self.blur else 0.0)
