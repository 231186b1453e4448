"""The non-central chi-square curve against normal tails, big floats, literal games and its own inverse."""

import mpmath as mp
import pytest

from mipsim.tradeoff import NoncentralChiSquareTradeOff


def mixture(x: float, d: float, centre: float, upper: bool) -> mp.mpf:
    """Tail of a non-central chi-square variable as a Poisson mixture of incomplete gamma functions."""
    total, weight, j = mp.mpf(0), mp.exp(-mp.mpf(centre) / 2), 0
    while j < 4 * centre + 120:
        low, high = (x / 2, mp.inf) if upper else (0, x / 2)
        total += weight * mp.gammainc(mp.mpf(d) / 2 + j, low, high, regularized=True)
        j += 1
        weight *= mp.mpf(centre) / 2 / j
    return total


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
