"""Intervals of the AUC: how often they are wrong, and how wide they are beside other valid ones."""

from collections.abc import Callable
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, rel_entr
from scipy.stats import binom, multinomial

import mipsim as mi
from mipsim.bands import auc
from mipsim.bands.auc import _all_pairs_end, _tail_by_squares, pair_games
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


def root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(function, low, high))  # pyright: ignore[reportArgumentType]


def chernoff(estimate: float, m: int, risk: float) -> float:
    """Width of the interval by Hoeffding's inequality in its sharp form, exp(-m KL), which holds for U-statistics."""
    level = np.log(2.0 / risk) / m

    def end(far: float) -> float:
        def excess(a: float) -> float:
            return float(rel_entr(estimate, a) + rel_entr(1.0 - estimate, 1.0 - a)) - level

        return far if excess(far) <= 0.0 else root(excess, estimate, far)

    return end(1.0 - 1e-12) - end(1e-12)


def bentkus(estimate: float, m: int, risk: float) -> float:
    """Width by the best bound from convex order: P(U >= x) <= inf over h of E (B - h)_+ / (x - h), B binomial of m games."""

    def tail(a: float, x: float) -> float:
        k = np.arange(m + 1)
        upper = binom.sf(k - 1, m, a)  # P(B >= k)
        excess = np.cumsum(upper[::-1])[::-1]  # E (B - k + 1)_+ at k - 1, that is, h = k - 1
        h = k - 1.0
        some = h < m * x - 1e-9
        return float((excess[some] / (m * x - h[some])).min(initial=1.0))

    def end(x: float) -> float:
        return root(lambda a: tail(a, x) - risk / 2, 1e-9, x) if tail(1e-9, x) < risk / 2 else 0.0

    return (1.0 - end(1.0 - estimate)) - end(estimate)


def rivals(out: np.ndarray, inside: np.ndarray, risk: float = RISK) -> dict[str, float]:
    """Widths of other intervals of the AUC that hold for every number of games and every law."""
    m, places = min(out.size, inside.size), np.sort(out)
    rank = (np.searchsorted(places, inside, "left") + np.searchsorted(places, inside, "right")) / 2.0
    estimate = float(rank.mean() / out.size)
    curve = mi.EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=1.0 - risk)
    low, high = curve.curve_band.auc_interval()
    return {
        "Hoeffding": 2.0 * np.sqrt(np.log(2.0 / risk) / (2.0 * m)),
        "Chernoff": chernoff(estimate, m, risk),
        "convex order": bentkus(estimate, m, risk),
        "Dvoretzky-Kiefer-Wolfowitz": 4.0 * np.sqrt(np.log(4.0 / risk) / (2.0 * m)),
        "area of the band": high - low,
        "variance of ties": by_variance(out, inside, risk),
    }


def by_variance(out: np.ndarray, inside: np.ndarray, risk: float) -> float:
    """Width of what all pairs tell with their share of equal scores, if nothing but that is ever used: at the whole failure probability."""
    m, most = min(out.size, inside.size), max(out.size, inside.size)
    fewer, up_to = (float(np.searchsorted(np.sort(out), inside, side).sum()) for side in ("left", "right"))
    above, ties = 0.5 * (fewer + up_to), (up_to - fewer) / most
    low = _all_pairs_end(ties, m, 0.02 * risk)
    ends = [_all_pairs_end(mean, m, 0.48 * risk, low) for mean in (above / most, m - above / most)]
    return 1.0 - sum(ends)


def test_an_interval_is_narrower_than_its_rivals() -> None:
    rng = np.random.default_rng(1)
    for law, (draw, _) in LAWS.items():
        out, inside = draw(rng, 1000)
        at = np.unique(np.concatenate([out, inside]))
        low, high = pair_games(*counted(out, inside, at), tied=True).interval(RISK)  # type: ignore[union-attr]
        assert high - low <= 1.3 * min(rivals(out, inside).values()), law


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


def test_the_larger_world_may_be_either() -> None:
    rng, t = np.random.default_rng(4), np.linspace(-3.0, 5.0, 400)
    for n0, n1 in ((300, 30_000), (30_000, 300)):
        pairs = pair_games(*counted(rng.normal(size=n0), rng.normal(1.0, size=n1), t))
        assert pairs is not None
        assert pairs.pairs == 300
        low, high = pairs.interval(1e-9)
        assert low < LAWS["mu = 1"][1] < high


def test_so_many_games_that_only_the_band_is_known() -> None:
    n = 10**9
    curve = mi.EmpiricalTradeOff.from_counts([0.0], [n // 2], n, [n // 4], n)
    assert curve.auc_interval() == curve.curve_band.auc_interval()


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


def test_pairs_at_random_alone_would_be_wrong_more_often() -> None:
    """The control: a hash that repeats with the data is no random choice."""
    assert wrong_ends(10, 10, 2, RISK, control=True) > 1.5 * RISK / 2


@pytest.mark.parametrize("n", [30, 1000])
@pytest.mark.parametrize("law", ["yes or no", "three values", "dice", "hardest"])
def test_all_pairs_are_within_a_third_of_the_best_rival(law: str, n: int) -> None:
    """At 95% and 99.9%, by all pairs, also of scores for which pairs at random would do."""
    rng = np.random.default_rng(6)
    out, inside = LAWS[law][0](rng, n)
    games = pair_games(*counted(out, inside, np.unique(np.concatenate([out, inside]))), tied=True)
    assert games is not None
    for risk in (RISK, 1e-3):
        low, high = replace(games, log_probability=0.0).interval(risk)
        assert high - low <= 1.3 * min(rivals(out, inside, risk).values())


def test_equal_scores_narrow_the_ends() -> None:
    """By their share, of which the lower end is used; without it both ends are farther off."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        out, inside = yes_or_no(rng, 300)
        games = pair_games(*counted(out, inside, np.unique(np.concatenate([out, inside]))), tied=True)
        assert games is not None
        low, high = games.interval(RISK)
        mean, level = games.mean_above + 0.5 * games.mean_equal, 0.5 * auc._ALL * RISK
        assert _all_pairs_end(mean, 300, level) < low < mean / 300 < high
        assert high < 1.0 - _all_pairs_end(300 - mean, 300, level)


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


@pytest.mark.parametrize("pairs", [1, 2, 10, 1000, 10**6, 10**8])
def test_a_tail_by_squares_is_the_mean_square_above_the_best_level(pairs: int) -> None:
    """Against sums with big floats; up to 10^8 pairs, of which the sums are those of a few standard deviations."""
    for mean, variance, sigmas in ((0.5, 0.1, 2.5), (0.7, 0.2, 3.0), (0.9, 0.01, 2.0), (0.2, 0.16, 6.0)):
        x = min(pairs * mean + sigmas * np.sqrt(pairs * variance), pairs * 0.999)
        computed = _tail_by_squares(x, pairs, mean, variance)
        p = variance / (variance + (1.0 - mean) ** 2)
        step = 1.0 - mean + variance / (1.0 - mean)
        at = (x - pairs * (mean - variance / (1.0 - mean))) / step
        spread = np.sqrt(pairs * p * (1.0 - p))
        k = np.arange(max(0, int(pairs * p)), min(pairs, int(at + 12 * spread + 40)) + 1, dtype=float)
        with mp.workdps(30):
            log = mp.loggamma(pairs + 1) - mp.loggamma(k[0] + 1) - mp.loggamma(pairs - k[0] + 1)
            begin = mp.exp(log + k[0] * mp.log(p) + (pairs - k[0]) * mp.log1p(-p))
        ratios = (pairs - k[:-1]) / (k[:-1] + 1.0) * (p / (1.0 - p))
        chance = float(begin) * np.concatenate([[1.0], np.exp(np.cumsum(np.log(ratios)))])
        levels = [h for h in range(int(pairs * p), int(np.ceil(at))) if h < at][
            -4000 :: max(1, len(k) // 400)
        ]
        best = min([1.0, *((chance * np.maximum(k - h, 0.0) ** 2).sum() / (at - h) ** 2 for h in levels)])
        assert computed == pytest.approx(best, rel=0.02)
        assert computed >= best * (1.0 - 0.02)


def test_an_end_by_all_pairs_is_that_of_the_mean_excess() -> None:
    """Against the sum over the binomial distribution with big floats, for the best level of all."""
    for pairs, mean, level in (
        (10, 8.5, 0.0125),
        (100, 61.25, 0.0125),
        (1000, 400.0, 2.5e-4),
        (50, 50.0, 0.1),
    ):
        end = _all_pairs_end(mean, pairs, level)
        with mp.workdps(40):

            def tail(auc: float, pairs: int = pairs, mean: float = mean) -> float:
                terms = [
                    mp.binomial(pairs, k) * mp.mpf(auc) ** k * (1 - mp.mpf(auc)) ** (pairs - k)
                    for k in range(pairs + 1)
                ]
                levels = range(int(np.ceil(mean)))
                return float(
                    min(
                        mp.fsum((k - h) * terms[k] for k in range(h + 1, pairs + 1)) / (mean - h)
                        for h in levels
                    )
                )

            assert tail(end) <= level
            assert tail(end + 1e-3 * (1.0 - end)) > level
