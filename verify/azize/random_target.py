"""The random-target game: equations 11 to 14, appendix B.3 and the mean of the leakage score."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate, stats

from mipsim import referee as rf
from mipsim.exact.enumeration import mean_game, random_target_advantage
from mipsim.exact.product.cells import Bracket
from mipsim.exact.product.lattice import ProductTradeOff, product_tradeoff
from mipsim.exact.terms import Terms, binomial_terms
from mipsim.theory import azize

ROUNDING = 1e-9
_BITS = {
    "n": rf.Whole(2, np.inf, hunt_to=8),
    "d": rf.Choice(1, 2),
    "p": rf.Real(0.0, 1.0),
    "q": rf.Real(0.0, 1.0),
}
_SETS = [{"d": 1, "p": p, "q": 0.5} for p in (0.5, 0.3, 0.02)] + [
    {"d": 2, "p": p, "q": q} for p, q in ((0.3, 0.6), (0.1, 0.95))
]


def _enumerable(n: int, d: int, p: float, q: float) -> bool:
    return 0.0 < p < 1.0 and 0.0 < q < 1.0 and n * d <= 12


def _targets(d: int, p: float, q: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """(means, every point of {0, 1}^d)."""
    points = [np.array([(bits >> j) & 1 for j in range(d)], float) for bits in range(2**d)]
    return np.array([p, q][:d]), points


def formula_error(n: int, d: int, p: float, q: float, factor: float = 1.0) -> rf.Number:
    """The largest difference of equation 11 and the log ratio of enumerated probabilities, at every target and output."""
    mu, targets = _targets(d, p, q)
    worst = 0.0
    for z in targets:
        outputs, out, inside = mean_game(mu, n, z)
        with np.errstate(divide="ignore"):
            printed = np.where(z == 1, np.log(outputs / mu), np.log((1 - outputs) / (1 - mu))).sum(axis=1)
            enumerated = np.log(inside / out)
        finite = np.isfinite(enumerated)
        if (np.isfinite(printed) != finite).any():
            worst = np.inf
        worst = max(worst, float(np.abs(factor * printed[finite] - enumerated[finite]).max(initial=0.0)))
    return rf.Number(worst, route="enumeration")


def guess(attack: str, n: int, mu: np.ndarray, z: np.ndarray, outputs: np.ndarray, draw: int) -> np.ndarray:
    """The probabilities of guessing "in": the covariance test, or a randomised attack without any sense."""
    if attack == "covariance score > 0":
        weights = (z - mu) / (mu * (1 - mu))
        return ((outputs - mu) @ weights - weights @ (z - mu) / (2 * n) > 0).astype(float)
    rng = np.random.default_rng([draw, int(z @ 2 ** np.arange(len(z)))])
    return rng.uniform(size=(n + 1,) * len(z))[tuple(np.round(outputs * n).astype(int).T)]


def expected_advantage(n: int, d: int, p: float, q: float, attack: str, draw: int) -> float:
    """The mean of the fixed-target advantages."""
    mu, targets = _targets(d, p, q)
    found = 0.0
    for z in targets:
        outputs, out, inside = mean_game(mu, n, z)
        found += float(
            np.where(z == 1, mu, 1 - mu).prod() * ((inside - out) @ guess(attack, n, mu, z, outputs, draw))
        )
    return found


def _random_terms(n: int, p: float, count: int) -> Bracket:
    one, zero = binomial_terms(n, p, 1, count), binomial_terms(n, p, 0, count)
    both = [
        np.concatenate([getattr(one, name), getattr(zero, name)]) for name in ("total", "ratio", "deviation")
    ]
    out, inside = (
        np.concatenate([p * getattr(one, name), (1 - p) * getattr(zero, name)]) for name in ("out", "inside")
    )
    error = max(one.error, zero.error)
    terms = Terms(both[0], out, inside, both[1], count, 0.0, both[2], n, error)
    return Bracket(terms, terms, error)


def _counts(n: int, p: float, q: float, tau: float) -> list[tuple[float, int]]:
    kinds = (p,) if p == q else (p, q)
    return [(one, max(1, round(tau * n / len(kinds)))) for one in kinds]


@lru_cache(maxsize=128)
def random_target_law(n: int, p: float, q: float, tau: float) -> ProductTradeOff:
    """The optimal curve under random targets; p and q are the means of half the coordinates each."""
    return product_tradeoff([_random_terms(n, one, count) for one, count in _counts(n, p, q, tau)])


def random_sizes(p: float, q: float) -> list[int]:
    """At 20 expected occurrences of the rarer value no column is constant, but for a probability that does not count."""
    first = 50 * int(np.ceil(max(1.0, 0.4 / min(p, q, 1 - p, 1 - q))))
    return [first * 2**k for k in range(9)]


MARGINS = ("Bernoulli", "normal", "exponential", "Laplace", "uniform", "Student t")
RARER = "D_j = Bernoulli(1/j^2), j >= 2"
ROWS = "m* = (1/n) ||z* - mu||^2 at every n"
LIMIT = "m* = lim (1/n) ||z* - mu||^2, as theorem 3.1 defines it"


def mean_leakage(data: str, p: float, df: float, scale: float) -> rf.Number:
    """E t^2 of one coordinate by quadrature or summation over the law of the target; d / n of them add up."""
    if data == RARER:
        # But for probability sum_{j > J} 1/j^2 <= 1/J, z_j = 0 beyond J, where t_j^2 = 1/(j^2 - 1); before, t_j^2 < j^2.
        n, first = 1e16, 1e4
        bound, risk = (first**3 + 1) / n, 1 / first
        detail = f"m* <= {bound:.1e} but for probability {risk:.0e}, at n = d = 1e16 and vanishing; d/n = 1"
        return rf.Number(bound, bound, route="exact bound", detail=detail)
    if data == "Bernoulli":
        return rf.Number(
            sum(mass * (z - p) ** 2 / (p * (1 - p)) for z, mass in ((0, 1 - p), (1, p))), route="summation"
        )
    law: Any = {
        "normal": stats.norm(1, scale), "exponential": stats.expon(scale=scale), "Laplace": stats.laplace(0, scale),
        "uniform": stats.uniform(0, scale), "Student t": stats.t(df, 0, scale),
    }[data]  # fmt: skip
    mean = {"normal": 1.0, "exponential": scale, "uniform": scale / 2}.get(data, 0.0)
    variance = scale**2 * {"Laplace": 2.0, "uniform": 1 / 12, "Student t": df / (df - 2)}.get(data, 1.0)
    low, high = law.support()
    cuts = [
        max(low, -1e6 * scale),
        *(x for x in (mean - 50 * scale, mean, mean + 50 * scale) if low < x < high),
        min(high, 1e6 * scale),
    ]
    one = sum(
        integrate.quad(lambda z: (z - mean) ** 2 / variance * law.pdf(z), a, b, epsabs=1e-9, limit=400)[0]
        for a, b in pairwise(cuts)
    )
    return rf.Number(one, route="quadrature")


def medians() -> str:
    """Draw targets with NumPy and take the median of (1/n) ||z - mu||^2 at growing n."""
    rng, found = np.random.default_rng(16), []
    for n in (1000, 10_000, 100_000):
        j = np.arange(2, n + 2, dtype=float)
        z = rng.random((200, n)) < 1 / j**2
        found.append(float(np.median(np.where(z, j**2 - 1, 1 / (j**2 - 1)).sum(axis=1) / n)))
    return f"200 drawn targets (NumPy, seed 16): medians {found[0]:.1e}, {found[1]:.1e}, {found[2]:.1e} at n = d = 1e3, 1e4, 1e5"


_TWO = {"n": 3, "d": 2, "p": 0.3, "q": 0.6}
_COVARIANCE = "covariance score > 0"
_ONE = {"p": 0.3, "df": 4.5, "scale": 2.0, "reading": ROWS}
LEAKAGE = rf.Statement(
    name="azize-mean-leakage",
    says="E_{z* ~ D}[m*] = tau.",
    source="Azize & Basu, section 3",
    # Relative to tau; what the numerical integral of a heavy tail may be off.
    kind=rf.Equality(1e-6, unit="relative"),
    domain={
        "data": rf.Choice(*MARGINS, RARER),
        "p": rf.Real(0.0, 1.0),
        "df": rf.Real(4.01, np.inf, log=True, hunt_to=50.0),
        "scale": rf.Real(0.0, np.inf, hunt_to=100.0),
        "reading": rf.Choice(ROWS, LIMIT),
    },
    # The other data meet the conditions under which both readings agree.
    where=lambda data, p, scale, reading: 0.0 < p < 1.0 and scale > 0.0 and (data == RARER) == (reading == LIMIT),
    claimed=lambda: 1.0,
    truth=mean_leakage,
    points=[
        {"data": "Bernoulli"} | _ONE | {"p": 0.001},
        *({"data": data} | _ONE for data in MARGINS),
        {"data": RARER} | _ONE | {"reading": LIMIT},
    ],
    control=rf.Control({"data": "exponential"} | _ONE),
    quote=rf.Quote(
        "Since E_{z* ~ D}[m*] = lim_{n,d} d/n = tau, our results retrieve the averaged results of (Sankararaman et al., 2009).",
        "section 3, connection to Sankararaman et al.",
    ),
    restricted_by=(
        rf.Quote(
            "since E_{z* ~ D}[||z* - mu||_{C_sigma^-1}^2] = d, we have E_{z* ~ D}[m*] = lim_{n,d} d/n = tau.",
            "appendix B.4, connection to our results",
        ),
    ),
    second_route=medians,
)  # fmt: skip

STATEMENTS = (
    rf.Statement(
        name="azize-eq-11",
        says="Bernoulli, random target: the exact log-likelihood ratio is "
        "sum_j z_j log(muhat_j/mu_j) + (1 - z_j) log((1 - muhat_j)/(1 - mu_j)).",
        source="Azize & Basu, equation 11",
        kind=rf.Equality(ROUNDING, unit="log ratio"),
        domain=_BITS,
        where=_enumerable,
        claimed=lambda: 0.0,
        truth=formula_error,
        points=[at | {"n": n} for at in _SETS for n in (2, 3, 5)],
        control=rf.Control(_TWO, truth=lambda factor, **at: formula_error(**at, factor=factor)),
        quote=rf.Quote(
            "the exact formula of the LR score, at output o = muhat_n and target z*, is l_n(muhat_n, z*) = "
            "sum_{j=1}^d z_j* log(muhat_{n,j}/mu_j) + (1 - z_j*) log((1 - muhat_{n,j})/(1 - mu_j)).",
            "equation 11, appendix B.4",
        ),
    ),
    rf.Statement(
        name="azize-eq-12-14",
        says="Bernoulli, random target, mu_j in [a, 1 - a]: the ratio tends to N(-+tau/2, tau), so that "
        "Phi^-1(1 - alpha) + Phi^-1(1 - beta) ~ sqrt(d/n).",
        source="Azize & Basu, equations 12 to 14",
        kind=rf.Limit("n", sizes=random_sizes),
        domain={
            # Nearer to 0 and 1 a limit needs more rows than are searched.
            "p": rf.Real(0.01, 0.99),
            "q": rf.Real(0.01, 0.99),
            "tau": rf.Real(0.05, np.inf, log=True, hunt_to=20.0),
            "n": rf.Whole(2, np.inf, log=True, hunt_to=10**6),
        },
        # The ratio's laws tend to N(-+tau/2, tau) if and only if the curve tends to g_sqrt(tau).
        claimed=lambda n, p, q, tau: azize.mean_tradeoff(
            sum(count for _, count in _counts(n, p, q, tau)) / n
        ),
        truth=random_target_law,
        points=[
            {"p": p, "q": q, "tau": tau}
            for p, q, tau in (
                (0.5, 0.5, 0.5),
                (0.5, 0.5, 5.0),
                (0.25, 0.4, 1.0),
                (0.05, 0.05, 1.0),
                (0.02, 0.02, 1.0),
            )
        ],
        control=rf.Control({"p": 0.5, "q": 0.5, "tau": 5.0}),
        quote=rf.Quote(
            "As d and n tend to infinity such that d/n = tau, Sankararaman et al. (2009) shows that the LR score converges in "
            "distribution to N(-tau/2, tau) under H_0 and N(tau/2, tau) under H_1. [...] Phi^-1(1 - alpha) + Phi^-1(1 - beta) ~ "
            "sqrt(d/n).",
            "equations 12 to 14, appendix B.4",
        ),
        restricted_by=(
            rf.Quote(
                "D = (x) Bernoulli(mu_j), with mu_j in [a, 1 - a] for some a in (0, 1/2).",
                "appendix B.4, assumptions on the data generating distribution",
            ),
        ),
    ),
    rf.Statement(
        name="azize-B.3",
        says="The random-target advantage of an attack is the expectation over z* ~ D of its fixed-target advantages.",
        source="Azize & Basu, appendix B.3",
        kind=rf.Equality(ROUNDING, unit="advantage"),
        domain=_BITS | {"attack": rf.Choice(_COVARIANCE, "arbitrary randomised"), "draw": rf.Whole(0, 10**6)},
        where=lambda n, d, p, q: _enumerable(n, d, p, q),
        claimed=expected_advantage,
        truth=lambda n, d, p, q, attack, draw: random_target_advantage(
            (mu := _targets(d, p, q)[0]), n, lambda z, outputs: guess(attack, n, mu, z, outputs, draw)
        ),
        points=[
            at | {"n": n, "attack": attack, "draw": 0}
            for at in _SETS
            for n in (2, 5)
            for attack in (_COVARIANCE, "arbitrary randomised")
        ],
        control=rf.Control(_TWO | {"attack": _COVARIANCE, "draw": 0}),
        quote=rf.Quote(
            "The advantage (and accuracy) of A is the expected advantage (and accuracy) of A_{z*}, when z* ~ D, i.e. "
            "Adv_n(A) = E_{z* ~ D} Adv_n(A_{z*}).",
            "appendix B.3",
        ),
    ),
    LEAKAGE,
    LEAKAGE.corrected(
        says="E_{z* ~ D}[(1/n) ||z* - mu||^2_{C^-1}] = d/n for every n and d and all data with positive finite variances.",
        domain={"reading": rf.Fixed(ROWS)},
        control=LEAKAGE.control,
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

SAMPLES = {"azize-eq-12-14": (4, 8, 50), "azize-mean-leakage": (0, 0, 0)}
