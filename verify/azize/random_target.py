"""The random-target game: equations 11 to 14, appendix B.3 and the mean of the leakage score."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
from scipy import integrate, stats

from mipsim.exact import Terms, additive_law, binomial_terms
from mipsim.exact.enumeration import mean_game, random_target_advantage
from mipsim.theory import azize
from sims.studies import STUDIES
from verify.azize.mean import TOLERANCE, _law_gaps
from verify.by_games import judge_curve
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, curve_gap, judge_identity, judge_limit

EXACT = 1e-9
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
        return judge_identity(worst, EXACT, parameters, unit="log ratio", route="enumeration")

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
    """The law of the ratio and its curve under random targets against tau."""
    parameters = {"p": list(p), "d/n": tau}

    def at(n: int) -> Size:
        groups = [_random_terms(n, q, max(1, round(tau * n / len(p)))) for q in p]
        law = additive_law(groups)
        actual = sum(g.count for g in groups) / n  # d / n of this size
        curve = curve_gap(law.beta, azize.mean_tradeoff(actual * stretch).beta, f"p = {p}, tau = {tau:g}")
        spread = _law_gaps(actual * stretch, law.below)
        return Size(min(curve.low, spread.low), max(curve.high, spread.high), curve.evidence)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, sizes=(400, 1600, 6400, 25_600))

    return Regime(f"p = {p}, tau = {tau:g}", parameters, judge, random=False)


def random_games_regime() -> Regime:
    """The random-target game at n = 100, d = 500."""
    parameters = {"n": 100, "d": 500, "data": "Bernoulli(p), p ~ U[.25, .75]^d"}

    def judge(budget: Budget) -> RegimeResult:
        study = STUDIES["azize_random_target"]
        return judge_curve(
            study, azize.mean_tradeoff(5.0), TOLERANCE, budget, parameters, games=(5_000, 100_000, 1_000_000)
        )

    return Regime("games", parameters, judge)


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
        return judge_identity(gap, EXACT, parameters, unit="advantage", route="enumeration")

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
    reading = "every n"
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
            one - factor, 1e-6, parameters, unit="relative", route="quadrature", reading=reading
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
        return judge_identity(
            bound - 1.0,
            1e-6,
            parameters,
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


_LEAKAGE_DOMAIN = {
    "n": Between(2, float("inf")),
    "d": Between(1, float("inf"), "a sum of d terms, judged one by one"),
    "data": OneOf(tuple(MARGINS), "finite variance"),
}
CLAIMS = (
    Claim(
        "azize-eq-11",
        "azize",
        "Bernoulli, random target: the exact log-likelihood ratio is "
        "sum_j z_j log(muhat_j/mu_j) + (1 - z_j) log((1 - muhat_j)/(1 - mu_j)).",
        Kind.EXACT,
        EXACT,
        "log ratio",
        {
            "n": Between(2, float("inf"), "enumerated at 2 to 8"),
            "d": Between(1, float("inf"), "the ratio is a product"),
            "mu": Between(0, 1, "open ends"),
            "target": OneOf(("every point of {0, 1}^d",)),
        },
        tuple(formula_regime(p, n) for p in P_SETS for n in (2, 3, 8 if len(p) == 1 else 5)),
        partial(formula_regime, (0.3, 0.6), 3, 1.03),
    ),
    Claim(
        "azize-eq-12-14",
        "azize",
        "Bernoulli, random target, mu_j in [a, 1 - a]: the ratio tends to N(-+tau/2, tau), so that "
        "Phi^-1(1 - alpha) + Phi^-1(1 - beta) ~ sqrt(d/n).",
        Kind.LIMIT,
        TOLERANCE,
        "probit",
        {
            "n": Between(2, float("inf"), "a limit"),
            "d/n": Between(0, float("inf"), "judged 0.1 to 20"),
            "a": Between(0, 0.5, "0 < a < 1/2; judged at 0.05 to 0.5"),
        },
        (
            *(
                random_limit_regime(p, tau)
                for p in ((0.5,), (0.25, 0.4, 0.6, 0.75), (0.05, 0.5, 0.95))
                for tau in (0.1, 1.0, 5.0, 20.0)
            ),
            random_games_regime(),
        ),
        partial(random_limit_regime, (0.25, 0.4, 0.6, 0.75), 5.0, 1.12),
    ),
    Claim(
        "azize-B.3",
        "azize",
        "The random-target advantage of an attack is the expectation over z* ~ D of its fixed-target advantages.",
        Kind.EXACT,
        EXACT,
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
        partial(average_regime, (0.3, 0.6), 4, "covariance score > 0", 1.03),
    ),
    Claim(
        "azize-mean-leakage",
        "azize",
        "E_{z* ~ D}[m*] = tau.",
        Kind.EXACT,
        1e-6,
        "relative",
        _LEAKAGE_DOMAIN
        | {"m*": OneOf(("(1/n) ||z* - mu||^2", "its limit"), "theorem 3.1 defines m* as a limit")},
        (*(leakage_regime(name) for name in MARGINS), limit_leakage_regime()),
        partial(leakage_regime, "Exponential(2)", 1.03),
        corrected_by="azize-mean-leakage-corrected",
    ),
    Claim(
        "azize-mean-leakage-corrected",
        "azize",
        "E_{z* ~ D}[(1/n) ||z* - mu||^2_{C^-1}] = d/n for every n and d.",
        Kind.EXACT,
        1e-6,
        "relative",
        _LEAKAGE_DOMAIN,
        tuple(leakage_regime(name) for name in MARGINS),
        partial(leakage_regime, "Exponential(2)", 1.03),
        corrects="azize-mean-leakage",
        derivation=(
            "Each term t_j^2 = (z_j - mu_j)^2 / sigma_j^2 has expectation 1 by the definition of the variance, so the sum over d "
            "coordinates divided by n has expectation d/n. The expectation passes to the limit m* only if the sums are uniformly "
            "integrable (bounded standardised fourth moments suffice): with D_j = Bernoulli(1/j^2), j >= 2, only finitely many z_j "
            "are 1 almost surely, so m* = 0 while every finite-n expectation is d/n."
        ),
    ),
)
"""The random-target statements."""
