"""Judges a point by games, if no exact distribution is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._printed import ceiling, shown
from mipsim.bands.comparison import LEAST_COUNT, AbstractComparison, Comparison
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.gap_interval import gap_standard_error
from mipsim.bands.ordering import compare_curves
from mipsim.engine.play import play
from mipsim.forms.score import name_of
from mipsim.referee.judging.law import tolerance_of
from mipsim.referee.judging.shared_functions import with_shared_functions
from mipsim.referee.kinds import EVERYWHERE, Equality, Kind
from mipsim.referee.result import CurveEvidence, PointResult, Verdict
from mipsim.referee.values import Played, Samplers
from mipsim.tradeoff.base import AbstractTradeOff

LEAST_RATE = 1e-2
"""A confirmation by plain games is about error rates of no less than this to 1 minus this; rarer ones can refute."""
PILOT, THRESHOLDS = 4096, 64
"""Draws of each sampler that fix the thresholds, and how many thresholds; the judged draws are others."""
NO_TOLERANCE = 1e-9
"""A bound has no tolerance; its comparison by games requires a tolerance above the rounding of probits."""
ORDERED = 0.02
"""Probits by which an order may fail and still count as holding, where two sides are known by games only."""


def empirical(value: Played | Samplers, games: int, seed: int, confidence: float) -> EmpiricalTradeOff:
    """Play, or draw, and count at thresholds that were fixed before.
    `games`: in each world; `seed`: in [0, 2^63); `confidence`: of the curve's band.
    """
    if isinstance(value, Played):
        shared = with_shared_functions(value)
        return play(shared.game, shared.attack, games, seed, progress=False).tradeoff(confidence=confidence)
    pilot = np.concatenate([value.draw(inside, (seed, 1), min(PILOT, games)) for inside in (False, True)])
    levels = ndtr(np.linspace(ndtri(0.8 * LEAST_RATE), -ndtri(0.8 * LEAST_RATE), THRESHOLDS))
    t = np.unique(np.quantile(pilot[np.isfinite(pilot)], levels, method="lower"))
    out, inside = (np.sort(value.draw(world, (seed, 2), games)) for world in (False, True))
    above = games - np.searchsorted(out, t, side="right")
    below = np.searchsorted(inside, t, side="right")
    return EmpiricalTradeOff.from_counts(t, above, games, below, games, confidence)


def estimated(
    claimed: AbstractTradeOff, value: Played | Samplers, games: int, seed: int, errors: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gaps with a lower and an upper end, in probits: for a quick look only, since the ends are not simultaneous.

    Where all four cells of a threshold have counts enough, an end is so many standard errors away. Elsewhere it comes from one-sided
    Clopper-Pearson limits of both rates, so that worlds which no game confuses show a large gap; the gap is then the end next to 0.

    `claimed`: the claimed curve; `games`: in each world; `seed`: in [0, 2^62); `errors`: standard errors, > 0; a limit
    has the failure probability of as many.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> shift = Samplers(lambda g, n: g.standard_normal(n), lambda g, n: 1.0 + g.standard_normal(n))
    >>> gap, low, high = estimated(GaussianTradeOff(1.0), shift, 10_000, 0, 6.0)
    >>> bool((low < 0.0).all() and (high > 0.0).all())  # 6 standard errors: 2e-9 each
    True
    >>> apart = Samplers(lambda g, n: g.standard_normal(n), lambda g, n: 100.0 + g.standard_normal(n))
    >>> bool(estimated(GaussianTradeOff(1.0), apart, 10_000, 0, 6.0)[1].max() > 3.0)
    True
    """
    curve = empirical(value, games, seed, 0.5)
    out, inside = curve.out, curve.inside
    with np.errstate(invalid="ignore"):
        gap = claimed.probit_beta(out.rate) - inside.probit
        away = errors * gap_standard_error(out, inside, claimed)
        low, high = (
            claimed.probit_beta(ndtr(out.limit(-errors, upper))) - inside.limit(-errors, upper)
            for upper in (True, False)
        )
    seen = (np.minimum(out.rarest_cell, inside.rarest_cell) >= LEAST_COUNT) & np.isfinite(gap)
    low, high = np.where(seen, gap - away, low), np.where(seen, gap + away, high)
    gap = np.where(seen, gap, np.clip(0.0, low, high))
    known = ~np.isnan(low) & ~np.isnan(high)
    return gap[known], low[known], high[known]


def judge_games(
    kind: Kind,  # a bound, an ordering or an equality
    claimed: AbstractTradeOff,
    value: Played | Samplers,
    at: Mapping[str, Any],
    games: int,  # in each world
    seed: int,  # in [0, 2^63)
    risk: float,  # failure probability of this point
    detail: str = "",  # further words for the reader
) -> PointResult:
    """Judge a claimed curve by games: rates below `LEAST_RATE` can refute it, and are not confirmed; the result says where it was judged."""
    # Half of the risk for the rates themselves, where only those above a floor are claimed.
    curve = empirical(value, games, seed, 1.0 - (risk if _everywhere(kind) else risk / 2))
    tolerance = tolerance_of(kind, claimed) if isinstance(kind, Equality) else NO_TOLERANCE
    outcome = curve.compare(claimed, tolerance, kind=_reading(kind), least_rate=LEAST_RATE)
    judged, inside = _from_floor(outcome, claimed, curve, kind, risk / 2)
    how = f"games{_precision(curve)}" if isinstance(value, Played) else "draws of the samplers"
    result = _result(kind, claimed, curve, judged, at, games, seed, how, detail)
    return result if kind.one_sided else _covered(result, claimed, judged, inside, kind.floor)


def _everywhere(kind: Kind) -> bool:
    return kind.floor <= EVERYWHERE


def _from_floor(
    comparison: Comparison,
    claimed: AbstractTradeOff,
    curve: EmpiricalTradeOff,
    kind: Kind,
    risk: float,
) -> tuple[Comparison, np.ndarray]:
    """The comparison where error rates are judged, and whether all that is known of a threshold's rates is.

    An attacker who is stronger than claimed at a threshold is so at the upper limit of its FPR too, since the FNR falls; an attacker who
    is weaker is so at the lower limit. The limits miss a rate with probability `risk` at most.
    """
    if _everywhere(kind):
        return comparison, np.ones(comparison.alpha.size, bool)
    least, most = kind.floor, 1.0 - kind.floor
    fpr, fnr = curve.out.bounds(risk / 2), curve.inside.bounds(risk / 2)
    seen = [(end >= least) & (end <= most) for end in fpr]
    weak, strong = (np.asarray(claimed.beta(end), float) for end in fpr)
    weaker = seen[0] & (weak <= most) & (np.maximum(weak, fnr[0]) >= least)
    stronger = seen[1] & (strong >= least) & (np.minimum(strong, fnr[1]) <= most)
    return comparison.at_thresholds(stronger, weaker), stronger & weaker


def _covered(
    result: PointResult, claimed: AbstractTradeOff, comparison: Comparison, inside: np.ndarray, least: float
) -> PointResult:
    """An equality is not confirmed where a threshold that is judged had too few counts, or where the claim bends between thresholds by
    more than the tolerance: a score with ties is linear there, and its thresholds may all lie on a curve that it is not.
    """
    if result.verdict is not Verdict.CONFIRMED:
        return result
    alpha = comparison.alpha[comparison.used]
    least = least if least >= LEAST_RATE else 2.0 * LEAST_RATE
    rates = np.minimum.reduce(
        [comparison.alpha, 1.0 - comparison.alpha, comparison.beta, 1.0 - comparison.beta]
    )
    outside = (comparison.alpha < alpha.min()) | (comparison.alpha > alpha.max())
    if (inside & outside & (rates > least)).any():
        why = f"Error rates from {least:g} are claimed; thresholds have counts enough at FPRs within {shown((alpha.min(), alpha.max()), 2)} only."
        return replace(
            result,
            verdict=Verdict.INCONCLUSIVE,
            smallest_tolerance=math.inf,
            detail=f"{result.detail} {why}",
        )
    fpr = ndtr(np.linspace(ndtri(least), -ndtri(least), 257))
    fnr = np.asarray(claimed.beta(fpr), float)
    judged = np.minimum(fnr, 1.0 - fnr) >= least
    knots = np.unique(np.concatenate([[0.0], alpha, [1.0]]))
    chord = np.interp(fpr[judged], knots, np.asarray(claimed.beta(knots), float))
    apart = float(np.max(np.abs(ndtri(chord) - ndtri(fnr[judged])), initial=0.0))
    if apart <= (result.tolerance or 0.0):
        return result
    why = f"Between the {alpha.size} thresholds seen a score with ties may differ by {ceiling(apart, 2)} probits."
    return replace(
        result, verdict=Verdict.INCONCLUSIVE, smallest_tolerance=apart, detail=f"{result.detail} {why}"
    )


def judge_order(
    strong: Played | Samplers,
    weak: Played | Samplers,
    at: Mapping[str, Any],
    games: int,
    seed: int,
    risk: float,
) -> PointResult:
    """Judge that an attacker is at least as strong as another, both by games."""
    curves = [
        empirical(value, games, seed + offset, 1.0 - risk) for offset, value in enumerate((strong, weak))
    ]
    result = compare_curves(
        curves[0],
        curves[1],
        failure_probability=risk,
        tolerance=ORDERED,
        independent=True,  # other seeds
    )
    least, (low, high) = result.interval[0], result.deciding_interval
    gap = _gap(result)
    return PointResult(
        parameters=dict(at),
        verdict=Verdict(result.verdict),
        games=games,
        gap=-gap,
        interval=(-high, -low),
        smallest_tolerance=max(-least, 0.0),
        detectable_gap=result.detectable_gap,
        route=f"games of both{_precision(*curves)}",
        detail=f"An order counts as satisfied if it fails by no more than {ORDERED:g} probits.",
        seed=seed,
        tolerance=ORDERED,
        random=True,
    )


def _precision(*curves: EmpiricalTradeOff) -> str:
    """In which precision the user's functions played, if any did."""
    known = sorted({curve.precision for curve in curves} - {""})
    return f", your functions in {' and '.join(known)}" if known else ""


def _gap(comparison: AbstractComparison) -> float:
    """The gap where it decides; where it has too few counts to be estimated, the end of its interval that is nearer to 0."""
    if comparison.deciding is None:
        return comparison.gap
    estimate = float(comparison.estimate[comparison.deciding])
    return min(comparison.deciding_interval, key=abs) if math.isnan(estimate) else estimate


def _reading(kind: Kind) -> str:
    return "upper_bound_on_power" if kind.one_sided else "equivalence"


def _result(
    kind: Kind,
    claimed: AbstractTradeOff,
    curve: Any,
    comparison: Any,
    at: Mapping[str, Any],
    games: int,
    seed: int,
    route: str,
    detail: str,
) -> PointResult:
    one_sided = kind.one_sided
    verdict = Verdict(comparison.verdict)
    low, high = comparison.interval
    if comparison.thresholds_used:
        detail = f"{detail} Judged at FPRs within {shown(comparison.alpha_range, 2)}, gaps at all of them within {shown((low, high), 3)}."
    grid = np.geomspace(1e-5, 1.0, 160)
    below, above = curve.band(grid)
    return PointResult(
        parameters=dict(at),
        verdict=verdict,
        games=games,
        gap=_gap(comparison),
        interval=comparison.deciding_interval,
        smallest_tolerance=max(high, 0.0) if one_sided else comparison.smallest_tolerance,
        detectable_gap=comparison.detectable_gap,
        route=route,
        detail=detail.strip(),
        seed=seed,
        evidence=CurveEvidence(
            curve.alpha,
            curve.beta,
            grid,
            below,
            above,
            grid,
            claimed.beta(grid),
            f"{games:,} {route} per world",
            route,
        ),
        games_to_decide=comparison.games_to_confirm(comparison.tolerance)
        if verdict is Verdict.INCONCLUSIVE and not one_sided
        else None,
        tolerance=0.0 if one_sided else comparison.tolerance,
        random=True,
    )


def attack_named(value: Played | Samplers) -> str:
    """How the report calls the attacker.
    >>> attack_named(Samplers(print, print))
    'this score'
    """
    return name_of(value.attack) if isinstance(value, Played) else "this score"
