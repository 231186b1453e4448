"""Moments estimated from reference points."""

from math import inf

from mipsim import GaussianTradeOff
from mipsim import referee as rf
from verify.azize.laws.reference_curves import (
    distance_to_normal,
    growing_curve,
    mu_without_limit,
    paper_curve,
    scores_by_games,
)
from verify.statement import Statement

NEGLIGIBLE = 0.1
"""Probit units: the loss that counts as negligible, declared before any computation; the paper gives no number."""
FEW = 100
"""Reference points: "small" may mean this many, a tenth of n; the values of figure 6 are not in the text."""
LEAST_RATE = 0.05
"""FPR and FNR that are judged: below, the proven error of a score of 5000 terms is too large."""
MANY, ANY = f"a small n0 is {FEW} or more", "a small n0 is 1 or more"
ESTIMATOR = rf.Choice(
    "uncentred", "uncentred, ridge", "centred", "ridge",
    meaning="how the variances are estimated: uncentred as printed or centred, regularised by .01 or (ridge) by 1/4",
)  # fmt: skip


FIGURE_6 = rf.Quote(
    "Figure 6 shows that the power of the test decreases as n_0 gets smaller. However, this decrease is negligible even in the small n_0 regime.",
    "appendix E.1, analysis of results 4",
)

PRINTED = Statement(
    name="azize-reference-points",
    uses=("azize-scalar-product",),
    says="With mu0 and C0 = (1/n0) sum Z Z' estimated from n0 reference points the covariance attack loses power as n0 gets smaller, negligibly even "
    "for small n0: at the setting of figure 6, by less than 0.1 probits of what the same estimates give with any number of points. (Judged for the variances alone.)",
    fails=r"How few is small decides. From 100 points on it stands, with variances uncentred as printed or centred, and regularised by 0.01 or by 1/4. With 10 points it fails with all four: some variances are estimated near 0, and their weights explode; regularised by 0.01 the attack loses about 2 probits, regularised by 1/4 0.2 to 0.3. Negligible, up to 0.1 probits, is a bar of this register; the paper gives none. Neither the $n_0$ of figure 6 nor how $\hat C_0$ was inverted is in the text at hand, which has no figures. (Uncentred estimates lose 0.14 probits, or 0.07, against the known moments with any number of points; that is not the decrease of which the sentence speaks.)",
    instead="mu of the weights that they give",
    source="Azize & Basu, appendix E.1, figure 6",
    kind=rf.Equality(NEGLIGIBLE, floor=LEAST_RATE),
    domain={"reading": rf.Choice(MANY, ANY), "estimator": ESTIMATOR, "n0": rf.Whole(1, inf, log=True, hunt_to=1000, meaning="reference points"), "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled")},
    where=lambda reading, n0: reading != MANY or n0 >= FEW,
    claimed=lambda estimator: GaussianTradeOff(mu_without_limit(estimator)),
    truth=paper_curve,
    points=[
        rf.Point({"reading": ANY, "estimator": "uncentred", "n0": 10, "draw": 0}, "n0 = 10", "lead"),
        *({"reading": ANY, "estimator": name, "n0": n0, "draw": 0} for name, n0 in (("centred", 1), ("centred", 5), ("centred", 10), ("ridge", 10), ("uncentred, ridge", 10))),
        *({"reading": MANY, "estimator": name, "n0": n0, "draw": 0} for name in ESTIMATOR.values for n0 in (100, 1000)),
    ],
    control=rf.Control(
        {"reading": MANY, "estimator": "centred", "n0": 1000, "draw": 0}, shift=0.05, claimed=lambda factor: GaussianTradeOff(factor * mu_without_limit("centred"))
    ),
    quote=FIGURE_6,
    not_judged={
        "Figure 6 shows that the power of the test decreases as n_0 gets smaller.": "a trend of a plot, of sampled reference sets; azize-reference-points-corrected has the power of each set, which is at most the known moments'"
    },
    restricted_by=(
        rf.Quote(
            "In Figure 6, we plot the power of the empirical covariance attack on the easy target, for different number of reference points n_0.",
            "appendix E.1, analysis of results 4",
        ),
        rf.Quote(
            "The decrease in the power of the covariance attack compared to the LR attack depends on the accuracy of the estimators " "muhat_0 and C_0.",
            "section 3, empirical LR attack",
        ),
    ),
    second_route=lambda estimator, n0, draw: scores_by_games(estimator, n0, draw),
    samples=(0, 0, 0),
)  # fmt: skip

CORRECTED = Statement(
    name="azize-reference-points-corrected", formula=r"D_i = 0.56 \, \frac{\sum_j |w_j|^3 E|Z_j - \mu_j|^3}{(w^T \Sigma w)^{3/2} \sqrt{n - i}}, \quad i = 0, 1",
    says="For independent coordinates with positive variances and finite third moments, a single reference set, fixed over the games, and any weights w = w(mu0, C0, z*), Sigma w not 0, the covariance attack has at every n >= 2 a curve within "
    "D_0, D_1 (Berry and Esseen) of beta(alpha) = Phi((Phi^-1(1 - alpha) - mu) sqrt(n/(n - 1))), mu = w'(z* - mu_D)/sqrt(n w'Sigma w): the normal curve read at "
    "1 - alpha -+ D_0, -+ D_1, with D_i = 0.56 sum_j |w_j|^3 E|Z_j - mu_j|^3 / ((w'Sigma w)^(3/2) sqrt(n - i)) (azize-reference-points-distance). It tends to g_mu where n grows and D_i -> 0, and mu <= sqrt(m*), with equality for z* not mu_D only "
    "where w is a positive multiple of Sigma^-1 (z* - mu_D): the estimates keep the share cos(angle of w and Sigma^-1 (z* - mu_D) in Sigma) of sqrt(m*). (Judged for Bernoulli coordinates.)",
    source="Azize & Basu, appendix E.1, figure 6",
    kind=rf.Limit("n", sizes=tuple(10**6 * 8**k for k in range(6)), floor=1e-3),
    domain={
        "estimator": rf.Choice("centred", "ridge", "uncentred", meaning="how the variances are estimated and regularised"),
        "n0": rf.Whole(1, inf, log=True, hunt_to=1000, meaning="reference points"),
        "tau": rf.Real(0.1, 20.0, log=True, meaning="d / n"),
        "n": rf.Whole(2, inf, log=True, hunt_to=10**6 * 8**5, meaning="records in the data set"),
    },
    # A mu near 0 has no scale to be judged on; of a mu above 4 no error rate is in sight.
    where=lambda estimator, n0, tau: 0.02 < growing_curve(estimator, n0, tau, 10**6).mu < 4.0,
    claimed=lambda **at: GaussianTradeOff(growing_curve(**at).mu),
    truth=growing_curve,
    points=[{"estimator": name, "n0": n0, "tau": 5.0} for name in ("centred", "uncentred") for n0 in (5, 10, 1000)],
    control=rf.Control({"estimator": "centred", "n0": 10, "tau": 5.0}),
    quote=FIGURE_6,
    corrects="azize-reference-points",
    derivation=(
        "(1) Given the reference set the score is w'muhat plus a constant that is the same in both worlds. n w'(muhat - mu_D) is a sum of n d independent "
        "terms w_j (Z_ij - mu_j) of variance n v, v = w'Sigma w, under H0; under H1 a single row is the constant w'(z* - mu_D) and n - 1 rows remain. "
        "(2) Berry and Esseen for independent terms with third moments, with the constant 0.56 of Shevtsova (2010): the distribution functions are within D_0 "
        "and D_1 of normal ones. (3) A test of FPR alpha that decides ties by lot has a threshold x (in sd) with P(S < x) <= 1 - alpha <= P(S <= x), so "
        "Phi(x) is within D_0 of 1 - alpha, and its FNR, between P_in(S < x) and P_in(S <= x), is within D_1 of Phi((x - mu) sqrt(n/(n - 1))). "
        "(4) As n grows n/(n - 1) -> 1, so it tends to g_mu where D_i -> 0; where d alone grows it does not, the root stays. (5) Cauchy and Schwarz in the inner product of Sigma: mu <= sqrt((1/n)||z* - mu_D||^2_{Sigma^-1}) = sqrt(m*), "
        "with equality only for a positive multiple of Sigma^-1 (z* - mu_D), but where that is 0 and every mu is. A test of the other side has -mu. A set that is redrawn in every game is not covered: "
        "there the term w'mu0 varies from game to game."
    ),
    needs={
        "where w is a positive multiple": {
            "fails": "azize-reference-points",
            "at": {"reading": ANY, "estimator": "centred", "n0": 5, "draw": 0},
        }
    },
)  # fmt: skip

DISTANCE = Statement(
    name="azize-reference-points-distance", formula=r"D_i = 0.56 \, \frac{\sum_j |w_j|^3 E|Z_j - \mu_j|^3}{(w^T \Sigma w)^{3/2} \sqrt{n - i}}, \quad i = 0, 1",
    says="With a single fixed reference set, the score's distribution functions are within D_0 (out) and D_1 (in) of normal ones at every n >= 2: "
    "D_i = 0.56 sum_j |w_j|^3 E|Z_j - mu_j|^3 / ((w'Sigma w)^(3/2) sqrt(n - i)), a bound of Berry and Esseen. Conditions as in azize-reference-points-corrected. (Judged for Bernoulli coordinates, d <= 3, n <= 30.)",
    source="Azize & Basu, appendix E.1, figure 6",
    kind=rf.Bound(unit="distance of distribution functions"),
    domain={
        "member": rf.Choice(False, True, meaning="whether the target is in"),
        "n": rf.Whole(2, inf, log=True, hunt_to=30, meaning="records in the data set"),
        "d": rf.Whole(1, inf, hunt_to=3, meaning="coordinates"),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    },
    # Larger ones are not enumerated.
    where=lambda n, d: (n + 1) ** d <= 10**5,
    claimed=lambda **at: distance_to_normal(**at)[1],
    truth=lambda **at: rf.Number(distance_to_normal(**at)[0], route="enumeration"),
    points=[{"member": member, "n": n, "d": d, "draw": 0} for member in (False, True) for n, d in ((2, 1), (30, 1), (10, 2), (25, 3))],
    control=rf.Control({"member": False, "n": 10, "d": 2, "draw": 0}, attained=True),
    quote=FIGURE_6,
    corrects=PRINTED.name,
    derivation="Step (2) of azize-reference-points-corrected: Berry and Esseen for independent terms with third moments, with the constant of Shevtsova (2010).",
)  # fmt: skip

STATEMENTS = (PRINTED, CORRECTED, DISTANCE)
