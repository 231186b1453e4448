"""The table kernel: scores, bits, ties, and where it applies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.distributions.binomial_table import binomial_table
from mipsim.engine.samplers.fixed_point import IMPOSSIBLE, Reach
from mipsim.engine.samplers.table import pair_law, table_sampler
from tests.engine.kinds import problem

MEAN = mi.EmpiricalMean()


@pytest.mark.parametrize("random", [pytest.param(False, marks=pytest.mark.evidence), True])
def test_ties_stay_ties(random: bool) -> None:
    """Scores on a lattice: none may fall between its points (the fixed point rounds the lattice's step by less than 1e-8 of it)."""
    data = mi.Bernoulli(0.4, d=9)
    if random:  # the number of ones in the columns of the target's ones, over n
        lattice, attack = np.arange(55) / 6, mi.ScalarProduct(np.zeros(9))
        game = mi.RandomTarget(MEAN, data, n=6)
    else:
        game, attack = (
            mi.FixedTarget(MEAN, data, n=6, target=data.easiest_target()),
            mi.CovarianceScore(data, n=6),
        )
        with exact_scope():
            lowest = float(attack.score(jnp.asarray(game.target), jnp.zeros(9)))
        lattice = lowest + np.arange(55) / (0.4 * 6)  # (1 - p) / (p (1 - p)) / n
    edges = np.sort(np.concatenate([lattice - 1e-6, lattice + 1e-6]))
    played = mi.play(game, attack, 50_000, edges=edges, progress=False)
    assert played.manifest["sampler"] == "table"
    assert played.out[::2].sum() == played.inside[::2].sum() == 0


@pytest.mark.evidence
def test_the_score_equals_the_attack_at_every_count() -> None:
    rng = np.random.default_rng(1)
    for d, n in ((1, 2), (6, 30), (11, 1000)):
        data = mi.Bernoulli(rng.uniform(0.05, 0.95, d))
        for attack in (mi.CovarianceScore(data, n=n), mi.LikelihoodRatio(MEAN, data, n=n)):
            game = mi.FixedTarget(MEAN, data, n=n, target=data.typical_target())
            with exact_scope():
                sampler: Any = table_sampler(problem(game, attack))
                low = np.asarray(binomial_table(n, data.p).low)
                column = np.rint(n * data.p).astype(int) - low  # the likeliest count: surely tabulated
                mean = jnp.asarray((low + column) / n)
                fast = float(
                    sampler.attack.link(sampler.target, sampler.base + sampler.unit * total(sampler, column))
                )
                slow = float(attack.score(jnp.asarray(game.target), mean))
            spread = float(np.sqrt(np.sum((np.asarray(mean) - data.mean) ** 2))) + 1.0
            assert fast == pytest.approx(slow, abs=1e-5 * spread)


def total(sampler: Any, columns: np.ndarray) -> Any:
    """The fixed-point total of these counts without the target, modulo 2^32, or -inf."""
    width = 1 << sampler.bits
    reach = Reach(width, 0, width, jnp.uint32(0))
    shares = [
        int(sampler.terms.of(jnp.asarray(j), jnp.asarray(c, jnp.uint32), reach))
        for j, c in enumerate(columns)
    ]
    if IMPOSSIBLE in shares:
        return -np.inf
    start = int(sampler.terms.start(jnp.zeros(1, jnp.uint32))[0])
    return np.int64(start + sum(shares)).astype(np.uint32).astype(np.int32)


def test_pairs_have_their_law_at_any_size() -> None:
    """Each side against SciPy's binomials, to the units 2^-32 in which the tables store masses."""
    for rows, p in ((2, [0.5]), (7, [0.01, 0.99]), (1000, [0.25, 0.4, 0.75]), (100_000, [1e-4, 0.3])):
        low, law = pair_law(rows, np.array(p))
        assert np.allclose(law.sum(axis=(2, 3)), 1.0, rtol=0, atol=1e-12)
        for j, q in enumerate(p):
            sums = low[j] + np.arange(law.shape[3])
            for bit, of_bit in ((0, 1 - q), (1, q)):
                out, inside = stats.binom.pmf(sums, rows, q), stats.binom.pmf(sums - bit, rows - 1, q)
                assert np.abs(law[j, 0, bit] - of_bit * out).max() < 1e-9
                assert np.abs(law[j, 1, bit] - of_bit * inside).max() < 1e-9
