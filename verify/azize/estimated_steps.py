"""Algorithm 4 with estimated moments, and summed over an epoch, against the scalar product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import ndtr, ndtri

from verify.azize.gradients import (
    BOUNDED,
    DOMAIN,
    LAWS,
    SMALL,
    D,
    effective,
    mean_share,
    mixing,
    quantile_interval,
    score_matrix,
)
from verify.azize.steps import KNOWN, PROVABLY, WELL, known_regime, ordering_regime, study_mus
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.limits import Size, curve_tolerance, judge_bound, judge_equality, judge_limit

ESTIMATED = "estimates that grow exact: centred C0, n_r/d to infinity; one step"
UNCENTRED = "C0 = (1/n_r) sum g g' as printed, known exactly"
FEW = "any estimates, n_r < d as in section 6.2 included"
EPOCH = "the sum over an epoch, the target in one of its batches"


def uncentred_mus() -> tuple[float, float]:
    """C0 = C + mu mu' known exactly, C = I, mu = (3, 0), g* = mu + (3, 1), 10 rows."""
    mean, direction = np.array([3.0, 0.0]), np.array([3.0, 1.0])
    weights = np.stack([np.linalg.solve(np.eye(2) + np.outer(mean, mean), direction), mean + direction])
    found = effective(weights, direction, np.eye(2), 10)
    return float(found[0]), float(found[1])


def _uncentred_by_games(games: int = 20_000) -> str:
    rng, mean = np.random.default_rng(8), np.array([3.0, 0.0])
    direction = np.array([3.0, 1.0])
    batches = rng.normal(size=(2, games, 10, 2)) + mean
    batches[1, :, 0] = mean + direction
    step = batches.mean(axis=2)
    weights = np.stack([np.linalg.solve(np.eye(2) + np.outer(mean, mean), direction), mean + direction])
    power = [float((step[1] @ w > np.quantile(step[0] @ w, 0.9)).mean()) for w in weights]
    return f"{games:,} literal batches per world (NumPy): power at FPR 0.1 is {power[0]:.3f} (covariance) and {power[1]:.3f} (scalar product), +- 0.015"


EPOCH_ROWS, EPOCH_SPREAD = 64, np.array([1.0, 1.0 / 9.0])
EPOCH_TARGETS = np.array([[8.0, 0.0], [0.0, 8.0]])


def epoch_powers(scalar: bool, alpha: float = 0.5) -> float:
    """Exact power of the sum of two steps' scores, known moments: mean 0, C = diag(1, 1/9), g*_1 = (8, 0), g*_2 = (0, 8).

    The target is in one of the two batches of 64, either as likely: with it there the sum is a mixture of two normal laws.

    Examples:
        >>> print(round(epoch_powers(False), 3), round(epoch_powers(True), 3))
        0.811 0.83
    """
    weights = EPOCH_TARGETS if scalar else EPOCH_TARGETS / EPOCH_SPREAD
    variance = np.sum(weights**2 * EPOCH_SPREAD, axis=1) / EPOCH_ROWS
    shift = np.sum(weights * EPOCH_TARGETS, axis=1) / EPOCH_ROWS
    threshold = -ndtri(alpha) * np.sqrt(variance.sum())
    inside = variance.sum() - variance / EPOCH_ROWS
    return float(ndtr((shift - threshold) / np.sqrt(inside)).mean())


def epoch_regime() -> Regime:
    """Known moments; m* differs from step to step: the sum of steps is no longer a best linear score."""
    parameters: dict[str, object] = {
        "gradients": "Gaussian, mean 0, C = diag(1, 1/9)", "target's gradient": "(8, 0), then (0, 8)", "batches": "2 of 64", "FPR": 0.5,
    }  # fmt: skip

    def second(games: int = 200_000) -> str:
        rng = np.random.default_rng(20_251_103)
        scores: dict[bool, list[np.ndarray]] = {False: [], True: []}
        for member in (False, True):
            means = rng.normal(size=(games, 2, 2)) * np.sqrt(EPOCH_SPREAD / EPOCH_ROWS)
            if member:
                own = np.arange(games), rng.integers(0, 2, games)
                rest = rng.normal(size=(games, 2)) * np.sqrt(EPOCH_SPREAD * (EPOCH_ROWS - 1)) / EPOCH_ROWS
                means[own] = rest + EPOCH_TARGETS[own[1]] / EPOCH_ROWS
            for scalar in scores:
                weights = EPOCH_TARGETS if scalar else EPOCH_TARGETS / EPOCH_SPREAD
                scores[scalar].append((means * weights).sum(axis=(1, 2)))
        power = [float((inside > np.median(out)).mean()) for out, inside in scores.values()]
        return f"{games:,} epochs per world (NumPy, batch means): power at FPR 0.5 is {power[0]:.3f} (covariance) and {power[1]:.3f} (scalar product), +- 0.004"

    def judge(_: Budget) -> RegimeResult:
        covariance, scalar = epoch_powers(False), epoch_powers(True)
        return judge_bound(
            scalar - covariance, parameters, unit="power", route="exact law (Gaussian mixture)", reading=EPOCH, second_route=second,
            detail=f"power {covariance:.4f} (covariance), {scalar:.4f} (scalar product) at FPR 0.5.",
        )  # fmt: skip

    return Regime("an epoch of two batches", parameters, judge, EPOCH, random=False)


def few_mus() -> tuple[float, float]:
    """Mean over Gaussian reference sets of mu, n_r = 2 d, and the scalar product's mu: C = I, mean 0, m* = 1; exact."""
    return mean_share(2 * D, D, float(D)), 1.0


def _by_sets(size: int, repeats: int = 2000) -> str:
    rng = np.random.default_rng(20_250_908)
    share = _shares("Gaussian", size, True, repeats, rng)
    return f"{repeats:,} drawn reference sets (NumPy): mu averages {share.mean():.3f} +- {3 * share.std() / np.sqrt(repeats):.3f}, the scalar product has 1"


def _shares(
    law: str, size: int, isotropic: bool, sets: int, rng: np.random.Generator, ridge: float = 0.0, d: int = D
) -> np.ndarray:
    """Mu / sqrt(m*) of the attack with centred estimates, for each of `sets` drawn reference sets; one typical g*."""
    root, mean = (np.eye(d), np.zeros(d)) if isotropic else (mixing(d), np.ones(d))
    target = LAWS[law](np.random.default_rng(20_250_908), (d,))
    target *= np.sqrt(d / np.sum(target**2))
    direction, c = root @ target, root @ root.T
    found = []
    for start in range(0, sets, 50):
        references = LAWS[law](rng, (min(50, sets - start), size, d)) @ root.T + mean
        centre, inverse = score_matrix(references, True, ridge)
        weights = np.einsum("rij,rj->ri", inverse, mean + direction - centre)
        found.append(effective(weights, direction, c, d))
    return np.concatenate(found)


def singular_regime() -> Regime:
    """d/4 references and a ridge, isotropic gradients: the median over reference sets of the loss, by order statistics."""
    parameters: dict[str, object] = {
        "gradients": "Gaussian, C = I, mean 0", "d": D, "batch": D, "references": D // 4, "ridge": 1e-3, "sets": 2000,
    }  # fmt: skip

    def judge(budget: Budget) -> RegimeResult:
        share = _shares("Gaussian", D // 4, True, 2000, np.random.default_rng(budget.seed), 1e-3)
        value, low, high = quantile_interval(1.0 - share, 0.5, budget.failure_probability)
        result = judge_bound(
            Size(value, value), parameters, error=max(value - low, high - value), reading=FEW, route="2,000 drawn reference sets, order statistics",
            detail="median over the sets of the mu that the covariance attack lacks; the scalar product has sqrt(m*) = 1.",
            second_route=_singular_by_games,
        )  # fmt: skip
        return replace(result, seed=budget.seed)

    return Regime("d/4 references, ridge 1e-3", parameters, judge, FEW)


def _singular_by_games(games: int = 20_000) -> str:
    """One singular reference set with a ridge, on literal batches."""
    rng = np.random.default_rng(20_250_908)
    target = LAWS["Gaussian"](rng, (D,))
    target *= np.sqrt(D / np.sum(target**2))
    centre, inverse = score_matrix(rng.normal(size=(1, D // 4, D)), True, 1e-3)
    batches = rng.normal(size=(2, games, D))  # means of 20 rows, scaled
    out, inside = batches[0] / np.sqrt(D), batches[1] * np.sqrt(D - 1) / D + target / D
    power = [
        float((inside @ w > np.quantile(out @ w, 0.9)).mean())
        for w in (inverse[0] @ (target - centre[0]), target)
    ]
    return f"{games:,} batch means per world, one reference set: power at FPR 0.1 is {power[0]:.3f} (covariance) and {power[1]:.3f} (scalar product), +- 0.015"


RATIOS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
MOST = 512
SETS = 2000


def many_references_regime(d: int, root: float, factor: float = 1.0) -> Regime:
    """Gaussian references, exact: the mean of mu over reference sets against factor sqrt(m*) as n_r / d grows."""
    parameters: dict[str, object] = {"gradients": "Gaussian", "d": d, "batch": d, "sqrt(m*)": root}

    def at(ratio: int) -> Size:
        gap = root * (mean_share(ratio * d, d, d * root**2) - factor)
        return Size(gap, gap)

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(
            at, curve_tolerance(root), parameters, sizes=RATIOS, size_name="n_r/d", reading=ESTIMATED
        )

    return Regime(
        f"Gaussian, d = {d}, sqrt(m*) = {root:g}, n_r/d to infinity",
        parameters,
        judge,
        ESTIMATED,
        random=False,
    )


def drawn_references_regime(law: str, isotropic: bool) -> Regime:
    """Other laws: the loss that 9 of 10 reference sets stay below, by order statistics, at n_r / d = 512; m* = 1."""
    parameters: dict[str, object] = {
        "gradients": law, "d": SMALL, "batch": SMALL, "covariance": "I" if isotropic else "A A', badly conditioned", "sets": SETS,
    }  # fmt: skip

    def judge(budget: Budget) -> RegimeResult:
        loss = 1.0 - _shares(law, MOST * SMALL, isotropic, SETS, np.random.default_rng(budget.seed), d=SMALL)
        value, low, high = quantile_interval(loss, 0.9, budget.failure_probability)
        result = judge_equality(
            Size(value, value), parameters, tolerance=0.02, error=max(value - low, high - value), reading=ESTIMATED,
            route=f"{SETS:,} drawn reference sets, order statistics",
            detail=f"mu that 9 of 10 sets lose at most, of sqrt(m*) = 1, at n_r/d = {MOST}; the limit is by the derivation.",
        )  # fmt: skip
        return replace(result, seed=budget.seed)

    return Regime(
        f"{law}, {'isotropic' if isotropic else 'correlated'}, n_r/d = {MOST}",
        parameters,
        judge,
        ESTIMATED,
    )


def sampled_references(rng: np.random.Generator, count: int) -> Sequence[Regime]:
    """Random dimensions and leakages: Gaussian references, exact, as n_r / d grows."""
    return [
        many_references_regime(int(rng.integers(2, 500)), round(float(np.exp(rng.uniform(-1.2, 1.0))), 3))
        for _ in range(count)
    ]


CLAIMS = (
    Claim(
        "azize-alg-4-estimated",
        "azize",
        "With the sign of descent and moments estimated as in algorithm 3, the covariance attack improves on the scalar product when the inverse "
        "of the covariance matrix is well estimated.",
        Kind.ORDERING, 0.0, "probit", DOMAIN,
        (
            known_regime("descent"),
            ordering_regime("known moments", KNOWN, "correlated gradients of the study", partial(study_mus, "descent")),
            *(many_references_regime(d, root) for d in (2, D, 500) for root in (0.5, 1.0, 2.0)),
            ordering_regime("uncentred C0, known exactly", UNCENTRED, "C = I, mean (3, 0), g* = mean + (3, 1), batch 10", uncentred_mus, _uncentred_by_games),
            ordering_regime("2 d references", FEW, "C = I, mean 0, centred C0, mean over reference sets", few_mus, partial(_by_sets, 2 * D)),
            singular_regime(),
            epoch_regime(),
        ),
        Control(partial(many_references_regime, D, 1.0)),
        corrected_by="azize-alg-4-estimated-corrected",
        quote=PROVABLY,
        restricted_by=(WELL,),
        sampled=sampled_references,
    ),
    Claim(
        "azize-alg-4-estimated-corrected",
        "azize",
        "With the sign of descent, one step, and mu0 and the centred C0 = (1/n_r) sum (g - mu0)(g - mu0)' from n_r gradients that are independent of the batch and of g*, the mu of the "
        "covariance attack tends in probability to sqrt(m*), the largest of all linear scores, the scalar product's included, as n_r/d -> infinity, if " + BOUNDED
        + ", m* is bounded and b m* bounded away from 0 (b rows in the batch). For Gaussian gradients and n_r > d >= 2 its mean is E sqrt(Beta((n_r - d + 1)/2, (d - 1)/2)) times E cos(delta - e, delta), delta = C^-1/2 (g* - mu), e ~ N(0, I/n_r), of sqrt(m*).",
        Kind.ORDERING, 0.02, "probit",
        {
            "gradients": OneOf(tuple(LAWS), BOUNDED),
            "references": Between(2, float("inf"), "n_r/d to infinity; exact to 1024 for Gaussian gradients, drawn sets of other laws at 512"),
            "C0": OneOf(("centred",)),
            "steps": OneOf(("one",)),
            "target": OneOf(("typical",), "g* independent of the references, m* bounded and away from 0"),
        },
        (
            *(many_references_regime(d, root) for d in (2, D, 500) for root in (0.5, 1.0, 2.0)),
            *(drawn_references_regime(law, isotropic) for law in LAWS for isotropic in (True, False)),
        ),
        Control(partial(many_references_regime, D, 1.0)),
        corrects="azize-alg-4-estimated",
        quote=PROVABLY,
        restricted_by=(WELL,),
        sampled=sampled_references,
        same_formula=True,
        derivation=(
            "Write x = C^-1/2 (g - mu), delta = C^-1/2 (g* - mu), |delta|^2 = b m*, S = C^-1/2 C0 C^-1/2 and e for the mean of the references' x. mu of the attack is sqrt(m*) times the cosine of "
            "v = S^-1 (delta - e) and delta. (1) S = T - e e', T = (1/n_r) sum x x', and |e|^2 has mean d/n_r -> 0. (2) E(u'x)^4 <= h^2 for all unit u gives, by Oliveira's theorem on the lower "
            "tail of random quadratic forms (2016, Probability Theory and Related Fields 166; arXiv 1312.2903), T >= 1 - C h sqrt((d + log(2/p))/n_r), C a number, in all directions with probability 1 - p, so the least eigenvalue of S is at least 1 - o(1). "
            "(3) For a fixed unit u, E|(T - I)u|^2 <= E|x|^2 (u'x)^2 / n_r <= d h^2/n_r (Cauchy and Schwarz, coordinate by coordinate), so |(S - I) delta| = o(|delta|) in probability. "
            "(4) v - delta = S^-1 (I - S) delta - S^-1 e, so |v - delta| <= (o(|delta|) + |e|)/(1 - o(1)), and |e|/|delta| = O((d/n_r)^(1/2) / (b m*)^(1/2)) -> 0: the cosine tends to 1. "
            "(5) Given the references the score is linear: algorithm 4's correction (3) turns mu into power. (6) Gaussian gradients: see `mean_share`. At finite n_r the loss is about d/(2 n_r): where C is nearly a "
            "multiple of I and mu nearly 0 the scalar product has sqrt(m*) itself and wins. Uncentred, C0 tends to C + mu mu', which scores the direction of mu down. Over an epoch whose batches share "
            "one appearance of the target the sum of the scores is a mixture with unequal shifts m*_t, of which C^-1 (g*_t - mu) is not the best weight."
        ),
    ),
)  # fmt: skip
"""Printed, and with the conditions under which the estimates are as good as the moments."""
