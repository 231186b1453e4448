"""Where the files of a data set are, and that they are the published ones."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mipsim._archives import read_bytes
from mipsim._validation import file_path
from mipsim._words import printable, quoted

DIRECTORY = "MIPSIM_DATA"
"""The environment variable that names the data directory where no argument does."""


_SEED = 20_261_125
"""Seed of the choice of some of the records of a large data set."""


class DataError(ValueError):
    """A data file that is missing, altered or cannot be fetched: a sentence for the user."""


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
    """A published file."""

    name: str
    sha256: str  # of its bytes
    size: int  # how many they are
    url: str  # where its publisher has it, by itself or in a tar archive


@dataclass(frozen=True)
class Published:
    """A data set as published."""

    title: str  # for messages
    # where its files are looked for, relative to the data directory; `fetch` writes to the first
    folders: tuple[str, ...]
    files: tuple[DataFile, ...]  # all of them
    # what the publisher asks of who takes them, where that is more than a reference; `fetch` leaves such files alone
    terms: str = ""


def data_directory(published: Published, directory: str | os.PathLike[str] | None) -> Path:
    """The data directory: the given directory, or that of `MIPSIM_DATA`.
    Raises DataError if none is named, or it is no folder.
    """
    where = "directory" if directory is not None else DIRECTORY
    if directory is None:
        directory = os.environ.get(DIRECTORY) or None
    first = published.files[0]
    if directory is None:
        raise DataError(
            f"{published.title} is read from a data directory, and none is named: give directory, or set {DIRECTORY}, "
            f"to the folder of {published.folders[0]}/{first.name}"
        )
    folder = file_path(where, directory)
    if not os.path.isdir(folder):  # which a name that is too long is none for
        raise DataError(
            f"{where} is {quoted(str(directory), 200)}, which is no folder; it must be a folder with {published.folders[0]}/{first.name} in it"
        )
    return folder


def read(published: Published, name: str, directory: str | os.PathLike[str] | None) -> bytes:
    """The bytes of a file of a data set, which are the published bytes.

    The file may be packed by xz, as NAME.xz: the bytes are those of the unpacked file.

    `directory`: the data directory; None = that of `MIPSIM_DATA`. Raises DataError if the file is missing, or not the
    published file.
    """
    file, path = _located(published, name, directory, (".xz",))
    try:
        content = read_bytes(path)
        if path.name != name:
            # A byte more than published shows that it is not the published file; a bomb is never unpacked.
            with lzma.open(io.BytesIO(content)) as packed:
                content = packed.read(file.size + 1)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise DataError(f"{printable(path)} cannot be read ({error}); {_replace(file)}") from error
    if problem := wrong(file, io.BytesIO(content)):
        raise DataError(f"{printable(path)} {problem}; {_replace(file)}")
    return content


@contextmanager
def archive(
    published: Published, name: str, directory: str | os.PathLike[str] | None
) -> Iterator[zipfile.ZipFile]:
    """A zip archive of a data set, open to read, whose bytes are the published ones: gigabytes are not held at once.
    `directory`: the data directory; None = that of `MIPSIM_DATA`. Raises DataError if the file is missing, not the
    published file, or cannot be read to its end.
    """
    file, path = _located(published, name, directory)
    try:
        with path.open("rb") as stream:
            if problem := wrong(file, stream):
                raise DataError(f"{printable(path)} {problem}; {_replace(file)}")
            with zipfile.ZipFile(stream) as held:
                yield held
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{printable(path)} cannot be read ({error}); {_replace(file)}") from error


def lacking(published: Published, directory: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """The names of the archives of a data set that are not in the data directory; what those that are there hold is not looked at.
    `directory`: the data directory; None = that of `MIPSIM_DATA`.
    """
    missing: list[str] = []
    for file in published.files:
        try:
            _located(published, file.name, directory)
        except DataError:
            missing.append(file.name)
    return tuple(missing)


def member(held: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The member of an archive with that name, in whatever folder.
    Raises DataError if there is none.

    >>> held = zipfile.ZipFile(io.BytesIO(), "w")
    >>> held.writestr("folder/a.txt", "words")
    >>> member(held, "a.txt").filename
    'folder/a.txt'
    """
    for info in held.infolist():
        if info.filename.rpartition("/")[2] == name:
            return info
    raise DataError(f"{held.filename} has no member {name}")


def sampled(
    parts: Iterable[tuple[np.ndarray, np.ndarray]], records: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The records of all parts: each of them in their order, or some that a fixed seed draws without replacement.
    `parts`: (inputs, labels) of the same length each; a single part is held at a time, beside the sample; `records`: how
    many; None = all. Raises ValueError if there are not so many.
    """
    if records is None:
        x, y = zip(*parts, strict=True)
        return np.concatenate(x), np.concatenate(y)
    rng, keys, some, total = np.random.default_rng(_SEED), np.empty(0), None, 0
    for part in parts:
        total += len(part[1])
        keys = np.concatenate([keys, rng.random(len(part[1]))])
        some = part if some is None else tuple(np.concatenate(both) for both in zip(some, part, strict=True))
        least = np.argsort(keys)[:records]
        keys, some = keys[least], (some[0][least], some[1][least])
    if some is None or total < records:
        raise ValueError(f"records is {records:,}; there are {total:,}")
    return some


def wrong(file: DataFile, stream: io.BytesIO | io.BufferedReader) -> str:
    """What is wrong with the bytes of an open file, or nothing."""
    size = stream.seek(0, os.SEEK_END)
    if size != file.size:
        why = "truncated" if size < file.size else "not the published file"
        return f"has {size:,} bytes of {file.size:,}: it is {why}"
    stream.seek(0)
    digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if digest != file.sha256:
        return f"has the SHA-256 {digest}, which is not that of the published file: it was altered"
    return ""


def _located(
    published: Published,
    name: str,
    directory: str | os.PathLike[str] | None,
    packed: tuple[str, ...] = (),
) -> tuple[DataFile, Path]:
    """(what is known of a file, where it is), where the name may end in an entry of `packed`."""
    file = next(f for f in published.files if f.name == name)
    base = data_directory(published, directory)
    places = [base / folder / f"{name}{end}" for folder in published.folders for end in ("", *packed)]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        by_itself = (
            f"; {published.terms}"
            if published.terms
            else f", or call mipsim.data.fetch({published.folders[0]!r}, directory)"
        )
        raise DataError(f"{printable(places[0])} is missing: get it from {file.url}{by_itself}")
    return file, path


def _replace(file: DataFile) -> str:
    return f"replace it by that of {file.url} (SHA-256 {file.sha256})"
