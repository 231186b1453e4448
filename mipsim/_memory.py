"""What there is of memory, and the refusal of arguments whose arrays it cannot hold."""

from pathlib import Path

from mipsim._words import quoted

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
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
