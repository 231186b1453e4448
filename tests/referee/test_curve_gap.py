"""The largest gap of curves that are known between bounds, and what is left between two points."""

import numpy as np
import pytest

from mipsim import referee as rf
from mipsim.referee.judging.gap import bounds_of, curve_gap, gap_ends
from mipsim.referee.judging.law import size_of
from mipsim.tradeoff import BoundedTradeOff, GaussianTradeOff, PiecewiseLinearTradeOff
from verify.azize.laws.normal_sums import NormalCurve


def test_a_curve_that_is_known_worse_from_below_is_said_to_be_in_its_bracket():
    """The mean of the two FNRs is no mean of probits: the interval of the gap is that of the bounds, and no wider."""
    wide = BoundedTradeOff(GaussianTradeOff(1.5), GaussianTradeOff(0.5))
    result = curve_gap(wide, GaussianTradeOff(1.0))
    assert result.high - result.error == pytest.approx(-0.5, abs=1e-6)
    assert result.high + result.error + result.above == pytest.approx(0.5, abs=0.01)
    assert result.low - result.error <= -0.5 + 1e-6


def test_the_judged_range_ends_where_the_claim_leaves_it():
    claimed = PiecewiseLinearTradeOff([0.0, 0.3, 1.0], [1.0, 0.2, 0.0])
    result = curve_gap(GaussianTradeOff(0.0), claimed, floor=0.05)
    alpha = result.evidence.claimed_alpha  # pyright: ignore[reportOptionalMemberAccess]
    assert alpha[0] == pytest.approx(0.05)
    assert claimed.beta(alpha[-1]) == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("mu", [0.0015, 0.1])
def test_little_is_left_between_two_points_of_an_equality(mu):
    size = size_of(rf.Equality(), GaussianTradeOff(mu), GaussianTradeOff(1.01 * mu), True, "")
    assert size.between <= max(0.001 * mu, 0.01 * abs(size.worst)) + 1e-12
    assert size.worst == pytest.approx(0.01 * mu, rel=1e-6)


def test_the_value_of_a_curve_lies_in_its_bracket_where_the_true_positive_rate_is_rounded():
    """1 - beta of an end next to 1 has fewer digits than the curve's own TPR: the error came out negative, and nothing was judged."""
    level = NormalCurve(0.0, 1.0)  # of a constant score: g_0 itself, with a bracket of no width
    assert curve_gap(level, GaussianTradeOff(0.0), floor=1e-4).error >= 0.0
    alpha = np.geomspace(1e-4, 0.5, 2000)
    low, high = gap_ends(alpha, *(bounds_of(curve, "", alpha) for curve in (GaussianTradeOff(0.0), level)))
    assert (low <= 0.0).all()
    assert (high >= 0.0).all()
