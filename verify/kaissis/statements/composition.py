"""Several Gaussian steps and many dimensions: lemma 8 and the blessing of dimensionality."""

import numpy as np

from mipsim import referee as rf
from mipsim.theory import kaissis
from verify.kaissis.laws.relaxed_attackers import averaged, best_weighting, both_sampled, weighted
from verify.kaissis.laws.relaxed_steps import EQUATION_7, D
from verify.kaissis.statements.curves import EXACT, Z, in_sight, probit
from verify.kaissis.statements.lemmas import WORST_CASE, dimensions, positive
from verify.kaissis.statements.many_dimensions import THEOREM_3_CORRECTED
from verify.statement import Statement

PAIRS = (
    ((1.0, 1.0), (1.0, 1.0)),
    ((0.2, 0.2), (1.0, 1.0)),
    ((1.0, 4.0), (1.0, 2.0)),
    ((1.0, 2.0), (1.0, 2.0)),
    ((1.0, 0.1), (1.0, 1.0)),
    ((1.0, 1.0), (1.0, 3.0)),
    ((3.0, 0.5), (1.0, 1.0)),
)
"""(Delta_a, Delta_b), (sigma_a, sigma_b): equal mechanisms, equal Delta/sigma^2, equal Delta/sigma, and others."""


_PAIRS = [
    {"delta_a": delta[0], "delta_b": delta[1], "sigma_a": sigma[0], "sigma_b": sigma[1], "d": d}
    for delta, sigma in PAIRS
    for d in (1, 10)
]
_LEAD = {"delta_a": 1.0, "delta_b": 1.0, "sigma_a": 1.0, "sigma_b": 3.0, "d": 1}
# A sensitivity of 0 is no second mechanism.
_DELTA, _SIGMA = positive(0.01, 5.0), positive(0.1, 10.0)
LEMMA_8 = Statement(
    name="kaissis-lemma-8",
    formula=r"\lambda = \frac{(\Delta_a + \Delta_b)^2}{\sigma_a^2 + \sigma_b^2}",
    uses=("kaissis-thm-2",),
    says="Two non-adaptive Gaussian mechanisms compose by averaging: the curves of the composition are those of chi2_d with "
    "noncentrality (Da + Db)^2/(sa^2 + sb^2).",
    fails=r"Averaging weighs a noisy mechanism as much as a precise mechanism, so that two releases may be promised to show less than the first alone; the sufficient statistic weighs each by $\Delta / \sigma^2$. Where this is the same for both, as for the equal steps of theorem 3 and figure 2a, the lemma is right.",
    instead=r"where $\Delta / \sigma^2$ is the same for both, as for equal steps; else with the weights $\Delta / \sigma^2$",
    kind=rf.Bound(),
    # The attacker may choose both functions, for example a function and a multiple of it: both shifts have the same unknown direction.
    domain={
        "delta_a": _DELTA.means("Delta of the first mechanism"),
        "delta_b": _DELTA.means("Delta of the second mechanism, in the same unit"),
        "sigma_a": _SIGMA.means("deviation of the noise of the first mechanism, in the unit of its Delta"),
        "sigma_b": _SIGMA.means("deviation of the noise of the second mechanism"),
        "d": dimensions(1, 300),
    },
    # Beyond 10 no error rate of 1e-9 is left of the claim.
    where=lambda delta_a, delta_b, sigma_a, sigma_b: (
        0.01 <= np.hypot(delta_a / sigma_a, delta_b / sigma_b) <= 10.0
    ),
    claimed=averaged,
    truth=best_weighting,
    points=[
        *(rf.Point(at, setting="lead" if at == _LEAD else "") for at in _PAIRS),
        # From hunts.
        {"delta_a": 1.0, "delta_b": 1.0, "sigma_a": 0.5, "sigma_b": 2.0, "d": 1},
    ],
    control=rf.Control(_PAIRS[0]),
    quote=rf.Quote(
        "Let M_a, M_b be GMs with noise variances sigma_a^2 I^d, sigma_b^2 I^d on functions with sensitivities Delta_2a, Delta_2b, respectively. "
        "Then, the non-adaptively composed mechanism M has trade-off functions: j_M(alpha) = CDF_{chi_d^2(Delta_M, s_c^2)}(SF^-1_{chi_d^2(0, s_c^2)}(alpha)), "
        "j_M^-1(alpha) = SF_{chi_d^2(0, s_c^2)}(CDF^-1_{chi_d^2(Delta_M, s_c^2)}(alpha)). with Delta_M = "
        "(Delta_2a + Delta_2b)^2/(sigma_a^2 + sigma_b^2) and s_c^2 = (sigma_a^2 + sigma_b^2)/4.",
        "lemma 8; CDF and SF by definition 2; the copy at hand has sigma_c^2 for the first sigma_a^2 of Delta_M, which averaging asks for",
    ),
    second_route=both_sampled,
    restored_by=(
        "Delta/sigma^2 is the same for both mechanisms",
        lambda delta_a, delta_b, sigma_a, sigma_b: bool(
            np.isclose(delta_a / sigma_a**2, delta_b / sigma_b**2, rtol=1e-9)
        ),
    ),
    samples=(4, 12, 60),
)
_SEEN = [item | {"z": z} for item in _PAIRS for z in (-33.0, -5.0, -1.6, 0.0, 1.6)]
LEMMA_8_CORRECTED = LEMMA_8.corrected(
    says="Let the releases za and zb be shifted by la u and lb u, 0 <= la <= Da, 0 <= lb <= Db, Da and Db positive, u uniform on the unit sphere "
    "of R^d given all that the attacker knows, with independent Gaussian noises of deviations sa, sb > 0. The norm of "
    "za Da/sa^2 + zb Db/sb^2 has at (la, lb) = (Da, Db) the curve of "
    "chi2_d with noncentrality Da^2/sa^2 + Db^2/sb^2; no test has more power there on average over u, and none of the smaller shifts gives it "
    "more. Averaging reaches it where Da/sa^2 = Db/sb^2 only.",
    formula=r"\lambda = \frac{\Delta_a^2}{\sigma_a^2} + \frac{\Delta_b^2}{\sigma_b^2}",
    kind=rf.Equality(EXACT, unit="probit"),
    domain={"z": Z},
    where=in_sight(weighted),
    claimed=lambda **at: probit(weighted(**at), at["z"]),
    truth=lambda **at: probit(best_weighting(**at), at["z"]),
    defer_where=True,
    points=_SEEN,
    control=rf.Control(_SEEN[52]),
    derivation=(
        "Let L = Da^2/sa^2 + Db^2/sb^2 > 0 and w = Da za/sa^2 + Db zb/sb^2. With the shifts Da u and Db u the log-likelihood ratio is "
        "u'w - L/2 (independent normal noises, |u| = 1): w is sufficient, normal with covariance L I and mean 0 or L u, so that |w|^2/L is "
        "chi2_d(0) or chi2_d(L). The ratio averaged over u is e^(-L/2) 0F1(; d/2; |w|^2/4), a power series in |w|^2 with positive "
        "coefficients: it rises with |w|, and by the Neyman-Pearson lemma the test of |w| has the most power on average over u. For smaller "
        "shifts w has the mean m u with 0 <= m = Da la/sa^2 + Db lb/sb^2 <= L, and chi2_d(m^2/L) is stochastically smaller than "
        "chi2_d(L). Any other sum v = wa za + wb zb has the noncentrality (wa Da + wb Db)^2/(wa^2 sa^2 + wb^2 sb^2) <= L (Cauchy and Schwarz), "
        "with equality where (wa sa, wb sb) is a multiple of (Da/sa, Db/sb) only; for wa = wb, where Da/sa^2 = Db/sb^2 only. Where the "
        "directions of the two shifts are not the same, nothing is stated: averaging may cancel them."
    ),
    needs={
        "where Da/sa^2 = Db/sb^2 only": {
            "fails": "kaissis-lemma-8",
            "at": {"delta_a": 1.0, "delta_b": 1.0, "sigma_a": 1.0, "sigma_b": 3.0, "d": 1},
        }
    },
)


BLESSING = Statement(
    name="kaissis-blessing",
    uses=("kaissis-thm-3",),
    # A single step, and the dimension grows: a path of the correction of theorem 3, which is searched from L = 0.1.
    unreached={
        "kaissis-thm-3": lambda mu2: THEOREM_3_CORRECTED.holds_point(
            {
                "what": D,
                "c": max(0.1, mu2**2),
                "q": 0.0,
                "d": 1,
                "form": EQUATION_7,
                "part": "j",
                "alpha": 0.5,
            }
        )
    },
    says="For fixed mu2, the function j increases with d at every FPR: from d to `higher` dimensions.",
    source="Kaissis et al., section 4, after theorem 3",
    kind=rf.Ordering(floor=1e-9),
    domain={
        "mu2": positive(0.01, 10.0, meaning="Delta / sigma, sigma the deviation of the Gaussian noise"),
        "d": dimensions(1, 5000, "the lower dimension"),
        "higher": dimensions(2, 20_000, "the higher dimension"),
    },
    where=lambda d, higher: d < higher,
    claimed=lambda mu2, d: kaissis.gaussian_tradeoff(mu2, d),
    truth=lambda mu2, higher: kaissis.gaussian_tradeoff(mu2, higher),
    points=[
        *(
            {"mu2": mu, "d": low, "higher": high}
            for mu in (0.01, 1.0, 3.0, 10.0)
            for low, high in ((1, 2), (5, 30), (300, 301), (300, 10_000))
        ),
        rf.Point({"mu2": 2.0, "d": 1, "higher": 50}, name="figure 3c, its d read as 50"),
    ],
    control=rf.Control({"mu2": 3.0, "d": 300, "higher": 301}),
    quote=rf.Quote(
        "Therefore, at d > 1, the GM provides progressively stronger J-DR guarantees than for scalar queries.",
        "section 4, after theorem 3",
    ),
    not_judged={
        "J-DR guarantees": "the function j is judged here, and what it guarantees to whom in kaissis-thm-2-guarantee"
    },
    restricted_by=(WORST_CASE,),
    samples=(4, 12, 60),
)

STATEMENTS = (LEMMA_8, LEMMA_8_CORRECTED, BLESSING)
"""The formulas; for theorem 3 see `many_dimensions`, for the guarantees `guarantees`."""
