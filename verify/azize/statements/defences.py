"""Noise and sub-sampling: theorems 4.1 and 4.2 and their corrections."""

from dataclasses import replace
from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.theory import azize
from mipsim.tradeoff import AbstractTradeOff, MixtureTradeOff
from verify.azize.checks.drawn_means import by_columns
from verify.azize.laws.mean_families import MeanProblem, leakage, mean_tradeoff
from verify.azize.statements.conditions import MEAN, REGULAR
from verify.azize.statements.mean import DOMAIN, PAPER, POWER, REGULAR_POINTS, RESTRICTED, searched, sizes

NOISY = (
    "Noisy mean (1/n) sum Z_i + N(0, Sigma_gamma)/sqrt(n): theorem 3.1 holds with "
    "m = (1/n) ||z* - mu||^2_{(Sigma + Sigma_gamma)^-1}."
)
_NOISE_QUOTE = rf.Quote(
    "The asymptotic trade-off function, achievable with threshold tau_alpha = -m/2 + sqrt(m) Phi^-1(1 - alpha), is "
    "lim_{n,d} Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m)), m = lim (1/n) ||z* - mu||^2_{(C_sigma + C_gamma)^-1}.",
    "theorem 4.1, equation 9",
)

_SUB_QUOTE = rf.Quote(
    "The asymptotic trade-off function, achievable with threshold tau_alpha = -rho m*/2 + sqrt(rho m*) Phi^-1(1 - alpha), is "
    "lim_{n,d} Pow_n(l_{n,rho}^sub, alpha, z*) = Phi(z_alpha + sqrt(rho m*)).",
    "theorem 4.2, equation 10",
)


_COIN = 0.24**0.5
NOISE = rf.Statement(
    name="azize-thm-4.1",
    uses=("azize-thm-3.1-power",),
    says=NOISY,
    source="Azize & Basu, theorem 4.1",
    kind=POWER.kind,
    domain={name: DOMAIN[name] for name in ("target", "p", "width", "t", "u", "tau", "n")}
    | {
        "data": rf.Choice("Bernoulli", "Gaussian"),
        # Weaker noise makes cells of a tenth of it, more than are at hand.
        "gamma": rf.Real(0.25, np.inf, log=True, hunt_to=4.0),
        # gamma_j = 1/j at j = 100, 200, 400, ..., on fair coins with target 1/2.
        "extra": rf.Choice("none", "faint noise"),
    },
    # The tables of noisy counts at more rows are larger than is at hand.
    where=lambda **at: searched(**at) and (at["data"] == "Gaussian" or MeanProblem.of(at).sizes[-1] <= 12_000),
    claimed=POWER.claimed,
    truth=POWER.truth,
    points=[
        rf.Point({key: at[key] for key in ("target", "p", "width", "t", "u", "tau", "data", "gamma", "extra")}, name, setting)
        for name, setting, at in (
            ("paper-easy", "paper", dict(PAPER[0].at) | {"gamma": 1.0}),
            ("bernoulli-typical", "", vars(MeanProblem("Bernoulli", gamma=1.0))),
            *(
                (f"bernoulli-off-support, gamma = {gamma:g}", "", vars(MeanProblem("Bernoulli", "off the support", p=0.4, t=0.1 / _COIN, u=-1.1 / _COIN, gamma=gamma)))
                for gamma in (0.5, 1.0)
            ),
            *((f"gaussian, gamma = {gamma:g}", "", vars(MeanProblem("Gaussian", t=0.5, u=-1.5, tau=0.4, gamma=gamma))) for gamma in (0.25, 1.0)),
            ("fading noise", "", vars(MeanProblem("Gaussian", t=0.5, u=-1.5, tau=0.4, gamma=1.0, extra="faint noise"))),
        )
    ],
    control=None,
    quote=_NOISE_QUOTE,
    not_judged={
        "achievable with threshold tau_alpha = -m/2 + sqrt(m) Phi^-1(1 - alpha)": "where l_n has the limits of lemma C.6 with m, as under the correction, this is azize-thm-3.1-threshold; no other law is judged",
    },
    restricted_by=RESTRICTED,
    second_route=by_columns,
)  # fmt: skip
NOISE = replace(NOISE, control=rf.Control(NOISE.points[4].at, 0.05))


def drawn_rows(n: int, rho: float) -> int:
    """How many of n rows are drawn; their share is what the formulas are asked for, and tends to rho."""
    return max(1, round(rho * n))


def formula(printed: bool, n: int, rho: float, **at: Any) -> AbstractTradeOff:
    """The printed or the corrected curve."""
    rows = drawn_rows(n, rho)
    m = leakage(MeanProblem.of(at), rows, n) * rows / n  # of the mean of all n rows
    curve = azize.subsampled_tradeoff_printed if printed else azize.subsampled_tradeoff_corrected
    return curve(m, rows / n)


def subsampled(n: int, rho: float, **at: Any) -> MixtureTradeOff:
    """The optimal curve of the mean of rows drawn without replacement."""
    rows = drawn_rows(n, rho)
    return MixtureTradeOff(mean_tradeoff(MeanProblem.of(at), rows, n), rows / n)


_NAMED = {item.name: item for item in REGULAR_POINTS}
SUBSAMPLE = rf.Statement(
    name="azize-thm-4.2",
    uses=("azize-thm-3.1-power",),
    says="Mean of k = rho n rows drawn without replacement: theorem 3.1 with rho m*, i.e. power Phi(z_alpha + sqrt(rho m*)).",
    source="Azize & Basu, theorem 4.2",
    # So many rows that the drawn ones are about as many as theorem 3.1 is judged with.
    kind=rf.Limit("n", sizes=lambda rho, **at: [int(np.ceil(sizes(**at)[0] / rho)) * 2**k for k in range(10)]),
    # What fails for all rows fails for k: the data are those of the correction of theorem 3.1.
    domain=DOMAIN
    | {
        "rho": rf.Real(0.05, 1.0),
        "data": rf.Choice("Bernoulli", "Gaussian", "gamma", "mixed"),
        "target": rf.Choice("typical", "easiest", "hardest"),
        "extra": rf.Fixed("none"),
        "rate": rf.Fixed(1.0),
    },
    where=lambda rho, **at: rho < 1.0 and searched(**at),
    claimed=lambda **at: formula(True, **at),
    truth=subsampled,
    points=[
        rf.Point(dict(one.at) | {"rho": rho}, f"{one.name}, rho = {rho:g}", one.setting)
        for one, shares in ((PAPER[0], (0.1, 0.5)), *((single, (0.5, 0.9)) for single in (PAPER[2], _NAMED["gaussian"], _NAMED["exponential"])))
        for rho in shares
    ],
    control=rf.Control(dict(PAPER[2].at) | {"rho": 0.9}),
    quote=_SUB_QUOTE,
    not_judged={
        "achievable with threshold tau_alpha = -rho m*/2 + sqrt(rho m*) Phi^-1(1 - alpha)": "false with the formula: thresholds of the ratio have levels and powers on the curve of the best tests, on which the printed pair does not lie",
    },
    restricted_by=RESTRICTED,
    second_route=by_columns,
)  # fmt: skip

STATEMENTS = (
    NOISE,
    NOISE.corrected(
        says=NOISY
        + " Where the coordinates are independent, Sigma_gamma is diagonal, gamma_j / sigma_j >= c > 0 and the standardised (4 + delta)-th moments are bounded, both for all coordinates and "
        "sizes, d/n is bounded and m tends to a limit (> 0 where a threshold is named); for every target, on the support or off, "
        "and whatever the shape of the data.",
        where=lambda **at: at["extra"] == "none" and NOISE.call("where", at),
        control=NOISE.control,
        derivation=(
            "Give each record its share of the noise: Z + gamma N. Its standardised law X has E|X|^(4 + delta) bounded, since those "
            "of Z and N are, and it has itself a density, at most sqrt(1 + 1/c^2)/sqrt(2 pi). So every coordinate is of kind (D) of "
            "the correction of theorem 3.1 with N = 1, for every target, but that the replaced record too carries its noise: the q of "
            "(ii) and (iii) is convolved with one more normal law, of variance c_j^2/n, c_j^2 = gamma_j^2/(sigma_j^2 + gamma_j^2) <= 1. That "
            "makes r^2 = 1 - (1 - c_j^2)/n, moves the polynomials by O(1/n) and raises no error bound. The theorem follows with the variances sigma_j^2 + gamma_j^2. Noise that fades "
            "over the coordinates leaves their lattices visible: with D_j = Bernoulli(1/2), gamma_j = 1/j and z_j = 1/2, m = 0, yet the "
            "sum of coordinate n lies within about 1/sqrt(n) of a whole number or of a half. " + MEAN
        ),
    ),
    SUBSAMPLE,
    SUBSAMPLE.corrected(
        says="Mean of k = rho n rows drawn without replacement, rho in (0, 1) fixed as n grows: the optimal power, with ties decided by lot, tends to "
        f"rho Phi(z_alpha + sqrt(m*/rho)) + (1 - rho) alpha. Where {REGULAR}.",
        claimed=lambda **at: formula(False, **at),
        control=rf.Control(SUBSAMPLE.points[-2].at, 0.05),
        derivation=(
            "One coin decides for all coordinates together whether the target is among the k rows. If it is not, the output is "
            "k independent rows, as under H0; so H1 is (1 - rho) P_k + rho Q_k with the worlds P_k and Q_k of the mean of k rows, a "
            "mixture of two product laws and not, as in the printed proof, a product of mixtures. The ratio (1 - rho) + rho L_k "
            "increases with L_k, so at every n the optimal tests are those of L_k, with power rho (1 - beta_k) + (1 - rho) alpha. "
            "beta_k is that of theorem 3.1 with k rows and leakage ||z* - mu||^2/k = m*/rho, d/k bounded. "
            + MEAN
        ),
    ),
)
"""Noise and sub-sampling, printed and corrected."""

SAMPLES = {one.name: (3, 3, 40) if one.corrects else (0, 0, 0) for one in STATEMENTS}
