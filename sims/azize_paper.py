"""The studies: settings of the papers' figures, with every number fixed.

All play the reference game of Azize & Basu (2025), section 6: n = 1000 records of d = 5000 independent Bernoulli
coordinates whose p_j are sampled once, uniformly from [1/4, 3/4].
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import mipsim as mi
from mipsim.theory import azize
from sims.study import Study

N = 1000
D = 5000
GAMES = {"quick": 100_000, "standard": 1_000_000, "full": 10_000_000}
REGULARISATION = 1e-2
"""Added to the variances that n0 reference points give: a coordinate is often constant among few of them."""

_P_SEED, _REFERENCE_SEED, _TYPICAL_SEED = 2025, 6, 0


def reference_means() -> np.ndarray:
    """The p_j of all studies."""
    return np.random.default_rng(_P_SEED).uniform(0.25, 0.75, D)


@cache
def reference_data() -> mi.Bernoulli:
    """The data law of all studies.
    >>> data = reference_data()
    >>> data.dimension, bool(data.p.min() >= 0.25), bool(data.p.max() <= 0.75)
    (5000, True, True)
    """
    return mi.Bernoulli(reference_means())


@cache
def _reference_records() -> np.ndarray:
    """1000 records sampled once; a study with n0 points takes the first n0."""
    data = reference_data()
    return (np.random.default_rng(_REFERENCE_SEED).random((1000, D)) < data.p).astype(np.float64)


def paper_target(kind: str) -> np.ndarray:
    """The "easy" (easiest), "hard" (hardest) or "medium" (typical) target of the reference data."""
    data = reference_data()
    if kind == "easy":
        return data.easiest_target()
    return data.hardest_target() if kind == "hard" else data.typical_target(_TYPICAL_SEED)


Built = tuple[mi.FixedTarget, mi.AbstractAttack]


def _known_moments(kind: str) -> Built:
    data = reference_data()
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=paper_target(kind))
    return game, mi.CovarianceScore(data, n=N, target=game.target)


def _noise(gamma: float) -> Built:
    data = reference_data()
    game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), gamma), data, n=N, target=paper_target("easy"))
    return game, mi.CovarianceScore(data, n=N, target=game.target, record_deviation=gamma)


def _subsampled(rho: float) -> Built:
    """The likelihood ratio of the mixture, log(1 - rho + rho exp(t)), is ranked by t, the ratio given that the target
    is sampled: the same test at every threshold, but t does not saturate at log(1 - rho) in float64.
    """
    data = reference_data()
    mechanism = mi.Subsampled(mi.EmpiricalMean(), rho)
    game = mi.FixedTarget(mechanism, data, n=N, target=paper_target("easy"))
    return game, mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=mechanism.rows(N), target=game.target)


def estimated(n0: int, regularisation: float = REGULARISATION) -> Built:
    """Figure 6: the game, and the covariance score with moments from the first n0 reference records."""
    moments = mi.EstimatedMoments(_reference_records()[:n0], regularisation=regularisation)
    game = mi.FixedTarget(mi.EmpiricalMean(), reference_data(), n=N, target=paper_target("easy"))
    return game, mi.CovarianceScore(moments, n=N, target=game.target)


def normal_limit(game: mi.FixedTarget, attack: Any) -> mi.GaussianTradeOff:
    """Theorems 3.1 and 4.3: a linear score is normal in the limit, with the shift that its weights give."""
    weights = np.asarray(attack.weights(game.target))
    return mi.GaussianTradeOff(azize.effective_mu(weights, game.data, game.target, game.n))


def mean_limit(game: mi.FixedTarget, attack: mi.AbstractAttack) -> mi.GaussianTradeOff:
    """Theorem 3.1."""
    return azize.mean_tradeoff(leakage_of(game))


def leakage_of(game: mi.FixedTarget, gamma: float = 0.0) -> float:
    """m* of the game's target."""
    return azize.leakage_score(game.data, game.target, game.n, gamma)


def _study(
    name: str,
    description: str,
    build: Callable[..., Built],
    argument: object,
    claim: Callable[..., mi.AbstractTradeOff],
) -> Study:
    return Study(name, description, partial(build, argument), GAMES, claim=claim)


_WORDS = {"easy": "easiest", "medium": "typical", "hard": "hardest"}

FIGURES = (
    *(
        _study(
            f"azize_fig2_{kind}",
            f"empirical mean, {word} target, covariance score",
            _known_moments,
            kind,
            mean_limit,
        )
        for kind, word in _WORDS.items()
    ),
    *(
        _study(
            f"azize_fig2_noise_{gamma:g}",
            f"noisy mean, gamma = {gamma:g}, easiest target, covariance score that knows gamma",
            _noise,
            gamma,
            lambda game, attack, gamma=gamma: azize.mean_tradeoff(leakage_of(game, gamma)),
        )
        for gamma in (0.1, 0.5, 1.0)
    ),
    *(
        _study(
            f"azize_fig2_rho_{rho:g}",
            f"sub-sampled mean, rho = {rho:g}, easiest target, likelihood ratio of the joint mixture",
            _subsampled,
            rho,
            lambda game, attack, rho=rho: azize.subsampled_tradeoff_corrected(leakage_of(game), rho),
        )
        for rho in (0.1, 0.5, 1.0)
    ),
    *(
        _study(
            f"azize_fig6_n0_{n0}",
            f"empirical mean, easiest target, covariance score with moments from {n0} reference records",
            estimated,
            n0,
            normal_limit,
        )
        for n0 in (1, 2, 5, 10, 100, 1000)
    ),
)
"""The studies that the figures draw and the verdicts share."""
