"""Compiled code is stored in a folder for the next process, and let go before a long search runs a process out of memory maps."""

from __future__ import annotations

import hashlib
import platform
import threading
from contextlib import suppress
from pathlib import Path

import jax
import platformdirs

from mipsim._files import writable_folder

MOST_BYTES = 2**29
"""Compiled code in the user's own folder beyond which the older half goes, when a process begins; JAX's own limit counts at every write."""

MAPS = Path("/proc/self/maps")
MOST_MAPS = 40_000
"""Of the 65,530 that Linux allows a process by default. XLA crashes where they run out; a kernel takes about 70."""
LOOK_EVERY = 64
"""Compilations after which the maps are counted: no more than 10,000 maps are added in between."""

_lock = threading.Lock()
_seen = 0
_decided = False
"""Whether it is settled where compiled code is stored, by JAX's settings or by the first game or law."""


def _count(event: str, duration_secs: float, **_: object) -> None:
    global _seen
    if event == "/jax/core/compile/backend_compile_duration":
        with _lock:
            _seen += 1


jax.monitoring.register_event_duration_secs_listener(_count)


def prepare() -> None:
    """Settle where compiled code is stored, and let it go from memory if the process has used up most of its memory maps.

    Called where a game or a law begins, so that importing changes no setting of JAX. A search looks at thousands of different
    games, and JAX keeps what it compiled for each. What runs now keeps its own. Other systems than Linux set no such limit.
    """
    global _seen, _decided
    with _lock:
        if not _decided:
            _decided = True
            _keep_by_default()
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


def _keep_by_default() -> None:
    """Let JAX store compiled code in the user's cache folder, unless it stores it elsewhere or is set to store nothing."""
    settings = jax.config.values
    if settings["jax_compilation_cache_dir"] is not None or not settings["jax_enable_compilation_cache"]:
        return
    with suppress(ValueError, OSError):  # a home that cannot be written: everything is compiled anew
        folder = Path(platformdirs.user_cache_dir("mipsim", appauthor=False)) / "compiled" / _machine()
        jax.config.update("jax_compilation_cache_dir", str(writable_folder("cache", folder)))
        # JAX keeps only what took a second, and a game's kernel takes less.
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
        _prune(folder, MOST_BYTES)


def _machine() -> str:
    """A name for this kind of CPU: code that was compiled for another may not run here, and homes are shared."""
    report = [platform.machine(), platform.processor()]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        report += sorted(
            {item for item in lines if item.startswith(("model name", "flags", "Features", "CPU part"))}
        )
    return hashlib.sha256("\n".join(report).encode()).hexdigest()[:12]


def _prune(folder: Path, most: int) -> None:
    """Remove the older half of what a folder holds if it is more than so many bytes.
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     for i in range(4):
    ...         _ = (Path(name) / f"{i}-cache").write_bytes(bytes(10))
    ...     _prune(Path(name), 40)
    ...     before = len(list(Path(name).iterdir()))
    ...     _prune(Path(name), 39)
    ...     print(before, len(list(Path(name).iterdir())))
    4 2
    """
    retained = []
    for file in folder.glob("*-cache"):
        with suppress(FileNotFoundError):  # another process removes them too
            about = file.stat()
            retained.append((about.st_mtime_ns, about.st_size, file))
    if sum(size for _, size, _ in retained) > most:
        for _, _, file in sorted(retained)[: (len(retained) + 1) // 2]:
            file.unlink(missing_ok=True)
