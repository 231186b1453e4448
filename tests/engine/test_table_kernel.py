"""The table kernel against the exact law of the score, enumerated."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.fixed_point import IMPOSSIBLE, Reach
from mipsim.engine.samplers.table import table_sampler
from tests.engine.kinds import problem
from tests.law_agreement import has_frequencies

P = np.array([0.3, 0.55, 0.7])
DATA = mi.Bernoulli(P)
GAMES = 200_000


def score_law(attack, target, rows, member):
    """Every possible score of the mean of `rows` records, with its probability."""
    sample = rows - 1 if member else rows
    totals = [np.arange(sample + 1) + (z if member else 0) for z in target]
    masses = [stats.binom.pmf(np.arange(sample + 1), sample, p) for p in P]
    with exact_scope():
        points = np.array(list(product(*totals))) / rows
        scores = np.array([float(attack.score(jnp.asarray(target), jnp.asarray(x))) for x in points])
    return scores, np.array([np.prod(m) for m in product(*masses)])


def edges_between(scores):
    """Thresholds midway between the possible scores, so that rounding cannot matter."""
    values = np.unique(scores[np.isfinite(scores)])
    values = values[np.concatenate([[True], np.diff(values) > 1e-9])]
    return (values[1:] + values[:-1]) / 2


def expected(scores, masses, edges):
    return np.bincount(np.searchsorted(edges, scores), weights=masses, minlength=edges.size + 1)


TARGETS = {"corner": np.array([1.0, 0.0, 0.0]), "anywhere": np.array([0.3, -2.5, 7.1])}
CASES = [
    (n, attack, target)
    for n in (2, 5)
    for attack in ("covariance", "ratio", "product")
    for target in TARGETS
    if (attack, target) != ("ratio", "anywhere")
]


def build(attack, mechanism, n, target):
    if attack == "ratio":
        return mi.LikelihoodRatio(mechanism, DATA, n=n, target=target)
    if attack == "covariance":
        return mi.CovarianceScore(DATA, n=n)
    return mi.ScalarProduct(np.array([0.5, -1.0, 2.0]))


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "attack", "target"), CASES)
def test_it_draws_the_exact_law(n, attack, target):
    point = TARGETS[target]
    game = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=n, target=point)
    known = build(attack, game.mechanism, n, point)
    laws = [score_law(known, point, n, member) for member in (False, True)]
    edges = edges_between(np.concatenate([s for s, _ in laws]))
    histogram = mi.play(game, known, GAMES, edges=edges, progress=False)
    assert histogram.manifest["sampler"] == "table"
    for counts, law in zip((histogram.out, histogram.inside), laws, strict=True):
        assert has_frequencies(counts, expected(*law, edges))


def test_a_wrong_law_is_refused():
    game = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=5, target=TARGETS["corner"])
    attack = mi.CovarianceScore(DATA, n=5)
    law = score_law(attack, game.target, 5, member=False)
    edges = edges_between(law[0])
    histogram = mi.play(game, attack, GAMES, edges=edges, progress=False)
    assert not has_frequencies(histogram.inside, expected(*law, edges))


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["coin", "coin and ratio", "noise", "noise after coin", "coin after noise"])
def test_sub_sampling_and_noise(kind):
    n, rho, gamma, point = 4, 0.5, np.array([0.4, 0.0, 1.0]), TARGETS["corner"]
    mean = mi.EmpiricalMean()
    mechanism, rows, scale = {
        "coin": (mi.Subsampled(mean, rho), 2, None),
        "coin and ratio": (mi.Subsampled(mean, rho), 2, None),
        "noise": (mi.GaussianNoise(mean, gamma), 4, 4),
        "noise after coin": (mi.GaussianNoise(mi.Subsampled(mean, rho), gamma), 2, 4),
        "coin after noise": (mi.Subsampled(mi.GaussianNoise(mean, gamma), rho), 2, 2),
    }[kind]
    game = mi.FixedTarget(mechanism, DATA, n=n, target=point)
    attack = build("ratio" if "ratio" in kind else "covariance", mechanism, n, point)
    sample = rho if "coin" in kind else 1.0
    out, inside = (score_law(attack, point, rows, member) for member in (False, True))
    if scale is None:
        edges = edges_between(np.concatenate([out[0], inside[0]]))
        laws = [expected(*law, edges) for law in (out, inside)]
    else:
        with exact_scope():
            assert isinstance(attack, mi.CovarianceScore)
            weights = np.asarray(attack.weights(jnp.asarray(point)))
        sd = np.sqrt(np.sum(weights**2 * gamma**2) / scale)
        edges = np.linspace(out[0].min() - 2 * sd, inside[0].max() + 2 * sd, 200)
        laws = []
        for scores, masses in (out, inside):
            cdf = (stats.norm.cdf((edges[:, None] - scores) / sd) * masses).sum(axis=1)
            laws.append(np.diff(np.concatenate([[0.0], cdf, [1.0]])))
    histogram = mi.play(game, attack, GAMES, edges=edges, progress=False)
    assert histogram.manifest["sampler"] == "table"
    assert has_frequencies(histogram.out, laws[0])
    assert has_frequencies(histogram.inside, (1 - sample) * laws[0] + sample * laws[1])
    if sample < 1:
        assert not has_frequencies(histogram.inside, laws[1])


def test_ties_stay_ties():
    # Equal p make the covariance score a lattice: no score may fall between its points (the fixed point rounds the
    # lattice's step by less than 1e-8 of it).
    data = mi.Bernoulli(0.4, d=9)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=6, target=data.easiest_target())
    attack = mi.CovarianceScore(data, n=6)
    step = 1 / (0.4 * 6)  # (1 - p) / (p (1 - p)) / n
    with exact_scope():
        lowest = float(attack.score(jnp.asarray(game.target), jnp.zeros(9)))
    lattice = lowest + step * np.arange(55)
    edges = np.sort(np.concatenate([lattice - 1e-6, lattice + 1e-6]))
    histogram = mi.play(game, attack, 50_000, edges=edges, progress=False)
    assert histogram.out[::2].sum() == 0
    assert histogram.inside[::2].sum() == 0


@pytest.mark.evidence
def test_the_score_equals_the_attack_at_every_count():
    rng = np.random.default_rng(1)
    for d, n in ((1, 2), (6, 30), (11, 1000)):
        data = mi.Bernoulli(rng.uniform(0.05, 0.95, d))
        for attack in (mi.CovarianceScore(data, n=n), mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=n)):
            game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=data.typical_target())
            with exact_scope():
                sampler = table_sampler(problem(game, attack))
                assert sampler is not None
                low = np.asarray(_low(data.p, n))
                column = np.rint(n * data.p).astype(int) - low  # the likeliest count: surely tabulated
                total = _total(sampler, column)
                mean = jnp.asarray((low + column) / n)
                fast = float(sampler.attack.link(sampler.target, sampler.base + sampler.unit * total))
                slow = float(attack.score(jnp.asarray(game.target), mean))
            spread = float(np.sqrt(np.sum((np.asarray(mean) - data.mean) ** 2))) + 1.0
            assert fast == pytest.approx(slow, abs=1e-5 * spread)


def _total(sampler, columns):
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


def _low(p, n):
    from mipsim.distributions.binomial_table import binomial_table

    return binomial_table(n, p).low


def test_where_it_does_not_apply():
    point = DATA.easiest_target()
    mean, n = mi.EmpiricalMean(), 10
    fixed = mi.FixedTarget(mean, DATA, n=n, target=point)
    linear, ratio = mi.CovarianceScore(DATA, n=n), mi.LikelihoodRatio(mean, DATA, n=n)
    noisy = mi.FixedTarget(mi.GaussianNoise(mean, 0.5), DATA, n=n, target=point)
    laplace = mi.FixedTarget(mi.LaplaceNoise(mean, 0.5), DATA, n=n, target=point)
    gaussian = mi.FixedTarget(mean, mi.Gaussian(np.zeros(3), np.ones(3)), n=n, target=point)
    with exact_scope():
        assert table_sampler(problem(fixed, ratio)) is not None
        assert table_sampler(problem(noisy, linear)) is not None
        for game, attack in (
            (noisy, ratio),
            (laplace, linear),
            (gaussian, linear),
            (mi.RandomTarget(mean, mi.Discrete([0.0, 1.0], [0.5, 0.5], d=3), n=n), linear),
            (fixed, mi.FunctionAttack(lambda target, output: output.sum())),
        ):
            assert build_sampler(game, attack, "sufficient").name in ("columns", "exact draw")
    assert mi.Subsampled(mi.Subsampled(mean, 0.5), 0.5).plain_mean(8) is not None


def test_a_contribution_that_is_not_a_number_is_named():
    game = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=4, target=[0.5, 1.0, 0.0])
    attack = mi.LikelihoodRatio(mi.EmpiricalMean(), DATA, n=4)
    with pytest.raises(ValueError, match=r"LikelihoodRatio contributes nan at coordinate 0"):
        mi.play(game, attack, 10, progress=False)
