"""What a command writes as JSON: to a file, or for "-" to standard output."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from mipsim._files import part_of, replace_file, writable_folder
from mipsim._words import printable
from mipsim.referee.reporting.plain import plain


def place_for(out: str | None) -> TextIO:
    """Where a command prints its table: standard output, or standard error if the data go to standard output.
    Raises ValueError if the file cannot be written; before any work is done.
    """
    if out is None or out == "-":
        return sys.stdout if out is None else sys.stderr
    file = Path(out)
    writable_folder("--json", file.parent)
    try:
        part_of(file).exists()  # whose name is longer
        why = "Is a directory" if file.is_dir() else ""
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise ValueError(f"--json is {printable(repr(out))} ({why}); it must be a file that can be written")
    return sys.stdout


def write(out: str | None, text: str) -> None:
    """Write data that are JSON already; nowhere for None."""
    if out == "-":
        sys.stdout.write(text)
    elif out is not None:
        replace_file(Path(out), text)


def store(out: str | None, rows: Sequence[Any]) -> None:
    """Write rows."""
    write(out, json.dumps(plain(rows), indent=1, allow_nan=False) + "\n")
