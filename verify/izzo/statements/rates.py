"""Theorem 8: what eta-MIP says of TPR and FPR."""

from typing import Any

import numpy as np

from mipsim import referee as rf
from verify.izzo.checks.second_routes import rates_again
from verify.izzo.laws.algorithms import ALGORITHMS, NAMED, RANDOM, law_of, named_rates
from verify.izzo.laws.subset_enumeration import best_of_all_attacks, finite_eta
from verify.izzo.statements.definition import ANY_LAW, EVEN, HALF, SIZES
from verify.statement import Statement, where_in


def rates_at(algorithm: str, n: int, k: int, keep: float, **at: Any) -> tuple[float, float, float]:
    """(eta, the largest TPR - FPR, twice the largest (k/n) TPR - (1 - k/n) FPR) of any attack on any target."""
    if algorithm == NAMED:
        return named_rates(n, k, keep)
    law = law_of(algorithm, n, **at)
    gap = max(best_of_all_attacks(law, n, target)[1] for target in range(n))
    return float(finite_eta(law, n).max()), gap, gap  # k = n/2


def gap_at(which: int, **at: Any) -> rf.Number:
    """Either of the two gaps, and how it was computed."""
    route = "whole fractions" if at["algorithm"] == NAMED else "enumeration of all attacks and targets"
    result = rates_at(**at)
    return rf.Number(result[which], route=route, detail=f"eta = {result[0]:.4g}")


_REST = {"keep": 0.5, "outputs": 5, "concentration": 1.0, "draw": 0}
_COUNT = {"algorithm": "a count", "n": 4} | _REST
_SHARES = ((3, 2, 0.5), (3, 1, 0.5), (5, 2, 0.55), (5, 4, 0.5), (10, 9, 0.5), (10, 7, 0.4))
_POINTS = [
    *rf.grid(_REST, algorithm=ALGORITHMS, n=SIZES),
    *rf.rows(_REST | {"algorithm": NAMED}, "n keep", (2, 0.6), (4, 0.6)),
    # From hunts.
    _REST | {"algorithm": "randomised response, epsilon = 2, delta = 0.1", "n": 2, "keep": 0.0, "outputs": 2},
]
_MATTERS = ANY_LAW | {"keep": where_in("algorithm", NAMED)}
_RESPONSES = [name for name in ALGORITHMS if name.startswith("randomised response")]
THEOREM_8 = Statement(
    name="izzo-thm-8",
    formula=r"\mathrm{TPR} \le \mathrm{FPR} + \eta",
    says="eta-MIP (k = n/2) implies P(I = 1 | x* in D_train) <= P(I = 1 | x* not in D_train) + eta, TPR <= FPR + eta, for every attack and target.",
    fails=r"The definition bounds the probability of a right guess, half of TPR + TNR, so that TPR - FPR may be twice $\eta$, as for the algorithm, shown here, by which the paper shows theorem 4 to be tight.",
    instead=r"$2\eta$; for other k, $(k/n)\,\mathrm{TPR} - (1 - k/n)\,\mathrm{FPR} \le \max(0, 2k/n - 1) + \eta$",
    kind=rf.Bound(unit="TPR - FPR"),
    domain={
        "algorithm": rf.Choice(*ALGORITHMS, RANDOM, NAMED, meaning="the algorithm"),
        "n": rf.Whole(
            2, np.inf, log=True, hunt_to=100, meaning="records in D, of which the training set is sampled"
        ),
        "keep": rf.Real(
            0.0, 1.0, meaning="probability that the output of the named algorithm is a record left out"
        ),
        "outputs": rf.Whole(2, 7, meaning="outputs of a sampled algorithm"),
        "concentration": rf.Real(
            0.03,
            30.0,
            log=True,
            meaning="parameter of the Dirichlet law that draws an algorithm's output laws",
        ),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    },
    # The other algorithms are enumerated over all halves.
    where=lambda algorithm, n: n % 2 == 0 and (algorithm == NAMED or n <= max(SIZES)),
    claimed=lambda n, **at: rates_at(n=n, k=n // 2, **at)[0],
    truth=lambda n, **at: gap_at(1, n=n, k=n // 2, **at),
    points=_POINTS,
    control=rf.Control(_COUNT, attained=True),
    quote=rf.Quote(
        "Suppose that A is eta-MIP. Then for any adversary I and any target record x*, we have that P(I(x*, A(D_train)) = 1 | x* in D_train) <= P(I(x*, A(D_train)) = 1 | x* not in D_train) + eta. In other words, any adversary must have TPR <= FPR + eta.",
        "theorem 8",
    ),
    restricted_by=(
        HALF,
        rf.Quote("We note that analogues of all of our results apply for general k.", "section 3.3"),
    ),
    second_route=lambda n, **at: rates_again(n=n, k=n // 2, **at),
    needs={"k = n/2": {"held": {"n": 3}}, **EVEN},
    matters_when=_MATTERS
    # What is about a single record is the same among more records.
    | {"n": lambda algorithm: algorithm not in ("constant", "membership itself", *_RESPONSES)},
)

THEOREM_8_CORRECTED = THEOREM_8.corrected(
    says="eta-MIP with k = n/2, n even, implies TPR <= FPR + 2 eta for every attack and target; with any 1 <= k < n it implies (k/n) TPR - (1 - k/n) FPR <= max(0, 2k/n - 1) + eta, where TPR - FPR may be large with eta = 0. For the target and the attack that reach the least eta of A these are equalities.",
    formula=r"\mathrm{TPR} \le \mathrm{FPR} + 2 \eta",
    domain={"k": rf.Whole(1, np.inf, log=True, hunt_to=99, meaning="records in the training set, of n")},
    where=lambda algorithm, n, k: k < n if algorithm == NAMED else 2 * k == n <= max(SIZES),
    claimed=lambda **at: 2 * (max(0.0, 2 * at["k"] / at["n"] - 1) + rates_at(**at)[0]),
    truth=lambda **at: gap_at(2, **at),
    points=[
        *(dict(at) | {"k": at["n"] // 2} for at in _POINTS),
        *rf.rows(_REST | {"algorithm": NAMED}, "n k keep", *_SHARES),
    ],
    control=rf.Control(_COUNT | {"k": 2}),
    derivation=(
        "With k = n/2 a target is in or out with probability 1/2 each (C(n-1, n/2-1)/C(n, n/2) = 1/2), so that an attack's accuracy is (TPR + 1 - "
        "FPR)/2. Accuracy <= 1/2 + eta is therefore TPR - FPR <= 2 eta for this attack and target, both ways: equality where the accuracy is "
        "1/2 + eta. The printed proof sums P(D_train = D) P(I = 1 | D) over the sets with the target, which is P(I = 1, x* in) = TPR/2, and "
        "calls it TPR: its inequality is for the joint rates, TPR/2 <= FPR/2 + eta. Any k: P(x* in D_train) = k/n, the accuracy is (k/n) TPR + "
        "(1 - k/n)(1 - FPR), and accuracy <= max(k/n, 1 - k/n) + eta is (k/n) TPR - (1 - k/n) FPR <= max(0, 2k/n - 1) + eta. That no constant "
        "times eta bounds TPR - FPR then: n = 3, k = 2, A names the record that was left out with probability 1/2 and each other record with 1/4. The "
        "attack 'out if the target is named' has FPR 1/2 and TPR 3/4; eta = 0, since a named record is out with probability "
        "(1/3)(1/2)/((1/3)(1/2) + (2/3)(1/4)) = 1/2 only and 'in' is never the worse guess."
    ),
    second_route=rates_again,
    matters_when=_MATTERS,
    needs={"k = n/2, n even": {"held": {"algorithm": "constant", "n": 4, "k": 1}}},
)

STATEMENTS = (THEOREM_8, THEOREM_8_CORRECTED)
