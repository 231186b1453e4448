"""A run of `python -m verify`: judge, hunt or list the statements, say what came of them, and return the exit status."""

from __future__ import annotations

import fnmatch
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from mipsim._command_line import DONE, FAILED
from mipsim._files import writable_folder
from mipsim._precision import run_in
from mipsim._signals import INTERRUPTED, LeavingOnCtrlC, interruptible, on_ctrl_c
from mipsim._words import no_such, plural, printable, visible
from mipsim.referee import Outcome, Point, Verdict
from mipsim.referee.defect import correction_of
from mipsim.referee.gap_words import three_digits
from mipsim.referee.hunting.hunt import hunt
from mipsim.referee.hunting.search import budget_of
from mipsim.referee.outcome import Failure, is_judged
from mipsim.referee.replay import replay_of
from mipsim.referee.reporting.page import cells, counts, report
from mipsim.referee.reporting.wording import duration
from mipsim.referee.settings import GAMES
from sims.process import show
from verify import parallel
from verify import register as own
from verify.judge import Setting, judge, left_to_full, points_of, risk_of, unseen
from verify.report.findings import entries, standing
from verify.report.folder import ReportFolder
from verify.report.versions import versions
from verify.statement import Statement
from verify.trace import traced

Find = Callable[[str], Statement] | None
"""Looks up a statement by its name in another process; None: no other process can."""
DEFAULT_OUT = "results/verify"
WIDTHS = {
    "statement": 38, "verdict": 12, "fails at": 10, "gap": 30, "interval": 22, "points": 7, "seconds": 7,
}  # fmt: skip
"""Column of the table -> its width."""
EVERY = 15.0
"""Seconds between two lines that tell how far the run is."""


def begin(
    register: Mapping[str, Statement] | None,  # the statements; `verify.register.REGISTER` if None
    *,
    claims: tuple[str, ...],  # names and globs
    scale: str,  # a member of `verify.judge.SCALES`
    confidence: float,  # in [0.5, 1)
    seed: int,  # in [0, 2^64)
    out: str | None,  # folder of the report
    at: tuple[Any, ...],  # points as JSON holds them
    json: str | None,  # file of the data, "-" for standard output
    domains: bool,  # whether the statements, or with `claims` their domains, are listed alone
    show: bool,  # whether the entries of their findings are printed alone
    trace: bool,  # whether the lines behind a verdict are listed alone
    hunt: bool,  # whether they are hunted
    budget: str | None,  # of each hunt, as written
    suite: str | None,  # name of a suite to judge instead
) -> int:
    """Do what is requested, and return the exit status.
    Raises ValueError if something that is requested cannot be, or two options exclude each other; before any work; OSError
    if the report cannot be written.
    """
    if suite is not None:
        return _suite(suite, seed, json, {"CLAIM": claims, "--out": out, "--at": at, "--hunt": hunt})
    known = own.REGISTER if register is None else register
    families = own.FAMILIES if register is None else [[name] for name in known]
    find = own.statement_of if register is None else None
    statements = select(claims, known)
    if budget and not hunt:
        raise ValueError("--budget is given without --hunt; it must go with it")
    if show and (at or json or hunt or not claims):
        raise ValueError(
            "--show is given without CLAIM, or beside --at, --json or --hunt; it judges each CLAIM and its correction"
        )
    if trace and (len(statements) != 1 or len(at) > 1 or json or out or hunt or show):
        raise ValueError(
            "--trace is given with more than 1 CLAIM or point, or beside --json, --out, --hunt or --show; it judges a single point"
        )
    if hunt and (at or json):
        raise ValueError("--hunt is given beside --at or --json; its data are in the report's folder")
    budget_of(budget or "2m")
    points = _points(statements, at)
    if domains:
        _list(statements, bool(claims))
        return DONE
    if hunt:
        return _hunt(statements, budget or "2m", confidence, seed, Path(out or DEFAULT_OUT), find)
    setting = Setting(scale, confidence, seed, risk_of(confidence, known.values()))
    if show:
        return _show(statements, known, setting)
    if trace:
        return _trace(statements[0], points or statements[0].points[:1], setting)
    names = {item.name for item in statements}
    kin = [[known[name] for name in family if name in names] for family in families]
    kin = sorted(filter(None, kin), key=lambda family: points_of(family, scale))
    # Small ones first, which show a verdict soon; then the largest, so that no process is left with a long family at the end.
    kin = [*kin[: parallel.WORKERS], *reversed(kin[parallel.WORKERS :])]
    folder = None if not out and (at or json is not None) else Path(out or DEFAULT_OUT)
    return _judge(kin, points, known, setting, folder, json, find)


def select(patterns: Sequence[str], register: Mapping[str, Statement]) -> tuple[Statement, ...]:
    """Return the statements whose names match any pattern, in the register's order; all if there is none.
    `patterns`: full names or globs such as "azize-thm-4*"; `register`: the statements by name. Raises ValueError if a
    pattern matches nothing; it lists the close names.

    >>> select(["azize-*"], {})
    Traceback (most recent call last):
        ...
    ValueError: CLAIM is 'azize-*'; it must be a statement of the register or a glob that some match (see --list)
    """
    chosen: set[str] = set()
    for pattern in patterns:
        # Of a long pattern fnmatch looks at every bracket's every end.
        matches = fnmatch.filter(register, pattern) if len(pattern) <= 500 else []
        if not matches:
            allowed = "a statement of the register or a glob that some match (see --list)"
            raise ValueError(no_such("CLAIM", pattern, register, allowed))
        chosen.update(matches)
    return tuple(item for name, item in register.items() if not patterns or name in chosen)


def _points(statements: Sequence[Statement], at: Sequence[Any]) -> tuple[Point, ...] | None:
    """The points of --at, or None: then they are those of the register. A listed point keeps its name."""
    if not at:
        return None
    if len(statements) != 1:
        raise ValueError(f"--at is given for {len(statements)} statements; it must go with exactly 1 CLAIM")
    (statement,) = statements
    listed = {repr(dict(item.at)): item for item in statement.points}
    places = [statement.check(single) for single in at]
    return tuple(listed.get(repr(single), Point(single)) for single in places)


def _suite(name: str, seed: int, json: str | None, beside: Mapping[str, Any]) -> int:
    """A suite beside the register, which takes a seed and a file for its rows, and nothing else."""
    for option, given in beside.items():
        if given:
            raise ValueError(f"{option} is {given} beside --suite, which goes with --seed and --json only")
    if name == "tools":
        from verify.tools.trials import show as show_suite
    else:
        from verify.tools.suite import show as show_suite
    show_suite(json, seed)
    return DONE


def _list(statements: Sequence[Statement], whole: bool) -> None:
    """Print a line for each statement, or its parameters with all that it allows."""
    for item in statements:
        says = " ".join(item.says.split())
        if not whole:
            show([f"{item.name:<38}  {type(item.kind).__name__.lower():<8}  {says}"])
            continue
        _say(f"{item.name}: {says}")
        _say(f"  {item.source}; {item.kind}; {plural(len(item.points), 'point')} of its own")
        width = max(map(len, item.domain))
        for name, parameter in item.domain.items():
            meaning = f"  ({item.meanings[name]})" if name in item.meanings else ""
            _say(f"  {name:<{width}}  {parameter}{meaning}")
        if item.where is not None:
            _say("  Further assumptions tie them together.")


def _show(statements: Sequence[Statement], known: Mapping[str, Statement], setting: Setting) -> int:
    """Judge statements with their corrections, and print what is found, or what stands."""
    twins = [correction_of(item, known.values()) for item in statements]
    wanted = dict.fromkeys(item.name for item in (*statements, *filter(None, twins)))
    outcomes = {name: judge(known[name], setting) for name in wanted}
    found = entries(list(outcomes.values()), setting.scale, tuple(known.values()))
    for item in statements:
        print(visible(found.get(item.name) or standing(outcomes[item.name])))
    return DONE if all(is_judged(item) for item in outcomes.values()) else FAILED


def _trace(statement: Statement, at: Sequence[Point], setting: Setting) -> int:
    """Judge a statement at a point, and print which lines of which functions ran, in the order in which these were entered."""
    outcome, rows = traced(partial(judge, statement, setting, at))
    lines = sum(count for _, _, count, _ in rows)
    _say(f"{statement.name}: {outcome.verdict}, by {lines:,} lines of {plural(len(rows), 'function')}")
    for file, name, count, places in rows:
        _say(f"{count:5}  {file}  {name}  {places}")
    return DONE if is_judged(outcome) else FAILED


def _say(line: str, to_stderr: bool = False) -> None:
    print(visible(line, single_line=True), file=sys.stderr if to_stderr else sys.stdout, flush=True)


def row(outcome: Outcome) -> tuple[str, ...]:
    """A line of the table, in the order of its columns; the numbers are those of the page's table."""
    verdict = str(outcome.verdict) if is_judged(outcome) else "not judged"
    return (outcome.statement.name, verdict, *(text for _, text in cells(outcome)))


def finished(
    statements: Sequence[Statement],
    come: Iterator[Outcome],  # what comes of them
    costs: Callable[[Any], float],  # shares of the time that is left
    say: Callable[[str], object],
) -> Iterator[Outcome]:
    """Yield outcomes as they come, with a line for each, and now and then a line that tells how far the run is."""
    began = reported = time.perf_counter()
    total, done = sum(map(costs, statements)), 0.0

    def line(texts: Sequence[str]) -> None:
        say(
            "  ".join(f"{text:<{width}}" for text, width in zip(texts, WIDTHS.values(), strict=True)).rstrip()
        )

    say(f"{plural(len(statements), 'statement')}; each gets a line when it is finished")
    line(tuple(WIDTHS))
    for number, outcome in enumerate(come, 1):
        yield outcome
        done += costs(outcome.statement)
        line(row(outcome))
        now = time.perf_counter()
        if now - reported > EVERY and number < len(statements):
            reported = now
            left = duration(round((now - began) * (total - done) / done))
            say(f"{number} of {plural(len(statements), 'statement')}, about {left} left")


def _failed(statement: Statement, why: str, confidence: float, seed: int) -> Outcome:
    """The outcome of what could not be judged or hunted."""
    return Outcome(
        statement=statement,
        verdict=Verdict.INCONCLUSIVE,
        worst=None,
        judged=(),
        replay=replay_of(statement, None, confidence, seed, GAMES),
        confidence=confidence,
        seed=seed,
        seconds=0.0,
        how="nothing came of it",
        failures=(Failure({}, why),),
    )


@interruptible
def _judge(
    families: Sequence[Sequence[Statement]],
    at: Sequence[Point] | None,
    known: Mapping[str, Statement],
    setting: Setting,
    out: Path | None,
    json: str | None,
    find: Find,
) -> int:
    # Where the data go to standard output nothing else does.
    say = partial(_say, to_stderr=json == "-")
    statements = [item for family in families for item in family]
    report = ReportFolder(out, json, known, setting, len(statements))
    act = partial(judge, setting=setting, at=at, draw=out is not None)
    failed = partial(_failed, confidence=setting.confidence, seed=setting.seed)
    interrupted = False
    try:
        with LeavingOnCtrlC():
            come = parallel.outcomes(families, act, failed, find)
            for outcome in finished(statements, come, lambda item: points_of([item], setting.scale), say):
                report.add(outcome)
    except KeyboardInterrupt:
        interrupted = True
    with on_ctrl_c(signal.SIG_IGN):  # an impatient second Ctrl-C must not cost the report
        report.finish(interrupted)
        for line in _lines(report.outcomes, points_too=out is None):
            say(line)
        text = sentence(report.outcomes, tuple(known.values()))
        where = "" if out is None else f" Report: {printable(out / 'index.html')}"
        done, of = len(report.outcomes), plural(len(statements), "statement")
        if interrupted:
            tally = f": {text}" if done else ""
            say(f"Interrupted: {done} of {of} finished and stored{tally}.{where}")
            return INTERRUPTED
        say(f"Judged {text}.{where}")
        points = plural(points_of(known.values()), "point")
        family = f"Family-wise failure probability {three_digits(1 - setting.confidence)}"
        say(f"{family} over all {points} of the register at full scale.")
        if at is None and (left := left_to_full(statements, setting.scale)):
            say(left)
    sound = all(is_judged(item) and not unseen(item) for item in report.outcomes)
    return DONE if sound else FAILED


def _lines(outcomes: Sequence[Outcome], points_too: bool) -> Iterator[str]:
    """What failed and, where no report says so, what came of each point."""
    for outcome in outcomes:
        name = outcome.statement.name
        for failure in outcome.failures:
            yield f"Not judged: {name} at {failure.at}: {failure.error}"
        for item in unseen(outcome):
            yield f"Not seen by a second route: {name} at {item.parameters}: {item.second_route}"
        for item in outcome.judged if points_too else ():
            second = item.second_route and f"Second route: {item.second_route}"
            notes = " ".join(filter(None, (item.route and f"{item.route}.", item.detail, second)))
            yield f"{name} at {item.parameters}: {item.verdict}. {notes}"


def sentence(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> str:
    """Write how many statements have each verdict on a single line.
    >>> sentence([], [])
    'none'
    """
    judged = [item for item in outcomes if is_judged(item)]
    groups = []
    for name, words in counts(judged, known).items():
        each = ", ".join(f"{amount} {word}" for word, amount in words.items())
        groups.append(f"{plural(sum(words.values()), name.removesuffix('s'))} ({each})")
    if len(judged) < len(outcomes):
        groups.append(f"{len(outcomes) - len(judged)} not judged")
    return "; ".join(groups) or "none"


def when(hunts: Sequence[Outcome]) -> str:
    """When hunts were made, of which revision, and how many probes they took: they say nothing of other code.
    >>> when([]).partition(", ")[2].endswith("0 probes")
    True
    """
    made = sum(len(item.probes) for item in hunts)
    known = versions()
    revision = known.get("revision", f"mipsim {known['mipsim']}")
    return f"{datetime.now(UTC):%Y-%m-%d}, revision {revision}, {plural(made, 'probe')}"


def hunted(statement: Statement, budget: str, confidence: float, seed: int, folder: Path) -> Outcome:
    """Hunt a statement, which stores its probes in a folder, and goes on where it was."""
    checkpoint = folder / f"{statement.name}-{seed}.jsonl"
    with run_in("float64"):  # as it is judged
        return hunt(statement, budget, confidence, seed, checkpoint=checkpoint, progress=False)


@interruptible
def _hunt(
    statements: Sequence[Statement], budget: str, confidence: float, seed: int, out: Path, find: Find
) -> int:
    folder = writable_folder("--out", out) / "hunts"
    folder.mkdir(exist_ok=True)
    act = partial(hunted, budget=budget, confidence=confidence, seed=seed, folder=folder)
    failed = partial(_failed, confidence=confidence, seed=seed)
    result: list[Outcome] = []
    interrupted = False
    try:
        with LeavingOnCtrlC():
            come = parallel.outcomes([[item] for item in statements], act, failed, find)
            result.extend(finished(statements, come, lambda _: 1.0, _say))
    except KeyboardInterrupt:
        interrupted = True
    with on_ctrl_c(signal.SIG_IGN):
        result.sort(key=lambda each: statements.index(each.statement))
        missed = [single for single in result if single.worst is None]
        for each in missed:
            why = next((failure.error for failure in each.failures), each.how)
            _say(f"Not hunted: {each.statement.name}: {why}.")
        broken = sum(each.verdict is Verdict.REFUTED for each in result)
        of = plural(len(statements), "statement")
        done = f"{len(result) - len(missed)} of {of} hunted, {broken} broken."
        where = ""
        if result:
            where = f" Report: {printable(report(result, folder, facts={'hunted': when(result)}))}"
        _say(f"{'Interrupted: ' if interrupted else ''}{done}{where}")
        if interrupted:
            _say(f"The probes are stored in {printable(folder)}: the same command resumes from them.")
            return INTERRUPTED
    return FAILED if missed else DONE
