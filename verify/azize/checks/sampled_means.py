"""Log ratios of the released mean sampled with NumPy: column sums, and the ratio of their two laws written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from mipsim.referee import Draws, Replication
from verify.azize.checks.second_routes import by_digits, by_parity, parity_ratio
from verify.azize.laws.mean_families import FAINT, MeanProblem
from verify.by_hand import mean

ROWS = 200
ENTRIES = 4_000_000
"""Column sums that are sampled in each world."""
BETWEEN_DIGITS = 0.08
"""Half-way between 0.371^4 out and 0.371^2 in, to which the mean of the digits tends at n = 3; 0.371 is E exp(2 pi i X)."""
ROOT_2_SHARE = 0.1
"""The probability of the atom sqrt 2, the target's own value."""


def columns(problem: MeanProblem, n: int) -> list[tuple[str, float, float, int]]:
    """(law, its parameter, the target's value, how many) of the kinds of columns, as the statement's families define them."""
    d, result = max(1, round(problem.tau * n)), []

    def add(law: str, parameter: float, z: float, share: float) -> None:
        result.append((law, parameter, z, max(1, round(share * d))))

    def shaped(t: float) -> float:
        return problem.shape + t * problem.shape**0.5

    if problem.data == "Bernoulli":
        for q in problem.means:
            likely = float(q > 0.5)
            typical = {1.0: q, 0.0: 1 - q}
            shares = {"typical": typical, "easiest": {1 - likely: 1.0}, "hardest": {likely: 1.0}}[
                problem.target
            ]
            for z, share in shares.items():
                add("Bernoulli", q, z, share / len(problem.means))
    elif problem.data == "Gaussian":
        for t in problem.targets:
            add("Gaussian", 1.0, t, 1 / len(problem.targets))
    elif problem.data == "gamma":
        for t in problem.targets:
            add("gamma", problem.shape, shaped(t), 1 / len(problem.targets))
    elif problem.data == "mixed":
        add("Bernoulli", problem.p, 1.0, 0.5)
        add("gamma", problem.shape, shaped(problem.t), 0.5)
    elif problem.data == "three atoms":
        add("Bernoulli", ROOT_2_SHARE, 1.0, 1.0)
    else:
        p = n**-0.5
        result.append(("Bernoulli", p, 1.0, max(1, round(problem.tau * n / (1 / p - 1)))))
    if problem.extra == "spike":
        result.append(("gamma", 1.0, 1.0 + (problem.rate * n) ** 0.5, 1))
    return result


def _column(
    law: str, parameter: float, z: float, n: int
) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray], float, float]:
    """(draw sums, log ratio of a sum with the target to a sum without it, mean and variance of a record)."""
    if law == "Bernoulli":
        chance = parameter if z == 1.0 else 1.0 - parameter

        def of_counts(s: np.ndarray) -> np.ndarray:
            with np.errstate(divide="ignore"):
                return np.log((s if z == 1.0 else n - s) / (n * chance))

        return (
            lambda rng, rows, size: rng.binomial(rows, parameter, size),
            of_counts,
            parameter,
            parameter * (1 - parameter),
        )
    if law == "Gaussian":
        return (
            lambda rng, rows, size: rng.normal(0.0, rows**0.5, size),
            lambda s: -0.5 * np.log(1 - 1 / n) - (s - z) ** 2 / (2 * (n - 1)) + s**2 / (2 * n),
            0.0,
            1.0,
        )
    own = scipy.stats.gamma
    return (
        lambda rng, rows, size: rng.gamma(rows * parameter, 1.0, size),
        lambda s: own.logpdf(s - z, (n - 1) * parameter) - own.logpdf(s, n * parameter),
        parameter,
        parameter,
    )


def scores(
    problem: MeanProblem, n: int = ROWS, rho: float = 1.0
) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """(log ratios out and in, ratio less covariance score out and in, games), the mean of rho n of n rows released."""
    rows, kinds = max(1, round(rho * n)), columns(problem, n)
    games = int(np.clip(ENTRIES / sum(count for *_, count in kinds), 4000, 100_000))
    rng = np.random.default_rng(22)
    ratios, gaps = [], []
    for member in (False, True):
        present = np.full(games, member) if rho == 1.0 else member & (rng.random(games) < rho)
        ratio, score = np.zeros(games), np.zeros(games)
        for law, parameter, z, count in kinds:
            draw, log_ratio, centre, variance = _column(law, parameter, z, rows)
            s = draw(rng, rows, (games, count)).astype(float)
            if member:
                with_target = draw(rng, rows - 1, (games, count)) + z
                s = np.where(present[:, None], with_target, s)
            ratio += log_ratio(s).sum(axis=1)
            score += (
                (z - centre) * (s / rows - centre) / variance - (z - centre) ** 2 / (2 * rows * variance)
            ).sum(axis=1)
        ratios.append(ratio)
        with np.errstate(invalid="ignore"):
            gaps.append(np.where(np.isfinite(ratio), ratio - score, np.inf))
    return ratios, gaps, games


def by_columns(epsilon: float = 0.0, direction: str = "in against out", rho: float = 1.0, **at: Any) -> Draws:
    """The optimal attack's scores at `ROWS` rows, or those of an attack that the extra coordinate gives away."""
    problem = MeanProblem.of(at)
    if problem.extra == "parity":
        result = by_parity(problem.rate)
    elif problem.data == "Cantor":
        result = by_digits()
    elif problem.extra == "faint noise":
        result = by_parity(FAINT, faint=True)
    elif problem.data == "Bernoulli" and problem.target == "off the support":
        result = off_the_lattice(problem)
    else:
        (out, inside), _, games = scores(problem, rho=rho)
        how = f"NumPy, {games:,} games a world from column sums, seed 22, n = {ROWS}, d = {max(1, round(problem.tau * ROWS))}"
        result = Draws(out, inside, how, ROWS)
    pair = (result.out, result.inside) if direction == "in against out" else (-result.inside, -result.out)
    return Draws(*pair, how=result.how, size=result.size, epsilon=epsilon)


def advantage_by_columns(rho: float, **at: Any) -> Replication:
    """The advantage of a sub-sample: rho E_out[(1 - L)^+], L the ratio of the sampled rows."""
    (out, _), _, games = scores(MeanProblem.of(at), rho=rho)
    included = round(rho * ROWS) / ROWS
    return Replication(
        *(included * end for end in mean(np.maximum(0.0, -np.expm1(out)), 0.0, 1.0)),
        what=f"optimal advantage at n = {ROWS}",
        how=f"NumPy, {games:,} games of H0 from column sums, seed 22",
        size=ROWS,
    )


def off_the_lattice(problem: MeanProblem, games: int = 100_000) -> Draws:
    """Whether the sum of a single column is a whole number, which with the target it is not."""
    rng, q = np.random.default_rng(21), problem.means[0]
    t = next(t for t in problem.targets if round(q + t * (q * (1 - q)) ** 0.5, 9) not in (0.0, 1.0))
    z = q + t * (q * (1 - q)) ** 0.5
    sums = [rng.binomial(ROWS - member, q, games) + member * z for member in (0, 1)]
    odd = [(np.abs(s - np.rint(s)) > 1e-9).astype(float) for s in sums]
    return Draws(
        *odd,
        how=f"NumPy, {games:,} games a world from a single column, seed 21, n = {ROWS}: is its sum a whole number?",
        size=ROWS,
    )


def by_difference(**at: Any) -> Replication:
    """The mean of min(1, difference^2) of ratio and covariance score."""
    problem = MeanProblem.of(at)
    if problem.data == "Cantor":
        draws = by_digits()
        right = np.concatenate([draws.out < BETWEEN_DIGITS, draws.inside > BETWEEN_DIGITS])
        return Replication(
            *mean(right.astype(float), 0.0, 1.0),
            what="share of games that a single test decides correctly, so that the ratio is far from every score of small variance",
            how=draws.how,
            claim=0.7,
            one_sided=True,
        )
    if problem.target == "off the support" and problem.data == "Bernoulli":
        draws = off_the_lattice(problem)
        return Replication(
            *mean((draws.inside > 0).astype(float), 0.0, 1.0),
            what="probability of an infinite ratio",
            how=draws.how,
            size=ROWS,
        )
    rows = 256 if problem.extra == "parity" else ROWS
    _, gaps, games = scores(problem, rows)
    if problem.extra == "parity":
        rng = np.random.default_rng(23)
        for j in 2 ** np.arange(rows.bit_length()):
            ratio, laws = parity_ratio(problem.rate / j, rows)
            gaps = [gap + rng.choice(ratio, games, p=law) for gap, law in zip(gaps, laws, strict=True)]
    seen = [mean(np.minimum(1.0, gap**2), 0.0, 1.0) for gap in gaps]
    how = f"NumPy, {games:,} games a world from column sums, seed 22"
    if problem.extra == "parity":
        how += ", and the sums of all coordinates j = 1, 2, 4, ..., n from their laws by convolution, whose scores are 0"
    return Replication(
        *max(seen), what=f"mean of min(1, difference^2) at n = {rows}, of all coordinates", how=how, size=rows
    )
