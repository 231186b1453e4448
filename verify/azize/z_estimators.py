"""Z-estimators: the covariance score by influence functions, as printed and corrected, by exact laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri

from mipsim.exact import AdditiveLaw, Terms, additive_law, covariance_score, likelihood_ratio
from mipsim.theory import azize
from mipsim.tradeoff.base import AbstractTradeOff
from sims.studies import STUDIES
from verify.azize.mean import TOLERANCE
from verify.azize.z_laws import Piece, logit_piece, mean_piece, median_piece, slope_piece
from verify.by_games import judge_curve
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import NUMERICAL_FLOOR, Size, curve_gap, judge_limit

SIZES = (101, 401, 1601, 6401)
"""Odd, so that the median is one record."""


@dataclass(frozen=True)
class Problem:
    """d = tau n independent coordinates, each a scalar Z-estimator of its own column of the records."""

    words: str
    pieces: tuple[Piece, ...]
    tau: float = 1.0
    typical: bool = False

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
    found = [(median_piece(law, float(g.mean())), len(g)) for g in np.array_split(quantiles[near], groups) if len(g)]
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
READINGS = {
    "printed": "V the derivative of E psi, as printed",
    "printed, V reversed": "V minus the derivative of E psi",
    "corrected": "centred I, Sigma^-1",
}


@lru_cache(maxsize=128)
def law_of(name: str, n: int, reading: str) -> tuple[float, AdditiveLaw]:
    """(m, exact law) of the score of that reading, or of the likelihood ratio."""
    parts = (TYPICAL if name == "typical" else PROBLEMS[name]).parts(n)
    ratio = reading == "ratio"
    groups: list[Terms] = [p.terms(n, count, "corrected" if ratio else reading) for p, count in parts]
    m = sum(count * p.influence**2 / p.sigma for p, count in parts) / n
    return m, additive_law(groups, likelihood_ratio if ratio else covariance_score)


def curve_regime(name: str, reading: str, stretch: float = 1.0) -> Regime:
    """The exact curve of a score, or of the exact ratio, against g_sqrt(m), m = (1/n) I' Sigma^-1 I."""
    parameters: dict[str, object] = {"estimator and data": PROBLEMS[name].words, "d/n": PROBLEMS[name].tau, "score": reading}

    def at(n: int) -> Size:
        m, law = law_of(name, n, reading)
        return curve_gap(law.beta, azize.mean_tradeoff(stretch * m).beta, name)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, reading=READINGS.get(reading, "the exact likelihood ratio"),
            second_route=lambda: by_literal_columns(name, reading),
        )  # fmt: skip

    return Regime(f"{name}: {reading}", parameters, judge, READINGS.get(reading, ""), random=False)


def law_regime(name: str) -> Regime:
    """The law of the exact ratio against N(-+m/2, m), in probits of its distribution function."""
    parameters: dict[str, object] = {"estimator and data": PROBLEMS[name].words, "d/n": PROBLEMS[name].tau}
    z = np.linspace(-2.5, 2.5, 41)

    def at(n: int) -> Size:
        m, law = law_of(name, n, "ratio")
        gap = np.concatenate(
            [ndtri(law.below(np.sqrt(m) * z + (i - 0.5) * m, inside=bool(i))) - z for i in (0, 1)]
        )
        return Size(float(gap.min()), float(gap.max()))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=SIZES)

    return Regime(f"{name}: law of the ratio", parameters, judge, random=False)


def typical_regime(score: str, claimed: Callable[[np.ndarray], np.ndarray], words: str) -> Regime:
    """Medians with typical targets: one of them is, with probability 1 - e^-tau, a released number itself."""
    parameters: dict[str, object] = {"estimator and data": TYPICAL.words, "d/n": TYPICAL.tau, "claimed": words}

    def at(n: int) -> Size:
        return curve_gap(law_of("typical", n, score)[1].beta, claimed, words)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, second_route=by_literal_match, reading=f"score: {score}"
        )

    return Regime(f"median, typical target: {score} against {words}", parameters, judge, random=False)


def growing_regime(share: float = 0.5) -> Regime:
    """One regression with p = share n coefficients: the first-order expansion does not hold when p grows with n."""
    parameters: dict[str, object] = {"estimator and data": "least squares, Gaussian design, p / n = 0.5", "residual / sd": 1.5}

    def at(n: int) -> Size:
        alpha, beta = _growing_curve(n, round(share * n), 1.5)
        return curve_gap(
            lambda a: np.interp(a, alpha[::-1], beta[::-1]), azize.mean_tradeoff(share * 1.5**2).beta, "p = n/2"
        )

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, reading="n, d to infinity with d/n fixed, one regression",
            second_route=_growing_by_games,
        )  # fmt: skip

    return Regime("least squares, p = n/2 in one regression", parameters, judge, random=False)


def _growing_curve(n: int, p: int, r: float) -> tuple[np.ndarray, np.ndarray]:
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


def _growing_by_games(games: int = 4000, n: int = 61, p: int = 30, r: float = 1.5) -> str:
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
    d = round(PROBLEMS[name].tau * n)
    scores = {r: [np.zeros(games), np.zeros(games)] for r in (reading, "corrected")}
    rng = np.random.default_rng(20_250_901)
    for piece in PROBLEMS[name].pieces:
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


def games_regime(study_name: str, stretch: float = 1.0, refutes: bool = False) -> Regime:
    """Literal games of the estimator through the engine, against g_sqrt(m)."""
    study = STUDIES[study_name]

    def claimed() -> AbstractTradeOff:
        game, attack = study.build()
        m = attack.expansion.leakage(game.target, game.n)  # pyright: ignore[reportAttributeAccessIssue]
        return azize.mean_tradeoff(stretch * m)

    def judge(budget: Budget) -> RegimeResult:
        return judge_curve(
            study, claimed(), 2 * TOLERANCE, budget, {"estimator and data": study.description},
            games=(20_000, 60_000, 2_000_000), refutes=refutes,
            second_route=lambda: "the exact laws of the other regimes, where the estimator is scalar",
        )  # fmt: skip

    return Regime(f"games: {study_name}", {"estimator and data": study.description}, judge)


def _mixed(alpha: np.ndarray, tau: float = 1.0) -> np.ndarray:
    return np.exp(-tau) * azize.mean_tradeoff(tau).beta(alpha)


def _normal(alpha: np.ndarray) -> np.ndarray:
    return azize.mean_tradeoff(1.0).beta(alpha)


DOMAIN = {
    "estimator": OneOf(("mean", "median", "least squares", "logistic regression"), "every Z-estimator; these are judged"),
    "d/n": Between(0, float("inf"), "n, d to infinity as in theorem 3.1; judged at 0.5, 1 and 2"),
    "V": OneOf(tuple(READINGS)[:2], "the derivative of E psi; its sign is open"),
    "target": OneOf(("fixed quantiles", "typical"), "every z*"),
    "alpha": Between(0, 1, "judged on [1e-4, 1 - 1e-4] by exact laws, [1e-2, 1 - 1e-2] by games"),
}  # fmt: skip
_NOT_MEAN = [name for name in PROBLEMS if not name.startswith("mean")]
CLAIMS = (
    Claim(
        "azize-z-estimators",
        "azize",
        "For a Z-estimator with influence function I = V^-1 psi the score (I(x*) - theta0)' V^-1 (thetahat - theta0) - "
        "(1/2n)||I(x*) - theta0||^2_{V^-1} is the covariance attack: asymptotically the likelihood ratio.",
        Kind.CURVE, TOLERANCE, "probit", DOMAIN,
        (
            *(curve_regime(name, reading) for name in PROBLEMS for reading in ("printed", "printed, V reversed")),
            typical_regime("ratio", _normal, "g_sqrt(m)"),
            growing_regime(),
        ),
        partial(curve_regime, "median, at 0, equal densities", "printed", 1.4),
        corrected_by="azize-z-estimators-corrected",
    ),
    Claim(
        "azize-z-estimators-corrected",
        "azize",
        "With I(x) = -V^-1 psi(x), of mean 0, and Sigma = V^-1 E[psi psi'] V^-T the score I(x*)' Sigma^-1 (thetahat - theta0) - (1/2n) "
        "I(x*)' Sigma^-1 I(x*) has the curve of the exact likelihood ratio, g_sqrt(m) with m = (1/n) I' Sigma^-1 I, and the ratio the "
        "law N(-+m/2, m), for d = tau n independent coordinates of fixed estimators; for the median, if the target's quantiles "
        "stay away from 1/2. At typical targets the median's ratio has the curve e^-tau g_sqrt(tau), and the score only g_sqrt(tau).",
        Kind.CURVE, TOLERANCE, "probit",
        DOMAIN | {"V": OneOf(("Sigma replaces it",))},
        (
            *(curve_regime(name, "corrected") for name in PROBLEMS),
            *(curve_regime(name, "ratio") for name in PROBLEMS),
            *(law_regime(name) for name in _NOT_MEAN),
            typical_regime("ratio", _mixed, "e^-tau g_sqrt(tau)"),
            typical_regime("corrected", _normal, "g_sqrt(tau)"),
            games_regime("azize_z_logistic"),
            games_regime("azize_z_least_squares"),
        ),
        partial(curve_regime, "median, at 0, equal densities", "corrected", 1.4),
        corrects="azize-z-estimators",
        derivation=(
            "thetahat - theta0 = mean of I(X_i) + o(n^-1/2) with I = -V^-1 psi: E psi_theta0 = 0 gives E I = 0, so subtracting theta0 again "
            "moves the point (for the mean, psi = x - theta and V = -1 give I = x - mu, and the printed score weighs x* and not C^-1 (x* - mu)); "
            "and the matrix of theorem 3.1 is the covariance of I, Sigma = V^-1 E[psi psi'] V^-T, not V. In one coordinate the exact ratio is "
            "1 + t s / sqrt(n) + (a term of mean 0 under out)/n, so its logarithm has mean -t^2/2n and variance t^2/n, t^2 = I^2/Sigma, and "
            "independent coordinates add. A Z-estimator is biased by O(1/n), so over d = tau n coordinates the score, not the ratio, carries a "
            "shift, equal in both worlds: its curve is right and its thresholds are not. The median of 2k + 1 records, in U = F(thetahat), has "
            "density Beta(k+1, k+1) out; in, with the target at quantile v, Beta(k+1, k) below v, Beta(k, k+1) above, and it is the target itself "
            "with probability P(Bin(2k, v) = k), which is 1/n on average over v: over tau n coordinates some released number is the "
            "target's own with probability 1 - e^-tau, and the rest of its logarithm is N(-3tau/2, tau) out and, of mass e^-tau, "
            "N(-tau/2, tau) in. In one regression with p = tau n coefficients the expansion fails (leverage x*'(X'X)^-1 x* does not vanish)."
        ),
    ),
)  # fmt: skip
"""The matrix, the centre, and the conditions."""
