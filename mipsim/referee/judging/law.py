"""Judges a bound or an equality of curves or numbers at a point, by exact distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._printed import ceiling, enough, floor
from mipsim.bands.compare import equality_tolerance
from mipsim.referee.judging.gap import (
    RESOLUTION,
    Ends,
    Gap,
    bounds_of,
    curve_gap,
    gap_of,
    law_errors,
    middle_of,
    rates_of,
)
from mipsim.referee.kinds import FIXED_ALPHA, Equality, Kind
from mipsim.referee.result import CurveEvidence, PointResult, Verdict
from mipsim.referee.values import Number, Played
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff

TOO_RARE = 1e3
"""Error rates below this many times the proven error of a distribution say nothing by it."""
LEFT_BETWEEN = 0.05
"""Share of the tolerance of an equality that may be left between two points of its curves."""
RARE = np.array([1e-8, 1e-6])
"""FPRs below those at which a whole curve is judged: where its law is proven well enough for a single rate, each can refute."""
NODES, SPREAD = 97, 33
"""FPRs of a quick look, evenly in probits: an eighth of a probit apart, and so many where the claim's FNR is spread evenly."""


def law_of(played: Played) -> ExactTradeOff | None:
    """The exact curve of an attack in a game; None where none is known."""
    try:
        return played.game.exact(played.attack)
    except ValueError:
        return None


def exact_route(curve: object) -> str:
    """What a verdict by a curve without games rests on.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> exact_route(GaussianTradeOff(1.0))
    'exact curve'
    """
    if not isinstance(curve, ExactTradeOff):
        return "exact curve"
    return f"exact law, assumed: {curve.assumed}" if curve.assumed else "exact law"


def floor_of(kind: Kind, *curves: AbstractTradeOff) -> float:
    """The least error rate that is judged: that of the kind, or the rarest that the distributions' proven errors reach.

    If the bounds are too wide at `FIXED_ALPHA`, that rate is judged all the same, and the statement stays undecided.
    """
    errors = [curve.law.error_bound for curve in curves if isinstance(curve, ExactTradeOff)]
    return max(kind.floor, min(TOO_RARE * max(errors, default=0.0), FIXED_ALPHA))


RATES = ndtr(np.linspace(-5.0, 5.0, 401))
"""FPRs at which a proven rate is held against two curves."""


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
    low, high = bounds_of(truth, "truth", RATES)[:2]
    least = np.where(
        RATES + bound < 1.0, bounds_of(claimed, "claimed", np.minimum(RATES + bound, 1.0))[0], 0.0
    )
    most = np.where(bound < RATES, bounds_of(claimed, "claimed", np.maximum(RATES - bound, 0.0))[1], 1.0)
    seen = (high < least - bound - ROUNDING).any(), (low > most + bound + ROUNDING).any()
    return any(np.logical_and(seen, sides))


def probits_of(claimed: AbstractTradeOff, bound: float, floor: float) -> float:
    """The gap in probits that a distance in error rates allows at most, at FPRs and claimed FNRs from `floor` to 1 - `floor`; inf if none.

    Between two FPRs of the grid all curves fall, so that the ends of the cell bound what is inside.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> 0.039 < probits_of(GaussianTradeOff(1.0), 0.001, 0.01) < 0.12
    True
    """
    alpha = ndtr(np.linspace(ndtri(floor), -ndtri(floor), 4001))
    fnr = np.asarray(claimed.beta(alpha), float)
    judged = (fnr[:-1] >= floor) & (fnr[1:] <= 1.0 - floor)
    high = (
        np.where(alpha > bound, np.asarray(claimed.beta(np.maximum(alpha - bound, 0.0)), float), 1.0) + bound
    )
    low = (
        np.where(alpha + bound < 1.0, np.asarray(claimed.beta(np.minimum(alpha + bound, 1.0)), float), 0.0)
        - bound
    )
    ends = ndtri(np.clip(fnr, 0.0, 1.0))
    up = ndtri(np.clip(high[:-1], 0.0, 1.0)) - ends[1:]
    down = ends[:-1] - ndtri(np.clip(low[1:], 0.0, 1.0))
    return float(np.max(np.maximum(up, down)[judged], initial=0.0)) if judged.any() else math.inf


def tolerance_of(kind: Kind, claimed: AbstractTradeOff | Number) -> float:
    """What counts as equal: what the kind declares, else the smaller of 0.02 probits and 2% of mu, or 2% of the number.
    Raises ValueError if the claim is about 0 and no absolute tolerance was declared.
    """
    given = getattr(kind, "tolerance", None)
    if given is not None:
        return given
    if isinstance(claimed, Number):
        share = getattr(kind, "relative", None) or SHARE
        return number_tolerance(claimed.value) * share / SHARE
    return equality_tolerance(claimed)


def gap_between(
    kind: Kind,  # gives the floor
    claimed: AbstractTradeOff | Number,
    truth: AbstractTradeOff | Number,  # the truth; of the same sort
    optimal: bool,  # whether the truth is the best attacker's, so that its curve is convex
    label: str,  # what the picture is called
) -> Gap:
    """The signed gaps, truth against claim, over the whole curve.
    Raises ValueError if either is a curve and the other a number.
    """
    if isinstance(claimed, Number) or isinstance(truth, Number):
        if not (isinstance(claimed, Number) and isinstance(truth, Number)):
            item, other = ("claimed", "truth") if isinstance(claimed, Number) else ("truth", "claimed")
            raise ValueError(f"{item} returned a number and {other} a curve; both must be of the same sort")
        return _gap_of_numbers(claimed, truth)
    floor = floor_of(kind, claimed, truth)
    if _nothing_between(claimed, floor):
        return _gap_in_sight(kind, claimed, truth, floor, label)
    # What is left between two points counts against an equality: no more than a small part of what is tolerated.
    resolution = RESOLUTION if kind.one_sided else min(RESOLUTION, LEFT_BETWEEN * tolerance_of(kind, claimed))
    return curve_gap(truth, claimed, label, floor=floor, convex=optimal, resolution=resolution)


def _gap_in_sight(
    kind: Kind, claimed: AbstractTradeOff, truth: AbstractTradeOff, floor: float, label: str
) -> Gap:
    """The gaps where the claimed FNR is outside [floor, 1 - floor]: rates beyond count as its ends, so that a gap is at least what is seen."""
    alpha = ndtr(np.linspace(ndtri(floor), -ndtri(floor), NODES))
    wanted, actual = (
        np.clip(bounds_of(curve, label, alpha), floor, 1.0 - floor) for curve in (claimed, truth)
    )
    least, most = gap_of(wanted[[0, 3]], actual[[1, 2]]), gap_of(wanted[[1, 2]], actual[[0, 3]])
    # Two curves that are both out of sight are not seen to be equal, nor in order where the truth may pass the claim there.
    if not (kind.one_sided or least.any() or most.any()):
        return Gap(0.0, 0.0, ANYTHING, ANYTHING)
    high, largest = _seen(float(least.max()), float(most.max()))
    if _may_pass(claimed, truth, alpha):
        largest = largest[0], math.inf
    low, (nearest, _) = _seen(-float(most.min()), -float(least.min()))
    # The claim is out of sight throughout, so that every gap may be less than what is seen of it.
    return Gap(0.0 - low, high, (-math.inf, -nearest), largest)


def _seen(sure: float, possible: float) -> tuple[float, Ends]:
    """The largest gap that was seen, and between what it lies: nothing is known where only its bracket is above 0."""
    if sure > 0.0:
        return sure, (sure, math.inf)
    return (possible, (-math.inf, possible)) if possible <= ROUNDING else (0.0, ANYTHING)


def _gap_of_numbers(claimed: Number, truth: Number) -> Gap:
    """What is known of truth less claim; where a side is open, its known end stands for it."""
    value = 0.0 if truth.value == claimed.value else truth.value - claimed.value
    error = claimed.error + truth.error
    low = -math.inf if "below" in (truth.unknown, _OTHER[claimed.unknown]) else value - error
    high = math.inf if "above" in (truth.unknown, _OTHER[claimed.unknown]) else value + error
    if math.isinf(high) != math.isinf(low):
        value = low if math.isinf(high) else high
    return Gap(value, value, (low, high), (low, high))


_OTHER = {"above": "below", "below": "above", "": ""}


def _nothing_between(claimed: AbstractTradeOff, floor: float) -> bool:
    ends = rates_of(claimed, "claimed", np.array([floor, 1.0 - floor]))[0]
    return bool(ends[0] <= floor or ends[1] >= 1.0 - floor)


def _may_pass(claimed: AbstractTradeOff, truth: AbstractTradeOff, alpha: np.ndarray) -> bool:
    """Whether the claim may be passed at some of these FPRs, also by FNRs below the floor."""
    wanted, result = claimed.probit_beta_bounds(alpha)[1], truth.probit_beta_bounds(alpha)[0]
    with np.errstate(invalid="ignore"):
        return bool((wanted - result > ROUNDING * (1.0 + np.abs(wanted))).any())


def judge_gap(
    kind: Kind,
    claimed: AbstractTradeOff | Number,
    gap: Gap,
    at: Mapping[str, Any],
    route: str = "exact law",  # how the gap was computed
    detail: str = "",  # a sentence for the reader
) -> PointResult:
    """Judge by an exact distribution, whatever is judged so: the only rule.

    REFUTED: the gap is surely outside of what is allowed: the tolerance of an equality, for a bound nothing but the rounding of float64.
    CONFIRMED: it is surely inside; or it is a bound that may be attained, is not surely passed, and is known to `DECIDES`: `interval` and
    `smallest_tolerance` say how far above zero its gap reaches. INCONCLUSIVE: neither.

    A gap that is nothing beside 1 confirms nothing where the claimed number is itself as small: it may be a true excess.

    Raises ValueError if the gap is NaN.
    """
    tolerance = tolerance_of(kind, claimed) if isinstance(kind, Equality) else 0.0
    value, interval, ends = gap.counted(kind.one_sided)
    if math.isnan(value) or any(map(math.isnan, ends)):
        raise ValueError("gap is NaN; it must be a number")
    size = value if kind.one_sided else abs(value)
    error = 0.0 if ends[1] == size else ends[1] - size
    scale, unit = 1.0, "probit"
    if isinstance(claimed, Number):
        unit = claimed.unit or kind.unit
        scale = abs(claimed.value) if math.isfinite(claimed.value) else 1.0
    rounding, small = ROUNDING * (max(1.0, scale) if kind.one_sided else 1.0), min(1.0, scale)
    slack = tolerance + ROUNDING * small
    verdict = decide(ends, tolerance + rounding, slack)
    attained = kind.one_sided and error <= DECIDES * small
    if verdict is Verdict.INCONCLUSIVE and attained and (value <= slack or not isinstance(claimed, Number)):
        verdict = Verdict.CONFIRMED
    detail = _closed(detail)
    if verdict is Verdict.INCONCLUSIVE and math.isinf(ends[1]):
        detail = f"{detail} {ONE_SIDED if isinstance(claimed, Number) else UNKNOWN}"
    elif verdict is not Verdict.CONFIRMED and not kind.one_sided:
        digits = enough(ends[1], tolerance, 3)
        known = (
            f"It would hold with a tolerance of {ceiling(ends[1], digits)} {unit}"
            if ends[1] < math.inf
            else "With which tolerance it would hold is not known"
        )
        detail = f"{detail} {known}; {floor(tolerance, digits)} is allowed."
    elif verdict is Verdict.INCONCLUSIVE:
        detail = f"{detail} The law is known to {ceiling(error, 2)} only, which decides nothing here."
    if verdict is Verdict.INCONCLUSIVE and not kind.one_sided:
        interval = gap.everywhere  # it may be the least or the largest
    return PointResult(
        parameters=dict(at),
        verdict=verdict,
        games=0,
        gap=value,
        interval=interval,
        smallest_tolerance=max(ends[1], 0.0),
        detectable_gap=tolerance + rounding + error,
        unit=unit,
        route=route,
        detail=detail.strip(),
        evidence=_one_sided(gap.evidence) if kind.one_sided else gap.evidence,
        tolerance=tolerance,
    )


def decide(gap: Ends, allowed: float, confirmed: float) -> Verdict:
    """What two proven ends of a gap decide: REFUTED surely above what is allowed, else CONFIRMED surely up to `confirmed`."""
    if gap[0] > allowed:
        return Verdict.REFUTED
    return Verdict.CONFIRMED if gap[1] <= confirmed else Verdict.INCONCLUSIVE


def quick_look(
    kind: Kind,
    claimed: AbstractTradeOff | Number,
    truth: AbstractTradeOff | Number,
    *,
    rare: bool = False,  # whether only at FPRs of `RARE`, of two curves
) -> tuple[float, float]:
    """(strain, gap) at a hundred FPRs: what steers a search, and confirms nothing.

    The strain is how far the statement is broken, proven errors and rounding left out of it: for bounds the gap itself, in
    its unit; for equalities the gap in tolerances, less 1. Positive: broken.
    """
    if isinstance(claimed, Number) or isinstance(truth, Number):
        size = gap_between(kind, claimed, truth, True, "")
        assert isinstance(claimed, Number)
        scale = abs(claimed.value) if math.isfinite(claimed.value) else 1.0
        value, _, (sure, _) = size.counted(kind.one_sided)
        largest = value if kind.one_sided else abs(value)
        unsure = 0.0 if largest == sure else largest - sure
        gap, error = np.array([value]), np.array([unsure + 1e-9 * max(1.0, scale)])
    else:
        floor = floor_of(kind, claimed, truth)
        if rare:
            alpha, floor = RARE[(kind.floor <= RARE) & (floor > RARE)], kind.floor
            if not alpha.size:
                return -math.inf, 0.0
        else:
            alpha = _nodes(claimed, truth, floor)
        bounds = [bounds_of(curve, "", alpha) for curve in (claimed, truth)]
        rates = [middle_of(item) for item in bounds]
        rates[0] = np.clip(rates[0], floor, 1.0 - floor)
        rates[1] = np.where(rates[0] == floor, np.maximum(rates[1], floor), rates[1])
        gap = gap_of(*rates)
        with np.errstate(invalid="ignore"):
            error = 1e-9 + law_errors(alpha, rates[0], bounds[1], gap)
        error = error + law_errors(alpha, rates[1], bounds[0], -gap)
        error = np.where(np.isnan(error), math.inf, error)
    with np.errstate(invalid="ignore"):  # an infinite gap of a law that may be 0 by its error only
        excess = gap - error if kind.one_sided else (np.abs(gap) - error) / tolerance_of(kind, claimed) - 1.0
    excess = np.where(np.isnan(excess), -math.inf, excess)
    if (
        not kind.one_sided
        and not isinstance(claimed, Number)
        and _nothing_between(claimed, floor_of(kind, claimed))
    ):
        excess = np.where(gap == 0.0, -math.inf, excess)  # both curves are out of sight: nothing is seen
    worst = int(excess.argmax())
    return float(excess[worst]), float(gap[worst])


def _nodes(claimed: AbstractTradeOff, truth: AbstractTradeOff, floor: float) -> np.ndarray:
    z = np.linspace(ndtri(floor), -ndtri(floor), NODES)
    probit = np.asarray(claimed.probit_beta(ndtr(z)), float)
    known = np.isfinite(probit)
    more = np.zeros(0)
    if known.sum() > 1:
        wanted = np.linspace(max(probit[known].min(), z[0]), min(probit[known].max(), z[-1]), SPREAD)
        more = np.interp(-wanted, -probit[known], z[known])
    alpha = ndtr(np.concatenate([z, more]))
    corners = [c.alpha for c in (claimed, truth) if isinstance(c, PiecewiseLinearTradeOff)]
    inside = [c[(c >= floor) & (c <= 1.0 - floor)] for c in corners]
    return np.unique(np.concatenate([alpha, *inside]))


SHARE = 0.02
"""Of a claimed number: a small number is judged as sharply as a large number."""

ROUNDING = 1e-9
"""What float64 sums of up to a million terms and the inverse of Phi may be off, relative to 1."""

UNKNOWN = "The law says nothing at the largest gap: its proven error is too large there."
ONE_SIDED = "Truth is known from a single side only, which decides nothing here."

DECIDES = 1e-3
"""A distribution whose proven error exceeds this (in the unit of the gap) cannot confirm a bound that it nearly attains."""

ANYTHING = (-math.inf, math.inf)


def number_tolerance(claimed: float) -> float:
    """Return what counts as equal for a claimed number: 2% of it.
    Raises ValueError if it is 0 or not finite: the judge then needs an absolute tolerance.
    """
    if claimed == 0 or not math.isfinite(claimed):
        raise ValueError(
            f"claimed is {claimed:g}; it must be finite and not 0, or an absolute tolerance must be given"
        )
    return SHARE * abs(claimed)


def _one_sided(evidence: CurveEvidence | None) -> CurveEvidence | None:
    return None if evidence is None else replace(evidence, label=evidence.label or "bound")


def _closed(detail: str) -> str:
    """A sentence with its full stop: another may follow it."""
    return f"{detail}." if detail and detail[-1] not in ".!?" else detail
