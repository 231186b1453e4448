"""Packages that only some of the library needs, imported on first use."""

import importlib
from typing import Any


class MissingPackageError(ImportError):
    """A package of an extra is not installed; the message says what installs it."""


def optional(module: str, needed_for: str, extra: str = "nn") -> Any:
    """Import a module of an optional package.

    Args:
        module: its name, such as "flax.linen".
        needed_for: what cannot be done without it, the beginning of a sentence.
        extra: the extra of this package that installs it.

    Raises:
        MissingPackageError: a sentence that says what installs the package.

    Examples:
        >>> optional("math", "square roots").sqrt(4.0)
        2.0
        >>> optional("no_such_package.linen", "networks")
        Traceback (most recent call last):
        ...
        mipsim._extras.MissingPackageError: networks need the package no_such_package, which is not installed: python3 -m pip install "mipsim[nn]" brings it
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there and does not work
        raise MissingPackageError(
            f'{needed_for} need the package {package}, which is not installed: python3 -m pip install "mipsim[{extra}]" brings it',
            name=package,
        ) from None
