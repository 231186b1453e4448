import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom, chi2

from mipsim.bands.binomial_deviance import deviance, deviance_bounds
from mipsim.bands.comparison_base import critical_probit
from mipsim.bands.gap_interval import gap_bounds, gap_standard_error, profile_deviance
from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff, PiecewiseLinearTradeOff

CURVES = [
    GaussianTradeOff(0.0),
    GaussianTradeOff(1.0),
    GaussianTradeOff(4.0),
    MixtureTradeOff(GaussianTradeOff(2.0), 0.3),
    PiecewiseLinearTradeOff([0, 0.1, 0.4, 1], [0.95, 0.6, 0.2, 0]),
]
CASES = [
    (30, 1000, 400, 1000),
    (500, 1000, 60, 2000),
    (950, 1000, 30, 500),
    (40, 10**8, 10**8 - 90_000, 10**8),
]


@pytest.mark.parametrize("claim", CURVES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_profile_deviance_is_the_least_over_a_fine_grid(claim, case) -> None:
    x, n0, y, n1 = case
    found = float(profile_deviance(np.array([x]), n0, np.array([y]), n1, claim)[0])
    z = np.linspace(-12, 8, 400_001)
    grid = deviance(x, n0, ndtr(z), ndtr(-z)) + deviance(y, n1, claim.beta(ndtr(z)), claim.tpr_at(ndtr(z)))
    assert found <= grid.min() * (1 + 1e-9) + 1e-15 * n0
    assert found == pytest.approx(grid.min(), rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("claim", CURVES, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_the_interval_holds_the_extremes_and_little_more(claim, case) -> None:
    """Against the extremes on 20,001 points of the boundary: never narrower, at most 1% wider."""
    x, n0, y, n1 = case
    critical = 15.0
    low, high = (float(end[0]) for end in gap_bounds(np.array([x]), n0, np.array([y]), n1, claim, critical))

    shares = np.sin(np.linspace(0, np.pi / 2, 20_001)) ** 2
    a = deviance_bounds(x, n0, shares * critical)
    b = deviance_bounds(y, n1, (1 - shares) * critical)
    for side, sign, end in ((1, 1, low), (0, -1, high)):
        extreme = sign * float((sign * (claim.probit_beta(a[side]) - ndtri(b[side]))).min())
        width = abs(extreme - float(claim.probit_beta(x / n0) - ndtri(y / n1)))
        assert sign * end <= sign * extreme + 1e-7
        assert abs(end - extreme) <= 0.01 * width


@pytest.mark.parametrize("mu", np.linspace(0.8, 1.2, 9))
def test_interval_and_deviance_say_the_same(mu: float) -> None:
    """The interval excludes zero where the deviance exceeds the critical value, up to its widening."""
    x, y, n = np.array([1587, 5000]), np.array([5000, 1587]), 10_000
    claim = GaussianTradeOff(mu)
    found = profile_deviance(x, n, y, n, claim)
    for critical in (1.0, 8.0, 15.0):
        low, high = gap_bounds(x, n, y, n, claim, critical)
        excluded = (low > 0) | (high < 0)
        assert (excluded <= (found > critical * (1 - 1e-9))).all()
        assert ((found > critical * 1.02) <= excluded).all()


# At 400 games the smallest cells hold about 25 counts, where the chi-square approximation is worst.
@pytest.mark.parametrize(("games", "reach"), [(400, 1.2), (10_000, 2.0), (10**7, 3.5)])
def test_false_refutations_stay_below_the_failure_probability(draw_counts, games: int, reach: float) -> None:
    """Failures of 3000 true replicates stay below the 1e-9 quantile of the nominal binomial."""
    replicates, risk, mu = 3000, 0.05, 1.0
    t = np.linspace(0.5 - reach, 0.5 + reach, 8)
    rng = np.random.default_rng(games)
    x, y = draw_counts(rng, ndtr(-t), games, replicates), draw_counts(rng, ndtr(t - mu), games, replicates)
    used = np.minimum(np.minimum(x, games - x), np.minimum(y, games - y)) >= 25
    p_value = np.ones(x.shape)
    found = profile_deviance(x[used], games, y[used], games, GaussianTradeOff(mu))
    p_value[used] = np.minimum(1.0, 2 * chi2.sf(found, 1))
    refuted = (p_value * t.size <= risk).any(axis=1).sum()
    assert used.mean() > 0.5
    assert refuted <= binom.isf(1e-9, replicates, risk)
    # The control: without the share per threshold and the padding, they are refuted too often.
    assert (p_value <= 2 * risk).any(axis=1).sum() > binom.isf(1e-9, replicates, risk)


@pytest.mark.parametrize("mu", [1.0, 1.3])
def test_the_interval_covers_the_true_gap(draw_counts, mu: float) -> None:
    """All intervals of a replicate hold their true gap at once, also where the claim is wrong."""
    replicates, games, risk = 600, 5000, 0.05
    claim = GaussianTradeOff(1.0)
    t = np.linspace(-0.5, 2.0, 5)
    alpha, beta = ndtr(-t), ndtr(t - mu)
    rng = np.random.default_rng(3)
    x, y = draw_counts(rng, alpha, games, replicates), draw_counts(rng, beta, games, replicates)
    critical = critical_probit(risk, t.size) ** 2
    low, high = gap_bounds(x.ravel(), games, y.ravel(), games, claim, critical)
    truth = np.tile(claim.probit_beta(alpha) - ndtri(beta), replicates)
    missed = ((low > truth) | (truth > high)).reshape(x.shape).any(axis=1).sum()
    assert missed <= binom.isf(1e-9, replicates, risk)
    middle = 0.5 * (low + high)
    half = 0.5 * (high - low)
    narrow = (np.abs(middle - truth) > 0.5 * half).reshape(x.shape).any(axis=1).sum()
    assert narrow > binom.isf(1e-9, replicates, risk)  # intervals half as wide would be caught


def test_the_standard_error_is_that_of_the_replicates(draw_counts) -> None:
    replicates, games = 4000, 10**5
    t = np.array([-1.0, 0.5, 2.0])
    alpha, beta = ndtr(-t), ndtr(t - 2.0)
    rng = np.random.default_rng(11)
    a = draw_counts(rng, alpha, games, replicates) / games
    b = draw_counts(rng, beta, games, replicates) / games
    for claim in (GaussianTradeOff(2.0), MixtureTradeOff(GaussianTradeOff(2.0), 0.4)):
        spread = (claim.probit_beta(a) - ndtri(b)).std(axis=0)
        # The spread of 4000 normals is known to 6.1 / sqrt(8000) = 7% at 1e-9; 3% more for curvature.
        assert np.allclose(gap_standard_error(alpha, games, beta, games, claim), spread, rtol=0.10)


def test_a_claim_of_zero_is_an_infinite_gap() -> None:
    perfect = PiecewiseLinearTradeOff([0, 1e-9, 1], [1, 0, 0])
    x, y, n = np.array([100, 5000]), np.array([5000, 100]), 10_000
    assert (profile_deviance(x, n, y, n, perfect) > 1e3).all()
    low, high = gap_bounds(x, n, y, n, perfect, 15.0)
    assert (low == -np.inf).all()
    assert (high == -np.inf).all()
