"""Judges a point by what is exactly known of truth and claim, looks at it quickly, and holds proven rates against both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._printed import ceiling
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import judge_gap
from mipsim.referee.judging.gap import (
    NODES,
    ROUNDING,
    Known,
    Rates,
    gap_between,
    known_at,
    lost_digits,
    out_of_sight,
    spread_of,
)
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.values import Number
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff

RARE = np.array([1e-8, 1e-6])
"""FPRs below those at which a whole curve is judged: where its law is proven well enough for a single rate, each can refute."""
SPREAD = 33
"""FPRs of a quick look at which the claim's FNR is spread evenly."""
RATES = ndtr(np.linspace(-5.0, 5.0, 401))
"""FPRs at which a proven rate is held against two curves."""


def exact_route(curve: object) -> str:
    """What a verdict by a curve without games rests on.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> exact_route(GaussianTradeOff(1.0))
    'exact curve'
    """
    if not isinstance(curve, ExactTradeOff):
        return "exact curve"
    return f"exact law, assumed: {curve.assumed}" if curve.assumed else "exact law"


def judge_law(
    claim: Claim,
    truth: AbstractTradeOff | Number,
    optimal: bool,  # whether the truth is the best attacker's
    at: Mapping[str, Any],  # the point
) -> PointResult:
    """Judge a point whose claim and truth are curves, or numbers."""
    kind, least = claim.kind, claim.kind.floor
    if isinstance(truth, Number):
        route, detail = truth.route or "number", truth.detail
    else:
        route, detail = exact_route(truth), ""
        least = kind.floor if isinstance(claim.value, Number) else claim.floor(truth)
        if least > kind.floor:
            detail = f"Judged at error rates from {ceiling(least, 2)}, to which the law is proven."
    gap = gap_between(claim, truth, optimal)
    result = judge_gap(claim, gap, at, route, detail)
    looks = [False] if result.verdict is Verdict.INCONCLUSIVE else []
    looks += [True] if least > kind.floor and result.verdict is not Verdict.REFUTED else []
    for rare in looks:
        strain, seen = quick_look(claim, truth, rare=rare)
        if strain > 0.0:
            # The largest gap is where the law is known badly; a smaller gap elsewhere is certain.
            sure = strain if kind.one_sided else (1.0 + strain) * claim.tolerance
            words = f"At an FPR below {ceiling(least, 2)}, where the law is proven too." if rare else detail
            result = judge_gap(claim, gap.at_least(sure, seen), at, route, words)
            break
    return result


def contradicts(
    claimed: AbstractTradeOff | Number,
    truth: AbstractTradeOff | Number,
    bound: float,
    sides: tuple[bool, bool] = (True, True),  # whether a truth that is stronger, or weaker, contradicts
) -> bool:
    """Whether claim and truth are surely farther apart than a theorem allows; see `mipsim.referee.Rate`."""
    if math.isinf(bound):
        return False
    if isinstance(claimed, Number) or isinstance(truth, Number):
        assert isinstance(claimed, Number)
        assert isinstance(truth, Number)
        slack = bound + ROUNDING * max(1.0, abs(claimed.value))
        seen = truth.low - claimed.high > slack, claimed.low - truth.high > slack
        return any(np.logical_and(seen, sides))
    known = known_at(truth, RATES)
    later, sooner = (known_at(claimed, at) for at in _moved(RATES, bound))
    least = np.where(RATES + bound < 1.0, later.least.fnr, 0.0)
    most = np.where(bound < RATES, sooner.most.fnr, 1.0)
    stronger = (known.most.fnr < least - bound - ROUNDING).any()
    weaker = (known.least.fnr > most + bound + ROUNDING).any()
    return any(np.logical_and((stronger, weaker), sides))


def _moved(alpha: np.ndarray, by: float) -> tuple[np.ndarray, np.ndarray]:
    """FPRs that are so much larger, and smaller, in [0, 1]."""
    return np.minimum(alpha + by, 1.0), np.maximum(alpha - by, 0.0)


def probits_of(claimed: AbstractTradeOff, bound: float, floor: float) -> float:
    """The gap in probits that a distance in error rates allows at most, at FPRs and claimed FNRs from `floor` to 1 - `floor`; inf if none.

    Between two FPRs of the grid all curves fall, so that the ends of the cell bound what is inside.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> 0.039 < probits_of(GaussianTradeOff(1.0), 0.001, 0.01) < 0.12
    True
    """
    alpha = spread_of(floor, 4001)
    fnr, later, sooner = (np.asarray(claimed.beta(at), float) for at in (alpha, *_moved(alpha, bound)))
    judged = (fnr[:-1] >= floor) & (fnr[1:] <= 1.0 - floor)
    if not judged.any():
        return math.inf
    low = np.where(alpha + bound < 1.0, later, 0.0) - bound
    high = np.where(alpha > bound, sooner, 1.0) + bound
    ends, low, high = (ndtri(np.clip(rate, 0.0, 1.0)) for rate in (fnr, low, high))
    return float(np.max(np.maximum(high[:-1] - ends[1:], ends[:-1] - low[1:])[judged], initial=0.0))


def quick_look(
    claim: Claim,
    truth: AbstractTradeOff | Number,
    *,
    rare: bool = False,  # whether only at FPRs of `RARE`, of two curves
) -> tuple[float, float]:
    """(strain, gap) at a hundred FPRs: what steers a search, and confirms nothing.

    The strain is how far the statement is broken, proven errors and rounding left out of it: for bounds the gap itself, in
    its unit; for equalities the gap in tolerances, less 1. Positive: broken.
    """
    claimed, one_sided, hidden = claim.value, claim.kind.one_sided, False
    if isinstance(claimed, Number) or isinstance(truth, Number):
        counted = gap_between(claim, truth).counted(one_sided)
        largest, sure = counted.value if one_sided else abs(counted.value), counted.size[0]
        unsure = 0.0 if largest == sure else largest - sure
        gap, error = np.array([counted.value]), np.array([unsure + 1e-9 * max(1.0, claim.size)])
    else:
        floor = claim.floor(truth)
        hidden = not one_sided and out_of_sight(claimed, claim.floor())
        if rare:
            alpha, floor = RARE[(claim.kind.floor <= RARE) & (floor > RARE)], claim.kind.floor
            if not alpha.size:
                return -math.inf, 0.0
        else:
            alpha = _nodes(claimed, truth, floor)
        known, seen = known_at(claimed, alpha), known_at(truth, alpha)
        wanted = Rates(*(np.clip(rate, floor, 1.0 - floor) for rate in known.middle))
        pairs = zip(wanted, seen.middle, strict=True)
        actual = Rates(*(np.where(at == floor, np.maximum(rate, floor), rate) for at, rate in pairs))
        gap = actual.below(wanted)
        error = 1e-9 + _off(alpha, wanted, seen, gap) + _off(alpha, actual, known, -gap)
        error = np.where(np.isnan(error), math.inf, error)
    with np.errstate(invalid="ignore"):  # an infinite gap of a law that may be 0 by its error only
        excess = gap - error if one_sided else (np.abs(gap) - error) / claim.tolerance - 1.0
    excess = np.where(np.isnan(excess), -math.inf, excess)
    if hidden:
        excess = np.where(gap == 0.0, -math.inf, excess)  # both curves are out of sight: nothing is seen
    worst = int(excess.argmax())
    return float(excess[worst]), float(gap[worst])


def _off(alpha: np.ndarray, rates: Rates, other: Known, gap: np.ndarray) -> np.ndarray:
    """What each gap may be off, in probits: by what is known of the other curve and, below `FLOOR`, by rounding; shape (m,)."""
    with np.errstate(invalid="ignore"):
        wide = [np.abs(end.below(rates) - gap) for end in (other.least, other.most)]
    return lost_digits(alpha, rates) + np.maximum(*wide)


def _nodes(claimed: AbstractTradeOff, truth: AbstractTradeOff, floor: float) -> np.ndarray:
    z = np.linspace(ndtri(floor), -ndtri(floor), NODES)
    probit = np.asarray(claimed.probit_beta(ndtr(z)), float)
    known = np.isfinite(probit)
    more = np.zeros(0)
    if known.sum() > 1:
        wanted = np.linspace(max(probit[known].min(), z[0]), min(probit[known].max(), z[-1]), SPREAD)
        more = np.interp(-wanted, -probit[known], z[known])
    corners = [c.alpha for c in (claimed, truth) if isinstance(c, PiecewiseLinearTradeOff)]
    inside = [c[(c >= floor) & (c <= 1.0 - floor)] for c in corners]
    return np.unique(np.concatenate([ndtr(np.concatenate([z, more])), *inside]))
