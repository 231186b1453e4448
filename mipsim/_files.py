"""Files that are replaced whole or not at all, by a single writer at a time."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mipsim._words import printable

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None

PATIENCE = 30.0
"""Seconds to wait for another writer of the same file: a write takes some milliseconds."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def is_full(error: BaseException | None) -> bool:
    """Whether the disk does not take a file: it is full, its quota is used up, or it fails.
    >>> is_full(OSError(errno.ENOSPC, "No space left on device")), is_full(FileNotFoundError())
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in _FULL


def replace_file(
    path: str | os.PathLike[str], content: bytes, keep: Callable[[], bool] = lambda: False
) -> None:
    """Replace a file by `content`: it appears whole or not at all, also where processes are killed or write at once.

    The content goes to a temporary file beside it, `.NAME.part`, which is synced and renamed. That file is created
    exclusively, so that no link is followed, and locked while its writer lives: the next writer waits for it, or removes what a
    killed writer has left. Where `path` is a symbolic link, the file that it names is replaced; its permissions are preserved.
    """
    target = _followed(path)
    part = part_of(target)
    old = target.stat() if target.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    handle = _claim(part, 0o666 if old is None else stat.S_IMODE(old.st_mode))
    try:
        if keep():
            return
        if old is not None and hasattr(os, "fchown"):
            with suppress(OSError):  # only the superuser may give files away
                os.fchown(handle, old.st_uid, old.st_gid)
            os.fchmod(handle, stat.S_IMODE(old.st_mode))
        with open(handle, "wb", closefd=False) as file:
            file.write(content)
        os.fsync(handle)
        if fcntl is None:  # such a system renames no open file; elsewhere closing it would give the lock up
            os.close(handle)
            handle = None
        os.replace(part, target)
        _sync_folder(target.parent)
    finally:
        if handle is not None:
            # Ours until it is renamed; after that the name may be another writer's.
            if _is_at(part, handle):
                part.unlink()
            os.close(handle)


def writable_folder(name: str, folder: Path, *, make: bool = True) -> Path:
    """Make `folder` if need be, unless `make` is False, and return it, or raise a single sentence why nothing can be written there."""
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
    """Remove the temporary file that a killed writer of `path` has left, if there is any."""
    with suppress(OSError):
        _swept(part_of(_followed(path)))


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
    # In the same folder, so that the rename stays within the same file system; the same name, so that writers meet there.
    return target.parent / f".{target.name}.part"


def _claim(part: Path, mode: int) -> int:
    """Create the temporary file and lock it, as soon as nobody else has it."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            if not _swept(part):
                if time.monotonic() > end:
                    raise OSError(
                        errno.EBUSY, f"another process has held {part} for {PATIENCE:g} s"
                    ) from None
                time.sleep(0.005)
            continue
        except BaseException:  # an interruption after it was created: nobody has its handle
            _remove_ours(part)
            raise
        try:
            # Another writer may take the file for a dead writer's, and remove it, before it is locked.
            if _lock(handle) is not False and _is_at(part, handle):
                return handle
        except BaseException:
            os.close(handle)
            _remove_ours(part)
            raise
        os.close(handle)


def _remove_ours(part: Path) -> None:
    with suppress(OSError):
        _swept(part)  # leaves a file that another writer has locked meanwhile


def _swept(part: Path) -> bool:
    """Remove a temporary file whose writer is gone; whether there is none now."""
    try:
        result = part.lstat()
        if not stat.S_ISREG(result.st_mode):  # a link or a pipe that somebody has put here
            part.unlink()
            return True
        links = getattr(os, "O_NOFOLLOW", 0)
        try:
            handle = os.open(part, os.O_RDWR | links)  # some file systems lock only what can be written
        except PermissionError:  # the replacement of a read-only file is itself read-only
            handle = os.open(part, os.O_RDONLY | links)
    except FileNotFoundError:
        return True
    try:
        locked = _lock(handle)
        # Where files cannot be locked, a file that is as old as this has no writer any more.
        dead = time.time() - result.st_mtime > PATIENCE if locked is None else locked
        if dead and _is_at(part, handle):
            part.unlink()
        return dead
    finally:
        os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file until it is closed: True, False if another process has it, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def lock(handle: int) -> bool:
    """Lock an open file until it is closed; False if another process has locked it."""
    return _lock(handle) is not False


def _is_at(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can sync a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
