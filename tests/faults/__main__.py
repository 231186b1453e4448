"""`python -m tests.faults [--quick]`: every campaign of faults, and a table of what held."""

import signal
import sys

if __name__ == "__main__":
    from mipsim._signals import begin

    # A shell that starts this in the background, or nohup, has it and the runs that it interrupts ignore what they are sent.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    begin()  # before what takes long to import

import time
from collections.abc import Callable
from typing import Any

from mipsim._signals import ended, interruptible, last_status
from tests.faults import campaigns as stored
from tests.faults import hostile_files, hostile_words, processes
from tests.faults.campaigns import Figures, in_folder

LONG: list[tuple[Callable[..., Figures], tuple[Any, ...]]] = [
    (stored.forgeries, ()),
    (stored.flips, (10_000,)),
    (stored.full_disks, (50,)),
    (stored.links, ()),
    (stored.kills, (60,)),
    (stored.kills_in_writes, (200,)),
    (stored.writers, (3,)),
    (processes.signals, (60,)),
    (processes.closed_streams, (processes.CLOSED,)),
    (processes.settings, (tuple(processes.SETTINGS),)),
    (hostile_files.arrays, (tuple(hostile_files.READERS),)),
    (hostile_files.random_files, (10_000,)),
    (hostile_files.probes, (1_000,)),
    (hostile_words.arguments, (hostile_words.WORDS,)),
    (hostile_words.random_arguments, (2_000,)),
    (hostile_words.sequences, (8,)),
    (hostile_words.markup, (40,)),
]
"""Every campaign at full length."""


def _few(argument: Any) -> Any:
    """A twentieth of the repeats, or a fifth of what is tried individually; two at least."""
    if isinstance(argument, int):
        return max(2, argument // 20)
    return argument[: max(2, len(argument) // 5)]


def main(quick: bool) -> int:
    """Print the table; 0 if everything held, 130 after Ctrl-C."""
    failed = 0
    print(f"{'fault':<34} {'tried':>6} {'held':>6}  what must hold (and what was seen)")
    for campaign, arguments in LONG:
        begun = time.perf_counter()
        few = [_few(argument) for argument in arguments] if quick else arguments
        result = in_folder(campaign, *few)
        seen = "".join(f"; {what}: {number}" for what, number in result.seen.items())
        held = result.tried - len(result.failed)
        seconds = time.perf_counter() - begun
        print(
            f"{result.what:<34} {result.tried:>6} {held:>6}  {result.held}{seen} ({seconds:.0f} s)",
            flush=True,
        )
        for text in result.failed[:5]:
            print(f"    {text}")
        failed += len(result.failed)
    return failed > 0


if __name__ == "__main__":
    try:
        status = interruptible(main)("--quick" in sys.argv[1:])
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        status = last_status()
    sys.exit(ended(status))
