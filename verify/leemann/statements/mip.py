"""The notion itself: theorem 4.2, f-DP implies f-MIP."""

from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.tradeoff import AbstractTradeOff, ApproxDPTradeOff, GaussianTradeOff
from verify.leemann.checks.draws import every_test, summed
from verify.leemann.laws.curves import polygon_of, sampled_sum_curve
from verify.leemann.laws.problems import FINITE, finite_mechanism
from verify.leemann.statements import quotes
from verify.statement import Statement, where_in

REPLACE, ADD = "neighbours replace a record (A: D^n -> R^d, n fixed)", "neighbours add or remove a record"
RESPONSE, SUM = "randomised response", "a noisy sum of n gradients +-C"


def promised(mechanism: str, **at: Any) -> AbstractTradeOff:
    """The curve of the DP guarantee."""
    if mechanism in FINITE:
        return finite_mechanism(mechanism, at["skew"], at["draw"])[0]
    return ApproxDPTradeOff(at["epsilon"], 0.0) if mechanism == RESPONSE else GaussianTradeOff(at["mu"])


def shift_of(reading: str, mu: float) -> float:
    """What a gradient of norm C is in standard deviations of the noise on the sum, 2C/mu or C/mu."""
    return mu / (2.0 if reading == REPLACE else 1.0)


def attained(mechanism: str, **at: Any) -> AbstractTradeOff:
    """The curve of the membership game, whose target is sampled from the law of the records, and seen."""
    if mechanism in FINITE:
        return finite_mechanism(mechanism, at["skew"], at["draw"])[1]
    if mechanism == SUM:
        return sampled_sum_curve(at["n"], shift_of(at["reading"], at["mu"]), at["own"])
    law = np.ones(at["values"])
    law[0] = np.exp(at["epsilon"])
    # All targets have the same curve, and all neighbours, since values can be renamed.
    return polygon_of(np.full(law.size, 1 / law.size), law / law.sum())


_REST = {"reading": REPLACE, "values": 12, "epsilon": 1.0, "skew": 1.0, "draw": 0}
_REST |= {"n": 1, "mu": 1.0, "own": 0.5}
_TIGHT = _REST | {"mechanism": RESPONSE, "values": 400}

THEOREM_4_2 = Statement(
    name="leemann-thm-4.2",
    formula=r"f\text{-DP} \Rightarrow f\text{-MIP}",
    says="An f-DP algorithm is f-MIP.",
    fails="For f-DP of records that are replaced, as A: D^n -> R^d reads, and as in [11], which the theorem cites and whose data sets differ in the record of a single individual, it holds. A record that is added or removed, as in table 1, moves a sum of clipped gradients at most half as far as a record that is replaced, as in the game. The more gradients there are, the more the others hide, and the rarer are the errors at which it shows. At this example it holds at smaller FPRs: at 0.5 the FNR is 0.25, at least 0.023 by the claim.",
    instead="for replaced records",
    kind=rf.Bound(),
    domain={
        "mechanism": rf.Choice(SUM, RESPONSE, *FINITE, meaning="the private mechanism"),
        # n is fixed in the theorem; the example of table 1, S = {} and S' = {10^6}, adds a record.
        "reading": rf.Choice(REPLACE, ADD),
        "values": rf.Whole(2, np.inf, log=True, hunt_to=1000, meaning="values that a record can have"),
        "epsilon": rf.Real(0.01, np.inf, log=True, hunt_to=8.0, meaning="epsilon of randomised response"),
        "n": rf.Whole(1, np.inf, log=True, hunt_to=300, meaning="records in the sum"),
        "mu": rf.Real(
            0.01, np.inf, log=True, hunt_to=8.0, meaning="mu of the Gaussian mechanism that releases the sum"
        ),
        "own": rf.Real(
            0.001,
            0.999,
            meaning="probability of a gradient +C, the others are -C; the target has the same law",
        ),
        "skew": rf.Real(
            0.05, 20.0, log=True, meaning="parameter of the Dirichlet law that draws the law of the records"
        ),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    },
    # Only the sum is a mechanism for data sets of every size.
    where=lambda mechanism, reading: reading == REPLACE or mechanism == SUM,
    claimed=promised,
    truth=attained,
    points=[
        *rf.grid(_REST, mechanism=FINITE, skew=(100**-0.5, 20.0), draw=range(4)),
        *rf.grid(_TIGHT, values=(2, 12, 400), epsilon=(0.1, 1.0, 4.0)),
        *rf.rows(_REST | {"mechanism": SUM}, "n mu own", (1, 1.0, 0.5), (5, 1.0, 1e-3), (20, 4.0, 0.5)),
        rf.Point(_REST | {"mechanism": SUM, "reading": ADD, "n": 2, "mu": 2.0}, "two gradients", "lead"),
        *rf.rows(
            _REST | {"mechanism": SUM, "reading": ADD},
            "n mu own",
            (50, 1.0, 0.02),
            (1, 1.0, 0.5),
            (2, 1.0, 0.5),
            (5, 2.0, 0.5),
            (10, 1.0, 0.1),
        ),
    ],
    control=rf.Control(_TIGHT),
    quote=rf.Quote(
        "Let an algorithm A : D^n → R^d be f-differentially private [11]. Then, algorithm A will also be f-membership inference "
        "private.",
        "theorem 4.2",
    ),
    restricted_by=(
        rf.Quote(
            "The classical notion of (ϵ, δ)-differential privacy [14] is the current workhorse of private ML and can be described "
            "as follows: An algorithm is DP if for any two neighboring datasets S, S' (that differ by one instance) and any subset "
            "of possible outputs, the ratio of the probabilities that the algorithm's output lies in the subset for inputs S, S' is "
            "bounded by a constant factor.",
            "section 3",
        ),
        quotes.ADDED_INSTANCE,
        quotes.TYPICAL_SAMPLES,
    ),
    second_route=lambda reading, n, mu, own: summed(n, shift_of(reading, mu), own, mu),
    matters_when={
        **dict.fromkeys(("values", "epsilon"), where_in("mechanism", RESPONSE)),
        **dict.fromkeys(("mu", "own", "reading"), where_in("mechanism", SUM)),
        # Records that are all alike add a constant.
        "n": lambda mechanism, own: mechanism == SUM and 0.0 < own < 1.0,
        **dict.fromkeys(("skew", "draw"), where_in("mechanism", *FINITE)),
    },
)

THEOREM_4_2_CORRECTED = THEOREM_4_2.corrected(
    says="An algorithm that is f-DP for neighbours that differ by a replaced record is f-MIP. An algorithm that is f-DP both ways for an "
    "added or removed record is (f o (1 - f))-MIP, 2 mu-GMIP for f = G_mu.",
    formula=r"G_\mu\text{-DP (add or remove)} \Rightarrow 2 \mu\text{-GMIP}",
    claimed=lambda mu, reading, **at: promised(mu=2.0 * mu if reading == ADD else mu, **at),
    derivation=(
        "Fix the target x'. Out the output is a mixture over (X, x) of A(X + x), in it is the same mixture of A(X + x'): "
        "neighbours by a replaced record. A test with FPR a_i between the i-th pair has FNR at least f(a_i), so that between the "
        "mixtures its FNR is at least E f(a_i) >= f(E a_i), as f is convex (Jensen). Over the targets likewise: E f(abar(x')) >= "
        "f(alpha). For an added or removed record X lies between X + x and X + x': a test with FPR a under X + x has power "
        "at most 1 - f(a) under X, and so FNR at least f(1 - f(a)) under X + x', as f falls; this function is convex and below 1 - a, "
        "and the same argument applies (Dong, Roth and Su 2022, group privacy)."
    ),
)

ALPHA = np.linspace(0.0, 1.0, 401)
APART = 1e-6
"""By how much two curves differ in FNR at least, to count as different; equal ones differ by 1e-12 of rounding."""
PAIR, ALONE = "of the sample and the output together", "of the output alone, for all samples"


def largest_gap(low: AbstractTradeOff, high: AbstractTradeOff) -> rf.Number:
    """Less the largest distance that a grid of FPRs shows: the true distance may be larger."""
    gap = float((np.asarray(high.beta(ALPHA)) - np.asarray(low.beta(ALPHA))).max())
    return rf.Number(-gap, 1e-11, unit="FNR", route="finite laws")


def without_composition(mechanism: str, skew: float, draw: int, reading: str) -> rf.Number:
    """Less the distance of the stochastic composition from the best test of the pair, or of an output, whose law is the same in both worlds."""
    _, composed, pair = finite_mechanism(mechanism, skew, draw)
    if reading == ALONE:
        return largest_gap(composed, GaussianTradeOff(0.0))
    least, most = largest_gap(composed, pair), largest_gap(pair, composed)
    return rf.Number(min(least.value, most.value), 1e-11, unit="FNR", route="finite laws")


_MECHANISMS = {
    "mechanism": rf.Choice(*FINITE, meaning="a random mechanism on two rows of three values"),
    "skew": rf.Real(1.0, 20.0, log=True, meaning="parameter of the Dirichlet law that draws the law of the records"),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
}  # fmt: skip
_SAMPLED = rf.grid({"skew": 1.0}, mechanism=FINITE, draw=(0, 1))

MOST_POWERFUL = Statement(
    name="leemann-most-powerful",
    says="A straightforward construction of the most powerful test does not give the trade-off of membership inference: that of the stochastic "
    "composition differs from the trade-off of the likelihood-ratio test.",
    fails="Of a single test of the output alone, the same for all samples, it is right: the output has the same distribution in both worlds, and the tests of (3), one for each sample, must be composed, as the next sentence of the paper says. Of the pair of sample and output, which the attacker of definition 3.1 has, the most powerful test is a single test too, and has exactly the composition's curve.",
    instead="for tests of the output alone",
    source="Leemann et al., section 4.1",
    kind=rf.Bound(unit="FNR"),
    domain=_MECHANISMS | {"reading": rf.Choice(PAIR, ALONE)},
    claimed=lambda: -APART,
    truth=without_composition,
    points=[point | {"reading": reading} for point in _SAMPLED for reading in (PAIR, ALONE)],
    control=rf.Control(_SAMPLED[0] | {"reading": ALONE}, attained=True),
    quote=rf.Quote(
        "Most prominently, a straightforward construction of the MPT to MI problems does not work since the adversary does not only run one "
        "hypothesis test to guess whether one sample belongs to the training data set or not; instead, the adversary draws multiple samples "
        "and runs sample-dependent and (potentially) different hypotheses tests for each drawn sample.",
        "section 4.1, after definition 4.1",
    ),
    restricted_by=(
        rf.Quote(
            "Finally, the attacker is successful if A(x', A_S, N, D) = b.",
            "definition 3.1",
        ),
        rf.Quote(
            "This is necessary due to the form of the alternative hypotheses in the formulation of the test in (3), which depends on the "
            "sample x'. We therefore require a tool to compose the results from different hypothesis tests.",
            "section 4.1, after the sentence",
        ),
    ),
    second_route=every_test,
)


def beyond_dp(mechanism: str, skew: float, draw: int) -> rf.Number:
    """Less how far the curve of membership is above that of DP somewhere; 0 where it is below it anywhere."""
    of_dp, composed, _ = finite_mechanism(mechanism, skew, draw)
    implied = largest_gap(composed, of_dp).value > -1e-9
    return largest_gap(of_dp, composed) if implied else rf.Number(0.0, unit="FNR", route="finite laws")


STRICTLY = Statement(
    name="leemann-strictly-stronger",
    says="f-DP of replaced records implies f-MIP, and is strictly stronger: the f for which an algorithm is f-MIP need not be a guarantee of DP. Judged "
    "for random mechanisms, each of which is f-MIP with an f that is nowhere below its curve of DP, and above it somewhere.",
    source="Leemann et al., section 4.3",
    kind=rf.Bound(unit="FNR"),
    domain=_MECHANISMS,
    claimed=lambda: -APART,
    truth=beyond_dp,
    points=_SAMPLED,
    control=rf.Control(_SAMPLED[0], attained=True),
    quote=rf.Quote(
        "As expected, f-DP is strictly stronger than f-MIP, which can be condensed in the following result:",
        "section 4.3, before theorem 4.2",
    ),
)

STATEMENTS = (THEOREM_4_2, THEOREM_4_2_CORRECTED, MOST_POWERFUL, STRICTLY)
