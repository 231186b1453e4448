"""The command `python -m verify`: its options and exit statuses; what takes seconds to import waits until it is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mipsim._command_line import CONFIDENCE_LEVEL, PLACE, POINT, VERSION, Whole, examples, run
from mipsim._signals import ending_on_signals

if TYPE_CHECKING:  # --help need not wait for JAX
    from verify.statement import Statement


def main(argv: Sequence[str] | None = None, register: Mapping[str, Statement] | None = None) -> int:
    """Run the command.
    `argv`: the arguments; those of the process if None; `register`: the statements; `verify.register.REGISTER` if None.
    Returns 0 when all were judged, 1 when a statement could not be, 2 for bad arguments, 130, 143 or 129 when Ctrl-C,
    SIGTERM or SIGHUP interrupted it (the report then holds what was finished).
    """
    # The report's files are whole: the last statement that fitted is the last in them.
    return run(verify, argv, "python -m verify", "the report cannot be written any more", register)


@click.command(
    epilog=examples(
        "python -m verify --scale quick",
        "python -m verify 'azize-thm-4*' --out results/azize",
        "python -m verify azize-thm-4.2 --list",
        "python -m verify --show azize-thm-4.2",
        "python -m verify --trace azize-thm-4.2",
        "python -m verify --hunt izzo-thm-9 --budget 2m",
        after="Exit status: 0 all were judged, 1 a statement could not be judged, 2 bad arguments, 130 interrupted.",
    )
)
@click.argument("claims", nargs=-1, metavar="[CLAIM]...")
@click.option(
    "--scale",
    type=click.Choice(("quick", "standard", "full")),
    default="standard",
    help="how many points and games (default: standard)",
)
@click.option(
    "--confidence",
    type=CONFIDENCE_LEVEL,
    default=0.999,
    metavar="C",
    help="family-wise over every point of the whole register; with --hunt, of each hunt; in [0.5, 1) (default: 0.999)",
)
@click.option("--seed", type=Whole(0, 2**64 - 1), default=0, metavar="S", help="a whole number (default: 0)")
@click.option("--out", type=PLACE, metavar="DIR", help="folder of the report (default: results/verify)")
@click.option(
    "--at",
    type=POINT,
    multiple=True,
    metavar="JSON",
    help="judge a single CLAIM at this point, such as '{\"n\": 10}'; may be given several times; writes a report only with --out",
)
@click.option(
    "--json",
    type=PLACE,
    metavar="FILE",
    help="write the data alone, as in verdicts.json, to FILE, or to standard output for -; a report only with --out",
)
@click.option(
    "--list",
    "domains",
    is_flag=True,
    help="list the statements, or with CLAIM their domains, and judge nothing",
)
@click.option(
    "--show",
    is_flag=True,
    help="judge each CLAIM with its correction, and print its entry of FINDINGS.md alone",
)
@click.option(
    "--trace",
    is_flag=True,
    help="judge a single CLAIM at its first point, or that of --at, and list the lines that ran, function by function",
)
@click.option("--hunt", is_flag=True, help="search the domains for where the statements break")
@click.option("--budget", metavar="T", help="of each hunt: 45s, 2m, 500 probes (default: 2m)")
@click.option(
    "--suite",
    type=click.Choice(["broken-mechanisms", "tools"]),
    help="judge mechanisms with known violations, or what public tools document, instead",
)
@VERSION
@click.pass_obj
def verify(register: Mapping[str, Statement] | None, /, **given: Any) -> int:
    """Judge the statements of the register by exact laws and games, or hunt for where they break, and write a report.

    CLAIM is the name of a statement, or a glob such as "azize-thm-4*"; all are judged if none is given.
    """
    with ending_on_signals(lambda: "Interrupted before the first statement: nothing was written."):
        from verify import session
    return session.begin(register, **given)
