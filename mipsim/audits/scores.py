"""Scores with their worlds, of any tool: checked, and read from .npz and .csv files."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path

import numpy as np

from mipsim._archives import Archive, read_bytes
from mipsim._validation import finite_vector
from mipsim._words import printable

LEAST_SCORES = 100
"""Fewer scores show nothing worth the name of an audit."""
WORLDS = ("member", "label", "coin")
"""Names of the column that says which world a score is of: 1 in the training set, 0 not; of a `coin` that a fair coin chose it."""
Column = Sequence[str] | np.ndarray
_KINDS = {"c": "complex numbers", "M": "dates", "m": "durations", "U": "text", "S": "bytes"}
_NAMES = ("score", "cluster", "non_member", *WORLDS)
_TRUE, _FALSE = ("1", "1.0", "true"), ("0", "0.0", "false")


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of an attack, each with the world that it is of.

    Attributes:
        values: the scores (higher = "in"), finite, not all equal, shape (n,), n >= 100.
        member: whether each is of the world "in", shape (n,), bool, both worlds present.
        cluster: a whole number for each, equal in one cluster, shape (n,), or None.
        column: what the file calls `member`.
        source: the file, or "" for arrays.
        digest: SHA-256 of the file, or "".
    """

    values: np.ndarray
    member: np.ndarray
    cluster: np.ndarray | None = None
    column: str = ""
    source: str = ""
    digest: str = ""

    @classmethod
    def of(cls, scores: object, member: object, cluster: object = None, **where: str) -> Scores:
        """Check arrays of one length.

        Args:
            scores: real and finite, shape (n,), n >= 100, not all equal.
            member: 1 or True for the world "in", 0 or False for "out", shape (n,), both present.
            cluster: names or numbers of clusters, shape (n,), or None.
            **where: `column`, `source` and `digest`.

        Raises:
            ValueError: one sentence that says which argument is wrong.

        Examples:
            >>> Scores.of([1.0, 2.0], [0, 1])
            Traceback (most recent call last):
            ...
            ValueError: scores holds 2 scores; an audit needs 100 at least
        """
        values = _real("scores", scores)
        if values.size < LEAST_SCORES:
            raise ValueError(f"scores holds {values.size} scores; an audit needs {LEAST_SCORES} at least")
        inside = _real("member", member, values.size)
        if (wrong := (inside != 0) & (inside != 1)).any():
            raise ValueError(
                f'member holds {inside[wrong][0]:g}; it must hold 1 ("in") and 0 ("out") alone: scores come first'
            )
        if (inside == inside[0]).all():
            world = "in" if inside[0] else "out"
            raise ValueError(
                f'member is {inside[0]:g} throughout: all scores are of the world "{world}"; both are needed'
            )
        if (values == values[0]).all():
            raise ValueError(
                f"scores all equal {values[0]:g}; a constant score tells nothing about any world"
            )
        clusters = None if cluster is None else _numbered(cluster, values.size)
        return cls(values + 0.0, inside == 1.0, clusters, **where)  # -0.0 becomes 0.0, which equals it

    def in_order(self) -> Scores:
        """The same rows, sorted by score, world and cluster: what is computed from them does not depend on the order of rows.

        Examples:
            >>> Scores(np.array([2.0, 1.0]), np.array([True, False])).in_order().values.tolist()
            [1.0, 2.0]
        """
        cluster = np.zeros(self.values.size) if self.cluster is None else self.cluster
        order = np.lexsort((cluster, self.member, self.values))
        sorted_ = None if self.cluster is None else self.cluster[order]
        return replace(self, values=self.values[order], member=self.member[order], cluster=sorted_)

    @property
    def clusters(self) -> int:
        """How many clusters there are; of independent rows, each its own."""
        return self.values.size if self.cluster is None else int(self.cluster.max()) + 1


def _real(name: str, value: object, size: int | None = None) -> np.ndarray:
    """A finite vector; NumPy alone would drop imaginary parts, count dates in days and read numbers in text."""
    try:
        entries = np.asarray(value)
    except ValueError:  # rows of several lengths, of which finite_vector speaks
        return finite_vector(name, value, size)
    kind = _KINDS.get(entries.dtype.kind)
    if entries.dtype == object and entries.ndim > 0:
        other = [entry for entry in entries.flat if not isinstance(entry, (Real, np.bool_))]
        kind = f"an object of type {type(other[0]).__name__}" if other else None
    if kind is not None and entries.ndim > 0:
        raise ValueError(f"{name} holds {kind}; it must hold real numbers")
    return finite_vector(name, value, size)


def _numbered(cluster: object, size: int) -> np.ndarray:
    names = np.asarray(cluster)
    if names.shape != (size,):
        raise ValueError(f"cluster has shape {names.shape}; it must have shape ({size},), one for each score")
    if names.dtype.kind not in "iufUSb" or (names.dtype.kind == "f" and not np.isfinite(names).all()):
        raise ValueError(
            "cluster holds what is no name or finite number; it must say of each score which cluster it is in"
        )
    if names.dtype.kind in "US" and (lacking := names == names.dtype.type("")).any():
        raise ValueError(
            f"cluster is empty at index {int(np.argmax(lacking))}; it must say of each score which cluster it is in"
        )
    return np.unique(names, return_inverse=True)[1]


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Read scores from a file.

    `.npz`: arrays `scores` and one of `member`, `label`, `coin` (1 = "in"; plurals too), `cluster` if there are clusters; or
    `members` and `non_members`, the scores of each world. `.csv`: the same as columns with a header, comma-separated.

    Args:
        path: of the file; its ending says which it is.

    Raises:
        ValueError: one sentence that names the file and what is wrong: missing, cut off, of unknown columns, or of
            scores that no audit can use.

    Examples:
        >>> read_scores("nowhere.csv")
        Traceback (most recent call last):
        ...
        ValueError: nowhere.csv is no file
    """
    file = Path(path)
    if file.suffix.lower() not in (".npz", ".csv"):
        raise ValueError(f"{printable(file)} is neither .npz nor .csv; scores are read from one of these")
    content = content_of(file)
    try:
        columns = _arrays(content) if file.suffix.lower() == ".npz" else table(content)
        return _scores(columns, "array" if file.suffix.lower() == ".npz" else "column", file, content)
    except ValueError as error:
        raise ValueError(f"{printable(file)}: {error}") from None


def content_of(file: Path) -> bytes:
    """What a file of a user holds.

    Raises:
        ValueError: one sentence that names the file and why it is not read.

    Examples:
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


def _scores(columns: Mapping[str, Column], noun: str, file: Path, content: bytes) -> Scores:
    where = {"source": str(file), "digest": hashlib.sha256(content).hexdigest()}
    if "non_members" in columns:
        if set(columns) != {"members", "non_members"}:
            raise ValueError(
                f"it holds {_listed(columns)}; beside members and non_members there must be no other {noun}"
            )
        read = parsed_numbers if noun == "column" else _real  # a .csv file holds words
        worlds = [_real(name, read(name, columns[name])) for name in ("members", "non_members")]
        inside = np.repeat([1.0, 0.0], [world.size for world in worlds])
        return Scores.of(np.concatenate(worlds), inside, column="members", **where)
    known = {
        name: value for name, value in _singular(columns).items() if name in ("score", "cluster", *WORLDS)
    }
    worlds = [name for name in WORLDS if name in known]
    if len(known) < len(columns) or "score" not in known or len(worlds) != 1:
        raise ValueError(
            f"it has the {noun}s {_listed(columns)}; it must have score, one of {', '.join(WORLDS)}, cluster if rows share one, and no other"
        )
    if noun == "column":
        known = {
            name: np.asarray(value, dtype=str) if name == "cluster" else _parsed(name, value)
            for name, value in known.items()
        }
    return Scores.of(known["score"], known[worlds[0]], known.get("cluster"), column=worlds[0], **where)


def _listed(names: Mapping[str, object]) -> str:
    return printable(", ".join(map(repr, names)) or "none")


def _singular(
    columns: Mapping[str, Column],
) -> dict[str, Column]:
    return {name.removesuffix("s"): value for name, value in columns.items()}


def _arrays(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of scores, read once their headers say that they can be; of names that no scores have, empty ones."""
    archive = Archive(content)
    names = [name for name in archive.names if name.removesuffix("s") in _NAMES]
    headers = {name: archive.header(name) for name in names}
    for name, header in headers.items():
        if len(header.shape) != 1:
            raise ValueError(f"{name} has shape {printable(header.shape)}; it must be a vector of shape (n,)")
        if header.dtype.kind in _KINDS and not (name.startswith("cluster") and header.dtype.kind in "US"):
            raise ValueError(f"{name} holds {_KINDS[header.dtype.kind]}; it must hold real numbers")
    first, *rest = [name for name in names if name not in ("members", "non_members")] or [""]
    for name in rest:
        if headers[name].shape != headers[first].shape:
            raise ValueError(
                f"{name} has shape {headers[name].shape}; it must have shape {headers[first].shape}, that of {first}"
            )
    return dict.fromkeys(archive.names, np.empty(0)) | archive.read(names)


def table(content: bytes) -> dict[str, list[str]]:
    r"""The columns of a comma-separated file with a header, by their names in lower case.

    Raises:
        ValueError: if it is no text, is empty, names a column twice, or some line has more or fewer cells than the header.

    Examples:
        >>> table(b"alpha,beta\n0,1\n1,0\n")
        {'alpha': ['0', '1'], 'beta': ['1', '0']}
    """
    try:
        lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        header = [name.strip().lower() for name in next(lines, [])]
        if len(set(header)) < len(header):
            raise ValueError(f"its header {printable(', '.join(header))} names a column twice")
        columns: list[list[str]] = [[] for _ in header]
        for row in lines:
            if row and len(row) != len(header):
                raise ValueError(
                    f"line {lines.line_num} has {len(row)} cells where the header has {len(header)}; the file may be cut off"
                )
            for column, cell in zip(columns, row, strict=False):
                column.append(cell)
    except (UnicodeDecodeError, csv.Error):
        raise ValueError("it is no comma-separated text in UTF-8") from None
    if not header or not columns[0]:
        raise ValueError("it is empty; it must hold a header and lines of values")
    return dict(zip(header, columns, strict=True))


def _parsed(name: str, cells: Column) -> np.ndarray:
    if name == "score":
        return parsed_numbers(name, cells)
    words = [str(cell).strip().lower() for cell in cells]
    if wrong := [word for word in words if word not in _TRUE + _FALSE]:
        raise ValueError(f"{name} holds {printable(repr(wrong[0]))}; it must hold 1 or 0 (true or false)")
    return np.array([word in _TRUE for word in words], dtype=np.float64)


def parsed_numbers(name: str, cells: Column) -> np.ndarray:
    """Cells of a column as float64, or the first that is no number.

    Examples:
        >>> parsed_numbers("alpha", ["0.5", ""])
        Traceback (most recent call last):
        ...
        ValueError: alpha holds ''; it must hold numbers
    """
    result = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            result[i] = float(str(cell))
        except ValueError:
            raise ValueError(f"{name} holds {printable(repr(cell))}; it must hold numbers") from None
    return result
