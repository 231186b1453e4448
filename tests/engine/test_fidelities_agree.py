"""Literal records, exact laws and tables: the same law, at 250,000 games; and a wrong law, rejected."""

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from tests.engine.kinds import kind_of
from tests.engine.two_sample import FAILURE, two_sample_p

N, D, GAMES = 24, 10, 250_000
P = np.random.default_rng(0).uniform(0.25, 0.75, D)
DATA = mi.Bernoulli(P)
TARGET = DATA.easiest_target()
ATTACK = mi.CovarianceScore(DATA, n=N, target=TARGET)


def fixed(data):
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=TARGET)


@pytest.fixture(scope="module")
def literal():
    # Thresholds of its own, so that how fine the comparison is does not hang on a pilot.
    edges = np.linspace(-4.0, 4.0, 1024)
    return mi.play(fixed(DATA), ATTACK, GAMES, seed=1, edges=edges, fidelity="literal", progress=False)


@pytest.mark.evidence
def test_literal_and_table_agree(literal):
    table = mi.play(fixed(DATA), ATTACK, GAMES, seed=2, edges=literal.edges, progress=False)
    assert (literal.manifest["sampler"], table.manifest["sampler"]) == (
        "literal",
        "table",
    )
    for a, b in ((literal.out, table.out), (literal.inside, table.inside)):
        bins, p = two_sample_p(a, b)
        assert bins >= 500
        assert p >= FAILURE
    assert two_sample_p(literal.out, table.inside)[1] < FAILURE


@pytest.mark.evidence
def test_a_sampler_with_p_off_by_two_thousandths_is_rejected(literal):
    toward = np.sign((TARGET - P) / (P * (1 - P)))
    wrong = mi.play(
        fixed(mi.Bernoulli(P + 2e-3 * toward)), ATTACK, GAMES, seed=3, edges=literal.edges, progress=False
    )
    bins, p = two_sample_p(literal.out, wrong.out)
    # The score moves by `shift` standard deviations, which gives the chi-square its non-centrality: N shift^2 / 2.
    weights = (TARGET - P) / (P * (1 - P))
    shift = 2e-3 * np.abs(weights).sum() / np.sqrt(np.sum(weights**2 * P * (1 - P)) / N)
    critical = stats.chi2.isf(FAILURE, bins - 1)
    power = stats.ncx2.sf(critical, bins - 1, 0.9 * GAMES * shift**2 / 2)  # 0.9: what binning may lose
    assert power > 1 - 1e-4
    assert p < FAILURE


def test_columns_agree_whatever_the_attack(literal):
    # A plain function hides that the score is additive, so that the outputs are sampled from tables of their law.
    weights = (TARGET - P) / (P * (1 - P))
    offset = -np.sum(weights * P) - np.sum(weights * (TARGET - P)) / (2 * N)
    columns = mi.play(
        fixed(DATA),
        lambda target, output: output @ weights + offset,
        100_000,
        edges=literal.edges,
        progress=False,
    )
    assert columns.manifest["sampler"] == "columns"
    for a, b in ((literal.out, columns.out), (literal.inside, columns.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE


MEAN = mi.EmpiricalMean()
COVARIANCE = np.diag(P) + 0.1
RECORDS = mi.Empirical(np.random.default_rng(1).normal(size=(30, D)), covariance="diagonal")
VALUES = mi.Discrete([0.0, 1.0, 4.0], np.random.default_rng(2).dirichlet(np.ones(3), D))
NOISY_HALF = mi.GaussianNoise(mi.Subsampled(MEAN, 0.5), 0.5)
NOISE = mi.GaussianNoise(MEAN, np.sqrt(P))
MANY = 160  # records where fewer are sampled literally
UNIFORM = mi.Uniform(-1.0, P)
GAUSS, FULL = mi.Gaussian(P, P), mi.Gaussian(P, COVARIANCE)
SHIFT = mi.ScalarProduct(np.zeros(D))
GAMES_OF: dict[str, tuple[mi.AbstractGame, mi.AbstractAttack, str]] = {
    "random target, Bernoulli": (mi.RandomTarget(NOISY_HALF, DATA, n=N), mi.CovarianceScore(DATA, N), "TableSampler"),
    "random target, Bernoulli ratio": (mi.RandomTarget(MEAN, DATA, n=N), mi.LikelihoodRatio(MEAN, DATA, N), "TableSampler"),
    "random target, discrete": (mi.RandomTarget(MEAN, VALUES, n=N), mi.CovarianceScore(VALUES, N), "LatticeColumns"),
    "random target, Gaussian": (mi.RandomTarget(NOISE, GAUSS, n=N), mi.CovarianceScore(GAUSS, N), "RandomNormalSampler"),
    "random target, Student": (mi.RandomTarget(MEAN, mi.StudentT(4.0, P), n=N), SHIFT, "DensityColumns"),
    "random target, exponential": (mi.RandomTarget(MEAN, mi.Exponential(P), n=N), SHIFT, "DensityColumns"),
    "Gaussian, Poisson": (mi.FixedTarget(mi.GaussianNoise(mi.PoissonSubsampled(MEAN, 0.4), 0.3), FULL, n=N, target=TARGET), SHIFT,
         "PoissonNormalSampler"),
    "Gaussian, full": (mi.FixedTarget(mi.LaplaceNoise(MEAN, 0.1), FULL, n=N, target=TARGET), SHIFT, "LawSampler"),
    "Bernoulli, a Poisson sample": (mi.FixedTarget(mi.GaussianNoise(mi.PoissonSubsampled(MEAN, 0.1), 0.1), DATA, n=N, target=TARGET),
         mi.CovarianceScore(DATA, N), "PoissonColumns"),
    "random target, Laplace, a Poisson sample": (mi.RandomTarget(mi.PoissonSubsampled(MEAN, 0.4), mi.Laplace(P, 1.0), n=N), SHIFT, "PoissonColumns"),
    "random target, Gaussian, a Poisson sample": (mi.RandomTarget(mi.PoissonSubsampled(MEAN, 0.4), GAUSS, n=N), SHIFT, "LawSampler"),
    "uniform, a Poisson sample": (mi.FixedTarget(mi.GaussianNoise(mi.PoissonSubsampled(MEAN, 0.1), 0.1), UNIFORM, n=MANY, target=TARGET), SHIFT,
         "PoissonColumns"),
    "random target, discrete, a Poisson sample": (mi.RandomTarget(mi.PoissonSubsampled(MEAN, 0.4), VALUES, n=MANY), mi.CovarianceScore(VALUES, MANY),
         "PoissonColumns"),
    "random target, Student, a Poisson sample": (mi.RandomTarget(mi.PoissonSubsampled(MEAN, 0.4), mi.StudentT(9.0, P), n=MANY), SHIFT,
         "PoissonColumns"),
    "Student, mixed degrees, a Poisson sample": (
         mi.FixedTarget(mi.LaplaceNoise(mi.PoissonSubsampled(MEAN, 0.05), 0.02), mi.StudentT(np.resize([3.0, 9.0], D), P), n=MANY, target=2 * TARGET),
         mi.ScalarProduct(np.linspace(-2.0, 2.0, D)), "PoissonColumns"),
    "discrete": (mi.FixedTarget(NOISY_HALF, VALUES, n=N, target=TARGET), SHIFT, "LatticeColumns"),
    "uniform": (mi.FixedTarget(NOISY_HALF, mi.Uniform(-1.0, P), n=N, target=TARGET), SHIFT, "DensityColumns"),
    "Student": (mi.FixedTarget(MEAN, mi.StudentT(4.0, P), n=N, target=2 * TARGET), SHIFT, "DensityColumns"),
    "Student, mixed degrees": (mi.FixedTarget(NOISY_HALF, mi.StudentT(np.linspace(3.0, 12.0, D), P), n=N, target=2 * TARGET),
         mi.ScalarProduct(np.linspace(-2.0, 2.0, D)), "DensityColumns"),
    "records": (mi.FixedTarget(NOISY_HALF, RECORDS, n=N, target=RECORDS.records[3]), SHIFT, "RecordSumSampler"),
    "records, clipped": (mi.FixedTarget(mi.SGDStep(2.0, 1.5), RECORDS, n=N, target=3 * RECORDS.records[3]), mi.CovarianceScore(RECORDS, N),
         "RecordSumSampler"),
    "records, a Poisson sample": (mi.FixedTarget(mi.PoissonSubsampled(MEAN, 0.4), RECORDS, n=N, target=RECORDS.records[3]), SHIFT,
         "RecordSumSampler"),
    "records, a clipped step on a Poisson sample": (mi.FixedTarget(mi.PoissonSubsampled(mi.SGDStep(2.0, 1.5), 0.4), RECORDS, n=N, target=TARGET),
         SHIFT, "RecordSumSampler"),
    "random target, records": (mi.RandomTarget(NOISY_HALF, RECORDS, n=N), mi.CovarianceScore(RECORDS, N), "RecordSumSampler"),
    "random target, records, a clipped step on a Poisson sample": (mi.RandomTarget(mi.PoissonSubsampled(mi.SGDStep(2.0, 1.5), 0.4), RECORDS, n=N),
         SHIFT, "RecordSumSampler"),
    "records, a point that is none": (mi.FixedTarget(MEAN, RECORDS, n=N, target=TARGET), mi.CovarianceScore(RECORDS, N), "RecordSumSampler"),
}  # fmt: skip


SLOW = (
    *(
        "random target, Student",
        "random target, discrete",
        "random target, exponential",
        "Student",
        "uniform",
    ),
    *("discrete", "records, a point that is none"),
    *("Student, mixed degrees, a Poisson sample", "random target, Laplace, a Poisson sample"),
)
"""Games whose path another game takes too, with other data; run by name, since each compiles for some seconds."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    "name", [pytest.param(item, marks=pytest.mark.slow) if item in SLOW else item for item in GAMES_OF]
)
def test_every_path_agrees_with_literal_games(name):
    game, attack, sampler = GAMES_OF[name]
    first = mi.play(game, attack, 10_000, seed=1, fidelity="literal", progress=False)
    second = mi.play(game, attack, 50_000, seed=2, edges=first.edges, progress=False)
    assert kind_of(game, attack) == sampler
    for a, b in ((first.out, second.out), (first.inside, second.inside)):
        assert two_sample_p(a, b)[1] >= FAILURE
    # Forty thresholds are a quarter of a standard deviation or more: 10,000 games then lie over 500 above the
    # chi-square's mean of some 400, which rejects from 200 above.
    assert two_sample_p(first.out, np.roll(second.out, 40))[1] < FAILURE


GAMES_OF["discrete, on no lattice"] = (
    mi.FixedTarget(MEAN, mi.Discrete([0.0, 1.0, np.sqrt(2.0)], [0.5, 0.3, 0.2], d=D), n=MANY, target=TARGET),
    SHIFT,
    "SplitColumns",
)
GAMES_OF["Gaussian, ratio"] = (
    mi.FixedTarget(MEAN, FULL, n=N, target=2 * TARGET),
    mi.GaussianLikelihoodRatio(FULL, N),
    "QuadraticSampler",
)
SAMPLES = [
    "random target, discrete",
    "random target, Gaussian",
    "Gaussian, Poisson",
    "Gaussian, ratio",
    "Student",
    "records",
    "uniform, a Poisson sample",
    "discrete, on no lattice",
    "random target, records, a clipped step on a Poisson sample",
]


@pytest.mark.evidence
@pytest.mark.parametrize("name", SAMPLES)
def test_bits_depend_on_neither_chunk_nor_threads_nor_a_break(name, tmp_path):
    game, attack, _ = GAMES_OF[name]
    games, edges = 40_000, np.linspace(-3.0, 3.0, 500)

    def play(many, **how):
        return mi.play(game, attack, many, seed=7, edges=edges, progress=False, **how)

    whole = play(games, workers=1)
    play(25_001, chunk=5_000, checkpoint=tmp_path / "run.npz")
    resumed = play(games, chunk=20_000, checkpoint=tmp_path / "run.npz", workers=2)
    for other in (resumed, play(games, chunk=1, workers=2)):
        np.testing.assert_array_equal(whole.out, other.out)
        np.testing.assert_array_equal(whole.inside, other.inside)
    assert (whole.out > 0).sum() > 20
