"""Compiling what will count games while their tables are made, which takes as long: the first answer comes sooner."""

from __future__ import annotations

import threading
from contextlib import suppress

import numpy as np

from mipsim._precision import exact_scope
from mipsim.engine.counting import Counter, on_device
from mipsim.engine.devices import Device
from mipsim.engine.samplers.base import AbstractSampler


class CompilingAhead:
    """Compiles, in a thread, what counts the games of a sampler, given one of the same shapes.

    Args:
        device: where the games will be played.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim.engine.fidelity import build_sampler
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=[1.0, 0.0])
        >>> ahead = CompilingAhead(None)
        >>> with exact_scope():
        ...     sampler = build_sampler(game, mi.CovarianceScore(data, n=10), "auto", ahead.begin)
        >>> ahead.wait()
    """

    def __init__(self, device: Device | None) -> None:
        self._devices = None if device is None else [device]
        self._done: threading.Event | None = None

    def begin(self, sampler: AbstractSampler, edges: np.ndarray | None = None) -> None:
        """Begin to compile; the sampler's numbers do not matter, only their shapes.

        Args:
            sampler: of the shapes and the block that will be played.
            edges: the thresholds that will count, or None for a pilot's.
        """
        # What fails here fails again where it is needed, and is told there.
        with suppress(Exception), exact_scope():
            counter = Counter(
                on_device(sampler), [np.zeros(1) if edges is None else edges], 0, devices=self._devices
            )
            counter.lower()  # not in the thread: all of it is Python, which two threads take in turns
            done = threading.Event()
            # No daemon: Python waits for it at its end, where a compiler that is torn down would crash.
            threading.Thread(target=_compile, args=(counter, done), name="mipsim-ahead").start()
            self._done = done

    def wait(self) -> None:
        """Wait until all is compiled that was begun."""
        # Not by `join`: before Python 3.13 one that Ctrl-C ends takes the thread for ended, and nobody waits for it at Python's end.
        if self._done is not None:
            self._done.wait()


def _compile(counter: Counter, done: threading.Event) -> None:
    try:
        with suppress(Exception):
            counter(0, 0)
    finally:
        done.set()
