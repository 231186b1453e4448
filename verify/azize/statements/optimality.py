"""Theorem 2.1, by enumeration of every output."""

from typing import Any

import numpy as np

from mipsim import referee as rf
from verify.azize.checks.second_routes import by_literal_records
from verify.azize.laws.enumerated import MECHANISMS, ratio, worlds
from verify.azize.laws.enumeration import (
    best_deterministic_power,
    best_randomised_power,
    roc_vertices,
    subset_sums,
)
from verify.statement import Statement, where_in

THRESHOLDS = "Pow_n as defined: thresholds only, no randomisation at ties"
RANDOMISED = "randomised at the threshold (section 2.2 allows randomised adversaries)"


def by_thresholds(alpha: float, reading: str, **at: Any) -> float:
    """The power of the ratio's thresholds: the largest with FPR <= alpha, or randomised between two of them."""
    out, inside = worlds(**at)
    fpr, tpr = roc_vertices(ratio(out, inside), out, inside)
    return float(tpr[fpr <= alpha + 1e-12].max() if reading == THRESHOLDS else np.interp(alpha, fpr, tpr))


def by_all_tests(alpha: float, reading: str, **at: Any) -> rf.Number:
    """The best of all sets of outputs, or of all tests."""
    out, inside = worlds(**at)
    best = (
        best_deterministic_power(out, inside, np.array([alpha]))[0][0]
        if reading == THRESHOLDS
        else best_randomised_power(out, inside, alpha)
    )
    return rf.Number(float(best), route="enumeration of all subsets")


def advantage_of_ratio(factor: float = 1.0, **at: Any) -> float:
    """The advantage of 1{l > 0}; `factor` spoils it for a control."""
    out, inside = worlds(**at)
    chosen = ratio(out, inside) > 0
    return factor * float(inside[chosen].sum() - out[chosen].sum())


def best_advantage(**at: Any) -> rf.Number:
    """The largest P_in - P_out of all sets of outputs."""
    out, inside = worlds(**at)
    return rf.Number(
        float((subset_sums(inside) - subset_sums(out)).max()), route="enumeration of all subsets"
    )


def total_variation(**at: Any) -> float:
    """Half the L1 distance."""
    out, inside = worlds(**at)
    return 0.5 * float(np.abs(inside - out).sum())


_WORLDS: dict[str, Any] = {
    "mechanism": rf.Choice(*MECHANISMS, meaning="what is released"),
    "n": rf.Whole(2, np.inf, hunt_to=10, meaning="records in the data set"),
    "kept": rf.Whole(1, np.inf, hunt_to=9, meaning="records that are retained of the n"),
    "p": rf.Real(0.0, 1.0, meaning="probability of a 1 in the first coordinate"),
    "q": rf.Real(0.0, 1.0, meaning="probability of a 1 in the second coordinate"),
    "z": rf.Real(-np.inf, np.inf, hunt_to=2.0, meaning="the target's first coordinate"),
    "y": rf.Real(-np.inf, np.inf, hunt_to=2.0, meaning="the target's second coordinate"),
    "epsilon": rf.Real(0.0, np.inf, hunt_to=5.0, meaning="epsilon of randomised response"),
    "outputs": rf.Whole(2, np.inf, hunt_to=12, meaning="outputs of the sampled laws"),
    "spread": rf.Real(0.1, 10.0, log=True, meaning="parameter of the Dirichlet law that draws the two laws"),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
}


def _few(mechanism: str, n: int, kept: int, z: float, y: float, outputs: int) -> bool:
    """So few data sets and outputs that all of their sets can be enumerated."""
    if not mechanism.startswith("mean"):
        return outputs <= 16
    if mechanism == "mean of two columns":
        return n <= (3 if z in (0.0, 1.0) and y in (0.0, 1.0) else 2)
    return kept < n <= 5 if mechanism == "mean of a sub-sample" else n <= (10 if z in (0.0, 1.0) else 6)


_PLAIN: dict[str, Any] = {
    "mechanism": "mean", "n": 10, "kept": 2, "p": 0.3, "q": 0.6, "z": 1.0, "y": 0.0, "epsilon": 1.0, "outputs": 12, "spread": 0.7, "draw": 0,
}  # fmt: skip
_CASES = {
    "mean, d = 1": (_PLAIN, 0.35),
    "mean, d = 2": (_PLAIN | {"mechanism": MECHANISMS[1], "n": 3}, 0.315),
    "mean, hardest": (
        _PLAIN | {"mechanism": MECHANISMS[1], "n": 3, "p": 0.1, "q": 0.8, "z": 0.0, "y": 1.0},
        0.775,
    ),
    "sub-sample": (_PLAIN | {"mechanism": MECHANISMS[2], "n": 4, "p": 0.4}, 0.48),
    "off support": (_PLAIN | {"n": 4, "p": 0.4, "z": 0.5}, 0.3),
    "randomised response": (_PLAIN | {"mechanism": MECHANISMS[3]}, 0.3),
    **{
        f"random laws {seed}": (_PLAIN | {"mechanism": MECHANISMS[4], "draw": seed}, 0.3) for seed in range(3)
    },
}
_POINTS = [rf.Point(at, name) for name, (at, _) in _CASES.items()]
_TWO = _CASES["mean, d = 2"][0]

_MATTERING = {
    **dict.fromkeys(("n", "p", "z"), lambda mechanism: mechanism.startswith("mean")),
    **dict.fromkeys(("q", "y"), where_in("mechanism", MECHANISMS[1])),
    "kept": where_in("mechanism", MECHANISMS[2]),
    "epsilon": where_in("mechanism", MECHANISMS[3]),
    **dict.fromkeys(("outputs", "spread", "draw"), where_in("mechanism", MECHANISMS[4])),
}
POWER = Statement(
    name="azize-thm-2.1a", formula=r"\mathrm{Pow}_n(\ell_n, \alpha, z^*) \ge \mathrm{Pow}_n(s, \alpha, z^*)",
    says="For every alpha, target and score s: Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*), with Pow_n(s, alpha) the largest "
    "1 - beta over the thresholds whose type-I error is at most alpha.",
    fails="Randomised at ties, as section 2.2 allows, it stands. A threshold on the likelihood ratio cannot use all of a level where the ratio has atoms: without a coin at ties another set of outputs may use what is left and win.",
    instead="randomised tests; as printed at each level that a threshold attains exactly, so at all levels where the ratio has no atoms",
    kind=rf.Bound(unit="power"),
    domain=_WORLDS | {"alpha": rf.Real(0.0, 1.0, meaning="FPR of the test"), "reading": rf.Choice(THRESHOLDS, RANDOMISED)},
    where=_few,
    claimed=by_thresholds,
    truth=by_all_tests,
    points=[
        *[
        rf.Point(
            at | {"alpha": alpha, "reading": reading},
            f"{name}, {'thresholds' if reading == THRESHOLDS else 'randomised'}",
            "lead" if (name, reading) == ("mean, d = 2", THRESHOLDS) else "",
        )
        for reading in (THRESHOLDS, RANDOMISED)
        for name, (at, alpha) in _CASES.items()
    ],
        # From hunts.
        _TWO | {"mechanism": "randomised response", "n": 2, "kept": 1, "p": 0.0, "q": 0.0, "z": 0.0, "epsilon": 0.0, "outputs": 2, "spread": 1.0, "alpha": 0.5, "reading": THRESHOLDS},
    ],
    control=rf.Control(_TWO | {"alpha": 0.315, "reading": RANDOMISED}),
    quote=rf.Quote(
        "Optimal power: for all alpha in [0, 1], for all score s, for all target z*, Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*).",
        "theorem 2.1 (a); Pow_n(s, alpha, z*) = max over tau with alpha_n(A_{s, tau, z*}) <= alpha of 1 - beta_n (section 2.2)",
    ),
    restricted_by=(
        rf.Quote(
            "An adversary A_{z*} is a (possibly randomised) algorithm that takes as input o the output of the mechanism M, and " "generates a guess b ~ A_{z*}(o) trying to infer b = 1{z* in D}.",
            "section 2.2",
        ),
    ),
    second_route=by_literal_records,
    matters_when=_MATTERING,
)  # fmt: skip

STATEMENTS = (
    POWER,
    POWER.corrected(
        says="For every alpha and target, no test of size alpha, randomised or not, has more power than the likelihood-ratio test "
        "randomised at its threshold.",
        domain={"reading": rf.Fixed(RANDOMISED)},
        control=POWER.control,
        derivation=(
            "Neyman and Pearson: for 0 <= alpha <= 1 there are c in [0, inf] and q in [0, 1] such that phi* = 1{L > c} + q 1{L = c} has "
            "size exactly alpha, and q = 1 if c = inf, L = dP_in/dP_out, inf where P_out has no mass. If c < inf, (phi* - phi)(dP_in - c dP_out) >= 0 "
            "everywhere for any test phi, so a test of size <= alpha has E_in(phi* - phi) >= c E_out(phi* - phi) >= 0; if c = inf, phi* is "
            "1 wherever P_out has no mass and the level is used up there. No condition on the laws is needed. Without randomisation the ratio's "
            "thresholds skip sizes, and between two of them another set of outputs can use the size that is left over: with "
            "discrete outputs the printed form fails."
        ),
    ),
    Statement(
        name="azize-thm-2.1b",
        formula=r"\mathrm{Adv}_n(1\{\ell_n > 0\}, z^*) \ge \mathrm{Adv}_n(A, z^*)",
        says="The attack 1{l_n > 0} has the largest advantage of all attacks, for every target. (Judged by enumeration, for mechanisms of few outputs. "
        "In general it is Bayes' rule for equal priors; a randomised attack is a mixture of sets.)",
        kind=rf.Bound(unit="advantage"),
        domain=_WORLDS,
        where=_few,
        claimed=advantage_of_ratio,
        truth=best_advantage,
        points=_POINTS,
        control=rf.Control(_TWO),
        quote=rf.Quote(
            "Largest advantage: for all target z*, for all adversary A_{z*}, Adv_n(A_{Bayes, z*}) >= Adv_n(A_{z*}).",
            "theorem 2.1 (b)",
        ),
        matters_when=_MATTERING,
    ),
    Statement(
        name="azize-thm-2.1c",
        formula=r"\mathrm{Adv}_n(1\{\ell_n > 0\}, z^*) = \mathrm{TV}(p_{\mathrm{out}}, p_{\mathrm{in}})",
        uses=("azize-thm-2.1b",),
        says="The advantage of 1{l_n > 0} is the total variation TV(p_out, p_in). (Judged by enumeration, for mechanisms of few outputs. In general both "
        "are the sum of (p_in - p_out)^+ over the outputs.)",
        kind=rf.Equality(1e-9, unit="advantage"),
        domain=_WORLDS,
        where=_few,
        claimed=total_variation,
        truth=lambda **at: advantage_of_ratio(**at),
        points=_POINTS,
        control=rf.Control(_TWO),
        quote=rf.Quote(
            "Optimal advantage as TV distance: Adv_n(A_{Bayes, z*}) = TV(p_n^out(. | z*) || p_n^in(. | z*)).",
            "theorem 2.1 (c), equation 2",
        ),
        matters_when=_MATTERING,
    ),
)
"""Theorem 2.1."""
