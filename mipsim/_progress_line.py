"""A line on stderr, or in a notebook's cell, that says how far a hunt or a judge is."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from mipsim._notebook import Place, in_notebook
from mipsim._words import visible

SAYS_EVERY = 0.5
"""Seconds between two lines on a terminal."""


@dataclass
class ProgressLine:
    """A line on the terminal that each update replaces."""

    progress: bool | Callable[[str], object]  # whether to write it; or a function to call with the line
    quiet: float = 0.0  # seconds before which nothing is written
    written: bool = False  # whether anything was
    began: float = field(default_factory=time.perf_counter)
    last_written: float = -math.inf
    place: Place = field(default_factory=Place)

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
        if in_notebook():
            self.place.show(line)
            return
        with suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or None
            terminal = sys.stderr.isatty()
            end, start = "\n" if last or not terminal else "", "\r\x1b[K" if terminal else ""
            if not terminal:
                self.last_written += 20 * SAYS_EVERY  # a log needs fewer lines
            print(f"{start}{line}", end=end, file=sys.stderr, flush=True)
