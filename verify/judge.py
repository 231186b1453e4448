"""Judge the register: share out the failure probability, draw points, judge families side by side."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mipsim._precision import run_in
from mipsim._words import plural
from mipsim.referee import Outcome, Point, Statement, Verdict
from mipsim.referee.judging.judge import judge_points, spread_points, which_points
from mipsim.referee.outcome import Failure, shown_counterexamples
from mipsim.referee.reporting import pictures
from mipsim.referee.result import PointResult
from verify import parallel
from verify.request import SCALES

SAMPLES = (4, 24, 200)
"""Points that are sampled from a domain at each scale, unless the register says otherwise."""
GAMES = (100_000, 500_000, 5_000_000)
"""Games per world at each scale, where no exact law is known."""
MOST_KNOWN = 1000
"""Results of exact laws that are stored for other statements that compare the same: each holds some 10 kB."""
_KNOWN: dict[Any, PointResult] = {}


@dataclass(frozen=True)
class Setting:
    """The settings of a run."""

    scale: str  # "quick", "standard" or "full"
    confidence: float  # family-wise over the whole register, in [0.5, 1)
    seed: int  # of the sampled points and of the games
    risk: float  # failure probability of a single point, see `risk_of`
    # name -> points sampled at the three scales, where these are not `SAMPLES`
    samples: Mapping[str, tuple[int, int, int]]
    # name -> games per world at the three scales, where these are not `GAMES`
    games: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    # name -> parts of listed points that are judged at full scale only
    full: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    # whether second routes run at every refuted point, as in the full run, or at the counterexamples that are reported
    again: bool = True

    @property
    def place(self) -> int:
        """Which of the three scales it is."""
        return SCALES.index(self.scale)

    @property
    def is_full(self) -> bool:
        """Whether it is the largest scale."""
        return self.scale == SCALES[-1]

    def listed(self, statement: Statement) -> tuple[Point, ...]:
        """The statement's own points that are judged at this scale: all of them at full scale, at others those that match no part in `full`."""
        parts = () if self.is_full else self.full.get(statement.name, ())
        return tuple(point for point in statement.points if not any(matches(point, part) for part in parts))


def matches(point: Point, part: Mapping[str, Any]) -> bool:
    """Whether a point has these values.
    >>> matches(Point({"n": 10, "d": 2}), {"n": 10}), matches(Point({"n": 10, "d": 2}), {"n": 10, "d": 3})
    (True, False)
    """
    return all(point.at.get(name) == value for name, value in part.items())


def points_of(register: Mapping[str, Statement], samples: Mapping[str, tuple[int, int, int]]) -> int:
    """How many points the register has at full scale: over all of them the failure probability is shared.
    >>> points_of({}, {})
    0
    """
    return sum(len(item.points) + samples.get(item.name, SAMPLES)[-1] for item in register.values())


def risk_of(
    confidence: float, register: Mapping[str, Statement], samples: Mapping[str, tuple[int, int, int]]
) -> float:
    """The failure probability of a single point: (1 - confidence) / (points of the register at full scale).

    The division is always by the whole register at full scale, even where few statements are judged (Bonferroni): a
    statement gets the same share alone, among others, and at every scale. Points with exact laws use none of theirs.
    """
    return (1.0 - confidence) / max(1, points_of(register, samples))


def judge(
    statement: Statement,  # of the register
    setting: Setting,  # of the run
    at: Sequence[Point] | None = None,  # other points than its own
    # called with (statement, place) before each point
    before: Callable[[Statement, int], None] | None = None,
    draw: bool = False,  # whether its pictures are plotted and stored immediately
) -> Outcome:
    """Judge a statement at its own points and at sampled ones, or at the points `at` alone."""
    sample: list[Point] = []
    failures: list[Failure] = []
    which = ""
    if at is None:
        count = setting.samples.get(statement.name, SAMPLES)[setting.place]
        spread, failures = spread_points(statement, count, setting.seed)
        sample = [replace(point, name=f"sampled {k}") for k, point in enumerate(spread, 1)]
        own = setting.listed(statement)
        at = (*own, *sample)
        if left := len(statement.points) - len(own):
            which = (
                f"{which_points(len(own), len(at), 0, len(sample))}; {left} more of its own at --scale full"
            )
    with run_in("float64"):  # the register is about real numbers
        result = judge_points(
            statement,
            at,
            len(sample),
            setting.risk,
            confidence=setting.confidence,
            seed=setting.seed,
            games=setting.games.get(statement.name, GAMES)[setting.place],
            failures=failures,
            before=None if before is None else lambda place: before(statement, place),
            again=setting.again,
            known=_KNOWN,
            purpose="register",  # other games than those by which a hunt reached a point
            which=which,
        )
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


def left_to_full(statements: Iterable[Statement], setting: Setting) -> str:
    """What a run at a smaller scale leaves out; "" at full scale.
    >>> left_to_full([], Setting("quick", 0.999, 0, 1e-6, {}))
    'Left to --scale full: 5,000,000 games a world instead of 100,000, most sampled points, second routes at points that are not reported.'
    """
    if setting.is_full:
        return ""
    every, usual = list(statements), GAMES[setting.place]
    counts = {item.name: setting.games.get(item.name, GAMES)[setting.place] for item in every}
    fewer = ", ".join(f"{count:,} of {name}" for name, count in counts.items() if count < usual)
    less = f" ({fewer})" if fewer else ""
    left = {item.name: len(item.points) - len(setting.listed(item)) for item in every}
    among = [f"{name} {count}" for name, count in left.items() if count]
    expensive = (
        f"{plural(sum(left.values()), 'expensive point')} of {plural(len(among), 'statement')} ({', '.join(among)}), "
        if among
        else ""
    )
    return f"Left to --scale full: {expensive}{GAMES[-1]:,} games a world instead of {usual:,}{less}, most sampled points, second routes at points that are not reported."


def costs_of(statements: Iterable[Statement], setting: Setting) -> dict[str, int]:
    """Name -> points that are judged of each statement: the order and the time left rest on it, no verdict does.
    >>> costs_of([], Setting("quick", 0.999, 0, 1e-6, {}))
    {}
    """
    return {
        item.name: max(1, len(setting.listed(item)) + setting.samples.get(item.name, SAMPLES)[setting.place])
        for item in statements
    }


def in_turn(
    families: Sequence[Sequence[Statement]], workers: int, setting: Setting
) -> list[Sequence[Statement]]:
    """The order in which families are begun: a small family in each process, which shows a verdict soon, then the largest first.
    >>> in_turn([], 2, Setting("quick", 0.999, 0, 1e-6, {}))
    []
    """
    by_size = sorted(families, key=lambda family: sum(costs_of(family, setting).values()))
    return [*by_size[:workers], *reversed(by_size[workers:])]


def judge_all(
    families: Sequence[Sequence[Statement]],
    setting: Setting,
    before: Callable[[Statement, int], None] | None = None,
    workers: int = 1,
    find: Callable[[str], Statement] | None = None,
    draw: bool = False,
) -> Iterator[Outcome]:
    """Judge families of statements, in processes if `find` finds them there, see `verify.parallel`.

    With `draw` the processes draw the pictures of a report too, which a single process would take long for at the end.
    """

    def lost(statement: Statement, why: str) -> Outcome:
        return parallel.failed(statement, why, "", setting.confidence, setting.seed, "not judged")

    def here(statement: Statement, look: parallel.Before) -> Outcome:
        return judge(statement, setting, before=look)

    way = (
        here
        if find is None
        else parallel.ProcessJudge(find, partial(judge, setting=setting, draw=draw), lost)
    )
    return parallel.judge_all(families, way, before, workers)
