"""Algorithm 1 on gradients of networks at real records: is p_step a p-value there?"""

from math import inf
from typing import Any

from mipsim import referee as rf
from mipsim.referee import Replication
from mipsim.tradeoff import GaussianTradeOff
from verify import real_gradients
from verify.leemann.checks import real_p_values
from verify.leemann.statements import quotes
from verify.statement import Statement

TOLERANCE = 0.1
"""Probits: where p <= .01 is reported, the FPR is then between .0076 and .0130."""
LEAST_ROWS = 1000


def laws(rows: int, stretched: float = 1.0, *, n: int, **at: Any) -> tuple[Any, Any]:
    """Samplers of the law that F is of, and of the statistic with so many rows under H0: p is uniform if they have the same law."""
    of = real_p_values.known(**at)
    return real_p_values.assumed(of, n, stretched), real_p_values.statistics(of, n, float(rows))


def by_batches(n: int, **at: Any) -> Replication:
    """Literal batches, and p by SciPy."""
    return real_p_values.share_below(real_p_values.known(**at), n, n - 1.0)


def enough(n: int, records: str, rank: float) -> bool:
    """Whether the first corrections of the central limit are below half of the tolerance."""
    return n >= max(LEAST_ROWS, real_p_values.least_rows(real_p_values.known(records, rank)))


_PLAIN = {"records": "diabetes", "rank": 0.5, "n": 4000}

ALGORITHM_1_REAL = Statement(
    name="leemann-alg-1-real", formula=r"S = (n - 1) (m - \theta)^T \Sigma^{-1} (m - \theta), \quad p_{\mathrm{step}} = \log F^{-1}_{\chi^2_d(n K)}(S)",
    uses=("leemann-alg-1",),
    says="GLiR on gradients of networks at real records: with S = (n-1)(m - theta)' Sigma^-1 (m - theta), F_{chi2_d(nK)}(S) is the p-value under H0: S "
    "has the law chi2_d(nK), to a tenth of a probit at levels from .01 to .99, for every target, for large n: at least 1,000, and so many that with the factor n the first corrections of the central limit are below .05 and .025 probits. (The paper calls the algorithm a sketch. Where gradients have a lower rank than their parameters, as those of the digits, Sigma^-1 is the pseudo-inverse and d the rank, 517 of 650. F^-1, as printed, has no value at S > 1: see "
    "leemann-alg-1. Moments that are estimated, of which the paper expects no exact match, are not judged.)",
    fails="The same line as in leemann-alg-1, here read with F for F^-1, whose value at S is p: n - 1 is printed for n, the factor that equation 8 has under H0, so that the statistic is no p-value even with known moments. It moves the statistic by about $\\sqrt{K/n}/2$ of its standard deviation, which fades as K/n tends to 0. At the judged points of diabetes it is below the tolerance, and the verdict is INCONCLUSIVE. The attack of a single step orders the outputs of a target in the same way.",
    instead="the factor n, with known moments and n of at least 1,000 to 390,000 on digits, 1,000 to 54,000 on diabetes, by target",
    kind=rf.Equality(TOLERANCE, floor=real_p_values.LEVEL),
    domain={
        "records": rf.Choice(*real_gradients.RECORDS, meaning="real records: digits, a linear network (650 parameters); diabetes, the last of two layers (51)"),
        "rank": rf.Real(0.0, 1.0, meaning="rank of the target's K among the real records, 1 the largest"),
        "n": rf.Whole(LEAST_ROWS, inf, log=True, hunt_to=20_000, meaning="records in a batch"),
    },
    where=enough,
    defer_where=True,
    claimed=lambda: GaussianTradeOff(0.0),
    truth=lambda n, **at: laws(n - 1, n=n, **at),
    points=[
        # So many rows that S with the factor n has the law: what is wrong is the factor n - 1.
        rf.Point(_PLAIN | {"records": "digits", "rank": 0.025, "n": 1300}, setting="lead"),
        _PLAIN,
        _PLAIN | {"rank": 0.9},
    ],
    control=rf.Control(
        _PLAIN, -0.005, truth=lambda stretched, n, **at: laws(n - 1, stretched, n=n, **at)
    ),
    quote=quotes.ALGORITHM_1,
    restricted_by=(quotes.NOISY_MOMENTS, quotes.LARGE_BATCHES, quotes.P_VALUE),
    slip=(quotes.ALGORITHM_1, quotes.THEOREM_5_1),
    second_route=by_batches,
    samples=(0, 1, 12),
    games=(20_000, 50_000, 5_000_000),
)  # fmt: skip

ALGORITHM_1_REAL_CORRECTED = ALGORITHM_1_REAL.corrected(
    says="GLiR on gradients of the two networks that are judged, at the records of digits and of diabetes, with the moments of the law that the records are sampled from: with S = n (m - theta)' Sigma^-1 (m - theta), "
    "F_{chi2_d(nK)}(S), d the number of axes along which gradients vary, is the p-value under H0 to a tenth of a probit at levels from .01 to .99, where n is at least 1,000 and the "
    "first corrections of the central limit are below .05 and .025 probits: n >= (14.7 s)^2 and n >= 93 |E[a'w |w|^2]| / (2K), s the skewness of a'w, a and w the whitened gradients of "
    "the target and of a record.",
    formula=r"S = n (m - \theta)^T \Sigma^{-1} (m - \theta), \quad p_{\mathrm{step}} = \log F_{\chi^2_d(n K)}(S)",
    domain={"n": rf.Whole(LEAST_ROWS, inf, log=True, hunt_to=400_000)},
    truth=lambda n, **at: laws(n, n=n, **at),
    points=[
        _PLAIN,
        _PLAIN | {"rank": 0.0},
        _PLAIN | {"rank": 0.9},
        _PLAIN | {"records": "digits", "n": 10_000},
    ],
    control=rf.Control(_PLAIN, -0.005, truth=lambda stretched, n, **at: laws(n, stretched, n=n, **at)),
    restricted_by=(quotes.LARGE_BATCHES,),
    slip=None,
    derivation=(
        "Let x be the mean of n whitened records, so that S = n |x|^2 - 2 n a'x + n K. If x is N(0, I/n), S is chi2_d(nK), for every n and d. For records of any law with a regular "
        "covariance and finite third moments, the balls |x - a|^2 <= t are convex, and P(x in the ball) tends to that of the normal law at the rate n^-1/2, "
        "uniformly in a and t (Bentkus 2003): p is uniform in the limit, and no sooner. Edgeworth's first term for the leading part -2 n a'x moves a probit z by s (z^2 - 1) / (6 sqrt(n)), "
        "which is below .05 for |z| <= 2.33 where n >= (14.7 s)^2; and Cov(n |x|^2, -2 n a'x) = -2 E[a'w |w|^2] "
        "changes the standard deviation 2 sqrt(nK) by the share E[a'w |w|^2] / (2nK). These two are computed from the records; what is left is judged by games, and no theorem says that it is "
        "below the tolerance. Moments that are estimated from n_r records move S by about sqrt(n / n_r) of its standard deviation, and p is no p-value then unless n_r is "
        "far above n: that is why they are known here. The factor n - 1 moves S by about sqrt(K/n)/2 of its standard deviation."
    ),
    samples=(0, 1, 6),
    expensive=({"records": "digits", "n": 10_000},),
    needs={"n >= (14.7 s)^2 and n >= 93 |E[a'w |w|^2]| / (2K)": {"held": {"rank": 1.0, "n": 1000}}},
)

STATEMENTS = (ALGORITHM_1_REAL, ALGORITHM_1_REAL_CORRECTED)
