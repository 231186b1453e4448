"""The kernels of cells against exact laws, against draws of SciPy's binomials and against literal records, at many records."""

from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine import counting
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.cells import cell_sampler
from mipsim.engine.samplers.fixed_point import Reach
from mipsim.engine.samplers.literal import law_sampler
from mipsim.engine.samplers.table import Sum
from mipsim.exact import exact_law
from tests.engine.kinds import kind_of, problem
from tests.engine.one_sample import FAILURE, even_edges, kolmogorov_smirnov_p
from tests.engine.two_sample import two_sample_p

N, GAMES = 10**6, 200_000
P = np.array([0.5, 0.3, 0.71, 0.02, 0.44, 0.9])  # cells of 16, 8 and 4 counts
DATA, MEAN = mi.Bernoulli(P), mi.EmpiricalMean()
POINT = DATA.easiest_target()
HALF = mi.Subsampled(MEAN, 0.5)
SCALE = 1 / np.sqrt(N)  # of the noise, so that it is as wide as the mean itself


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


CASES = {
    "covariance": (fixed(), mi.CovarianceScore(DATA, n=N)),
    "product": (fixed(point=[0.3, 1.0, -2.5, 7.1, 0.0, 1.0]), mi.ScalarProduct(P)),
    "coin and ratio": (fixed(HALF), mi.LikelihoodRatio(HALF, DATA, n=N)),
    "noise": (fixed(mi.GaussianNoise(MEAN, 0.5)), mi.CovarianceScore(DATA, n=N)),
}


SLOW = pytest.mark.slow


@pytest.mark.evidence
@pytest.mark.parametrize(
    "name",
    ["covariance", "coin and ratio", pytest.param("product", marks=SLOW), pytest.param("noise", marks=SLOW)],
)
def test_it_draws_the_exact_law(name):
    """A chi-square of a thousand bins against the law, and the worlds distinguished where a target moves its mean enough."""
    game, attack = CASES[name]
    law = exact_law(game, attack)
    result = mi.play(game, attack, GAMES, seed=5, edges=even_edges(law, 1000), progress=False)
    assert (result.manifest["sampler"], result.manifest["fidelity"]) == ("cells", "sufficient")
    for inside in (False, True):
        bins, p = kolmogorov_smirnov_p(result, law, inside=inside)
        assert bins > 900
        assert p >= FAILURE


@pytest.mark.evidence
def test_a_mean_that_is_off_by_three_hundredths_of_a_deviation_is_rejected():
    """The control of the check above: the non-centrality of its chi-square is 200,000 x 0.03^2 / 2 with both halves of the mean."""
    game, attack = CASES["covariance"]
    weights = (POINT - P) / (P * (1 - P))
    away = 0.06 * weights * P * (1 - P) / np.sqrt(np.sum(weights**2 * P * (1 - P)) * N)
    law = exact_law(game, attack)
    moved = mi.play(
        fixed(data=mi.Bernoulli(P + away)), attack, GAMES, seed=5, edges=even_edges(law, 64), progress=False
    )
    critical = stats.chi2.isf(FAILURE, 63)
    assert stats.ncx2.sf(critical, 63, 0.9 * GAMES * 0.06**2) > 1 - 1e-6  # 0.9: what binning may lose
    assert kolmogorov_smirnov_p(moved, law, inside=False)[1] < FAILURE


NOISY = mi.GaussianNoise(MEAN, 0.5)
RANDOM = {
    "covariance, coin": (HALF, mi.CovarianceScore(DATA, n=N // 2)),
    "covariance, noise": (NOISY, mi.CovarianceScore(DATA, n=N)),
    "ratio": (MEAN, mi.LikelihoodRatio(MEAN, DATA, n=N)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOM)
def test_random_targets_agree_with_the_law_of_the_output(name):
    """Two samples: the other is of JAX's own binomials."""
    mechanism, attack = RANDOM[name]
    game = mi.RandomTarget(mechanism, DATA, n=N)
    result = mi.play(game, attack, GAMES, seed=1, progress=False)
    assert result.manifest["sampler"] == "cells"
    with exact_scope():
        other = on_device(law_sampler(game, attack))
        counts, _ = counting.Counter(other, [result.edges], seed=2)(0, 40_000)
    for mine, theirs in zip((result.out, result.inside), counts[:, 0], strict=True):
        bins, p = two_sample_p(mine, theirs[:-1])
        assert bins > 300
        assert p >= FAILURE


@pytest.mark.evidence
def test_a_random_coordinate_has_the_law_of_its_pair():
    """Score = bit x count / n: an atom at zero and a binomial law that knows of the bit, at two thousand bins."""
    p = 0.37
    game = mi.RandomTarget(MEAN, mi.Bernoulli([p]), n=N)
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], N, p)
    edges = np.concatenate([[0.5], np.linspace(low, high, 2000).round() + 0.5]) / N
    result = mi.play(game, mi.ScalarProduct([0.0]), 1_000_000, edges=edges, progress=False)
    counts = np.floor(edges * N)
    for bins, trials, bit in ((result.out, N, 0), (result.inside, N - 1, 1)):
        cdf = 1 - p + p * stats.binom.cdf(counts - bit, trials, p)
        law = np.diff(np.concatenate([[0.0], cdf, [1.0]]))
        used = law * 1e6 > 20
        statistic = np.sum((bins[used] - 1e6 * law[used]) ** 2 / (1e6 * law[used]))
        assert used.sum() > 1000
        assert stats.chi2.sf(statistic, used.sum() - 1) >= FAILURE


@pytest.mark.slow
def test_cells_agree_with_literal_records():
    n, data = 30_000, mi.Bernoulli([0.5, 0.45])
    game, attack = fixed(n=n, data=data, point=[1.0, 0.0]), mi.CovarianceScore(data, n=n)
    fast = mi.play(game, attack, 50_000, seed=1, progress=False)
    literal = mi.play(game, attack, 4_000, seed=2, fidelity="literal", edges=fast, progress=False)
    assert (fast.manifest["sampler"], literal.manifest["sampler"]) == ("cells", "literal")
    for a, b in ((fast.out, literal.out), (fast.inside, literal.inside)):
        bins, p = two_sample_p(a, b)
        assert bins > 300
        assert p >= FAILURE


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
@pytest.mark.parametrize("kind", ["fixed", pytest.param("random", marks=SLOW)])
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


@pytest.mark.evidence
def test_any_attack_and_noise_draws_the_columns_from_cells():
    """A function hides that a score is additive; Laplace noise has no table. Against the exact law of the score."""
    laplace = fixed(mi.LaplaceNoise(MEAN, SCALE))
    attack = mi.CovarianceScore(DATA, n=N)
    law = exact_law(laplace, attack)
    result = mi.play(laplace, attack, 60_000, seed=4, edges=even_edges(law, 500), progress=False)
    assert kind_of(laplace, attack) == "CellColumns"
    for inside in (False, True):
        assert kolmogorov_smirnov_p(result, law, inside=inside)[1] >= FAILURE
    plain = exact_law(fixed(), attack)
    own = mi.play(
        fixed(),
        lambda target, output: attack.score(target, output),
        60_000,
        edges=even_edges(plain, 500),
        progress=False,
    )
    assert kind_of(fixed(), lambda target, output: attack.score(target, output)) == "CellColumns"
    for inside in (False, True):
        assert kolmogorov_smirnov_p(own, plain, inside=inside)[1] >= FAILURE
    assert kolmogorov_smirnov_p(own, law, inside=False)[1] < FAILURE  # without the noise
    sample = mi.play(
        mi.RandomTarget(MEAN, DATA, n=N),
        lambda target, output: target.sum(),
        60_000,
        edges=np.arange(6) + 0.5,
        progress=False,
    )
    bits = np.ones(1)
    for p in P:
        bits = np.convolve(bits, [1 - p, p])
    for counts in (sample.out, sample.inside):
        assert stats.chisquare(counts, 60_000 * bits).pvalue >= FAILURE


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
