"""MIP beside differential privacy: theorems 4, 5 and 7, proposition 6, over all algorithms by linear programs."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import comb

import numpy as np

from mipsim.exact.subset.enumeration import finite_eta
from mipsim.exact.subset.linear_programs import largest_dp_eta, largest_posterior_odds
from mipsim.referee.exact_judges import ROUNDING
from mipsim.theory import izzo
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.izzo.algorithms import fingerprint_law, least_delta, response_law
from verify.izzo.noise import HALF
from verify.limits import judge_identity

SOLVED = 1e-6
"""What the linear programs are solved to, relative."""

EPSILONS = (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
DELTAS = (0.0, 1e-5, 0.01, 0.3, 0.9, 0.999)
SIZES = (2, 4, 6, 8)


def dp_regime(n: int, epsilon: float, factor: float = 1.0, deltas: tuple[float, ...] = DELTAS) -> Regime:
    """The largest eta of ANY (epsilon, delta)-DP algorithm, for a range of delta, against the formula."""
    parameters = {"n": n, "epsilon": epsilon, "delta": list(deltas), "algorithm": "all"}

    def judge(_: Budget) -> RegimeResult:
        gaps = [
            largest_dp_eta(n, epsilon, delta) - factor * izzo.eta_from_dp(epsilon, delta) for delta in deltas
        ]
        return judge_identity(
            max(gaps, key=abs),
            SOLVED,
            parameters,
            unit="eta",
            route="linear program over all algorithms",
            detail="the largest eta of all algorithms equals the formula, so that the bound holds and is tight at this n",
        )

    return Regime(f"all algorithms, n = {n}, epsilon = {epsilon:g}", parameters, judge, random=False)


def tight_regime(n: int, epsilon: float, delta: float) -> Regime:
    """The paper's example: it is (epsilon, delta)-DP and reaches the bound."""
    parameters = {"n": n, "epsilon": epsilon, "delta": delta, "algorithm": "the paper's randomised response"}

    def judge(_: Budget) -> RegimeResult:
        law = response_law(n, epsilon, delta)
        spent = max(least_delta(law[0], law[-1], epsilon), least_delta(law[-1], law[0], epsilon)) - delta
        reached = float(finite_eta(law, n).max()) - izzo.eta_from_dp(epsilon, delta)
        return judge_identity(max(spent, abs(reached)), ROUNDING, parameters, unit="eta", route="enumeration")

    return Regime(
        f"tight, n = {n}, epsilon = {epsilon:g}, delta = {delta:g}", parameters, judge, random=False
    )


def fingerprint_regime(n: int, factor: float = 1.0) -> Regime:
    """Eta of 1{D_train = D*} by enumeration against 1/C(n, n/2), and the least delta of its DP at huge epsilon."""
    parameters = {"n": n, "algorithm": "1{D_train = D*}", "epsilon": [0.1, 10.0, 700.0]}

    def judge(_: Budget) -> RegimeResult:
        law = fingerprint_law(n)
        etas = finite_eta(law, n)
        gaps = np.abs(etas - factor / comb(n, n // 2)).max()
        short = max(1.0 - least_delta(law[0], law[1], epsilon) for epsilon in (0.1, 10.0, 700.0))
        detail = f"eta = {etas.max():.3g} for every target; least delta = 1 at every epsilon"
        return judge_identity(
            float(max(gaps, short)), 1e-12, parameters, unit="eta", route="enumeration", detail=detail
        )

    return Regime(f"n = {n}", parameters, judge, random=False)


def any_eta_regime(power: int) -> Regime:
    """An n from 1/C(n, n/2) < 10^-power, and eta of 1{D_train = D*} there, by counting halves in whole numbers."""
    parameters = {"eta": f"1e-{power}", "algorithm": "1{D_train = D*}"}

    def judge(_: Budget) -> RegimeResult:
        n = 2
        while comb(n, n // 2) < 10**power:
            n += 2
        # For a target in D*: "yes" comes from D* alone, "no" from the other halves with the target and those without it.
        halves, inside, outside = comb(n, n // 2), comb(n - 1, n // 2 - 1), comb(n - 1, n // 2)
        in_the_fingerprint = Fraction(1 + max(inside - 1, outside), halves) - Fraction(1, 2)
        off_it = Fraction(1 + max(outside - 1, inside), halves) - Fraction(1, 2)
        excess = max(in_the_fingerprint, off_it) * 10**power - 1
        return judge_identity(
            max(float(excess), 0.0),
            0.0,
            parameters,
            unit="relative to eta",
            route="whole numbers",
            detail=f"n = {n} suffices",
        )

    return Regime(f"eta = 1e-{power}", parameters, judge, random=False)


def odds_regime(n: int, k: int, epsilon: float, factor: float = 1.0) -> Regime:
    """The largest posterior odds of any (epsilon, 0)-DP algorithm and output over e^epsilon times the prior ones."""
    parameters = {"n": n, "k": k, "epsilon": epsilon, "algorithm": "all", "output": "all"}

    def judge(_: Budget) -> RegimeResult:
        largest = largest_posterior_odds(n, k, epsilon)
        gap = largest / (np.exp(factor * epsilon) * (n - k) / k) - 1.0
        # The program's optimum is the bound itself, so that an equality is judged: to what the program is solved to.
        return judge_identity(
            float(gap),
            SOLVED,
            parameters,
            unit="relative",
            route="linear program over all algorithms",
            detail="largest posterior odds of any algorithm over the bound, less 1: the bound holds and is tight",
        )

    return Regime(f"n = {n}, k = {k}, epsilon = {epsilon:g}", parameters, judge, random=False)


def renyi_divergence(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """D_order(first || second) of two finite laws, inf where it diverges; order > 0, not 1."""
    if order > 1 and (first[second == 0] > 0).any():
        return float("inf")
    both = (first > 0) & (second > 0)
    total = float((first[both] ** order * second[both] ** (1 - order)).sum())
    return float(np.log(total) / (order - 1)) if total > 0 else float("inf")


def other_notions_regime(n: int, flip: float = 0.0) -> Regime:
    """The adjacent pair D*, D' of 1{D_train = D*}: its trade-off curve and Renyi divergences of every order."""
    parameters = {"n": n, "algorithm": "1{D_train = D*}", "orders": [0.5, 1.0001, 2.0, 100.0]}

    def judge(_: Budget) -> RegimeResult:
        law = fingerprint_law(n) * (1 - 2 * flip) + flip
        first, second = law[0], law[1]
        divergences = [
            d
            for order in (0.5, 1.0001, 2.0, 100.0)
            for d in (renyi_divergence(first, second, order), renyi_divergence(second, first, order))
        ]
        # A test of one against the other: its least FPR + FNR is 1 - TV, and f = 0 where that is 0.
        errors = 1.0 - 0.5 * float(np.abs(first - second).sum())
        finite = sum(np.isfinite(d) for d in divergences)
        return judge_identity(
            errors + finite,
            1e-12,
            parameters,
            unit="least FPR + FNR, plus the number of finite divergences",
            route="enumeration",
            detail="disjoint supports: f = 0, and RDP, CDP and tCDP hold with an infinite bound only",
        )

    return Regime(f"n = {n}", parameters, judge, random=False)


def _sampled_odds(rng: np.random.Generator, count: int) -> list[Regime]:
    found = []
    for _ in range(count):
        n = int(rng.integers(2, 8))
        found.append(odds_regime(n, int(rng.integers(1, n)), float(rng.exponential(1.5))))
    return found


_N = Between(2, float("inf"), "even; solved at 2 to 10")
_EXAMPLE = OneOf(("1{D_train = D*}",), "the paper's")
CLAIMS = (
    Claim(
        "izzo-thm-4",
        "izzo",
        "(epsilon, delta)-DP implies eta-MIP with eta = delta + (1 - delta)/(1 + e^-epsilon) - 1/2, and this is tight.",
        Kind.EXACT,
        SOLVED,
        "eta",
        {
            "n": _N,
            "epsilon": Between(0, float("inf"), "all algorithms up to 5; the tight example up to 50"),
            "delta": Between(0, 1, "0 <= delta < 1"),
            "algorithm": OneOf(("all",), "adjacent sets differ by one replaced record, as the paper defines"),
        },
        (
            *(dp_regime(n, epsilon) for n in SIZES for epsilon in EPSILONS),
            dp_regime(10, 1.0),
            *(
                tight_regime(n, epsilon, delta)
                for n in (2, 6)
                for epsilon in (0.01, 1.0, 50.0)
                for delta in (0.0, 0.01, 0.999)
            ),
        ),
        Control(partial(dp_regime, 4, 1.0), -0.03),
        quote=Quote(
            "Let A be (eps, delta)-DP. Then A is eta-MIP with eta = delta + (1-delta)/(1+e^-eps) - 1/2. Furthermore, this bound is tight, i.e. for any "
            "eps > 0 and 0 <= delta < 1, there exists an (eps, delta)-DP algorithm against which the optimal attacker has accuracy "
            "delta + (1-delta)/(1+e^-eps).",
            "theorem 4",
        ),
        restricted_by=(
            HALF,
            Quote(
                "we say that these datasets are adjacent (denoted D ~ D') if |D \\ D'| = |D' \\ D| = 1, or equivalently if D and D' differ by replacing "
                "exactly one element",
                "section 2",
            ),
        ),
        sampled=lambda rng, count: [
            dp_regime(
                int(rng.choice([2, 4, 6])), float(rng.exponential(2.0)), deltas=(float(rng.random() ** 3),)
            )
            for _ in range(count)
        ],
    ),
    Claim(
        "izzo-thm-5",
        "izzo",
        "For any eta > 0 some algorithm is eta-MIP and not (epsilon, delta)-DP for any epsilon < inf and delta < 1: "
        "A = 1{D_train = D*}, with n large enough.",
        Kind.EXISTENCE,
        1e-12,
        "eta",
        {"eta": Between(0, 0.5, "eta > 0; an n is found down to 1e-1000"), "algorithm": _EXAMPLE},
        (
            *(fingerprint_regime(n) for n in (2, 4, 6, 8, 10, 12)),
            *(any_eta_regime(power) for power in (1, 3, 10, 100, 1000)),
        ),
        Control(partial(fingerprint_regime, 6), -0.03),
        quote=Quote(
            "For any eta > 0, there exists an algorithm A which is eta-MIP but not (eps, delta)-DP for any eps < infinity and delta < 1.",
            "theorem 5",
        ),
    ),
    Claim(
        "izzo-prop-6",
        "izzo",
        "If A is (epsilon, 0)-DP, P(x* out | A)/P(x* in | A) <= e^epsilon P(x* out)/P(x* in) for every x* and output.",
        Kind.BOUND,
        SOLVED,
        "relative",
        {
            "n": _N,
            "k": Between(1, float("inf"), "k < n"),
            "epsilon": Between(0, float("inf"), "judged at 0 to 5"),
            "algorithm": OneOf(("all",)),
        },
        tuple(
            odds_regime(n, k, epsilon)
            for n in (2, 3, 4, 5, 6, 8)
            for k in sorted({1, n // 2, n - 1})
            for epsilon in (0.0, 0.1, 1.0, 5.0)
        ),
        Control(partial(odds_regime, 6, 3, 1.0), -0.03),
        quote=Quote(
            "If A is an (eps, 0)-DP algorithm, then for any x*, we have P(x* not in D_train | A(D_train))/P(x* in D_train | A(D_train)) <= "
            "e^eps P(x* not in D_train)/P(x* in D_train).",
            "proposition 6",
        ),
        sampled=_sampled_odds,
    ),
    Claim(
        "izzo-thm-7",
        "izzo",
        "For any eta > 0 some algorithm is eta-MIP and not (nontrivially) RDP, CDP, tCDP or f-DP: the example of theorem 5.",
        Kind.EXISTENCE,
        1e-12,
        "divergences",
        {
            "eta": Between(0, 0.5, "eta > 0; see izzo-thm-5"),
            "algorithm": _EXAMPLE,
            "order": Between(0, float("inf"), "not 1"),
        },
        tuple(other_notions_regime(n) for n in (2, 4, 8, 12)),
        Control(
            # The algorithm lies with a probability of 3%.
            lambda f: other_notions_regime(4, f - 1.0),
        ),
        quote=Quote(
            "For any eta > 0, there exists an algorithm A and a dataset D such that A is eta-MIP with respect to D, but A is not (nontrivially) RDP, CDP, "
            "tCDP, or f-DP.",
            "theorem 7",
        ),
    ),
)
"""What differential privacy implies, and what it is not needed for."""
