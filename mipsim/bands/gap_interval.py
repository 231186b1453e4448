"""The gap between a claimed curve and two binomial counts: a proven interval, and its standard error."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim.bands.scaled_rates import ScaledRates
from mipsim.tradeoff.base import AbstractTradeOff

_CELLS = 256  # of a, and twice as many of b; more only narrow the interval, whose ends are rounded outwards to an edge
_LEAST, _MOST, _STEP = -39.0, 8.5, 0.25  # Phi is exactly 0 and 1 in float64 there
_NODES = np.arange(_LEAST, _MOST + _STEP, _STEP)
_FLATTEST = 0.02  # radians: both worlds keep some weight
_BOX = 0.05  # share of an end's failure probability that goes to each of the two limits of the box
Ends = tuple[np.ndarray, np.ndarray]


def critical_probits(failure_probability: float, thresholds: int, sides: int) -> tuple[float, float]:
    """(z, z of the box) with `sides` (Phi(-z) + 2 Phi(-z of the box)) = failure_probability / thresholds.

    Examples:
        >>> [round(z, 4) for z in critical_probits(1e-3, 64, 2)]
        [4.3429, 4.94]
    """
    end = failure_probability / (sides * thresholds)
    return float(-ndtri((1.0 - 2.0 * _BOX) * end)), float(-ndtri(_BOX * end))


def gap_bounds(
    out: ScaledRates,
    inside: ScaledRates,
    claim: AbstractTradeOff,
    probits: tuple[float, float],
    cells: int = _CELLS,
) -> tuple[np.ndarray, np.ndarray]:
    """Interval of c = Phi^-1(g(a)) - Phi^-1(b) at each threshold, for true rates a (FPR) and b (FNR).

    Each end fails with probability at most Phi(-z) + 2 Phi(-z_box), for every number of games and every a and b:
    no approximation by a normal or chi-square law is used, and no least number of counts is needed.

    Proof, for the lower end. Let p(a) be the chance, if the FPR is a, of at most the observed false positives, and
    q(b) the same for the FNR. At the true rates both are stochastically at least uniform and they are independent,
    so that S(a, b) = cos(t) Phi^-1(p(a)) + sin(t) Phi^-1(q(b)) is stochastically at least standard normal, whatever
    the angle t in (0, pi/2) that is fixed without the counts; here t = t(a) depends on the hypothesis only
    (the combination of Stouffer and of Liptak, test of a simple hypothesis). Hence the true (a, b) leaves
    {p >= Phi(-z_box), q >= Phi(-z_box), S >= -z} with probability at most 2 Phi(-z_box) + Phi(-z), and c is at least
    its infimum over that set (Berger and Boos 1994, confidence set for a nuisance). c falls in a and in b: on each
    of the cells of a it is bounded by the g of the right end and the largest b of the left end, for the extreme
    angles of the cell (the b that S allows has no interior maximum in t). This rounding outwards widens the interval
    by about 1%. The upper end is the mirror image. t(a) makes the boundary of S parallel to the lines of equal c
    on the claimed curve; it affects the width, never the failure probability.

    A claim with g(0) < 1 begins with a vertical line: at a = 0 every b >= g(0) lies on it, and c is 0 there. A test that never
    says "in" is such a point.

    Args:
        out: the FPRs at K thresholds.
        inside: the FNRs.
        claim: the claimed trade-off function g.
        probits: (z, z_box), see `critical_probits`.
        cells: of a; fewer are faster and widen the interval, by 2% at 64.

    Returns:
        (low, high), shape (K,), in probits; infinite where the counts or the claim say nothing.

    Source: Clopper and Pearson (1934); Stouffer et al. (1949); Berger and Boos, JASA 89 (1994).

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> out, inside = (ScaledRates.plain(np.array([x]), 1000) for x in (500, 159))
        >>> low, high = gap_bounds(out, inside, GaussianTradeOff(1.0), critical_probits(1e-3, 1, 2))
        >>> low.round(2).tolist(), high.round(2).tolist()
        ([-0.22], [0.21])
    """
    z, box = probits
    angles = _angles(out, inside, claim)
    ends = []
    for small in (True, False):
        edges, (first, last) = _edges(out, box, small, cells)
        left, right = edges[:, :-1], edges[:, 1:]
        weakest = out.tail_probit(left if small else right, small)  # the largest p of the cell
        needed = np.full_like(left, np.inf)
        with np.errstate(invalid="ignore"):
            for t in _extreme_angles(angles, left, right):
                needed = np.fmin(needed, (-z - np.cos(t) * weakest) / np.sin(t))
        farthest, corner = _farthest(inside, np.maximum(needed, -box), box, small, 2 * cells)
        # Beyond the end of the cells where the FPR is least (most) suspicious, every b of the box is allowed.
        at = np.concatenate([right, first] if small else [left, last], axis=1)
        with np.errstate(invalid="ignore"):
            gap = claim.probit_beta(ndtr(at)) - np.concatenate([farthest, corner], axis=1)
        gap = np.where(np.isnan(gap), -np.inf if small else np.inf, gap)
        ends.append(gap.min(axis=1) if small else gap.max(axis=1))
    if claim.tpr_at(0.0) > 0.0:
        zero_allowed = out.limit(-box, small=False) <= _LEAST
        ends[1] = np.where(zero_allowed, np.maximum(ends[1], 0.0), ends[1])
    return ends[0], ends[1]


def _edges(rates: ScaledRates, box: float, small: bool, cells: int) -> tuple[np.ndarray, Ends]:
    """Edges of cells in Phi^-1(rate) between the limits at which the p-value is Phi(box) and Phi(-box), increasing."""
    near, far = (np.clip(rates.limit(s * box, small), _LEAST, _MOST)[:, None] for s in (1.0, -1.0))
    first, last = (near, far) if small else (far, near)
    return first + (last - first) * np.linspace(0.0, 1.0, cells + 1), (first, last)


def _farthest(inside: ScaledRates, needed: np.ndarray, box: float, small: bool, cells: int) -> Ends:
    """The largest (least, if not `small`) Phi^-1(b) whose p-value has a probit >= needed, rounded outwards to an edge,
    shape (K, cells), and that of the box, shape (K, 1).
    """
    edges, _ = _edges(inside, box, small, cells)
    corner = inside.limit(-box, small)[:, None]
    if not small:
        edges = edges[:, ::-1]
    falling = inside.tail_probit(edges, small)
    falling[:, -1] = -np.inf  # the last edge is the limit of the box
    place = np.stack([np.searchsorted(-f, -w, side="left") for f, w in zip(falling, needed, strict=True)])
    found = np.take_along_axis(edges, place, axis=1)
    return np.where(np.isinf(corner), corner, found), corner


def _angles(out: ScaledRates, inside: ScaledRates, claim: AbstractTradeOff) -> np.ndarray:
    """At fixed nodes of Phi^-1(a), the angle whose cosine and sine are the two worlds' shares of the gap's error."""
    beta = claim.probit_beta(ndtr(_NODES))
    with np.errstate(invalid="ignore", over="ignore"):
        slope = np.gradient(np.where(np.isfinite(beta), beta, np.nan), _STEP)
        share = np.abs(slope) * np.sqrt(out.planned_variance(_NODES[None, :]))
        angle = np.arctan2(np.sqrt(inside.planned_variance(beta[None, :])), share)
    angle = np.where(np.isfinite(angle), angle, np.pi / 4)
    return np.clip(angle, _FLATTEST, np.pi / 2 - _FLATTEST)


def _extreme_angles(angles: np.ndarray, left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    """The angles at the two ends of each cell and at a node inside: between them the angle is linear, so monotone."""

    def interpolated(z: np.ndarray) -> np.ndarray:
        place = (z - _LEAST) / _STEP
        below = np.clip(place.astype(np.int64), 0, _NODES.size - 2)
        one, two = (np.take_along_axis(angles, below + k, axis=1) for k in (0, 1))
        return one + (two - one) * (place - below)

    node = np.clip(np.ceil((left - _LEAST) / _STEP) * _STEP + _LEAST, left, right)
    return [interpolated(left), interpolated(node), interpolated(right)]


def gap_standard_error(out: ScaledRates, inside: ScaledRates, claim: AbstractTradeOff) -> np.ndarray:
    """Standard error of the gap, se^2 = s^2 var(Phi^-1 a^) + var(Phi^-1 b^), to plan with; shape (K,).

    s = d Phi^-1(g(a)) / d z_a is the slope of the claimed curve in probits: -1 for every GaussianTradeOff.

    Args:
        out: the FPRs; counts at an end are planned with half a count.
        inside: the FNRs.
        claim: the claimed trade-off function g.
    """
    z, step = np.clip(out.probit, -37.0, 8.0), 1e-3  # rates that float64 tells from 0 and 1
    rise, fall = claim.probit_beta(ndtr(z + step)), claim.probit_beta(ndtr(z - step))
    known = np.isfinite(rise) & np.isfinite(fall)
    slope = np.where(known, (np.where(known, rise, 0.0) - np.where(known, fall, 0.0)) / (2 * step), np.inf)
    return np.sqrt(slope**2 * out.probit_variance() + inside.probit_variance())


def probit_variance(p: np.ndarray, games: int) -> np.ndarray:
    """Variance of the probit of a frequency of `games` draws with p inside (0, 1): p(1-p) / (n phi(z_p)^2).

    Examples:
        >>> float(probit_variance(np.array(0.5), 1000).round(6))  # pi / 2000
        0.001571
    """
    density = np.exp(-0.5 * ndtri(p) ** 2) / np.sqrt(2 * np.pi)
    return p * (1 - p) / (games * density**2)
