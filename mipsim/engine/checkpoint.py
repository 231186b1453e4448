"""Histograms on disk: NPZ without pickle, written to a temporary name, synced and renamed."""

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from mipsim.engine.manifest import FORMAT, array_digest

_ARRAYS = ("edges", "out", "inside")


def write_counts(
    path: str | os.PathLike[str],
    edges: np.ndarray,
    out: np.ndarray,
    inside: np.ndarray,
    manifest: Mapping[str, Any],
) -> None:
    """Write counts with their manifest; the file appears whole or not at all, and an old one stays until then.

    Raises:
        OSError: one sentence with the path, if the folder or disk does not take it; the old file is untouched.
    """
    path = Path(path)
    text = np.frombuffer(json.dumps(dict(manifest)).encode(), dtype=np.uint8)
    # In the same folder, so that the rename stays within one file system; one name a process.
    part = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        with part.open("wb") as file:
            np.savez(file, edges=edges, out=out, inside=inside, manifest=text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
        _sync_folder(path.parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"counts cannot be written to {path}: {reason}") from error
    finally:
        with suppress(OSError):
            part.unlink()


def read_counts(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `write_counts` wrote: a dict with "edges", "out", "inside" and "manifest".

    Raises:
        FileNotFoundError: if there is no such file.
        OSError: one sentence with the path, if the system does not let it be read.
        ValueError: one sentence with the path, if the file is truncated, corrupt or of another kind.
    """
    path = Path(path)
    try:
        # np.load leaves a file open that it cannot read, unless the file is ours to close.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            read = {name: np.asarray(file[name]) for name in _ARRAYS}
            manifest = json.loads(file["manifest"].tobytes().decode())
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{path} cannot be read: {reason}") from error
    except (
        ValueError,
        KeyError,
        EOFError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{path} is truncated, corrupt or not a stored histogram; remove it or name another"
        ) from error
    if not isinstance(manifest, dict) or not _is_sound(read, manifest):
        raise ValueError(f"{path} does not hold what its manifest says; remove it or name another")
    written = manifest.get("format", FORMAT)
    if written != FORMAT:
        raise ValueError(
            f"{path} holds counts of format {written}; this version of mipsim reads format {FORMAT}: play them again"
        )
    return {**read, "manifest": manifest}


def _is_sound(read: Mapping[str, np.ndarray], manifest: Mapping[str, Any]) -> bool:
    edges, out, inside = (read[name] for name in _ARRAYS)
    if edges.dtype != np.float64 or out.dtype != np.int64 or inside.dtype != np.int64:
        return False
    if edges.ndim != 1 or out.shape != (edges.size + 1,) or inside.shape != out.shape:
        return False
    games, digest = manifest.get("games"), manifest.get("edges")
    if games is not None and not games == out.sum() == inside.sum():
        return False
    return not isinstance(digest, dict) or digest.get("sha256") == array_digest(edges)["sha256"]


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can sync a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
