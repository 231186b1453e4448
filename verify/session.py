"""A run of `python -m verify`: judge, hunt or list the statements, say what came of them, and return the exit status."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mipsim._command_line import DONE, FAILED
from mipsim._files import replace_file, writable_folder
from mipsim._signals import INTERRUPTED, LeavingOnCtrlC, interruptible, on_ctrl_c
from mipsim._words import plural, printable, visible
from mipsim.engine.devices import cores
from mipsim.referee import Outcome, Point, Statement, Verdict
from mipsim.referee.defect import correction_of
from mipsim.referee.gap_words import three_digits
from mipsim.referee.outcome import is_judged
from mipsim.referee.reporting.overview import counts
from mipsim.referee.reporting.page import page, report
from sims.process import show
from verify import parallel
from verify import register as own
from verify.judge import (
    Setting,
    costs_of,
    in_turn,
    judge,
    judge_all,
    left_to_full,
    points_of,
    risk_of,
    unseen,
)
from verify.report.findings import entries
from verify.report.folder import Records, ReportFolder, checked_json
from verify.report.progress_table import VerdictTable
from verify.report.versions import versions
from verify.request import BUDGET, DEFAULT_OUT, Request, select

if TYPE_CHECKING:
    from rich.console import Console

WORKERS = 2
"""Statements judged or hunted at once; the games of a single statement use every core."""
HUNTS = "hunts"
"""Folder, in that of the report, of the probes of hunts and of their own report."""


def begin(requested: Request, register: Mapping[str, Statement] | None = None) -> int:
    """Do what is requested.
    `requested`: what the command read; `register`: the statements; `verify.register.REGISTER` if None. Raises ValueError
    if something that is requested cannot be; before any work; OSError if the report cannot be written.
    """
    if requested.suite is not None:
        return _suite(requested)
    if register is None:
        known, families, find = own.REGISTER, own.FAMILIES, own.statement_of
        samples, games, full = own.SAMPLES, own.GAMES, own.FULL
    else:  # other processes cannot find these statements
        known, families, find = register, [[name] for name in register], None
        samples, games, full = {}, {}, {}
    statements = select(requested.claims, known)
    requested.check()
    at = requested.points(statements)
    # Where the data go to standard output nothing else does.
    console = _console(to_stderr=requested.json == "-")
    if requested.list:
        if requested.claims:
            _domains(statements, console)
        else:
            show(f"{item.name:<38}  {_kind(item):<8}  {' '.join(item.says.split())}" for item in statements)
        return DONE
    if requested.hunt:
        return _hunt(requested, statements, known, console, find)
    risk = risk_of(requested.confidence, known, samples)
    again = requested.scale == "full" or at is not None
    full = full if at is None else {}
    setting = Setting(
        requested.scale, requested.confidence, requested.seed, risk, samples, games, full, again
    )
    if requested.show:
        return _show(statements, known, setting, console)
    chosen = {single.name: single for single in statements}
    kin = [[chosen[name] for name in family if name in chosen] for family in families]
    return _judge(
        requested, statements, at, known, setting, [family for family in kin if family], console, find
    )


def _console(to_stderr: bool) -> Console:
    from rich.console import Console

    class BrokenPipeConsole(Console):
        """Tells of a reader that has gone, where rich would end the process with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return BrokenPipeConsole(stderr=to_stderr)


def _kind(statement: Statement) -> str:
    return type(statement.kind).__name__.lower()


def _suite(requested: Request) -> int:
    """A suite beside the register, which takes a seed and a file for its rows, and nothing else."""
    for name, given in (
        ("CLAIM", requested.claims),
        ("--out", requested.out),
        ("--at", requested.at),
        ("--hunt", requested.hunt),
    ):
        if given:
            raise ValueError(f"{name} is {given} beside --suite, which goes with --seed and --json only")
    if requested.suite == "tools":
        from verify.tools.trials import show as show_suite
    else:
        from verify.tools.suite import show as show_suite
    show_suite(requested.json, requested.seed)
    return DONE


def _show(
    statements: Sequence[Statement], known: Mapping[str, Statement], setting: Setting, console: Console
) -> int:
    """Judge statements with their corrections, and print what is found, or that nothing is."""
    twins = [correction_of(item, known.values()) for item in statements]
    wanted = {item.name: item for item in (*statements, *filter(None, twins))}
    outcomes = {name: judge(item, setting) for name, item in wanted.items()}
    found = entries(list(outcomes.values()), setting.scale, tuple(known.values()))
    for item in statements:
        text = found.get(item.name, f"{item.name}: {outcomes[item.name].verdict}; no finding.")
        console.print(visible(text), markup=False, highlight=False, soft_wrap=True)
    return DONE if all(is_judged(item) for item in outcomes.values()) else FAILED


def _say(console: Console, line: str) -> None:
    console.print(visible(line, single_line=True), markup=False, highlight=False, soft_wrap=True)


def _domains(statements: Iterable[Statement], console: Console) -> None:
    """Print what each statement is about: its parameters with all that it allows."""
    for item in statements:
        _say(console, f"{item.name}: {' '.join(item.says.split())}")
        _say(console, f"  {item.source}; {item.kind}; {plural(len(item.points), 'point')} of its own")
        width = max(map(len, item.domain))
        for name, parameter in item.domain.items():
            text = f"  ({item.meanings[name]})" if name in item.meanings else ""
            _say(console, f"  {name:<{width}}  {parameter}{text}")
        if item.where is not None:
            _say(console, "  Further assumptions tie them together.")


@interruptible
def _judge(
    requested: Request,
    statements: Sequence[Statement],
    at: Sequence[Point] | None,
    register: Mapping[str, Statement],
    setting: Setting,
    families: Sequence[Sequence[Statement]],
    console: Console,
    find: Callable[[str], Statement] | None,
) -> int:
    records = Records(register, setting.scale)
    total, points = len(statements), points_of(register, setting.samples)
    if requested.json is not None:
        checked_json(requested.json)
    folder = (
        None if requested.folder is None else ReportFolder(requested.folder, records, setting, total, points)
    )

    workers = min(WORKERS, len(families))

    def outcomes(before: Callable[[Statement, int], None]) -> Iterator[Outcome]:
        if at is None:
            there = find if workers > 1 else None
            turns = in_turn(families, workers, setting)
            return judge_all(turns, setting, before, workers, there, draw=folder is not None)
        return iter([judge(statements[0], setting, at, before)])

    interrupted = False
    try:
        with LeavingOnCtrlC(), VerdictTable(console, total, costs_of(statements, setting), workers) as table:
            for outcome in outcomes(table.start):
                records.add(outcome)
                table.add(outcome)
                if folder is not None:
                    folder.add()
    except KeyboardInterrupt:
        interrupted = True
    with on_ctrl_c(signal.SIG_IGN):  # an impatient second Ctrl-C must not cost the report
        if folder is not None:
            folder.finish(interrupted)
        if requested.json is not None:
            records.write(requested.json)
        for line in _lines(records.outcomes, points_too=folder is None):
            _say(console, line)
        text = sentence(records.outcomes, tuple(register.values()))
        where = "" if folder is None else f" Report: {printable(folder.page)}"
        done = len(records.outcomes)
        if interrupted:
            tally = f": {text}" if done else ""
            _say(
                console,
                f"Interrupted: {done} of {plural(total, 'statement')} finished and stored{tally}.{where}",
            )
            return INTERRUPTED
        _say(console, f"Judged {plural(done, 'statement')}: {text}.{where}")
        family = f"Family-wise failure probability {three_digits(1 - requested.confidence)}"
        _say(console, f"{family} over all {plural(points, 'point')} of the register at full scale.")
        if left := left_to_full(statements, setting):
            _say(console, left)
    sound = all(is_judged(item) and not unseen(item) for item in records.outcomes)
    return DONE if sound else FAILED


def _lines(outcomes: Iterable[Outcome], points_too: bool) -> Iterator[str]:
    """What failed and, where no report says so, what came of each point."""
    for outcome in outcomes:
        name = outcome.statement.name
        for failure in outcome.failures:
            yield f"Not judged: {name} at {failure.at}: {failure.error}"
        for item in unseen(outcome):
            yield f"Not seen by a second route: {name} at {item.parameters}: {item.second_route}"
        for item in outcome.judged if points_too else ():
            notes = " ".join(note for note in (item.route, item.detail, str(item.second_route or "")) if note)
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


@interruptible
def _hunt(
    requested: Request,
    statements: Sequence[Statement],
    register: Mapping[str, Statement],
    console: Console,
    find: Callable[[str], Statement] | None,
) -> int:
    folder = writable_folder("--out", requested.out or DEFAULT_OUT) / HUNTS
    folder.mkdir(exist_ok=True)
    budget = requested.budget or BUDGET
    settings = (budget, requested.confidence, requested.seed, folder)
    result: list[Outcome] = []
    interrupted = False
    try:
        with LeavingOnCtrlC(), VerdictTable(console, len(statements)) as table:
            for outcome in parallel.hunt_all(
                statements, *settings, table.say, min(WORKERS, cores(), len(statements)), find
            ):
                result.append(outcome)
                table.add(outcome)
    except KeyboardInterrupt:
        interrupted = True
    with on_ctrl_c(signal.SIG_IGN):
        order = list(register)
        result.sort(key=lambda each: order.index(each.statement.name))
        missed = [single for single in result if single.how == parallel.NOT_HUNTED]
        for each in missed:
            _say(console, f"Not hunted: {each.statement.name}: {each.failures[0].error}.")
        broken = sum(each.verdict is Verdict.REFUTED for each in result)
        done = (
            f"{len(result) - len(missed)} of {plural(len(statements), 'statement')} hunted, {broken} broken."
        )
        where = ""
        if result:
            page_file = report(result, folder)
            replace_file(page_file, page(result, facts={"hunted": when(result)}))
            where = f" Report: {printable(page_file)}"
        _say(console, f"{'Interrupted: ' if interrupted else ''}{done}{where}")
    if interrupted:
        if any(folder.glob("*.jsonl")):
            _say(
                console, f"The probes are stored in {printable(folder)}: the same command resumes from them."
            )
        return INTERRUPTED
    return DONE if all(each.worst is not None for each in result) else FAILED
