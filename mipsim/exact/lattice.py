"""Detection of a lattice among real numbers."""

import numpy as np


def common_step(values: np.ndarray, most: int = 2**20) -> float | None:
    """The largest u of which every value is a whole multiple (to 1e-12 relative), with multiples up to `most`; or None.

    Examples:
        >>> common_step(np.array([0.7, -0.3, 0.0])).__round__(12), common_step(np.array([1.0, np.sqrt(2)]))
        (0.1, None)
    """
    sizes = np.unique(np.abs(values[values != 0.0]))
    if sizes.size == 0:
        return None
    step = float(sizes[0])
    smallest = float(sizes[-1]) / most
    tolerance = 4e-13 * float(sizes[-1])
    for value in sizes[1:]:
        if abs(value / step - np.rint(value / step)) * step <= tolerance:
            continue
        a, b = float(value), step  # Euclid's algorithm on real numbers
        while b > tolerance:
            a, b = b, abs(a - b * np.rint(a / b))
            if a < smallest:
                return None
        step = a
    multiples = np.rint(sizes / step)
    # The least-squares step; Euclid's remainders lose digits.
    step = float(np.sum(sizes * multiples) / np.sum(multiples**2))
    exact = np.abs(sizes - multiples * step).max() <= tolerance and multiples[-1] <= most
    return step if exact else None
