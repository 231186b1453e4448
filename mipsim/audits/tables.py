"""Named columns of files that a tool may have written, and of data frames: text, JSON and .npz; other tables are read by pandas.

Nothing is read before its size, and where a file says so its shape and type, are known and allowed.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._archives import afford, arrays_of, json_bytes, names_of, read_bytes, text_bytes
from mipsim._validation import held
from mipsim._words import printable

Column = Sequence[Any] | np.ndarray
SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "bar": "|", "space": " "}
"""Names of what may separate the cells of a line."""
LONGEST_ROW = 2**20
"""Characters of a row of a text: no scores need as many, and a file of a single row would be held many times over."""
A_SCORE = 128
"""Bytes that an audit holds for each score, whatever its file is: it numbers names, sorts, ranks and counts."""
_A_CELL = 72
"""Bytes of a short text and of its place in a list."""
_TEXTS = (".csv", ".tsv", ".txt")
_NO_TEXT = "it is no text of cells in UTF-8"
_EMPTY = "it is empty; it must hold a header and lines of values"


class Unclear(ValueError):
    """What only a user can say of scores.

    `what`: in words; `option`, `value`: the argument that says it, and its likely value. The command says it as an option.

    >>> print(Unclear("say what a row is of", "rows", "records"))
    say what a row is of, as rows='records'
    """

    def __init__(self, what: str, option: str, value: str) -> None:
        super().__init__(f"{what}, as {option}={value!r}")
        self.what, self.option, self.value = what, option, value


@dataclass(frozen=True)
class Table:
    """Named columns, of which only the requested columns are read."""

    kind: str  # how the file is written, such as "CSV"
    names: tuple[str, ...]
    # the columns of some names, all of the same length but for arrays
    read: Callable[[Sequence[str]], dict[str, Column]]


def table_of(file: Path, content: bytes, separator: str | None = None) -> Table:
    r"""The columns of a file; its ending says how it is written.
    `separator`: of the cells of a text; None reads it off the header.

    >>> table_of(Path("s.tsv"), b"score\tmember\n0.5\t1\n").names
    ('score', 'member')
    >>> table_of(Path("s.npy"), b"")
    Traceback (most recent call last):
    ...
    ValueError: it ends in '.npy', of a single array; store all together: numpy.savez("s.npz", score=..., member=...)
    """
    ending = file.suffix.lower()
    named = f"it ends in {printable(repr(ending), 20)}"
    if separator is not None and ending not in _TEXTS:
        raise ValueError(f"separator is given, but {named}; only text has a separator")
    if ending in _TEXTS:
        return text_table(content, separator)
    if ending in READERS:
        return READERS[ending](content)
    if ending in (".npy", ".pickle", ".pkl"):
        why = "of a single array" if ending == ".npy" else "a pickle, which may run code and is not read"
        raise ValueError(f'{named}, {why}; store all together: numpy.savez("s.npz", score=..., member=...)')
    endings = ", ".join((*_TEXTS, *READERS))
    raise ValueError(
        f"{named}; scores are read from {endings}, and in Python from what pandas reads: mi.audit(pandas.read_parquet(FILE), ...)"
    )


def content_of(file: Path) -> bytes:
    """What a file of a user holds.
    >>> content_of(Path("scores.csv"))
    Traceback (most recent call last):
    ...
    ValueError: scores.csv is no file
    """
    try:
        return read_bytes(file)
    except (FileNotFoundError, IsADirectoryError):
        raise ValueError(f"{printable(file)} is no file") from None
    except OSError as error:
        raise ValueError(error.strerror or str(error)) from None


def text_table(content: bytes, separator: str | None = None) -> Table:
    r"""The columns of a text with a header, such as CSV.

    `content`: of the file, UTF-8; `separator`: of the cells, a single character or its name in `SEPARATORS`; None takes what the header
    has of comma, semicolon and tab. Raises ValueError if it is no text, is empty, names no column or a column twice, or some line has more
    or fewer cells than the header.

    >>> table = text_table(b"alpha;beta\n0;1\n1;0\n")
    >>> table.kind, table.read(table.names)
    ('text separated by semicolons', {'alpha': ['0', '1'], 'beta': ['1', '0']})
    """
    mark = _separator(content[: 2 * LONGEST_ROW].decode("utf-8-sig", "ignore").lstrip("\r\n"), separator)
    lines = content.count(b"\n") + content.count(b"\r") + 1
    cells = lines + content.count(mark.encode())
    afford(len(content) + text_bytes(content) + cells * _A_CELL + lines * A_SCORE)
    columns: list[list[str]] = []
    try:
        for line, row in _rows(content, mark):
            columns = columns or [[] for _ in row]
            if len(row) != len(columns):
                raise ValueError(
                    f"line {line} has {len(row)} cells where the header has {len(columns)}; numbers need decimal points, and the file may be cut off"
                )
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(_NO_TEXT) from None
    if not columns or len(columns[0]) == 1:
        raise ValueError(_EMPTY)
    header = [column.pop(0).strip() for column in columns]
    if len(set(header)) < len(header) or all(map(is_number, header)):
        raise ValueError(
            f"its header {printable(', '.join(header), 60)} has a name twice, or numbers alone; name each column"
        )
    words = {mark: f"{name}s" for name, mark in SEPARATORS.items()}
    kind = "CSV" if mark == "," else f"text separated by {words.get(mark, repr(mark))}"
    return _listed(kind, dict(zip(header, columns, strict=True)))


def _listed(kind: str, columns: Mapping[str, list[Any]]) -> Table:
    return Table(kind, tuple(columns), lambda names: {name: columns[name] for name in names})


def _rows(content: bytes, mark: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text that are not empty, each with the number of its last line."""
    length = 0

    def lines() -> Iterator[str]:
        nonlocal length
        with io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="") as file:
            while line := file.readline(LONGEST_ROW + 1):
                length += len(line)
                if length > LONGEST_ROW:
                    raise ValueError(f"a row of it has more than {LONGEST_ROW:,} characters")
                yield line

    reader = csv.reader(lines(), delimiter=mark, strict=True)
    for row in reader:
        length = 0
        if row:
            yield reader.line_num, row


def _separator(text: str, given: str | None) -> str:
    if given is not None:
        mark = SEPARATORS.get(given, "\t" if given == "\\t" else given)
        if len(mark) != 1 or mark in '"\r\n' or mark.isalnum() or (not mark.isprintable() and mark != "\t"):
            raise ValueError(
                f"separator is {printable(repr(given), 20)}; it must be a single character, or a name: {', '.join(SEPARATORS)}"
            )
        return mark
    some = [mark for mark in ",;\t" if mark in text.partition("\n")[0]]
    if len(some) > 1:
        raise Unclear("its header has several separators; name that of the cells", "separator", "semicolon")
    return some[0] if some else ","


def is_number(cell: str) -> bool:
    """Whether a cell of a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return cell.isascii()


def _npz_table(content: bytes) -> Table:
    return Table("NPZ", names_of(content), lambda names: {**arrays_of(content, names, each=A_SCORE)})


def _json_table(content: bytes) -> Table:
    """An object of lists; what else it holds is left out."""
    afford(json_bytes(content) + A_SCORE * (content.count(b",") + 1))
    try:
        whole = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_once)
    except (ValueError, RecursionError):  # of bytes that are no UTF-8, too
        raise ValueError("it is no JSON, or gives a name twice; it may be cut off") from None
    if not isinstance(whole, dict):
        raise ValueError("it is no object; it must hold lists by their names")
    return _listed("JSON", {name: value for name, value in whole.items() if isinstance(value, list)})


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name is given twice")
    return result


def is_frame(scores: object) -> bool:
    """Whether it is a data frame of pandas or polars, or a dictionary of arrays."""
    return isinstance(scores, Mapping) or (hasattr(scores, "columns") and hasattr(scores, "__getitem__"))


def frame_table(frame: Any) -> Table:
    """The columns of a data frame or of a dictionary.
    >>> frame_table({"score": [0.5], "member": [1]}).names
    ('score', 'member')
    """
    mapping = isinstance(frame, Mapping)
    names = {str(name): name for name in (frame if mapping else frame.columns)}

    def read(chosen: Sequence[str]) -> dict[str, Column]:
        return {name: held(name, frame[names[name]]) for name in chosen}

    return Table("a dictionary" if mapping else "a data frame", tuple(names), read)


READERS: dict[str, Callable[[bytes], Table]] = {".json": _json_table, ".npz": _npz_table}
"""The ending of a file that is no text -> what reads its columns. A new format is a function and a row."""
