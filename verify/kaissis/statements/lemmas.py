"""Lemmas 1 to 4 of Kaissis et al.: what the attacker without the record can test, as printed and corrected."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mipsim import referee as rf
from verify.kaissis.laws.relaxed_laws import magnitude
from verify.kaissis.laws.relaxed_tests import (
    SUBSAMPLED,
    can_be_seen,
    composite_failure,
    counted,
    falls,
    share_kept,
    single_test_for_both,
    two_sided_power,
)
from verify.statement import Statement, where_in


def positive(low: float, hunt_to: float, meaning: str = "") -> rf.Real:
    """A real number above 0, which is searched between these."""
    return rf.Real(low, np.inf, log=True, hunt_to=hunt_to, meaning=meaning)


def dimensions(low: int, hunt_to: int, meaning: str = "dimension") -> rf.Whole:
    """A whole number from `low` on."""
    return rf.Whole(low, np.inf, log=True, hunt_to=hunt_to, meaning=meaning)


MARGIN = 1e-6
"""The share of its advantage that a test must lose before it counts as not uniformly most powerful."""
ROUNDING = 1e-9
DELTA = positive(0.01, 15.0, meaning="sensitivity Delta, in scales of the noise")
"""The sensitivity in units of the noise's scale."""
RATE = rf.Real(0.001, 1.0, meaning="probability that the record takes part")
"""The record takes part with this probability."""
NOISES, SYMMETRIC = (
    rf.Choice("Gaussian", "Laplace", "logistic", "Gumbel", meaning="law of the noise"),
    rf.Choice("Gaussian", "Laplace", "logistic", meaning="law of the noise"),
)


def points(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """All combinations of the values."""
    return [dict(zip(values, item, strict=True)) for item in itertools.product(*values.values())]


DELTAS = (0.1, 1.0, 3.0, 10.0)
SETTINGS = [
    *points(noise=("Gaussian", "Laplace"), delta=DELTAS, rate=(1.0,)),
    *points(noise=("Gaussian",), delta=DELTAS, rate=(0.3,)),
    *points(noise=("logistic",), delta=(1.0, 3.0), rate=(1.0,)),
]
GUMBEL = points(noise=("Gumbel",), delta=(1.0, 3.0), rate=(1.0,))

WORST_CASE = rf.Quote(
    "However, as the adversary can leverage their knowledge of the model to design a database which influences only a single "
    "coordinate of the weight/gradient vector, we mostly use d = 1 as a worst-case scenario below.",
    "section 4, after theorem 3",
)
REAL_LINE = rf.Quote(
    "Unless otherwise indicated, xi will be realised through distributions supported on the real line which admit a density.",
    "section 2, Differential privacy",
)
MANY_SHIFTS = rf.Quote(
    "However, the likelihood L(M(q(D'), xi)) is not computable without access to D' and H_1 is a composite hypothesis of the form theta in Theta_1 "
    "with |Theta_1| > 1 because it depends on the unknown value of q(D').",
    "section 3, before lemma 1",
)
CHOOSES_Q = rf.Quote(
    "The adversary A constructs a database D = {x_1, ..., x_n}, decides on a training function q, a DP mechanism M and sends them to the "
    "curator.",
    "section 3, RTM security game, step 1",
)
"""What makes one-sided shifts part of the game: the attacker may choose a sum of numbers in [0, Delta]."""
NO_ACCESS = rf.Quote(
    "The key difference between the RTM and the DPTM is step 2: A has no access to the point x* which may be added by C, and by extension, no "
    "knowledge of the exact value of q(D').",
    "section 3, after the RTM security game",
)
BOTH_SIDES = rf.Quote(
    "The composite LR test H0: M(q(D), xi) vs. H1: M(q(D'), xi) is equivalent to letting M ~ P(nu, xi) and simultaneously "
    "conducting two individual one-sided LR tests r and r' with null hypothesis nu = 0 and alternative hypotheses -Delta <= "
    "nu < 0 for r and 0 < nu <= Delta for r', where nu = q(D') - q(D) and Delta is the global sensitivity of q.",
    "lemma 2",
)
KNOWN_FACTS = rf.Quote(
    "Thus, A can leverage known facts about q and Delta to limit the value ranges for the alternative hypothesis, but, as q(D') is unknown, must "
    '"split the problem" into two individual tests.',
    "section 3, after lemma 2",
)

PRE_CONDITION = rf.Quote(
    "The individual tests are then UMP level alpha under the following pre-condition.", "before lemma 3"
)
UMP = rf.Quote(
    "The individual LR tests r and r' are UMP level alpha if the noise distribution xi has the monotone likelihood ratio property (MLRP).",
    "lemma 3",
)


EITHER = "q(D') may lie on either side of q(D), as lemma 2 writes it"
CHOSEN = "for any q that the adversary may choose, such as a sum of numbers in [0, Delta], whose shifts all have the same sign"
_OPPOSITE = [
    item | {"reading": EITHER}
    for item in (
        *points(noise=NOISES.values, delta=(1.0, 3.0), second=(-1.0, -0.4), alpha=(1e-4, 0.05, 0.9)),
        *points(noise=("Gaussian", "Laplace"), delta=(0.1, 10.0), second=(-1.0,), alpha=(1e-4,)),
    )
]
LEMMA_1 = Statement(
    name="kaissis-lemma-1",
    says="In the relaxed threat model no uniformly most powerful test exists, at any level in (0, 1): against two possible shifts, Delta and "
    "`second` times Delta, no test has the largest power.",
    fails="Of shifts on either side it is right. Where all shifts have the same sign and the adversary knows it, as of a sum of numbers in [0, Delta] that they chose for q, a single test is the best for each of them, as lemma 3 itself says of one-sided tests. The symbol after 'i.e.' is damaged in the copy at hand: if it says that theta lies outside of Theta_0, the lemma names both sides, and stands.",
    instead="shifts on either side",
    kind=rf.Bound(unit="share of the advantage or FNR"),
    domain={
        "noise": NOISES,
        "delta": DELTA,
        "second": rf.Real(-1.0, 1.0, meaning="second shift over the first, which is Delta"),
        "alpha": rf.Real(1e-4, 1 - 1e-4, meaning="FPR"),
        "reading": rf.Choice(EITHER, CHOSEN),
    },
    where=lambda reading, noise, delta, second, alpha: (
        (second < 0.0) == (reading == EITHER) and second < 1.0 and can_be_seen(noise, delta, second, alpha)
    ),
    claimed=lambda: -MARGIN,
    truth=share_kept,
    # A sum of numbers in [0, Delta] has shifts of the same sign.
    points=[
        *_OPPOSITE,
        *points(noise=NOISES.values, delta=(1.0,), second=(0.5,), alpha=(0.05,), reading=(CHOSEN,)),
        # Nearly all is rejected: the tests keep a few numbers beside a corner of the ratio.
        *points(
            noise=("Laplace",), delta=(0.01, 15.0), second=(-1.0, -0.01), alpha=(0.9999,), reading=(EITHER,)
        ),
    ],
    # Two shifts of the same sign, 3% apart: a single test is the best against both.
    control=rf.Control(
        _OPPOSITE[0],
        -0.03,
        truth=lambda factor, noise, delta, second, alpha: share_kept(
            noise, delta, second if factor == 1.0 else factor, alpha
        ),
    ),
    quote=rf.Quote(
        "In the RTM, no UMP level alpha test exists for all possible values of q(D'), i.e. Theta_0. Thus, H_0 vs. H_1 (and H_1 vs. "
        "H_0) are each not decidable by a single test.",
        "lemma 1",
    ),
    not_judged={
        "Thus, H_0 vs. H_1 (and H_1 vs. H_0) are each not decidable by a single test.": "what decides is not defined; read as the first sentence, which it follows from, it says the same"
    },
    restricted_by=(MANY_SHIFTS, BOTH_SIDES, CHOOSES_Q, KNOWN_FACTS, REAL_LINE),
    second_route=single_test_for_both,
    samples=(0, 0, 0),
    matters_when=dict.fromkeys(("noise", "delta", "second", "alpha"), where_in("reading", EITHER)),
)
LEMMA_1_CORRECTED = LEMMA_1.corrected(
    says="Where q(D') may lie on either side of q(D) (some s > 0 and some -t < 0 are possible shifts) and the noise has a positive density "
    "e^-h with h convex, no test of any level in (0, 1) is most powerful against every possible shift. Where all shifts are "
    "positive, z > c is (z < c where they are negative), for every noise with a monotone likelihood ratio.",
    domain={"second": rf.Real(-1.0, -0.01), "reading": rf.Fixed(EITHER)},
    control=LEMMA_1.control,
    derivation=(
        "L_s(z) = f(z - s)/f(z) = exp(h(z) - h(z - s)) rises with z for s > 0 and falls for s < 0, since h is convex. Suppose a test phi "
        "of level alpha in (0, 1) is most powerful against s > 0 and against -t < 0. By the Neyman-Pearson lemma phi = 1 where L_s > k and "
        "0 where L_s < k, and the same for L_-t and some k'. Far right L_s > k unless k = sup L_s, and L_-t < k' unless k' = inf L_-t: one "
        "of the two holds. Far left, in the same way, k = inf L_s or k' = sup L_-t. As neither ratio is constant, either k = sup L_s and "
        "k' = sup L_-t, and phi = 0 but where both are attained, a right half-line [a, inf) with h linear on [a - s, inf) and a left half-line "
        "(-inf, b] with h linear on (-inf, b + t]; if they met, h would be linear on the line, which no density allows: alpha = 0. Or k = inf L_s and "
        "k' = inf L_-t, and alpha = 1 in the same way. Shifts of the same sign: the theorem of Karlin and Rubin. A coin that lets the record "
        "take part replaces L by 1 - p + p L and changes no order."
    ),
)


LEMMA_2 = Statement(
    name="kaissis-lemma-2",
    says="The composite LR test is equivalent to the two one-sided LR tests at a single critical value; for noise with a log-concave density, as judged here, "
    "its rejection regions are two tails.",
    kind=rf.Equality(ROUNDING, unit="log likelihood ratio"),
    domain={"noise": NOISES, "delta": DELTA, "rate": RATE},
    claimed=lambda: 0.0,
    truth=lambda noise, delta, rate: composite_failure(noise, delta, rate),
    points=[*SETTINGS, *GUMBEL],
    control=rf.Control(SETTINGS[1], -0.05, truth=lambda factor, **at: composite_failure(reach=factor, **at)),
    quote=rf.Quote(
        "The composite LR test H0: M(q(D), xi) vs. H1: M(q(D'), xi) is equivalent to letting M ~ P(nu, xi) and simultaneously conducting "
        "two individual one-sided LR tests r and r' with null hypothesis nu = 0 and alternative hypotheses -Delta <= nu < 0 for r and "
        "0 < nu <= Delta for r', where nu = q(D') - q(D) and Delta is the global sensitivity of q.",
        "lemma 2",
    ),
    restricted_by=(REAL_LINE,),
)

ANY = "of any two shifts on the same side, as the property is usually defined"
NULL = "of a shift and the null, which the tests r and r' compare"
_PAIRS = [
    item | {"mechanism": mechanism, "rate": rate, "s": s, "t": t, "reading": NULL if s == 0.0 else ANY}
    for mechanism, rate in (("Laplace", 1.0), ("Gaussian", 1.0), ("sub-sampled Gaussian", 0.3))
    for s, t in ((0.0, 1.0), (0.5, 1.0), (0.125, 0.25))
    for item in points(delta=DELTAS)
]
LEMMA_3_CONTROL = rf.Control(
    _PAIRS[13],
    truth=lambda factor, mechanism, delta, rate, s, t: falls(mechanism, delta, rate, s, t, factor),
)
LEMMA_3 = Statement(
    name="kaissis-lemma-3",
    uses=("kaissis-lemma-2",),
    says="Laplace, Gaussian and sub-sampled Gaussian mechanisms have the monotone likelihood ratio property: for shifts s < t on the same side (times "
    "Delta) the ratio of the densities rises with z; the power of z > c is largest at Delta.",
    fails="Against the null, which is all that the tests r and r' need, the ratio rises throughout, so that they are uniformly most powerful, as the lemma says. Between two shifts of the same sign the ratio of sub-sampled densities is not monotone: far on the side of the null it is 1, and on the way to the shifts the smaller gains first.",
    instead="Laplace and Gaussian: between any two shifts; sub-sampled: against the null",
    kind=rf.Equality(ROUNDING, unit="log likelihood ratio"),
    domain={
        "mechanism": rf.Choice("Laplace", "Gaussian", "sub-sampled Gaussian", meaning="the mechanism"),
        "delta": DELTA,
        "rate": RATE,
        "s": rf.Real(-1.0, 1.0, meaning="first shift over Delta"),
        "t": rf.Real(-1.0, 1.0, meaning="second shift over Delta"),
        "reading": rf.Choice(ANY, NULL),
    },
    where=lambda s, t, reading: s < t and (s * t > 0.0 if reading == ANY else s * t == 0.0),
    claimed=lambda: 0.0,
    truth=lambda mechanism, delta, rate, s, t: falls(mechanism, delta, rate, s, t),
    points=[
        *_PAIRS,
        # From hunts.
        {
            "mechanism": "sub-sampled Gaussian",
            "delta": 20.0,
            "rate": 0.5,
            "s": -1.0,
            "t": -0.6,
            "reading": ANY,
        },
    ],
    control=LEMMA_3_CONTROL,
    quote=rf.Quote(
        "The individual LR tests r and r' are UMP level alpha if the noise distribution xi has the monotone likelihood ratio "
        "property (MLRP). The Laplace Mechanism (LM), Gaussian Mechanism (GM) and the Poisson-Subsampled Gaussian Mechanism "
        "(SGM) all have the MLPR. Moreover, the power of both tests is maximised when |nu| = |q(D') - q(D)| = Delta.",
        "lemma 3",
    ),
    not_judged={
        UMP.text: "the theorem of Karlin and Rubin: whose premise for these mechanisms is what is judged"
    },
    restricted_by=(REAL_LINE, UMP),
    second_route=counted,
    samples=(64, 128, 512),
    needs={"for shifts s < t on the same side": {"held": {"s": -0.5, "t": 0.5}}},
    matters_when={"rate": lambda mechanism: mechanism.startswith("sub-sampled")},
)
LEMMA_3_CORRECTED = LEMMA_3.corrected(
    says="Laplace and Gaussian mechanisms have the monotone likelihood ratio property between any two shifts s < t; with a sampling rate p, 0 < p < 1, "
    "they have it where s <= 0 <= t, and between no two shifts of the same sign; s = 0 is what the one-sided tests need to be uniformly most powerful against a "
    "simple null. The power of z > c rises with the shift up to Delta.",
    domain={
        "mechanism": rf.Choice("Laplace", "Gaussian", "sub-sampled Gaussian", "sub-sampled Laplace"),
        "reading": rf.Fixed(ANY),
    },
    where=lambda mechanism, rate, s, t: (
        s < t and (s <= 0.0 <= t or rate == 1.0 or not mechanism.startswith(SUBSAMPLED))
    ),
    points=[
        *(single | {"reading": ANY} for single in _PAIRS if single["s"] == 0.0 or single["rate"] == 1.0),
        *points(
            mechanism=("sub-sampled Laplace",),
            delta=(1.0,),
            rate=(0.3,),
            s=(-1.0, -0.3, 0.0),
            t=(1.0,),
            reading=(ANY,),
        ),
        *points(
            mechanism=("sub-sampled Gaussian",),
            delta=(3.0,),
            rate=(0.01,),
            s=(-1.0, 0.0),
            t=(1.0,),
            reading=(ANY,),
        ),
        *points(
            mechanism=("Laplace", "Gaussian"),
            delta=(2.0,),
            rate=(1.0,),
            s=(-0.7,),
            t=(0.2, -0.1),
            reading=(ANY,),
        ),
    ],
    control=replace(LEMMA_3_CONTROL, at=_PAIRS[13] | {"reading": ANY}),
    derivation=(
        "Both noises have a density e^-h with h convex and even. For s < t, d/dz log f(z - t)/f(z - s) = h'(z - s) - h'(z - t) >= 0. "
        "With a coin of probability p the ratio of t to the null is (1-p) + p exp(h(z) - h(z - t)), which rises with z for every t > 0: "
        "z > c is most powerful against each t > 0 at its level (Neyman and Pearson), and does not depend on t: it is uniformly most "
        "powerful. Between two shifts 0 < s < t and 0 < p < 1 the logarithm of the ratio grows at the rate g_t - g_s, g_t = w_t (h'(z) - "
        "h'(z - t)), w_t = p A_t/(1 - p + p A_t), A_t = exp(h(z) - h(z - t)). Gaussian: g_t = t w_t, and as z -> -infinity w_t/w_s -> 0; "
        "Laplace: on 0 < z < s g_t = 2 w_t < 2 w_s. It falls there, for every such p, and the same "
        "holds mirrored for s < t < 0. If s < 0 < t the ratio to the null rises for t and falls for s, so that their quotient rises. The power is p (1 - F(c - s)) + (1 - p) alpha, "
        "which rises with s."
    ),
    needs={
        "any two shifts s < t": {"held": {"s": 0.5, "t": 0.4}},
        "where s <= 0 <= t": {
            "added": {"mechanism": "sub-sampled Gaussian", "rate": 0.5, "s": 0.1, "t": 0.5}
        },
    },
)

_EQUIVALENT = (
    "If the density of xi is additionally symmetric about the location parameter, the simultaneous individual LR tests r "
    "and r' are equivalent to performing a single test using the magnitude of the observation as a test statistic, i.e. "
    "letting |omega| ~ |P(nu, xi)| and testing H_0: |nu| = 0 vs. H_1: |nu| > 0."
)
LEMMA_4 = Statement(
    name="kaissis-lemma-4",
    uses=("kaissis-lemma-2",),
    says="For symmetric noise with a log-concave density, as judged here, the two one-sided tests, both of level alpha/2, are the test of the magnitude, for every shift (`nu` times Delta).",
    kind=rf.Equality(ROUNDING, unit="power"),
    domain={
        "noise": SYMMETRIC,
        "delta": DELTA,
        "rate": RATE,
        "nu": rf.Real(-1.0, 1.0, meaning="the true shift over Delta"),
        "alpha": rf.Real(1e-4, 1 - 1e-4, meaning="FPR"),
    },
    claimed=lambda noise, delta, rate, nu, alpha: float(magnitude(noise, nu * delta, rate).tpr_at(alpha)),
    truth=lambda noise, delta, rate, nu, alpha: (
        rate * float(two_sided_power(noise, nu * delta, alpha)) + (1 - rate) * alpha
    ),
    points=[
        setting | {"nu": nu, "alpha": alpha}
        for setting in SETTINGS
        for nu in (1.0, -0.5)
        for alpha in (1e-4, 0.05, 0.9)
    ],
    control=rf.Control(SETTINGS[1] | {"nu": 1.0, "alpha": 0.05}),
    quote=rf.Quote(_EQUIVALENT, "lemma 4"),
    restricted_by=(REAL_LINE, PRE_CONDITION),
)
LEMMA_4_LARGEST = Statement(
    name="kaissis-lemma-4-largest",
    uses=("kaissis-lemma-4",),
    says="For symmetric noise with a log-concave density, as judged here, no shift in [-Delta, Delta] gives the test of the magnitude more power than |shift| = Delta.",
    kind=rf.Ordering(floor=1e-9),
    domain={
        "noise": SYMMETRIC,
        "delta": positive(0.01, 10.0, meaning="sensitivity Delta, in scales of the noise"),
        "rate": RATE,
        "nu": rf.Real(-1.0, 1.0, meaning="the true shift over Delta"),
    },
    claimed=lambda noise, delta, rate: magnitude(noise, delta, rate),
    truth=lambda noise, delta, rate, nu: magnitude(noise, nu * delta, rate),
    points=[setting | {"nu": nu} for setting in SETTINGS for nu in (-1.0, 0.9, -0.3)],
    control=rf.Control(SETTINGS[1] | {"nu": -1.0}),
    quote=rf.Quote(
        f'{_EQUIVALENT} The power of this "combined" test is maximised at |nu| = Delta.', "lemma 4"
    ),
    not_judged={_EQUIVALENT: "by kaissis-lemma-4"},
    restricted_by=(REAL_LINE, PRE_CONDITION),
)

STATEMENTS = (LEMMA_1, LEMMA_1_CORRECTED, LEMMA_2, LEMMA_3, LEMMA_3_CORRECTED, LEMMA_4, LEMMA_4_LARGEST)
"""In the order of the paper."""
