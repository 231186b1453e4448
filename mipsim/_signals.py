"""SIGTERM and SIGHUP end a command as Ctrl-C does, and its exit status says which it was."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import ParamSpec

INTERRUPTED = 128 + signal.SIGINT
"""The exit status of a command that Ctrl-C has ended, as a shell tells it of other programs."""

_ALIKE = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_P = ParamSpec("_P")


def like_ctrl_c(command: Callable[_P, int]) -> Callable[_P, int]:
    """A command that returns `INTERRUPTED` after Ctrl-C, and 128 + the signal's number after another that it takes for one.

    Whatever has Ctrl-C meanwhile has those too. A signal that is ignored, as `nohup` asks for, stays ignored.

    Examples:
        >>> like_ctrl_c(lambda: 0)()
        0
    """

    @functools.wraps(command)
    def listening(*args: _P.args, **named: _P.kwargs) -> int:
        if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
            return command(*args, **named)
        caught: list[int] = []

        def interrupt(number: int, _: FrameType | None) -> None:
            caught.append(number)
            signal.raise_signal(signal.SIGINT)

        before = {
            number: signal.signal(number, interrupt)
            for number in _ALIKE
            if signal.getsignal(number) is not signal.SIG_IGN
        }
        try:
            status = command(*args, **named)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
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
