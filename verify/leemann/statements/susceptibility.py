"""The gradient susceptibility K and the attack: remark 5.1 and algorithm 1."""

import numpy as np

from mipsim import referee as rf
from mipsim.special import noncentral_chi_square as ncx2
from mipsim.theory import leemann
from verify.leemann.checks.draws import sampled_k, sampled_p_values
from verify.leemann.laws.problems import BERNOULLI, COMPONENTS, MIXTURE, kurtosis, mean_of_k, transform_of_k
from verify.leemann.statements import quotes
from verify.statement import Statement, nowhere, where_in


def spread_of_k(components: str, p: float, deviation: float, d: int) -> rf.Number:
    """The standard deviation of K = sum of t_j^2, which has variance d (kurtosis - 1), over that of chi2_d."""
    result = kurtosis(components, p, deviation)
    text = f"kurtosis {result:.3g}: K has variance {d * (result - 1):.3g}, chi2_d has {2 * d}."
    return rf.Number(((result - 1.0) / 2.0) ** 0.5, route="exact moments", detail=text)


_HALF = {"p": 0.5, "deviation": 1.0}
_COMPONENTS = rf.grid(_HALF, components=COMPONENTS) + rf.grid(_HALF, components=BERNOULLI, p=(0.5, 0.05))

REMARK_5_1 = Statement(
    name="leemann-rem-5.1",
    formula=r"K \sim \chi^2_d",
    uses=("leemann-thm-5.1", "leemann-cor-5.1"),
    unreached={"leemann-thm-5.1": lambda: True},  # of a mean of 0 both definitions of K agree
    says="With independent components of Sigma^-1/2 theta', K ~ chi2_d; thus K = O(d) and, without noise, mu_step = "
    "O(sqrt(d/n)).",
    fails="The spread of a sum of squares depends on the fourth moments of its terms: independent components that are not Gaussian need not have the chi-square distribution. What the remark concludes from it, K in O(d) and mu in O($\\sqrt{d / n}$), holds in probability for all centred gradients with a regular covariance, independent or not, since E[K] = d; with independent components of bounded kurtoses K/d even tends to 1. The example has d = 5; the ratio is the same at every d.",
    instead="$E[K] = d$, $K / d \\to 1$ for centred K",
    # Two laws with different standard deviations are two laws.
    kind=rf.Equality(unit="sd(K) / sd(chi2_d)"),
    domain={
        "components": rf.Choice(
            *COMPONENTS, BERNOULLI, MIXTURE, meaning="law of the components of Sigma^-1/2 theta'"
        ),
        "p": rf.Real(0.01, 0.99, meaning="probability of the Bernoulli value, or of the second normal"),
        "deviation": rf.Real(
            0.1,
            np.inf,
            log=True,
            hunt_to=5.0,
            meaning="standard deviation of the second of the two normals, that of the first is 1",
        ),
        "d": rf.Whole(1, np.inf, log=True, hunt_to=1e6, meaning="dimension of the gradients"),
    },
    claimed=lambda: 1.0,
    truth=spread_of_k,
    points=[
        *[at for law in _COMPONENTS for at in rf.grid(law, d=(5, 500))],
        # From hunts.
        _HALF | {"components": "exponential", "d": 1},
    ],
    control=rf.Control({"components": "Gaussian", "d": 5} | _HALF),
    quote=quotes.REMARK_5_1,
    not_judged={
        "thus K ∈ O(d)": "an order without a constant: E[K] = d holds for the centred K, so that K is in O(d) in probability; where K/d tends to 1, see leemann-rem-5.1-corrected",
        "we obtain μ ∈ O(sqrt(d/n))": "an order without a constant: it follows from K = O(d) by equation 9, see leemann-rem-5.1-corrected",
    },
    restricted_by=(quotes.CENTRED_K,),
    second_route=sampled_k,
    restored_by=("the components are Gaussian", lambda components: components == "Gaussian"),
    matters_when={
        "p": where_in("components", BERNOULLI, MIXTURE),
        "deviation": where_in("components", MIXTURE),
        "d": nowhere,
    },
)


def mu_of_a_random_k(components: str, p: float, deviation: float, d: int, power: float, away: float) -> float:
    """Equation 9 over sqrt(d/n), n = d^power, at a K so many standard deviations from d."""
    k = max(0.5 * d, d + away * (d * (kurtosis(components, p, deviation) - 1.0)) ** 0.5)
    return leemann.step_mu(d, d**power, k) / (d / d**power) ** 0.5


REMARK_5_1_CORRECTED = REMARK_5_1.corrected(
    uses=("leemann-thm-5.1-corrected", "leemann-cor-5.1-normal"),
    formula=r"E[K] = d, \quad K / d \to 1",
    says="For every law of the gradients with a regular covariance E[K] = d, K centred. With independent components of Sigma^-1/2 "
    "(theta' - mu) whose squares are uniformly integrable over components and d (bounded kurtoses do), K/d tends to 1 in "
    "probability as d grows, and, without noise, mu_step / sqrt(d/n) to 1 as d and n grow, however they do. K ~ chi2_d if "
    "they are Gaussian as well.",
    kind=rf.Limit("d", sizes=tuple(6400 * 4**k for k in range(9)), unit="mu_step / sqrt(d/n)"),
    domain={
        "d": rf.Whole(100, np.inf, log=True, hunt_to=6400 * 4**8),
        "power": rf.Real(0.3, np.inf, hunt_to=3.0, meaning="n = d^power"),  # n = d^power
        # K in standard deviations from d
        "away": rf.Real(-3.0, 3.0, meaning="how many standard deviations K is from d"),
    },
    claimed=lambda: 1.0,
    truth=mu_of_a_random_k,
    points=[at for law in _COMPONENTS for at in rf.grid(law, power=(0.6, 1.0, 1.5), away=(-3.0, 3.0))],
    control=rf.Control({"components": "uniform", "power": 1.0, "away": 3.0} | _HALF),
    derivation=(
        "E[K] = tr(Sigma^-1 Sigma) = d. With independent components t_j of mean 0 and variance 1, K = sum t_j^2, and K/d tends to 1 in "
        "probability by the weak law for triangular arrays of uniformly integrable variables (truncate t_j^2 at d a_d, a_d slowly to "
        "0; Chebyshev for the truncated part, whose variance is at most a_d d^2, and uniform integrability for the rest). With "
        "kurtoses of at most k it is Chebyshev at once: var(K)/d^2 <= (k - 1)/d. Uniformity is needed: components that are Bernoulli(1/d) have "
        "K/d near a Poisson(1) variable. Finite fourth moments of each component do not suffice. With K = q d, equation 9 is sqrt(d/n) (1 + "
        "(2n - 1) q) / sqrt(2n (1 + 2nq)), and the last factor tends to sqrt(q) as n grows, uniformly for q near 1. Of Gaussian components K is "
        "chi2_d by definition."
    ),
    matters_when={**REMARK_5_1.matters_when, "d": lambda **_: True},
)


MEAN, TRANSFORM = "E[K] = d, Bernoulli components", "K ~ chi2_d, Gaussian components"
_MEAN, _TRANSFORM = {"part": MEAN, "at": 1.0}, {"part": TRANSFORM, "d": 1, "draw": 0}

EXPECTED_K = Statement(
    name="leemann-rem-5.1-mean", formula=r"E[K] = d",
    says="E[K] = d, K centred, for independent components of any law with positive finite variances; K ~ chi2_d for Gaussian ones (by its Laplace transform, which "
    "determines the law). (Judged for Bernoulli components, d <= 8, and for a Gaussian component.)",
    kind=rf.Equality(1e-8, unit="E[K] / d"),
    domain={
        "part": rf.Choice(MEAN, TRANSFORM, meaning="what is judged"),
        "d": rf.Whole(1, np.inf, hunt_to=8, meaning="dimension of the gradients"),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
        "at": rf.Real(0.01, np.inf, log=True, hunt_to=100.0, meaning="argument of the Laplace transform of K"),
    },
    where=lambda part, d, draw: part == MEAN or (d, draw) == (1, 0),
    claimed=lambda part, at: 1.0 if part == MEAN else rf.Number((1 + 2 * at) ** -0.5, unit="Laplace transform of K"),
    truth=lambda part, d, draw, at: rf.Number(mean_of_k(d, draw), route="enumeration")
    if part == MEAN
    else rf.Number(transform_of_k(at), unit="Laplace transform of K", route="lattice sum"),
    points=[
        *rf.rows(_MEAN, "d draw", (1, 0), (3, 1), (6, 2), (8, 3)),
        *rf.grid(_TRANSFORM, at=(0.01, 0.1, 1.0, 10.0, 100.0)),
    ],
    control=rf.Control(_TRANSFORM | {"at": 1.0}),
    quote=quotes.REMARK_5_1,
    not_judged=REMARK_5_1.not_judged,
    corrects=REMARK_5_1.name,
    derivation=(
        "E[K] = tr(Sigma^-1 Sigma) = d for the centred gradients, whatever their law: judged by enumerating Bernoulli components. Of Gaussian "
        "components K is a sum of d independent squares of N(0, 1), which is chi2_d by definition; its Laplace transform at s is "
        "(1 + 2s)^(-d/2), and a Laplace transform determines the law."
    ),
    matters_when={"d": nowhere, "draw": nowhere, "at": where_in("part", TRANSFORM)},
)  # fmt: skip

PRINTED, MEANT = "p = log F^-1(S), as printed", "p = log F(S)"


def share_below(d: int, n: int, k: float, level: float, rows: float) -> rf.Number:
    """P0(p <= level) for p = F_{chi2_d(nK)}( rows (m - theta)' Sigma^-1 (m - theta) ), with known moments."""
    # Under H0 n (m - theta)' Sigma^-1 (m - theta) is chi2_d(nK), whatever the statistic is multiplied by.
    reached = ncx2.cdf(ncx2.ppf(level, d, n * k) * n / rows, d, n * k)
    return rf.Number(float(reached), route="exact law")


def printed_share(reading: str, d: int, n: int, k: float, level: float) -> rf.Number:
    """That of n - 1 rows; for F^-1 as printed the share of H0 on which it has no value, S being far above 1."""
    if reading == MEANT:
        return share_below(d, n, k, level, n - 1)
    return rf.Number(
        float(ncx2.sf(n / (n - 1.0), d, n * k)),
        unit="P0(F^-1(S) has no value)",
        route="exact law",
        detail="A quantile function takes levels in [0, 1]; S is above 1 with this probability.",
    )


_SETTINGS = rf.rows({}, "d n k", (1, 10, 1.0), (1, 2, 0.5), (5, 20, 5.0), (650, 500, 650.0), (650, 500, 0.0))

ALGORITHM_1 = Statement(
    name="leemann-alg-1", formula=r"S = (n - 1) (m - \theta)^T \Sigma^{-1} (m - \theta), \quad p_{\mathrm{step}} = \log F^{-1}_{\chi^2_d(n K)}(S)",
    uses=("leemann-thm-5.1",),
    unreached={"leemann-thm-5.1": lambda: True},  # K is centred
    says="GLiR: with S = (n-1)(m - theta)' Sigma^-1 (m - theta), p_step = log F^-1_{chi2_d(nK)}(S) is the log p-value under H0.",
    fails="$F^{-1}$ is printed for F, and n - 1 for n: the statistic is then no p-value. Equation 8 takes $F^{-1}$ of the level and has the factor n under H0. With F and either factor the attack of a single step orders the outputs of a target in the same way; the level of a threshold changes, and the order of sums over steps, which need not be worse. The factor moves the statistic by about $\\sqrt{K/n}/2$ of its standard deviation, so that at the sizes of figure 2 in the authors' public code P0(p <= 0.1) is 0.22 to 0.24; this fades only as K/n tends to 0. The authors' public code has log F, and the factor n - 1 too.",
    instead=r"$\log F(n\,\cdot)$",
    kind=rf.Equality(1e-8, unit="P0(p <= a)"),
    domain={
        "reading": rf.Choice(PRINTED, MEANT),
        "d": rf.Whole(1, np.inf, log=True, hunt_to=1e4, meaning="dimension of the gradients"),
        "n": rf.Whole(2, np.inf, log=True, hunt_to=1e4, meaning="records in a batch"),
        "k": rf.Real(0.0, np.inf, hunt_to=1e4, meaning="susceptibility K of the target's gradient"),
        "level": rf.Real(1e-4, 0.9999, meaning="level of the test"),
    },
    claimed=lambda reading, level: level if reading == MEANT else rf.Number(0.0, unit="P0(F^-1(S) has no value)"),
    truth=printed_share,
    points=[
        *(
            rf.Point(at | {"reading": PRINTED, "level": 0.1}, setting="lead" if at["d"] == 5 else "")
            for at in _SETTINGS
        ),
        *(at | {"reading": MEANT, "level": level} for at in _SETTINGS for level in (0.01, 0.1, 0.5)),
        # From hunts.
        {"reading": PRINTED, "d": 1, "n": 2, "k": 0.0, "level": 0.5},
    ],
    control=rf.Control(_SETTINGS[2] | {"reading": MEANT, "level": 0.1}),
    quote=quotes.ALGORITHM_1,
    restricted_by=(quotes.NOISY_MOMENTS, quotes.P_VALUE, quotes.SKETCH),
    slip=(quotes.ALGORITHM_1, quotes.THEOREM_5_1),
    second_route=lambda reading, d, n, k, level: sampled_p_values(d, n, k, level, reading == PRINTED),
    matters_when={
        "level": where_in("reading", MEANT),
        "d": lambda reading, n, k: reading == MEANT or bool(ncx2.sf(n / (n - 1.0), 1, n * k) < 1.0 - 1e-10),
    },
)  # fmt: skip

ALGORITHM_1_CORRECTED = ALGORITHM_1.corrected(
    says="GLiR: with S = n (m - theta)' Sigma^-1 (m - theta), p_step = log F_{chi2_d(nK)}(S) is the log p-value under H0, for Gaussian "
    "gradients with known moments, tau = 0, given the target.",
    formula=r"S = n (m - \theta)^T \Sigma^{-1} (m - \theta), \quad p_{\mathrm{step}} = \log F_{\chi^2_d(n K)}(S)",
    domain={"reading": rf.Fixed(MEANT)},
    claimed=lambda level: level,
    truth=lambda d, n, k, level: share_below(d, n, k, level, n),
    restricted_by=(),
    slip=None,
    derivation=(
        "Under H0 m - theta is N(mu - theta, Sigma/n), so that n (m - theta)' Sigma^-1 (m - theta) is chi2_d with "
        "noncentrality nK, K = |Sigma^-1/2 (theta - mu)|^2, for every n and d; its distribution function of it is uniform, and small where m lies "
        "near theta, as it does under H1. F^-1 takes levels, not values of the statistic, and the comment of the line asks for a "
        "p-value. The factor n - 1 belongs to no law of the statistic: under H1 the factor is n^2/(n-1). A single step's attack is the same "
        "with any of these (all are increasing in S); the p-value, and the sum over steps, are not."
    ),
    matters_when={**ALGORITHM_1.matters_when, **dict.fromkeys(("d", "n", "k"), nowhere)},
)

STATEMENTS = (REMARK_5_1, REMARK_5_1_CORRECTED, EXPECTED_K, ALGORITHM_1, ALGORITHM_1_CORRECTED)
