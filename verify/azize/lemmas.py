"""The moment lemmas C.9 and C.12, by exact moments."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scipy import integrate, stats

import mipsim as mi
from mipsim.theory import azize_moments as moments
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, judge_limit

SIZES = (1000, 16_000, 256_000, 1_024_000, 4_096_000)
TOLERANCE = 0.02
"""On n times the error of a moment, so that "o(1/n)" means "to zero"."""

LAWS: dict[str, mi.AbstractDistribution] = {
    "Bernoulli(.3)": mi.Bernoulli([0.3]),
    "Bernoulli(.02)": mi.Bernoulli([0.02]),
    "N(0, 1)": mi.Gaussian(np.zeros(1), np.ones(1)),
    "Exponential(1)": mi.Exponential(np.ones(1)),
    "Laplace(1)": mi.Laplace(np.zeros(1), np.ones(1)),
    "Uniform(0, 1)": mi.Uniform(np.zeros(1), np.ones(1)),
    "Student t, 9 df": mi.StudentT(9.0, np.zeros(1), np.ones(1)),
}
HEAVY: dict[str, mi.AbstractDistribution] = {
    "Student t, 4.5 df": mi.StudentT(4.5, np.zeros(1), np.ones(1)),
    "Student t, 7 df": mi.StudentT(7.0, np.zeros(1), np.ones(1)),
}
DOMAIN = {
    "n": Between(2, float("inf"), "a limit, judged at 1000 ... 4,096,000"),
    "data": OneOf((*LAWS, *HEAVY), "finite (4 + delta)-th moments"),
    "t": Between(-float("inf"), float("inf"), "(z - mu)/sigma of a coordinate, judged at 0, 0.5, -2, 5"),
}


def _central(law: mi.AbstractDistribution) -> np.ndarray:
    return np.array([law.central_moment(r)[0] for r in range(9)])


def _skewness(law: mi.AbstractDistribution) -> float:
    return float(law.third_cumulant[0] / law.variance[0] ** 1.5)


def mean_lemma(name: str, t: float, factor: float = 1.0) -> Regime:
    """N times the largest error of the four moments of Y_n."""
    law = (LAWS | HEAVY)[name]
    parameters = {"data": name, "t": t}

    def at(n: int) -> Size:
        y = moments.mean_expansion(t, _skewness(law), n)
        central = _central(law)
        errors = []
        for sign, table in (
            (-1, moments.standardised_sum_moments(central, n)),
            (1, moments.inside_moments(central, t, n)),
        ):
            mean, variance = moments.mean_and_variance(y, table)
            errors += [
                n * abs(mean - (-1 + sign * factor * t**2) / (2 * n)),
                n * abs(variance - factor * t**2 / n),
            ]
        return Size(0.0, float(max(errors)))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=SIZES, unit="n x error", floor=1e-9)

    return Regime(f"{name}, t = {t:g}", parameters, judge, random=False)


def subsample_lemma(name: str, t: float, rho: float, factor: float = 1.0) -> Regime:
    """N times the largest error of the four moments of W_n; H1 is the mixture of "drawn" and "not drawn"."""
    law = (LAWS | HEAVY)[name]
    parameters = {"data": name, "t": t, "rho": rho}

    def at(n: int) -> Size:
        k = round(rho * n)
        w = moments.subsampled_expansion(t, _skewness(law), k, rho)
        central = _central(law)
        out, drawn = moments.standardised_sum_moments(central, k), moments.inside_moments(central, t, k)
        with np.errstate(invalid="ignore"):
            mixed = np.where(np.isfinite(out) & np.isfinite(drawn), rho * drawn + (1 - rho) * out, np.inf)
        errors = []
        for sign, table in ((-1, out), (1, mixed)):
            mean, variance = moments.mean_and_variance(w, table)
            errors += [
                n * abs(mean - sign * factor * rho * t**2 / (2 * n)),
                n * abs(variance - factor * rho * t**2 / n),
            ]
        return Size(0.0, float(max(errors)))

    def judge(_: Budget) -> RegimeResult:
        second = partial(truncated_eighth_moment, name)
        return judge_limit(
            at, TOLERANCE, parameters, sizes=SIZES, unit="n x error", floor=1e-9, second_route=second
        )

    return Regime(f"{name}, t = {t:g}, rho = {rho:g}", parameters, judge, random=False)


@cache
def truncated_eighth_moment(name: str) -> str:
    """Quadrature of E[Z^8; |Z| < L] at growing L, which V[W_n] contains."""
    df = {"Student t, 4.5 df": 4.5, "Student t, 7 df": 7.0}.get(name)
    if df is None:
        return ""
    found = [
        2
        * sum(
            integrate.quad(lambda x: x**8 * stats.t.pdf(x, df), a, b)[0]
            for a, b in ((0, 10), (10, 1e2), (1e2, reach))
        )
        for reach in (1e3, 1e4, 1e5)
    ]
    return (
        f"quadrature: E[Z^8; |Z| < L] = {found[0]:.3g}, {found[1]:.3g}, {found[2]:.3g} at L = 1e3, 1e4, 1e5, without bound; "
        "V[W_n] contains it with a positive factor"
    )


_T = (0.0, 0.5, -2.0, 5.0)
_CORRECTED = DOMAIN | {"data": OneOf(tuple(LAWS), "finite 8th moments")}
_RHO = Between(0, 1, "0 < rho < 1; judged at 0.1, 0.5, 0.9")
_W = "With W_n of lemma C.11: E0 = -rho t^2/2n, E1 = +rho t^2/2n, V0 = V1 = rho t^2/n, each + o(1/n), t = (z - mu)/sigma"
CLAIMS = (
    Claim(
        "azize-lemma-C.9",
        "azize",
        "With Y_n of the proof of lemma C.6: E0 = -1/2n - t^2/2n, E1 = -1/2n + t^2/2n, V0 = V1 = t^2/n, each + o(1/n), "
        "t = (z - mu)/sigma, for each coordinate.",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        DOMAIN,
        tuple(mean_lemma(name, t) for name in LAWS | HEAVY for t in _T),
        partial(mean_lemma, "Bernoulli(.3)", -2.0, 1.03),
    ),
    Claim(
        "azize-lemma-C.12",
        "azize",
        _W + ".",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        DOMAIN | {"rho": _RHO},
        tuple(subsample_lemma(name, t, rho) for name in LAWS | HEAVY for t in _T for rho in (0.1, 0.5, 0.9)),
        partial(subsample_lemma, "Bernoulli(.3)", -2.0, 0.5, 1.05),
        corrected_by="azize-lemma-C.12-corrected",
    ),
    Claim(
        "azize-lemma-C.12-corrected",
        "azize",
        _W + ", for data with finite 8th moments.",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        _CORRECTED | {"rho": _RHO},
        tuple(subsample_lemma(name, t, rho) for name in LAWS for t in _T for rho in (0.1, 0.5, 0.9)),
        partial(subsample_lemma, "Bernoulli(.3)", -2.0, 0.5, 1.05),
        corrects="azize-lemma-C.12",
        derivation=(
            "W_n holds rho (1 - rho)/8 (delta_out^2 - delta_in^2)^2, a polynomial of degree 4 in delta_out, so V[W_n] needs "
            "E delta_out^8; with moments of order 4 + delta only, it is infinite for every n. With finite 8th moments the "
            "moments of delta_out tend to the normal ones and the stated expansions follow by the paper's own computation."
        ),
    ),
)
"""The moment lemmas."""
