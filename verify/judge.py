"""Judge a statement of the register: its share of the failure probability, its points, its games."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mipsim._precision import run_in
from mipsim._words import plural
from mipsim.referee import Outcome, Point, Verdict
from mipsim.referee.judging.judge import Plan, judge_points, spread_points, which_points
from mipsim.referee.judging.prepared import Share
from mipsim.referee.outcome import Failure, shown_counterexamples
from mipsim.referee.reporting import pictures
from mipsim.referee.result import PointResult
from verify.program import with_program
from verify.statement import Statement

SCALES = ("quick", "standard", "full")
MOST_KNOWN = 1000
"""Results of exact laws that are stored for other statements that compare the same: each holds some 10 kB."""
_KNOWN: dict[Any, PointResult] = {}


@dataclass(frozen=True)
class Setting:
    """The settings of a run."""

    scale: str  # a member of `SCALES`
    confidence: float  # family-wise over the whole register, in [0.5, 1)
    seed: int  # of the sampled points and of the games
    risk: float  # failure probability of a single point, see `risk_of`


def listed(statement: Statement, scale: str) -> tuple[Point, ...]:
    """A statement's own points that are judged at a scale: all of them at full scale, at others those that are not `expensive`."""
    parts = () if scale == SCALES[-1] else statement.expensive
    return tuple(
        point for point in statement.points if not any(part.items() <= point.at.items() for part in parts)
    )


def points_of(statements: Iterable[Statement], scale: str = SCALES[-1]) -> int:
    """How many points statements have; over those of the register at full scale the failure probability is shared.
    >>> points_of([])
    0
    """
    place = SCALES.index(scale)
    return sum(len(listed(item, scale)) + item.samples[place] for item in statements)


def risk_of(confidence: float, statements: Iterable[Statement]) -> float:
    """The failure probability of a single point: (1 - confidence) / (points of all statements at full scale).

    The division is always by the whole register at full scale, even where few statements are judged (Bonferroni): a
    statement gets the same share alone, among others, and at every scale. Points with exact laws use none of theirs.
    """
    return (1.0 - confidence) / max(1, points_of(statements))


def judge(
    statement: Statement,  # of the register
    setting: Setting,  # of the run
    at: Sequence[Point] | None = None,  # other points than its own
    draw: bool = False,  # whether its pictures are plotted and stored immediately
) -> Outcome:
    """Judge a statement at its own points and at sampled ones, or at the points `at` alone."""
    own, sample, failures = at or (), list[Point](), list[Failure]()
    place = SCALES.index(setting.scale)
    if at is None:
        spread, failures = spread_points(statement, statement.samples[place], setting.seed)
        sample = [replace(point, name=f"sampled {k}") for k, point in enumerate(spread, 1)]
        own = listed(statement, setting.scale)
    which = which_points(len(own), len(own) + len(sample), 0, len(sample))
    if at is None and (left := len(statement.points) - len(own)):
        which = f"{which}; {left} more of its own at --scale full"
    with run_in("float64"):  # the register is about real numbers
        # Other games than those by which a hunt reached a point.
        share = Share(setting.risk, statement.games[place], setting.seed, "register")
        plan = Plan((*own, *sample), which, share, setting.confidence, failures, len(sample))
        result = with_program(judge_points(statement, plan, known=_KNOWN))
    if len(_KNOWN) > MOST_KNOWN:
        _KNOWN.clear()
    if draw:
        pictures.keep(result)
    return result


def unseen(outcome: Outcome) -> list[PointResult]:
    """The counterexamples that reports tell and that no second route sees: a refutation that rests on a single computation fails the register."""
    if outcome.verdict is not Verdict.REFUTED or outcome.statement.corrects:
        return []
    points = shown_counterexamples(outcome.statement, outcome.judged)
    return [item for item in points if item.second_route is None or not item.second_route.excludes]


def left_to_full(statements: Iterable[Statement], scale: str) -> str:
    """What a run at a smaller scale leaves out; "" at full scale.
    >>> left_to_full([], "quick")
    'Left to --scale full: 5,000,000 games a world instead of 100,000, most sampled points.'
    """
    if scale == SCALES[-1]:
        return ""
    every, place = list(statements), SCALES.index(scale)
    usual, most = Statement.games[place], Statement.games[-1]
    counts = {item.name: item.games[place] for item in every}
    fewer = ", ".join(f"{count:,} of {name}" for name, count in counts.items() if count < usual)
    less = f" ({fewer})" if fewer else ""
    left = {item.name: len(item.points) - len(listed(item, scale)) for item in every}
    among = [f"{name} {count}" for name, count in left.items() if count]
    names = f"{plural(len(among), 'statement')} ({', '.join(among)})"
    expensive = f"{plural(sum(left.values()), 'expensive point')} of {names}, " if among else ""
    return f"Left to --scale full: {expensive}{most:,} games a world instead of {usual:,}{less}, most sampled points."
