"""Hunting for a point where a statement breaks: draws, a climb, and a shrink to the simplest counterexample."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from mipsim._progress import ProgressLine
from mipsim._signals import LeavingOnCtrlC, interruptible
from mipsim._validation import confidence_level, whole
from mipsim._words import plural
from mipsim.referee.domain import Choice, Fixed, Whole
from mipsim.referee.hunting.search import Search, budget_of
from mipsim.referee.judging.games import affordable_games
from mipsim.referee.judging.judge import chance_in, check, judge_points, planned
from mipsim.referee.judging.point import judge_point, judged_again
from mipsim.referee.judging.prepared import Share, check_repeatable, tried
from mipsim.referee.outcome import (
    Failure,
    Outcome,
    Probe,
    concluded,
    failed_alike,
    none_judged,
    places,
)
from mipsim.referee.point_sampling import SampledPoint, covered, draws
from mipsim.referee.replay import replay_of
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.settings import AFTER_JUDGING, BUDGET, CONFIDENCE
from mipsim.referee.statement import Statement

PROBED, CLIMBED = 0.65, 0.9
"""Shares of the budget after which probing and climbing end; the rest judges and shrinks."""
MAPPED = 256
"""Probes that are made even after the statement was broken: they say where it holds."""
FINALISTS = 4
"""Points that are judged: each has its part of the failure probability, fixed before."""
HOPELESS = 100
"""Points that all fail with the same error, before any probe succeeds, after which a hunt ends: a name is missing, or an import."""
PATIENCE = 400
"""Probes that shrinking, and finding how far a counterexample reaches, may each take."""


@interruptible
def hunt(
    statement: Statement,
    budget: float | str = BUDGET,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    *,
    games: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[str], object] = True,
) -> Outcome:
    """Search the domain of a statement for counterexamples, and judge the worst points.

    The search probes space-filling points mixed with ends of the ranges, and climbs around the best probes of each categorical
    cell. It then judges the finalists by exact distributions or by fresh games, and shrinks a counterexample to round numbers and
    small sizes. The search itself refutes nothing. The judge has a failure probability that is split before the search: half for
    the finalists, half for the shrunk point. A clear counterexample ends the search early.

    The budget limits the search only. The number of games for the verdict is fixed before, so that a verdict does not depend on the
    clock. Without exact distributions, judging may exceed a short budget; `how` then says by how much.

    Args:
        statement: the statement to search.
        budget: of the search: seconds, or text such as "45s", "2m" or "500 probes".
        confidence: family-wise, in [0.5, 1).
        seed: a whole number >= 0. With a budget of probes the same seed gives the same result.
        games: in each world, for a finalist without an exact distribution, >= 1000. None: 200,000, or as many as take about 15
            seconds for all finalists; `how` says how many.
        checkpoint: a file that stores every probe. If it exists, the hunt resumes from it, and the time of its probes counts
            towards the budget.
        progress: whether to print the number of probes and the worst gap on stderr; or a function to call with that line, about
            twice a second.

    Returns:
        The verdict, with the counterexample or the worst point. CONFIRMED: the search met no counterexample, and the finalists
        were confirmed; this is not a proof. Ctrl-C ends the search; its probes so far are not lost.

    Raises:
        ValueError: on bad arguments, a domain that no point satisfies, a function that returns another value when it is called
            again at the first point, or a checkpoint of another hunt, or whose probes come out otherwise now.
        OSError: if the checkpoint cannot be written.

    Source: Claessen and Hughes (2000), "QuickCheck"; Storn and Price (1997), "Differential evolution".

    Examples:
        >>> import mipsim as mi
        >>> from mipsim import referee as rf
        >>> statement = rf.Statement(
        ...     name="additive",
        ...     says="k releases that are mu-GDP each are (k mu / 2)-GDP together.",
        ...     source="true for k >= 4 only",
        ...     kind=rf.Bound(),
        ...     domain={"mu": rf.Real(0.1, 1.0), "k": rf.Whole(1, 100)},
        ...     claimed=lambda mu, k: mi.GaussianTradeOff(k * mu / 2),
        ...     truth=lambda mu, k: mi.GaussianTradeOff(k**0.5 * mu),
        ... )
        >>> outcome = hunt(statement, "200 probes", progress=False)
        >>> print(outcome.verdict, outcome.point, outcome.frontier["k"])
        REFUTED {'mu': 1.0, 'k': 1} {'low': 1, 'high': 3}
    """
    return _hunt(statement, budget, confidence, seed, games, checkpoint, progress)


def _hunt(
    statement: Statement,
    budget: float | str,
    confidence: float,
    seed: int,
    games: int | None,
    checkpoint: str | os.PathLike[str] | None,
    progress: bool | Callable[[str], object],
    before: Sequence[PointResult] = (),  # what was judged before, of which `how` tells no second time
) -> Outcome:
    check(statement)
    spend = budget_of(budget)
    confidence_level(confidence)
    seed, games = whole("seed", seed, 0), None if games is None else whole("games", games, 1000)
    search = Search(statement, seed, spend, ProgressLine(progress))
    interrupted = False
    with search.held:
        if checkpoint is not None:
            search.resume(checkpoint)
        try:
            try:
                with LeavingOnCtrlC():
                    first = next(draws(statement, seed), None)
                    if first is not None and not first.error:
                        check_repeatable(tried(statement, first.at))
                    _search(search)
            except KeyboardInterrupt:
                interrupted = True
            search.rest()
            return _judged(search, confidence, games, interrupted, before)
        finally:
            search.say(last=True)


@interruptible
def judge(
    statement: Statement,
    at: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    games: int | None = None,
    budget: float | str = AFTER_JUDGING,
    samples: int | None = None,
    point_seconds: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[str], object] = True,
) -> Outcome:
    """Judge a statement over its domain and then search between the judged points, or judge it at the listed points alone.

    Without `at` it is judged at a space-filling set with all corners of its domain, and then hunted for the seconds of `budget`,
    unless the judged points decide it: they refute it, or are all of a finite domain. Judging and hunting have half of the
    failure probability each. `Outcome.extent` says at how many points it held and how many a search looked at, and is printed beside
    the verdict. Listed points are judged alone, and nothing is searched.

    By exact distributions if they are known; otherwise by games. The failure
    probability 1 - confidence is split over all points before any is judged.

    Args:
        statement: the statement to judge.
        at: points, each with a value for every parameter. None: the statement's own points, up to 128 corners of its
            domain (none where games are played), and `samples` points spread over it.
        confidence: family-wise, in [0.5, 1).
        seed: of the games and of the spread points, a whole number >= 0.
        games: in each world, if games are played, >= 1000. None: 200,000, or as many as take about 15 seconds in all; a few games at
            the first point measure this, without their scores. `how` says how many.
        budget: of the search between the judged points: seconds, or text such as "45s", "2m" or "500 probes"; 0 for none.
        samples: how many points are spread, >= 0; a power of 2 spreads best. None: 64, or 6 where games are played.
        point_seconds: of the processor for the exact distributions of each judged point, > 0. A point that takes longer is judged by the
            bounds at that time, or INCONCLUSIVE where there are none. None: the amount of work alone limits them, and no verdict depends on the clock.
        checkpoint: a file that stores every probe of the search, as for `hunt`.
        progress: whether to print the current point on stderr, after two seconds; or a function to call with that line.

    Raises:
        ValueError: on bad arguments, a parameter that the statement does not have, a domain that no point satisfies, or a
            function that returns another value when it is called again at the first point. Errors of the statement's own functions
            are recorded in `failures`.

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
    none = isinstance(budget, (int, float, str)) and str(budget).strip() in ("0", "0s", "0.0")
    spend = None if none else budget_of(budget)
    spend = None if at is not None else spend
    half = confidence if spend is None else 0.5 + 0.5 * confidence_level(confidence)
    judged = judge_points(
        statement, planned(statement, at, half, seed, games, samples, point_seconds), progress=progress
    )
    hopeless = not judged.judged and failed_alike(judged.failures)
    if spend is None or judged.verdict is Verdict.REFUTED or judged.whole or hopeless:
        return judged
    hunted = _hunt(statement, spend.text, half, seed, games, checkpoint, progress, judged.judged)
    points = (*judged.judged, *hunted.judged)
    failures = (*judged.failures, *hunted.failures)
    best = hunted
    if hunted.verdict is not Verdict.REFUTED:
        verdict, worst = concluded(statement, points, bool(failures))
        replay = hunted.replay if any(worst is item for item in hunted.judged) else judged.replay
        best = replace(judged, verdict=verdict, worst=worst, replay=replay)
    return replace(
        best,
        judged=points,
        probes=hunted.probes,
        failures=failures,
        findings=(*judged.findings, *hunted.findings),
        confidence=confidence,
        seconds=judged.seconds + hunted.seconds,
        how=f"{judged.how}. Then hunted: {hunted.how}",
        budget=hunted.budget,
        interrupted=hunted.interrupted,
        whole=hunted.whole,
    )


def _search(search: Search) -> None:
    sample = draws(search.statement, search.seed)
    if _probe(search, sample, PROBED):
        return
    # Judging takes time, and no probes.
    end = 1.0 if math.isinf(search.budget.seconds) else CLIMBED
    climb(search, end)
    if not any(search.breaks(probe) for probe in search.probes):
        _probe(search, sample, end)  # where there is nothing to climb


def _probe(search: Search, points: Iterator[SampledPoint], end: float) -> bool:
    """Probe until the share `end` of the budget is used, at least 1 point; whether the statement was broken."""
    broken = False
    while not search.budget.used or (
        search.budget.used_up < end and not (broken and search.budget.used >= MAPPED)
    ):
        if len(search.failures) >= HOPELESS and not search.probes and failed_alike(search.failures):
            break
        sample = next(points, None)
        if sample is None:
            break
        if sample.error:
            search.fail(sample.at, sample.error)
        else:
            broken |= search.breaks(search.probe(sample.at, "even" if sample.even else "ends"))
    return broken


def _judged(
    search: Search, confidence: float, games: int | None, interrupted: bool, before: Sequence[PointResult]
) -> Outcome:
    statement, began = search.statement, search.budget.spent
    finalists = _finalists(search.probes)
    if games is None:
        unsure = [probe for probe in finalists if not probe.definite]
        point = tried(statement, unsure[0].at) if unsure else None
        games = affordable_games(None if point is None else point.played, len(finalists))
    # The seed of `judge`, so that the replay plays the same games; no probe has used it.
    last = Share((1.0 - confidence) / 2.0, games, search.seed)
    each = replace(last, risk=last.risk / max(1, len(finalists)))
    judged: list[PointResult] = []
    reach: dict[str, Any] = {}
    for place, probe in enumerate(finalists):
        search.judging = f", judging {place + 1} of {len(finalists)} points"
        search.say()
        result = _judge(search, probe.at, each)
        if result is None:
            continue
        judged.append(result)
        if result.verdict is Verdict.REFUTED:
            small = shrink(search, probe, _patience(search))
            again = None
            if small.at != probe.at:
                again = _judge(search, small.at, last)
            if again is not None and again.verdict is Verdict.REFUTED:
                judged.append(again)
                probe = small
            reach = frontier(search, probe, _patience(search))
            break
    search.judging = f", {plural(len(judged), 'point')} judged"
    value = [item for item in judged if item.verdict is Verdict.REFUTED]
    # What was cut short has detected nothing yet.
    verdict, worst = concluded(statement, judged, bool(search.failures) or interrupted)
    worst = value[-1] if value else worst
    return Outcome(
        statement=statement,
        verdict=verdict,
        worst=worst,
        judged=tuple(judged),
        replay=replay_of(statement, worst, confidence, search.seed, games),
        confidence=confidence,
        seed=search.seed,
        seconds=search.budget.spent,
        how=_how(search, began, before, judged, verdict, confidence)
        + ("; interrupted" if interrupted else ""),
        probes=tuple(search.probes),
        frontier=reach,
        failures=tuple(search.failures),
        findings=tuple(search.findings),
        budget=search.budget.text,
        interrupted=interrupted,
        whole=covered(statement, (probe.at for probe in search.probes)),
    )


def _finalists(probes: Sequence[Probe]) -> list[Probe]:
    """The probes with the largest strain, a single probe for each point."""
    best: dict[str, Probe] = {}
    for probe in sorted(probes, key=lambda probe: -probe.strain):
        best.setdefault(repr(probe.at), probe)
        if len(best) == FINALISTS:
            break
    return list(best.values())


def _judge(search: Search, at: dict[str, Any], share: Share) -> PointResult | None:
    try:
        result = judge_point(search.statement, at, share)
        return replace(result, second_route=judged_again(search.statement, result))
    except Exception as error:  # recorded as every other failure
        search.failures.append(Failure(dict(at), f"{type(error).__name__}: {error}"))
        return None


def _patience(search: Search) -> Callable[[], bool]:
    """Whether shrinking may go on: a number of probes, or a tenth of the time beyond the budget."""
    last = search.budget.used + PATIENCE
    late = time.perf_counter() + 0.1 * search.budget.seconds
    return lambda: search.budget.used < last and time.perf_counter() < late


def _how(
    search: Search,
    began: float,
    before: Sequence[PointResult],
    judged: Sequence[PointResult],
    verdict: Verdict,
    confidence: float,
) -> str:
    """What was done; judging began so many seconds after the hunt."""
    if search.failures and not search.probes:
        return none_judged(len(search.failures))
    known, own = (places(search.statement, (item.parameters for item in each)) for each in (before, judged))
    probed = places(search.statement, (probe.at for probe in search.probes)) - own - known
    more = "more " if known else ""
    counted = f"{plural(len(probed), f'{more}point')} probed, {len(own - known)} {more}judged"
    chance = chance_in(judged, confidence, math.nan)
    nothing = "; no counterexample was found, which proves nothing" if verdict is Verdict.CONFIRMED else ""
    beyond = search.budget.spent - max(began, search.budget.seconds)
    # Shrinking alone may take a tenth of the budget more.
    late = beyond > 1.0 + 0.1 * search.budget.seconds
    outlasts = f"; judging went on for {beyond:.3g} s after the budget" if late else ""
    long = search.slowest > search.budget.seconds
    slow = f"; a probe took {search.slowest:.3g} s, more than the whole budget" if long else ""
    return f"{counted}; {chance}{nothing}{outlasts}{slow}"


CELLS = 6
"""Cells that are climbed in, those with the worst probes first."""
POPULATION = 24
"""Members of a population: the best probes of the cell, and points near the very best."""
NEAR = 0.05
"""Standard deviation of the points near the best probe, as a share of each range."""


class _BudgetSpent(Exception):
    pass


def climb(search: Search, until: float) -> None:
    """Look for larger gaps until the share `until` of the budget is used, or the statement is broken.

    Differential evolution, in each cell of the categorical parameters, over the places of the numeric ones; whole numbers
    on a linear scale are whole for it too.

    Source: Storn and Price (1997), "Differential evolution".
    """
    statement = search.statement
    numeric = [n for n in statement.free if not isinstance(statement.domain[n], (Choice, Fixed))]
    cells: dict[tuple[Any, ...], list[Any]] = {}
    for probe in sorted(search.probes, key=lambda probe: -probe.strain):
        cell = tuple(value for name, value in probe.at.items() if name not in numeric)
        cells.setdefault(cell, []).append(probe)
    chosen = list(cells.values())[:CELLS]
    if not numeric:
        return
    for done, probes in enumerate(chosen):
        start = search.budget.used_up
        end = start + (until - start) / (len(chosen) - done)
        if start >= until or _climb_cell(search, numeric, [item.at for item in probes], done, end):
            return


def _climb_cell(
    search: Search, numeric: list[str], best: list[dict[str, Any]], number: int, end: float
) -> bool:
    domain = search.statement.domain
    whole = np.array([isinstance(domain[n], Whole) and not domain[n].log for n in numeric])  # type: ignore[attr-defined]
    bounds = [domain[n].ends if is_whole else (0.0, 1.0) for n, is_whole in zip(numeric, whole, strict=True)]
    bounds = [(float(low), float(high)) for low, high in bounds]
    generator = np.random.default_rng([search.seed, 3, number])

    def encoded(at: Mapping[str, Any]) -> np.ndarray:
        pairs = zip(numeric, whole, strict=True)
        return np.array([float(at[n]) if is_whole else domain[n].place(at[n]) for n, is_whole in pairs])

    def point(x: np.ndarray) -> dict[str, Any]:
        values = {
            n: round(v) if is_whole else domain[n].value(float(v))
            for n, v, is_whole in zip(numeric, x, whole, strict=True)
        }
        return best[0] | values

    broken = False

    def height(x: np.ndarray) -> float:
        nonlocal broken
        if search.budget.used_up >= end:
            raise _BudgetSpent
        at = point(x)
        try:
            if not search.statement.stands(at):
                search.budget.used += 1  # else a domain that is nearly empty would be climbed in for ever
                return math.inf
        except Exception as error:
            search.fail(at, f"where: {type(error).__name__}: {error}")
            return math.inf
        result = search.probe(at, "climb")
        if search.breaks(result):
            broken = True
            raise _BudgetSpent
        return math.inf if result is None else -result.strain

    low, high = np.array(bounds).T
    members = [encoded(at) for at in best[: POPULATION // 2]]
    while len(members) < POPULATION:
        members.append(members[0] + NEAR * (high - low) * generator.standard_normal(len(numeric)))
    try:
        with np.errstate(all="ignore"):
            scipy.optimize.differential_evolution(
                height,
                bounds,
                init=np.clip(members, low, high),
                integrality=whole,
                polish=False,
                maxiter=10**6,
                tol=0.0,
                atol=0.0,
                seed=generator,  # pyright: ignore[reportCallIssue]  # SciPy 1.14 has no rng
            )
    except _BudgetSpent:
        pass
    return broken


VISIBLE_SHARE = 0.1
"""A simpler counterexample keeps at least this share of the strain: a violation that nobody can see helps nobody."""
PASSES = 3
"""Rounds over all parameters: a simpler value of a parameter may allow a simpler value of another."""
STEPS = 30
"""Halvings that find where a statement ceases to be broken."""


def shrink(search: Search, broken_probe: Probe, patience: Callable[[], bool]) -> Probe:
    """Return the simplest point that was met on the way from `broken_probe` and that still breaks the statement.
    `search`: makes the probes; `patience`: called before each probe; whether to go on.
    """
    least, best = VISIBLE_SHARE * broken_probe.strain, broken_probe
    for _ in range(PASSES):
        before = best
        for name in sorted(
            search.statement.free, key=lambda n: not isinstance(search.statement.domain[n], Choice)
        ):
            for value in search.statement.domain[name].simpler(best.at[name]):
                if not patience():
                    return best
                probe = _simpler(search, best.at | {name: value})
                if probe is not None and probe.strain >= least and _breaks(search, probe, broken_probe):
                    best = probe
                    break
        if best is before:
            break
    return best


def frontier(search: Search, broken_probe: Probe, patience: Callable[[], bool]) -> dict[str, Any]:
    """From a counterexample, how far each parameter alone can move with the statement still broken.
    Returns for each parameter that can move: {"low": ..., "high": ...}, both broken, or the list of broken choices.
    Between the ends it may stand again.
    """
    reach: dict[str, Any] = {}
    for name in search.statement.free:
        parameter = search.statement.domain[name]
        if isinstance(parameter, Fixed) or not patience():
            continue

        def broken(value: Any, name: str = name) -> bool:
            probe = _simpler(search, broken_probe.at | {name: value})
            return probe is not None and _breaks(search, probe, broken_probe)

        if isinstance(parameter, Choice):
            reach[name] = [v for v in parameter.values if v == broken_probe.at[name] or broken(v)]
            continue
        ends = {}
        for side, end in zip(("low", "high"), parameter.ends, strict=True):
            good, bad = broken_probe.at[name], end
            if good != end and not broken(end):
                inside, outside = parameter.place(good), parameter.place(bad)
                for _ in range(STEPS):
                    middle = parameter.value((inside + outside) / 2)
                    done = isinstance(parameter, Whole) and middle in (good, bad)
                    if done or abs(inside - outside) < 1e-3 or not patience():
                        break
                    if broken(middle):
                        good, inside = middle, (inside + outside) / 2
                    else:
                        bad, outside = middle, (inside + outside) / 2
            else:
                good = end
            ends[side] = good
        reach[name] = ends
    return reach


def _simpler(search: Search, at: Mapping[str, Any]) -> Probe | None:
    try:
        if not search.statement.stands(at):
            return None
    except Exception as error:
        search.fail(at, f"where: {type(error).__name__}: {error}")
        return None
    return search.probe(at, "shrink")


def _breaks(search: Search, probe: Probe, broken_probe: Probe) -> bool:
    # Further games test what games suggested: the rest is judged by fresh games.
    return search.breaks(probe) if broken_probe.definite else probe.strain > 0.0
