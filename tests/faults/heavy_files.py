"""Files that weigh little and would take gigabytes once they are read: what each costs is measured in a process of its own."""

import resource
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

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


def _json(score: str, member: str = "1", last: tuple[str, str] = ("2", "0"), more: str = "") -> Maker:
    def make(path: Path, rows: int) -> None:
        pairs = zip((score, member), last, strict=True)
        columns = (",".join([first] * (rows - 1) + [end]) for first, end in pairs)
        path.write_text('{{"score": [{}], "member": [{}]{}}}'.format(*columns, more), "utf-8")

    return make


def _text(row: str, header: str = "score,member", last: str = "2,0") -> Maker:
    return lambda path, rows: path.write_text("\n".join([header, *[row] * rows, last, ""]), "utf-8")


def _frame(path: Path, rows: int) -> None:
    pd.DataFrame({"score": np.arange(rows) % 7, "member": np.arange(rows) % 2}).to_csv(path)


_LONG = "x" * 10**5

FILES: dict[str, tuple[str, Maker]] = {
    "int8, packed": ("npz", _npz("i1")),
    "bool, packed": ("npz", _npz("?", "?")),
    "float16, packed": ("npz", _npz("f2")),
    "float64, packed": ("npz", _npz("f8", "f8")),
    "worlds in words": ("npz", _npz("f4", "U1")),
    "names in wide text": ("npz", _npz("f4", run="U40")),
    "a matrix of int8": ("npz", _matrix),
    "objects of nothing": ("json", _json("{}")),
    "lists of nothing": ("json", _json("[]")),
    "lists of a number": ("json", _json("[1]", "[1]", ("[2]", "[0]"))),
    "digits": ("json", _json("1")),
    "numbers": ("json", _json("1.5", "0")),
    "words": ("json", _json('"1"', '"yes"', ('"2"', '"no"'))),
    "a character of four bytes": ("json", _json("1", '"yes"', ("2", '"no"'), ', "🙂": 1')),
    "brackets alone": ("json", lambda path, rows: path.write_text("[" + "[]," * rows + "1]")),
    "short lines": ("csv", _text("1,1")),
    "empty cells": ("csv", _text(",")),
    "numbers in text": ("csv", _text("0.12345,1")),
    "a long word of a world": ("csv", _text("0.5,1", last=f"1,{_LONG}")),
    "a long name of a run": ("csv", _text("0.5,1,a", "score,member,run", f"2,0,{_LONG}")),
    "names": ("csv", _text("0.5,1,run 12,record 25", "score,member,run,record", "2,0,a,b")),
    "columns that are ignored": ("csv", _text("1,1" + ",ab" * 50, "score,member" + "".join(f",x{i}" for i in range(50)), "2,0" + ",a" * 50)),
    "text that is no ASCII": ("csv", _text("0.5,1,🙂🙂🙂", "score,member,run", "2,0,a")),
    "a frame": ("csv", _frame),
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
