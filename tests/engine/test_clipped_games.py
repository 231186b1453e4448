"""Games of clipped steps: every sampler has the law of a plain NumPy game, and a biased sampler is rejected."""

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
from mipsim.engine.random.counter import Draws
from mipsim.engine.random.float32_normals import four_normals
from mipsim.engine.samplers.clipped import chi_of_normal, clipped_sampler, starts
from tests.engine.kinds import kind_of, problem
from tests.engine.two_sample import FAILURE, two_sample_p
from tests.law_agreement import follows, has_frequencies

N, D, GAMES = 12, 22, 40_000  # 22: the last group of four is half empty
RNG = np.random.default_rng(0)
MEAN, VARIANCE = RNG.normal(0.0, 0.4, D), RNG.uniform(0.5, 2.0, D)
TARGET = MEAN + 2.0 * RNG.normal(size=D)
WEIGHTS = TARGET - MEAN + RNG.normal(size=D)
CLIP, SIGMA, GAMMA, RHO = 5.0, 0.4, 0.3, 0.75


def by_numpy(score, data, clip, seed, world, target: np.ndarray | None, rho=1.0):
    """Scores of GAMES games with plain arrays; target None draws a target in each game."""
    rng = np.random.default_rng([seed, world])
    rows = round(rho * N)
    g = rng.standard_normal((GAMES, rows, D)) * np.sqrt(data.variance) + data.mean
    points = np.broadcast_to(
        rng.standard_normal((GAMES, D)) * np.sqrt(data.variance) + data.mean if target is None else target,
        (GAMES, D),
    )
    if world:
        inside = rng.random(GAMES) < rho
        g[inside, 0] = points[inside]
    g *= np.minimum(1.0, clip / np.linalg.norm(g, axis=2, keepdims=True))
    noise = np.sqrt((SIGMA * clip / rows) ** 2 + GAMMA**2 / N if np.isfinite(clip) else GAMMA**2 / N)
    output = g.mean(axis=1) + noise * rng.standard_normal((GAMES, D))
    return score(points, output)


def mechanism(clip=CLIP, rho=1.0):
    step = mi.SGDStep(clip, SIGMA if np.isfinite(clip) else 0.0)
    return mi.GaussianNoise(step if rho == 1.0 else mi.Subsampled(step, rho), GAMMA)


class Linear(mi.AbstractLinearAttack):
    def weights(self, target):
        return jnp.asarray(WEIGHTS)

    def offset(self, target):
        return jnp.asarray(0.5)


def linear(target, output):
    return output @ WEIGHTS + 0.5


def quadratic(target, output):
    """Works row by row for NumPy's games, and for a single game of the engine."""
    return -((output - 0.2 * target) ** 2).sum(axis=-1)


DIAGONAL, ISOTROPIC = mi.Gaussian(MEAN, VARIANCE), mi.Gaussian(MEAN, 1.3)
CASES = {
    "linear": (DIAGONAL, Linear(), linear, TARGET, 1.0, "auto", "ClippedScores"),
    "linear, sub-sampled": (DIAGONAL, Linear(), linear, TARGET, RHO, "auto", "ClippedScores"),
    "isotropic": (ISOTROPIC, Linear(), linear, TARGET, 1.0, "auto", "ClippedLaw"),
    "isotropic, sub-sampled": (ISOTROPIC, Linear(), linear, TARGET, RHO, "projected", "ClippedLaw"),
    "isotropic, literal": (ISOTROPIC, Linear(), linear, TARGET, 1.0, "literal", "ClippedScores"),
    "quadratic": (DIAGONAL, quadratic, quadratic, TARGET, 1.0, "auto", "LiteralSampler"),
    "quadratic, sub-sampled": (DIAGONAL, quadratic, quadratic, TARGET, RHO, "auto", "LiteralSampler"),
    "random target": (DIAGONAL, quadratic, quadratic, None, 1.0, "auto", "LiteralSampler"),
}


@pytest.mark.evidence
@pytest.mark.parametrize("case", CASES)
def test_the_law_is_that_of_plain_numpy(case):
    data, attack, score, target, rho, fidelity, sampler = CASES[case]
    step = mechanism(rho=rho)
    game = (
        mi.RandomTarget(step, data, n=N) if target is None else mi.FixedTarget(step, data, n=N, target=target)
    )
    played = mi.play(game, attack, GAMES, seed=1, fidelity=fidelity, progress=False)
    assert kind_of(game, attack, fidelity) == sampler
    sample = [by_numpy(score, data, CLIP, 1, world, target, rho) for world in (0, 1)]
    counts = [np.bincount(np.searchsorted(played.edges, s), minlength=played.edges.size + 1) for s in sample]
    for mine, plain in zip((played.out, played.inside), counts, strict=True):
        bins, p = two_sample_p(mine, plain)
        assert bins >= 300
        assert p >= FAILURE
    assert two_sample_p(played.out, counts[1])[1] < FAILURE


@pytest.mark.evidence
def test_a_shift_of_a_hundredth_is_rejected():
    game = mi.FixedTarget(mechanism(), ISOTROPIC, n=N, target=TARGET)
    toward = 0.01 * np.sign(WEIGHTS)
    games = 600_000
    played = mi.play(game, Linear(), games, seed=1, progress=False)
    biased = mi.FixedTarget(mechanism(), mi.Gaussian(MEAN + toward, 1.3), n=N, target=TARGET)
    wrong = mi.play(biased, Linear(), games, seed=2, edges=played.edges, progress=False)
    right = mi.play(game, Linear(), games, seed=3, edges=played.edges, progress=False)
    bins, p = two_sample_p(played.out, wrong.out)
    # Clipping keeps at least 0.6 of a typical row's shift (norms are below 8 with probability 1 - 1e-4); the score's
    # standard deviation is at most that without clipping. So the chi-square's non-centrality is at least this:
    spread = np.sqrt(WEIGHTS @ WEIGHTS * (1.3 / N + (SIGMA * CLIP / N) ** 2 + GAMMA**2 / N))
    shift = 0.6 * np.abs(WEIGHTS).sum() * 0.01 / spread
    power = stats.ncx2.sf(stats.chi2.isf(FAILURE, bins - 1), bins - 1, 0.9 * games * shift**2 / 2)
    assert power > 1 - 1e-4
    assert p < FAILURE
    assert two_sample_p(played.out, right.out)[1] >= FAILURE


@pytest.mark.evidence
@pytest.mark.parametrize("d", [1, 40])
def test_without_clipping_the_score_is_normal(d):
    rng = np.random.default_rng(d)
    mean, weights, target = rng.normal(size=d), rng.normal(size=d), rng.normal(size=d)
    attack = mi.ScalarProduct(target - weights)
    game = mi.FixedTarget(
        mi.GaussianNoise(mi.SGDStep(np.inf, 0.0), 0.7), mi.Gaussian(mean, 1.0), n=6, target=target
    )
    for fidelity in ("literal", "projected"):
        games = 20_000 if fidelity == "literal" else 1_000_000
        played = mi.play(game, attack, games, seed=4, fidelity=fidelity, progress=False)
        size = np.sqrt(weights @ weights)
        for counts, centre, rows in (
            (played.out, weights @ mean, 6),
            (played.inside, weights @ (5 * mean + target) / 6, 5),
        ):
            law = stats.norm(centre, size * np.sqrt(rows / 36 + 0.49 / 6))
            assert has_frequencies(counts, np.diff(law.cdf([-np.inf, *played.edges, np.inf])))
            wrong = stats.norm(centre, size * np.sqrt(rows / 36))
            assert not has_frequencies(counts, np.diff(wrong.cdf([-np.inf, *played.edges, np.inf])))


@pytest.mark.evidence
def test_low_dimensions_are_projected_like_literal_games():
    for d, clip in ((1, 0.8), (2, 1.2)):
        target = 1.5 * np.ones(d)
        game = mi.FixedTarget(mi.SGDStep(clip, 0.5), mi.Gaussian(0.3 * np.ones(d), 1.0), n=5, target=target)
        attack = mi.ScalarProduct(np.linspace(0.0, 1.0, d))
        rows = mi.play(game, attack, 20_000, seed=1, fidelity="literal", progress=False)
        law = mi.play(game, attack, 200_000, seed=2, edges=rows.edges, progress=False)
        assert [kind_of(game, attack, how) for how in ("literal", "auto")] == ["LiteralSampler", "ClippedLaw"]
        assert two_sample_p(rows.out, law.out)[1] >= FAILURE
        assert two_sample_p(rows.inside, law.inside)[1] >= FAILURE
        assert two_sample_p(rows.inside, law.out)[1] < FAILURE


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
        draws = Draws(jnp.array([0, 5], jnp.uint32), place, place, jnp.arange(40, dtype=jnp.uint64))
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
@pytest.mark.parametrize(
    ("game", "sampler"),
    [
        (mi.FixedTarget(mi.SGDStep(1.0, 1.0), mi.Laplace(np.zeros(20), 1.0), 5, np.ones(20)), "LiteralSampler"),
        (mi.FixedTarget(mi.SGDStep(1.0, 1.0), mi.Gaussian(1e3, [1.0] * 19 + [2.0]), 5, np.ones(20)), "LiteralSampler"),
        (mi.FixedTarget(mi.SGDStep(1.0, 1.0), mi.Gaussian(0.0, np.eye(20)), 5, np.ones(20)), "ClippedLaw"),
        (mi.RandomTarget(mi.SGDStep(1.0, 1.0), mi.Gaussian(0.0, 1.0, d=20), 5), "LiteralSampler"),
        (mi.FixedTarget(mi.LaplaceNoise(mi.SGDStep(1.0, 0.0), 1.0), mi.Gaussian(0.0, 1.0, d=20), 5, np.ones(20)), "LiteralSampler"),
    ],
)  # fmt: skip
def test_which_sampler_plays(game, sampler):
    attack = mi.ScalarProduct(np.zeros(20))
    assert kind_of(game, attack) == sampler
    played = mi.play(game, attack, 64, progress=False)
    assert played.manifest["sampler"] == ("literal" if sampler == "LiteralSampler" else "clipped")


@pytest.mark.evidence
@pytest.mark.parametrize("fidelity", ["literal", "projected"])
def test_counts_do_not_depend_on_chunks_and_workers(fidelity):
    game = mi.FixedTarget(mechanism(), ISOTROPIC, n=N, target=TARGET)
    edges, games = np.linspace(-3.0, 3.0, 50), 3_000
    item, two = (
        mi.play(game, Linear(), games, 7, edges=edges, fidelity=fidelity, chunk=c, workers=w, progress=False)
        for c, w in ((100, 1), (1_500, 2))
    )
    assert (item.out == two.out).all()
    assert (item.inside == two.inside).all()
    other = mi.play(game, Linear(), games, 8, edges=edges, fidelity=fidelity, progress=False)
    assert (item.out != other.out).any()


@pytest.mark.evidence
def test_the_units_of_the_records_do_not_matter():
    scaled = 1e-30  # squares of which float32 does not hold
    game = mi.FixedTarget(mi.SGDStep(CLIP, SIGMA), DIAGONAL, n=N, target=TARGET)
    small = mi.FixedTarget(
        mi.SGDStep(CLIP * scaled, SIGMA),
        mi.Gaussian(MEAN * scaled, VARIANCE * scaled**2),
        n=N,
        target=TARGET * scaled,
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
