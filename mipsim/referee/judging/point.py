"""A single point of a statement: judged with a failure probability, or looked at quickly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mipsim._printed import floor
from mipsim._validation import UndefinedError, member
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.games import attack_named, curve, estimated, judge_games, judge_order, played
from mipsim.referee.judging.gap import ANYTHING
from mipsim.referee.judging.law import judge_law, quick_look
from mipsim.referee.judging.limit import judge_limit
from mipsim.referee.judging.prepared import Prepared, Share, lawful, limit_sizes, prepare
from mipsim.referee.kinds import Kind, Limit
from mipsim.referee.replication import Replication, replicate
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Control, Statement
from mipsim.referee.values import Number, Shifted, mu_of, read
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

    strain: float  # how far the statement is broken; positive: it seems to be
    gap: float  # truth less claim where it is most so, in the statement's unit
    definite: bool = True  # whether proven errors are all that it leaves open: no chance, no limit
    finding: str = ""  # why the claimed curve is no trade-off function; empty if it is


def look(statement: Statement, at: Mapping[str, Any], seed: int, games: int = PROBE_GAMES) -> Look:
    """Estimate the gap at a point quickly, by exact distributions on a coarse grid, or else by a few games.
    `at`: a point of its domain; `seed`: of the games, if any; `games`: in each world, where no exact distribution is
    known. Raises Exception: whatever the statement's own functions raise; ValueError for what they must not return.
    """
    kind, limit = statement.kind, isinstance(statement.kind, Limit)
    try:
        sizes = {kind.grows: limit_sizes(statement, kind, at)[-1]} if isinstance(kind, Limit) else {}
        point = prepare(statement, {**at, **sizes})
        claim, truth = point.claim, lawful(point.truth)
        definite = claim is not None and truth is not None
        if claim is not None and truth is not None:
            strain, gap = quick_look(claim, truth)
        elif limit:
            raise ValueError(NO_LAW)
        else:
            strain, gap = _look_by_games(point, seed, games)
        finding = point.finding
    except UndefinedError:  # the judge says what
        return Look(-math.inf, 0.0, False, "")
    if math.isnan(strain):
        raise ValueError("the gap is NaN; the curves must be comparable somewhere")
    return Look(strain, gap, definite and not limit, finding)


def _look_by_games(point: Prepared, seed: int, games: int) -> tuple[float, float]:
    claim = point.claim
    if claim is None:
        result = judge_order(point, games, seed, 0.5)
        # What is not refuted has an upper end only. To rank points, the gap stands as far above the lower end.
        mirrored = 2.0 * result.gap - result.smallest_tolerance
        return float(np.nanmax([result.interval[0], mirrored])), result.gap
    gap, low, high = estimated(curve(claim.value), played(point.truth), games, seed, PENALTY)
    if not gap.size:
        return -math.inf, 0.0
    excess = low
    if not claim.kind.one_sided:
        excess = np.maximum(low, -high) / claim.tolerance - 1.0
    return float(excess.max()), float(gap[excess.argmax()])


def judge_point(
    statement: Statement,
    at: Mapping[str, Any],  # a point of its domain
    share: Share,
    # results by exact distributions of statements that compare the same two functions, stored here and read from here;
    # only for functions that return the same at every call
    known: dict[Any, PointResult] | None = None,
    prepared: Prepared | None = None,  # the point, if it was prepared before
) -> PointResult:
    """Judge a statement at a single point: by exact distributions where claim and truth have them, else by games.

    Raises Exception: whatever the statement's own functions raise; ValueError for what they must not return.
    """
    kind = statement.kind
    sizes = tuple[int, ...]()
    if isinstance(kind, Limit):
        sizes = limit_sizes(statement, kind, at, share.run)
    key: Any = (statement.claimed, statement.truth, statement.kind, tuple(sorted(at.items())), sizes)
    try:
        if known is not None and key in known:
            return known[key]
    except TypeError:  # it cannot be looked up
        known = None
    try:
        if isinstance(kind, Limit):
            last: list[Prepared] = []  # the point at the size that was seen last, since a law may be large

            def pair(n: int) -> tuple[Claim, AbstractTradeOff | Number, bool]:
                last[:] = [prepare(statement, {**at, kind.grows: n})]
                claim, truth = last[0].claim, lawful(last[0].truth)
                if claim is None or truth is None:
                    raise ValueError(NO_LAW)
                return claim, truth, last[0].optimal

            result = judge_limit(kind, pair, at, sizes, "exact laws at growing sizes")
            point = last[0]
            if isinstance(point.truth, Number):
                words = f"{result.detail} {point.truth.detail}".strip()
                result = replace(result, route=point.truth.route or result.route, detail=words)
        else:
            point, seed = prepared or prepare(statement, at), share.seed(statement, at)
            claim, truth = point.claim, lawful(point.truth)
            if claim is None:
                result = judge_order(point, share.games, seed, share.risk)
            elif truth is None:
                result = judge_games(point, claim, share.games, seed, share.risk)
            else:
                result = judge_law(claim, truth, point.optimal, point.at)
    except UndefinedError as error:
        result = undefined(dict(at), kind, str(error))
    else:
        result = replace(result, finding=point.finding)
        if point.doubted and result.verdict is Verdict.CONFIRMED:
            slack = f"Not refuted by {attack_named(played(point.truth))}, slack {floor(-result.gap, 3)}; a stronger attacker may exist."
            detail = f"{result.detail} {slack}".strip()
            result = replace(result, verdict=Verdict.INCONCLUSIVE, headline="", detail=detail)
    if known is not None and not result.random:
        known[key] = result
    return result


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
        interval=ANYTHING,
        smallest_tolerance=math.inf,
        detectable_gap=math.inf,
        unit=kind.unit,
        route="undefined",
        detail=f"{words[:1].upper()}{words[1:]}.",
    )


def judged_again(statement: Statement, result: PointResult) -> Replication | None:
    """What the second route measures, where the statement is refuted."""
    if result.verdict is not Verdict.REFUTED or statement.second_route is None:
        return None
    try:
        return replicate(statement, result.parameters)
    except Exception as error:  # it runs after the verdict, which its failure must not cost
        return Replication.failed(f"{type(error).__name__}: {error}")


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
    control: Control | None = member("statement", statement, Statement, "a Statement").control
    if control is None:
        raise ValueError(f"{statement.name} has no control; it needs a control, Control(at, shift)")

    def stricter(**at: Any) -> Any:
        claimed = read("claimed", statement.call("claimed", at))
        if isinstance(claimed, Number):
            return replace(claimed, value=claimed.value - control.shift * abs(claimed.value))
        known = curve(lawful(claimed) or Number(0.0))
        return Shifted(known, -control.shift * mu_of(known))

    claimed, truth = statement.claimed, statement.truth
    if control.claimed is None and control.truth is None:
        claimed = stricter
        truth = (lambda **at: statement.call("claimed", at)) if control.attained else truth
    if control.claimed is not None:
        claimed = partial(control.claimed, 1.0 + control.shift)
    if control.truth is not None:
        truth = partial(control.truth, 1.0 + control.shift)
    name = f"{statement.name}-control"
    return replace(statement, name=name, claimed=claimed, truth=truth, points=(control.at,), control=None)
