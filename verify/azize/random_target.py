"""The random-target game: equations 11 to 14, appendix B.3 and the mean of the leakage score."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import integrate, stats

from mipsim.exact import Terms, binomial_terms
from mipsim.exact.enumeration import mean_game, random_target_advantage
from mipsim.referee.exact_judges import ROUNDING
from mipsim.theory import azize
from verify.azize.lattice_pair import pair_law
from verify.azize.mean import MOST_TOLERANCE, SAMPLES
from verify.azize.mean_cases import MeanLaw
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_gap, curve_tolerance, judge_equality, judge_identity, judge_limit

QUADRATURE = 1e-6
"""What the numerical integral of a heavy tail may be off."""

P_SETS = ((0.5,), (0.3,), (0.02,), (0.3, 0.6), (0.1, 0.95))


def formula_regime(p: tuple[float, ...], n: int, factor: float = 1.0) -> Regime:
    """Equation 11 against the ratio of enumerated probabilities, at every target and every output."""
    parameters = {"n": n, "p": list(p), "target": "every point of {0, 1}^d"}

    def judge(_: Budget) -> RegimeResult:
        mu = np.array(p)
        worst = 0.0
        for bits in range(2 ** len(p)):
            z = np.array([(bits >> j) & 1 for j in range(len(p))], float)
            outputs, out, inside = mean_game(mu, n, z)
            with np.errstate(divide="ignore"):
                printed = (np.where(z == 1, np.log(outputs / mu), np.log((1 - outputs) / (1 - mu)))).sum(
                    axis=1
                )
                enumerated = np.log(inside / out)
            finite = np.isfinite(enumerated)
            if (np.isfinite(printed) != finite).any():
                worst = np.inf
            worst = max(worst, float(np.abs(factor * printed[finite] - enumerated[finite]).max(initial=0.0)))
        return judge_identity(worst, ROUNDING, parameters, unit="log ratio", route="enumeration")

    return Regime(f"n = {n}, p = {p}", parameters, judge, random=False)


def _random_terms(n: int, p: float, count: int) -> Terms:
    one, zero = binomial_terms(n, p, 1, count), binomial_terms(n, p, 0, count)
    return Terms(
        np.concatenate([one.total, zero.total]),
        np.concatenate([p * one.out, (1 - p) * zero.out]),
        np.concatenate([p * one.inside, (1 - p) * zero.inside]),
        np.concatenate([one.ratio, zero.ratio]),
        count,
        0.0,
        np.concatenate([one.deviation, zero.deviation]),
        n,
        max(one.error, zero.error),
    )


def random_limit_regime(p: tuple[float, ...], tau: float, stretch: float = 1.0) -> Regime:
    """The optimal curve under random targets against g_sqrt(tau); the ratio's laws tend to N(-+tau/2, tau) if and only if it does."""
    parameters = {"p": [round(q, 4) for q in p], "d/n": round(tau, 4)}
    # At 20 expected occurrences of the rarer value no column is constant, but for a probability that does not count.
    first = 50 * int(np.ceil(max(1.0, 0.4 / min(min(q, 1 - q) for q in p))))
    sizes = tuple(first * 2**k for k in range(10))

    def at(n: int) -> Size:
        groups = [_random_terms(n, q, max(1, round(tau * n / len(p)))) for q in p]
        actual = sum(g.count for g in groups) / n  # d / n of this size
        errors = [g.error for g in groups]
        law = MeanLaw(actual, *(pair_law(groups, errors, strong=strong) for strong in (False, True)))
        return curve_gap(law, azize.mean_tradeoff(actual * stretch**2), f"p = {p}, tau = {tau:g}")

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, curve_tolerance(np.sqrt(tau)), parameters, sizes=sizes)

    return Regime(f"p = {p}, tau = {tau:g}", parameters, judge, random=False)


def drawn_limits(rng: np.random.Generator, count: int) -> list[Regime]:
    """One mu for all coordinates, uniform in [.1, .9]; d/n log-uniform in [1/2, 8]."""
    return [
        random_limit_regime(
            (float(rng.uniform(0.1, 0.9)),), float(np.exp(rng.uniform(np.log(0.5), np.log(8.0))))
        )
        for _ in range(count)
    ]


def drawn_enumerated(rng: np.random.Generator) -> tuple[tuple[float, ...], int]:
    """One or two means, uniform in [.01, .99], and 2 to 6 rows."""
    return tuple(float(q) for q in rng.uniform(0.01, 0.99, int(rng.integers(1, 3)))), int(rng.integers(2, 7))


def average_regime(p: tuple[float, ...], n: int, attack: str, factor: float = 1.0) -> Regime:
    """The random-target advantage of a test by literal enumeration, against the mean of its fixed-target ones."""
    parameters = {"n": n, "p": list(p), "attack": attack}

    def test(z: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        if attack == "covariance score > 0":
            mu = np.array(p)
            weights = (z - mu) / (mu * (1 - mu))
            return ((outputs - mu) @ weights - weights @ (z - mu) / (2 * n) > 0).astype(float)
        rng = np.random.default_rng(int(z @ 2 ** np.arange(len(z))))
        table = rng.uniform(size=(n + 1,) * len(p))  # a randomised attack without any sense
        return table[tuple(np.round(outputs * n).astype(int).T)]

    def judge(_: Budget) -> RegimeResult:
        mu = np.array(p)
        expected = 0.0
        for bits in range(2 ** len(p)):
            z = np.array([(bits >> j) & 1 for j in range(len(p))], float)
            outputs, out, inside = mean_game(mu, n, z)
            expected += float(np.where(z == 1, mu, 1 - mu).prod() * ((inside - out) @ test(z, outputs)))
        gap = random_target_advantage(mu, n, test) - factor * expected
        return judge_identity(gap, ROUNDING, parameters, unit="advantage", route="enumeration")

    return Regime(f"n = {n}, p = {p}, {attack}", parameters, judge, random=False)


MARGINS: dict[str, tuple[object, float, float]] = {
    "Bernoulli(.3)": (stats.bernoulli(0.3), 0.3, 0.21),
    "Bernoulli(.001)": (stats.bernoulli(0.001), 0.001, 0.001 * 0.999),
    "N(1, 4)": (stats.norm(1, 2), 1.0, 4.0),
    "Exponential(2)": (stats.expon(scale=2), 2.0, 4.0),
    "Laplace(1)": (stats.laplace(), 0.0, 2.0),
    "Uniform(0, 3)": (stats.uniform(0, 3), 1.5, 0.75),
    "Student t, 4.5 df": (stats.t(4.5), 0.0, 4.5 / 2.5),
}


def leakage_regime(name: str, factor: float = 1.0) -> Regime:
    """E t^2 of one coordinate by quadrature or summation over the law of the target; d / n of them add up."""
    parameters = {"data": name}
    reading = "m* = (1/n) ||z* - mu||^2 at every n"
    law, mean, variance = MARGINS[name]

    def judge(_: Budget) -> RegimeResult:
        def square(z: float) -> float:
            return (z - mean) ** 2 / variance

        if hasattr(law.dist, "pmf"):  # pyright: ignore[reportAttributeAccessIssue]
            one = sum(float(law.pmf(z)) * square(z) for z in (0, 1))  # pyright: ignore[reportAttributeAccessIssue]
        else:
            low, high = law.support()  # pyright: ignore[reportAttributeAccessIssue]
            cuts = [max(low, -1e6), *(x for x in (-50.0, mean, 50.0) if low < x < high), min(high, 1e6)]
            one = sum(
                integrate.quad(lambda z: square(z) * law.pdf(z), a, b, epsabs=1e-12, limit=400)[0]  # pyright: ignore
                for a, b in pairwise(cuts)
            )
        return judge_identity(
            one - factor, QUADRATURE, parameters, unit="relative", route="quadrature", reading=reading
        )

    return Regime(name, parameters, judge, reading, random=False)


def limit_leakage_regime() -> Regime:
    """D_j = Bernoulli(1/j^2), d = n: m* = 0 almost surely, by a union bound at a large n."""
    parameters = {"data": "D_j = Bernoulli(1/j^2), j >= 2", "d/n": 1.0}
    reading = "m* = lim (1/n) ||z* - mu||^2, as theorem 3.1 defines it"

    def judge(_: Budget) -> RegimeResult:
        n, first = 1e16, 1e4
        # But for probability sum_{j > J} 1/j^2 <= 1/J, z_j = 0 beyond J, where t_j^2 = 1/(j^2 - 1); before, t_j^2 < j^2.
        bound, risk = (first**3 + 1) / n, 1 / first
        return judge_equality(
            bound - 1.0,
            parameters,
            claimed=1.0,
            unit="relative",
            route="exact bound",
            reading=reading,
            second_route=medians,
            detail=f"m* <= {bound:.1e} but for probability {risk:.0e}, at n = d = 1e16 and vanishing; d/n = 1",
        )

    return Regime("limit", parameters, judge, reading, random=False)


def medians() -> str:
    """Draw targets with NumPy and take the median of (1/n) ||z - mu||^2 at growing n."""
    rng, found = np.random.default_rng(16), []
    for n in (1000, 10_000, 100_000):
        j = np.arange(2, n + 2, dtype=float)
        z = rng.random((200, n)) < 1 / j**2
        found.append(float(np.median(np.where(z, j**2 - 1, 1 / (j**2 - 1)).sum(axis=1) / n)))
    return f"200 drawn targets (NumPy, seed 16): medians {found[0]:.1e}, {found[1]:.1e}, {found[2]:.1e} at n = d = 1e3, 1e4, 1e5"


_LEAKAGE_DOMAIN: dict[str, Between | OneOf] = {
    "n": Between(2, float("inf")),
    "d": Between(1, float("inf"), "a sum of d terms, judged one by one"),
    "data": OneOf(tuple(MARGINS), "finite variance"),
}
_P12 = ((0.5,), (0.25, 0.4), (0.05,), (0.02,))
_MEAN_LEAKAGE = Quote(
    "Since E_{z* ~ D}[m*] = lim_{n,d} d/n = tau, our results retrieve the averaged results of (Sankararaman et al., 2009).",
    "section 3, connection to Sankararaman et al.",
)
CLAIMS = (
    Claim(
        "azize-eq-11",
        "azize",
        "Bernoulli, random target: the exact log-likelihood ratio is "
        "sum_j z_j log(muhat_j/mu_j) + (1 - z_j) log((1 - muhat_j)/(1 - mu_j)).",
        Kind.EXACT,
        ROUNDING,
        "log ratio",
        {
            "n": Between(2, float("inf"), "enumerated at 2 to 8"),
            "d": Between(1, float("inf"), "the ratio is a product"),
            "mu": Between(0, 1, "open ends"),
            "target": OneOf(("every point of {0, 1}^d",)),
        },
        tuple(formula_regime(p, n) for p in P_SETS for n in (2, 3, 8 if len(p) == 1 else 5)),
        Control(lambda factor: formula_regime((0.3, 0.6), 3, factor)),
        quote=Quote(
            "the exact formula of the LR score, at output o = muhat_n and target z*, is l_n(muhat_n, z*) = "
            "sum_{j=1}^d z_j* log(muhat_{n,j}/mu_j) + (1 - z_j*) log((1 - muhat_{n,j})/(1 - mu_j)).",
            "equation 11, appendix B.4",
        ),
        sampled=lambda rng, count: [formula_regime(*drawn_enumerated(rng)) for _ in range(count)],
    ),
    Claim(
        "azize-eq-12-14",
        "azize",
        "Bernoulli, random target, mu_j in [a, 1 - a]: the ratio tends to N(-+tau/2, tau), so that "
        "Phi^-1(1 - alpha) + Phi^-1(1 - beta) ~ sqrt(d/n).",
        Kind.LIMIT,
        MOST_TOLERANCE,
        "probit",
        {
            "n": Between(2, float("inf"), "a limit, judged at 50 to 25,600, at larger n where mu is near 0"),
            "d/n": Between(0, float("inf"), "judged .5 to 5, drawn in [.5, 8]"),
            "a": Between(0, 0.5, "0 < a < 1/2; judged at 0.02 to 0.5, drawn at .1"),
        },
        tuple(random_limit_regime(p, tau) for p in _P12 for tau in ((0.5, 5.0) if p == (0.5,) else (1.0,))),
        Control(lambda stretch: random_limit_regime((0.5,), 5.0, stretch)),
        quote=Quote(
            "As d and n tend to infinity such that d/n = tau, Sankararaman et al. (2009) shows that the LR score converges in "
            "distribution to N(-tau/2, tau) under H_0 and N(tau/2, tau) under H_1. [...] Phi^-1(1 - alpha) + Phi^-1(1 - beta) ~ "
            "sqrt(d/n).",
            "equations 12 to 14, appendix B.4",
        ),
        restricted_by=(
            Quote(
                "D = (x) Bernoulli(mu_j), with mu_j in [a, 1 - a] for some a in (0, 1/2).",
                "appendix B.4, assumptions on the data generating distribution",
            ),
        ),
        sampled=drawn_limits,
        samples=SAMPLES,
    ),
    Claim(
        "azize-B.3",
        "azize",
        "The random-target advantage of an attack is the expectation over z* ~ D of its fixed-target advantages.",
        Kind.EXACT,
        ROUNDING,
        "advantage",
        {
            "n": Between(2, float("inf"), "enumerated at 2 to 6"),
            "attack": OneOf(("covariance score > 0", "arbitrary randomised")),
            "data": OneOf(("Bernoulli",), "independent rows of any law"),
        },
        tuple(
            average_regime(p, n, a)
            for p in P_SETS
            for n in (2, 4, 6)
            for a in ("covariance score > 0", "arbitrary")
        ),
        Control(lambda factor: average_regime((0.3, 0.6), 4, "covariance score > 0", factor)),
        quote=Quote(
            "The advantage (and accuracy) of A is the expected advantage (and accuracy) of A_{z*}, when z* ~ D, i.e. "
            "Adv_n(A) = E_{z* ~ D} Adv_n(A_{z*}).",
            "appendix B.3",
        ),
        sampled=lambda rng, count: [
            average_regime(*drawn_enumerated(rng), "arbitrary") for _ in range(count)
        ],
    ),
    Claim(
        "azize-mean-leakage",
        "azize",
        "E_{z* ~ D}[m*] = tau.",
        Kind.EXACT,
        QUADRATURE,
        "relative",
        _LEAKAGE_DOMAIN
        | {"m*": OneOf(("(1/n) ||z* - mu||^2", "its limit"), "theorem 3.1 defines m* as a limit")},
        (*(leakage_regime(name) for name in MARGINS), limit_leakage_regime()),
        Control(lambda factor: leakage_regime("Exponential(2)", factor)),
        corrected_by="azize-mean-leakage-corrected",
        quote=_MEAN_LEAKAGE,
        restricted_by=(
            Quote(
                "since E_{z* ~ D}[||z* - mu||_{C_sigma^-1}^2] = d, we have E_{z* ~ D}[m*] = lim_{n,d} d/n = tau.",
                "appendix B.4, connection to our results",
            ),
        ),
    ),
    Claim(
        "azize-mean-leakage-corrected",
        "azize",
        "E_{z* ~ D}[(1/n) ||z* - mu||^2_{C^-1}] = d/n for every n and d and all data with positive finite variances.",
        Kind.EXACT,
        QUADRATURE,
        "relative",
        _LEAKAGE_DOMAIN,
        tuple(leakage_regime(name) for name in MARGINS),
        Control(lambda factor: leakage_regime("Exponential(2)", factor)),
        corrects="azize-mean-leakage",
        quote=_MEAN_LEAKAGE,
        same_formula=True,
        derivation=(
            "Each term t_j^2 = (z_j - mu_j)^2 / sigma_j^2 has expectation 1 by the definition of the variance, so the sum over d "
            "coordinates divided by n has expectation d/n; independence is not needed. The expectation passes to the limit m* if the sums "
            "are uniformly integrable (Vitali), for which bounded standardised fourth moments of independent coordinates suffice, since "
            "they bound the second moment of the sums: with D_j = Bernoulli(1/j^2), j >= 2, only finitely many z_j are 1 almost surely "
            "(Borel and Cantelli), so m* = 0 while every finite-n expectation is d/n."
        ),
    ),
)
"""The random-target statements."""
