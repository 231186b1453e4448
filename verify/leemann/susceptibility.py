"""The gradient susceptibility K and the attack: remark 5.1 and algorithm 1."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
from scipy import integrate, stats

import mipsim as mi
from mipsim.referee.exact_judges import ROUNDING
from mipsim.special import noncentral_chi_square as ncx2
from mipsim.theory import leemann
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.limits import Size, judge_equality, judge_identity, judge_limit

TOLERANCE = 0.02
"""Relative: 2% of a standard deviation, of E[K] = d, or of mu."""

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


def law_of_k_regime(name: str, d: int) -> Regime:
    """sd(K) over that of chi2_d, less 1: K = sum of t_j^2 has variance d (kurtosis - 1), chi2_d has 2d."""
    return _moment_regime(
        _kurtosis(name), d, f"{name}, d = {d}", partial(_drawn, name, d), {"components": name}
    )


def _moment_regime(
    kurtosis: float, d: int, name: str, second: object, parameters: dict[str, object]
) -> Regime:
    def judge(_: Budget) -> RegimeResult:
        return judge_equality(
            float(np.sqrt((kurtosis - 1.0) / 2.0) - 1.0),
            parameters | {"d": d},
            tolerance=TOLERANCE,
            unit="sd(K) / sd(chi2_d) - 1",
            route="exact moments",
            detail=f"kurtosis {kurtosis:.3g}: K has variance {d * (kurtosis - 1):.3g}, chi2_d has {2 * d}",
            second_route=second,  # pyright: ignore[reportArgumentType]
        )

    return Regime(name, parameters | {"d": d}, judge, random=False)


def _wider_components(factor: float) -> Regime:
    """Gaussian components with `factor` times the kurtosis that goes with a standard deviation of chi2_d times `factor`."""
    kurtosis = 1.0 + 2.0 * factor**2
    return _moment_regime(kurtosis, 5, "Gaussian, d = 5", None, {"components": "Gaussian"})


def random_components(rng: np.random.Generator, count: int) -> list[Regime]:
    """Bernoulli(p), p uniform, and normal mixtures 1 - w : w of deviations 1 and s."""
    found = []
    for _ in range(count):
        d = int(rng.integers(1, 1000))
        if rng.random() < 0.5:
            p = float(rng.uniform(0.01, 0.99))
            kurtosis, name = 1.0 / (p * (1 - p)) - 3.0, {"components": "Bernoulli", "p": p}
        else:
            w, s = float(rng.uniform(0, 1)), float(rng.uniform(0.1, 5))
            kurtosis = 3 * (1 - w + w * s**4) / (1 - w + w * s**2) ** 2
            name = {"components": "normal mixture", "weight": w, "deviation": s}
        found.append(_moment_regime(kurtosis, d, "components", None, dict(name)))
    return found


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
    parameters = {"components": "Bernoulli", "p": list(p), "d": len(p)}

    def judge(_: Budget) -> RegimeResult:
        law, expected = mi.Bernoulli(np.array(p)), 0.0
        for point in product((0.0, 1.0), repeat=len(p)):
            chance = float(np.prod(np.where(point, p, 1 - np.array(p))))
            expected += chance * leemann.gradient_susceptibility(law, point, centred=centred)
        return judge_identity(
            expected / len(p) - 1.0, ROUNDING, parameters, unit="E[K]/d - 1", route="enumeration"
        )

    return Regime(f"E[K], Bernoulli({', '.join(f'{q:.3g}' for q in p)})", parameters, judge, random=False)


def random_means(rng: np.random.Generator, count: int) -> list[Regime]:
    """Up to eight Bernoulli components with random probabilities."""
    return [mean_regime(tuple(rng.uniform(0.001, 0.999, rng.integers(1, 9)).tolist())) for _ in range(count)]


def spread_regime(name: str, power: float, stretch: float = 1.0) -> Regime:
    """mu_step over sqrt(d/n) at K = d and three standard deviations of K about it, less 1, with n = d^power."""
    parameters = {"components": name, "n": f"d^{power:g}"}

    def at(d: int) -> Size:
        n, sd = d**power, np.sqrt((_kurtosis(name) - 1.0) * d)
        found = [
            leemann.step_mu(d, n, k) / (stretch * np.sqrt(d / n)) - 1
            for k in (d, d - min(3 * sd, d / 2), d + 3 * sd)
        ]
        return Size(float(min(found)), float(max(found)))

    def judge(_: Budget) -> RegimeResult:
        sizes = [6400 * 4**k for k in range(9)]
        return judge_limit(
            at, TOLERANCE, parameters, sizes=sizes, unit="mu_step / sqrt(d/n) - 1", size_name="d"
        )

    return Regime(f"mu_step, {name}, n = d^{power:g}", parameters, judge, random=False)


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


def p_value_regime(d: int, n: int, k: float, name: str, factor: float = 1.0) -> Regime:
    """P0(p <= a) - a for p = F_{chi2_d(nK)}( factor x rows (m - theta)' C^-1 (m - theta) ), rows = n or n - 1 by `name`."""
    rows = factor * (n - 1 if name == "n - 1" else n)
    parameters = {
        "d": d,
        "n": n,
        "K": k,
        "statistic": f"{name} times (m - theta)' C^-1 (m - theta)",
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

    return Regime(f"p uniform, d = {d}, n = {n}, K = {k:.4g}, {name}", parameters, judge, random=False)


def random_p_values(rng: np.random.Generator, count: int, name: str) -> list[Regime]:
    """Random sizes and susceptibilities."""
    return [
        p_value_regime(
            int(np.exp(rng.uniform(0, np.log(1e4)))),
            int(np.exp(rng.uniform(np.log(2), np.log(1e4)))),
            float(np.exp(rng.uniform(np.log(1e-3), np.log(1e4)))),
            name,
        )
        for _ in range(count)
    ]


def _p_values_drawn(d: int, n: int, k: float, rows: float) -> str:
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
            ROUNDING,
            parameters,
            unit="P0(F^-1(S) has no value)",
            route="exact law",
            detail="a quantile function takes levels in [0, 1]; S is above 1 with this probability",
            second_route=lambda: (
                f"SciPy: ncx2.ppf at the mean of S gives {stats.ncx2.ppf(d + n * k, d, n * k)}"
            ),
        )

    return Regime(f"F^-1(S), d = {d}, n = {n}, K = {k:g}", parameters, judge, random=False)


_SETTINGS = ((1, 10, 1.0), (1, 2, 0.5), (5, 20, 5.0), (650, 500, 650.0), (650, 500, 0.0))
_D = Between(1, UNBOUNDED, "dimension")
_ATTACK = {
    "n": Between(2, UNBOUNDED, "rows"),
    "d": _D,
    "K": Between(0, UNBOUNDED, "known moments, Gaussian gradients, tau = 0"),
}
CLAIMS = (
    Claim(
        "leemann-rem-5.1",
        "leemann",
        "With independent components of C^-1/2 theta', K ~ chi2_d; thus K = O(d) and, without noise, mu_step = "
        "O(sqrt(d/n)).",
        Kind.LAW,
        TOLERANCE,
        "sd(K) / sd(chi2_d) - 1",
        {"d": _D, "components": OneOf(tuple(LAWS), "any independent components of variance 1 and mean 0")},
        tuple(law_of_k_regime(name, d) for name in LAWS for d in (5, 500)),
        Control(lambda factor: _wider_components(factor)),
        corrected_by="leemann-rem-5.1-corrected",
        quote=quotes.REMARK_5_1,
        restricted_by=(quotes.CENTRED_K,),
        sampled=random_components,
    ),
    Claim(
        "leemann-rem-5.1-corrected",
        "leemann",
        "For every law of the gradients with a regular covariance E[K] = d, K centred. With independent components of C^-1/2 "
        "(theta' - mu) whose squares are uniformly integrable over components and d (bounded kurtoses do), K/d tends to 1 in "
        "probability as d grows, and, without noise, mu_step / sqrt(d/n) to 1 as d and n grow, however they do. K ~ chi2_d if "
        "the components are Gaussian.",
        Kind.LIMIT,
        TOLERANCE,
        "mu_step / sqrt(d/n) - 1",
        {
            "d": _D,
            "n": Between(2, UNBOUNDED, "grows, at any speed"),
            "components": OneOf(tuple(LAWS), "one kurtosis bound for all components and all d"),
        },
        (
            *(mean_regime(p) for p in ((0.5,), (0.05, 0.5, 0.9), (0.01,) * 6, (0.3, 0.7) * 4)),
            *(spread_regime(name, power) for name in LAWS for power in (0.6, 1.0, 1.5)),
            transform_regime(),
        ),
        Control(partial(spread_regime, "uniform", 1.0)),
        corrects="leemann-rem-5.1",
        derivation=(
            "E[K] = tr(C^-1 C) = d. With independent components t_j of mean 0 and variance 1, K = sum t_j^2, and K/d tends to 1 in "
            "probability by the weak law for triangular arrays of uniformly integrable variables (truncate t_j^2 at d a_d, a_d slowly to "
            "0; Chebyshev for the truncated part, whose variance is at most a_d d^2, and uniform integrability for the rest). With "
            "kurtoses of at most k it is Chebyshev at once: var(K)/d^2 <= (k - 1)/d. Uniformity is needed: components that are Bernoulli(1/d) have "
            "K/d near a Poisson(1) variable. Finite fourth moments of each component do not suffice. With K = q d, equation 9 is sqrt(d/n) (1 + "
            "(2n - 1) q) / sqrt(2n (1 + 2nq)), and the last factor tends to sqrt(q) as n grows, uniformly for q near 1. Of Gaussian components K is "
            "chi2_d by definition."
        ),
        quote=quotes.REMARK_5_1,
        sampled=random_means,
    ),
    Claim(
        "leemann-alg-1",
        "leemann",
        "GLiR: with S = (n-1)(m - theta)' C^-1 (m - theta), p_step = log F^-1_{chi2_d(nK)}(S) is the log p-value under H0.",
        Kind.EXACT,
        1e-8,
        "P0(p <= a) - a",
        _ATTACK,
        (
            *(printed_p_regime(*s) for s in _SETTINGS),
            *(p_value_regime(*s, "n - 1") for s in _SETTINGS),
        ),
        Control(partial(p_value_regime, 5, 20, 5.0, "n - 1")),
        corrected_by="leemann-alg-1-corrected",
        quote=quotes.ALGORITHM_1,
        restricted_by=(quotes.ESTIMATED_MOMENTS,),
        slip=(quotes.ALGORITHM_1, quotes.P_VALUE),
        sampled=partial(random_p_values, name="n - 1"),
    ),
    Claim(
        "leemann-alg-1-corrected",
        "leemann",
        "GLiR: with S = n (m - theta)' C^-1 (m - theta), p_step = log F_{chi2_d(nK)}(S) is the log p-value under H0, for Gaussian "
        "gradients with known moments, tau = 0, given the target.",
        Kind.EXACT,
        1e-8,
        "P0(p <= a) - a",
        _ATTACK,
        tuple(p_value_regime(*s, "n") for s in _SETTINGS),
        Control(partial(p_value_regime, 5, 20, 5.0, "n")),
        corrects="leemann-alg-1",
        derivation=(
            "Under H0 m - theta is N(mu - theta, C/n), so that n (m - theta)' C^-1 (m - theta) is chi2_d with "
            "noncentrality nK, K = |C^-1/2 (theta - mu)|^2, for every n and d; its distribution function of it is uniform, and small where m lies "
            "near theta, as it does under H1. F^-1 takes levels, not values of the statistic, and the comment of the line asks for a "
            "p-value. The factor n - 1 belongs to no law of the statistic: under H1 the factor is n^2/(n-1). One step's attack is the same "
            "with any of these (all are increasing in S); the p-value, and the sum over steps, are not."
        ),
        quote=quotes.ALGORITHM_1,
        sampled=partial(random_p_values, name="n"),
    ),
)
