"""A small game for every sampler of the engine and for every family of classes."""

import numpy as np

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.route import build_sampler
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.multi_score import many_targets_sampler

GAMES = 2_000
EDGES = np.linspace(-2.0, 2.0, 17)


def small_games() -> dict[str, tuple[mi.AbstractGame, mi.AbstractAttack]]:
    """(game, attack) by a short name."""
    coins, two = mi.Bernoulli([0.3, 0.6]), [1.0, -1.0]
    normal = mi.Gaussian([0.0, 1.0], [1.0, 2.0])
    full = mi.Gaussian([0.0, 0.0], [[1.0, 0.3], [0.3, 1.0]])
    records = np.arange(12.0).reshape(6, 2) / 4
    noisy = mi.GaussianNoise(mi.Subsampled(mi.EmpiricalMean(), 0.5), 0.5)
    mean, plain = mi.EmpiricalMean(), mi.ScalarProduct([0.0, 0.0])
    poisson = mi.PoissonSubsampled(mean, 0.5)

    def fixed(mechanism: mi.AbstractMechanism, data: mi.AbstractDistribution) -> mi.FixedTarget:
        return mi.FixedTarget(mechanism, data, n=8, target=two)

    def fixed_coins(mechanism: mi.AbstractMechanism) -> mi.FixedTarget:
        return mi.FixedTarget(mechanism, coins, n=10, target=[1.0, 0.0])

    def fixed_many(mechanism: mi.AbstractMechanism) -> mi.FixedTarget:
        return mi.FixedTarget(mechanism, coins, n=10**6, target=[500.0, -500.0])

    laws: dict[str, mi.AbstractDistribution] = {
        "discrete": mi.Discrete([-1.0, 0.0, 2.0], [0.2, 0.3, 0.5], d=2),
        "exponential": mi.Exponential(1.0, d=2),
        "laplace": mi.Laplace(0.0, 1.0, d=2),
        "student": mi.StudentT(5.0, d=2),
        "uniform": mi.Uniform(-1.0, 1.0, d=2),
    }
    coin = mi.Subsampled(mi.GaussianNoise(mean, 0.3), 0.5)
    wide, many = mi.Gaussian(0.2, 1.0, d=40), np.linspace(-1.0, 1.0, 40)
    tilted = mi.Gaussian(np.linspace(0.0, 0.4, 40), np.linspace(0.5, 2.0, 40))
    step = mi.SGDStep(3.0, 0.5)

    return {
        # A run for each of the engine's samplers, then a run for each family of classes.
        "normal": (mi.FixedTarget(coin, normal, n=8, target=two), mi.CovarianceScore(normal, n=8)),
        "poisson-normal": (fixed(poisson, normal), mi.CovarianceScore(normal, n=8)),
        "random-normal": (mi.RandomTarget(mean, normal, n=8), mi.CovarianceScore(normal, n=8)),
        "records": (fixed(coin, mi.Empirical(records)), plain),
        "poisson-records": (fixed(poisson, mi.Empirical(records)), plain),
        "table-with-coin": (
            mi.FixedTarget(coin, coins, n=20, target=[1.0, 0.0]),
            mi.CovarianceScore(coins, n=20),
        ),
        "table-of-ratios": (fixed_coins(mean), mi.LikelihoodRatio(mean, coins, 10)),
        "random-table": (mi.RandomTarget(mean, coins, n=10), mi.CovarianceScore(coins, n=10)),
        "random-cells": (mi.RandomTarget(mean, coins, n=10**6), plain),
        "noisy-cells": (fixed_many(mi.LaplaceNoise(mean, 1e-4)), mi.CovarianceScore(coins, n=10**6)),
        "clipped-law": (mi.FixedTarget(step, wide, n=8, target=many), mi.CovarianceScore(wide, n=8)),
        "clipped-scores": (mi.FixedTarget(step, tilted, n=8, target=many), mi.CovarianceScore(tilted, n=8)),
        "covariance": (mi.FixedTarget(mean, coins, n=10, target=[1.0, 0.0]), mi.CovarianceScore(coins, n=10)),
        "ratio": (mi.FixedTarget(noisy, normal, n=8, target=two), mi.LikelihoodRatio(noisy, normal, 8)),
        "gaussian-ratio": (fixed(mean, full), mi.GaussianLikelihoodRatio(full, n=8)),
        "glir": (fixed(mean, full), mi.GLiR(full, n=8)),
        "random-target": (mi.RandomTarget(mean, mi.Empirical(records), n=8), plain),
        "laplace-noise": (fixed(mi.LaplaceNoise(mean, 0.1), normal), plain),
        "norm-noise": (fixed(mi.NormNoise(mean, scale=0.5, coordinate_scale=2.0), normal), plain),
        "clipped-step": (fixed(mi.SGDStep(1.0, 0.5), normal), plain),
        "incommensurable": (
            mi.RandomTarget(mean, mi.Discrete([-1.0, 0.0, np.sqrt(2.0)], [0.2, 0.3, 0.5], d=2), n=40),
            plain,
        ),
        "median-of-coins": (fixed_coins(mi.Median()), plain),
        "median": (fixed(mi.Median(), normal), plain),
        "poisson": (fixed(poisson, laws["laplace"]), plain),
        "subset": (mi.Subset(mean, records, target=2), plain),
        **{name: (fixed(mean, law), mi.CovarianceScore(law, n=8)) for name, law in laws.items()},
    }


def every_sampler() -> dict[str, AbstractSampler]:
    """A sampler of every kind: those of the small games by their names, then those that only other entry points use."""
    with exact_scope():
        games = small_games()
        built = {name: build_sampler(game, attack, "auto") for name, (game, attack) in games.items()}
        game, attack = games["covariance"]
        assert isinstance(game, mi.FixedTarget)
        targets = game.target[None, :]
        built["many-literal"] = many_targets_sampler(game, attack, targets, "literal")
        built["many-targets"] = many_targets_sampler(game, attack, targets, "sufficient")
    return built
