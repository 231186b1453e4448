"""Powers of an associative product by repeated squaring, and what rounding makes of those of a law on a lattice."""

from collections.abc import Callable
from math import log2
from typing import TypeVar

Thing = TypeVar("Thing")


def repeated(factor: Thing, copies: int, times: Callable[[Thing, Thing], Thing]) -> Thing:
    """The product factor times factor times ... , `copies` >= 1 of them."""
    while not copies & 1:
        factor, copies = times(factor, factor), copies >> 1
    result = factor
    while copies := copies >> 1:
        factor = times(factor, factor)
        if copies & 1:
            result = times(result, factor)
    return result


def convolution_error(copies: int, values: int) -> float:
    """A bound on the relative error of each probability of a sum of `copies` numbers by `repeated`, with so many lattice values each.

    Convolving laws of a and b values adds up min(a, b) products of positive numbers at most, which is right to as many units of
    rounding beside the errors of both laws. So 2^k copies are right to k 2^(k-1) values units, and joining these for the binary
    digits of `copies` costs copies x values more: (1 + log2(copies) / 2) copies values in all. Doubled, for products of errors.
    What underflows is below 1e-300 in all.
    """
    return 2.0 * 2.0**-53 * copies * values * (1.0 + log2(copies))
