"""Algorithm 3 (which candidate is easiest) and algorithm 4 (the covariance attack on a step), on simulated gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np
from scipy import stats

from mipsim.exact import additive_law, binomial_terms
from mipsim.theory import azize
from sims.studies import STUDIES
from verify.azize.cases import Case, Coordinate, mean_law
from verify.azize.mean import TOLERANCE
from verify.azize.scalar_product import CASES
from verify.azize.scalar_product import limit_regime as known_moments_regime
from verify.by_games import judge_curve
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult, TrendEvidence, Verdict
from verify.limits import GRID, Size, judge_identity, judge_limit

D = 20
"""Dimension of the gradients whose moments are estimated; the batch has as many rows."""

RATIOS = (2, 8, 32, 128)
"""Reference gradients per dimension."""

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "skewed (exponential)": lambda rng, shape: rng.exponential(size=shape) - 1.0,
    "heavy-tailed (Student, 5 df)": lambda rng, shape: rng.standard_t(5, size=shape) / np.sqrt(5 / 3),
}
"""Standardised coordinates; gradients are A x + 1 with a fixed A."""


@cache
def mixing() -> np.ndarray:
    """A fixed, badly conditioned A: gradients have correlated coordinates of unequal size."""
    rng = np.random.default_rng(20_250_905)
    return rng.normal(size=(D, D)) / np.sqrt(D) + np.diag(np.geomspace(0.3, 3.0, D))


def score_matrix(references: np.ndarray, centred: bool, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """(mu0, inverse of C0 + ridge I) from reference sets of shape (R, n_r, d)."""
    mean = references.mean(axis=1)
    shifted = references - mean[:, None, :] if centred else references
    moment = np.einsum("rni,rnj->rij", shifted, shifted) / references.shape[1]
    return mean, np.linalg.inv(moment + ridge * np.eye(references.shape[2]))


def effective(weights: np.ndarray, direction: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Signed mu of linear scores w' g_batch, right side: w'(g* - mu) / sqrt(n w'Cw); exact for Gaussian gradients up to (n - 1)/n."""
    spread = np.einsum("...i,ij,...j->...", weights, covariance, weights)
    return weights @ direction / np.sqrt(n * spread)


def picked_losses(law: str, size: int, centred: bool, ridge: float, repeats: int, seed: int) -> np.ndarray:
    """sqrt(m*) of the easiest of 10 in-distribution candidates less that of the one algorithm 3 picks, n = d; shape (repeats,)."""
    rng = np.random.default_rng(seed)
    root = mixing()
    found = []
    for start in range(0, repeats, 100):
        count = min(100, repeats - start)
        x = LAWS[law](rng, (count, 10, D))
        mean, inverse = score_matrix(LAWS[law](rng, (count, size, D)) @ root.T + 1.0, centred, ridge)
        difference = x @ root.T + 1.0 - mean[:, None, :]
        picked = np.argmax(np.einsum("rki,rij,rkj->rk", difference, inverse, difference), axis=1)
        mu = np.sqrt(np.sum(x**2, axis=2) / D)
        found.append(mu.max(axis=1) - mu[np.arange(count), picked])
    return np.minimum(np.concatenate(found), 2.0)


def loss_regime(
    law: str, sizes: tuple[int, ...], centred: bool, ridge: float, claimed: float = 0.0, repeats: int = 1500
) -> Regime:
    """The mean loss of the pick, in probits, with Hoeffding's interval for numbers in [0, 2]; at several n_r, the trend too."""
    parameters: dict[str, object] = {
        "gradients": law, "d": D, "batch": D, "reference gradients": list(sizes), "C0": "centred" if centred else "uncentred",
        "regularisation": ridge, "candidates": "10 from the data law",
    }  # fmt: skip
    reading = "easiest = largest true m*; candidates and references redrawn"

    def judge(budget: Budget) -> RegimeResult:
        share = budget.failure_probability / len(sizes)
        half = 2.0 * np.sqrt(np.log(2.0 / share) / (2 * repeats))
        losses = [picked_losses(law, k, centred, ridge, repeats, budget.seed + i) for i, k in enumerate(sizes)]
        found = np.array([loss.mean() - claimed for loss in losses])
        # Empirical Bernstein (Maurer & Pontil 2009, theorem 4): sharper where most picks are right.
        log = np.log(4.0 / share)
        bernstein = np.array(
            [np.sqrt(2 * loss.var(ddof=1) * log / repeats) + 7 * 2.0 * log / (3 * (repeats - 1)) for loss in losses]
        )
        width = np.minimum(half, bernstein)
        low, high = found - width, found + width
        if low[-1] > TOLERANCE or high[-1] < -TOLERANCE:
            verdict = Verdict.REFUTED
        elif np.abs([low[-1], high[-1]]).max() <= TOLERANCE and (len(sizes) == 1 or found[-1] < found[0]):
            verdict = Verdict.CONFIRMED
        else:
            verdict = Verdict.INCONCLUSIVE
        trend = TrendEvidence(np.array(sizes, float), found, low, high, TOLERANCE, "n_r", "loss (probit)")
        return RegimeResult(
            parameters, verdict, repeats, float(found[-1]), (float(low[-1]), float(high[-1])), float(max(abs(low[-1]), abs(high[-1]))),
            float(2 * width[-1]), reading=reading, route=f"{repeats:,} drawn problems", seed=budget.seed, evidence=trend,
            detail=f"loss {', '.join(f'{x:.3f}' for x in found)} at n_r = {', '.join(map(str, sizes))}",
            second_route=_one_by_games(law, sizes[-1], centred, ridge) if verdict is Verdict.REFUTED else "",
        )  # fmt: skip

    return Regime(f"{law}, n_r = {sizes[-1]}, {'centred' if centred else 'uncentred'}, ridge {ridge:g}", parameters, judge, reading)


def _one_by_games(law: str, size: int, centred: bool, ridge: float, games: int = 4000) -> str:
    """One drawn problem with literal batches: the power of the covariance attack with known moments on two candidates."""
    rng = np.random.default_rng(20_250_906)
    root = mixing()
    worst: tuple[float, np.ndarray, np.ndarray] = (-1.0, np.zeros(0), np.zeros(0))
    for _ in range(10):  # the worst of ten problems
        x = LAWS[law](rng, (10, D))
        mean, inverse = score_matrix(LAWS[law](rng, (1, size, D)) @ root.T + 1.0, centred, ridge)
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
        f"{games:,} literal batches per world for one of ten drawn problems: power at FPR 0.1 is {powers[0]:.3f} against the candidate that "
        f"the algorithm picks and {powers[1]:.3f} against another (+- 0.03)"
    )


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
        inverse = np.linalg.inv(np.eye(2) + np.outer(mean, mean))
        picked = int(np.argmax(np.einsum("ki,ij,kj->k", candidates, inverse, candidates)))
        mu = np.linalg.norm(candidates, axis=1) / 2.0
        return judge_identity(
            float(mu.max() - mu[picked]), TOLERANCE, parameters, unit="probit", route="exact law (Gaussian)", one_sided=True,
            detail=f"picks candidate {picked + 1}; sqrt(m*) = {mu[0]:.2f}, {mu[1]:.2f}", second_route=second,
        )  # fmt: skip

    return Regime("uncentred C0, known exactly", parameters, judge, random=False)


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

    def at(n: int) -> Size:
        curves = [additive_law([binomial_terms(n, p, 1, round(tau * n))]).beta(GRID) for p in weights[[0, 2]]]
        kept = (np.array(curves) > 1e-4).all(axis=0) & (np.array(curves) < 1 - 1e-4).all(axis=0)
        gap = (stats.norm.ppf(curves[0]) - stats.norm.ppf(curves[1]))[kept]
        return Size(0.0, max(float(gap.max()), 0.0))

    def second() -> str:
        rng, games, n = np.random.default_rng(4), 4000, 100
        powers = []
        for p in weights[[0, 2]]:
            counts = [rng.binomial(n - member, p, (games, n // 2)) + member for member in (0, 1)]
            out, inside = (np.log(np.maximum(c, 0.5)).sum(axis=1) for c in counts)
            powers.append(float((inside > np.quantile(out, 0.9)).mean()))
        return f"4,000 games per world with the counts of the values (n = 100, d = 50): power at FPR 0.1 is {powers[0]:.3f} and {powers[1]:.3f} (+- 0.03)"

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, second_route=second, reading="known moments, exact likelihood ratio")

    return Regime("lattice gradients, known moments", parameters, judge, random=False)


def order_regime(law: str, swapped: bool = False) -> Regime:
    """Two candidates with m* = 0.72 and 1.125: how far the nearer one is ahead of the farther; `swapped` for the control."""
    far, near = (
        Case(f"{law}-{z}", (Coordinate(law, z + (1.0 if law == "exponential" else 0.0), 0.5, _PARAMETER[law]),) * 2, 2.0, "")
        for z in (0.75 * _SD[law], -0.6 * _SD[law])
    )
    pair = (near, far) if swapped else (far, near)
    parameters: dict[str, object] = {"gradients": law, "candidates": "mean + .75 sd, mean - .6 sd", "d/n": 2.0}

    def at(n: int) -> Size:
        curves = np.array([mean_law(case, n, n, score="covariance")[1].beta(GRID) for case in pair])
        kept = ((curves > 1e-4) & (curves < 1 - 1e-4)).all(axis=0)
        gap = stats.norm.ppf(curves[0][kept]) - stats.norm.ppf(curves[1][kept])
        return Size(0.0, max(float(gap.max()), 0.0))

    def judge(_: Budget) -> RegimeResult:
        return judge_limit(at, TOLERANCE, parameters, reading="known moments, covariance attack")

    return Regime(f"{law}: order of two candidates", parameters, judge, random=False)


_PARAMETER = {"gaussian": 1.0, "exponential": 1.0, "student": 4.5}
_SD = {"gaussian": 1.0, "exponential": 1.0, "student": float(np.sqrt(4.5 / 2.5))}


def step_regime(name: str, words: str, build: Callable[[], tuple[float, float]], second: Callable[[], str]) -> Regime:
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


def _study_powers(kind: str) -> str:
    from verify.by_games import played

    found = []
    for attack in ("covariance", "scalar"):
        curve = played(f"azize_alg4_{kind}_{attack}", 20_000, 20_250_907, None).tradeoff(confidence=1 - 1e-6)
        low, high = curve.band(np.array([0.1]))
        found.append((1 - float(high[0]), 1 - float(low[0])))
    return (
        f"20,000 literal steps per world: power at FPR 0.1 in [{found[0][0]:.3f}, {found[0][1]:.3f}] (covariance attack) and "
        f"[{found[1][0]:.3f}, {found[1][1]:.3f}] (scalar product), failure probability 2e-6"
    )


def uncentred_mus() -> tuple[float, float]:
    """C0 = C + mu mu' known exactly, C = I, mu = (3, 0), g* = mu + (3, 1), 4 rows."""
    mean, direction = np.array([3.0, 0.0]), np.array([3.0, 1.0])
    weights = np.stack([np.linalg.solve(np.eye(2) + np.outer(mean, mean), direction), mean + direction])
    found = effective(weights, direction, np.eye(2), 10)
    return float(found[0]), float(found[1])


def _uncentred_by_games(games: int = 20_000) -> str:
    rng, mean = np.random.default_rng(8), np.array([3.0, 0.0])
    batches = rng.normal(size=(2, games, 10, 2)) + mean
    batches[1, :, 0] = mean + (3.0, 1.0)
    step = batches.mean(axis=2)
    weights = np.stack([np.linalg.solve(np.eye(2) + np.outer(mean, mean), (3.0, 1.0)), mean + (3.0, 1.0)])
    power = [float((step[1] @ w > np.quantile(step[0] @ w, 0.9)).mean()) for w in weights]
    return f"{games:,} literal batches per world (NumPy): power at FPR 0.1 is {power[0]:.3f} (covariance) and {power[1]:.3f} (scalar product), +- 0.015"


def estimated_mus(ratio: float, ridge: float, isotropic: bool, law: str = "Gaussian", repeats: int = 40) -> tuple[float, float]:
    """Mean over reference sets of mu with centred estimates, and the scalar product's mu; n = d, typical g*."""
    rng = np.random.default_rng(20_250_908)
    root, mean = (np.eye(D), np.zeros(D)) if isotropic else (mixing(), np.ones(D))
    target = LAWS[law](rng, (D,))
    target *= np.sqrt(D / np.sum(target**2))
    direction, c = root @ target, root @ root.T
    references = LAWS[law](rng, (repeats, round(ratio * D), D)) @ root.T + mean
    centre, inverse = score_matrix(references, True, ridge)
    weights = np.einsum("rij,rj->ri", inverse, mean + direction - centre)
    return float(effective(weights, direction, c, D).mean()), float(effective(mean + direction, direction, c, D))


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
        float((inside @ w > np.quantile(out @ w, 0.9)).mean()) for w in (inverse[0] @ (target - centre[0]), target)
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
        result = judge_limit(at, TOLERANCE, parameters, sizes=RATIOS, reading="mean over 40 reference sets, centred C0")
        return replace(result, parameters=parameters, detail=result.detail.replace("at n =", "at n_r/d =").replace("from n =", "from n_r/d ="))

    return Regime(f"{law}, {'isotropic' if isotropic else 'correlated'}, n_r / d to infinity", parameters, judge)


def descent_regime(attack: str) -> Regime:
    """Literal steps of descent against the exact mu."""
    study = STUDIES[f"azize_alg4_descent_{attack}"]

    def judge(budget: Budget) -> RegimeResult:
        mu = study_mus("descent")[attack == "scalar"]
        return judge_curve(
            study, azize.mean_tradeoff(mu**2), TOLERANCE, budget, {"gradients": study.description}, games=(50_000, 200_000, 2_000_000)
        )

    return Regime(f"games: one step, {attack}", {"gradients": study.description}, judge)


_GRADIENTS = {
    "gradients": OneOf((*LAWS, "lattice"), "any; simulated ones are judged"),
    "references": Between(1, float("inf"), "n_r from d/2 (singular C0) to 128 d, and known moments"),
    "C0": OneOf(("uncentred", "centred"), "printed uncentred"),
}
ALG_3 = (
    Claim(
        "azize-alg-3",
        "azize",
        "The candidate with the largest estimated Mahalanobis score of its gradient, ||g_k - mu0||^2 in C0^-1 with C0 = (1/n) sum g g', is the "
        "easiest to attack.",
        Kind.ORDERING, TOLERANCE, "probit", _GRADIENTS,
        (
            uncentred_regime(),
            lattice_regime(),
            *(loss_regime(law, (D // 2,), False, 1e-3) for law in LAWS),
            loss_regime("Gaussian", (32 * D,), True, 0.0),
        ),
        partial(order_regime, "gaussian", True),
        corrected_by="azize-alg-3-corrected",
    ),
    Claim(
        "azize-alg-3-corrected",
        "azize",
        "With a centred C0 the candidate that is picked has, as n_r/d grows, the largest true m*; and among targets of one product law "
        "with bounded standardised moments, as n and d grow, the covariance attack is stronger against the larger m*.",
        Kind.ORDERING, TOLERANCE, "probit",
        _GRADIENTS | {"C0": OneOf(("centred",)), "references": Between(2, float("inf"), "n_r/d to infinity, judged to 128")},
        (
            *(loss_regime(law, tuple(k * D for k in RATIOS), True, 0.0) for law in LAWS),
            *(order_regime(law) for law in _PARAMETER),
        ),
        partial(order_regime, "gaussian", True),
        corrects="azize-alg-3",
        derivation=(
            "mu0 and the centred C0 converge to mu and C, so the estimated scores converge to n m* and the pick to the largest, up to "
            "ties. The covariance attack has the curve g_sqrt(m*) in the limit (theorem 3.1, for a linear score by Lindeberg), which grows with m*. The "
            "uncentred moment is C + mu mu' and its inverse gives a - b^2/(1 + c) with a = n m*, b = mu' C^-1 (g - mu) and c = mu' C^-1 mu: a "
            "candidate along the mean gradient is scored a/(1 + c). Nor is m* the difficulty under the exact ratio where gradients lie on "
            "rationally independent values: there the rarer value is the easier."
        ),
    ),
)  # fmt: skip
ALG_4 = (
    Claim(
        "azize-alg-4",
        "azize",
        "The covariance attack on SGD steps with g_batch = (theta_{t+1} - theta_t)/eta beats the scalar product <g*, g_batch>.",
        Kind.ORDERING, TOLERANCE, "probit", _GRADIENTS,
        (
            step_regime(
                "sign as printed", "known moments, g_batch = (theta_{t+1} - theta_t)/eta, which is minus the mean gradient",
                partial(study_mus, "printed"), partial(_study_powers, "printed"),
            ),
            step_regime("sign of descent, known moments", "known moments", partial(study_mus, "descent"), partial(_study_powers, "descent")),
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
        _GRADIENTS | {"C0": OneOf(("centred",)), "references": Between(2, float("inf"), "n_r/d to infinity, judged to 128; and known moments")},
        (
            *(known_moments_regime(name, "origin") for name in CASES),
            *(many_references_regime(law, isotropic) for law in LAWS for isotropic in (True, False)),
            descent_regime("covariance"),
            descent_regime("scalar"),
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
CLAIMS = (*ALG_3, *ALG_4)
"""Which candidate, and which score."""
