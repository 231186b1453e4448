"""Files that are replaced whole or not at all, by a single writer at a time."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mipsim._signals import unfinished
from mipsim._validation import file_path
from mipsim._words import printable

PATIENCE = 30.0
"""Seconds to wait for another writer of the same file: a write takes some milliseconds."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def is_full(error: BaseException | None) -> bool:
    """Whether the disk does not take a file: it is full, its quota is used up, or it fails.
    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(FileNotFoundError())
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in _FULL


@contextmanager
def locked(path: Path, patience: float | None = None) -> Iterator[None]:
    """Hold a lock file, which is gone afterwards; a killed process's lock is free.
    Raises OSError if another process has it for longer than `patience` seconds, by default `PATIENCE`.
    """
    patience = PATIENCE if patience is None else patience
    import filelock  # as long to import as all of mipsim; most sessions write nothing

    held = filelock.FileLock(path, timeout=patience, poll_interval=0.005)
    try:
        try:
            held.acquire()
        except filelock.Timeout:
            raise OSError(errno.EBUSY, f"another process has held {path} for {patience:g} s") from None
        yield
    finally:
        if held.is_locked:
            with suppress(OSError):  # some systems remove no open file
                path.unlink()  # while it is held: who waits for it sees that it is gone, and makes another
            held.release()


def replace_file(
    path: str | os.PathLike[str],
    content: bytes | str,
    keep: Callable[[], bool] = lambda: False,
    *,
    follow: bool = True,
) -> None:
    """Replace a file by `content`: it appears whole or not at all, also where processes are killed or write at once.

    The content goes to a temporary file beside it, `.NAME.part`, which is synced and renamed, while `.NAME.lock` is held; what a
    killed writer has left is removed. Where `path` is a symbolic link, the file that it names is replaced, or unless `follow` the link
    itself; permissions of a file are preserved. `content`: a text is written as UTF-8. `keep`: called when no other process can write; if true, the file is left as it is.
    """
    target = _followed(path) if follow else Path(path)
    part = part_of(target)
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")  # names of files may hold what is no character
    mode = target.stat().st_mode if target.exists() and (follow or not target.is_symlink()) else None
    if mode is not None and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    with locked(part.with_suffix(".lock")):
        if keep():
            return
        beside = {str(part), str(part.with_suffix(".lock"))}
        try:
            unfinished.update(beside)
            part.unlink(missing_ok=True)
            with part.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                part.chmod(stat.S_IMODE(mode))
            os.replace(part, target)
        finally:
            part.unlink(missing_ok=True)
            unfinished.difference_update(beside)


def writable_folder(name: str, folder: object, *, make: bool = True) -> Path:
    """Make `folder` if need be, unless `make` is False, and return it, or raise a single sentence why nothing can be written there."""
    folder = file_path(name, folder)
    try:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        # Where nothing is made, the nearest folder that is there shall take it.
        with tempfile.TemporaryFile(dir=next(p for p in (folder, *folder.absolute().parents) if p.exists())):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"{name} is {printable(repr(str(folder)))} ({reason}); it must be a folder that can be written"
        ) from None
    return folder


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove what a killed writer of `path` has left, if there is anything."""
    with suppress(OSError):
        part = part_of(_followed(path))
        if part.exists() or part.with_suffix(".lock").exists():
            with locked(part.with_suffix(".lock"), 0.0):
                part.unlink(missing_ok=True)


def _followed(path: str | os.PathLike[str]) -> Path:
    """What a link names, whether or not it exists; a loop of links is an error."""
    try:
        return Path(os.path.realpath(path, strict=True))
    except FileNotFoundError:
        return Path(os.path.realpath(path))


def part_of(target: Path) -> Path:
    """The temporary file beside `target`, to which what is to replace it is written.
    >>> part_of(Path("counts.npz"))
    PosixPath('.counts.npz.part')
    """
    # In the same folder, so that the rename stays within the same file system.
    return target.parent / f".{target.name}.part"
