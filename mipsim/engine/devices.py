"""The local devices that games are spread over."""

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import jax

from mipsim._validation import whole
from mipsim._words import quoted

Device: TypeAlias = Any
"""A `jax.Device`, which type checkers take for a variable."""


def local_devices(wanted: int | None = None) -> list[Device]:
    """The first `wanted` devices of this process, or all of them.

    A default device that the caller has set (`jax.default_device`) is taken alone.

    `wanted`: how many, at most as many as there are, or None for all.
    """
    default = jax.config.jax_default_device  # pyright: ignore[reportAttributeAccessIssue]
    result = [default] if isinstance(default, jax.Device) else jax.local_devices(backend=default)
    if wanted is None:
        return result
    wanted = whole("devices", wanted, 1)
    if wanted > len(result):
        raise ValueError(
            f"devices is {quoted(wanted)}; this process has {len(result)} {result[0].platform.upper()} "
            f"device{'s' * (len(result) > 1)}, so it must be a whole number in [1, {len(result)}]"
        )
    return result[:wanted]


def threads_for(devices: Sequence[Device]) -> int:
    """How many threads keep the devices busy: 1 per core, or two per accelerator.

    A core plays a single chunk at a time. An accelerator gets a second chunk while the counts of the first come back.

    >>> threads_for(local_devices()) >= len(local_devices())
    True
    """
    if devices[0].platform == "cpu":
        return max(cores(), len(devices))
    return 2 * len(devices)


def cores() -> int:
    """How many cores this process may use.
    >>> cores() >= 1
    True
    """
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
