"""Compiled code is let go before a long search runs a process out of memory maps."""

from __future__ import annotations

import threading
from pathlib import Path

import jax

MAPS = Path("/proc/self/maps")
MOST_MAPS = 40_000
"""Of the 65,530 that Linux allows a process by default. XLA crashes where they run out; one kernel takes about 70."""
LOOK_EVERY = 64
"""Compilations after which the maps are counted: no more than 10,000 maps are added in between."""

_lock = threading.Lock()
_seen = 0


def _count(event: str, duration_secs: float, **_: object) -> None:
    global _seen
    if event == "/jax/core/compile/backend_compile_duration":
        with _lock:
            _seen += 1


jax.monitoring.register_event_duration_secs_listener(_count)


def make_room() -> None:
    """Let all compiled code go if the process has used up most of its memory maps; what runs now keeps its own.

    Called where a game or a law begins: a search looks at thousands of different ones, and JAX keeps what it compiled for
    each. Other systems than Linux set no such limit.

    Examples:
        >>> make_room()
    """
    global _seen
    with _lock:
        due = _seen >= LOOK_EVERY
        if due:
            _seen = 0
    if due and _maps() > MOST_MAPS:
        jax.clear_caches()


def _maps() -> int:
    try:
        return MAPS.read_bytes().count(b"\n")
    except OSError:
        return 0
