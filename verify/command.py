"""The command: its arguments, the loop over the statements, and what it says and returns."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mipsim.referee import Outcome, Statement, Verdict
from mipsim.referee.reporting.overview import counts
from mipsim.referee.reporting.wording import number, plural
from verify.arguments import Request, checked_seed, parser, request_of
from verify.judge import Setting, is_judged, judge, judge_all, points_of, risk_of

if TYPE_CHECKING:
    from rich.console import Console

    from verify.report.folder import Records, ReportFolder

WORKERS = 2
"""Statements judged or hunted at once; the games of one use every core by themselves."""
HUNTS = "hunts"
"""Folder, in that of the report, of the probes of hunts and of their own report."""
DONE, NOT_JUDGED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None, register: Mapping[str, Statement] | None = None) -> int:
    """Run the command.

    Args:
        argv: the arguments; those of the process if None.
        register: the statements; `verify.register.REGISTER` if None.

    Returns:
        0 when all were judged, 1 when one could not be, 2 for bad arguments, 130 when interrupted (the report
        then holds what was finished).
    """
    from rich.console import Console

    try:
        try:
            arguments = parser().parse_args(argv)
        except SystemExit as stop:  # argparse has said why, or has printed its help
            return int(stop.code or 0)
        # Where the data go to standard output nothing else does.
        console = Console(stderr=arguments.json == "-")
        try:
            if arguments.suite is not None:
                return _suite(arguments)
            return _asked(arguments, register, console)
        except ValueError as error:
            print(f"python -m verify: {error}", file=sys.stderr)
            return BAD_ARGUMENTS
        except (
            OSError
        ) as error:  # the report's files are whole: the last statement that fitted is the last in them
            print(
                f"python -m verify: the report cannot be written any more: {error.strerror or error}",
                file=sys.stderr,
            )
            return NOT_JUDGED
    except KeyboardInterrupt:
        print("Interrupted before the first statement: nothing was written.", file=sys.stderr)
        return INTERRUPTED


def _asked(arguments: argparse.Namespace, register: Mapping[str, Statement] | None, console: Console) -> int:
    from verify import register as own

    known = own.REGISTER if register is None else register
    samples = own.SAMPLES if register is None else {}
    families = own.FAMILIES if register is None else [[name] for name in known]
    request = request_of(arguments, known)
    if arguments.list:
        (_domains if arguments.claims else _list)(request.statements, console)
        return DONE
    risk = risk_of(request.confidence, known, samples)
    setting = Setting(request.scale, request.confidence, request.seed, risk, samples)
    if request.budget is not None:
        return _hunt(request, known, console, WORKERS if register is None else 1)
    chosen = {one.name: one for one in request.statements}
    asked = [[chosen[name] for name in family if name in chosen] for family in families]
    return _judge(request, known, setting, [family for family in asked if family], console)


def _suite(arguments: argparse.Namespace) -> int:
    """The public suite, which takes a seed and a file for its rows, and nothing else."""
    from sims.suite import show

    for name, given in (
        ("CLAIM", arguments.claims),
        ("--out", arguments.out),
        ("--at", arguments.at),
        ("--hunt", arguments.hunt),
    ):
        if given:
            raise ValueError(f"{name} is {given} beside --suite, which goes with --seed and --json only")
    show(arguments.json, checked_seed(arguments.seed))
    return DONE


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def _list(statements: Iterable[Statement], console: Console) -> None:
    for one in statements:
        first = " ".join(one.says.split())
        line = f"{one.name:<38}  {type(one.kind).__name__.lower():<8}  {plural(len(one.points), 'point'):>11}  {first}"
        if console.is_terminal and len(line) > console.width:
            line = line[: console.width - 1] + "…"
        _say(console, line)


def _domains(statements: Iterable[Statement], console: Console) -> None:
    """Print what each statement is about: its parameters with all that it allows."""
    for one in statements:
        _say(console, f"{one.name}: {' '.join(one.says.split())}")
        _say(console, f"  {one.source}; {one.kind}; {plural(len(one.points), 'point')} of its own")
        width = max(map(len, one.domain))
        for name, parameter in one.domain.items():
            _say(console, f"  {name:<{width}}  {parameter}")
        if one.where is not None:
            _say(console, "  Further assumptions tie them together.")


def _judge(
    request: Request,
    register: Mapping[str, Statement],
    setting: Setting,
    families: Sequence[Sequence[Statement]],
    console: Console,
) -> int:
    from verify.register import hunted
    from verify.report.folder import Records, ReportFolder, checked_json
    from verify.table import VerdictTable

    records = Records(register, hunted(), setting.scale)
    folder = None
    points = points_of(register, setting.samples)
    if request.json is not None:
        checked_json(request.json)
    if request.out is not None:
        folder = ReportFolder(request.out, records, setting, len(request.statements), points)

    def outcomes(before: Callable[[Statement, int], None]) -> Iterator[Outcome]:
        if request.at is None:
            return judge_all(families, setting, before, WORKERS)
        return iter([judge(request.statements[0], setting, request.at, before)])

    interrupted = False
    try:
        with VerdictTable(console, len(request.statements)) as table:
            for outcome in outcomes(table.start):
                records.add(outcome)
                table.add(outcome)
                if folder is not None:
                    folder.add()
    except KeyboardInterrupt:
        interrupted = True
    with _deaf():
        if folder is not None:
            folder.finish(interrupted)
        if request.json is not None:
            records.write(request.json)
        _close(request, records, register, folder, interrupted, console)
        if not interrupted:
            family = f"Family-wise failure probability {number(1 - request.confidence)}"
            _say(console, f"{family} over all {plural(points, 'point')} of the register at full scale.")
    if interrupted:
        return INTERRUPTED
    return DONE if all(map(is_judged, records.outcomes)) else NOT_JUDGED


def _hunt(request: Request, register: Mapping[str, Statement], console: Console, workers: int) -> int:
    from mipsim.referee.reporting.files import writable_folder
    from mipsim.referee.reporting.page import report
    from verify.hunting import hunt_all, keep
    from verify.register import HUNTED
    from verify.table import VerdictTable

    assert request.budget is not None
    assert request.out is not None
    folder = writable_folder("--out", request.out) / HUNTS
    folder.mkdir(exist_ok=True)
    found: list[Outcome] = []
    interrupted = False
    workers = min(workers, len(request.statements))
    try:
        with VerdictTable(console, len(request.statements)) as table:
            for outcome in hunt_all(
                request.statements,
                request.budget,
                request.confidence,
                request.seed,
                folder,
                table.say,
                workers,
            ):
                found.append(outcome)
                table.add(outcome)
                if request.keep:
                    keep(HUNTED, found)
    except KeyboardInterrupt:
        interrupted = True
    with _deaf():
        order = {name: place for place, name in enumerate(register)}
        found.sort(key=lambda one: order[one.statement.name])
        where = f" Report: {report(found, folder)}" if found else ""
        broken = sum(one.verdict is Verdict.REFUTED for one in found)
        done = f"{len(found)} of {plural(len(request.statements), 'statement')} hunted, {broken} broken."
        _say(console, f"{'Interrupted: ' if interrupted else ''}{done}{where}")
    if interrupted:
        return INTERRUPTED
    return DONE if all(one.worst is not None for one in found) else NOT_JUDGED


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl-C while the report is written for the last time: an impatient second must not cost it."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # only the main thread may say so, and only it is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def sentence(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> str:
    """Write how many statements have each verdict on one line.

    Examples:
        >>> sentence([], [])
        'none'
    """
    groups = []
    judged = [one for one in outcomes if is_judged(one)]
    for name, words in counts(judged, known).items():
        amount = sum(words.values())
        word = name if amount != 1 else name.removesuffix("s")
        groups.append(f"{amount} {word} ({', '.join(f'{count} {word}' for word, count in words.items())})")
    if len(judged) < len(outcomes):
        groups.append(f"{len(outcomes) - len(judged)} not judged")
    return "; ".join(groups) or "none"


def _close(
    request: Request,
    records: Records,
    register: Mapping[str, Statement],
    folder: ReportFolder | None,
    interrupted: bool,
    console: Console,
) -> None:
    for outcome in records.outcomes:
        for failure in outcome.failures:
            _say(console, f"Not judged: {outcome.statement.name} at {failure.at}: {failure.error}")
    if folder is None:
        for outcome in records.outcomes:
            for one in outcome.judged:
                notes = " ".join(note for note in (one.route, one.detail, one.second_route) if note)
                _say(console, f"{outcome.statement.name} at {one.parameters}: {one.verdict}. {notes}")
    counted = sentence(records.outcomes, tuple(register.values()))
    where = "" if folder is None else f" Report: {folder.page}"
    if interrupted:
        kept = f"{len(records.outcomes)} of {plural(len(request.statements), 'statement')} finished and kept"
        _say(console, f"Interrupted: {kept}{f': {counted}' if records.outcomes else ''}.{where}")
        return
    _say(console, f"Judged {plural(len(records.outcomes), 'statement')}: {counted}.{where}")
