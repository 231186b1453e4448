"""How far a long call is, in a notebook: a single output that is written anew, with no widget needed."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from typing import Any

FIRST_SHOWN = 0.5
"""Seconds before anything is shown: a cell that is done by then stays empty."""

SHOWN_EVERY = 0.25
"""Seconds between two drawings: quick enough for the eye, and no load on the browser."""


def in_notebook() -> bool:
    """Whether the code runs in a Jupyter kernel, whose front end draws what is displayed.

    IPython is not imported for the question: a kernel has done so.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Place:
    """A single output of a cell, which `show` writes anew each time; a front end that is gone is no error."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, html: str | None = None) -> None:
        """Draw the text, or the HTML where the front end can."""
        from IPython.display import display

        bundle = {"text/plain": text, "text/html": html or f"<pre>{escape(text)}</pre>"}
        with suppress(OSError, ValueError):
            if self._handle is None:
                self._handle = display(bundle, raw=True, display_id=True)
            else:
                self._handle.update(bundle, raw=True)


def duration(seconds: float) -> str:
    """Hours, minutes and seconds as a clock shows them.
    >>> duration(59.6), duration(3725)
    ('1:00', '1:02:05')
    """
    whole = round(seconds)
    minutes, hours = whole // 60 % 60, whole // 3600
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def how_far(title: str, games: int, first: int, done: int, seconds: float, ended: bool = False) -> str:
    """The games done, games per second since there were `first`, and the time left; where it has ended, the time that it took.
    >>> how_far("literal", 100, 0, 60, 60.0)
    'literal: 60 of 100 games, 1 games/s, 0:40 left'
    """
    rate = (done - first) / max(seconds, 1e-9)
    left = f", {duration((games - done) / rate)} left" if rate else ""
    return f"{title}: {done:,} of {games:,} games, {rate:,.0f} games/s{f', {duration(seconds)}' if ended else left}"


@contextmanager
def notebook_line(title: str, games: int, done: int) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of games done; it draws a bar, games per second and the time left.

    What was shown ends with the time that it took, or with where it stopped.
    """
    began = updated = time.perf_counter()
    place, finished, shown = Place(), done, False

    def advance(now_done: int) -> None:
        nonlocal finished, updated, shown
        finished, now = now_done, time.perf_counter()
        if now - began < FIRST_SHOWN or (shown and now - updated < SHOWN_EVERY):
            return
        updated, shown = now, True
        text = how_far(title, games, done, finished, now - began)
        place.show(text, f'<progress max="{games}" value="{finished}"></progress> {escape(text)}')

    try:
        yield advance
    finally:
        if shown:
            state = "" if finished >= games else "stopped at "
            text = how_far(title, games, done, finished, time.perf_counter() - began, ended=True)
            place.show(f"{state}{text}")
