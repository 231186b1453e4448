"""The covariance attack against the scalar-product attack."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import product

import numpy as np
from scipy.special import ndtri

from mipsim.exact import AdditiveLaw, Terms, additive_law
from mipsim.exact.enumeration import mean_game, roc_vertices
from sims.runner import run
from sims.studies import STUDIES
from verify.azize.cases import REGULAR, Case, mean_law
from verify.azize.mean import TOLERANCE
from verify.claim import Between, Budget, Claim, CurveEvidence, Kind, OneOf, Regime, RegimeResult
from verify.limits import GRID, Size, judge_identity, judge_limit

REFERENCES = {"origin": 0.0, "mean": None, "half": 0.5, "ones": 1.0}
CASES = {
    c.name: c
    for c in REGULAR
    if c.name.startswith(("bernoulli-e", "bernoulli-h", "bernoulli-t", "bernoulli-s"))
} | {
    c.name: c
    for c in REGULAR
    if c.name in ("gaussian", "exponential", "student", "laplace", "uniform-corner")
}


def _coordinate_means(case: Case) -> tuple[list[float], list[float]]:
    from verify.azize.cases import LAWS

    found = [LAWS[c.law](c.parameter)[1:] for c in case.coordinates]
    return [m for m, _ in found], [float(np.sqrt(v)) for _, v in found]


def both_laws(case: Case, n: int, reference: str) -> tuple[AdditiveLaw, AdditiveLaw]:
    """Exact laws of the covariance score and of the scalar product with a fixed reference point."""
    groups = case.terms(n, n)
    means, deviations = _coordinate_means(case)
    value = REFERENCES[reference]
    # (z - z_ref) muhat_j = (z - z_ref) sigma delta / sqrt(n) + constant: the covariance term with t replaced.
    aimed = [
        replace(g, t=(c.z - (m if value is None else value)) * s)
        for g, c, m, s in zip(groups, case.coordinates, means, deviations, strict=True)
    ]
    return mean_law(case, n, n, score="covariance")[1], additive_law(aimed, _linear)


def _linear(terms: Terms) -> np.ndarray:
    return terms.t * terms.deviation / np.sqrt(terms.n)


@cache
def _ahead(case: Case, n: int, reference: str, swapped: bool) -> float:
    """How far the scalar product (if `swapped`, the covariance attack) is ahead in probits at its best FPR."""
    covariance, scalar = both_laws(case, n, reference)[:: -1 if swapped else 1]
    found = np.clip(np.stack([covariance.beta(GRID), scalar.beta(GRID)]), 1e-9, 1 - 1e-9)
    judged = (found >= 1e-4).all(axis=0) & (found <= 1 - 1e-4).all(axis=0)
    if not judged.any():
        raise ValueError(f"no FPR of {case.name} at n = {n} has both FNRs in the judged range")
    return float((ndtri(found[0]) - ndtri(found[1]))[judged].max())


def limit_regime(name: str, reference: str, swapped: bool = False) -> Regime:
    """How much stronger the scalar product is, at the worst FPR, in the limit; `swapped` claims the opposite order, for the control."""
    case = CASES[name]
    parameters = case.parameters | {"reference point": reference}
    reading = "n, d to infinity"

    def at(n: int) -> Size:
        return Size(0.0, max(_ahead(case, n, reference, swapped), 0.0))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, reading=reading)

    return Regime(f"{name}, reference {reference}", parameters, judge, reading, random=False)


def _curves(p: np.ndarray, n: int, z: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    outputs, out, inside = mean_game(p, n, z)
    found = []
    for weights in ((z - p) / (p * (1 - p)), z - reference):
        x, y = roc_vertices(outputs @ weights, out, inside)
        found.append(np.interp(np.linspace(0, 1, 201), x, y))
    return found[0], found[1]


@lru_cache(maxsize=1)
def hunted() -> tuple[float, dict[str, object], np.ndarray, np.ndarray]:
    """The largest advance of the scalar product over a grid of small games, by enumeration."""
    best: tuple[float, dict[str, object], np.ndarray, np.ndarray] = (-1.0, {}, np.zeros(0), np.zeros(0))
    for p in product((0.05, 0.1, 0.2, 0.3, 0.5), repeat=2):
        for z, reference in product(product((0.0, 1.0), repeat=2), repeat=2):
            if z == reference:
                continue
            covariance, scalar = _curves(np.array(p), 4, np.array(z), np.array(reference))
            ahead = float((scalar - covariance).max())
            if ahead > best[0] + 1e-9:
                best = (
                    ahead,
                    {"n": 4, "p": list(p), "target": list(z), "reference": list(reference)},
                    covariance,
                    scalar,
                )
    return best


def finite_regime() -> Regime:
    """Every n: the worst of the hunted small games."""
    reading = "every n and d (the statement names no limit)"
    parameters: dict[str, object] = {
        "n": 4,
        "d": 2,
        "searched": "p in {.05, .1, .2, .3, .5}^2, targets and references {0,1}^2",
    }

    def second() -> str:
        histograms = [
            run(STUDIES[f"azize_counterexample_scalar_{k}"], 200_000, 12) for k in ("covariance", "product")
        ]
        curves = [h.tradeoff(confidence=1 - 1e-6) for h in histograms]
        alpha = np.linspace(0.005, 0.995, 199)
        weaker, stronger = (c.band(alpha) for c in curves)
        k = int(np.argmax(weaker[0] - stronger[1]))
        return (
            f"200,000 literal games per world and attack (seed 12): at FPR {alpha[k]:.3f} the scalar product has power >= "
            f"{1 - stronger[1][k]:.4f} and the covariance attack <= {1 - weaker[0][k]:.4f} (failure probability 2e-6)"
        )

    def judge(_: Budget) -> RegimeResult:
        ahead, where, covariance, scalar = hunted()
        result = judge_identity(
            ahead,
            1e-9,
            parameters | where,
            unit="power",
            route="enumeration (hunt over 300 games)",
            reading=reading,
            one_sided=True,
            second_route=second,
        )
        grid, empty = np.linspace(0, 1, 201), np.zeros(0)
        evidence = CurveEvidence(
            grid,
            1 - scalar,
            empty,
            empty,
            empty,
            grid,
            1 - covariance,
            "enumeration",
            "scalar product (solid) against the covariance attack (claimed to be at least as strong)",
        )
        return replace(result, evidence=evidence, smallest_tolerance=float("inf"))  # a power, not a probit

    return Regime("small games", parameters, judge, reading, random=False)


DOMAIN = {
    "n": Between(2, float("inf")),
    "d": Between(1, float("inf")),
    "data": OneOf(tuple(CASES), "product laws"),
    "reference point": OneOf(tuple(REFERENCES), "any point"),
    "alpha": Between(0, 1),
}
_LIMITS = tuple(limit_regime(name, reference) for name in CASES for reference in REFERENCES)
CLAIMS = (
    Claim(
        "azize-scalar-product",
        "azize",
        "The covariance attack is at least as strong as the scalar-product attack (z* - z_ref)' muhat.",
        Kind.ORDERING,
        TOLERANCE,
        "probit",
        DOMAIN,
        (*_LIMITS, finite_regime()),
        partial(limit_regime, "gaussian", "half", True),
        corrected_by="azize-scalar-product-corrected",
    ),
    Claim(
        "azize-scalar-product-corrected",
        "azize",
        "As n and d grow, the covariance attack with known moments is at least as strong as the scalar-product attack at every "
        "FPR, for every fixed reference point, if standardised moments are bounded over the coordinates.",
        Kind.ORDERING,
        TOLERANCE,
        "probit",
        DOMAIN,
        _LIMITS,
        partial(limit_regime, "gaussian", "half", True),
        corrects="azize-scalar-product",
        derivation=(
            "A linear score w' muhat is asymptotically normal with one variance in both worlds (Lindeberg, whose condition bounded standardised moments give), so its curve is g_mu "
            "with mu = w'(z* - mu)/sqrt(n w'Cw). By Cauchy and Schwarz mu <= sqrt(m*), with equality at w = C^-1 (z* - mu), the "
            "covariance score. At finite n the linear score is not the likelihood ratio, and another one may win."
        ),
    ),
)
"""Printed for every n, corrected to the limit."""
