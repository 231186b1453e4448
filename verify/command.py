"""The command: its arguments, the loop over the statements, and what it says and returns."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mipsim._files import writable_folder
from mipsim._signals import INTERRUPTED, like_ctrl_c
from mipsim._streams import complain, reader_gone
from mipsim._words import shown, visible
from mipsim.engine.devices import cores
from mipsim.referee import Outcome, Statement, Verdict
from mipsim.referee.command import BAD_ARGUMENTS, DONE, NOT_JUDGED
from mipsim.referee.outcome import is_judged
from mipsim.referee.reporting.overview import counts
from mipsim.referee.reporting.wording import plural, three_digits
from sims.process import show
from verify.arguments import check, checked_seed, parser
from verify.judge import Setting, judge, judge_all, points_of, risk_of

if TYPE_CHECKING:
    from rich.console import Console

WORKERS = 2
"""Statements judged or hunted at once; the games of one use every core by themselves."""
HUNTS = "hunts"
"""Folder, in that of the report, of the probes of hunts and of their own report."""


@like_ctrl_c
def main(argv: Sequence[str] | None = None, register: Mapping[str, Statement] | None = None) -> int:
    """Run the command.

    Args:
        argv: the arguments; those of the process if None.
        register: the statements; `verify.register.REGISTER` if None.

    Returns:
        0 when all were judged, 1 when one could not be, 2 for bad arguments, 130, 143 or 129 when Ctrl-C, SIGTERM or SIGHUP
        interrupted it (the report then holds what was finished).
    """
    try:
        asked = parser().parse_args(argv)
        status = _asked(asked, register) if asked.suite is None else _suite(asked)
        sys.stdout.flush()  # while a reader that has gone can be told from a full disk
        return status
    except SystemExit as stop:  # argparse has said why, or has printed its help
        return int(stop.code or 0)
    except ValueError as error:
        complain(f"python -m verify: {error}")
        return BAD_ARGUMENTS
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        # The report's files are whole: the last statement that fitted is the last in them.
        why = error.strerror or error
        complain(f"python -m verify: the report cannot be written any more: {why}")
        return NOT_JUDGED
    except KeyboardInterrupt:
        complain("Interrupted before the first statement: nothing was written.")
        return INTERRUPTED


def _asked(asked: argparse.Namespace, register: Mapping[str, Statement] | None) -> int:
    from verify import register as own

    known = own.REGISTER if register is None else register
    samples = own.SAMPLES if register is None else {}
    families = own.FAMILIES if register is None else [[name] for name in known]
    check(asked, known)
    # Where the data go to standard output nothing else does.
    console = _console(to_stderr=asked.json == "-")
    if asked.list:
        if asked.claims:
            _domains(asked.statements, console)
        else:
            show(f"{one.name:<38}  {_kind(one):<8}  {' '.join(one.says.split())}" for one in asked.statements)
        return DONE
    if asked.hunt:
        return _hunt(asked, known, console, min(WORKERS, cores()) if register is None else 1)
    risk = risk_of(asked.confidence, known, samples)
    again = asked.scale != "quick" or asked.at is not None
    setting = Setting(asked.scale, asked.confidence, asked.seed, risk, samples, again)
    chosen = {one.name: one for one in asked.statements}
    kin = [[chosen[name] for name in family if name in chosen] for family in families]
    find = own.statement_of if register is None else None
    return _judge(asked, known, setting, [family for family in kin if family], console, find)


def _console(to_stderr: bool) -> Console:
    from rich.console import Console

    class Heard(Console):
        """Tells of a reader that has gone, where rich would end the process with status 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Heard(stderr=to_stderr)


def _kind(statement: Statement) -> str:
    return type(statement.kind).__name__.lower()


def _suite(asked: argparse.Namespace) -> int:
    """The public suite, which takes a seed and a file for its rows, and nothing else."""
    from verify.tools.suite import show as show_suite

    for name in ("claims", "out", "at", "hunt"):
        if given := getattr(asked, name):
            said = "CLAIM" if name == "claims" else f"--{name}"
            raise ValueError(f"{said} is {given} beside --suite, which goes with --seed and --json only")
    show_suite(asked.json, checked_seed(asked.seed))
    return DONE


def _say(console: Console, line: str) -> None:
    console.print(visible(line, one_line=True), markup=False, highlight=False, soft_wrap=True)


def _domains(statements: Iterable[Statement], console: Console) -> None:
    """Print what each statement is about: its parameters with all that it allows."""
    for one in statements:
        _say(console, f"{one.name}: {' '.join(one.says.split())}")
        _say(console, f"  {one.source}; {one.kind}; {plural(len(one.points), 'point')} of its own")
        width = max(map(len, one.domain))
        for name, parameter in one.domain.items():
            said = f"  ({one.meanings[name]})" if name in one.meanings else ""
            _say(console, f"  {name:<{width}}  {parameter}{said}")
        if one.where is not None:
            _say(console, "  Further assumptions tie them together.")


def _judge(
    asked: argparse.Namespace,
    register: Mapping[str, Statement],
    setting: Setting,
    families: Sequence[Sequence[Statement]],
    console: Console,
    find: Callable[[str], Statement] | None,
) -> int:
    from verify.parallel import on_interrupt
    from verify.register import hunts_of
    from verify.report.folder import Records, ReportFolder, checked_json
    from verify.report.table import VerdictTable

    records = Records(register, hunts_of(register), setting.scale)
    asked_for, points = len(asked.statements), points_of(register, setting.samples)
    if asked.json is not None:
        checked_json(asked.json)
    folder = None if asked.out is None else ReportFolder(asked.out, records, setting, asked_for, points)

    def outcomes(before: Callable[[Statement, int], None]) -> Iterator[Outcome]:
        if asked.at is None:
            workers = min(WORKERS, len(families))
            there = find if workers > 1 else None
            return judge_all(families, setting, before, workers, there, draw=folder is not None)
        return iter([judge(asked.statements[0], setting, asked.at, before)])

    interrupted = False
    try:
        with VerdictTable(console, asked_for) as table:
            for outcome in outcomes(table.start):
                records.add(outcome)
                table.add(outcome)
                if folder is not None:
                    folder.add()
    except KeyboardInterrupt:
        interrupted = True
    with on_interrupt(signal.SIG_IGN):  # an impatient second Ctrl-C must not cost the report
        if folder is not None:
            folder.finish(interrupted)
        if asked.json is not None:
            records.write(asked.json)
        for line in _told(records.outcomes, points_too=folder is None):
            _say(console, line)
        said = sentence(records.outcomes, tuple(register.values()))
        where = "" if folder is None else f" Report: {shown(folder.page)}"
        done = len(records.outcomes)
        if interrupted:
            tally = f": {said}" if done else ""
            _say(
                console,
                f"Interrupted: {done} of {plural(asked_for, 'statement')} finished and kept{tally}.{where}",
            )
            return INTERRUPTED
        _say(console, f"Judged {plural(done, 'statement')}: {said}.{where}")
        family = f"Family-wise failure probability {three_digits(1 - asked.confidence)}"
        _say(console, f"{family} over all {plural(points, 'point')} of the register at full scale.")
    return DONE if all(map(is_judged, records.outcomes)) else NOT_JUDGED


def _told(outcomes: Iterable[Outcome], points_too: bool) -> Iterator[str]:
    """What failed and, where no report says so, what came of each point."""
    for outcome in outcomes:
        name = outcome.statement.name
        for failure in outcome.failures:
            yield f"Not judged: {name} at {failure.at}: {failure.error}"
        for one in outcome.judged if points_too else ():
            notes = " ".join(note for note in (one.route, one.detail, one.second_route) if note)
            yield f"{name} at {one.parameters}: {one.verdict}. {notes}"


def sentence(outcomes: Sequence[Outcome], known: Sequence[Statement]) -> str:
    """Write how many statements have each verdict on one line.

    Examples:
        >>> sentence([], [])
        'none'
    """
    judged = [one for one in outcomes if is_judged(one)]
    groups = []
    for name, words in counts(judged, known).items():
        each = ", ".join(f"{amount} {word}" for word, amount in words.items())
        groups.append(f"{plural(sum(words.values()), name.removesuffix('s'))} ({each})")
    if len(judged) < len(outcomes):
        groups.append(f"{len(outcomes) - len(judged)} not judged")
    return "; ".join(groups) or "none"


def _hunt(
    asked: argparse.Namespace, register: Mapping[str, Statement], console: Console, workers: int
) -> int:
    from mipsim.referee.reporting.page import report
    from verify import hunting, parallel
    from verify.register import HUNTED, recorded, statement_of
    from verify.report.table import VerdictTable

    folder = writable_folder("--out", asked.out) / HUNTS
    folder.mkdir(exist_ok=True)
    known = recorded(HUNTED) if asked.keep else {}
    statements = [
        one
        for one in asked.statements
        if not hunting.is_kept(known.get(one.name), one, asked.budget, asked.seed)
    ]
    if before := len(asked.statements) - len(statements):
        _say(console, f"{plural(before, 'statement')} hunted so before: the records in {HUNTED.name} stay.")
    settings = (asked.budget, asked.confidence, asked.seed, folder)
    found: list[Outcome] = []
    interrupted = False
    try:
        with VerdictTable(console, len(statements)) as table:
            for outcome in parallel.hunt_all(
                statements, *settings, table.say, min(workers, len(statements)), statement_of
            ):
                found.append(outcome)
                table.add(outcome)
                if asked.keep:
                    hunting.keep(HUNTED, [outcome])
    except KeyboardInterrupt:
        interrupted = True
    with parallel.on_interrupt(signal.SIG_IGN):
        if asked.keep and found:
            hunting.keep(HUNTED, found)
        order = list(register)
        found.sort(key=lambda one: order.index(one.statement.name))
        missed = [one for one in found if one.how == parallel.NOT_HUNTED]
        for one in missed:
            _say(console, f"Not hunted: {one.statement.name}: {one.failures[0].error}.")
        broken = sum(one.verdict is Verdict.REFUTED for one in found)
        done = (
            f"{len(found) - len(missed)} of {plural(len(statements), 'statement')} hunted, {broken} broken."
        )
        where = f" Report: {shown(report(found, folder))}" if found else ""
        _say(console, f"{'Interrupted: ' if interrupted else ''}{done}{where}")
    if interrupted:
        if any(folder.glob("*.jsonl")):
            _say(console, f"The probes are kept in {shown(folder)}: the same command goes on with them.")
        return INTERRUPTED
    return DONE if all(one.worst is not None for one in found) else NOT_JUDGED
