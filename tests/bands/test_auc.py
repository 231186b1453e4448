"""Intervals of the AUC: how often they are wrong, and how wide they are."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, rel_entr
from scipy.stats import binom, multinomial

import mipsim as mi
from mipsim.bands import auc
from mipsim.bands.auc import _tail_by_squares, pair_games
from tests.false_claims import counted

RISK = 0.05
Games = tuple[np.ndarray, np.ndarray]


def gaussian(mu: float) -> Callable[[np.random.Generator, int], Games]:
    return lambda rng, n: (rng.normal(size=n), rng.normal(mu, size=n))


def dice(rng: np.random.Generator, n: int) -> Games:
    return rng.integers(1, 7, size=n) * 1.0, rng.integers(2, 8, size=n) * 1.0


def yes_or_no(rng: np.random.Generator, n: int) -> Games:
    return (rng.random(n) < 0.3) * 1.0, (rng.random(n) < 0.6) * 1.0


def three_values(rng: np.random.Generator, n: int) -> Games:
    """The law of the largest variance for its AUC, with all "out" scores equal."""
    return np.ones(n), np.where(rng.random(n) < 0.7, 2.0, 0.0)


def hardest(rng: np.random.Generator, n: int) -> Games:
    """The "out" scores lie in the middle of "in" scores that are far apart: no law of the same AUC, 0.7, has a larger variance."""
    return rng.random(n), np.where(rng.random(n) < 0.7, 2.0, -1.0)


LAWS = {
    "mu = 0": (gaussian(0.0), 0.5),
    "mu = 0.5": (gaussian(0.5), float(ndtr(0.5 / np.sqrt(2)))),
    "mu = 1": (gaussian(1.0), float(ndtr(1.0 / np.sqrt(2)))),
    "mu = 2": (gaussian(2.0), float(ndtr(2.0 / np.sqrt(2)))),
    "mu = 4": (gaussian(4.0), float(ndtr(4.0 / np.sqrt(2)))),
    "hardest": (hardest, 0.7),
    "yes or no": (yes_or_no, 0.65),
    "three values": (three_values, 0.7),
}
"""How games are sampled, and their AUC."""
LAWS["dice"] = (dice, float(np.mean([(j > i) + 0.5 * (j == i) for i in range(1, 7) for j in range(2, 8)])))


def chernoff(estimate: float, m: int, risk: float) -> float:
    """Width of the interval by Hoeffding's inequality in its sharp form, exp(-m KL), which holds for U-statistics."""

    def excess(a: float) -> float:
        return float(m * (rel_entr(estimate, a) + rel_entr(1.0 - estimate, 1.0 - a)) - np.log(2.0 / risk))

    root: Any = brentq
    low, high = (far if excess(far) <= 0.0 else root(excess, estimate, far) for far in (1e-12, 1.0 - 1e-12))
    return float(high - low)


def test_pairs_listed_and_pairs_counted_have_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, t, result = np.random.default_rng(3), np.linspace(-3.0, 4.0, 40), [[], []]
    for _ in range(200):
        some = counted(rng.normal(size=500), rng.normal(1.0, size=700), t)
        for k, listed in enumerate((2**22, 0)):
            monkeypatch.setattr(auc, "_LISTED", listed)
            pairs = pair_games(*some)
            assert pairs is not None
            result[k].append((pairs.above, pairs.same))
    item, other = (np.array(several, float) for several in result)
    error = np.sqrt((item.var(axis=0) + other.var(axis=0)) / 200)
    assert (abs(item.mean(axis=0) - other.mean(axis=0)) <= 6.0 * error).all()


def test_coins_of_equal_scores_come_from_all_counts() -> None:
    """A seed made of the numbers of pairs alone would repeat the coins: an end at a nominal 2.5% was then wrong up to 12.7% of the time."""
    games = [pair_games([0] * k, 10, [10] * k, 10, tied=True) for k in range(1, 31)]
    assert {(result.pairs, result.above, result.mean_equal) for result in games if result} == {(10, 0, 10.0)}
    assert len({value.heads for value in games if value}) > 3


def compositions(n: int, values: int) -> np.ndarray:
    """All counts of n games with so many values, shape (data, values)."""
    rows = np.array(list(np.ndindex(*(n + 1,) * (values - 1))))
    rows = rows[rows.sum(axis=1) <= n]
    return np.column_stack([rows, n - rows.sum(axis=1)])


def laws(values: int, rng: np.random.Generator) -> np.ndarray:
    """Distributions of so many values: a grid with its corners, and random ones, shape (laws, values)."""
    grid = compositions(20 if values == 2 else 5, values)
    return np.concatenate([grid / grid[0].sum(), rng.dirichlet(np.full(values, 0.5), 8)])


def wrong_ends(n0: int, n1: int, values: int, risk: float, *, control: bool = False) -> float:
    """The largest probability, over distributions of both worlds, that a given end is wrong: summed over all data, exactly."""
    data = compositions(n0, values), compositions(n1, values)
    low = np.empty((len(data[0]), len(data[1])))
    high = low.copy()
    for i, out in enumerate(data[0]):
        for j, inside in enumerate(data[1]):
            games = pair_games(n0 - np.cumsum(out)[:-1], n0, np.cumsum(inside)[:-1], n1, tied=True)
            assert games is not None
            if control:  # the pairs at random at the full failure probability, whatever the data
                games = replace(games, log_probability=-np.inf)
            low[i, j], high[i, j] = games.interval(risk / auc._RANDOM if control else risk)
    rng, worst = np.random.default_rng(5), 0.0
    p, q = laws(values, rng), laws(values, rng)
    chances = [
        multinomial.pmf(x[None], x[0].sum(), law[:, None]) for x, law in zip(data, (p, q), strict=True)
    ]
    for i, out in enumerate(p):
        for j, inside in enumerate(q):
            auc_ = float((inside * (np.cumsum(out) - 0.5 * out)).sum())
            for wrong in (low > auc_ + 1e-12, high < auc_ - 1e-12):
                worst = max(worst, float(chances[0][i] @ wrong @ chances[1][j]))
    return worst


SMALL = [(n, n, 2) for n in (4, 5, 7, 10)] + [(4, 9, 2), (11, 7, 2), (4, 4, 3)]
LARGER = [(n, n, 2) for n in (15, 20, 50, 100)] + [(20, 11, 2)] + [(n, n, 3) for n in (8, 12, 20)]


@pytest.mark.parametrize("risk", [0.5, 0.05])
@pytest.mark.parametrize(
    ("n0", "n1", "values"),
    [
        *SMALL,
        pytest.param(6, 5, 3, marks=pytest.mark.evidence),
        *(pytest.param(*case, marks=[pytest.mark.slow, pytest.mark.evidence]) for case in LARGER),
    ],
)
def test_ends_of_few_values_are_wrong_as_rarely_as_stated(n0: int, n1: int, values: int, risk: float) -> None:
    worst = wrong_ends(n0, n1, values, risk)
    print(f"{n0} and {n1} games, {values} values: {worst:.3g} for a stated {risk / 2:.3g}")
    assert worst <= risk / 2


@pytest.mark.parametrize("games", [3, 10, 100])
@pytest.mark.parametrize("risk", [0.05, 1e-3])
def test_an_end_of_few_values_is_wrong_as_often_as_all_pairs_allow(games: int, risk: float) -> None:
    """The hardest distribution: "out" scores are equal, and all "in" scores are above them with probability 0.31 of the stated probability."""
    above = (0.999 * auc._ALL * risk / 2.0) ** (1.0 / games)  # the AUC
    rate = 0.0
    for k in range(games + 1):
        pairs = pair_games([games, 0], games, [games - k, games - k], games, tied=True)
        assert pairs is not None
        rate += binom.pmf(k, games, above) * (pairs.interval(risk)[0] > above)
    assert rate == pytest.approx(auc._ALL * risk / 2.0, rel=2e-3)
    # Of an end the shares of pairs at random, of all pairs and of their equal scores pay for any choice among them.
    assert 1.02 * auc._RANDOM + auc._ALL + auc._TIES < 1.0


def test_pairs_at_random_alone_would_be_wrong_more_often() -> None:
    """The control: a hash that repeats with the data is no random choice."""
    assert wrong_ends(10, 10, 2, RISK, control=True) > 1.5 * RISK / 2


@pytest.mark.parametrize("law", LAWS)
def test_an_interval_is_about_as_narrow_as_chernoff_s(law: str) -> None:
    """Also where all pairs are used of scores for which pairs at random would do."""
    for n in (30, 1000):
        out, inside = LAWS[law][0](np.random.default_rng(6), n)
        games = pair_games(*counted(out, inside), tied=True)
        assert games is not None
        rank = sum(np.searchsorted(np.sort(out), inside, side).mean() for side in ("left", "right")) / (2 * n)
        for item in (games, *([replace(games, log_probability=0.0)] if "mu" not in law else [])):
            low, high = item.interval(RISK)
            assert high - low <= 1.3 * chernoff(float(rank), n, RISK)


@pytest.mark.parametrize("terms", [1, 2, 7, 60])
@pytest.mark.parametrize(("half", "single"), [(0.46, 0.42), (0.1, 0.3), (0.9, 0.02), (0.5, 0.5)])
def test_a_tail_by_squares_bounds_sums_of_zeros_halves_and_ones(
    terms: int, half: float, single: float
) -> None:
    """Against the exact sum over all data; a quarter of the variance, the control, is passed."""
    law = np.array([1.0])
    for _ in range(terms):
        law = np.convolve(law, [1.0 - half - single, half, single])
    mean = single + 0.5 * half
    variance = mean * (1.0 - mean) - 0.25 * half
    passed = False
    for k in range(1, 2 * terms + 1):
        exact = float(law[k:].sum())
        assert _tail_by_squares(0.5 * k, terms, mean, variance) >= min(exact, 1.0) * (1.0 - 1e-12)
        passed |= _tail_by_squares(0.5 * k, terms, mean, 0.25 * variance) < exact
    assert passed or terms < 7


def test_so_many_games_that_only_the_band_is_known() -> None:
    n = 10**9
    curve = mi.EmpiricalTradeOff([0.0], [n // 2], n, [n // 4], n)
    assert curve.auc_interval() == curve.curve_band.auc_interval()
