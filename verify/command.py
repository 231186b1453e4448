"""The command: its arguments, the loop over the claims, and what it says and returns."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mipsim.referee.reporting.wording import number, plural
from verify.arguments import Request, checked_seed, parser, request_of
from verify.claim import Claim
from verify.claim_result import ClaimResult
from verify.judge import failure_share, random_regimes
from verify.report.tally import sentence
from verify.side_by_side import judge_all

if TYPE_CHECKING:
    from rich.console import Console

    from verify.report.folder import ReportFolder

COUNTS = "counts"
WORKERS = 2
"""Claims judged at once; the games of one use every core by themselves."""
DONE, NOT_JUDGED, BAD_ARGUMENTS, INTERRUPTED = 0, 1, 2, 130


def main(argv: Sequence[str] | None = None, register: Mapping[str, Claim] | None = None) -> int:
    """Run the command.

    Args:
        argv: the arguments; those of the process if None.
        register: the claims; `verify.register.REGISTER` if None.

    Returns:
        0 when all were judged, 1 when a judge failed, 2 for bad arguments, 130 when interrupted (the report
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
        if register is None and arguments.suite is None:
            from verify.register import REGISTER

            register = REGISTER
        try:
            if register is None or arguments.suite is not None:
                return _suite(arguments)
            request = request_of(arguments, register)
            if request.listing:
                _list(request.claims, console)
                return DONE
            return _run(request, register, console)
        except ValueError as error:
            print(f"python -m verify: {error}", file=sys.stderr)
            return BAD_ARGUMENTS
        except (
            OSError
        ) as error:  # the report's files are whole: the last claim that fitted is the last in them
            print(
                f"python -m verify: the report cannot be written any more: {error.strerror or error}",
                file=sys.stderr,
            )
            return NOT_JUDGED
    except KeyboardInterrupt:
        print("Interrupted before the first claim: nothing was written.", file=sys.stderr)
        return INTERRUPTED


def _suite(arguments: argparse.Namespace) -> int:
    """The public suite, which takes a seed and a file for its rows, and nothing else."""
    from verify.suite import show

    for name, given in (
        ("CLAIM", arguments.claims),
        ("--out", arguments.out),
        ("--regime", arguments.regime),
    ):
        if given:
            raise ValueError(f"{name} is {given} beside --suite, which goes with --seed and --json only")
    show(arguments.json, checked_seed(arguments.seed))
    return DONE


def _list(claims: Sequence[Claim], console: Console) -> None:
    for claim in claims:
        first = " ".join(claim.statement.split())
        line = f"{claim.id:<34}  {claim.kind:<22}  {plural(len(claim.regimes), 'regime'):>11}  {first}"
        if console.is_terminal and len(line) > console.width:
            line = line[: console.width - 1] + "…"
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _run(request: Request, register: Mapping[str, Claim], console: Console) -> int:
    from verify.report.folder import JsonFile, ReportFolder
    from verify.report.record import Setting
    from verify.table import VerdictTable

    regimes = random_regimes(register)
    setting = Setting(request.scale, request.confidence, request.seed)
    folder = None if request.out is None else ReportFolder(request.out, setting, regimes, request.claims)
    record = None if request.json is None else JsonFile(request.json, setting, request.claims)
    store = None if request.out is None else request.out / COUNTS
    results: list[ClaimResult] = []
    interrupted = False
    try:
        with VerdictTable(console, len(request.claims)) as table:
            failure_probability = failure_share(request.confidence, register)
            for result in judge_all(
                request.claims,
                request.scale,
                failure_probability,
                request.seed,
                store,
                table.start,
                WORKERS,
                register,
            ):
                results.append(result)
                table.add(result)
                if folder is not None:
                    folder.add(result)
                if record is not None:
                    record.add(result)
    except KeyboardInterrupt:
        interrupted = True
    with _deaf():
        if folder is not None:
            folder.finish(interrupted)
        if record is not None:
            record.finish()
        _close(request, results, regimes, folder, interrupted, console)
    if interrupted:
        return INTERRUPTED
    return DONE if all(result.judged for result in results) else NOT_JUDGED


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


def _close(
    request: Request,
    results: Sequence[ClaimResult],
    regimes: int,
    folder: ReportFolder | None,
    interrupted: bool,
    console: Console,
) -> None:
    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    for result in results:
        for name, error in result.errors:
            say(f"Not judged: {result.claim.id}, regime {name}: {error}")
    if folder is None:
        for result in results:
            for name, regime in zip(result.names, result.regimes, strict=True):
                notes = " ".join(note for note in (regime.route, regime.detail, regime.second_route) if note)
                say(f"{result.claim.id}, regime {name}: {regime.verdict}. {notes}")
    counted = sentence(results)
    where = "" if folder is None else f" Report: {folder.page}"
    if interrupted:
        kept = f"{len(results)} of {plural(len(request.claims), 'claim')} finished and kept"
        say(f"Interrupted: {kept}{f': {counted}' if results else ''}.{where}")
        return
    say(
        f"Judged {plural(len(results), 'claim')}: {counted}. Family-wise failure probability"
        f" {number(1 - request.confidence)} over all {plural(regimes, 'regime')} of the register that play games.{where}"
    )
