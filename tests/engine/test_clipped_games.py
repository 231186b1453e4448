"""Games of clipped steps: scores, bits, units, and which sampler plays."""

import equinox as eqx
import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from numpy.polynomial.chebyshev import chebval
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.random.counter import GameDraws
from mipsim.engine.samplers.clipped import chi_of_normal, clipped_sampler, four_normals, starts
from tests.engine.kinds import problem
from tests.law_agreement import follows

N, D = 12, 22  # 22: the last group of four is half empty
RNG = np.random.default_rng(0)
MEAN, VARIANCE = RNG.normal(0.0, 0.4, D), RNG.uniform(0.5, 2.0, D)
TARGET = MEAN + 2.0 * RNG.normal(size=D)
WEIGHTS = TARGET - MEAN + RNG.normal(size=D)
CLIP, SIGMA = 5.0, 0.4


@pytest.mark.evidence
def test_scores_are_those_of_the_records_in_float64():
    rng = np.random.default_rng(3)
    data = mi.Gaussian(rng.normal(0.0, 20.0, 37), rng.uniform(0.5, 1.5, 37))  # means that float32 rounds
    game = mi.FixedTarget(mi.SGDStep(120.0, 0.0), data, n=90, target=data.typical_target(1))
    attack = mi.CovarianceScore(data, n=90)
    with exact_scope():
        sampler = clipped_sampler(problem(game, attack, transform=False))
        assert sampler is not None
        law, place = sampler.records, jnp.int64(0)
        draws = GameDraws(jnp.array([0, 5], jnp.uint32), place, place, jnp.arange(40, dtype=jnp.uint64))
        scores = np.asarray(eqx.filter_jit(sampler.scores)(draws))
        start = jax.vmap(lambda g: starts(jnp.arange(90), draws._replace(games=g)))(draws.games)[..., None]
        four = np.array(law.draw(jnp.arange(law.groups, dtype=jnp.uint32), start), np.float64)
        records = float(law.unit) * (four + np.asarray(law.grouped(law.lost))[:, None, None])
        records *= np.minimum(1.0, 120.0 / np.sqrt((records**2).sum(axis=(0, 3))))[..., None]
        weights = np.asarray(law.grouped(attack.weights(jnp.asarray(game.target))))
        expected = np.einsum("igrk,ik->g", records, weights) / 90
        expected = expected + float(attack.offset(jnp.asarray(game.target)))
    assert np.abs(scores - expected).max() < 1e-4 * float(np.std(expected))


@pytest.mark.evidence
def test_the_units_of_the_records_do_not_matter():
    scaled = 1e-30  # squares of which float32 does not hold
    game, small = (
        mi.FixedTarget(mi.SGDStep(CLIP * s, SIGMA), mi.Gaussian(MEAN * s, VARIANCE * s**2), N, TARGET * s)
        for s in (1.0, scaled)
    )
    edges = np.linspace(-3.0, 3.0, 50) + 0.5
    item = mi.play(game, lambda t, o: o @ WEIGHTS + 0.5, 500, edges=edges, progress=False)
    two = mi.play(small, lambda t, o: (o / scaled) @ WEIGHTS + 0.5, 500, edges=edges, progress=False)
    assert np.abs(item.out - two.out).sum() <= 4  # a score on either side of an edge by rounding


@pytest.mark.evidence
def test_four_normals():
    with exact_scope():
        words = jnp.asarray(np.random.default_rng(1).integers(0, 2**64, (2, 500_000), np.uint64))
        sample = np.stack([np.asarray(z, np.float64) for z in four_normals(*words)])
    for z in sample:
        assert follows(z, stats.norm.cdf)
        assert not follows(1.03 * z, stats.norm.cdf)
    # Pairs of a word: (a, b) and the squares are uncorrelated, to 6.1 standard errors (1e-9).
    for power in (1, 2):
        assert (np.abs(np.corrcoef(sample**power) - np.eye(4)) < 6.2 / np.sqrt(500_000)).all()
    assert (np.abs((sample**4).mean(axis=1) - 3.0) < 6.2 * np.sqrt(96 / 500_000)).all()  # Var Z^4 = 105 - 9


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 98, 4998, 10**6])
def test_chi_as_a_function_of_a_normal(degrees):
    coefficients = chi_of_normal(degrees)
    for z in (-6.0, -2.5, 0.0, 1.0, 4.0, 7.0):
        chi = float(chebval(z / 8.7, coefficients))
        with mpmath.workdps(40):
            half, square = mpmath.mpf(degrees) / 2, mpmath.mpf(chi) ** 2 / 2
            # the tail that is small, so that its relative error shows; chi's density there turns it into an error of chi
            if z < 0:
                level, wanted = mpmath.gammainc(half, 0, square, regularized=True), mpmath.ncdf(z)
            else:
                level, wanted = mpmath.gammainc(half, square, regularized=True), mpmath.ncdf(-z)
            density = mpmath.exp(
                (2 * half - 1) * mpmath.log(chi) - square - mpmath.loggamma(half)
            ) / mpmath.power(2, half - 1)
            error = float(abs(level - wanted) / density)
        assert error < max(2e-9, 2e-11 * np.sqrt(degrees))
