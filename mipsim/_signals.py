"""How Ctrl-C, SIGTERM and SIGHUP end a long call or a command: what takes time is imported after this module."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys
import threading
from contextlib import contextmanager, nullcontext, suppress

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import FrameType
    from typing import Any, ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _T = TypeVar("_T")

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that Ctrl-C has ended, as a shell tells it of other programs."""

_ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_ALARM = getattr(signal, "SIGALRM", None)
_last = [signal.SIGINT]
unfinished: set[str] = set()
"""Temporary files of a write, which a handler that ends the process removes."""
AGAIN = 0.1
"""Seconds after which a KeyboardInterrupt that may have been dropped is raised again."""


def begin() -> None:
    """Open closed standard streams, and let signals end the process with a line: the first act of every command, before it imports."""
    open_streams()
    _handle(_Ending(lambda: "interrupted"))


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


class _Ending:
    """A handler that ends the process with a line."""

    def __init__(self, message: Callable[[], str]) -> None:
        """Keep what to say."""
        self._message = message

    def __call__(self, number: int, _: FrameType | None) -> None:
        for again in _ENDING:  # else a second press says the sentence twice
            signal.signal(again, signal.SIG_IGN)
        for path in tuple(unfinished):
            with suppress(OSError):
                os.unlink(path)
        with suppress(OSError):
            os.write(2, f"{self._message()}\n".encode())
        os._exit(128 + number)


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


def last_status() -> int:
    """128 + the number of the signal that came last, which is the status of the command that it ended."""
    number, _last[0] = _last[0], signal.SIGINT
    return 128 + number


def interruptible(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function that signals leave by KeyboardInterrupt, as `LeavingOnCtrlC` does."""

    @functools.wraps(call)
    def listening(*args: _P.args, **named: _P.kwargs) -> _T:
        with LeavingOnCtrlC():
            return call(*args, **named)

    return listening


def importing() -> AbstractContextManager[None]:
    """A block that imports modules whole: Ctrl-C waits until its end, but where it ends the process with a line, which it does at once."""
    return nullcontext() if isinstance(signal.getsignal(signal.SIGINT), _Ending) else LeavingOnCtrlC()


def imported(module: str) -> Any:
    """A module, imported whole."""
    from importlib import import_module

    with importing():
        return import_module(module)


@contextmanager
def ending_on_signals(message: Callable[[], str]) -> Iterator[None]:
    """A block in which signals end the process with this line, where nothing leaves a block of its own by KeyboardInterrupt.

    What a command stores is whole at every moment. A KeyboardInterrupt in an import comes out as another error, or kills the process.
    """
    with on_ctrl_c(_Ending(message)):
        try:
            yield
        except KeyboardInterrupt:
            raise KeyboardInterrupt(message()) from None


class LeavingOnCtrlC:
    """A block that Ctrl-C, SIGTERM and SIGHUP leave by KeyboardInterrupt, even where compiled code drops what a handler raises.

    Where compiled code calls Python, as when garbage is collected, a KeyboardInterrupt is lost or comes out as another error. So SIGALRM
    raises it again every `AGAIN` seconds until the block is left; not while it unwinds the block, which a second Ctrl-C does not cut
    short either. A block that ends before that, or by another error, is left by KeyboardInterrupt all the same. Nothing is raised where a
    context is entered or left: what it set would stay set, as JAX's trace, or float64 in the user's own process. Nor while the block
    imports a module: half of NumPy, JAX or Matplotlib cannot be imported again.

    A signal that is ignored, as `nohup` asks for, stays ignored. Outside the main thread, and where the process has handlers of its own,
    the block changes nothing.
    """

    # A class and no generator: between its two methods and the block CPython looks for no signals. While handlers change hands no garbage
    # is collected: what the handler before raises in there would be lost.

    def __init__(self) -> None:
        """Change nothing yet."""
        self._before: dict[int, Any] = {}
        self._hook = sys.unraisablehook
        self._stop: KeyboardInterrupt | None = None
        self._listens = False
        self._block: FrameType | None = None

    def __enter__(self) -> None:
        """Take the handlers of the signals; SIGINT first."""
        with_collector = gc.isenabled()
        gc.disable()
        self._block = sys._getframe(1)
        try:
            if threading.current_thread() is not threading.main_thread() or _ALARM is None:
                return
            before = {number: signal.getsignal(number) for number in (*_ENDING, _ALARM)}
            if _is_free(_ALARM, before[_ALARM]) and (
                _is_free(signal.SIGINT, before[signal.SIGINT]) or before[signal.SIGINT] is signal.SIG_IGN
            ):
                self._before = {number: old for number, old in before.items() if _is_free(number, old)}
                for number in self._before:
                    signal.signal(number, self)
                sys.unraisablehook = self._unraisable
                self._listens = True  # no alarm before: it ends a process that does not handle it
                if self._stop is not None:
                    self._repeat()
        finally:
            if with_collector:
                gc.enable()

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, now or in `AGAIN` seconds."""
        if number != _ALARM:
            _last[0] = signal.Signals(number)
        if self._stop is None:
            self._stop = KeyboardInterrupt()
            if self._listens:  # once: presses that come faster than the alarm must not put it off
                self._repeat()
        if frame is not None and _enters_or_leaves(frame, _CONTEXTLIB):
            return
        within = True
        while frame is not None:
            within = within and frame is not self._block
            if frame.f_code in _ENTERING_AND_LEAVING or _sets_state(frame) or (within and _imports(frame)):
                return
            frame = frame.f_back
        unwinding = sys.exception()
        while unwinding is not None and unwinding is not self._stop:
            unwinding = unwinding.__context__
        if unwinding is None:
            raise self._stop.with_traceback(None)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put the handlers back, SIGINT last: the handler before may raise. KeyboardInterrupt, if it came, leaves the block."""
        self._listens, self._block = False, None
        if not self._before:
            return
        with_collector = gc.isenabled()
        gc.disable()
        try:
            if self._stop is not None:
                signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = self._hook
            for number in reversed(self._before):
                signal.signal(number, self._before[number])
            if self._stop is not None and not (kind and issubclass(kind, KeyboardInterrupt)):
                raise KeyboardInterrupt
        finally:
            if with_collector:
                gc.enable()

    @staticmethod
    def _repeat() -> None:
        signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)

    def _unraisable(self, dropped: Any) -> None:
        """Say nothing of what is raised again."""
        if dropped.exc_type is not KeyboardInterrupt:
            self._hook(dropped)


_ENTERING_AND_LEAVING = (LeavingOnCtrlC.__enter__.__code__, LeavingOnCtrlC.__exit__.__code__)
_CONTEXTLIB = contextmanager.__code__.co_filename
_JAX = f"{os.sep}jax{os.sep}"


def _enters_or_leaves(frame: FrameType, place: str) -> bool:
    return frame.f_code.co_name in ("__enter__", "__exit__") and place in frame.f_code.co_filename


def _sets_state(frame: FrameType) -> bool:
    """Whether JAX sets its trace or a setting here, which what is raised would leave set for the calls that follow."""
    of_jax, caller = _JAX in frame.f_code.co_filename, frame.f_back
    set_here = _enters_or_leaves(frame, _JAX) or frame.f_code.co_name in ("set_trace", "set_axis_env")
    return of_jax and (set_here or (caller is not None and _enters_or_leaves(caller, _CONTEXTLIB)))


def _imports(frame: FrameType) -> bool:
    return frame.f_code.co_filename == "<frozen importlib._bootstrap>"


def _is_free(number: int, handler: Any) -> bool:
    """Whether a handler is Python's own, or this module's."""
    own = handler is signal.default_int_handler or isinstance(handler, (LeavingOnCtrlC, _Ending))
    return own or (handler is signal.SIG_DFL and number != signal.SIGINT)


@contextmanager
def on_ctrl_c(handler: Any) -> Iterator[None]:
    """Let `handler` have the signals that end a command.
    >>> with on_ctrl_c(signal.SIG_IGN):
    ...     pass
    """
    numbers = _ENDING if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.getsignal(number) for number in numbers}

    def remember(number: int, frame: FrameType | None) -> None:
        _last[0] = signal.Signals(number)
        handler(number, frame)

    try:
        _handle(remember if callable(handler) and not isinstance(handler, _Ending) else handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _handle(handler: Any) -> None:
    if threading.current_thread() is not threading.main_thread():  # Python lets no other set handlers
        return
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` and shells in the background ask for
            signal.signal(number, handler)
