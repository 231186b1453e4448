"""Long compositions of polygons have edges too rare for float64; they are bounded, and their privacy losses known."""

import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff.sampled import SampledTradeOff


@pytest.mark.parametrize(("epsilon", "copies"), [(0.01, 2000), (0.1, 3000), (0.0136, 1309)])
def test_the_rarest_edge_of_a_long_composition_keeps_its_slope(epsilon: float, copies: int) -> None:
    """The product of pure mechanisms is pure: no FNR is 1 at a positive FPR, and TPR = e^(epsilon copies) FPR for the rarest output."""
    curve = mi.compose(mi.ApproxDPTradeOff(epsilon), copies=copies)
    assert isinstance(curve, SampledTradeOff)
    assert curve.lost > 0.0
    rarest = copies * float(np.log1p(np.exp(epsilon)))  # minus the log of the smallest probability
    for single in (curve, curve.inverse(), curve.symmetrized()):
        low, high = single.epsilon_bounds(0.0)
        assert low <= epsilon * copies <= high < low + 1e-9
        assert single.tpr_bounds(0.0) == (0.0, 0.0)
        x = np.array([-rarest, -2.0 * rarest, -1e7])
        bounds = single.enclosure(x)
        assert (bounds.log_tpr_low <= x + epsilon * copies).all()
        assert (bounds.log_tpr_high >= x + epsilon * copies - 1e-9 * abs(x)).all()
        low, high = single.epsilon_bounds(log_delta=np.array([-rarest - 50.0]))
        assert low[0] <= epsilon * copies
        assert high[0] >= epsilon * copies - 1e-6  # less than the rarest output reveals


def test_rare_edges_pass_through_further_operations() -> None:
    single = mi.compose(mi.ApproxDPTradeOff(0.01), copies=1500)
    assert isinstance(single, SampledTradeOff)
    assert single.lost > 0.0
    for curve, largest in (
        (mi.compose(single, copies=2), 30.0),
        (single.subsampled(0.5), np.log1p(0.5 * np.expm1(15.0))),
        (mi.MixtureTradeOff(single, 0.5), np.log1p(0.5 * np.expm1(15.0))),
    ):
        low, high = curve.epsilon_bounds(0.0)
        assert low <= largest <= high < low + 1e-9, curve
