"""Write report files so that a reader never sees half of one."""

import tempfile
from pathlib import Path

from mipsim._files import replace_file


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
    replace_file(path, text.encode())


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
