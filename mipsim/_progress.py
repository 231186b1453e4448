"""How far a long call is: a line that is written anew in a terminal or below a cell, and now and then a line in a log."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from mipsim._validation import flag, refuse_class
from mipsim._words import visible

SAYS_EVERY = 0.5
"""Seconds between two lines in a terminal or a notebook; a log, which keeps them all, has a line in twenty times as long."""
LOG_QUIET = 30.0
"""Seconds before which a run writes nothing into a log."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, whose front end draws what is displayed.

    IPython is not imported for the question: a kernel has done so.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _on_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (OSError, ValueError, AttributeError):  # stderr may be closed, or None
        return False


@dataclass
class ProgressLine:
    """A line on stderr, or in a notebook's cell, that each update replaces."""

    progress: bool | Callable[[str], object]  # whether to write it; or a function to call with the line
    quiet: float = 0.0  # seconds before which nothing is written
    written: bool = False  # whether anything was
    began: float = field(default_factory=lambda: time.perf_counter())
    last_written: float = -math.inf
    output: Any = None  # that of a cell, once there is one

    def __post_init__(self) -> None:
        refuse_class("progress", self.progress, "True, False or a function of a line")
        if not callable(self.progress):
            flag("progress", self.progress)

    def due(self, last: bool = False) -> bool:
        """Whether it is time for another line."""
        now = time.perf_counter()
        if not self.progress or (now - self.began < self.quiet and not self.written):
            return False
        return last or now - self.last_written >= SAYS_EVERY

    def say(self, text: str, last: bool = False) -> None:
        """Write the line; the last call ends it."""
        self.last_written, self.written = time.perf_counter(), True
        line = visible(text, True)
        if callable(self.progress):
            self.progress(line)
            return
        # a front end that is gone, a stream that is closed, or None
        with suppress(OSError, ValueError, AttributeError):
            if in_notebook():
                self._display(line)
                return
            terminal = _on_terminal()
            end, start = "\n" if last or not terminal else "", "\r\x1b[K" if terminal else ""
            if not terminal:
                self.last_written += 19 * SAYS_EVERY
            print(f"{start}{line}", end=end, file=sys.stderr, flush=True)

    def _display(self, line: str) -> None:
        from IPython.display import display

        bundle = {"text/plain": line}
        if self.output is None:
            self.output = display(bundle, raw=True, display_id=True)
        else:
            self.output.update(bundle, raw=True)


def clock(seconds: float) -> str:
    """Hours, minutes and seconds as a clock shows them.
    >>> clock(59.6), clock(3725)
    ('1:00', '1:02:05')
    """
    whole = round(seconds)
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def how_far(
    title: str, games: int, first: int, done: int, seconds: float, ended: bool = False, sooner: bool = False
) -> str:
    """The games done, games per second since there were `first`, and the time left, which is the most where it may stop sooner; where
    it has ended, the time that it took.
    >>> how_far("literal", 100, 0, 60, 60.0)
    'literal: 60 of 100 games, 1 games/s, 0:40 left'
    >>> how_far("literal", 100, 0, 60, 60.0, sooner=True)
    'literal: 60 of 100 games, 1 games/s, at most 0:40 left'
    """
    rate = (done - first) / max(seconds, 1e-9)
    left = f", {'at most ' if sooner else ''}{clock((games - done) / rate)} left" if rate else ""
    return (
        f"{title}: {done:,} of {games:,} games, {rate:,.0f} games/s{f', {clock(seconds)}' if ended else left}"
    )


@contextmanager
def progress_line(
    title: str, games: int, done: int, enabled: bool, sooner: bool = False
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of games done in each world.

    `sooner`: whether it may stop before all games. If `enabled` it shows the title, the part done, games per second and the time left; what was shown ends with the time that it
    took, or with where it stopped.
    """
    line = ProgressLine(enabled, SAYS_EVERY if in_notebook() or _on_terminal() else LOG_QUIET)
    finished = done

    def text(ended: bool = False) -> str:
        return how_far(title, games, done, finished, time.perf_counter() - line.began, ended, sooner)

    def advance(now_done: int) -> None:
        nonlocal finished
        finished = now_done
        if line.due():
            line.say(text())

    try:
        yield advance
    finally:
        if line.written:
            line.say(f"{'' if finished >= games else 'stopped at '}{text(ended=True)}", last=True)
