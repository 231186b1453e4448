"""The judges of exact results, each with what it must refuse beside what it must accept."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from mipsim import referee as rf
from mipsim._printed import ceiling
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import judge_gap
from mipsim.referee.judging.gap import FLOOR, Gap, Side, gap_between
from mipsim.referee.judging.limit import judge_limit
from mipsim.referee.kinds import Bound, Equality
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.values import Number
from mipsim.tradeoff import (
    ApproxDPTradeOff,
    CurveBounds,
    GaussianTradeOff,
    LaplaceTradeOff,
    PiecewiseLinearTradeOff,
    compose,
)


def bound(gap: Gap, detail: str = "") -> PointResult:
    return judge_gap(Claim(Bound(), GaussianTradeOff(1.0)), gap, {}, detail=detail)


def equality(gap: Gap, tolerance: float, detail: str = "") -> PointResult:
    return judge_gap(Claim(Equality(tolerance), GaussianTradeOff(1.0)), gap, {}, detail=detail)


def curve_gap(truth, claimed, convex: bool = True) -> Gap:
    return gap_between(Claim(Equality(1.0), claimed), truth, convex)


FINE = ndtr(np.linspace(ndtri(FLOOR), -ndtri(FLOOR), 200_001))
CURVES = {
    "Gaussian": GaussianTradeOff(1.0),
    "stronger Gaussian": GaussianTradeOff(1.3),
    "Laplace": LaplaceTradeOff(1.0),
    "randomised response": ApproxDPTradeOff(1.0, 0.0),
    "8 randomised responses": compose(ApproxDPTradeOff(0.5, 0.0), copies=8),
    "polygon": PiecewiseLinearTradeOff([0, 0.01, 0.2, 1], [1, 0.8, 0.3, 0]),
}


@pytest.mark.evidence
@pytest.mark.parametrize("claimed", CURVES)
@pytest.mark.parametrize("exact", CURVES)
def test_the_gap_is_that_of_a_far_finer_grid(exact: str, claimed: str):
    """Where the claimed FNR is judged, and at least as large as at any of 200,001 points."""
    result = curve_gap(CURVES[exact], CURVES[claimed])
    promised, truth = CURVES[claimed].beta(FINE), CURVES[exact].beta(FINE)
    retained = (promised >= FLOOR) & (promised <= 1 - FLOOR)
    with np.errstate(invalid="ignore"):
        gap = (ndtri(promised) - ndtri(truth))[retained]
    # Half of the grid's own step in probits, 7.4 / 200,000, is what the finer grid may miss.
    for ours, theirs, most in (
        (result.over.value, gap.max(), result.over.most),
        (result.under.value, -gap.min(), result.under.most),
    ):
        assert most >= theirs - 4e-5
        assert ours <= theirs + 2e-3 or math.isinf(theirs) or not np.isfinite(ours)
        left = most - ours if most < math.inf else 0.0
        assert left <= max(3e-5, 0.011 * max(abs(result.under.value), abs(result.over.value))) or math.isinf(
            result.counted(False)[0]
        )


def test_a_peak_between_the_points_of_a_grid_is_detected():
    """The attacker of a single corner, narrower than any step of an 81-point grid, gains 0.2 there and nothing elsewhere."""
    blind = GaussianTradeOff(1.0)

    def corner(alpha: np.ndarray) -> np.ndarray:
        # Below G_1 only near FPR 0.03: the chord from (0.03, G_1 - 0.08) to G_1's own tangents.
        at, drop = 0.03, 0.02
        beta = blind.beta(alpha)
        edge = np.array([0.028, 0.032])
        left = np.interp(alpha, [edge[0], at], [blind.beta(edge)[0], float(blind.beta(at)) - drop])
        right = np.interp(alpha, [at, edge[1]], [float(blind.beta(at)) - drop, blind.beta(edge)[1]])
        return np.where((alpha > edge[0]) & (alpha < edge[1]), np.where(alpha < at, left, right), beta)

    result = curve_gap(corner, blind, convex=False)
    truth = float(ndtri(blind.beta(0.03)) - ndtri(blind.beta(0.03) - 0.02))
    assert result.over.value == pytest.approx(truth, abs=1e-3)


@pytest.mark.parametrize(("height", "width"), [(1e-5, 0.1), (1e-2, 1.0)])
@pytest.mark.parametrize("z", [-0.988, 0.262, 0.762, 1.012])
def test_a_corner_between_the_points_of_a_grid_is_met_to_many_digits(height: float, width: float, z: float):
    """The first points around the largest gap show no larger gap, where the corner is much nearer to it than they are."""
    blind = GaussianTradeOff(1.0)

    def tent(alpha: np.ndarray) -> np.ndarray:
        return ndtr(-ndtri(alpha) - 1.0 - height * np.maximum(1.0 - np.abs(ndtri(alpha) - z) / width, 0.0))

    assert curve_gap(tent, blind).over.value == pytest.approx(height, rel=1e-7)


def test_a_gap_is_infinite_where_it_is():
    blind = GaussianTradeOff(1.0)
    assert curve_gap(np.zeros_like, blind).counted(False)[0] == math.inf
    assert curve_gap(np.ones_like, blind).counted(False)[0] == -math.inf
    assert curve_gap(PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0, 0]), blind).over.value == math.inf


def test_the_bracket_of_a_law_is_the_error_of_its_gap():
    class Bracketed:
        def beta(self, alpha):
            return GaussianTradeOff(1.0).beta(alpha)

        def tpr_at(self, alpha):
            return GaussianTradeOff(1.0).tpr_at(alpha)

        def rates_at(self, alpha):
            ends = [rate + side for rate in (self.beta(alpha), self.tpr_at(alpha)) for side in (-1e-5, 1e-5)]
            return CurveBounds(*np.log(np.clip(ends, 0.0, 1.0)))

    wide = curve_gap(Bracketed(), GaussianTradeOff(1.0))
    # 1e-5 is largest in probits where the FNR is 1e-4 from an end.
    low, high = wide.over[1:]
    assert 0 < high - low <= 2.0 * (ndtri(1.1e-4) - ndtri(0.9e-4)) + 2e-5  # the last is left between points
    assert np.ptp(curve_gap(GaussianTradeOff(1.0), GaussianTradeOff(1.0)).over[1:]) < 2e-5


@pytest.mark.parametrize(
    ("gap", "error", "verdict"),
    [
        (0.0, 0.0, "CONFIRMED"),
        (1e-10, 0.0, "CONFIRMED"),
        (1e-8, 0.0, "REFUTED"),
        (0.09, 0.0, "REFUTED"),
        (0.09, 0.08, "REFUTED"),
        (0.09, 0.1, "INCONCLUSIVE"),
        (-0.05, 0.1, "INCONCLUSIVE"),
        (-0.2, 0.1, "CONFIRMED"),
        (1e-4, 2e-4, "CONFIRMED"),
        (math.inf, 0.0, "REFUTED"),
        (-math.inf, 0.0, "CONFIRMED"),
    ],
)
def test_a_bound_has_no_tolerance(gap: float, error: float, verdict: str):
    result = bound(Gap.near(gap, gap, error))
    assert (result.verdict, result.tolerance) == (verdict, 0.0)
    assert result.exact


def test_a_bound_that_touches_and_a_bound_exceeded_by_a_little():
    truth = GaussianTradeOff(1.0)
    assert bound(curve_gap(truth, GaussianTradeOff(1.0))).verdict is Verdict.CONFIRMED
    assert bound(curve_gap(truth, GaussianTradeOff(1.0 - 1e-6))).verdict is Verdict.REFUTED
    # The polygon of randomised response touches its best Gaussian bound at two vertices, between any grid's points.
    response = ApproxDPTradeOff(2.0, 0.0)
    mu = response.least_mu()
    assert bound(curve_gap(response, GaussianTradeOff(mu))).verdict is Verdict.CONFIRMED
    assert bound(curve_gap(response, GaussianTradeOff(0.999 * mu))).verdict is Verdict.REFUTED


def test_what_holds_on_average_over_targets_does_not_compose():
    """Two steps with the same target: .143 on a grid of 81 points, .176 by vertices."""
    from mipsim.tradeoff.stochastic import stochastic_composition

    def half_exposed(steps: int):
        exposed = compose(ApproxDPTradeOff(2.0, 0.0), copies=steps)
        return stochastic_composition([exposed, GaussianTradeOff(0.0)], [0.5, 0.5])

    claimed = GaussianTradeOff(np.sqrt(2) * half_exposed(1).least_mu())
    # The vertex by hand: both coins show 1, half of the targets are exposed.
    p = 1 / (1 + math.exp(-2.0))
    by_hand = ndtri(claimed.beta(0.5 * (1 - p) ** 2)) - ndtri(1 - 0.5 * p**2)
    result = curve_gap(half_exposed(2), claimed)
    assert result.over.value == pytest.approx(0.176, abs=1e-3)
    assert result.over.value == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize(
    ("mu", "shift", "verdict"),
    [
        (1.0, 0.0, "CONFIRMED"),
        (1.0, 0.019, "CONFIRMED"),
        (1.0, 0.021, "REFUTED"),
        (0.1, 0.0019, "CONFIRMED"),
        (0.1, 0.003, "REFUTED"),
        (4.0, 0.03, "REFUTED"),
    ],
)
def test_an_equality_is_as_sharp_as_the_claim_is_small(mu: float, shift: float, verdict: str):
    claimed = GaussianTradeOff(mu)
    claim = Claim(Equality(), claimed)
    tolerance = claim.tolerance
    result = judge_gap(claim, gap_between(claim, GaussianTradeOff(mu + shift)), {})
    assert result.verdict == verdict
    assert result.tolerance == tolerance == pytest.approx(min(0.02, 0.02 * mu))
    # What refinement may leave: RESOLUTION, or RELATIVE of the gap.
    assert shift - 1e-9 <= result.smallest_tolerance <= shift + max(2e-5, 0.0101 * shift)
    if verdict == "REFUTED":
        assert (
            f"It would hold with a tolerance of {ceiling(result.smallest_tolerance, 3)} probit"
            in result.detail
        )


GROWING = tuple(100 * 2**k for k in range(8))


def limit(gap, sizes=GROWING, bound: bool = False) -> PointResult:
    """By numbers that are so far above what is claimed at each size."""
    kind = rf.Limit("n", tolerance=0.02, bound=bound)
    return judge_limit(kind, lambda n: (Claim(kind, Number(0.0)), Number(gap(n)), True), {}, sizes, "numbers")


@pytest.mark.parametrize(
    ("side", "value", "bound", "verdict"),
    [
        ("above", lambda n: 0.5, True, "INCONCLUSIVE"),  # truth is 0.5 above the bound at least, up to there
        ("above", lambda n: 0.5, False, "INCONCLUSIVE"),
        ("above", lambda n: 1.0 / n, True, "INCONCLUSIVE"),  # it may be anything above that
        ("above", lambda n: -0.5, True, "INCONCLUSIVE"),
        ("below", lambda n: -0.5, True, "CONFIRMED"),  # it is 0.5 below the bound at least
        ("below", lambda n: -0.5, False, "INCONCLUSIVE"),
        ("below", lambda n: 0.5, True, "INCONCLUSIVE"),
        ("below", lambda n: 0.5, False, "INCONCLUSIVE"),
    ],
)
def test_a_limit_of_truths_with_a_single_bound(side, value, bound, verdict):
    statement = rf.Statement(
        name="single-side", says="As n grows it is at most 1, or 1.", source="a test", kind=rf.Limit("n", bound=bound, sizes=GROWING, tolerance=0.02),
        domain={"n": rf.Whole(1, 10**6)}, claimed=lambda: rf.Number(1.0),
        truth=lambda n: rf.Number(1.0 + value(n), unknown=side), points=[{}], control=rf.Control({}),
    )  # fmt: skip
    outcome = rf.judge(statement, at=[{}])
    assert not outcome.failures
    result = outcome.judged[0]
    assert str(result.verdict) == verdict, result.detail
    low, high = result.interval
    if verdict == "INCONCLUSIVE":
        assert (low, high) == (-math.inf, math.inf) or math.isinf(result.smallest_tolerance)


@pytest.mark.parametrize(
    ("gap", "confirmed"),
    [
        (lambda n: 0.1 - 10 * n**-0.5, False),
        (lambda n: 0.2 - 1.7 / math.log(n), False),
        (lambda n: -(n**-0.5), True),
        (lambda n: -0.3 - n**-0.5, True),
        (lambda n: -0.2 + 0.5 * n**-0.5, True),
        (lambda n: -0.01 * n**0.5, True),
        (lambda n: -math.inf, True),
    ],
)
def test_a_bound_whose_slack_shrinks_to_below_zero_beyond_the_judged_sizes_is_not_confirmed(gap, confirmed):
    sizes = tuple(100 * 2**k for k in range(7))
    result = limit(gap, sizes, bound=True)
    assert (result.verdict is Verdict.CONFIRMED) is confirmed
    assert result.verdict is not Verdict.REFUTED


def test_the_interval_beside_a_refutation_is_that_of_the_largest_gap():
    """A claim that is too strong at some FPRs and too weak at others: its range over FPR holds 0, the interval that decides does not."""
    for low, high in ((-0.05, 0.2), (-0.2, 0.05)):
        gap = Gap(Side(high, high - 0.001, high + 0.004), Side(-low, -low - 0.001, -low + 0.003))
        result = equality(gap, tolerance=0.1)
        assert str(result.verdict) == "REFUTED"
        assert result.interval == pytest.approx((0.199, 0.204) if high > 0.1 else (-0.203, -0.199))


def test_a_bound_that_is_attained_says_to_what_it_was_seen_to_hold():
    """Within the law's error of the bound nothing speaks against it; how far above the truth may lie is stated beside the verdict."""
    result = bound(Gap.near(0.0009, 0.0009, 0.00095))
    assert result.verdict is Verdict.CONFIRMED
    assert result.smallest_tolerance == result.interval[1] == pytest.approx(0.00185)
    assert bound(Gap.near(0.00097, 0.00097, 0.00095)).verdict is Verdict.REFUTED
    assert bound(Gap.near(0.0009, 0.0009, 0.0011)).verdict is Verdict.INCONCLUSIVE
