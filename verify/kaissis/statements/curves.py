"""The curves of a single mechanism: theorems 1 and 2, corollary 1, lemmas 6 and 9."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from mipsim import referee as rf
from mipsim.theory import kaissis
from mipsim.tradeoff import AbstractTradeOff, FoldedLaplaceTradeOff, InverseTradeOff, MixtureTradeOff
from verify.kaissis.laws.relaxed_attackers import FINITE, known, two_laws
from verify.kaissis.laws.relaxed_laws import best_test, magnitude, norm_curves
from verify.kaissis.statements.lemmas import RATE, ROUNDING, dimensions, points, positive
from verify.statement import Statement, where_in

EXACT = 1e-6
"""Probit units: what two exact routes agree to."""
GRANTED = 1e-9
"""Probit units: what SciPy's incomplete gamma functions and their quantiles are granted."""
MU = positive(0.01, 30.0, "Delta / sigma, sigma the deviation of the Gaussian noise")
Z = rf.Real(-33.0, 6.0, meaning="probit of the FPR")
"""The probit of the FPR, which runs from 1e-238: a large shift is only hard to see at rare ones."""
PART = rf.Choice("j", "jinv", meaning="j, or its inverse")


def j_of(noise: str, mu: float, d: int = 1) -> AbstractTradeOff:
    """Theorem 1 or 2."""
    return FoldedLaplaceTradeOff(mu) if noise == "Laplace" else kaissis.gaussian_tradeoff(mu, d)


def _side(part: str, curve: AbstractTradeOff) -> AbstractTradeOff:
    return curve if part == "j" else curve.inverse()


def probit(curve: AbstractTradeOff, z: float, route: str = "") -> rf.Number:
    """Phi^-1(FNR) at the FPR Phi(z), between proven ends."""
    return rf.Number.between(*map(float, curve.probit_beta_bounds(ndtr(z))), route=route)


def of_norm(d: int, mu2: float, part: str, z: float) -> rf.Number:
    """That of the norm's own law. A quantile is granted 1e-9 of the probit of its level, which moves the curve by no more than its ends here."""
    curve = norm_curves(d, mu2)[part == "jinv"]
    low, high = (probit(curve, z + side * GRANTED) for side in (1.0, -1.0))
    return rf.Number.between(low.low - GRANTED, high.high + GRANTED, route="Poisson sum of chi-square laws")


def power(curve: AbstractTradeOff, z: float) -> float:
    """Phi^-1(TPR) at the FPR Phi(z)."""
    return -float(curve.probit_beta(ndtr(z)))


def in_sight(curve: Callable[..., AbstractTradeOff]) -> Callable[..., bool]:
    """That the FNR is at least 1e-8, and for the inverse, which is computed by bisection, the FPR: below, digits are lost."""
    return lambda **at: _in_sight(curve, tuple(sorted(at.items())))


@lru_cache(maxsize=4096)
def _in_sight(curve: Callable[..., AbstractTradeOff], items: tuple[tuple[str, Any], ...]) -> bool:
    at = dict(items)  # called for the same point again and again, by judges and hunts
    return float(curve(**at).beta(ndtr(at["z"]))) >= 1e-8 and (at.get("part") != "jinv" or at["z"] >= -6.0)


def _laplace(mu1: float, part: str, **_: Any) -> AbstractTradeOff:
    return _side(part, FoldedLaplaceTradeOff(mu1))


def _gaussian(mu2: float, d: int, part: str, **_: Any) -> AbstractTradeOff:
    return _side(part, kaissis.gaussian_tradeoff(mu2, d))


def _folded(mu2: float, **_: Any) -> AbstractTradeOff:
    return kaissis.FoldedGaussianTradeOff(mu2)


_MAGNITUDE = rf.Quote(
    "Like the LM, it also has a symmetric noise density, thus the (squared) magnitude distributions can be used as a test statistic.",
    "section 4, Gaussian Mechanism",
)
PROMISED_LM = rf.Quote(
    "Let mu_1 = Delta_1/b. The LM satisfies (j_LM(alpha), j_LM^-1(alpha))-DR with: j_LM(alpha) = 1 - alpha cosh(mu_1), alpha <= e^-mu_1; "
    "e^-mu_1 sinh(-ln alpha), alpha > e^-mu_1 and j_LM^-1(alpha) = sqrt(alpha^2 e^(2 mu_1) + 1) - alpha e^mu_1, alpha < (1 - e^(-2 mu_1))/2; "
    "(1 - alpha)/cosh(mu_1), alpha >= (1 - e^(-2 mu_1))/2.",
    "theorem 1",
)
PROMISED_GM = rf.Quote(
    "Let mu_2 = Delta_2/sigma. The GM satisfies (j_GM(alpha), j_GM^-1(alpha))-DR with: j_GM(alpha) = CDF_{chi_d^2(mu_2^2, sigma^2)}(SF^-1_{chi_d^2(0, "
    "sigma^2)}(alpha)), j_GM^-1(alpha) = SF_{chi_d^2(0, sigma^2)}(CDF^-1_{chi_d^2(mu_2^2, sigma^2)}(alpha)).",
    "theorem 2; CDF and SF by definition 2",
)
_BOTH: dict[str, Any] = {"part": ("j", "jinv")}
_Z = (-33.0, -12.0, -5.0, -1.6, 0.0, 2.3)
_MUS = (0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0)
THEOREM_1 = Statement(
    name="kaissis-thm-1",
    formula=r"j(\alpha) = \begin{cases} 1 - \alpha \cosh \mu_1 & \alpha \le e^{-\mu_1} \\ e^{-\mu_1} \sinh(-\ln \alpha) & \text{above} \end{cases}",
    uses=("kaissis-lemma-4",),
    says="Laplace: j(a) = 1 - a cosh(mu1) for a <= e^-mu1, e^-mu1 sinh(-ln a) above; jinv(a) = sqrt(a^2 e^{2 mu1} + 1) - a e^mu1 "
    "for a < (1 - e^{-2 mu1})/2, (1 - a)/cosh(mu1) above. Here a = Phi(z).",
    kind=rf.Equality(EXACT, unit="probit"),
    domain={"mu1": MU.means("Delta / b, b the scale of the Laplace noise"), "part": PART, "z": Z},
    where=in_sight(_laplace),
    claimed=lambda **at: probit(_laplace(**at), at["z"]),
    truth=lambda mu1, part, z: probit(
        magnitude("Laplace", mu1) if part == "j" else InverseTradeOff(magnitude("Laplace", mu1)), z
    ),
    defer_where=True,
    points=[
        item
        for item in points(mu1=_MUS, z=_Z, **_BOTH)
        if (item["part"] == "j" or item["z"] >= -6.0) and (item["mu1"] < 30.0 or item["z"] <= -5.0)
    ],
    control=rf.Control({"mu1": 1.0, "part": "j", "z": -1.6}),
    quote=PROMISED_LM,
    not_judged={"The LM satisfies (j_LM(alpha), j_LM^-1(alpha))-DR": "by kaissis-thm-1-guarantee"},
    restricted_by=(_MAGNITUDE,),
)
THEOREM_2 = Statement(
    name="kaissis-thm-2",
    formula=r"j(\alpha) = F_{\chi^2_d(\mu_2^2)}\left(F^{-1}_{\chi^2_d}(1 - \alpha)\right), \quad j^{-1}(\alpha) = 1 - F_{\chi^2_d}\left(F^{-1}_{\chi^2_d(\mu_2^2)}(\alpha)\right)",
    uses=("kaissis-lemma-4",),
    says="Gaussian, dimension d: j(a) = F_{chi2_d(mu2^2)}(F^-1_{chi2_d}(1 - a)); jinv(a) = 1 - F_{chi2_d}(F^-1_{chi2_d(mu2^2)}(a)). "
    "Here a = Phi(z).",
    kind=rf.Equality(EXACT, unit="probit"),
    domain={"mu2": MU, "d": dimensions(1, 10_000), "part": PART, "z": Z},
    where=in_sight(_gaussian),
    claimed=lambda **at: probit(_gaussian(**at), at["z"]),
    truth=of_norm,
    defer_where=True,
    points=[
        *points(mu2=(0.1, 1.0, 3.0), d=(1, 2, 3, 5, 30, 300), z=(-5.0, -1.6, 2.3), **_BOTH),
        *(
            single
            for single in points(mu2=(0.01, 10.0), d=(1, 2, 10_000), z=(-33.0, -5.0, 0.0), **_BOTH)
            if (single["part"] == "j" or single["z"] >= -6.0)
            and (single["mu2"] < 10.0 or single["d"] > 2 or single["z"] < 0.0)
        ),
    ],
    control=rf.Control({"mu2": 3.0, "d": 5, "part": "j", "z": -1.6}),
    quote=PROMISED_GM,
    not_judged={"The GM satisfies (j_GM(alpha), j_GM^-1(alpha))-DR": "by kaissis-thm-2-guarantee"},
    restricted_by=(_MAGNITUDE,),
)
COROLLARY_1 = Statement(
    name="kaissis-cor-1",
    formula=r"j(\alpha) = \Phi(\Phi^{-1}(1 - \alpha / 2) - \mu_2) - \Phi(-\Phi^{-1}(1 - \alpha / 2) - \mu_2)",
    uses=("kaissis-thm-2",),
    says="d = 1: j(a) = Phi(Phi^-1(1 - a/2) - mu2) - Phi(-Phi^-1(1 - a/2) - mu2). Here a = Phi(z).",
    kind=rf.Equality(EXACT, unit="probit"),
    domain={"mu2": MU, "z": Z},
    where=in_sight(_folded),
    claimed=lambda **at: probit(_folded(**at), at["z"]),
    truth=lambda mu2, z: probit(
        kaissis.gaussian_tradeoff(mu2, 1), z, "chi-square law with one degree of freedom"
    ),
    defer_where=True,
    points=[
        *(at for at in points(mu2=_MUS, z=_Z) if at["z"] < {10.0: -1.6, 30.0: -12.0}.get(at["mu2"], 9.0)),
        {"mu2": 1.0, "z": 5.5},  # the FNR is near the least that is in sight
    ],
    control=rf.Control({"mu2": 1.0, "z": -1.6}),
    quote=rf.Quote(
        "For d = 1, j(alpha) admits the following closed-form representation: j_GM(alpha | d = 1) = CDF_{N(0,1)}(SF^-1_{N(0,1)}(alpha/2) - mu_2) - SF_{N(0,1)}(SF^-1_{N(0,1)}(alpha/2) + mu_2).",
        "corollary 1; CDF and SF by definition 2",
    ),
)
LEMMA_6 = Statement(
    name="kaissis-lemma-6",
    formula=r"f' \ge f",
    says="A mechanism that is f-DP is f'-DR with f' >= f: J lies nowhere below the tight f. (Judged for Poisson-sampled Laplace noise at d = 1 and for "
    "Gaussian noise, as j_p >= f_p before both are symmetrised, which keeps the order. In general a test of the relaxed attacker is a test of the same two "
    "distributions: j and its inverse lie above the symmetric, convex f, and so does J.)",
    kind=rf.Ordering(floor=1e-9),
    domain={
        "noise": rf.Choice("Laplace", "Gaussian", meaning="law of the noise"),
        "mu": positive(0.01, 10.0, meaning="Delta / sigma, or Delta / b of Laplace noise"),
        "d": dimensions(1, 1000),
        "rate": RATE,
    },
    where=lambda noise, d: noise == "Gaussian" or d == 1,
    claimed=lambda noise, mu, rate: MixtureTradeOff(known(noise, mu), rate),
    # Before they are symmetrised, which keeps the order: where j_p lies above f_p, jinv_p lies above the inverse of f_p, and Symm
    # of the first pair above that of the second, which is the tight f of the sub-sampled mechanism.
    truth=lambda noise, mu, d, rate: MixtureTradeOff(
        kaissis.FoldedGaussianTradeOff(mu) if (noise, d) == ("Gaussian", 1) else j_of(noise, mu, d), rate
    ),
    points=[
        *points(noise=("Laplace", "Gaussian"), mu=(0.01, 1.0, 3.0, 8.0), d=(1,), rate=(0.01, 0.3, 1.0)),
        *points(noise=("Gaussian",), mu=(1.0, 3.0), d=(2, 30, 1000), rate=(1.0,)),
    ],
    # At mu = 8 the one-sided and the two-sided curve all but agree: f of an attacker who knows 5% less is passed.
    control=rf.Control({"noise": "Gaussian", "mu": 8.0, "d": 1, "rate": 1.0}, 0.05),
    quote=rf.Quote(
        "If a mechanism satisfies f-DP, it also satisfies f'-DR, with f'(alpha) >= f(alpha) for all alpha.",
        "lemma 6",
    ),
)

DIRECT, RANDOM = "the output itself, the shift being known", "a random map of the outputs"


def processed(laws: str, outcomes: int, mu: float, draw: int, after: str) -> AbstractTradeOff:
    """The curve of what is made of the output; a random map has a law of its own for each output."""
    a, b = two_laws(laws, outcomes, mu, draw)
    if after == DIRECT:
        return best_test(a, b)
    maps = np.random.default_rng((draw, 7)).dirichlet(np.full(outcomes, 0.3), a.size)
    return best_test(a @ maps, b @ maps)


_PLAIN = {"outcomes": 20, "draw": 0}
LEMMA_7 = Statement(
    name="kaissis-lemma-7",
    uses=("kaissis-lemma-6",),
    says="Whatever is made of the output of an f-DP mechanism, with whatever else the attacker knows, the errors stay above the tight f. (Judged for the output itself with the shift known, and for random maps of it; in general by the data processing inequality, for knowledge that does not depend on the world.)",
    kind=rf.Bound(),
    domain={
        "laws": rf.Choice(
            "Gaussian",
            "Laplace",
            FINITE,
            meaning="law of the noise, in cells of the output, or two sampled laws",
        ),
        "outcomes": rf.Whole(
            4,
            60,
            log=True,
            meaning="points of the sampled laws, or a tenth of the cells, and outputs of the random map",
        ),
        "mu": positive(0.05, 6.0, meaning="Delta / sigma, or Delta / b of Laplace noise"),
        "draw": rf.Whole(0, 10**6, meaning="seed of the sampled laws"),
        "after": rf.Choice(DIRECT, RANDOM, meaning="what is made of the output"),
    },
    claimed=lambda laws, outcomes, mu, draw: best_test(*two_laws(laws, outcomes, mu, draw)),
    truth=processed,
    points=rf.grid(_PLAIN, laws=("Gaussian", "Laplace", FINITE), mu=(0.5, 3.0), after=(DIRECT, RANDOM)),
    control=rf.Control(_PLAIN | {"laws": "Gaussian", "mu": 3.0, "after": DIRECT}),
    quote=rf.Quote(
        "If a mechanism satisfies f-DP and f'-DR with f' >= f, arbitrary post-processing can only deteriorate privacy up to the f-DP guarantee.",
        "lemma 7",
    ),
)


def _sampled_claim(rate: float, alpha: float, part: str, **laws: Any) -> float:
    curve = MixtureTradeOff(best_test(*two_laws(**laws)), rate)
    return float((curve if part == "j" else curve.inverse()).beta(alpha))


def _sorted(rate: float, alpha: float, part: str, **laws: Any) -> rf.Number:
    a, b = two_laws(**laws)
    pair = (a, (1 - rate) * a + rate * b)
    fnr = best_test(*(pair if part == "j" else pair[::-1])).beta(alpha)
    return rf.Number(float(fnr), route="sorting the likelihood ratios")


_READ = _BOTH | {"alpha": (1e-4, 0.3, 0.9)}
_LAWS = (FINITE, "Gaussian", "Laplace", "magnitude of Gaussian", "magnitude of Laplace")
LEMMA_9 = Statement(
    name="kaissis-lemma-9",
    formula=r"T(A, (1 - p) A + p B)(\alpha) = p \, T(A, B)(\alpha) + (1 - p)(1 - \alpha)",
    says="T(A, (1-p)A + pB)(a) = p T(A,B)(a) + (1-p)(1-a) for all laws A and B, and T((1-p)A + pB, A) is its inverse.",
    kind=rf.Equality(ROUNDING, unit="FNR"),
    domain={
        "laws": rf.Choice(*_LAWS, meaning="the two laws"),
        "outcomes": rf.Whole(4, 200, log=True, meaning="points of the laws on finitely many points"),
        "mu": positive(0.05, 10.0, meaning="Delta / sigma, or Delta / b of Laplace noise"),
        "draw": rf.Whole(0, 10**6, meaning="seed of the sampled laws"),
        "rate": rf.Real(0.0, 1.0, meaning="probability that the record takes part"),
        "part": PART,
        "alpha": rf.Real(0.0, 1.0, meaning="FPR"),
    },
    claimed=_sampled_claim,
    truth=_sorted,
    points=[
        *points(
            laws=(FINITE,), outcomes=(4, 12, 200), mu=(1.0,), draw=(0, 1), rate=(0.0, 0.3, 0.9, 1.0), **_READ
        ),
        *points(laws=_LAWS[1:], outcomes=(200,), mu=(0.1, 1.0, 5.0), draw=(0,), rate=(0.01, 0.3), **_READ),
    ],
    control=rf.Control(
        {"laws": FINITE, "outcomes": 12, "mu": 1.0, "draw": 1, "rate": 0.3, "part": "j", "alpha": 0.3}
    ),
    quote=rf.Quote(
        "Let T(A, B)(alpha) be a trade-off function between two general distributions A, B representing mechanism outputs. The trade-off "
        "functions for the sub-sampled mechanisms are given by T(A, (1-p)A + pB)(alpha) = p T(A, B)(alpha) + (1-p)(1-alpha) and by its "
        "inverse.",
        "lemma 9",
    ),
    matters_when={"draw": where_in("laws", FINITE), "mu": lambda **at: at.get("laws") != FINITE},
)

STATEMENTS = (LEMMA_6, LEMMA_7, THEOREM_1, THEOREM_2, COROLLARY_1, LEMMA_9)
"""In the order of the paper."""
