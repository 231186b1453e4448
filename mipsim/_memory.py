"""What there is of memory, and the refusal of arguments whose arrays it cannot hold."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mipsim._words import quoted

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
# the second is of a library that XLA adds up large arrays with
_FULL = ("RESOURCE_EXHAUSTED", "YNNPACK operation failed")
_MOST = 2**40
"""Bytes that are taken for what there is where the system does not say."""


def fits_memory(numbers: int, /, each: int = 8, **arguments: object) -> None:
    """Raise ValueError where arrays of so many numbers, of `each` bytes, are more than memory holds; `arguments` are those to name.

    It is called before anything is made: the system ends a process that takes too much, without a word.

    >>> fits_memory(10**6, d=10**6)
    >>> fits_memory(10**30, d=10**30)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: d is 1000000000000000000000000000000; that takes 1e+30 numbers, and at most ... fit into memory
    """
    most = int(min(free_bytes(), _MOST)) // each
    if numbers > most:
        given = " and ".join(f"{name} is {quoted(value)}" for name, value in arguments.items())
        amount = f"{numbers:,}" if numbers < 10**18 else f"{float(numbers):.3g}"
        raise ValueError(f"{given}; that takes {amount} numbers, and at most {most:,} fit into memory")


def is_too_large(error: BaseException) -> bool:
    """Whether a device had no memory for a call.
    >>> is_too_large(RuntimeError("RESOURCE_EXHAUSTED: Out of memory")), is_too_large(RuntimeError("INTERNAL"))
    (True, False)
    """
    return any(text in str(error) for text in _FULL)


@contextmanager
def on_a_device(what: str) -> Iterator[None]:
    """A block in which a device computes `what`; raises ValueError where it has no memory for that.

    >>> with on_a_device("game with outputs of 1,000,000,000 numbers"):
    ...     raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory")
    Traceback (most recent call last):
    ...
    ValueError: game with outputs of 1,000,000,000 numbers does not fit into the memory of the device
    """
    try:
        yield
    except RuntimeError as error:
        if not is_too_large(error):
            raise
        raise ValueError(f"{what} does not fit into the memory of the device") from error


def free_bytes() -> float:
    """Bytes of memory that can be had; infinite where the system does not say."""
    return min(_of_system(), _of_group())


def _of_system() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):  # not on every system
        return float("inf")


def _of_group() -> float:
    """What a container may have, less what it has: files that the system keeps for speed give way."""
    try:
        limit = float(_CGROUP.read_text())
    except (OSError, ValueError):  # "max" where there is none
        return float("inf")
    try:
        used = float(_CGROUP.with_name("memory.current").read_text())
        retained = dict(line.split() for line in _CGROUP.with_name("memory.stat").read_text().splitlines())
        return max(0.0, limit - max(0.0, used - float(retained["file"])))
    except (OSError, ValueError, KeyError):
        return limit
