"""The counts of a run in its file: replaced whole or not at all, with the checksums of its archive, and refused where they are another run's.

A file is an NPZ archive without pickle, read by `mipsim._archives`, so that none can make its reader wait, run code or use more memory
than the file is long.
"""

import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from errno import ENOENT
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._archives import LIMIT, arrays_of, most_bytes, read_bytes
from mipsim._files import replace_file, sweep
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
_ARRAYS = {"edges": np.dtype("<f8"), "out": np.dtype("<i8"), "inside": np.dtype("<i8")}
_MEMBERS = {**_ARRAYS, "manifest": np.dtype("u1")}


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
    given = zip(_ARRAYS.items(), (edges, out, inside), strict=True)
    arrays = {name: np.ascontiguousarray(array, dtype) for (name, dtype), array in given}
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
    """Read what `write_counts` wrote: a dict with "edges", "out", "inside" and "manifest".
    Raises FileNotFoundError if there is no such file; OSError if the system does not let it be read; ValueError if the
    file is truncated, corrupt, changed or of another kind.
    """
    path = file_path("path", path)
    content = read_bytes(path)
    try:
        arrays, manifest = _parts(content)
        written = manifest.get("format", FORMAT)
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError(
            f"{printable(path)} is truncated, corrupt or not a stored histogram; remove it or name another"
        ) from error
    if written != FORMAT:
        raise ValueError(
            f"{printable(path)} holds counts of format {printable(written)}; this version of mipsim reads format {FORMAT}: play them again"
        )
    if not _are_sound(**arrays, games=manifest.get("games")):
        raise ValueError(f"{printable(path)} does not hold what its manifest says; remove it or name another")
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()}
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


def stored_counts(path: Path | None) -> dict[str, Any] | None:
    """What a checkpoint holds, or None where there is none yet. What a killed writer has left beside it is removed.
    Raises ValueError if it is corrupt; OSError if it cannot be read.

    >>> stored_counts(None)
    """
    if path is None:
        return None
    if not path.parent.is_dir():
        raise FileNotFoundError(ENOENT, f"counts cannot be written to {path}: No such file or directory")
    sweep(path)
    try:
        return read_counts(path)
    except FileNotFoundError:
        return None


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
    if part is None and not {"games", "runs"} <= set(stored):
        part = "games, of which it says nothing"
    if part is None:
        seed, first, _ = mine["runs"][0]
        if stored["runs"] != [[seed, first, first + stored["games"]]]:
            part = "range of games"
    if part is not None:
        raise ValueError(
            f"checkpoint {path} belongs to another run, which differs in {part}; name another file"
        )
    return stored["games"]


def _are_sound(edges: np.ndarray, out: np.ndarray, inside: np.ndarray, games: Any) -> bool:
    """Whether edges increase, and the counts between them are as many in both worlds, and as many as are stated."""
    return bool(
        edges.size
        and np.isfinite(edges).all()
        and (edges[1:] > edges[:-1]).all()
        and out.shape == inside.shape == (edges.size + 1,)
        and min(out.min(), inside.min()) >= 0
        and total(out) == total(inside) == (total(out) if games is None else games) <= MOST_GAMES
    )


def _parts(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    read = arrays_of(content, compressed=False)  # whose checksums NumPy looks at
    if {name: (array.dtype.newbyteorder("<"), array.ndim) for name, array in read.items()} != {
        name: (dtype, 1) for name, dtype in _MEMBERS.items()
    }:
        raise ValueError("other members, types or shapes")
    if read["manifest"].size > _MOST_TEXT:
        raise ValueError("too long a manifest")
    return read, dict(json.loads(read.pop("manifest").tobytes()))
