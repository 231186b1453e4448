"""What a fixed-target audit would conclude: delta(epsilon) of the mean."""

from __future__ import annotations

from functools import partial

from mipsim.theory import azize
from verify.azize.cases import IRREGULAR, REGULAR, Case, mean_law
from verify.azize.mean import DOMAIN, REGULAR_DOMAIN, WHY, case_regime
from verify.claim import Between, Claim, Kind, Regime
from verify.limits import Size

TOLERANCE = 0.01
EPSILONS = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0)


def audit_regime(case: Case, stretch: float = 1.0) -> Regime:
    """The exact hockey-stick divergences of the two worlds, both ways, against the formula."""

    def at(n: int) -> Size:
        m, law = mean_law(case, n, n)
        gaps = [
            found - float(azize.delta_epsilon(m * stretch, epsilon))
            for epsilon in EPSILONS
            for found in law.delta(epsilon)
        ]
        return Size(min(gaps), max(gaps))

    return case_regime(case, at, TOLERANCE, unit="delta", floor=1e-4)


STATEMENT = (
    "A fixed-target audit of the mean would conclude sqrt(m*)-GDP, i.e. delta(eps) = Phi(-eps/s + s/2) - "
    "e^eps Phi(-eps/s - s/2), s = sqrt(m*)"
)
_EPSILON = {
    "epsilon": Between(
        0, float("inf"), "judged at " + ", ".join(f"{e:g}" for e in EPSILONS) + ", both directions"
    )
}
CLAIMS = (
    Claim(
        "azize-gdp",
        "azize",
        STATEMENT + ".",
        Kind.LIMIT,
        TOLERANCE,
        "delta",
        DOMAIN | _EPSILON,
        tuple(audit_regime(c) for c in (*REGULAR, *IRREGULAR)),
        partial(audit_regime, REGULAR[0], 1.1),
        corrected_by="azize-gdp-corrected",
    ),
    Claim(
        "azize-gdp-corrected",
        "azize",
        STATEMENT
        + ", for data with, uniformly over the coordinates, Cramer's condition (or one lattice with the target on it) "
        "and bounded standardised moments.",
        Kind.LIMIT,
        TOLERANCE,
        "delta",
        REGULAR_DOMAIN | _EPSILON,
        tuple(audit_regime(c) for c in REGULAR),
        partial(audit_regime, REGULAR[0], 1.1),
        corrects="azize-gdp",
        derivation=WHY
        + "Where the curve tends to g_s, so does its convex conjugate, which is delta(eps) (Dong, Roth, Su 2022).",
    ),
)
"""The audit's conclusion; it says nothing of data sets or targets other than the audited one."""
