"""What a run needs of memory and what there is, reported before it begins."""

from __future__ import annotations

from mipsim._memory import free_bytes
from mipsim.engine.devices import Device

WORTH_A_LOOK = 2**28
"""Bytes: of what needs less the exact need is not computed, since that takes a compilation."""


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
    return free_bytes()


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
