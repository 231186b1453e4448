"""Products of scalar Z-estimators: the laws of their scores with proven errors, and literal games of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from mipsim.referee import Draws, Replication
from verify.azize.laws.normal_sums import NearlyNormal, NormalCurve, sum_curve, sum_law
from verify.azize.laws.z_moments import (
    Piece,
    block_piece,
    exponential_median_piece,
    logistic_median_piece,
    logit_piece,
    mean_piece,
    slope_piece,
)


@dataclass(frozen=True)
class Problem:
    """d = tau n independent coordinates, each a scalar Z-estimator of its own column of the records."""

    words: str
    pieces: tuple[Piece, ...]
    tau: float = 1.0

    def leakage(self) -> float:
        """The leakage score m = (1/n) I' Sigma^-1 I."""
        return self.tau * sum(p.share * p.influence**2 / p.sigma for p in self.pieces)


def _problem(words: str, *pieces: Piece, tau: float = 1.0) -> Problem:
    return Problem(words, tuple(replace(p, share=1.0 / len(pieces)) for p in pieces), tau)


PROBLEMS: dict[str, Problem] = {
    "mean, centred, equal variances": _problem("mean of N(0, 1), targets 0.5 and -2", mean_piece(0.0, 1.0, 0.5), mean_piece(0.0, 1.0, -2.0)),
    "mean, mean not 0": _problem("mean of N(3, 1), targets 4 and 2", mean_piece(3.0, 1.0, 4.0), mean_piece(3.0, 1.0, 2.0)),
    "mean, unequal variances": _problem("mean of N(0, 1), target 1, and of N(0, 16), target -4", mean_piece(0.0, 1.0, 1.0), mean_piece(0.0, 4.0, -4.0)),
    "median, at 0, equal densities": _problem(
        "median of Logistic(0, 1), targets at the quantiles 0.2 and 0.9", logistic_median_piece(0.0, 1.0, 0.2), logistic_median_piece(0.0, 1.0, 0.9)
    ),
    "median, not at 0": _problem(
        "median of Logistic(3, 1), targets at the quantiles 0.2 and 0.9", logistic_median_piece(3.0, 1.0, 0.2), logistic_median_piece(3.0, 1.0, 0.9)
    ),
    "median, unequal densities": _problem(
        "median of Logistic(0, 4), target at the quantile 0.25, and of Logistic(0, 1), at 0.8", logistic_median_piece(0.0, 4.0, 0.25), logistic_median_piece(0.0, 1.0, 0.8)
    ),
    "median, skewed": _problem(
        "median of Exponential(1), targets at the quantiles 0.1 and 0.8", exponential_median_piece(0.1), exponential_median_piece(0.8), tau=2.0
    ),
    "least squares, slope 0, equal designs": _problem(
        "slope 0, x ~ N(0, 1), targets with x = 1 and 1.5, residuals 1 and -1", slope_piece(0.0, 1.0, 1.0, 1.0), slope_piece(0.0, 1.0, 1.5, -1.0)
    ),
    "least squares, slope not 0": _problem(
        "slope 2, x ~ N(0, 1), targets with x = 1 and 1.5, residuals 1 and -1", slope_piece(2.0, 1.0, 1.0, 1.0), slope_piece(2.0, 1.0, 1.5, -1.0)
    ),
    "least squares, unequal designs": _problem(
        "slope 0, x ~ N(0, 1), target with x = 1 and residual 1, and x ~ N(0, 16), with x = 4 and residual -1", slope_piece(0.0, 1.0, 1.0, 1.0), slope_piece(0.0, 4.0, 4.0, -1.0)
    ),
}  # fmt: skip
BLOCKS: dict[str, Problem] = {
    "least squares, 5 coefficients each": _problem(
        "5 slopes, Gaussian design", block_piece(5, 3.0, 1.0), block_piece(5, 6.0, -0.5)
    )
}
"""Blocks of several parameters: a linear function of each is what the corrected score sees."""
RATIOS = tuple(name for name, problem in PROBLEMS.items() if all(p.ratio for p in problem.pieces))
"""Problems whose exact log ratio has moments in closed form: medians. Logistic regression on x = +-1 has a closed form too."""


@lru_cache(maxsize=64)
def logistic_problem(theta_1: float, theta_2: float, agrees_1: bool, agrees_2: bool) -> Problem:
    """Two kinds of logistic regressions through 0 on x = +-1: their slopes, and whether the target's y is 1{x = 1}."""
    pieces = logit_piece(theta_1, agrees_1), logit_piece(theta_2, agrees_2)
    return _problem(f"slopes {theta_1:g} and {theta_2:g}, x = +-1", *pieces)


@lru_cache(maxsize=512)
def problem_of(name: str, kinds: int = 1, root: float = 1.0, draw: int = 0) -> Problem:
    """The problem of that name, or a random problem."""
    return (PROBLEMS | BLOCKS)[name] if name != "random" else random_problem(kinds, root, draw)


@lru_cache(maxsize=256)
def laws_of(problem: Problem, n: int, score: str) -> tuple[NearlyNormal, NearlyNormal]:
    """(out, in) laws of the score of that reading, centred at theta_0, or of the log ratio if `score` is "ratio"."""
    result: list[NearlyNormal] = []
    for world in (0, 1):
        terms = []
        for p in problem.pieces:
            count = problem.tau * n * p.share
            if score == "ratio":
                terms.append((1.0, count, p.ratio_worlds(n)[world]))
            else:
                weight = p.weight(score) * float(np.sqrt(p.sigma / n))
                terms.append((weight, count, p.worlds(n)[world]))
        result.append(sum_law([term for term in terms if term[0] != 0.0]))
    return result[0], result[1]


def curve_of(problem: Problem, n: int, score: str) -> NormalCurve:
    """The curve of that score with its proven bracket."""
    return sum_curve(*laws_of(problem, n, score))


def random_problem(kinds: int, root: float, draw: int) -> Problem:
    """So many kinds of coordinates with random laws and targets, the target's influence away from 0; d/n is such that sqrt(m) = root."""
    rng = np.random.default_rng(draw)
    words, pieces = [], []
    for _ in range(kinds):
        kind, sign = int(rng.integers(4)), float(rng.choice([-1.0, 1.0]))
        theta, size, far = (
            rng.normal(0.0, 2.0),
            float(np.exp(rng.uniform(-1, 1))),
            float(rng.uniform(0.2, 2.5)),
        )
        quantile = 0.5 + sign * float(rng.uniform(0.1, 0.45))
        if kind == 0:
            words.append(f"mean of N({theta:.2f}, {size**2:.2f}), target {far * sign:+.2f} sd")
            pieces.append(mean_piece(theta, size, theta + far * sign * size))
        elif kind == 1:
            words.append(f"median of Logistic({theta:.2f}, {size:.2f}), target at quantile {quantile:.2f}")
            pieces.append(logistic_median_piece(theta, size, quantile))
        elif kind == 2:
            words.append(f"median of Exponential(1), target at quantile {quantile:.2f}")
            pieces.append(exponential_median_piece(quantile))
        else:
            words.append(
                f"slope {theta:.2f}, x ~ N(0, {size**2:.2f}), target x {far:.2f} sd, residual {sign:+.0f}"
            )
            pieces.append(slope_piece(theta, size, far * size, sign))
    item = _problem("; ".join(words), *pieces)
    return replace(item, tau=root**2 / item.leakage())


def revealing_power(n: int, tau: float) -> tuple[float, float]:
    """(power, what its sum of probabilities is off) of "some released median is the target's number", typical targets.

    The targets of d = tau n coordinates lie at the quantiles v = (j - 1/2)/d of a density. The median of n = 2k + 1 records is the
    target with probability P(Binomial(2k, v) = k), and no other record equals it: the FPR is 0.
    """
    d, k = round(tau * n), n // 2
    reach = 20 / np.sqrt(n)  # beyond, a probability is below exp(-800)
    first, last = int(max(0, np.floor((0.5 - reach) * d))), int(min(d, np.ceil((0.5 + reach) * d)))
    v = (np.arange(first, last) + 0.5) / d
    return float(-np.expm1(np.sum(np.log1p(-scipy.stats.binom.pmf(k, 2 * k, v))))), 1e-6


def ratio_below(problem: str, inside: bool, z: float, n: int) -> tuple[float, float]:
    """P(log ratio <= -+m/2 + sqrt(m) z) in a single world, and its proven error."""
    item = logistic_problem(2.0, -1.0, True, False) if problem == "logistic" else problem_of(problem)
    m, law = item.leakage(), laws_of(item, n, "ratio")[int(inside)]
    place = m**0.5 * z + (m if inside else -m) / 2
    return float(ndtr((place - law.mean) / np.sqrt(law.variance))), law.error


@dataclass(frozen=True)
class GrowingCurve:
    """A single regression of p coefficients that grow with n, residual r sd, ||x*||^2_{S^-1} = p: FPR and FNR over thresholds, bracketed.

    Out the score x*'(thetahat - theta_0) is N(0, h) given h = p/Y, Y ~ chi-square with n - p + 1 degrees of freedom; in it is
    N(r h/(1 + h), h/(1 + h)^2) with n - p. Y is split into cells of equal probability, on each of which the bounds are at its ends.
    """

    n: int
    p: int
    r: float
    cells: int = 40_000

    def _ends(self, df: int) -> tuple[np.ndarray, np.ndarray]:
        y = scipy.stats.chi2.ppf(np.linspace(0.0, 1.0, self.cells + 1), df)
        # The two outermost cells, of probability 1/cells each, are left to the error below.
        y[0], y[-1] = y[1], y[-2]
        return self.p / y[1:], self.p / y[:-1]

    def power_at(self, alpha: float) -> tuple[float, float]:
        """(low, high) of the power of the test of this FPR that rejects large scores.
        >>> low, high = GrowingCurve(401, 200, 1.5).power_at(0.1)  # the limit is 0.144
        >>> print(0.14 < low < high < 0.15)
        True
        """
        outer = 2 / self.cells
        low, high = self._ends(self.n - self.p + 1)

        def rates(t: float) -> tuple[float, float]:
            ends = ndtr(-t / np.sqrt(low)), ndtr(-t / np.sqrt(high))
            return float(np.minimum(*ends).mean()) - outer, float(np.maximum(*ends).mean()) + outer

        # The threshold of this FPR is above every t whose FPR is above alpha for certain, and below every t where it is below.
        reach = 8 * float(np.sqrt(high.max()))
        least = float(scipy.optimize.brentq(lambda t: rates(t)[0] - alpha, -reach, reach)) - 1e-9  # pyright: ignore[reportArgumentType]
        most = float(scipy.optimize.brentq(lambda t: rates(t)[1] - alpha, -reach, reach)) + 1e-9  # pyright: ignore[reportArgumentType]
        return 1.0 - self._fnr(most)[1], 1.0 - self._fnr(least)[0]

    def _fnr(self, t: float) -> tuple[float, float]:
        low, high = self._ends(self.n - self.p)
        stretch = (1 + low) / np.sqrt(low), (1 + high) / np.sqrt(high)
        least = np.where((low < 1) & (high > 1), 2.0, np.minimum(*stretch))
        most = np.maximum(*stretch)
        left, right = np.minimum(t * least, t * most), np.maximum(t * least, t * most)
        shift = self.r * np.sqrt(low), self.r * np.sqrt(high)
        beta = ndtr(left - np.maximum(*shift)).mean(), ndtr(right - np.minimum(*shift)).mean()
        return max(float(beta[0]) - 2 / self.cells, 0.0), min(float(beta[1]) + 2 / self.cells, 1.0)


def growing_by_games(games: int = 4000, n: int = 61, p: int = 30, r: float = 1.5) -> Draws:
    """Literal regressions by NumPy's least squares."""
    rng = np.random.default_rng(5)
    target = np.full(p, 1.0)
    scores = []
    for member in (False, True):
        x, y = rng.normal(size=(games, n, p)), rng.normal(size=(games, n))
        if member:
            x[:, 0], y[:, 0] = target, r
        gram, moment = np.einsum("gni,gnj->gij", x, x), np.einsum("gni,gn->gi", x, y)
        scores.append(np.linalg.solve(gram, moment[..., None])[..., 0] @ target)
    return Draws(*scores, how=f"NumPy, {games:,} literal regressions a world, n = {n}, p = {p}", size=n)


def by_literal_columns(problem: Problem, reading: str, games: int = 4000, n: int = 51) -> Draws:
    """Literal estimates of a small game by NumPy, and the reading's score."""
    d = int(np.clip(round(problem.tau * n), 1, 200))
    rng = np.random.default_rng(20_250_901)
    scores = [np.zeros(games), np.zeros(games)]
    for piece in problem.pieces:
        for member in (0, 1):
            terms = piece.draw(rng, games, max(1, round(d * piece.share)), n, bool(member))
            scores[member] += piece.weight(reading) * terms.sum(axis=1)
    return Draws(*scores, how=f"NumPy, {games:,} literal games a world, n = {n}, d = {d}", size=n)


def by_normal_law(
    theta_1: float, theta_2: float, agrees_1: bool, agrees_2: bool, reading: str, n: int, alpha: float = 0.1
) -> Replication:
    """The printed attack's power for two kinds of logistic regressions on x = +-1 at large n, written out.

    thetahat is logit(S/n), S a binomial number of mean n p, and near it a linear function of S: normal, of variance 1/(n p (1 - p)), with a mean
    that the target moves by its psi/(n p (1 - p)). What that leaves out is below 1e-3 from a million rows on.
    """
    moved = variance = leakage = 0.0
    for theta, agrees in ((theta_1, agrees_1), (theta_2, agrees_2)):
        p = 1.0 / (1.0 + np.exp(-theta))
        psi, v = agrees - p, (1.0 if reading == "printed, V reversed" else -1.0) * p * (1.0 - p)
        weight = (psi / v - theta) / v
        moved += weight * psi / (p * (1.0 - p)) / 2.0
        variance += weight**2 / (p * (1.0 - p)) / 2.0
        leakage += psi**2 / (p * (1.0 - p)) / 2.0
    power, claimed = (float(ndtr(ndtri(alpha) + mu)) for mu in (moved / np.sqrt(variance), np.sqrt(leakage)))
    how = f"NumPy and SciPy, normal law of the estimates at n = d = {n:,}, with room for what it leaves out"
    return Replication(power, power - 1e-3, power + 1e-3, f"power at FPR {alpha:g}", how, claimed)


def by_literal_match(games: int = 2000, n: int = 51) -> Draws:
    """Literal medians: how often a released number is the target's own, which no record sampled from a density is."""
    rng = np.random.default_rng(20_250_902)
    target = scipy.stats.laplace.ppf((np.arange(n) + 0.5) / n)
    result = []
    for member in (False, True):
        rows = rng.laplace(size=(games, n, n))
        if member:
            rows[:, 0, :] = target
        medians = np.partition(rows, n // 2, axis=1)[:, n // 2, :]
        result.append((medians == target).any(axis=1).astype(float))
    return Draws(
        *result,
        how=f"NumPy, {games:,} literal games a world, n = d = {n}: is some released median the target's own number?",
        size=n,
    )
