"""Second ways to what exact laws say of the mean: draws with NumPy alone, and quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from mipsim.referee import Draws, Replication
from mipsim.referee.replication import RISK, share
from verify.azize.laws.enumerated import cells, worlds
from verify.azize.laws.enumeration import best_deterministic_power, mean_game
from verify.azize.laws.pooled_scores import OFF, ONE_SIDED, ZERO, aim, pooled
from verify.by_hand import difference, mean, near

GAMES = 20_000


def level_at_zero(t: float, u: float, tau: float, alpha: float, world: str, n: int = 400) -> Replication:
    """The level for Gaussian data with the target at the mean, where tau_alpha is 0 for every alpha."""
    if (t, u, world) != (0.0, 0.0, "level"):
        raise ValueError(f"t is {t:g} and u {u:g} in {world}; the level is known at the mean only")
    # Of d sums s_j ~ N(0, n): l = -(d/2) log(1 - 1/n) - sum s_j^2 / (2 n (n - 1)).
    d = round(tau * n)
    level = float(scipy.stats.chi2.cdf(-d * (n - 1) * np.log1p(-1 / n), d))
    return Replication(
        *near(level),
        what="level of the test at tau_alpha = 0",
        how=f"SciPy's chi-square distribution, n = {n}, d = {d}",
        claim=alpha,
        size=n,
    )


def rate_of_subsample(
    t: float, u: float, tau: float, rho: float, alpha: float, world: str, summed: bool, n: int = 400
) -> Replication:
    """Draw the ratio of a sub-sample of Gaussian rows, or the sum of the columns' own ratios, and compare it with the printed threshold."""
    games = 5_000 if summed else GAMES
    rng, rows, d = np.random.default_rng(20), max(2, round(rho * n)), max(2, round(tau * n))
    square = (d - d // 2) * t**2 + d // 2 * u**2  # of the target, over the columns
    sampled = rng.random(games) < rho * (world == "power")
    left = rows - sampled
    if summed:
        z = np.repeat([t, u], [d - d // 2, d // 2])
        s = sampled[:, None] * z + np.sqrt(left)[:, None] * rng.standard_normal((games, d))
        ratio = s**2 / (2 * rows) - (s - z) ** 2 / (2 * (rows - 1)) - 0.5 * np.log1p(-1 / rows)
    else:
        # V = sum (s_j - k t_j)^2 of the column sums of k rows, which include the target where it is sampled.
        v = left * rng.noncentral_chisquare(d, np.maximum(left * square, 1e-12))
        ratio = -0.5 * d * np.log1p(-1 / rows) + 0.5 * square - v / (2 * rows * (rows - 1))
    m = square / n
    threshold = -rho * m / 2 - (rho * m) ** 0.5 * ndtri(alpha)
    score = np.logaddexp(np.log1p(-rho), np.log(rho) + ratio)
    seen = share(((score.sum(axis=1) if summed else score) > threshold).sum(), games)
    return Replication(
        *seen,
        what=f"{world} of the test at tau_alpha",
        how=f"NumPy, {games:,} games, seed 20, n = {n}, d = {d}",
        claim=alpha if world == "level" else float(ndtr(ndtri(alpha) + (rho * m) ** 0.5)),
        size=n,
    )


def by_parity(rate: float, faint: bool = False, n: int = 256, games: int = GAMES) -> Draws:
    """Draw the rows of coordinate n, a power of 2, alone, with faint noise or none, and look at the parity of their sum."""
    rng, odd = np.random.default_rng(19), []
    for member in (False, True):
        ones = rng.binomial(n - member, rate / n, games)
        total = 2 * rng.binomial(n - member - ones, 0.5) + ones + member
        odd.append(((np.rint(total + rng.normal(0.0, n**-0.5, games)) if faint else total) % 2).astype(float))
    return Draws(
        *odd,
        how=f"NumPy, {games:,} games a world from the rows of coordinate j = n, seed 19, n = {n}: is the sum{', rounded,' * faint} odd?",
        size=n,
    )


def parity_ratio(share: float, n: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """(log ratio at each sum of an extra coordinate with P(1) = `share`, the laws of the sum out and in), by convolution."""
    row = np.array([0.5 * (1 - share), share, 0.5 * (1 - share)])
    rest = np.ones(1)
    for _ in range(n - 1):
        rest = np.convolve(rest, row)
    out, inside = np.convolve(rest, row), np.pad(rest, 1)
    with np.errstate(divide="ignore"):
        return np.log(inside) - np.log(out), [out, inside]


def by_digits(n: int = 3, digits: int = 4000, games: int = 1000) -> Draws:
    """Draw Cantor records digit by digit, n rows in a single coordinate, and correlate the sum with the target's digits."""
    rng, result = np.random.default_rng(17), []
    target = _fractions(rng.integers(0, 2, (1, digits)))
    for member in (False, True):
        total = (
            sum(_fractions(rng.integers(0, 2, (games, digits))) for _ in range(n - member)) + member * target
        )
        result.append(np.cos(2 * np.pi * (total - target)).mean(axis=1))
    how = f"NumPy, {games} games a world with {digits:,} ternary digits, seed 17, n = {n}, a single coordinate: the mean of cos(2 pi 3^k (S - z)) over k"
    return Draws(*result, how=how, size=n)


def _fractions(digits: np.ndarray) -> np.ndarray:
    """3^k x mod 1, k = 0, 1, ..., of x with ternary digits 2 `digits`."""
    result, rest = np.empty(digits.shape), np.zeros(digits.shape[:-1])
    for k in range(digits.shape[-1] - 1, -1, -1):
        rest = (2 * digits[..., k] + rest) / 3
        result[..., k] = rest
    return result


def by_release(n: int, distance: float) -> Replication:
    """Release the mean of two neighbouring data sets of zeros and ones, sampled with NumPy, and compare; in the other a 0 is `distance`."""
    rows = (np.random.default_rng(20).random((n, 1)) < 0.5).astype(float)
    rows[0], other = 0.0, rows.copy()
    other[0] = distance
    seen = float(rows.mean() != other.mean())
    how = f"NumPy, means of two data sets of zeros and ones, but for a 0 that is {distance:g} in the other, seed 20: {rows.mean():.12f} and {other.mean():.12f}, without noise"
    return Replication(
        *near(seen), what="advantage of comparing the output with the mean of a data set", how=how, size=n
    )


def typical_scores(
    data: str, p: float, df: float, scale: float, games: int = 2_000, n: int = 100_000
) -> Replication:
    """Draw targets with NumPy: m* is a limit of sums of independent terms over n, a constant (Kolmogorov), and near it are all m at large n."""
    rng = np.random.default_rng(16)
    j = np.arange(2, n + 2, dtype=float)
    means = []
    for _ in range(games):
        z = rng.random(n) < 1 / j**2
        means.append(min(2.0, float(np.where(z, j**2 - 1, 1 / (j**2 - 1)).sum() / n)))
    seen = mean(np.array(means), 0.0, 2.0)
    return Replication(
        *seen,
        what="mean of min(m, 2) over targets, which tends to m*, a constant",
        how=f"NumPy, {games:,} sampled targets, seed 16, n = d = {n:,}",
        claim=1.0,
    )


def large_variance(df: float, rho: float, n: int = 1000, reach: float = 40.0) -> Replication:
    """A lower bound of n V[W_n] from records below 10^reach, by quadrature in logarithms.

    W_n is a polynomial of degree 4 in the standardised sum x = (Z + R)/sqrt k, of leading coefficient a = rho (1 - rho)/(8 (k - 1)^2), and at
    least a x^4 / 2 in absolute value where |x| exceeds a number that records beyond 10^(reach/2) pass; R and Z have the same sign with probability 1/2.
    """
    k = round(rho * n)
    a = rho * (1 - rho) / (8 * (k - 1) ** 2)
    law = scipy.stats.t(df)
    x = np.linspace(0.5 * reach, reach, 20_001) * np.log(10.0)
    moment = 2.0 * float(scipy.integrate.trapezoid(np.exp(9.0 * x + law.logpdf(np.exp(x))), x))
    least = n * (a / 2) ** 2 * 0.5 * moment * (df / (df - 2)) ** -4 / k**4
    return Replication(
        least,
        0.9 * least,
        np.inf,
        f"n V[W_n] at n = {n:,} from |Z| < 1e{reach:g} alone, without bound as that grows",
        "SciPy, quadrature of Student's density",
        size=n,
    )


def by_literal_records(alpha: float, games: int = 200_000, **at: Any) -> Replication:
    """Draw records and outputs with NumPy and count how often the best set of outputs of FPR at most alpha occurs with the target."""
    at.pop("reading")
    out, inside = worlds(**at)
    chosen = best_deterministic_power(out, inside, np.array([alpha]))[1][0]
    rng, mechanism = np.random.default_rng(13), at["mechanism"]
    if not mechanism.startswith("mean"):
        index = rng.choice(len(out), size=games, p=inside)
    else:
        n, (p, target, retained) = (
            at["n"],
            cells(**{key: at[key] for key in ("mechanism", "n", "kept", "p", "q", "z", "y")}),
        )
        outputs, _, _ = mean_game(p, n, target, retained)
        records = (rng.uniform(size=(games, n, len(p))) < p).astype(float)
        records[np.arange(games), rng.integers(n, size=games)] = target
        order = rng.permuted(np.tile(np.arange(n), (games, 1)), axis=1)[:, :retained]
        means = np.take_along_axis(records, order[:, :, None], axis=1).mean(axis=1)
        index = np.argmin(np.abs(means[:, None] - outputs[None]).max(axis=2), axis=1)
    seen = share(chosen[index].sum(), games)
    return Replication(
        *seen,
        what=f"power of a set of outputs of FPR at most {alpha:g}",
        how=f"NumPy, {games:,} literal games with the target, seed 13",
    )


def by_sums_off_the_lattice(
    p: float, share_of_ones: float, games: int = 100_000, n: int = 400
) -> Replication:
    """Column sums of Bernoulli data with a target of zeros and ones in them or not: how often the law "in" of the target 1/2 has them.

    It has sums of a whole number and 1/2 alone. Where a single column has another, l_n is minus infinity, and no threshold tells anything.
    """
    rng = np.random.default_rng(21)
    finite = []
    for member in (0, 1):
        own = member * (rng.random(games) < share_of_ones)
        others = rng.binomial(n - member, p, games) + own - 0.5
        finite.append((others % 1 == 0).sum())
    seen = difference(share(finite[1], games, RISK / 4), share(finite[0], games, RISK / 4))
    return Replication(
        *seen,
        what="TPR - FPR of every test of l_n",
        how=f"NumPy, {games:,} sums of a column a world, seed 21, n = {n}: l_n is finite at none",
        size=n,
    )


def by_sums(aimed_at: Any, leakages: Any, rule: str, games: int = 200_000, n: int = 400) -> Replication:
    """Draw the sum of all entries with NumPy and count a single test, whose threshold the normal limit names before the draw.
    `aimed_at`: where the covariance score is aimed: `law`, `p`, `aimed`, `truth`, `tau`; `leakages`: its leakages at n:
    `m_star`, `m_targ`, `m_scal`; `rule`: the threshold: "zero", the better "midpoint", or the midpoint of "one side";
    `games`: in each world; `n`: rows.
    """
    rng, d = np.random.default_rng(14), max(1, round(aimed_at.tau * n))
    middle = (leakages.m_scal - leakages.m_targ) / 2
    cut = 0.0 if rule == "zero" or (rule == "one side" and leakages.m_scal <= 0) else middle
    mean, sd = {
        "bernoulli": (aimed_at.p, np.sqrt(aimed_at.p * (1 - aimed_at.p))),
        "gaussian": (0.0, 1.0),
        "exponential": (1.0, 1.0),
    }[aimed_at.law]
    tested = []
    for member in (False, True):
        count = (n - member) * d
        total = {
            "bernoulli": lambda c=count: rng.binomial(c, aimed_at.p, games),
            "gaussian": lambda c=count: rng.normal(0.0, np.sqrt(c), games),
            "exponential": lambda c=count: rng.gamma(c, 1.0, games),
        }[aimed_at.law]() + member * d * (mean + sd * aimed_at.truth)
        score = aimed_at.aimed * (total - n * d * mean) / (n * sd) - d * aimed_at.aimed**2 / (2 * n)
        tested.append(share((score > cut).sum(), games, RISK / 4))
    value, low, high = difference(tested[1], tested[0])
    if rule == "midpoint" and value < 0.0:
        value, low, high = -value, -high, -low
    return Replication(
        value,
        low,
        high,
        f"advantage of the attack {'{l_n > 0}' if cut == 0.0 else 'at the threshold (m_scal - m_targ)/2'}",
        f"NumPy, {games:,} games a world from sums, seed 14, n = {n}",
        size=n,
    )


def aimed_by_sums(reading: str, **at: Any) -> Replication:
    """Draws of sums, and a single test."""
    if at["data"] == OFF:
        return by_sums_off_the_lattice(at["p"], at["share"])
    item = aim(**at)
    return by_sums(
        item,
        pooled(item, 400),
        "zero" if reading == ZERO else "one side" if reading == ONE_SIDED else "midpoint",
    )
