"""Checks of arguments, made once and before any work; each raises a sentence that names the argument."""

import dataclasses
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from mipsim._words import kind_of, no_such, printable, quoted

Array = np.ndarray[Any, np.dtype[np.float64]]


class UndefinedError(ValueError):
    """A value that a verdict or a number needs is NaN: nothing is compared with it, and a verdict is INCONCLUSIVE."""


_OF_COINS = ("member", "point", "target", "record", "aimed")
"""Vectors of which True and False may be entries, for 1 and 0, as of scores and of records."""


def finite_vector(name: str, value: object, dimension: int | None = None) -> Array:
    """Return `value` as a float64 vector of shape (d,), or say which argument is no vector."""
    array = real_array(name, value, coins=name in _OF_COINS)
    if array.ndim == 0 and dimension is not None:
        raise ValueError(
            f"{name} has shape (); it must have shape ({dimension},): write np.full({dimension}, {array:g})"
        )
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be a vector of shape (d,) with d >= 1")
    if dimension is not None and array.shape != (dimension,):
        raise ValueError(f"{name} has shape {array.shape}; it must have shape ({dimension},)")
    return array


def score_vector(name: str, value: object, place: str = "at index {}", first: int = 0) -> Array:
    """Return `value` as a float64 vector of scores, which may be infinite and never NaN.
    >>> score_vector("scores", [1.0, float("nan")])
    Traceback (most recent call last):
    ...
    ValueError: scores holds NaN at index 1; NaN is refused, and infinite scores count by rank
    """
    values = real_array(name, value, finite=False, coins=True)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; it must be a vector of shape (d,) with d >= 1")
    if (lacking := np.isnan(values)).any():
        where = place.format(int(np.argmax(lacking)) + first)
        raise ValueError(f"{name} holds NaN {where}; NaN is refused, and infinite scores count by rank")
    return values


def increasing_vector(name: str, value: object) -> Array:
    """Return `value` as a float64 vector of shape (d,) that increases strictly, or say where it does not."""
    array = finite_vector(name, value)
    if (falls := np.diff(array) <= 0).any():
        raise ValueError(
            f"{name} falls or stays at index {int(np.argmax(falls)) + 1}; it must increase strictly"
        )
    return array


def finite_matrix(name: str, value: object, columns: int | None = None) -> Array:
    """Return `value` as a float64 matrix of shape (rows, columns), or say which argument is no matrix."""
    array = real_array(name, value, coins=True)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}; it must be a matrix of shape (rows, d), both >= 1")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name} has {array.shape[1]} columns; it must have {columns}")
    return array


def noise_scale(name: str, value: object, size: int | None = None) -> Array:
    """Return `value`, the scale of a noise, as float64 numbers >= 0: a single number or a vector of shape (d,)."""
    scale = real_array(name, value)
    if scale.ndim > 1 or not scale.size or (size is not None and scale.shape not in ((), (size,))):
        shape = f"({'d' if size is None else size},)"
        raise ValueError(f"{name} has shape {scale.shape}; it must be a number or a vector of shape {shape}")
    if (scale < 0).any():
        raise ValueError(f"{name} is {float(scale.min()):g}; noise must be >= 0")
    return scale


NO_NUMBERS = {
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
    "U": "text",
    "S": "bytes",
    "V": "records",
}
"""Entries of an array that are no real numbers."""
_EXACT = 2**53
"""From here on some whole numbers are no float64."""


_MOST_SIDES = 32
"""As many as all functions of NumPy take."""


def real_array(name: str, value: object, *, finite: bool = True, coins: bool = False) -> Array:
    """Return `value` as a float64 array of any shape; what NumPy would drop, round or take for a number is refused.

    `finite`: whether every entry must be; `coins`: whether True and False may stand for 1 and 0.

    >>> real_array("scores", np.ma.masked_array([1.0, 9.0], [False, True]))
    Traceback (most recent call last):
    ...
    ValueError: scores is a masked array, whose mask would be dropped; give the entries that count, as in x.compressed()
    >>> real_array("scores", [0, 2**53 + 1])
    Traceback (most recent call last):
    ...
    ValueError: scores holds 9007199254740993 at index 1, which no float64 equals
    """
    array = value if type(value) is np.ndarray and value.dtype == np.float64 else None
    if array is None:
        array = _as_float64(name, held(name, value, coins=coins), value)
    if array.ndim > _MOST_SIDES:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must have at most {_MOST_SIDES}")
    if finite and not (fine := np.isfinite(array)).all():
        raise ValueError(f"{name} holds {_first(array, ~fine)}; every entry must be finite")
    return array


def held(name: str, value: object, *, coins: bool = True) -> np.ndarray:
    """Return the entries of `value`, of any type, as NumPy reads them, unless it would drop a mask or a unit, or read bytes."""
    if lost := _lost(value, coins):
        raise ValueError(f"{name} {lost}")
    if (array := _read(value)) is None or (array.dtype.kind == "O" and array.ndim == 0):
        raise ValueError(f"{name} is {kind_of(value)}; it must be an array of real numbers")
    if not coins and array.dtype.kind == "b":
        raise ValueError(f"{name} {_LOGICAL}")
    return array


def _read(value: object) -> np.ndarray | None:
    try:
        return None if value is None or isinstance(value, _TEXTS) else np.asarray(value, _entries(value))
    except (TypeError, ValueError, OverflowError, RuntimeError):  # ragged lists; what is on another device
        return None


def _entries(value: object) -> type | None:
    """Objects for a list with a long text, as which an array of text would hold every entry; else what NumPy takes."""
    texts = (entry for entry in value if isinstance(entry, str)) if isinstance(value, (list, tuple)) else ()
    return object if any(len(text) > _WIDEST for text in texts) else None


_WIDEST = 16
_TEXTS = str, bytes, bytearray, memoryview
_LOGICAL = "holds True or False; it must hold real numbers"


def _lost(value: object, coins: bool) -> str:
    """What NumPy would lose of `value`, as the rest of a sentence; empty if nothing."""
    if isinstance(value, np.ma.MaskedArray):
        return "is a masked array, whose mask would be dropped; give the entries that count, as in x.compressed()"
    if isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap):
        return f"is a {kind_of(value)}, of which the bare numbers would be read; give np.asarray of it if they are meant"
    if isinstance(value, _TEXTS[1:]):
        return "holds bytes; it must hold real numbers"
    if not isinstance(value, (list, tuple)) or (kinds := set(map(type, value))) <= {float, int}:
        return ""
    if not coins and kinds & {bool, np.bool_}:
        return _LOGICAL
    nested = (entry for entry in value if not isinstance(entry, (float, int, str, np.generic)))
    return next(filter(None, (_lost(entry, coins) for entry in nested)), "")


def _as_float64(name: str, array: np.ndarray, value: object) -> Array:
    """An array of numbers as float64, or the first entry that is no real number or no float64."""
    kind = array.dtype.kind
    # NumPy has rounded whole numbers of a list
    if kind == "f" and array is not value and (np.abs(array) >= _EXACT).any():
        array = np.asarray(value, object)
    if kind in NO_NUMBERS and not np.can_cast(array.dtype, np.float64):  # bfloat16 can
        raise ValueError(f"{name} holds {NO_NUMBERS[kind]}; it must hold real numbers")
    if array.dtype.kind == "O" and not all(fine := [is_real(entry) for entry in array.flat]):
        if (column := _first_column_of_others(value)) is not None:
            raise ValueError(
                f"{name} has the column {quoted(column)}, which holds other things than numbers; every column must hold real numbers"
            )
        other = array.flat[fine.index(False)]
        raise ValueError(f"{name} holds an entry of type {kind_of(other)}; it must hold real numbers")
    if array.dtype.kind in "iu" and array.size and not -_EXACT <= array.min() <= array.max() <= _EXACT:
        array = array.astype(object)
    if array.dtype.kind == "O" or array.dtype.itemsize > 8:
        rounded = np.array([not is_float64(entry) for entry in array.flat], bool).reshape(array.shape)
        if rounded.any():
            raise ValueError(f"{name} holds {_first(array, rounded)}, which no float64 equals")
    return array.astype(np.float64)


def is_real(entry: object) -> bool:
    """Whether an entry of an array is a real number of Python or NumPy; durations are whole numbers to NumPy.
    >>> is_real(1), is_real(np.timedelta64(1, "D")), is_real("1")
    (True, False, False)
    """
    return isinstance(entry, (Real, Decimal, np.bool_)) and not isinstance(entry, np.timedelta64)


def is_float64(entry: Any) -> bool:
    """Whether a real number is a float64, NaN and infinity among them.
    >>> is_float64(2**53), is_float64(2**53 + 1)
    (True, False)
    """
    try:
        return float(entry) == entry or entry != entry
    except (OverflowError, ValueError):
        return False


def _first(array: np.ndarray, wrong: np.ndarray) -> str:
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = "" if not where else f" at index {where[0] if len(where) == 1 else where}"
    return f"{printable(array[where], 40)}{place}"


def _first_column_of_others(value: Any) -> str | None:
    """The first column of a data frame that cannot be read as numbers; None for what has no named columns."""
    for label in getattr(value, "columns", ()):
        column = np.asarray(value[label])
        try:
            column.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            return str(label)
        if column.dtype.kind in "mM":  # dates are numbers by themselves, but not beside others
            return str(label)
    return None


_NO_SCALARS = bool, np.timedelta64  # which are whole numbers to Python and NumPy


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return `value` as an int from `least` to `most`."""
    allowed = f">= {least}" if most is None else f"from {least} to {most:,}"
    if isinstance(value, _NO_SCALARS) or not isinstance(value, (int, np.integer, float, np.floating)):
        raise ValueError(f"{name} is {quoted(value)}; it must be a whole number {allowed}")
    if (
        not (isinstance(value, int) or math.isfinite(value))
        or not least <= value == int(value)
        or (most is not None and value > most)
    ):
        raise ValueError(
            f"{name} is {quoted(value) if isinstance(value, int) else printable(value, 40)}; it must be a whole number {allowed}"
        )
    if most is None and value >= 2**63:  # which neither arrays nor the roots of NumPy take
        raise ValueError(f"{name} is {quoted(value)}; it must be a whole number {allowed} and below 2^63")
    return int(value)


def number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Return `value` as a finite float within [low, high], either end open on request."""
    left, right = "(" if low_open or low == -math.inf else "[", ")" if high_open or high == math.inf else "]"
    allowed = f"it must be a finite number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, _NO_SCALARS) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {quoted(value)}; {allowed}")
    try:
        x = float(value)
    except OverflowError:  # of a whole number
        x = math.inf
    if math.isfinite(x) and x != (value if isinstance(value, int) else np.longdouble(value)):
        raise ValueError(f"{name} is {quoted(value)}, which no float64 equals; {allowed}")
    too_low = x <= low if low_open else x < low
    too_high = x >= high if high_open else x > high
    if not math.isfinite(x) or too_low or too_high:
        raise ValueError(
            f"{name} is {quoted(value) if isinstance(value, int) else printable(value, 40)}; {allowed}"
        )
    return x


def real(name: str, value: object) -> float:
    """Return `value` as a float that may be infinite or NaN.
    >>> real("value", None)
    Traceback (most recent call last):
    ...
    ValueError: value is None; it must be a number
    """
    if isinstance(value, _NO_SCALARS) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {quoted(value)}; it must be a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is {quoted(value)}; it must be a number that float64 reaches") from None


def confidence_level(value: object) -> float:
    """Return a confidence as a float in [0.5, 1): below it, a failure probability was probably given instead.

    Examples:
        >>> confidence_level(0.05)
        Traceback (most recent call last):
        ...
        ValueError: confidence is 0.05; it must be a finite number in [0.5, 1): 1 minus the failure probability, such as 0.95
    """
    try:
        return number("confidence", value, 0.5, 1.0, high_open=True)
    except ValueError as error:
        raise ValueError(f"{error}: 1 minus the failure probability, such as 0.95") from None


def file_path(name: str, value: object) -> Path:
    """Return the path of a file, given as text or a path.
    >>> file_path("checkpoint", 5)
    Traceback (most recent call last):
    ...
    ValueError: checkpoint is int; it must be the path of a file
    """
    if not isinstance(value, (str, os.PathLike)):
        raise ValueError(f"{name} is {kind_of(value)}; it must be the path of a file")
    return Path(value)


def refuse_class(name: str, value: object, what: str) -> None:
    """Raise ValueError where a class stands in the place of its instance.
    >>> refuse_class("claim", 1.0, "a number")
    >>> refuse_class("claim", float, "a number")
    Traceback (most recent call last):
    ...
    ValueError: claim is the class float; it must be a number: call the class
    """
    if isinstance(value, type):
        raise ValueError(
            f"{name} is the class {printable(value.__name__, 40)}; it must be {what}: call the class"
        )


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of the allowed words; the error for a mistyped word names close words."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {quoted(value)}; allowed: {', '.join(allowed)}")
    word = str.__str__(value)  # a class of another's may equal anything
    if word not in allowed:
        raise ValueError(no_such(name, word, allowed))
    return word


def flag(name: str, value: object) -> bool:
    """Return `value` if it is True or False; what Python would take for either is refused.
    >>> flag("intercept", "no")
    Traceback (most recent call last):
    ...
    ValueError: intercept is 'no'; it must be True or False
    """
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {quoted(value)}; it must be True or False")
    return bool(value)


def words(name: str, value: object) -> str:
    """Return `value` if it is a text.
    >>> words("unit", None)
    Traceback (most recent call last):
    ...
    ValueError: unit is None; it must be words
    """
    if not isinstance(value, str):
        raise ValueError(f"{name} is {quoted(value)}; it must be words")
    return str.__str__(value)


def texts(name: str, value: Any) -> dict[str, str]:
    """Return a mapping from text to text, such as what a page shows below its head; empty for None.
    >>> texts("about", {"seed": 0})
    Traceback (most recent call last):
    ...
    ValueError: about holds 0; it must hold text by names
    """
    held = dict({} if value is None else member(name, value, Mapping, "text by names"))
    for entry in (part for pair in held.items() for part in pair):
        if not isinstance(entry, str):
            raise ValueError(f"{name} holds {quoted(entry)}; it must hold text by names")
    return held


def member(name: str, value: Any, kinds: Any, what: str) -> Any:
    """Return `value` if it belongs to a family, or is of a class; `what` it must be, in words, ends the sentence.
    >>> member("claim", None, float, "a number")
    Traceback (most recent call last):
    ...
    ValueError: claim is NoneType; it must be a number
    """
    refuse_class(name, value, what)
    if not isinstance(value, kinds):
        raise ValueError(f"{name} is {kind_of(value)}; it must be {what}")
    return value


def moments(name: str, value: Any, *more: str) -> Any:
    """Return `value` if it has a mean and a covariance, and these attributes too, as a distribution has."""
    refuse_class(name, value, "a distribution or moments")
    if not all(hasattr(value, part) for part in ("mean", "covariance", *more)):
        raise ValueError(f"{name} is {kind_of(value)}; it must be a distribution or moments")
    return value


def sizes(name: str, value: Any) -> tuple[int, ...]:
    """Return a sequence of whole numbers >= 1, such as the shape of an input, as a tuple.
    >>> sizes("inputs", 3)
    Traceback (most recent call last):
    ...
    ValueError: inputs is 3; it must be a sequence of whole numbers >= 1
    """
    array = value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else value
    if not isinstance(array, (list, tuple)):
        raise ValueError(f"{name} is {quoted(value)}; it must be a sequence of whole numbers >= 1")
    return tuple(whole(name, size, 1) for size in array)


def check_fields(record: Any) -> None:
    """Raise ValueError unless the fields of a dataclass that are words are text, and those that are flags True or False."""
    for item in dataclasses.fields(record):
        reader = {"str": words, "bool": flag, str: words, bool: flag}.get(item.type)
        if reader is not None:
            reader(item.name, getattr(record, item.name))


def sample_size(n: object, sampling_rate: float = 1.0) -> int:
    """Return n >= 2; with `sampling_rate`, also check that sampling_rate n is a whole number of at least 2 rows."""
    rows = whole("n", n, 2)
    retained = sampling_rate * rows
    if abs(retained - round(retained)) > 1e-9 * rows:
        raise ValueError(
            f"sampling_rate n = {sampling_rate:g} x {rows} = {retained:g}; sampling_rate n must be a whole number of rows"
        )
    if round(retained) < 2:
        raise ValueError(
            f"sampling_rate n = {sampling_rate:g} x {rows} = {retained:g}; at least 2 rows must be sampled"
        )
    return rows


def positive_definite_factor(name: str, matrix: Array) -> Array:
    """Return the lower Cholesky factor of a symmetric matrix, or say that it is not positive definite."""
    try:
        factor: Array | None = np.asarray(np.linalg.cholesky(matrix), np.float64)
    except np.linalg.LinAlgError:
        factor = None
    # L_jj^2 / C_jj is the share of variance j that the earlier coordinates leave unexplained.
    if factor is None or (np.diagonal(factor) ** 2 < 1e-12 * np.diagonal(matrix)).any():
        raise ValueError(f"{name} is not positive definite; add regularisation or use its diagonal")
    return factor


_HOW = "of scores s with labels y (1 = member): {}out_scores=s[y == 0], in_scores=s[y == 1]{}"
_LABELLED = "y_true", "y_score", "labels", "scores"
"""What other libraries take."""


def scores_by_name(called: str, unnamed: object, others: Iterable[str], out: object, inside: object) -> None:
    """Raise unless scores are given as out_scores= and in_scores=: (labels, scores) would be read as two worlds.
    >>> scores_by_name("from_scores", (), [], [0.0], [1.0])
    >>> scores_by_name("from_scores", ([0.0], [1.0]), [], None, None)
    Traceback (most recent call last):
    ...
    ValueError: out_scores and in_scores must both be given by name; of scores s with labels y (1 = member): from_scores(out_scores=s[y == 0], in_scores=s[y == 1])
    """
    if foreign := [name for name in others if name not in _LABELLED]:
        raise TypeError(f"{called} has no argument {foreign[0]!r}")
    if unnamed or others or out is None or inside is None:
        how = _HOW.format(f"{called}(", ")")
        raise ValueError(f"out_scores and in_scores must both be given by name; {how}")


def refuse_labels(**worlds: Array) -> None:
    """Raise ValueError where either of two sorted vectors of scores holds labels: as many as the other, 0 and 1 alone, beside
    other numbers there.

    >>> refuse_labels(out_scores=np.array([0.0, 1.0]), in_scores=np.array([0.0, 1.0]))
    >>> refuse_labels(out_scores=np.array([0.0, 1.0]), in_scores=np.array([0.2, 0.7]))
    Traceback (most recent call last):
    ...
    ValueError: out_scores holds 0 and 1 alone, as labels do, and in_scores other numbers; of scores s with labels y (1 = member): out_scores=s[y == 0], in_scores=s[y == 1]
    """
    first, second = worlds.items()
    for (name, held), (beside, others) in ((first, second), (second, first)):
        if (
            held.size == others.size
            and np.array_equal(np.unique(held), [0.0, 1.0])
            and not np.isin(others, [0.0, 1.0]).all()
        ):
            raise ValueError(
                f"{name} holds 0 and 1 alone, as labels do, and {beside} other numbers; {_HOW.format('', '')}"
            )


def class_counts(
    name: str, counts: object, games_name: str, games: object, most: int = 2**63 - 1
) -> tuple[np.ndarray, int]:
    """Return counts as an int64 vector with 0 <= count <= games, and the games as an int >= 1."""
    n = whole(games_name, games, 1, most)
    values = finite_vector(name, counts)
    bad = (values != np.floor(values)) | (values < 0) | (values > n)
    if bad.any():
        raise ValueError(
            f"{name} holds {values[bad][0]:.15g}; it must hold whole numbers from 0 to {games_name} = {n}"
        )
    return values.astype(np.int64), n
