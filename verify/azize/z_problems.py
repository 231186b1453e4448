"""Products of scalar Z-estimators, with the exact laws of their scores, and literal games of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy import stats
from scipy.special import ndtr

from mipsim.exact import AdditiveLaw, Terms, additive_law, covariance_score, likelihood_ratio
from mipsim.theory import azize
from verify.azize.z_laws import (
    Piece,
    block_piece,
    logit_piece,
    mean_piece,
    median_piece,
    slope_piece,
    two_inputs_piece,
)

SIZES = (101, 401, 1601, 6401)
"""Odd, so that the median is one record."""


@dataclass(frozen=True)
class Problem:
    """d = tau n independent coordinates, each a scalar Z-estimator of its own column of the records."""

    words: str
    pieces: tuple[Piece, ...]
    tau: float = 1.0
    typical: bool = False
    sizes: tuple[int, ...] = SIZES

    def parts(self, n: int) -> list[tuple[Piece, int]]:
        """The pieces with the number of their coordinates."""
        d = max(1, round(self.tau * n))
        if self.typical:
            return _typical_medians(n, d)
        return [(p, max(1, round(d * p.share))) for p in self.pieces]


def _typical_medians(n: int, d: int, groups: int = 48) -> list[tuple[Piece, int]]:
    """Targets at the evenly spread quantiles of the data; those near the median, which may be released, in groups."""
    quantiles = (np.arange(d) + 0.5) / d
    near = np.abs(quantiles - 0.5) < 2.0 / np.sqrt(n)
    law = stats.laplace()
    found = [
        (median_piece(law, float(g.mean())), len(g))
        for g in np.array_split(quantiles[near], groups)
        if len(g)
    ]
    below, above = int((quantiles[~near] < 0.5).sum()), int((quantiles[~near] > 0.5).sum())
    return [*found, (median_piece(law, 0.1), below), (median_piece(law, 0.9), above)]


def _problem(words: str, *pieces: Piece, tau: float = 1.0) -> Problem:
    return Problem(words, tuple(replace(p, share=1.0 / len(pieces)) for p in pieces), tau)


_LAPLACE = stats.laplace()
PROBLEMS: dict[str, Problem] = {
    "mean, centred, equal variances": _problem("mean of N(0, 1)", mean_piece(0.0, 1.0, 0.5), mean_piece(0.0, 1.0, -2.0)),
    "mean, mean not 0": _problem("mean of N(3, 1)", mean_piece(3.0, 1.0, 4.0), mean_piece(3.0, 1.0, 2.0)),
    "mean, unequal variances": _problem("mean of N(0, 1) and N(0, 16)", mean_piece(0.0, 1.0, 1.0), mean_piece(0.0, 4.0, -4.0)),
    "median, at 0, equal densities": _problem("median of Laplace(1)", median_piece(_LAPLACE, 0.2), median_piece(_LAPLACE, 0.9)),
    "median, not at 0": _problem(
        "median of 3 + Laplace(1)", median_piece(stats.laplace(3.0), 0.2), median_piece(stats.laplace(3.0), 0.9)
    ),
    "median, unequal densities": _problem(
        "median of N(0, 25) and Cauchy", median_piece(stats.norm(0.0, 5.0), 0.25), median_piece(stats.cauchy(), 0.8)
    ),
    "median, skewed": _problem(
        "median of Exponential(1)", median_piece(stats.expon(), 0.1), median_piece(stats.expon(), 0.8), tau=2.0
    ),
    "least squares, slope 0, equal designs": _problem(
        "slopes 0, x ~ N(0, 1)", slope_piece(0.0, 1.0, 1.0, 1.0), slope_piece(0.0, 1.0, 1.5, -1.0)
    ),
    "least squares, slope not 0": _problem(
        "slopes 2, x ~ N(0, 1)", slope_piece(2.0, 1.0, 1.0, 1.0), slope_piece(2.0, 1.0, 1.5, -1.0)
    ),
    "least squares, unequal designs": _problem(
        "slopes 0, x ~ N(0, 1) and N(0, 16)", slope_piece(0.0, 1.0, 1.0, 1.0), slope_piece(0.0, 4.0, 4.0, -1.0)
    ),
    "logistic, slope 0": _problem("slopes 0, x = +-1", logit_piece(0.0, True), logit_piece(0.0, False)),
    "logistic, slopes not 0": _problem(
        "slopes 2, -1, 1, x = +-1", logit_piece(2.0, True), logit_piece(-1.0, True), logit_piece(1.0, False)
    ),
}  # fmt: skip
TYPICAL = Problem("median of Laplace(1), targets at the quantiles of the data", (), 1.0, True)
PROJECTED: dict[str, Problem] = {
    "least squares, 5 coefficients each": _problem(
        "5 slopes, Gaussian design", block_piece(5, 3.0, 1.0), block_piece(5, 6.0, -0.5)
    ),
    "logistic, two inputs": replace(
        _problem(
            "slopes 1 and -0.8, x = 1 or 2",
            two_inputs_piece(1.0, 2, 0),
            two_inputs_piece(-0.8, 2, 0),
            tau=0.5,
        ),
        sizes=SIZES[:3],
    ),
}
"""Problems whose score has an exact law here, but not their likelihood ratio."""


def problem_of(name: str) -> Problem:
    """The problem of that name, "typical" included."""
    return TYPICAL if name == "typical" else (PROBLEMS | PROJECTED)[name]


@lru_cache(maxsize=48)
def law_of(name: str, n: int, reading: str) -> tuple[float, AdditiveLaw]:
    """(m, exact law) of the score of that reading, or of the likelihood ratio."""
    parts = problem_of(name).parts(n)
    ratio = reading == "ratio"
    groups: list[Terms] = [p.terms(n, count, "corrected" if ratio else reading) for p, count in parts]
    m = sum(count * p.influence**2 / p.sigma for p, count in parts) / n
    return m, additive_law(groups, likelihood_ratio if ratio else covariance_score)


def growing_curve(n: int, p: int, r: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact (FPR, FNR) of x*'(thetahat - theta_0) for ||x*||^2_{S^-1} = p and residual r sd.

    With A the other records' X'X, x*' A^-1 x* = h = p / chi2: out, the score is normal given h with variance h (n rows);
    in, it has mean r h/(1 + h) and variance h/(1 + h)^2 (n - 1 rows).
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(24)
    weights = weights / weights.sum()
    tail, below = ndtr(-np.abs(nodes)), nodes < 0
    out, inside = (
        p / np.where(below, stats.chi2.ppf(tail, df), stats.chi2.isf(tail, df)) for df in (n - p + 1, n - p)
    )
    reach = 8 * np.sqrt(out.mean())
    t = np.linspace(-reach, reach + r, 4000)[:, None]
    alpha = ndtr(-t / np.sqrt(out)) @ weights
    beta = ndtr((t - r * inside / (1 + inside)) / (np.sqrt(inside) / (1 + inside))) @ weights
    return alpha, beta


def growing_by_games(games: int = 4000, n: int = 61, p: int = 30, r: float = 1.5) -> str:
    """Literal regressions by NumPy's least squares."""
    rng = np.random.default_rng(5)
    target = np.full(p, 1.0)
    rates = []
    for member in (False, True):
        x, y = rng.normal(size=(games, n, p)), rng.normal(size=(games, n))
        if member:
            x[:, 0], y[:, 0] = target, r
        gram, moment = np.einsum("gni,gnj->gij", x, x), np.einsum("gni,gn->gi", x, y)
        rates.append(np.linalg.solve(gram, moment[..., None])[..., 0] @ target)
    cut = np.quantile(rates[0], 0.9)
    power, claimed = float((rates[1] > cut).mean()), float(azize.power(0.1, p / n * r**2))
    return f"{games:,} literal regressions per world (NumPy, n = {n}, p = {p}): power {power:.3f} +- 0.03 at FPR 0.1, claimed {claimed:.3f}"


def by_literal_columns(name: str, reading: str, games: int = 2000, n: int = 51) -> str:
    """Literal estimates of a small game by NumPy: the reading's power at FPR 0.1 against the corrected score's."""
    problem = problem_of(name)
    d = round(problem.tau * n)
    scores = {r: [np.zeros(games), np.zeros(games)] for r in (reading, "corrected")}
    rng = np.random.default_rng(20_250_901)
    for piece in problem.pieces:
        for member in (False, True):
            total = piece.draw(rng, games, max(1, round(d * piece.share)), n, member).sum(axis=1)
            for r, pair in scores.items():
                pair[int(member)] += piece.weight(r) * total
    power = {r: float((inside > np.quantile(out, 0.9)).mean()) for r, (out, inside) in scores.items()}
    return (
        f"{games:,} literal games per world (NumPy, n = {n}, d = {d}): power at FPR 0.1 is {power[reading]:.3f} with the score as "
        f"printed and {power['corrected']:.3f} with the corrected one (+- 0.04)"
    )


def by_literal_match(games: int = 2000, n: int = 51) -> str:
    """Literal medians: how often a released number is the target's own, which no record drawn from a density is."""
    rng = np.random.default_rng(20_250_902)
    target = _LAPLACE.ppf((np.arange(n) + 0.5) / n)
    found = []
    for member in (False, True):
        rows = rng.laplace(size=(games, n, n))
        if member:
            rows[:, 0, :] = target
        found.append(float((np.partition(rows, n // 2, axis=1)[:, n // 2, :] == target).any(axis=1).mean()))
    return (
        f"{games:,} literal games per world (NumPy, n = d = {n}): some released median equals the target's number in {found[0]:.3f} of "
        f"the games out and {found[1]:.3f} in (1 - 1/e = 0.632): power at FPR 0, of which the normal limit allows none"
    )
