"""Verdicts by counts of games: on claims that hold, that are off, known between bounds, or without any rate to see."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim._printed import shown
from mipsim.bands import CountedRates
from mipsim.bands.compare import compare_rates

G = mi.GaussianTradeOff
T = np.linspace(-2.0, 3.0, 11)
COUNTS = (np.array([2_000_000]), 4_000_000, np.array([634_621]), 4_000_000)  # mu = 1 at 4e6 games
KINDS = ("equality", "upper_bound_on_power", "ordering")
C, R, OPEN = "CONFIRMED", "REFUTED", "INCONCLUSIVE"


def compare_counts(*given: Any, **how: Any) -> Any:
    x, n0, y, n1, claim = given
    return compare_rates(CountedRates(x, n0), CountedRates(y, n1), claim, **how)


def expected(mu: float, games: int, t: np.ndarray = T) -> Any:
    """The counts that N(0, 1) and N(mu, 1) give on average: no luck, good or bad."""
    return np.round(games * ndtr(-t)), games, np.round(games * ndtr(t - mu)), games


def at(*alpha: float, games: int = 10**6) -> Any:
    """Counts on the curve of an (0, 0.3)-DP mechanism, which falls from 0.7 at FPR 0."""
    return games * np.array(alpha), games, np.round(games * (0.7 - np.array(alpha))), games


PERFECT, JUMP = (
    mi.PiecewiseLinearTradeOff([0, 1], [0, 0]),
    mi.PiecewiseLinearTradeOff([0, 0.7, 1], [0.7, 0, 0]),
)
BETWEEN, RARE = mi.BoundedTradeOff(G(1.1), G(0.9)), np.array([-6.0, 0.5, 5.5, 7.03])
# At large FPRs the FNR is between 0 and 3e-4: no count of false negatives contradicts that.
LOW = mi.BoundedTradeOff(G(1.0), G(1.0), rounding=3e-4)
VERDICTS: dict[str, Any] = {
    # counts, claim, settings, and the verdicts on it as each of KINDS
    "true": (expected(1.0, 10**6), G(1.0), {"tolerance": 0.05}, (C, C, C)),
    "stronger than claimed": (expected(1.2, 10**6), G(1.0), {"tolerance": 0.05}, (R, R, C)),
    "weaker than claimed": (expected(0.8, 10**6), G(1.0), {"tolerance": 0.05}, (R, C, R)),
    "off inside the tolerance": (expected(1.02, 10**8), G(1.0), {"tolerance": 0.05}, (R,)),
    "a bound that holds": (expected(1.0, 10**6), G(1.05), {}, (R, C)),
    "a bound that holds far away": (expected(1.0, 10**6), G(1.5), {}, (R, C)),
    "a claim 3% too weak": (expected(1.0, 10**6), G(0.97), {}, (R, R, C)),
    "a claim of nothing": (COUNTS, G(0.0), {"tolerance": 0.01}, (R,)),
    **{
        f"without a tolerance, mu = {mu:g}, {off}": (expected(mu, 10**10, np.array([0.0, mu / 2])), G(claim), {}, (verdict,))
        for mu in (0.1, 1.0, 3.0)
        for off, claim, verdict in (("true", mu, C), ("3% off", mu * 1.03 if mu <= 1 else mu + 0.03, R))
    },
    **{
        f"between 0.9 and 1.1: {mu:g}": (tuple(x[::3] if k % 2 == 0 else x for k, x in enumerate(expected(mu, 10**7))), BETWEEN, {"tolerance": 0.02}, verdicts)
        for mu, verdicts in ((0.8, (R, None, R)), (0.92, (OPEN,)), (1.08, (OPEN,)), (1.2, (R, R)))
    },
    "bounds that reach 0": (expected(1.0, 10**6), LOW, {"tolerance": 0.05, "least_rate": 0.02}, (C,)),
    "a claim that crosses": (expected(1.0, 10**7), mi.LaplaceTradeOff(1.15), {}, (R,)),
    "a claim with a jump at 0": (at(0.6, 0.3, 0.1), JUMP, {}, (C,)),
    "a claim that tells all": (expected(1.0, 10**5), PERFECT, {}, (R, C)),
    "bounds that reach 0, games that are many": (expected(1.0, 10**7, np.linspace(-4.5, 3.0, 31)), LOW, {"tolerance": 0.02}, (OPEN,)),
    "a billion games": (expected(1.0, 10**9, RARE), G(1.0), {}, (C,)),
    "a billion games, as a mixture": (expected(1.0, 10**9, RARE), mi.MixtureTradeOff(G(1.0), 1.0), {}, (C,)),
    "a billion games, a thousandth off": (expected(1.0, 10**9, RARE), G(1.001), {}, (R,)),
    "rounding of 1e15 games": (expected(1.0, 10**15, np.linspace(-1, 2, 5)), G(1.0), {}, (C,)),
    "ten games": (expected(1.0, 10), G(1.0), {}, (OPEN,)),
}  # fmt: skip


DEAR = ("weaker than claimed", "off inside the tolerance", "a bound that holds far away")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.evidence] * (name in DEAR)) for name in VERDICTS]
)
def test_the_verdict_on_a_claim(name: str) -> None:
    counts, claim, settings, verdicts = VERDICTS[name]
    every = compare_counts(*counts, claim, **settings)
    for kind, verdict in zip(KINDS, verdicts, strict=False):
        if verdict is not None:
            assert (kind, every.verdict_for(kind)) == (kind, verdict)
    kind = KINDS[max(k for k, verdict in enumerate(verdicts) if verdict is not None)]
    result = every if kind == KINDS[0] else compare_counts(*counts, claim, **settings, kind=kind)
    assert result.verdict == verdicts[KINDS.index(kind)]
    assert str(result).startswith(f"{result.verdict} as ")
    assert f">{result.verdict}</b>" in result._repr_html_()


@pytest.mark.evidence
def test_the_numbers_beside_a_verdict() -> None:
    result = compare_counts(*expected(1.0, 10**6), G(1.0), tolerance=0.05)
    low, high = result.interval
    assert low < 0 < high
    assert result.smallest_tolerance == max(-low, high) < 0.05
    assert result.alpha_range == pytest.approx((ndtr(-3.0), ndtr(2.0)), abs=1e-6)
    assert compare_counts(*expected(1.02, 10**8), G(1.0)).gap == pytest.approx(0.02, abs=2e-3)
    perfect = compare_counts(*expected(1.0, 10**5), PERFECT)  # infinitely far off
    assert (perfect.gap, perfect.interval) == (-math.inf, (-math.inf, -math.inf))
    rare = compare_counts(*expected(1.0, 10**9, RARE), G(1.0))  # the last FPR is 1e-12: no count at all
    assert rare.used.tolist() == [False, True, False, False]
    assert compare_counts(*expected(0.1, 10**10), G(0.1)).tolerance <= 0.02 * 0.1 + 1e-12
    crossing = compare_counts(*expected(1.0, 10**7), mi.LaplaceTradeOff(1.15))
    assert crossing.interval[0] < 0 < crossing.interval[1]


def test_one_sided_claims_use_one_sided_ends() -> None:
    """A gap between the one-sided and the two-sided end refutes a bound, not an equality."""
    result = compare_counts(*COUNTS, G(1.0), failure_probability=0.05)
    low, high = result.one_sided_ends
    assert (low > result.low).all()
    assert (high < result.high).all()
    claim = G(1.0 + 0.5 * float(low[0] + result.low[0]))
    between = compare_counts(*COUNTS, claim, failure_probability=0.05, tolerance=0.1)
    assert [between.verdict_for(kind) for kind in KINDS[:2]] == [C, R]


def test_ten_games_say_how_many_would_do_and_those_do() -> None:
    result = compare_counts(*expected(1.0, 10), G(1.0))
    assert math.isnan(result.gap)
    assert result.interval == (-math.inf, math.inf)
    assert result.smallest_tolerance == result.detectable_gap == math.inf
    assert math.isnan(result.alpha_range[0])
    assert (result.games_to_confirm() or 0) > 1000
    assert "games to confirm" in str(result)
    few = compare_counts(*expected(1.0, 20_000), G(1.0), tolerance=0.05)
    needed = few.games_to_confirm()
    assert few.verdict == OPEN
    assert needed is not None
    assert few.games_to_confirm(0.025) == pytest.approx(4 * needed, rel=1e-6)
    # The widest half-width takes half of the tolerance: the other half is left to the luck of the games.
    enough = compare_counts(*expected(1.0, needed), G(1.0), tolerance=0.05)
    assert enough.verdict == C
    assert enough.smallest_tolerance == pytest.approx(0.025, rel=0.2)
    # Thresholds that separate nothing ask for none; they requested 1,102,901,494.
    nothing = compare_counts([10**5, 10**5, 0], 10**5, [0, 0, 10**5], 10**5, G(1.0))
    assert (nothing.verdict, nothing.games_to_confirm()) == (OPEN, None)
    assert "no threshold has scores of the same world on both sides" in str(nothing)


def test_the_detectable_gap_is_that_of_the_formula() -> None:
    """Half-widths of a single threshold against (z + z_0.9) se with the textbook standard error."""
    n, mu = 10**6, 1.0
    counts = np.array([500_000]), n, np.round([n * ndtr(-mu)]), n
    result = compare_counts(*counts, G(mu), failure_probability=1e-3)
    z, power = 3.319434, 1.281552  # normal quantiles at 1 - 0.9 * 1e-3 / 2 (the box takes a tenth) and 0.9
    b = ndtr(-1.0)
    error = np.sqrt((0.25 / 0.3989423**2 + b * (1 - b) / 0.2419707**2) / n)
    assert result.detectable_gap == pytest.approx((z + power) * error, rel=0.02)
    low, high = result.interval
    assert (high - low) / 2 == pytest.approx(z * error, rel=0.02)


def test_thresholds_that_are_not_used_are_paid_for() -> None:
    """With thin cells, or rates that were to be left out."""
    x, n0, y, n1 = expected(1.0, 10_000)
    item = compare_counts(x[5:6], n0, y[5:6], n1, G(1.0))
    thin = np.append(x[5:6], [24.0, 0.0, 0.0]), np.append(y[5:6], [9_990.0, 10_000.0, 10_000.0])
    more = compare_counts(thin[0], n0, thin[1], n1, G(1.0))
    assert more.used.tolist() == [True, False, False, False]
    assert (more.low <= more.high).all()
    assert more.interval[1] > item.interval[1]
    assert more.half_width[0] > item.half_width[0]
    every, some = (compare_counts(*expected(1.0, 10**6), G(1.0), **how) for how in ({}, {"least_rate": 0.01}))
    assert some.thresholds_used < every.thresholds_used
    assert some.smallest_tolerance < every.smallest_tolerance
    assert np.array_equal(some.low[some.used], every.low[some.used])


@pytest.mark.evidence
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mu", [0.9, 0.99, 1.0, 1.01, 1.1])
def test_no_interval_beside_a_verdict_contradicts_it(kind: str, mu: float) -> None:
    mixture = mi.MixtureTradeOff(G(2.0), 0.5)
    for claim in (G(mu), mi.LaplaceTradeOff(1.1 * mu), *([mixture] if mu == 1.0 else [])):
        result = compare_counts(*expected(1.0, 10**6), claim, tolerance=0.03, kind=kind)
        low, high = result.deciding_interval
        outside = {"upper_bound_on_power": low > 0, "ordering": high < 0}.get(kind, low > 0 or high < 0)
        assert outside == (result.verdict == R)
        if result.verdict == C:
            assert kind == "ordering" or high <= result.tolerance
            assert kind == "upper_bound_on_power" or low >= -result.tolerance
        assert shown((low, high), sign="+") in str(result)
