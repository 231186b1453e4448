"""The kernels of cells at many records: scores, bits, ties, and where they do not apply."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine import counting
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.cells import cell_sampler
from mipsim.engine.samplers.fixed_point import Reach
from mipsim.engine.samplers.table import Sum
from tests.engine.kinds import kind_of, problem

N = 10**6
P = np.array([0.5, 0.3, 0.71, 0.02, 0.44, 0.9])  # cells of 16, 8 and 4 counts
DATA, MEAN = mi.Bernoulli(P), mi.EmpiricalMean()
POINT = DATA.easiest_target()
HALF = mi.Subsampled(MEAN, 0.5)


class Cubes(mi.AbstractAdditiveAttack):
    """Smooth terms that are no line."""

    def contributions(self, target, output):
        return (target - 0.3) * output**3

    def link(self, target, total):
        return total


class Steps(mi.AbstractAdditiveAttack):
    """Terms that jump within a cell."""

    def contributions(self, target, output):
        return jnp.floor(output * 1e5) * 1e-5

    def link(self, target, total):
        return total


def fixed(mechanism: mi.AbstractMechanism = MEAN, n=N, data=DATA, point: Any = POINT):
    return mi.FixedTarget(mechanism, data, n=n, target=point)


def score_at(sampler, columns, within, side):
    """The score that the kernel finds where coordinate j has this place within this cell."""
    width = 1 << sampler.bits
    reach = Reach(width, side * width, width, jnp.uint32(0))
    total = int(sampler.terms.start(jnp.full(1, side, jnp.uint32))[0])
    for j, (column, place) in enumerate(zip(columns, within, strict=True)):
        at = jnp.asarray([(int(column) << int(sampler.cells.shifts[j])) + int(place)], jnp.uint32)
        total += int(sampler.terms.of(jnp.asarray(j), at, reach)[0])
    return float(sampler.attack.link(sampler.target, sampler.base + sampler.unit * total))


@pytest.mark.evidence
@pytest.mark.parametrize(
    "attack", [mi.CovarianceScore(DATA, n=N), mi.LikelihoodRatio(MEAN, DATA, n=N), Cubes()]
)
def test_the_score_equals_the_attack_at_every_place(attack):
    """To 1e-8 of the spread where it is linear: weights have 31 bits, and a count is 6,400 at most, to 1e-4 where lines stand for its terms."""
    rng, law = np.random.default_rng(2), np.sqrt(P * (1 - P) / N)
    with exact_scope():
        sampler = cell_sampler(problem(fixed(), attack))
        assert sampler is not None
        assert sampler.cells is not None
        linear = isinstance(attack, mi.AbstractLinearAttack)
        assert isinstance(sampler.attack, Sum if linear else type(attack))
        layout_low = np.asarray(_low())
        spread = np.std(
            [float(attack.score(jnp.asarray(POINT), jnp.asarray(rng.normal(P, law)))) for _ in range(400)]
        )
        for side in (0, 1):
            for _ in range(50):
                columns, within = rng.integers(130, 330, 6), rng.integers(0, 4, 6)
                counts = (
                    layout_low + (columns << np.asarray(sampler.cells.shifts)[:6]) + within + side * POINT
                )
                mine = score_at(sampler, columns, within, side)
                close = 1e-8 if isinstance(attack, mi.CovarianceScore) else 1e-4
                assert (
                    abs(mine - float(attack.score(jnp.asarray(POINT), jnp.asarray(counts / N))))
                    < close * spread
                )


def _low():
    from mipsim.distributions.binomial_cells import binomial_cells, cell_layout

    layout = cell_layout(N, P)
    assert layout is not None
    return binomial_cells(N, P, layout).low


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["fixed", pytest.param("random", marks=pytest.mark.slow)])
def test_counts_depend_on_neither_chunk_nor_threads_nor_block(kind):
    game, attack = {
        "fixed": (fixed(HALF), mi.CovarianceScore(DATA, n=N // 2)),
        "random": (mi.RandomTarget(HALF, DATA, n=N), mi.LikelihoodRatio(HALF, DATA, n=N)),
    }[kind]
    whole = mi.play(game, attack, 40_000, seed=3, workers=1, progress=False)
    parts = [
        mi.play(game, attack, part, seed=3, edges=whole, chunk=1, workers=2, progress=False)
        for part in (range(777), range(777, 40_000))
    ]
    assert np.array_equal(whole.out, (parts[0] + parts[1]).out)
    assert np.array_equal(whole.inside, (parts[0] + parts[1]).inside)
    with exact_scope():
        sampler = replace(on_device(build_sampler(game, attack, "auto")), block=1024)
        counts, _ = counting.Counter(sampler, [whole.edges], seed=3)(0, 40_000)
    assert np.array_equal(whole.out, counts[0, 0, :-1])
    assert np.array_equal(whole.inside, counts[1, 0, :-1])


def most_total(sampler):
    """A bound on the totals of any games, however unlikely."""
    start = np.asarray(sampler.terms.start(jnp.arange(2, dtype=jnp.uint32)))
    assert start.dtype == np.int64
    most, width = int(np.abs(start).max()), 1 << sampler.bits
    cells = np.arange(1 << sampler.cells.bits, dtype=np.uint32)
    for j, shift in enumerate(np.asarray(sampler.cells.shifts)[: P.size]):
        places = np.concatenate([cells << shift, ((cells + 1) << shift) - 1])
        if sampler.cells.has_bit:
            places = np.concatenate([places, places | np.uint32(1 << 31)])
        reaches = (Reach(width, side * width, width, jnp.uint32(0)) for side in (0, 1))
        terms = (sampler.terms.of(jnp.asarray(j), jnp.asarray(places), reach) for reach in reaches)
        most += max(int(jnp.abs(item).max()) for item in terms)
    return most


@pytest.mark.evidence
def test_totals_have_their_own_bits_on_every_device():
    """They stay below 2^53, whatever comes up, so that a float64 holds them: only then is a score the same everywhere."""
    random, far = mi.RandomTarget(MEAN, DATA, n=N), fixed(point=np.array([1e9, 0.0, -3e7, 1.0, 1.0, 0.0]))
    covariance, ratio = mi.CovarianceScore(DATA, n=N), mi.LikelihoodRatio(MEAN, DATA, n=N)
    with exact_scope():
        for sampler in (
            cell_sampler(problem(fixed(), covariance)),
            cell_sampler(problem(far, covariance)),
            cell_sampler(problem(fixed(), ratio)),
            cell_sampler(problem(random, covariance)),
            cell_sampler(problem(random, mi.ScalarProduct(np.zeros(6)))),
            cell_sampler(problem(random, ratio)),
        ):
            assert sampler is not None
            assert most_total(sampler) < 2**53


@pytest.mark.evidence
def test_scores_that_tie_stay_tied():
    """Equal weights: the score is the number of ones, and counts fall on whole numbers only."""
    data, n = mi.Bernoulli(0.4, d=9), 10**6
    lattice = np.arange(9 * n * 0.4 - 5000, 9 * n * 0.4 + 5000)
    edges = np.sort(np.concatenate([lattice - 0.01, lattice + 0.01])) / n
    game = mi.FixedTarget(MEAN, data, n=n, target=np.ones(9))
    result = mi.play(game, mi.ScalarProduct(np.zeros(9)), 20_000, edges=edges, progress=False)
    assert result.manifest["sampler"] == "cells"
    assert result.out[2:-1:2].sum() == result.inside[2:-1:2].sum() == 0


def test_where_it_does_not_apply():
    narrow, linear = fixed(n=1000), mi.CovarianceScore(DATA, n=1000)
    with exact_scope():
        assert build_sampler(narrow, linear, "auto").name == "table"
        assert build_sampler(fixed(), Steps(), "auto").name == "table"  # whose counts are all in it
        assert build_sampler(fixed(n=2**53), mi.CovarianceScore(DATA, n=2**53), "auto").name == "exact draw"
        assert kind_of(mi.RandomTarget(MEAN, DATA, n=N), Cubes()) == "CellColumns"


def test_counts_of_the_law_are_read_and_never_mixed(tmp_path):
    """As such games were played before there were cells."""
    game, attack, path = fixed(), mi.CovarianceScore(DATA, n=N), tmp_path / "run.npz"
    mine = mi.play(game, attack, 500, edges=[0.0], progress=False)
    old = mi.Histogram(mine.edges, mine.out, mine.inside, {**mine.manifest, "sampler": "exact draw"})
    old.save(path)
    assert mi.Histogram.load(path).manifest["sampler"] == "exact draw"
    with pytest.raises(ValueError, match="sampler"):
        mi.play(game, attack, 1000, edges=[0.0], checkpoint=path, progress=False)
    with pytest.raises(ValueError, match="sampler"):
        _ = old + mi.play(game, attack, range(500, 1000), edges=[0.0], progress=False)
