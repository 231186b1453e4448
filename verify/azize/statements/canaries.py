"""Algorithm 3: is the candidate with the largest estimated Mahalanobis score the easiest?"""

from math import inf
from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.referee import Replication
from verify import real_gradients
from verify.azize.laws.estimated_moments import (
    LAWS,
    candidate_scores,
    candidates_of,
    rarity_curve,
    rarity_scores,
)
from verify.azize.laws.normal_sums import NormalCurve
from verify.azize.statements.mean import ASSUMES
from verify.azize.statements.steps import BOUNDED, UNMET
from verify.by_hand import ahead
from verify.statement import Statement, nowhere, where_in

EASIEST = "easiest = largest true m*"
ATTACKED = "easiest = largest power of the optimal attack"
REAL = "easiest = largest power of the covariance attack, gradients of networks at real records, C0 regularised as Ledoit and Wolf do"
EXACT = "uncentred, from infinitely many references"


def candidates(
    C0: str, law: str, d: int, mean: float, count: int, references: int, draw: int, problems: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(||g_k - mu||_{Sigma^-1} of each candidate, index of the picked candidate); fewer than 2 d references need a ridge."""
    ridge = 1e-3 if C0 != EXACT and references < 2 * d else 0.0
    known = None if C0 == EXACT else references
    return candidates_of(law, d, count, known, mean, C0 == "centred", ridge, draw, problems)


def roots_of(**at: float) -> tuple[float, float]:
    """Sqrt(m*) of the candidate that is picked and of the easiest; their means where several problems are sampled."""
    roots, pick = candidates(**{name: at[name] for name in PROBLEM if name in at})  # pyright: ignore[reportArgumentType]
    mu = roots / np.sqrt(at["batch"])
    return float(mu[np.arange(len(mu)), pick].mean()), float(mu.max(axis=1).mean())


def random(draw: int, problems: int = 1, **_: Any) -> str:
    """What the numbers are: exact given what was sampled, and no expectation over it."""
    how = "of random candidates and references" if problems == 1 else f"mean of {problems} random problems"
    return f"exact moments, {how} (seed {draw})"


def of_records(
    records: str, references: int, draw: int, count: int, batch: int, alpha: float, **_: Any
) -> tuple[list[int], list[rf.Number]]:
    """(places of the candidates among real records, the picked candidate first; the attack's strength at FPR alpha on each)."""
    places, pick = real_gradients.candidates(records, references, draw, count)
    places = [pick, *(int(place) for place in places if place != pick)]
    curves = (real_gradients.curve(records, references, draw, place, batch, False) for place in places)
    return places, [real_gradients.strength(curve, alpha) for curve in curves]


def picked(reading: str = EASIEST, rare: float = 0.1, **at: Any) -> rf.Number | NormalCurve:
    """Sqrt(m*) of the candidate that is picked, or the attack's curve or strength on it: all candidates are claimed to be no easier."""
    if reading == REAL:
        return of_records(**at)[1][0]
    return rarity_curve((1 - rare) / 2) if reading == ATTACKED else rf.Number(roots_of(**at)[0])


def easiest(reading: str = EASIEST, rare: float = 0.1, **at: Any) -> rf.Number | NormalCurve:
    """The same of the easiest candidate; of real records, of the easiest that is not picked."""
    if reading == REAL:
        return max(of_records(**at)[1][1:], key=lambda one: one.value)
    return rarity_curve(rare) if reading == ATTACKED else rf.Number(roots_of(**at)[1], route=random(**at))


def by_games(reading: str, rare: float, **at: Any) -> Replication:
    """Literal batches with the candidate that is picked and with the easiest; counts of the values."""
    if reading == REAL:
        places, result = of_records(**at)
        best = max(range(1, len(places)), key=lambda k: result[k].value)
        case = at["records"], at["references"], at["draw"]
        pair = real_gradients.scores_by_games([(*case, places[k], at["batch"], False) for k in (0, best)])
    elif reading == ATTACKED:
        pair = rarity_scores(((1 - rare) / 2, rare))
    else:
        problem = {name: at[name] for name in PROBLEM if name in at}
        result, picks = candidates(**problem)  # pyright: ignore[reportArgumentType]
        roots, pick = result[0], picks[0]
        d, batch = int(at["d"]), int(at["batch"])
        x = LAWS[str(at["law"])](np.random.default_rng(int(at["draw"])), (len(roots), d))
        pair = candidate_scores(str(at["law"]), d, x[[pick, int(np.argmax(roots))]], batch)
    return ahead(pair[1], pair[0], "another candidate less that which is picked")


def in_tolerances(which: int, **at: Any) -> rf.Number:
    """The picked (0) or the easiest (1) candidate's sqrt(m*) as a share of the latter, or in probits where that is above 1."""
    roots = roots_of(**at)
    return rf.Number(roots[which] / min(1.0, roots[1]), route=random(**at))


PROBLEM = ("C0", "law", "d", "mean", "count", "references", "draw", "problems")
_SHARED = {
    "law": rf.Choice(*LAWS, meaning="law of a gradient's coordinates"),
    "d": rf.Whole(2, inf, log=True, hunt_to=30, meaning="coordinates"),
    "batch": rf.Whole(2, inf, log=True, hunt_to=100, meaning="gradients in a batch"),
    "count": rf.Whole(2, inf, log=True, hunt_to=100, meaning="candidates"),
    "mean": rf.Real(0.0, 10.0, meaning="mean of every coordinate of the gradients, in standard deviations"),
    "references": rf.Whole(1, inf, log=True, hunt_to=50_000, meaning="reference gradients n_r"),
    "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
}
_FEW = {"law": "Gaussian", "d": 20, "batch": 20, "count": 30, "mean": 1.0, "references": 5, "draw": 0}
_MANY = {"C0": "centred"} | _FEW | {"d": 5, "batch": 5, "references": 2560, "problems": 100}
_LATTICE = {"rare": 0.1, "value": 0.1, "records": "digits", "alpha": 0.1}
_REAL = {"reading": REAL, "C0": "centred"} | _FEW | _LATTICE | {"batch": 64, "count": 5}
OPTIMAL = rf.Quote(
    'Algorithm 3 takes as input candidate "canaries", and outputs the "easiest" point to attack between the proposed candidates. To do so, '
    "Algorithm 3 estimates the Mahalanobis score of gradients using reference samples. In addition to being an optimal strategy, Algorithm 3 is the first "
    'strategy generating "in-distribution" canaries that do not hurt the accuracy of a model trained.',
    "section 5, the Mahalanobis canaries",
)

UNCENTRED_LINE = rf.Quote(
    "Compute μ̂_0 = (1/n) sum_i^n g_i and Ĉ_0 = (1/n) sum_i^n g_i g_i^T", "algorithm 3, line 7"
)
COVARIANCE = rf.Quote(
    "The attack uses [page] the estimated empirical mean μ̂_0 and covariance C_0 of gradients over some reference points. [...] "
    "First, we run Algorithm 3 to estimate the empirical mean and covariance, using n_T = 1000 reference points from training data.",
    "section 5, the covariance attack, and section 6.2",
)

PRINTED = Statement(
    name="azize-alg-3", formula=r"\hat{m}_k = (g_k - \hat\mu_0)^T \hat{C}_0^{-1} (g_k - \hat\mu_0), \quad \hat{C}_0 = \frac{1}{n} \sum_i g_i g_i^T",
    uses=("azize-thm-3.1-power",),
    says="The candidate with the largest estimated Mahalanobis score of its gradient, ||g_k - mu0||^2 in C0^-1 with C0 = (1/n) sum g g', is the "
    "easiest to attack.",
    fails=r"$\hat C_0$ is printed without centring, here and in section 3; where the paper speaks of it, in sections 5 and 6.2, it is the covariance, and with that and many references it stands. Not centred it holds the mean gradient too: what of a candidate's score lies along the mean is left out, unless the mean is small. That is a single direction of d, which seldom matters in many dimensions: of 2,000 random sets of 5 Gaussian candidates in 20 dimensions (mean 1 in each coordinate, batches of 20, $\hat C_0$ known exactly) it picks the easiest in 90%; it loses at most 0.09 probits in 99%, and 0.16 in the worst of these sets (up to 0.4 in others). The example is selected: of 2,000 sets of 30 (batches of 10) 18% are picked wrongly, the mean loss is 0.01, and 0.7% lose as much as the example (0.17). With fewer references than coordinates $\hat C_0$ has no inverse. If easiest means for the optimal attack, the larger $m^*$ need not be the easier where gradients lie on rationally independent values, however $\hat C_0$ is estimated. At real records, with $\hat C_0$ centred and regularised as Ledoit and Wolf do, which the paper does not print, the pick is the easiest of five on diabetes (150 references, 51 parameters) and not on digits (300 references, 650 parameters): there too few references are the likely reason, not the missing centring.",
    instead="centred, references far beyond d",
    kind=rf.Ordering(unit="probit", floor=0.01),
    domain={
        "reading": rf.Choice(EASIEST, ATTACKED, REAL),
        "records": rf.Choice(*real_gradients.RECORDS, meaning="real records: digits, a linear network (650 parameters); diabetes, the last of two layers (51)"),
        "alpha": rf.Real(0.05, 0.5, meaning="FPR at which strengths on real gradients are compared"),
        "C0": rf.Choice("uncentred", EXACT, "centred", meaning="how the covariance of the reference gradients is estimated"),
        "rare": rf.Real(0.02, 0.9, meaning="probability of the third value of the gradients"),
        "value": rf.Real(-0.65, 0.65, meaning="the third value of the gradients, over sqrt 2, the others are -1 and 1"),
    }
    | _SHARED,
    # Gradients on -1, 1 and value sqrt(2), which has no rational relation to them, so that a sum tells how many rows hold each; the candidate
    # of all -1 has a larger m* than that of the other value.
    where=lambda reading, rare, value, references, batch, count: value != 0
    and (1 + rare * value * 2**0.5) > abs(value * 2**0.5 * (1 - rare))
    # Real records: as many references as both data sets can give, laws that are known closely, a few candidates.
    and (reading != REAL or (20 <= references <= 300 and 32 <= batch <= 256 and count <= 6)),
    claimed=picked,
    truth=easiest,
    points=[
        rf.Point({"reading": EASIEST, "C0": EXACT} | _FEW | _LATTICE | {"batch": 10, "draw": 10}, setting="lead"),
        {"reading": EASIEST, "C0": EXACT} | _FEW | _LATTICE | {"d": 2, "mean": 3.0, "batch": 4, "draw": 1},
        {"reading": ATTACKED, "C0": EXACT} | _FEW | _LATTICE,
        *({"reading": EASIEST, "C0": "uncentred"} | _FEW | _LATTICE | {"law": law, "draw": draw} for law in LAWS for draw in (0, 1)),
        {"reading": EASIEST, "C0": "centred"} | _FEW | _LATTICE | {"references": 50_000},
        *(_REAL | {"records": "digits", "references": 300, "draw": draw} for draw in (0, 1, 2)),
        *(_REAL | {"records": "diabetes", "references": 150, "draw": draw} for draw in (0, 1)),
        # From hunts.
        _REAL | {"reading": ATTACKED, "C0": "uncentred", "rare": 0.02, "value": 0.5, "d": 2, "batch": 2, "count": 2, "mean": 0.0, "references": 1},
        _REAL | {"reading": ATTACKED, "alpha": 0.5, "C0": "uncentred", "rare": 0.02, "value": 0.5, "d": 2, "batch": 2, "count": 2, "mean": 0.0, "references": 1},
    ],
    # So many references pick the easiest.
    control=rf.Control({"reading": EASIEST, "C0": "centred"} | _FEW | _LATTICE | {"references": 50_000}),
    quote=OPTIMAL,
    not_judged={'Algorithm 3 is the first strategy generating "in-distribution" canaries that do not hurt the accuracy of a model trained': 'a claim of priority, and of the accuracy of models that the paper trained'},
    restricted_by=(
        ASSUMES,
        UNMET,
    ),
    slip=(UNCENTRED_LINE, COVARIANCE),
    second_route=by_games,
    expensive=tuple({"records": "digits", "references": 300, "draw": draw} for draw in (1, 2)),
    matters_when={
        "rare": where_in("reading", ATTACKED),
        "value": nowhere,
        **dict.fromkeys(("C0", "law", "d", "mean"), where_in("reading", EASIEST)),
        **dict.fromkeys(("count", "draw", "batch"), lambda reading: reading != ATTACKED),
        **dict.fromkeys(("records", "alpha"), where_in("reading", REAL)),
        "references": lambda reading, C0: reading == REAL or (reading == EASIEST and C0 != EXACT),
    },
)  # fmt: skip

CORRECTED = Statement(
    name="azize-alg-3-corrected",
    formula=r"\hat{m}_k = (g_k - \hat\mu_0)^T \hat{C}_0^{-1} (g_k - \hat\mu_0), \quad \hat{C}_0 = \frac{1}{n} \sum_i (g_i - \hat\mu_0) (g_i - \hat\mu_0)^T",
    says="With mu0 and the centred C0 from n_r gradients independent of the candidates, the candidate that is picked, of any number, has sqrt(m*) within o(1) of the largest, in probability, as "
    "n_r/d -> infinity, if " + BOUNDED + " and m* is bounded; and in the limit of many rows the curve of the covariance attack on every candidate, with known moments, tends to g_sqrt(m*): "
    "the candidate of the largest m* is the easiest for that attack (azize-scalar-product-curves). (Judged for independent coordinates, n_r >= 512 d, in the mean of 100 sampled problems.)",
    # What is left at n_r = 512 d, mean over 100 sampled problems; the limit is by the derivation.
    kind=rf.Equality(0.02, unit="× min(largest sqrt(m*), 1) probit"),
    domain={"C0": rf.Fixed("centred", meaning="how the covariance of the reference gradients is estimated")}
    | _SHARED
    | {"d": rf.Whole(2, inf, log=True, hunt_to=8, meaning="coordinates"), "references": rf.Whole(1024, inf, log=True, hunt_to=8192, meaning="reference gradients n_r"), "problems": rf.Fixed(100, meaning="sampled problems over which is averaged")},
    where=lambda d, references: references >= 512 * d,
    claimed=lambda **at: in_tolerances(0, **at),
    truth=lambda **at: in_tolerances(1, **at),
    points=[_MANY | {"law": law} for law in LAWS],
    control=rf.Control(_MANY),
    quote=OPTIMAL,
    restricted_by=PRINTED.restricted_by,
    corrects="azize-alg-3",
    uses=("azize-scalar-product-curves", "azize-alg-4-corrected"),
    derivation=(
        "Write x = Sigma^-1/2 (g - mu), delta_k for that of candidate k, |delta_k|^2 = b m_k, S = Sigma^-1/2 C0 Sigma^-1/2, e for the mean of the references' x, |e|^2 = O(d/n_r) in probability. (1) The "
        "estimated score is (delta_k - e)' S^-1 (delta_k - e). By Oliveira's theorem on the lower tail of random quadratic forms (2016, Probability Theory and Related Fields 166; arXiv 1312.2903) bounded fourth moments of "
        "all directions give S >= 1 - o(1) in all directions at once, so every candidate's estimate is at most (1 + o(1)) (|delta_k| + |e|)^2, whatever their number. (2) For the best candidate, which "
        "does not depend on the references, a' S^-1 a >= (a'w)^2/(w'Sw) (Cauchy and Schwarz) with a = delta - e, w = delta, and delta' S delta <= (1/n_r) sum (x'delta)^2 = (1 + o(1)) |delta|^2 (its variance is at "
        "most h^2 |delta|^4/n_r), so its estimate is at least (1 - o(1)) (|delta| - |e|)^2. (3) The pick has an estimate at least that of the best, so |delta_pick| + |e| >= "
        "(1 - o(1)) (|delta_best| - |e|); divide by sqrt(b): |e|^2/b -> 0 and m* is bounded. (4) Power: azize-alg-4-corrected (2) and (3). Uncentred, "
        "C0 tends to Sigma + mu mu', whose inverse gives a - c^2/(1 + s), a = |delta|^2, c = mu' Sigma^-1 (g - mu), s = mu' Sigma^-1 mu: a candidate along the mean gradient is scored "
        "a/(1 + s). Nor is m* the difficulty under the exact ratio where gradients lie on rationally independent values: there the rarer value is the easier."
    ),
    needs={"n_r/d -> infinity": {"added": {"d": 8, "references": 1024}}},
    matters_when=dict.fromkeys(("mean", "rare", "value", "records", "alpha"), nowhere),
)  # fmt: skip

STATEMENTS = (PRINTED, CORRECTED)
"""As printed, and with a centred C0 and many references."""
