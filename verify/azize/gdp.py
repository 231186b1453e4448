"""What a fixed-target audit of the mean concludes: the formula delta(epsilon), and what it guarantees."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.theory import azize
from verify.azize.conditions import MEAN
from verify.azize.mean import case_regime, pair
from verify.azize.mean_cases import PAPER, MeanCase
from verify.azize.mean_gaps import EPSILONS, told
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, judge_bound

TOLERANCE = 0.005
"""Absolute, in delta: 2% of .25; at large epsilon the claimed delta itself is near 0."""


def audit_regime(case: MeanCase, stretch: float = 1.0) -> Regime:
    """The exact hockey-stick divergences of the two worlds, both ways, against the formula."""

    def at(n: int) -> Size:
        known = told(case, n)
        m = known.leakage * stretch**2
        gaps, error = [], 0.0
        for epsilon, brackets in zip(EPSILONS, known.divergences, strict=True):
            claimed = float(azize.delta_epsilon(m, epsilon)) if m else 0.0
            for low, high in brackets:
                # Where the conditions fail a proven lower bound of the excess is enough.
                gaps.append(((low + high) / 2 if case.regular else low) - claimed)
                error = max(error, (high - low) / 2) if case.regular else 0.0
        # If the largest of them all goes to zero, so do the others.
        worst = max(gaps, key=abs) if case.regular else max(gaps)
        return Size(worst, worst, error=error)

    return case_regime(case, at, TOLERANCE, unit="delta")


def guarantee_regime(n: int, mu: float, distance: float) -> Regime:
    """The mean of two neighbouring data sets against g_mu: no noise, so different sums are told apart."""
    parameters = {"n": n, "mu": round(mu, 4), "distance of the two rows": distance}

    def judge(_: Budget) -> RegimeResult:
        # g_mu promises the sum of the two errors of any test at least 1 - advantage.
        gap = best_advantage(n, distance) - azize.advantage(mu**2)
        return judge_bound(
            gap,
            parameters,
            unit="advantage",
            route="releases of two data sets",
            reading=READING,
            second_route=partial(by_release, n, distance),
        )

    return Regime(f"n = {n}, mu = {mu:g}, distance {distance:g}", parameters, judge, READING, random=False)


RELEASES = 16
"""Releases of each data set: a mechanism that draws anything shows more than one output."""


def best_advantage(n: int, distance: float, mechanism: mi.AbstractMechanism | None = None) -> float:
    """The advantage of the best test of the released outputs, of two data sets that differ by `distance` in one row.

    Of a mechanism that draws nothing every release of one data set is the same, and the law of its output is that point. Where the
    releases differ, nothing is known of the advantage, and 0 is returned.
    """
    mean = mi.EmpiricalMean() if mechanism is None else mechanism
    rows = np.random.default_rng(21).random((n, 1))
    other = rows.copy()
    other[0] += distance
    with exact_scope():
        seen = [
            {float(mean.release(jax.random.key(k), jnp.asarray(data))[0]) for k in range(RELEASES)}
            for data in (rows, other)
        ]
    return float(seen[0] != seen[1]) if max(map(len, seen)) == 1 else 0.0


def by_release(n: int, distance: float) -> str:
    """Release the mean of two neighbouring data sets, drawn with NumPy, and compare."""
    rows = np.random.default_rng(20).random((n, 1))
    other = rows.copy()
    other[0] += distance
    return f"means of two drawn data sets that differ in one row (NumPy, seed 20): {rows.mean():.12f} and {other.mean():.12f}"


def audited_regime(case: MeanCase, stretch: float = 1.0) -> Regime:
    """The same sentence as what the audit of this target concludes about this target's game."""
    return replace(audit_regime(case, stretch), name=f"{case.name}, audited target", reading=CONCLUSION)


def separation_regime(n: int, distance: float, factor: float = 1.0) -> Regime:
    """The advantage of telling two neighbouring data sets apart by their means, against 1."""
    parameters = {"n": n, "distance of the two rows": distance}

    def judge(_: Budget) -> RegimeResult:
        return judge_bound(
            factor - best_advantage(n, distance), parameters, unit="advantage", route="two data sets"
        )

    return Regime(f"n = {n}, distance {distance:g}", parameters, judge, random=False)


READING = "a guarantee: the mean is sqrt(m*)-GDP for all neighbouring data sets"
CONCLUSION = "a conclusion about the audited target's game"
QUOTE = Quote(
    "This means that, if an auditor uses the fixed-target MI game with some target z* to audit the privacy of the empirical mean, "
    "the auditor would conclude that the empirical mean is sqrt(m*)-Gaussian DP, or equivalently (epsilon, delta)-DP where for "
    "all epsilon >= 0, delta(epsilon) = Phi(-epsilon/sqrt(m*) + sqrt(m*)/2) - e^epsilon Phi(-epsilon/sqrt(m*) - sqrt(m*)/2).",
    "section 3, inherent privacy of the empirical mean",
)
STATEMENT = (
    "A fixed-target audit of the mean would conclude sqrt(m*)-GDP, i.e. delta(eps) = Phi(-eps/s + s/2) - "
    "e^eps Phi(-eps/s - s/2), s = sqrt(m*)."
)
_EPSILON: dict[str, Between | OneOf] = {
    "epsilon": Between(
        0, float("inf"), "judged at " + ", ".join(f"{e:g}" for e in EPSILONS) + ", both directions"
    )
}
_NEIGHBOURS: dict[str, Between | OneOf] = {
    "n": Between(2, float("inf"), "judged at 2 to 1000"),
    "neighbours": OneOf(("two data sets that differ in one row",), "every pair"),
}
_ROWS = tuple((n, distance) for n in (2, 10, 1000) for distance in (1e-6, 1.0))
CLAIMS = (
    *pair(
        "azize-gdp", STATEMENT, QUOTE, Kind.LIMIT, "delta", TOLERANCE, audit_regime,
        Control(lambda stretch: audit_regime(PAPER["hardest"], stretch), 0.05),
        domain=_EPSILON,
        derivation=MEAN
        + "Where the curve tends to g_s uniformly, so does its convex conjugate, and delta(eps) = sup_alpha (1 - beta(alpha) - "
        "e^eps alpha) is read off it (Dong, Roth, Su 2022, corollary 2.13); g_s is symmetric, so both directions agree.",
    ),
    Claim(
        "azize-gdp-guarantee",
        "azize",
        "The empirical mean is sqrt(m*)-Gaussian DP: taken as a guarantee of the mechanism.",
        Kind.BOUND,
        0.0,
        "advantage",
        _NEIGHBOURS | {"mu": Between(0, float("inf"), "sqrt(m*) of any audited target; judged at .3, 1, 3")},
        (
            *(audited_regime(case) for case in PAPER.values()),
            *(guarantee_regime(n, mu, distance) for n, distance in _ROWS for mu in (0.3, 1.0, 3.0)),
        ),
        Control(lambda factor: audited_regime(PAPER["hardest"], factor), 0.05),
        corrected_by="azize-gdp-guarantee-corrected",
        quote=QUOTE,
        restricted_by=(
            Quote(
                "Under our specific threat model of MI games, the empirical mean already imposes a trade-off between the Type-I and "
                "Type-II errors for any adversary.",
                "section 3, inherent privacy of the empirical mean",
            ),
        ),
    ),
    Claim(
        "azize-gdp-guarantee-corrected",
        "azize",
        "The mean itself is mu-GDP for no finite mu: two data sets that differ in one row have different means, and the test that "
        "compares the output with one of them never errs. What the audit finds is a lower bound of mu, for one target and one "
        "data distribution.",
        Kind.EXACT,
        0.0,
        "advantage",
        _NEIGHBOURS,
        tuple(separation_regime(n, distance) for n, distance in _ROWS),
        Control(lambda factor: separation_regime(10, 1.0, factor), 0.03),
        corrects="azize-gdp-guarantee",
        quote=QUOTE,
        derivation=(
            "f-DP bounds the errors of every test between every two neighbouring data sets (Dong, Roth, Su 2022, definition 2.3). If "
            "row i differs, so does the sum, and the mechanism adds no noise: the two outputs are two different points, total "
            "variation 1, while g_mu allows at most 2 Phi(mu/2) - 1 < 1. An audit plays one pair of worlds, in which all other rows "
            "are random; its curve bounds the mechanism's from one side only."
        ),
    ),
)  # fmt: skip
"""The audit's conclusion, and the guarantee that it is not."""
