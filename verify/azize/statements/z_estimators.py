"""Z-estimators: the covariance score by influence functions, as printed and corrected, by laws with proven errors."""

from dataclasses import replace
from math import exp, expm1, inf, pi
from typing import Any

from scipy.special import ndtr

from mipsim import GaussianTradeOff
from mipsim import referee as rf
from mipsim.referee import Draws, Replication
from mipsim.theory import azize
from mipsim.tradeoff import PiecewiseLinearTradeOff
from verify.azize.laws.z_problems import (
    BLOCKS,
    PROBLEMS,
    RATIOS,
    GrowingCurve,
    Problem,
    by_literal_columns,
    by_literal_match,
    by_normal_law,
    curve_of,
    growing_by_games,
    logistic_problem,
    problem_of,
    ratio_below,
    revealing_power,
)
from verify.statement import Statement, where_in

LEAD, RANDOM, TYPICAL, GROWING = (
    "mean, mean not 0",
    "random",
    "median, typical target",
    "least squares, p = n/2 in one regression",
)
READINGS = {
    "V the derivative of E psi, as printed": "printed",
    "V minus the derivative of E psi": "printed, V reversed",
}
LEAST_RATE, LEAST_RATE_LOGISTIC = 1e-3, 1e-2
"""FPR and FNR that are judged. At rarer ones the proven error of the normal law, in probits, is no longer small beside the tolerance."""
RESIDUAL, ALPHA = 1.5, 0.1


def sizes(problem: str) -> tuple[int, ...]:
    """Odd, so that the median is a single record; the proven error of the normal law, up to n^-1/2, asks for this many."""
    if problem == GROWING:
        return tuple(100 * 2**k for k in range(9))
    if problem == TYPICAL:
        return tuple(10**4 * 4**k + 1 for k in range(6))
    return tuple(10**6 * 2**k + 2**k - 1 for k in range(1, 11))


def matching(power: float) -> PiecewiseLinearTradeOff:
    """The curve of an attack of FPR 0 and this power."""
    return PiecewiseLinearTradeOff([0.0, 1.0], [1.0 - power, 0.0])


def problem_at(**at: Any) -> Problem:
    """The problem of a point."""
    if "theta_1" in at:
        return logistic_problem(at["theta_1"], at["theta_2"], at["agrees_1"], at["agrees_2"])
    return problem_of(at["problem"], at["kinds"], at["root"], at["draw"])


def claimed(**at: Any) -> GaussianTradeOff | rf.Number:
    """G_sqrt(m); the power of a single wide regression."""
    problem = at.get("problem")
    if problem == GROWING:
        return rf.Number(float(azize.power(ALPHA, RESIDUAL**2 / 2)), unit="power")
    return GaussianTradeOff(1.0 if problem == TYPICAL else problem_at(**at).leakage() ** 0.5)


def truth(reading: str, n: int, **at: Any) -> object:
    """The curve of the score with its proven bracket; of the match with a released number; the power of a single wide regression."""
    problem = at.get("problem")
    if problem == TYPICAL:
        return matching(revealing_power(n, 1.0)[0])
    if problem == GROWING:
        low, high = GrowingCurve(n, n // 2, RESIDUAL).power_at(ALPHA)
        route = "exact law, chi-square mixture in bracketed cells"
        return rf.Number((low + high) / 2, error=(high - low) / 2, unit="power", route=route)
    return curve_of(problem_at(**at), n, READINGS.get(reading, reading))


def least_power(problem: str = "") -> rf.Ceiling | None:
    """Of typical medians, d = n = 2k + 1: with FPR 0 a released median is the target's number with probability 1 - prod(1 - p_j)."""
    if problem != TYPICAL:
        return None
    start = sizes(problem)[0]
    power = -expm1(1.0 / (pi * (start // 2)) ** 0.5 - 1.0)
    source = (
        "P(Binomial(2k, v) = k) rises and falls in v once, with the integral 1/(2k + 1) and a largest value of at most 1/sqrt(pi k): its sum over d = n evenly spread "
        "v_j is at least 1 - 1/sqrt(pi k), and the power at least 1 - exp(-the sum)"
    )
    return rf.Ceiling(matching(power), below=True, start=start, source=source)


def rate(reading: str, problem: str = "", **_: Any) -> rf.Rate | None:
    """How fast the curve of a weighted sum of normal means tends to that of its mu.

    The score is normal out and in, with variances as n and n - 1: |Phi(u s) - Phi(u)| <= 1/(4n) for s^2 = n/(n - 1), n >= 100. Half of d = n coordinates
    is a whole number up to 1/2, which moves mu = A/sqrt(B) by at most (a/sqrt(B) + mu/2)/n, a the mean of the terms of A in size, and error rates by 0.4 times that.
    """
    if not problem.startswith("mean") or reading not in READINGS:
        return None
    item = problem_of(problem)
    terms = [(p.weight(READINGS[reading]), p.influence, p.sigma) for p in item.pieces]
    moves, variance = (
        [w * shift for w, shift, _ in terms],
        sum(w * w * sigma for w, _, sigma in terms) / len(terms),
    )
    mu = sum(moves) / len(terms) / variance**0.5
    constant = 0.25 + 0.4 * (sum(map(abs, moves)) / len(terms) / variance**0.5 + abs(mu))
    source = "normal records have a normal mean, of variance n in one world and n - 1 in the other"
    return rf.Rate(constant, 1.0, limit=GaussianTradeOff(mu), start=100, source=source)


def by_games(reading: str, **at: Any) -> Draws | Replication:
    """Literal games of a small size."""
    if at.get("problem") == GROWING:
        return growing_by_games().power(ALPHA)
    if at.get("problem") == TYPICAL:
        return by_literal_match()
    return by_literal_columns(problem_at(**at), READINGS[reading])


MEANING = (
    "estimator, data and target, half of the d = n coordinates of each kind (2 n of the skewed median): "
    + "; ".join(f"{name}: {item.words}" for name, item in PROBLEMS.items())
)
SIGNED = ("median, skewed", "least squares, slope not 0", RANDOM)
"""Problems in which the sign of V changes the printed score's curve: theta0 is subtracted in both readings."""
_REST = {"kinds": 1, "root": 1.0, "draw": 0}
DOMAIN = {
    "kinds": rf.Whole(1, 4, meaning="kinds of coordinates"),
    "root": rf.Real(0.2, 2.5, meaning="sqrt(m*) of a sampled problem"),  # sqrt(m) of a sampled problem
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    "n": rf.Whole(101, inf, log=True, hunt_to=2 * 10**9, meaning="records in the data set"),
}
SCORE = rf.Quote(
    "For the score, the covariance attack becomes (I_θ0(X*) − θ_0)^T V_θ0^{−1} (θ̂_n − θ_0) − (1/2n) ||I_θ0(X*) − θ_0||²_{V_θ0^{−1}}.",
    "section 3, MI games with Z-estimators",
)
FUTURE = rf.Quote(
    "We leave it for future work to provide a rigorous statement of when these statements are correct, i.e. rigorous conditions on the data-generating "
    "distribution and regularity of ψ_θ.",
    "section 3, MI games with Z-estimators",
)
EXPANSION = rf.Quote(
    "Thus, Equation (7) shows that, asymptotically, any Z-estimator can be thought of as the empirical mean of its "
    "influence functions.",
    "section 3, after equation 7",
)

MEANT = (
    r"With other symbols than the paper defines it is right: with $\theta_0 - V^{-1} \psi$ for $I$, of which equation 7 makes $\hat\theta$ the mean, and the inverse of the covariance of $I$ for $V^{-1}$; "
    "either of the two changes alone does not do. (The paper leaves the conditions to future work.)"
)
"""Which reading of the printed score is right."""

PRINTED = Statement(
    name="azize-z-estimators", formula=r"(I(x^*) - \theta_0)^T V^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} \lVert I(x^*) - \theta_0 \rVert^2_{V^{-1}}, \quad I = V^{-1} \psi",
    uses=("azize-eq-5",),
    says="For a Z-estimator with influence function I = V^-1 psi the score (I(x*) - theta0)' V^-1 (thetahat - theta0) - "
    "(1/2n)||I(x*) - theta0||^2_{V^-1} is the covariance attack: asymptotically the likelihood ratio, whose curve is g_sqrt(m), m = (1/n) I' Sigma^-1 I.",
    fails=r"For the mean, the first example, the printed score weighs $X^*$ where equation 5 weighs $C_\sigma^{-1} (X^* - \mu)$: the influence function is centred already, and its covariance is $V^{-1} E[\psi \psi^T] V^{-T}$, not $V$. Even with that, and in a case of the conditions that the paper leaves to future work, a released median may be the target's own number, which no score that is linear in the estimate sees. Where $\theta_0 = 0$ and all coordinates have the same variance and the same V < 0, as for the mean of centred records with $\psi = X - \theta$ (of the gradient of a loss V > 0, and the order is reversed), the printed score orders outputs as the corrected does. " + MEANT,
    instead=r"$I = -V^{-1} \psi$ as it is, weighed by the inverse of its covariance",
    source="Azize & Basu, section 3",
    kind=rf.Limit("n", sizes=sizes, along="odd n, n = 100 * 2^k of a wide regression", floor=LEAST_RATE, ceiling=least_power, rate=rate),
    domain={"reading": rf.Choice(*READINGS), "problem": rf.Choice(*PROBLEMS, RANDOM, TYPICAL, GROWING, meaning=MEANING)} | DOMAIN,
    claimed=claimed,
    truth=truth,
    points=[
        # The mean and the median are the paper's own examples, with data chosen here.
        *(
            rf.Point({"reading": reading, "problem": name} | _REST, setting="lead" if name == LEAD else "")
            for name in (*PROBLEMS, TYPICAL, GROWING)
            for reading in list(READINGS)[: 1 if name in (TYPICAL, GROWING) else 2]
        ),
    ],
    control=rf.Control({"reading": list(READINGS)[1], "problem": "mean, centred, equal variances"} | _REST),
    quote=SCORE,
    restricted_by=(FUTURE, EXPANSION),
    second_route=by_games,
    samples=(4, 12, 100),
    matters_when=dict.fromkeys(("kinds", "root", "draw"), where_in("problem", "random"))
    | {"reading": lambda reading, problem: reading not in READINGS or problem in SIGNED},
)  # fmt: skip

CORRECTED = Statement(
    name="azize-z-estimators-corrected", formula=r"I(x^*)^T \Sigma^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} I(x^*)^T \Sigma^{-1} I(x^*), \quad I = -V^{-1} \psi, \quad \Sigma = V^{-1} E[\psi \psi^T] V^{-T}",
    says="d = tau n coordinates, of finitely many kinds in fixed shares, each with its own fixed Z-estimator (a block of fixed dimension) and target record, independent of each other. With I(x) = -V^-1 psi(x), "
    "of mean 0, and Sigma = V^-1 E[psi psi'] V^-T the score I(x*)' Sigma^-1 (thetahat - theta0) - (1/2n) I(x*)' Sigma^-1 I(x*) has the curve g_sqrt(m) in the limit, m = (1/n) sum I' Sigma^-1 I > 0, if for "
    "each kind thetahat = theta0 + (1/n) sum I(X_i) + r in both worlds with E_in r - E_out r = o(1/n) and Var r = o(1/n), but for an event of probability o(1/n). Means (second moments), medians of odd n where the density is "
    "positive and continuous at the median and the target not the median, least squares with a Gaussian design and noise, and logistic regression on x = +-1 are such kinds. For medians and this logistic regression the exact log ratio of the two laws of thetahat tends to N(-+m/2, m) "
    "(azize-z-estimators-ratio). Targets at evenly spread quantiles of a density instead: some released median is the target's number with FPR 0 and power 1 - e^-tau in the limit.",
    source="Azize & Basu, section 3",
    kind=replace(PRINTED.kind, ceiling=None, rate=None),
    domain={"reading": rf.Choice("corrected", "ratio"), "problem": rf.Choice(*PROBLEMS, *BLOCKS, RANDOM, TYPICAL, meaning="estimator, data and target")} | DOMAIN,
    where=lambda reading, problem: reading == "corrected" or problem in RATIOS,
    claimed=lambda **at: matching(1 - exp(-1.0)) if at["problem"] == TYPICAL else claimed(**at),
    truth=truth,
    points=[
        *({"reading": "corrected", "problem": name} | _REST for name in (*PROBLEMS, *BLOCKS, TYPICAL)),
        *({"reading": "ratio", "problem": name} | _REST for name in RATIOS),
    ],
    control=rf.Control({"reading": "corrected", "problem": "median, at 0, equal densities"} | _REST),
    quote=SCORE,
    restricted_by=(FUTURE, EXPANSION),
    corrects="azize-z-estimators",
    uses=("azize-scalar-product-corrected",),
    derivation=(
        "What is wrong: E psi_theta0 = 0 gives E I = 0, so subtracting theta0 again moves the point (for the mean, psi = x - theta and V = -1, the printed score weighs x* and not Sigma^-1 (x* - mu)); the matrix of theorem 3.1 is the covariance of I, "
        "Sigma = V^-1 E[psi psi'] V^-T, not V; and (7) has the minus sign that I lacks. No line of the paper has the right matrix. "
        "The score: (1) its random part is sum_j (I_j/Sigma_j)((1/n) sum_i I_j(X_ij) + r_j). The first is a linear score of the mean of the records I_j(X_ij), of covariance Sigma, with weights Sigma^-1 I: with finitely many fixed laws its "
        "squares are uniformly integrable, and azize-scalar-product-corrected (Lindeberg in place of Esseen) gives g_mu with mu = sqrt(m), the largest of all linear scores. (2) The remainders are independent over j: their sum has variance d o(1/n) -> 0 and a mean whose difference "
        "between the worlds is d o(1/n) -> 0 (the mean itself may be of order 1: the curve is right and its thresholds are not). Slutsky; the exceptional events have probability d o(1/n) -> 0 together. "
        "The kinds: means, r = 0. Least squares with a Gaussian design, given Y ~ chi-square the score is normal (see `_regression`): inverse moments of Y give both conditions, r having variance O(n^-2). Logistic regression on x = +-1: thetahat = logit(S/n), smooth in a binomial S off an "
        "event of probability e^-cn; Taylor to third order. Medians: in U = F(thetahat), out Beta(k + 1, k + 1), in Beta(k + 1, k) or Beta(k, k + 1) but for an event of probability e^-cn; the quantile function Q is differentiable at 1/2, so Q(U) = theta0 + Q'(1/2)(U - 1/2) + o(|U - 1/2|), "
        "cut off at a fixed distance; U - 1/2 is the linear part up to a remainder of variance O(n^-3/2) (Bahadur 1966; van der Vaart 1998, example 5.24), and E_in - E_out of Q(U) is its covariance with the ratio below, Q'(1/2)/(2n) (1 + o(1)) = I/n + o(1/n). "
        "The ratio: medians, log(k/((2k + 1)(1 - U))) for a target above the median (mirrored below), logistic regression, log(s/(np)) or log((n - s)/(n(1 - p))): with x the standardised estimate, t x/sqrt(n) - t^2/(2n) plus terms of mean o(1/n) and variance o(1/n) out; independent coordinates and Lindeberg give N(-m/2, m), "
        "and Le Cam's third lemma (van der Vaart 1998, example 6.7) N(m/2, m) in. Other estimators' exact ratio is not claimed: for lattice data, say, it may see more than any expansion (theorem 3.1). "
        "Typical medians: the released number is the target's with probability p_j = P(Binomial(2k, v_j) = k), independently over j; sum p_j -> tau (a Riemann sum of n times a Beta density of width n^-1/2 on a mesh 1/d) and max p_j -> 0, so at least a single released number is with probability 1 - prod(1 - p_j) -> 1 - e^-tau; records with a "
        "density never equal it. A regression with p = tau n coefficients is no fixed block: the leverage x*'(X'X)^-1 x* does not vanish."
    ),
    samples=(4, 12, 100),
    needs={
        "For medians and this logistic regression the exact log ratio": {"added": {"reading": "ratio", "problem": "mean, unequal variances"}}
    },
    matters_when=PRINTED.matters_when,
)  # fmt: skip


_SLOPES = [
    {"theta_1": item, "theta_2": two, "agrees_1": True, "agrees_2": agrees, "n": 10**9}
    for item, two, agrees in ((0.0, 0.0, False), (2.0, -1.0, True), (2.0, 1.0, False))
]

LOGISTIC = Statement(
    name="azize-z-estimators-logistic", formula=r"(I(x^*) - \theta_0)^T V^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} \lVert I(x^*) - \theta_0 \rVert^2_{V^{-1}}, \quad I = V^{-1} \psi",
    says=PRINTED.says + " Logistic regression on x = +-1, at a billion rows, where the limit is reached to the tolerance.",
    fails="For logistic regression the influence function is centred already, and its covariance is $-V^{-1}$, so that the norm is that of $-V$ and not of $V^{-1}$: the printed attack is not the best. " + MEANT,
    instead=r"$I = -V^{-1} \psi$ as it is, weighed by the inverse of its covariance",
    source=PRINTED.source,
    # The proven error falls too slowly for a sequence of sizes; the limit is by the derivation.
    kind=rf.Equality(floor=LEAST_RATE_LOGISTIC),
    domain={
        "reading": rf.Choice(*READINGS),
        "theta_1": rf.Real(-3.0, 3.0, meaning="slope of regressions of the first kind"),
        "theta_2": rf.Real(-3.0, 3.0, meaning="slope of those of the second kind"),
        "agrees_1": rf.Choice(True, False, meaning="whether the target's y is 1 exactly where x = 1, in regressions of the first kind"),
        "agrees_2": rf.Choice(True, False, meaning="the same of the second kind"),
        "n": rf.Whole(5 * 10**8, 10**9, log=True, meaning="records in the data set"),
    },
    # Of an m above 16 no error rate is in sight.
    where=lambda **at: problem_at(**at).leakage() < 9.0,
    claimed=claimed,
    truth=truth,
    points=[
        *[
            rf.Point({"reading": reading} | slopes, setting="lead" if slopes is _SLOPES[1] else "")
            for slopes in _SLOPES
            for reading in READINGS
        ],
        # From hunts.
        {"reading": "V the derivative of E psi, as printed", "theta_1": 0.0, "theta_2": -3.0, "agrees_1": True, "agrees_2": False, "n": 500000000},
    ],
    control=rf.Control({"reading": next(iter(READINGS))} | _SLOPES[0]),
    quote=SCORE,
    restricted_by=(FUTURE, EXPANSION),
    # Games of so many columns cannot be played.
    second_route=lambda reading, **at: by_normal_law(reading=READINGS[reading], **at),
    samples=(8, 24, 100),
    needs={"where the limit is reached to the tolerance": {"held": {"theta_1": 3.0, "agrees_1": False}}},
    matters_when={"agrees_1": lambda theta_1: theta_1 != 0.0, "agrees_2": lambda theta_2: theta_2 != 0.0},
)  # fmt: skip

LOGISTIC_CORRECTED = LOGISTIC.corrected(
    uses=("azize-z-estimators-corrected",),
    formula=r"I(x^*)^T \Sigma^{-1} (\hat\theta - \theta_0) - \frac{1}{2 n} I(x^*)^T \Sigma^{-1} I(x^*), \quad I = -V^{-1} \psi, \quad \Sigma = V^{-1} E[\psi \psi^T] V^{-T}",
    says="The score and the exact log ratio of azize-z-estimators-corrected have the curve g_sqrt(m), to the tolerance, for two logistic regressions on x = +-1 with slopes in [-3, 3], d = n and m < 9, at half a billion to a billion rows. "
    "(Steeper ones need more rows: at a slope of 20 the rarer answer is expected twice in a billion.)",
    domain={"reading": rf.Choice("corrected", "ratio")},
    claimed=lambda **at: claimed(**at),  # the same curve, of another score: what is wrong is a formula
    points=[{"reading": reading} | slopes for slopes in _SLOPES for reading in ("corrected", "ratio")],
    control=rf.Control({"reading": "corrected"} | _SLOPES[1]),
    derivation=(
        "That of azize-z-estimators-corrected. Logistic regression on x = +-1: thetahat = logit(S/n), smooth in a binomial S off an event of probability e^-cn; Taylor to third order. The "
        "ratio: log(s/(np)) or log((n - s)/(n(1 - p))), that of the two binomial laws, since S is a function of thetahat."
    ),
    samples=(2, 8, 40),
    needs={"m < 9": {"held": {"theta_1": 3.0, "agrees_1": False}}},
)


RATIO = Statement(
    name="azize-z-estimators-ratio",
    formula=r"\log \frac{p_{\mathrm{in}}}{p_{\mathrm{out}}}(\hat\theta) \to N(\mp m / 2, m), \quad m = \frac{1}{n} \sum_j I_j^T \Sigma_j^{-1} I_j, \quad I_j = -V_j^{-1} \psi_j",
    says="For medians of odd n, with fixed quantiles other than 1/2 as targets, and logistic regression on x = +-1 the exact log ratio of the two laws of thetahat tends to N(-m/2, m) out and to N(m/2, m) in; for the "
    "medians of the register (target quantiles in [.1, .9], not in (.25, .8)) and slopes 2 and -1 its distribution function is within .001 at half a billion rows and more.",
    source="Azize & Basu, section 3",
    kind=rf.Equality(0.001, unit="probability"),
    domain={
        "problem": rf.Choice(*RATIOS, "logistic", meaning="estimator, data and target"),
        "inside": rf.Choice(False, True, meaning="whether the target is in"),
        "z": rf.Real(-4.0, 4.0, meaning="threshold of the score, in standard deviations of its limit law"),
        "n": rf.Whole(5 * 10**8, 10**9 + 1, log=True, meaning="records in the data set"),
    },
    where=lambda n: n % 2 == 1,
    claimed=lambda z: float(ndtr(z)),
    truth=lambda **at: rf.Number(*ratio_below(**at), route="exact moments, normal law with its proven error"),
    points=[{"problem": name, "inside": inside, "z": z, "n": 10**9 + 1} for name in (*RATIOS, "logistic") for inside in (False, True) for z in (-1.6, 1.6)],
    control=rf.Control({"problem": RATIOS[0], "inside": False, "z": 1.6, "n": 10**9 + 1}),
    quote=EXPANSION,
    restricted_by=(FUTURE,),
    corrects=PRINTED.name,
    derivation="See azize-z-estimators-corrected. The limit is proven there, the distance from it at a billion rows by the moments and the proven error of the normal law.",
    samples=(4, 12, 40),
)  # fmt: skip

STATEMENTS = (PRINTED, CORRECTED, LOGISTIC, LOGISTIC_CORRECTED, RATIO)
