"""How far a run is: a line in a terminal or below a cell, and now and then a line in a log."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, cast

from mipsim._notebook import how_far, in_notebook, notebook_line
from mipsim._progress_line import ProgressLine

LOG_QUIET = 30.0
"""Seconds before which a run writes nothing where stderr is no terminal."""


def _is_terminal(stream: Any) -> bool:
    """Whether somebody may look there: a stream may be None or closed."""
    try:
        return stream is not None and stream.isatty()
    except (OSError, ValueError):
        return False


class _Heedless:
    """A stream that may be closed, or its terminal gone: what is written there is lost, and the run goes on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def progress_line(title: str, games: int, done: int, enabled: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of games done in each world.

    If `enabled` it shows the title, the part done, games per second and the time left: in place on a terminal and in a notebook;
    elsewhere, such as in a log, a run that takes longer than `LOG_QUIET` writes a line about every ten seconds.
    """
    if enabled and in_notebook():
        with notebook_line(title, games, done) as tell:
            yield tell
        return
    if not enabled:
        yield lambda done: None
        return
    if not _is_terminal(sys.stderr):
        began = time.perf_counter()
        line = ProgressLine(True, LOG_QUIET, began=began)

        def write(finished: int) -> None:
            if line.due():
                line.say(how_far(title, games, done, finished, time.perf_counter() - began))

        yield write
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(file=cast(IO[str], _Heedless(sys.stderr)))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=games, completed=done, rate="")

        def advance(finished: int) -> None:
            bar.update(task, completed=finished)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f} games/s" if speed else "")

        yield advance
