"""The empirical mean: theorem 3.1, lemma C.6, equation 5 and their corrections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy.special import ndtri

from mipsim.referee.exact_judges import MOST_TOLERANCE
from mipsim.theory import azize
from verify.azize.conditions import DATA, MEAN, REGULAR
from verify.azize.irregular_games import second_route
from verify.azize.mean_cases import AT_THE_MEAN, IRREGULAR, PAPER, MeanCase, brackets, drawn, leakage
from verify.azize.mean_cases import REGULAR as CASES
from verify.azize.mean_gaps import advantage_size, curve_size, difference_size, gaussian_below, law_size
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_tolerance, judge_equality, judge_limit, number_tolerance

NO_LEAKAGE = 0.01
"""Absolute tolerance, in probits or advantage, where the claimed leakage is 0 and has no scale."""

PAPER_POINT = {"n": 1000, "d": 5000, "data": "Bernoulli(p), p ~ U[.25, .75]^d drawn once"}

SAMPLES = (8, 12, 50)
"""Drawn points a claim at quick, standard and full: each is ten exact laws, which the claims about the mean share."""

LAWS = "mean"
"""The name under which the claims about the mean share laws and drawn points."""

ASSUMES = Quote(
    "We suppose that the data-generating distribution is column-wise independent [...] and has a finite (4 + delta)-th "
    "moment for some small delta, i.e. there exists delta > 0, such that E[Z^(4 + delta)] < infinity.",
    "section 3, assumptions",
)
ASYMPTOTIC = Quote(
    "Since the LR test can be non-tractable in general cases, we study the asymptotic behaviour of the LR test, when both the "
    "sample size n and the dimension d tend to infinity such that d/n = tau > 0.",
    "section 3, notations",
)
RESTRICTED = (ASSUMES, ASYMPTOTIC)

DOMAIN = {
    "n": Between(2, float("inf"), "a limit: judged at n = 50 to 25,600 by proven laws, further where it is slow"),
    "d/n": Between(0, float("inf"), "tau > 0; judged from 0.1 to 20, drawn so that m* is in [1/2, 6]"),
    "data": OneOf(
        ("Bernoulli", "Gaussian", "Gamma(1/4) to Gamma(8)", "mixtures", "atoms 0, 1, sqrt 2", "rarer and rarer values",
         "a rare parity", "Cantor"),
        "product laws with finite (4 + delta)-th moments; drawn among Bernoulli, Gaussian, Gamma",
    ),
    "target": OneOf(
        ("easiest", "hardest", "typical", "far out", "off the support", "all in one coordinate", "the mean"),
        "every z*; drawn from the data, and as often within 3 sd of their mean without regard to the support",
    ),
    "alpha": Between(0, 1, "judged on [1e-4, 1 - 1e-4]"),
}  # fmt: skip
REGULAR_DOMAIN = DOMAIN | {
    "data": OneOf(("Bernoulli", "Gaussian", "Gamma(1/4) to Gamma(8)", "mixtures"), DATA),
    "target": OneOf(
        ("easiest", "hardest", "typical", "far out", "off the support of a density", "all in one coordinate"),
        "in {0, 1} for Bernoulli; drawn from the data, and for densities as often within 3 sd of their mean",
    ),
}


def case_regime(
    case: MeanCase,
    at: Callable[[int], Size],
    tolerance: float,
    *,
    unit: str = "probit",
    name: str = "",
    **more: float,
) -> Regime:
    """A limit judged at one case by proven laws; the irregular cases have small games as their second route."""
    parameters = case.parameters | more

    def judge(_: Budget) -> RegimeResult:
        second = None if case.regular else partial(second_route, case.name)
        return judge_limit(at, tolerance, parameters, sizes=case.sizes, unit=unit, second_route=second)

    setting = "paper" if case in PAPER.values() else ""
    return Regime(name or case.name, parameters, judge, random=False, setting=setting)


def power_regime(case: MeanCase, stretch: float = 1.0) -> Regime:
    """The optimal curve of a case; `stretch` multiplies the claimed mu for the control."""
    return case_regime(case, partial(curve_size, case, stretch), _curve_tolerance(case))


def law_regime(case: MeanCase, stretch: float = 1.0, name: str = "") -> Regime:
    """The law of the ratio of a case against N(-+m*/2, m*)."""
    return case_regime(case, partial(law_size, case, stretch), _curve_tolerance(case), name=name)


def advantage_regime(case: MeanCase, stretch: float = 1.0) -> Regime:
    """The optimal advantage of a case against equation 3."""
    m = _last_leakage(case)
    tolerance = number_tolerance(azize.advantage(m)) if m else NO_LEAKAGE
    return case_regime(case, partial(advantage_size, case, stretch), tolerance, unit="advantage")


def difference_regime(case: MeanCase, epsilon: float = 0.1, scale: float = 1.0) -> Regime:
    """Mean square of likelihood ratio less covariance score, in both worlds; `scale` spoils the score for the control."""
    at = partial(difference_size, case, epsilon, scale)
    return case_regime(
        case, at, NO_LEAKAGE, unit="mean square" if case.regular else "probability", epsilon=epsilon
    )


def level_regime() -> Regime:
    """At m* = 0, tau_alpha is 0 for every alpha: the level of {l_n > 0} against alpha = 0.05."""
    alpha = 0.05
    parameters = AT_THE_MEAN.parameters | {"alpha": alpha}

    def at(n: int) -> Size:
        gap = ndtri(1.0 - gaussian_below(AT_THE_MEAN, n, np.zeros(1), False)) - ndtri(alpha)
        return Size(float(gap[0]), float(gap[0]))

    def second() -> str:
        rng, n, games = np.random.default_rng(18), 400, 20_000
        # Of d = 2n sums s_j ~ N(0, n): l = -(d/2) log(1 - 1/n) - sum s_j^2 / (2 n (n - 1)).
        ratio = -n * np.log1p(-1 / n) - rng.chisquare(2 * n, games) / (2 * (n - 1))
        return f"{games:,} games of H0 (NumPy, seed 18, n = {n}, d = {2 * n}): FPR {float((ratio > 0).mean()):.3f} at tau_alpha = 0"

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, NO_LEAKAGE, parameters, sizes=AT_THE_MEAN.sizes, second_route=second)

    return Regime("level at m* = 0", parameters, judge, random=False)


def own_size_regime(case: MeanCase, stretch: float = 1.0) -> Regime:
    """How far the limit is from the exact curve at the paper's own size, n = 1000 and d = 5000."""
    parameters = case.parameters | {"n": 1000}

    def judge(_: Budget) -> RegimeResult:
        size = curve_size(case, stretch, 1000)
        return judge_equality(size, parameters, mu=np.sqrt(leakage(brackets(case, 1000, 1000))) * stretch)

    return Regime(f"{case.name}, n = 1000", parameters, judge, random=False, setting="paper")


def sampled(
    regime: Callable[[MeanCase], Regime],
    *,
    lattice: bool,
    laws: Sequence[str] = ("bernoulli", "gaussian", "gamma"),
) -> Callable[[np.random.Generator, int], Sequence[Regime]]:
    """Draw cases and judge them by this regime; `lattice`: targets of Bernoulli data are drawn from the data."""
    return lambda rng, count: [regime(drawn(rng, laws, lattice=lattice)) for _ in range(count)]


def _last_leakage(case: MeanCase) -> float:
    return leakage(brackets(case, case.sizes[-1], case.sizes[-1]))


def _curve_tolerance(case: MeanCase) -> float:
    m = _last_leakage(case)
    return curve_tolerance(np.sqrt(m)) if m else NO_LEAKAGE


KNOWN = ("bernoulli", "gaussian")
"""Data of which the difference of ratio and score is known."""
_ALL = (*PAPER.values(), *CASES)
_EXACT = tuple(case for case in _ALL if case.law in KNOWN)
_WIDE = next(case for case in CASES if case.name == "bernoulli-wide")


def pair(
    name: str,
    statement: str,
    quote: Quote,
    kind: Kind,
    unit: str,
    tolerance: float,
    regime: Callable[[MeanCase], Regime],
    control: Control,
    *,
    cases: Sequence[MeanCase] = _ALL,
    extra: Sequence[Regime] = (),
    broken: Sequence[Regime] = (),
    laws: Sequence[str] = (*KNOWN, "gamma"),
    without: Sequence[str] = (),
    condition: str = "",
    derivation: str = MEAN,
    domain: dict[str, Between | OneOf] | None = None,
) -> tuple[Claim, Claim]:
    """A statement about the mean as printed, and its correction: the same formula under the conditions.

    `regime` judges one case and `cases` are the regular ones; the printed statement is judged at the irregular ones too, but for
    those named in `without`, whose law that regime does not know. `extra` are regimes of both, `broken` of the printed one
    alone; the drawn cases have one of `laws`. `condition` is what the correction asks besides `REGULAR`, `derivation` says why it holds,
    and `domain` holds further parameters.
    """
    more = domain or {}
    both = (*(regime(case) for case in cases), *extra)
    wrong = [case for case in IRREGULAR if case.name not in without]
    printed = Claim(
        name, "azize", statement, kind, tolerance, unit, DOMAIN | more,
        (*both, *(regime(case) for case in wrong), *broken), control, corrected_by=f"{name}-corrected",
        quote=quote, restricted_by=RESTRICTED, sampled=sampled(regime, lattice=False, laws=laws), samples=SAMPLES,
        laws=LAWS,
    )  # fmt: skip
    corrected = Claim(
        f"{name}-corrected", "azize", f"{statement} Where {REGULAR}{condition}.", kind, tolerance, unit,
        REGULAR_DOMAIN | more, both, control, corrects=name, derivation=derivation, quote=quote, restricted_by=RESTRICTED,
        same_formula=True, sampled=sampled(regime, lattice=True, laws=laws), samples=SAMPLES,
        laws=LAWS,
    )  # fmt: skip
    return printed, corrected


CLAIMS = (
    *pair(
        "azize-thm-3.1-power",
        "Empirical mean: lim Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m*)), reached at the threshold "
        "tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha); m* = lim (1/n) ||z* - mu||^2_{C^-1}.",
        Quote(
            "The asymptotic trade-off function, achievable with threshold tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha), is "
            "lim_{n,d} Pow_n(l_n, alpha, z*) = Phi(Phi^-1(alpha) + sqrt(m*)).",
            "theorem 3.1, equation 4",
        ),
        Kind.LIMIT, "probit", MOST_TOLERANCE, power_regime,
        Control(lambda stretch: power_regime(PAPER["easiest"], stretch)),
        extra=(
            *(own_size_regime(case) for case in PAPER.values()),
            *(law_regime(case, name=f"{case.name}, thresholds") for case in CASES if case.law == "gaussian"),
        ),
        broken=(level_regime(),),
        condition=", and for the threshold m* > 0",
    ),
    *pair(
        "azize-thm-3.1-advantage",
        "Empirical mean: the optimal advantage tends to Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2).",
        Quote(
            "The asymptotic target-dependent leakage of z* in the empirical mean is lim_{n,d} xi_n(z*, M_n^emp, D) = "
            "Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2).",
            "theorem 3.1, equation 3",
        ),
        Kind.LIMIT, "advantage", NO_LEAKAGE, advantage_regime,
        Control(lambda stretch: advantage_regime(PAPER["hardest"], stretch), 0.05),
    ),
    *pair(
        "azize-lemma-C.6",
        "Empirical mean: l_n => N(-m*/2, m*) under H0 and N(+m*/2, m*) under H1.",
        Quote(
            "Under H_0: l_n(muhat_n; z*, mu, C_sigma) => N(-m*/2, m*). Under H_1: l_n(muhat_n; z*, mu, C_sigma) => N(m*/2, m*), "
            "where the convergence is a convergence in distribution, such that d, n -> infinity, while d/n = tau.",
            "lemma C.6, appendix C.2",
        ),
        Kind.LAW, "probit", MOST_TOLERANCE, law_regime,
        Control(lambda stretch: law_regime(PAPER["easiest"], stretch)),
    ),
    *pair(
        "azize-eq-5",
        "l_n ~ (z* - mu)' C^-1 (muhat - mu) - (1/2n) ||z* - mu||^2_{C^-1}: the difference vanishes in probability.",
        Quote(
            "l_n ~ (z* - mu)^T C_sigma^-1 (muhat_n - mu) - (1/2n) ||z* - mu||^2_{C_sigma^-1} asymptotically in n and d.",
            "equation 5, section 3",
        ),
        Kind.LIMIT, "mean square", NO_LEAKAGE, difference_regime,
        Control(lambda scale: difference_regime(_WIDE, scale=scale), 0.05),
        cases=_EXACT, laws=KNOWN, without=("three-atoms", "rare-coordinate"),
    ),
)  # fmt: skip
"""Printed and corrected, side by side."""
