"""Whether a sequence of gaps goes to zero: what gaps at growing sizes can support, and what they cannot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from mipsim._validation import number
from mipsim.referee.approach import POWERS, Fits, fits, power_shapes, second_term, slow_shapes

CONFIRMED, REFUTED, INCONCLUSIVE = "CONFIRMED", "REFUTED", "INCONCLUSIVE"
LEAST_SIZES = 6
"""A fit of g, c, q and its noise has four unknowns; two sizes more are the least that can contradict it."""
LEAST_RATIO = 2.0
"""Sizes nearer than this say nearly the same."""
FAILURE_PROBABILITY = 1e-3
"""Of the interval of the limit, were the departures from the fit independent and normal."""
FLOOR = 1 / 50
"""A limit within this share of the tolerance is not told from zero."""
ROUNDING = 1 / 2000
"""Errors of at least this share of the tolerance are allowed for, given or not: nobody computes without any."""
DESCRIBED = 0.25
"""A fit describes a sequence if it leaves at most this share of its standard deviation (or of the limit)."""
REACH = 10.0
"""A slow approach may yet move this many times as far as it has moved over all the sizes."""


@dataclass(frozen=True)
class LimitVerdict:
    """What a sequence of gaps says of its limit.

    Attributes:
        verdict: CONFIRMED, REFUTED or INCONCLUSIVE.
        limit: the estimate of the limit g, in the unit of the gaps; nan where there is no fit.
        interval: of the limit, over all fits that the gaps allow; (-inf, inf) where they say nothing.
        coefficient, power: c and q of the best fit g + c (n / first size)^-q, q in [1/4, 2]; nan where there is none.
        unexplained: root mean square of what that fit leaves, as a share of the standard deviation of the gaps.
        slow: whether a logarithmic approach, or a power below 1/4, describes the gaps as well.
        why: the reason, in one sentence.
    """

    verdict: str
    limit: float
    interval: tuple[float, float]
    coefficient: float
    power: float
    unexplained: float
    slow: bool
    why: str


def limit_verdict(
    sizes: object, gaps: object, tolerance: float, errors: object | None = None
) -> LimitVerdict:
    """Judge whether gaps at growing sizes go to zero. They support a limit; they never show one.

    gap(n) = g + c n^-q is fitted with g, c and q in [1/4, 2] free. What the fit leaves is noise, either of one size or
    in proportion to c n^-q (as a lattice makes it), beside the errors that are given. The interval of g is over all fits
    that are not significantly worse than the best (an F test), and is widened by the drift of the estimate when early
    sizes are left out, continued as slowly as n^-1/4. The same gaps are fitted by slow approaches: powers of 1 / log n,
    n^-q with q < 1/4, 1 / log log n, and logarithms that diverge.

    Where a slow approach describes the gaps as well, the interval reaches to where it would be after ten times its way so
    far; where nothing describes them, ten times what the best fit leaves is added.

    - CONFIRMED: the interval of g, which holds zero, and the last gap are inside the tolerance, for all sizes or, if those
      are inconclusive, for the later two thirds.
    - REFUTED: the interval of g excludes zero; or the gap grows, without slowing down, outside the tolerance.
    - INCONCLUSIVE: everything else, slow approach above all.

    Args:
        sizes: shape (m,), m >= 6, positive, each at least twice the one before.
        gaps: signed, shape (m,); infinite ones are allowed, NaN is not.
        tolerance: what counts as equal to the limit, > 0, in the unit of the gaps.
        errors: bounds on the errors of the gaps, >= 0, a number or shape (m,).

    Raises:
        ValueError: naming the argument, its value and what is allowed.

    Examples:
        >>> sizes = [100 * 2**k for k in range(10)]
        >>> found = limit_verdict(sizes, [n**-0.5 for n in sizes], 0.02)
        >>> found.verdict, round(found.limit, 3), round(found.power, 2)
        ('CONFIRMED', 0.0, 0.5)
        >>> limit_verdict(sizes, [0.01 + n**-0.5 for n in sizes], 0.1).verdict
        'REFUTED'
        >>> limit_verdict(sizes, [1 / math.log(n) for n in sizes], 0.2).verdict
        'INCONCLUSIVE'
    """
    tolerance = number("tolerance", tolerance, 0.0, low_open=True)
    n, y, e = _checked(sizes, gaps, errors)
    e = np.hypot(e, ROUNDING * tolerance)
    floor = FLOOR * tolerance
    if np.isinf(y).all():
        return _without_fit(REFUTED, y[-1], "The gap is infinite at every size.")
    if np.isinf(y).any():
        finite = f"{int(np.isfinite(y).sum())} of {y.size} gaps are finite"
        why = f"{finite}; a limit is judged by at least {LEAST_SIZES} finite gaps at the largest sizes."
        late = int(np.flatnonzero(np.isinf(y))[-1]) + 1
        if y.size - late < LEAST_SIZES:
            return _without_fit(INCONCLUSIVE, math.nan, why)
        n, y, e = n[late:], y[late:], e[late:]
    late = (np.abs(y) + e)[-LEAST_SIZES:]
    if (late <= floor).all() and _grows(y, e, 0.0):
        why = f"No gap exceeds {floor:.2g}, but the gap grows over the last four sizes without slowing down."
        return _without_fit(INCONCLUSIVE, y[-1], why)
    if (late <= floor).all():
        spread = float(late.max())
        return LimitVerdict(
            CONFIRMED, 0.0, (-spread, spread), math.nan, math.nan, 0.0, False,
            f"No gap at the last {LEAST_SIZES} sizes or more exceeds {floor:.2g}, which is not told from zero.",
        )  # fmt: skip
    if _grows(y, e, tolerance):
        return _without_fit(REFUTED, y[-1], "The gap grows over the last four sizes without slowing down.")
    found = _by_fits(n, y, e, tolerance, floor)
    later = y.size // 3
    if found.verdict == INCONCLUSIVE and y.size - later >= LEAST_SIZES and later:
        after = _by_fits(n[later:], y[later:], e[later:], tolerance, floor)
        if after.verdict == CONFIRMED:
            return replace(after, why=f"{after.why} It is that of the sizes from {n[later]:g} on.")
    return found


def _by_fits(n: np.ndarray, y: np.ndarray, e: np.ndarray, tolerance: float, floor: float) -> LimitVerdict:
    powers, slow = fits(power_shapes(n), y, e), fits(slow_shapes(n), y, e)
    best = powers.loglik.argmax()
    free = y.size - 3
    quantile = float(scipy.stats.f.isf(FAILURE_PROBABILITY, 1, free))
    worse = 0.5 * y.size * math.log1p(quantile / free)
    least = max(powers.loglik.max(), slow.loglik.max()) - worse
    drift = _drift(n, y, e, float(powers.g[best]))
    also_slow = slow.loglik >= least
    reach = REACH * float(slow.moved[also_slow].max(initial=0.0))
    is_slow = bool(also_slow.any() and reach > floor)
    ok = powers.loglik >= least
    # The interval of the fits, and how much farther a slow approach may lead.
    sharp = [
        _hull(one, kept, quantile, extra)
        for one, kept, extra in ((powers, ok, 0.0), (slow, also_slow, REACH))
        if kept.any()
    ]
    low, high = min(ends[0] for ends in sharp), max(ends[1] for ends in sharp)
    near = _hull(powers, ok, quantile, 0.0) if ok.any() else _hull(slow, also_slow, quantile, 0.0)
    low, high, near = low - drift, high + drift, (near[0] - drift, near[1] + drift)
    unexplained = float(powers.unexplained[best])
    moved = float(np.std(y))
    left = unexplained * moved
    described = left <= max(DESCRIBED * moved, float(e.max()))
    if not described:
        # What no power describes may go on for ever, at several times the size that it has had.
        low, high = low - REACH * left, high + REACH * left
    # A wobble around a limit far from zero need not be described.
    still = left <= DESCRIBED * abs(powers.g[best])
    q = float(POWERS[best % POWERS.size])
    interval = f"the limit is in [{low:+.2g}, {high:+.2g}]"
    fit = f"gap = {powers.g[best]:+.3g} {powers.c[best]:+.3g} (n/{n[0]:g})^-{q:.2g}"
    outside = low > floor or high < -floor
    if outside and (described or still) and not _leaves(y, e):
        verdict, why = REFUTED, f"By {fit}, {interval}, which excludes zero."
    elif outside:
        verdict, why = (
            INCONCLUSIVE,
            f"By {fit}, {interval}, without zero, but the fit is not good enough for that.",
        )
    elif near[0] > floor or near[1] < -floor:
        verdict, why = (
            INCONCLUSIVE,
            f"By {fit} the limit is not zero, but {interval} where slower approaches are allowed for.",
        )
    elif max(abs(low), abs(high)) <= tolerance and abs(y[-1]) + e[-1] <= tolerance:
        verdict, why = CONFIRMED, f"By {fit}, {interval}."
    elif is_slow:
        verdict = INCONCLUSIVE
        why = f"A slow (logarithmic) approach describes the gaps as well as {fit}: {interval}."
    elif not described:
        verdict = INCONCLUSIVE
        why = f"No power of n describes the gaps: {fit} leaves {unexplained:.0%} of their standard deviation."
    else:
        verdict = INCONCLUSIVE
        why = f"By {fit}, {interval} and the last gap is {y[-1]:+.2g}: not all inside the tolerance."
    return LimitVerdict(
        verdict, float(powers.g[best]), (low, high), float(powers.c[best]), q, unexplained, is_slow, why
    )


def _hull(found: Fits, kept: np.ndarray, quantile: float, reach: float) -> tuple[float, float]:
    """The interval of g over the fits that are kept, each widened by `reach` times how far its approach has moved."""
    half = math.sqrt(quantile) * found.error[kept] + reach * found.moved[kept]
    return float((found.g[kept] - half).min()), float((found.g[kept] + half).max())


def _drift(n: np.ndarray, y: np.ndarray, e: np.ndarray, whole: float) -> float:
    """How far the estimate of the limit may yet go.

    It is compared with those that allow for a second term and leave out early sizes; what they differ by may go on, and is
    taken to shrink no faster than n^-1/4.
    """
    later = max(5, y.size // 2)
    starts = sorted({y.size - later, (y.size - later + 1) // 2} - {0})
    estimates = [whole, second_term(power_shapes(n), y, e)]
    for start in starts:
        found: Fits = fits(power_shapes(n[start:]), y[start:], e[start:])
        estimates.append(float(found.g[found.loglik.argmax()]))
    step = (n[starts[-1] if starts else 1] / n[0]) ** 0.25
    return float(np.ptp(estimates)) * (1.0 + 1.0 / (step - 1.0))


def _leaves(y: np.ndarray, e: np.ndarray) -> bool:
    """Whether the last steps are towards zero and each is longer than the one before: a plateau that ends.

    No approach to another limit is like that, however well a power describes what there was before.
    """
    step = -np.diff(np.abs(y))[-3:]
    return bool(step[-1] > 2 * e[-1] and (np.diff(step) > 0).all())


def _grows(y: np.ndarray, e: np.ndarray, tolerance: float) -> bool:
    size, step = np.abs(y), np.diff(np.abs(y))[-3:]
    return bool(
        size[-1] > tolerance
        and size[-1] >= size.max()
        and (step > 2 * e[-3:]).all()
        and (np.diff(step) >= -2 * e[-2:]).all()
    )


def _without_fit(verdict: str, limit: float, why: str) -> LimitVerdict:
    nan = math.nan
    return LimitVerdict(verdict, float(limit), (-math.inf, math.inf), nan, nan, nan, False, why)


def _checked(sizes: object, gaps: object, errors: object | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, y = _vector("sizes", sizes), _vector("gaps", gaps)
    if n.size < LEAST_SIZES:
        raise ValueError(f"sizes has {n.size} entries; a limit is judged by at least {LEAST_SIZES}")
    if y.shape != n.shape:
        raise ValueError(f"gaps has {y.size} entries; it must have one for each of the {n.size} sizes")
    if not (np.isfinite(n) & (n > 0)).all():
        raise ValueError(f"sizes holds {n[~(np.isfinite(n) & (n > 0))][0]:g}; each must be finite and > 0")
    ratio = n[1:] / n[:-1]
    if (near := ratio < LEAST_RATIO * (1 - 1e-9)).any():
        raise ValueError(
            f"sizes holds {n[1:][near][0]:g} after {n[:-1][near][0]:g}; each must be at least {LEAST_RATIO:g} times the one before"
        )
    if np.isnan(y).any():
        place = int(np.flatnonzero(np.isnan(y))[0])
        raise ValueError(f"gaps[{place}], at size {n[place]:g}, is NaN; each gap must be a number")
    e = np.zeros(n.size) if errors is None else np.asarray(errors, float)
    if e.shape not in ((), n.shape):
        raise ValueError(
            f"errors has shape {e.shape}; it must be a number or have one entry for each of the {n.size} sizes"
        )
    e = np.broadcast_to(e, n.shape).copy()
    if not (e >= 0).all() or np.isinf(e).any():
        raise ValueError(f"errors holds {e[~((e >= 0) & np.isfinite(e))][0]:g}; each must be finite and >= 0")
    return n, y, e


def _vector(name: str, value: object) -> np.ndarray:
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; it must be a sequence of numbers") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must be a sequence of numbers")
    return array
