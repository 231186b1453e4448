"""Where a monotone function passes zero, or a monotone condition begins to hold, for many problems at once."""

from collections.abc import Callable

import numpy as np

# at once: more cost more than the rounds that they save; and cells a round
_EVALUATIONS, _MOST_CELLS = 1 << 11, 64
_NARROW = 2.0**-60  # of the range: float64 cannot halve it again
_APART = 1e-13  # of two places that count as equal: nearer, the rounding of a function decides its sign
_MOST_STEPS = 200  # some 10 do


def outer_root(
    excess: Callable[[np.ndarray, np.ndarray], np.ndarray], inner: np.ndarray, outer: np.ndarray
) -> np.ndarray:
    """The zero of a continuous function between `inner`, where it is at most 0, and `outer`, where it is positive.

    Of two numbers 1e-13 apart, relatively and absolutely, between which the function changes its sign, that on the
    side of `outer` is returned: a bound on where it is at most 0, rounded outwards. It is the faster the straighter the
    function is near its zero.

    Source: Chandrupatla (1997), the method of SciPy's `find_root`.
    """
    inner, outer = np.broadcast_arrays(np.asarray(inner, float), np.asarray(outer, float))
    from scipy.optimize import elementwise  # a fourth of a second: not when the library is imported

    result = elementwise.find_root(
        excess,
        (inner.ravel(), outer.ravel()),
        args=(np.arange(inner.size),),
        tolerances={"xrtol": _APART, "xatol": _APART},
        maxiter=_MOST_STEPS,
    )
    last = 1 * (outer >= inner).ravel()  # SciPy's bracket is (lower, upper)
    end, beyond = np.choose(last, result.bracket), np.choose(last, result.f_bracket) > 0.0
    nearest = np.where(beyond, inner.ravel(), outer.ravel())
    root = np.where(result.f_x == 0.0, result.x, end)
    return np.where(np.isnan(result.x), nearest, root).reshape(inner.shape)


def crossing(
    holds: Callable[[np.ndarray], np.ndarray],
    size: int,
    least: float,
    most: float,
    narrow: float = _NARROW,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[np.ndarray, np.ndarray]:
    """Bracket the least z in [least, most] from which on a condition holds, for `size` problems at once.

    For curves with jumps and flat stretches, where a root finder would take any root, and the least root is meant. `stop`: whether to
    leave the brackets as they are.
    """
    low, high = np.full(size, least), np.full(size, most)
    cells = max(2, min(_MOST_CELLS, _EVALUATIONS // max(size, 1)))
    shares = np.arange(1, cells) / cells
    width = 1.0
    while width > narrow and not stop():
        inner = low[:, None] + (high - low)[:, None] * shares
        first = np.argmax(np.concatenate([holds(inner), np.ones((size, 1), bool)], axis=1), axis=1)
        ends = np.concatenate([low[:, None], inner, high[:, None]], axis=1)
        low = np.take_along_axis(ends, first[:, None], axis=1)[:, 0]
        high = np.take_along_axis(ends, first[:, None] + 1, axis=1)[:, 0]
        width /= cells
    return low, high


def least_whole(holds: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The least whole number above `low` and up to `high` at which a monotone condition holds, of each problem."""
    while True:
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # rounded down, without overflow
        if (middle == low).all():
            return high
        there = holds(middle) & (middle > low)  # what is computed already stays as it is
        low, high = np.where(there, low, middle), np.where(there, middle, high)


def least_float(holds: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The same among all float64 numbers: the last digit of any size is computed in 64 steps at most."""
    return _float(least_whole(lambda place: holds(_float(place)), _order(low), _order(high)))


def _order(x: np.ndarray) -> np.ndarray:
    """The place of a float64 among all of them: whole numbers in the same order."""
    bits = np.asarray(x, np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits - 1, bits)


def _float(place: np.ndarray) -> np.ndarray:
    """The float64 at a place."""
    place = np.asarray(place)  # NumPy warns of the overflow of single numbers, which is meant
    return np.where(place < 0, np.int64(-(2**63)) - place - 1, place).view(np.float64)
