"""Games beside the reference one: Gaussian data projected on the score, and the clipped step."""

import numpy as np

import mipsim as mi
from sims.bench.contest import Contest, Way
from sims.bench.reference import counter, playing

_CLIPPED_N, _CLIPPED_D = 500, 650


def gaussian_game(quick: bool) -> Contest:
    """The mean of n = 1000 Gaussian records of d = 5000 coordinates: its score is one normal number."""
    n, d = 1000, 5000
    rng = np.random.default_rng(0)
    data = mi.Gaussian(np.zeros(d), np.ones(d))
    target = rng.normal(size=d)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target)
    attack = mi.CovarianceScore(data, n=n)

    def numpy_rows(games: int) -> int:
        for _ in range(games):
            _ = float(target @ rng.standard_normal((n, d)).mean(0))
        return games

    projected = counter(game, attack, "projected")
    return Contest(
        f"Gaussian mean (n = {n}, d = {d})",
        "games",
        [
            Way("NumPy literal rows", numpy_rows, 2, library="numpy"),
            Way("mipsim sufficient, one core", playing(counter(game, attack, "sufficient"), 1), 2_000),
            Way("mipsim projected, one core", playing(projected, 1), 1_000_000 if quick else 10_000_000),
        ],
    )


def clipped_step(quick: bool) -> Contest:
    """One clipped, noisy gradient step on n = 500 isotropic Gaussian gradients of d = 650 coordinates."""
    n, d = _CLIPPED_N, _CLIPPED_D
    clip = float(np.sqrt(d))
    rng = np.random.default_rng(0)
    data = mi.Gaussian(np.zeros(d), np.ones(d))
    target = rng.normal(size=d)
    game = mi.FixedTarget(mi.SGDStep(clip=clip, noise_multiplier=0.1), data, n=n, target=target)
    attack = mi.ScalarProduct(np.zeros(d))

    def numpy_rows(games: int) -> int:
        for _ in range(games):
            rows = rng.standard_normal((n, d))
            rows *= np.minimum(1.0, clip / np.linalg.norm(rows, axis=1))[:, None]
            _ = float(target @ (rows.mean(0) + 0.1 * clip / n * rng.standard_normal(d)))
        return games

    few = 16 if quick else 64
    return Contest(
        f"clipped step (n = {n}, d = {d})",
        "games",
        [
            Way("NumPy literal rows", numpy_rows, few, library="numpy"),
            Way("mipsim literal, one core", playing(counter(game, attack, "literal"), 1), 4 * few),
            Way("mipsim reduced, one core", playing(counter(game, attack, "auto"), 1), 100 * few),
        ],
    )
