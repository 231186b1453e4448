"""Judges a point by games, if no exact distribution is known."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._printed import ceiling, shown
from mipsim.attacks.function import as_attack
from mipsim.bands.comparison import LEAST_COUNT, AbstractComparison, Comparison
from mipsim.bands.empirical_tradeoff import EmpiricalTradeOff
from mipsim.bands.gap_interval import gap_standard_error
from mipsim.bands.ordering import compare_curves
from mipsim.engine.play import play
from mipsim.exact.dispatch import declaring
from mipsim.forms.score import name_of
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.prepared import Prepared
from mipsim.referee.judging.shared_functions import with_shared_functions
from mipsim.referee.kinds import EVERYWHERE, Equality
from mipsim.referee.result import CurveEvidence, PointResult, Verdict
from mipsim.referee.settings import GAMES
from mipsim.referee.values import Number, Played, Samplers, Value
from mipsim.tradeoff.base import AbstractTradeOff

LEAST_RATE = 1e-2
"""A confirmation by plain games is about error rates of no less than this to 1 minus this; rarer ones can refute."""
PILOT, THRESHOLDS = 4096, 64
"""Draws of each sampler that fix the thresholds, and how many thresholds; the judged draws are others."""
NO_TOLERANCE = 1e-9
"""A bound has no tolerance; its comparison by games requires a tolerance above the rounding of probits."""
ORDERED = 0.02
"""Probits by which an order may fail and still count as holding, where two sides are known by games only."""
LEAST_GAMES = 2_000
"""In each world, the fewest that a point is judged by, and by which the time of a game is taken."""
GAMES_SECONDS = 15.0
"""Of the games of all points, unless their number is given: with what is compiled for them an answer comes within a minute."""


def played(value: Value) -> Played | Samplers:
    """The value, which must be played. Raises ValueError if it is no game and no samplers."""
    if isinstance(value, (Played, Samplers)):
        return value
    raise ValueError(
        "truth is an exact curve and claimed a game; exchange them, or give an exact curve for claimed"
    )


def curve(value: AbstractTradeOff | Number) -> AbstractTradeOff:
    """The value, which must be a curve. Raises ValueError if it is a number."""
    if isinstance(value, Number):
        raise ValueError(
            "claimed returned a number and truth something that is played; claimed must be a curve"
        )
    return value


def affordable_games(value: Played | Samplers | None, points: int, seconds: float = GAMES_SECONDS) -> int:
    """How many games in each world can be played at so many points in a time, `GAMES` at most and `LEAST_GAMES` at least.

    A number that rests on the clock makes no verdict unsound: it is fixed before any game that counts, by games that do not.

    `value`: what is played at any of the points; None: nothing; `seconds`: for all of them.
    """
    if value is None:
        return GAMES
    spent = []
    for _ in range(2):  # the first may compile
        began = time.perf_counter()
        try:
            empirical(value, LEAST_GAMES, 0, 0.5)
        except Exception:
            return GAMES
        spent.append(time.perf_counter() - began)
    affordable = seconds / points / (spent[-1] / LEAST_GAMES)
    if affordable >= GAMES:
        return GAMES
    digit = 10.0 ** math.floor(math.log10(max(affordable, 1.0)))
    return max(LEAST_GAMES, int(affordable // digit * digit))


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
    return EmpiricalTradeOff(t, above, games, below, games, confidence)


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
    seen = empirical(value, games, seed, 0.5)
    out, inside = seen.out, seen.inside
    with np.errstate(invalid="ignore"):
        gap = claimed.probit_beta(out.rate) - inside.probit
        away = errors * gap_standard_error(out, inside, claimed)
        low, high = (
            claimed.probit_beta(ndtr(out.limit(-errors, upper))) - inside.limit(-errors, upper)
            for upper in (True, False)
        )
    enough = (np.minimum(out.rarest_cell, inside.rarest_cell) >= LEAST_COUNT) & np.isfinite(gap)
    low, high = np.where(enough, gap - away, low), np.where(enough, gap + away, high)
    gap = np.where(enough, gap, np.clip(0.0, low, high))
    known = ~np.isnan(low) & ~np.isnan(high)
    return gap[known], low[known], high[known]


def judge_games(point: Prepared, claim: Claim, games: int, seed: int, risk: float) -> PointResult:
    """Judge a claimed curve by games: rates below `LEAST_RATE` can refute it, and are not confirmed; the result says where it was judged.
    `claim`: that of the point; `games`: in each world; `seed`: in [0, 2^63); `risk`: failure probability of this point.
    """
    kind, claimed, value = claim.kind, curve(claim.value), played(point.truth)
    everywhere = kind.floor <= EVERYWHERE
    # Half of the risk for the rates themselves, where only those above a floor are claimed.
    seen = empirical(value, games, seed, 1.0 - (risk if everywhere else risk / 2))
    tolerance = claim.tolerance if isinstance(kind, Equality) else NO_TOLERANCE
    reading = "upper_bound_on_power" if kind.one_sided else "equivalence"
    compared = seen.compare(claimed, tolerance, kind=reading, least_rate=LEAST_RATE)
    inside = np.ones(compared.alpha.size, bool)
    if not everywhere:
        compared, inside = _from_floor(compared, claimed, seen, kind.floor, risk / 2)
    route = f"games{_precision(seen)}" if isinstance(value, Played) else "draws of the samplers"
    low, high = compared.interval
    how = declaring(value.game, as_attack(value.attack)) if isinstance(value, Played) else ""
    # Where games refute no law would say more.
    words = [] if Verdict(compared.verdict) is Verdict.REFUTED else [f"No exact law is known{how}."]
    if compared.thresholds_used:
        words.append(
            f"Judged at FPRs within {shown(compared.alpha_range, 2)}, gaps at all of them within {shown((low, high), 3)}."
        )
    grid = np.geomspace(1e-5, 1.0, 160)
    result = replace(
        _result(point, compared, games, seed, route, " ".join(words)),
        gap=_gap(compared),
        interval=compared.deciding_interval,
        smallest_tolerance=max(high, 0.0) if kind.one_sided else compared.smallest_tolerance,
        evidence=CurveEvidence(seen.alpha, seen.beta, grid, claimed.beta(grid), (grid, *seen.band(grid))),
        tolerance=0.0 if kind.one_sided else compared.tolerance,
    )
    if kind.one_sided:
        return result
    if result.verdict is Verdict.INCONCLUSIVE:
        return replace(result, games_to_decide=compared.games_to_confirm(compared.tolerance))
    if result.verdict is not Verdict.CONFIRMED:
        return result
    least, why = _uncovered(claimed, compared, inside, kind.floor)
    if least <= tolerance:
        return result
    detail = f"{result.detail} {why}"
    return replace(result, verdict=Verdict.INCONCLUSIVE, smallest_tolerance=least, detail=detail)


def _from_floor(
    compared: Comparison, claimed: AbstractTradeOff, seen: EmpiricalTradeOff, least: float, risk: float
) -> tuple[Comparison, np.ndarray]:
    """The comparison where error rates are judged, and whether all that is known of a threshold's rates is.

    An attacker who is stronger than claimed at a threshold is so at the upper limit of its FPR too, since the FNR falls; an attacker who
    is weaker is so at the lower limit. The limits miss a rate with probability `risk` at most.
    """
    most = 1.0 - least
    fpr, fnr = seen.out.bounds(risk / 2), seen.inside.bounds(risk / 2)
    weak_seen, strong_seen = ((end >= least) & (end <= most) for end in fpr)
    weak, strong = (np.asarray(claimed.beta(end), float) for end in fpr)
    weaker = weak_seen & (weak <= most) & (np.maximum(weak, fnr[0]) >= least)
    stronger = strong_seen & (strong >= least) & (np.minimum(strong, fnr[1]) <= most)
    return compared.at_thresholds(stronger, weaker), stronger & weaker


def _uncovered(
    claimed: AbstractTradeOff, compared: Comparison, inside: np.ndarray, least: float
) -> tuple[float, str]:
    """By how many probits a true curve may leave an equality unseen, and why.

    Where a threshold that is judged had too few counts, by any; where the claim bends between thresholds, by the bend: a score with ties is linear
    there, and its thresholds may all lie on a curve that it is not.
    """
    alpha, least = compared.alpha[compared.used], least if least >= LEAST_RATE else 2.0 * LEAST_RATE
    rates = np.minimum.reduce([compared.alpha, 1.0 - compared.alpha, compared.beta, 1.0 - compared.beta])
    outside = (compared.alpha < alpha.min()) | (compared.alpha > alpha.max())
    if (inside & outside & (rates > least)).any():
        why = f"Error rates from {least:g} are claimed; thresholds have counts enough at FPRs within {shown((alpha.min(), alpha.max()), 2)} only."
        return math.inf, why
    fpr = ndtr(np.linspace(ndtri(least), -ndtri(least), 257))
    fnr = np.asarray(claimed.beta(fpr), float)
    judged = np.minimum(fnr, 1.0 - fnr) >= least
    knots = np.unique(np.concatenate([[0.0], alpha, [1.0]]))
    chord = np.interp(fpr[judged], knots, np.asarray(claimed.beta(knots), float))
    apart = float(np.max(np.abs(ndtri(chord) - ndtri(fnr[judged])), initial=0.0))
    return (
        apart,
        f"Between the {alpha.size} thresholds seen a score with ties may differ by {ceiling(apart, 2)} probits.",
    )


def judge_order(point: Prepared, games: int, seed: int, risk: float) -> PointResult:
    """Judge that an attacker is at least as strong as another, both by games; the arguments are those of `judge_games`."""
    curves = [
        empirical(played(value), games, seed + offset, 1.0 - risk)
        for offset, value in enumerate((point.claimed, point.truth))
    ]
    # Other seeds make them independent.
    compared = compare_curves(*curves, failure_probability=risk, tolerance=ORDERED, independent=True)
    low, high = compared.deciding_interval
    return replace(
        _result(point, compared, games, seed, f"games of both{_precision(*curves)}"),
        gap=-_gap(compared),
        interval=(-high, -low),
        smallest_tolerance=max(-compared.interval[0], 0.0),
        tolerance=ORDERED,
        detail=f"An order counts as satisfied if it fails by no more than {ORDERED:g} probits.",
    )


def _result(
    point: Prepared, compared: AbstractComparison, games: int, seed: int, route: str, detail: str = ""
) -> PointResult:
    """What the result of every comparison by games holds."""
    return PointResult(
        parameters=dict(point.at),
        verdict=Verdict(compared.verdict),
        games=games,
        gap=math.nan,
        interval=(math.nan, math.nan),
        smallest_tolerance=math.nan,
        detectable_gap=compared.detectable_gap,
        route=route,
        detail=detail,
        seed=seed,
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


def attack_named(value: Played | Samplers) -> str:
    """How the report calls the attacker.
    >>> attack_named(Samplers(print, print))
    'this score'
    """
    return name_of(value.attack) if isinstance(value, Played) else "this score"
