"""What a statement's functions may return."""

import math

import numpy as np
import pytest

from mipsim.referee.values import Shifted, read
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


@pytest.mark.parametrize(
    "value",
    [None, "0.5", (0.5, 1e-6), [0.4, 0.6], (lambda key: 0.0, lambda key: 1.0)],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_truth_is_refused_with_all_that_is(value: object) -> None:
    """A number with its error is no pair, and samplers that take other arguments are refused before any work."""
    with pytest.raises(
        ValueError, match=r"rf.Number\(value, error=...\).* samplers \(out, in\) of \(generator, games\)$"
    ):
        read("truth", value)
