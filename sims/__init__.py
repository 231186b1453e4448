"""Named studies with their numbers, their runner and their stored results."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from typing import Any

    from sims.runner import run
    from sims.studies import STUDIES
    from sims.study import Study

__all__ = ["STUDIES", "Study", "run"]

_HOMES = {"STUDIES": "sims.studies", "Study": "sims.study", "run": "sims.runner"}


def __getattr__(name: str) -> Any:
    # Imported on first use: a command must handle Ctrl-C before it imports JAX, which takes seconds.
    if name not in _HOMES:
        raise AttributeError(f"module 'sims' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
