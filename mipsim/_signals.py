"""How Ctrl-C, SIGTERM and SIGHUP end a long call or a command: what takes time is imported after this module."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from contextlib import contextmanager, nullcontext, suppress

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import Any, ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _T = TypeVar("_T")

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that one of these signals has ended, as a shell tells Ctrl-C of other programs."""
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
AGAIN = 0.1
"""Seconds after which a KeyboardInterrupt that may have been dropped is raised again."""


def begin() -> None:
    """Open closed standard streams, and let signals end the process with a line: the first act of every command, before it imports."""
    open_streams()
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and shells in the background ask for
            signal.signal(number, _end)


def open_streams() -> None:
    """Open what is closed of stdin, stdout and stderr to nowhere, else a file of counts takes its number and what is printed there."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - for as long as the process lives
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _end(*_: object) -> None:
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def ended(status: int) -> int:
    """The status of a command that is at its end; if it was interrupted the process ends here, and waits for no thread in compiled code."""
    if status == INTERRUPTED:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    return status


def interruptible(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function that signals leave by KeyboardInterrupt, as `LeavingOnCtrlC` does."""

    @functools.wraps(call)
    def listening(*args: _P.args, **named: _P.kwargs) -> _T:
        with LeavingOnCtrlC():
            return call(*args, **named)

    return listening


def importing() -> AbstractContextManager[None]:
    """A block that imports modules whole: Ctrl-C waits until its end, but where a command begins or a block around it listens."""
    return (
        LeavingOnCtrlC() if signal.getsignal(signal.SIGINT) is signal.default_int_handler else nullcontext()
    )


def imported(module: str) -> Any:
    """A module, imported whole."""
    from importlib import import_module

    with importing():
        return import_module(module)


class LeavingOnCtrlC:
    """A block that Ctrl-C, SIGTERM and SIGHUP leave by KeyboardInterrupt, even where compiled code drops what a handler raises.

    Where compiled code calls Python, as when garbage is collected, a KeyboardInterrupt is lost or comes out as another error. So SIGALRM
    raises it again every `AGAIN` seconds until the block is left, but not while it unwinds the block. It waits where a module is imported,
    and where a context is entered or left: half of NumPy or JAX cannot be imported again, and a trace or float64 would stay set for the
    calls that follow.

    A signal that is ignored stays ignored. Outside the main thread, and where the process has a handler of its own, nothing changes.
    """

    # A class and no generator: between its two methods and the block CPython looks for no signals.

    _before: dict[int, Any]
    _stop: KeyboardInterrupt | None = None
    _block: FrameType | None = None  # None: it is entered or left, and no alarm may be set

    def __enter__(self) -> None:
        """Take the handlers of the signals; SIGINT first."""
        alarm = getattr(signal, "SIGALRM", None)
        if threading.current_thread() is not threading.main_thread() or alarm is None:
            return
        before = {number: signal.getsignal(number) for number in (*ENDING, alarm)}
        self._before = {number: old for number, old in before.items() if _is_free(old)}
        if alarm not in self._before or not (
            _is_free(before[signal.SIGINT]) or before[signal.SIGINT] is signal.SIG_IGN
        ):
            return
        for number in self._before:
            signal.signal(number, self)
        self._block = sys._getframe(1)
        if self._stop is not None:
            signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, now or in `AGAIN` seconds."""
        if self._stop is None:
            self._stop = KeyboardInterrupt()
            if self._block is not None:  # once: presses that come faster than the alarm must not put it off
                signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
        while frame is not None and frame is not self._block:
            if _leaves_half(frame):
                return
            frame = frame.f_back
        unwinding = sys.exception()
        while unwinding is not None and unwinding is not self._stop:
            unwinding = unwinding.__context__
        if unwinding is None:
            raise self._stop.with_traceback(None)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the handlers back, SIGINT last: the handler before may raise. KeyboardInterrupt, if it came, leaves the block."""
        if self._block is None:
            return
        self._block = None
        if self._stop is not None:  # else an alarm is that of a block around it
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, old in reversed(self._before.items()):
            # A command that is left says so itself, and once.
            signal.signal(number, signal.SIG_IGN if self._stop is not None and old is _end else old)
        if self._stop is not None and not (kind and issubclass(kind, KeyboardInterrupt)):
            raise KeyboardInterrupt


def _is_free(handler: Any) -> bool:
    """Whether a handler is Python's own, or this module's."""
    return handler in (signal.SIG_DFL, signal.default_int_handler, _end) or isinstance(
        handler, LeavingOnCtrlC
    )


_JAX = f"{os.sep}jax{os.sep}"
_WITH_CONTEXTS = (__file__, contextmanager.__code__.co_filename)


def _leaves_half(frame: FrameType) -> bool:
    """Whether a module is imported here, or a context entered or left, as which JAX sets its trace and its settings."""
    name, file = frame.f_code.co_name, frame.f_code.co_filename
    if name in ("__enter__", "__exit__"):
        return file in _WITH_CONTEXTS or _JAX in file
    return file == "<frozen importlib._bootstrap>" or (name in ("set_trace", "set_axis_env") and _JAX in file)
