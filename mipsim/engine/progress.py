"""A progress bar on stderr, only where a person watches."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line(title: str, games: int, done: int, enabled: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of games done in each world.

    It draws the title, the share done, games per second and the time left, if `enabled` and stderr is a terminal.

    Examples:
        >>> with progress_line("literal", games=10, done=0, enabled=False) as advance:
        ...     advance(10)
    """
    if not enabled or not sys.stderr.isatty():
        yield lambda done: None
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
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=games, completed=done, rate="")

        def advance(finished: int) -> None:
            bar.update(task, completed=finished)
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:,.0f} games/s" if speed else "")

        yield advance
