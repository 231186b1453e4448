"""Theorem 8: what eta-MIP says of TPR and FPR."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from mipsim.exact.enumeration import roc_vertices
from mipsim.exact.subset_enumeration import finite_eta, half_subsets
from mipsim.theory import izzo
from verify.claim import Between, Budget, Claim, CurveEvidence, Kind, OneOf, Regime, RegimeResult, Verdict
from verify.izzo.algorithms import ALGORITHMS, SIZES, best_by_search, worlds
from verify.limits import judge_identity

EXACT = 1e-9
CONDITIONAL = "TPR = P(I = 1 | x* in), FPR = P(I = 1 | x* out), as printed"
JOINT = "joint probabilities P(I = 1, x* in) <= P(I = 1, x* out) + eta, as the proof's first line has them"


def gap_regime(name: str, n: int, slope: float, reading: str = CONDITIONAL) -> Regime:
    """The largest TPR - FPR over all attacks and targets, less slope times eta."""
    parameters = {"n": n, "algorithm": name, "target": "every record"}
    joint = reading == JOINT

    def judge(_: Budget) -> RegimeResult:
        law = ALGORITHMS[name](n)
        etas = finite_eta(law, n)
        eta = float(etas.max())
        gaps = [best_by_search(law, n, target)[1] for target in range(n)]
        largest = max(gaps) / 2 if joint else max(gaps)
        target = int(np.argmax(gaps))
        result = judge_identity(
            largest - slope * eta,
            EXACT,
            parameters,
            unit="TPR - FPR",
            route="enumeration of all attacks and targets",
            reading=reading,
            detail=f"eta = {eta:.4g}; largest TPR - FPR = {max(gaps):.4g} = {max(gaps) / eta if eta else 0:.4g} eta",
            second_route=partial(counted, name, n, target, eta),
            one_sided=True,
        )
        if result.verdict is not Verdict.REFUTED:
            return result
        return _with_curve(result, law, n, target, izzo.mip_tradeoff(eta, slope))

    return Regime(f"{name}, n = {n}" + (", joint" if joint else ""), parameters, judge, reading, random=False)


def _with_curve(
    result: RegimeResult, law: np.ndarray, n: int, target: int, claimed: izzo.PiecewiseLinearTradeOff
) -> RegimeResult:
    out, inside = worlds(law, n, target)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(out > 0, inside / out, np.where(inside > 0, np.inf, 0.0))
    fpr, tpr = roc_vertices(np.minimum(score, 1e9), out, inside)
    grid, empty = np.linspace(0.0, 1.0, 201), np.zeros(0)
    exact = 1.0 - np.interp(grid, fpr, tpr)
    evidence = CurveEvidence(
        grid,
        exact,
        empty,
        empty,
        empty,
        grid,
        claimed.beta(grid),
        "exact law",
        result.parameters["algorithm"],
    )
    return replace(result, evidence=evidence)


def counted(name: str, n: int, target: int, eta: float) -> str:
    """Draw 200,000 training sets and outputs with NumPy and count the errors of the likelier guess."""
    rng = np.random.default_rng(8)
    law, flags = ALGORITHMS[name](n), half_subsets(n)[:, target]
    out, inside = worlds(law, n, target)
    drawn = rng.integers(0, len(law), 200_000)
    output = (rng.random((len(drawn), 1)) >= law[drawn].cumsum(axis=1)).sum(axis=1).clip(max=law.shape[1] - 1)
    guess, member = (inside >= out)[output], flags[drawn]
    tpr, fpr, accuracy = guess[member].mean(), guess[~member].mean(), (guess == member).mean()
    return (
        f"200,000 drawn training sets (NumPy, seed 8): TPR = {tpr:.4f}, FPR = {fpr:.4f}, accuracy - 1/2 = "
        f"{accuracy - 0.5:.4f}, eta = {eta:.4f}; TPR - FPR is twice eta"
    )


_DOMAIN = {
    "n": Between(2, float("inf"), "even; enumerated at " + ", ".join(map(str, SIZES))),
    "algorithm": OneOf(tuple(ALGORITHMS), "any algorithm"),
    "attack": OneOf(("all",)),
    "x*": OneOf(("every record",)),
}
_EVERY = tuple((name, n) for name in ALGORITHMS for n in SIZES)
CLAIMS = (
    Claim(
        "izzo-thm-8",
        "izzo",
        "eta-MIP (k = n/2) implies P(I = 1 | x* in D_train) <= P(I = 1 | x* not in D_train) + eta, TPR <= FPR + eta, for "
        "every attack and target.",
        Kind.BOUND,
        EXACT,
        "TPR - FPR",
        _DOMAIN
        | {"reading": OneOf(("conditional", "joint"), "the statement is conditional, its proof joint")},
        (
            *(gap_regime(name, n, 1.0) for name, n in _EVERY),
            *(gap_regime(name, n, 1.0, JOINT) for name, n in _EVERY),
        ),
        partial(gap_regime, "a count", 4, 0.97),
        corrected_by="izzo-thm-8-corrected",
    ),
    Claim(
        "izzo-thm-8-corrected",
        "izzo",
        "eta-MIP (k = n/2) implies TPR <= FPR + 2 eta for every attack and target, and the optimal attack reaches it.",
        Kind.BOUND,
        EXACT,
        "TPR - FPR",
        _DOMAIN,
        tuple(gap_regime(name, n, 2.0) for name, n in _EVERY),
        partial(gap_regime, "a count", 4, 1.94),
        corrects="izzo-thm-8",
        derivation=(
            "With k = n/2 the target is in or out with probability 1/2 each, so an attack's accuracy is (TPR + 1 - FPR)/2. "
            "Accuracy <= 1/2 + eta is therefore TPR - FPR <= 2 eta, with equality for the attack that reaches eta. The printed "
            "proof sums P(D_train = D) P(I = 1 | D) over the sets with the target, which is P(I = 1, x* in) = TPR/2, and calls "
            "it TPR: its inequality is the joint one, TPR/2 <= FPR/2 + eta."
        ),
    ),
)
"""TPR against FPR."""
