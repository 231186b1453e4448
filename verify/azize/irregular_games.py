"""The second, independent route at the irregular cases of the mean: games by NumPy, or literal ones of a small setting."""

from __future__ import annotations

import numpy as np

from verify.azize.second import by_small_games

GAMES = 20_000


def second_route(data: str, target: str, extra: str) -> str:
    """Play an irregular case another way and say what came of it."""
    if extra == "parity":
        return by_parity()
    if extra == "rare value":
        return by_small_games("rare-coordinate")
    if data == "Cantor":
        return by_digits()
    # What else is irregular is Bernoulli data with a target off their support.
    return by_small_games("three-atoms" if data == "three atoms" else "bernoulli-off-support")


def level_at_zero(games: int = GAMES, n: int = 400) -> str:
    """Draw the ratio of Gaussian data with the target at the mean, where tau_alpha is 0 for every alpha."""
    rng = np.random.default_rng(18)
    # Of d = 2n sums s_j ~ N(0, n): l = -(d/2) log(1 - 1/n) - sum s_j^2 / (2 n (n - 1)).
    ratio = -n * np.log1p(-1 / n) - rng.chisquare(2 * n, games) / (2 * (n - 1))
    return f"{games:,} games of H0 (NumPy, seed 18, n = {n}, d = {2 * n}): FPR {float((ratio > 0).mean()):.3f} at tau_alpha = 0"


def by_parity(n: int = 200) -> str:
    """Draw the rows of coordinate n alone and look at the parity of their sum."""
    rng = np.random.default_rng(19)
    rates = []
    for member in (False, True):
        ones = rng.binomial(n - member, 1 / (8 * n), GAMES)
        total = 2 * rng.binomial(n - member - ones, 0.5) + ones + member
        rates.append(float((total % 2 == 1).mean()))
    return (
        f"{GAMES:,} games per world from the rows of coordinate n (NumPy, seed 19, n = {n}): the test 'the sum is odd' has FPR "
        f"{rates[0]:.4f} and TPR {rates[1]:.4f}; the statement says equal rates, since t = 0"
    )


def by_digits(n: int = 3, digits: int = 4000, games: int = 200) -> str:
    """Draw Cantor records digit by digit, n rows in one coordinate, and correlate the sum with the target's digits."""
    rng = np.random.default_rng(17)
    target = _fractions(rng.integers(0, 2, (1, digits)))
    frequency = abs(np.prod(np.cos(2 * np.pi / 3.0 ** np.arange(1, 40))))
    cut = frequency ** (n - 1) * (1 + frequency**2) / 2
    rates = []
    for member in (False, True):
        total = (
            sum(_fractions(rng.integers(0, 2, (games, digits))) for _ in range(n - member)) + member * target
        )
        rates.append(float((np.cos(2 * np.pi * (total - target)).mean(axis=1) > cut).mean()))
    return (
        f"{games} games per world with {digits:,} ternary digits (NumPy, seed 17, n = {n}, d = 1): the mean of "
        f"cos(2 pi 3^k (S - z)) over k > {cut:.4f} has FPR {rates[0]:.3f} and TPR {rates[1]:.3f}"
    )


def _fractions(digits: np.ndarray) -> np.ndarray:
    """3^k x mod 1, k = 0, 1, ..., of x with ternary digits 2 `digits`."""
    found, rest = np.empty(digits.shape), np.zeros(digits.shape[:-1])
    for k in range(digits.shape[-1] - 1, -1, -1):
        rest = (2 * digits[..., k] + rest) / 3
        found[..., k] = rest
    return found
