"""The empirical mean: theorem 3.1, lemma C.6, equation 5 and their corrections."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim import referee as rf
from mipsim.theory import azize
from mipsim.tradeoff import AbstractTradeOff, GaussianTradeOff, PiecewiseLinearTradeOff
from verify.azize.checks.sampled_means import by_columns, by_difference
from verify.azize.checks.second_routes import level_at_zero
from verify.azize.laws.mean_curves import InSight, difference, probit_at_threshold, scaled_difference
from verify.azize.laws.mean_families import DATA, EXTRAS, FAINT, TARGETS, MeanProblem, leakage, mean_tradeoff
from verify.azize.statements.conditions import MEAN, REGULAR
from verify.statement import Statement, where_in

ASSUMES = rf.Quote(
    "We suppose that the data-generating distribution is column-wise independent, i.e. D = (x)_j D_j and has a finite (4 + "
    "delta)-th moment for some small delta, i.e. there exists delta > 0, such that E[Z^(4 + delta)] < infinity.",
    "section 3, assumptions",
)
ASYMPTOTIC = rf.Quote(
    "Since the LR test can be non-tractable in general cases, we study the asymptotic behaviour of the LR test, when both the "
    "sample size n and the dimension d tend to infinity such that d/n = tau > 0.",
    "section 3, notations",
)
GENERALISES = rf.Quote(
    "Our analysis generalises their results to the target-dependent setting and to any data-generating distribution with a finite "
    "fourth moment.",
    "section 3, connection to Sankararaman et al.",
)
RESTRICTED = (ASSUMES, ASYMPTOTIC, GENERALISES)
BY_DENSITY = (
    *RESTRICTED,
    rf.Quote(
        "Let Z_1, ..., Z_n sampled i.i.d from D, where D has a finite absolute moment of k-th order, i.e. E[|X_1|^k] < infinity. Let d_n be the density of "
        "the centred normalised mean sum_i X_i/(sigma sqrt(n)), then d_n(x) = e^(-x^2/2)/sqrt(2 pi) + sum_{v=1}^{k-2} q_v(x)/n^(v/2) + o(1/n^((k-2)/2)) "
        "uniformly in x, where q_v(x) are related to the Hermite Polynomials.",
        "theorem C.5, by which lemma C.6 is proven",
    ),
)


def extra(*names: str) -> rf.Choice:
    """The extra coordinates, none or of some kinds of `EXTRAS`."""
    kinds = "; ".join(f"{name}: {EXTRAS[name]}" for name in names)
    return rf.Choice("none", *names, meaning=f"extra coordinates ({kinds})")


DOMAIN = {
    "data": rf.Choice(*DATA, meaning="law of a coordinate"),
    "target": rf.Choice(
        *TARGETS,
        meaning="which target: for Bernoulli data sampled (typical), the rarer values (easiest), the likelier values (hardest), or t and u",
    ),
    "p": rf.Real(0.0, 1.0, meaning="probability of a 1, or the middle of these probabilities"),
    "width": rf.Real(
        0.0,
        0.5,
        meaning="0: a single p; else three values in equal parts, p - 2 width/3, p and p + 2 width/3, the midpoints of thirds of [p - width, p + width]",
    ),
    "shape": rf.Real(
        0.25, np.inf, log=True, hunt_to=8.0, meaning="shape of gamma data, 1 is the exponential law"
    ),
    "t": rf.Real(
        -np.inf,
        np.inf,
        hunt_to=6.0,
        meaning="target in half of the coordinates, in standard deviations from the mean",
    ),
    "u": rf.Real(
        -np.inf, np.inf, hunt_to=6.0, meaning="target in the other half, in standard deviations from the mean"
    ),
    "tau": rf.Real(1e-6, np.inf, log=True, hunt_to=20.0, meaning="d / n"),
    "extra": extra("spike", "parity"),
    "rate": rf.Real(0.03, np.inf, log=True, hunt_to=10.0, meaning="of the extra coordinates: see extra"),
    "n": rf.Whole(2, np.inf, log=True, hunt_to=1e8, meaning="records in the data set"),
}
"""The data, the targets and the extra coordinate of `verify.azize.laws.mean_families`."""


def searched(**at: Any) -> bool:
    """Where a law can be recognised: a smaller m is 2% of a tenth of a probit, of a larger m no two error rates are in sight at once."""
    problem = MeanProblem.of(at)
    if not all(0.005 <= q <= 0.995 for q in problem.means):
        return False  # rarer values are met in more rows than are searched
    if problem.extra == "spike" and (problem.data != "Gaussian" or problem.tau > 1e-4):
        return False  # its limit is slow: 1e8 rows, which leaves room for 1e4 coordinates
    if problem.meets_the_lattice:
        return False  # off the support, where the sum is a whole number in both worlds: only where p and the target are so chosen
    few = problem.data == "rarer Bernoulli" or problem.tau * problem.sizes[-1] <= 2e6
    return few and 0.05 <= problem.leakage <= 30.0


def regular(**at: Any) -> bool:
    """The conditions of the corrections."""
    return searched(**at) and MeanProblem.of(at).is_regular


def sizes(**at: Any) -> tuple[int, ...]:
    """Rows at which the limit is judged."""
    return MeanProblem.of(at).sizes


def point(name: str, data: str, target: str = "typical", setting: str = "", **at: Any) -> rf.Point:
    """A named problem."""
    problem = vars(MeanProblem(data, target, **at))
    return rf.Point({key: value for key, value in problem.items() if key in DOMAIN}, name, setting)


PAPER = tuple(
    point(f"paper-{name}", "Bernoulli", kind, "paper", p=0.375, width=0.125, tau=5.0)
    for kind, name in (("easiest", "easy"), ("typical", "medium"), ("hardest", "hard"))
)
"""p over [.25, .75] by six values, where the paper draws it uniformly (without telling the seed): 1 - p with the other target value is the
same coordinate. The paper's own point is n = 1000."""
REGULAR_POINTS = (
    point("bernoulli-narrow", "Bernoulli", tau=0.5),
    point("bernoulli-wide", "Bernoulli", tau=20.0),
    point("bernoulli-skewed", "Bernoulli", p=0.05),
    point("bernoulli-rarer", "rarer Bernoulli"),
    point("gaussian", "Gaussian", t=0.5, u=-1.5, tau=0.4),
    point("exponential", "gamma", t=-0.9, u=1.5),
    point("exponential-far", "gamma", t=-3.0, u=6.0, tau=0.1),
    point("gamma", "gamma", t=-0.5, shape=0.25),
    point("mixed", "mixed", p=0.2),
    point("spike", "Gaussian", t=0.0, u=0.0, tau=1e-6, extra="spike", rate=2.0),
)
"""Inside the conditions of the corrections, beside the paper's own."""
_COINS = {"data": "Bernoulli", "target": "easiest", "p": 0.5}
IRREGULAR_POINTS = (
    point("bernoulli-off-support", "Bernoulli", "off the support", p=0.4, t=0.1 / 0.24**0.5, u=-0.9 / 0.24**0.5),
    point("three-atoms", "three atoms", tau=0.5),
    point("parity", **_COINS, extra="parity", rate=0.125),
    point("cantor", "Cantor"),
)  # fmt: skip
"""Product laws with all moments for which theorem 3.1 fails; what the parity shows is a lower bound of the leakage."""
POINTS = (*PAPER, *REGULAR_POINTS, *IRREGULAR_POINTS)
FAIR = dict(point("", "Bernoulli", p=0.5, t=0.0, u=0.0).at)
"""Fair coins with a typical target: hunts shrink to its neighbours."""


def law(n: int, at: Mapping[str, Any]) -> AbstractTradeOff:
    """The optimal curve of n rows."""
    return mean_tradeoff(MeanProblem.of(at), n, n)


def gaussian(n: int, **at: Any) -> GaussianTradeOff:
    """The curve of the theorem, with the leakage of n rows."""
    return azize.mean_tradeoff(leakage(MeanProblem.of(at), n, n))


def number(ends: tuple[float, float], **more: Any) -> rf.Number:
    """What is proven to lie between two ends."""
    return rf.Number((ends[0] + ends[1]) / 2, max(0.0, ends[1] - ends[0]) / 2, route="exact law", **more)


SEEN = 1e-5
"""FNR of a test that hardly errs: below what is judged, and positive, so that a gap in probits is a number."""
APART = "the two worlds share no output at any n: see the correction of theorem 3.1"


def disjoint(problem: MeanProblem) -> bool:
    """Whether the worlds share no output: a target off the lattice of sums of whole numbers, without noise, or Cantor data."""
    off = problem.data == "Bernoulli" and problem.target == "off the support" and not problem.gamma
    return problem.data == "Cantor" or (off and not problem.meets_the_lattice)


def parity_error(rate: float, start: int) -> float:
    """Of both error rates of the test "the sum is odd", from `start` rows on: at most (1 - (1 - 4 rate/n)^n)/2, which falls in n."""
    return -0.5 * float(np.expm1(start * np.log1p(-4 * rate / start)))


PARITY = (
    "of the coordinate j = 2^k, n/2 < j <= n, the sum is odd with probability (1 - (1 - 2 rate/j)^n)/2 without the target, and even with "
    "(1 - (1 - 2 rate/j)^(n - 1))/2 with it: at most (1 - (1 - 4 rate/n)^n)/2, which falls in n"
)


def least_strength(**at: Any) -> rf.Ceiling | None:
    """What the best attacker reaches at every n at least, where that is more than theorem 3.1 says in the limit."""
    problem = MeanProblem.of(at)
    start = problem.sizes[0]
    if disjoint(problem):
        alpha, source = 0.0, APART
    elif problem.extra == "parity":
        alpha, source = parity_error(problem.rate, start), PARITY
    elif problem.extra == "faint noise":
        alpha = parity_error(FAINT, start) + 2.0 * float(ndtr(-0.25 * start**0.5))
        source = f"{PARITY.replace('rate', f'{FAINT:g}')}; the noise moves the sum by a half with probability 2 Phi(-sqrt(n)/4) at most, which falls in n too"
    else:
        return None
    corners = [alpha, 1.0] if alpha == 0.0 else [0.0, alpha, 1.0]
    value = PiecewiseLinearTradeOff(corners, [SEEN, 0.0] if alpha == 0.0 else [1.0, alpha, 0.0])
    return rf.Ceiling(
        value, below=True, start=start, source=source, claimed=azize.mean_tradeoff(problem.leakage)
    )


def least_number(claimed: Any, epsilon: float = 0.0, **at: Any) -> rf.Ceiling | None:
    """The same of the advantage, or of delta, which is 1 where the worlds share no output; `claimed`: of m*."""
    problem = MeanProblem.of(at)
    value, source = 1.0, APART
    if problem.extra == "parity" and not disjoint(problem):
        error = parity_error(problem.rate, problem.sizes[0])
        value, source = 1.0 - error - float(np.exp(epsilon)) * error, PARITY
    elif not disjoint(problem):
        return None
    return rf.Ceiling(
        value, below=True, start=problem.sizes[0], source=source, claimed=claimed(problem.leakage)
    )


PARITIES = FAIR | {"p": 0.3, "extra": "parity", "rate": 0.03}
"""Coins, and extra coordinates whose parity tells."""


def off_the_support(**at: object) -> bool:
    """Whether the target is no value that Bernoulli data have."""
    return at["data"] == "Bernoulli" and at.get("target") == "off the support"


def _shaped(*data: str) -> Callable[..., bool]:
    return lambda **at: at["data"] in data or off_the_support(**at)


MEAN_MATTERS: dict[str, Callable[..., bool]] = {
    "target": where_in("data", "Bernoulli"),
    "p": where_in("data", "Bernoulli", "mixed"),
    "width": where_in("data", "Bernoulli", "mixed"),
    "shape": where_in("data", "gamma", "mixed"),
    "t": _shaped("Gaussian", "gamma", "mixed"),
    "u": _shaped("Gaussian", "gamma", "mixed"),
    "rate": lambda extra: extra != "none",
}
OF_THE_RATIO = MEAN_MATTERS | {"p": lambda **at: MEAN_MATTERS["p"](**at) and not off_the_support(**at)}
EXPENSIVE = ({"extra": "parity", "rate": 0.125},)
"""Listed points that are judged at full scale only: each costs seconds."""
IRREGULAR = {
    "with z_j in {0, 1}": {"added": {"data": "Bernoulli", "target": "off the support"}},
    "an N-fold convolution with a density <= B": {"added": {"data": "Cantor"}},
}
NOT_SAMPLED = (0, 0, 0)
"""How many of the printed statements' points are irregular would be the share of counterexamples among the laws that are listed here, and no
share of the data that the theorem is about."""
EVEN = (
    "The proof takes a density of the mean by theorem C.5, which is Petrov's without his condition, a bounded density of some convolution power. Bernoulli data "
    r"with targets in $\{0, 1\}^d$ have none and stand; others may fail. A coordinate j may have the values 0, 2 and, with probability 0.03/j, 1: with n < 2j records its sum is nearly always even, and the target 1, which is its mean, "
    "makes it odd. Such coordinates may be there at every n, and $m^*$ does not count them."
)
"""Why theorem 3.1 lacks a condition."""
HOLDS = r"Bernoulli data with targets in $\{0, 1\}^d$, as in the figures, and data with densities, under conditions uniform in n, d"
"""What is left of it."""
OTHERS = " Cantor data and targets off the lattice of the data show in other ways."
POWER = Statement(
    name="azize-thm-3.1-power",
    formula=r"\lim_{n \to \infty} \mathrm{Pow}_n(\ell_n, \alpha, z^*) = \Phi(\Phi^{-1}(\alpha) + \sqrt{m^*}), \quad m^* = \lim_{n \to \infty} \frac{1}{n} \lVert z^* - \mu \rVert^2_{\Sigma^{-1}}",
    uses=("azize-lemma-C.6",),
    says="Empirical mean: lim Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m*)); m* = lim (1/n) ||z* - mu||^2_{Sigma^-1}.",
    fails=EVEN,
    instead=HOLDS,
    kind=rf.Limit("n", sizes=sizes, ceiling=least_strength),
    domain=DOMAIN,
    where=searched,
    claimed=gaussian,
    truth=lambda n, **at: InSight(law(n, at)),
    points=[
        *POINTS,
        # From hunts.
        FAIR | {"data": "Cantor"},
        rf.Point(PARITIES, "parity, rarer", "lead"),
    ],
    control=rf.Control(PAPER[0].at),
    quote=rf.Quote(
        "The asymptotic trade-off function, achievable with threshold tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha), is "
        "lim_{n,d} Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m*)).",
        "theorem 3.1, equation 4",
    ),
    not_judged={
        "achievable with threshold tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha)": "by azize-thm-3.1-threshold"
    },
    restricted_by=BY_DENSITY,
    second_route=by_columns,
    samples=NOT_SAMPLED,
    expensive=EXPENSIVE,
    matters_when=OF_THE_RATIO,
)

ADVANTAGE = Statement(
    name="azize-thm-3.1-advantage",
    formula=r"\mathrm{Adv}_n(\ell_n, z^*) \to \Phi(\sqrt{m^*} / 2) - \Phi(-\sqrt{m^*} / 2)",
    uses=("azize-lemma-C.6",),
    says="Empirical mean: the optimal advantage tends to Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2).",
    fails=EVEN + OTHERS,
    instead=HOLDS,
    kind=rf.Limit(
        "n", sizes=sizes, unit="advantage", ceiling=lambda **at: least_number(azize.advantage, **at)
    ),
    domain=DOMAIN,
    where=searched,
    claimed=lambda n, **at: azize.advantage(leakage(MeanProblem.of(at), n, n)),
    truth=lambda n, **at: number(law(n, at).advantage_bounds()),
    points=[
        *POINTS,
        rf.Point(PARITIES, "parity, rarer", "lead"),
        # From hunts.
        FAIR | {"data": "Cantor"},
        FAIR | {"target": "off the support", "t": 4.0, "u": -2.0, "tau": 0.005},
        FAIR | {"target": "off the support", "u": -6.0, "tau": 0.01},
    ],
    control=rf.Control(PAPER[2].at, 0.05),
    quote=rf.Quote(
        "The asymptotic target-dependent leakage of z* in the empirical mean is lim_{n,d} xi_n(z*, M_n^emp, D) = "
        "Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2).",
        "theorem 3.1, equation 3",
    ),
    restricted_by=BY_DENSITY,
    second_route=by_columns,
    samples=NOT_SAMPLED,
    expensive=EXPENSIVE,
    matters_when=OF_THE_RATIO,
)

# The curve and the ratio's two laws determine each other, and the laws tend to N(-+m/2, m) if and only if the curve tends to
# g_sqrt(m) (Le Cam 1986, ch. 3; Torgersen 1991, ch. 7).
RATIO = Statement(
    name="azize-lemma-C.6",
    formula=r"\ell_n \Rightarrow N(-m^* / 2, m^*) \text{ under } H_0, \quad \ell_n \Rightarrow N(m^* / 2, m^*) \text{ under } H_1",
    says="Empirical mean: l_n => N(-m*/2, m*) under H0 and N(+m*/2, m*) under H1.",
    fails=EVEN
    + " The log ratio of such a coordinate does not become small: it is nearly always near 3.5 or -3.5 at n = j.",
    instead=HOLDS,
    kind=POWER.kind,
    domain=DOMAIN,
    where=searched,
    claimed=gaussian,
    truth=POWER.truth,
    points=[
        *POINTS,
        # From hunts.
        FAIR | {"data": "Cantor"},
        rf.Point(PARITIES, "parity, rarer", "lead"),
    ],
    control=POWER.control,
    quote=rf.Quote(
        "Under H_0: l_n(muhat_n; z*, mu, C_sigma) => N(-m*/2, m*). Under H_1: l_n(muhat_n; z*, mu, C_sigma) => N(m*/2, m*), "
        "where the convergence is a convergence in distribution, such that d, n -> infinity, while d/n = tau.",
        "lemma C.6, appendix C.2",
    ),
    restricted_by=BY_DENSITY,
    second_route=by_columns,
    samples=NOT_SAMPLED,
    expensive=EXPENSIVE,
    matters_when=OF_THE_RATIO,
)


def mu_at(n: int, t: float, u: float, tau: float) -> float:
    """Sqrt(m*) of Gaussian data."""
    return leakage(MeanProblem("Gaussian", t=t, u=u, tau=tau), n, n) ** 0.5


def unit_at(n: int, t: float, u: float, tau: float) -> float:
    """What 2% is taken of: sqrt(m*), or 1 probit if that is less, or if m* = 0."""
    return min(1.0, mu_at(n, t, u, tau)) or 1.0


def level_at_the_mean(t: float, u: float, tau: float) -> rf.Ceiling | None:
    """Of {l_n > 0} at m* = 0: l_n > 0 if and only if chi2_d < d (n - 1) log(n/(n - 1)), at least d - d/(2n - 1).

    The median of chi2_d is below d (Groeneveld and Meeden 1977), and by Stirling's bound its density is at most 1/(2 sqrt(2 pi k)), k = d/2 - 1.
    """
    if t or u or tau < 0.5:
        return None
    start, d = 200, tau * 200 - 1
    level = 0.5 - (tau * 200 + 1) / (2 * 200 - 1) / (2 * (2 * np.pi * (d / 2 - 1)) ** 0.5)
    source = "its level is the probability that chi2_d is below d (n - 1) log(n/(n - 1)) >= d - d/(2n - 1); the median of chi2_d is below d, and its density at most 1/(2 sqrt(pi (d - 2)))"
    return rf.Ceiling(float(ndtri(level)), below=True, start=start, source=source)


_AT_THE_MEAN = {"t": 0.0, "u": 0.0, "tau": 2.0, "alpha": 0.05, "world": "level"}
THRESHOLD = Statement(
    name="azize-thm-3.1-threshold", formula=r"\tau_\alpha = -\frac{m^*}{2} + \sqrt{m^*} \, \Phi^{-1}(1 - \alpha)",
    says="Empirical mean: for every alpha the test {l_n > tau_alpha}, tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha), has level alpha "
    "and power Phi(Phi^-1(alpha) + sqrt(m*)) in the limit. Judged for Gaussian data, in closed form.",
    fails="This is of the threshold; equation 4 is judged as azize-thm-3.1-power. Of Gaussian data it is only the degenerate case: at $m^* = 0$, where theorem 3.1 allows no leakage, the threshold is 0 at every level, so that the test cannot have the level that it is named for.",
    instead="$m^* > 0$, and conditions uniform in n, d",
    # Of larger noncentralities than 9.9e7 the chi-square law is not at hand.
    kind=rf.Limit(
        "n", tolerance=0.02, unit="× min(sqrt(m*), 1) probit, × 1 probit at m* = 0",
        sizes=lambda t, u, tau: [max(20, int(150 / (tau * (t**2 + u**2) / 2) ** 0.5) if t or u else 200) << k for k in range(7)],
        ceiling=level_at_the_mean,
    ),
    domain={name: DOMAIN[name] for name in ("t", "u", "tau")}
    | {"alpha": rf.Real(1e-4, 1 - 1e-4, meaning="FPR of the test"), "world": rf.Choice("level", "power", meaning="level: the target is out, power: it is in"), "n": rf.Whole(2, np.inf, log=True, hunt_to=43_000, meaning="records in the data set")},
    # Nearer to the mean, where the ratio has more variance than m, the law needs more rows than are at hand.
    where=lambda t, u, tau: tau >= 0.05 and tau * (t**2 + u**2) / 2 <= 30.0 and (t == u == 0.0 or min(tau, 1.0) * (t**2 + u**2) / 2 >= 0.05),
    claimed=lambda n, t, u, tau, alpha, world: (ndtri(alpha) + (world == "power") * mu_at(n, t, u, tau)) / unit_at(n, t, u, tau),
    truth=lambda n, t, u, tau, alpha, world: probit_at_threshold(n, t, u, tau, alpha, world) / unit_at(n, t, u, tau),
    points=[
        rf.Point(_AT_THE_MEAN, "level at m* = 0"),
        *({"t": 0.5, "u": -1.5, "tau": 0.4, "alpha": alpha, "world": world} for alpha in (1e-4, 0.05, 0.9) for world in ("level", "power")),
    ],
    control=rf.Control({"t": 0.5, "u": -1.5, "tau": 0.4, "alpha": 0.05, "world": "level"}, 0.05),
    quote=POWER.quote,
    restricted_by=RESTRICTED,
    second_route=level_at_zero,
    samples=NOT_SAMPLED,
)  # fmt: skip

FAR = (
    "let D = ratio - score of the coordinate j = 2^k, n/2 < j <= n, and q = rate/j. Its score is 0, so that D is its log ratio. Write K for the number of its 1s, S for its sum: "
    "where S is odd P_out(S) = sum_k P_out(K = k + 1) P_in(S | K - 1 = k) <= n q P_in(S), so that D >= -log(nq); where S is even P_in(S) <= nq/(1 - q)^2 P_out(S), so that "
    "D <= log(nq) - 2 log(1 - q). Let r = -log(2 rate) + 2 log(1 - 2 rate/n). Without the target D >= r and D <= -r each have the probability of (1 - exp(-2 rate))/2 at least. "
    "All other coordinates together have a difference R that is independent of D: whatever R is, D + R is at least min(1, r) in size with this probability, and the sum cannot vanish. "
    "The mean of min(1, difference^2) is at least min(1, r)^2 (1 - exp(-2 rate))/2"
)
"""Why ratio and covariance score stay apart."""
ALONE = "The gaps at single sizes hold min(1, difference^2) of the coordinate j alone."
KNOWN = ("Bernoulli", "Gaussian", "rarer Bernoulli", "Cantor")
"""Data of which the difference of ratio and covariance score is known."""


def least_difference(**at: Any) -> rf.Ceiling | None:
    """Of ratio and covariance score at every n: of a coordinate whose parity tells the score is 0, and the ratio far from any constant."""
    problem = MeanProblem.of(at)
    if problem.extra != "parity":
        return least_number(lambda m: 0.0, **at)
    start, twice = 8 * problem.sizes[0], 2.0 * problem.rate
    least = -np.log(twice) + 2.0 * np.log1p(-twice / start)
    value = min(1.0, max(0.0, float(least))) ** 2 * -0.5 * float(np.expm1(-twice))
    return rf.Ceiling(value, below=True, start=start, source=FAR)


_WIDE = REGULAR_POINTS[1].at
SCORE = Statement(
    name="azize-eq-5",
    formula=r"\ell_n - \left[ (z^* - \mu)^T \Sigma^{-1} (\hat\mu_n - \mu) - \frac{1}{2 n} \lVert z^* - \mu \rVert^2_{\Sigma^{-1}} \right] \to 0",
    says="l_n ~ (z* - mu)' Sigma^-1 (muhat - mu) - (1/2n) ||z* - mu||^2_{Sigma^-1}: the difference vanishes in probability.",
    fails=EVEN
    + " The covariance score has 0 for such a coordinate. Its log ratio is independent of the rest and near no constant (both signs have probability of at least 0.029), so that the sum cannot vanish.",
    instead=HOLDS,
    # No transform is needed, and more rows are at hand.
    kind=rf.Limit(
        "n",
        sizes=lambda **at: [8 * n for n in sizes(**at)],
        tolerance=0.01,
        unit="mean square",
        ceiling=least_difference,
    ),
    domain=DOMAIN | {"data": rf.Choice(*KNOWN, meaning="law of a coordinate"), "extra": extra("parity")},
    where=searched,
    claimed=lambda: 0.0,
    truth=lambda n, **at: rf.Number(difference(n, **at), detail=ALONE * (at["extra"] == "parity")),
    points=[
        *(item for item in POINTS if item.at["data"] in KNOWN and item.at["extra"] != "spike"),
        rf.Point(PARITIES, "parity, rarer", "lead"),
    ],
    control=rf.Control(_WIDE, 0.05, truth=scaled_difference),
    quote=rf.Quote(
        "Following the proof of Theorem 3.1, we show in Remark C.7 that the LR score l_n ~ (z* - mu)^T C_sigma^-1 (muhat_n - "
        "mu) - (1/2n) ||z* - mu||^2_{C_sigma^-1} asymptotically in n and d.",
        "equation 5, section 3",
    ),
    restricted_by=BY_DENSITY,
    second_route=by_difference,
    samples=NOT_SAMPLED,
    # Off the support the ratio is infinite whatever else is chosen.
    matters_when=MEAN_MATTERS
    | {
        **dict.fromkeys(("p", "width"), lambda **at: at["data"] == "Bernoulli" and not off_the_support(**at)),
        **dict.fromkeys(("t", "u"), where_in("data", "Gaussian")),
        "tau": lambda **at: at["data"] != "Cantor" and not off_the_support(**at),
        "target": lambda data, extra: data == "Bernoulli" and extra != "parity",
    },
)


def corrected(printed: Statement, derivation: str = MEAN, **changes: Any) -> Statement:
    """The same formula under the conditions of the expansion."""
    text = {
        "says": f"{printed.says} Where {REGULAR}.",
        "where": regular,
        "control": printed.control,
        "samples": (4, 4, 50),
        "needs": IRREGULAR,
    }
    return printed.corrected(**text | changes, derivation=derivation)


STATEMENTS = (
    POWER,
    corrected(
        POWER, says=f"{POWER.says} Where {REGULAR}; at m* = 0 the power is that with ties decided by lot."
    ),
    *(single for printed in (ADVANTAGE, RATIO, SCORE) for single in (printed, corrected(printed))),
    THRESHOLD,
    corrected(
        THRESHOLD,
        says=f"{THRESHOLD.says} Where {REGULAR}, and m* > 0.",
        where=lambda t, u, tau: (
            THRESHOLD.call("where", {"t": t, "u": u, "tau": tau}) and (t != 0.0 or u != 0.0)
        ),
        needs={"m* > 0": {"added": {"t": 0.0, "u": 0.0}}},
    ),
)
"""Printed and corrected, side by side."""
