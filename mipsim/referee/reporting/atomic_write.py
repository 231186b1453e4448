"""Write report files so that a reader never sees an incomplete file."""

from pathlib import Path

from mipsim._files import replace_file


def write_atomically(path: Path, text: str) -> None:
    """Replace the file `path` by `text` (UTF-8): a temporary file beside it, synced, then renamed over it.
    Raises OSError if the folder cannot be written; the file that was there is then untouched.
    """
    replace_file(
        path, text.encode("utf-8", "backslashreplace")
    )  # names of files may hold what is no character
