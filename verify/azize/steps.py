"""Algorithm 4: the covariance attack on one step of gradient descent against the scalar product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import stats

from sims.studies import STUDIES
from verify.azize.gradients import DOMAIN, LAWS, RATIOS, D, effective, mixing, score_matrix
from verify.azize.mean import TOLERANCE
from verify.azize.scalar_product import CASES
from verify.azize.scalar_product import limit_regime as known_moments_regime
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import Size, judge_identity, judge_limit


def step_regime(
    name: str, words: str, build: Callable[[], tuple[float, float]], second: Callable[[], str]
) -> Regime:
    """How far, in probits, the scalar product is ahead of the covariance attack on one step of Gaussian gradients."""
    parameters: dict[str, object] = {"gradients": "Gaussian", "setting": words}

    def judge(_: Budget) -> RegimeResult:
        covariance, scalar = build()
        return judge_identity(
            scalar - covariance, TOLERANCE, parameters, unit="probit", route="exact law (Gaussian)", one_sided=True,
            detail=f"mu = {covariance:.3f} (covariance), {scalar:.3f} (scalar product), rejecting large scores", second_route=second,
        )  # fmt: skip

    return Regime(name, parameters, judge, random=False)


def study_mus(kind: str) -> tuple[float, float]:
    """Signed mu of the covariance attack and the scalar product in the studies `azize_alg4_*`."""
    game, _ = STUDIES[f"azize_alg4_{kind}_covariance"].build()
    mean, c = game.data.mean, np.asarray(game.data.covariance)
    direction = game.target - mean  # pyright: ignore[reportAttributeAccessIssue]
    sign = 1.0 if kind == "descent" else -1.0
    weights = np.stack([np.linalg.solve(c, direction), mean + direction])
    found = sign * effective(weights, direction, c, game.n)
    return float(found[0]), float(found[1])


def _step_powers(kind: str, games: int = 10_000) -> str:
    """The study's game by NumPy, gradient by gradient."""
    game, _ = STUDIES[f"azize_alg4_{kind}_covariance"].build()
    target = game.target  # pyright: ignore[reportAttributeAccessIssue]
    mean, c = game.data.mean, np.asarray(game.data.covariance)
    rng, sign = np.random.default_rng(20_250_907), 1.0 if kind == "descent" else -1.0
    steps = []
    for member in (False, True):
        gradients = mean + rng.normal(size=(games, game.n, len(mean))) @ np.linalg.cholesky(c).T
        if member:
            gradients[:, 0] = target
        steps.append(sign * gradients.mean(axis=1))
    power = [
        float((steps[1] @ w > np.quantile(steps[0] @ w, 0.9)).mean())
        for w in (np.linalg.solve(c, target - mean), target)
    ]
    return (
        f"{games:,} literal steps per world (NumPy): power at FPR 0.1 is {power[0]:.3f} (covariance attack) and {power[1]:.3f} (scalar "
        "product), +- 0.02"
    )


def uncentred_mus() -> tuple[float, float]:
    """C0 = C + mu mu' known exactly, C = I, mu = (3, 0), g* = mu + (3, 1), 4 rows."""
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


def estimated_mus(
    ratio: float, ridge: float, isotropic: bool, law: str = "Gaussian", repeats: int = 40
) -> tuple[float, float]:
    """Mean over reference sets of mu with centred estimates, and the scalar product's mu; n = d, typical g*."""
    rng = np.random.default_rng(20_250_908)
    root, mean = (np.eye(D), np.zeros(D)) if isotropic else (mixing(), np.ones(D))
    target = LAWS[law](rng, (D,))
    target *= np.sqrt(D / np.sum(target**2))
    direction, c = root @ target, root @ root.T
    references = LAWS[law](rng, (repeats, round(ratio * D), D)) @ root.T + mean
    centre, inverse = score_matrix(references, True, ridge)
    weights = np.einsum("rij,rj->ri", inverse, mean + direction - centre)
    return float(effective(weights, direction, c, D).mean()), float(
        effective(mean + direction, direction, c, D)
    )


def _by_beta_law(size: int) -> str:
    share = stats.beta((size - D + 2) / 2, (D - 1) / 2)
    mean = float(share.expect(np.sqrt))
    return (
        f"Reed, Mallett & Brennan (1974): with a known mean (mu / sqrt(m*))^2 is Beta((n_r - d + 2)/2, (d - 1)/2), so mu averages {mean:.3f} sqrt(m*) "
        "where the scalar product has sqrt(m*)"
    )


def _singular_by_games(games: int = 20_000) -> str:
    """One singular reference set with a ridge, on literal batches."""
    rng = np.random.default_rng(20_250_908)
    target = LAWS["Gaussian"](rng, (D,))
    target *= np.sqrt(D / np.sum(target**2))
    centre, inverse = score_matrix(rng.normal(size=(1, D // 2, D)), True, 1e-3)
    batches = rng.normal(size=(2, games, D))  # means of 20 rows, scaled
    out, inside = batches[0] / np.sqrt(D), batches[1] * np.sqrt(D - 1) / D + target / D
    power = [
        float((inside @ w > np.quantile(out @ w, 0.9)).mean())
        for w in (inverse[0] @ (target - centre[0]), target)
    ]
    return f"{games:,} batch means per world, one reference set: power at FPR 0.1 is {power[0]:.3f} (covariance) and {power[1]:.3f} (scalar product), +- 0.015"


def many_references_regime(law: str, isotropic: bool) -> Regime:
    """How far the scalar product is ahead as n_r / d grows."""
    parameters: dict[str, object] = {
        "gradients": law, "d": D, "batch": D, "covariance": "I" if isotropic else "A A', badly conditioned", "n_r / d": list(RATIOS),
    }  # fmt: skip

    def at(ratio: int) -> Size:
        covariance, scalar = estimated_mus(ratio, 0.0, isotropic, law)
        return Size(0.0, max(scalar - covariance, 0.0))

    def judge(_: Budget) -> RegimeResult:
        result = judge_limit(
            at, TOLERANCE, parameters, sizes=RATIOS, reading="mean over 40 reference sets, centred C0"
        )
        return replace(
            result,
            parameters=parameters,
            detail=result.detail.replace("at n =", "at n_r/d =").replace("from n =", "from n_r/d ="),
        )

    return Regime(
        f"{law}, {'isotropic' if isotropic else 'correlated'}, n_r / d to infinity", parameters, judge
    )


CLAIMS = (
    Claim(
        "azize-alg-4",
        "azize",
        "The covariance attack on SGD steps with g_batch = (theta_{t+1} - theta_t)/eta beats the scalar product <g*, g_batch>.",
        Kind.ORDERING, TOLERANCE, "probit", DOMAIN,
        (
            step_regime(
                "sign as printed", "known moments, g_batch = (theta_{t+1} - theta_t)/eta, which is minus the mean gradient",
                partial(study_mus, "printed"), partial(_step_powers, "printed"),
            ),
            step_regime("sign of descent, known moments", "known moments", partial(study_mus, "descent"), partial(_step_powers, "descent")),
            step_regime("sign of descent, uncentred C0 known exactly", "C = I, mean (3, 0), g* = mean + (3, 1)", uncentred_mus, _uncentred_by_games),
            step_regime(
                "sign of descent, 2 d references", "C = I, mean 0, centred C0", partial(estimated_mus, 2, 0.0, True), partial(_by_beta_law, 2 * D)
            ),
            step_regime(
                "sign of descent, d/2 references, ridge 1e-3", "C = I, mean 0, C0 singular", partial(estimated_mus, 0.5, 1e-3, True), _singular_by_games
            ),
        ),
        partial(known_moments_regime, "gaussian", "half", True),
        corrected_by="azize-alg-4-corrected",
    ),
    Claim(
        "azize-alg-4-corrected",
        "azize",
        "With g_batch = (theta_t - theta_{t+1})/eta and moments that are known, or centred estimates with n_r/d to infinity, the covariance attack "
        "on a step is in the limit of many rows at least as strong as the scalar product at every FPR, if standardised moments are bounded.",
        Kind.ORDERING, TOLERANCE, "probit",
        DOMAIN | {"C0": OneOf(("centred",)), "references": Between(2, float("inf"), "n_r/d to infinity, judged to 128; and known moments")},
        (
            *(known_moments_regime(name, "origin") for name in CASES),
            *(many_references_regime(law, isotropic) for law in LAWS for isotropic in (True, False)),
        ),
        partial(known_moments_regime, "gaussian", "half", True),
        corrects="azize-alg-4",
        derivation=(
            "theta_{t+1} = theta_t - eta (mean gradient), so (theta_{t+1} - theta_t)/eta is minus the mean gradient, and the printed score falls when the "
            "target is in: at FPR alpha its power is Phi(Phi^-1(alpha) - sqrt(m*)) < alpha, and the stronger of two reversed attacks is the worse. With the "
            "sign of descent both scores are linear in the mean gradient, with curves g_mu, mu = w'(g* - mu)/sqrt(n w'Cw), largest at w = C^-1 (g* - mu). "
            "With estimated moments and Gaussian gradients (mu/sqrt(m*))^2 is Beta((n_r - d + 2)/2, (d - 1)/2) for a known mean, near (n_r - d + 2)/(n_r + 1): "
            "where C is nearly a multiple of I and mu nearly 0, the scalar product has sqrt(m*) itself and wins unless n_r >> d. Steps with independent "
            "batches are one step on the stacked gradients."
        ),
    ),
)  # fmt: skip
"""The sign, and the estimate."""
