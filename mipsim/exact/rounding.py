"""Bounds on the rounding error of logarithms of transforms, stored along with the values.

With EPS = 2^-52, twice the unit roundoff: +, -, *, / and sqrt are right to EPS / 2, a product of complex numbers to
sqrt(5) EPS / 2 of its modulus, and the elementary functions of NumPy are taken to be right to 4 EPS (four ulp, which its
own tests demand). First-order bounds are doubled at least, which covers the products of errors.
"""

from collections.abc import Callable
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

ComplexArray = NDArray[np.complexfloating[Any, Any]]
"""The type of complex arrays, which NumPy's own stubs need in order to know their parts."""
Bounded = tuple[ComplexArray, np.ndarray]
"""Values, and bounds on their errors."""

EPS = 2.0**-52
UNIT = 2.0**-53  # the unit roundoff
_LEAST_SCALE = 2e-5  # of the largest: (1.5 / 2e-5)^60, the highest power of the series, is below 1e293
_TINY = 1e-300  # in the place of a modulus of 0
_BLOCK = 2**17  # complex numbers of a batch: 2 MiB
_SPLIT = 2.0**27 + 1.0  # halves the digits of a float64


def log_1_plus(z: ComplexArray, error: np.ndarray) -> Bounded:
    """Log(1 + z) for z known to `error`, and the error e of the result.

    The exact 1 + z has at most exp(e) times the modulus of the computed value; where e < 0.1, their logarithms differ by 2 e at
    most, up to 2 pi i. Where 1 + z is nearly 0 the first may hold alone.
    """
    value, square, radius = _logarithm(z)
    x, y = z.real, z.imag
    own = np.where(square > -0.5, 8.0 * (np.abs(x) * (2.0 + np.abs(x)) + y * y), 4.0)
    size = np.abs(value.real) + np.abs(value.imag)
    return value, np.log1p(error / radius()) + EPS * (own + 8.0 * size)


def log_of_1_plus(z: ComplexArray) -> ComplexArray:
    """The value of `log_1_plus` alone.
    >>> log_of_1_plus(np.array([1e-20 + 0j]))
    array([1.e-20+0.j])
    """
    return _logarithm(z)[0]


def _logarithm(z: ComplexArray) -> tuple[ComplexArray, np.ndarray, Callable[[], np.ndarray]]:
    x, y = z.real, z.imag
    square = x * (2.0 + x) + y * y  # |1 + z|^2 - 1

    def radius() -> np.ndarray:
        return np.maximum(np.hypot(1.0 + x, y), _TINY)

    value = np.empty(z.shape, complex)
    value.imag = np.arctan2(y, 1.0 + x)
    near = square > -0.5
    if near.all():
        value.real = 0.5 * np.log1p(square)
    else:
        # Near -1 the square is lost and 1 + x is exact (Sterbenz); elsewhere log1p keeps what is small.
        value.real = np.where(near, 0.5 * np.log1p(np.where(near, square, 0.0)), np.log(radius()))
    return value, square, radius


class PowerSums:
    """sum_j f(x_j s) for f(z) = sum_{r >= 2} c_r z^r, from sums of powers of the x_j that are small.
    `scales`: x, shape (d,), not 0; `coefficients`: c_2, c_3, ..., of which the last is so small that c_r radius^r, r
    beyond, sum to less than 1e-17 c_2 radius^2; `radius`: the largest |x s| for which the series is used.

    >>> cosh = PowerSums(np.ones(3), np.array([0.5, 0, 1 / 24, 0, 1 / 720]), 0.01)
    >>> print(cosh.value(3, np.array([0.01 + 0j])).real)
    [0.00015]
    """

    def __init__(self, scales: np.ndarray, coefficients: np.ndarray, radius: float) -> None:
        order = np.argsort(np.abs(scales), kind="stable")
        self.scales, self.radius = scales[order], radius
        used = np.flatnonzero(coefficients)
        self.powers, self.coefficients = used + 2, coefficients[used]
        # Relative to the largest, so that no power underflows that counts.
        self.unit = float(np.abs(self.scales[-1])) if scales.size else 1.0
        z = self.scales / self.unit
        powers = [z**r for r in self.powers]
        self.sums = np.stack([np.cumsum(power) for power in powers])
        self.sums[:, -1] = [power.sum() for power in powers]  # by pairs, as mostly all are requested
        self.sizes = np.stack([np.cumsum(np.abs(power)) for power in powers])

    def small(self, s: ComplexArray) -> int:
        """How many of the sorted scales have |x s| <= radius for every s; none if powers in units of the largest would overflow."""
        most = float(np.abs(s).max(initial=0.0))
        count = int(np.searchsorted(np.abs(self.scales) * most, self.radius, side="right"))
        return count if count and np.abs(self.scales[count - 1]) > _LEAST_SCALE * self.unit else 0

    def value(self, count: int, s: ComplexArray) -> ComplexArray:
        """The sum over the first `count` scales, shape of s."""
        out = np.zeros(s.shape, complex)
        if count:
            w = self.unit * s
            for r, c, total in zip(
                self.powers[::-1], self.coefficients[::-1], self.sums[::-1, count - 1], strict=True
            ):
                out += c * total * w**r
        return out

    def rounding(self, count: int, s: ComplexArray) -> np.ndarray:
        """Of `value`: each term to some EPS of its size for each product and addition, and what the series leaves out."""
        if count == 0:
            return np.zeros(s.shape)
        w = np.abs(self.unit * s)
        # NumPy adds whole arrays by pairs, in blocks of 128 with eight sums each.
        additions = 32.0 if count == self.scales.size else float(count)
        size = np.zeros(s.shape)
        for r, c, total in zip(self.powers, self.coefficients, self.sizes[:, count - 1], strict=True):
            size += (8.0 + 4.0 * r + additions) * abs(c) * total * w**r
        return EPS * size


def summed(terms: ComplexArray, errors: np.ndarray) -> Bounded:
    """The sum over the last axis, which NumPy adds by pairs in blocks of 128 with eight sums each, and its error."""
    return terms.sum(axis=-1), errors.sum(axis=-1) * (1 + 1e-9) + 40.0 * EPS * np.abs(terms).sum(axis=-1)


def in_blocks(function: Callable[[ComplexArray], Bounded], s: ComplexArray, width: int) -> Bounded:
    """A function of s that needs arrays of shape (T, width), for some T at a time.
    >>> in_blocks(lambda at: (at, at.real), np.array([1.0 + 0j, 2.0 + 0j]), 2**18)[1]
    array([1., 2.])
    """
    value, error = np.zeros(s.shape, complex), np.zeros(s.shape)
    if width:
        size = max(1, _BLOCK // width)
        for start in range(0, s.size, size):
            part = slice(start, start + size)
            value[part], error[part] = function(s[part])
    return value, error


def precise_dot(first: np.ndarray, second: np.ndarray) -> float:
    """The scalar product; each product is rounded once and the sum is exact.
    >>> precise_dot(np.array([1e16, 1.0, -1e16]), np.ones(3))
    1.0
    """
    return fsum((np.asarray(first) * np.asarray(second)).tolist())


def product_parts(first: np.ndarray | float, second: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """The rounded products and what rounding took from them: their sums are the exact products.

    Source: Dekker (1971). Numbers beyond 1e290 or below 1e-140 are outside its range.

    >>> bool(product_parts(1.0 + 2.0**-30, 1.0 - 2.0**-30)[1] == -(2.0**-60))
    True
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    a_high, b_high = (x * _SPLIT - (x * _SPLIT - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def exact_dot(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The scalar product to twice the digits: the nearest number, and what is left.
    >>> exact_dot(np.array([0.1]), np.array([0.1]))[1] != 0.0
    True
    """
    high, low = product_parts(first, second)
    parts = [*np.ravel(high).tolist(), *np.ravel(low).tolist()]
    total = fsum(parts)
    return total, fsum([*parts, -total])
