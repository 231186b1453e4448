"""The list of the statements, a line each, which is kept so that the next asking waits for no import."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mipsim._files import replace_file
from mipsim._streams import reader_gone

if TYPE_CHECKING:
    from rich.console import Console

    from mipsim.referee import Statement

PACKAGES = ("mipsim", "sims", "verify")
"""Where the statements come from: a change of any file there makes a kept list void."""


def kept_in() -> Path:
    """The file of the kept list, in the user's cache folder: `$XDG_CACHE_HOME`, or `~/.cache`.

    Examples:
        >>> kept_in().parts[-2:]
        ('mipsim', 'statements.json')
    """
    given = os.environ.get("XDG_CACHE_HOME")
    return (Path(given) if given else Path(os.path.expanduser("~"), ".cache")) / "mipsim" / "statements.json"


def state_of_sources(checkout: Path) -> str:
    """A digest of the Python, the data directory, the checkout, and the name, size and time of change of every source.

    Size and time of change decide for Python too whether a compiled module is still that of its source.

    Examples:
        >>> here = Path(__file__).parents[1]
        >>> state_of_sources(here) == state_of_sources(here)
        True
    """
    digest = hashlib.sha256(repr((sys.version, os.environ.get("MIPSIM_DATA"), checkout)).encode())
    for package in PACKAGES:
        for path in sorted((checkout / package).rglob("*")):
            if path.suffix in (".py", ".json", ".toml") and "__pycache__" not in path.parts:
                found = path.stat()
                said = (str(path.relative_to(checkout)), found.st_size, found.st_mtime_ns)
                digest.update(repr(said).encode())
    return digest.hexdigest()


def lines_of(statements: Iterable[Statement]) -> list[str]:
    """Name, kind, number of points and what is said, for each statement.

    Examples:
        >>> lines_of([])
        []
    """
    from mipsim.referee.reporting.wording import plural

    return [
        f"{one.name:<38}  {type(one.kind).__name__.lower():<8}  {plural(len(one.points), 'point'):>11}  "
        f"{' '.join(one.says.split())}"
        for one in statements
    ]


def show(lines: Iterable[str], console: Console) -> None:
    """Print the lines, cut to the width of a terminal and whole elsewhere.

    Examples:
        >>> from rich.console import Console
        >>> show(["one", "two"], Console())
        one
        two
    """
    for line in lines:
        cut = console.is_terminal and len(line) > console.width
        text = line[: console.width - 1] + "…" if cut else line
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def keep(state: str, lines: list[str], file: Path) -> None:
    """Keep a list with the state of the sources that it was made from; where nothing can be written, do without.

    Examples:
        >>> keep("now", ["one"], Path("/dev/null/statements.json"))
    """
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps({"state": state, "lines": lines}).encode())


def kept(state: str, file: Path) -> list[str] | None:
    """The list that was kept of this state of the sources; None if there is none, or what is there is none.

    Examples:
        >>> kept("now", Path("/nowhere/statements.json")) is None
        True
    """
    try:
        found = json.loads(file.read_bytes())
        return list(map(str, found["lines"])) if found["state"] == state else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def list_all(file: Path) -> int:
    """List the register's statements, from what was kept in `file` if it still holds; returns the exit status.

    Examples:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "statements.json"
        >>> keep(state_of_sources(Path(__file__).parents[1]), ["a statement"], file)
        >>> list_all(file)
        a statement
        0
    """
    from rich.console import Console

    state = state_of_sources(Path(__file__).parents[1])
    lines = kept(state, file)
    if lines is None:
        from verify.register import REGISTER

        lines = lines_of(REGISTER.values())
        keep(state, lines, file)
    try:
        show(lines, Console())
        sys.stdout.flush()
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:  # a full disk
        reader_gone()  # what is left goes nowhere, or Python complains when it ends
        print(f"python -m verify: the list cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
