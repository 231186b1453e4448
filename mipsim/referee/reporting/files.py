"""Write report files so that a reader never sees half of one."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace the file `path` by `text` (UTF-8): a temporary file beside it, synced, then renamed over it.

    Raises:
        OSError: if the folder cannot be written; the file that was there is then untouched.

    Examples:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> write_atomically(folder / "a.txt", "whole")
        >>> [file.name for file in folder.iterdir()], (folder / "a.txt").read_text()
        (['a.txt'], 'whole')
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        # mkstemp makes the file private; a report is made to be read, so it gets the usual rights.
        os.chmod(temporary, 0o644)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def writable_folder(name: str, folder: Path) -> Path:
    """Make `folder` if need be and return it, or say in one sentence why nothing can be written there.

    Raises:
        ValueError: naming the argument `name`, the folder and the reason.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"{name} is {str(folder)!r} ({reason}); it must be a folder that can be written"
        ) from None
    return folder
