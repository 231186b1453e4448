"""Histograms on disk: NPZ without pickle, replaced whole or not at all, and believed only where their digest agrees.

A file is read by `mipsim._archives`, so that none can make its reader wait, run code or use more memory than the file is long.
"""

import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mipsim._archives import LIMIT, Archive, most_bytes, read_bytes
from mipsim._files import replace_file
from mipsim._validation import file_path
from mipsim._words import shown
from mipsim.engine.manifest import FORMAT, array_digest, odd_field

MOST_TEXT = 2**24
"""The longest manifest that is written and read, in bytes: what any game needs to be described."""
MOST_GAMES = 2**63 - 1
"""What an int64 holds; counts are added up as Python's whole numbers, which do not overflow."""

_ARRAYS = {"edges": np.dtype("<f8"), "out": np.dtype("<i8"), "inside": np.dtype("<i8")}
_MEMBERS = {**_ARRAYS, "manifest": np.dtype("u1")}


def write_counts(
    path: str | os.PathLike[str],
    edges: np.ndarray,
    out: np.ndarray,
    inside: np.ndarray,
    manifest: Mapping[str, Any],
    keep: Callable[[], bool] = lambda: False,
) -> None:
    """Write counts with their manifest and a digest of both; the file appears whole or not at all, and an old one stays until then.

    Args:
        path: the file; where it is a symbolic link, what it names is replaced.
        edges: as in `Histogram`, like the next three.
        out: counts of the "out" games.
        inside: counts of the "in" games.
        manifest: what was played.
        keep: asked when no other process can write; if true, the file is left as it is.

    Raises:
        ValueError: if there are more counts than a file may hold.
        OSError: one sentence with the path, if the folder or disk does not take it; the old file is untouched.
    """
    path = file_path("path", path)
    arrays = {
        name: np.ascontiguousarray(array, dtype)
        for (name, dtype), array in zip(_ARRAYS.items(), (edges, out, inside), strict=True)
    }
    plain = json.loads(json.dumps(dict(manifest)))
    text = json.dumps(plain | {"sha256": _digest(arrays, plain)}).encode()
    size = len(text) + sum(array.nbytes for array in arrays.values()) + 4096
    if len(text) > MOST_TEXT or size > most_bytes():
        raise ValueError(
            f"counts cannot be written to {shown(path)}: {size} bytes with a manifest of {len(text)} bytes; at most "
            f"{most_bytes()} and {MOST_TEXT} could be read again, so give fewer edges, or raise {LIMIT}"
        )
    held = io.BytesIO()
    # NumPy 2.0 stores an argument `allow_pickle` as an array; pickled is none of these.
    np.savez(held, **arrays, manifest=np.frombuffer(text, np.uint8))  # pyright: ignore[reportArgumentType]
    try:
        replace_file(path, held.getvalue(), keep)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"counts cannot be written to {shown(path)}: {reason}") from error


def read_counts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_counts` wrote: a dict with "edges", "out", "inside" and "manifest".

    Raises:
        FileNotFoundError: if there is no such file.
        OSError: one sentence with the path, if the system does not let it be read.
        ValueError: one sentence with the path, if the file is truncated, corrupt, changed or of another kind.
    """
    path = file_path("path", path)
    content = read_bytes(path)
    try:
        read, manifest = _parts(content)
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError(
            f"{shown(path)} is truncated, corrupt or not a stored histogram; remove it or name another"
        ) from error
    written = manifest.get("format", FORMAT)
    if written != FORMAT:
        raise ValueError(
            f"{shown(path)} holds counts of format {shown(written)}; this version of mipsim reads format {FORMAT}: play them again"
        )
    digest = manifest.pop("sha256", None)
    if digest != _digest(read, manifest):
        raise ValueError(
            f"{shown(path)} does not hold what its manifest says: the digest is another; remove it or name another"
        )
    if fault := _fault(read, manifest):
        raise ValueError(
            f"{shown(path)} does not hold what its manifest says: {fault}; remove it or name another"
        )
    return {
        **{name: array.astype(array.dtype.newbyteorder("=")) for name, array in read.items()},
        "manifest": manifest,
    }


def total(counts: np.ndarray) -> int:
    """The sum of counts >= 0, which an int64 may not hold.

    Examples:
        >>> total(np.array([2**62] * 4)) == 2**64
        True
    """
    words = counts.astype(np.uint64)
    high, low = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())


def _parts(content: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    archive = Archive(content, compressed=False)
    if set(archive.names) != set(_MEMBERS):
        raise ValueError("other members")
    for name, dtype in _MEMBERS.items():
        header = archive.header(name)
        if header.dtype.newbyteorder("<") != dtype or len(header.shape) != 1:
            raise ValueError("another type or shape")
        if name == "manifest" and header.size > MOST_TEXT:
            raise ValueError("too long a manifest")
    read = archive.read(_MEMBERS)
    manifest = json.loads(read.pop("manifest").tobytes())
    if not isinstance(manifest, dict):
        raise ValueError("no manifest")
    return read, manifest


def _digest(arrays: Mapping[str, np.ndarray], manifest: Mapping[str, Any]) -> str:
    """SHA-256 of the manifest and the arrays, bytes in the order of x86."""
    found = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode())
    for name, dtype in _ARRAYS.items():
        found.update(np.ascontiguousarray(arrays[name], dtype).data)
    return found.hexdigest()


def _fault(read: Mapping[str, np.ndarray], manifest: Mapping[str, Any]) -> str | None:
    """What cannot be true of counts, or None."""
    edges, out, inside = (read[name] for name in _ARRAYS)
    if not edges.size or not np.isfinite(edges).all() or (edges[1:] <= edges[:-1]).any():
        return "its edges are not finite and increasing"
    if out.shape != (edges.size + 1,) or inside.shape != out.shape:
        return f"{edges.size} edges have {out.size} and {inside.size} counts"
    if (out < 0).any() or (inside < 0).any():
        return "it holds negative counts"
    games = total(out)
    if games != total(inside) or games > MOST_GAMES:
        return f"it holds {games} games of one world and {total(inside)} of the other"
    if field := odd_field(manifest):
        return f"its {field} is {str(manifest[field])[:60]!r}"
    if manifest.get("games", games) != games:
        return f"it holds {games} games"
    if sum(stop - start for _, start, stop in manifest.get("runs", [[0, 0, games]])) != games:
        return f"its runs are not of {games} games"
    if manifest.get("edges", array_digest(edges)).get("sha256") != array_digest(edges)["sha256"]:
        return "its edges are others"
    return None
