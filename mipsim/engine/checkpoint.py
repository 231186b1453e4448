"""Histograms on disk: NPZ without pickle, replaced whole or not at all, and believed only where their digest agrees.

A file is read with suspicion: that it is a regular file, its size, the names, types and sizes of its members are checked
before any of them is read, so that no file can make its reader wait, run code or use more memory than the file is long.
"""

import hashlib
import io
import json
import os
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from mipsim._files import replace_file
from mipsim._validation import file_path
from mipsim.engine.manifest import FORMAT, array_digest, odd_field

MOST_BYTES, MOST_TEXT = 2**30, 2**24
"""The longest file and the longest manifest that are written and read: 44 million edges, and what any game needs to be described."""
MOST_GAMES = 2**63 - 1
"""What an int64 holds; counts are added up as Python's whole numbers, which do not overflow."""

_ARRAYS = {"edges": np.dtype("<f8"), "out": np.dtype("<i8"), "inside": np.dtype("<i8")}
_MEMBERS = {**_ARRAYS, "manifest": np.dtype("u1")}
_END = struct.Struct("<4s4H2LH")
"""The record that ends a ZIP file: signature, two disks, twice the number of members, size and place of their list, a comment."""
_MOST_LIST = 4096  # bytes; the list of four members takes a few hundred


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
    if len(text) > MOST_TEXT or size > MOST_BYTES:
        raise ValueError(
            f"counts cannot be written to {path}: {size} bytes with a manifest of {len(text)} bytes; a file may have "
            f"{MOST_BYTES} and {MOST_TEXT}, so give fewer edges"
        )
    held = io.BytesIO()
    # NumPy 2.0 stores an argument `allow_pickle` as an array; pickled is none of these.
    np.savez(held, **arrays, manifest=np.frombuffer(text, np.uint8))  # pyright: ignore[reportArgumentType]
    try:
        replace_file(path, held.getvalue(), keep)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"counts cannot be written to {path}: {reason}") from error


def read_counts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_counts` wrote: a dict with "edges", "out", "inside" and "manifest".

    A file that was stored before counts had a digest is read with a warning: only the checksum of its format vouches for it.

    Raises:
        FileNotFoundError: if there is no such file.
        OSError: one sentence with the path, if the system does not let it be read.
        ValueError: one sentence with the path, if the file is truncated, corrupt, changed or of another kind.
    """
    path = file_path("path", path)
    try:
        held = path.stat()
        if stat.S_ISDIR(held.st_mode):
            raise IsADirectoryError(21, "Is a directory")
        if not stat.S_ISREG(held.st_mode):  # a pipe would be waited for, a device never ends
            raise ValueError(f"{path} is no regular file; name another")
        if held.st_size > MOST_BYTES:
            raise ValueError(
                f"{path} has {held.st_size} bytes; stored counts have at most {MOST_BYTES}, so name another"
            )
        with path.open("rb") as file:
            content = file.read(MOST_BYTES)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{path} cannot be read: {reason}") from error
    try:
        read, manifest = _parts(io.BytesIO(content))
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError(
            f"{path} is truncated, corrupt or not a stored histogram; remove it or name another"
        ) from error
    written = manifest.get("format", FORMAT)
    if written != FORMAT:
        raise ValueError(
            f"{path} holds counts of format {written}; this version of mipsim reads format {FORMAT}: play them again"
        )
    digest = manifest.pop("sha256", None)
    if digest is not None and digest != _digest(read, manifest):
        raise ValueError(
            f"{path} does not hold what its manifest says: the digest is another; remove it or name another"
        )
    if fault := _fault(read, manifest):
        raise ValueError(f"{path} does not hold what its manifest says: {fault}; remove it or name another")
    if digest is None:
        warnings.warn(
            f"{path} holds no digest of its counts, as those stored before they had one; whether they were changed cannot be told",
            stacklevel=2,
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


def _parts(file: BinaryIO) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    file.seek(-_END.size, os.SEEK_END)
    signature, *_, members, length, _, comment = _END.unpack(file.read())
    # Asked before the list of members is read, which zipfile would hold whole, however long it is.
    if signature != b"PK\5\6" or members != len(_MEMBERS) or length > _MOST_LIST or comment:
        raise ValueError("not as it was written")
    with zipfile.ZipFile(file) as archive:
        found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        if set(found) != set(_MEMBERS):
            raise ValueError("other members")
        # What is stored as it is has no more bytes than the file: nothing is ever decompressed.
        if any(i.compress_type != zipfile.ZIP_STORED or i.flag_bits & 1 for i in found.values()):
            raise ValueError("compressed or encrypted")
        if found["manifest"].file_size > MOST_TEXT:
            raise ValueError("too long a manifest")
        read = {name: _array(archive, found[name], dtype) for name, dtype in _MEMBERS.items()}
    manifest = json.loads(read.pop("manifest").tobytes())
    if not isinstance(manifest, dict):
        raise ValueError("no manifest")
    return read, manifest


def _array(archive: zipfile.ZipFile, info: zipfile.ZipInfo, dtype: np.dtype[Any]) -> np.ndarray:
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError("another format")
        shape, _, found = np.lib.format.read_array_header_1_0(member)
        if found.newbyteorder("<") != dtype or len(shape) != 1:
            raise ValueError("another type or shape")
        # To the end of the member, where its checksum is looked at.
        array = np.frombuffer(member.read(), found)
    if array.shape != shape:
        raise ValueError("another length")
    return array


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
