"""What the attacker can do in practice: power at a low FPR, and reconstruction."""

from scipy.special import ndtr, ndtri

from mipsim import referee as rf
from mipsim.referee import Replication
from mipsim.theory import kaissis
from verify.by_hand import near
from verify.kaissis.laws.relaxed_attackers import best_guess, guessed, in_dptm, promised, relaxed
from verify.kaissis.laws.relaxed_laws import known_resilience
from verify.kaissis.statements.curves import power
from verify.kaissis.statements.guarantees import RESILIENT
from verify.kaissis.statements.lemmas import LEMMA_3_CORRECTED, dimensions, points, positive
from verify.statement import Statement

Z = float(ndtri(1e-3))


POWER = Statement(
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
        "ratio": positive(0.01, 10.0, meaning="Delta / sigma"),
        # the paper draws 0.3 and 1
        "rate": rf.Real(0.001, 1.0, log=True, meaning="probability that the record takes part"),
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
        "As anticipated, the adversary has lower power throughout in the RTM compared to the DPTM, and the loss of power is "
        "amplified through subsampling.",
        "section 5, Asymptotic behaviour",
    ),
    not_judged={"the loss of power is amplified through subsampling": "by kaissis-power-loss"},
    restricted_by=(
        rf.Quote(
            "Figure 1(b) plots the power 1-beta of an MI adversary vs. the Delta/sigma-ratio at a fixed alpha = 10^-3 for the GM "
            "and Figure 1(c) for the SGM assuming the worst case of a one-dimensional learning task and a sampling rate of 0.3.",
            "section 5",
        ),
    ),
)

DIFFERENCE = "power in the DPTM less that in the RTM, with sub-sampling in both"
SHARE = "the loss of power as a share of that in the DPTM"
AGAINST_NONE = "power in the DPTM without sub-sampling less that in the RTM with it"


def loss(reading: str, ratio: float, rate: float) -> float:
    """What an attacker loses at the FPR 1e-3 by not knowing the record."""
    known, unknown = (
        1.0 - float(curve.beta(1e-3))
        for curve in (
            known_resilience(ratio, 1.0 if reading == AGAINST_NONE else rate),
            relaxed("Gaussian", ratio, rate),
        )
    )
    return (known - unknown) / (known if reading == SHARE else 1.0)


def loss_by_tails(reading: str, ratio: float, rate: float) -> Replication:
    """The losses with and without sub-sampling by normal tails: one-sided with the record known, two-sided without."""
    single, double = -ndtri(1e-3), -ndtri(5e-4)
    known, unknown = float(ndtr(ratio - single)), float(ndtr(ratio - double) + ndtr(-ratio - double))
    lost, without = (
        p * (known - unknown) / (p * known + (1.0 - p) * 1e-3 if reading == SHARE else 1.0)
        for p in (rate, 1.0)
    )
    share = " as a share of that in the DPTM" if reading == SHARE else ""
    what = f"minus the loss of power{share}, in both with sub-sampling at rate {rate:g}"
    return Replication(*near(-lost), what, "normal tails", -without, one_sided=True)


POWER_LOSS = Statement(
    name="kaissis-power-loss",
    says="At alpha = 1e-3 the loss of power in the relaxed threat model against the DPTM is larger with sub-sampling than with none.",
    fails="Against the attacker of the DPTM without sub-sampling the loss grows, as stated. Where sub-sampling hides the record from both attackers it multiplies the difference of their powers by its rate, so that the loss shrinks. As a share of the power in the DPTM it shrinks too: without the record both attackers guess, with the power (1 - p) alpha.",
    instead="against the power without sub-sampling",
    source="Kaissis et al., figure 2",
    uses=POWER.uses,
    unreached=POWER.unreached,
    kind=rf.Ordering(unit="loss without sub-sampling less that with it"),
    domain={**POWER.domain, "reading": rf.Choice(DIFFERENCE, SHARE, AGAINST_NONE)},
    claimed=loss,
    truth=lambda reading, ratio: loss(reading, ratio, 1.0),
    points=[
        *points(ratio=(0.5, 1.0, 2.0, 4.0, 8.0), rate=(0.3,), reading=(DIFFERENCE, SHARE, AGAINST_NONE)),
        # From hunts.
        {"ratio": 1.0, "rate": 0.001, "reading": SHARE},
    ],
    control=rf.Control({"ratio": 2.0, "rate": 0.3, "reading": AGAINST_NONE}, attained=True),
    quote=POWER.quote,
    not_judged={
        "the adversary has lower power throughout in the RTM compared to the DPTM": "by kaissis-power"
    },
    restricted_by=POWER.restricted_by,
    second_route=loss_by_tails,
)
POWER_LOSS_CORRECTED = POWER_LOSS.corrected(
    says="Against the power in the DPTM without sub-sampling the attacker of the relaxed threat model loses more with sub-sampling than with none. "
    "By lemma 9 (derived below, not judged at these points), with sub-sampling at the rate p in both threat models the loss is p times that at p = 1, at every FPR at which f_p and j_p need not be symmetrised.",
    uses=("kaissis-lemma-9",),
    domain={"reading": rf.Fixed(AGAINST_NONE)},
    derivation=(
        "By lemma 9 the power with sub-sampling is p P(alpha) + (1 - p) alpha, with P the power without, in either threat model: the difference "
        "of the two is p times the difference without, and the share p (P_f - P_j)/(p P_f + (1 - p) alpha) is at most (P_f - P_j)/P_f, as alpha >= 0. The power in the RTM falls "
        "with p from P_j(alpha) to alpha, so that against a single fixed power of the DPTM the loss grows as p falls."
    ),
)

RERO_QUOTE = rf.Quote(
    "In the Appendix, we demonstrate that, in the RTM, data reconstruction adversaries also suffer a diminished success "
    "rate compared to the DPTM, as measured in terms of Reconstruction Robustness, which can be bounded directly through "
    "its relationship to hypothesis testing.",
    "section 5, Improved bounds on data reconstruction attacks",
)
RERO = Statement(
    name="kaissis-rero",
    formula=r"1 - J(\kappa) \le 1 - f(\kappa)",
    uses=("kaissis-lemma-6",),
    says="1 - J(kappa), the bound of a reconstruction's success in the relaxed threat model, is at most 1 - f(kappa), that in the DPTM. (Judged are the two bounds, not the success of an attacker, and that the first is not larger.)",
    source="Kaissis et al., section 5, on its appendix on reconstruction robustness, which was not at hand",
    kind=rf.Bound(unit="probability"),
    domain={
        "noise": rf.Choice("Gaussian", "Laplace", meaning="law of the noise"),
        "mu": positive(0.01, 6.0, meaning="Delta / sigma, or Delta / b of Laplace noise"),
        "rate": rf.Real(0.01, 1.0, meaning="probability that the record takes part"),
        "kappa": rf.Real(1e-9, 1.0, log=True, meaning="chance of a guess without the output"),
    },
    where=lambda noise, rate: noise == "Gaussian" or rate == 1.0,
    claimed=lambda noise, mu, rate, kappa: float(in_dptm(noise, mu, rate).tpr_at(kappa)),
    truth=lambda noise, mu, rate, kappa: float(relaxed(noise, mu, rate).tpr_at(kappa)),
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
    not_judged={
        "which can be bounded directly through its relationship to hypothesis testing": "by kaissis-rero-guarantee"
    },
)


_LENGTHS = (
    (2, 0.0, 1.0, 1.0),
    (2, 1.0, 1.0, 1.0),
    (2, 0.0, 1.0, 3.0),
    (4, 0.0, 1.0, 3.0),
    (10, 0.025, 20.0, 4.0),
)
RERO_LENGTHS = Statement(
    name="kaissis-rero-lengths",
    formula=r"P(\text{success}) \le 1 - j(1 / N) \le 1 - J(1 / N)",
    says="Gaussian noise, N equally likely records with shifts of lengths up to Delta: an attacker who may know the lengths, and to whom every "
    "direction of each shift is as likely given all that they know, reconstructs the record with a probability of at most 1 - j(1/N), "
    "which is at most 1 - J(1/N).",
    source="Kaissis et al., section 5, on its appendix on reconstruction robustness, which was not at hand",
    kind=rf.Bound(unit="probability"),
    domain={
        "records": dimensions(2, 50, "records to choose from, equally likely"),
        "nearest": rf.Real(0.0, 1.0, meaning="length of the shortest shift over the longest"),
        "bend": rf.Real(
            0.05,
            20.0,
            log=True,
            meaning="lengths go as the power bend of evenly spaced numbers between nearest and 1",
        ),
        "mu": positive(0.01, 6.0, meaning="length of the longest shift, in deviations of the noise"),
        "d": dimensions(1, 100),
    },
    claimed=lambda records, mu, d: float(kaissis.gaussian_tradeoff(mu, d).tpr_at(1 / records)),
    truth=best_guess,
    points=[
        single | {"d": d} for single in rf.rows({}, "records nearest bend mu", *_LENGTHS) for d in (1, 2, 30)
    ],
    control=rf.Control({"records": 2, "nearest": 0.0, "bend": 1.0, "mu": 3.0, "d": 1}, attained=True),
    quote=RERO_QUOTE,
    corrects="kaissis-rero-guarantee",
    uses=("kaissis-thm-2-guarantee-corrected",),
    derivation=(
        "Let g name a record of N by what is seen, given which every direction of a shift is as likely, and a_k = P(g = k) without a shift. "
        "Record k is named with a probability of at most 1 - j_s(a_k), s its length, since {g = k} is a test of FPR a_k and that of the magnitude is the "
        "best (kaissis-thm-2-guarantee-corrected); j_s falls with s, so that this is at most 1 - j(a_k), j that of the largest. The success is the mean over the "
        "records, and 1 - j is concave: it is at most 1 - j of the mean of the a_k (Jensen), which is at most 1/N, as the events are "
        "disjoint. J <= j gives the second bound."
    ),
)

LENGTHS = "the attacker knows how far each record shifts the output, not which way"
SHIFTS = "the attacker knows the prior's records and q, not which of them it is"


RERO_GUARANTEE = Statement(
    name="kaissis-rero-guarantee",
    formula=r"P(\text{success}) \le 1 - J(\kappa)",
    uses=("kaissis-cor-1",),
    says="In the relaxed threat model no reconstruction succeeds with a probability above 1 - J(kappa), kappa the prior success: "
    "two records, equally likely, of shifts mu and -mu on the line.",
    fails="In the game of the paper, whose attacker has no access to the record, it holds, read as 1 - J(kappa) and for an attacker who knows at most how far each record shifts the output; the appendix, to which the sentence leaves the bound, was not at hand. The game withholds the record itself; of what the attacker knows about its distribution it says nothing, and the introduction allows auxiliary data from the same distribution. Reconstruction robustness, as others define it, has a prior over the records: who knows its two records, and q, knows the two shifts, and names the record by the side. That is auxiliary information, against which the paper itself says, before lemma 7, that detection resilience does not hold; lemma 7 leaves the bound 1 - f(kappa) of the DPTM, which this attacker reaches and does not pass.",
    instead="where at most the lengths of the shifts are known; for every attacker 1 - f(kappa), that of the DPTM",
    source="Kaissis et al., section 5, on its appendix on reconstruction robustness, which was not at hand; the formula 1 - J(kappa) is a reading",
    kind=rf.Bound(unit="probability"),
    domain={
        "mu": positive(0.01, 5.0, meaning="Delta / sigma of Gaussian noise, in one dimension"),
        # Reconstruction robustness lets the attacker know the law of the records.
        "reading": rf.Choice(LENGTHS, SHIFTS),
    },
    claimed=lambda mu: float(promised("Gaussian", mu).tpr_at(0.5)),
    # The radius does not tell the two apart; the sign of the output does.
    truth=lambda mu, reading: rf.Number(float(ndtr(mu)) if reading == SHIFTS else 0.5, route="exact laws"),
    points=points(mu=(0.5, 1.0, 2.0), reading=(LENGTHS, SHIFTS)),
    control=rf.Control({"mu": 2.0, "reading": LENGTHS}, attained=True),
    quote=RERO_QUOTE,
    not_judged={
        "data reconstruction adversaries also suffer a diminished success rate compared to the DPTM, as measured in terms of Reconstruction Robustness": "the two bounds: by kaissis-rero; the attacker's success itself: here"
    },
    restricted_by=(
        rf.Quote(
            "In this work, we consider a threat model relaxation of high practical relevance, where the adversary does not have access to the "
            "candidate record in question when performing an MI attack.",
            "section 6",
        ),
        RESILIENT,
    ),
    second_route=guessed,
)

STATEMENTS = (POWER, POWER_LOSS, POWER_LOSS_CORRECTED, RERO, RERO_LENGTHS, RERO_GUARANTEE)
"""In the order of the paper."""
