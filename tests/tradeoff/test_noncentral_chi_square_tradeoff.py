"""The non-central chi-square curve against big floats."""

import pytest

from mipsim.tradeoff import NoncentralChiSquareTradeOff
from tests.special.test_noncentral_chi_square import mixture


@pytest.mark.evidence
@pytest.mark.parametrize("rejects", ["large", "small"])
@pytest.mark.parametrize("x", [0.5, 9.0, 40.0, 300.0])
def test_it_pairs_the_tails_of_the_two_laws(rejects: str, x: float) -> None:
    upper = rejects == "large"
    d, out, member, out_scale, in_scale = 7.0, 3.0, 8.0, 1.5, 2.0
    curve = NoncentralChiSquareTradeOff(d, out, member, out_scale, in_scale, rejects=rejects)
    alpha = float(mixture(x / out_scale, d, out, upper))
    caught, missed = (mixture(x / in_scale, d, member, side) for side in (upper, not upper))
    if alpha < 0.999:  # nearer to 1 the rounding of alpha itself, magnified by the slope, dominates
        # 1 - alpha is known to 1e-16 only, and that is magnified where alpha nears 1.
        slack = 1e-10 + 1e-15 / (1.0 - alpha)
        assert float(curve.tpr_at(alpha)) == pytest.approx(float(caught), rel=slack, abs=0)
        assert float(curve.beta(alpha)) == pytest.approx(float(missed), rel=slack, abs=0)
    assert float(curve.tpr_at(alpha)) != pytest.approx(float(caught) * (1 + 1e-6), rel=1e-8, abs=0)
