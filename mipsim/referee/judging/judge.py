"""Judging a statement at points of its domain."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mipsim._budget import within
from mipsim._printed import shown_risk
from mipsim._progress import ProgressLine
from mipsim._validation import confidence_level, member, number, whole
from mipsim._words import plural, quoted
from mipsim.referee.judging.games import affordable_games
from mipsim.referee.judging.point import judge_point, judged_again
from mipsim.referee.judging.prepared import Prepared, Share, check_repeatable, tried
from mipsim.referee.outcome import (
    Failure,
    Finding,
    Outcome,
    concluded,
    none_judged,
    places,
    shown_counterexamples,
)
from mipsim.referee.point_sampling import corners, covered, draws, every_point
from mipsim.referee.replay import replay_of
from mipsim.referee.result import PointResult
from mipsim.referee.statement import READING, Point, Statement

SAMPLES = 64
"""Points that fill the domain, beside its corners."""
PLAYED_SAMPLES = 6
"""The same where games are played, without the corners: each point costs seconds."""
QUIET = 2.0
"""Seconds before a judge says how far it is."""


@dataclass(frozen=True)
class Plan:
    """At which points a statement is judged, and how.

    Attributes:
        points: each lies in its domain.
        which: what points they are, in words.
        share: what each of them has.
        confidence: family-wise; stated with the result.
        failures: points whose functions raised an error.
        spread: how many of the last points were spread over the domain.
        first: the first of the points, if it was prepared.
    """

    points: Sequence[Point]
    which: str
    share: Share
    confidence: float
    failures: Sequence[Failure] = ()
    spread: int = 0
    first: Prepared | None = None


def planned(
    statement: Statement,
    at: Sequence[Mapping[str, Any]]
    | Mapping[str, Any]
    | None,  # all of these are as for `mipsim.referee.judge`
    confidence: float,
    seed: int,
    games: int | None,
    samples: int | None,
    point_seconds: float | None = None,
) -> Plan:
    """The plan for the listed points, or for those that fill the domain; what lies between them is not searched.
    Raises ValueError as `mipsim.referee.judge`.
    """
    check(statement)
    confidence_level(confidence)
    seed = whole("seed", seed, 0)
    games = None if games is None else whole("games", games, 1000)
    samples = None if samples is None else whole("samples", samples, 0)
    if point_seconds is not None:
        point_seconds = number("point_seconds", point_seconds, 0.0, low_open=True)
    with within(point_seconds):
        if at is None:
            points, ends, spread, failures, first = _points(statement, seed, samples)
        else:
            points, ends, spread, failures = _listed(statement, at), 0, 0, []
            first = tried(statement, points[0].at) if points else None
        if not points and not failures:
            raise ValueError(f"at is empty; {statement.name} must be judged at 1 point at least")
        check_repeatable(first)
        played = None if first is None else first.played
    if games is None:
        games = affordable_games(played, len(points))
    share = Share((1.0 - confidence) / max(1, len(points)), games, seed, seconds=point_seconds)
    which = "as listed" if at is not None else which_points(len(statement.points), len(points), ends, spread)
    return Plan(points, which, share, confidence, failures, spread, first)


def judge_points(
    statement: Statement,
    plan: Plan,
    known: dict[Any, PointResult] | None = None,  # as for `judge_point`
    progress: bool | Callable[[str], object] = False,  # as for `mipsim.referee.judge`
) -> Outcome:
    """Judge a statement as planned; its second route runs at the counterexamples that a report shows."""
    began, line, total = time.perf_counter(), ProgressLine(progress, QUIET), len(plan.points)
    judged: list[PointResult] = []
    failed, first, share = list(plan.failures), plan.first, plan.share
    for place, point in enumerate(plan.points):
        if line.due():
            line.say(f"{statement.name}: judging point {place + 1} of {total}")
        try:
            if statement.defer_where:
                statement.check(point.at)
            prepared = first if first is not None and first.at == point.at else None
            with within(share.seconds):
                result = judge_point(statement, point.at, share, known, prepared)
        except Exception as error:  # a bad point must not cost the verdicts of the others
            failed.append(Failure(dict(point.at), f"{type(error).__name__}: {error}"))
            continue
        sampled, reading = place >= total - plan.spread, str(point.at.get(READING, ""))
        judged.append(
            replace(result, setting=point.setting, name=point.name, sampled=sampled, reading=reading)
        )
    shown = shown_counterexamples(statement, judged)
    judged = [
        replace(item, second_route=judged_again(statement, item))
        if any(item is other for other in shown)
        else item
        for item in judged
    ]
    verdict, worst = concluded(statement, judged, bool(failed))
    different = len(places(statement, (item.parameters for item in judged)))
    twice = f" ({len(judged) - different:,} of them twice)" if different < len(judged) else ""
    chance = chance_in(judged, plan.confidence, share.risk)
    if line.written:
        line.say(f"{statement.name}: {plural(total, 'point')} judged", last=True)
    return Outcome(
        statement=statement,
        verdict=verdict,
        worst=worst,
        judged=tuple(judged),
        replay=replay_of(statement, worst, plan.confidence, share.run, share.games),
        confidence=plan.confidence,
        seed=share.run,
        seconds=time.perf_counter() - began,
        how=f"{plural(different, 'point')} judged, {plan.which}{twice}; {chance}"
        if judged
        else none_judged(len(failed)),
        failures=tuple(failed),
        findings=tuple(Finding(dict(item.parameters), item.finding) for item in judged if item.finding),
        whole=covered(statement, (item.parameters for item in judged)),
    )


def chance_in(judged: Sequence[PointResult], confidence: float, risk: float) -> str:
    """What chance there is in judged points, in words: none where no games were played.
    `confidence`: family-wise; `risk`: of a single point; left out of the words if it is NaN.
    """
    games = sorted({item.games for item in judged if item.random})
    if not games:
        return "no games were played, so that chance has no part in it"
    each = "" if math.isnan(risk) else f", {shown_risk(risk)} for each"
    played = f"{games[-1]:,} games in each world at a point"
    return f"{played}; family-wise failure probability {shown_risk(1 - confidence)} over these points{each}"


def which_points(own: int, total: int, ends: int, spread: int) -> str:
    """What points were judged, in words.
    `own`: listed by the statement; `ends`: corners of the domain; `spread`: over the domain.

    >>> which_points(2, 6, 0, 4)
    '2 of its own, 4 spread over it'
    """
    rest = total - own - ends - spread
    parts = (
        (own, "of its own"),
        (ends, "at corners of the domain"),
        (spread, "spread over it"),
        (rest, "that make up the domain"),
    )
    return ", ".join(f"{amount:,} {words}" for amount, words in parts if amount)


def check(statement: object) -> None:
    """Raise an error if this is no statement."""
    member("statement", statement, Statement, "a Statement")


def _listed(statement: Statement, at: Any) -> list[Point]:
    if not isinstance(at, (Mapping, Point, Iterable)) or isinstance(at, str):
        raise ValueError(f"at is {quoted(at)}; it must be a point or a sequence of points")
    return [_checked(statement, item) for item in ([at] if isinstance(at, (Mapping, Point)) else at)]


def _points(
    statement: Statement, seed: int, samples: int | None
) -> tuple[list[Point], int, int, list[Failure], Prepared | None]:
    """The points, how many of them are corners and how many of the last points are spread, those whose assumptions could not be
    evaluated, and the first of them, prepared.
    """
    own = [_checked(statement, single) for single in statement.points]
    listed = every_point(statement, SAMPLES) if samples is None else None
    spread, failures = spread_points(statement, SAMPLES if samples is None else samples, seed)
    first = next((tried(statement, point.at) for point in (*own, *spread)), None)
    played = first is not None and first.played is not None
    if listed and (not played or len(listed) <= PLAYED_SAMPLES):
        known = [dict(point.at) for point in own]
        return [*own, *(Point(at) for at in listed if at not in known)], 0, 0, [], first
    if played:
        spread = spread[:PLAYED_SAMPLES] if samples is None else spread
        return [*own, *spread], 0, len(spread), failures, first
    ends = [Point(corner) for corner in corners(statement, seed)]
    return [*own, *ends, *spread], len(ends), len(spread), failures, first


def spread_points(statement: Statement, count: int, seed: int) -> tuple[list[Point], list[Failure]]:
    """The first points of a sequence that fills the domain evenly, and those whose assumptions raised an error.

    A larger number of points extends a smaller number; two statements with the same domain have the same points.

    `statement`: gives the domain; `count`: how many of both, >= 0.
    """
    sample = (
        list(itertools.islice((item for item in draws(statement, seed) if item.even), count)) if count else []
    )
    points = [Point(single.at) for single in sample if not single.error]
    return points, [Failure(single.at, single.error) for single in sample if single.error]


def _checked(statement: Statement, item: Any) -> Point:
    point = item if isinstance(item, Point) else Point(item)
    return replace(point, at=statement.check(point.at))
