"""What a run needs of memory and what there is, reported before it begins."""

from __future__ import annotations

from pathlib import Path

from mipsim.engine.devices import Device

WORTH_A_LOOK = 2**28
"""Bytes: of what needs less the exact need is not computed, since that takes a compilation."""

_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
_FULL = (
    "RESOURCE_EXHAUSTED",
    "YNNPACK operation failed",
)  # the second is of a library that XLA adds up large arrays with


def is_too_large(error: BaseException) -> bool:
    """Whether a device had no memory for a call.
    >>> is_too_large(RuntimeError("RESOURCE_EXHAUSTED: Out of memory")), is_too_large(RuntimeError("INTERNAL"))
    (True, False)
    """
    return any(text in str(error) for text in _FULL)


class BlockTooLargeError(ValueError):
    """A device has no memory for the games that it is to play at once; made of its words, so that it travels from workers by pickle."""

    @classmethod
    def of(cls, block: int, device: Device) -> BlockTooLargeError:
        """That of a block of so many games on this device."""
        return cls(
            f"a block of {block:,} games does not fit into the memory of {device.platform}:{device.id} ({device.device_kind}), of which "
            f"{_bytes(available(device))} can be had; play fewer records or coordinates, or another fidelity. What a checkpoint holds is not lost"
        )


def available(device: Device) -> float:
    """Bytes that a device can give at most; infinite where the system does not say."""
    if device.platform != "cpu":
        result = device.memory_stats() or {}
        return (
            result["bytes_limit"] - result.get("bytes_in_use", 0) if "bytes_limit" in result else float("inf")
        )
    return min(_free(), _limit_of_group())


def fitting(needed: float, what: str, workers: int, device: Device) -> int:
    """How many of the workers can play at once, each of which needs so many bytes.
    Raises ValueError if there is no room for a single block.
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
