"""Packages whose names wait until a name is requested, so that a command answers `--help` before JAX is imported."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec

TYPE_CHECKING = False  # as in `mipsim`
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def lazily(package: str, *first: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package whose public names are those of its module `_public`.

    `dir` lists them and the packages inside.

    Source: PEP 562.

    >>> get, names = lazily("mipsim.audits")
    >>> names(), get("audit").__name__
    (['Audit', 'RunningAudit', 'audit'], 'audit')
    """

    def get(name: str) -> Any:
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if (
            find_spec(f"{package}.{name}") is not None
        ):  # a file of the package: no public name is called like it
            return import_module(f"{package}.{name}")
        if name == "__all__":
            return list(import_module(f"{package}._public").__all__)
        for module in (*first, "_public"):
            public = import_module(f"{package}.{module}")
            if name in public.__all__:
                value = getattr(public, name)
                setattr(sys.modules[package], name, value)  # the next time it is an attribute
                return value
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        from pkgutil import iter_modules

        inside = {result.name for result in iter_modules(sys.modules[package].__path__) if result.ispkg}
        return sorted(inside.union(import_module(f"{package}._public").__all__))

    return get, names
