"""A list that stands in a file beside what it lists, so that `--list` waits for no import; void once a source says otherwise."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mipsim._files import replace_file
from mipsim._streams import reader_gone

CHECKOUT = Path(__file__).parents[1]
Rows = list[list[str]]


@dataclass(frozen=True)
class KeptList:
    """Rows of words, with a digest of each source from which they follow; `python -m verify.listing` writes the lists of this checkout.

    Attributes:
        file: the JSON file.
        sources: the files in which the words are written, all of them.
        made: makes the rows anew, which may import what it likes.

    Examples:
        >>> from tempfile import mkdtemp
        >>> source = Path(mkdtemp(), "names.py")
        >>> size = source.write_text("NAMES = 'one'")
        >>> kept = KeptList(source.with_suffix(".json"), lambda: [source], lambda: [["one"]])
        >>> kept.current() is None, kept.write(), kept.current(), kept.write()
        (True, True, [['one']], False)
    """

    file: Path
    sources: Callable[[], Iterable[Path]]
    made: Callable[[], Rows]

    def current(self) -> Rows | None:
        """The kept rows; None where a source has changed, come or gone since, or the file holds no list."""
        try:
            kept = json.loads(self.file.read_bytes())
            if kept["sources"] != self._digests():
                return None
            return [[str(word) for word in row] for row in kept["rows"]]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def rows(self) -> Rows:
        """The rows as they are now."""
        kept = self.current()
        return self.made() if kept is None else kept

    def write(self) -> bool:
        """Keep the rows as they are now; returns whether the file is another one than before."""
        # A line for each source and row: branches that change different ones merge.
        sources = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(said)}" for name, said in self._digests().items()
        )
        rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in self.made())
        text = f'{{\n "sources": {{\n{sources}\n }},\n "rows": [\n{rows}\n ]\n}}\n'
        if self.file.exists() and self.file.read_text("utf-8") == text:
            return False
        replace_file(self.file, text.encode())
        return True

    def _digests(self) -> dict[str, str]:
        """Of each source, whatever ends its lines: SHA-256."""
        found = {}
        for path in sorted(self.sources()):
            name = path.relative_to(CHECKOUT) if path.is_relative_to(CHECKOUT) else path
            found[name.as_posix()] = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
        return found


def show(lines: Iterable[str]) -> None:
    """Print the lines, cut to the width of a terminal and whole elsewhere.

    Examples:
        >>> show(["one", "two"])
        one
        two
    """
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for line in lines:
        print(line if width is None or len(line) <= width else f"{line[: width - 1]}…")


def answer(lines: Sequence[str], command: str) -> int:
    """Show the lines as all that a command does; returns its exit status: 0, or 1 where a disk is full.

    Examples:
        >>> answer(["one"], "python -m sims list")
        one
        0
    """
    try:
        show(lines)
        sys.stdout.flush()  # while a reader that has gone can be told from a full disk
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:  # a full disk
        reader_gone()  # what is left goes nowhere, or Python complains when it ends
        print(f"{command}: the list cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0
