"""Files that others may have made: regular ones of a bounded size, and arrays whose headers agree with the bytes behind them.

Nothing is read, decompressed or allocated before its size is known and allowed, and nothing in a file is run. A file may have a GiB, and
what Python holds of it twice that: a few bytes of it may become an object of a hundred. `MIPSIM_MAX_FILE_BYTES` raises both limits.
"""

import io
import math
import os
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from mipsim._words import printable

LIMIT = "MIPSIM_MAX_FILE_BYTES"
"""The variable of the environment that sets how many bytes are read of a file, and of the arrays in it."""
_MOST = 2**30
_TEXT_OF_ARRAYS = 4
"""How many bytes are held for each of an array of text, whose entries are sorted and become Python's."""
_MOST_MEMBERS = 4096
_MOST_HEADER = 1024
_END_BYTES = 22


def most_bytes() -> int:
    """How many bytes are read of a file: 2^30, or what `MIPSIM_MAX_FILE_BYTES` says."""
    text = os.environ.get(LIMIT) or str(_MOST)
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text) >= 1):
        raise ValueError(f"{LIMIT} is {printable(text)}; it must be a whole number of bytes >= 1")
    return int(text)


def afford(needed: int) -> None:
    """Raise ValueError where Python would hold more bytes for a file than twice `most_bytes()`; the bytes of the file are among them.
    >>> afford(10**12)
    Traceback (most recent call last):
    ...
    ValueError: it would take about 1,000,000,000,000 bytes of memory; at most 2,147,483,648 are taken, and MIPSIM_MAX_FILE_BYTES raises the limit
    """
    if needed > (most := 2 * most_bytes()):
        raise ValueError(
            f"it would take about {needed:,} bytes of memory; at most {most:,} are taken, and {LIMIT} raises the limit"
        )


@contextmanager
def within_memory() -> Iterator[None]:
    """A block that ends in a sentence where the machine has less memory than a file may take."""
    try:
        yield
    except MemoryError:
        raise ValueError("there is no memory to hold what is in it") from None


def text_bytes(content: bytes) -> int:
    """What the characters of UTF-8 take in Python, which holds all of a text as wide as the widest.
    >>> text_bytes(b"abc"), text_bytes("abé".encode()), text_bytes("ab🙂".encode())
    (3, 4, 24)
    """
    highest = np.frombuffer(content, np.uint8).max(initial=0)
    return len(content) * (4 if highest >= 0xF0 else 2 if highest >= 0xC4 else 1)


def json_bytes(content: bytes) -> int:
    """What Python holds of JSON at most: the text, and an object for each of its marks.
    >>> json_bytes(b"[1, 2]"), json_bytes(b"{}")
    (242, 354)
    """
    text, count = text_bytes(content), content.count
    strings = max(text, 4 * len(content)) if b"\\u" in content else text  # an escape makes a string wide
    objects = 48 * (count(b",") + 1) + 128 * count(b"[") + 300 * count(b"{") + 128 * count(b":")
    return len(content) + text + strings + objects + 32 * count(b'"')


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
            with within_memory():
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


def arrays_of(
    content: bytes,  # of an .npz file
    names: Iterable[str] | None = None,  # of the arrays that are read; None = all
    compressed: bool = True,  # whether they may be; mipsim stores them as they are
    each: int = 0,  # bytes that what is done with them holds for each entry of the longest
) -> dict[str, np.ndarray]:
    """Arrays of an .npz file, without pickled objects.
    Raises ValueError if it is no whole archive of plain arrays, if an array's header and its bytes disagree, or if the arrays have more
    than `most_bytes()`.

    >>> out = io.BytesIO()
    >>> np.savez(out, a=np.arange(3), b=np.arange(4))
    >>> arrays_of(out.getvalue(), ["b"])
    {'b': array([0, 1, 2, 3])}
    >>> arrays_of(out.getvalue()[:-1])
    Traceback (most recent call last):
    ...
    ValueError: it is no whole .npz archive of plain arrays; it may be cut off
    """
    members = _members(content, compressed)
    wanted = list(members) if names is None else list(names)
    if lacking := [name for name in wanted if name not in members]:
        raise ValueError(f"it has no array {lacking[0]!r}; it has {printable(', '.join(members) or 'none')}")
    total, most = sum(members[name].file_size for name in wanted), most_bytes()
    if total > most:
        raise ValueError(
            f"its arrays have {total:,} bytes; at most {most:,} are read, and {LIMIT} raises the limit"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            sizes = [_checked(archive, members[name]) for name in wanted]
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise _not_whole() from error
    afford(len(content) + sum(held for held, _ in sizes) + each * max((n for _, n in sizes), default=0))
    with within_memory():
        try:
            with np.load(io.BytesIO(content), max_header_size=_MOST_HEADER) as file:
                return {name: file[members[name].filename] for name in wanted}
        except MemoryError:
            raise
        except Exception as error:  # as above
            raise _not_whole() from error


def names_of(content: bytes) -> tuple[str, ...]:
    """The names of the arrays of an .npz file."""
    return tuple(_members(content, compressed=True))


def _members(content: bytes, compressed: bool) -> dict[str, zipfile.ZipInfo]:
    # No tool that stores arrays adds a comment; without any, the end is where it must be.
    if content[-_END_BYTES:][:4] != b"PK\5\6" or content[-2:] != b"\0\0":
        raise _not_whole()
    try:
        infos = zipfile.ZipFile(io.BytesIO(content)).infolist()
    except Exception as error:  # as above
        raise _not_whole() from error
    result = {info.filename.removesuffix(".npy"): info for info in infos}
    allowed = {zipfile.ZIP_STORED, *([zipfile.ZIP_DEFLATED] if compressed else [])}
    if len(infos) > _MOST_MEMBERS or len(result) < len(infos):
        raise ValueError(f"it holds two arrays of a name, or more than {_MOST_MEMBERS:,}")
    for name, info in result.items():
        if info.flag_bits & 1 or info.compress_type not in allowed:
            raise ValueError(
                f"its array {printable(name)} is encrypted, or packed in a way that is not read; store it plainly"
            )
    return result


def _checked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> tuple[int, int]:
    """(Bytes that are held for an array, its entries). Raises ValueError unless its header, version 1.0, says what the archive says
    that the member holds.
    """
    with archive.open(info) as member:
        if np.lib.format.read_magic(member) != (1, 0):
            raise ValueError("another version")
        shape, _, dtype = np.lib.format.read_array_header_1_0(member, _MOST_HEADER)
        # What no plain array has: objects, fields, entries of no bytes, and dozens of sides.
        if dtype.hasobject or dtype.names or dtype.subdtype or not dtype.itemsize or len(shape) > 32:
            raise ValueError("no plain array")
        size = math.prod(shape) * dtype.itemsize
        if (
            min(shape, default=0) < 0
            or size != info.file_size - member.tell()
            or math.prod(side or 1 for side in shape) > most_bytes()
        ):
            raise ValueError("another size")
        return size * (_TEXT_OF_ARRAYS if dtype.kind in "US" else 1), math.prod(shape)


def _not_whole() -> ValueError:
    return ValueError("it is no whole .npz archive of plain arrays; it may be cut off")
