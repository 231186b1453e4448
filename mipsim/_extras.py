"""Packages that only some of the library needs, imported on first use."""

from typing import Any

from mipsim._signals import imported


class MissingPackageError(ImportError):
    """A package of an extra is not installed; the message says what installs it."""


def optional(module: str, needed_for: str, extra: str = "nn") -> Any:
    """Import a module of an optional package."""
    try:
        return imported(module)
    except ImportError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise  # the package is there and does not work
        raise MissingPackageError(
            f'{needed_for} need the package {package}, which is not installed: python3 -m pip install "mipsim[{extra}]" brings it',
            name=package,
        ) from None
