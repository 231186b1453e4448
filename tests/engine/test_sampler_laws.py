"""Every sampler against exact laws, enumerations, literal games and games in NumPy; each with an error that is rejected.

Each comparison fails a right sampler with probability <= 1e-9.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.engine.counting import Counter, on_device
from mipsim.engine.samplers.literal import law_sampler
from mipsim.exact import exact_law
from tests.engine.kinds import kind_of
from tests.law_agreement import FAILURE
from tests.mechanisms.test_independent_noises import EVERY
from tests.sampler_laws import Law, Mixture, Scores, even_edges, exchanged, has_law, moved, same

MEAN = mi.EmpiricalMean()
EVIDENCE, SLOW = (pytest.mark.evidence,), (pytest.mark.evidence, pytest.mark.slow)


@dataclass(eq=False)
class Row:
    """A game, the class that plays it, its laws and what is wrong in both worlds, or in a single world: functions of the law."""

    game: Any
    attack: Any
    sampler: str
    laws: tuple[Callable[["Row"], Any], ...]
    games: int = 50_000
    wrong: Callable[[Any], tuple[Any, ...]] = lambda law: (moved(law),)
    out: Callable[[Any], tuple[Any, ...]] = lambda law: ()
    inside: Callable[[Any], tuple[Any, ...]] = lambda law: ()
    edges: Any = None  # thresholds, or a function of the first law; else those of literal games, or a pilot's
    cells: int = 2
    power: Callable[[int], float] | None = None
    marks: Any = EVIDENCE
    how: dict[str, Any] = field(default_factory=dict)


def plays(game: mi.AbstractGame, attack: Any, games: int, seed: int, edges: Any = None, **how: Any) -> Any:
    return mi.play(game, attack, games, seed=seed, edges=edges, progress=False, **how)


def literal(games: int) -> Callable[[Row], mi.Histogram]:
    return lambda row: plays(row.game, row.attack, games, 1, row.edges, fidelity="literal")


def exact(row: Row) -> Any:
    return exact_law(row.game, row.attack)


def even(bins: int) -> Callable[[Any], np.ndarray]:
    return lambda law: even_edges(law, bins)


def swap(law: Any) -> tuple[Any, ...]:
    return (exchanged(law),)


def nothing(law: Any) -> tuple[Any, ...]:
    return ()


def fixed(mechanism: Any, data: mi.AbstractDistribution, n: int, target: Any) -> mi.FixedTarget:
    return mi.FixedTarget(mechanism, data, n=n, target=target)


def power(non_centrality: float, cells: int) -> float:
    """Of a chi-square that rejects; a tenth of the non-centrality is left to what binning may lose."""
    return float(stats.ncx2.sf(stats.chi2.isf(FAILURE, cells - 1), cells - 1, 0.9 * non_centrality))


def rows_against_exact_laws() -> dict[str, Row]:
    rng = np.random.default_rng(3)
    n, d = 40, 6
    mean, scale = rng.normal(size=d), rng.uniform(0.5, 2.0, d)
    factor = rng.normal(size=(d, d)) / 2
    full, diagonal = mi.Gaussian(mean, factor @ factor.T + np.eye(d)), mi.Gaussian(mean, scale)
    laplace, exponential = mi.Laplace(mean, scale), mi.Exponential(scale)
    half = mi.Subsampled(MEAN, 0.5)

    def row(mechanism: Any, data: Any, attack: Any, sampler: str, point: Any = mean + 2.0) -> Row:
        game = fixed(mechanism, data, n, point)
        return Row(game, attack, sampler, (exact,), 100_000, swap, edges=even(1_000), cells=300)

    rows = {
        "Gaussian, full": row(MEAN, full, mi.CovarianceScore(full, n), "NormalSampler"),
        "Gaussian, noisy sub-sample": row(mi.GaussianNoise(half, 0.7), diagonal, mi.ScalarProduct(np.zeros(d)), "NormalSampler"),
        "Gaussian, likelihood ratio": row(MEAN, full, mi.GaussianLikelihoodRatio(full, n), "QuadraticSampler"),
        "Gaussian, ratio of a sub-sample": row(half, diagonal, mi.LikelihoodRatio(half, diagonal, n), "QuadraticSampler"),
        "Laplace": row(MEAN, laplace, mi.CovarianceScore(laplace, n), "DensityColumns"),
        "exponential, noisy": row(mi.GaussianNoise(MEAN, 0.5), exponential, mi.CovarianceScore(exponential, n), "DensityColumns", 2 * scale),
        "any quadratic form in the metric of the output": row(MEAN, full, Distance(np.linalg.inv(full.cov)), "QuadraticSampler"),
    }  # fmt: skip
    rows["any quadratic form in the metric of the output"].laws = (
        lambda _: DistanceLaw(mean, full.cov, mean + 2.0, n),
    )
    # 1 of 20 probabilities biased moves the score by sqrt(n / d) bias / sd = 4.5e-3 standard deviations at a bias of 1e-4: at 1e8 games a
    # chi-square of 5,000 cells is then 2,000 above its mean, and rejects from 650 above; at 1e-2 and 1e6 games it is 200,000 above.
    p, large = np.random.default_rng(7).uniform(0.2, 0.8, 20), 10_000
    for games, bias, marks in ((1_000_000, 1e-2, EVIDENCE), (100_000_000, 1e-4, SLOW)):
        laws = [mi.Bernoulli(p + b * (np.arange(20) == 0)) for b in (0.0, bias)]
        game, biased = (fixed(MEAN, law, large, (p < 0.5).astype(float)) for law in laws)
        attack = mi.CovarianceScore(game.data, large)
        rows[f"a bias of {bias}"] = Row(game, attack, "TableSampler", (exact,), games, edges=even(5_500), cells=5_000, marks=marks,
            wrong=lambda _, biased=biased, attack=attack: (exact_law(biased, attack),))  # fmt: skip
    return rows


class Distance(mi.AbstractQuadraticAttack):
    """Any quadratic statistic plugs in by its centre and metric."""

    precision: np.ndarray

    def centre(self, target):
        return 0.5 * target

    def metric(self, target):
        return jnp.asarray(self.precision)

    def value(self, target, square):
        return -square


class DistanceLaw:
    """Minus the squared distance of a Gaussian mean from half its target, by SciPy's non-central chi-square."""

    def __init__(self, mean: np.ndarray, covariance: np.ndarray, target: np.ndarray, n: int):
        self.scales, precision = (1.0 / n, (n - 1.0) / n**2), np.linalg.inv(covariance)
        away = mean - 0.5 * target, mean + (target - mean) / n - 0.5 * target
        self.laws = [
            stats.ncx2(mean.size, a @ precision @ a / s) for a, s in zip(away, self.scales, strict=True)
        ]

    def cdf(self, x: Any, *, inside: bool) -> Any:
        return self.laws[inside].sf(-x / self.scales[inside])

    def threshold_at(self, alpha: Any) -> Any:
        return -self.scales[0] * self.laws[0].ppf(alpha)


MANY, SIX = 10**6, np.array([0.5, 0.3, 0.71, 0.02, 0.44, 0.9])  # cells of 16, 8 and 4 counts


def rows_of_cells() -> dict[str, Row]:
    """Sums of 10^6 records, sampled by cells of several counts."""
    n, p, data = MANY, SIX, mi.Bernoulli(SIX)
    corner, half, noisy = data.easiest_target(), mi.Subsampled(MEAN, 0.5), mi.GaussianNoise(MEAN, 0.5)
    covariance, plain = mi.CovarianceScore(data, n=n), fixed(MEAN, data, n, corner)
    laplace = fixed(mi.LaplaceNoise(MEAN, 1 / np.sqrt(n)), data, n, corner)  # as wide as the mean itself
    weights = (corner - p) / (p * (1 - p))
    away = (
        0.06 * weights * p * (1 - p) / np.sqrt(np.sum(weights**2 * p * (1 - p)) * n)
    )  # .06 deviations of the score

    def row(game: Any, attack: Any, marks: Any, wrong: Any = lambda law: (moved(law, 0.06),)) -> Row:
        return Row(game, attack, "CellColumns", (exact,), 200_000, wrong, edges=even(1_000), cells=900,
                   power=lambda cells: power(200_000 * 0.06**2, cells), marks=marks)  # fmt: skip

    def columns(game: Any, attack: Any, law: Callable[[Row], Any], edges: Any = None, **more: Any) -> Row:
        return Row(game, attack, "CellColumns", (law,), 60_000, edges=edges or even(500), **more)

    def from_law(row: Row) -> mi.Histogram:
        """Games of JAX's own binomials, on the thresholds of a pilot."""
        edges = plays(row.game, row.attack, 8, 1).edges
        with exact_scope():
            counts, _ = Counter(on_device(law_sampler(row.game, row.attack)), [edges], seed=2)(0, 40_000)
        return mi.Histogram(edges, *counts[:, 0, :-1])

    def random(mechanism: Any, attack: Any) -> Row:
        game = mi.RandomTarget(mechanism, data, n=n)
        return Row(game, attack, "CellColumns", (from_law,), 200_000, cells=300, marks=SLOW)

    few = mi.Bernoulli([0.5, 0.45])
    low, high = stats.binom.ppf([1e-6, 1 - 1e-6], n, 0.37)

    def ones(change: float = 0.0) -> Law:
        """The number of ones of a record whose first probability is changed."""
        bits = np.ones(1)
        for q in p + change * (np.arange(6) == 0):
            bits = np.convolve(bits, [1 - q, q])
        return Law(*[Mixture(np.arange(7.0), bits)] * 2)

    return {
        "covariance": row(plain, covariance, EVIDENCE, lambda _: (exact_law(fixed(MEAN, mi.Bernoulli(p + away), n, corner), covariance),)),
        "coin and ratio": row(fixed(half, data, n, corner), mi.LikelihoodRatio(half, data, n=n), EVIDENCE),
        "noise": row(fixed(noisy, data, n, corner), covariance, SLOW),
        "random target, covariance, coin": random(half, mi.CovarianceScore(data, n=n // 2)),
        "random target, covariance, noise": random(noisy, covariance),
        "random target, ratio": random(MEAN, mi.LikelihoodRatio(MEAN, data, n=n)),
        # Score = bit x count / n: an atom at zero and a binomial law that knows of the bit.
        "a random coordinate with its pair": Row(mi.RandomTarget(MEAN, mi.Bernoulli([0.37]), n=n), mi.ScalarProduct([0.0]), "CellColumns",
            (lambda _: pair(n, 0.37),), 1_000_000, lambda _: (pair(n, 0.37 + 3e-5),), cells=1_000,
            edges=np.append(0.5, np.linspace(low, high, 2_000).round() + 0.5) / n),
        "literal records": Row(fixed(MEAN, few, 30_000, [1.0, 0.0]), mi.CovarianceScore(few, n=30_000), "CellColumns", (literal(4_000),),
            cells=300, marks=SLOW),
        "columns, Laplace noise": columns(laplace, covariance, exact),
        "columns, a function": columns(plain, lambda target, output: covariance.score(target, output), lambda _: exact_law(plain, covariance),
            out=lambda _: (exact_law(laplace, covariance),)),
        "columns, random targets": columns(mi.RandomTarget(MEAN, data, n=n), lambda target, output: target.sum(), lambda _: ones(),
            wrong=lambda _: (ones(0.06),), edges=lambda _: np.arange(6) + 0.5),
    }  # fmt: skip


def pair(n: int, p: float) -> Law:
    """A coordinate of a random target times the mean of n coins."""
    count = np.arange(round(n * p) - 10_000, round(n * p) + 10_000)  # 20 deviations
    masses = (np.append(1 - p, p * stats.binom.pmf(count - bit, n - bit, p)) for bit in (0, 1))
    return Law(*(Mixture(np.append(0.0, count / n), mass) for mass in masses))


P, GAMMA = np.array([0.3, 0.55, 0.7]), np.array([0.4, 0.0, 1.0])


def rows_of_tables() -> dict[str, Row]:
    """Games of three coins, enumerated over targets and counts."""
    targets = {"corner": [1.0, 0.0, 0.0], "anywhere": [0.3, -2.5, 7.1], "random": None}
    half = mi.Subsampled(MEAN, 0.5)
    mechanisms = {
        "mean": MEAN,
        "coin": half,
        "noise": mi.GaussianNoise(MEAN, GAMMA),
        "noise after coin": mi.GaussianNoise(half, GAMMA),
        "coin after noise": mi.Subsampled(mi.GaussianNoise(MEAN, GAMMA), 0.5),
    }
    cases = [
        *((n, "mean", attack, target) for n in (2, 5) for attack in ("covariance", "ratio", "product") for target in targets if (attack, target) != ("ratio", "anywhere")),
        *((4, kind, "covariance", target) for kind in ("coin", "noise", "noise after coin") for target in ("corner", "random")),
        *((4, "coin", "ratio", target) for target in ("corner", "random")),
        (4, "coin after noise", "covariance", "corner"),
    ]  # fmt: skip
    return {", ".join(map(str, case)): table(mechanisms[case[1]], *case, targets[case[3]]) for case in cases}


def table(mechanism: Any, n: int, kind: str, attack: str, _: str, point: Any) -> Row:
    data = mi.Bernoulli(P)
    rows, share = (n // 2, 0.5) if "coin" in kind else (n, 1.0)
    noise = None if "noise" not in kind else 2 if kind == "coin after noise" else n
    if attack == "ratio":
        known: Any = mi.LikelihoodRatio(mechanism, data, n=n, target=point)
    else:
        known = (
            mi.CovarianceScore(data, n=n) if attack == "covariance" else mi.ScalarProduct([0.5, -1.0, 2.0])
        )

    @cache
    def atoms(member: bool, p: float = 1.0) -> list[np.ndarray]:
        """Every possible (target, counts): score, probability, and the variance of unit noise through the target's weights."""
        result, sample, q = [], rows - member, p * P
        counts = np.array(list(product(range(sample + 1), repeat=3)))
        with exact_scope():
            score = jax.jit(jax.vmap(known.score, (None, 0)))
            for z in product((0.0, 1.0), repeat=3) if point is None else [point]:
                of_target = np.prod(np.where(np.array(z) == 1, q, 1 - q)) if point is None else 1.0
                scores = score(jnp.asarray(z), jnp.asarray((counts + member * np.array(z)) / rows))
                spread = np.sum(((z - P) / (P * (1 - P)) * GAMMA) ** 2)
                masses = of_target * stats.binom.pmf(counts, sample, q).prod(axis=1)
                result.append([np.asarray(scores), masses, np.full(scores.size, spread)])
        return [np.concatenate(parts) for parts in zip(*result, strict=True)]

    def law(coin: float = share, p: float = 1.0, of: Any = noise) -> Law:
        """Where the coin includes the target so often, probabilities are p times theirs, and noise is that of a mean of so many."""
        (a, b, c), (x, y, z) = atoms(False, p), atoms(True, p)
        out = a, b, np.sqrt(c / of) if of else 0.0
        inside = (
            np.append(a, x),
            np.append((1 - coin) * b, coin * y),
            np.sqrt(np.append(c, z) / of) if of else 0.0,
        )
        return Law(Mixture(*out), Mixture(*inside))

    def edges(_: Any) -> np.ndarray:
        ends = atoms(False)[0].min() - 2.0, atoms(True)[0].max() + 2.0
        return np.linspace(*ends, 40) if noise else law().between()

    return Row(
        mi.RandomTarget(mechanism, data, n=n) if point is None else fixed(mechanism, data, n, point),
        known, "TableSampler", (lambda _: law(),),
        2_000_000 if noise else 200_000,  # noise blurs what 3% of a probability change
        wrong=nothing,
        # The controls: the other world, probabilities 3% off, the noise and the coin left out.
        out=lambda _: (exchanged(law(1.0)), law(p=1.03), *([law(of=2 * noise)] if noise else [])),
        inside=lambda _: (law(0.0), *([law(1.0)] if share < 1 else [])),
        edges=edges,
    )  # fmt: skip


D, N = 10, 24
TEN = np.random.default_rng(0).uniform(0.25, 0.75, D)
COINS = mi.Bernoulli(TEN)
POINT = COINS.easiest_target()
VALUES = mi.Discrete([0.0, 1.0, 4.0], np.random.default_rng(2).dirichlet(np.ones(3), D))
FULL, GAUSS = mi.Gaussian(TEN, np.diag(TEN) + 0.1), mi.Gaussian(TEN, TEN)
RECORDS = mi.Empirical(np.random.default_rng(1).normal(size=(30, D)), covariance="diagonal")
SHIFT = mi.ScalarProduct(np.zeros(D))


def rows_against_literal_games() -> dict[str, Row]:
    many = 160  # records where fewer are sampled literally
    uniform, student, mixed = (
        mi.Uniform(-1.0, TEN),
        mi.StudentT(4.0, TEN),
        mi.StudentT(np.linspace(3.0, 12.0, D), TEN),
    )
    noisy_half, step = mi.GaussianNoise(mi.Subsampled(MEAN, 0.5), 0.5), mi.SGDStep(2.0, 1.5)
    some, record, slope = (
        mi.PoissonSubsampled(MEAN, 0.4),
        RECORDS.records[3],
        mi.ScalarProduct(np.linspace(-2.0, 2.0, D)),
    )

    def random(mechanism: Any, data: Any, n: int = N) -> mi.RandomTarget:
        return mi.RandomTarget(mechanism, data, n=n)

    def row(game: Any, attack: Any, sampler: str, marks: Any = EVIDENCE) -> Row:
        # Forty thresholds are a quarter of a standard deviation or more: 10,000 games then lie over 500 above the chi-square's mean of
        # some 400, which rejects from 200 above.
        return Row(game, attack, sampler, (literal(10_000),), marks=marks)

    # Slow is a game whose path another game takes too, with other data: each compiles for some seconds.
    return {
        "random target, Bernoulli": row(random(noisy_half, COINS), mi.CovarianceScore(COINS, N), "TableSampler"),
        "random target, Bernoulli ratio": row(random(MEAN, COINS), mi.LikelihoodRatio(MEAN, COINS, N), "TableSampler"),
        "random target, discrete": row(random(MEAN, VALUES), mi.CovarianceScore(VALUES, N), "LatticeColumns", SLOW),
        "random target, Gaussian": row(random(mi.GaussianNoise(MEAN, np.sqrt(TEN)), GAUSS), mi.CovarianceScore(GAUSS, N), "RandomNormalSampler"),
        "random target, Student": row(random(MEAN, student), SHIFT, "DensityColumns", SLOW),
        "random target, exponential": row(random(MEAN, mi.Exponential(TEN)), SHIFT, "DensityColumns", SLOW),
        "Gaussian, Poisson": row(fixed(mi.GaussianNoise(some, 0.3), FULL, N, POINT), SHIFT, "PoissonNormalSampler"),
        "Gaussian, Laplace noise": row(fixed(mi.LaplaceNoise(MEAN, 0.1), FULL, N, POINT), SHIFT, "LawSampler"),
        "Bernoulli, a Poisson sample": row(fixed(mi.GaussianNoise(mi.PoissonSubsampled(MEAN, 0.1), 0.1), COINS, N, POINT),
            mi.CovarianceScore(COINS, N), "PoissonColumns"),
        "random target, Laplace, a Poisson sample": row(random(some, mi.Laplace(TEN, 1.0)), SHIFT, "PoissonColumns", SLOW),
        "random target, Gaussian, a Poisson sample": row(random(some, GAUSS), SHIFT, "LawSampler"),
        "uniform, a Poisson sample": row(fixed(mi.GaussianNoise(mi.PoissonSubsampled(MEAN, 0.1), 0.1), uniform, many, POINT), SHIFT, "PoissonColumns"),
        "random target, discrete, a Poisson sample": row(random(some, VALUES, many), mi.CovarianceScore(VALUES, many), "PoissonColumns"),
        "random target, Student, a Poisson sample": row(random(some, mi.StudentT(9.0, TEN), many), SHIFT, "PoissonColumns"),
        "Student, mixed degrees, a Poisson sample": row(fixed(mi.LaplaceNoise(mi.PoissonSubsampled(MEAN, 0.05), 0.02),
            mi.StudentT(np.resize([3.0, 9.0], D), TEN), many, 2 * POINT), slope, "PoissonColumns", SLOW),
        "discrete": row(fixed(noisy_half, VALUES, N, POINT), SHIFT, "LatticeColumns", SLOW),
        "uniform": row(fixed(noisy_half, uniform, N, POINT), SHIFT, "DensityColumns", SLOW),
        "Student": row(fixed(MEAN, student, N, 2 * POINT), SHIFT, "DensityColumns", SLOW),
        "Student, mixed degrees": row(fixed(noisy_half, mixed, N, 2 * POINT), slope, "DensityColumns"),
        "records": row(fixed(noisy_half, RECORDS, N, record), SHIFT, "RecordSumSampler"),
        "records, clipped": row(fixed(step, RECORDS, N, 3 * record), mi.CovarianceScore(RECORDS, N), "RecordSumSampler"),
        "records, a Poisson sample": row(fixed(some, RECORDS, N, record), SHIFT, "RecordSumSampler"),
        "records, a clipped step on a Poisson sample": row(fixed(mi.PoissonSubsampled(step, 0.4), RECORDS, N, POINT), SHIFT, "RecordSumSampler"),
        "random target, records": row(random(noisy_half, RECORDS), mi.CovarianceScore(RECORDS, N), "RecordSumSampler"),
        "random target, records, a clipped step on a Poisson sample": row(random(mi.PoissonSubsampled(step, 0.4), RECORDS), SHIFT, "RecordSumSampler"),
        "records, a point that is none": row(fixed(MEAN, RECORDS, N, POINT), mi.CovarianceScore(RECORDS, N), "RecordSumSampler", SLOW),
        **rows_on_no_lattice(), **rows_of_ten_coins(), **rows_of_clipped_records(), **rows_of_noises(),
    }  # fmt: skip


def rows_on_no_lattice() -> dict[str, Row]:
    values, n = np.array([0.0, 1.0, np.sqrt(2.0)]), 40
    # The share of a value, of the records that have none of those before, is 0, 1 or between.
    rare = mi.Discrete(values, np.array([[0.5, 0.3, 0.2], [0.0, 0.7, 0.3], [0.4, 0.6, 0.0], [0.9, 0.0, 0.1]]))
    half, some = mi.Subsampled(MEAN, 0.5), mi.PoissonSubsampled(MEAN, 0.4)
    any_ = mi.ScalarProduct(np.linspace(-0.5, 0.5, 4))

    def sums(change: float = 0.0) -> Law:
        """All means of n records, beside the last value as the target if it is a member; a share moved from the first value to the second."""
        parts = []
        for member in (0, 1):
            ones, roots = (x.ravel() for x in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
            ones, roots = (x[ones + roots <= n - member] for x in (ones, roots))
            counts = np.stack([n - member - ones - roots, ones, roots], axis=1)
            masses = stats.multinomial.pmf(counts, n - member, [0.5 + change, 0.3 - change, 0.2])
            parts.append(Mixture((values[1] * ones + values[2] * (roots + member)) / n, masses))
        return Law(*parts)

    return {
        "three values on no lattice, enumerated": Row(fixed(MEAN, mi.Discrete(values, [0.5, 0.3, 0.2]), n, values[-1:]),
            lambda target, output: output[0], "SplitColumns", (lambda _: sums(),), 200_000, edges=Law.between, marks=(),
            wrong=lambda law: (exchanged(law), sums(0.009), sums(-0.009)),  # shares three per cent off
            how={"fidelity": "sufficient", "precision": "float64"}),
        "a noisy half, on no lattice": Row(fixed(mi.GaussianNoise(half, 0.2), rare, 160, rare.easiest_target()), any_, "SplitColumns",
            (literal(20_000),), 100_000),
        "random target, a Poisson sample, on no lattice": Row(mi.RandomTarget(some, rare, n=160), any_, "SplitColumns", (literal(20_000),), 100_000),
    }  # fmt: skip


def rows_of_ten_coins() -> dict[str, Row]:
    """Literal records, tables and columns at 250,000 games; probabilities off by two thousandths are rejected."""
    game, attack, games = fixed(MEAN, COINS, N, POINT), mi.CovarianceScore(COINS, n=N, target=POINT), 250_000
    weights, edges = (POINT - TEN) / (TEN * (1 - TEN)), np.linspace(-4.0, 4.0, 1024)
    offset = -np.sum(weights * TEN) - np.sum(weights * (POINT - TEN)) / (2 * N)
    biased = fixed(MEAN, mi.Bernoulli(TEN + 2e-3 * np.sign(weights)), N, POINT)
    # What the score moves by, in standard deviations.
    shift = 2e-3 * np.abs(weights).sum() / np.sqrt(np.sum(weights**2 * TEN * (1 - TEN)) / N)
    records = cache(lambda: plays(game, attack, games, 1, edges, fidelity="literal"))

    def counts(p: float) -> Law:
        """Of the mean of the records, of which the target, 1, is a record in the second world."""
        return Law(
            *(
                Mixture(
                    (np.arange(N + 1 - one) + one) / N, stats.binom.pmf(np.arange(N + 1 - one), N - one, p)
                )
                for one in (0, 1)
            )
        )

    return {
        "a coin, table, by its masses": Row(fixed(MEAN, mi.Bernoulli([0.3]), N, [1.0]), mi.ScalarProduct([0.0]), "TableSampler",
            (lambda _: counts(0.3),), 400_000, lambda law: (exchanged(law), counts(0.303), counts(0.297)), edges=Law.between, marks=()),
        "ten coins, table": Row(game, attack, "TableSampler", (lambda _: records(),), games, swap, edges=edges, cells=500,
            out=lambda _: (plays(biased, attack, games, 3, edges),), power=lambda cells: power(games * shift**2 / 2, cells)),
        # A plain function hides that the score is additive, so that the outputs are sampled from tables of their law.
        "ten coins, columns": Row(game, lambda target, output: output @ weights + offset, "LatticeColumns", (literal(40_000),), 100_000, swap,
            edges=edges, marks=()),
    }  # fmt: skip


def rows_of_clipped_records() -> dict[str, Row]:
    """Whose distribution is known: against literal games and the exact law."""
    three, coins = mi.Discrete([-2.0, 0.0, 3.0], [[0.2, 0.3, 0.5], [0.5, 0.4, 0.1]]), mi.Bernoulli([0.3, 0.6])
    unit, attack = np.ones(2), mi.ScalarProduct([0.1, -0.7])
    # Not the weights' own grid, whose points are atoms of the score.
    edges = np.linspace(-3.0, 9.0, 400) + 1e-4 * np.sqrt(2.0)

    def row(mechanism: Any, data: Any, target: Any, sampler: str, marks: Any = EVIDENCE) -> Row:
        laws = literal(10_000), exact
        return Row(fixed(mechanism, data, 20, target), attack, sampler, laws, 100_000, swap, edges=edges, marks=marks)  # fmt: skip

    rows = {
        "a step within the clip": row(mi.SGDStep(1.5, 0.4), coins, unit, "TableSampler"),
        "a step whose target is clipped": row(mi.SGDStep(1.5, 0.4), coins, 3.0 * unit, "TableSampler"),
        "a step of half of the rows": row(mi.Subsampled(mi.SGDStep(4.5, 0.4), 0.5), three, unit, "LatticeColumns"),
        "a step of a Poisson sample": row(mi.PoissonSubsampled(mi.SGDStep(1.5, 0.0), 0.5), coins, 3.0 * unit, "PoissonColumns"),
        "a step of normal rows, no clip": row(mi.SGDStep(np.inf, 0.0), mi.Gaussian(0.1, 1.0, d=2), unit, "NormalSampler"),
    }  # fmt: skip
    for d, clip in ((1, 0.8), (2, 1.2)):
        game = fixed(mi.SGDStep(clip, 0.5), mi.Gaussian(0.3 * np.ones(d), 1.0), 5, 1.5 * np.ones(d))
        product = mi.ScalarProduct(np.linspace(0.0, 1.0, d))
        laws = (literal(20_000),)
        rows[f"a step of normal rows, d = {d}"] = Row(game, product, "ClippedLaw", laws, 200_000, swap)
        assert kind_of(game, product, "literal") == "LiteralSampler"
    return rows


def rows_of_noises() -> dict[str, Row]:
    """Noise from its law alone: against literal games and the exact law."""
    coins = mi.Bernoulli([0.3, 0.6])
    return {
        f"{name} noise": Row(fixed(noise, coins, 6, [1.0, 0.0]), mi.CovarianceScore(coins, n=6), "LatticeColumns", (literal(20_000), exact),
            100_000, swap, marks=SLOW if name in ("uniform", "finer discrete Gaussian") else EVIDENCE)
        for name, noise in EVERY.items()
    }  # fmt: skip


def numpy_games(sample: Any, release: Any, target: Any, score: Any, n: int, games: int, seed: int) -> Scores:
    """Scores of literal games with plain arrays; a target that is None is sampled in each game."""
    worlds = []
    for member in (False, True):
        rng = np.random.default_rng([seed, member])
        rows = sample(rng, (games, n))
        points = sample(rng, (games, 1))[:, 0] if target is None else np.broadcast_to(target, rows[:, 0].shape)  # fmt: skip
        if member:
            rows[np.arange(games), rng.integers(0, n, games)] = points
        worlds.append(score(points, release(rng, rows)))
    return Scores(*worlds)


def part(rng: Any, rows: np.ndarray, size: int) -> np.ndarray:
    """A random part of each game's records."""
    order = rng.random(rows.shape[:2]).argsort(axis=1)[:, :size]
    return np.take_along_axis(rows, order[:, :, None], axis=1)


def rows_of_clipped_steps() -> dict[str, Row]:
    n, d, games = 12, 22, 40_000  # 22: the last group of four is half empty
    clip, sigma, gamma = 5.0, 0.4, 0.3
    rng = np.random.default_rng(0)
    mean, variance = rng.normal(0.0, 0.4, d), rng.uniform(0.5, 2.0, d)
    target = mean + 2.0 * rng.normal(size=d)
    weights = target - mean + rng.normal(size=d)
    diagonal, isotropic, linear = mi.Gaussian(mean, variance), mi.Gaussian(mean, 1.3), Linear(weights)

    def by_weights(target: Any, output: Any) -> Any:
        return output @ weights + 0.5

    def quadratic(target: Any, output: Any) -> Any:
        """Works row by row for NumPy's games, and for a single game of the engine."""
        return -((output - 0.2 * target) ** 2).sum(axis=-1)

    def mechanism(rho: float = 1.0) -> mi.AbstractMechanism:
        step = mi.SGDStep(clip, sigma)
        return mi.GaussianNoise(step if rho == 1.0 else mi.Subsampled(step, rho), gamma)

    def row(data: Any, attack: Any, point: Any, rho: float, sampler: str, fidelity: str = "auto") -> Row:
        size, step = round(rho * n), mechanism(rho)

        def release(rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
            rows = part(rng, rows, size)
            rows *= np.minimum(1.0, clip / np.linalg.norm(rows, axis=2, keepdims=True))
            noise = np.sqrt((sigma * clip / size) ** 2 + gamma**2 / n)
            return rows.mean(axis=1) + noise * rng.standard_normal((games, d))

        def records(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
            return rng.standard_normal((*shape, d)) * np.sqrt(data.variance) + data.mean

        score = by_weights if attack is linear else attack
        game = mi.RandomTarget(step, data, n=n) if point is None else fixed(step, data, n, point)
        return Row(game, attack, sampler, (lambda _: numpy_games(records, release, point, score, n, games, 1),), games, swap, cells=300,
                   how={"fidelity": fidelity})  # fmt: skip

    # Clipping keeps at least 0.6 of a typical row's shift (norms are below 8 with probability 1 - 1e-4); the score's standard deviation is at
    # most that without clipping. So a shift of the data by a hundredth moves the score by at least this many deviations:
    game, again = fixed(mechanism(), isotropic, n, target), 600_000
    spread = np.sqrt(weights @ weights * (1.3 / n + (sigma * clip / n) ** 2 + gamma**2 / n))
    shift = 0.6 * np.abs(weights).sum() * 0.01 / spread
    biased = fixed(mechanism(), mi.Gaussian(mean + 0.01 * np.sign(weights), 1.3), n, target)
    return {
        "clipped, linear": row(diagonal, linear, target, 1.0, "ClippedScores"),
        "clipped, linear, sub-sampled": row(diagonal, linear, target, 0.75, "ClippedScores"),
        "clipped, isotropic": row(isotropic, linear, target, 1.0, "ClippedLaw"),
        "clipped, isotropic, sub-sampled": row(isotropic, linear, target, 0.75, "ClippedLaw", "projected"),
        "clipped, isotropic, literal": row(isotropic, linear, target, 1.0, "ClippedScores", "literal"),
        "clipped, quadratic": row(diagonal, quadratic, target, 1.0, "LiteralSampler"),
        "clipped, quadratic, sub-sampled": row(diagonal, quadratic, target, 0.75, "LiteralSampler"),
        "clipped, random target": row(diagonal, quadratic, None, 1.0, "LiteralSampler"),
        "clipped, a shift of a hundredth": Row(game, linear, "ClippedLaw", (lambda _: plays(game, linear, again, 3),), again, nothing,
            out=lambda law: (plays(biased, linear, again, 2, law.edges),), power=lambda cells: power(again * shift**2 / 2, cells)),
        **{f"not clipped, d = {d}, {fidelity}": without_clipping(d, fidelity) for d in (1, 40) for fidelity in ("literal", "projected")},
    }  # fmt: skip


class Linear(mi.AbstractLinearAttack):
    slope: np.ndarray

    def weights(self, target):
        return jnp.asarray(self.slope)

    def offset(self, target):
        return jnp.asarray(0.5)


def without_clipping(d: int, fidelity: str) -> Row:
    rng = np.random.default_rng(d)
    mean, weights, target = rng.normal(size=d), rng.normal(size=d), rng.normal(size=d)
    game = fixed(mi.GaussianNoise(mi.SGDStep(np.inf, 0.0), 0.7), mi.Gaussian(mean, 1.0), 6, target)

    def law(noise: float) -> Law:
        centres = (weights @ mean, 6), (weights @ (5 * mean + target) / 6, 5)
        size = np.linalg.norm(weights)
        return Law(*(Mixture(centre, 1.0, size * np.sqrt(rows / 36 + noise)) for centre, rows in centres))

    sampler, games = "NormalSampler", 1_000_000
    if fidelity == "literal":
        sampler, games = ("LiteralSampler" if d < 20 else "ClippedScores"), 20_000
    return Row(game, mi.ScalarProduct(target - weights), sampler, (lambda _: law(0.49 / 6),), games, lambda _: (law(0.0),),
               how={"fidelity": fidelity})  # fmt: skip


ROWS = {
    **rows_against_exact_laws(), **rows_of_cells(), **rows_of_tables(), **rows_against_literal_games(), **rows_of_clipped_steps(),
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=row.marks) for name, row in ROWS.items()])
def test_a_sampler_has_the_law(name: str) -> None:
    row = ROWS[name]
    fidelity = row.how.get("fidelity", "auto")
    laws = [law(row) for law in row.laws]
    edges = row.edges(laws[0]) if callable(row.edges) else getattr(laws[0], "edges", row.edges)
    played = plays(row.game, row.attack, row.games, 5, edges, **row.how)
    assert kind_of(row.game, row.attack, fidelity) == row.sampler
    for law in laws:
        wrong = {"out": row.out(law), "inside": row.inside(law)}
        used = has_law(played, law, *row.wrong(law), **wrong, cells=row.cells)
        assert row.power is None or row.power(used) > 1 - 1e-4


BITS = [
    "random target, discrete", "random target, Gaussian", "Gaussian, Poisson", "Gaussian, likelihood ratio", "Student", "records",
    "uniform, a Poisson sample", "a noisy half, on no lattice", "random target, records, a clipped step on a Poisson sample",
    "4, coin, covariance, random", "clipped, isotropic", "clipped, isotropic, literal", *(f"{name} noise" for name in EVERY),
    "covariance", "coin and ratio", "clipped, random target", "random target, Bernoulli ratio", "not clipped, d = 1, literal",
]  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize("name", BITS)
def test_bits_depend_on_neither_chunk_nor_threads_nor_a_break(name: str, tmp_path: Any) -> None:
    row, games = ROWS[name], 8_000 if ROWS[name].games <= 40_000 else 40_000
    game, path = row.game, tmp_path / "run.npz"
    if name.endswith("noise"):
        game = mi.RandomTarget(row.game.mechanism, row.game.data, n=6)
    whole = plays(game, row.attack, games, 7, workers=1, **row.how)

    def play(many: int, **more: Any) -> mi.Histogram:
        return plays(game, row.attack, many, 7, whole.edges, **row.how, **more)

    play(5 * games // 8 + 1, chunk=games // 8, checkpoint=path)
    resumed = play(games, chunk=games // 2, checkpoint=path, workers=2)
    assert same(whole, resumed, play(games, chunk=1, workers=2))
    assert (whole.out > 0).sum() > 20
    assert (whole.out != plays(game, row.attack, games, 8, whole.edges, **row.how).out).any()


COINS_3, STEP, ONES = mi.Bernoulli([0.3, 0.55, 0.7]), mi.SGDStep(1.0, 1.0), np.ones(20)
RATIO, PRODUCT = mi.LikelihoodRatio(MEAN, COINS_3, 10), mi.ScalarProduct([0.5, -1.0, 2.0])


def of_coins(mechanism: Any) -> mi.FixedTarget:
    return mi.FixedTarget(mechanism, COINS_3, 10, COINS_3.easiest_target())


def step_of(data: Any, mechanism: Any = STEP) -> mi.FixedTarget:
    return mi.FixedTarget(mechanism, data, 5, ONES)


@pytest.mark.parametrize(
    ("game", "attack", "sampler"),
    [
        (of_coins(MEAN), RATIO, "TableSampler"),
        (of_coins(mi.GaussianNoise(MEAN, 0.5)), mi.CovarianceScore(COINS_3, 10), "TableSampler"),
        (mi.RandomTarget(MEAN, COINS_3, 10), PRODUCT, "TableSampler"),
        # Scores that are no sum over coordinates, noise that is not normal, and targets of more than two values a coordinate.
        (of_coins(mi.GaussianNoise(MEAN, 0.5)), RATIO, "LatticeColumns"),
        (of_coins(mi.LaplaceNoise(MEAN, 0.5)), mi.CovarianceScore(COINS_3, 10), "LatticeColumns"),
        (mi.RandomTarget(MEAN, mi.Discrete([0.0, 1.0], [0.5, 0.5], d=3), 10), PRODUCT, "LatticeColumns"),
        (mi.RandomTarget(mi.GaussianNoise(MEAN, 0.5), COINS_3, 10), RATIO, "LatticeColumns"),
        # Tables for 2 of 3 values would take as long as the records.
        (fixed(MEAN, mi.Discrete([0.0, 1.0, np.sqrt(2.0)], [[0.5, 0.3, 0.2]] * 2), 20, [0.0, 1.0]), mi.ScalarProduct([-0.5, 0.5]), "LiteralSampler"),
        # A quadratic form has a law of its own in the metric of the data alone.
        (fixed(MEAN, FULL, N, POINT), Distance(np.linalg.inv(FULL.cov)), "QuadraticSampler"),
        (fixed(MEAN, FULL, N, POINT), Distance(np.eye(D)), "LawSampler"),
        # Clipped records have a law where they are normal and alike in all directions.
        (step_of(mi.Gaussian(0.0, np.eye(20))), mi.ScalarProduct(ONES), "ClippedLaw"),
        (step_of(mi.Laplace(0.0 * ONES, 1.0)), mi.ScalarProduct(ONES), "LiteralSampler"),
        (step_of(mi.Gaussian(1e3, [1.0] * 19 + [2.0])), mi.ScalarProduct(ONES), "LiteralSampler"),
        (mi.RandomTarget(STEP, mi.Gaussian(0.0, 1.0, d=20), 5), mi.ScalarProduct(ONES), "LiteralSampler"),
        (step_of(mi.Gaussian(0.0, 1.0, d=20), mi.LaplaceNoise(mi.SGDStep(1.0, 0.0), 1.0)), mi.ScalarProduct(ONES), "LiteralSampler"),
    ],
)  # fmt: skip
def test_which_sampler_plays(game: Any, attack: Any, sampler: str) -> None:
    assert kind_of(game, attack) == sampler


def test_a_route_says_what_each_cheaper_sampler_lacks() -> None:
    """Of the row of normal scores, every need by a game that meets all others; the last meets them all."""
    data, product, target = mi.Gaussian([0.0, 0.0], 1.0), mi.ScalarProduct([0.5, 0.5]), [1.0, 1.0]
    poisson = mi.PoissonSubsampled(MEAN, 0.5)
    lacking = {
        "Gaussian data": (fixed(MEAN, mi.Laplace([0.0, 0.0], 1.0), 4, target), product),
        "a fixed target": (mi.RandomTarget(MEAN, data, 4), product),
        "a linear score": (fixed(MEAN, data, 4, target), lambda target, output: output.max()),
        "records that are averaged as they are": (fixed(mi.SGDStep(1.0, 1.0), data, 4, target), product),
        "no noise but Gaussian": (fixed(mi.LaplaceNoise(MEAN, 1.0), data, 4, target), product),
        "no sub-sample of a Poisson sample": (fixed(mi.Subsampled(poisson, 0.5), data, 4, target), product),
        "a mean of rows": (fixed(mi.Median(), data, 4, target), product),
        None: (fixed(poisson, data, 4, target), product),
    }
    draws = "the score, a normal number"
    for words, (game, attack) in lacking.items():
        route = game.route(attack)
        assert dict(route.passed).get(draws) == words
        assert (route.draws == draws) == (words is None)
    median = lacking["a mean of rows"][0]
    played, route = mi.play(median, product, 8, edges=[0.0], progress=False).manifest, median.route(product)
    assert (route.fidelity, route.sampler) == (played["fidelity"], played["sampler"])
    assert str(route).startswith('literal fidelity ("literal") draws every record\n  not the score, ')
    with pytest.raises(ValueError, match="fidelity is 'projected', but FixedTarget with Median and Scalar"):
        median.route(product, "projected")


ATOMS = [0.0, 1.0, np.sqrt(2)]
TWELVE, THIRTY = (
    np.random.default_rng(1).uniform(0.3, 0.7, 12),
    np.random.default_rng(2).normal(size=(30, 12)),
)
DATA: dict[str, tuple[mi.AbstractDistribution, Callable[..., np.ndarray], np.ndarray]] = {
    "bernoulli": (mi.Bernoulli(TWELVE), lambda r, s: (r.random((*s, 12)) < TWELVE).astype(float), (TWELVE < 0.5).astype(float)),
    "gaussian": (mi.Gaussian(TWELVE, 1 + TWELVE), lambda r, s: r.normal(TWELVE, np.sqrt(1 + TWELVE), (*s, 12)), np.full(12, 1.5)),
    "laplace": (mi.Laplace(TWELVE, 1 + TWELVE), lambda r, s: r.laplace(TWELVE, 1 + TWELVE, (*s, 12)), np.full(12, 2.5)),
    "uniform": (mi.Uniform(-TWELVE, 1 + TWELVE), lambda r, s: r.uniform(-TWELVE, 1 + TWELVE, (*s, 12)), 1 + TWELVE),
    "exponential": (mi.Exponential(TWELVE), lambda r, s: r.exponential(TWELVE, (*s, 12)), np.full(12, 1.5)),
    "discrete": (mi.Discrete(ATOMS, [0.5, 0.3, 0.2], d=12), lambda r, s: r.choice(ATOMS, p=[0.5, 0.3, 0.2], size=(*s, 12)), np.full(12, np.sqrt(2))),
    "empirical": (mi.Empirical(THIRTY, "diagonal"), lambda r, s: THIRTY[r.integers(0, 30, s)], THIRTY[0]),
}  # fmt: skip
MECHANISMS: dict[str, tuple[mi.AbstractMechanism, Callable[..., np.ndarray]]] = {
    "mean": (MEAN, lambda rng, x: x.mean(axis=1)),
    "gaussian noise": (mi.GaussianNoise(MEAN, 0.8), lambda rng, x: x.mean(axis=1) + 0.8 * rng.normal(size=x[:, 0].shape) / np.sqrt(x.shape[1])),
    "laplace noise": (mi.LaplaceNoise(MEAN, 0.2), lambda rng, x: x.mean(axis=1) + rng.laplace(scale=0.2, size=x[:, 0].shape)),
    "subsample": (mi.Subsampled(MEAN, 0.5), lambda rng, x: part(rng, x, x.shape[1] // 2).mean(axis=1)),
    "poisson": (mi.PoissonSubsampled(MEAN, 0.75), lambda rng, x: (x * (rng.random((*x.shape[:2], 1)) < 0.75)).sum(axis=1) / (0.75 * x.shape[1])),
}  # fmt: skip
COIN_RATIO = np.random.default_rng(4).uniform(0.3, 0.7, 30)
DATA["coins"] = (
    mi.Bernoulli(COIN_RATIO),
    lambda r, s: (r.random((*s, 30)) < COIN_RATIO).astype(float),
    (COIN_RATIO < 0.5).astype(float),
)
LITERAL = [
    *((data, "mean", "covariance", 40) for data in DATA if data != "coins"),
    *((data, kind, "covariance", 40) for kind in MECHANISMS if kind != "mean" for data in ("bernoulli", "laplace")),
    ("coins", "mean", "ratio", 40), ("coins", "subsample", "ratio", 80), ("gaussian", "gaussian noise", "ratio", 40),
]  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "kind", "attack", "n"), LITERAL)
def test_an_exact_law_is_that_of_literal_games_in_numpy(name: str, kind: str, attack: str, n: int) -> None:
    """20,000 games in 40 cells between quantiles of the law; the planted errors are a score moved by a tenth of its deviation, and p by a hundredth."""
    (data, sample, target), (mechanism, release) = DATA[name], MECHANISMS[kind]
    known: Any = (
        mi.CovarianceScore(data, n) if attack == "covariance" else mi.LikelihoodRatio(mechanism, data, n)
    )
    law = exact_law(fixed(mechanism, data, n, target), known)
    with exact_scope():
        score = jax.jit(jax.vmap(known.score))
        scores = Scores(*map(np.asarray, numpy_games(sample, release, target, score, n, 20_000, 11)))
    off = (name, kind) == ("bernoulli", "mean")
    biased = (exact_law(fixed(mechanism, mi.Bernoulli(TWELVE + 0.01), n, target), known),) if off else ()
    has_law(scores.counted(even_edges(law, 40, 0.02)), law, moved(law, 0.1), moved(law, -0.1), out=biased)
    assert type(law).__name__ == "InvertedLaw" or (name, attack) != ("gaussian", "ratio")
