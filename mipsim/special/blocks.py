"""Running a jitted elementwise function on NumPy arrays of any size with few compilations."""

from collections.abc import Callable

import jax
import numpy as np

from mipsim._precision import exact_scope

SMALL = 64  # one point costs as much as 64: the time of a call is the overhead of XLA
LARGE, LARGE_ON_DEVICE = 4096, 262144  # a CPU gains nothing from longer vectors; an accelerator does


def in_blocks(function: Callable[..., tuple[object, ...]], *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Call `function` on equal one-dimensional arrays, cut into blocks of two sizes that it is compiled for.

    The last block is filled up with copies of its last entry, which are dropped from the results.

    Args:
        function: from float64 vectors of one size to a tuple of vectors of that size; called in the exact scope.
        *arrays: float64, each of shape (size,).

    Examples:
        >>> in_blocks(lambda v: (v + 1.0,), np.arange(5000.0))[0].shape
        (5000,)
    """
    size, start = arrays[0].size, 0
    if size == 0:
        return tuple(out[:0] for out in in_blocks(function, *(np.ones(1) for _ in arrays)))
    parts: list[tuple[np.ndarray, ...]] = []
    large = LARGE if jax.default_backend() == "cpu" else LARGE_ON_DEVICE
    with exact_scope():
        while start < size:
            left = size - start
            block = SMALL if left <= 4 * SMALL else large
            kept = min(block, left)
            cut = (np.pad(a[start : start + kept], (0, block - kept), mode="edge") for a in arrays)
            parts.append(tuple(np.asarray(out)[:kept] for out in function(*cut)))
            start += kept
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))
