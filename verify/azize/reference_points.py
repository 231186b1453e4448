"""Moments estimated from reference points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from scipy import stats

from mipsim.exact.enumeration import roc_vertices
from mipsim.theory import azize
from sims.azize_paper import REGULARISATION, reference_data
from verify.azize.linear import ESSEEN, NormalCurve, NormalLaw, linear_curve, normal_gap, sum_curve
from verify.azize.mean import PAPER_POINT
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_tolerance, judge_bound, judge_equality, judge_limit

NEGLIGIBLE = 0.1
"""Probit units: the loss that counts as negligible, declared before any computation; the paper gives no number."""

FEW = 100
"""Reference points: "small" may mean this many, a tenth of n; the values of figure 6 are not in the text."""

LEAST_RATE = 0.02
"""FPR and FNR that are judged at the paper's own size, where the proven error of the normal law is 3e-4."""

MIDDLE = 0.05
"""The same for sets redrawn in every game, whose score sums only 5000 terms."""

ROUTE = "exact moments, normal law with its proven error"
SEED = 20_251_102
ESTIMATORS = {
    "centred": "one reference set, centred variances, regularised by .01",
    "ridge": "one reference set, centred variances, regularised by 1/4",
    "uncentred": "one reference set, variances uncentred as printed, regularised by .01",
    "matrix": "one reference set, the whole uncentred matrix as printed, regularised by .01",
    "redrawn": "a new reference set in every game, centred variances, regularised by .01",
}


@cache
def paper_weights(estimator: str, n0: int) -> np.ndarray:
    """W = C0^-1 (z - mu0) at the paper's point, from one drawn reference set, shape (5000,)."""
    data = reference_data()
    rng = np.random.default_rng([SEED, n0])
    records = (rng.random((n0, data.dimension)) < data.p).astype(float)
    mean = records.mean(axis=0)
    difference = data.easiest_target() - mean
    if estimator == "matrix":
        # (r I + Z'Z/n0)^-1 x = (x - Z' (n0 r I + Z Z')^-1 Z x) / r
        small = records @ records.T + n0 * REGULARISATION * np.eye(n0)
        return (difference - records.T @ np.linalg.solve(small, records @ difference)) / REGULARISATION
    return difference / _variance(estimator, mean)


def _variance(estimator: str, mean: np.ndarray) -> np.ndarray:
    if estimator == "uncentred":
        return mean + REGULARISATION  # Z^2 = Z
    return mean * (1 - mean) + (0.25 if estimator == "ridge" else REGULARISATION)


def bernoulli_curve(weights: np.ndarray, p: np.ndarray, z: np.ndarray, n: int) -> NormalCurve:
    """The curve of w'muhat for Bernoulli(p) data, with its proven bracket."""
    sd = np.sqrt(p * (1 - p))
    return linear_curve(weights * sd, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, np.ones(len(p)), n)


def loss_regime(estimator: str, n0: int, factor: float = 1.0) -> Regime:
    """The curve with estimated moments against that of known ones, factor sqrt(m*): what the estimates lose."""
    parameters = PAPER_POINT | {"n0": n0, "target": "easiest"}
    few = estimator == "centred" and n0 >= FEW
    reading = f"{ESTIMATORS[estimator]}; a small n0 is {f'{FEW} or more' if few else '1 or more'}"

    def judge(_: Budget) -> RegimeResult:
        data = reference_data()
        z, n = data.easiest_target(), 1000
        curve = bernoulli_curve(paper_weights(estimator, n0), data.p, z, n)
        root = azize.leakage_score(data, z, n) ** 0.5
        size = normal_gap(curve, factor * root, LEAST_RATE)
        return judge_equality(
            size, parameters, tolerance=NEGLIGIBLE, reading=reading, route=ROUTE,
            detail=f"mu = {curve.mu:.4f} against sqrt(m*) = {root:.4f}, FPR and FNR from {LEAST_RATE:g}.",
            second_route=lambda: _by_games(paper_weights(estimator, n0), float(azize.power(0.1, root**2))),
        )  # fmt: skip

    return Regime(f"{estimator}, n0 = {n0}", parameters, judge, reading, random=False)


def _by_games(weights: np.ndarray, claimed: float, games: int = 600) -> str:
    """Literal sums of Bernoulli records by NumPy: the power at FPR 0.1."""
    data, rng = reference_data(), np.random.default_rng(SEED)
    scores = []
    for member in (0, 1):
        score = np.zeros(games)
        for block in np.array_split(np.arange(data.dimension), 10):
            sums = rng.binomial(1000 - member, data.p[block], (games, len(block)))
            score += sums @ weights[block]
        scores.append(score + member * float(weights @ data.easiest_target()))
    power = float((scores[1] > np.quantile(scores[0], 0.9)).mean())
    return f"{games:,} games per world with NumPy's binomial sums: power at FPR 0.1 is {power:.3f} (+- 0.06), with known moments {claimed:.3f}"


def redrawn_curve(p: np.ndarray, z: np.ndarray, n0: int, n: int) -> NormalCurve:
    """The curve of the score with a new reference set in every game, for Bernoulli(p) data, with its proven bracket.

    A coordinate's term is w e + g with e = muhat - p, and w = (z - m)/v(m), g = w (p - m) - w (z - m)/(2n) functions of the
    mean m of its n0 reference values, independent of e: the moments are sums over the n0 + 1 values of m. Third moments are
    bounded by (fourth moments)^(3/4).
    """
    sums = np.arange(n0 + 1)
    mass = stats.binom.pmf(sums, n0, p[:, None])
    mean = sums / n0
    w = (z[:, None] - mean) / _variance("redrawn", mean)
    g = w * (p[:, None] - mean) - w * (z[:, None] - mean) / (2 * n)

    def average(x: np.ndarray) -> np.ndarray:
        return (mass * x).sum(axis=1)

    laws = []
    for member in (0, 1):
        rows, pq = n - member, p * (1 - p)
        shift = member * (z - p) / n
        variance = rows * pq / n**2
        cubed, fourth = rows * pq * (1 - 2 * p) / n**3, rows * pq * (1 + 3 * (rows - 2) * pq) / n**4
        fixed = w * shift[:, None] + g
        centre = average(fixed)
        h = fixed - centre[:, None]
        spread = average(w**2) * variance + average(h**2)
        most = (
            average(w**4) * fourth
            + 4 * average(w**3 * h) * cubed
            + 6 * average(w**2 * h**2) * variance
            + average(h**4)
        )
        error = ESSEEN * float((most**0.75).sum()) / float(spread.sum()) ** 1.5
        laws.append(NormalLaw(float(centre.sum()), float(spread.sum()), error))
    return sum_curve(*laws)


def redrawn_regime(n0: int) -> Regime:
    """A new reference set in every game, at the paper's point."""
    parameters = PAPER_POINT | {"n0": n0, "target": "easiest"}
    reading = f"{ESTIMATORS['redrawn']}; a small n0 is 1 or more"

    def second(games: int = 300) -> str:
        data, rng = reference_data(), np.random.default_rng(SEED + 1)
        z = data.easiest_target()
        scores = []
        for member in (0, 1):
            mean = rng.binomial(n0, data.p, (games, data.dimension)) / n0
            muhat = (rng.binomial(1000 - member, data.p, (games, data.dimension)) + member * z) / 1000
            weight = (z - mean) / _variance("redrawn", mean)
            scores.append((weight * (muhat - mean) - weight * (z - mean) / 2000).sum(axis=1))
        power = float((scores[1] > np.quantile(scores[0], 0.9)).mean())
        m = azize.leakage_score(data, z, 1000)
        return (
            f"{games} games per world (NumPy): power at FPR 0.1 is {power:.3f} (+- 0.09), with known moments {float(azize.power(0.1, m)):.3f}; "
            f"by linear theory mu is at most sqrt(m*/(1 + n/n0)) = {np.sqrt(m / (1 + 1000 / n0)):.2f} and not {np.sqrt(m):.2f}"
        )

    def judge(_: Budget) -> RegimeResult:
        data = reference_data()
        curve = redrawn_curve(data.p, data.easiest_target(), n0, 1000)
        root = azize.leakage_score(data, data.easiest_target(), 1000) ** 0.5
        return judge_equality(
            normal_gap(curve, root, MIDDLE), parameters, tolerance=NEGLIGIBLE, reading=reading, route=ROUTE, second_route=second,
            detail=f"mu = {curve.mu:.4f} against sqrt(m*) = {root:.4f}, FPR and FNR from {MIDDLE:g}.",
        )  # fmt: skip

    return Regime(f"redrawn, n0 = {n0}", parameters, judge, reading, random=False)


GROUPS_P = (0.3, 0.4, 0.55, 0.7)


def equality_regime(estimator: str, n0: int, factor: float = 1.0) -> Regime:
    """The curve with one fixed reference set at the paper's point against g of factor times its own mu."""
    parameters = PAPER_POINT | {"C0": ESTIMATORS[estimator], "n0": n0, "target": "easiest"}

    def judge(_: Budget) -> RegimeResult:
        data = reference_data()
        curve = bernoulli_curve(paper_weights(estimator, n0), data.p, data.easiest_target(), 1000)
        size = normal_gap(curve, factor * curve.mu, LEAST_RATE)
        return judge_equality(
            size,
            parameters | {"mu": round(curve.mu, 4)},
            mu=curve.mu,
            route=ROUTE,
        )

    return Regime(f"{estimator}, n0 = {n0}", parameters, judge, random=False, setting="paper")


LIMIT_SIZES = tuple(10**6 * 4**k for k in range(8))


def growing_curve(estimator: str, n0: int, n: int) -> NormalCurve:
    """D = 5 n, p = .3, .4, .55, .7, and a reference set in which every sum of a coordinate's n0 values has its expected frequency."""
    p = np.repeat(GROUPS_P, n0 + 1)
    sums = np.tile(np.arange(n0 + 1), len(GROUPS_P))
    z, mean, sd = (p <= 0.5).astype(float), sums / n0, np.sqrt(p * (1 - p))
    weight = (z - mean) / _variance(estimator, mean) * sd
    count = 5 * n / len(GROUPS_P) * stats.binom.pmf(sums, n0, p)
    return linear_curve(weight, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, count, n)


def limit_regime(estimator: str, n0: int, factor: float = 1.0) -> Regime:
    """The same as n grows and d = 5 n."""
    parameters: dict[str, object] = {
        "d/n": 5,
        "data": f"Bernoulli{GROUPS_P}",
        "C0": ESTIMATORS[estimator],
        "n0": n0,
    }

    def at(n: int) -> Size:
        curve = growing_curve(estimator, n0, n)
        return normal_gap(curve, factor * curve.mu, LEAST_RATE)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, curve_tolerance(growing_curve(estimator, n0, LIMIT_SIZES[-1]).mu), parameters, sizes=LIMIT_SIZES,
            route=ROUTE,
        )  # fmt: skip

    return Regime(f"{estimator}, n0 = {n0}, n to infinity", parameters, judge, random=False)


def sampled(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Small random games, enumerated: the exact curve lies inside the bracket that the correction states."""
    return [_drawn(rng) for _ in range(count)]


def _drawn(rng: np.random.Generator) -> Regime:
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 4))
    p, z, weights = rng.uniform(0.05, 0.95, d), rng.integers(0, 2, d).astype(float), rng.normal(size=d)
    parameters: dict[str, object] = {
        "n": n,
        "p": p.round(4).tolist(),
        "target": z.tolist(),
        "w": weights.round(4).tolist(),
    }

    def judge(_: Budget) -> RegimeResult:
        score, out, inside = np.zeros(1), np.ones(1), np.ones(1)
        for q, v, w in zip(p, z, weights, strict=True):
            sums = np.arange(n + 1)
            score = np.add.outer(score, w * sums).ravel()
            out = np.outer(out, stats.binom.pmf(sums, n, q)).ravel()
            inside = np.outer(inside, stats.binom.pmf(sums - v, n - 1, q)).ravel()
        alpha, power = roc_vertices(score.round(10), out, inside)
        low, high = bernoulli_curve(weights, p, z, n).beta_bracket(np.clip(alpha, 0.0, 1.0))
        return judge_bound(
            float(np.maximum(low - (1 - power), (1 - power) - high).max()),
            parameters,
            unit="FNR",
            route="enumeration",
        )

    return Regime("a random game", parameters, judge, random=False)


DOMAIN = {
    "n0": Between(1, float("inf"), "judged at 1 to 1000"),
    "reference set": OneOf(("fixed over games", "redrawn in every game"), "not said"),
    "C0": OneOf(
        tuple(ESTIMATORS.values()),
        "printed uncentred; the regularisation, without which it is singular, is not said",
    ),
    "target": OneOf(("easiest",), "Figure 6"),
}
FIGURE_6 = Quote(
    "Figure 6 shows that the power of the test decreases as n_0 gets smaller. However, this decrease is negligible even in the small n_0 regime.",
    "appendix E.1, analysis of results 4",
)
CLAIMS = (
    Claim(
        "azize-reference-points",
        "azize",
        "With mu0 and C0 = (1/n0) sum Z Z' estimated from n0 reference points the covariance attack loses power, negligibly even "
        "for small n0.",
        Kind.CURVE, NEGLIGIBLE, "probit", DOMAIN,
        (
            *(loss_regime("centred", k) for k in (1, 2, 5, 10, 100, 200, 1000)),
            *(loss_regime("ridge", k) for k in (5, 10, 100)),
            *(loss_regime("uncentred", k) for k in (10, 100, 1000)),
            *(loss_regime("matrix", k) for k in (10, 100, 1000)),
            *(redrawn_regime(k) for k in (100, 1000)),
        ),
        Control(partial(loss_regime, "centred", 1000), 0.05),
        corrected_by="azize-reference-points-corrected",
        quote=FIGURE_6,
        restricted_by=(
            Quote(
                "In Figure 6, we plot the power of the empirical covariance attack on the easy target, for different number of reference points n_0.",
                "appendix E.1, analysis of results 4",
            ),
            Quote(
                "The decrease in the power of the covariance attack compared to the LR attack depends on the accuracy of the estimators",
                "section 3, empirical LR attack",
            ),
        ),
    ),
    Claim(
        "azize-reference-points-corrected",
        "azize",
        "For independent coordinates with finite third moments, one reference set, fixed over the games, and any weights w = w(mu0, C0, z*), Cw not 0, the covariance attack has at every n >= 2 a curve within "
        "D_0, D_1 (Berry and Esseen) of beta(alpha) = Phi((Phi^-1(1 - alpha) - mu) sqrt(n/(n - 1))), mu = w'(z* - mu_D)/sqrt(n w'Cw): the normal curve read at "
        "1 - alpha -+ D_0, -+ D_1, with D_i = 0.56 sum_j |w_j|^3 E|Z_j - mu_j|^3 / ((w'Cw)^(3/2) sqrt(n - i)). It tends to g_mu where n grows and D_i -> 0, and mu <= sqrt(m*), with equality only "
        "for w proportional to C^-1 (z* - mu_D): the estimates keep the share cos(angle of w and C^-1 (z* - mu_D) in C) of sqrt(m*).",
        Kind.CURVE, 0.02, "probit",
        {
            "reference set": OneOf(("fixed over games",)),
            "C0": OneOf(tuple(ESTIMATORS.values())[:4], "any weights"),
            "n": Between(2, float("inf")), "d": Between(1, float("inf")),
            "data": OneOf(("Bernoulli(p), p ~ U[.25, .75]^d", "Bernoulli(p), p in [.05, .95]"), "product laws with finite third moments"),
            "target": OneOf(("easiest", "random"), "every z*"),
        },
        (
            # At n0 = 5 and 10 the weights are so uneven that the proven error at n = 1000 exceeds the tolerance: judged in the limit.
            *(equality_regime("centred", k) for k in (1, 2, 100, 1000)),
            *(equality_regime("ridge", k) for k in (5, 10)),
            equality_regime("uncentred", 1000),
            *(equality_regime("matrix", k) for k in (10, 1000)),
            *(limit_regime(estimator, k) for estimator in ("centred", "uncentred") for k in (5, 10, 1000)),
        ),
        Control(partial(equality_regime, "centred", 100)),
        corrects="azize-reference-points",
        quote=FIGURE_6,
        derivation=(
            "(1) Given the reference set the score is w'muhat plus a constant that is the same in both worlds. n w'(muhat - mu_D) is a sum of n d independent "
            "terms w_j (Z_ij - mu_j) of variance n v, v = w'Cw, under H0; under H1 one row is the constant w'(z* - mu_D) and n - 1 rows remain. "
            "(2) Berry and Esseen for independent terms with third moments, with the constant 0.56 of Shevtsova (2010): the distribution functions are within D_0 "
            "and D_1 of normal ones. (3) A test of FPR alpha that decides ties by lot has a threshold x (in sd) with P(S < x) <= 1 - alpha <= P(S <= x), so "
            "Phi(x) is within D_0 of 1 - alpha, and its FNR, between P_in(S < x) and P_in(S <= x), is within D_1 of Phi((x - mu) sqrt(n/(n - 1))). "
            "(4) As n grows n/(n - 1) -> 1, so it tends to g_mu where D_i -> 0; where d alone grows it does not, the root stays. (5) Cauchy and Schwarz in the inner product of C: mu <= sqrt((1/n)||z* - mu_D||^2_{C^-1}) = sqrt(m*), "
            "with equality only for w proportional to C^-1 (z* - mu_D). A test of the other side has -mu. A set that is redrawn in every game is not covered: "
            "there the term w'mu0 varies from game to game."
        ),
        sampled=sampled,
    ),
)  # fmt: skip
"""Negligible or not, and what the loss is."""
