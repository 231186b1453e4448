"""Algorithm 3: is the candidate with the largest estimated Mahalanobis score the easiest?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import logit, ndtr, ndtri

from mipsim.exact.z_estimators import logit_piece
from verify.azize.gradients import BOUNDED, DOMAIN, LAWS, SMALL, D, mixing, quantile_interval, score_matrix
from verify.azize.linear import NormalCurve, law_third, linear_curve, normal_gap, sum_curve, sum_law
from verify.azize.scalar_product import LARGE
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_tolerance, judge_bound, judge_equality, judge_limit

EASIEST = "easiest = largest true m*"
ATTACKED = "easiest = largest power of the optimal attack"
CANDIDATES, SETS = 30, 2000
MOST = 512


def picked_losses(
    law: str,
    size: int,
    centred: bool,
    ridge: float,
    problems: int,
    rng: np.random.Generator,
    factor: float = 1.0,
    d: int = D,
) -> np.ndarray:
    """Factor sqrt(m*) of the easiest of 30 in-distribution candidates less that of the one algorithm 3 picks, n = d; shape (problems,)."""
    root, found = mixing(d), []
    for start in range(0, problems, 50):
        count = min(50, problems - start)
        x = LAWS[law](rng, (count, CANDIDATES, d))
        mean, inverse = score_matrix(LAWS[law](rng, (count, size, d)) @ root.T + 1.0, centred, ridge)
        difference = x @ root.T + 1.0 - mean[:, None, :]
        picked = np.argmax(
            np.einsum("rki,rij,rkj->rk", difference, inverse, difference, optimize=True), axis=1
        )
        mu = np.sqrt(np.sum(x**2, axis=2) / d)
        found.append(factor * mu.max(axis=1) - mu[np.arange(count), picked])
    return np.concatenate(found)


def few_regime(law: str, problems: int = 2000) -> Regime:
    """d/4 references, C0 uncentred with a ridge: the median loss over drawn problems, by order statistics."""
    parameters: dict[str, object] = {
        "gradients": law, "d": D, "batch": D, "reference gradients": D // 4, "C0": "uncentred", "regularisation": 1e-3, "problems": problems,
    }  # fmt: skip

    def judge(budget: Budget) -> RegimeResult:
        loss = picked_losses(law, D // 4, False, 1e-3, problems, np.random.default_rng(budget.seed))
        value, low, high = quantile_interval(loss, 0.5, budget.failure_probability)
        result = judge_bound(
            Size(value, value), parameters, error=max(value - low, high - value), reading=EASIEST, route=f"{problems:,} drawn problems, order statistics",
            detail="median over drawn problems of sqrt(m*) of the easiest candidate less that of the one picked.",
            second_route=partial(_one_by_games, law, D // 4),
        )  # fmt: skip
        return replace(result, seed=budget.seed)

    return Regime(f"{law}, d/4 references", parameters, judge, EASIEST)


def many_regime(law: str, factor: float = 1.0) -> Regime:
    """Centred C0: the loss that 9 of 10 problems stay below, by order statistics, at n_r / d = 512; `factor` scales the best m*."""
    parameters: dict[str, object] = {
        "gradients": law,
        "d": SMALL,
        "batch": SMALL,
        "C0": "centred",
        "candidates": CANDIDATES,
        "problems": SETS,
    }

    def judge(budget: Budget) -> RegimeResult:
        rng = np.random.default_rng(budget.seed)
        loss = picked_losses(law, MOST * SMALL, True, 0.0, SETS, rng, factor, SMALL)
        value, low, high = quantile_interval(loss, 0.9, budget.failure_probability)
        result = judge_equality(
            Size(value, value), parameters, tolerance=0.02, error=max(value - low, high - value, 1e-9), reading=EASIEST,
            route=f"{SETS:,} drawn problems, order statistics",
            detail=f"loss of sqrt(m*) that 9 of 10 problems stay below, at n_r/d = {MOST}; the limit is by the derivation.",
        )  # fmt: skip
        return replace(result, seed=budget.seed)

    return Regime(f"{law}, n_r/d = {MOST}", parameters, judge, EASIEST)


def _one_by_games(law: str, size: int, games: int = 4000) -> str:
    """The worst of ten drawn problems with literal batches: the power of the covariance attack with known moments on two candidates."""
    rng = np.random.default_rng(20_250_906)
    root = mixing()
    worst: tuple[float, np.ndarray, np.ndarray] = (-1.0, np.zeros(0), np.zeros(0))
    for _ in range(10):
        x = LAWS[law](rng, (CANDIDATES, D))
        mean, inverse = score_matrix(LAWS[law](rng, (1, size, D)) @ root.T + 1.0, False, 1e-3)
        difference = x @ root.T + 1.0 - mean
        picked = int(np.argmax(np.einsum("ki,ij,kj->k", difference, inverse[0], difference)))
        mu = np.linalg.norm(x, axis=1)
        if mu.max() - mu[picked] > worst[0]:
            worst = (mu.max() - mu[picked], x[picked], x[np.argmax(mu)])
    powers = []
    for target in worst[1:]:
        # C^-1/2 cancels A: the score of A x + 1 is that of x, whose covariance is 1.
        means = [LAWS[law](rng, (games, D, D)) for _ in range(2)]
        means[1][:, 0, :] = target
        out, inside = (batch.mean(axis=1) @ target for batch in means)
        powers.append(float((inside > np.quantile(out, 0.9)).mean()))
    return (
        f"{games:,} literal batches per world for the worst of ten drawn problems: power at FPR 0.1 is {powers[0]:.3f} against the candidate that "
        f"the algorithm picks and {powers[1]:.3f} against another (+- 0.03)"
    )


def uncentred_losses(mean: np.ndarray, candidates: np.ndarray, batch: int) -> tuple[float, int]:
    """(loss of the pick in sqrt(m*), its index) with C = I and the uncentred C0 = I + mean mean' known exactly."""
    inverse = np.linalg.inv(np.eye(len(mean)) + np.outer(mean, mean))
    picked = int(np.argmax(np.einsum("ki,ij,kj->k", candidates, inverse, candidates)))
    mu = np.linalg.norm(candidates, axis=1) / np.sqrt(batch)
    return float(mu.max() - mu[picked]), picked


def uncentred_regime() -> Regime:
    """Exact moments, but C0 uncentred as printed: it shrinks every candidate along the mean gradient."""
    parameters: dict[str, object] = {
        "gradients": "mean (3, 0), covariance I", "candidates": "mean + (2, 0) and mean + (0, 1.5)", "batch": 4,
        "reference gradients": "infinitely many",
    }  # fmt: skip
    mean, candidates = np.array([3.0, 0.0]), np.array([[2.0, 0.0], [0.0, 1.5]])

    def second() -> str:
        rng = np.random.default_rng(3)
        references = rng.normal(size=(1, 100_000, 2)) + mean
        centre, inverse = score_matrix(references, False, 0.0)
        difference = candidates + mean - centre
        score = np.einsum("ki,ij,kj->k", difference, inverse[0], difference)
        batches = rng.normal(size=(2, 2, 20_000, 4, 2))
        powers = []
        for k, target in enumerate(candidates):
            batches[k, 1, :, 0] = target
            out, inside = batches[k].mean(axis=2) @ target
            powers.append(float((inside > np.quantile(out, 0.9)).mean()))
        return (
            f"100,000 drawn references give the scores {score[0]:.3f} and {score[1]:.3f}; 20,000 literal batches per world give the powers "
            f"{powers[0]:.3f} and {powers[1]:.3f} at FPR 0.1 (+- 0.02)"
        )

    def judge(_: Budget) -> RegimeResult:
        loss, picked = uncentred_losses(mean, candidates, 4)
        mu = np.linalg.norm(candidates, axis=1) / 2.0
        return judge_bound(
            loss, parameters, route="exact law (Gaussian)", reading=EASIEST, second_route=second,
            detail=f"picks candidate {picked + 1}; sqrt(m*) = {mu[0]:.2f}, {mu[1]:.2f}.",
        )  # fmt: skip

    return Regime("uncentred C0, known exactly", parameters, judge, EASIEST, random=False)


def sampled(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Random mean gradients and candidates, C0 uncentred as printed and known exactly: is the pick the easiest?"""
    return [_random_uncentred(rng) for _ in range(count)]


def _random_uncentred(rng: np.random.Generator) -> Regime:
    d, batch = int(rng.integers(2, 40)), int(rng.integers(2, 200))
    mean = rng.normal(size=d) * np.exp(rng.uniform(-3, 1))
    candidates = rng.normal(size=(int(rng.integers(2, 100)), d))
    parameters: dict[str, object] = {
        "d": d,
        "batch": batch,
        "candidates": len(candidates),
        "|mean|": round(float(np.linalg.norm(mean)), 4),
    }

    def judge(_: Budget) -> RegimeResult:
        loss, _picked = uncentred_losses(mean, candidates, batch)
        return judge_bound(loss, parameters, route="exact law (Gaussian)", reading=EASIEST)

    return Regime("a random problem", parameters, judge, EASIEST, random=False)


LATTICE_SIZES = tuple(10**6 * 2**k for k in range(9))


def lattice_regime() -> Regime:
    """Gradients on three rationally independent values: the rarest is the easiest, however near the mean it lies."""
    atoms, weights = np.array([-1.0, 1.0, np.sqrt(2.0) / 10]), np.array([0.45, 0.45, 0.1])
    mean = float(atoms @ weights)
    variance = float(weights @ (atoms - mean) ** 2)
    tau = 0.5
    parameters: dict[str, object] = {
        "gradients": "values -1, 1, sqrt(2)/10 with probabilities .45, .45, .1", "candidates": "all -1; all sqrt(2)/10", "d/n": tau,
        "m*": [round(float(tau * (a - mean) ** 2 / variance), 3) for a in atoms[[0, 2]]],
    }  # fmt: skip

    def curve(p: float, n: int) -> NormalCurve:
        # The sum tells how many rows hold each value, and that number's ratio is that of two binomial laws.
        out, inside = logit_piece(float(logit(p)), True).ratio_worlds(n)
        return sum_curve(*(sum_law([(1.0, tau * n, world)]) for world in (out, inside)))

    def at(n: int) -> Size:
        # The candidate that is picked (all -1) promises to be no harder than the other one.
        picked, other = (curve(float(p), n) for p in weights[[0, 2]])
        x = np.array([0.0, 1.5])  # FPRs from 0.07 to 0.5
        gap = (x - picked.mu) / picked.scale - (x - other.mu) / other.scale
        errors = [
            max(float(np.abs(ndtri(side) - (x - c.mu) / c.scale).max()) for side in c.beta_bracket(ndtr(-x)))
            for c in (picked, other)
        ]
        return Size(float(gap.min()), float(gap.max()), error=sum(errors))

    def second() -> str:
        rng, games, n = np.random.default_rng(4), 4000, 100
        powers = []
        for p in weights[[0, 2]]:
            counts = [rng.binomial(n - member, p, (games, n // 2)) + member for member in (0, 1)]
            out, inside = (np.log(np.maximum(c, 0.5)).sum(axis=1) for c in counts)
            powers.append(float((inside > np.quantile(out, 0.9)).mean()))
        return f"4,000 games per world with the counts of the values (n = 100, d = 50): power at FPR 0.1 is {powers[0]:.3f} and {powers[1]:.3f} (+- 0.03)"

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, 0.02, parameters, sizes=LATTICE_SIZES, second_route=second, reading=ATTACKED, bound=True
        )

    return Regime("lattice gradients, known moments", parameters, judge, ATTACKED, random=False)


ORDER_LAWS = {
    "gaussian": (1.0, 1.0),
    "exponential": (1.0, 1.0),
    "laplace": (1.0, 2**0.5),
    "student": (4.5, (4.5 / 2.5) ** 0.5),
}
"""Law -> (parameter, sd); the target lies t sd from the mean in every coordinate."""


def power_regime(law: str, t: float, factor: float = 1.0) -> Regime:
    """The covariance attack on a candidate t sd away in each of d = 2 n coordinates against g_sqrt(m*), which grows with m*."""
    parameters: dict[str, object] = {
        "gradients": law,
        "candidate": f"mean {t:+g} sd",
        "d/n": 2.0,
        "m*": 2.0 * t**2,
    }

    def at(n: int) -> Size:
        one = np.ones(1)
        third = law_third([(law, ORDER_LAWS[law][0])])
        curve = linear_curve(t * one, t * one, third, 2.0 * n * one, n)
        return normal_gap(curve, factor * abs(t) * 2**0.5, 1e-3)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at,
            curve_tolerance(abs(t) * 2**0.5),
            parameters,
            sizes=LARGE,
            reading=EASIEST,
            route="normal law with its proven error",
        )

    return Regime(f"{law}: candidate at {t:+g} sd", parameters, judge, EASIEST, random=False)


def sampled_power(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """A random law and a random candidate, from .2 to 1.5 sd on either side of the mean in every coordinate."""
    return [
        power_regime(
            str(rng.choice(sorted(ORDER_LAWS))),
            round(float(rng.uniform(0.2, 1.5) * rng.choice([-1.0, 1.0])), 4),
        )
        for _ in range(count)
    ]


OPTIMAL = Quote(
    'Algorithm 3 takes as input candidate "canaries", and outputs the "easiest" point to attack between the proposed candidates. To do so, '
    "Algorithm 3 estimates the Mahalanobis score of gradients using reference samples. In addition to being an optimal strategy, Algorithm 3 is the first "
    'strategy generating "in-distribution" canaries that do not hurt the accuracy of a model trained.',
    "section 5, the Mahalanobis canaries",
)
CLAIMS = (
    Claim(
        "azize-alg-3",
        "azize",
        "The candidate with the largest estimated Mahalanobis score of its gradient, ||g_k - mu0||^2 in C0^-1 with C0 = (1/n) sum g g', is the "
        "easiest to attack.",
        Kind.ORDERING, 0.0, "probit", DOMAIN,
        (
            uncentred_regime(),
            lattice_regime(),
            *(few_regime(law) for law in LAWS),
            many_regime("Gaussian"),
        ),
        Control(partial(many_regime, "Gaussian"), 0.05),
        corrected_by="azize-alg-3-corrected",
        quote=OPTIMAL,
        restricted_by=(
            Quote(
                "For this setting, the assumptions from our analysis are not satisfied. Specifically, the gradient loss distribution, which is the data-generating distribution "
                "in this setting, does not satisfy two assumptions from Section 3: finite 4-th moment and independence of the components.",
                "appendix E.2, relation to the theoretical assumptions",
            ),
        ),
        sampled=sampled,
    ),
    Claim(
        "azize-alg-3-corrected",
        "azize",
        "With mu0 and the centred C0 from n_r gradients independent of the candidates, the candidate that is picked, of any number, has sqrt(m*) within o(1) of the largest, in probability, as "
        "n_r/d -> infinity, if " + BOUNDED + " and m* is bounded; and in the limit of many rows the power of the covariance attack with known moments on a candidate is "
        "Phi(Phi^-1(alpha) + sqrt(m*)) at every FPR: the candidate of largest m* is the easiest for that attack.",
        Kind.ORDERING, 0.02, "probit",
        DOMAIN | {
            "gradients": OneOf(tuple(LAWS), BOUNDED),
            "C0": OneOf(("centred",)),
            "references": Between(2, float("inf"), "n_r/d to infinity, judged to 512"),
            "steps": OneOf(("one",)),
        },
        (
            *(many_regime(law) for law in LAWS),
            *(power_regime(law, t) for law in ORDER_LAWS for t in (0.75, -0.6)),
        ),
        Control(partial(power_regime, "gaussian", 0.75)),
        corrects="azize-alg-3",
        sampled=sampled_power,
        quote=OPTIMAL,
        same_formula=True,
        derivation=(
            "Write x = C^-1/2 (g - mu), delta_k for that of candidate k, |delta_k|^2 = b m_k, S = C^-1/2 C0 C^-1/2, e for the mean of the references' x, |e|^2 = O(d/n_r) in probability. (1) The "
            "estimated score is (delta_k - e)' S^-1 (delta_k - e). By Oliveira's theorem on the lower tail of random quadratic forms (2016, Probability Theory and Related Fields 166; arXiv 1312.2903) bounded fourth moments of "
            "all directions give S >= 1 - o(1) in all directions at once, so every candidate's estimate is at most (1 + o(1)) (|delta_k| + |e|)^2, whatever their number. (2) For the best candidate, which "
            "does not depend on the references, a' S^-1 a >= (a'w)^2/(w'Sw) (Cauchy and Schwarz) with a = delta - e, w = delta, and delta' S delta <= (1/n_r) sum (x'delta)^2 = (1 + o(1)) |delta|^2 (its variance is at "
            "most h^2 |delta|^4/n_r), so its estimate is at least (1 - o(1)) (|delta| - |e|)^2. (3) The pick has an estimate at least that of the best, so |delta_pick| + |e| >= "
            "(1 - o(1)) (|delta_best| - |e|); divide by sqrt(b): |e|^2/b -> 0 and m* is bounded. (4) Power: azize-alg-4-corrected (2) and (3). Uncentred, "
            "C0 tends to C + mu mu', whose inverse gives a - c^2/(1 + s), a = |delta|^2, c = mu' C^-1 (g - mu), s = mu' C^-1 mu: a candidate along the mean gradient is scored "
            "a/(1 + s). Nor is m* the difficulty under the exact ratio where gradients lie on rationally independent values: there the rarer value is the easier."
        ),
    ),
)  # fmt: skip
"""As printed, and with a centred C0 and many references."""
