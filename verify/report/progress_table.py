"""A table that grows as statements are finished, live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from mipsim.referee.gap_words import lone_gap
from mipsim.referee.outcome import Outcome, is_judged
from mipsim.referee.reporting.wording import count, duration, interval
from mipsim.referee.result import Verdict
from mipsim.referee.statement import Statement

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

WIDTHS = {
    "statement": 38, "kind": 9, "verdict": 12, "gap": 22, "interval": 22, "broken at": 10, "points": 7, "games": 9, "seconds": 7,
}  # fmt: skip
"""Column -> its width in a log."""
COLUMNS = tuple(WIDTHS)
COLOURS = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    None: "bold magenta",
}
LEAST_FIRST = ("kind", "seconds", "games", "points", "interval", "broken at")
EVERY = 15.0
"""Seconds between two lines of a log that tell how far the run is."""
# Blanks between two columns.
GAP = 3
# Lines of a terminal that are not rows: the frame and head of the table, the status and the prompt.
FRAME = 8


class VerdictTable:
    """The table of a run; use it as a context and `add` each result.
    `console`: where it is printed: live on a terminal, else a single line per statement, and now and then a line with the
    progress; `statements`: how many will be judged; `costs`: name -> points of each, to estimate the time
    left; None = show the time passed; `workers`: how many are judged at once.

    >>> from rich.console import Console
    >>> with VerdictTable(Console(force_terminal=False, width=200), statements=0) as table:
    ...     pass
    """

    def __init__(
        self,
        console: Console,
        statements: int,
        costs: Mapping[str, float] | None = None,
        workers: int = 1,
    ) -> None:
        from rich.live import Live

        self._console = console
        self._statements = statements
        self._costs, self._workers = costs, workers
        self._rows: list[tuple[Outcome, tuple[str, ...]]] = []
        self._now = ""
        self._began = self._reported = time.perf_counter()
        # Transient: the whole table is printed once at the end, however short the terminal.
        self._live = Live(self, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> VerdictTable:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()
            if self._rows:
                self._console.print(self._table(self._rows))

    def start(self, statement: Statement, place: int) -> None:
        """Show which point is judged now."""
        self._now = f"{statement.name}: point {place + 1}"

    def say(self, name: str, line: str) -> None:
        """Show how far a hunt is."""
        self._now = line if line.startswith(name) else f"{name}: {line}"

    def add(self, result: Outcome) -> None:
        """Add a finished statement."""
        cells = row(result)
        self._rows.append((result, cells))
        if not self._console.is_terminal:
            if len(self._rows) == 1:
                self._line(COLUMNS)
            self._line(cells)
            if self._costs is not None and time.perf_counter() - self._reported > EVERY:
                self._reported = time.perf_counter()
                self._console.print(self.progress(), markup=False, highlight=False, soft_wrap=True)

    @property
    def done(self) -> int:
        """How many statements are finished."""
        return len(self._rows)

    def progress(self) -> str:
        """How many of how many, and the time that is left or, where nobody knows it, the time that has passed."""
        done, elapsed = f"judged {self.done} of {self._statements}", time.perf_counter() - self._began
        if self._costs is None or not self._rows:
            return f"{done}, {duration(elapsed)}"
        passed = sum(self._costs[result.statement.name] for result, _ in self._rows) / self._workers
        left = elapsed / passed * (sum(self._costs.values()) / self._workers - passed)
        return (
            f"{done}, about {f'{left / 60:.0f} min' if left >= 90 else f'{5 * math.ceil(left / 5)} s'} left"
        )

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        if self._rows:
            yield self._table(self._rows[-max(1, console.height - FRAME) :])
        yield Text(f"{self.progress()}   {self._now}", "dim", no_wrap=True)

    def _table(self, rows: list[tuple[Outcome, tuple[str, ...]]]) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        shown = fitting([cells for _, cells in rows], self._console.width)
        for name in (COLUMNS[i] for i in shown):
            # The statement is what a reader looks for: where even it does not fit, it is folded, not cut.
            first = name == "statement"
            left = name in ("statement", "kind", "verdict")
            table.add_column(
                name.replace(" ", "\n"),
                justify="left" if left else "right",
                no_wrap=not first,
                overflow="fold" if first else "ellipsis",
            )
        for result, cells in rows:
            colour = COLOURS[result.verdict if is_judged(result) else None]
            # Text, not str: brackets in an interval or an id are no markup.
            table.add_row(*(Text(cells[i], colour if COLUMNS[i] == "verdict" else "") for i in shown))
        return table

    def _line(self, cells: tuple[str, ...]) -> None:
        line = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, WIDTHS.values(), strict=True))
        # A log is read by machines too: no wrapping, no colour, no markup.
        self._console.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True, crop=False)


def fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the columns that fit a terminal: what matters least is left out first; the report holds all.
    `rows`: the cells, in the order of `COLUMNS`; `width`: of the terminal, in characters.

    >>> cells = ["azize-thm-4.2", "limit", "CONFIRMED", "0.01", "[0, 0.02]", "0 of 24", "34", "1M", "0.1"]
    >>> [COLUMNS[i] for i in fitting([cells], 64)]
    ['statement', 'verdict', 'gap', 'interval', 'broken at']
    >>> len(fitting([cells], 200))
    9
    """
    shown = list(range(len(COLUMNS)))
    room = [max(map(len, [*COLUMNS[i].split(), *(cells[i] for cells in rows)])) for i in shown]
    for name in LEAST_FIRST:
        if sum(room[i] + GAP for i in shown) <= width:
            break
        shown.remove(COLUMNS.index(name))
    return shown


def row(outcome: Outcome) -> tuple[str, ...]:
    """Return the cells of a statement's row, in the order of `COLUMNS`; the gap is that of the point that speaks for it."""
    worst, games = outcome.worst, sum(item.games for item in outcome.judged)
    return (
        outcome.statement.name,
        type(outcome.statement.kind).__name__.lower(),
        str(outcome.verdict) if is_judged(outcome) else "not judged",
        "–" if worst is None else f"{lone_gap(worst.gap, worst.interval)} ({worst.unit})",
        interval(outcome.interval),
        outcome.broken.partition(" evenly")[0],
        count(len(outcome.judged) + len(outcome.probes)),
        count(games),
        f"{outcome.seconds:.1f}",
    )
