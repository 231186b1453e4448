"""Noise of density exp(-||x||/(c sigma)) (theorem 9, corollary 14), and its recipe with a Laplace radius (corollary 10).

Theorem 9 holds with room: c = 1/artanh(2 eta), about 1/(2 eta), suffices for every M >= 1, norm and dimension.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.theory import izzo
from mipsim.tradeoff import ApproxDPTradeOff
from sims.izzo_games import CASE, scale_of
from verify.izzo.checks.second_routes import corollary_10_again, two_output_draws
from verify.izzo.laws.algorithms import OUTPUTS, RANDOM, central_moment, outputs_of
from verify.izzo.laws.laws_with_moments import WORST, tail
from verify.izzo.laws.noise_bounds import corollary_10_bounds, corollary_10_interval, largest_eta
from verify.izzo.laws.subset_laplace import laplace_eta
from verify.izzo.laws.subset_shift import planar_shift_eta
from verify.izzo.statements.definition import EVEN, HALF
from verify.statement import Statement, where_in

EVERY = "every algorithm, norm and dimension"
UNIT = "times the promised eta"
ABOUT = "About {:.4g} by quadrature, whose error is an estimate."
DOMAIN = {
    # The others have outputs on the line, where the law of the output with its noise is known in closed form.
    "algorithm": rf.Choice(EVERY, *OUTPUTS, RANDOM, meaning="the algorithm"),
    "n": rf.Whole(2, np.inf, hunt_to=8, meaning="records in D, of which the training set is sampled"),
    "tail": rf.Real(
        0.0,
        np.inf,
        hunt_to=5,
        meaning="sampled outputs are Cauchy numbers to this power: 0 for equal outputs, larger for outputs farther apart",
    ),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    "M": rf.Real(2.0, np.inf, log=True, hunt_to=1000, meaning="moment order M of the noise scale"),
    # Nothing is claimed from 1/2 on.
    "eta": rf.Real(1e-6, 0.5, log=True, meaning="promised eta"),
}
REST = {"n": 8, "tail": 1.0, "draw": 0}
LEAST = REST | {"algorithm": "membership", "n": 2, "M": 2.0, "eta": 0.1}
ETAS, MOMENTS = (0.49, 0.1, 1e-4), (2.0, 3.0, 10.0, 100.0)


def worst_ratio(c: float, M: float, eta: float) -> rf.Number:
    """What the best attack's eta over the promised eta is at most: for every algorithm, norm and dimension."""
    most, route = largest_eta(c, M) / eta, "proven bound: tanh(1/c)/2, or (2c)^-M for M < 1"
    return rf.Number.between(0.0, most, route=route)


def laplace_ratio(values: np.ndarray, c: float, M: float, eta: float, n: int) -> rf.Number:
    """The best attack's eta over the promised eta, for outputs on the line with their own sigma."""
    sigma = central_moment(values, M)
    result = float(laplace_eta(values, c * sigma, n).max()) if sigma > 0.0 else 0.0
    return rf.Number(result / eta, route="closed form of Laplace mixtures")


def ratio(constant: float, algorithm: str, n: int, tail: float, draw: int, M: float, eta: float) -> rf.Number:
    """The best attack's eta over the promised eta."""
    c = izzo.noise_constant(eta, M, constant)
    if algorithm == EVERY:
        return worst_ratio(c, M, eta)
    return laplace_ratio(outputs_of(algorithm, n, tail, draw), c, M, eta, n)


def points(moments: tuple[float, ...]) -> list[dict[str, object]]:
    """Every algorithm, and every kind of outputs on the line."""
    return (
        rf.grid(REST, algorithm=(EVERY, *OUTPUTS), M=moments, eta=(0.5, *ETAS))
        + rf.grid(REST, algorithm=EVERY, M=moments, eta=1e-6)
        + rf.grid(LEAST, M=moments)
    )


_OUTPUTS = {
    "n": lambda algorithm: algorithm in (*OUTPUTS, RANDOM),
    **dict.fromkeys(("tail", "draw"), where_in("algorithm", RANDOM)),
}
THEOREM_9 = Statement(
    name="izzo-thm-9",
    formula=r"p(x) \propto \exp\left(-\frac{\lVert x \rVert}{c \sigma}\right), \quad c = \left(\frac{7.5}{\eta}\right)^{1 + 2 / M}, \quad \sigma^M \ge E \lVert \theta - E \theta \rVert^M",
    uses=("izzo-lemma-13",),
    # The theorem names the M-th moment itself, with which the lemma's bound holds.
    unreached={
        "izzo-lemma-13": lambda M: all(tail(WORST, M, 1.0, t) <= t**-M * (1 + 1e-9) for t in (0.5, 1.5, 4.0))
    },
    says="theta + X with density of X proportional to exp(-||X||/(c sigma)), c = (7.5/eta)^(1 + 2/M), sigma^M >= E||theta - E theta||^M, is eta-MIP.",
    kind=rf.Bound(unit=UNIT),
    domain=DOMAIN
    | {"M": rf.Real(0.05, np.inf, log=True, hunt_to=1000, meaning="moment order M of the noise scale")},
    where=lambda n: n % 2 == 0,
    claimed=lambda: 1.0,
    truth=lambda **at: ratio(izzo.CONSTANT, **at),
    points=points((0.5, 1.0, 1.5, 2.0, 3.0, 10.0, 100.0)),
    control=rf.Control(LEAST, attained=True),
    quote=rf.Quote(
        "Let ||.|| be any norm, and let sigma^M >= E||theta - E theta||^M be an upper bound on the M-th central moment of theta "
        "with respect to this norm over the randomness in D_train and A. Let X be a random variable with density proportional "
        "to exp(-||X||/(c sigma)) with c = (7.5/eta)^(1 + 2/M). Finally, let theta-hat = theta + X. Then theta-hat is eta-MIP, "
        "i.e., for any adversary I, P(I(x*, theta-hat) = y*) <= 1/2 + eta.",
        "theorem 9",
    ),
    restricted_by=(HALF,),
    needs=EVEN,
    matters_when=_OUTPUTS,
)

COROLLARY_14 = replace(
    THEOREM_9,
    name="izzo-cor-14",
    formula=r"c = \left(\frac{6.16}{\eta}\right)^{1 + 2 / M}",
    uses=("izzo-thm-9",),
    unreached={},
    says="For M >= 2, c = (6.16/eta)^(1 + 2/M) suffices in theorem 9.",
    source="Izzo et al., corollary 14",
    domain=DOMAIN,
    truth=lambda **at: ratio(izzo.CONSTANT_FROM_2, **at),
    points=points(MOMENTS),
    quote=rf.Quote("When M >= 2, taking c = (6.16/eta)^(1+2/M) guarantees eta-MIP.", "corollary 14"),
)

SIDES = "outputs (1, ..., 1) and (-1, ..., -1) in R^d"
PLAYED = SIDES + ", by games"


def mip_tradeoff(eta: float) -> ApproxDPTradeOff:
    """max(0, 1 - a - 2 eta): what eta-MIP implies for every attack, and no more, since accuracy <= 1/2 + eta is TPR - FPR <= 2 eta."""
    return ApproxDPTradeOff(0.0, 2.0 * eta)


def printed_ratio(algorithm: str, M: float, eta: float, d: int, **at: Any) -> Any:
    """The best attack's eta over the promised eta, or draws of the likelihood ratio of two outputs."""
    c = scale_of(M, eta)
    if algorithm == PLAYED:
        return two_output_draws(M, d, eta)
    if algorithm != SIDES:
        return ratio(izzo.CONSTANT_FROM_2, algorithm, M=M, eta=eta, **at)
    # At M = 2 no algorithm is worse than these two outputs.
    low, high = corollary_10_interval(c, d) if M == 2.0 else corollary_10_bounds(c, d, M)
    planar = d == 2 and 2.0 < M <= 1000.0 and c <= 1e8
    about = ABOUT.format(planar_shift_eta(c, M) / eta) if planar else ""
    return rf.Number.between(low / eta, high / eta, route="proven bounds", detail=about)


_SAYS = "theta + r U, U = Y/||Y||_{sigma,M}, Y_i ~ GenNormal(0, sigma_i, M), sigma_i^M >= E|theta_i - E theta_i|^M, M >= 2, "
_LINE = LEAST | {"d": 1}
_SIDES, _PLAYED = _LINE | {"algorithm": SIDES}, _LINE | {"algorithm": PLAYED}
_DIMENSION = rf.Whole(1, np.inf, log=True, hunt_to=10_000_000, meaning="dimension of the output")
# Where the proven bounds refute M > 2; M = 2 fails from about d = 53,000 on only.
_FAILS = (3.0, 20_000, 0.4), (4.0, 10_000, 0.1), (8.0, 1000, 0.25), (32.0, 200, 0.1), (1000.0, 100, 0.1)
COROLLARY_10 = Statement(
    name="izzo-cor-10",
    formula=r"\theta + r \frac{Y}{\lVert Y \rVert_{\sigma, M}}, \quad r \sim \mathrm{Laplace}\left((6.16 / \eta)^{1 + 2 / M}\right)",
    uses=("izzo-thm-9", "izzo-cor-14"),
    says=_SAYS + "r ~ Laplace((6.16/eta)^(1 + 2/M)), is eta-MIP in every dimension.",
    fails="A Laplace radius in any direction lacks the factor $r^{d-1}$ of theorem 9's density, the volume of the sphere, so that the norm of the noise does not grow with d. The constant has room for it at d = 1, as in figure 1, and at M = 2 up to d = 52,000; the attacker passes 1/2 + eta beyond (at eta = 0.255 by d = 53,359), and at larger M sooner (at M = 4 and eta = 0.1 by d = 10,000, proven to be at least 1.1 times the promise; at M = 16 and eta = 0.25 by d = 64, by games 1.3 times). Theorem 9 and corollary 14 stand.",
    instead=r"$r \sim \mathrm{Gamma}(d)$",
    kind=rf.Bound(unit=UNIT),
    domain=DOMAIN
    | {"algorithm": rf.Choice(SIDES, *OUTPUTS, RANDOM, PLAYED, meaning="the algorithm"), "d": _DIMENSION},
    # Games draw every coordinate; on the line n records have a half.
    where=lambda algorithm, n, d: d <= 64 if algorithm == PLAYED else n % 2 == 0,
    claimed=lambda algorithm, eta: mip_tradeoff(eta) if algorithm == PLAYED else 1.0,
    truth=printed_ratio,
    points=[
        *rf.grid(REST | {"d": 1}, algorithm=OUTPUTS, M=MOMENTS, eta=(0.49, 1e-4)),
        _LINE,
        *rf.grid(_SIDES, eta=(0.05, 0.255, 0.4), d=(1, 2, 10, 1000, 10**5, 10**6)),
        # "A(D) are the weights of a neural network trained on D" (section 4).
        rf.Point(_SIDES | {"M": 4.0, "d": 10**6}, "a million weights", "lead"),
        # About the least d at which M = 2 fails, for any eta.
        *rf.grid(_SIDES, eta=0.255, d=(52_000, 53_359)),
        *rf.grid(_SIDES, d=2, M=(8.0, 100.0, 1000.0), eta=(1e-3, 1e-5)),
        *rf.rows(_SIDES, "M d eta", *_FAILS),
        *rf.rows(_PLAYED, "M d eta", CASE, (32.0, 16, 0.1), (64.0, 64, 0.4)),
        # From hunts.
        _SIDES | {"tail": 0.0, "M": 100.0, "eta": 2e-06, "d": 200000},
    ],
    control=rf.Control(_LINE, attained=True),
    quote=rf.Quote(
        "Let M >= 2, sigma_i^M >= E|theta_i - E theta_i|^M, and define ||x||_{sigma,M} = (sum_{i=1}^d |x_i|^M/(d sigma_i^M))^(1/M) for any vector x = (x_1, ..., x_d)^T. "
        "Generate Y_i ~ GenNormal(0, sigma_i, M), U = Y/||Y||_{sigma,M} and draw r ~ Laplace((6.16/eta)^(1+2/M)). Finally, set X = rU and return theta-hat = theta + X. Then theta-hat is eta-MIP.",
        "corollary 10",
    ),
    restricted_by=(
        HALF,
        rf.Quote(
            "For instance, A may compute a simple statistical query on D, such as mean estimation, but our results apply equally "
            "well in the case that e.g. A(D) are the weights of a neural network trained on D.",
            "section 4",
        ),
    ),
    second_route=corollary_10_again,
    # Each takes up to 0.05 ms, and its points are off by many times what is promised.
    games=(50_000, 50_000, 5_000_000),
    needs=EVEN,
    matters_when=_OUTPUTS | {"d": where_in("algorithm", SIDES, PLAYED)},
)

COROLLARY_10_CORRECTED = COROLLARY_10.corrected(
    says=_SAYS
    + "all sigma_i > 0 and finite, r ~ Gamma of shape d and scale (6.16/eta)^(1 + 2/M) independent of U, and (U, r) of theta, is eta-MIP at k = n/2 in "
    "every dimension. (A coordinate with sigma_i = 0 is constant, released as it is, and not counted in d.)",
    formula=r"\theta + r \frac{Y}{\lVert Y \rVert_{\sigma, M}}, \quad r \sim \mathrm{Gamma}\left(d, (6.16 / \eta)^{1 + 2 / M}\right)",
    # EVERY holds in every dimension; the other algorithms' outputs lie on the line.
    domain=DOMAIN | {"d": rf.Fixed(1)},
    where=lambda n: n % 2 == 0,
    claimed=lambda: 1.0,
    truth=lambda d, **at: ratio(izzo.CONSTANT_FROM_2, **at),
    points=[item | {"d": 1} for item in points(MOMENTS)],
    derivation=(
        "1. Law of X. Y has a density proportional to exp(-sum (|y_i|/sigma_i)^M) = exp(-d ||y||^M), a function of the norm: in polar "
        "coordinates of the norm (the volume of {s <= ||y|| <= s + ds} is d v s^(d-1) ds, v that of the unit ball) ||Y|| and U = Y/||Y|| are "
        "independent and U has the cone measure of the sphere. For r independent of U with a density q, X = r U has the density q(||x||)/(d v "
        "||x||^(d-1)). For Gamma(d, c), q(s) is proportional to s^(d-1) e^(-s/c), and X has a density proportional to exp(-||x||/c), that of "
        "theorem 9; a Laplace radius gives ||x||^-(d-1) exp(-||x||/c), another density for d > 1. 2. Moment. E||theta - E theta||^M = "
        "sum E|theta_i - E theta_i|^M/(d sigma_i^M) <= 1. 3. Privacy, without the printed proof. With independent theta and X, given the "
        "coins of A, two outputs a and b shift a density into another with a ratio of at most e^(||a - b||/c), and a pair of laws with "
        "ratios in [e^-t, e^t] has a total variation of at most tanh(t/2) (Kairouz, Oh and Viswanath). Draw a from the sets with the target "
        "and b from those without, independently: total variation is convex, tanh concave on [0, inf), and E||a - b|| <= E||a - m|| + E||b - m|| "
        "= 2 E||theta - m|| <= 2 with m = E theta, k = n/2 and M >= 1 (Jensen). So TV <= tanh(1/c), and accuracy is at most 1/2 + TV/2. 4. "
        "c = (6.16/eta)^(1 + 2/M) >= 6.16/eta for eta <= 1/2, and tanh(1/c)/2 <= 1/(2c) < eta; for eta > 1/2 nothing is claimed. "
        "At d = 1, Gamma(1, c) is the modulus of a Laplace draw and nothing changes. The printed radius fails: at M = 2 its worst eta over all "
        "algorithms is E P(|U_1| < 1/r)/2, which tends to 1/2 as d grows."
    ),
    needs={"n/2": {"held": {"n": 3}}},
)

STATEMENTS = (THEOREM_9, COROLLARY_14, COROLLARY_10, COROLLARY_10_CORRECTED)
