"""Intervals that hold at every number of games: against brute force, and their failure probability, exact and by stopped runs."""

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import logsumexp, ndtr, ndtri
from scipy.stats import binom

from mipsim.bands import CountedRates, EmpiricalTradeOff
from mipsim.bands.anytime import (
    MixedRates,
    anytime_band,
    anytime_bounds,
    mixture_probits,
    refutes_bound,
)
from mipsim.bands.gap_interval import critical_probits, gap_bounds
from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff, MixtureTradeOff, PiecewiseLinearTradeOff

CURVES = [
    GaussianTradeOff(0.0),
    GaussianTradeOff(1.0),
    MixtureTradeOff(GaussianTradeOff(2.0), 0.3),
    ApproxDPTradeOff(1.0, 0.05),
    PiecewiseLinearTradeOff([0, 0.1, 0.4, 1], [0.95, 0.6, 0.2, 0]),
]
EARLIER = [None, np.array([[30.0], [70.0], [50.0], [40.0]]), np.array([[900.0], [1.0], [0.0], [400.0]])]
"""Of no games, of likely ones, and of what the games contradict: each is a valid mixture."""


def rates(
    x: ArrayLike, n0: int, y: ArrayLike, n1: int, earlier: np.ndarray | None = None
) -> tuple[MixedRates, MixedRates]:
    """Both worlds' rates of many thresholds, with the same earlier counts at each."""
    previous = np.zeros((4, 1)) if earlier is None else earlier

    def world(counts: ArrayLike, games: int, before: np.ndarray) -> MixedRates:
        x = np.asarray(counts, float)
        return MixedRates(x, games - x, *np.broadcast_to(before, (2, x.size)))

    return world(x, n0, previous[:2]), world(y, n1, previous[2:])


@pytest.mark.parametrize("claim", CURVES, ids=str)
@pytest.mark.parametrize("earlier", EARLIER, ids=["none", "likely", "contradicted"])
@pytest.mark.parametrize(
    ("x", "n0", "y", "n1"), [(30, 100, 45, 90), (0, 60, 20, 50), (60, 60, 3, 50), (5, 2000, 1500, 2000)]
)
def test_the_interval_is_that_of_all_allowed_rates(claim, earlier, x, n0, y, n1) -> None:
    """On a grid of rates the extrema lie inside, and by no more than 4% of the width where the grid resolves it."""
    out, inside = rates([x], n0, [y], n1, earlier)
    low, high = (end[0] for end in anytime_bounds(out, inside, claim, 0.05))
    z = np.linspace(-6.0, 6.0, 2001)
    mixed = out.log_mixture(z[None, :]).T + inside.log_mixture(z[None, :])
    allowed = mixed < np.log(20.0)
    gap = claim.probit_beta(ndtr(z))[:, None] - z[None, :]
    seen = gap[allowed & np.isfinite(gap)]
    assert low <= seen.min()
    assert seen.max() <= high
    if np.isfinite([low, high]).all() and not allowed[[0, -1]].any() and not allowed[:, [0, -1]].any():
        assert (seen.min() - low) + (high - seen.max()) <= 0.04 * (high - low) + 0.018


@pytest.mark.parametrize("earlier", EARLIER, ids=["none", "likely", "contradicted"])
@pytest.mark.parametrize("p", [0.02, 0.4, 0.97])
def test_the_mixture_is_a_martingale(p, earlier) -> None:
    """Its mean is 1 at the true rate, exactly, after any number of games; at a rate 3% off it is not."""
    for games in (1, 7, 400):
        x = np.arange(games + 1.0)
        single, _ = rates(x, games, x, games, earlier)
        mean = [
            float(
                np.asarray(
                    logsumexp(binom.logpmf(x, games, p) + single.log_mixture(np.array([[ndtri(q)]]))[:, 0])
                )
            )
            for q in (p, 0.97 * p)
        ]
        assert mean[0] == pytest.approx(0.0, abs=1e-9)
        assert abs(mean[1]) > 1e-3


def chance_of_ever_missing(excluded, a: float, b: float, games: int) -> float:
    """The probability that an interval excludes the true gap after some number of games up to `games`, summed over all paths."""
    alive, missed = np.ones((1, 1)), 0.0
    for n in range(1, games + 1):
        after = np.zeros((n + 1, n + 1))
        for i, q in ((1, a), (0, 1.0 - a)):
            for j, r in ((1, b), (0, 1.0 - b)):
                after[i : i + n, j : j + n] += q * r * alive
        x, y = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij"))
        out = excluded(x, y, n).reshape(after.shape)
        missed += after[out].sum()
        alive = np.where(out, 0.0, after)
    return missed


@pytest.mark.parametrize(
    ("earlier", "games"),
    [*((earlier, 12) for earlier in EARLIER), pytest.param(None, 24, marks=pytest.mark.evidence)],
    ids=["none", "likely", "contradicted", "none, longer"],
)
def test_some_interval_ever_misses_no_more_often_than_stated(earlier, games: int) -> None:
    """Exactly, summed over all paths that are looked at after every game."""
    claim, a, risk = GaussianTradeOff(1.0), 0.3, 0.1

    def anytime(x: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
        low, high = anytime_bounds(*rates(x, n, y, n, earlier), claim, risk * x.size)
        return (low > 0) | (high < 0)

    assert chance_of_ever_missing(anytime, a, float(claim.beta(a)), games) <= risk


@pytest.mark.evidence
def test_intervals_at_a_single_number_of_games_ever_miss_more_often_than_stated() -> None:
    """The control: looked at after every game, the intervals of a fixed number of games fail."""
    claim, a, risk = GaussianTradeOff(1.0), 0.3, 0.1

    def fixed(x: np.ndarray, y: np.ndarray, n: int) -> np.ndarray:
        out, inside = (CountedRates(counts, n) for counts in (x, y))
        low, high = gap_bounds(out, inside, claim, critical_probits(risk, 1, 2), 64)
        return (low > 0) | (high < 0)

    assert chance_of_ever_missing(fixed, a, float(claim.beta(a)), 24) > risk


def test_the_quick_look_agrees_with_the_intervals() -> None:
    rng = np.random.default_rng(3)
    for _ in range(15):
        n, mu = int(rng.integers(20, 3000)), rng.uniform(0, 2)
        t = np.linspace(-1, 2, 5)
        x, y = rng.binomial(n, ndtr(-t)), rng.binomial(n, ndtr(t - mu))
        for claim in (GaussianTradeOff(0.7), ApproxDPTradeOff(1.0, 0.01)):
            pair = rates(x, n, y, n)
            assert refutes_bound(*pair, claim, 0.1) == bool(
                (anytime_bounds(*pair, claim, 0.1)[0] > 1e-9).any()
            )


def test_every_number_of_a_curve_is_wider() -> None:
    counts = [0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000
    fixed, anytime = (EmpiricalTradeOff(*counts, earlier_counts=e) for e in (None, np.zeros((4, 2))))
    intervals = [(curve.advantage_interval(), curve.auc_interval(), curve.compare(GaussianTradeOff(1.0)).interval) for curve in (fixed, anytime)]  # fmt: skip
    for (low, high), (least, most) in zip(*intervals, strict=True):
        assert least < low < high < most
    for bound in ("mu_lower_bound", "advantage_lower_bound", "eta_lower_bound"):
        assert 0.0 < getattr(anytime, bound)() < getattr(fixed, bound)()
    assert 0.0 < anytime.epsilon_lower_bound(1e-5) < fixed.epsilon_lower_bound(1e-5)
    assert "at every number of games at once" in str(anytime)


def test_the_band_is_simultaneous_with_the_mixture_of_each_world() -> None:
    out, inside = rates([300.0, 500.0], 1000, [500.0, 300.0], 1000)
    band = anytime_band(out, inside, 0.01)
    for single, ends in ((out, (band.alpha_low, band.alpha_high)), (inside, (band.beta_low, band.beta_high))):
        for end in ends:
            np.testing.assert_allclose(
                single.log_mixture(ndtri(end)[:, None])[:, 0][::-1].min(), np.log(400), rtol=1e-6
            )
    assert mixture_probits(out, inside, 0.01) == pytest.approx(
        np.sqrt(2 * (np.log(200) + np.log(500 * np.pi))), rel=0.01
    )
