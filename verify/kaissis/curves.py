"""The curves of one mechanism: theorems 1 and 2, corollary 1, lemmas 6 and 9."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np

from mipsim.referee.exact_judges import ROUNDING
from mipsim.theory import kaissis
from mipsim.tradeoff import AbstractTradeOff
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.kaissis.outputs import (
    NOISES,
    best_test,
    both_ways,
    cells,
    level_gap,
    log_uniform,
    magnitude_beta,
    norm_beta,
)
from verify.limits import GRID, Size, judge_bound, judge_identity

EXACT = 1e-6
"""Probit units: what two exact routes agree to, on FNRs from 1e-4."""

UNBOUNDED = float("inf")


def _exact(found: Size, parameters: dict, route: str, detail: str = "") -> RegimeResult:
    result = judge_identity(found.worst, EXACT, parameters, unit="probit", route=route, detail=detail)
    return dataclasses.replace(result, interval=(found.low, found.high), evidence=found.evidence)


def laplace_regime(mu: float, stretch: float = 1.0) -> Regime:
    """Theorem 1 against the distribution function of |z|; `stretch` times mu is claimed, for the control."""
    parameters = {"mu1": mu}

    def judge(_: Budget) -> RegimeResult:
        j = kaissis.laplace_tradeoff(stretch * mu)
        found = both_ways(magnitude_beta("Laplace", mu), j.beta, j.inverse().beta, f"mu1 = {mu:g}")
        return _exact(found, parameters, "exact law of |z|", "j and jinv, both branches of each")

    return Regime(f"Laplace, mu1 = {mu:g}", parameters, judge, random=False)


def gaussian_regime(mu: float, d: int, stretch: float = 1.0) -> Regime:
    """Theorem 2 against the law of ||z||^2, integrated coordinate by coordinate."""
    parameters = {"mu2": mu, "d": d}

    def judge(_: Budget) -> RegimeResult:
        j = kaissis.gaussian_tradeoff(stretch * mu, d)
        found = both_ways(norm_beta(d, mu), j.beta, j.inverse().beta, f"mu2 = {mu:g}, d = {d}")
        return _exact(found, parameters, "quadrature along the shift")

    return Regime(f"Gaussian, mu2 = {mu:g}, d = {d}", parameters, judge, random=False)


def line_regime(mu: float, stretch: float = 1.0) -> Regime:
    """Corollary 1 against theorem 2 at d = 1."""
    parameters = {"mu2": mu}

    def judge(_: Budget) -> RegimeResult:
        j = kaissis.gaussian_tradeoff(mu, 1)
        claimed = kaissis.FoldedGaussianTradeOff(stretch * mu)
        found = both_ways(j.beta, claimed.beta, claimed.inverse().beta, f"mu2 = {mu:g}")
        return _exact(found, parameters, "chi-square law with one degree of freedom")

    return Regime(f"d = 1, mu2 = {mu:g}", parameters, judge, random=False)


def finite_regime(points: int, seed: int, rate: float, factor: float = 1.0) -> Regime:
    """Lemma 9 for two laws on a finite set, drawn once with this seed, some of whose points only one law has."""
    parameters = {"points": points, "seed": seed, "p": rate}

    def judge(_: Budget) -> RegimeResult:
        rng = np.random.default_rng(seed)
        a, b = rng.dirichlet(np.full(points, 0.5), 2)
        a[: points // 4], b[-(points // 4) :] = 0.0, 0.0
        return _mixture(a / a.sum(), b / b.sum(), rate, factor, parameters)

    return Regime(f"{points} points, seed {seed}, p = {rate:g}", parameters, judge, random=False)


def line_mixture_regime(noise: str, mu: float, rate: float, folded: bool) -> Regime:
    """Lemma 9 for a shift on the line, cut into cells: the output itself, or its magnitude."""
    parameters = {"noise": noise, "mu": mu, "p": rate, "statistic": "magnitude" if folded else "output"}

    def judge(_: Budget) -> RegimeResult:
        law, width = NOISES[noise], mu + 12.0
        a, b = cells(law.cdf, width, 2000), cells(lambda x: law.cdf(x - mu), width, 2000)
        if folded:
            a, b = a + a[::-1], b + b[::-1]
            a, b = a[: a.size // 2], b[: b.size // 2]
        return _mixture(a, b, rate, 1.0, parameters)

    return Regime(
        f"{noise}, mu = {mu:g}, p = {rate:g}, {parameters['statistic']}", parameters, judge, random=False
    )


def _mixture(a: np.ndarray, b: np.ndarray, rate: float, factor: float, parameters: dict) -> RegimeResult:
    mixed = (1 - rate) * a + rate * b
    claimed = kaissis.sampled_tradeoff(best_test(a, b), rate * factor)
    forth, back = best_test(a, mixed), best_test(mixed, a)
    grid = np.unique(np.concatenate([GRID, forth.alpha]))
    gaps = np.concatenate(
        # The inverse is read at the corners of the sorted test, where no curve is flat.
        [claimed.beta(grid) - forth.beta(grid), claimed.beta(back.corners[1:-1]) - back.alpha[1:-1]]
    )
    worst = float(gaps[np.argmax(np.abs(gaps))])
    return judge_identity(worst, ROUNDING, parameters, unit="FNR", route="sorting the likelihood ratios")


def resilience_regime(noise: str, mu: float, d: int, rate: float, factor: float = 1.0) -> Regime:
    """Lemma 6: j against the tight f of the DPTM at `factor` times the shift; only j below f counts against it.

    Where j_p lies above f_p, jinv_p lies above the inverse of f_p, and Symm of the one pair above that of the other, which
    is the tight f of the sub-sampled mechanism.
    """
    parameters = {"noise": noise, "mu": mu, "d": d, "p": rate}

    def judge(_: Budget) -> RegimeResult:
        relaxed, known = _pair(noise, mu, d, rate, factor)
        found = level_gap(relaxed, known, "j")
        return judge_bound(
            found,
            parameters,
            route="exact curves before they are symmetrised, which keeps the order",
            detail=f"j lies above f by up to {-found.low:.3g} probits",
        )

    return Regime(f"{noise}, mu = {mu:g}, d = {d}, p = {rate:g}", parameters, judge, random=False)


def _pair(
    noise: str, mu: float, d: int, rate: float, factor: float
) -> tuple[AbstractTradeOff, AbstractTradeOff]:
    if noise == "Laplace":
        j, f = kaissis.laplace_tradeoff(mu), kaissis.laplace_dptm(factor * mu)
    else:
        line = d == 1
        j = kaissis.FoldedGaussianTradeOff(mu) if line else kaissis.gaussian_tradeoff(mu, d)
        f = kaissis.gaussian_dptm(factor * mu)
    return kaissis.sampled_tradeoff(j, rate), kaissis.sampled_tradeoff(f, rate)


def _sampled_resilience(rng: np.random.Generator, count: int) -> list[Regime]:
    found = []
    for _ in range(count):
        noise, mu = str(rng.choice(["Laplace", "Gaussian"])), log_uniform(rng, 0.01, 10.0)
        d = 1 if noise == "Laplace" else round(log_uniform(rng, 1.0, 1000.0))
        found.append(resilience_regime(noise, mu, d, float(rng.choice([1.0, rng.uniform(0.01, 1.0)]))))
    return found


_MU = Between(0, UNBOUNDED, "shift in units of the noise; judged at 0.01 to 30")
_ALPHA = Between(0, 1, "FPRs from 1e-250, FNRs from 1e-4")
_RATE = Between(0, 1, "the record takes part with this probability")
_MAGNITUDE = Quote(
    "Like the LM, it also has a symmetric noise density, thus the (squared) magnitude distributions can be used as a test statistic.",
    "section 4, Gaussian Mechanism",
)
CLAIMS = (
    Claim(
        "kaissis-lemma-6",
        "kaissis",
        "A mechanism that is f-DP is f'-DR with f' >= f: J lies nowhere below the tight f.",
        Kind.ORDERING,
        0.0,
        "probit",
        {
            "mu": _MU,
            "d": Between(1, UNBOUNDED),
            "p": _RATE,
            "noise": OneOf(("Laplace", "Gaussian", "sub-sampled")),
        },
        (
            *(resilience_regime("Laplace", mu, 1, p) for mu in (0.01, 1.0, 3.0, 10.0) for p in (0.3, 1.0)),
            *(
                resilience_regime("Gaussian", mu, 1, p)
                for mu in (0.01, 1.0, 3.0, 10.0)
                for p in (0.01, 0.3, 1.0)
            ),
            *(resilience_regime("Gaussian", mu, d, 1.0) for mu in (1.0, 3.0) for d in (2, 30, 1000)),
        ),
        # At mu = 8 the one-sided and the two-sided curve all but agree: f of an attacker who knows 5% less is passed.
        Control(
            partial(resilience_regime, "Gaussian", 8.0, 1, 1.0),
            -0.05,
            plants="a shift of 8, where j all but meets f",
        ),
        quote=Quote(
            "If a mechanism satisfies f-DP, it also satisfies f'-DR, with f'(alpha) >= f(alpha) for all alpha.",
            "lemma 6",
        ),
        sampled=_sampled_resilience,
    ),
    Claim(
        "kaissis-thm-1",
        "kaissis",
        "Laplace: j(a) = 1 - a cosh(mu1) for a <= e^-mu1, e^-mu1 sinh(-ln a) above; jinv(a) = sqrt(a^2 e^{2 mu1} + 1) - a e^mu1 "
        "for a < (1 - e^{-2 mu1})/2, (1 - a)/cosh(mu1) above.",
        Kind.EXACT,
        EXACT,
        "probit",
        {"mu1": _MU, "alpha": _ALPHA},
        tuple(laplace_regime(mu) for mu in (0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0)),
        Control(partial(laplace_regime, 1.0)),
        quote=Quote(
            "Let mu_1 = Delta_1/b. The LM satisfies (j_LM(alpha), j_LM^-1(alpha))-DR with: [the two formulas]",
            "theorem 1",
        ),
        restricted_by=(_MAGNITUDE,),
        sampled=lambda rng, count: [laplace_regime(log_uniform(rng, 0.01, 30.0)) for _ in range(count)],
    ),
    Claim(
        "kaissis-thm-2",
        "kaissis",
        "Gaussian, dimension d: j(a) = F_{chi2_d(mu2^2)}(F^-1_{chi2_d}(1 - a)); jinv(a) = 1 - F_{chi2_d}(F^-1_{chi2_d(mu2^2)}(a)).",
        Kind.EXACT,
        EXACT,
        "probit",
        {"mu2": _MU, "d": Between(1, UNBOUNDED, "judged at 1 to 10,000"), "alpha": _ALPHA},
        (
            *(gaussian_regime(mu, d) for mu in (0.1, 1.0, 3.0) for d in (1, 2, 3, 5, 30, 300)),
            gaussian_regime(0.01, 1),
            gaussian_regime(10.0, 1),
            gaussian_regime(10.0, 2),
            gaussian_regime(10.0, 10_000),
        ),
        Control(partial(gaussian_regime, 3.0, 5)),
        quote=Quote(
            "Let mu_2 = Delta_2/sigma. The GM satisfies (j_GM(alpha), j_GM^-1(alpha))-DR with: [the two formulas]",
            "theorem 2",
        ),
        restricted_by=(_MAGNITUDE,),
        sampled=lambda rng, count: [
            gaussian_regime(log_uniform(rng, 0.05, 8.0), round(log_uniform(rng, 1.0, 1000.0)))
            for _ in range(count)
        ],
    ),
    Claim(
        "kaissis-cor-1",
        "kaissis",
        "d = 1: j(a) = Phi(Phi^-1(1 - a/2) - mu2) - Phi(-Phi^-1(1 - a/2) - mu2).",
        Kind.EXACT,
        EXACT,
        "probit",
        {"mu2": _MU, "alpha": _ALPHA},
        tuple(line_regime(mu) for mu in (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)),
        Control(partial(line_regime, 1.0)),
        quote=Quote("For d = 1, j(alpha) admits the following closed-form representation", "corollary 1"),
        sampled=lambda rng, count: [line_regime(log_uniform(rng, 0.01, 30.0)) for _ in range(count)],
    ),
    Claim(
        "kaissis-lemma-9",
        "kaissis",
        "T(A, (1-p)A + pB)(a) = p T(A,B)(a) + (1-p)(1-a) for all laws A and B, and T((1-p)A + pB, A) is its inverse.",
        Kind.EXACT,
        ROUNDING,
        "FNR",
        {
            "p": _RATE,
            "A, B": OneOf(
                ("finite, with points of one law only", "shifts on the line"), "laws without atoms by cells"
            ),
        },
        (
            *(
                finite_regime(k, s, p)
                for k, s in ((4, 0), (12, 1), (200, 2))
                for p in (0.0, 0.01, 0.3, 0.9, 1.0)
            ),
            *(
                line_mixture_regime(noise, mu, p, folded)
                for noise in ("Gaussian", "Laplace")
                for mu, p in ((0.1, 0.3), (1.0, 0.3), (5.0, 0.01))
                for folded in (False, True)
            ),
        ),
        Control(partial(finite_regime, 12, 1, 0.3)),
        quote=Quote(
            "Let T(A, B)(alpha) be a trade-off function between two general distributions A, B representing mechanism outputs. The trade-off "
            "functions for the sub-sampled mechanisms are given by T(A, (1-p)A + pB)(alpha) = p T(A, B)(alpha) + (1-p)(1-alpha) and by its "
            "inverse.",
            "lemma 9",
        ),
        sampled=lambda rng, count: [
            finite_regime(int(rng.integers(4, 60)), int(rng.integers(1_000_000)), float(rng.random()))
            for _ in range(count)
        ],
    ),
)
"""In the order of the paper."""
