"""Files that are not what they say, made from a sound file: what a reader must refuse in a single sentence with the path."""

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def members(path: Path) -> dict[str, bytes]:
    """The members of a stored file as they are."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def rewrite(path: Path, parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    """A file with these members, its checksums right."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def npy(array: Any) -> bytes:
    """An array as a member holds it."""
    held = io.BytesIO()
    np.lib.format.write_array(held, np.asarray(array))
    return held.getvalue()


def header(text: str) -> bytes:
    """A member with this header and no data."""
    line = text.encode()
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line


def with_array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    """A forgery that changes a single array, and leaves the rest."""

    def forge(path: Path) -> None:
        with np.load(path) as file:
            parts = {key: file[key] for key in file}
        rewrite(path, members(path) | {f"{name}.npy": npy(change(parts[name]))})

    return forge


def with_member(name: str, content: bytes) -> Callable[[Path], None]:
    """A forgery that replaces a single member."""
    return lambda path: rewrite(path, members(path) | {f"{name}.npy": content})


def with_manifest(**fields: Any) -> Callable[[Path], None]:
    """A forgery that sets fields of the manifest, or leaves out those that are ...."""

    def forge(path: Path) -> None:
        with np.load(path) as file:
            old = json.loads(file["manifest"].tobytes())
        new = {k: v for k, v in {**old, **fields}.items() if v is not ...}
        text = np.frombuffer(json.dumps(new).encode(), np.uint8)
        rewrite(path, members(path) | {"manifest.npy": npy(text)})

    return forge


def _both_of_2_to_62(path: Path) -> None:
    big = np.zeros_like(np.load(path)["out"])
    big[:4] = 2**62
    with_array("out", lambda _: big)(path)
    with_array("inside", lambda _: big)(path)
    with_manifest(games=0, runs=[[11, 0, 0]])(path)


def _negative(path: Path) -> None:
    def shifted(counts: np.ndarray) -> np.ndarray:
        return counts + np.where(np.arange(counts.size) < 2, [1000, -1000] + [0] * (counts.size - 2), 0)

    with_array("out", shifted)(path)


_DEEP = "(" * 4000 + ")" * 4000

FORGERIES: dict[str, Callable[[Path], None]] = {
    "four bins of 2^62": _both_of_2_to_62,
    "negative counts": _negative,
    "edges that fall": with_array("edges", lambda e: e[::-1]),
    "edges with NaN": with_array("edges", lambda e: e * np.nan),
    "counts of float32": with_array("out", lambda counts: counts.astype(np.float32)),
    "counts in a table": with_array("out", lambda counts: counts.reshape(2, -1)),
    "too few counts": with_array("out", lambda counts: counts[1:]),
    "no counts": lambda path: rewrite(path, {k: v for k, v in members(path).items() if k != "out.npy"}),
    "games as text": with_manifest(games="5000"),
    "format as a list": with_manifest(format=[2]),
    "a manifest that is a list": with_member("manifest", npy(np.frombuffer(b"[1]", np.uint8))),
    "a manifest that is no JSON": with_member("manifest", npy(np.frombuffer(b"{", np.uint8))),
    "a manifest without end": with_member("manifest", npy(np.frombuffer(b"[" * 200_000, np.uint8))),
    "a header that is no Python": with_member("out", header("{'descr': '<i8', 'shape': (3,), 'fortran_order': }\n")),
    "a header of brackets": with_member("out", header(_DEEP + "\n")),
    "a header with a null byte": with_member("out", header("{'descr': '\0'}\n")),
    "version 3 of NPY": with_member("out", b"\x93NUMPY\x03\x00" + bytes(200)),
    "a ZIP of four times nothing": lambda path: rewrite(path, dict.fromkeys(members(path), b"")),
}  # fmt: skip
"""What is done to a sound file of 5,000 games; `hostile_files.ARRAYS` does more."""

STATED = [
    "format", "game", "attack", "seed", "games", "runs", "fidelity", "sampler", "edges", "draws", "versions",
]  # fmt: skip
OTHER = {
    "another seed": with_manifest(seed=12),
    "other games": with_manifest(runs=[[11, 5, 5005]]),
    "versions as text": with_manifest(versions="0.1.0"),
    "runs as a number": with_manifest(runs=3),
    "the same games twice": with_manifest(runs=[[11, 0, 2500], [11, 0, 2500]]),
    "games that overlap": with_manifest(runs=[[11, 1999, 4000], [12, 0, 999], [11, 0, 2000]]),
    "games of a seed of 65 bits": with_manifest(runs=[[2**64, 0, 5000]]),
    "a shard that is none": with_manifest(shard={"index": 3, "count": 2, "games": [0, 1]}),
    "no games": with_manifest(games=...),
    "no runs": with_manifest(runs=...),
    "no versions": with_manifest(versions=...),
    "no edges": with_manifest(edges=...),
    "nothing stated": with_manifest(**dict.fromkeys(STATED, ...)),
}
"""Manifests of another run, or that say too little to go on from: counts may be looked at, and no run may be resumed."""
