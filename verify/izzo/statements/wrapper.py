"""Algorithm 1: the wrapper that estimates its own noise scale."""

import numpy as np

from mipsim import referee as rf
from mipsim.theory import izzo
from verify.izzo.checks.second_routes import algorithm_1_runs
from verify.izzo.laws.algorithms import (
    MEMBER,
    RANDOM,
    RECORDS,
    STATISTICS,
    algorithm_of,
    central_moment,
    records_of,
    statistic_of_halves,
)  # fmt: skip
from verify.izzo.laws.subset_enumeration import half_subsets
from verify.izzo.laws.subset_laplace import scaled_laplace_eta
from verify.izzo.statements.definition import HALF
from verify.izzo.statements.noise import EVERY, UNIT, laplace_ratio, worst_ratio
from verify.statement import Statement, where_in

LISTING, WHOLE = "B halves of D_train, as listed", "B halves of the data set, as in the text"


def wrapped_ratio(
    records: str, statistic: str, n: int, spread: float, draw: int, M: float, eta: float, reading: str
) -> rf.Number:
    """The best attack's eta over the promised eta, with every half in place of B random ones: the limit as B grows."""
    c = izzo.noise_constant(eta, M, izzo.CONSTANT_FROM_2)
    if statistic == EVERY:
        return worst_ratio(c, M, eta)
    rows = records_of(records, n, spread, draw)
    algorithm = algorithm_of(statistic, rows)
    values = statistic_of_halves(algorithm, rows)
    if reading == WHOLE:
        return laplace_ratio(values, c, M, eta, n)
    own = np.array([central_moment(statistic_of_halves(algorithm, rows[f]), M) for f in half_subsets(n)])
    return rf.Number(
        float(scaled_laplace_eta(values, c * own, n).max()) / eta,
        route="enumeration of halves and of their halves, crossings of densities",
        detail=f"sigma from D_train is in [{own.min():.3g}, {own.max():.3g}], the moment is {central_moment(values, M):.3g}.",
    )


_LISTED = rf.Quote(
    "for i = 1, ..., B do D_train^(i) <- RANDOMSPLIT(D_train, 1/2); theta^(i) <- A(D_train^(i))",
    "algorithm 1",
)
_CONSISTENT = rf.Quote(
    "While our estimation procedure for sigma is consistent and guaranteed to give the correct value as B -> infinity (or "
    "if B = C(n, n/2) and all possible subsets D_train are tested, so that sigma is computed deterministically and "
    "exactly), for finite B, it cannot be guaranteed that the estimated sigma is an upper bound on the central moment, "
    "therefore the results of Theorem 9 or Corollary 10 cannot be guaranteed to hold.",
    "section 4, before algorithm 1",
)
_OF = rf.rows(
    {"spread": 1.0, "draw": 0}, "records statistic n",
    (RECORDS[0], MEMBER, 4), (RECORDS[1], "mean", 8), (RECORDS[2], "maximum", 8), (RECORDS[2], "mean", 8), (RECORDS[0], "sum", 8),
)  # fmt: skip
_NOISE = rf.rows({}, "M eta", (2.0, 0.4), (2.0, 0.1), (2.0, 0.01), (4.0, 0.01))
_POINTS = [at for item in _OF for c in _NOISE for at in rf.grid(item | c, reading=(LISTING, WHOLE))]
ALGORITHM_1 = Statement(
    name="izzo-alg-1",
    uses=("izzo-cor-10",),
    says="Algorithm 1 (sigma_j from B random halves of D_train, X as in corollary 10, release A(D_train) + X) estimates the moments consistently, so that its output is eta-MIP as B grows.",
    fails="The scale of the noise is estimated on the training half, so that the scale itself tells who is in it. With halves of the whole data set, as in the text before the algorithm, it holds in the limit in a single dimension, which is what is judged; in more it stands or falls with corollary 10 as printed (see izzo-cor-10: at M = 2 there is room up to d = 52,000). The skewed records of the example are 0.1, 0.2, 0.4, 0.5, 0.9, 1.4, 2.2 and 5, the target.",
    instead="on the whole data set, in a single dimension, as B grows",
    kind=rf.Bound(unit=UNIT),
    # B grows without bound: the paper claims no guarantee for finite B. A single dimension, where corollary 10 itself holds. |.|^M is meant,
    # printed without the modulus, so that an odd M may give sigma = 0.
    domain={
        "records": rf.Choice(*RECORDS, RANDOM, meaning="the records' values"),
        "statistic": rf.Choice(MEMBER, *STATISTICS, EVERY, meaning="what the algorithm releases"),
        "n": rf.Whole(2, np.inf, hunt_to=8, meaning="records in D, of which the training set is sampled"),
        "spread": rf.Real(0.1, 3.0, meaning="standard deviation of the logarithms of sampled records"),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
        "M": rf.Real(2.0, np.inf, log=True, hunt_to=100, meaning="moment order M of the noise scale"),
        "eta": rf.Real(1e-3, 0.5, log=True, meaning="promised eta"),
        "reading": rf.Choice(LISTING, WHOLE),
    },
    where=lambda n, statistic, reading: n % 2 == 0 if reading == WHOLE else n % 4 == 0 and statistic != EVERY,
    claimed=lambda: 1.0,
    truth=wrapped_ratio,
    points=[
        *(
            rf.Point(at, setting="lead")
            if (at["records"], at["statistic"], at["eta"], at["reading"])
            == (RECORDS[2], "mean", 0.1, LISTING)
            else at
            for at in _POINTS
        ),
        # From hunts.
        {
            "records": "0, 1, ..., n - 1",
            "statistic": MEMBER,
            "n": 4,
            "spread": 1.0,
            "draw": 0,
            "M": 3.0,
            "eta": 0.001,
            "reading": LISTING,
        },
    ],
    control=rf.Control(_POINTS[1], attained=True),
    quote=rf.Quote(
        "It may be the case that the sigma_i are not known or an analytic upper bound cannot be easily derived. In such cases, an approximate or asymptotic form of MIP can be employed by estimating the sigma_i from data. [...] "
        + _LISTED.text,
        "section 4, and algorithm 1",
    ),
    not_judged={"an approximate or": "how good an approximation is, is not stated"},
    restricted_by=(HALF, _CONSISTENT),
    # There are C(n, n/2) halves of the data set, and C(n/2, n/4) of D_train: the text is about the former.
    slip=(_LISTED, _CONSISTENT),
    second_route=algorithm_1_runs,
    samples=(4, 12, 60),
    needs={"we will set k = n/2": {"held": {"n": 5}}},
    matters_when={
        **dict.fromkeys(("spread", "draw"), where_in("records", RANDOM)),
        # Without the target there is no noise: it is distinguished whatever the other records are.
        **dict.fromkeys(
            ("records", "n", "M"), lambda statistic, reading: statistic != MEMBER or reading == WHOLE
        ),
    },
)

ALGORITHM_1_CORRECTED = ALGORITHM_1.corrected(
    uses=("izzo-cor-10-corrected",),
    says="With sigma_j^M = (1/B) sum |theta_j^(i) - mean|^M from B random halves of the whole data set (size n/2, as D_train), sampled independently of D_train and with fresh coins of A, all sigma_j in the limit > 0 and finite, M >= 2, and noise of density exp(-||x||_{sigma,M}/c), c = (6.16/eta)^(1 + 2/M), independent of all else, eta in (0, 1/2]: the output is eta-MIP for every large enough B: the accuracy of the best attack has an upper limit below 1/2 + eta as B grows. How large B must be depends on A.",
    domain={"reading": rf.Fixed(WHOLE)},
    points=[
        *(point for point in _POINTS if point["reading"] == WHOLE),
        *rf.grid(_POINTS[1], statistic=EVERY, M=(2.0, 4.0, 100.0), eta=(0.5, 0.4, 0.1, 1e-3)),
    ],
    derivation=(
        "Theorem 9 needs the moment of A over halves of the data set, whatever D_train is. The listing splits D_train again: "
        "its sigma is the moment over quarters that lie in D_train, which converges to another number and depends on who is in "
        "D_train. Where a record moves the output much, the noise is loud if it is in and quiet if it is out, and its loudness "
        "tells: with A = 1{x* in D_train} the noise is 0 whenever x* is out, so the attacker is always right. Corrected: let s be the estimate, "
        "independent of (D_train, A's coins, X's shape). The attacker may even know s: it does not depend on the target. Given s, the proof of "
        "izzo-cor-10-corrected applies with E||theta - E theta||_s <= R(s) = (sum_j sigma_j^M/(d s_j^M))^(1/M) in place of 1, so that the accuracy "
        "is at most 1/2 + E[tanh(R(s)/c)]/2. By the law of large numbers s_j -> sigma_j > 0, so that R(s) -> 1 almost surely, and the bound tends "
        "(bounded convergence) to 1/2 + tanh(1/c)/2 < 1/2 + eta. For small B some s_j may be 0 with a probability that is not 0."
    ),
)

STATEMENTS = (ALGORITHM_1, ALGORITHM_1_CORRECTED)
