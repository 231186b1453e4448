"""The gradient susceptibility K and the attack: remark 5.1 and algorithm 1."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from scipy import integrate, stats

import mipsim as mi
from mipsim.special import noncentral_chi_square as ncx2
from mipsim.theory import leemann
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, judge_identity, judge_limit

EXACT = 1e-9
MOMENT = 0.05
"""Relative: how near the standard deviation of K is to that of chi2_d."""

UNBOUNDED = float("inf")

LAWS: dict[str, mi.AbstractDistribution] = {
    "Gaussian": mi.Gaussian(np.zeros(1), np.ones(1)),
    "uniform": mi.Uniform(np.zeros(1), np.ones(1)),
    "Laplace": mi.Laplace(np.zeros(1), np.ones(1)),
    "exponential": mi.Exponential(np.ones(1)),
    "Bernoulli(1/2)": mi.Bernoulli([0.5]),
    "Bernoulli(0.05)": mi.Bernoulli([0.05]),
    "Student t, 9 df": mi.StudentT(9.0, np.zeros(1), np.ones(1)),
}


def _kurtosis(name: str) -> float:
    law = LAWS[name]
    return float(law.central_moment(4)[0] / law.variance[0] ** 2)


def law_of_k_regime(name: str, d: int, variance_factor: float = 1.0) -> Regime:
    """sd(K) over that of chi2_d, less 1: K = sum of t_j^2 has variance d (kurtosis - 1), chi2_d has 2d."""
    parameters = {"components": name, "d": d}

    def judge(_: Budget) -> RegimeResult:
        gap = float(np.sqrt((_kurtosis(name) - 1.0) / (2.0 * variance_factor)) - 1.0)
        return judge_identity(
            gap,
            MOMENT,
            parameters,
            unit="sd(K) / sd(chi2_d) - 1",
            route="exact moments",
            detail=f"kurtosis {_kurtosis(name):.3g}: K has variance {d * (_kurtosis(name) - 1):.3g}, chi2_d has {2 * d}",
            second_route=partial(_drawn, name, d),
        )

    return Regime(f"{name}, d = {d}", parameters, judge, random=False)


def _drawn(name: str, d: int) -> str:
    """The same by drawing gradients with another library."""
    rng = np.random.default_rng(0)
    draws = {
        "Gaussian": lambda size: rng.standard_normal(size),
        "uniform": lambda size: rng.uniform(-np.sqrt(3), np.sqrt(3), size),
        "Laplace": lambda size: rng.laplace(0.0, np.sqrt(0.5), size),
        "exponential": lambda size: rng.exponential(1.0, size) - 1.0,
        "Bernoulli(1/2)": lambda size: 2.0 * (rng.random(size) < 0.5) - 1.0,
        "Bernoulli(0.05)": lambda size: ((rng.random(size) < 0.05) - 0.05) / np.sqrt(0.05 * 0.95),
        "Student t, 9 df": lambda size: rng.standard_t(9, size) / np.sqrt(9 / 7),
    }
    k = (draws[name]((20_000, d)) ** 2).sum(axis=1)
    return f"NumPy, 20,000 gradients (seed 0): mean of K {k.mean():.4g} and variance {k.var():.4g}, against {d} and {2 * d}"


def mean_regime(p: tuple[float, ...], *, centred: bool = True) -> Regime:
    """E[K] / d - 1 over all gradients with Bernoulli components, each with its K by the formula."""
    parameters = {"components": f"Bernoulli{p}", "d": len(p)}

    def judge(_: Budget) -> RegimeResult:
        law, expected = mi.Bernoulli(np.array(p)), 0.0
        for point in product((0.0, 1.0), repeat=len(p)):
            chance = float(np.prod(np.where(point, p, 1 - np.array(p))))
            expected += chance * leemann.gradient_susceptibility(law, point, centred=centred)
        return judge_identity(
            expected / len(p) - 1.0, EXACT, parameters, unit="E[K]/d - 1", route="enumeration"
        )

    return Regime(f"E[K], Bernoulli{p}", parameters, judge, random=False)


def spread_regime(name: str, stretch: float = 1.0) -> Regime:
    """sd(K)/d as d grows: K/d tends to 1, so that mu_step is of order sqrt(d/n)."""
    parameters = {"components": name, "d/n": 1.0}

    def at(n: int) -> Size:
        sd = np.sqrt((_kurtosis(name) - 1.0) * n)
        reached = max(
            abs(leemann.step_mu(n, n, k) - stretch) for k in (n, n - 3 * min(sd, n / 3), n + 3 * sd)
        )
        return Size(0.0, float(reached))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, 0.1, parameters, sizes=(400, 1600, 6400, 25_600), unit="mu_step - sqrt(d/n)")

    return Regime(f"mu_step, {name}", parameters, judge, random=False)


def transform_regime(variance: float = 1.0) -> Regime:
    """E exp(-s K) of one Gaussian component, by quadrature, against (1 + 2s)^(-1/2) of chi2_1: it determines the law."""
    parameters = {"components": "Gaussian", "d": "any: both transforms are d-th powers", "s": "0.01 to 100"}

    def judge(_: Budget) -> RegimeResult:
        gaps = [
            integrate.quad(
                lambda t, s=s: np.exp(-s * t**2) * stats.norm.pdf(t, scale=variance**0.5), -12, 12
            )[0]
            - (1 + 2 * s) ** -0.5
            for s in np.geomspace(0.01, 100.0, 25)
        ]
        return judge_identity(
            max(gaps, key=abs), 1e-8, parameters, unit="Laplace transform", route="quadrature"
        )

    return Regime("law of K, Gaussian", parameters, judge, random=False)


PRINTED_LEVELS = np.array([1e-4, 1e-2, 0.1, 0.5, 0.9])


def p_value_regime(d: int, n: int, k: float, *, rows: int, name: str) -> Regime:
    """P0(p <= a) - a for p = F_{chi2_d(nK)}( rows (m - theta)' C^-1 (m - theta) )."""
    parameters = {
        "d": d,
        "n": n,
        "K": k,
        "statistic": f"{name} (m - theta)' C^-1 (m - theta)",
        "p": "log F(S)",
    }

    def judge(_: Budget) -> RegimeResult:
        # Under H0 n (m - theta)' C^-1 (m - theta) is chi2_d(nK), whatever the statistic is multiplied by.
        reached = ncx2.cdf(ncx2.ppf(PRINTED_LEVELS, d, n * k) * n / rows, d, n * k)
        gap = (reached - PRINTED_LEVELS)[np.argmax(np.abs(reached - PRINTED_LEVELS))]
        return judge_identity(
            float(gap),
            1e-8,
            parameters,
            unit="P0(p <= a) - a",
            route="exact law",
            second_route=partial(_p_values_drawn, d, n, k, rows),
        )

    return Regime(f"p uniform, d = {d}, n = {n}, K = {k:g}, {name}", parameters, judge, random=False)


def _p_values_drawn(d: int, n: int, k: float, rows: int) -> str:
    rng = np.random.default_rng(0)
    theta = np.full(d, np.sqrt(k / d))
    square = ((rng.standard_normal((20_000, d)) / np.sqrt(n) - theta) ** 2).sum(axis=1)
    share = float((stats.ncx2.cdf(rows * square, d, n * k) <= 0.1).mean())
    return f"NumPy and SciPy, 20,000 batch means under H0 (seed 0): P(p <= 0.1) = {share:.4f}"


def printed_p_regime(d: int, n: int, k: float) -> Regime:
    """Log F^-1(S) as printed: the share of H0 on which F^-1 has a value, S being far above 1."""
    parameters = {"d": d, "n": n, "K": k, "p": "log F^-1(S), as printed"}

    def judge(_: Budget) -> RegimeResult:
        undefined = float(ncx2.sf(np.array([n / (n - 1.0)]), d, n * k)[0])
        return judge_identity(
            undefined,
            EXACT,
            parameters,
            unit="P0(F^-1(S) has no value)",
            route="exact law",
            detail="a quantile function takes levels in [0, 1]; S is above 1 with this probability",
            second_route=lambda: (
                f"SciPy: ncx2.ppf at the mean of S gives {stats.ncx2.ppf(d + n * k, d, n * k)}"
            ),
        )

    return Regime(f"F^-1(S), d = {d}, n = {n}, K = {k:g}", parameters, judge, random=False)


_SETTINGS = ((1, 10, 1.0), (5, 20, 5.0), (650, 500, 650.0), (650, 500, 0.0))
_D = Between(1, UNBOUNDED, "judged at 5 and 500; the ratio does not depend on it")
CLAIMS = (
    Claim(
        "leemann-rem-5.1",
        "leemann",
        "With independent components of C^-1/2 theta', K ~ chi2_d; thus K = O(d) and, without noise, mu_step = "
        "O(sqrt(d/n)).",
        Kind.LAW,
        MOMENT,
        "sd(K) / sd(chi2_d) - 1",
        {"d": _D, "components": OneOf(tuple(LAWS), "any independent components of variance 1")},
        tuple(law_of_k_regime(name, d) for name in LAWS for d in (5, 500)),
        partial(law_of_k_regime, "Gaussian", 5, 1.2),
        corrected_by="leemann-rem-5.1-corrected",
    ),
    Claim(
        "leemann-rem-5.1-corrected",
        "leemann",
        "For every law of the gradients E[K] = d, with K centred; with independent components of finite fourth moment "
        "K/d tends to 1, and mu_step to sqrt(d/n) where d/n stays. K ~ chi2_d where the components are Gaussian.",
        Kind.LIMIT,
        0.1,
        "mu",
        {"d": _D, "components": OneOf(tuple(LAWS), "finite fourth moments")},
        (
            *(mean_regime(p) for p in ((0.5,), (0.05, 0.5, 0.9), (0.01,) * 6, (0.3, 0.7) * 4)),
            *(spread_regime(name) for name in LAWS),
            transform_regime(),
        ),
        partial(spread_regime, "uniform", 1.3),
        corrects="leemann-rem-5.1",
        derivation=(
            "K is a quadratic form: E[K] = tr(C^-1 C) = d for every law. With independent components t_j of variance 1, K "
            "= sum t_j^2 has variance d (kurtosis - 1) on average, so that K/d tends to 1 by Chebyshev's inequality; that is the variance "
            "2d of chi2_d only where the kurtosis is 3, and K = d without any spread for signs. At K = d equation 9 "
            "reads sqrt(2d / (2n + 1))."
        ),
    ),
    Claim(
        "leemann-alg-1",
        "leemann",
        "GLiR: with S = (n-1)(m - theta)' C^-1 (m - theta), p_step = log F^-1_{chi2_d(nK)}(S) is the log p-value under H0.",
        Kind.EXACT,
        1e-8,
        "probability",
        {
            "n": Between(2, UNBOUNDED, "rows"),
            "d": Between(1, UNBOUNDED, "judged at 1, 5, 650"),
            "K": Between(0, UNBOUNDED, "known moments"),
        },
        (
            *(printed_p_regime(*s) for s in _SETTINGS),
            *(p_value_regime(d, n, k, rows=n - 1, name="n - 1") for d, n, k in _SETTINGS),
        ),
        partial(p_value_regime, 5, 20, 5.0, rows=21, name="n + 1"),
        corrected_by="leemann-alg-1-corrected",
    ),
    Claim(
        "leemann-alg-1-corrected",
        "leemann",
        "GLiR: with S = n (m - theta)' C^-1 (m - theta), p_step = log F_{chi2_d(nK)}(S) is the log p-value under H0 for "
        "Gaussian gradients.",
        Kind.EXACT,
        1e-8,
        "probability",
        {
            "n": Between(2, UNBOUNDED, "rows"),
            "d": Between(1, UNBOUNDED, "judged at 1, 5, 650"),
            "K": Between(0, UNBOUNDED, "known moments, Gaussian gradients"),
        },
        tuple(p_value_regime(d, n, k, rows=n, name="n") for d, n, k in _SETTINGS),
        partial(p_value_regime, 5, 20, 5.0, rows=21, name="n + 1"),
        corrects="leemann-alg-1",
        derivation=(
            "Under H0 m - theta is N(mu - theta, C/n), so that n (m - theta)' C^-1 (m - theta) is chi2_d with "
            "noncentrality nK; F of it is uniform, and small where m lies near theta, as it does under H1. F^-1 takes levels, not "
            "values of the statistic, and the factor n - 1 belongs to no law of the statistic: under H1 the factor is "
            "n^2/(n-1)."
        ),
    ),
)
