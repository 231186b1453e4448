"""The gap between a claimed curve and two binomial counts: a proven interval, and its standard error."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim.bands.counted_rates import CountedRates
from mipsim.tradeoff.base import AbstractTradeOff

_CELLS = 256  # of a, and twice as many of b; more only narrow the interval, whose ends are rounded outwards to an edge
_LEAST, _MOST, _STEP = -39.0, 8.5, 0.25  # Phi is exactly 0 and 1 in float64 there
_NODES = np.arange(_LEAST, _MOST + _STEP, _STEP)
# width of the bins of c that share their angles, and how many there are on either side of 0
_BIN, _BINS = 0.5, 12
_FLATTEST = 0.02  # radians: both worlds keep some weight
_BOX = 0.05  # share of an end's failure probability that goes to each of the two limits of the box
Ends = tuple[np.ndarray, np.ndarray]


def critical_probits(failure_probability: float, thresholds: int, sides: int) -> tuple[float, float]:
    """(z, z of the box) with `sides` (Phi(-z) + 2 Phi(-z of the box)) = failure_probability / thresholds, or less where z = 0."""
    end = failure_probability / (sides * thresholds)
    # Below 0 the lower end of an interval could lie above the upper end.
    return max(0.0, float(-ndtri((1.0 - 2.0 * _BOX) * end))), float(-ndtri(_BOX * end))


def gap_bounds(
    out: CountedRates,  # the FPRs at K thresholds
    inside: CountedRates,  # the FNRs
    claim: AbstractTradeOff,  # the claimed trade-off function g
    probits: tuple[float, float],  # (z, z_box), see `critical_probits`
    cells: int = _CELLS,  # of a; fewer are faster and widen the interval, by 2% at 64
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of c = Phi^-1(g(a)) - Phi^-1(b) at each threshold, for true rates a (FPR) and b (FNR).

    Each end fails with probability at most Phi(-z) + 2 Phi(-z_box), for every number of games and every a and b:
    no approximation by a normal or chi-square law is used, and no least number of counts is needed.

    Proof, for the lower end. Let p(a) be the chance, if the FPR is a, of at most the observed false positives, and
    q(b) the same for the FNR. At the true rates both are stochastically at least uniform and they are independent,
    so that S(a, b) = cos(t) Phi^-1(p(a)) + sin(t) Phi^-1(q(b)) is stochastically at least standard normal, whatever
    the angle t in (0, pi/2) that is fixed without the counts; here t depends on the hypothesis only, on a and on c rounded to 1/2
    (the combination of Stouffer and of Liptak, test of a simple hypothesis). Hence the true (a, b) leaves
    {p >= Phi(-z_box), q >= Phi(-z_box), S >= -z} with probability at most 2 Phi(-z_box) + Phi(-z), and c is at least
    its infimum over that set (Berger and Boos 1994, confidence set for a nuisance). c falls in a and in b: on each
    of the cells of a it is bounded by the g of the right end and the largest b of the left end, for the extreme
    angles of the cell (for z >= 0 the b that S allows has no interior maximum in t; for z < 0 it may have a maximum, where
    cos(t) = Phi^-1(p) / -z). This rounding outwards widens the interval by about 1%. The set is a union over the bins of c,
    each with its own angles. The upper end is the mirror image. t makes the boundary of S parallel to the lines of equal c; it
    affects the width, never the failure probability.

    Of a claim that is known between bounds the lower end takes the least g and the upper end the largest, so that the interval
    holds for every curve between them.

    A claim with g(0) < 1 begins with a vertical line: at a = 0 every b >= g(0) lies on it, and c is 0 there. A test that never
    says "in" is such a point.

    Returns (low, high), shape (K,), in probits; infinite where the counts or the claim say nothing.

    Source: Clopper and Pearson (1934); Stouffer et al. (1949); Berger and Boos, JASA 89 (1994).
    """
    z, box = probits
    low, high = (
        gap_end(out, inside, claim, np.array([z]), box, lower=lower, cells=cells)[0]
        for lower in (True, False)
    )
    return low, high


def gap_end(
    out: CountedRates,  # the FPRs at K thresholds
    inside: CountedRates,  # the FNRs
    claim: AbstractTradeOff,  # the claimed trade-off function g
    probits: np.ndarray,  # the levels z, shape (levels,)
    box: float,  # z_box
    *,
    lower: bool,  # whether the lower end is wanted, else the upper
    cells: int = _CELLS,
) -> np.ndarray:
    """An end of `gap_bounds` at several levels z: the extremum of c over {p, q >= Phi(-box), S >= -z}, shape (levels, K).

    S is the same variable at all levels, so that the ends of each threshold are nested.
    """
    reach = box - 1.5 * min(0.0, float(np.min(probits)))
    edges, (first, last), _ = _edges(out, box, reach, lower, cells)
    left, right = edges[:, :-1], edges[:, 1:]
    weakest = out.tail_probit(left if lower else right, lower)  # the largest p of the cell
    farther, _, corner = _edges(inside, box, reach, lower, 2 * cells)
    if not lower:
        farther = farther[:, ::-1]
    falling = inside.tail_probit(farther, lower)
    falling[:, -1] = -np.inf  # the last edge is the limit of the box
    # Beyond the end of the cells where the FPR is least (most) suspicious, every b of the box is allowed.
    # A claim that is known between bounds counts with the end that widens the interval.
    fpr = ndtr(np.concatenate([right, first] if lower else [left, last], axis=1))
    claimed = claim.probit_beta_bounds(fpr)[0 if lower else 1]
    sign = 1.0 if lower else -1.0
    with np.errstate(invalid="ignore"):
        inner = sign * (claimed[:, [-1]] - farther[:, :1])[:, 0]
        outer = sign * (claimed[:, [-2 if lower else 0]] - corner)[:, 0]
    # Bins of sign * c: those that hold the c of the box, and a single bin for all that are beyond the last.
    bins = [
        np.clip(np.nan_to_num(np.round(end / _BIN), nan=side, posinf=_BINS, neginf=-_BINS), -_BINS, _BINS)
        for end, side in ((outer, -_BINS), (inner, _BINS))
    ]
    result = np.full((len(probits), left.shape[0]), np.inf)
    empty = np.ones_like(result, dtype=bool)
    for place in range(int(bins[0].min()), int(bins[1].max()) + 1):
        some = np.flatnonzero((bins[0] <= place) & (place <= bins[1]))
        if not some.size:
            continue
        angles = _angles(out, inside, claim, sign * place * _BIN)
        extreme = _extreme_angles(angles, left[some], right[some])
        begin = -np.inf if place == -_BINS else (place - 0.5) * _BIN
        end = np.inf if place == _BINS else (place + 0.5) * _BIN
        for level, z in enumerate(probits):
            needed = _needed(z, weakest[some], extreme)
            far = _farthest(farther[some], falling[some], corner[some], np.maximum(needed, -box))
            with np.errstate(invalid="ignore"):
                gap = sign * (claimed[some] - np.concatenate([far, corner[some]], axis=1))
            least = np.where(np.isnan(gap), -np.inf, gap).min(axis=1)
            inside_bin = least <= end
            empty[level, some] &= ~inside_bin
            least = np.where(inside_bin, np.maximum(least, begin), np.inf)
            result[level, some] = np.minimum(result[level, some], least)
    result = sign * np.where(empty, -np.inf, result)
    if not lower and claim.tpr_at(0.0) > 0.0:
        zero_allowed = out.limit(-box, small=False) <= _LEAST
        result = np.where(zero_allowed, np.maximum(result, 0.0), result)
    return result


def _edges(
    rates: CountedRates, box: float, reach: float, small: bool, cells: int
) -> tuple[np.ndarray, Ends, np.ndarray]:
    """Edges of cells in Phi^-1(rate), increasing: `cells` between the limits at which the p-value is Phi(box) and Phi(-box), or as
    narrow ones from Phi(reach) on, and an eighth more from there to Phi(2 box + reach), where the other world's rate may be the farther off.
    With the first and the last edge, and the limit of the box, which may lie beyond.
    """
    limits = rates.limit(np.array([2.0 * box + reach, reach, -box]), small)[:, :, None]
    near, middle, far = np.clip(limits, _LEAST, _MOST)
    more, cells = cells // 8, round(cells * (1.0 + reach / box) / 2.0)
    edges = np.concatenate(
        [
            near + (middle - near) * np.linspace(0.0, 1.0, more, endpoint=False),
            middle + (far - middle) * np.linspace(0.0, 1.0, cells + 1),
        ],
        axis=1,
    )
    return (edges, (near, far), limits[2]) if small else (edges[:, ::-1], (far, near), limits[2])


def _needed(z: float, weakest: np.ndarray, extreme: list[np.ndarray]) -> np.ndarray:
    """The least q with cos(t) p + sin(t) q >= -z, over all angles t between extreme ones, for p = `weakest`; shape (K, cells)."""
    result = np.full_like(weakest, np.inf)
    with np.errstate(invalid="ignore"):
        for t in extreme:
            result = np.fmin(result, (-z - np.cos(t) * weakest) / np.sin(t))
        if z < 0.0:  # q is least where its derivative (p + z cos(t)) / sin(t)^2 is zero
            cosine = weakest / -z
            inside = (np.cos(np.maximum.reduce(extreme)) < cosine) & (
                cosine < np.cos(np.minimum.reduce(extreme))
            )
            result = np.where(inside, np.fmin(result, -z * np.sqrt(1.0 - cosine**2)), result)
    return result


def _farthest(edges: np.ndarray, falling: np.ndarray, corner: np.ndarray, needed: np.ndarray) -> np.ndarray:
    """The farthest Phi^-1(b) whose p-value has a probit >= needed, rounded outwards to an edge, shape (K, cells).
    `edges`: of b, from the least suspicious to the limit of the box; `falling`: the probits of the p-values there;
    `corner`: the limit of the box, shape (K, 1); `needed`: shape (K, cells).
    """
    place = np.stack([np.searchsorted(-f, -w, side="left") for f, w in zip(falling, needed, strict=True)])
    return np.where(np.isinf(corner), corner, np.take_along_axis(edges, place, axis=1))


def _angles(out: CountedRates, inside: CountedRates, claim: AbstractTradeOff, gap: float) -> np.ndarray:
    """At fixed nodes of Phi^-1(a), the angle whose cosine and sine are the two worlds' shares of the gap's error, near this gap."""
    beta = claim.probit_beta(ndtr(_NODES)) - gap
    with np.errstate(invalid="ignore", over="ignore"):
        slope = np.gradient(np.where(np.isfinite(beta), beta, np.nan), _STEP)
        share = np.abs(slope) * np.sqrt(out.planned_variance(_NODES))
        angle = np.arctan2(np.sqrt(inside.planned_variance(beta)), share)
    angle = np.where(np.isfinite(angle), angle, np.pi / 4)
    return np.clip(angle, _FLATTEST, np.pi / 2 - _FLATTEST)


def _extreme_angles(angles: np.ndarray, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """The angles at the two ends of each cell and at the nodes inside: between them the angle is linear, so monotone."""

    def interpolated(z: np.ndarray) -> np.ndarray:
        place = (z - _LEAST) / _STEP
        below = np.clip(place.astype(np.int64), 0, _NODES.size - 2)
        item, two = angles[below], angles[below + 1]
        return item + (two - item) * (place - below)

    first = np.ceil((left - _LEAST) / _STEP)
    most = int(np.ceil((right - left).max() / _STEP))  # a wide cell holds several
    nodes = [np.clip((first + k) * _STEP + _LEAST, left, right) for k in range(max(most, 1))]
    return [interpolated(z) for z in (left, *nodes, right)]


def gap_standard_error(out: CountedRates, inside: CountedRates, claim: AbstractTradeOff) -> np.ndarray:
    """Standard error of the gap, se^2 = s^2 var(Phi^-1 a^) + var(Phi^-1 b^), to plan with; shape (K,).

    s = d Phi^-1(g(a)) / d z_a is the slope of the claimed curve in probits: -1 for every GaussianTradeOff.

    `out`: the FPRs; counts at an end are planned with half a count; `inside`: the FNRs; `claim`: the claimed trade-off
    function g.
    """
    z, step = np.clip(out.probit, -37.0, 8.0), 1e-3  # rates that float64 tells from 0 and 1
    rise, fall = claim.probit_beta(ndtr(z + step)), claim.probit_beta(ndtr(z - step))
    known = np.isfinite(rise) & np.isfinite(fall)
    slope = np.where(known, (np.where(known, rise, 0.0) - np.where(known, fall, 0.0)) / (2 * step), np.inf)
    return np.sqrt(slope**2 * out.probit_variance() + inside.probit_variance())
