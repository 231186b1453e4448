"""Files that weigh little and would take gigabytes once they are read: what each costs is measured in a process of its own."""

import resource
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mipsim.audits.scores import read_scores
from tests.faults.forged import npy, rewrite
from tests.faults.hostile_files import limited

Maker = Callable[[Path, int], object]
"""Writes a file of about so many scores."""


def _npz(dtype: str, worlds: str = "u1", **more: str) -> Maker:
    def make(path: Path, rows: int) -> None:
        rest = {name: np.arange(rows) % 5 for name in more}
        parts = {"score": np.arange(rows) % 7, "member": np.arange(rows) % 2} | rest
        types = {"score": dtype, "member": worlds} | more
        rewrite(path, {f"{k}.npy": npy(x.astype(types[k])) for k, x in parts.items()}, zipfile.ZIP_DEFLATED)

    return make


def _matrix(path: Path, rows: int) -> None:
    side = max(int(rows**0.5), 10)
    both = np.indices((side, side))
    arrays = {"score": both.sum(axis=0) % 7, "member": both[0] % 2}
    rewrite(path, {f"{k}.npy": npy(x.astype(np.int8)) for k, x in arrays.items()}, zipfile.ZIP_DEFLATED)


def _parquet(score: Callable[[int], Any], **more: Callable[[int], Any]) -> Maker:
    def make(path: Path, rows: int) -> None:
        columns = {"score": score, "member": lambda n: pa.array(np.arange(n) % 2)} | more
        pq.write_table(pa.table({name: column(rows) for name, column in columns.items()}), path)

    return make


def _numbers(kind: Any) -> Callable[[int], Any]:
    return lambda n: pa.array((np.arange(n) % 7).astype(kind))


def _words(word: str) -> Callable[[int], Any]:
    """Two words, of which rows hold the first throughout but for the last."""
    return lambda n: pa.DictionaryArray.from_arrays(
        pa.array(np.r_[np.zeros(n - 1, np.int32), 1].astype(np.int32)), pa.array([word, "2"])
    )


def _binary(n: int) -> Any:
    """Of chunks that are the same memory: a null takes as much of it as an entry."""
    chunk = pa.array([b"x" * 4096] + [None] * 999, pa.binary(4096))
    return pa.chunked_array([chunk] * (n // 1000) + [chunk[: n % 1000]])


def _decimals(n: int) -> Any:
    return pa.array(np.arange(n) % 7).cast(pa.decimal128(20, 1))


def _json(score: str, member: str = "1", last: tuple[str, str] = ("2", "0"), more: str = "") -> Maker:
    def make(path: Path, rows: int) -> None:
        pairs = zip((score, member), last, strict=True)
        columns = (",".join([first] * (rows - 1) + [end]) for first, end in pairs)
        path.write_text('{{"score": [{}], "member": [{}]{}}}'.format(*columns, more), "utf-8")

    return make


def _much_else(path: Path, rows: int) -> None:
    rest = ",".join(f'"x{i}":{{}}' for i in range(20))
    lines = (f'{{"score":{k % 7},"member":{k % 2},{rest}}}\n' for k in range(rows))
    path.write_text("".join(lines), "utf-8")


def _text(row: str, header: str = "score,member", last: str = "2,0") -> Maker:
    return lambda path, rows: path.write_text("\n".join([header, *[row] * rows, last, ""]), "utf-8")


Save = Callable[[pd.DataFrame, Path], object]
SAVED: dict[str, tuple[str, Save]] = {
    "lines": ("jsonl", lambda frame, path: frame.to_json(path, orient="records", lines=True, double_precision=15)),
    "records": ("json", lambda frame, path: frame.to_json(path, orient="records", double_precision=15)),
    "columns": ("json", lambda frame, path: frame.to_json(path, orient="columns", double_precision=15)),
    "parquet": ("parquet", lambda frame, path: frame.to_parquet(path)),
    **{
        repr(mark): ("txt", lambda frame, path, mark=mark: frame.to_csv(path, sep=mark, index=mark != " "))
        for mark in ",\t;| "
    },
}  # fmt: skip
"""A way in which pandas saves a frame -> the ending of the file, and how. Arrays of NumPy have rows and tests of their own."""


def _frame(save: Save) -> Maker:
    return lambda path, rows: save(
        pd.DataFrame({"score": np.arange(rows) % 7, "member": np.arange(rows) % 2}), path
    )


_LONG = "x" * 10**6

FILES: dict[str, tuple[str, Maker]] = {
    "int8, packed": ("npz", _npz("i1")),
    "bool, packed": ("npz", _npz("?", "?")),
    "float16, packed": ("npz", _npz("f2")),
    "float64, packed": ("npz", _npz("f8", "f8")),
    "worlds in words": ("npz", _npz("f4", "U1")),
    "names in wide text": ("npz", _npz("f4", run="U40")),
    "a matrix of int8": ("npz", _matrix),
    "a long word for all scores": ("parquet", _parquet(_words(_LONG))),
    "a long number for all scores": ("parquet", _parquet(_words("1." + "0" * 10**6))),
    "a long word for all worlds": ("parquet", _parquet(_numbers("f4"), member=_words(_LONG))),
    "a long word for all runs": ("parquet", _parquet(_numbers("f4"), run=_words(_LONG))),
    "booleans": ("parquet", _parquet(_numbers("?"), member=_numbers("?"))),
    "decimals": ("parquet", _parquet(_decimals)),
    "entries of 4,096 bytes": ("parquet", _parquet(_binary)),
    "nulls": ("parquet", _parquet(lambda n: pa.nulls(n))),
    "objects of nothing": ("json", _json("{}")),
    "lists of nothing": ("json", _json("[]")),
    "lists of a number": ("json", _json("[1]", "[1]", ("[2]", "[0]"))),
    "digits": ("json", _json("1")),
    "numbers": ("json", _json("1.5", "0")),
    "words": ("json", _json('"1"', '"yes"', ('"2"', '"no"'))),
    "a character of four bytes": ("json", _json("1", '"yes"', ("2", '"no"'), ', "🙂": 1')),
    "a row a line, with much else": ("jsonl", _much_else),
    "brackets alone": ("json", lambda path, rows: path.write_text("[" + "[]," * rows + "1]")),
    "short lines": ("csv", _text("1,1")),
    "empty cells": ("csv", _text(",")),
    "numbers in text": ("csv", _text("0.12345,1")),
    "a long word of a world": ("csv", _text("0.5,1", last=f"1,{_LONG[: 10**5]}")),
    "a long name of a run": ("csv", _text("0.5,1,a", "score,member,run", f"2,0,{_LONG[: 10**5]}")),
    "names": ("csv", _text("0.5,1,run 12,record 25", "score,member,run,record", "2,0,a,b")),
    "columns that are ignored": ("csv", _text("1,1" + ",ab" * 50, "score,member" + "".join(f",x{i}" for i in range(50)), "2,0" + ",a" * 50)),
    "text that is no ASCII": ("csv", _text("0.5,1,🙂🙂🙂", "score,member,run", "2,0,a")),
    **{f"a frame, {how}": (ending, _frame(save)) for how, (ending, save) in SAVED.items()},
    "lines of a single number": ("txt", lambda path, rows: path.write_text("1\n" * rows)),
}  # fmt: skip
"""What a file holds -> its ending, and how it is made."""


def cost(path: Path, limit: int) -> tuple[str, int]:
    """(A sentence, or nothing where a file is read and ranked; bytes that this process took for it at most)."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with limited(limit):
            read_scores(path, rows="records" if "matrix" in path.stem else None).by_rank()
        what = ""
    except ValueError as error:
        what = str(error)
    return what, 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
