import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from mipsim._printed import shown
from mipsim.bands import Comparison, EmpiricalTradeOff, compare_counts
from mipsim.tradeoff import (
    BoundedTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    PiecewiseLinearTradeOff,
    compose,
)

T = np.linspace(-2.0, 3.0, 11)


def expected(mu: float, games: int) -> tuple[np.ndarray, int, np.ndarray, int]:
    """The counts that N(0, 1) and N(mu, 1) give on average: no luck, good or bad."""
    return np.round(games * ndtr(-T)), games, np.round(games * ndtr(T - mu)), games


def test_a_true_claim_is_confirmed_and_reported() -> None:
    result = compare_counts(*expected(1.0, 10**6), GaussianTradeOff(1.0), tolerance=0.05)
    low, high = result.interval
    assert result.verdict == "CONFIRMED"
    assert not result.excludes(0.0)
    assert low < 0 < high
    assert result.smallest_tolerance == max(-low, high) < 0.05
    assert abs(result.gap) < 1e-3
    assert result.thresholds_used == 11
    assert result.alpha_range == pytest.approx((ndtr(-3.0), ndtr(2.0)), abs=1e-6)
    text = str(result)
    for word in ("CONFIRMED", "GaussianTradeOff(mu=1.0)", "0.05", "failure probability", "FPR range"):
        assert word in text
    assert "<table>" in result._repr_html_()
    assert "CONFIRMED" in result._repr_html_()


def test_a_refuted_equality_stays_refuted_inside_the_tolerance() -> None:
    result = compare_counts(*expected(1.02, 10**8), GaussianTradeOff(1.0), tolerance=0.05)
    assert result.smallest_tolerance < 0.05
    assert result.verdict == result.verdict_for("equality") == "REFUTED"
    assert result.gap == pytest.approx(0.02, abs=2e-3)


COUNTS = (np.array([2_000_000]), 4_000_000, np.array([634_621]), 4_000_000)  # mu = 1 at 4e6 games


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("limit", "stated", "tolerance", "verdict"),
    [
        (1.02, None, 0.05, "INCONCLUSIVE"),  # not zero, not outside: finite n, or a false limit
        (1.02, None, None, "INCONCLUSIVE"),
        (1.02, 0.005, 0.05, "REFUTED"),  # a proven allowance is passed
        (1.02, 0.021, 0.05, "CONFIRMED"),
        (1.02, GaussianTradeOff(1.0), 0.05, "CONFIRMED"),  # the exact law of this size explains the gap
        (1.02, GaussianTradeOff(1.0), None, "INCONCLUSIVE"),  # but 2% of mu is passed by the interval
        (1.02, (GaussianTradeOff(1.01), GaussianTradeOff(0.99)), 0.05, "CONFIRMED"),
        (1.02, GaussianTradeOff(1.015), 0.05, "INCONCLUSIVE"),  # games contradict the stated law
        (1.1, GaussianTradeOff(1.0), 0.05, "REFUTED"),
        (1.1, None, 0.05, "REFUTED"),
        (1.0, None, None, "CONFIRMED"),
        (1.0, GaussianTradeOff(1.02), 0.05, "INCONCLUSIVE"),
    ],
)
def test_a_limit_at_a_single_size(limit: float, stated, tolerance: float | None, verdict: str) -> None:
    """No interval that excludes zero confirms, unless what is proven about this size allows the gap."""
    result = compare_counts(*COUNTS, GaussianTradeOff(limit), tolerance=tolerance, finite_size=stated)
    assert result.verdict_for("limit") == verdict
    if stated is not None:
        assert result.kind == "limit"
    if verdict == "CONFIRMED" and stated is None:
        assert not result.excludes(0.0)


def test_games_against_the_law_of_another_size_say_so() -> None:
    result = compare_counts(
        *COUNTS, GaussianTradeOff(1.0), tolerance=0.05, finite_size=GaussianTradeOff(1.02)
    )
    assert result.law_contradicted
    assert "CONTRADICTED" in str(result)
    assert result.verdict_for("upper_bound_on_power") == "INCONCLUSIVE"


def test_one_sided_claims_use_one_sided_ends() -> None:
    """A gap between the one-sided and the two-sided end refutes a bound, not an equality."""
    result = compare_counts(*COUNTS, GaussianTradeOff(1.0), failure_probability=0.05)
    low, high = result.one_sided_ends
    assert (low > result.low).all()
    assert (high < result.high).all()
    claim = GaussianTradeOff(1.0 + 0.5 * float(low[0] + result.low[0]))
    between = compare_counts(*COUNTS, claim, failure_probability=0.05, tolerance=0.1)
    assert between.verdict_for("upper_bound_on_power") == "REFUTED"
    assert between.verdict_for("equality") == "CONFIRMED"


@pytest.mark.evidence
@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["equality", "limit"])
def test_no_default_confirms_three_per_cent_off(mu: float, kind: str) -> None:
    """Without a tolerance a claim 3% off its own mu, 0.03 probits at most, is never confirmed; the true claim is."""
    n, t = 10**10, np.array([0.0, mu / 2])
    counts = np.round(n * ndtr(-t)), n, np.round(n * ndtr(t - mu)), n
    wrong = mu * 1.03 if mu <= 1 else mu + 0.03
    assert compare_counts(*counts, GaussianTradeOff(mu)).verdict_for(kind) == "CONFIRMED"
    assert compare_counts(*counts, GaussianTradeOff(wrong)).verdict_for(kind) == "REFUTED"
    assert compare_counts(*counts, GaussianTradeOff(wrong)).tolerance <= 0.02 * min(1, wrong) + 1e-12


def test_a_claim_of_nothing_needs_a_tolerance() -> None:
    with pytest.raises(
        ValueError, match="tolerance is None, but 2% of the claim's own mu = 0 is no tolerance"
    ):
        compare_counts(*COUNTS, GaussianTradeOff(0.0))
    assert compare_counts(*COUNTS, GaussianTradeOff(0.0), tolerance=0.01).verdict == "REFUTED"


@pytest.mark.parametrize(
    ("mu", "bound", "ordering", "limit"),
    [
        (1.0, "CONFIRMED", "CONFIRMED", "CONFIRMED"),
        (1.2, "REFUTED", "CONFIRMED", "REFUTED"),
        (0.8, "CONFIRMED", "REFUTED", "REFUTED"),
    ],
)
def test_the_direction_of_one_sided_claims(mu: float, bound: str, ordering: str, limit: str) -> None:
    """A stronger attacker than claimed has a positive gap."""
    result = compare_counts(*expected(mu, 10**6), GaussianTradeOff(1.0), tolerance=0.05)
    assert result.gap == pytest.approx(mu - 1.0, abs=0.01)
    assert result.verdict_for("upper_bound_on_power") == bound
    assert result.verdict_for("ordering") == ordering
    assert result.verdict_for("limit") == limit


@pytest.mark.parametrize(
    ("mu", "verdict"), [(0.8, "REFUTED"), (0.92, "INCONCLUSIVE"), (1.08, "INCONCLUSIVE"), (1.2, "REFUTED")]
)
def test_a_claim_between_bounds_is_refuted_beyond_them_only(mu: float, verdict: str) -> None:
    claim = BoundedTradeOff(GaussianTradeOff(1.1), GaussianTradeOff(0.9))
    x, n, y, _ = expected(mu, 10**7)
    counts = x[::3], n, y[::3], n
    assert compare_counts(*counts, claim, tolerance=0.02).verdict == verdict
    stronger, weaker = (
        compare_counts(*counts, claim, tolerance=0.02, kind=kind).verdict
        for kind in ("upper_bound_on_power", "ordering")
    )
    assert (stronger == "REFUTED") == (mu > 1.1)
    assert (weaker == "REFUTED") == (mu < 0.9)


def test_a_claim_whose_bounds_reach_zero_says_nothing_there() -> None:
    # At large FPRs the FNR is between 0 and 3e-4: no count of false negatives contradicts that.
    claim = BoundedTradeOff(GaussianTradeOff(1.0), GaussianTradeOff(1.0), rounding=3e-4)
    result = compare_counts(*expected(1.0, 10**6), claim, tolerance=0.05, least_rate=0.02)
    assert result.verdict == "CONFIRMED"
    thresholds = np.linspace(-4.5, 3.0, 31)
    counts = (np.round(1e7 * ndtr(-thresholds)), 10**7, np.round(1e7 * ndtr(thresholds - 1.0)), 10**7)
    assert compare_counts(*counts, claim, tolerance=0.02).verdict != "REFUTED"


def test_ten_games_are_inconclusive_and_say_how_many_would_do() -> None:
    result = compare_counts(*expected(1.0, 10), GaussianTradeOff(1.0))
    assert result.verdict == "INCONCLUSIVE"
    assert math.isnan(result.gap)
    assert result.interval == (-math.inf, math.inf)
    assert result.smallest_tolerance == result.detectable_gap == math.inf
    assert math.isnan(result.alpha_range[0])
    assert result.detectable_gap_at(0.5) == math.inf
    needed = result.games_to_confirm()
    assert needed is not None
    assert needed > 1000
    assert "games to confirm" in str(result)


def test_the_games_stated_to_confirm_do_confirm() -> None:
    few = compare_counts(*expected(1.0, 20_000), GaussianTradeOff(1.0), tolerance=0.05)
    needed = few.games_to_confirm()
    assert few.verdict == "INCONCLUSIVE"
    assert needed is not None
    assert few.games_to_confirm(0.025) == pytest.approx(4 * needed, rel=1e-6)
    # The widest half-width takes half of the tolerance: the other half is left to the luck of the games.
    enough = compare_counts(*expected(1.0, needed), GaussianTradeOff(1.0), tolerance=0.05)
    assert enough.verdict == "CONFIRMED"
    assert enough.smallest_tolerance == pytest.approx(0.025, rel=0.2)


def test_the_detectable_gap_is_that_of_the_formula() -> None:
    """Half-widths of a single threshold against (z + z_0.9) se with the textbook standard error."""
    n, mu = 10**6, 1.0
    counts = np.array([500_000]), n, np.round([n * ndtr(-mu)]), n
    result = compare_counts(*counts, GaussianTradeOff(mu), failure_probability=1e-3)
    z, power = 3.319434, 1.281552  # normal quantiles at 1 - 0.9 * 1e-3 / 2 (the box takes a tenth) and 0.9
    b = ndtr(-1.0)
    error = np.sqrt((0.25 / 0.3989423**2 + b * (1 - b) / 0.2419707**2) / n)
    assert result.detectable_gap == pytest.approx((z + power) * error, rel=0.02)
    low, high = result.interval
    assert (high - low) / 2 == pytest.approx(z * error, rel=0.02)
    assert result.detectable_gap_at(0.5) == result.detectable_gap


def test_the_interval_is_narrower_than_two_clopper_pearson_boxes() -> None:
    from mipsim.bands import clopper_pearson

    n = 10**6
    counts = np.array([500_000]), n, np.array([158_655]), n
    low, high = compare_counts(*counts, GaussianTradeOff(1.0)).interval
    (a_low,), (a_high,) = clopper_pearson(counts[0], n, 5e-4)
    (b_low,), (b_high,) = clopper_pearson(counts[2], n, 5e-4)
    claim = GaussianTradeOff(1.0)
    box = float(claim.probit_beta(a_low) - claim.probit_beta(a_high))
    box += float(GaussianTradeOff(0.0).probit_beta(1 - b_high) - GaussianTradeOff(0.0).probit_beta(1 - b_low))
    assert high - low < 0.8 * box


def test_thresholds_with_thin_cells_are_not_used_but_are_paid_for() -> None:
    x, n0, y, n1 = expected(1.0, 10_000)
    item = compare_counts(x[5:6], n0, y[5:6], n1, GaussianTradeOff(1.0))
    thin = np.array([24.0, 0.0, 0.0]), np.array([9_990.0, 10_000.0, 10_000.0])
    more = compare_counts(
        np.append(x[5:6], thin[0]), n0, np.append(y[5:6], thin[1]), n1, GaussianTradeOff(1.0)
    )
    assert more.used.tolist() == [True, False, False, False]
    assert (more.low <= more.high).all()
    assert more.interval[1] > item.interval[1]
    assert more.half_width[0] > item.half_width[0]


def test_rare_rates_can_be_left_out() -> None:
    counts = expected(1.0, 10**6)
    every = compare_counts(*counts, GaussianTradeOff(1.0))
    some = compare_counts(*counts, GaussianTradeOff(1.0), least_rate=0.01)
    assert some.thresholds_used < every.thresholds_used
    assert some.smallest_tolerance < every.smallest_tolerance
    assert np.array_equal(some.low[some.used], every.low[some.used])  # all K are paid for either way


def test_a_perfect_claim_against_an_imperfect_attacker() -> None:
    """A claimed FNR of 0 where "in" scores were seen below the threshold: infinitely far off, and REFUTED."""
    perfect = PiecewiseLinearTradeOff([0, 1], [0, 0])
    result = compare_counts(*expected(1.0, 10**5), perfect)
    assert result.verdict == "REFUTED"
    assert result.gap == -math.inf
    assert result.interval == (-math.inf, -math.inf)
    assert result.verdict_for("upper_bound_on_power") == "CONFIRMED"
    assert "REFUTED" in str(result)


def test_a_claim_with_a_jump_at_zero() -> None:
    """An (0, delta)-DP curve: beta falls from 1 - delta at FPR 0."""
    claim = PiecewiseLinearTradeOff([0, 0.7, 1], [0.7, 0, 0])
    n = 10**6
    a = np.array([0.6, 0.3, 0.1])
    result = compare_counts(n * a, n, np.round(n * (0.7 - a)), n, claim)
    assert result.verdict == "CONFIRMED"


@pytest.mark.parametrize("games", [10**9])
def test_a_billion_games(games: int) -> None:
    t = np.array([-6.0, 0.5, 5.5, 7.03])  # the last has an FPR of 1e-12: no count at all
    counts = np.round(games * ndtr(-t)), games, np.round(games * ndtr(t - 1.0)), games
    right = compare_counts(*counts, GaussianTradeOff(1.0))
    assert right.used.tolist() == [False, True, False, False]
    assert right.verdict == "CONFIRMED"
    assert right.smallest_tolerance < 3e-4
    assert compare_counts(*counts, GaussianTradeOff(1.001)).verdict == "REFUTED"
    assert compare_counts(*counts, MixtureTradeOff(GaussianTradeOff(1.0), 1.0)).verdict == "CONFIRMED"


def test_rounding_never_refutes() -> None:
    """Counts that are exact at 1e15 games give intervals near 1e-7; an exact claim stays unrefuted."""
    n = 10**15
    t = np.linspace(-1, 2, 5)
    counts = np.round(n * ndtr(-t)), n, np.round(n * ndtr(t - 1.0)), n
    assert compare_counts(*counts, GaussianTradeOff(1.0)).verdict == "CONFIRMED"


def test_equal_counts_at_neighbouring_thresholds() -> None:
    """A lattice score repeats its counts between two atoms."""
    counts = [6000, 6000, 3000, 3000], 10_000, [2000, 2000, 5000, 5000], 10_000
    result = compare_counts(*counts, GaussianTradeOff(1.09))
    assert isinstance(result, Comparison)
    assert result.low[0] == result.low[1]


def test_a_played_curve_reports_what_it_lacks() -> None:
    """It is a trade-off function in name; what is needed is a curve known without sampling error."""
    played: Any = EmpiricalTradeOff.from_counts([0.0], [50], 100, [50], 100)
    words = "is EmpiricalTradeOff; it must be a trade-off function known by a formula or an exact law"
    with pytest.raises(ValueError, match=rf"{words}, .*: played\.compare\(other\)$"):
        GaussianTradeOff(1.0).compare(played)
    for refused in (
        lambda: compare_counts([50], 100, [50], 100, played),
        lambda: played.gap_lower_bound(played),
        lambda: MixtureTradeOff(played, 0.5),
    ):
        with pytest.raises(ValueError, match=words):
            refused()
    with pytest.raises(ValueError, match="every entry must be a trade-off function known by a formula"):
        compose(played)


@pytest.mark.evidence
def test_a_true_bound_is_never_refuted_as_a_bound_and_says_what_was_refuted() -> None:
    """An attacker of mu = 1 under claims of 1.05 and 1.5: bounds that hold, equalities that do not."""
    for claim in (GaussianTradeOff(1.05), GaussianTradeOff(1.5)):
        bound = compare_counts(*expected(1.0, 10**6), claim, kind="upper_bound_on_power")
        assert bound.verdict == "CONFIRMED"
        assert str(bound).startswith("CONFIRMED as an upper bound on power: ")
        means = r"means .*at \d+ observed FPRs from .* this attack is stronger than the claim by at most 0.02 probits; wrong with probability at most 0.001"
        assert re.search(means, str(bound))
        equality = compare_counts(*expected(1.0, 10**6), claim)
        assert str(equality).startswith("REFUTED as an equality: ")
        assert "  means" not in str(equality)
        for text in (str(equality), equality._repr_html_()):
            assert "CONFIRMED as an upper bound on power" in text
    wrong = compare_counts(*expected(1.0, 10**6), GaussianTradeOff(0.97), kind="upper_bound_on_power")
    assert wrong.verdict == "REFUTED"
    assert str(wrong).startswith("REFUTED as an upper bound on power: ")
    assert (
        compare_counts(*expected(1.0, 10**6), GaussianTradeOff(0.97), kind="ordering").verdict == "CONFIRMED"
    )
    with pytest.raises(ValueError, match="kind is 'bound'; allowed: equality, equivalence"):
        compare_counts(*COUNTS, GaussianTradeOff(1.0), kind="bound")


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
@pytest.mark.parametrize("mu", [0.9, 0.99, 1.0, 1.01, 1.1])
def test_no_interval_beside_a_verdict_contradicts_it(kind: str, mu: float) -> None:
    mixture = MixtureTradeOff(GaussianTradeOff(2.0), 0.5)
    for claim in (GaussianTradeOff(mu), LaplaceTradeOff(1.1 * mu), *([mixture] if mu == 1.0 else [])):
        result = compare_counts(*expected(1.0, 10**6), claim, tolerance=0.03, kind=kind)
        low, high = result.deciding_interval
        outside = {"upper_bound_on_power": low > 0, "ordering": high < 0}.get(kind, low > 0 or high < 0)
        assert outside == (result.verdict == "REFUTED")
        if result.verdict == "CONFIRMED":
            assert kind == "ordering" or high <= result.tolerance
            assert kind == "upper_bound_on_power" or low >= -result.tolerance
        assert shown((low, high), sign="+") in str(result)


@pytest.mark.evidence
def test_a_claim_that_crosses_is_refuted_and_its_range_holds_0() -> None:
    crossing = compare_counts(*expected(1.0, 10**7), LaplaceTradeOff(1.15))
    assert crossing.verdict == "REFUTED"
    assert crossing.interval[0] < 0 < crossing.interval[1]
    assert "range over FPR" in str(crossing)


def test_thresholds_that_separate_nothing_ask_for_no_games() -> None:
    """They requested 1,102,901,494."""
    games = 10**5
    result = compare_counts([games, games, 0], games, [0, 0, games], games, GaussianTradeOff(1.0))
    assert (result.verdict, result.games_to_confirm()) == ("INCONCLUSIVE", None)
    assert "no threshold has scores of the same world on both sides" in str(result)
    assert "games to confirm" not in str(result)
