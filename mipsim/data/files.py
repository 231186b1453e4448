"""Where the files of a data set are, and that they are the published ones."""

from __future__ import annotations

import hashlib
import lzma
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DIRECTORY = "MIPSIM_DATA"
"""The environment variable that names the data directory where no argument does."""


class DataError(ValueError):
    """A data file that is missing, altered or cannot be fetched: one sentence for the user."""


@dataclass(frozen=True, repr=False)
class DataSet:
    """Labelled records.

    Attributes:
        x: the inputs, float32, the first axis counts the records; images are (N, height, width, channels) in [0, 1].
        y: the labels, shape (N,): int64 numbers of classes from 0, or float64 values to be predicted.
        classes: the names of the classes, in the order of their numbers; empty where y is no class.
        features: the names of the columns of a table; empty for images.
    """

    x: np.ndarray
    y: np.ndarray
    classes: tuple[str, ...] = ()
    features: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return f"DataSet({len(self):,} records of shape {self.x.shape[1:]}, {len(self.classes)} classes)"


@dataclass(frozen=True)
class DataFile:
    """A published file.

    Attributes:
        name: of the file.
        sha256: of its bytes.
        size: how many they are.
        url: where its publisher has it, by itself or in a tar archive.
    """

    name: str
    sha256: str
    size: int
    url: str


@dataclass(frozen=True)
class Published:
    """A data set as published.

    Attributes:
        title: for messages.
        folders: where its files are looked for, relative to the data directory; `fetch` writes to the first.
        files: all of them.
    """

    title: str
    folders: tuple[str, ...]
    files: tuple[DataFile, ...]


def data_directory(published: Published, directory: str | os.PathLike[str] | None) -> Path:
    """The data directory: the one given, or that of `MIPSIM_DATA`.

    Raises:
        DataError: if none is named, or it is no folder.
    """
    said = f"directory is {str(directory)!r}"
    if directory is None:
        directory = os.environ.get(DIRECTORY) or None
        said = f"{DIRECTORY} is {str(directory)!r}"
    first = published.files[0]
    if directory is None:
        raise DataError(
            f"{published.title} is read from a data directory, and none is named: give directory, or set {DIRECTORY}, to a folder with "
            f"{published.folders[0]}/{first.name} in it, from {first.url} (SHA-256 {first.sha256})"
        )
    if not Path(directory).is_dir():
        raise DataError(
            f"{said}, which is no folder; it must be one with {published.folders[0]}/{first.name} in it, from {first.url} "
            f"(SHA-256 {first.sha256})"
        )
    return Path(directory)


def read(published: Published, name: str, directory: str | os.PathLike[str] | None) -> bytes:
    """The bytes of one file of a data set, which are the published ones.

    The file may be packed by xz, as NAME.xz: the bytes are those of the unpacked one.

    Args:
        published: the data set.
        name: of the file.
        directory: the data directory; None = that of `MIPSIM_DATA`.

    Raises:
        DataError: if the file is missing, or not the published one.
    """
    file = next(f for f in published.files if f.name == name)
    base = data_directory(published, directory)
    places = [base / folder / f"{name}{packed}" for folder in published.folders for packed in ("", ".xz")]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise DataError(
            f"{name} of {published.title} is missing: get it from {file.url} (SHA-256 {file.sha256}) and put it at {places[0]}, or, "
            f"where there is a network, call mipsim.data.fetch({published.folders[0]!r}, {str(base)!r})"
        )
    try:
        content = path.read_bytes()
        if path.suffix == ".xz" and path.name != name:
            content = lzma.decompress(content)
    except (OSError, lzma.LZMAError) as error:
        raise DataError(f"{path} cannot be read ({error}); {_replace(file)}") from error
    if problem := wrong(file, content):
        raise DataError(f"{path} {problem}; {_replace(file)}")
    return content


def wrong(file: DataFile, content: bytes) -> str:
    """What is wrong with these bytes, or nothing."""
    if len(content) < file.size:
        return f"has {len(content):,} bytes of {file.size:,}: it is truncated"
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        return f"has the SHA-256 {digest}, which is not that of the published file: it was altered"
    return ""


def _replace(file: DataFile) -> str:
    return f"replace it by that of {file.url} (SHA-256 {file.sha256})"
