"""Algorithm 4: the covariance attack on steps of gradient descent against the scalar product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from sims.studies import STUDIES
from verify.azize.gradients import BOUNDED, DOMAIN, effective
from verify.azize.scalar_product import CASES
from verify.azize.scalar_product import limit_regime as known_moments_regime
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import judge_bound, judge_equality

KNOWN = "known moments are the best estimate; one step"


def ordering_regime(
    name: str,
    reading: str,
    words: str,
    build: Callable[[], tuple[float, float]],
    second: Callable[[], str] | None = None,
) -> Regime:
    """How far, in probits, the scalar product is ahead of the covariance attack on one step of Gaussian gradients."""
    parameters: dict[str, object] = {"gradients": "Gaussian", "setting": words}

    def judge(_: Budget) -> RegimeResult:
        covariance, scalar = build()
        return judge_bound(
            scalar - covariance, parameters, reading=reading, route="exact law (Gaussian)", second_route=second,
            detail=f"mu = {covariance:.3f} (covariance), {scalar:.3f} (scalar product), rejecting large scores.",
        )  # fmt: skip

    return Regime(name, parameters, judge, reading, random=False)


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


def sampled_steps(rng: np.random.Generator, count: int, sign: float = 1.0) -> Sequence[Regime]:
    """Random dimensions, means, covariances and targets of Gaussian gradients; known moments, exact at every batch size."""
    return [_random_step(rng, sign) for _ in range(count)]


def _random_step(rng: np.random.Generator, sign: float) -> Regime:
    d, rows = int(rng.integers(2, 30)), int(rng.integers(2, 200))
    root, mean = rng.normal(size=(d, d)), rng.normal(size=d) * np.exp(rng.uniform(-2, 2))
    direction = rng.normal(size=d) * np.exp(rng.uniform(-2, 2))
    covariance = root @ root.T + 0.1 * np.eye(d)
    weights = np.stack([np.linalg.solve(covariance, direction), mean + direction])

    def build() -> tuple[float, float]:
        found = sign * effective(weights, direction, covariance, rows)
        return float(found[0]), float(found[1])

    return ordering_regime(
        "a random step", "", f"d = {d}, batch {rows}, random mean, covariance and target", build
    )


def known_regime(name: str, factor: float = 1.0) -> Regime:
    """Gaussian gradients, known moments: the covariance attack on one step has sqrt(m*), the mu of the likelihood ratio."""
    parameters: dict[str, object] = {"gradients": "Gaussian, correlated", "study": f"azize_alg4_{name}"}

    def judge(_: Budget) -> RegimeResult:
        covariance, scalar = study_mus(name)
        game = STUDIES[f"azize_alg4_{name}_covariance"].build()[0]
        direction = game.target - game.data.mean  # pyright: ignore[reportAttributeAccessIssue]
        root = float(
            np.sqrt(direction @ np.linalg.solve(np.asarray(game.data.covariance), direction) / game.n)
        )
        return judge_equality(
            covariance - factor * root, parameters, mu=root, reading=KNOWN, route="exact law (Gaussian)",
            detail=f"mu = {covariance:.4f} (covariance), {scalar:.4f} (scalar product), sqrt(m*) = {root:.4f}.",
        )  # fmt: skip

    return Regime(f"known moments, {name}", parameters, judge, KNOWN, random=False)


def planted(factor: float) -> Regime:
    """The covariance attack against a score of `factor` times its own mu: at 1 the bound is attained."""

    def build() -> tuple[float, float]:
        covariance, _ = study_mus("descent")
        return covariance, factor * covariance

    return ordering_regime("planted", "", "known moments", build)


DESCENT = Quote(
    "Gradient Descent algorithms start with an initial parameter θ_0 ∈ R^d, and then update sequentially the parameter at each step t by "
    "θ_t ≜ θ_{t−1} − η ∇_{θ_{t−1}} Q(θ_{t−1}), where η is the learning rate",
    "section 5, the threat model; again in appendix D.1",
)
PRINTED = Quote(
    "the batch gradient g_batch^t ≜ (θ_{t+1} − θ_t)/η",
    "section 5, the covariance attack; line 4 of algorithm 4; appendix D.3",
)
WELL = Quote(
    "When the inverse of the covariance matrix is well estimated, the covariance attack improves on the scalar product score, which is the "
    "state-of-the-art score in white box attacks",
    "section 5, the covariance attack",
)
PROVABLY = Quote(
    "The covariance attack of Algorithm 4 is provably better than the scalar product attack, at the expense of estimating the inverse of the "
    "covariance matrix well.",
    "appendix D.3, connection to our work",
)
CLAIMS = (
    Claim(
        "azize-alg-4",
        "azize",
        "The covariance attack on SGD steps with g_batch = (theta_{t+1} - theta_t)/eta beats the scalar product <g*, g_batch>.",
        Kind.ORDERING, 0.0, "probit", DOMAIN,
        (
            ordering_regime("sign as printed", "", "known moments", partial(study_mus, "printed"), partial(_step_powers, "printed")),
        ),
        Control(planted, plants="the covariance score itself, sign of descent, in place of the scalar product"),
        corrected_by="azize-alg-4-corrected",
        quote=WELL,
        restricted_by=(PROVABLY,),
        slip=(PRINTED, DESCENT),
        sampled=partial(sampled_steps, sign=-1.0),
    ),
    Claim(
        "azize-alg-4-corrected",
        "azize",
        "With g_batch = (theta_t - theta_{t+1})/eta, the mean gradient of the batch, and known moments, the covariance attack on one step is at least as "
        "strong as the scalar product at every FPR: exactly, at every batch size, for Gaussian gradients and g* neither 0 nor mu (where one of the scores is constant); in the "
        "limit of large batches if " + BOUNDED + ".",
        Kind.ORDERING, 0.0, "probit",
        {
            "gradients": OneOf(("Gaussian", *CASES), BOUNDED),
            "batch": Between(2, float("inf"), "exact for Gaussian gradients, else a limit"),
            "steps": OneOf(("one",)),
            "moments": OneOf(("known",)),
            "target": OneOf(("easiest", "hardest", "typical", "random"), "every g*; at a finite batch neither 0 nor mu"),
        },
        (
            known_regime("descent"),
            ordering_regime("sign of descent", "", "known moments", partial(study_mus, "descent")),
            *(known_moments_regime(name, score) for name in CASES for score in ("covariance", "origin")),
        ),
        Control(partial(known_regime, "descent")),
        corrects="azize-alg-4",
        quote=WELL,
        restricted_by=(PROVABLY,),
        derivation=(
            "(1) theta_{t+1} = theta_t - eta (mean gradient), so (theta_{t+1} - theta_t)/eta is minus the mean gradient, and the score as printed falls when the "
            "target is in: at FPR alpha its power is Phi(Phi^-1(alpha) - sqrt(m*)) < alpha, and of two reversed attacks the stronger becomes the weaker. (2) With the "
            "sign of descent both scores are w' (mean gradient) plus a constant, w = C^-1 (g* - mu) or w = g*. For Gaussian gradients and b rows such a score is normal in both worlds, with "
            "FNR Phi((Phi^-1(1 - alpha) - mu_w) sqrt(b/(b - 1))), mu_w = w'(g* - mu)/sqrt(b w'Cw), exactly; it falls with mu_w, and by Cauchy and Schwarz mu_w <= sqrt(m*), with "
            "equality at w = C^-1 (g* - mu). A constant score is a coin, with FNR 1 - alpha, which at a finite b lies on either side of a normal score's with mu_w near 0: g* = mu (no covariance score; with mu not 0 the "
            "scalar product has mu_w = 0 and at FPR above 1/2 more power than the coin) and g* = 0 (no scalar product; below 1/2 the coin may win) are left out. (3) For other gradients w'(g - mu)/sqrt(w'Cw) = u'C^-1/2 (g - mu) for a unit vector u, with fourth moment at most h^2 "
            "and so third absolute moment at most h^(3/2): by Berry and Esseen both distribution functions are within 0.56 h^(3/2) (b - 1)^(-1/2) of normal ones, uniformly in w, and (2) holds up to that. "
            "The condition is on all directions: x = +- sqrt(d) e_J times an orthogonal matrix with entries +- d^(-1/2), J even on 1..d, has coordinates +-1 and "
            "covariance I, but one of its directions is 0 but for a share 1/d of the rows, and a score along it stays Poisson. (4) The sum over several steps is covered where all of them contain the target, are of one size and "
            "have other rows that are independent (one step on the stacked gradients); not where an epoch's batches share the target's one appearance, see azize-alg-4-estimated."
        ),
        sampled=sampled_steps,
    ),
)  # fmt: skip
"""The sign, and what known moments give."""
