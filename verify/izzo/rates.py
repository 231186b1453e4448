"""Theorem 8: what eta-MIP says of TPR and FPR."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from mipsim.exact.enumeration import roc_vertices
from mipsim.exact.subset.enumeration import finite_eta, half_subsets, subsets
from mipsim.theory import izzo
from verify.claim import (
    Between,
    Budget,
    Claim,
    CurveEvidence,
    Kind,
    OneOf,
    Quote,
    Regime,
    RegimeResult,
    Verdict,
)
from verify.control import Control
from verify.izzo.algorithms import ALGORITHMS, SIZES, Law, best_by_search, drawn_law, worlds
from verify.izzo.noise import HALF
from verify.limits import judge_bound


def gap_regime(name: str, n: int, slope: float, *, joint: bool = False, given: Law | None = None) -> Regime:
    """The largest TPR - FPR over all attacks and targets, less slope times eta.

    `joint` takes P(I = 1, x* in) - P(I = 1, x* out), the probabilities of the printed proof's first line, in its place.
    """
    parameters = {
        "n": n,
        "algorithm": name,
        "target": "every record",
        "probabilities": "joint" if joint else "conditional",
    }
    law = ALGORITHMS[name](n) if given is None else given

    def judge(_: Budget) -> RegimeResult:
        etas = finite_eta(law, n)
        eta = float(etas.max())
        gaps = [best_by_search(law, n, target)[1] for target in range(n)]
        largest = max(gaps) / 2 if joint else max(gaps)
        target = int(np.argmax(gaps))
        result = judge_bound(
            largest - slope * eta,
            parameters,
            unit="TPR - FPR",
            route="enumeration of all attacks and targets",
            detail=f"eta = {eta:.4g}; largest TPR - FPR = {max(gaps):.4g} = {max(gaps) / eta if eta else 0:.4g} eta",
            second_route=partial(counted, law, n, target, eta),
        )
        if result.verdict is not Verdict.REFUTED:
            return result
        return _with_curve(result, law, n, target, izzo.mip_tradeoff(eta, slope))

    return Regime(f"{name}, n = {n}" + (", joint" if joint else ""), parameters, judge, random=False)


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


def counted(law: Law, n: int, target: int, eta: float) -> str:
    """Draw 200,000 training sets and outputs with NumPy and count the errors of the likelier guess."""
    rng = np.random.default_rng(8)
    flags = half_subsets(n)[:, target]
    out, inside = worlds(law, n, target)
    drawn = rng.integers(0, len(law), 200_000)
    output = (rng.random((len(drawn), 1)) >= law[drawn].cumsum(axis=1)).sum(axis=1).clip(max=law.shape[1] - 1)
    guess, member = (inside >= out)[output], flags[drawn]
    tpr, fpr, accuracy = guess[member].mean(), guess[~member].mean(), (guess == member).mean()
    return (
        f"200,000 drawn training sets (NumPy, seed 8): TPR = {tpr:.4f}, FPR = {fpr:.4f}, accuracy - 1/2 = "
        f"{accuracy - 0.5:.4f}, eta = {eta:.4f}; TPR - FPR is twice eta"
    )


def _drawn(rng: np.random.Generator, count: int, slope: float) -> list[Regime]:
    return [gap_regime("drawn", n, slope, given=law) for n, law in (drawn_law(rng) for _ in range(count))]


def size_regime(n: int, k: int, slope: float, keep: float, factor: float = 1.0) -> Regime:
    """Theorem 8 at |D_train| = k: an algorithm that names one record that was left out, the right one with probability `keep`.

    Each k-set's output is one of n records, `keep`/(n - k) for each record left out and (1 - keep)/k for each member. Enumerated in whole
    fractions. `slope` 0 asks for the corrected bound (k/n) TPR - (1 - k/n) FPR <= max(0, 2k/n - 1) + eta; else TPR - FPR <= slope * eta.
    """
    parameters = {
        "n": n,
        "k": k,
        "algorithm": f"names a record that was left out, rightly with probability {keep:g}",
    }

    def judge(_: Budget) -> RegimeResult:
        share, hit = Fraction(k, n), Fraction(keep)
        out_named, out_other = hit / (n - k), (1 - hit) / k  # P(this record is named | it is out, in)
        # Outputs other than the target's own name: their total, by symmetry one more outcome for this target.
        worlds_of = {"out": (out_named, 1 - out_named), "in": (out_other, 1 - out_other)}
        best = sum(
            max((1 - share) * a, share * b) for a, b in zip(worlds_of["out"], worlds_of["in"], strict=True)
        )
        eta = best - max(share, 1 - share)
        # All four deterministic attacks on two outcomes.
        rates = [
            (
                x * worlds_of["in"][0] + y * worlds_of["in"][1],
                x * worlds_of["out"][0] + y * worlds_of["out"][1],
            )
            for x in (0, 1)
            for y in (0, 1)
        ]
        if slope:
            gap = max(tpr - fpr for tpr, fpr in rates) - Fraction(slope) * eta
        else:
            bound = max(Fraction(0), 2 * share - 1) + eta
            gap = max(share * tpr - (1 - share) * fpr for tpr, fpr in rates) - Fraction(factor) * bound
        tpr, fpr = max(rates, key=lambda pair: pair[0] - pair[1])
        return judge_bound(
            float(gap),
            parameters,
            unit="TPR - FPR",
            route="whole fractions",
            detail=f"eta = {float(eta):.4g}; the best attack's TPR = {float(tpr):.4g} and FPR = {float(fpr):.4g}",
            second_route=partial(_sets_counted, n, k, keep),
        )

    return Regime(f"n = {n}, k = {k}, names a record rightly with {keep:g}", parameters, judge, random=False)


def _sets_counted(n: int, k: int, keep: float) -> str:
    """The same by every k-set and output, for record 0, in floating point."""
    flags = subsets(n, k)
    law = np.where(flags, (1 - keep) / k, keep / (n - k))
    inside, out = law[flags[:, 0]].mean(axis=0), law[~flags[:, 0]].mean(axis=0)
    share = k / n
    eta = float(np.maximum(share * inside, (1 - share) * out).sum() - max(share, 1 - share))
    gap = float(np.maximum(inside - out, 0).sum())
    return (
        f"all {len(flags)} sets and {n} outputs enumerated (NumPy): eta = {eta:.4g} for every record, the attack that says 'in' where the output is likelier "
        f"with the record has TPR - FPR = {gap:.4g}"
    )


_SHARES = ((3, 2, 0.5), (3, 1, 0.5), (5, 2, 0.55), (5, 4, 0.5), (10, 9, 0.5), (10, 7, 0.4), (100, 99, 0.5))
_DOMAIN = {
    "n": Between(
        2,
        float("inf"),
        "enumerated at " + ", ".join(map(str, SIZES)) + "; odd ones and up to 100 with other k",
    ),
    "k": Between(1, float("inf"), "n/2; others by the remark of section 3.3"),
    "algorithm": OneOf((*ALGORITHMS, "drawn"), "any algorithm"),
    "attack": OneOf(("all",)),
    "x*": OneOf(("every record",)),
}
_EVERY = tuple((name, n) for name in ALGORITHMS for n in SIZES)
_THEOREM_8 = Quote(
    "Suppose that A is eta-MIP. Then for any adversary I and any target record x*, we have that P(I(x*, A(D_train)) = 1 | x* in D_train) <= "
    "P(I(x*, A(D_train)) = 1 | x* not in D_train) + eta. In other words, any adversary must have TPR <= FPR + eta.",
    "theorem 8",
)
_GENERAL = Quote("We note that analogues of all of our results apply for general k.", "section 3.3")
CLAIMS = (
    Claim(
        "izzo-thm-8",
        "izzo",
        "eta-MIP (k = n/2) implies P(I = 1 | x* in D_train) <= P(I = 1 | x* not in D_train) + eta, TPR <= FPR + eta, for "
        "every attack and target.",
        Kind.BOUND,
        0.0,
        "TPR - FPR",
        _DOMAIN
        | {
            "probabilities": OneOf(
                ("conditional",), "joint ones, of the proof's first line, are judged too: with them it holds"
            )
        },
        (
            *(gap_regime(name, n, 1.0) for name, n in _EVERY),
            *(gap_regime(name, n, 1.0, joint=True) for name, n in _EVERY),
            # "analogues of all of our results apply for general k": here eta = 0, so that no constant times eta would do.
            *(size_regime(n, k, 1.0, keep) for n, k, keep in _SHARES),
        ),
        Control(lambda f: gap_regime("a count", 4, f, joint=True), -0.03),
        corrected_by="izzo-thm-8-corrected",
        quote=_THEOREM_8,
        restricted_by=(HALF, _GENERAL),
        sampled=partial(_drawn, slope=1.0),
    ),
    Claim(
        "izzo-thm-8-corrected",
        "izzo",
        "eta-MIP with k = n/2, n even, implies TPR <= FPR + 2 eta for every attack and target; with any 1 <= k < n it implies (k/n) TPR - (1 - k/n) FPR <= "
        "max(0, 2k/n - 1) + eta, where TPR - FPR may be large with eta = 0. For the target and the attack that reach the least eta of A these are "
        "equalities.",
        Kind.BOUND,
        0.0,
        "TPR - FPR",
        _DOMAIN,
        (
            *(gap_regime(name, n, 2.0) for name, n in _EVERY),
            *(
                size_regime(n, k, 0.0, keep)
                for n, k, keep in (*_SHARES, (2, 1, 0.6), (4, 2, 0.6), (10, 5, 0.6))
            ),
        ),
        Control(lambda f: gap_regime("a count", 4, 2.0 * f), -0.03),
        corrects="izzo-thm-8",
        derivation=(
            "With k = n/2 a target is in or out with probability 1/2 each (C(n-1, n/2-1)/C(n, n/2) = 1/2), so that an attack's accuracy is (TPR + 1 - "
            "FPR)/2. Accuracy <= 1/2 + eta is therefore TPR - FPR <= 2 eta for this attack and target, both ways: equality where the accuracy is "
            "1/2 + eta. The printed proof sums P(D_train = D) P(I = 1 | D) over the sets with the target, which is P(I = 1, x* in) = TPR/2, and "
            "calls it TPR: its inequality is the joint one, TPR/2 <= FPR/2 + eta. Any k: P(x* in D_train) = k/n, the accuracy is (k/n) TPR + "
            "(1 - k/n)(1 - FPR), and accuracy <= max(k/n, 1 - k/n) + eta is (k/n) TPR - (1 - k/n) FPR <= max(0, 2k/n - 1) + eta. That no constant "
            "times eta bounds TPR - FPR then: n = 3, k = 2, A names the record that was left out with probability 1/2 and each other one with 1/4. The "
            "attack 'out if the target is named' has FPR 1/2 and TPR 3/4; eta = 0, since a named record is out with probability "
            "(1/3)(1/2)/((1/3)(1/2) + (2/3)(1/4)) = 1/2 only and 'in' is never the worse guess."
        ),
        quote=_THEOREM_8,
        restricted_by=(HALF,),
        sampled=partial(_drawn, slope=2.0),
    ),
)
"""TPR against FPR."""
