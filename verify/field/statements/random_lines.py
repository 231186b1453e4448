"""Noise along a random line (R1SMG), and tails of discrete Gaussian noise."""

import math
from functools import lru_cache

import mpmath
import numpy as np
from scipy.special import betainc, betaincinv, gammaln, log_ndtr, ndtr

from mipsim.referee import Bound, Control, Number, Point, Quote, Real, Replication, Whole
from mipsim.referee.replication import share
from verify.statement import Statement

CELLS = 200_000


def deviation(dimension: int, epsilon: float, log10_delta: float) -> float:
    """Of the amplitude along the line: sigma^2 = 2 / (epsilon psi), psi = (delta Gamma((M-1)/2) / (sqrt pi Gamma(M/2)))^(2/(M-2)).
    >>> round(deviation(100, 1.0, -5.0) ** 2, 3)
    2.663
    """
    log_ratio = gammaln((dimension - 1) / 2) - gammaln(dimension / 2) - 0.5 * math.log(math.pi)
    log_psi = 2.0 / (dimension - 2) * (log10_delta * math.log(10.0) + log_ratio)
    return math.sqrt(2.0 / epsilon) * math.exp(-0.5 * float(log_psi))


@lru_cache(maxsize=16)
def _along(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends of cells of |h|, h a coordinate of a random direction, and their probabilities: h^2 is Beta(1/2, (M-1)/2)."""
    a, b = 0.5, (dimension - 1) / 2
    squares = np.asarray(betaincinv(a, b, np.linspace(0.0, 1.0, CELLS + 1)))
    return np.sqrt(squares), np.diff(np.asarray(betainc(a, b, squares)))


def leaked(dimension: int, epsilon: float, log10_delta: float) -> Number:
    """What a single test shows of delta, at least: is the output beyond the middle of the two answers, 1 apart?

    Its FPR and FNR are both p = P(r h > 1/2), r the amplitude. Given |h| this is Phi(-1/(2 sigma |h|)), which rises with |h|, so that p
    lies between the sums over the cells of |h| at either end.
    """
    ends, mass = _along(dimension)
    sigma = deviation(dimension, epsilon, log10_delta)
    with np.errstate(divide="ignore"):
        beyond = ndtr(-0.5 / (sigma * ends))
    low, high = (float(mass @ part) for part in (beyond[:-1], beyond[1:]))
    factor = 1.0 + math.exp(epsilon)
    result = Number.between(1.0 - factor * (high + 1e-12), 1.0 - factor * (low - 1e-12))
    return Number(max(result.value, 0.0), result.error, unknown="above", route="a single test")


def by_draws(dimension: int, epsilon: float, log10_delta: float) -> Replication:
    """Directions and amplitudes sampled with NumPy, and the same test."""
    rng, games = np.random.default_rng(11), 200_000
    sigma = deviation(dimension, epsilon, log10_delta)
    h = rng.standard_normal(games) / np.sqrt(rng.chisquare(dimension - 1, games))
    h = h / np.sqrt(1.0 + h**2)  # a coordinate of a point on the sphere
    beyond = sigma * rng.standard_normal(games) * h
    fpr, tpr = share((beyond > 0.5).sum(), games), share((beyond > -0.5).sum(), games)
    value, low = tpr[0] - math.exp(epsilon) * fpr[0], tpr[1] - math.exp(epsilon) * fpr[2]
    how = f"NumPy, {games:,} outputs a world, seed 11: TPR {tpr[0]:.4f} at FPR {fpr[0]:.4f}"
    return Replication(value, low, math.inf, "delta that the test shows", how)


R1SMG = Statement(
    name="field-r1smg",
    formula=r"\sigma^2 = \frac{2 \Delta^2}{\varepsilon \psi}, \quad \psi = \left( \frac{\delta \, \Gamma(\frac{M - 1}{2})}{\sqrt{\pi} \, \Gamma(\frac{M}{2})} \right)^{2 / (M - 2)}",
    says="Noise along a uniformly random line, with a normal amplitude of variance $\\sigma^2 = 2\\Delta^2/(\\varepsilon\\psi)$, "
    "$\\psi = (\\delta\\Gamma((M-1)/2) / (\\sqrt\\pi\\,\\Gamma(M/2)))^{2/(M-2)}$, makes an answer of $M$ numbers $(\\varepsilon, \\delta)$-DP.",
    fails="The length of the noise is about sigma whatever the dimension is, so that along the difference of two answers it is about sigma over the root of the dimension: the side of the middle on which the output lies tells the two answers apart. At M = 3 it stands at all points computed apart from this register (13 epsilons from 0.001 to 12, deltas from 0.5 to 1e-6: the exact delta is at most 0.2 of the promised); at M = 4, epsilon 1 and a promised 1e-5 it is 9.0e-4, for another reason: sigma is 632, and what tells is that an output may lie close to the answer, where noise along a line is densest.",
    instead=r"the accuracy: the expected square of the noise is $\sigma^2$ in every dimension",
    source="Ji and Li (2024), arXiv 2306.02256, abstract of version 2 (a version 3, of 14 March 2024, was not read); the pages at hand were the abstract and its restatements, not the proof. That sigma^2 is C_R Delta^2 is read here from the lower bound that the abstract gives",
    kind=Bound(unit="delta"),
    domain={
        "dimension": Whole(3, math.inf, log=True, hunt_to=1000, meaning="M, numbers in an answer; Delta = 1"),
        "epsilon": Real(0.05, 5.0, log=True, meaning="epsilon"),
        "log10_delta": Real(-10.0, -1.5, meaning="log10 of delta"),
    },
    claimed=lambda log10_delta: 10.0**log10_delta,
    truth=leaked,
    points=[
        Point({"dimension": 100, "epsilon": 1.0, "log10_delta": -5.0}, "M = 100, epsilon 1, delta 1e-5", "lead"),
        {"dimension": 20, "epsilon": 1.0, "log10_delta": -5.0},
        {"dimension": 1000, "epsilon": 0.1, "log10_delta": -6.0},
    ],
    control=Control({"dimension": 100, "epsilon": 1.0, "log10_delta": -5.0}, attained=True),
    quote=Quote(
        "It achieves (epsilon, delta)-DP on query results in R^M by perturbing the results with noise following a singular multivariate "
        "Gaussian distribution, whose covariance matrix is a randomly generated rank-1 positive semi-definite matrix. [...] The R1SMG "
        "mechanisms achieves (epsilon, delta)-DP guarantee on query results in R^M, while its expected accuracy loss is lower bounded by "
        "C_R (Delta_2 f)^2, where C_R = 2/(epsilon psi) and psi = (delta Gamma((M-1)/2)/(sqrt(pi) Gamma(M/2)))^(2/(M-2)).",
        "abstract of version 2",
    ),
    second_route=by_draws,
)  # fmt: skip


def tail(sigma: float, m: int) -> Number:
    """log10 of P(X >= m) for X on the whole numbers with masses in proportion to exp(-x^2 / (2 sigma^2)), summed until nothing is left."""
    with mpmath.workdps(40):
        reach = int(m + 40 * sigma + 60)
        terms = [mpmath.e ** (-(mpmath.mpf(k) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for k in range(reach)]
        result = mpmath.fsum(terms[m:]) / (2 * mpmath.fsum(terms) - 1)
        return Number(
            float(mpmath.log10(result)),
            1e-13 * (1.0 + abs(float(mpmath.log10(result)))),
            route="sums in 40 digits",
        )


DISCRETE_TAIL = Statement(
    name="field-discrete-gaussian-tail",
    formula=r"P[N_{\mathbb{Z}}(0, \sigma^2) \ge m] \le P[N(0, \sigma^2) \ge m - 1]",
    says="The discrete Gaussian $N_{\\mathbb Z}(0, \\sigma^2)$ reaches a whole number $m \\ge 1$ with at most the probability that "
    "$N(0, \\sigma^2)$ reaches $m - 1$. (Judged for m up to $25 \\sigma + 5$; the proof has no such limit.)",
    source="Canonne, Kamath and Steinke (2020), on utility, as others report it; its abstract was at hand, not the proposition's own page",
    kind=Bound(unit="log10 probability"),
    domain={
        "sigma": Real(0.05, math.inf, log=True, hunt_to=100.0, meaning="sigma"),
        "m": Whole(1, math.inf, log=True, hunt_to=1000, meaning="the whole number"),
    },
    where=lambda sigma, m: m <= 25.0 * sigma + 5.0,
    claimed=lambda sigma, m: float(log_ndtr((1 - m) / sigma)) / math.log(10.0),
    truth=tail,
    points=({"sigma": 1.0, "m": 1}, {"sigma": 0.3, "m": 1}, {"sigma": 20.0, "m": 100}),
    control=Control({"sigma": 1.0, "m": 1}, attained=True),
    derivation="The masses $\\exp(-k^2/(2\\sigma^2))$ fall in k from 0 on, so that their sum from m on is at most the integral of the same from m - 1 on. "
    "By Poisson summation the sum over all whole numbers is at least the integral over the line, $\\sigma\\sqrt{2\\pi}$. Divide.",
)  # fmt: skip

STATEMENTS = (R1SMG, DISCRETE_TAIL)
