"""The privacy onion: what removing outliers does to the leakage score of the points that remain."""

from math import inf

import scipy

from mipsim import referee as rf
from verify.azize.laws.cut_off_laws import Family, fall_by_draws, kept_part, of_points, on_values, worst_point
from verify.azize.statements.mean import ASSUMES, ASYMPTOTIC
from verify.statement import Statement, where_in

EACH, AVERAGE = "each point that remains", "the points that remain, on average"
SYMMETRIC = ("normal", "laplace", "uniform", "student")
BALL, VALUES, POINTS = "N(0, I) in d dimensions", "symmetric values in d dimensions", "a finite data set"
PRODUCTS = (*SYMMETRIC, BALL, VALUES)


def family(data: str, shape: float, other: float) -> Family:
    """The law of a single dimension; a Student law has 3 degrees of freedom more than the shape."""
    return data, shape + 3 if data == "student" else shape, other


def scores(
    reading: str, data: str, shape: float, other: float, keep: float, d: int, draw: int
) -> tuple[float, float, str]:
    """(t^2 before, after, where) of the worst point that remains, or the means over those that remain."""
    if data == POINTS:
        n = d + 5 + draw % 60
        return *of_points(n, d, 1 + int((1 - keep) * (n - d - 3)), draw), f"{n} points."
    if data == BALL:
        # Sigma' = c I with c = P(chi2_{d+2} <= r) / P(chi2_d <= r); that of N(0, I) is 1.
        shrink = float(scipy.stats.chi2.cdf(scipy.stats.chi2.ppf(keep, d), d + 2) / keep)
        return shrink, 1.0, f"every m* grows by the factor {1 / shrink:.4f}."
    if data == VALUES:
        ratio, retained = on_values(d, shape * d)
        return ratio, 1.0, f"share kept {retained:.4f}."
    if reading == AVERAGE:
        # Afterwards it is 1 by definition of Sigma'.
        return kept_part(family(data, shape, other), keep)[4], 1.0, ""
    z, before, after = worst_point(family(data, shape, other), keep)
    return before, after, f"at z = {z:.3f}."


_REST = {"shape": 1.5, "other": 1.0, "d": 1, "draw": 0}
_LAWS = [{"data": name} | _REST for name in SYMMETRIC] + [
    {"data": "gamma"} | _REST | {"shape": shape} for shape in (1.0, 2.0)
]
_BASE = [
    {"reading": reading, "keep": keep} | law
    for reading in (EACH, AVERAGE)
    for law in _LAWS
    for keep in (0.8, 0.9, 0.99)
]
_LAYER = {"reading": EACH, "keep": 0.9, "data": "gamma"} | _REST | {"shape": 1.0}
_EDGE = {"reading": AVERAGE, "data": "uniform", "keep": 0.99} | _REST
ONION = rf.Quote(
    "Removing a layer of outliers is equivalent to sampling from a new data-generating distribution, with a smaller variance. In this new "
    "data-generating distribution with smaller variance, the points which are not removed will naturally have an increased Mahalanobis distance.",
    "section 3, explaining the privacy onion effect",
)

PRINTED = Statement(
    name="azize-onion",
    uses=("azize-thm-3.1-power",),
    says="Removing the outliers raises m* of the points that remain.",
    fails="On average the points that remain gain leakage. Not each does: removing outliers moves the mean too, and a point near the new mean loses (the example has a single coordinate). In many coordinates, which section 3 is about, such a point stays possible, but is hardly ever sampled: of 180,000 points in 20 exponential coordinates, of which the farthest tenth was removed, none lost; that is an observation, no proof. Relative to d, the falls and the rises of points with bounded coordinates both fade as d grows. That a layer of newly exposed points appears follows from the average, and stands.",
    instead="on average",
    source="Azize & Basu, section 3",
    kind=rf.Ordering(unit="t^2"),
    domain={
        "reading": rf.Choice(EACH, AVERAGE),
        "data": rf.Choice(*SYMMETRIC, "gamma", "beta", BALL, VALUES, POINTS, meaning="law of a coordinate"),
        "shape": rf.Real(0.6, 12.0, log=True, meaning="shape of gamma and beta data, 3 less than the degrees of freedom of Student's, of symmetric values the largest sum of squared standardised ones that remains, over d"),
        "other": rf.Real(0.6, 12.0, log=True, meaning="second shape of beta data"),
        "keep": rf.Real(0.4, 0.995, meaning="share of the points that remain"),
        "d": rf.Whole(1, inf, log=True, hunt_to=200, meaning="coordinates, of the laws in d dimensions and of the data set; the others have 1"),
        "draw": rf.Whole(0, 10**6, meaning="seed of the finite data set"),
    },
    # Where each point of a product is judged its variances are, in proportion to which every t^2 grows.
    where=lambda reading, data, d, shape: (
        (data == BALL or d <= 6)
        and (data != POINTS or reading == AVERAGE)
        and (data != VALUES or (reading == EACH and 2 <= d <= 5 and 1.0 <= shape <= 3.0))
        and (data != BALL or reading == EACH)
    ),
    claimed=lambda **at: rf.Number(scores(**at)[1]),
    truth=lambda **at: rf.Number(scores(**at)[0], route="exact law", detail=scores(**at)[2]),
    points=[
        *(rf.Point(at, setting="lead" if at == _LAYER else "") for at in _BASE),
        # From hunts.
        _REST | {"reading": EACH, "data": "gamma", "shape": 1.0, "keep": 0.5},
    ],
    control=rf.Control(_EDGE),
    quote=ONION,
    not_judged={
        "Removing a layer of outliers is equivalent to sampling from a new data-generating distribution": "an identity: independent records that lie inside a region are independent draws of the law cut off there",
        "with a smaller variance": "which variance of d coordinates is meant is not stated; no variance grows for a product of symmetric laws (azize-onion-corrected, step 2), and other laws have coordinates whose variance grows",
    },
    restricted_by=(
        rf.Quote("Thus, removing a layer of outlier points yields a layer of newly exposed target points.", "section 3, the next sentence"),
        ASSUMES,
        ASYMPTOTIC,
    ),
    second_route=lambda data, shape, other, keep: fall_by_draws(family(data, shape, other), keep),
    matters_when={
        "shape": where_in("data", "student", "gamma", "beta", VALUES),
        "other": where_in("data", "beta"),
        "keep": lambda data: data != VALUES,
        "d": where_in("data", BALL, VALUES, POINTS),
        "draw": where_in("data", POINTS),
    },
)  # fmt: skip

CORRECTED = PRINTED.corrected(
    says="Removing the points of largest Mahalanobis distance (all those beyond a radius; some of them, and the covariance Sigma' of the rest nonsingular) "
    "raises the average m* of the points that remain, for any law with second moments and any finite data set (with covariances of N points divided by N, before and after). If the law is a product of "
    "laws each symmetric about its mean, it lowers m* of no point.",
    where=lambda reading, data, d, shape: (
        PRINTED.call("where", {"reading": reading, "data": data, "d": d, "shape": shape})
        and (reading == AVERAGE or data in PRODUCTS)
    ),
    points=[
        *(at for at in _BASE if at["reading"] == AVERAGE or at["data"] in SYMMETRIC),
        *({"reading": EACH, "data": BALL, "keep": keep} | _REST | {"d": d} for d in (2, 20, 200) for keep in (0.8, 0.9, 0.99)),
        *({"reading": EACH, "data": VALUES, "keep": 0.9} | _REST | {"d": d, "shape": shape} for d in (2, 3, 5) for shape in (1.0, 1.5, 2.0)),
        *({"reading": AVERAGE, "data": POINTS, "keep": 0.8} | _REST | {"d": d, "draw": d} for d in (1, 3, 6)),
    ],
    control=rf.Control({"reading": EACH, "data": BALL, "keep": 0.99} | _REST | {"d": 20}),
    derivation=(
        "Write q(z) = ||z - mu||^2_{Sigma^-1}. (1) Average: E q = d. The points removed have q > r and those that remain q <= r, so, some being removed, "
        "E[q | q <= r] < E q = d. For the rest, with their own mean mu' and covariance Sigma', E ||Z - mu'||^2_{Sigma'^-1} = tr(Sigma'^-1 Sigma') = d exactly, where Sigma' is "
        "nonsingular (else it is the rank of Sigma', and may be less than before). m* is that number over n, and n has not grown. The same holds word by word for "
        "the empirical law of a data set, whose covariance has the divisor N. With the divisor N - 1 the averages of N and of N' points are d (N - 1)/N and d (N' - 1)/N', and the points "
        "-1, -1, 1, 1.001 fall from .75 to 2/3 when the last goes. (2) Each point, for independent coordinates symmetric about their means: the set q <= r is symmetric in each "
        "coordinate, so mu' = mu and Sigma' is diagonal. The s_j = t_j^2 are independent, s_j increases and 1{sum s_i <= r} decreases in s_j for any values of the others, so "
        "Cov(s_j, 1{q <= r}) <= 0 (Chebyshev's association inequality, given the other coordinates, and then E s_j = 1 does not depend on them): "
        "E[s_j | q <= r] <= 1, each variance falls or stays, and each t_j^2 with it rises or stays. (3) A skewed law moves its mean towards some of the points that remain, "
        "and the m* of those falls, to 0 at the new mean. So it is in every number d of coordinates: of independent Exponential(1) ones each mean falls, as given the others "
        "z_j stays within some reach h of 1, and E[z_j - 1; |z_j - 1| <= h] < 0 for every h > 0; and the new mean is a point that remains, as the ball q <= r is convex. As d grows, the share that remains being fixed, the moments of each coordinate move by O(d^-1/2), and so the m* of points with bounded coordinates falls or rises by less and less."
    ),
    needs={"If the law is a product of laws each symmetric about its mean": {"added": {"reading": EACH, "data": "gamma"}}},
)  # fmt: skip

STATEMENTS = (PRINTED, CORRECTED)
"""Each point, or the average."""
