"""Z-estimators: the covariance score by influence functions, as printed and corrected, by exact laws."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import ndtri

from mipsim.theory import azize
from verify.azize.mean import TOLERANCE
from verify.azize.z_problems import (
    PROBLEMS,
    PROJECTED,
    SIZES,
    TYPICAL,
    by_literal_columns,
    by_literal_match,
    growing_by_games,
    growing_curve,
    law_of,
    problem_of,
)
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, curve_gap, judge_limit

READINGS = {
    "printed": "V the derivative of E psi, as printed",
    "printed, V reversed": "V minus the derivative of E psi",
    "corrected": "centred I, Sigma^-1",
}


def curve_regime(name: str, reading: str, stretch: float = 1.0) -> Regime:
    """The exact curve of a score, or of the exact ratio, against g_sqrt(m), m = (1/n) I' Sigma^-1 I."""
    parameters: dict[str, object] = {
        "estimator and data": problem_of(name).words,
        "d/n": problem_of(name).tau,
        "score": reading,
    }

    def at(n: int) -> Size:
        m, law = law_of(name, n, reading)
        return curve_gap(law.beta, azize.mean_tradeoff(stretch * m).beta, name)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=problem_of(name).sizes, reading=READINGS.get(reading, "the exact likelihood ratio"),
            second_route=lambda: by_literal_columns(name, reading),
        )  # fmt: skip

    return Regime(f"{name}: {reading}", parameters, judge, READINGS.get(reading, ""), random=False)


def law_regime(name: str) -> Regime:
    """The law of the exact ratio against N(-+m/2, m), in probits of its distribution function."""
    parameters: dict[str, object] = {
        "estimator and data": problem_of(name).words,
        "d/n": problem_of(name).tau,
    }
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
    parameters: dict[str, object] = {
        "estimator and data": TYPICAL.words,
        "d/n": TYPICAL.tau,
        "claimed": words,
    }

    def at(n: int) -> Size:
        return curve_gap(law_of("typical", n, score)[1].beta, claimed, words)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, second_route=by_literal_match, reading=f"score: {score}"
        )

    return Regime(f"median, typical target: {score} against {words}", parameters, judge, random=False)


def growing_regime(share: float = 0.5) -> Regime:
    """One regression with p = share n coefficients: the first-order expansion does not hold when p grows with n."""
    parameters: dict[str, object] = {
        "estimator and data": "least squares, Gaussian design, p / n = 0.5",
        "residual / sd": 1.5,
    }

    def at(n: int) -> Size:
        alpha, beta = growing_curve(n, round(share * n), 1.5)
        return curve_gap(
            lambda a: np.interp(a, alpha[::-1], beta[::-1]),
            azize.mean_tradeoff(share * 1.5**2).beta,
            "p = n/2",
        )

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, reading="n, d to infinity with d/n fixed, one regression",
            second_route=growing_by_games,
        )  # fmt: skip

    return Regime("least squares, p = n/2 in one regression", parameters, judge, random=False)


def _mixed(alpha: np.ndarray, tau: float = 1.0) -> np.ndarray:
    return np.exp(-tau) * azize.mean_tradeoff(tau).beta(alpha)


def _normal(alpha: np.ndarray) -> np.ndarray:
    return azize.mean_tradeoff(1.0).beta(alpha)


DOMAIN = {
    "estimator": OneOf(("mean", "median", "least squares", "logistic regression"), "every Z-estimator; these are judged"),
    "d/n": Between(0, float("inf"), "n, d to infinity as in theorem 3.1; judged at 0.5, 1 and 2"),
    "V": OneOf(tuple(READINGS)[:2], "the derivative of E psi; its sign is open"),
    "target": OneOf(("fixed quantiles", "typical"), "every z*"),
    "alpha": Between(0, 1, "judged on [1e-4, 1 - 1e-4]"),
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
            *(curve_regime("logistic, two inputs", reading) for reading in ("printed", "printed, V reversed")),
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
        DOMAIN | {
            "V": OneOf(("Sigma replaces it",)),
            "d/n": Between(0, float("inf"), "blocks of a fixed number of parameters; judged at 0.5, 1 and 2"),
        },
        (
            *(curve_regime(name, "corrected") for name in PROBLEMS),
            *(curve_regime(name, "ratio") for name in PROBLEMS),
            *(law_regime(name) for name in _NOT_MEAN),
            typical_regime("ratio", _mixed, "e^-tau g_sqrt(tau)"),
            typical_regime("corrected", _normal, "g_sqrt(tau)"),
            *(curve_regime(name, "corrected") for name in PROJECTED),
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
