"""What a statement's functions may return."""

import math

import numpy as np

from mipsim.referee.values import Shifted
from mipsim.tradeoff import GaussianTradeOff


def test_a_control_of_a_claim_that_gives_all_away_has_no_warning(recwarn):
    """Its mu is infinite, and so is the shift: certain ends stay as they are."""
    shifted = Shifted(GaussianTradeOff(40.0), math.inf)
    assert np.array_equal(shifted.probit_beta([0.0, 0.5, 1.0]), [math.inf, -math.inf, -math.inf])
    assert np.allclose(
        Shifted(GaussianTradeOff(1.0), 0.1).probit_beta([0.2]), GaussianTradeOff(1.0).probit_beta([0.2]) - 0.1
    )
    assert not recwarn.list


def test_a_shifted_curve_keeps_an_fnr_that_underflows() -> None:
    """At 38 probits the log of the TPR is -3e-316, which SciPy tells as 0."""
    curve = GaussianTradeOff(37.0)
    log_fpr = np.log(np.array([0.1, 0.5, 0.9]))
    shifted, plain = (item.enclosure(log_fpr) for item in (Shifted(curve, 1.0), GaussianTradeOff(38.0)))
    for k in (0, 2):  # each lower end is below the upper end of the other, either way round
        assert (shifted[k] <= plain[k + 1]).all()
        assert (plain[k] <= shifted[k + 1]).all()
