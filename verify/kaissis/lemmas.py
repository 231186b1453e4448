"""Lemmas 1 to 4 of Kaissis et al.: what the attacker without the record can test, as printed and corrected."""

from __future__ import annotations

from functools import partial

import numpy as np

from mipsim.referee.exact_judges import ROUNDING
from verify.claim import Between, Claim, Kind, OneOf, Quote, Regime
from verify.control import Control
from verify.kaissis.outputs import LAWS
from verify.kaissis.sides import (
    GUMBEL,
    LOGISTIC,
    SETTINGS,
    UNBOUNDED,
    magnitude_regime,
    no_best_regime,
    ratio_regime,
    some_setting,
    two_tests_regime,
)

_FLAT = Control(
    lambda f: ratio_regime("Gaussian", 1.0, 1.0, null_only=False, tilt=f),
    plants="densities whose ratio is flat in z: the Gaussian log ratio less its own slope",
)


def _no_best(rng: np.random.Generator, count: int, monotone: float) -> list[Regime]:
    """Shifts of both signs, or with probability `monotone` of one sign."""
    found = []
    for _ in range(count):
        noise, mu, _rate = some_setting(rng, tuple(LAWS), False)
        sign = 1.0 if rng.random() < monotone else -1.0
        found.append(no_best_regime(noise, mu, 1.0, sign * float(rng.uniform(0.3, 1.0))))
    return found


def _sampled_ratios(rng: np.random.Generator, count: int, null_only: bool) -> list[Regime]:
    settings = [some_setting(rng, ("Gaussian", "Laplace"), True) for _ in range(count)]
    return [ratio_regime(*s, null_only=null_only and s[2] < 1) for s in settings]


DOMAIN = {
    "Delta": Between(0, UNBOUNDED, "in units of the noise's scale; judged at 0.05 to 15"),
    "alpha": Between(0, 1, "strictly inside; judged from 1e-4 to 1 - 1e-4"),
    "d": OneOf(("1",), "the noise is 'supported on the real line'"),
    "noise": OneOf(("Laplace", "Gaussian", "sub-sampled Gaussian"), "others where the statement allows them"),
    "shift": OneOf(("any in [-Delta, Delta]",), "unknown to the attacker"),
}
REAL_LINE = Quote(
    "Unless otherwise indicated, xi will be realised through distributions supported on the real line which admit a density.",
    "section 2, Differential privacy",
)
CHOOSES_Q = Quote(
    "The adversary A constructs a database D = {x_1, ..., x_n}, decides on a training function q, a DP mechanism M and sends them to the "
    "curator.",
    "section 3, RTM security game, step 1",
)
"""What makes one-sided shifts part of the game: the attacker may choose a count, or a sum of numbers >= 0."""
BOTH_SIDES = Quote(
    "two individual one-sided LR tests r and r' with null hypothesis nu = 0 and alternative hypotheses -Delta <= nu < 0 for r and "
    "0 < nu <= Delta for r'",
    "lemma 2",
)
_SYMMETRIC = Quote(
    "If the density of xi is additionally symmetric about the location parameter, the simultaneous individual LR tests r and r' are "
    "equivalent to performing a single test using the magnitude of the observation as a test statistic",
    "lemma 4",
)
CLAIMS = (
    Claim(
        "kaissis-lemma-1",
        "kaissis",
        "In the relaxed threat model no uniformly most powerful test exists, at any level in (0, 1), for any function q of the attacker's "
        "choice.",
        Kind.EXISTENCE,
        0.0,
        "relative power",
        DOMAIN
        | {"q": OneOf(("q(D') on either side of q(D)", "q(D') >= q(D)"), "a count, a sum of numbers >= 0")},
        (
            *(no_best_regime(*setting) for setting in (*SETTINGS, *LOGISTIC, *GUMBEL)),
            *(no_best_regime(noise, 1.0, 1.0, 0.5) for noise in LAWS),
        ),
        # Two shifts of one sign, 3% apart: one test is the best against both.
        Control(
            lambda f: no_best_regime("Gaussian", 1.0, 1.0, -1.0 if f == 1.0 else f),
        ),
        corrected_by="kaissis-lemma-1-corrected",
        quote=Quote(
            "In the RTM, no UMP level alpha test exists for all possible values of q(D'), i.e. theta in Theta_1.",
            "lemma 1",
        ),
        restricted_by=(BOTH_SIDES, REAL_LINE),
        sampled=partial(_no_best, monotone=1 / 3),
    ),
    Claim(
        "kaissis-lemma-1-corrected",
        "kaissis",
        "Where q(D') may lie on either side of q(D) (some s > 0 and some -t < 0 are possible shifts) and the noise has a positive density "
        "e^-h with h convex, no test of any level in (0, 1) is most powerful against every possible shift. Where all shifts are "
        "positive, z > c is (z < c where they are negative), for every noise with a monotone likelihood ratio.",
        Kind.EXISTENCE,
        0.0,
        "relative power",
        DOMAIN | {"q": OneOf(("q(D') on either side of q(D)",))},
        (
            *(no_best_regime(*setting) for setting in (*SETTINGS, *LOGISTIC, *GUMBEL)),
            *(no_best_regime(noise, 2.0, 1.0, -0.4) for noise in LAWS),
        ),
        Control(lambda f: no_best_regime("Gaussian", 1.0, 1.0, -1.0 if f == 1.0 else f)),
        corrects="kaissis-lemma-1",
        derivation=(
            "L_s(z) = f(z - s)/f(z) = exp(h(z) - h(z - s)) rises with z for s > 0 and falls for s < 0, since h is convex. Suppose a test phi "
            "of level alpha in (0, 1) is most powerful against s > 0 and against -t < 0. By the Neyman-Pearson lemma phi = 1 where L_s > k and "
            "0 where L_s < k, and the same for L_-t and some k'. Far right L_s > k unless k = sup L_s, and L_-t < k' unless k' = inf L_-t: one "
            "of the two holds. Far left, in the same way, k = inf L_s or k' = sup L_-t. As neither ratio is constant, either k = sup L_s and "
            "k' = sup L_-t, and phi = 0 but where both are attained, a right half-line [a, inf) with h linear on [a - s, inf) and a left one "
            "(-inf, b] with h linear on (-inf, b + t]; if they met, h would be linear on the line, which no density allows: alpha = 0. Or k = inf L_s and "
            "k' = inf L_-t, and alpha = 1 in the same way. Shifts of one sign: the theorem of Karlin and Rubin. A coin that lets the record "
            "take part replaces L by 1 - p + p L and changes no order."
        ),
        quote=Quote("In the RTM, no UMP level alpha test exists for all possible values of q(D')", "lemma 1"),
        restricted_by=(BOTH_SIDES, REAL_LINE),
        same_formula=True,
        sampled=partial(_no_best, monotone=0.0),
    ),
    Claim(
        "kaissis-lemma-2",
        "kaissis",
        "The composite LR test is equivalent to the two one-sided LR tests at one critical value; for noise with a log-concave density, as judged here, "
        "its rejection regions are two tails.",
        Kind.EXACT,
        ROUNDING,
        "log likelihood ratio",
        DOMAIN,
        tuple(two_tests_regime(*s) for s in (*SETTINGS, *LOGISTIC, *GUMBEL)),
        Control(partial(two_tests_regime, "Gaussian", 1.0, 1.0), -0.05),
        quote=Quote(
            "The composite LR test H0: M(q(D), xi) vs. H1: M(q(D'), xi) is equivalent to letting M ~ P(nu, xi) and simultaneously conducting "
            "two individual one-sided LR tests r and r' with null hypothesis nu = 0 and alternative hypotheses -Delta <= nu < 0 for r and "
            "0 < nu <= Delta for r', where nu = q(D') - q(D) and Delta is the global sensitivity of q.",
            "lemma 2",
        ),
        restricted_by=(REAL_LINE,),
        sampled=lambda rng, count: [
            two_tests_regime(*some_setting(rng, tuple(LAWS), True)) for _ in range(count)
        ],
    ),
    Claim(
        "kaissis-lemma-3",
        "kaissis",
        "Laplace, Gaussian and sub-sampled Gaussian mechanisms have the monotone likelihood ratio property: for shifts "
        "s < t in [0, Delta] the ratio of the densities rises with z; the power of z > c is largest at Delta.",
        Kind.EXACT,
        ROUNDING,
        "log likelihood ratio",
        DOMAIN,
        tuple(ratio_regime(*setting, null_only=False) for setting in SETTINGS),
        _FLAT,
        corrected_by="kaissis-lemma-3-corrected",
        quote=Quote(
            "The Laplace Mechanism (LM), Gaussian Mechanism (GM) and the Poisson-Subsampled Gaussian Mechanism (SGM) all have the MLRP. "
            "Moreover, the power of both tests is maximised when |nu| = |q(D') - q(D)| = Delta.",
            "lemma 3",
        ),
        restricted_by=(REAL_LINE,),
        sampled=partial(_sampled_ratios, null_only=False),
    ),
    Claim(
        "kaissis-lemma-3-corrected",
        "kaissis",
        "Laplace and Gaussian mechanisms have the monotone likelihood ratio property between any two shifts s < t; with a sampling rate p < 1 "
        "they have it where s <= 0 <= t, and between no two shifts of one sign; s = 0 is what the one-sided tests need to be uniformly most powerful against a "
        "simple null. The power of z > c rises with the shift up to Delta.",
        Kind.EXACT,
        ROUNDING,
        "log likelihood ratio",
        DOMAIN | {"p": Between(0, 1, "0 < p <= 1, a coin for the whole record")},
        tuple(
            ratio_regime(*s, null_only=s[2] < 1)
            for s in (*SETTINGS, ("Laplace", 1.0, 0.3), ("Gaussian", 3.0, 0.01))
        ),
        _FLAT,
        corrects="kaissis-lemma-3",
        derivation=(
            "Both noises have a density e^-h with h convex and even. For s < t, d/dz log f(z - t)/f(z - s) = h'(z - s) - h'(z - t) >= 0. "
            "With a coin of probability p the ratio of t to the null is (1-p) + p exp(h(z) - h(z - t)), which rises with z for every t > 0: "
            "z > c is most powerful against each t > 0 at its level (Neyman and Pearson), and does not depend on t: it is uniformly most "
            "powerful. Between two shifts 0 < s < t and p < 1 the logarithm of the ratio grows at the rate g_t - g_s, g_t = w_t (h'(z) - "
            "h'(z - t)), w_t = p A_t/(1 - p + p A_t), A_t = exp(h(z) - h(z - t)). Gaussian: g_t = t w_t, and as z -> -infinity w_t/w_s -> 0; "
            "Laplace: on 0 < z < s g_t = 2 w_t < 2 w_s. It falls there, for every p < 1, and the same "
            "holds mirrored for s < t < 0. If s < 0 < t the ratio to the null rises for t and falls for s, so that their quotient rises. The power is p (1 - F(c - s)) + (1 - p) alpha, "
            "which rises with s."
        ),
        quote=Quote(
            "The individual LR tests r and r' are UMP level alpha if the noise distribution xi has the monotone likelihood ratio property (MLRP).",
            "lemma 3",
        ),
        restricted_by=(REAL_LINE,),
        same_formula=True,
        sampled=partial(_sampled_ratios, null_only=True),
    ),
    Claim(
        "kaissis-lemma-4",
        "kaissis",
        "For symmetric noise the two one-sided tests, each of level alpha/2, are the test of the magnitude; its power is largest "
        "at |shift| = Delta.",
        Kind.EXACT,
        ROUNDING,
        "power",
        DOMAIN,
        tuple(magnitude_regime(*setting) for setting in (*SETTINGS, *LOGISTIC)),
        Control(partial(magnitude_regime, "Gaussian", 1.0, 1.0)),
        quote=_SYMMETRIC,
        restricted_by=(
            REAL_LINE,
            Quote(
                "The individual tests are then UMP level alpha under the following pre-condition.",
                "before lemma 3",
            ),
        ),
        sampled=lambda rng, count: [
            magnitude_regime(*some_setting(rng, ("Gaussian", "Laplace", "logistic"), True))
            for _ in range(count)
        ],
    ),
)
"""In the order of the paper."""
