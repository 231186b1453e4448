"""How a command begins, and how Ctrl-C, SIGTERM and SIGHUP end it: what takes time is imported after this module."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType
    from typing import Any, ParamSpec

    _P = ParamSpec("_P")

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that Ctrl-C has ended, as a shell tells it of other programs."""

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


def begin() -> None:
    """Open closed standard streams, and let signals end the process with a line; the first act of every command.

    Examples:
        >>> begin.__module__
        'mipsim._signals'
    """
    open_streams()
    _end_on_signals(lambda: "interrupted")


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
        said: gives the line, which may tell what is kept by then; names of files in it are `printable`.

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


def interruptible(command: Callable[_P, int]) -> Callable[_P, int]:
    """A command within which Ctrl-C raises KeyboardInterrupt, and SIGTERM and SIGHUP do what Ctrl-C does.

    A KeyboardInterrupt that the command does not catch is printed, and the status is then `INTERRUPTED`. The status `INTERRUPTED` becomes
    128 + the signal's number. A signal that is ignored, as `nohup` asks for, stays ignored.

    Examples:
        >>> interruptible(lambda: 0)()
        0
    """
    from mipsim._streams import complain

    @functools.wraps(command)
    def listening(*args: _P.args, **named: _P.kwargs) -> int:
        caught: list[int] = []

        def interrupt(number: int, frame: FrameType | None) -> None:
            caught.append(number)
            if deaf and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
                signal.default_int_handler(number, frame)
            signal.raise_signal(signal.SIGINT)

        with _handlers_put_back() as before:
            deaf = before[signal.SIGINT] is signal.SIG_IGN  # as in the background of a script
            try:
                _handle(interrupt, _ENDING[1:])
                _handle(signal.default_int_handler, _ENDING[:1])
                status = command(*args, **named)
            except KeyboardInterrupt as stop:
                complain(str(stop) or "interrupted")
                status = INTERRUPTED
        return 128 + caught[0] if caught and status == INTERRUPTED else status

    return listening


@contextmanager
def ctrl_c_is_kept() -> Iterator[Callable[[], None]]:
    """Within the block Ctrl-C raises as ever; the function that it gives raises once more what compiled code has dropped.

    Where compiled code calls Python, as when garbage is collected, a KeyboardInterrupt is printed and lost.

    Examples:
        >>> with ctrl_c_is_kept() as again:
        ...     again()
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: None
        return
    caught: list[int] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        caught.append(number)
        raise KeyboardInterrupt

    def again() -> None:
        if caught:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield again
    finally:
        signal.signal(signal.SIGINT, before)
        caught.clear()


@contextmanager
def _handlers_put_back() -> Iterator[dict[int, Any]]:
    before = {number: signal.getsignal(number) for number in _ENDING}
    try:
        yield before
    finally:
        for number, handler in before.items():
            _handle(handler, [number])


def _handle(handler: Any, numbers: Sequence[int] = _ENDING) -> None:
    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        return
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and shells in the background ask for
            signal.signal(number, handler)


def _end_on_signals(said: Callable[[], str]) -> None:
    def end(number: int, _: FrameType | None) -> None:
        with suppress(Exception):
            sys.stdout.flush()
        line = "interrupted"
        with suppress(Exception):
            line = said()
        with suppress(OSError):
            os.write(2, f"{line}\n".encode())
        os._exit(128 + number)

    _handle(end)
