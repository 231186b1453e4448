"""Every bound against a second route: closed forms in high precision, vertices in fractions, and inputs that once failed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mipsim.exact.atoms import AtomsLaw
from mipsim.tradeoff import (
    AbstractTradeOff,
    CurveBounds,
    GaussianTradeOff,
    MixtureTradeOff,
    SampledTradeOff,
)
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

LOGS = np.array([-1e5, -900.0, -700.0, -50.0, -5.0, -1.2, -0.7, -0.3, -1e-3, -1e-9, -1e-30, -1e-200])


def test_the_bounds_exclude_what_is_a_little_off() -> None:
    """The control: a shift that is 1e-12 too large lies outside."""
    result, other = GaussianTradeOff(1.0).enclosure(LOGS), GaussianTradeOff(1.0 + 1e-12).enclosure(LOGS)
    assert (result.log_tpr_high < other.log_tpr_low)[(LOGS > -100.0) & (LOGS < -1.0)].all()


class Undefined(AbstractTradeOff):
    """A curve that has no value between 0.2 and 0.3."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        fpr = np.exp(log_fpr)
        hole = (fpr > 0.2) & (fpr < 0.3)
        return CurveBounds.of_rates(np.where(hole, np.nan, 1.0 - fpr), np.where(hole, 1.0, fpr))


@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
def test_what_is_undefined_decides_nothing(kind: str) -> None:
    for curve, claim in (
        (Undefined(), GaussianTradeOff(1.0)),
        (GaussianTradeOff(1.0), Undefined()),
    ):
        result = curve.compare(claim, 0.1 if kind == "equality" else None, kind=kind)
        assert result.verdict == "INCONCLUSIVE"
        assert "undefined (NaN) at FPR" in result.detail
    with pytest.raises(ValueError, match=r"the curve Undefined is undefined \(NaN\) at FPR 0\.\d+"):
        Undefined().advantage()
    assert math.isnan(Undefined().beta(0.25))
    assert Undefined().beta(0.5) == pytest.approx(0.5)


def test_an_open_end_is_stated_as_a_bound() -> None:
    law = AtomsLaw(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), 1e-12)
    result = ExactTradeOff(law).compare(GaussianTradeOff(1.0), kind="upper_bound_on_power")
    assert result.verdict == "REFUTED"
    assert result.interval[1] == math.inf
    assert result._lines()[0][1].startswith("at least +")


@pytest.mark.evidence
@pytest.mark.parametrize("p", [0.15, 0.3, 0.6])
@pytest.mark.parametrize("mu", [0.025, 0.05, 0.1, 1.0])
def test_the_mu_of_a_sub_sampled_gaussian_is_finite(mu: float, p: float) -> None:
    """G_mu lies below the mixture, and the mixture nears it in the tail."""
    curve = MixtureTradeOff(GaussianTradeOff(mu), p)
    for each in (curve, curve.inverse(), curve.symmetrized()):
        low, high = each.least_mu_bounds()
        assert high <= mu
        assert low > 0.99 * mu


def test_rates_of_a_polygon_in_fractions() -> None:
    """Corners at dyadic rates, the truth on the edges known exactly."""
    curve = SampledTradeOff(
        [2.0**-900, 2.0**-30, 0.5], [1.0, 1.0 - 2.0**-10, 0.125], [2.0**-600, 2.0**-10, 0.875]
    )
    between = 1.5 * 2.0**-901  # half-way to the second corner
    low, high = curve.tpr_bounds(between)
    assert low <= 0.75 * 2.0**-600 <= high
    assert high - low < 2e-11 * high
