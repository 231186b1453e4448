"""What the command prints: a table that grows as claims finish, live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from mipsim.referee.reporting.wording import by_unit, count, duration, interval, number, quantity
from verify.claim import Claim, Regime, Verdict
from verify.claim_result import ClaimResult
from verify.judge import headline

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.table import Table

COLUMNS = ("claim", "kind", "verdict", "gap", "interval", "tolerance", "detectable gap", "games", "seconds")
COLOURS = {
    Verdict.CONFIRMED: "green",
    Verdict.REFUTED: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    None: "bold magenta",
}
LEAST_FIRST = ("kind", "seconds", "games", "detectable gap", "tolerance", "interval")
# Blanks between two columns.
GAP = 3
# Lines of a terminal that are not rows: the frame and head of the table, the status and the prompt.
FRAME = 8


class VerdictTable:
    """The table of a run; use it as a context and `add` each result.

    Args:
        console: where it is printed; live if it is a terminal, else one line a claim.
        claims: how many claims will be judged.

    Examples:
        >>> from rich.console import Console
        >>> with VerdictTable(Console(force_terminal=False, width=200), claims=0) as table:
        ...     pass
    """

    def __init__(self, console: Console, claims: int) -> None:
        from rich.live import Live

        self._console = console
        self._claims = claims
        self._rows: list[tuple[ClaimResult, tuple[str, ...]]] = []
        self._now = ""
        self._began = time.perf_counter()
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

    def start(self, claim: Claim, regime: Regime, index: int) -> None:
        """Show which regime is judged now."""
        self._now = f"{claim.id}: {regime.name} ({index + 1}/{len(claim.regimes)})"

    def add(self, result: ClaimResult) -> None:
        """Add a finished claim."""
        cells = row(result)
        self._rows.append((result, cells))
        if not self._console.is_terminal:
            if len(self._rows) == 1:
                self._line(COLUMNS)
            self._line(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        room = max(1, console.height - FRAME)
        if self._rows:
            yield self._table(self._rows[-room:])
        elapsed = duration(time.perf_counter() - self._began)
        yield Text(
            f"{len(self._rows)} of {self._claims} claims, {elapsed}   {self._now}", "dim", no_wrap=True
        )

    def _table(self, rows: list[tuple[ClaimResult, tuple[str, ...]]]) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table
        from rich.text import Text

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        shown = fitting([cells for _, cells in rows], self._console.width)
        for column in shown:
            name = COLUMNS[column]
            words = name in ("claim", "kind", "verdict")
            # The claim is what a reader looks for: where even it does not fit, it is folded, not cut.
            table.add_column(
                name.replace(" ", "\n"),
                justify="left" if words else "right",
                no_wrap=name != "claim",
                overflow="fold" if name == "claim" else "ellipsis",
            )
        for result, cells in rows:
            colour = COLOURS[result.verdict if result.judged else None]
            # Text, not str: brackets in an interval or an id are no markup.
            table.add_row(
                *(Text(cells[i], colour if COLUMNS[i] == "verdict" else "") for i in shown),
            )
        return table

    def _line(self, cells: tuple[str, ...]) -> None:
        widths = (34, 22, 12, 10, 22, 9, 14, 9, 7)
        pairs = zip(cells, widths, strict=True)
        line = "  ".join(f"{cell:<{width}}" for cell, width in pairs)
        # A log is read by machines too: no wrapping, no colour, no markup.
        self._console.print(line.rstrip(), markup=False, highlight=False, soft_wrap=True, crop=False)


def fitting(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the columns that fit a terminal: what matters least is left out first; the report holds all.

    Args:
        rows: the cells, in the order of `COLUMNS`.
        width: of the terminal, in characters.

    Examples:
        >>> cells = ["azize-thm-4.2", "limit", "CONFIRMED", "0.01", "[0, 0.02]", "0.05", "0.01", "1M", "0.1"]
        >>> [COLUMNS[i] for i in fitting([cells], 60)]
        ['claim', 'verdict', 'gap', 'interval', 'tolerance']
        >>> len(fitting([cells], 200))
        9
    """
    shown = list(range(len(COLUMNS)))
    room = [
        max(max(len(word) for word in COLUMNS[i].split()), *(len(cells[i]) for cells in rows), 0)
        for i in shown
    ]
    for name in LEAST_FIRST:
        if sum(room[i] + GAP for i in shown) <= width:
            break
        shown.remove(COLUMNS.index(name))
    return shown


def detectable(result: ClaimResult) -> str:
    """Write the largest detectable gap, without its unit where there is but one."""
    gaps = result.detectable_gaps
    return number(next(iter(gaps.values()))) if len(gaps) == 1 else by_unit(gaps)


def row(result: ClaimResult) -> tuple[str, ...]:
    """Return the cells of a claim's row, in the order of `COLUMNS`.

    The gap and the interval are those of the regime that speaks for the claim (see `verify.judge.headline`),
    the detectable gap is the largest over the regimes, and the games (per world) are summed over them.
    """
    claim, index = result.claim, headline(result)
    speaker = None if index is None else result.regimes[index]
    games = sum(regime.games for regime in result.regimes)
    return (
        claim.id,
        str(claim.kind),
        str(result.verdict) if result.judged else "not judged",
        "–" if speaker is None else quantity(speaker.gap, speaker.unit),
        interval((float("nan"), float("nan")) if speaker is None else speaker.interval),
        number(claim.tolerance if speaker is None else speaker.tolerance),
        "exact" if result.exact else detectable(result),
        count(games),
        f"{result.seconds:.1f}",
    )
