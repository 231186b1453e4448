"""Named columns of files that any tool may have written, and of data frames: text, JSON, parquet and .npz.

Nothing is read before its size, and where a file says so its shape and type, are known and allowed.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._archives import afford, arrays_of, json_bytes, names_of, read_bytes, text_bytes
from mipsim._extras import optional
from mipsim._validation import held
from mipsim._words import printable, quoted

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
_OF_TENSORFLOW = '("membership_scores_train", "membership_scores_test")'


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
    if ending in (".npy", ".pickle", ".pkl"):
        raise ValueError(_to_be_stored(file, content))
    if ending not in (*_TEXTS, *READERS):
        endings = ", ".join((*_TEXTS, *READERS))
        raise ValueError(
            f"it ends in {printable(repr(ending), 20)}; scores are read from {endings}, and from arrays in Python"
        )
    return text_table(content, separator) if ending in _TEXTS else READERS[ending](content)


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
            header = [str(place + 1) for place in range(len(header))]
        if len(set(header)) < len(header):
            raise ValueError(f"its header {printable(', '.join(header), 60)} names a column twice")
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(_NO_TEXT) from None
    if not header:
        raise ValueError(_EMPTY)

    def read(names: Sequence[str]) -> dict[str, Column]:
        lines = content.count(b"\n") + content.count(b"\r") + 1
        afford(len(content) + text_bytes(content) + lines * (len(names) * _A_CELL + A_SCORE))
        places, columns = [header.index(name) for name in names], [[] for _ in names]
        try:
            for line, row in itertools.islice(_rows(content, mark), 0 if unnamed else 1, None):
                if len(row) != len(header):
                    raise ValueError(
                        f"line {line} has {len(row)} cells where the header has {len(header)}; {_why_uneven(header, row, mark)}"
                    )
                for place, column in zip(places, columns, strict=True):
                    column.append(row[place])
        except (UnicodeDecodeError, csv.Error):
            raise ValueError(_NO_TEXT) from None
        if not columns[0]:
            raise ValueError(_EMPTY)
        return dict(zip(names, columns, strict=True))

    named = {mark: name for name, mark in SEPARATORS.items()}.get(mark, repr(mark))
    kind = "CSV" if mark == "," else f"text separated by {named}{'' if named.startswith(chr(39)) else 's'}"
    hint = "its first line holds numbers and no names" if unnamed else ""
    return Table(kind, "column", tuple(header), read, hint)


_NO_TEXT = "it is no text of cells in UTF-8"
_EMPTY = "it is empty; it must hold a header and lines of values"


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
    return cell.isascii()


def _npz_table(content: bytes) -> Table:
    return Table(
        "NPZ", "array", names_of(content), lambda names: dict(arrays_of(content, names, each=A_SCORE))
    )


def _json_table(content: bytes, lines: bool = False) -> Table:
    """An object of lists, or of objects with equal names, as pandas writes them; or a list, or lines, of objects, a row each."""
    kind = "JSON lines" if lines else "JSON"
    afford(json_bytes(content) + A_SCORE * (content.count(b",") + 1))
    try:
        text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig")
        parts = (json.loads(line, object_pairs_hook=_once) for line in text if line.strip())
        held: Any = list(parts) if lines else json.loads(text.read(), object_pairs_hook=_once)
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
    """A parquet file, whose own account of rows, types and bytes is looked at before its columns are read."""
    parquet, types = (
        optional("pyarrow.parquet", "parquet files", "parquet"),
        optional("pyarrow.types", "parquet files", "parquet"),
    )
    try:
        known = parquet.ParquetFile(io.BytesIO(content))
        meta, schema = known.metadata, known.schema_arrow
        fields = {name: schema.field(name).type for name in schema.names}
        sizes = dict.fromkeys(fields, 0)
        for k in range(meta.num_row_groups):
            for chunk in (meta.row_group(k).column(i) for i in range(meta.num_columns)):
                if chunk.path_in_schema in sizes:
                    sizes[chunk.path_in_schema] += max(chunk.total_uncompressed_size, 0)
    except Exception as error:  # whatever a reader of hostile bytes may raise
        raise ValueError(_NO_PARQUET) from error

    def is_text(kind: Any) -> bool:
        return types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)

    def read(names: Sequence[str]) -> dict[str, Column]:
        for name in names:
            if not (
                is_text(kind := fields[name])
                or types.is_primitive(kind)
                or types.is_decimal(kind)
                or types.is_null(kind)
            ):
                raise ValueError(
                    f"column {quoted(name)} holds {printable(kind, 40)}; it must hold numbers or text"
                )
        cells = sum(_A_CELL + 80 * types.is_decimal(fields[name]) for name in names)
        afford(
            len(content) + _DECODED * sum(sizes[name] for name in names) + meta.num_rows * (cells + A_SCORE)
        )
        try:
            # A word that many rows share is read, and made Python's, a single time.
            shared = [name for name in names if is_text(fields[name])]
            held = parquet.ParquetFile(io.BytesIO(content), read_dictionary=shared).read(
                list(names), use_threads=False
            )
            return {
                name: _words(held.column(name)) if name in shared else _entries(held.column(name))
                for name in names
            }
        except MemoryError:
            raise
        except Exception as error:  # as above
            raise ValueError(_NO_PARQUET) from error

    flat = (name for name, kind in fields.items() if not types.is_nested(kind))
    return Table("parquet", "column", tuple(flat), read)


_DECODED = 6
"""How many bytes are held for each of a column of a parquet file before compression: its pages, its words, and these as Python's."""
_NO_PARQUET = "it is no whole parquet file; it may be cut off"


def _entries(column: Any) -> Column:
    entries = column.to_numpy()
    return entries.tolist() if entries.dtype == object else entries


def _words(column: Any) -> list[str | None]:
    result: list[str | None] = []
    known: dict[
        str, str
    ] = {}  # the same object in every part: of a long word, a comparison costs as much as a copy
    for part in column.chunks:
        words = [*(known.setdefault(word, word) for word in part.dictionary.to_pylist()), None]
        result += map(words.__getitem__, part.indices.fill_null(len(words) - 1).to_numpy().tolist())
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
    kind, noun = ("a dictionary", "key") if mapping else ("a data frame", "column")
    names = {str(name): name for name in (frame if mapping else frame.columns)}
    return Table(
        kind,
        noun,
        tuple(names),
        lambda chosen: {name: held(name, frame[names[name]]) for name in chosen},
    )


READERS: dict[str, Callable[[bytes], Table]] = {
    ".json": _json_table,
    ".jsonl": partial(_json_table, lines=True),
    ".npz": _npz_table,
    ".parquet": _parquet_table,
}
"""The ending of a file -> what reads its columns. A new format is a function and a row."""
