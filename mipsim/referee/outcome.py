"""What comes of judging or hunting a statement."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from mipsim._printed import html_table, shown
from mipsim._words import plural, visible
from mipsim.referee.domain import Choice, Whole
from mipsim.referee.gap_words import bound_words, lone_gap
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Statement

COLOURS = {Verdict.CONFIRMED: "#1b7837", Verdict.REFUTED: "#b2182b", Verdict.INCONCLUSIVE: "#7f6000"}


@dataclass(frozen=True)
class Probe:
    """A quick look at a point."""

    at: dict[str, Any]
    # how far the statement seems to be broken there; see `quick_look`
    strain: float
    gap: float  # truth less claim, in the statement's unit
    definite: bool  # whether no chance and no limit entered
    phase: str  # "even" (spread evenly), "ends", "climb" or "shrink"


@dataclass(frozen=True)
class Failure:
    """A point whose functions raised, or returned what they must not."""

    at: dict[str, Any]
    error: str


@dataclass(frozen=True)
class Finding:
    """A point at which the claimed curve is no trade-off function, and why."""

    at: dict[str, Any]
    what: str


@dataclass(frozen=True)
class Replay:
    """How to see a result again: a line of shell, and Python."""

    shell: str
    python: str

    def __str__(self) -> str:
        return f"{self.shell}\n\n{self.python}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A statement with its verdict and all that was seen.

    Attributes:
        statement: what was judged.
        verdict: CONFIRMED (at the points that were judged: `extent` says how many), REFUTED or INCONCLUSIVE.
        worst: the judged point that a report shows first: the counterexample, or the point with the largest gap.
        judged: every point that was judged.
        probes: every quick look of a search; empty for `judge`.
        frontier: from the counterexample, for each parameter alone: how far it can move, or which choices it may have, with
            the statement still broken; empty without a counterexample.
        failures: points whose functions raised, or returned what they must not.
        findings: points at which the claimed curve is no trade-off function.
        replay: a line of shell and ten lines of Python that show the same.
        confidence: 1 - the family-wise failure probability of all that was judged.
        seed: of the run.
        seconds: on the clock; of a hunt that went on where it was, those of the run before too.
        budget: as the caller gave it; empty for `judge`.
        interrupted: whether Ctrl-C ended it.
        how: a sentence: what was done.
        whole: whether the domain is finite and each of its points was judged; after a search, looked at.

    Examples:
        >>> from mipsim import referee as rf
        >>> small = rf.Statement(
        ...     name="small", says="x^2 <= 1", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 2.0)},
        ...     claimed=lambda: 1.0, truth=lambda x: x * x,
        ... )
        >>> outcome = rf.hunt(small, "64 probes", progress=False)
        >>> str(outcome.verdict), outcome.point, outcome.gap
        ('REFUTED', {'x': 2.0}, 3.0)
    """

    statement: Statement
    verdict: Verdict
    worst: PointResult | None
    judged: tuple[PointResult, ...]
    replay: Replay
    confidence: float
    seed: int
    seconds: float
    how: str
    probes: tuple[Probe, ...] = ()
    frontier: dict[str, Any] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] = ()
    budget: str = ""
    interrupted: bool = False
    whole: bool = False

    @property
    def extent(self) -> str:
        """Where a CONFIRMED holds, in words beside the verdict, and what is seen of an INCONCLUSIVE limit; else empty.

        Points that were judged were not searched: between them a statement may be false. A limit that no
        theorem proves is CONFIRMED up to a size.
        """
        if self.verdict is Verdict.REFUTED:
            return ""
        reach = self._reach()
        if self.verdict is Verdict.INCONCLUSIVE:
            return reach
        judged = self._verdicts().keys()
        probed = places(self.statement, (probe.at for probe in self.probes)) - judged
        if reach and self.whole and len(judged) == 1:
            return reach
        points = held(len(judged), len(probed), self.whole)
        return f"{reach}; {points}" if reach else points

    def _verdicts(self) -> dict[str, set[Verdict]]:
        """The verdicts at each point: a search may have judged again where it was judged."""
        result: dict[str, set[Verdict]] = {}
        for item in self.judged:
            (place,) = places(self.statement, [item.parameters])
            result.setdefault(place, set()).add(item.verdict)
        return result

    def _reach(self) -> str:
        """How far the verdict on a limit reaches: that of the point of which least is known."""
        own = [item for item in self.judged if item.verdict is self.verdict and item.headline]
        if not own:
            return ""
        open_ones = [item for item in own if item.up_to is not None]
        if not open_ones or self.verdict is Verdict.INCONCLUSIVE:
            return max(
                own, key=lambda item: (item.headline.startswith("no sign"), item.smallest_tolerance)
            ).headline
        least = min(open_ones, key=lambda item: item.up_to or 0.0).headline
        proven = len(own) - len(open_ones)
        return f"{least} at {plural(len(open_ones), 'point')}, proven at {proven}" if proven else least

    @property
    def spread(self) -> tuple[int, int]:
        """At how many of the evenly spread points the statement is not broken, and how many there are: judged ones, else probes."""
        seen = [item.verdict is not Verdict.REFUTED for item in self.judged if item.sampled]
        if not seen:
            seen = [probe.strain <= 0.0 for probe in self.probes if probe.phase == "even"]
        return sum(seen), len(seen)

    @property
    def share(self) -> float:
        """Share of the evenly spread points at which the statement is not broken; NaN if there are none."""
        stand, total = self.spread
        return stand / total if total else math.nan

    @property
    def broken(self) -> str:
        """At how many of the evenly spread points it is broken, in words; a dash where there are none."""
        stand, total = self.spread
        what = "points" if any(item.sampled for item in self.judged) else "probes"
        return f"{total - stand:,} of {total:,} evenly spread {what}" if total else "–"

    @property
    def where_broken(self) -> str:
        """`broken` as what a sentence says of it: of probes by games it is an estimate. Empty where there are no evenly spread points."""
        if not self.spread[1]:
            return ""
        probed = not any(item.sampled for item in self.judged)
        estimate = probed and not all(probe.definite for probe in self.probes if probe.phase == "even")
        undecided = sum(item.sampled and item.verdict is Verdict.INCONCLUSIVE for item in self.judged)
        text = f", and is undecided at {undecided:,}," if undecided else ""
        return f"{'is estimated to fail' if estimate else 'fails'} at {self.broken}{text}"

    @property
    def own_settings(self) -> str:
        """The verdicts at the paper's own settings, in words; empty where none of them was judged."""
        verdicts = Counter(item.verdict for item in self.judged if PAPER in item.setting)
        return ", ".join(f"{verdict} at {plural(count, 'point')}" for verdict, count in verdicts.items())

    @property
    def warning(self) -> str:
        """A warning about a search with few probes; empty if it had enough, or broke the statement."""
        made = len(self.probes) + len(self.failures)
        if not self.budget or self.whole or made >= FEW_PROBES or self.verdict is Verdict.REFUTED:
            return ""
        return f"the budget of {self.budget} bought {plural(made, 'probe')}; fewer than {FEW_PROBES} say little of a domain"

    @property
    def point(self) -> dict[str, Any] | None:
        """The counterexample, or the point with the largest gap; None if none could be judged."""
        return None if self.worst is None else dict(self.worst.parameters)

    @property
    def gap(self) -> float:
        """Truth less claim at `point`, in the statement's unit (probits for curves); NaN without a point."""
        return math.nan if self.worst is None else self.worst.gap

    @property
    def interval(self) -> tuple[float, float]:
        """What the gap is known to, at `point`."""
        return (math.nan, math.nan) if self.worst is None else self.worst.interval

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Name and value of what `print` shows below the verdict."""
        result = [("how", self.how)]
        if self.worst is not None:
            point = ", ".join(
                f"{name} = {_shown(value)}"
                for name, value in self.statement.mattering(self.worst.parameters).items()
            )
            result += [
                ("point", point),
                ("gap", self._gap()),
            ]
            if self.worst.detail:
                result.append(("detail", self.worst.detail))
        if self.judged:
            result.append(("points", self._counted()))
        if self.warning:
            result.append(("warning", self.warning))
        for name, reach in self.frontier.items():
            result.append((f"fails for {name}", _reach(reach)))
        if self.failures:
            first = self.failures[0]
            result.append(
                ("failed", f"{plural(len(self.failures), 'point')}, the first at {first.at}: {first.error}")
            )
        if self.findings:
            first = self.findings[0]
            result.append(
                (
                    "no trade-off function",
                    f"at {plural(len(self.findings), 'point')}, the first {first.at}: {first.what}",
                )
            )
        if self.interrupted:
            result.append(("interrupted", "what was computed until then is reported"))
        return [*result, ("replay", self.replay.shell)]

    def _gap(self) -> str:
        """The gap of the point that speaks, its interval, and how it was computed; if it is known from a single side, that side."""
        assert self.worst is not None
        low, high = self.interval
        known = lone_gap(self.gap, self.interval, 4, "+")
        alike = bound_words(self.gap, self.interval) or low == high
        ends = "" if alike else f", in {shown((low, high), sign='+')}"
        return f"{known} {self.worst.unit}{ends}, {self.worst.route}"

    def _counted(self) -> str:
        """At how many points it is refuted, held or not refuted."""
        verdicts = list(self._verdicts().values())
        refuted = sum(Verdict.REFUTED in each for each in verdicts)
        confirmed = verdicts.count({Verdict.CONFIRMED})
        if refuted:
            words, amount = "refuted", refuted
        elif confirmed == len(verdicts):
            words, amount = "held", confirmed
        else:
            by = " by this attack" if any(item.random for item in self.judged) else ""
            words, amount = f"not refuted{by}", len(verdicts)
        text = f"{words} at {amount:,} of {plural(len(verdicts), 'judged point')}"
        return f"{text}; {self.where_broken}" if self.spread[1] else text

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.lines)
        return "\n".join(
            [
                f"{self.verdict}{f' ({self.extent})' if self.extent else ''}: {self.statement.name}",
                *(f"  {k:<{width}}  {visible(v, single_line=True)}" for k, v in self.lines),
            ]
        )

    def __repr__(self) -> str:
        gap = lone_gap(self.gap, self.interval, 3)
        return f"<{self.statement.name}: {self.verdict}, gap {gap} at {self.point}>"

    def _repr_html_(self) -> str:
        from mipsim.referee import mathml

        statement = self.statement
        head = f'<b style="color:{COLOURS[self.verdict]}">{self.verdict}</b>{f" ({self.extent})" if self.extent else ""} {escape(statement.name)}'
        formula = mathml.to_mathml(statement.formula, block=True) if statement.formula else ""
        return f"<div>{head}<br>{mathml.words(statement.says)}{formula}{html_table(self.lines)}</div>"


FEW_PROBES = 100
"""A search of fewer probes is warned of: of planted defects most take more."""


def places(statement: Statement, points: Iterable[Mapping[str, Any]]) -> set[str]:
    """Different points of a statement, each by the parameters that are free in it."""
    return {repr([at.get(name) for name in statement.free]) for at in points}


def failed_alike(failures: Sequence[Failure]) -> bool:
    """Whether there are failures, and all have the same error."""
    return len({failure.error for failure in failures}) == 1


def none_judged(points: int) -> str:
    """What was done where the functions raised an error at every point."""
    return f"{plural(points, 'point')}, none judged: {'it' if points == 1 else 'all'} failed"


def held(points: int, probes: int = 0, whole: bool = False) -> str:
    """At how many points a statement held, and whether its domain was searched.
    `points`: that were judged; `probes`: other points, at which a search looked; `whole`: whether the domain is finite
    and these are all of its points.

    >>> held(192)
    'held at 192 points, not searched'
    >>> held(6, whole=True)
    'held at each of the 6 points of its domain'
    >>> held(192, 2000)
    'held at 192 points; a search looked at 2,000 more and broke none'
    """
    if whole and not probes:
        each = "the only point" if points == 1 else f"each of the {points:,} points"
        return f"held at {each} of its domain"
    if whole:
        return f"held at {plural(points, 'point')}; a search looked at the other {probes:,} of its domain and broke none"
    if probes:
        return f"held at {plural(points, 'point')}; a search looked at {probes:,} more and broke none"
    return f"held at {plural(points, 'point')}, not searched"


def concluded(
    statement: Statement, judged: Sequence[PointResult], failed: bool
) -> tuple[Verdict, PointResult | None]:
    """The verdict that judged points make, and the point that a report shows first; `failed`: whether any could not be judged.

    A refuted point refutes; all must be confirmed to confirm, and none may have failed.

    Of the points with the strongest verdict the point with the largest gap is shown, signed for bounds, in tolerances for equalities; a
    listed counterexample comes before a sampled point, whose numbers nobody chose. Where the points of a bound have several
    units, which no number compares, those in the unit of the first of them.

    >>> from mipsim import referee as rf
    >>> any_statement = rf.Statement(
    ...     name="x", says="x <= 1", source="school", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
    ...     claimed=lambda: 1.0, truth=lambda x: x,
    ... )
    >>> str(concluded(any_statement, [], failed=False)[0])
    'INCONCLUSIVE'
    """
    one_sided = statement.kind.one_sided
    order = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.REFUTED)

    def rank(result: PointResult) -> tuple[int, bool]:
        return order.index(result.verdict), result.verdict is Verdict.REFUTED and not result.sampled

    def size(item: PointResult) -> float:
        result = item.gap if one_sided else item.relative_gap
        return -math.inf if math.isnan(result) else result

    highest = max(map(rank, judged), default=None)
    first = [item for item in judged if rank(item) == highest]
    if one_sided:
        first = [single for single in first if single.unit == first[0].unit]
    verdicts = {item.verdict for item in judged}
    confirmed = not failed and verdicts == {Verdict.CONFIRMED}
    verdict = Verdict.CONFIRMED if confirmed else Verdict.INCONCLUSIVE
    return Verdict.REFUTED if Verdict.REFUTED in verdicts else verdict, max(first, key=size, default=None)


def is_judged(outcome: Outcome) -> bool:
    """Whether the verdict stands: a refutation does, whatever failed beside it; nothing else does."""
    return not outcome.failures or outcome.verdict is Verdict.REFUTED


LEAD, PAPER = "lead", "paper"
"""The settings of a point: that which reports show first, if it is refuted, and those of the paper itself. A point may have both."""
CONVINCING = 0.1
"""Of the largest gap, or so much in its unit: what the simplest counterexample must be sure of."""


def simplest(statement: Statement, judged: Sequence[PointResult]) -> PointResult | None:
    """The simplest clearly refuted point; None if no point is refuted.

    The counterexample of a verdict has the largest gap, but may need large sizes or an odd distribution. A reader can check a point
    more easily that has few records, few coordinates, round numbers and the distribution that the domain names first. Its gap is at least
    a tenth of the largest gap, or 0.1 in its unit, by the end of its interval that is nearer to the statement. A refuted point whose setting is
    "lead" comes before all others.

    `statement`: whose points they are.
    """
    refuted = [item for item in judged if item.verdict is Verdict.REFUTED]
    if not refuted:
        return None
    refuted = [item for item in refuted if LEAD in item.setting] or refuted
    unit = next((single.unit for single in refuted if not single.sampled), refuted[0].unit)
    kin = [(_sure(result), result) for result in refuted if result.unit == unit]
    # Where gaps grow without end a tenth of the largest takes large sizes.
    enough = CONVINCING * min(1.0, max(sure for sure, _ in kin))
    return min(
        (result for sure, result in kin if sure >= enough),
        key=lambda result: _words(statement, result.parameters),
    )


def shown_counterexamples(statement: Statement, judged: Sequence[PointResult]) -> list[PointResult]:
    """The counterexamples that reports show: the simplest, and that of the largest gap; none where nothing is refuted."""
    first = simplest(statement, judged)
    _, worst = concluded(statement, judged, False)
    if first is None or worst is None:
        return []
    return [first] if first.parameters == worst.parameters else [first, worst]


def titled_examples(outcome: Outcome) -> list[tuple[str, PointResult]]:
    """The points that a report shows at length, each with its title: counterexamples, else the point with the largest gap.
    `outcome`: what judging or hunting returned.
    """
    worst, shown_ones = outcome.worst, shown_counterexamples(outcome.statement, outcome.judged)
    if worst is None:
        return []
    if worst.verdict is not Verdict.REFUTED or not shown_ones:
        return [("The point with the largest gap", worst)]
    first = shown_ones[0]
    if first.parameters == worst.parameters:
        return [("Counterexample", worst)]
    kin = [item for item in outcome.judged if item.unit == worst.unit and item.verdict is worst.verdict]
    listed = [item for item in kin if not item.sampled]

    def largest(points: Sequence[PointResult], relative: bool = False) -> bool:
        sizes = [abs(item.relative_gap if relative else item.gap) for item in (worst, *points)]
        return max(sizes) == sizes[0]

    ways = {
        "The largest gap among the judged points": largest(kin),
        "The largest gap in tolerances among the judged points": largest(kin, relative=True),
        "The largest gap among the listed points": largest(listed),
        "The largest gap in tolerances among the listed points": largest(listed, relative=True),
    }
    return [
        ("A simple counterexample", first),
        (next((title for title in ways if ways[title]), "Another counterexample"), worst),
    ]


def _sure(result: PointResult) -> float:
    """Lower bound of the size of a gap."""
    low, high = result.interval
    return max(low, -high, 0.0)


def _words(statement: Statement, at: Mapping[str, Any]) -> float:
    """How long it takes to tell a point: bits of whole numbers, digits of others, and places of words in their lists."""
    total = 0.0
    mattering = statement.mattering(at)
    for name in statement.free:
        if name not in mattering:
            continue
        value, parameter = at[name], statement.domain[name]
        if isinstance(parameter, Choice):
            total += parameter.index(value)
        elif isinstance(parameter, Whole):
            total += math.log2(1 + abs(value))
        else:
            total += len(f"{value!r}".partition("e")[0].strip("-0.").replace(".", ""))
    return total


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _reach(reach: Any) -> str:
    if isinstance(reach, dict):
        return f"{_shown(reach['low'])} to {_shown(reach['high'])}"
    return ", ".join(map(str, reach))
