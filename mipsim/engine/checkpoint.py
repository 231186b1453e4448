"""The counts of a run in its file: replaced whole or not at all, with the checksums of its archive, and refused where they are another run's."""

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._archives import LIMIT, arrays_of, most_bytes, read_bytes
from mipsim._files import replace_file
from mipsim._validation import file_path
from mipsim._words import printable

FORMAT = 3
"""Of a file; others are refused."""
DRAWS = 3
"""Raised whenever the meaning of a random stream changes, so that no run is resumed across such a change."""
IDENTITY = (
    "game",
    "attack",
    "seed",
    "fidelity",
    "precision",
    "sampler",
    "edges",
    "draws",
    "versions",
    "shard",
    "until",
)
"""The parts of a manifest that decide what a run is; the others say how far it has come, and where."""
MOST_GAMES = 2**63 - 1
"""What an int64 holds; counts are added up as Python's whole numbers, which do not overflow."""

_MOST_TEXT = 2**24  # bytes of a manifest: what any game needs to be described
_TYPES = {"edges": "<f8", "out": "<i8", "inside": "<i8"}


def write_counts(
    path: str | os.PathLike[str],  # the file; where it is a symbolic link, what it names is replaced
    edges: np.ndarray,  # as in `Histogram`, like the next three
    out: np.ndarray,  # counts of the "out" games
    inside: np.ndarray,  # counts of the "in" games
    manifest: Mapping[str, Any],  # what was played
    # called when no other process can write; if true, the file is left as it is
    keep: Callable[[], bool] = lambda: False,
) -> None:
    """Write counts with their manifest; the file appears whole or not at all, and an old file stays until then.
    Raises ValueError if there are more counts than a file may hold; OSError if the folder or disk does not take it; the
    old file is untouched.
    """
    path = file_path("path", path)
    arrays = {"edges": edges, "out": out, "inside": inside}
    arrays = {name: np.asarray(array, _TYPES[name]) for name, array in arrays.items()}
    text = json.dumps(dict(manifest)).encode()
    size = len(text) + sum(array.nbytes for array in arrays.values()) + 4096
    if len(text) > _MOST_TEXT or size > most_bytes():
        raise ValueError(
            f"{printable(path)} cannot be written: counts of {size} bytes, a manifest of {len(text)}; at most "
            f"{most_bytes()} and {_MOST_TEXT} can be read again: give fewer edges, or raise {LIMIT}"
        )
    held = io.BytesIO()
    # NumPy 2.0 stores an argument `allow_pickle` as an array; pickled is none of these.
    np.savez(held, **arrays, manifest=np.frombuffer(text, np.uint8))  # pyright: ignore[reportArgumentType]
    try:
        replace_file(path, held.getvalue(), keep)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"counts cannot be written to {printable(path)}: {reason}") from error


def read_counts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_counts` wrote: a dict with "edges", "out", "inside" and "manifest"; `Histogram` looks at the counts.
    Raises FileNotFoundError if there is no such file; OSError if the system does not let it be read; ValueError if the
    file is truncated, corrupt, changed or of another kind.
    """
    path = file_path("path", path)
    content = read_bytes(path)
    try:
        read = arrays_of(content, compressed=False)  # whose checksums NumPy looks at
        text = read.pop("manifest")
        if {name: array.dtype.str for name, array in read.items()} != _TYPES or text.nbytes > _MOST_TEXT:
            raise ValueError("other members or types")
        manifest = dict(json.loads(text.tobytes()))
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError(
            f"{printable(path)} is truncated, corrupt or not a stored histogram; remove it or name another"
        ) from error
    if (written := manifest.get("format", FORMAT)) != FORMAT:
        raise ValueError(
            f"{printable(path)} holds counts of format {printable(written)}; this version of mipsim reads format {FORMAT}: play them again"
        )
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in read.items()}
    return {**native, "manifest": manifest}


def total(counts: np.ndarray) -> int:
    """The sum of counts >= 0, which an int64 may not hold.
    >>> total(np.array([2**62] * 4)) == 2**64
    True
    """
    words = counts.astype(np.uint64)
    high, low = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())


def difference(
    mine: Mapping[str, Any], theirs: Mapping[str, Any], parts: Sequence[str] = IDENTITY
) -> str | None:
    """The first of the parts in which two manifests differ, or None.

    Versions are those of mipsim and jax, to which random streams belong.

    >>> difference({"seed": 1, "games": 5}, {"seed": 1, "games": 7}), difference({"seed": 1}, {"seed": 2})
    (None, 'seed')
    """
    for part in parts:
        pair = [manifest.get(part) for manifest in (mine, theirs)]
        if part == "versions":
            pair = [isinstance(v, dict) and {k: v.get(k) for k in ("mipsim", "jax")} for v in pair]
        if pair[0] != pair[1]:
            return part
    return None


def counted(seed: int, games: range, done: int) -> dict[str, Any]:
    """The part of a manifest that says which games are counted: the first `done` of these.
    >>> counted(7, range(100, 200), 30)
    {'games': 30, 'runs': [[7, 100, 130]]}
    """
    return {"games": done, "runs": [[seed, games.start, games.start + done]]}


def resume(
    path: Path | None,  # the checkpoint, written if it is missing; None = there is none
    stored: dict[str, Any] | None,  # what it holds, or None
    edges: np.ndarray,  # thresholds of the run
    manifest: dict[str, Any],  # of the run before its first game
    games: range,  # those that the run is to play
) -> dict[str, Any]:
    """The counts in the checkpoint if it exists, else none yet: the fields of a `Histogram`.
    Raises ValueError if the checkpoint belongs to another run, or holds more games; OSError if it cannot be written.
    """
    if path is not None and stored is not None:
        held = _same_run(path, manifest, stored["manifest"])
        if held > len(games):
            raise ValueError(
                f"checkpoint {path} holds {held} games, more than the {len(games)} requested; load it instead"
            )
        own = {part: stored["manifest"][part] for part in ("games", "runs")}
        return stored | {"edges": edges, "manifest": manifest | own}
    nothing = np.zeros(edges.size + 1, dtype=np.int64)
    fresh = {"edges": edges, "out": nothing, "inside": nothing.copy(), "manifest": manifest}
    if path is not None:
        store(path, fresh)  # an unwritable folder must show before any work
    return fresh


def store(path: Path, counts: Mapping[str, Any]) -> None:
    """Write the counts of a run, unless the file holds as many by now: another process plays the same run.
    Raises ValueError if the file belongs to another run by now, or is corrupt; OSError if it cannot be written.
    """

    def keep() -> bool:
        try:
            result = read_counts(path)["manifest"]
        except FileNotFoundError:
            return False
        return _same_run(path, counts["manifest"], result) >= counts["manifest"]["games"]

    write_counts(path, **counts, keep=keep)


def _same_run(path: Path, mine: Mapping[str, Any], stored: Mapping[str, Any]) -> int:
    """How many games the manifest of a file says that it holds of this run, or say why it is not of it."""
    part = difference(mine, stored)
    games, (seed, first, _) = stored.get("games"), mine["runs"][0]
    if part is None and not (isinstance(games, int) and stored.get("runs") == [[seed, first, first + games]]):
        part = "range of games"
    if part is not None:
        raise ValueError(
            f"checkpoint {path} belongs to another run, which differs in {part}; name another file"
        )
    return stored["games"]
