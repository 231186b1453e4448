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
_PRESSES = [getattr(signal, name) for name in ("SIGINT", "SIGALRM") if hasattr(signal, name)]
AGAIN = 0.1
"""Seconds after which a KeyboardInterrupt that may have been dropped is raised again."""


def begin() -> None:
    """Open closed standard streams, and let signals end the process with a line; the first act of every command."""
    open_streams()
    _end_on_signals(lambda: "interrupted")


def open_streams() -> None:
    """Open what is closed of stdin, stdout and stderr, to nowhere."""
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
def ending_on_signals(message: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C, SIGTERM and SIGHUP print a line and end the process at once, with 128 + the signal's number as its status.

    What a command stores is whole at every moment, so that nothing need be unwound. A handler that raises would be lost where
    compiled code calls Python and drops what that raises, or would come out as another error.
    """
    with _handlers_put_back():
        _end_on_signals(message)
        try:
            yield
        except KeyboardInterrupt:  # of another handler
            raise KeyboardInterrupt(message()) from None


@contextmanager
def before_ending(act: Callable[[], object]) -> Iterator[None]:
    """A signal that ends the process within this block first calls `act`, for what would go on without the process."""
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
    """A command that Ctrl-C leaves by KeyboardInterrupt, as `LeavingOnCtrlC` does, and SIGTERM and SIGHUP as Ctrl-C does.

    A KeyboardInterrupt that the command does not catch is printed, and the status is then `INTERRUPTED`. The status `INTERRUPTED` becomes
    128 + the signal's number. A signal that is ignored, as `nohup` asks for, stays ignored.
    """
    from mipsim._streams import complain

    @functools.wraps(command)
    def listening(*args: _P.args, **named: _P.kwargs) -> int:
        caught: list[int] = []

        def interrupt(number: int, _: FrameType | None) -> None:
            caught.append(number)
            signal.raise_signal(signal.SIGALRM)

        with _handlers_put_back():
            try:
                _handle(signal.default_int_handler, _PRESSES)
                _handle(interrupt, _ENDING[1:])
                with LeavingOnCtrlC():
                    status = command(*args, **named)
            except KeyboardInterrupt as stop:
                complain(str(stop) or "interrupted")
                status = INTERRUPTED
        return 128 + caught[0] if caught and status == INTERRUPTED else status

    return listening


def ended(status: int) -> int:
    """The status of a command that is at its end; after a signal the process ends here, at once.

    An orderly end waits for threads in compiled code, or tears it down under them, and a further Ctrl-C kills it with another status.
    """
    if status > 128:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    return status


class LeavingOnCtrlC:
    """A block that Ctrl-C leaves by KeyboardInterrupt, even where compiled code drops what a handler raises.

    Where compiled code calls Python, as when garbage is collected, a KeyboardInterrupt is lost or comes out as another error. So SIGALRM
    raises it again every `AGAIN` seconds until the block is left; not while it unwinds the block, which a second Ctrl-C does not cut
    short either. A block that ends before that, or by another error, is left by KeyboardInterrupt all the same. SIGALRM leaves the block
    like Ctrl-C, also where SIGINT is ignored.

    Outside the main thread, and where the process has handlers of its own, the block changes nothing.
    """

    # A class and no generator: between its two methods and the block CPython looks for no signals.

    def __init__(self) -> None:
        """Change nothing yet."""
        self._before: dict[int, Any] = {}
        self._hook = sys.unraisablehook
        self._stop: KeyboardInterrupt | None = None
        self._left = False

    def __enter__(self) -> None:
        """Take the handlers of SIGINT and SIGALRM."""
        if threading.current_thread() is not threading.main_thread() or len(_PRESSES) == 1:
            return
        interrupt, alarm = before = [signal.getsignal(number) for number in _PRESSES]
        if (_is_free(interrupt) or interrupt is signal.SIG_IGN) and (
            _is_free(alarm) or alarm is signal.SIG_DFL
        ):
            self._before = dict(zip(_PRESSES, before, strict=True))
            _handle(self, _PRESSES)
            sys.unraisablehook = self._unraisable

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, now or in `AGAIN` seconds."""
        if self._stop is None:
            self._stop = KeyboardInterrupt()
            if not self._left:  # once: presses that come faster than the alarm must not put it off
                signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        while frame is not None:
            if frame.f_code in _ENTERING_AND_LEAVING:
                return
            frame = frame.f_back
        unwinding = sys.exception()
        while unwinding is not None and unwinding is not self._stop:
            unwinding = unwinding.__context__
        if unwinding is None:
            raise self._stop.with_traceback(None)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the handlers back; raise KeyboardInterrupt if it came and is not what leaves the block."""
        self._left = True
        if not self._before:
            return
        if self._stop is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before[signal.SIGALRM])
        sys.unraisablehook = self._hook
        signal.signal(signal.SIGINT, self._before[signal.SIGINT])  # last: the handler before may raise
        if self._stop is not None and not (kind and issubclass(kind, KeyboardInterrupt)):
            raise KeyboardInterrupt

    def _unraisable(self, dropped: Any) -> None:
        """Say nothing of what is raised again."""
        if dropped.exc_type is not KeyboardInterrupt:
            self._hook(dropped)


_ENTERING_AND_LEAVING = (LeavingOnCtrlC.__enter__.__code__, LeavingOnCtrlC.__exit__.__code__)


def _is_free(handler: Any) -> bool:
    return handler is signal.default_int_handler or isinstance(handler, LeavingOnCtrlC)


@contextmanager
def on_ctrl_c(handler: Any) -> Iterator[None]:
    """Let `handler` have Ctrl-C, and SIGALRM, as which other signals arrive in an `interruptible` command.
    >>> with on_ctrl_c(signal.SIG_IGN):
    ...     pass
    """
    with _handlers_put_back():
        _handle(handler, _PRESSES)
        yield


@contextmanager
def _handlers_put_back() -> Iterator[dict[int, Any]]:
    numbers = {*_ENDING, *_PRESSES} if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield before
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _handle(handler: Any, numbers: Sequence[int] = _ENDING) -> None:
    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        return
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and shells in the background ask for
            signal.signal(number, handler)


def _end_on_signals(message: Callable[[], str]) -> None:
    def end(number: int, _: FrameType | None) -> None:
        with suppress(Exception):
            sys.stdout.flush()
        line = "interrupted"
        with suppress(Exception):
            line = message()
        with suppress(OSError):
            os.write(2, f"{line}\n".encode())
        os._exit(128 + number)

    _handle(end)
