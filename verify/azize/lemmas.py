"""The moment lemmas C.9 and C.12, by exact moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from scipy import integrate, stats

import mipsim as mi
from mipsim.theory import azize_moments as moments
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, judge_limit

SIZES = tuple(1000 * 4**k for k in range(8))
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
GROWTH: dict[str, Callable[[int], float]] = {
    "n^(1/6)": lambda n: n ** (1 / 6),
    "sqrt(2n)": lambda n: float(np.sqrt(2 * n)),
}
"""Targets whose coordinate moves away as n grows; with sqrt(2n) one coordinate holds a leakage of 2."""

FIXED = "t_j fixed as n grows"
GROWING = "t_j grows with n, as in a target that holds its leakage in one coordinate"
ROUNDING = 1e-15
"""Relative error of float64 in a moment of order 1 or less; the judged error is n times that."""


def _central(law: mi.AbstractDistribution) -> np.ndarray:
    return np.array([law.central_moment(r)[0] for r in range(9)])


def _skewness(law: mi.AbstractDistribution) -> float:
    return float(law.third_cumulant[0] / law.variance[0] ** 1.5)


def mean_lemma(name: str, t: float | str, factor: float = 1.0, *, reading: str = "") -> Regime:
    """N times the largest error of the four moments of Y_n; t is a number, or a name in `GROWTH`."""
    parameters = {"data": name, "t": t}

    def at(n: int) -> Size:
        gap = mean_error(name, GROWTH[t](n) if isinstance(t, str) else t, n, factor)
        return Size(gap, gap, error=8 * n * ROUNDING)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            TOLERANCE,
            parameters,
            sizes=SIZES,
            unit="n x error",
            route="exact moments",
            second_route=partial(by_closed_form, name),
        )

    shown = f"{t:.3g}" if isinstance(t, float) else t
    return Regime(f"{name}, t = {shown}", parameters, judge, reading, random=False)


def mean_error(name: str, t: float, n: int, factor: float = 1.0) -> float:
    """N times the largest absolute error of E0, E1, V0 and V1 of Y_n."""
    law = (LAWS | HEAVY)[name]
    y = moments.mean_expansion(t, _skewness(law), n)
    central = _central(law)
    errors = []
    tables = ((-1, moments.standardised_sum_moments(central, n)), (1, moments.inside_moments(central, t, n)))
    for sign, table in tables:
        mean, variance = moments.mean_and_variance(y, table)
        errors += [
            n * abs(mean - (-1 + sign * factor * t**2) / (2 * n)),
            n * abs(variance - factor * t**2 / n),
        ]
    return float(max(errors))


def by_closed_form(name: str) -> str:
    """E0 of Y_n at t = sqrt(2n) from the first two moments of the sum, without its table: n E0 = -(1 + t^2) n/(2(n - 1)) - l t E0 R."""
    law, n = (LAWS | HEAVY)[name], 10_000
    t, skewness = float(np.sqrt(2 * n)), _skewness(law)
    a = np.sqrt(n / (n - 1))
    exact = -(1 + t**2) * n / (2 * (n - 1)) - skewness * t * (a + a**2 - 2 + t**2 / (n - 1))
    return f"in closed form, n (E0[Y] - printed) = {exact + (1 + t**2) / 2:.4g} at n = {n:,} and t = sqrt(2n)"


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
            # k, not rho n: at a size that rho does not divide, the lemma's n is k / rho.
            size = k / rho
            errors += [
                size * abs(mean - sign * factor * rho * t**2 / (2 * size)),
                size * abs(variance - factor * rho * t**2 / size),
            ]
        gap = float(max(errors))
        return Size(gap, gap, error=8 * n * ROUNDING)

    def judge(_: Budget) -> RegimeResult:
        second = partial(truncated_eighth_moment, name)
        return judge_limit(
            at,
            TOLERANCE,
            parameters,
            sizes=SIZES,
            unit="n x error",
            route="exact moments",
            second_route=second,
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


def drawn_lemma(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """A law of the list and a fixed t, uniform in [-6, 6]."""
    names = list(LAWS | HEAVY)
    return [mean_lemma(str(rng.choice(names)), round(float(rng.uniform(-6.0, 6.0)), 4)) for _ in range(count)]


def drawn_subsample_lemma(laws: Sequence[str]) -> Callable[[np.random.Generator, int], Sequence[Regime]]:
    """A law of the list, t uniform in [-6, 6], rho uniform in [.05, .95]."""

    def draw(rng: np.random.Generator, count: int) -> Sequence[Regime]:
        return [
            subsample_lemma(
                str(rng.choice(list(laws))),
                round(float(rng.uniform(-6, 6)), 4),
                round(float(rng.uniform(0.05, 0.95)), 4),
            )
            for _ in range(count)
        ]

    return draw


DOMAIN: dict[str, Between | OneOf] = {
    "n": Between(2, float("inf"), "a limit, judged at 1000 to 16,384,000"),
    "data": OneOf((*LAWS, *HEAVY), "finite (4 + delta)-th moments"),
    "t": Between(
        -float("inf"),
        float("inf"),
        "(z - mu)/sigma of a coordinate, judged at 0, 0.5, -2, 5, drawn in [-6, 6]",
    ),
}
_T = (0.0, 0.5, -2.0, 5.0)
_GROWS: dict[str, Between | OneOf] = {
    "growth of t": OneOf(("none", *GROWTH), "the lemma does not say how t_j may depend on n")
}
_CORRECTED = DOMAIN | {"data": OneOf(tuple(LAWS), "finite 8th moments")}
_RHO = {"rho": Between(0, 1, "0 < rho < 1; judged at 0.1, 0.5, 0.9, drawn in [.05, .95]")}
_W = "With W_n of lemma C.11: E0 = -rho t^2/2n, E1 = +rho t^2/2n, V0 = V1 = rho t^2/n, each + o(1/n), t = (z - mu)/sigma"
_Y = (
    "With Y_n of the proof of lemma C.6: E0 = -1/2n - t^2/2n, E1 = -1/2n + t^2/2n, V0 = V1 = t^2/n, each + o(1/n), "
    "t = (z - mu)/sigma, for each coordinate"
)
_C9 = Quote(
    "E_0[Y_{n,j}] = -1/2n - (z_j* - mu_j)^2/(2n sigma_j^2) + o(1/n), V_0[Y_{n,j}] = (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n), "
    "E_1[Y_{n,j}] = -1/2n + (z_j* - mu_j)^2/(2n sigma_j^2) + o(1/n), V_1[Y_{n,j}] = (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n).",
    "lemma C.9, appendix C.3",
)
_C12 = Quote(
    "E_0[W_{n,j}] = -(rho/2)(mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), V_0[W_{n,j}] = rho (mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), "
    "E_1[W_{n,j}] = (rho/2)(mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), V_1[W_{n,j}] = rho (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n).",
    "lemma C.12, appendix C.5",
)
_C9_CONTROL = Control(lambda factor: mean_lemma("Bernoulli(.3)", -2.0, factor, reading=FIXED))
_C12_CONTROL = Control(lambda factor: subsample_lemma("Bernoulli(.3)", -2.0, 0.5, factor), 0.05)
_POINTWISE = tuple(mean_lemma(name, t, reading=FIXED) for name in LAWS | HEAVY for t in _T)
CLAIMS = (
    Claim(
        "azize-lemma-C.9",
        "azize",
        _Y + ".",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        DOMAIN | _GROWS,
        (*_POINTWISE, *(mean_lemma(name, "sqrt(2n)", reading=GROWING) for name in ("N(0, 1)", "Exponential(1)"))),
        _C9_CONTROL,
        corrected_by="azize-lemma-C.9-corrected",
        quote=_C9,
        sampled=drawn_lemma,
    ),
    Claim(
        "azize-lemma-C.9-corrected",
        "azize",
        _Y + " with |t|^3 = o(n), uniformly over coordinates whose standardised fourth moments are bounded.",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        DOMAIN | {"growth of t": OneOf(("none", "n^(1/6)"), "|t|^3 = o(n)")},
        (*_POINTWISE, *(mean_lemma(name, "n^(1/6)") for name in ("N(0, 1)", "Exponential(1)", "Student t, 4.5 df"))),
        _C9_CONTROL,
        corrects="azize-lemma-C.9",
        quote=_C9,
        same_formula=True,
        sampled=drawn_lemma,
        derivation=(
            "Exactly, with a = sqrt(n/(n - 1)) and skewness l: n E0[Y] = -(1 + t^2) n/(2(n - 1)) - l t (a + a^2 - 2 + t^2/(n - 1)) and "
            "n E1[Y] = (t^2 - 1)/2 - l t (sqrt(1 - 1/n) - 1 + (t^2 - 1)/n): the errors are at most (1 + t^2)/n + "
            "C |l| (|t| + |t|^3)/n. Y = A x^2 + B x + const in x = delta_out with A = -1/(2(n - 1)) - l t (1 + a + a^2)/n and "
            "B = t (a/sqrt(n - 1) + l t (1 + 2a)/(n sqrt(n - 1))), so V0 = B^2 + 2AB l/sqrt n + A^2 (2 + k/n), k the excess kurtosis; under H1 "
            "x = sqrt(1 - 1/n) X + t/sqrt n, which changes B by 2At/sqrt n. So n V - t^2 is at most "
            "C (1 + l^2 + |k|)(1 + |t|^3)/n. l and k are bounded by the fourth moment. All tend to 0 if |t|^3 = o(n). At t = sqrt(2n) "
            "n times the error of E0 is t^2/(2(n - 1)), about 1, for l = 0: the lemma fails, while theorem 3.1, whose sum over the coordinates needs no more "
            "than o(1) of the few large ones, does not."
        ),
    ),
    Claim(
        "azize-lemma-C.12",
        "azize",
        _W + ".",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        DOMAIN | _RHO,
        tuple(subsample_lemma(name, t, rho) for name in LAWS | HEAVY for t in _T for rho in (0.1, 0.5, 0.9)),
        _C12_CONTROL,
        corrected_by="azize-lemma-C.12-corrected",
        quote=_C12,
        sampled=drawn_subsample_lemma(tuple(LAWS | HEAVY)),
    ),
    Claim(
        "azize-lemma-C.12-corrected",
        "azize",
        _W + ", for one law of the data with finite 8th moments, t and rho in (0, 1) fixed as n grows (or standardised 8th "
        "moments and |t| bounded over the coordinates), n = k/rho.",
        Kind.LIMIT,
        TOLERANCE,
        "n x error",
        _CORRECTED | _RHO,
        tuple(subsample_lemma(name, t, rho) for name in LAWS for t in _T for rho in (0.1, 0.5, 0.9)),
        _C12_CONTROL,
        corrects="azize-lemma-C.12",
        quote=_C12,
        same_formula=True,
        sampled=drawn_subsample_lemma(tuple(LAWS)),
        derivation=(
            "W_n holds rho (1 - rho)/8 D^2, D = delta_out^2 - delta_in^2, a polynomial of degree 4 in x = delta_out whose leading "
            "coefficient rho (1 - rho)/(8 (k - 1)^2) is not 0: V[W_n] is finite if and only if E x^8 is, that is if and only if the data "
            "have an 8th moment, whatever n. With it, E x^r, r <= 8, is that of N(0, 1) + O(1/sqrt k), with a constant of the "
            "standardised 8th moment only (the cumulants of the sum). D = 2tx/sqrt k - (x^2 + t^2)/k + o(1/k) in L^4, so out "
            "E0 D = -(1 + t^2)/k + o(1/k) and E0 D^2 = 4t^2/k + o(1/k); E R = o(1), and l t R/k adds o(1/k). Hence "
            "E0 W = rho (-(1 + t^2)/(2k) + 1/(2k)) + rho (1 - rho) t^2/(2k) + o = -rho^2 t^2/(2k) + o(1/k) = -rho t^2/(2n) + o(1/n). "
            "Under H1 x has mean t/sqrt k with probability rho, which adds rho t/sqrt k x rho t/sqrt k: E1 W = +rho t^2/(2n) + o(1/n). "
            "The variance is that of rho t x/sqrt k up to o(1/k), rho^2 t^2/k = rho t^2/n."
        ),
    ),
)  # fmt: skip
"""The moment lemmas."""
