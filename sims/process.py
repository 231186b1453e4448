"""How a command begins and ends: its standard streams, and the signals that end it. Imports nothing that takes time."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from mipsim._words import visible

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def begin() -> None:
    """Called before anything that takes time is imported: signals end the process, and closed standard streams are none.

    Examples:
        >>> begin.__module__
        'sims.process'
    """
    open_streams()
    _end_on_signals(lambda: "interrupted before anything was done")


def open_streams() -> None:
    """Open what is closed of stdin, stdout and stderr, to nowhere.

    Examples:
        >>> open_streams()
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The next file that is opened would take its number, and what libraries write to stderr would go there.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - for as long as the process lives
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115


@contextmanager
def ending_on_signals(said: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP print a line and end the process at once, with 128 + the signal's number as its status.

    What a command stores is whole at every moment, so that nothing need be unwound. A handler that raises would be lost where
    compiled code calls Python and drops what that raises, or would come out as another error.

    Args:
        said: gives the line, which may tell what is kept by then.

    Examples:
        >>> with ending_on_signals(lambda: "interrupted"):
        ...     pass
    """
    with _handlers_put_back():
        _end_on_signals(said)
        try:
            yield
        except KeyboardInterrupt:  # of another handler
            raise KeyboardInterrupt(said()) from None


@contextmanager
def before_ending(act: Callable[[], object]) -> Iterator[None]:
    """A signal that ends the process within this block first calls `act`, for what would go on without the process.

    Args:
        act: may fail, and is waited for.

    Examples:
        >>> with before_ending(lambda: None):
        ...     pass
    """
    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        yield
        return

    def first(number: int, frame: FrameType | None) -> None:
        with suppress(Exception):
            act()
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        else:  # the system's own, which ends the process
            os._exit(128 + number)

    with _handlers_put_back() as before:
        _handle(first)
        yield


@contextmanager
def _handlers_put_back() -> Iterator[dict[int, Any]]:
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        yield before
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and shells in the background ask for
            signal.signal(number, handler)


def _end_on_signals(said: Callable[[], str]) -> None:
    def end(number: int, _: FrameType | None) -> None:
        with suppress(Exception):
            sys.stdout.flush()
        line = "interrupted"
        with suppress(Exception):
            line = visible(said(), one_line=True)
        with suppress(OSError):
            os.write(2, f"{line}\n".encode())
        os._exit(128 + number)

    _handle(end)


def show(lines: Iterable[str]) -> None:
    """Print the lines, cut to the width of a terminal and whole elsewhere.

    Examples:
        >>> show(["one", "two"])
        one
        two
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        print(line if width is None or len(line) <= width else f"{line[: width - 1]}…")
    sys.stdout.flush()  # while a reader that has gone can be told from a full disk


def listing(lines: Callable[[], Sequence[str]], words: str) -> Callable[[Any], Any]:
    """The option --list, which ends a command with these lines as --help ends it.

    Args:
        lines: made when they are asked for.
        words: of the help.

    Examples:
        >>> listing(lambda: ["one"], "list the studies").__name__
        'decorator'
    """
    import click

    def listed(context: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked:
            show(lines())
            context.exit()

    return click.option(
        "--list", is_flag=True, is_eager=True, expose_value=False, callback=listed, help=words
    )
