"""Judging a statement at points of its domain."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mipsim._validation import number, whole
from mipsim.referee.judging.point import (
    check_repeatable,
    judge_point,
    judged_again,
    limit_sizes,
    point_seed,
)
from mipsim.referee.kinds import Limit
from mipsim.referee.outcome import Failure, Finding, Outcome, simplest, speaks, verdict_on
from mipsim.referee.point_sampling import corners, draws
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting.wording import plural
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.settings import CONFIDENCE, GAMES
from mipsim.referee.statement import READING, Point, Statement
from mipsim.referee.values import Number, Played, Samplers, no_tradeoff, read

SAMPLES = 64
"""Points that fill the domain, beside its corners."""


def judge(
    statement: Statement,
    at: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    games: int = GAMES,
    samples: int = SAMPLES,
) -> Outcome:
    """Judge a statement at the listed points, or at a space-filling set with all corners of its domain.

    By exact laws wherever there are any; by games, tilted ones for rare rates, where there are none. The failure
    probability 1 - confidence is split over all points before any is judged.

    Args:
        statement: what is judged.
        at: points, each with a value for every parameter. None: the statement's own points, up to 128 corners of its
            domain, and `samples` points spread over it.
        confidence: family-wise, in (0, 1).
        seed: of the games and of the spread points, a whole number >= 0.
        games: in each world, where games are played, >= 1000.
        samples: how many points are spread, >= 0; a power of 2 spreads best.

    Raises:
        ValueError: on bad arguments, a parameter that the statement does not have, a domain that no point satisfies, or a
            function that returns another value when it is called again at the first point. What the statement's own functions raise
            is recorded in `failures`.

    Source: Bonferroni's inequality for the split; Owen (1998) for the points.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim import referee as rf
        >>> statement = rf.Statement(
        ...     name="rounded", says="mu is about 1.", source="nobody", kind=rf.Equality(), domain={"mu": rf.Real(0.5, 2.0)},
        ...     claimed=lambda: mi.GaussianTradeOff(1.0), truth=lambda mu: mi.GaussianTradeOff(mu),
        ... )
        >>> [str(rf.judge(statement, at={"mu": mu}).verdict) for mu in (1.01, 1.1)]
        ['CONFIRMED', 'REFUTED']
        >>> rf.judge(statement, at={"nu": 1.0})
        Traceback (most recent call last):
            ...
        ValueError: at names 'nu', which is no parameter of rounded; it has mu
    """
    check(statement)
    number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    seed, games, samples = whole("seed", seed, 0), whole("games", games, 1000), whole("samples", samples, 0)
    points, sample, failures = _points(statement, at, seed, samples)
    if not points and not failures:
        raise ValueError(f"at is empty; {statement.name} must be judged at one point at least")
    if points:
        check_repeatable(statement, points[0].at)
    risk = (1.0 - confidence) / max(1, len(points))
    return judge_points(
        statement, points, sample, risk, confidence=confidence, seed=seed, games=games, failures=failures
    )


def judge_points(
    statement: Statement,
    points: Sequence[Point],
    drawn: int,
    risk: float,
    *,
    confidence: float,
    seed: int,
    games: int,
    failures: Sequence[Failure] = (),
    before: Callable[[int], None] | None = None,
    purpose: str = "judge",
    again: bool = True,
    known: dict[Any, PointResult] | None = None,
) -> Outcome:
    """Judge a statement at checked points.

    Args:
        statement: what is judged.
        points: each lies in its domain.
        drawn: how many of the last ones were spread over the domain.
        risk: failure probability of each point.
        confidence: family-wise; said with the result.
        seed: of the games.
        games: in each world.
        failures: points that could not even be asked.
        before: called with its place before each point is judged; what it raises ends the judging.
        purpose: sets the games apart from those of other judges with the same seed.
        again: whether the second route is asked at every refuted point, or at the two that are told alone: the simplest, and that of
            the largest gap.
        known: as for `judge_point`.
    """
    began = time.perf_counter()
    judged: list[PointResult] = []
    findings: list[Finding] = []
    failed = list(failures)
    for place, point in enumerate(points):
        if before is not None:
            before(place)
        try:
            if statement.defer_where:
                statement.check(point.at)
            result = judge_point(
                statement,
                point.at,
                risk=risk,
                games=games,
                seed=point_seed(seed, statement.name, point.at, purpose),
                again=again,
                known=known,
            )
        except Exception as error:  # one bad point must not cost the verdicts of the others
            failed.append(Failure(dict(point.at), f"{type(error).__name__}: {error}"))
            continue
        report = {"setting": point.setting, "name": point.name, "sampled": place >= len(points) - drawn}
        judged.append(replace(result, **report, reading=str(point.at.get(READING, ""))))
        findings += _findings(statement, point.at)
    verdict = verdict_on(statement, judged, bool(failed))
    even = [item for item in judged if item.sampled]
    stand = sum(single.verdict is not Verdict.REFUTED for single in even)
    played = any(one.random for one in judged)
    worst = speaks(statement, judged)
    if not again:
        report = [simplest(statement, judged), worst]
        judged = [judged_again(statement, one) if any(one is it for it in report) else one for one in judged]
        worst = speaks(statement, judged)
    split = f", {risk:.2g} for each point" if played else ", none of it used: no games were played"
    return Outcome(
        statement=statement,
        verdict=verdict,
        worst=worst,
        judged=tuple(judged),
        replay=replay_of(statement, None if worst is None else worst.parameters, confidence, seed, games),
        confidence=confidence,
        seed=seed,
        seconds=time.perf_counter() - began,
        how=f"{plural(len(judged), 'point')} judged; family-wise failure probability {1 - confidence:.2g}{split}",
        share=stand / len(even) if even else math.nan,
        failures=tuple(failed),
        findings=tuple(findings),
    )


def check(statement: object) -> None:
    """Say what is wrong if this is no statement."""
    if not isinstance(statement, Statement):
        raise ValueError(f"statement is {type(statement).__name__}; it must be a Statement")


def _points(statement: Statement, at: Any, seed: int, samples: int) -> tuple[list[Point], int, list[Failure]]:
    """The points, how many of the last ones were spread, and the points whose assumptions could not be asked."""
    if at is not None:
        if not isinstance(at, (Mapping, Point, Iterable)) or isinstance(at, str):
            raise ValueError(f"at is {at!r}; it must be a point or a sequence of points")
        listed = [at] if isinstance(at, (Mapping, Point)) else list(at)
        return [_checked(statement, item) for item in listed], 0, []
    spread, failures = spread_points(statement, samples, seed)
    own = [_checked(statement, single) for single in statement.points]
    return [*own, *(Point(corner) for corner in corners(statement, seed)), *spread], len(spread), failures


def spread_points(statement: Statement, count: int, seed: int) -> tuple[list[Point], list[Failure]]:
    """The first points of a sequence that fills the domain evenly, and those whose assumptions could not be asked.

    A larger number goes on from a smaller one; two statements with one domain have the same points.

    Args:
        statement: gives the domain.
        count: how many of both, >= 0.
        seed: of the sequence.
    """
    sample = (
        list(itertools.islice((item for item in draws(statement, seed) if item.even), count)) if count else []
    )
    points = [Point(single.at) for single in sample if not single.error]
    return points, [Failure(one.at, one.error) for one in sample if one.error]


def _checked(statement: Statement, one: Any) -> Point:
    point = one if isinstance(one, Point) else Point(one)
    return replace(point, at=statement.check(point.at))


def _findings(statement: Statement, at: Mapping[str, Any]) -> list[Finding]:
    if isinstance(statement.kind, Limit):
        at = dict(at) | {statement.kind.grows: limit_sizes(statement, statement.kind, at)[-1]}
    claimed = read("claimed", statement.call("claimed", at))
    if isinstance(claimed, (Number, Played, Samplers)) or not (what := no_tradeoff(claimed)):
        return []
    return [Finding(dict(at), what)]
