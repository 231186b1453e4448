"""Named columns of files that any tool may have written, and of data frames: text, JSON, parquet and .npz.

Nothing is read before its size, and where a file says so its shape and type, are known and allowed.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._archives import LIMIT, arrays_of, most_bytes, names_of, read_bytes
from mipsim._extras import optional
from mipsim._validation import held
from mipsim._words import printable, quoted

Column = Sequence[Any] | np.ndarray
SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "bar": "|", "space": " "}
"""Names of what may separate the cells of a line."""
LONGEST_ROW = 2**20
"""Characters of a row of a text: no scores need as many, and a file of a single row would be held many times over."""
_AMPLIFIED = 8  # of JSON an eighth of the limit is read, since Python's objects take that much more room
_TEXTS = (".csv", ".tsv", ".txt")
_OF_TENSORFLOW = '("membership_scores_train", "membership_scores_test")'
ENDINGS = (*_TEXTS, ".json", ".jsonl", ".npz", ".parquet")
"""Of files that are read."""


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
    noun: str  # what its columns are called
    names: tuple[str, ...]
    # the columns of some names, all of the same length unless `noun` says that they are arrays
    read: Callable[[Sequence[str]], dict[str, Column]]
    hint: str = ""  # text beside the names where they identify nothing, or ""


def table_of(file: Path, content: bytes, separator: str | None = None) -> Table:
    r"""The columns of a file; its ending says how it is written.
    `separator`: of the cells of a text; None reads it off the header.

    >>> table_of(Path("s.tsv"), b"score\tmember\n0.5\t1\n").names
    ('score', 'member')
    >>> table_of(Path("s.mat"), b"")
    Traceback (most recent call last):
    ...
    ValueError: it ends in '.mat'; scores are read from .csv, .tsv, .txt, .json, .jsonl, .npz, .parquet, and from arrays in Python
    """
    ending = file.suffix.lower()
    if separator is not None and ending not in _TEXTS:
        raise ValueError(
            f"separator is given, but it ends in {printable(repr(ending), 20)}; only text has a separator"
        )
    if ending in _TEXTS:
        return text_table(content, separator)
    if ending in (".npy", ".pickle", ".pkl"):
        raise ValueError(_to_be_stored(file, content))
    if ending not in ENDINGS:
        raise ValueError(
            f"it ends in {printable(repr(ending), 20)}; scores are read from {', '.join(ENDINGS)}, and from arrays in Python"
        )
    if ending == ".parquet":
        return _parquet_table(content)
    if ending == ".npz":
        return Table("NPZ", "array", names_of(content), lambda names: dict(arrays_of(content, names)))
    return _json_table(content, lines=ending == ".jsonl")


def _to_be_stored(file: Path, content: bytes) -> str:
    """Why a file of NumPy or of Python objects is not read, with the command that makes an .npz of it."""
    name, made, design = json.dumps(str(file)), str(file.with_suffix(".npz")), ""
    if file.suffix.lower() == ".npy":
        why = "a .npy holds a single array"
        others = [str(other) for other in file.parent.glob("*.npy") if other != file]
        world = json.dumps(others[0] if len(others) == 1 else "member.npy")
        shape: tuple[int, ...] = ()
        with suppress(ValueError, EOFError):
            shape = np.load(io.BytesIO(content)).shape
        if len(shape) > 1:  # LiRA has a row for each model, and perhaps several augmentations of a record
            design = f" --design runs --rows {'models' if shape[0] < shape[1] else 'records'}"
        mean = ".mean(2)" if len(shape) == 3 else ""
        parts = f"score=np.load({name}){mean}, member=np.load({world})"
    else:
        why = "a pickle may run code, so it is not read"
        parts = f"**{{m: getattr(np.load({name}, allow_pickle=True).single_attack_results[0], m) for m in {_OF_TENSORFLOW}}}"
    line = shlex.quote(f"import numpy as np; np.savez({json.dumps(made)}, {parts})")
    return f"{why}; store scores and worlds together: python -c {line} && mipsim audit {shlex.quote(made)}{design}"


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

    Cells are separated by what separates those of the header: a comma, a tab, a semicolon or a bar, or else spaces. Where two of
    them do, the second line decides. If the first line holds numbers alone, columns are named by their places "1", "2" and so on.

    `content`: of the file, UTF-8; `separator`: a single character or its name in `SEPARATORS`; None reads it off the
    header. Raises ValueError if it is no text, is empty, names a column twice, or some line has more or fewer cells than
    the header.

    >>> table = text_table(b"alpha;beta\n0;1\n1;0\n")
    >>> table.kind, table.read(table.names)
    ('text separated by semicolons', {'alpha': ['0', '1'], 'beta': ['1', '0']})
    """
    try:
        mark = _separator(content[: 2 * LONGEST_ROW].decode("utf-8-sig", "ignore").lstrip("\r\n"), separator)
        rows = _rows(content, mark)
        header = [name.strip() for name in next(rows, (0, []))[1]]
        if header and header[0].startswith("#"):  # as NumPy writes a header
            header[0] = header[0].lstrip("# ")
        unnamed = bool(header) and all(map(is_number, header))
        if unnamed:
            rows = _rows(content, mark)
            header = [str(place + 1) for place in range(len(header))]
        if len(set(header)) < len(header):
            raise ValueError(f"its header {printable(', '.join(header), 60)} names a column twice")
        columns: list[list[str]] = [[] for _ in header]
        for line, row in rows:
            if len(row) != len(header):
                raise ValueError(
                    f"line {line} has {len(row)} cells where the header has {len(header)}; {_why_uneven(header, row, mark)}"
                )
            for column, cell in zip(columns, row, strict=False):
                column.append(cell)
    except (UnicodeDecodeError, csv.Error):
        raise ValueError("it is no text of cells in UTF-8") from None
    if not header or not columns[0]:
        raise ValueError("it is empty; it must hold a header and lines of values")
    named = {mark: name for name, mark in SEPARATORS.items()}.get(mark, repr(mark))
    kind = "CSV" if mark == "," else f"text separated by {named}{'' if named.startswith(chr(39)) else 's'}"
    hint = "its first line holds numbers and no names" if unnamed else ""
    held = dict(zip(header, columns, strict=True))
    return Table(kind, "column", tuple(held), lambda names: {name: held[name] for name in names}, hint)


def _why_uneven(header: Sequence[str], row: Sequence[str], mark: str) -> str:
    """What a line with more or fewer cells than the header may come from: a decimal comma splits a number into two cells."""
    pairs = [
        (whole.strip(), part.strip())
        for whole, part in pairwise(row)
        if re.fullmatch(r"\s*[+-]?\d+", whole) and re.fullmatch(r"\d+\s*", part)
    ]
    if mark != "," or len(row) <= len(header) or not pairs:
        return "the file may be cut off"
    example = ",".join(max(pairs, key=lambda pair: len(pair[1])))  # an integer has no long decimals
    return f"if numbers of it have decimal commas, such as {quoted(example)}, write decimal points; else it has cells too many"


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

    reader = csv.reader(lines(), delimiter=mark, strict=True, skipinitialspace=mark == " ")
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
    first, _, rest = text.partition("\n")
    second = rest.partition("\n")[0]
    cells = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in ",\t;|"}
    some = [mark for mark, number in cells.items() if number > 1]
    if len(some) > 1:
        some = [mark for mark in some if len(next(csv.reader([second], delimiter=mark), [])) == cells[mark]]
        if len(some) != 1:
            raise Unclear(
                "its header has several separators; name that of the cells", "separator", "semicolon"
            )
    return some[0] if some else " " if len(first.split()) > 1 else ","


def is_number(cell: str) -> bool:
    """Whether a cell of a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _json_table(content: bytes, lines: bool) -> Table:
    """An object of lists, or of objects with equal names, as pandas writes them; or a list, or lines, of objects, a row each."""
    kind = "JSON lines" if lines else "JSON"
    if len(content) > (most := max(1, most_bytes() // _AMPLIFIED)):
        raise ValueError(
            f"it has {len(content):,} bytes; of JSON at most {most:,} are read, and {LIMIT} raises the limit"
        )
    try:
        text = content.decode("utf-8-sig")
        parts = (json.loads(line, object_pairs_hook=_once) for line in text.splitlines() if line.strip())
        held: Any = list(parts) if lines else json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):  # of bytes that are no UTF-8, too
        raise ValueError(f"it is no {kind}, or gives a name twice; it may be cut off") from None
    if isinstance(held, list):
        if not held or not all(isinstance(row, dict) and row.keys() == held[0].keys() for row in held):
            raise ValueError(
                "it is no list of objects with the same names; it must hold an object for each score"
            )
        held = {name: [row[name] for row in held] for name in held[0]}
    elif not isinstance(held, dict):
        raise ValueError("it is no object; it must hold lists by their names")
    columns = {name: value for name, value in held.items() if isinstance(value, (list, dict))}

    def read(names: Sequence[str]) -> dict[str, Column]:
        rows = next((list(columns[name]) for name in names if isinstance(columns[name], dict)), None)
        for name in names:  # as pandas writes a frame: the labels of rows stand in each column
            if rows is not None and not (isinstance(columns[name], dict) and list(columns[name]) == rows):
                raise ValueError(
                    f"{printable(name, 40)} has other rows; each name must hold the same ones in the same order"
                )
        return {name: list(x.values()) if isinstance(x := columns[name], dict) else x for name in names}

    return Table(kind, "name", tuple(columns), read)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name is given twice")
    return result


def _parquet_table(content: bytes) -> Table:
    """A parquet file, whose own account of rows and bytes is looked at before its columns are read."""
    parquet = optional("pyarrow.parquet", "parquet files", "parquet")
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        rows, groups = file.metadata.num_rows, range(file.metadata.num_row_groups)
        size = sum(file.metadata.row_group(k).total_byte_size for k in groups)
        schema = file.schema_arrow
        names = tuple(
            name
            for name in schema.names
            if not str(schema.field(name).type).startswith(("list", "struct", "map"))
        )
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError("it is no whole parquet file; it may be cut off") from error
    if max(size, 8 * rows) > (most := most_bytes()):
        raise ValueError(
            f"it says that it holds {rows:,} rows in {size:,} bytes; at most {most:,} bytes are read"
        )

    def read(names: Sequence[str]) -> dict[str, Column]:
        try:
            held = file.read(columns=list(names), use_threads=False)
            columns = {name: held.column(name).to_numpy() for name in names}
        except Exception as error:  # as above
            raise ValueError("it is no whole parquet file; it may be cut off") from error
        return {name: value.tolist() if value.dtype == object else value for name, value in columns.items()}

    return Table("parquet", "column", names, read)


def frame_table(frame: Any) -> Table | None:
    """The columns of a data frame of pandas or polars, or of a dictionary of arrays; None where it is none of these.
    >>> frame_table({"score": [0.5], "member": [1]}).names
    ('score', 'member')
    >>> frame_table(np.zeros(3)) is None
    True
    """
    mapping = isinstance(frame, Mapping)
    if not (mapping or (hasattr(frame, "columns") and hasattr(frame, "__getitem__"))):
        return None
    kind, noun = ("a dictionary", "key") if mapping else ("a data frame", "column")
    names = {str(name): name for name in (frame if mapping else frame.columns)}
    return Table(
        kind,
        noun,
        tuple(names),
        lambda chosen: {name: held(name, frame[names[name]]) for name in chosen},
    )
