"""Tilted and thinned games against closed forms, enumeration and convolution."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.bands.scaled_rates import ScaledRates
from mipsim.exact import exact_law

RATES = (1e-9, 1e-6, 1e-4, 1e-2)
GAMES = 40_000

# Every statistical test below: each of at most 16 intervals misses with probability 1e-10, so that a test fails by chance
# with probability below 1e-8 / 5 and the file below 1e-8. Seeds are fixed.
RISK = 1e-10

Tails = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def check(curve: mi.RareTradeOff, tails: Tails, rates: tuple[float, ...] = RATES, width: float = 2.0) -> None:
    """The exact P_out(S > t) and P_in(S <= t) lie in the intervals, which are narrow and stand where they were requested."""
    alpha, beta = tails(curve.thresholds)
    assert curve.thresholds.size == len(rates)
    for rate, exact in ((curve.out, alpha), (curve.inside, beta)):
        low, high = rate.bounds(RISK * alpha.size)
        assert ((low <= exact) & (exact <= high)).all(), (low, exact, high)
    low, high = curve.out.bounds(RISK * alpha.size)
    assert (high < width * low).all()  # 6.5 standard errors on either side: each is about 4% of the rate
    assert np.allclose(np.log(alpha), np.log(np.sort(rates)[::-1]), atol=0.35)


def mean_game(data: mi.AbstractDistribution, n: int, target: object) -> mi.FixedTarget:
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target)


def test_equal_coins_are_a_single_binomial() -> None:
    n, d, p = 40, 10, 0.3
    data = mi.Bernoulli(p, d=d)
    attack = mi.CovarianceScore(data, n=n)
    curve = mi.play_rare(mean_game(data, n, np.ones(d)), attack, GAMES, seed=1, false_positive_rates=RATES)

    def tails(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # S = sum_j w (X_j / n - p) - d w (1 - p) / (2 n), w = 1 / p.
        whole = n * p * (t + d * (1 - p) / p / (2 * n)) + n * d * p
        assert (np.abs(whole - np.floor(whole) - 0.5) < 1e-6).all()  # thresholds lie between the atoms
        return stats.binom.sf(np.floor(whole), n * d, p), stats.binom.cdf(np.floor(whole) - d, (n - 1) * d, p)

    alpha, beta = tails(curve.thresholds)
    for rate, exact in ((curve.out, alpha), (curve.inside, beta)):
        low, high = rate.bounds(RISK * alpha.size)
        assert ((low <= exact) & (exact <= high)).all()


@pytest.mark.evidence
@pytest.mark.parametrize(("n", "target"), [(30, [1.0, 0.0, 1.0]), (9, [1.0, 1.0, 1.0])])
@pytest.mark.parametrize("ratio", [True, False])
def test_unequal_coins_by_enumeration(n: int, target: list[float], ratio: bool) -> None:
    p = np.array([0.2, 0.45, 0.6])
    data = mi.Bernoulli(p)
    game = mean_game(data, n, target)
    attack = mi.LikelihoodRatio(game.mechanism, data, n) if ratio else mi.CovarianceScore(data, n=n)
    rates = (1e-3, 1e-2) if n == 9 else RATES[1:]
    curve = mi.play_rare(game, attack, GAMES, seed=2, false_positive_rates=rates)
    x = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    z = np.array(target)
    out = stats.binom.pmf(x, n, p).prod(axis=1)
    inside = stats.binom.pmf(x - z, n - 1, p).prod(axis=1)
    with np.errstate(divide="ignore"):
        score = np.log(inside / out) if ratio else (x / n - p) @ ((z - p) / (p * (1 - p)))
    if not ratio:
        score = score - np.sum((z - p) ** 2 / (p * (1 - p))) / (2 * n)
    above = score[:, None] > curve.thresholds
    alpha, beta = out @ above, inside @ ~above
    for rate, exact in ((curve.out, alpha), (curve.inside, beta)):
        low, high = rate.bounds(RISK * alpha.size)
        assert ((low <= exact) & (exact <= high)).all(), (low, exact, high)
    assert (alpha < 3 * np.sort(rates)[::-1]).all()


@pytest.mark.parametrize("gamma", [0.0, 0.7])
def test_gaussian_covariance_score(gamma: float) -> None:
    n, target = 25, np.array([1.0, -2.0, 0.5])
    data = mi.Gaussian(0.5, [1.0, 4.0, 0.25])
    game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), gamma), data, n=n, target=target)
    attack = mi.CovarianceScore(data, n=n, record_deviation=gamma)
    curve = mi.play_rare(game, attack, GAMES, seed=3, false_positive_rates=RATES)
    w = (target - 0.5) / (np.array([1.0, 4.0, 0.25]) + gamma**2)
    m = float(w @ (target - 0.5)) / n
    own = float(w**2 @ np.array([1.0, 4.0, 0.25])) / n
    noise = m - own

    def tails(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.sqrt(own * (1 - 1 / n) + noise)
        return stats.norm.sf(t, -m / 2, np.sqrt(m)), stats.norm.cdf(t, m / 2, inside)

    check(curve, tails)


def test_the_interval_of_a_tpr_at_a_rare_fpr_covers_the_known_answer() -> None:
    """Both scores are normal, mu = 2. All intervals hold at once but with 1e-9; a mu 5% off lies outside, and so does the FPR itself."""
    n, d = 50, 50
    data = mi.Gaussian(0.0, 1.0, d=d)
    game, rates = mean_game(data, n, np.full(d, 2.0)), np.array([1e-6, 1e-4, 1e-2])
    placed = np.sort(np.concatenate([0.9 * rates, 1.1 * rates]))
    curve = mi.play_rare(
        game, mi.CovarianceScore(data, n=n), 200_000, seed=3, false_positive_rates=placed, confidence=1 - 1e-9
    )
    low, high = curve.tpr_interval(rates)

    def tpr(mu: float) -> np.ndarray:
        return stats.norm.sf((stats.norm.isf(rates) - mu) / np.sqrt(1 - 1 / n))

    assert (low <= tpr(2.0)).all()
    assert (tpr(2.0) <= high).all()
    assert (high < 1.3 * low).all()
    for wrong in (tpr(1.9), tpr(2.1), rates):
        assert ((wrong < low) | (wrong > high)).any()
    assert ((tpr(1.9) < low) & (high < tpr(2.1)))[0]


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["diagonal", "noisy", "full"])
def test_gaussian_likelihood_ratio_is_a_quadratic(kind: str) -> None:
    """Equal variances: the ratio is a non-central chi-square; SciPy's is accurate at these sizes."""
    n, d, gamma = 12, 4, 0.5 if kind == "noisy" else 0.0
    target = np.array([1.0, -1.0, 2.0, 0.5])
    if kind == "full":
        rng = np.random.default_rng(4)
        root = rng.normal(size=(d, d)) + 2 * np.eye(d)
        data = mi.Gaussian(np.ones(d), root @ root.T)
        game, attack = mean_game(data, n, target), mi.GaussianLikelihoodRatio(data, n)
        square = data.mahalanobis_squared(target)
    else:
        data = mi.Gaussian(1.0, 1.0, d=d)
        game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), gamma), data, n=n, target=target)
        attack = mi.LikelihoodRatio(game.mechanism, data, n)
        square = float(np.sum((target - 1.0) ** 2))
    curve = mi.play_rare(game, attack, GAMES, seed=5, false_positive_rates=RATES)
    v0, v1, delta = (1 + gamma**2) / n, (1 + gamma**2) / n - 1 / n**2, square / n**2
    # S = c + sum a (x + b)^2 with a > 0: completing the square in x^2 / 2 v0 - (x - shift)^2 / 2 v1 gives -a (...)^2.
    a = 0.5 / v1 - 0.5 / v0
    centre = delta * (0.5 / v1 / a) ** 2  # squared distance of the vertex from the "out" mean
    far = delta * (0.5 / v1 / a - 1) ** 2  # and from the "in" mean
    top = 0.5 * d * np.log(v0 / v1) - delta / (2 * v1) + a * centre

    def tails(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = (top - t) / a
        return stats.ncx2.cdf(y / v0, d, centre / v0), stats.ncx2.sf(y / v1, d, far / v1)

    check(curve, tails, width=3.0)  # the score is bounded, and near its bound a tilt reaches less far


@pytest.mark.evidence
def test_exponential_data_are_a_single_gamma() -> None:
    n, d = 15, 4
    data = mi.Exponential(2.0, d=d)
    target = np.full(d, 5.0)
    curve = mi.play_rare(
        mean_game(data, n, target), mi.ScalarProduct(np.zeros(d)), GAMES, seed=6, false_positive_rates=RATES
    )

    def tails(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = t * n / 5.0  # S = 5 sum of the means
        out = stats.gamma.sf(total, n * d, scale=2.0)
        return out, stats.gamma.cdf(total - 5.0 * d, (n - 1) * d, scale=2.0)

    check(curve, tails)


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["discrete", "empirical"])
def test_rows_by_convolution(kind: str) -> None:
    n = 12
    if kind == "discrete":
        data, target, weight = mi.Discrete([0.0, 1.0, 3.0], [0.5, 0.3, 0.2]), [3.0], [1.0]
        atoms, masses, own = [0, 1, 3], [0.5, 0.3, 0.2], 3
    else:
        records = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [4.0, 1.0]]
        data, target, weight = mi.Empirical(records), [4.0, 1.0], [1.0, 1.0]
        atoms, masses, own = [0, 1, 2, 5], [0.2, 0.2, 0.4, 0.2], 5
    attack = mi.ScalarProduct(np.array(target) - weight)  # weights: target - reference
    item = np.zeros(max(atoms) + 1)
    item[atoms] = masses
    rest = np.ones(1)
    for _ in range(n - 1):
        rest = np.convolve(rest, item)
    out = np.convolve(rest, item)
    inside = np.concatenate([np.zeros(own), rest])
    values = np.arange(out.size) / n
    curve = mi.play_rare(mean_game(data, n, target), attack, GAMES, seed=7, false_positive_rates=(1e-6, 1e-2))
    t = curve.thresholds[:, None]
    assert (np.abs(values - t) > 1e-6).all()
    for rate, exact in (
        (curve.out, (values > t) @ out),
        (curve.inside, (values[: inside.size] <= t) @ inside),
    ):
        low, high = rate.bounds(RISK * t.size)
        assert ((low <= exact) & (exact <= high)).all(), (low, exact, high)


@pytest.mark.evidence
def test_subsampling_plays_the_mixture() -> None:
    n, rho, p = 40, 0.5, 0.3
    data = mi.Bernoulli(p, d=6)
    game = mi.FixedTarget(mi.Subsampled(mi.EmpiricalMean(), rho), data, n=n, target=np.ones(6))
    attack = mi.CovarianceScore(data, n=20)
    curve = mi.play_rare(game, attack, GAMES, seed=8, false_positive_rates=(1e-6, 1e-3))
    k, d = 20, 6
    whole = np.floor(k * p * (curve.thresholds + d * (1 - p) / p / (2 * k)) + k * d * p)
    alpha = stats.binom.sf(whole, k * d, p)
    beta = rho * stats.binom.cdf(whole - d, (k - 1) * d, p) + (1 - rho) * (1 - alpha)
    for rate, exact in ((curve.out, alpha), (curve.inside, beta)):
        low, high = rate.bounds(RISK * alpha.size)
        assert ((low <= exact) & (exact <= high)).all()
    assert not curve.inside.complement.any()
    assert (curve.inside.scale == 1.0).all()


def test_a_rare_false_negative_rate_is_tilted_too() -> None:
    data = mi.Gaussian(0.0, 1.0, d=1)
    n = 10**6
    game = mean_game(data, n, [8.0 * n**0.5])  # mu = 8: at FPR 1e-2 the FNR is 7e-9
    curve = mi.play_rare(game, mi.CovarianceScore(data, n=n), GAMES, seed=9, false_positive_rates=[1e-2])
    assert not curve.inside.complement[0]
    low, high = curve.inside.bounds(RISK)
    exact = stats.norm.cdf(curve.thresholds, 32.0, 8.0 * np.sqrt(1 - 1 / n))
    assert low[0] <= exact[0] <= high[0] < 2 * low[0] < 3e-8


@pytest.mark.evidence
def test_intervals_cover_as_often_as_they_say() -> None:
    """100 runs of 300 games: misses of 90% intervals are at most Binomial(100, 0.1), cut off at 1e-9."""
    n, d, p, runs = 12, 4, 0.4, 100
    data = mi.Bernoulli(p, d=d)
    game, attack = mean_game(data, n, np.ones(d)), mi.CovarianceScore(data, n=n)
    misses, accepted, q = np.zeros(2), 0.0, 0.0
    for seed in range(runs):
        curve = mi.play_rare(game, attack, 300, seed=seed, false_positive_rates=[1e-4])
        whole = np.floor(n * p * (curve.thresholds + d * (1 - p) / p / (2 * n)) + n * d * p)
        exact = stats.binom.sf(whole, n * d, p), stats.binom.cdf(whole - d, (n - 1) * d, p)
        for i, rate in enumerate((curve.out, curve.inside)):
            low, high = rate.bounds(0.1)
            misses[i] += not low[0] <= exact[i][0] <= high[0]
        accepted += curve.out.count[0]
        q = float(exact[0][0] / curve.out.scale[0])
    assert (misses <= stats.binom.isf(1e-9, runs, 0.1)).all()
    # All runs together: the accepted games are a single binomial of 30,000.
    assert stats.binom.ppf(1e-9, 300 * runs, q) <= accepted <= stats.binom.isf(1e-9, 300 * runs, q)


@pytest.mark.evidence
def test_a_run_depends_on_seed_and_games_only() -> None:
    data = mi.Bernoulli([0.3, 0.6, 0.5, 0.2])
    game = mean_game(data, 20, [1.0, 0.0, 1.0, 1.0])
    for attack in (mi.CovarianceScore(data, n=20), mi.LikelihoodRatio(game.mechanism, data, 20)):
        runs = [
            mi.play_rare(game, attack, 30_000, 3, chunk=c, workers=w)
            for c, w in ((None, None), (1, 3), (8192, 1))
        ]
        for other in runs[1:]:
            assert np.array_equal(other.out.count, runs[0].out.count)
            assert np.array_equal(other.inside.count, runs[0].inside.count)
            assert other.manifest == runs[0].manifest
        another = mi.play_rare(game, attack, 30_000, 4)
        assert not np.array_equal(another.out.count, runs[0].out.count)


@pytest.mark.evidence
def test_the_exact_law_agrees_at_forty_coordinates() -> None:
    """The oracle's tails at the thresholds of the run, for the covariance score and for the likelihood ratio."""
    p = np.random.default_rng(12).uniform(0.25, 0.75, 40)
    data = mi.Bernoulli(p)
    game = mean_game(data, 50, data.easiest_target())
    for attack in (mi.CovarianceScore(data, n=50), mi.LikelihoodRatio(game.mechanism, data, 50)):
        law = exact_law(game, attack)
        curve = mi.play_rare(game, attack, GAMES, seed=13, false_positive_rates=RATES)
        check(curve, lambda t, law=law: (law.sf(t, inside=False), law.cdf(t, inside=True)))


def test_printed_bounds_are_rounded_outwards() -> None:
    """Every pair of ends holds the bounds that it shows, and is hardly wider."""
    games, unit, no = np.full(3, 1000), np.ones(3), np.zeros(3, bool)
    out = ScaledRates(np.array([317, 41, 7]), games, 1e-3 * unit, no)
    inside = ScaledRates(np.array([123, 400, 811]), games, unit, no)
    curve = mi.RareTradeOff(np.arange(3.0), out, inside, games=1000)
    ends = np.array(re.findall(r"\[([^,]+), ([^\]]+)\]", str(curve))[:6], float).reshape(3, 2, 2)
    low, high = out.bounds((1.0 - curve.confidence) / 2)
    below, above = inside.bounds((1.0 - curve.confidence) / 2)
    exact = np.array([[low, high], [1.0 - above, 1.0 - below]]).transpose(2, 0, 1)
    assert (ends[..., 0] <= exact[..., 0]).all()
    assert (ends[..., 1] >= exact[..., 1]).all()
    np.testing.assert_allclose(ends, exact, rtol=2e-3)
