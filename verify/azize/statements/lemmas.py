"""The moment lemmas C.9 and C.12, by exact moments."""

from dataclasses import replace
from typing import Any

import numpy as np

from mipsim import referee as rf
from verify.azize.checks.second_routes import large_variance
from verify.azize.laws.moments import DATA, by_closed_form, mean_error, subsample_error
from verify.azize.statements.mean import ASSUMES
from verify.statement import Statement, where_in

SIZES = tuple(1000 * 4**k for k in range(10))
TOLERANCE = 0.02
"""On n times the error of a moment, so that "o(1/n)" means "to zero"."""
FIXED = "t_j fixed as n grows"
GROWING = "t_j grows with n, as in a target with t_j = t j^q at j = 1, 2, 4, 8, ..., q < 1/2, which leaves m* as it is"


_W = "With W_n of lemma C.11: E0 = -rho t^2/2n, E1 = +rho t^2/2n, V0 = V1 = rho t^2/n, each + o(1/n), t = (z - mu)/sigma"
_Y = (
    "With Y_n of the proof of lemma C.6: E0 = -1/2n - t^2/2n, E1 = -1/2n + t^2/2n, V0 = V1 = t^2/n, each + o(1/n), "
    "t = (z - mu)/sigma, for each coordinate"
)
_C9 = rf.Quote(
    "E_0[Y_{n,j}] = -1/2n - (z_j* - mu_j)^2/(2n sigma_j^2) + o(1/n), V_0[Y_{n,j}] = (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n), "
    "E_1[Y_{n,j}] = -1/2n + (z_j* - mu_j)^2/(2n sigma_j^2) + o(1/n), V_1[Y_{n,j}] = (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n).",
    "lemma C.9, appendix C.3",
)
_C12 = rf.Quote(
    "E_0[W_{n,j}] = -(rho/2)(mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), V_0[W_{n,j}] = rho (mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), "
    "E_1[W_{n,j}] = (rho/2)(mu_j - z_j*)^2/(n sigma_j^2) + o(1/n), V_1[W_{n,j}] = rho (z_j* - mu_j)^2/(n sigma_j^2) + o(1/n).",
    "lemma C.12, appendix C.5",
)


def y_error(reading: str, q: float, **at: Any) -> rf.Number:
    """The largest error of the four moments of Y_n, times n; t grows as n^q where it does."""
    return rf.Number(*mean_error(q=q if reading == GROWING else 0.0, **at), route="exact moments")


_DOMAIN = {
    "data": rf.Choice(*DATA, meaning="law of a coordinate"),
    # The moments of the rest, and of t larger than 6, approach their limits at more rows than are searched.
    "p": rf.Real(0.02, 0.98, meaning="probability of a 1, of Bernoulli data"),
    "df": rf.Real(4.01, np.inf, log=True, hunt_to=50.0, meaning="degrees of freedom, of Student data"),
    "t": rf.Real(-np.inf, np.inf, hunt_to=6.0, meaning="target, in standard deviations from the mean"),
    "n": rf.Whole(2, np.inf, log=True, hunt_to=SIZES[-1], meaning="records in the data set"),
}
_LAWS = [
    {"data": "Bernoulli", "p": 0.3, "df": 9.0},
    {"data": "Bernoulli", "p": 0.02, "df": 9.0},
    *({"data": data, "p": 0.3, "df": 9.0} for data in DATA[1:]),
    *({"data": "Student t", "p": 0.3, "df": df} for df in (4.5, 7.0)),
]
_NORMAL, _EXPONENTIAL, _HEAVY = _LAWS[2], _LAWS[3], _LAWS[7]
_STILL = {"q": 0.0, "reading": FIXED}


def _slowly(t: float, q: float, reading: str) -> bool:
    """|t|^3 = o(n), by so much that the largest sizes, from the eighth on, show it."""
    return reading == FIXED or (q <= 1 / 6 and abs(t) ** 3 * SIZES[7] ** (3 * q - 1) <= 1e-3)


def least_error(data: str, t: float, q: float, reading: str) -> rf.Ceiling | None:
    """Of an exponential law, of skewness 2, and t > 0: two terms of one sign, of which the second is at least 2 t_n^3/n, with t_n = t n^q."""
    if data != "exponential" or reading == FIXED or q <= 1 / 3 or t <= 0.0:
        return None
    source = "n times the error of E0 of an exponential law is (1 + t_n^2)/(2(n - 1)) + 2 t_n (sqrt(n/(n - 1)) + n/(n - 1) - 2 + t_n^2/(n - 1)), above 2 t_n^3/n, and t_n = t n^q"
    return rf.Ceiling(2.0 * t**3, below=True, start=2, source=source)


def without_variance(data: str, df: float) -> rf.Ceiling | None:
    """W_n has degree 4 in the sum."""
    if data != "Student t" or df > 8.0:
        return None
    source = "W_n is a polynomial of degree 4 in a sum of records without an 8th moment, so that V[W_n] is infinite at every n"
    return rf.Ceiling(1.0, below=True, start=10, source=source)


_MATTERING = {
    "p": where_in("data", "Bernoulli"),
    "df": where_in("data", "Student t"),
    "q": where_in("reading", GROWING),
}
C9 = Statement(
    name="azize-lemma-C.9", formula=r"E_0[Y] = -\frac{1 + t^2}{2 n}, \quad E_1[Y] = \frac{t^2 - 1}{2 n}, \quad V_0[Y] = V_1[Y] = \frac{t^2}{n}, \quad \text{each} + o(1 / n), \quad t = \frac{z - \mu}{\sigma}",
    says=_Y + ".",
    fails="For a coordinate with its target, fixed as n grows, the lemma stands; at a single n it says nothing. The proof of lemma C.6 uses it for all d coordinates at once, whose targets may grow with j: of a skewed coordinate with $t = n^{0.4}$ (of a symmetric one it tends to 0) the remainder, times n, grows as $n^{0.2}$, as it does with the factor of 1/6 that lemma C.8 lacks (the gaps shown are those of the moment that is furthest off, the second route has $E_0$). Lemma C.6 is not harmed by that: where $m^*$ and the standardised fourth moments are bounded, the remainders of all coordinates add up to $O(n^{-1/2})$.",
    instead="a fixed target; for all coordinates together $|t_j|^3 = o(n)$",
    kind=rf.Limit("n", sizes=SIZES, tolerance=TOLERANCE, unit="n x error", ceiling=least_error),
    domain=_DOMAIN | {"t": _DOMAIN["t"].means("target, in standard deviations from the mean, times n^q where it grows"), "q": rf.Real(0.0, 0.45, meaning="t_j grows as n^q"), "reading": rf.Choice(FIXED, GROWING)},
    claimed=lambda: 0.0,
    truth=y_error,
    points=[
        *(law | {"t": t} | _STILL for law in _LAWS for t in (-2.0, 5.0)),
        *(law | {"t": t} | _STILL for law in (_NORMAL, _EXPONENTIAL) for t in (0.0, 0.5)),
        *(law | {"t": 1.0, "q": 1 / 6, "reading": GROWING} for law in (_NORMAL, _EXPONENTIAL, _HEAVY)),
        *(law | {"t": 1.0, "q": 0.4, "reading": GROWING} for law in (_NORMAL, _EXPONENTIAL)),
        # From hunts.
        {"data": "Bernoulli", "p": 0.02, "df": 50.0, "t": 6.0, "q": 0.45, "reading": GROWING},
    ],
    control=rf.Control(
        _LAWS[0] | {"t": -2.0} | _STILL, truth=lambda factor, **at: y_error(**at, factor=factor)
    ),
    quote=_C9,
    restricted_by=(ASSUMES,),
    second_route=by_closed_form,
    matters_when=_MATTERING,
)  # fmt: skip

C12 = Statement(
    name="azize-lemma-C.12", formula=r"E_0[W] = -\frac{\rho t^2}{2 n}, \quad E_1[W] = \frac{\rho t^2}{2 n}, \quad V_0[W] = V_1[W] = \frac{\rho t^2}{n}, \quad \text{each} + o(1 / n)",
    says=_W + ".",
    fails="$W_n$ is of degree 4 in the mean of the records, so that its variance takes the eighth moment, which need not exist where a moment just above the fourth does. The two means stand as printed.",
    instead="for the variances, finite eighth moments",
    kind=replace(C9.kind, ceiling=without_variance),
    domain=_DOMAIN | {"rho": rf.Real(0.05, 0.99, meaning="share of the records that is released")},
    claimed=C9.claimed,
    truth=lambda **at: rf.Number(*subsample_error(**at), route="exact moments"),
    points=[
        *(law | {"t": t, "rho": 0.5} for law in _LAWS for t in (0.0, -2.0)),
        *(law | {"t": t, "rho": rho} for law in (_LAWS[1], _NORMAL, _EXPONENTIAL, _HEAVY) for t in (0.5, 5.0) for rho in (0.1, 0.9)),
        # From hunts.
        _HEAVY | {"p": 0.5, "df": 5.0, "t": 0.0, "rho": 0.5},
    ],
    control=rf.Control(
        _LAWS[0] | {"t": -2.0, "rho": 0.5}, 0.05, truth=lambda factor, **at: rf.Number(*subsample_error(**at, factor=factor))
    ),
    quote=_C12,
    restricted_by=(ASSUMES,),
    second_route=large_variance,
    matters_when=_MATTERING | {"rho": lambda data, df: data != "Student t" or df > 8.0},
)  # fmt: skip

STATEMENTS = (
    C9,
    C9.corrected(
        says=_Y + " with |t|^3 = o(n), uniformly over coordinates whose standardised fourth moments are bounded.",
        where=_slowly,
        control=C9.control,
        derivation=(
            "Exactly, with a = sqrt(n/(n - 1)) and skewness l: n E0[Y] = -(1 + t^2) n/(2(n - 1)) - l t (a + a^2 - 2 + t^2/(n - 1)) and "
            "n E1[Y] = (t^2 - 1)/2 - l t (sqrt(1 - 1/n) - 1 + (t^2 - 1)/n): the errors are at most (1 + t^2)/n + "
            "kappa |l| (|t| + |t|^3)/n. Y = A x^2 + B x + const in x = delta_out with A = -1/(2(n - 1)) - l t (1 + a + a^2)/n and "
            "B = t (a/sqrt(n - 1) + l t (1 + 2a)/(n sqrt(n - 1))), so V0 = B^2 + 2AB l/sqrt n + A^2 (2 + k/n), k the excess kurtosis; under H1 "
            "x = sqrt(1 - 1/n) X + t/sqrt n, which changes B by 2At/sqrt n. So n V - t^2 is at most "
            "kappa (1 + l^2 + |k|)(1 + |t|^3)/n. l and k are bounded by the fourth moment. All tend to 0 if |t|^3 = o(n). At t = n^0.4 and l = 2 "
            "n times the error of E0 is above 2 n^0.2: the lemma fails. The proof of lemma C.6 needs no more than that the errors of all d = tau n coordinates add up to o(1). They do: they add up to at most "
            "kappa sum_j (1 + |t_j|^3)/n^2 <= kappa (d + n^(3/2) m^(3/2))/n^2 with m = (1/n) sum_j t_j^2, since |t_j| <= sqrt(n m), and that is O(n^-1/2) for bounded m."
        ),
        needs={"for each coordinate with |t|^3 = o(n)": {"added": {"q": 0.4, "reading": GROWING}}},
    ),
    C12,
    C12.corrected(
        says=_W + ", for a law of the data with finite 8th moments, t and rho in (0, 1) fixed as n grows (or standardised 8th "
        "moments and |t| bounded over the coordinates), n = k/rho.",
        where=lambda data, df: data != "Student t" or df > 8.0,
        control=C12.control,
        derivation=(
            "W_n holds rho (1 - rho)/8 D^2, D = delta_out^2 - delta_in^2, a polynomial of degree 4 in x = delta_out whose leading "
            "coefficient rho (1 - rho)/(8 (k - 1)^2) is not 0: V[W_n] is finite if and only if E x^8 is, that is if and only if the data "
            "have an 8th moment, whatever n. With it, E x^r, r <= 8, is that of N(0, 1) + O(1/sqrt k), with a constant of the "
            "standardised 8th moment only (the cumulants of the sum). D = 2tx/sqrt k - (x^2 + t^2)/k + o(1/k) in L^4, so out "
            "E0 D = -(1 + t^2)/k + o(1/k) and E0 D^2 = 4t^2/k + o(1/k); E R = o(1), and l t R/k adds o(1/k). Hence "
            "E0 W = rho (-(1 + t^2)/(2k) + 1/(2k)) + rho (1 - rho) t^2/(2k) + o = -rho^2 t^2/(2k) + o(1/k) = -rho t^2/(2n) + o(1/n). "
            "Under H1 x has mean t/sqrt k with probability rho, which adds rho t/sqrt k x rho t/sqrt k: E1 W = +rho t^2/(2n) + o(1/n). "
            "The variance is that of rho t x/sqrt k up to o(1/k), rho^2 t^2/k = rho t^2/n."
        ),
        needs={"finite 8th moments": {"added": {"data": "Student t", "df": 6.0}}},
    ),
)  # fmt: skip
"""The moment lemmas."""
