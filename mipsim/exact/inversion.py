"""The law of a score by inversion of its tilted characteristic function, accurate far into both tails."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri_exp

from mipsim._budget import check_budget
from mipsim._roots import crossing, least_whole
from mipsim.exact.contours import CLIP, LEAST_LOG, Contour, Saddlepoints, build_contour, find_saddlepoints
from mipsim.exact.rounding import EPS, ComplexArray
from mipsim.exact.transform import NEAR, AbstractCumulants, Tail
from mipsim.tradeoff.bounds import CurveBounds
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds, within

_LOG_ROOT = 0.5 * float(np.log(2.0 * np.pi))
# of a deviation: convergence is quadratic, so that the step before was the last that counts
_NEAR_ROOT = 1e-8
_NEWTON = 12  # steps; quadratic convergence needs five, a start in a far tail a few more
_MIDDLE = 4  # saddlepoints at either side of 0: ten deviations, where most thresholds are
_FAINT = -34.5  # the log of 1e-15: where Chernoff's bound is less, it is the error's bound
_ROUNDED = 1e-320  # of a bound that is nearly 0
_DEEPEST = -690.0  # the log of the least rate whose threshold is sought: 1e-300
_BLUR = 32.0  # EPS of a logarithm: what a rate may be off by, in several operations
_BLOCK = 2**23  # waves of a batch of thresholds: 128 MiB
_FARTHER = 3.0  # times as far, in the log of the probability
_NEAR_LOG = -100.0  # the proof ends at `_FAINT`, and curves are seldom evaluated beyond


@dataclass(frozen=True)
class InvertedLaw(AbstractScoreLaw):
    """P_w(S > x) = (1 / 2 pi i) int exp(K_w(s) - s x) / s ds over the line Re s = c > 0 (c < 0 for the other tail).

    The integral is a trapezoid sum of spacing h over the line next to the saddlepoint of x. By Poisson's summation formula
    such a sum is exactly sum_m exp(m c P) P(S > x + m P) with P = 2 pi / h: the terms m != 0 are bounded by Chernoff's
    inequality, and h is chosen for it. The error of leaving out high frequencies is bounded as
    `Tail.distance` proves, from what the transform proves of its modulus there (`AbstractCumulants.tail`). The sum has no cancellation
    on that line, so small tails keep their relative accuracy. A score on a lattice has the kernel
    step / (1 - exp(-s step)) in the place of 1 / s, and frequencies up to pi / step only: then the sum is finite, the
    discrete Fourier transform of the lattice law.

    Source: Daniels (1954) for the saddlepoint line; Abate and Whitt (1992) for the exact discretisation error.
    """

    transform: AbstractCumulants  # the cumulants in the two worlds
    # log probabilities down to which the lines are built at once; farther ones where a threshold needs them
    least_log: float = _NEAR_LOG
    # the saddlepoints down to another such probability, which serve as a start
    nearer: Saddlepoints | None = None

    @cached_property
    def saddlepoints(self) -> Saddlepoints:
        """Real points of the cumulants, from which lines are chosen."""
        return find_saddlepoints(self.transform, self.least_log, self.nearer)

    @cached_property
    def _far(self) -> "InvertedLaw":
        """For thresholds beyond the saddlepoints: the same law with lines farther out, at last as far as float64 reaches."""
        return InvertedLaw(self.transform, max(LEAST_LOG, _FARTHER * self.least_log), self.saddlepoints)

    @cached_property
    def _contours(self) -> dict[int, Contour]:
        return {}

    @cached_property
    def _tails(self) -> dict[int, Tail]:
        return {}

    def contour(self, index: int) -> Contour:
        """The line through point `index` of the saddlepoints, computed once."""
        if index not in self._contours:
            self._contours[index] = build_contour(self.transform, self.saddlepoints, index, self._span(index))
        return self._contours[index]

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        return self._sides(threshold, inside)[int(upper)]

    @cached_property
    def error_bound(self) -> float:  # pyright: ignore[reportIncompatibleMethodOverride] - a property
        """The largest error of a line at the near end of the thresholds that it serves: a line's error falls from there on.

        Where Chernoff's bound is below 1e-15, it is the bound, also beyond the saddlepoints: see `Contour.errors`.
        """
        worst, saddlepoints = 0.0, self.saddlepoints
        for world in (0, 1):
            for side, end in ((1, saddlepoints.points.size), (-1, -1)):
                near = 0.0
                if saddlepoints.zero + side == end:
                    return 1.0  # no line serves this side
                for index in range(saddlepoints.zero + side, end, 2 * side):
                    scale = saddlepoints.value[world, index] - saddlepoints.points[index] * near
                    if scale < _FAINT:
                        # Lines beyond serve thresholds farther out, where Chernoff's bound at this line's point is less still.
                        worst = max(worst, float(np.exp(scale)) * 1.001)
                        break
                    error = float(self._errors(index, np.array([near]), world)[0])
                    worst = max(worst, error if error <= 1.0 else 1.0)  # NaN is no bound
                    near = saddlepoints.location[world, index + side]
                else:
                    if saddlepoints.cut[side > 0]:
                        return self._far.error_bound
        worst += self.transform.lost
        return worst if worst <= 1.0 else 1.0  # NaN is no bound here either

    def errors(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """A bound on the absolute error of the smaller of `sf` and `cdf` at each threshold."""
        x = np.asarray(threshold, float)
        u = np.ravel(x) - self.transform.mean[int(inside)]
        bound = np.zeros(u.shape)
        for index, where in self._lines(u, int(inside)):
            bound[where] = self._errors(index, u[where], int(inside))
        # No value is beyond Chernoff's bound, and no tail.
        chernoff = self.saddlepoints.least_chernoff(u, int(inside), self.transform.lattice)
        least = np.exp(np.minimum(chernoff, 0.0)) * (1.0 + 1e-8)
        bound = np.where(self.saddlepoints.served(u), np.minimum(bound, least), 1.0) + self.transform.lost
        far = self.saddlepoints.beyond(u, int(inside))
        if far.any():
            bound[far] = self._far.errors(np.ravel(x)[far], inside=inside)
        return bound.reshape(x.shape)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        """Both tails within `errors`, which falls with the tail: rates of 1e-100 are known to a share of themselves."""
        x = np.asarray(threshold, float)
        finite = np.isfinite(x)
        error = np.where(finite, self.errors(np.where(finite, x, 0.0), inside=inside), self.transform.lost)
        return within(*self._sides(x, inside), error)

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        """From the error at the threshold of the FPR, and the density there."""
        if not self._is_smooth:
            return None
        log_fpr, log_rest = np.maximum(log_fpr, _DEEPEST), np.maximum(log_rest, _DEEPEST)
        x, log_density = self._solve(log_fpr, log_rest)
        # So far apart are thresholds whose tails differ by the error at x, or by what rounding of x and of the FPR moves.
        u = x - self.transform.mean[0]
        log_small = np.where(u > 0.0, log_fpr, log_rest)
        off = self.errors(x, inside=False) + _BLUR * EPS * np.exp(log_small) * (1.0 + np.abs(log_small))
        with np.errstate(divide="ignore", over="ignore"):
            step = np.exp(np.log(off) - log_density)
        spread = self.saddlepoints.spread(u)
        step = np.minimum(step, spread) + 4.0 * EPS * (np.abs(x) + np.abs(u))
        return x + 2.0 * step, x - 2.0 * step, x - 5.0 * step

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Of a single line that serves the middle of both thresholds, whose sum is smooth: a chord is off by h^2 / 8 times its
        curvature.
        """
        if not self._is_smooth:
            return None
        world = int(inside)
        ends = np.stack([low, high]) - self.transform.mean[world]
        middle = ends.mean(axis=0)
        bend, error = np.full(middle.shape, np.inf), np.full(middle.shape, np.inf)
        far = self.saddlepoints.beyond(middle, world)
        if far.any():
            bend[far], error[far] = self._far.bends(low[far], high[far], inside=inside) or (np.inf, np.inf)
        near = np.flatnonzero(~far)
        for index, where in self._lines(middle[near], world):
            at = near[where]
            result = [self._errors(index, end[at], world) for end in ends]
            curved = [self.contour(index).curvature(end[at], world) for end in ends]
            # An error that is Chernoff's bound on the tail is none of the sum itself.
            known = [
                item < self.contour(index).chernoff(end[at], world)
                for item, end in zip(result, ends, strict=True)
            ]
            error[at] = np.where(
                np.logical_and(*known), np.maximum(*result) + self.transform.lost + _ROUNDED, np.inf
            )
            with np.errstate(over="ignore", invalid="ignore"):
                square = 0.125 * (1.0 + 1e-9) * np.square(high[at] - low[at]) * np.maximum(*curved)
            bend[at] = np.where(np.isnan(square), np.inf, square)
        return bend, error

    def auc_bounds(self) -> tuple[float, float] | None:
        """The law of the difference at 0. A tie is within its error, as is what an atom of a single world only is worth."""
        if not self._is_smooth:
            return None
        law = InvertedLaw(DifferenceTransform(self.transform))
        error = float(law.errors(0.0, inside=False)) + 2.0 * self.error_bound
        ends = law.tail_bounds(0.0, inside=False)
        low, high = float(np.exp(ends.log_tpr_low)), float(np.exp(ends.log_tpr_high))
        return max(0.0, low - error - 4.0 * EPS), min(1.0, high + error + 4.0 * EPS)

    @property
    def _is_smooth(self) -> bool:
        """Whether no value of the score has a probability: it lies on no lattice."""
        return self.transform.lattice is None

    def _is_far(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> np.ndarray:
        """Where a threshold lies beyond the saddlepoints, whose Chernoff bounds the tails beyond are below."""
        (low, high), (low_cut, high_cut) = self.saddlepoints.chernoff[0, [0, -1]], self.saddlepoints.cut
        return (high_cut & (log_fpr < high)) | (low_cut & (log_rest < low))

    def _errors(self, index: int, u: np.ndarray, world: int) -> np.ndarray:
        line = self.contour(index)
        if index not in self._tails:
            first = line.phi.shape[1] - 1
            self._tails[index] = self.transform.tail(line.c, line.spacing, first, self._span(index))
        return line.errors(self.transform, self.saddlepoints, u, world, self._tails[index])

    def _span(self, index: int) -> tuple[float, float]:
        """Real parts for which a single proof about high frequencies serves: the middle of the saddlepoints, or all of it."""
        points, zero = self.saddlepoints.points, self.saddlepoints.zero
        if abs(index - zero) <= _MIDDLE:
            points = points[max(0, zero - _MIDDLE) : zero + _MIDDLE + 1]
        return float(points[0]), float(points[-1])

    def threshold_at(self, alpha: object) -> np.ndarray:
        a = np.asarray(alpha, float)
        flat = np.ravel(a)
        result = np.where(flat <= 0.0, np.inf, -np.inf)
        inner = (flat > 0.0) & (flat < 1.0)
        if inner.any() and self.transform.lattice:
            result[inner] = self._lattice_search(flat[inner])
        elif inner.any():
            log_fpr, log_rest = np.log(flat[inner]), np.log(1.0 - flat[inner])
            result[inner] = self._solve(log_fpr, log_rest)[0]
        return result.reshape(a.shape)

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        x, lattice = np.asarray(threshold, float), self.transform.lattice
        below = x if lattice is None else x - 2.0 * NEAR * lattice.step
        return self.log_tail(below, inside=inside, upper=upper)

    def _sides(self, threshold: Thresholds, inside: bool) -> tuple[np.ndarray, np.ndarray]:
        """(log cdf, log sf), the smaller by inversion and the other as its complement."""
        x = np.asarray(threshold, float)
        world = int(inside)
        flat = np.ravel(x)
        u = flat - self.transform.mean[world]
        finite = np.isfinite(flat)
        far = finite & self.saddlepoints.beyond(u, world)
        small = np.full(flat.shape, -np.inf)
        inner = np.where(finite & ~far, u, 0.0)
        for index, where in self._lines(inner, world):
            small[where] = self.contour(index).log_tail(inner[where], world)
        # No probability exceeds the whole, or Chernoff's bound by any line: where a line leaves the inversion without digits, its error
        # stays below them.
        chernoff = self.saddlepoints.least_chernoff(inner, world, self.transform.lattice)
        most = np.minimum(chernoff + CLIP, 0.0)
        small = np.where(self.saddlepoints.served(inner), np.minimum(small, most), most)
        small = np.where(finite, small, -np.inf)
        upper = u > 0.0
        # At the small end of a large probability log1p keeps the digits that log(1 - small) loses.
        nothing = np.full(u.shape, -np.inf)
        complement = np.log1p(-np.exp(np.minimum(small, 0.0)), where=small < 0.0, out=nothing)
        logsf, logcdf = np.where(upper, small, complement), np.where(upper, complement, small)
        if far.any():
            logcdf[far], logsf[far] = self._far._sides(flat[far], inside)
        return logcdf.reshape(x.shape), logsf.reshape(x.shape)

    def _lines(self, u: np.ndarray, world: int) -> list[tuple[int, np.ndarray]]:
        """Pairs of the index of a contour and the places of centred thresholds that its line serves, so many as fit into memory."""
        if not u.size:
            return []
        index = np.where(self.saddlepoints.served(u), self.saddlepoints.line_for(u, world), -1)
        order = np.argsort(index, kind="stable")
        values, starts = np.unique(index[order], return_index=True)
        result = []
        for index, where in zip(values.tolist(), np.split(order, starts[1:]), strict=True):
            check_budget()
            if index >= 0:
                size = max(1, _BLOCK // self.contour(index).phi.shape[1])
                result += [(index, where[start : start + size]) for start in range(0, where.size, size)]
        return result

    def _solve(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(x, log density there) by Newton's method on the probit of the tail, which is almost a straight line.

        Under noise that is finer than the data's own gaps the tail is a staircase, on which Newton's method need not end: then by halves.
        """
        if (far := self._is_far(log_fpr, log_rest)).any():
            x, density = np.empty(log_fpr.shape), np.empty(log_fpr.shape)
            for law, where in ((self, ~far), (self._far, far)):
                if where.any():
                    x[where], density[where] = law._solve(log_fpr[where], log_rest[where])
            return x, density
        mean = self.transform.mean[0]
        probit = np.where(log_fpr <= -np.log(2.0), -ndtri_exp(log_fpr), ndtri_exp(log_rest))
        u = self.saddlepoints.guess(probit, 0)
        density, open_ = np.full(u.shape, -np.inf), np.ones(u.shape, bool)
        for _ in range(_NEWTON):
            step = np.zeros_like(u)
            for index, where in self._lines(u, 0):
                line = self.contour(index)
                log_tail, log_density = line.log_tail_and_density(u[where], 0)
                density[where], upper = log_density, u[where] > 0.0
                # Compare on the side that is small: both targets and both tails are known on either side.
                log_want = np.where(upper, log_fpr[where], log_rest[where])
                far = np.where(upper, 1.0, -1.0)
                now, wanted = (-ndtri_exp(np.minimum(log, -1e-16)) for log in (log_tail, log_want))
                with np.errstate(invalid="ignore"):  # a tail or a density without a digit gives no step
                    slope = np.exp(np.clip(log_density + 0.5 * now**2 + _LOG_ROOT, -50.0, 50.0))
                    step[where] = np.nan_to_num(far * (wanted - now) / slope, nan=0.0)
            limit = 2.0 * self.saddlepoints.spread(u)
            u = u + np.clip(step, -limit, limit)
            open_ = np.abs(step) > _NEAR_ROOT * self.saddlepoints.spread(u)
            if not open_.any():
                break
        else:
            u[open_] = self._by_halves(log_fpr[open_], log_rest[open_])
            for index, where in self._lines(u, 0):
                density[where] = self.contour(index).log_tail_and_density(u[where], 0)[1]
        return mean + u, density

    def _by_halves(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> np.ndarray:
        """Centred thresholds with these tails, between the saddlepoints."""
        least, most = self.saddlepoints.location[0, [0, -1]]
        fpr, rest = log_fpr[:, None], log_rest[:, None]

        def passed(u: np.ndarray) -> np.ndarray:
            logcdf, logsf = self._sides(self.transform.mean[0] + u, inside=False)
            return np.where(fpr <= rest, logsf <= fpr, logcdf >= rest)

        return crossing(passed, log_fpr.size, float(least), float(most))[1]

    def _lattice_search(self, alpha: np.ndarray) -> np.ndarray:
        """Bisection over the atoms for the first atom beyond which at most alpha lies."""
        assert self.transform.lattice is not None
        step, anchor = self.transform.lattice.step, self.transform.lattice.anchor[0]
        guess = self.saddlepoints.guess(-ndtri_exp(np.log(alpha)), 0) + self.transform.mean[0]
        middle = np.rint((guess - anchor) / step)

        def beyond(k: np.ndarray) -> np.ndarray:
            return self.logsf(anchor + step * k, inside=False) <= np.log(alpha)

        width = np.full(alpha.shape, 1.0)
        low, high = middle - 1, middle + 1
        while (short := ~beyond(high)).any():
            high, width = np.where(short, high + width, high), np.where(short, 2 * width, width)
        width = np.full(alpha.shape, 1.0)
        while (short := beyond(low)).any():
            low, width = np.where(short, low - width, low), np.where(short, 2 * width, width)
        return anchor + step * least_whole(beyond, low.astype(np.int64), high.astype(np.int64))


@dataclass(frozen=True)
class DifferenceTransform(AbstractCumulants):
    """S_in - S_out for independent scores; the same law in both worlds.
    >>> from mipsim.exact.density_rows import NormalRow
    >>> from mipsim.exact.transform import RowsTransform
    >>> transform = DifferenceTransform(RowsTransform(NormalRow(1.0), 4, 0.0, 2.0, 0.0))  # N(2, 3) - N(0, 4)
    >>> print(transform.cumulant(np.array([1.0 + 0j])).real[0], transform.mean)
    [3.5] [2. 2.]
    """

    base: AbstractCumulants  # the cumulants of S in the two worlds, of a score that is finite and has no lattice

    @property
    def lost(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride] - a property
        """Of both scores."""
        return 2.0 * self.base.lost

    @property
    def mean(self) -> np.ndarray:
        out, inside = self.base.mean
        return np.full(2, inside - out)

    @property
    def strip(self) -> tuple[float, float]:
        low, high = self.base.strip
        return max(low, -high), min(high, -low)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        both = self.base.cumulant(s)[1] + self.base.cumulant(-s)[0]
        return np.stack([both, both])

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        return self.base.quiet_from(c, start, stop, span)

    def rounding(self, s: ComplexArray) -> np.ndarray:
        return (self.base.rounding(s) + self.base.rounding(-s)) * (1.0 + 1e-9)

    @property
    def shift(self) -> float:
        """Of both scores, and of the difference of their means."""
        return 2.0 * self.base.shift + 2.0**-52 * float(np.abs(self.base.mean).sum())

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The modulus is the product of both, and that of S_out is at most 1."""
        return self.base.tail(c, spacing, first, span)
