"""Lemma 12 (an injection between adjacent sets) and lemma 13 (a generalised Chebyshev inequality)."""

from math import comb

import numpy as np

from mipsim import referee as rf
from verify.izzo.checks.second_routes import three_points
from verify.izzo.laws.laws_with_moments import CENTRED, WORST, tail
from verify.izzo.laws.linear_programs import bracket_injection, matching_size
from verify.statement import Statement, nowhere

MATCHING = "a largest matching"


def images(n: int, k: int, by: str) -> float:
    """How many k-sets without x* have adjacent ones with it of their own: in a largest matching, or in an explicit injection."""
    if by == MATCHING:
        return float(matching_size(n, k)[0])
    before, after = bracket_injection(n, k)
    right = after[((before ^ after).sum(axis=1) == 2) & after[:, 0]]
    return float(len(np.unique(np.packbits(right, axis=1), axis=0)))


LEMMA_12 = Statement(
    name="izzo-lemma-12",
    says="For k >= n/2 there is an injection from the k-sets of n records that lack x* to k-sets with it, each to a set that differs in a single record. Computed for n up to 13 by matchings, and by an explicit "
    "injection at n = 15 and 20; for every n the paper's proof holds.",
    kind=rf.Equality(1e-9, unit="sets"),
    domain={
        "n": rf.Whole(2, np.inf, hunt_to=13, meaning="records of which the sets are made"),
        "k": rf.Whole(1, np.inf, hunt_to=13, meaning="size of the sets"),
        "by": rf.Choice(MATCHING, "brackets", meaning="how the injection is computed"),
    },
    where=lambda n, k: n <= 2 * k <= 2 * n,
    claimed=lambda n, k: float(comb(n - 1, k)),
    truth=images,
    points=[
        *({"n": n, "k": k, "by": MATCHING} for n in range(2, 11) for k in range((n + 1) // 2, n + 1)),
        *rf.rows({"by": "brackets"}, "n k", (2, 1), (7, 4), (11, 6), (15, 8), (15, 12), (20, 10)),
    ],
    control=rf.Control({"n": 6, "k": 3, "by": MATCHING}),
    quote=rf.Quote(
        "Fix x* ∈ D and let D^in = {D ∈ D | x* ∈ D} and D^out = {D ∈ D | x* ∉ D}. If k >= n/2 then there is an injective function f : D^out -> D^in such that D ~ f(D) for all D in D^out.",
        "lemma 12",
    ),
    restricted_by=(
        rf.Quote(
            "To be precise, given two datasets D and D', we say that these datasets are adjacent (denoted D ~ D') if |D \\ D'| = |D' "
            "\\ D| = 1, or equivalently if D and D' differ by replacing exactly one element.",
            "section 2",
        ),
    ),
    derivation=(
        "The paper's own proof, by Hall's theorem: join a set D without x* to each D' = D - {y} + {x*}, y in D: D has k such neighbours, and D' is joined to the sets D' - {x*} + {y} for the n - k records y outside it. "
        "So for any family S of sets without x*, with N(S) the sets that are joined to one of them, k |S| <= (n - k) |N(S)|, and |N(S)| >= |S| as k >= n - k. "
        "So there is an injection along these pairs. For k < n/2 there are fewer sets with x* than without, and none is possible."
    ),
    needs={"For k >= n/2": {"held": {"n": 4, "k": 1}}},
)

_PRINTED = rf.Quote(
    "Let ||.|| be any norm and X be a random vector with E||X - EX||^2 <= sigma^k. Then for any t > 0, we have P(||X - EX|| > t sigma) <= 1/t^k.",
    "lemma 13",
)
_WORST = {"k": 2.0, "t": 4.0, "sigma": 1.0, "X": WORST}
LEMMA_13 = Statement(
    name="izzo-lemma-13",
    formula=r"E \lVert X - E X \rVert^2 \le \sigma^k \Rightarrow P(\lVert X - E X \rVert > t \sigma) \le t^{-k}",
    says="If E||X - EX||^2 <= sigma^k then P(||X - EX|| > t sigma) <= 1/t^k for any t > 0.",
    fails="The premise has the exponent 2 where the proof uses k: a bounded variance bounds no higher moment. Theorem 9 names the M-th moment itself, and is not touched.",
    instead="exponent k",
    kind=rf.Bound(unit="probability"),
    domain={
        # ||X - EX|| is a number, whatever the norm, and every law on the line is judged.
        "k": rf.Real(0.1, np.inf, log=True, hunt_to=12, meaning="moment order k"),
        "t": rf.Real(0.1, np.inf, log=True, hunt_to=10, meaning="threshold, in units of sigma"),
        "sigma": rf.Real(
            0.1, np.inf, log=True, hunt_to=10, meaning="sigma of the statement, in the unit of X"
        ),
        "X": rf.Choice(WORST, *CENTRED, meaning="law of X"),
    },
    # Student's t with 9 degrees of freedom has no more moments.
    where=lambda k, X: "Student" not in X or k < 9.0,
    claimed=lambda k, t: t**-k,
    truth=lambda k, t, sigma, X: tail(X, 2.0, sigma**k, t * sigma),
    points=[
        *(
            rf.grid(X=WORST, k=(0.5, 1.0, 2.0, 3.0, 4.0, 8.0), t=(0.5, 1.5, 4.0), sigma=(0.25, 1.0, 3.0))
            + rf.grid(X=CENTRED, k=(1.0, 2.0, 4.0, 8.0), t=(1.5, 4.0), sigma=1.0)
        ),
        # From hunts.
        _WORST | {"k": 10.0, "t": 7.0, "sigma": 5.0},
    ],
    control=rf.Control(_WORST),
    quote=_PRINTED,
    slip=(
        _PRINTED,
        rf.Quote(
            "P(||X - EX|| > t sigma) = P(||X - EX||^k > t^k sigma^k) <= E||X - EX||^k/(t^k sigma^k) <= 1/t^k",
            "lemma 13, proof",
        ),
    ),
    second_route=three_points,
)

LEMMA_13_CORRECTED = LEMMA_13.corrected(
    says="If EX exists and E||X - EX||^k <= sigma^k then P(||X - EX|| > t sigma) <= 1/t^k for any t > 0, k > 0 and sigma >= 0.",
    formula=r"E \lVert X - E X \rVert^k \le \sigma^k \Rightarrow P(\lVert X - E X \rVert > t \sigma) \le t^{-k}",
    truth=lambda k, t, sigma, X: tail(X, k, sigma**k, t * sigma),
    derivation=(
        "sigma > 0: ||X - EX||^k >= 0 is a number (a norm is measurable), and Markov's inequality gives P(||X - EX|| > t sigma) <= "
        "E||X - EX||^k/(t sigma)^k <= 1/t^k, the printed proof, which needs the k-th moment where the premise prints the exponent 2. sigma = 0: "
        "||X - EX|| = 0 almost surely, and the probability is 0. The two premises agree at k = 2 only. For k < 1 the mean may not exist; "
        "the same holds for any other centre."
    ),
    needs={"If EX exists and E||X - EX||^k <= sigma^k": {"held": {"X": "Student t, 9 df", "k": 9.5}}},
    matters_when={"sigma": nowhere},
)

STATEMENTS = (LEMMA_12, LEMMA_13, LEMMA_13_CORRECTED)
