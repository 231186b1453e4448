"""Numbers that took a while, stored beside the counts of games: computed once, and computed anew for another setting."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import jax
import numpy as np

from mipsim._archives import read_bytes
from mipsim._files import replace_file
from mipsim._version import __version__

_folder: ContextVar[Path | None] = ContextVar("folder of stored values", default=None)


@contextmanager
def storing_in(folder: str | os.PathLike[str] | None) -> Iterator[None]:
    """What takes long to build within this context is stored in the folder, that of a run's counts; None stores nothing.
    >>> with storing_in("results"):
    ...     print(stored_folder("gradients"))
    results/gradients
    >>> stored_folder("gradients") is None
    True
    """
    token = _folder.set(None if folder is None else Path(folder))
    try:
        yield
    finally:
        _folder.reset(token)


def stored_folder(name: str) -> Path | None:
    """The folder of that name in the folder of `storing_in`; None where nothing is stored."""
    folder = _folder.get()
    return None if folder is None else folder / name


def stored(path: Path, settings: dict[str, Any], compute: Callable[[], np.ndarray]) -> np.ndarray:
    """The numbers in the file, if they are of these settings and versions; else what `compute` finds, which the file then holds.
    `path`: a JSON file; its folder is made before anything is computed, which may keep more there; `settings`: all that
    decides the numbers, as JSON has it; `compute`: finds them: float64, any shape. Raises OSError if the file cannot be
    written.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers.json"
    >>> stored(path, {"seed": 1}, lambda: np.array([0.25])), stored(path, {"seed": 1}, lambda: np.array([0.5]))
    (array([0.25]), array([0.25]))
    >>> stored(path, {"seed": 2}, lambda: np.array([0.5]))
    array([0.5])
    """
    requested = json.loads(json.dumps({**settings, "mipsim": __version__, "jax": jax.__version__}))
    try:
        held = json.loads(read_bytes(path))
        if held["settings"] == requested:
            return np.asarray(held["values"], np.float64)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass  # none yet, or no whole file: it is written anew
    path.parent.mkdir(parents=True, exist_ok=True)
    result = np.asarray(compute(), np.float64)
    replace_file(path, (json.dumps({"settings": requested, "values": result.tolist()}) + "\n").encode())
    return result
