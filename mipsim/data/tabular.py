"""Adult, Location-30, diabetes and digits."""

import csv
import io
import os
import tarfile
import zlib

import numpy as np

from mipsim._archives import most_bytes
from mipsim._extras import optional
from mipsim._validation import choice
from mipsim.data.files import DataError, DataSet, read
from mipsim.data.images import Split
from mipsim.data.published import PUBLISHED

_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country",
)  # fmt: skip
_NUMBERS = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
_LEFT_OUT = {"fnlwgt", "education"}
"""The weight of a row in the census, and what education-num says as a number."""
_INCOMES = ("<=50K", ">50K")
_PLACES, _KINDS = 446, 30


def adult(
    split: Split = "train",
    directory: str | os.PathLike[str] | None = None,
) -> DataSet:
    """Adult (census income): is a person's income above 50,000 dollars a year? 32,561 rows to train and 16,281 to test.

    Args:
        split: "train" or "test".
        directory: the data directory; None = that of `MIPSIM_DATA`.

    Returns:
        12 columns in their own units: scale them before a network sees them. A category is its place in the alphabet, and a missing
        entry, "?", is a category; `fnlwgt` and `education` are left out.

    Raises:
        DataError: if a file is missing or not the published file.

    Source: Becker & Kohavi (1996), "Adult", UCI Machine Learning Repository; Leemann et al. (2023), section 6, for 12 columns.

    Examples:
        >>> adult("dev")
        Traceback (most recent call last):
        ...
        ValueError: split is 'dev'; allowed: train, test
    """
    test = choice("split", split, ("train", "test")) == "test"
    rows = adult_rows(read(PUBLISHED["adult"], "adult.data", directory).decode("ascii"))
    # The categories of both splits are those of the training file, which has them all.
    known = {
        name: sorted({row[i] for row in rows}) for i, name in enumerate(_COLUMNS) if name not in _NUMBERS
    }
    if test:
        rows = adult_rows(read(PUBLISHED["adult"], "adult.test", directory).decode("ascii"))
    x, features = encoded(rows, known)
    return DataSet(x, np.array([_INCOMES.index(row[-1]) for row in rows]), _INCOMES, features)


def adult_rows(text: str) -> list[list[str]]:
    """The rows of `adult.data` or `adult.test`: 14 entries and the income.
    Raises DataError naming the first line that is no such row.
    """
    rows: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("|"):
            continue
        row = [word.strip() for word in line.split(",")]
        row[-1] = row[-1].removesuffix(".")
        if len(row) != len(_COLUMNS) + 1 or row[-1] not in _INCOMES:
            raise DataError(f"line {number} is {line[:60]!r}; it must have 14 entries and an income")
        rows.append(row)
    return rows


def encoded(rows: list[list[str]], known: dict[str, list[str]]) -> tuple[np.ndarray, tuple[str, ...]]:
    """(x, names of its columns) of rows, float32.
    `rows`: of `adult_rows`; `known`: the categories of each column that is not a number.
    """
    columns = {name: i for i, name in enumerate(_COLUMNS) if name not in _LEFT_OUT}
    x = [
        [float(row[i]) if name in _NUMBERS else known[name].index(row[i]) for name, i in columns.items()]
        for row in rows
    ]
    return np.array(x, np.float32), tuple(columns)


def location30(directory: str | os.PathLike[str] | None = None) -> DataSet:
    """Location-30: 5,010 people's visits to 446 kinds of places (0 or 1 each), in 30 clusters. It has no test set of its own.

    Args:
        directory: the data directory; None = that of `MIPSIM_DATA`.

    Raises:
        DataError: if the file is missing or not the published file.

    Source: Shokri, Stronati, Song, Shmatikov (2017), from check-ins in Bangkok.

    Examples:
        >>> location30("no/such/folder")
        Traceback (most recent call last):
        ...
        mipsim.data.files.DataError: directory is 'no/such/folder', which is no folder; it must be a folder with
        location30/dataset_location.tgz in it...
    """
    x, y = location_table(read(PUBLISHED["location30"], "dataset_location.tgz", directory))
    names = tuple(f"place {i}" for i in range(x.shape[1]))
    return DataSet(x, y, tuple(f"cluster {i + 1}" for i in range(_KINDS)), names)


def location_table(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """(x, y) of the archive with the table `bangkok`: float32 of shape (N, 446), and int64 labels from 0.
    Raises DataError if there is no such table.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            info = archive.getmember("bangkok")
            held = archive.extractfile(info) if info.size <= most_bytes() else None
            text = "" if held is None else held.read().decode("ascii")
    except (tarfile.TarError, KeyError, EOFError, OSError, zlib.error) as error:
        raise DataError(f"content is no archive with the table bangkok ({error})") from error
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    wrong = next((i for i, row in enumerate(rows) if len(row) != _PLACES + 1), None)
    if wrong is not None or not rows:
        raise DataError(f"row {wrong or 0} of bangkok has no {_PLACES + 1} entries")
    table = np.array(rows, dtype=np.int64)
    return table[:, 1:].astype(np.float32), table[:, 0] - 1


def diabetes() -> DataSet:
    """The diabetes study that scikit-learn ships: 442 patients, 10 standardised columns, and a measure of the disease a year later.

    Raises:
        ImportError: if scikit-learn is not installed.

    Source: Efron, Hastie, Johnstone, Tibshirani (2004), "Least angle regression".

    Examples:
        >>> diabetes()
        DataSet(442 records of shape (10,), 0 classes)
    """
    result = optional("sklearn.datasets", "the diabetes data").load_diabetes()
    return DataSet(
        result.data.astype(np.float32), result.target.astype(np.float64), (), tuple(result.feature_names)
    )


def digits() -> DataSet:
    """The digits that scikit-learn ships: 1,797 grey images of shape (8, 8, 1), in [0, 1].

    Raises:
        ImportError: if scikit-learn is not installed.

    Source: Alpaydin & Kaynak (1998), "Optical recognition of handwritten digits", UCI Machine Learning Repository.

    Examples:
        >>> digits()
        DataSet(1,797 records of shape (8, 8, 1), 10 classes)
    """
    result = optional("sklearn.datasets", "the digits").load_digits()
    images = (result.images[..., None] / 16.0).astype(np.float32)
    return DataSet(images, result.target.astype(np.int64), tuple(map(str, range(10))))
