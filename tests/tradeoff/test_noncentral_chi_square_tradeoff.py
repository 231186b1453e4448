"""The non-central chi-square curve against big floats."""

import numpy as np
import pytest

import mipsim as mi
from tests.special.test_noncentral_chi_square import mixture


@pytest.mark.evidence
@pytest.mark.parametrize("rejects", ["large", "small"])
@pytest.mark.parametrize("x", [0.5, 9.0, 40.0, 300.0])
def test_it_pairs_the_tails_of_the_two_laws(rejects: str, x: float) -> None:
    upper = rejects == "large"
    d, out, member, out_scale, in_scale = 7.0, 3.0, 8.0, 1.5, 2.0
    curve = mi.NoncentralChiSquareTradeOff(d, out, member, out_scale, in_scale, rejects=rejects)
    alpha = float(mixture(x / out_scale, d, out, upper))
    caught, missed = (mixture(x / in_scale, d, member, side) for side in (upper, not upper))
    if alpha < 0.999:  # nearer to 1 the rounding of alpha itself, magnified by the slope, dominates
        # 1 - alpha is known to 1e-16 only, and that is magnified where alpha nears 1.
        slack = 1e-10 + 1e-15 / (1.0 - alpha)
        assert float(curve.tpr_at(alpha)) == pytest.approx(float(caught), rel=slack, abs=0)
        assert float(curve.beta(alpha)) == pytest.approx(float(missed), rel=slack, abs=0)
    assert float(curve.tpr_at(alpha)) != pytest.approx(float(caught) * (1 + 1e-6), rel=1e-8, abs=0)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "curve",
    [
        mi.NoncentralChiSquareTradeOff(1, 0.0, 1.0),
        mi.NoncentralChiSquareTradeOff(40, 0.0, 30.0),
        mi.NoncentralChiSquareTradeOff(5, 100.0, 95.0, 20.0, 19.0, rejects="small"),
        mi.NoncentralChiSquareTradeOff(1e5, 1e7, 1.01e7),
    ],
    ids=str,
)
def test_it_is_a_trade_off_function_with_the_closed_inverse(curve: mi.NoncentralChiSquareTradeOff) -> None:
    alpha = np.linspace(0.0, 1.0, 201)
    beta = curve.beta(alpha)
    assert beta[0] == 1.0
    assert beta[-1] == 0.0
    assert (np.diff(beta) <= 0).all()
    assert (beta <= 1 - alpha + 1e-14).all()
    assert (np.diff(beta, 2) >= -1e-12).all()
    assert np.allclose(beta + curve.tpr_at(alpha), 1.0, rtol=0, atol=1e-14)
    turned = curve.inverse()
    assert isinstance(turned, mi.NoncentralChiSquareTradeOff)
    assert turned.inverse() == curve
    inner = (beta > 1e-6) & (beta < 1 - 1e-6)
    assert np.allclose(turned.beta(beta[inner]), alpha[inner], rtol=1e-7, atol=0)
    few = alpha[::25]
    assert np.allclose(turned.beta(few), mi.InverseTradeOff(curve).beta(few), rtol=0, atol=1e-9)


def test_it_is_exact_at_the_lowest_rates() -> None:
    curve = mi.NoncentralChiSquareTradeOff(3, 0.0, 4.0)
    assert curve.tpr_at([0.0, 5e-324, 1.0]).tolist()[::2] == [0.0, 1.0]
    assert curve.tpr_at(5e-324) > 1e-315
    assert curve.beta(np.zeros((2, 3))).shape == (2, 3)
