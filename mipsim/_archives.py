"""Files that others may have made: regular ones of a bounded size, and arrays whose headers agree with the bytes behind them.

Nothing is read, decompressed or allocated before its size is known and allowed, and nothing in a file is run. `MIPSIM_MAX_FILE_BYTES`
raises the limit.
"""

import io
import math
import os
import re
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mipsim._words import printable

LIMIT = "MIPSIM_MAX_FILE_BYTES"
"""The variable of the environment that sets how many bytes are read of a file, and of the arrays in it."""
_MOST = 2**30
_MOST_LIST = 2**20
"""Bytes of the list of an archive's members: twenty thousand of them."""
_MOST_HEADER = 1024
_END = b"PK\5\6"
_END_BYTES = 22
_ITEM = (
    rb"\s*'(descr|fortran_order|shape)'\s*:\s*('[<>=|]?[biufcmMSU]\d{1,7}(?:\[\w{1,4}\])?'"
    rb"|True|False|\((?:\d{1,19},\s?){0,32}(?:\d{1,19})?\))\s*"
)
_HEADER = re.compile(rb"\{" + rb",".join([_ITEM] * 3) + rb",?\s*\}\s*")
"""The header of a plain array, as NPY 1.0 has it; no other text is given to Python's own reader of literals."""


class Header(NamedTuple):
    """What an array says of itself, and its bytes bear out."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]  # of its entries: booleans, numbers, dates or text
    order: str  # "C" or "F", how its entries are laid out
    begin: int  # where they begin in the member
    size: int  # their bytes


def most_bytes() -> int:
    """How many bytes are read of a file: 2^30, or what `MIPSIM_MAX_FILE_BYTES` says."""
    text = os.environ.get(LIMIT) or str(_MOST)
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) >= 1):
        raise ValueError(f"{LIMIT} is {printable(text)}; it must be a whole number of bytes >= 1")
    return int(text)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a regular file, whose size is looked at before."""
    most = most_bytes()
    try:
        # A pipe would be waited for.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(handle, "rb") as file:
            held = os.fstat(handle)
            if stat.S_ISDIR(held.st_mode):
                raise IsADirectoryError(21, "Is a directory")
            if not stat.S_ISREG(held.st_mode):  # a device never ends
                raise ValueError(f"{printable(path)} is no regular file; name another")
            if held.st_size > most:
                raise ValueError(
                    f"{printable(path)} has {held.st_size:,} bytes; at most {most:,} are read, and {LIMIT} raises the limit"
                )
            return file.read(held.st_size)  # not more: room for all that is requested is made before
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"{printable(path)} cannot be read: {reason}") from error
    except ValueError as error:
        if "null" in str(error) or isinstance(error, UnicodeError):  # which no name of a file holds
            raise ValueError(f"{printable(path)} is no name of a file; name another") from None
        raise


class Archive:
    """The arrays of an .npz file.
    >>> out = io.BytesIO()
    >>> np.savez(out, a=np.arange(3))
    >>> archive = Archive(out.getvalue())
    >>> archive.names, archive.header("a").shape, archive.read(["a"])["a"]
    (('a',), (3,), array([0, 1, 2]))
    >>> Archive(out.getvalue()[:-1])
    Traceback (most recent call last):
    ...
    ValueError: it is no whole .npz archive of plain arrays; it may be cut off
    """

    def __init__(self, content: bytes, compressed: bool = True) -> None:
        # No tool that stores arrays adds a comment; without any, the end is where it must be.
        if content[-_END_BYTES:][:4] != _END or content[-2:] != b"\0\0":
            raise _not_whole()
        try:
            file = _Listing(content)
            self._archive = zipfile.ZipFile(file)
            file.listed = True
        except Exception as error:  # whatever a reader of hostile bytes may raise
            raise _not_whole() from error
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            name = info.filename.removesuffix(".npy")
            if name in self._members:
                raise ValueError(
                    f"it holds two arrays named {printable(name)}; each must have a name of its own"
                )
            allowed = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} if compressed else {zipfile.ZIP_STORED}
            if info.flag_bits & 1 or info.compress_type not in allowed:
                raise ValueError(
                    f"its array {printable(name)} is encrypted, or packed in a way that is not read; store it plainly"
                )
            self._members[name] = info

    @property
    def names(self) -> tuple[str, ...]:
        """Of its arrays."""
        return tuple(self._members)

    def header(self, name: str) -> Header:
        """What an array says of itself, which its bytes bear out."""
        info = self._members[name]
        try:
            with self._archive.open(info) as member:
                begin = member.read(10)
                length = int.from_bytes(begin[8:], "little")
                text = member.read(length) if length <= _MOST_HEADER else b""
            report = _HEADER.fullmatch(text) if begin.startswith(b"\x93NUMPY\1\0") else None
            message = dict(zip(report.groups()[::2], report.groups()[1::2], strict=True)) if report else {}
            dtype = np.dtype(message[b"descr"].decode("ascii").strip("'"))
            shape = tuple(int(side) for side in re.findall(rb"\d+", message[b"shape"]))
            order = {b"True": "F", b"False": "C"}[message[b"fortran_order"]]
        except Exception as error:  # as above
            raise _not_whole(name) from error
        size, held = math.prod(shape) * dtype.itemsize, info.file_size - 10 - length
        if (
            size != held
            or not dtype.itemsize
            or (size == 0 and math.prod(side or 1 for side in shape) > most_bytes())
        ):
            raise ValueError(
                f"its array {printable(name)} says shape {printable(shape)} of {dtype}, which are not the {held:,} bytes that it holds"
            )
        return Header(shape, dtype, order, 10 + length, size)

    def read(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Arrays by their names; others are not read."""
        headers = {name: self.header(name) for name in names}
        total, most = sum(header.size for header in headers.values()), most_bytes()
        if total > most:
            raise ValueError(
                f"its arrays have {total:,} bytes; at most {most:,} are read, and {LIMIT} raises the limit"
            )
        return {name: self._read(name, header) for name, header in headers.items()}

    def _read(self, name: str, header: Header) -> np.ndarray:
        try:
            with self._archive.open(self._members[name]) as member:
                member.read(header.begin)
                content = member.read(
                    header.size
                )  # to the end of the member, where its checksum is looked at
            array = np.frombuffer(content, header.dtype)
            return array.reshape(header.shape, order="F" if header.order == "F" else "C")
        except Exception as error:  # as above
            raise _not_whole(name) from error


class _Listing(io.BytesIO):
    """A file of which no long read is made until its list of members is known, however the list says where and how long it is."""

    listed = False

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(0, self.getbuffer().nbytes - self.tell())
        size = left if size is None or size < 0 else min(size, left)
        if not self.listed and size > _MOST_LIST:
            raise ValueError("too long a list")
        return super().read(size)


def _not_whole(array: str = "") -> ValueError:
    where = f": {printable(array)} is none" if array else ""
    return ValueError(f"it is no whole .npz archive of plain arrays{where}; it may be cut off")


def arrays_of(path: Path, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Arrays of a file that mipsim has stored.
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.npz"
    >>> np.savez(file, a=np.arange(3), b=np.arange(4))
    >>> arrays_of(file, ["b"])
    {'b': array([0, 1, 2, 3])}
    """
    archive = Archive(read_bytes(path), compressed=False)
    if lacking := [name for name in names if name not in archive.names]:
        raise ValueError(f"it has no array {lacking[0]!r}")
    return archive.read(names)
