"""Binomial probabilities for many parameters at once, with a proven error."""

import numpy as np

from mipsim.exact.rounding import EPS

_MOST_COUNTS = 2**19 - 64  # on either side of the mean: as many as a list of atoms may have


def binomial_probabilities(n: int, p: np.ndarray, low: np.ndarray, size: int) -> np.ndarray:
    """P(Binomial(n, p_j) = low_j + k), k = 0 .. size - 1, by ratios of neighbours from the mode outwards.

    A ratio (n - k) p / ((k + 1) (1 - p)) is right to 2 EPS, so that a value m counts from the mode is right to 3 m EPS of itself, up
    to a common factor for all, which the sum, 1 less what is outside the window, fixes. So their total error is at most
    6 EPS E|count - mode| + 64 EPS <= `binomial_error`. Nothing overflows, and what underflows is below 1e-300.

    `n`: trials; `p`: in (0, 1), shape (d,); `low`: first counts, whole numbers <= the mode, shape (d,); `size`: how many
    counts; those beyond n have probability 0. Returns shape (d, size); each row sums to 1: the window must hold all but a
    negligible part.
    """
    odds = (p / (1.0 - p))[:, None]
    place = np.clip(np.floor((n + 1) * p) - low, 0, size - 1).astype(int)[:, None]
    first, last = int(place.min()), int(place.max())
    table = np.ones((p.size, size))
    with np.errstate(under="ignore"):
        column = np.arange(first, size - 1)
        rising = np.where(column >= place, _ratio(n, low[:, None] + column, odds), 1.0)
        table[:, first + 1 :] = np.cumprod(rising, axis=1, out=rising)
        column = np.arange(last)[::-1]
        falling = np.where(column < place, _ratio(n, low[:, None] + column, odds), 1.0)
        np.divide(1.0, np.maximum(falling, 1e-300, out=falling), out=falling)
        table[:, :last] *= np.cumprod(falling, axis=1, out=falling)[:, ::-1]
    return table / table.sum(axis=1, keepdims=True)


def _ratio(n: int, count: np.ndarray, odds: np.ndarray) -> np.ndarray:
    """P(count + 1) / P(count)."""
    result = np.maximum(n - count, 0.0)
    result /= count + 1.0
    result *= odds
    return result


def one_trial_less(table: np.ndarray, n: int, low: np.ndarray) -> np.ndarray:
    """The table of n - 1 trials from that of n, as P(Binomial(n - 1, p) = k) = P(Binomial(n, p) = k) (n - k) / (n (1 - p)).

    The factor that all counts share is left to the sum, as in `binomial_probabilities`. Each value has two more roundings, and its count is
    up to 2 from the mode of n - 1 trials: 14 EPS more in all, for which the 64 of `binomial_error` have room.
    """
    result = table * np.maximum(n - (low[:, None] + np.arange(table.shape[1])), 0.0)
    return result / result.sum(axis=1, keepdims=True)


def binomial_error(n: int, p: np.ndarray) -> np.ndarray:
    """A bound on the sum of the absolute errors of a row of `binomial_probabilities`, shape (d,)."""
    return EPS * (6.0 * (np.sqrt(n * p * (1.0 - p)) + 1.0) + 64.0)


def binomial_relative_error(n: int, p: np.ndarray) -> list[tuple[float, float]]:
    """(A bound on the relative error of each probability in the `window`, what underflow and counts outside may take besides).

    Counts are up to the window's width from the mode. The factor for all, which the sum fixes, is as far off.

    >>> ((error, lost),) = binomial_relative_error(5, np.array([0.5]))
    >>> error < 1e-13, lost
    (True, 0.0)
    """
    low, high = window(n, p)
    none = (outside(n, p) == 0.0) & (np.minimum(p, 1.0 - p) ** n > 1e-290)
    lost = np.where(none, 0.0, np.maximum(outside(n, p), 1e-290))
    return list(zip((EPS * (6.0 * (high - low) + 80.0)).tolist(), lost.tolist(), strict=True))


def _reach(n: int, p: np.ndarray) -> np.ndarray:
    """Distances from the mean beyond which no count matters: a tail of 1e-308 tilts each of d by 38 / sqrt d deviations.

    They are less where a table would be too long, down to 9.5 deviations.
    """
    spread = np.sqrt(n * p * (1 - p))
    far = (9.5 + 40.0 / np.sqrt(p.size)) * spread
    return np.maximum(np.minimum(far, _MOST_COUNTS), 9.5 * spread) + 30.0


def window(n: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last count of each of d binomial distributions that a table holds, shape (d,)."""
    reach = _reach(n, p)
    return np.maximum(np.floor(n * p - reach), 0.0), np.minimum(np.ceil(n * p + reach), n)


def outside(n: int, p: np.ndarray) -> np.ndarray:
    """Twice Bernstein's bound on the probability of counts outside the window, 0 where it holds all; below 1e-17."""
    low, high = window(n, p)
    reach = _reach(n, p) - 2.0  # the mean of n - 1 trials is up to 1 away
    bound = 4.0 * np.exp(-0.5 * reach**2 / (n * p * (1 - p) + reach / 3.0))
    return np.where((low <= 0.0) & (high >= n), 0.0, bound)
