"""Compiled code is kept in a folder if the user wishes, and let go before a long search runs a process out of memory maps."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import jax
from jax.experimental.compilation_cache import compilation_cache as jax_cache

from mipsim._files import writable_folder

FOLDER = "MIPSIM_COMPILATION_CACHE"
"""The environment variable that names a folder for compiled code, as `compilation_cache` does."""

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


def compilation_cache(directory: str | os.PathLike[str] | None) -> None:
    """Keep what is compiled in a folder, so that the next process need not compile the same games anew.

    The environment variable `MIPSIM_COMPILATION_CACHE=DIR` does the same from the first import on. All that JAX compiles in this
    process goes there, however short its compilation was, and nothing is ever removed: delete the folder when it has grown too
    large. Results do not change. Code is compiled for one kind of CPU or accelerator, so unlike machines need folders of their own.

    Args:
        directory: made if it is missing; None = keep nothing any more.

    Raises:
        ValueError: if it is no folder that can be written.

    Source: JAX's persistent compilation cache.

    Examples:
        >>> compilation_cache(None)
    """
    _keep_in(directory, "directory")


def _keep_in(directory: object, argument: str) -> None:
    path = None
    if directory is not None:
        if not isinstance(directory, (str, os.PathLike)) or not os.fspath(directory):
            raise ValueError(f"{argument} is {directory!r}; it must be the path of a folder")
        path = writable_folder(argument, Path(os.fsdecode(directory)).expanduser().absolute())
    jax.config.update("jax_compilation_cache_dir", None if path is None else str(path))
    if path is not None:  # JAX keeps only what took a second, and a game's kernel takes less
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax_cache.reset_cache()  # which may have been opened elsewhere, or found to be off


if os.environ.get(FOLDER):
    _keep_in(os.environ[FOLDER], FOLDER)
