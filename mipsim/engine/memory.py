"""What a run needs of memory and what there is, told before it begins."""

from __future__ import annotations

from pathlib import Path

from mipsim.engine.devices import Device

WORTH_A_LOOK = 2**28
"""Bytes: what needs less is not asked for, since the answer takes a compilation."""

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")


class BlockTooLargeError(ValueError):
    """A device has no memory for the games that it is to play at once."""

    def __init__(self, block: int, device: Device) -> None:
        super().__init__(
            f"a block of {block:,} games does not fit into the memory of {device.platform}:{device.id} ({device.device_kind}), of which "
            f"{_bytes(available(device))} can be had; play fewer records or coordinates, or another fidelity. What a checkpoint holds is kept"
        )


def available(device: Device) -> float:
    """Bytes that a device can give at most; infinite where the system does not say.

    Examples:
        >>> from mipsim.engine.devices import local_devices
        >>> available(local_devices()[0]) > 2**20
        True
    """
    if device.platform != "cpu":
        found = device.memory_stats() or {}
        return found["bytes_limit"] - found.get("bytes_in_use", 0) if "bytes_limit" in found else float("inf")
    return min(_free(), _limit_of_group(), _limit_of_process())


def fitting(needed: float, what: str, workers: int, device: Device) -> int:
    """How many of the workers can play at once, each of which needs so many bytes.

    Raises:
        ValueError: if there is no room for one.

    Examples:
        >>> from mipsim.engine.devices import local_devices
        >>> fitting(8.0, "a game", 4, local_devices()[0])
        4
    """
    room = available(device)
    if needed > room:
        raise ValueError(
            f"{what} needs {_bytes(needed)} of memory, and {_bytes(room)} can be had here; play fewer records or coordinates, "
            "or another fidelity"
        )
    return max(1, min(workers, int(room // needed))) if room < workers * needed else workers


def _bytes(number: float) -> str:
    return f"{number / 1e12:,.1f} TB" if number >= 1e12 else f"{number / 1e9:,.1f} GB"


def _free() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):  # not on every system
        return float("inf")


def _limit_of_group() -> float:
    try:
        return float(_CGROUP.read_text())
    except (OSError, ValueError):  # "max" where there is none
        return float("inf")


def _limit_of_process() -> float:
    try:
        import resource
    except ImportError:
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return float("inf") if soft == resource.RLIM_INFINITY else float(soft)
