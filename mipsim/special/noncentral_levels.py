"""Checks of the arguments of the non-central chi-square functions."""

import numpy as np

from mipsim._validation import real_array

MOST_FREEDOM, MOST_NONCENTRALITY = 1e6, 1e8  # the contour is checked against mpmath up to these


def arguments(x: object, d: object, noncentrality: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Broadcast points, degrees of freedom and noncentralities, or say which of them is not allowed.

    Raises:
        ValueError: if x holds NaN, d is outside [1, 1e6], or the noncentrality outside [0, 1e8].

    Examples:
        >>> [a.shape for a in arguments([1.0, 2.0], 3, [[0.0], [1.0]])]
        [(2, 2), (2, 2), (2, 2)]
    """
    try:
        at = np.asarray("x" if x is None else x, dtype=np.float64)  # NumPy would read None as nan, "1" as 1
        real = not isinstance(x, (str, bytes))
    except (TypeError, ValueError):
        at, real = np.empty(0), False
    if not real:
        raise ValueError(f"x is {type(x).__name__}; it must be an array of real numbers")
    if np.isnan(at).any():
        raise ValueError("x holds nan; every entry must be a real number or an infinity")
    at, freedom, centre = _together(at, *_parameters(d, noncentrality))
    return at, freedom, centre


def points(
    log_lower: np.ndarray, log_upper: np.ndarray, d: object, noncentrality: object
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Broadcast two log tails with the parameters of the law. Errors as in `arguments`.

    Examples:
        >>> [a.shape for a in points(np.zeros(2), np.zeros(2), 3, 1.0)]
        [(2,), (2,), (2,), (2,)]
    """
    lower, upper, freedom, centre = _together(log_lower, log_upper, *_parameters(d, noncentrality))
    return lower, upper, freedom, centre


def levels(name: str, value: object, *, log: bool) -> np.ndarray:
    """Return levels in (0, 1), or their logarithms if `log`, as a float64 array.

    Raises:
        ValueError: if one is outside, or not a finite number.

    Examples:
        >>> levels("q", [0.5, 2.0], log=False)
        Traceback (most recent call last):
        ...
        ValueError: q is 2; a level must lie in (0, 1)
    """
    array = real_array(name, value)
    bad = array >= 0.0 if log else (array <= 0.0) | (array >= 1.0)
    if bad.any():
        allowed = "the log of a level must be negative" if log else "a level must lie in (0, 1)"
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; {allowed}")
    return array


def _parameters(d: object, noncentrality: object) -> tuple[np.ndarray, np.ndarray]:
    return (
        _within("d", d, 1.0, MOST_FREEDOM),
        _within("noncentrality", noncentrality, 0.0, MOST_NONCENTRALITY),
    )


def _within(name: str, value: object, low: float, high: float) -> np.ndarray:
    array = real_array(name, value)
    bad = (array < low) | (array > high)
    if bad.any():
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; it must lie in [{low:g}, {high:g}]")
    return array


def _together(*arrays: np.ndarray) -> list[np.ndarray]:
    try:
        return [np.array(a) for a in np.broadcast_arrays(*arrays)]
    except ValueError:
        shapes = ", ".join(str(a.shape) for a in arrays)
        raise ValueError(f"the arguments have shapes {shapes}; they must broadcast together") from None
