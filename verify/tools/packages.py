"""Modules of the tools that are judged. Some packages import PyTorch before anything else; what is judged needs NumPy and SciPy alone."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
import types
from typing import Any

STANDS_FOR_TORCH: dict[str, tuple[str, ...]] = {
    "opacus": ("opacus", "opacus.accountants"),
    "opake-auditing": ("opake.api.auditing", "opake.api.auditing.one_run"),
}
"""Distribution -> the packages whose `__init__` imports PyTorch: where it is missing they are entered without their `__init__`."""


def module(name: str, distribution: str = "") -> Any:
    """Import a module of a tool.
    `distribution`: with an entry in `STANDS_FOR_TORCH`, where PyTorch may be missing. Raises ImportError if it is not
    installed.

    >>> module("math").pi > 3
    True
    """
    if importlib.util.find_spec("torch") is None:
        for package in STANDS_FOR_TORCH.get(distribution, ()):
            if package not in sys.modules:
                entered = types.ModuleType(package)
                place = importlib.metadata.distribution(distribution).locate_file(package.replace(".", "/"))
                entered.__path__ = [str(place)]
                sys.modules[package] = entered
        if distribution == "opacus":  # its base class names this type in an annotation
            stand_in = types.ModuleType("opacus.optimizers")
            vars(stand_in)["DPOptimizer"] = object
            sys.modules.setdefault("opacus.optimizers", stand_in)
    return importlib.import_module(name)
