"""Normals and chi-squares of the projected games have their laws, far into the tails."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from mipsim._precision import exact_scope
from mipsim.engine.random.counter import Draws, chi_square, normals, words_of
from tests.law_agreement import FAILURE

GAMES = 2**20


def sampled(what, seed=1, world=0, games=GAMES):
    with exact_scope():
        words = jnp.array([0, seed], jnp.uint32)
        place = jnp.zeros((), jnp.int64), jnp.asarray(world, jnp.int64)
        numbers = jnp.arange(games, dtype=jnp.uint64)
        if what == "normal":
            return np.asarray(jax.jit(normals)(Draws(words, *place, numbers)))
        draw = jax.jit(lambda draws: chi_square(words_of(draws), what, games))
        return np.asarray(draw(Draws(words, *place, numbers)))


@pytest.mark.evidence
@pytest.mark.parametrize("what", ["normal", 1, 2, 3, 20, 4999])
def test_the_law_by_chi_square(what):
    law = stats.norm() if what == "normal" else stats.chi2(what)
    bins = 4096
    counts = np.bincount((law.cdf(sampled(what)) * bins).astype(int), minlength=bins)
    statistic = np.sum((counts - GAMES / bins) ** 2 / (GAMES / bins))
    assert stats.chi2.sf(statistic, bins - 1) >= FAILURE


def test_tails_are_fine_grained():
    tail = np.sort(sampled("normal", games=2**22))[-64:]
    assert tail.dtype == np.float64
    assert np.unique(tail).size == 64  # float32 normals have a handful of values out here
    # P(max of 2^22 > 7.2) and P(max < 4.3) are below 2e-6 and 1e-15.
    assert 4.3 < tail[-1] < 7.2


def test_the_two_of_a_pair_and_the_worlds_are_independent():
    first = sampled("normal")
    pairs = first.reshape(2, -1)
    # 6.2 standard deviations of a mean of products: 1e-9.
    for a, b in ((*pairs,), (first, sampled("normal", world=1)), (first, sampled("normal", seed=2))):
        assert abs(np.mean(a * b)) < 6.2 / np.sqrt(a.size)
        assert abs(np.mean((a**2 - 1) * (b**2 - 1))) < 6.2 * 2 / np.sqrt(a.size)


def test_no_degrees_of_freedom_are_zero():
    assert not sampled(0, games=16).any()


def test_the_variance_of_a_normal_is_1():
    """Within 6.2 standard errors, passed by chance with probability 1e-9; an error of 1% is 7 of them."""
    squares = sampled("normal") ** 2
    assert abs(squares.mean() - 1.0) < 6.2 * np.sqrt(2.0 / squares.size)
    assert abs((0.99 * squares).mean() - 1.0) > 6.2 * np.sqrt(2.0 / squares.size)
