"""A single point of a statement: judged with a failure probability, or looked at quickly."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from mipsim._printed import at_most, ceiling, floor
from mipsim._validation import UndefinedError
from mipsim.attacks.function import as_attack
from mipsim.exact.dispatch import declaring
from mipsim.referee.judging.games import (
    attack_named,
    estimated,
    judge_games,
    judge_order,
)
from mipsim.referee.judging.law import (
    contradicts,
    exact_route,
    floor_of,
    gap_between,
    judge_gap,
    probits_of,
    quick_look,
    tolerance_of,
)
from mipsim.referee.judging.limit import judge_sequence
from mipsim.referee.judging.prepared import Prepared, lawful, limit_sizes, prepare
from mipsim.referee.kinds import Bound, Equality, Exists, Kind, Limit, Rate, rate_of
from mipsim.referee.replication import Replication, replicate
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Control, Statement, inner
from mipsim.referee.values import Number, Played, Samplers, Shifted, Value, mu_of, read
from mipsim.tradeoff.base import AbstractTradeOff

PROBE_GAMES = 20_000
"""Games in each world of a quick look where no exact distribution is known: they resolve about a tenth of a probit."""
FIRST_GAMES = 2_000
"""The same for the first probe of a hunt, so that its reader sees something after some seconds."""
NO_LAW = "no exact distribution is known here; a limit needs exact curves or numbers"
PENALTY = 4.0
"""Standard errors that are taken off what a quick look by games sees, so that it does not run after noise: with 64 thresholds,
two rates and two signs, a true claim seems to be broken at fewer than 1 of 100 points."""


@dataclass(frozen=True)
class Look:
    """What a quick look saw."""

    strain: float  # how far the statement is broken (or, for `Exists`, how far it is satisfied); positive: it seems to be
    gap: float  # truth less claim where it is most so, in the statement's unit
    definite: bool = True  # whether proven errors are all that it leaves open: no chance, no limit
    finding: str = ""  # why the claimed curve is no trade-off function; empty if it is


def point_seed(seed: int, name: str, at: Mapping[str, Any], what: str = "judge") -> int:
    """The seed of a point's own games, in [0, 2^62): it depends on (seed, statement, point, purpose) only. The point holds what matters there."""
    text = json.dumps([seed, name, dict(at), what], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 2


def look(statement: Statement, at: Mapping[str, Any], seed: int, games: int = PROBE_GAMES) -> Look:
    """Estimate the gap at a point quickly, by exact distributions on a coarse grid, or else by a few games.
    `at`: a point of its domain; `seed`: of the games, if any; `games`: in each world, where no exact distribution is
    known. Raises Exception: whatever the statement's own functions raise; ValueError for what they must not return.
    """
    kind = inner(statement.kind)
    full = dict(at)
    if isinstance(kind, Limit):
        full[kind.grows] = limit_sizes(statement, kind, at)[-1]
    try:
        return _looked(prepare(statement, full), seed, games)
    except UndefinedError:  # the judge says what
        return Look(-math.inf, 0.0, False, "")


def _looked(point: Prepared, seed: int, games: int) -> Look:
    kind, wanted, known = point.kind, point.wanted, point.known
    definite = wanted is not None and known is not None
    if wanted is not None and known is not None:
        strain, gap = quick_look(kind, wanted, known)
        definite = not isinstance(kind, Limit)
    else:
        strain, gap = _look_by_games(point, seed, games)
    if math.isnan(strain):
        raise ValueError("the gap is NaN; the curves must be comparable somewhere")
    if isinstance(point.statement.kind, Exists) and strain != -math.inf:
        # Of an equality less than -1 is left only where proven errors exceed every gap: nothing is known to be satisfied.
        strain = -strain if kind.one_sided or strain >= -1.001 else -math.inf
    return Look(strain, gap, definite, point.finding)


def _look_by_games(point: Prepared, seed: int, games: int) -> tuple[float, float]:
    kind, wanted = point.kind, point.wanted
    if isinstance(kind, Limit):
        raise ValueError(NO_LAW)
    played = _played(point.truth)
    if wanted is None:
        result = judge_order(_played(point.claimed), played, {}, games, seed, 0.5)
        # What is not refuted has an upper end only. To rank points, the gap stands as far above the lower end.
        mirrored = 2.0 * result.gap - result.smallest_tolerance
        return float(np.nanmax([result.interval[0], mirrored])), result.gap
    gap, low, high = estimated(_curve(wanted), played, games, seed, PENALTY)
    if not gap.size:
        return -math.inf, 0.0
    excess = low
    if not kind.one_sided:
        excess = np.maximum(low, -high) / tolerance_of(kind, _curve(wanted)) - 1.0
    return float(excess.max()), float(gap[excess.argmax()])


def _played(value: Value) -> Played | Samplers:
    if isinstance(value, (Played, Samplers)):
        return value
    raise ValueError(
        "truth is an exact curve and claimed a game; exchange them, or give an exact curve for claimed"
    )


def _curve(value: AbstractTradeOff | Number) -> AbstractTradeOff:
    if isinstance(value, Number):
        raise ValueError(
            "claimed returned a number and truth something that is played; claimed must be a curve"
        )
    return value


def judge_point(
    statement: Statement,
    at: Mapping[str, Any],  # a point of its domain
    *,
    risk: float,  # failure probability of this point; exact distributions use none of it
    games: int,  # in each world, where games are played
    seed: int,  # in [0, 2^62)
    run: int = 0,  # seed of the run, which draws sizes of limits
    # results by exact distributions of statements that compare the same two functions, stored here and read from here;
    # only for functions that return the same at every call
    known: dict[Any, PointResult] | None = None,
    prepared: Prepared | None = None,  # the point, if it was prepared before
) -> PointResult:
    """Judge a statement at a single point.

    By exact distributions where claim and truth have them, else by games. A bound is confirmed only if the truth is the best attacker's.

    Raises Exception: whatever the statement's own functions raise; ValueError for what they must not return.
    """
    key = None if known is None else _compared(statement, at, run)
    result = None if known is None or key is None else known.get(key)
    if result is None:
        kind = inner(statement.kind)
        try:
            if isinstance(kind, Limit):
                result = _judge_at_sizes(statement, kind, at, run)
            else:
                point = prepared or prepare(statement, at)
                result = replace(_judged(point, risk, games, seed), finding=point.finding)
        except UndefinedError as error:
            result = undefined(dict(at), kind, str(error))
        if known is not None and key is not None and not result.random:
            known[key] = result
    return result


def _compared(statement: Statement, at: Mapping[str, Any], run: int) -> Any:
    """What a result by exact distributions depends on; None if that cannot be looked up."""
    kind = inner(statement.kind)
    sizes = limit_sizes(statement, kind, at, run) if isinstance(kind, Limit) else ()
    key = (statement.claimed, statement.truth, statement.kind, tuple(sorted(at.items())), sizes)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def undefined(at: dict[str, Any], kind: Kind, words: str) -> PointResult:
    """The result where a value is NaN: nothing is known of the gap.
    >>> from mipsim.referee.kinds import Equality
    >>> str(undefined({}, Equality(), "truth is undefined (NaN) here").verdict)
    'INCONCLUSIVE'
    """
    return PointResult(
        parameters=at,
        verdict=Verdict.INCONCLUSIVE,
        games=0,
        gap=0.0,
        interval=(-math.inf, math.inf),
        smallest_tolerance=math.inf,
        detectable_gap=math.inf,
        unit=kind.unit,
        route="undefined",
        detail=f"{words[:1].upper()}{words[1:]}.",
    )


def judged_again(statement: Statement, result: PointResult) -> PointResult:
    """The result with what the second route measures, where the statement is refuted."""
    if result.verdict is not Verdict.REFUTED or statement.second_route is None:
        return result
    try:
        second = replicate(statement, result.parameters)
    except Exception as error:  # it runs after the verdict, which its failure must not cost
        second = Replication.failed(f"{type(error).__name__}: {error}")
    return replace(result, second_route=second)


def _judged(point: Prepared, risk: float, games: int, seed: int) -> PointResult:
    kind, at, wanted, value, optimal = point.kind, point.at, point.wanted, point.known, point.optimal
    if wanted is None:
        return judge_order(_played(point.claimed), _played(point.truth), at, games, seed, risk)
    if value is None:
        played = _played(point.truth)
        how = declaring(played.game, as_attack(played.attack)) if isinstance(played, Played) else ""
        why = f"No exact law is known{how}."
        result = judge_games(kind, _curve(wanted), played, at, games, seed, risk, why)
        if result.verdict is Verdict.REFUTED:  # games have decided: no law would say more
            result = replace(result, detail=result.detail.replace(why, "").strip())
        return _about_all(kind, result, point)
    if isinstance(value, Number):
        route, detail = value.route or "number", value.detail
    else:
        route, detail = exact_route(value), ""
    least = kind.floor
    if not isinstance(value, Number) and not isinstance(wanted, Number):
        least = floor_of(kind, wanted, value)
        detail = (
            f"Judged at error rates from {ceiling(least, 2)}, to which the law is proven."
            if least > kind.floor
            else ""
        )
    gap = gap_between(kind, wanted, value, optimal, "")
    result = judge_gap(kind, wanted, gap, at, route, detail)
    looks = [False] if result.verdict is Verdict.INCONCLUSIVE else []
    looks += [True] if least > kind.floor and result.verdict is not Verdict.REFUTED else []
    for rare in looks:
        strain, seen = quick_look(kind, wanted, value, rare=rare)
        if strain > 0.0:
            # The largest gap is where the law is known badly; a smaller gap elsewhere is certain.
            sure = strain if kind.one_sided else (1.0 + strain) * tolerance_of(kind, wanted)
            known = gap.at_least(sure if seen > 0.0 else -sure, seen)
            words = f"At an FPR below {ceiling(least, 2)}, where the law is proven too." if rare else detail
            result = judge_gap(kind, wanted, known, at, route, words)
            break
    if isinstance(kind, Equality) and (rate := rate_of(kind, at)) is not None:
        result = _known_by_rate(kind, result, wanted, value, rate)
    return _about_all(kind, result, point)


def _known_by_rate(
    kind: Equality,
    result: PointResult,
    claimed: AbstractTradeOff | Number,
    truth: AbstractTradeOff | Number,
    rate: Rate,
) -> PointResult:
    """The result with a proven rate at the point's size: the gap is known to it where it is known worse."""
    if rate.size is None:
        raise ValueError("rate of an Equality has no size; it must give that of the point: Rate(..., size=n)")
    limit = read("limit", rate.limit)
    assert not isinstance(limit, (Played, Samplers))
    bound = rate.at(rate.size)
    rate_text = f"Proven rate: {at_most(bound, 3)} at size {rate.size:g} ({rate.source})."
    if contradicts(limit, truth, bound):
        undecided = Verdict.INCONCLUSIVE if result.verdict is Verdict.CONFIRMED else result.verdict
        why = f"{rate_text} It is refused: truth is farther from its limit."
        return replace(result, verdict=undecided, detail=f"{why} {result.detail}")
    near = bound if isinstance(limit, Number) else probits_of(limit, bound, kind.floor)
    if result.verdict is not Verdict.INCONCLUSIVE or not math.isfinite(near):
        return result
    wider = gap_between(kind, claimed, limit, True, "").widened(near)
    known = judge_gap(kind, claimed, wider, result.parameters, f"{result.route}, proven rate", rate_text)
    if known.smallest_tolerance > result.smallest_tolerance:
        return result
    return replace(known, evidence=result.evidence)


def _about_all(kind: Kind, result: PointResult, point: Prepared) -> PointResult:
    """What a single attacker does not break is not confirmed for all."""
    about_all = isinstance(kind, Bound) or (isinstance(kind, Limit) and kind.bound)
    if not about_all or point.optimal or result.verdict is not Verdict.CONFIRMED:
        return result
    slack = f"Not refuted by {attack_named(_played(point.truth))}, slack {floor(-result.gap, 3)}; a stronger attacker may exist."
    return replace(
        result, verdict=Verdict.INCONCLUSIVE, headline="", detail=f"{result.detail} {slack}".strip()
    )


def _judge_at_sizes(statement: Statement, kind: Limit, at: Mapping[str, Any], run: int) -> PointResult:
    @lru_cache(maxsize=1)  # the judge comes back to the size that it saw last, and a law may be large
    def prepared(n: int) -> Prepared:
        return prepare(statement, dict(at) | {kind.grows: n})

    def pair(n: int) -> tuple[AbstractTradeOff | Number, AbstractTradeOff | Number, bool]:
        point = prepared(n)
        if point.wanted is None or point.known is None:
            raise ValueError(NO_LAW)
        return point.wanted, point.known, point.optimal

    sizes = limit_sizes(statement, kind, at, run)
    result = judge_sequence(kind, pair, at, sizes, "exact laws at growing sizes")
    last = prepared(sizes[-1])
    result = replace(result, finding=last.finding)
    if isinstance(last.truth, Number):
        report = f"{result.detail} {last.truth.detail}".strip()
        return replace(result, route=last.truth.route or result.route, detail=report)
    return _about_all(kind, result, last)


def controlled(statement: Statement) -> Statement:
    """The statement made false by its control; the same judge must refute it.

    Raises:
        ValueError: if it has no control.

    Examples:
        >>> from mipsim import referee as rf
        >>> square = rf.Statement(
        ...     name="square", says="x^2 = x x", source="school", kind=rf.Equality(), domain={"x": rf.Real(1.0, 2.0)},
        ...     claimed=lambda x: x * x, truth=lambda x: x**2, control=rf.Control({"x": 1.5}),
        ... )
        >>> str(rf.judge(controlled(square)).verdict), str(rf.judge(square, budget=0).verdict)
        ('REFUTED', 'CONFIRMED')
    """
    control: Control | None = statement.control
    if control is None:
        raise ValueError(f"{statement.name} has no control; it needs a control, Control(at, shift)")

    if control.claimed is not None or control.truth is not None:
        factor = 1.0 + control.shift
        return replace(
            statement,
            name=f"{statement.name}-control",
            claimed=statement.claimed if control.claimed is None else partial(control.claimed, factor),
            truth=statement.truth if control.truth is None else partial(control.truth, factor),
            points=(control.at,),
            control=None,
        )

    def stricter(**at: Any) -> Any:
        claimed = read("claimed", statement.call("claimed", at))
        if isinstance(claimed, Number):
            return replace(claimed, value=claimed.value - control.shift * abs(claimed.value))
        known = _curve(lawful(claimed) or Number(0.0))
        return Shifted(known, -control.shift * mu_of(known))

    truth = (lambda **at: statement.call("claimed", at)) if control.attained else statement.truth
    return replace(
        statement,
        name=f"{statement.name}-control",
        claimed=stricter,
        truth=truth,
        points=(control.at,),
        control=None,
    )
