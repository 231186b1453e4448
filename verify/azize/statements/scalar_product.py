"""The covariance attack against the scalar-product attack."""

from fractions import Fraction
from itertools import product
from math import comb, inf
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim import GaussianTradeOff
from mipsim import referee as rf
from mipsim.referee import Replication
from verify.azize.laws.linear_problems import (
    NAMED,
    REFERENCES,
    jumping_curve,
    linear_problem,
    sampled_jumps,
    scalar_ahead,
    two_coordinates,
)
from verify.azize.laws.normal_sums import NormalCurve
from verify.azize.statements.mean import ASSUMES, ASYMPTOTIC
from verify.by_hand import ahead, near
from verify.statement import Statement, where_in

RANDOM = "random"
TOO_RARE = "+-1, but in even coordinates j +-3 2^j with probability 4^-j, for all n; z* = (1, 1, 1, ...)"
EACH = "the moment is finite in each coordinate"
TOGETHER = "a single number bounds the moments of all coordinates, and variances stay away from 0"
RATE = 0.05
"""The FPR at which powers are compared for these data."""
LARGE = tuple(10**7 * 8**k for k in range(6))
LEAST_RATE = 1e-3
"""FPR and FNR that are judged: below, the proven error of the normal law in probits is the larger part."""
MOST_MU = 6.0
"""The covariance attack has an error rate below LEAST_RATE everywhere beyond."""


def curve(score: str, n: int, data: str, tau: float, kinds: int, spread: float, draw: int) -> NormalCurve:
    """The curve of the covariance score, or of the scalar product with that reference point, with its proven bracket."""
    return linear_problem(data, kinds, spread, draw).curve(score, n, tau)


def visible(
    data: str,
    tau: float,
    kinds: int,
    spread: float,
    draw: int,
    reference: str = "origin",
    reading: str = TOGETHER,
) -> bool:
    """Whether both error rates of the covariance attack can be judged; where values are too rare to occur, for the score without a reference."""
    if data == TOO_RARE:
        return reading == EACH and reference == "origin" and 1.0 <= tau <= 20.0
    return reading == TOGETHER and curve("covariance", LARGE[-1], data, tau, kinds, spread, draw).mu < MOST_MU


def power_of(score: str, n: int, tau: float) -> rf.Number:
    """The power at FPR 0.05 where values are too rare to occur, between proven ends."""
    low, high = (1.0 - float(end) for end in jumping_curve(score, n, tau).beta_bounds(RATE))
    return rf.Number.between(
        *sorted((low, high)), unit="power", route="normal law", detail=f"At FPR {RATE:g}."
    )


def covariance_attack(n: int, data: str, **at: float) -> NormalCurve | rf.Number:
    """The curve of the covariance attack with known moments; its power at a single FPR where values are too rare to occur."""
    if data == TOO_RARE:
        return power_of("covariance", n, at["tau"])
    return curve("covariance", n, data, **{name: at[name] for name in PROBLEM})  # pyright: ignore[reportArgumentType]


def scalar_product(n: int, data: str, reference: str, **at: float) -> NormalCurve | rf.Number:
    """The same of the scalar product with that reference point."""
    if data == TOO_RARE:
        return power_of("origin", n, at["tau"])
    return curve(reference, n, data, **{name: at[name] for name in PROBLEM})  # pyright: ignore[reportArgumentType]


def too_rare_rate(data: str, tau: float) -> rf.Rate | None:
    """Where values are too rare to occur: both sums are those of n d fair coins, up to what few coordinates add.

    With the weights 1 and w of odd and even coordinates a sum of coins has mu = sqrt(tau) (1 + w)/sqrt(2 (1 + w^2)), w = 1/10 or 1. The error of its law is at most
    0.8/n (Berry and Esseen), 1/(15 n) (a value beyond J = log2 n + 2 that is no coin's) and 0.4 sqrt(10 J/n) (those up to J): together below
    1.5 sqrt(log2(n) + 2)/sqrt(n) for tau >= 1. At FPR 0.05 an error of the FPR changes a power by less than 4 times it, so that powers are within
    8 sqrt(log2(n) + 2)/sqrt(n) of their limits, which is below n^(-1/4) from 10^7 rows on.
    """
    if data != TOO_RARE:
        return None
    scalar, covariance = (
        float(ndtr(ndtri(RATE) + tau**0.5 * (1.0 + w) / (2.0 * (1.0 + w**2)) ** 0.5)) for w in (1.0, 0.1)
    )
    source = "Berry and Esseen for the coins, with what the other values add"
    return rf.Rate(1.0, 0.25, limit=scalar, claimed=covariance, start=LARGE[0], source=source)


def too_rare_by_games(data: str, tau: float) -> Replication:
    """Column sums at 200 rows."""
    assert data == TOO_RARE
    covariance, scalar = sampled_jumps(200, tau)
    return ahead(scalar, covariance, "scalar product less covariance attack", (RATE,))


PROBLEM = ("tau", "kinds", "spread", "draw")
_REST = {"kinds": 1, "spread": 0.0, "draw": 0}
DOMAIN = {
    "data": rf.Choice(*NAMED, RANDOM, meaning="law of a coordinate"),
    "tau": rf.Real(0.01, inf, log=True, hunt_to=20.0, meaning="d / n"),
    "kinds": rf.Whole(1, 6, meaning="kinds of coordinates"),
    "spread": rf.Real(0.0, 2.0, meaning="half the range of the logarithms of the standard deviations"),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    "n": rf.Whole(2, inf, log=True, hunt_to=LARGE[-1], meaning="records in the data set"),
}
CASES = [{"data": name, "tau": case.tau} | _REST for name, case in NAMED.items()]
PROVABLY = rf.Quote(
    "The covariance attack of Algorithm 4 is provably better than the scalar product attack, at the expense of estimating the inverse of the "
    "covariance matrix well.",
    "appendix D.3, connection to our work",
)
SCALAR = rf.Quote(
    "Our asymptotic analysis shows that the LR attack, i.e. the optimal attack, is also a scalar-product attack (Equation (5)), but "
    "corrected for the geometry of the data using the inverse covariance matrix.",
    "section 3, connection to the scalar product attack",
)
SAMPLED_REFERENCE = rf.Quote(
    "The analysis of (Dwork et al., 2015) shows that with only one reference point z_ref ~ D, and even for noisy estimates of the mean, the attack is "
    "able to trace the data of some individuals in the regime d ~ n^2.",
    "section 3, connection to the scalar product attack",
)
NO_REFERENCE = rf.Quote(
    "The scalar product score takes as input theta_{t+1}, theta_t and g_t* and outputs the scalar product <theta_{t+1} - theta_t, g_t*>.",
    "appendix D.3, related works",
)
ESTIMATED = {
    "at the expense of estimating the inverse of the covariance matrix well": "by azize-alg-4-estimated"
}
RESTRICTED = (
    SCALAR,
    rf.Quote(
        "Following the proof of Theorem 3.1, we show in Remark C.7 that the LR score l_n ~ (z* - mu)^T C_sigma^-1 (muhat_n - "
        "mu) - (1/2n) ||z* - mu||^2_{C_sigma^-1} asymptotically in n and d.",
        "section 3, after equation 5",
    ),
    rf.Quote(
        "The decrease in the power of the covariance attack compared to the LR attack depends on the accuracy of the estimators "
        "muhat_0 and C_0.",
        "section 3, empirical LR attack",
    ),
)

_MEAN = {"data": "gaussian", "tau": 2.0, "reference": "mean", "reading": TOGETHER} | _REST
RANDOM_PROBLEM = dict.fromkeys(("kinds", "root", "spread", "draw"), where_in("data", "random"))
PRINTED = Statement(
    name="azize-scalar-product",
    formula=r"\mathrm{Pow}(s_{\mathrm{cov}}, \alpha) \ge \mathrm{Pow}\left((z^* - z_{\mathrm{ref}})^T \hat\mu, \alpha\right)",
    uses=("azize-eq-5",),
    says="As n and d = tau n grow, the covariance attack is at least as strong as the scalar-product attack (z* - z_ref)' muhat.",
    fails=r"Judged is the score with known moments on the empirical mean, not algorithm 4 on gradients. With a single bound for the $(4 + \delta)$-th moments of all coordinates, and variances away from 0, it stands. Where each is finite, but fourth moments grow as 81 $4^j$, variances come of values that are too rare to occur: the covariance score, which divides by them, weighs these coordinates too little, and the scalar product is the stronger. With variances that are estimated from references, as in algorithm 4, such values are as rare among the references: nearly all weights are then equal, and the lead nearly vanishes; algorithm 4 itself is azize-alg-4-estimated.",
    instead=r"where standardised coordinates have bounded $(2 + \delta)$-th moments, as n and d grow",
    source="Azize & Basu, section 3 and appendix D.3",
    kind=rf.Limit("n", sizes=LARGE, bound=True, floor=LEAST_RATE, rate=too_rare_rate),
    domain=DOMAIN
    | {
        "data": rf.Choice(*NAMED, RANDOM, TOO_RARE, meaning="law of a coordinate"),
        "reference": rf.Choice(*REFERENCES, "random", meaning="the scalar product's reference point"),
        "reading": rf.Choice(EACH, TOGETHER),
    },
    where=visible,
    claimed=covariance_attack,
    truth=scalar_product,
    points=[
        *(case | {"reference": at, "reading": TOGETHER} for case in CASES for at in ("origin", "half")),
        _MEAN,
        rf.Point(
            {"data": TOO_RARE, "tau": 5.0, "reference": "origin", "reading": EACH} | _REST,
            name="values too rare to occur",
        ),
    ],
    control=rf.Control(_MEAN),
    quote=PROVABLY,
    not_judged=ESTIMATED,
    restricted_by=(*RESTRICTED, ASSUMES, SAMPLED_REFERENCE, NO_REFERENCE),
    second_route=too_rare_by_games,
    matters_when={**RANDOM_PROBLEM},
)

CORRECTED = PRINTED.corrected(
    says="As n and d = tau n grow, for data with independent coordinates, the covariance attack with known moments has at every fixed FPR at least the power of "
    "the scalar-product attack, for every reference point, fixed or sampled apart from the records, if for some delta > 0 the moments E|(Z_j - mu_j)/sigma_j|^(2 + delta) "
    "are bounded by a single number for all coordinates and sizes, all sigma_j > 0: the curves tend to g_mu with mu = w'(z* - mu)/sqrt(n w'Sigma w), uniformly in w "
    "(0 for w = 0, a constant score).",
    formula=r"\mu(w) = \frac{w^T (z^* - \mu)}{\sqrt{n \, w^T \Sigma w}} \le \sqrt{m^*}",
    domain={"data": DOMAIN["data"], "reading": rf.Fixed(TOGETHER)},
    control=PRINTED.control,
    derivation=(
        "(1) n w'(muhat - mu) is under H0 a sum of n d independent terms w_j sigma_j X_ij, X_ij = (Z_ij - mu_j)/sigma_j, of variance n v, "
        "v = w'Sigma w; under H1 a single row is replaced by the constant w'(z* - mu) and n - 1 rows remain. "
        "(2) Each weight is at most |w_j| sigma_j <= sqrt(v), so the Lyapunov ratio is at most M n sum_j (|w_j| sigma_j)^(2+delta) / (n v)^(1+delta/2) "
        "<= M n^(-delta/2) for delta <= 1, whatever w, z* and z_ref are: no condition on the target or on the largest weight is needed. By "
        "Lyapunov's theorem both distribution functions tend to normal ones, and uniformly in w, z* and z_ref: were their distance to stay above some "
        "eps along a sequence of these, the array of that sequence, whose Lyapunov ratios tend to 0, would contradict the theorem. (3) So the score at FPR alpha (randomised at ties, whose mass is "
        "at most twice that distance) has FNR Phi((Phi^-1(1 - alpha) - mu) sqrt(n/(n - 1))) + o(1) with mu = w'(z* - mu)/sqrt(n v), uniformly in w. "
        "(4) Cauchy and Schwarz: mu <= sqrt((1/n)||z* - mu||^2_{Sigma^-1}) = sqrt(m*), with equality for w = Sigma^-1 (z* - mu), the covariance score. "
        "A test of either side of the scalar product has mu or -mu, both <= sqrt(m*). (5) A reference point sampled apart from the records: "
        "at a single threshold for all, its FPRs and powers are averages over z_ref, and Phi(Phi^-1(a) + sqrt(m*)) is concave in a (Jensen). "
        "Without the bound, (2) fails: where an even coordinate j is +-3 2^j with probability 4^-j, and else +-1 as the odd ones are, all variances are near 10 or 1, but beyond the "
        "first log n coordinates nothing but +-1 occurs, and equal weights are the best: mu = sqrt(tau), where the covariance score has .774 of it. At finite n the "
        "covariance score is not the likelihood ratio, and again another may win."
    ),
)

CURVES = Statement(
    name="azize-scalar-product-curves",
    formula=r"\mu(w) = \frac{w^T (z^* - \mu)}{\sqrt{n \, w^T \Sigma w}} \le \sqrt{m^*}",
    says="For independent coordinates whose standardised (2 + delta)-th moments are bounded by a single number for all coordinates and sizes, all sigma_j > 0, known moments, and a reference point that is the same in "
    "all games, the curve of either attack, on its better side, tends to g_mu with mu = w'(z* - mu)/sqrt(n w'Sigma w) as n and d = tau n grow, w = Sigma^-1 (z* - mu) or z* - z_ref, not 0, with the sign that makes mu >= 0: of these mu the covariance attack has "
    "the largest, sqrt(m*). (So it is on every candidate z*, each with its own m*.)",
    source="Azize & Basu, section 3 and appendix D.3",
    kind=rf.Limit("n", sizes=LARGE, tolerance=0.001, floor=LEAST_RATE),
    domain=DOMAIN
    | {
        "score": rf.Choice(
            "covariance",
            *REFERENCES,
            "random",
            meaning="which score: the covariance score, or the scalar product with this reference point",
        )
    },
    where=visible,
    claimed=lambda **at: GaussianTradeOff(curve(**at).mu),
    truth=curve,
    points=[case | {"score": score} for case in CASES for score in ("covariance", "half")],
    control=rf.Control({"data": "gaussian", "tau": 2.0, "score": "half"} | _REST),
    quote=PROVABLY,
    not_judged=ESTIMATED,
    restricted_by=RESTRICTED,
    corrects=PRINTED.name,
    derivation="Steps (1) to (4) of azize-scalar-product-corrected. They hold for the weights of either score, uniformly, and the covariance score's make mu the largest.",
    matters_when=PRINTED.matters_when,
)


AT_N, IN_THE_LIMIT = "at every n", "as n grows, with d = n, half of the coordinates of each kind"


def pair(data: str, n: int, reading: str, **at: float) -> tuple[float, float, float]:
    """(FPR, power of the covariance attack, of the scalar product) for n rows of two coins; else the same of mu, of no FPR."""
    p, z, z_ref = two_coordinates(data, **at)
    if (data, reading) == ("Bernoulli", AT_N):
        return scalar_ahead(n, p, z, z_ref)
    away, variance = (z - p, p * (1.0 - p)) if data == "Bernoulli" else (z, p)
    rows = n if reading == AT_N else 2.0  # over how many coordinates of a kind there are
    mu = [abs(w @ away) / np.sqrt(rows * (w**2 @ variance)) for w in (away / variance, z - z_ref)]
    return np.nan, float(mu[0]), float(mu[1])


def pair_number(which: int, **at: Any) -> rf.Number:
    """Either of the two as a number."""
    result = pair(**at)
    if np.isfinite(result[0]):
        return rf.Number(result[which], unit="power", route="enumeration", detail=f"At FPR {result[0]:.4g}.")
    return rf.Number(result[which], unit="probit", route="normal law")


def is_decided(data: str, n: int, reading: str, **at: float) -> bool:
    """Whether neither score is constant; counts beyond 60 are not enumerated."""
    p, z, z_ref = two_coordinates(data, **at)
    return bool((z != z_ref).any() and (z != (p if data == "Bernoulli" else 0.0)).any()) and (
        n <= 60 or data == "Gaussian" or reading == IN_THE_LIMIT
    )


def pair_in_fractions(data: str, n: int, reading: str, **at: float) -> Replication:
    """All pairs of counts of ones in whole fractions, sorted by either score; the FPR is spent on the largest scores, on a tie by lot."""
    assert (data, reading) == ("Bernoulli", AT_N)
    alpha = Fraction(pair(data, n, reading, **at)[0])
    p, z, reference = ([Fraction(float(x)) for x in part] for part in two_coordinates(data, **at))

    def law(rows: int, j: int) -> list[Fraction]:
        return [comb(rows, k) * p[j] ** k * (1 - p[j]) ** (rows - k) for k in range(rows + 1)]

    out = [law(n, j) for j in (0, 1)]
    inside = [[Fraction(0)] * int(z[j]) + law(n - 1, j) + [Fraction(0)] * (1 - int(z[j])) for j in (0, 1)]
    powers = []
    for weight in (
        [(z[j] - p[j]) / (p[j] * (1 - p[j])) for j in (0, 1)],
        [z[j] - reference[j] for j in (0, 1)],
    ):
        levels: dict[Fraction, list[Fraction]] = {}
        for a, b in product(range(n + 1), repeat=2):
            level = levels.setdefault(weight[0] * a + weight[1] * b, [Fraction(0), Fraction(0)])
            level[0] += out[0][a] * out[1][b]
            level[1] += inside[0][a] * inside[1][b]
        left, power = alpha, Fraction(0)
        for score in sorted(levels, reverse=True):
            spent = min(left, levels[score][0])
            power += levels[score][1] * (spent / levels[score][0] if levels[score][0] else 1)
            left -= spent
            if not left:
                break
        powers.append(float(power))
    what = f"power at FPR {float(alpha):.4g}, scalar product less covariance attack"
    return Replication(
        *near(powers[1] - powers[0]), what=what, how="all counts in whole fractions", claim=0.0
    )


_SMALL = {"n": 4, "p_1": 0.05, "p_2": 0.1, "target_1": 0.999, "target_2": 0.999, "reference_1": 0.0, "reference_2": 0.0, "reading": AT_N}  # fmt: skip

FINITE = Statement(
    name="azize-scalar-product-finite", formula=r"\mathrm{Pow}(s_{\mathrm{cov}}, \alpha) \ge \mathrm{Pow}\left((z^* - z_{\mathrm{ref}})^T \hat\mu, \alpha\right)",
    says="At every n and d, the covariance attack is at least as strong as the scalar-product attack (z* - z_ref)' muhat.",
    fails="Judged are known moments of the empirical mean at d = 2, not algorithm 4 on gradients. The theory is asymptotic, and in the limit, with bounded standardised moments, it stands. At a finite size the covariance score is not the likelihood ratio, and the scalar product may order some outputs better, by less and less as n grows where the distribution of the data stays the same. At the FPR that is shown the scalar product splits no tie; the covariance attack may, by a coin; at the next corner with 10 records, FPR 0.1354, it is the scalar product that is behind, by 0.132, and by up to 0.235 at others.",
    instead=r"at every n for Gaussian data; in the limit where standardised coordinates have bounded $(2 + \delta)$-th moments (azize-scalar-product-corrected)",
    source="Azize & Basu, appendix D.3",
    kind=rf.Ordering(),
    domain={
        "data": rf.Choice("Bernoulli", "Gaussian", meaning="law of a coordinate"),
        "n": rf.Whole(2, inf, log=True, hunt_to=50, meaning="records in the data set"),
        **{f"p_{j}": rf.Real(0.02, 0.98, meaning=f"Bernoulli: probability of a 1 in coordinate {j}, Gaussian: its variance") for j in (1, 2)},
        **{f"target_{j}": rf.Real(0.001, 0.999, meaning=f"quantile of the target's coordinate {j}") for j in (1, 2)},
        **{f"reference_{j}": rf.Real(-1.0, 2.0, meaning=f"the reference point's coordinate {j}") for j in (1, 2)},
        "reading": rf.Choice(AT_N, IN_THE_LIMIT),
    },
    where=is_decided,
    claimed=lambda **at: pair_number(1, **at),
    truth=lambda **at: pair_number(2, **at),
    points=[
        rf.Point({"data": "Bernoulli"} | _SMALL | {"n": 10, "p_1": 0.03}, "10 records", "lead"),
        {"data": "Bernoulli"} | _SMALL | {"n": 20},
        {"data": "Bernoulli"} | _SMALL,
        {"data": "Bernoulli"} | _SMALL | {"n": 40, "p_1": 0.3, "p_2": 0.5},
        {"data": "Gaussian"} | _SMALL,
        {"data": "Gaussian"} | _SMALL | {"p_2": 0.05},
        *({"data": "Bernoulli"} | _SMALL | {"p_1": p, "reading": IN_THE_LIMIT} for p in (0.03, 0.5)),
        {"data": "Gaussian"} | _SMALL | {"n": 2, "p_2": 0.9, "target_2": 0.3, "reference_1": 0.5, "reference_2": 0.5},
        # From hunts.
        {"data": "Bernoulli", "n": 2, "p_1": 0.96, "p_2": 0.98, "target_1": 0.001, "target_2": 0.001, "reference_1": 1.0, "reference_2": 1.0, "reading": AT_N},
    ],
    # Of equal variances the two scores are equal.
    control=rf.Control({"data": "Gaussian"} | _SMALL | {"p_2": 0.05}),
    quote=PROVABLY,
    not_judged=ESTIMATED,
    restricted_by=(SCALAR, ASYMPTOTIC),
    second_route=pair_in_fractions,
    matters_when={"n": where_in("reading", AT_N)},
)  # fmt: skip

FINITE_CORRECTED = FINITE.corrected(
    uses=("azize-alg-4-corrected",),
    says="At every n >= 2 and d, for Gaussian data with independent coordinates, known moments, a z_ref that is the same in all games, and z* not the mean and not z_ref (where a score is constant), the covariance "
    "attack has at every FPR at least the power of the scalar product.",
    domain={"data": rf.Fixed("Gaussian"), "reading": rf.Fixed(AT_N)},
    control=FINITE.control,
    derivation=(
        "Such a score w'(muhat - mu) is normal in both worlds, with FNR Phi((Phi^-1(1 - alpha) - mu_w) sqrt(n/(n - 1))), mu_w = w'(z* - mu)/sqrt(n w'Sigma w), exactly; it falls with "
        "mu_w, and by Cauchy and Schwarz |mu_w| <= sqrt(m*), with equality at w = Sigma^-1 (z* - mu). A test of the other side has -mu_w. See azize-alg-4-corrected, where the covariance "
        "matrix is any. A z_ref that is sampled anew is not covered: Phi(sqrt(n/(n - 1)) (Phi^-1(a) + mu)) is not concave at small a, so that a single threshold on the scores of all "
        "references may win: at n = 2, d = 1, sqrt(m*) = .07 and FPR .001 a threshold that half of them can pass has 1.8 times the power. Other data: at finite n the covariance score is not the likelihood ratio, and another linear score may win."
    ),
    needs={
        "z* not the mean and not z_ref (where a score is constant)": {
            "held": {"target_1": 0.5, "target_2": 0.5}
        }
    },
)

STATEMENTS = (PRINTED, CORRECTED, CURVES, FINITE, FINITE_CORRECTED)
"""In the limit, for moments that are only finite and for bounded ones; at every n."""
