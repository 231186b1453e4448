"""Checks that the laws share: parameters of one common length, and orders of moments."""

import numpy as np

from mipsim._validation import Array, finite_vector, real_array, whole


def coordinates(d: int | None, **parameters: object) -> tuple[Array, ...]:
    """Return every parameter as a float64 vector of one common shape (d,); numbers are repeated d times.

    Args:
        d: the number of coordinates; None = the length of the vectors given, or 1 where all are numbers.
        **parameters: each a number or a vector of shape (d,), by its public name.

    Examples:
        >>> coordinates(None, mean=0.0, scale=[1.0, 2.0])
        (array([0., 0.]), array([1., 2.]))
    """
    arrays = {name: real_array(name, value) for name, value in parameters.items()}
    if d is None:
        d = next((array.size for array in arrays.values() if array.ndim > 0), 1)
    else:
        d = whole("d", d, 1)
    out = [
        np.full(d, array) if array.ndim == 0 else finite_vector(name, array, d)
        for name, array in arrays.items()
    ]
    return tuple(array.copy() for array in out)


def positive(name: str, values: Array, why: str = "") -> Array:
    """Return `values` if all are > 0, or name the first coordinate that is not."""
    if not (values > 0).all():
        worst = int(np.argmin(values > 0))
        raise ValueError(f"{name} is {values[worst]:g} at coordinate {worst}; it must be > 0{why}")
    return values


def moment_order(order: object) -> int:
    """Return the order of a moment as an int >= 0."""
    return whole("order", order, 0)
