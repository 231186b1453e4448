"""What the attacker can do in practice: power at a low FPR, and reconstruction."""

from scipy.special import ndtr, ndtri

from mipsim import referee as rf
from mipsim.theory import kaissis
from verify.kaissis.laws.relaxed_attackers import best_guess, guessed, in_dptm, promised, relaxed
from verify.kaissis.laws.relaxed_laws import known_resilience
from verify.kaissis.statements.curves import power
from verify.kaissis.statements.lemmas import LEMMA_3_CORRECTED, dimensions, points, positive

Z = float(ndtri(1e-3))


POWER = rf.Statement(
    name="kaissis-power",
    uses=("kaissis-cor-1", "kaissis-lemma-3", "kaissis-lemma-9"),
    # A shift against none is all that is tested.
    unreached={
        "kaissis-lemma-3": lambda ratio, rate: LEMMA_3_CORRECTED.holds_point(
            {"mechanism": "sub-sampled Gaussian", "delta": ratio, "rate": rate, "s": 0.0, "t": 1.0}
        )
    },
    says="At alpha = 1e-3 the power in the relaxed threat model lies below that in the DPTM at every Delta/sigma, for the Gaussian "
    "and the sub-sampled Gaussian (p = 0.3).",
    source="Kaissis et al., figure 2",
    kind=rf.Ordering(unit="probit"),
    domain={
        "ratio": positive(0.01, 10.0),
        "rate": rf.Real(0.001, 1.0, log=True),  # the paper draws 0.3 and 1
    },
    claimed=lambda ratio, rate: power(known_resilience(ratio, rate), Z),
    truth=lambda ratio, rate: rf.Number(power(relaxed("Gaussian", ratio, rate), Z), route="exact curves"),
    points=points(ratio=(0.01, 0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0), rate=(1.0, 0.3, 0.01)),
    # From Delta/sigma = 5 on the two powers nearly agree.
    control=rf.Control(
        {"ratio": 5.0, "rate": 0.3},
        0.05,
        truth=lambda factor, ratio, rate: power(relaxed("Gaussian", factor * ratio, rate), Z),
    ),
    quote=rf.Quote(
        "As anticipated, the adversary has lower power throughout in the RTM compared to the DPTM",
        "section 5, Asymptotic behaviour",
    ),
    restricted_by=(
        rf.Quote(
            "assuming the worst case of a one-dimensional learning task and a sampling rate of 0.3",
            "section 5",
        ),
    ),
)

RERO_QUOTE = rf.Quote(
    "in the RTM, data reconstruction adversaries also suffer a diminished success rate compared to the DPTM, as measured in terms of Reconstruction "
    "Robustness, which can be bounded directly through its relationship to hypothesis testing",
    "section 5, Improved bounds on data reconstruction attacks",
)
RERO = rf.Statement(
    name="kaissis-rero",
    uses=("kaissis-lemma-6",),
    says="1 - J(kappa), the bound of a reconstruction's success in the relaxed threat model, is at most 1 - f(kappa), that in the DPTM.",
    source="Kaissis et al., appendix on reconstruction robustness",
    kind=rf.Bound(unit="probability"),
    domain={
        "noise": rf.Choice("Gaussian", "Laplace"),
        "mu": positive(0.01, 6.0),
        "rate": rf.Real(0.01, 1.0),
        "kappa": rf.Real(1e-9, 1.0, log=True),
    },
    where=lambda noise, rate: noise == "Gaussian" or rate == 1.0,
    claimed=lambda noise, mu, rate, kappa: float(
        kaissis.reconstruction_bound(in_dptm(noise, mu, rate), kappa)
    ),
    truth=lambda noise, mu, rate, kappa: float(kaissis.reconstruction_bound(relaxed(noise, mu, rate), kappa)),
    points=[
        item | {"kappa": kappa}
        for item in (
            *points(noise=("Gaussian",), mu=(0.01, 1.0, 3.0), rate=(0.3, 1.0)),
            *points(noise=("Laplace",), mu=(0.01, 1.0, 3.0), rate=(1.0,)),
        )
        for kappa in (1e-9, 1e-3, 0.1, 0.5, 0.9)
    ],
    control=rf.Control({"noise": "Gaussian", "mu": 3.0, "rate": 1.0, "kappa": 0.5}),
    quote=RERO_QUOTE,
)


_LENGTHS = (
    (2, 0.0, 1.0, 1.0),
    (2, 1.0, 1.0, 1.0),
    (2, 0.0, 1.0, 3.0),
    (4, 0.0, 1.0, 3.0),
    (10, 0.025, 20.0, 4.0),
)
RERO_LENGTHS = rf.Statement(
    name="kaissis-rero-lengths",
    says="Gaussian noise, N equally likely records with shifts of lengths up to Delta: an attacker who may know the lengths, and to whom every "
    "direction of each shift is as likely given all that they know, reconstructs the record with a probability of at most 1 - j(1/N), "
    "which is at most 1 - J(1/N).",
    source="Kaissis et al., appendix on reconstruction robustness",
    kind=rf.Bound(unit="probability"),
    domain={
        "records": dimensions(2, 50),
        "nearest": rf.Real(0.0, 1.0),
        "bend": rf.Real(0.05, 20.0, log=True),
        "mu": positive(0.01, 6.0),
        "d": dimensions(1, 100),
    },
    claimed=lambda records, mu, d: float(
        kaissis.reconstruction_bound(kaissis.gaussian_tradeoff(mu, d), 1 / records)
    ),
    truth=best_guess,
    points=[
        single | {"d": d} for single in rf.rows({}, "records nearest bend mu", *_LENGTHS) for d in (1, 2, 30)
    ],
    control=rf.Control({"records": 2, "nearest": 0.0, "bend": 1.0, "mu": 3.0, "d": 1}, attained=True),
    quote=RERO_QUOTE,
    corrects="kaissis-rero-guarantee",
    uses=("kaissis-thm-2-guarantee-corrected",),
    derivation=(
        "Let g name one of N records by what is seen, given which every direction of a shift is as likely, and a_k = P(g = k) without a shift. "
        "Record k is named with a probability of at most 1 - j_s(a_k), s its length, since {g = k} is a test of FPR a_k and that of the magnitude is the "
        "best (kaissis-thm-2-guarantee-corrected); j_s falls with s, so that this is at most 1 - j(a_k), j that of the largest. The success is the mean over the "
        "records, and 1 - j is concave: it is at most 1 - j of the mean of the a_k (Jensen), which is at most 1/N, as the events are "
        "disjoint. J <= j gives the second bound."
    ),
)

LENGTHS = "the attacker knows how far each record shifts the output, not which way"
SHIFTS = "the attacker knows the records and q, and so the shift of each"


RERO_GUARANTEE = rf.Statement(
    name="kaissis-rero-guarantee",
    uses=("kaissis-cor-1",),
    says="In the relaxed threat model no reconstruction succeeds with a probability above 1 - J(kappa), kappa the prior success: "
    "two records, equally likely, of shifts mu and -mu on the line.",
    source="Kaissis et al., appendix on reconstruction robustness",
    kind=rf.Bound(unit="probability"),
    domain={
        "mu": positive(0.01, 5.0),
        # Reconstruction robustness lets the attacker know the law of the records.
        "reading": rf.Choice(LENGTHS, SHIFTS),
    },
    claimed=lambda mu: float(kaissis.reconstruction_bound(promised("Gaussian", mu), 0.5)),
    # The radius does not tell the two apart; the sign of the output does.
    truth=lambda mu, reading: rf.Number(float(ndtr(mu)) if reading == SHIFTS else 0.5, route="exact laws"),
    points=points(mu=(0.5, 1.0, 2.0), reading=(LENGTHS, SHIFTS)),
    control=rf.Control({"mu": 2.0, "reading": LENGTHS}, attained=True),
    quote=RERO_QUOTE,
    second_route=guessed,
)

STATEMENTS = (POWER, RERO, RERO_LENGTHS, RERO_GUARANTEE)
"""In the order of the paper."""
