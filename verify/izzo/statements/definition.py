"""What eta-MIP means (proposition 2) and that post-processing keeps it (theorem 3), by enumeration."""

from typing import Any

import numpy as np

from mipsim import referee as rf
from verify.izzo.laws.algorithms import (
    ALGORITHMS,
    CHANNEL,
    ITSELF,
    RANDOM,
    RELABELLED,
    channel_of,
    law_of,
    sums_of_powers,
)
from verify.izzo.laws.subset_enumeration import best_of_all_attacks, finite_eta, half_subsets
from verify.izzo.laws.subset_laplace import laplace_eta, scaled_laplace_eta
from verify.statement import Statement, nowhere, where_in

HALF = rf.Quote(
    "In the remainder of the paper, we will set k = n/2, so that A is eta-MIP if an attacker cannot have average accuracy greater than (1/2 + eta).",
    "section 3.3",
)
SIZES = (2, 4, 6, 8)
FINITE = {
    "algorithm": rf.Choice(*ALGORITHMS, RANDOM, meaning="the algorithm"),
    # Every half is enumerated, and every attack on at most 8 outputs.
    "n": rf.Whole(2, np.inf, hunt_to=10, meaning="records in D, of which the training set is sampled"),
    "target": rf.Whole(0, np.inf, hunt_to=9, meaning="which record is attacked"),
    "outputs": rf.Whole(2, np.inf, hunt_to=8, meaning="outputs of a sampled algorithm"),
    "concentration": rf.Real(
        0.03, 30.0, log=True, meaning="parameter of the Dirichlet law that draws an algorithm's output laws"
    ),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
}
"""An algorithm with finitely many outputs: named, or sampled, which may be anything from a lookup table to noise."""
REST = {"outputs": 5, "concentration": 1.0, "draw": 0}
NOISY = "sum of 2^0, ..., 2^(n-1) plus Laplace noise"
BEST, STATED = "the best of all attacks, one by one", "the stated attack"


def posterior_sum(algorithm: str, n: int, target: int, scale: float, attack: str, **at: Any) -> float:
    """The sum over outputs of the larger posterior times the output's probability; for Laplace noise in closed form."""
    if algorithm == NOISY:
        return 0.5 + float(laplace_eta(sums_of_powers(n), scale, n)[target])
    return 0.5 + float(finite_eta(law_of(algorithm, n, **at), n)[target])


def accuracy(algorithm: str, n: int, target: int, scale: float, attack: str, **at: Any) -> float:
    """The accuracy of the attack, counted over all training sets; with Laplace noise by distribution functions between crossings."""
    flags = half_subsets(n)[:, target]
    if algorithm == NOISY:
        return 0.5 + float(scaled_laplace_eta(sums_of_powers(n), np.full(len(flags), scale), n)[target])
    law = law_of(algorithm, n, **at)
    if attack == BEST:
        return best_of_all_attacks(law, n, target)[0]
    says_in = law @ (2 * law[flags].sum(axis=0) >= law.sum(axis=0)).astype(float)
    return float(np.where(flags, says_in, 1 - says_in).mean())


_POSTERIOR = REST | {"scale": 1.0, "target": 0, "attack": BEST}
_COUNT = _POSTERIOR | {"algorithm": "a count", "n": 4}
ANY_LAW = dict.fromkeys(("outputs", "concentration", "draw"), where_in("algorithm", RANDOM))
EVEN = {"we will set k = n/2": {"held": {"n": 3}}}
PROPOSITION_2 = Statement(
    name="izzo-prop-2",
    formula=r"\sum_A \max\{P(x^* \in D_{\mathrm{train}} \mid A), P(x^* \notin D_{\mathrm{train}} \mid A)\} \, P(A) \le \frac{1}{2} + \eta",
    says="At k = n/2, A is eta-MIP if and only if, for every x*, sum_A max{P(x* in D_train | A), P(x* not in D_train | A)} P(A) <= 1/2 + eta; the optimal attack guesses the likelier side.",
    kind=rf.Equality(1e-9, unit="accuracy"),
    domain=FINITE
    | {
        "algorithm": rf.Choice(*ALGORITHMS, RANDOM, NOISY, meaning="the algorithm"),
        "scale": rf.Real(0.05, 50.0, log=True, meaning="scale of the Laplace noise, in units of the outputs"),
        "attack": rf.Choice(BEST, STATED, meaning="which attack"),
    },
    # With continuous outputs it is the stated attack whose accuracy is computed, for n <= 6.
    where=lambda algorithm, n, target, attack: (
        n % 2 == 0 and target < n and (algorithm != NOISY or (attack == STATED and n <= 6))
    ),
    claimed=posterior_sum,
    truth=accuracy,
    points=rf.grid(_POSTERIOR, algorithm=ALGORITHMS, n=SIZES)
    + rf.grid(_COUNT, attack=STATED, target=(0, 3))
    + rf.grid(_POSTERIOR, algorithm=NOISY, attack=STATED, n=(2, 4), scale=(0.2, 3.0, 50.0)),
    control=rf.Control(_COUNT),
    quote=rf.Quote(
        "Let A = Range(A) and for simplicity assume that A is discrete. Let P(A(D_train) = A) denote the probability of a given output A in A over the randomness in D_train and A. "
        "Then A is eta-MIP if and only if sum_A max{P(x* in D_train | A(D_train) = A), P(x* not in D_train | A(D_train) = A)} P(A(D_train) = A) <= 1/2 + eta. Furthermore, the optimal adversary is given by I(x*, A) = 1{P(x* in D_train | A(D_train) = A) >= 1/2}.",
        "proposition 2",
    ),
    restricted_by=(HALF,),
    needs={"At k = n/2": {"held": {"n": 3}}, **EVEN},
    matters_when=ANY_LAW
    | {"attack": nowhere, "scale": where_in("algorithm", "sum of 2^0, ..., 2^(n-1) plus Laplace noise")},
)


def processed_accuracy(
    algorithm: str, n: int, target: int, f: str, labels: int, spread: float, draw: int, **at: Any
) -> float:
    """The accuracy of the best attack on f(A(D))."""
    law = law_of(algorithm, n, draw=draw, **at)
    return 0.5 + float(finite_eta(law @ channel_of(f, law.shape[1], labels, spread, draw), n)[target])


_PROCESSED = REST | {"labels": 4, "spread": 0.3, "target": 0}
_COUNT_ITSELF = _PROCESSED | {"algorithm": "a count", "n": 4, "f": ITSELF}
THEOREM_3 = Statement(
    name="izzo-thm-3",
    says="If A is eta-MIP and f is any function, randomised independently of D_train, then f o A is eta-MIP. (Its coins are independent of A's too: "
    "with coins shared, A = membership XOR coin has eta 0 and f o A = membership has eta 1/2.)",
    kind=rf.Bound(unit="accuracy"),
    domain=FINITE
    | {
        "f": rf.Choice(ITSELF, RELABELLED, CHANNEL, meaning="what is done to the output afterwards"),
        "labels": rf.Whole(1, np.inf, hunt_to=16, meaning="values of the processed output"),
        "spread": rf.Real(
            0.03,
            30.0,
            log=True,
            meaning="parameter of the Dirichlet law that draws the rows of a random channel",
        ),
    },
    where=lambda n, target: n % 2 == 0 and target < n,
    claimed=lambda f, **at: processed_accuracy(f=ITSELF, **at),
    truth=processed_accuracy,
    points=[_COUNT_ITSELF, *rf.grid(_PROCESSED, algorithm=ALGORITHMS, n=SIZES, f=(RELABELLED, CHANNEL))],
    control=rf.Control(_COUNT_ITSELF),
    quote=rf.Quote(
        "Suppose that A is eta-MIP, and let f be any (potentially randomized, with randomness independent of D_train) function. Then f o A is also eta-MIP.",
        "theorem 3",
    ),
    # The coins of f are coins of the attack that f is part of.
    restricted_by=(
        HALF,
        rf.Quote(
            "The definition of MIP is phrased with respect to any classifier (whose randomness is independent of the randomness in "
            "A; if the adversary knows the algorithm and the random seed, we have no hope of enforcing privacy).",
            "section 3.3, after definition 1",
        ),
    ),
    needs=EVEN,
    matters_when=ANY_LAW
    | {
        "draw": lambda algorithm, f: algorithm == RANDOM or f != ITSELF,
        "labels": lambda f: f != ITSELF,
        "spread": where_in("f", CHANNEL),
    },
)

STATEMENTS = (PROPOSITION_2, THEOREM_3)
