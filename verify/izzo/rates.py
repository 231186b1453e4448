"""Theorem 8: what eta-MIP says of TPR and FPR."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mipsim import referee as rf
from mipsim.exact.subset.enumeration import finite_eta, half_subsets, subsets
from verify.izzo.algorithms import ALGORITHMS, SIZES, Law, best_by_search, random_law, worlds
from verify.izzo.noise import HALF

NAMED = "names a record that was left out"
"""Each k-set's output is one of n records: each record left out with probability keep/(n - k), each member with (1 - keep)/k."""


def law_of(algorithm: str, n: int, outputs: int, concentration: float, draw: int) -> Law:
    """The outputs' law for each half of n records."""
    return random_law(n, outputs, concentration, draw) if algorithm == "drawn" else ALGORITHMS[algorithm](n)


def named_rates(n: int, k: int, keep: float) -> tuple[Fraction, list[tuple[Fraction, Fraction]]]:
    """(eta, (TPR, FPR) of the four deterministic attacks on whether the record itself is named), in whole fractions.

    The other outputs make, by symmetry, one more outcome for this record.
    """
    share, hit = Fraction(k, n), Fraction(keep)
    out, inside = hit / (n - k), (1 - hit) / k  # P(this record is named | it is out, in)
    pairs = ((out, inside), (1 - out, 1 - inside))
    eta = sum(max((1 - share) * a, share * b) for a, b in pairs) - max(share, 1 - share)
    rates = [(x * inside + y * (1 - inside), x * out + y * (1 - out)) for x in (0, 1) for y in (0, 1)]
    return eta, rates


def eta_of(
    algorithm: str, n: int, k: int, keep: float, outputs: int, concentration: float, draw: int
) -> float:
    """The largest eta of any target."""
    if algorithm == NAMED:
        return float(named_rates(n, k, keep)[0])
    return float(finite_eta(law_of(algorithm, n, outputs, concentration, draw), n).max())


def largest_gap(
    algorithm: str, n: int, k: int, keep: float, outputs: int, concentration: float, draw: int
) -> rf.Number:
    """The largest TPR - FPR of any attack on any target; for k other than n/2 (k TPR - (n - k) FPR)/n where that is asked."""
    if algorithm == NAMED:
        eta, rates = named_rates(n, k, keep)
        return rf.Number(
            float(max(tpr - fpr for tpr, fpr in rates)),
            route="whole fractions",
            detail=f"eta = {float(eta):.4g}",
        )
    law = law_of(algorithm, n, outputs, concentration, draw)
    found = max(best_by_search(law, n, target)[1] for target in range(n))
    route = "enumeration of all attacks and targets"
    return rf.Number(found, route=route, detail=f"eta = {float(finite_eta(law, n).max()):.4g}")


def counted(
    algorithm: str, n: int, k: int, keep: float, outputs: int, concentration: float, draw: int
) -> str:
    """Another way to the same: 200,000 drawn training sets and outputs, or every set and output in floating point."""
    if algorithm == NAMED:
        flags = subsets(n, k)
        law = np.where(flags, (1 - keep) / k, keep / (n - k))
        inside, out = law[flags[:, 0]].mean(axis=0), law[~flags[:, 0]].mean(axis=0)
        gap = float(np.maximum(inside - out, 0).sum())
        return f"all {len(flags)} sets and {n} outputs enumerated in floating point: TPR - FPR = {gap:.4g}"
    law = law_of(algorithm, n, outputs, concentration, draw)
    target = max(range(n), key=lambda target: best_by_search(law, n, target)[1])
    rng, flags = np.random.default_rng(8), half_subsets(n)[:, target]
    out, inside = worlds(law, n, target)
    drawn = rng.integers(0, len(law), 200_000)
    output = (rng.random((len(drawn), 1)) >= law[drawn].cumsum(axis=1)).sum(axis=1).clip(max=law.shape[1] - 1)
    guess, member = (inside >= out)[output], flags[drawn]
    tpr, fpr, accuracy = guess[member].mean(), guess[~member].mean(), (guess == member).mean()
    return f"200,000 drawn training sets (seed 8): TPR = {tpr:.4f}, FPR = {fpr:.4f}, accuracy - 1/2 = {accuracy - 0.5:.4f}"


_REST = {"keep": 0.5, "outputs": 5, "concentration": 1.0, "draw": 0}
_HALVES = [{"algorithm": name, "n": n, "k": n // 2} | _REST for name in ALGORITHMS for n in SIZES]
_SHARES = [
    {"algorithm": NAMED, "n": n, "k": k} | _REST | {"keep": keep}
    for n, k, keep in (
        (3, 2, 0.5), (3, 1, 0.5), (5, 2, 0.55), (5, 4, 0.5), (10, 9, 0.5), (10, 7, 0.4), (2, 1, 0.6), (4, 2, 0.6),
    )
]  # fmt: skip
_COUNT = {"algorithm": "a count", "n": 4, "k": 2} | _REST

THEOREM_8 = rf.Statement(
    name="izzo-thm-8",
    says="eta-MIP (k = n/2) implies P(I = 1 | x* in D_train) <= P(I = 1 | x* not in D_train) + eta, TPR <= FPR + eta, for every "
    "attack and target; analogues hold for general k.",
    source="Izzo et al., theorem 8",
    kind=rf.Bound(unit="TPR - FPR"),
    domain={
        "algorithm": rf.Choice(*ALGORITHMS, "drawn", NAMED),
        "n": rf.Whole(2, np.inf, log=True, hunt_to=100),
        "k": rf.Whole(1, np.inf, log=True, hunt_to=99),
        "keep": rf.Real(0.0, 1.0),
        "outputs": rf.Whole(2, 7),
        "concentration": rf.Real(0.03, 30.0, log=True),
        "draw": rf.Whole(0, 10**6),
    },
    # The other algorithms are enumerated over all halves.
    where=lambda algorithm, n, k: k < n if algorithm == NAMED else 2 * k == n <= max(SIZES),
    claimed=eta_of,
    truth=largest_gap,
    points=[*_HALVES, *_SHARES],
    control=rf.Control(_COUNT, attained=True),
    quote=rf.Quote(
        "Suppose that A is eta-MIP. Then for any adversary I and any target record x*, we have that P(I(x*, A(D_train)) = 1 | x* in D_train) <= "
        "P(I(x*, A(D_train)) = 1 | x* not in D_train) + eta. In other words, any adversary must have TPR <= FPR + eta.",
        "theorem 8",
    ),
    restricted_by=(
        HALF,
        rf.Quote("We note that analogues of all of our results apply for general k.", "section 3.3"),
    ),
    second_route=counted,
)

THEOREM_8_CORRECTED = THEOREM_8.corrected(
    says="eta-MIP with k = n/2, n even, implies TPR <= FPR + 2 eta for every attack and target; with any 1 <= k < n it implies (k/n) TPR "
    "- (1 - k/n) FPR <= max(0, 2k/n - 1) + eta, where TPR - FPR may be large with eta = 0. For the target and the attack that reach the "
    "least eta of A these are equalities.",
    claimed=lambda **at: 2 * (max(0.0, 2 * at["k"] / at["n"] - 1) + eta_of(**at)),
    truth=lambda **at: largest_weighted_gap(**at),
    control=rf.Control(_COUNT),
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
)


def largest_weighted_gap(**at: object) -> rf.Number:
    """Twice the largest (k/n) TPR - (1 - k/n) FPR of any attack on any target: TPR - FPR itself where k = n/2."""
    if at["algorithm"] != NAMED:
        return largest_gap(**at)  # pyright: ignore[reportArgumentType]
    n, k, keep = at["n"], at["k"], at["keep"]
    eta, rates = named_rates(n, k, keep)  # pyright: ignore[reportArgumentType]
    share = Fraction(k, n)  # pyright: ignore[reportArgumentType]
    return rf.Number(
        float(2 * max(share * tpr - (1 - share) * fpr for tpr, fpr in rates)),
        route="whole fractions",
        detail=f"eta = {float(eta):.4g}",
    )


STATEMENTS = (THEOREM_8, THEOREM_8_CORRECTED)
"""As printed and corrected."""
