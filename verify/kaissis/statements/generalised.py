"""The generalised likelihood ratio test: lemma 5."""

from mipsim import referee as rf
from verify.kaissis.laws.relaxed_tests import COIN, FREE, HALVES, NO_COIN, power_gap, scores_sampled
from verify.kaissis.statements.lemmas import (
    BOTH_SIDES,
    DELTA,
    GUMBEL,
    NOISES,
    RATE,
    ROUNDING,
    SETTINGS,
    SYMMETRIC,
    UMP,
)
from verify.statement import Statement

_GLR = "The generalised LR test, with the maximum likelihood estimate of the shift in [-Delta, Delta] or, in a reading of its own, unrestricted, has the power of "
_POINTS = [
    item | {"nu": nu, "reading": reading}
    for reading, settings, shifts in (
        (COIN, [*SETTINGS, *GUMBEL], (1.0, 0.5, -0.25, -1.0)),
        (NO_COIN, SETTINGS, (1.0, 0.5)),
        (HALVES, [*SETTINGS[-2:], *GUMBEL], (1.0, -0.25)),
        (FREE, [*SETTINGS, *GUMBEL], (1.0, -0.25)),
    )
    for item in settings
    for nu in shifts
]
_LEAD = {"noise": "Gumbel", "delta": 3.0, "rate": 1.0, "nu": 1.0, "reading": FREE}
LEMMA_5 = Statement(
    name="kaissis-lemma-5",
    uses=("kaissis-lemma-2",),
    says=_GLR
    + "the two one-sided tests at every FPR and shift (`nu` times Delta), for noise that need not be symmetric; it is largest at |shift| = Delta.",
    fails="With the same critical value of both ratios, and ties split by a coin, as the curve J of definition 3 does, it stands, as printed for asymmetric noise too. At level alpha/2 each it needs symmetric noise: for asymmetric noise two tails of equal ratio have no equal levels, whether the estimate is restricted or not. For symmetric noise whose density falls strictly on each side the unrestricted estimate needs no coin. Restricted to [-Delta, Delta], as lemma 2 has the shift, it ties all outputs of Laplace noise beyond Delta.",
    instead="any log-concave noise judged, with one critical value of both ratios and a coin at ties; at level alpha/2 each: symmetric noise",
    kind=rf.Equality(ROUNDING, unit="power"),
    domain={
        "noise": NOISES,
        "delta": DELTA,
        "rate": RATE,
        "nu": rf.Real(-1.0, 1.0, meaning="the true shift over Delta"),
        "reading": rf.Choice(COIN, NO_COIN, HALVES, FREE),
    },
    # A record that shifts nothing is none.
    where=lambda nu: nu != 0.0,
    claimed=lambda: 0.0,
    truth=lambda noise, delta, rate, nu, reading: power_gap(noise, delta, rate, nu, reading),
    points=[rf.Point(_LEAD, setting="lead"), *(at for at in _POINTS if at != _LEAD)],
    control=rf.Control(
        SETTINGS[1] | {"nu": 1.0, "reading": COIN},
        -0.05,
        truth=lambda factor, **at: power_gap(bend=factor, **at),
    ),
    quote=rf.Quote(
        "For a (not necessarily symmetric) xi the Generalised Likelihood Ratio Test (GLRT) using the test statistic "
        "log(L(M | nu-hat)/L(M | 0)), where nu-hat is the maximum likelihood estimate of nu, is equivalent to simultaneously conducting r "
        "and r'. The GLRT's power is maximised at |nu| = Delta.",
        "lemma 5",
    ),
    restricted_by=(
        BOTH_SIDES,
        UMP,
        rf.Quote(
            "In the following, we will call two tests equivalent if they have the same power at a level alpha for all values of the "
            "tested parameter.",
            "section 3, before lemma 2",
        ),
        rf.Quote(
            "In general, one takes the symmetrisation/convexification of T and T^-1, denoted Symm(T, T^-1) which creates a single, "
            "symmetric trade-off function.",
            "section 2",
        ),
    ),
    second_route=scores_sampled,
    samples=(8, 24, 100),
)
LEMMA_5_CORRECTED = LEMMA_5.corrected(
    says=_GLR
    + "the magnitude test at every FPR and shift in [-Delta, Delta] where the noise has the density e^-h, h even and strictly convex "
    "(Gaussian, logistic), and for Laplace noise if ties are split by a coin, or unrestricted: no coin needed, and h need only rise strictly with |z|; without a coin, for Laplace noise at FPRs from e^-mu1 on (and 0) "
    "with the restricted estimate. Each may be sub-sampled, at a rate above 0. For noise with h convex and symmetric about no point, the two tails have a single critical value of the "
    "ratio, not a single level.",
    domain={"noise": SYMMETRIC, "reading": rf.Choice(COIN, FREE)},
    truth=lambda noise, delta, rate, nu, reading: power_gap(noise, delta, rate, nu, reading, "|z|"),
    control=rf.Control(
        SETTINGS[1] | {"nu": 1.0, "reading": COIN},
        -0.05,
        truth=lambda factor, **at: power_gap(against="|z|", bend=factor, **at),
    ),
    derivation=(
        "Unrestricted, the estimate is z, as the density is highest at 0, and the log ratio is h(z) - h(0), which rises strictly with |z| where h does: the magnitude test. Restricted: h is even and convex, so that the density is highest at 0 and the estimate is z clipped to [-Delta, Delta]: the log ratio is "
        "G(z) = h(|z|) - h(max(|z| - Delta, 0)), which rises with |z|, as h does and as its increments over the length Delta do. If h is "
        "strictly convex G rises strictly: the same rejection regions, the same test. Laplace: G = min(|z|, Delta)/b, and all outputs "
        "beyond Delta tie, which under H0 has probability e^-mu1. Rejecting a share phi of them by a coin has, for a shift s in "
        "[-Delta, Delta], the power phi e^-mu1 cosh(s/b) = alpha cosh(s/b), since there p(z - s)/p(z) = e^(+-s/b); |z| > c has at its level "
        "alpha = e^(-c/b), c >= Delta, the power e^(-c/b) cosh(s/b), the same. At FPRs from e^-mu1 on the coin rejects all ties, and the test is that without a coin. Below Delta, G and |z| have the same order. A sampling rate "
        "p replaces G by log(1 - p + p e^G), which keeps the order and the ties. In between nothing is stated, for a reason: with h(z) = |z| + "
        "max(|z| - T, 0)^2, Delta < T, outputs from Delta to T tie, but p(z + s)/p(z) is not constant near T, and a coin has another power "
        "than the magnitude; with a density that is flat about 0 the small outputs tie, with the same effect. The power of an interval's "
        "complement is least inside [-Delta, Delta] and largest at an end: the integral of a log-concave density over a moving interval is "
        "log-concave in its place (Prekopa 1973: marginals of log-concave functions are log-concave). Not symmetric: two tails (x, inf) "
        "and (-inf, y) of equal mass at every value k of the ratio have f(x) dx = -f(y) dy, where f(x) = f(y) = e^-k f(mode) while "
        "|x - mode|, |y - mode| <= Delta, and beyond f(x) = e^-k f(x - Delta), f(y) = e^-k f(y + Delta): dx = -dy throughout, and f is "
        "symmetric about its mode."
    ),
    restricted_by=(
        rf.Quote(
            "If the density of xi is additionally symmetric about the location parameter, the simultaneous individual LR tests r "
            "and r' are equivalent to performing a single test using the magnitude of the observation as a test statistic, i.e. "
            "letting |omega| ~ |P(nu, xi)| and testing H_0: |nu| = 0 vs. H_1: |nu| > 0.",
            "lemma 4",
        ),
    ),
    samples=(8, 24, 100),
)

STATEMENTS = (LEMMA_5, LEMMA_5_CORRECTED)
"""As printed, and with the conditions."""
