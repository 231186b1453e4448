"""The random-target game: equations 11 to 14, appendix B.3 and the mean of the leakage score."""

import numpy as np

from mipsim import referee as rf
from mipsim.theory import azize
from verify.azize.checks.second_routes import typical_scores
from verify.azize.laws.enumerated import expected_advantage, formula_error, guess, targets_of
from verify.azize.laws.enumeration import random_target_advantage
from verify.azize.laws.mean_curves import counts, random_target_law
from verify.azize.laws.moments import mean_square
from verify.azize.statements.mean import ASSUMES
from verify.statement import Statement, where_in

_BITS = {
    "n": rf.Whole(2, np.inf, hunt_to=8, meaning="records in the data set"),
    "d": rf.Choice(1, 2, meaning="coordinates"),
    "p": rf.Real(0.0, 1.0, meaning="probability of a 1 in the first coordinate"),
    "q": rf.Real(0.0, 1.0, meaning="probability of a 1 in the second coordinate"),
}
_SETS = [{"d": 1, "p": p, "q": 0.5} for p in (0.5, 0.3, 0.02)] + [
    {"d": 2, "p": p, "q": q} for p, q in ((0.3, 0.6), (0.1, 0.95))
]


def _enumerable(n: int, d: int, p: float, q: float) -> bool:
    return 0.0 < p < 1.0 and 0.0 < q < 1.0 and n * d <= 12


def random_sizes(p: float, q: float) -> list[int]:
    """At 20 expected occurrences of the rarer value no column is constant, but for a probability that does not count."""
    first = 50 * int(np.ceil(max(1.0, 0.4 / min(p, q, 1 - p, 1 - q))))
    return [first * 2**k for k in range(9)]


MARGINS = ("Bernoulli", "normal", "exponential", "Laplace", "uniform", "Student t")
RARER = "D_j = Bernoulli(1/j^2), j >= 2"
ROWS = "m* = (1/n) ||z* - mu||^2 at every n"
LIMIT = "m* = lim (1/n) ||z* - mu||^2, as theorem 3.1 defines it, for all data of section 3"
AWAY = "m* = that limit, for Bernoulli data with mu_j in [a, 1 - a], as Sankararaman et al. suppose"


def mean_leakage(data: str, p: float, df: float, scale: float, off: float = 0.0) -> rf.Number:
    """E t^2 of a single coordinate, d / n of which add up; `off`: what is added to its mean, which makes the statement false."""
    if data == RARER:
        # But for probability sum_{j > J} 1/j^2 <= 1/J, z_j = 0 beyond J, where t_j^2 = 1/(j^2 - 1); before, t_j^2 < j^2.
        n, first = 1e16, 1e4
        bound, risk = (first**3 + 1) / n, 1 / first
        detail = f"m* <= {bound:.1e} but for probability {risk:.0e}, at n = d = 1e16 and vanishing; d/n = 1"
        return rf.Number(bound, bound, route="exact bound", detail=detail)
    return rf.Number(mean_square(data, p, df, scale, off), route="closed form")


_LIMITS = (0.5, 0.5, 0.5), (0.5, 0.5, 5.0), (0.25, 0.4, 1.0), (0.05, 0.05, 1.0), (0.02, 0.02, 1.0)
_TWO = {"n": 3, "d": 2, "p": 0.3, "q": 0.6}
_COVARIANCE = "covariance score > 0"
_BASE = {"p": 0.3, "df": 4.5, "scale": 2.0, "reading": ROWS}
LEAKAGE = Statement(
    name="azize-mean-leakage", formula=r"E_{z^* \sim D}[m^*] = \tau",
    uses=("azize-thm-3.1-power",),
    says="E_{z* ~ D}[m*] = tau.",
    fails=r"The average of $m^*$ is $\tau$ at every finite size. As a limit for each target, which theorem 3.1 takes, $m^*$ may be less: values that become rarer from coordinate to coordinate add to the average, but to no target's limit. Data whose probabilities stay away from 0 and 1, as Sankararaman et al. suppose, have none, and $m^*$ is $\tau$.",
    instead="finite n; $\\mu_j$ in [a, 1 - a]",
    source="Azize & Basu, section 3",
    kind=rf.Equality(1e-9, unit="relative"),  # to tau
    domain={
        "data": rf.Choice(*MARGINS, RARER, meaning="law of a coordinate"),
        "p": rf.Real(0.0, 1.0, meaning="probability of a 1, of Bernoulli data"),
        "df": rf.Real(4.01, np.inf, log=True, hunt_to=50.0, meaning="degrees of freedom, of Student data"),
        "scale": rf.Real(0.0, np.inf, hunt_to=100.0, meaning="scale of the law, in the units of the data"),
        "reading": rf.Choice(ROWS, LIMIT, AWAY),
    },
    # The other data meet the conditions under which all readings agree: t_j^2 obey the law of large numbers.
    where=lambda data, p, scale, reading: 0.0 < p < 1.0 and scale > 0.0 and (data == RARER) == (reading == LIMIT) and (reading != AWAY or data == "Bernoulli"),
    claimed=lambda: 1.0,
    truth=mean_leakage,
    points=[
        {"data": "Bernoulli"} | _BASE | {"p": 0.001},
        *({"data": data} | _BASE for data in MARGINS),
        *({"data": "Bernoulli"} | _BASE | {"p": p, "reading": AWAY} for p in (0.05, 0.3)),
        {"data": RARER} | _BASE | {"reading": LIMIT},
        # From hunts.
        {"data": RARER, "p": 0.5, "df": 5.0, "scale": 1.0, "reading": LIMIT},
    ],
    control=rf.Control({"data": "exponential"} | _BASE, truth=lambda factor, **at: mean_leakage(at["data"], at["p"], at["df"], at["scale"], factor - 1.0)),
    quote=rf.Quote(
        "Since E_{z* ~ D}[m*] = lim_{n,d} d/n = tau, our results retrieve the \"averaged\" results of (Sankararaman et al., 2009).",
        "section 3, connection to Sankararaman et al.",
    ),
    not_judged={'our results retrieve the "averaged" results of (Sankararaman et al., 2009)': 'a mean of m* is no mean of powers; what averages to what is judged in azize-B.3 and azize-eq-12-14'},
    restricted_by=(
        ASSUMES,
        rf.Quote(
            "Sankararaman et al. (2009) supposes that the data-generating distribution D is colon-wise independent Bernoulli distributions, i.e. D = (x)_{j=1}^d Bernoulli(mu_j), with mu_j in [a, 1 - a] for some a in (0, 1/2).",
            "appendix B.4, assumptions",
        ),
        rf.Quote(
            "Thus, our results retrieve the average-case results by observing that, since E_{z* ~ D}[||z* - mu||_{C_sigma^-1}^2] = " "d, we have E_{z* ~ D}[m*] = lim_{n,d} d/n = tau.",
            "appendix B.4, connection to our results",
        ),
    ),
    second_route=typical_scores,
    samples=(0, 0, 0),
    matters_when={
        "p": where_in("data", "Bernoulli"),
        "df": where_in("data", "Student t"),
        "scale": lambda data: data not in ("Bernoulli", RARER),
    },
)  # fmt: skip

STATEMENTS = (
    Statement(
        name="azize-eq-11",
        formula=r"\ell_n = \sum_j z_j \log\frac{\hat\mu_j}{\mu_j} + (1 - z_j) \log\frac{1 - \hat\mu_j}{1 - \mu_j}",
        says="Bernoulli, random target: the exact log-likelihood ratio is "
        "sum_j z_j log(muhat_j/mu_j) + (1 - z_j) log((1 - muhat_j)/(1 - mu_j)). (Judged for few records in one or two dimensions.)",
        kind=rf.Equality(1e-9, unit="log ratio"),
        domain=_BITS,
        where=_enumerable,
        claimed=lambda: 0.0,
        truth=formula_error,
        points=[at | {"n": n} for at in _SETS for n in (2, 3, 5)],
        control=rf.Control(_TWO, truth=lambda factor, **at: formula_error(**at, factor=factor)),
        quote=rf.Quote(
            "The analysis of (Sankararaman et al., 2009) starts by showing that the exact formula of the LR score, at output o = "
            "muhat_n and target z* is l_n(muhat_n, z*) = sum_{j=1}^d z_j* log(muhat_{n,j}/mu_j) + (1 - z_j*) log((1 - "
            "muhat_{n,j})/(1 - mu_j)).",
            "equation 11, appendix B.4",
        ),
    ),
    Statement(
        name="azize-eq-12-14",
        formula=r"\Phi^{-1}(1 - \alpha) + \Phi^{-1}(1 - \beta) \approx \sqrt{d / n}",
        uses=("azize-eq-11",),
        says="Bernoulli, random target, mu_j in [a, 1 - a]: the ratio tends to N(-+tau/2, tau), so that "
        "Phi^-1(1 - alpha) + Phi^-1(1 - beta) is about sqrt(d/n). (Judged with at most two values of mu_j, half of the coordinates each.)",
        source="Azize & Basu, equations 12 to 14",
        kind=rf.Limit("n", sizes=random_sizes),
        domain={
            # Nearer to 0 and 1 a limit needs more rows than are searched.
            "p": rf.Real(
                0.01, 0.99, meaning="probability of a 1 in the first coordinate, or in half of many"
            ),
            "q": rf.Real(0.01, 0.99, meaning="probability of a 1 in the second coordinate"),
            "tau": rf.Real(0.05, np.inf, log=True, hunt_to=20.0, meaning="d / n"),
            "n": rf.Whole(2, np.inf, log=True, hunt_to=10**6, meaning="records in the data set"),
        },
        # The ratio's laws tend to N(-+tau/2, tau) if and only if the curve tends to g_sqrt(tau).
        claimed=lambda n, p, q, tau: azize.mean_tradeoff(sum(count for _, count in counts(n, p, q, tau)) / n),
        truth=random_target_law,
        points=rf.rows({}, "p q tau", *_LIMITS),
        control=rf.Control({"p": 0.5, "q": 0.5, "tau": 5.0}),
        quote=rf.Quote(
            "As d and n tend to infinity such that d/n = tau, Sankararaman et al. (2009) shows that the LR score converges in "
            "distribution to N(-tau/2, tau) under H_0 and converges to N(tau/2, tau) under H_1. [...] Specifically, the main result "
            "(Section T2.1 in (Sankararaman et al., 2009)) is that Phi^-1(1 - alpha) + Phi^-1(1 - beta) ≈ sqrt(d/n) where alpha is "
            "the optimal Type I error, beta is the optimal Type II error and Phi represents the Cumulative Distribution Function "
            "(CDF) of the standard normal distribution, i.e. Phi(alpha) = int_{-inf}^alpha e^(-t^2/2) dt/sqrt(2 pi) for alpha in R.",
            "equations 12 to 14, appendix B.4",
        ),
        restricted_by=(
            rf.Quote(
                "Sankararaman et al. (2009) supposes that the data-generating distribution D is colon-wise independent Bernoulli "
                "distributions, i.e. D = (x)_j Bernoulli(mu_j), with mu_j in [a, 1 - a] for some a in (0, 1/2).",
                "appendix B.4, assumptions on the data generating distribution",
            ),
        ),
        samples=(4, 4, 50),
    ),
    Statement(
        name="azize-B.3",
        formula=r"\mathrm{Adv}_n(A) = E_{z^* \sim D}[\mathrm{Adv}_n(A, z^*)]",
        says="The random-target advantage of an attack is the expectation over z* ~ D of its fixed-target advantages. (Judged for the exact mean of few Bernoulli records in one or two dimensions. For any mechanism and data it is the tower rule, as target and output have the same joint law in both games.)",
        source="Azize & Basu, appendix B.3",
        kind=rf.Equality(1e-9, unit="advantage"),
        domain=_BITS
        | {
            "attack": rf.Choice(_COVARIANCE, "arbitrary randomised", meaning="which attack"),
            "draw": rf.Whole(0, 10**6, meaning="seed of the randomised attack"),
        },
        where=lambda n, d, p, q: _enumerable(n, d, p, q),
        claimed=expected_advantage,
        truth=lambda n, d, p, q, attack, draw: random_target_advantage(
            (mu := targets_of(d, p, q)[0]), n, lambda z, outputs: guess(attack, n, mu, z, outputs, draw)
        ),
        points=[
            at | {"n": n, "attack": attack, "draw": 0}
            for at in _SETS
            for n in (2, 5)
            for attack in (_COVARIANCE, "arbitrary randomised")
        ],
        control=rf.Control(_TWO | {"n": 2, "attack": _COVARIANCE, "draw": 0}),
        quote=rf.Quote(
            "The advantage (and accuracy) of A is the expected advantage (and accuracy) of A_{z*}, when z* ~ D, i.e. "
            "Adv_n(A) = E_{z* ~ D} Adv_n(A_{z*}).",
            "appendix B.3",
        ),
        not_judged={
            "(and accuracy)": "the accuracy is (1 + advantage)/2, of each target and of the random target"
        },
    ),
    LEAKAGE,
    LEAKAGE.corrected(
        says="E_{z* ~ D}[(1/n) ||z* - mu||^2_{Sigma^-1}] = d/n for every n and d and all data with positive finite variances, Sigma the diagonal matrix of these.",
        formula=r"E_{z^* \sim D}\left[\frac{1}{n} \lVert z^* - \mu \rVert^2_{\Sigma^{-1}}\right] = \frac{d}{n}",
        domain={"reading": rf.Fixed(ROWS)},
        control=LEAKAGE.control,
        derivation=(
            "Each term t_j^2 = (z_j - mu_j)^2 / sigma_j^2 has expectation 1 by the definition of the variance, so the sum over d "
            "coordinates divided by n has expectation d/n; independence is not needed. The expectation passes to the limit m* if the sums "
            "are uniformly integrable (Vitali), for which bounded standardised fourth moments of independent coordinates suffice, since "
            "they bound the second moment of the sums: with D_j = Bernoulli(1/j^2), j >= 2, only finitely many z_j are 1 almost surely "
            "(Borel and Cantelli), so m* = 0 while every finite-n expectation is d/n."
        ),
        needs={"all data with positive finite variances": {"held": {"scale": 0.0}}},
    ),
)
"""The random-target statements."""
