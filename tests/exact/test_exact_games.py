"""Exact laws against literal games played with NumPy, and planted errors that must show.

Each chi-square fails a right law with probability <= 1e-9 (`law_agreement.FAILURE`).
"""

from collections.abc import Callable

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.exact import AbstractScoreLaw, exact_law
from tests.law_agreement import has_frequencies

GAMES, N, D = 20_000, 40, 12
MEAN = mi.EmpiricalMean()
P = np.random.default_rng(1).uniform(0.3, 0.7, D)
RECORDS = np.random.default_rng(2).normal(size=(30, D))
ATOMS = [0.0, 1.0, np.sqrt(2)]
TARGET = (P < 0.5).astype(float)


def bernoulli(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (rng.random((*shape, D)) < P).astype(float)


SAMPLERS: dict[str, tuple[mi.AbstractDistribution, Callable[..., np.ndarray], np.ndarray]] = {
    "bernoulli": (mi.Bernoulli(P), bernoulli, TARGET),
    "gaussian": (mi.Gaussian(P, 1 + P), lambda r, s: r.normal(P, np.sqrt(1 + P), (*s, D)), np.full(D, 1.5)),
    "laplace": (mi.Laplace(P, 1 + P), lambda r, s: r.laplace(P, 1 + P, (*s, D)), np.full(D, 2.5)),
    "uniform": (mi.Uniform(-P, 1 + P), lambda r, s: r.uniform(-P, 1 + P, (*s, D)), 1 + P),
    "exponential": (mi.Exponential(P), lambda r, s: r.exponential(P, (*s, D)), np.full(D, 1.5)),
    "discrete": (mi.Discrete(ATOMS, [0.5, 0.3, 0.2], d=D), lambda r, s: r.choice(ATOMS, p=[0.5, 0.3, 0.2], size=(*s, D)), np.full(D, np.sqrt(2))),
    "empirical": (mi.Empirical(RECORDS, "diagonal"), lambda r, s: RECORDS[r.integers(0, 30, s)], RECORDS[0]),
}  # fmt: skip


def release(kind: str, rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    """The output of each game, from records (games, n, d)."""
    games, n, d = rows.shape
    if kind == "mean":
        return rows.mean(axis=1)
    if kind == "gaussian noise":
        return rows.mean(axis=1) + 0.8 * rng.normal(size=(games, d)) / np.sqrt(n)
    if kind == "laplace noise":
        return rows.mean(axis=1) + rng.laplace(scale=0.2, size=(games, d))
    if kind == "subsample":
        order = rng.random((games, n)).argsort(axis=1)[:, : n // 2]
        return np.take_along_axis(rows, order[:, :, None], axis=1).mean(axis=1)
    retained = rng.random((games, n, 1)) < 0.75
    return (rows * retained).sum(axis=1) / (0.75 * n)


MECHANISMS = {
    "mean": MEAN,
    "gaussian noise": mi.GaussianNoise(MEAN, 0.8),
    "laplace noise": mi.LaplaceNoise(MEAN, 0.2),
    "subsample": mi.Subsampled(MEAN, 0.5),
    "poisson": mi.PoissonSubsampled(MEAN, 0.75),
}


def scores(attack: mi.AbstractAttack, target: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    with exact_scope():
        return np.asarray(jax.jit(jax.vmap(lambda o: attack.score(jax.numpy.asarray(target), o)))(outputs))


def play(
    sampler: Callable[..., np.ndarray], kind: str, target: np.ndarray, member: bool, attack: mi.AbstractAttack
) -> np.ndarray:
    rng = np.random.default_rng([11, member])
    rows = sampler(rng, (GAMES, N))
    if member:
        rows[np.arange(GAMES), rng.integers(0, N, GAMES)] = target
    return scores(attack, target, release(kind, rng, rows))


def agrees(law: AbstractScoreLaw, score: np.ndarray, inside: bool) -> bool:
    """Chi-square over 40 bins between quantiles of the "out" law, so that the edges do not look at the scores.

    Half a rounding above a quantile, so that an atom there is on the same side for both.
    """
    quantile = law.threshold_at(np.linspace(0.98, 0.02, 39))
    edges = np.unique(quantile[np.isfinite(quantile)])
    edges = edges + 1e-9 * (1.0 + np.abs(edges))
    cdf = law.cdf(edges, inside=inside)
    counts = np.bincount(np.searchsorted(edges, score, side="left"), minlength=edges.size + 1)
    return has_frequencies(counts, np.diff(np.concatenate([[0.0], cdf, [1.0]])))


CASES = [(data, "mean") for data in SAMPLERS] + [
    (data, kind) for kind in MECHANISMS if kind != "mean" for data in ("bernoulli", "laplace")
]


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_linear_scores_of_literal_games(name: str, kind: str) -> None:
    data, sampler, target = SAMPLERS[name]
    attack = mi.CovarianceScore(data, N)
    law = exact_law(mi.FixedTarget(MECHANISMS[kind], data, N, target), attack)
    for member in (False, True):
        score = play(sampler, kind, target, member, attack)
        assert agrees(law, score, member)
        # The planted errors: the worlds exchanged, and a score moved by a tenth of its deviation.
        assert not agrees(law, score + 0.1 * score.std(), member)


@pytest.mark.evidence
@pytest.mark.parametrize(("kind", "n"), [("mean", 40), ("subsample", 80)])
def test_ratios_of_bernoulli_games(kind: str, n: int) -> None:
    p = np.random.default_rng(4).uniform(0.3, 0.7, 30)
    data, target = mi.Bernoulli(p), (p < 0.5).astype(float)
    attack = mi.LikelihoodRatio(MECHANISMS[kind], data, n)
    law = exact_law(mi.FixedTarget(MECHANISMS[kind], data, n, target), attack)
    for member in (False, True):
        rng = np.random.default_rng([12, member])
        rows = (rng.random((GAMES, n, 30)) < p).astype(np.float32)
        if member:
            rows[np.arange(GAMES), rng.integers(0, n, GAMES)] = target
        score = scores(attack, target, release(kind, rng, rows).astype(np.float64))
        assert agrees(law, score, member)
        finite = np.isfinite(score)
        assert not agrees(law, np.where(finite, score + 0.1 * score[finite].std(), score), member)


@pytest.mark.evidence
def test_noisy_gaussian_ratios_have_unequal_weights() -> None:
    data, sampler, _ = SAMPLERS["gaussian"]
    target = np.full(D, 1.5)
    attack = mi.LikelihoodRatio(MECHANISMS["gaussian noise"], data, N)
    law = exact_law(mi.FixedTarget(MECHANISMS["gaussian noise"], data, N, target), attack)
    assert type(law).__name__ == "InvertedLaw"
    for member in (False, True):
        score = play(sampler, "gaussian noise", target, member, attack)
        assert agrees(law, score, member)
        assert not agrees(law, score + 0.1 * score.std(), member)


def test_a_probability_off_by_a_hundredth_shows() -> None:
    data, sampler, target = SAMPLERS["bernoulli"]
    attack = mi.CovarianceScore(data, N)
    wrong = exact_law(mi.FixedTarget(MEAN, mi.Bernoulli(P + 0.01), N, target), attack)
    assert not agrees(wrong, play(sampler, "mean", target, False, attack), False)
