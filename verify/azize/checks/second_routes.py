"""Second ways to what exact laws say of the mean: draws with NumPy alone, and quadrature."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy

from mipsim.theory import azize
from verify.azize.laws.enumerated import cells, ratio, worlds
from verify.azize.laws.enumeration import best_deterministic_power, mean_game, roc_vertices
from verify.azize.laws.pooled_scores import OFF, ONE_SIDED, ZERO, aim, pooled

GAMES = 20_000


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
    result, rest = np.empty(digits.shape), np.zeros(digits.shape[:-1])
    for k in range(digits.shape[-1] - 1, -1, -1):
        rest = (2 * digits[..., k] + rest) / 3
        result[..., k] = rest
    return result


def faint_noise(games: int = 200_000, n: int = 400) -> str:
    """Draw the sum of coordinate n, a fair coin with target 1/2 and noise 1/n a record, and look whether it is nearer to a half."""
    rng, rates = np.random.default_rng(15), []
    for member in (False, True):
        total = rng.binomial(n - member, 0.5, games) + member * 0.5 + rng.normal(0.0, n**-0.5, games)
        rates.append(float((np.abs(total - np.floor(total) - 0.5) < 0.25).mean()))
    return (
        f"{games:,} games per world from the sums of coordinate n (NumPy, seed 15, n = {n}): the test 'nearer to a half than to a "
        f"whole number' has FPR {rates[0]:.5f} and TPR {rates[1]:.5f}; the statement says that it has equal rates"
    )


def by_release(n: int, distance: float) -> str:
    """Release the mean of two neighbouring data sets, drawn with NumPy, and compare."""
    rows = np.random.default_rng(20).random((n, 1))
    other = rows.copy()
    other[0] += distance
    return f"means of two drawn data sets that differ in one row (NumPy, seed 20): {rows.mean():.12f} and {other.mean():.12f}"


def medians() -> str:
    """Draw targets with NumPy and take the median of (1/n) ||z - mu||^2 at growing n."""
    rng, result = np.random.default_rng(16), []
    for n in (1000, 10_000, 100_000):
        j = np.arange(2, n + 2, dtype=float)
        z = rng.random((200, n)) < 1 / j**2
        result.append(float(np.median(np.where(z, j**2 - 1, 1 / (j**2 - 1)).sum(axis=1) / n)))
    return f"200 drawn targets (NumPy, seed 16): medians {result[0]:.1e}, {result[1]:.1e}, {result[2]:.1e} at n = d = 1e3, 1e4, 1e5"


@cache
def truncated_eighth_moment(df: float) -> str:
    """Quadrature of E[Z^8; |Z| < L] at growing L, which V[W_n] contains."""
    result = [
        2
        * sum(
            scipy.integrate.quad(lambda x: x**8 * scipy.stats.t.pdf(x, df), a, b)[0]
            for a, b in ((0, 10), (10, 1e2), (1e2, reach))
        )
        for reach in (1e3, 1e4, 1e5)
    ]
    return (
        f"quadrature: E[Z^8; |Z| < L] = {result[0]:.3g}, {result[1]:.3g}, {result[2]:.3g} at L = 1e3, 1e4, 1e5, without bound; "
        "V[W_n] contains it with a positive factor"
    )


def by_literal_records(alpha: float, games: int = 200_000, **at: Any) -> str:
    """Draw records and outputs with NumPy and count how often the best set occurs in each world."""
    at.pop("reading")
    out, inside = worlds(**at)
    chosen = best_deterministic_power(out, inside, np.array([alpha]))[1][0]
    rng, mechanism, counts = np.random.default_rng(13), at["mechanism"], []
    for member in (False, True):
        if not mechanism.startswith("mean"):
            index = rng.choice(len(out), size=games, p=inside if member else out)
        else:
            n, (p, target, retained) = (
                at["n"],
                cells(**{key: at[key] for key in ("mechanism", "n", "kept", "p", "q", "z", "y")}),
            )
            outputs, _, _ = mean_game(p, n, target, retained)
            records = (rng.uniform(size=(games, n, len(p))) < p).astype(float)
            if member:
                records[np.arange(games), rng.integers(n, size=games)] = target
            order = rng.permuted(np.tile(np.arange(n), (games, 1)), axis=1)[:, :retained]
            means = np.take_along_axis(records, order[:, :, None], axis=1).mean(axis=1)
            index = np.argmin(np.abs(means[:, None] - outputs[None]).max(axis=2), axis=1)
        counts.append(float(chosen[index].mean()))
    fpr, tpr = roc_vertices(ratio(out, inside), out, inside)
    return (
        f"{games:,} literal games per world (NumPy, seed 13): the chosen set of outputs has FPR {counts[0]:.4f} (alpha = "
        f"{alpha:.4f}) and power {counts[1]:.4f} +- 0.005; the ratio's thresholds reach {tpr[fpr <= alpha + 1e-12].max():.4f}"
    )


def by_sums_off_the_lattice(p: float) -> str:
    """Column sums of Bernoulli data are whole numbers."""
    total = np.random.default_rng(21).binomial(50, p, 100_000)
    return f"100,000 column sums (NumPy, seed 21): {int((total % 1 != 0).sum())} of them are a half more than a whole number"


def by_sums(one: Any, found: Any, rule: str, games: int = 200_000, n: int = 400) -> str:
    """Draw the sum of all entries with NumPy and count one test, whose threshold the normal limit names before the draw.

    Args:
        one: where the covariance score is aimed: `law`, `p`, `aimed`, `truth`, `tau`.
        found: its leakages at n: `m_star`, `m_targ`, `m_scal`.
        rule: the threshold: "zero", the better "midpoint", or the midpoint of "one side".
        games: in each world.
        n: rows.
    """
    rng, d = np.random.default_rng(14), max(1, round(one.tau * n))
    middle = (found.m_scal - found.m_targ) / 2
    cut = 0.0 if rule == "zero" or (rule == "one side" and found.m_scal <= 0) else middle
    mean, sd = {
        "bernoulli": (one.p, np.sqrt(one.p * (1 - one.p))),
        "gaussian": (0.0, 1.0),
        "exponential": (1.0, 1.0),
    }[one.law]
    tested = []
    for member in (False, True):
        count = (n - member) * d
        total = {
            "bernoulli": lambda c=count: rng.binomial(c, one.p, games),
            "gaussian": lambda c=count: rng.normal(0.0, np.sqrt(c), games),
            "exponential": lambda c=count: rng.gamma(c, 1.0, games),
        }[one.law]() + member * d * (mean + sd * one.truth)
        score = one.aimed * (total - n * d * mean) / (n * sd) - d * one.aimed**2 / (2 * n)
        tested.append(float((score > cut).mean()))
    seen = tested[1] - tested[0] if rule != "midpoint" else abs(tested[1] - tested[0])
    roots = " and ".join(
        f"{azize.misspecified_advantage(found.m_scal, m):.4f} with {name}"
        for m, name in ((found.m_targ, "m_targ"), (found.m_star, "m*"))
    )
    return (
        f"{games:,} games per world from sums (NumPy, seed 14, n = {n}): FPR {tested[0]:.4f}, TPR {tested[1]:.4f}, "
        f"advantage {seen:.4f} +- 0.007; the formula gives {roots}"
    )


def aimed_by_sums(reading: str, **at: Any) -> str:
    """Draws of sums, and one test."""
    if at["data"] == OFF:
        return by_sums_off_the_lattice(at["p"])
    item = aim(**at)
    return by_sums(
        item,
        pooled(item, 400),
        "zero" if reading == ZERO else "one side" if reading == ONE_SIDED else "midpoint",
    )
