"""Lower and upper bounds of both error rates of a trade-off curve, in natural logarithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from mipsim._validation import member, number, real_array

EPS = float(np.finfo(np.float64).eps)
LEAST_NORMAL = float(np.finfo(np.float64).tiny)  # below it products have no relative error
TINY = 1e-322  # some units of float64's least, in which tails below 1e-308 are rounded
_LOG_HALF = -float(np.log(2.0))


def log_complement(log_p: object) -> np.ndarray:
    """log(1 - p) from log p <= 0, accurate at both ends."""
    x = np.minimum(np.asarray(log_p, np.float64), 0.0)
    with np.errstate(divide="ignore"):
        return np.where(x > _LOG_HALF, np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def log_difference(larger: np.ndarray, smaller: np.ndarray) -> np.ndarray:
    """log(e^larger - e^smaller) for smaller <= larger; -inf where they are equal.
    >>> print(log_difference(np.array([0.0, -np.inf]), np.array([-np.inf, -np.inf])))
    [  0. -inf]
    """
    with np.errstate(invalid="ignore"):
        gap = np.where(larger == smaller, 0.0, smaller - larger)
    return np.asarray(larger + log_complement(gap))


def lowered(log_p: object, ulps: float = 8.0) -> np.ndarray:
    """A logarithm rounded down by so many units in the last place; -inf stays.
    >>> bool(lowered(-1.0) < -1.0)
    True
    """
    x = np.asarray(log_p, np.float64)
    if not ulps:
        return x
    return np.where(np.isneginf(x), x, x - ulps * EPS * np.abs(np.where(np.isneginf(x), 0.0, x)) - TINY)


def raised(log_p: object, ulps: float = 8.0) -> np.ndarray:
    """A logarithm of a rate rounded up by so many units in the last place, to 0 at most; -inf stays.
    >>> print(raised(-5e-324, 8.0))
    0.0
    """
    x = np.asarray(log_p, np.float64)
    if not ulps:
        return x
    up = x + ulps * EPS * np.abs(np.where(np.isneginf(x), 0.0, x)) + TINY
    return np.minimum(np.where(np.isneginf(x), x, up), 0.0)


def complement_bounds(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of log(1 - p) from bounds of log p; exact where p is 0 or 1.
    >>> low, high = complement_bounds(np.array([-np.inf]), np.array([-np.inf]))
    >>> print(low, high)
    [0.] [0.]
    """
    return (
        np.where(np.isneginf(high), 0.0, lowered(log_complement(high), 4.0)),
        np.where(np.isneginf(low), 0.0, raised(log_complement(low), 4.0)),
    )


def with_complement(
    low: np.ndarray,
    high: np.ndarray,
    rest_low: np.ndarray,
    rest_high: np.ndarray,
    total: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of a logarithm, narrowed by those of the logarithm of the rest; the two masses sum to e^total.
    >>> low, high = with_complement(*np.log([0.1, 0.5, 0.8, 0.95]))
    >>> print(np.exp([low, high]).round(6))
    [0.1 0.2]
    """
    off = 4.0 * EPS * np.abs(total)  # of a difference from it, too
    rest_low, rest_high = (np.minimum(end - total, 0.0) for end in (rest_low - off, rest_high + off))
    return (
        np.fmax(low, (total - off) + lowered(log_complement(rest_high), 4.0)),
        np.fmin(high, (total + off) + raised(log_complement(rest_low), 4.0)),
    )


class CurveBounds(NamedTuple):
    """Proven bounds of a trade-off curve at some FPRs: natural logarithms of FNR and TPR, float64 of the same shape.

    NaN stands where the truth is undefined, and nowhere else. FNR and TPR are both given, since either may be far below
    the rounding of the other.

    Attributes:
        log_fnr_low, log_fnr_high: the FNR lies between them.
        log_tpr_low, log_tpr_high: the TPR lies between them.

    Examples:
        >>> import mipsim as mi
        >>> bounds = mi.GaussianTradeOff(1.0).enclosure(np.log([0.05]))
        >>> bool((bounds.log_fnr_low < np.log(0.740489)).all()), bounds.log_tpr_low.round(4).tolist()
        (True, [-1.349])
    """

    log_fnr_low: np.ndarray
    log_fnr_high: np.ndarray
    log_tpr_low: np.ndarray
    log_tpr_high: np.ndarray

    @classmethod
    def of_logs(cls, log_fnr: object, log_tpr: object, ulps: float = 8.0) -> CurveBounds:
        """From logarithms of both rates, each right to so many units in its last place.

        Examples:
            >>> print(CurveBounds.of_logs(-1.0, -0.4586751453870819).log_fnr_high)
            -0.9999999999999982
        """
        return cls(
            lowered(log_fnr, ulps), raised(log_fnr, ulps), lowered(log_tpr, ulps), raised(log_tpr, ulps)
        )

    @classmethod
    def of_log_tpr(cls, low: object, high: object, ulps: float = 8.0) -> CurveBounds:
        """From bounds of log TPR, each right to so many units in its last place; the FNR follows.

        Examples:
            >>> print(CurveBounds.of_log_tpr(-1.0, -1.0).log_fnr_low.round(6))
            -0.458675
        """
        low, high = lowered(low, ulps), raised(high, ulps)
        return cls(*complement_bounds(low, high), low, high)

    @classmethod
    def of_log_fnr(cls, low: object, high: object, ulps: float = 8.0) -> CurveBounds:
        """From bounds of log FNR, each right to so many units in its last place; the TPR follows.

        Examples:
            >>> print(CurveBounds.of_log_fnr(-1.0, -1.0).log_tpr_low.round(6))
            -0.458675
        """
        return cls.of_log_tpr(low, high, ulps).exchanged()

    @classmethod
    def of_probit(cls, low: np.ndarray, high: np.ndarray, ulps: float = 8.0) -> CurveBounds:
        """From bounds of Phi^-1(FNR), where `log_ndtr` is right to so many units in its last place.

        The smaller rate is read, and the other follows: `log_ndtr` of a large number is 0 where the other tail is below 1e-308.

        Examples:
            >>> bounds = CurveBounds.of_probit(np.array([38.0]), np.array([38.0]))
            >>> print(bounds.log_tpr_low.round(3), bounds.log_fnr_high < 0.0)
            [-726.557] [ True]
        """
        missed = cls.of_log_fnr(log_ndtr(low), log_ndtr(high), ulps)
        caught = cls.of_log_tpr(log_ndtr(-high), log_ndtr(-low), ulps)
        with np.errstate(invalid="ignore"):  # from -inf to inf nothing is known
            return missed.where(low + high < 0.0, caught)

    @classmethod
    def of_rates(cls, fnr: object, tpr: object, error: object = 0.0) -> CurveBounds:
        """From plain rates, each right to the absolute `error` (and to float64's rounding of 1, if that is larger).

        Args:
            fnr: in [0, 1], any shape; NaN where it is undefined.
            tpr: 1 - fnr, to as many digits as are known.
            error: proven bound on the absolute error of both, >= 0.

        Examples:
            >>> bounds = CurveBounds.of_rates(0.25, 0.75, 1e-9)
            >>> print(np.exp(bounds.log_fnr_low).round(12), np.exp(bounds.log_tpr_high).round(12))
            0.249999999 0.750000001
        """
        slack = np.asarray(error, np.float64) + EPS
        fnr, tpr = np.asarray(fnr, np.float64), np.asarray(tpr, np.float64)
        with np.errstate(divide="ignore"):
            low = [lowered(np.log(np.maximum(rate - slack, 0.0)), 4.0) for rate in (fnr, tpr)]
            high = [raised(np.log(np.minimum(rate + slack, 1.0)), 4.0) for rate in (fnr, tpr)]
        return cls(low[0], high[0], low[1], high[1]).tightened()

    def tightened(self) -> CurveBounds:
        """Bounds that use that FNR and TPR sum to 1: each rate is known as well as the other.

        Examples:
            >>> wide = CurveBounds(*np.log([0.1, 0.5, 0.8, 0.9]))
            >>> print(np.exp(wide.tightened().log_fnr_high).round(6))
            0.2
        """
        fnr_low, fnr_high, tpr_low, tpr_high = self
        missed_low, missed_high = complement_bounds(tpr_low, tpr_high)
        caught_low, caught_high = complement_bounds(fnr_low, fnr_high)
        return CurveBounds(
            np.maximum(fnr_low, missed_low),
            np.minimum(fnr_high, missed_high),
            np.maximum(tpr_low, caught_low),
            np.minimum(tpr_high, caught_high),
        )

    @classmethod
    def of_logs_within(cls, log_fnr: object, log_tpr: object, error: object) -> CurveBounds:
        """From logarithms of both rates with an absolute error each; the smaller rate determines the larger.

        Examples:
            >>> print(CurveBounds.of_logs_within(-1e-20, np.log(1e-20), 1e-15).log_fnr_high)
            -1e-20
        """
        fnr, tpr, slack = (np.asarray(v, np.float64) for v in (log_fnr, log_tpr, error))
        low, high = lowered(fnr) - slack, np.minimum(raised(fnr) + slack, 0.0)
        return cls(low, high, lowered(tpr) - slack, np.minimum(raised(tpr) + slack, 0.0)).tightened()

    def exchanged(self) -> CurveBounds:
        """The bounds with FNR and TPR exchanged.

        Examples:
            >>> print(CurveBounds.of_log_tpr(-1.0, -1.0).exchanged().log_fnr_low.round(6))
            -1.0
        """
        return CurveBounds(self.log_tpr_low, self.log_tpr_high, self.log_fnr_low, self.log_fnr_high)

    def where(self, condition: np.ndarray, other: CurveBounds) -> CurveBounds:
        """These bounds where a condition holds, else the other ones.

        Examples:
            >>> first, second = (CurveBounds.of_log_tpr(np.full(2, x), np.full(2, x)) for x in (-1.0, -2.0))
            >>> first.where(np.array([True, False]), second).log_tpr_low.round(6).tolist()
            [-1.0, -2.0]
        """
        return CurveBounds(*(np.where(condition, a, b) for a, b in zip(self, other, strict=True)))

    def ended(self, log_fpr: object, *, start: bool = False) -> CurveBounds:
        """With exact rates at FPR 1, where a test always says "in", and if `start` at FPR 0, where it never does.

        Examples:
            >>> CurveBounds.of_log_tpr(*np.full((2, 2), -1.0)).ended(np.array([-1.0, 0.0])).log_tpr_high.tolist()[1]
            0.0
        """
        x, (always, never) = (
            np.asarray(log_fpr),
            np.array([(-np.inf, -np.inf, 0.0, 0.0), (0.0, 0.0, -np.inf, -np.inf)]),
        )
        known = CurveBounds(*always).where(x == 0.0, self)
        return CurveBounds(*never).where(np.isneginf(x), known) if start else known

    def undefined(self) -> np.ndarray:
        """Where a bound is NaN, shape of the bounds.

        Examples:
            >>> print(CurveBounds.of_rates(np.nan, np.nan).undefined())
            True
        """
        return np.any([np.isnan(end) for end in self], axis=0)


class Vertices(NamedTuple):
    """The points between which a curve is linear: bounds of log FPR, and of both error rates.

    Attributes:
        log_fpr_low, log_fpr_high: shape (m,), rising; the first is -inf or the last FPR of FNR 1, the last has FNR 0.
        bounds: of the rates, shape (m,).

    Examples:
        >>> import mipsim as mi
        >>> corners = mi.PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0]).vertices()
        >>> np.exp(corners.log_fpr_low).round(3).tolist()
        [0.0, 0.5, 1.0]
    """

    log_fpr_low: np.ndarray
    log_fpr_high: np.ndarray
    bounds: CurveBounds


def at_nudged(
    curve: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], log_fpr: np.ndarray
) -> CurveBounds:
    """Bounds from a formula for (log FNR, log TPR) whose error is that of moving log FPR and the logs by 8 ulps each.
    `curve`: the formula; takes log FPRs of any shape; `log_fpr`: where, in [-inf, 0].

    >>> blind = at_nudged(lambda log_fpr: (log_complement(log_fpr), log_fpr), np.array([-1.0]))
    >>> bool(blind.log_tpr_low[0] < -1.0 < blind.log_tpr_high[0])
    True
    """
    fnr, tpr = curve(np.stack([lowered(log_fpr, 8.0), raised(log_fpr, 8.0)]))
    result = CurveBounds(lowered(fnr[1], 8.0), raised(fnr[0], 8.0), lowered(tpr[0], 8.0), raised(tpr[1], 8.0))
    # A rate near 1 is as uncertain as its complement, whose logarithm is rounded as a larger number.
    result = result.where(result.log_tpr_high < _LOG_HALF, CurveBounds.of_log_fnr(*result[:2], 0.0))
    result = result.where(result.log_fnr_high < _LOG_HALF, CurveBounds.of_log_tpr(*result[2:], 0.0))
    return result.ended(log_fpr)


def probit_of_log(log_p: object) -> np.ndarray:
    """Phi^-1(p) from log p, to eight units in the last place; -inf at -inf, and inf at 0.

    SciPy's `ndtri_exp` is off by 1e-12 in far tails: a Newton step mends that.
    """
    x = np.asarray(log_p, np.float64)
    z = np.asarray(ndtri_exp(x))
    far = np.isfinite(z) & (z < -4.0)
    if far.any():
        at = np.where(far, z, -5.0)
        value = log_ndtr(at)
        near = np.maximum(at, -40.0)
        slope = np.where(
            at < -40.0, -at - 1.0 / at, np.exp(-0.5 * near**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(near))
        )
        z = np.where(far, at - (value - np.where(far, x, value)) / slope, z)
    return z


def bounds_from_rates(
    rates: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    log_fpr: np.ndarray,
    *,
    error: float = 0.0,
    relative: float = 1e-14,
) -> CurveBounds:
    """Bounds from a function of plain FPRs with a stated error: the short way to your own curve.

    Args:
        rates: takes FPRs in [0, 1], any shape, and returns (FNR, TPR) there; non-increasing and non-decreasing.
        log_fpr: natural logarithms of the FPRs.
        error: proven bound on the absolute error of both rates, >= 0.
        relative: proven bound on the relative error of both rates, beside it; 1e-14 is some fifty roundings.

    Examples:
        >>> bounds = bounds_from_rates(lambda fpr: (1.0 - fpr, fpr), np.log([0.25]), error=1e-3)
        >>> print(np.exp(bounds.log_tpr_low).round(6), np.exp(bounds.log_tpr_high).round(6))
        [0.249] [0.251]
    """
    member("rates", rates, Callable, "a function of FPRs")
    number("error", error, 0.0)
    number("relative", relative, 0.0)
    x = real_array("log_fpr", log_fpr, finite=False)
    if not (x <= 0.0).all():
        raise ValueError("log_fpr holds NaN or a number above 0; it must hold logarithms of FPRs")
    fpr = np.exp(np.stack([lowered(x, 4.0), np.minimum(raised(x, 4.0), 0.0)]))
    fpr = np.stack([fpr[0] * (1.0 - 4.0 * EPS), np.minimum(fpr[1] * (1.0 + 4.0 * EPS) + TINY, 1.0)])
    exact = np.isneginf(x) | (x == 0.0)
    fpr = np.where(exact, np.exp(x), fpr)
    fnr, tpr = (np.clip(np.asarray(rate, np.float64), 0.0, 1.0) for rate in rates(fpr))
    less, more = 1.0 - relative, 1.0 + relative
    with np.errstate(divide="ignore"):
        result = CurveBounds(
            lowered(np.log(np.maximum(fnr[1] * less - error, 0.0)), 2.0),
            raised(np.log(np.minimum(fnr[0] * more + error, 1.0)), 2.0),
            lowered(np.log(np.maximum(tpr[0] * less - error, 0.0)), 2.0),
            raised(np.log(np.minimum(tpr[1] * more + error, 1.0)), 2.0),
        )
    return result.ended(x)


def completed(bounds: CurveBounds, log_fpr: np.ndarray, log_tnr: np.ndarray) -> CurveBounds:
    """Bounds of a curve where they hold what every curve obeys; that alone where they are NaN or cross."""
    ends = (
        np.full(log_fpr.shape, -np.inf),
        raised(log_tnr, 4.0),
        lowered(log_fpr, 4.0),
        np.zeros(log_fpr.shape),
    )
    sides = zip(bounds, ends, (np.maximum, np.minimum, np.maximum, np.minimum), strict=True)
    known = CurveBounds(*(np.where(np.isnan(x), end, side(x, end)) for x, end, side in sides)).tightened()
    crossed = (known.log_fnr_low > known.log_fnr_high) | (known.log_tpr_low > known.log_tpr_high)
    known = CurveBounds(*ends).where(crossed, known)
    return CurveBounds(*(np.where(np.isnan(log_fpr), np.nan, x) for x in known))
