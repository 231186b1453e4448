"""Lists that commands print, the option that asks for them, and texts that they write into pages."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def show(lines: Iterable[str]) -> None:
    """Print the lines, cut to the width of a terminal and whole elsewhere.
    >>> show(["first", "second"])
    first
    second
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        print(line if width is None or len(line) <= width else f"{line[: width - 1]}…")
    sys.stdout.flush()  # while a reader that has gone can be distinguished from a full disk


def between(page: str, start: str, text: str, end: str) -> str:
    """A page with a new text between two marks of it.
    >>> between("a <b> old </b> c", "<b>", " new ", "</b>")
    'a <b> new </b> c'
    """
    before, first, rest = page.partition(start)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise ValueError(f"the page lacks {start!r} or {end!r}")
    return f"{before}{start}{text}{end}{after}"


def listing(lines: Callable[[], Sequence[str]], words: str) -> Callable[[Any], Any]:
    """The option --list, which ends a command with these lines as --help ends it.
    `lines`: made when they are requested.

    """
    import click

    def listed(context: click.Context, _: click.Parameter, requested: bool) -> None:
        if requested:
            show(lines())
            context.exit()

    return click.option(
        "--list", is_flag=True, is_eager=True, expose_value=False, callback=listed, help=words
    )
