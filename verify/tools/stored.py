"""The rows of a suite as JSON."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from mipsim._files import replace_file, writable_folder
from mipsim.referee.reporting.plain import plain


def place_for(out: str | None) -> TextIO:
    """Where a suite prints its table: standard output, or standard error if the rows go to standard output, "-".
    Raises ValueError if the folder of the file cannot be written.
    """
    if out not in (None, "-"):
        writable_folder("--json", Path(out).parent)
    return sys.stderr if out == "-" else sys.stdout


def store(out: str | None, rows: Sequence[Any]) -> None:
    """Write rows to a file, or for "-" to standard output."""
    text = json.dumps(plain(rows), indent=1, allow_nan=False) + "\n"
    if out == "-":
        sys.stdout.write(text)
    elif out is not None:
        replace_file(Path(out), text)
