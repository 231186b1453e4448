"""No end is shown inwards, over all of float64."""

import numpy as np
import pytest

from mipsim._printed import at_least, at_most, ceiling, floor, shown, shown_risk

RNG = np.random.default_rng(0)
SIZES = np.concatenate(
    [
        RNG.integers(0, 0x7FEF_FFFF_FFFF_FFFF, 4000).view(np.float64),  # all bit patterns, subnormal ones too
        [5e-324, 2.2250738585072014e-308, 1e308, float(np.finfo(np.float64).max), 0.0, 0.1, 1.0 - 2.0**-53],
        RNG.random(4000),
    ]
)


@pytest.mark.parametrize("digits", [2, 3, 4, 6])
@pytest.mark.parametrize("sign", ["", "+"])
def test_every_end_is_rounded_outwards(digits: int, sign: str) -> None:
    """To so many digits, so that the ends are near; control: rounding to the nearest goes inwards for half of them."""
    inwards = 0
    for x in (float(x) for x in [*SIZES, *-SIZES]):
        low, high = floor(x, digits, sign), ceiling(x, digits, sign)
        assert float(low) <= x <= float(high)
        assert shown((x, x), digits, sign) == f"[{low}, {high}]"
        assert (at_least(x, digits, sign), at_most(x, digits, sign)) == (f"at least {low}", f"at most {high}")
        near = 10.0 ** (1 - digits) * abs(x) * (1.0 + 1e-9) + 5e-324
        assert max(x - float(low), float(high) - x) <= near or abs(x) > 1e308
        inwards += float(f"{x:.{digits}g}") > x
    assert inwards > 0.4 * SIZES.size


@pytest.mark.parametrize("exponent", range(1, 12))
def test_a_failure_probability_is_rounded_up_but_for_its_last_bits(exponent: int) -> None:
    assert shown_risk(10.0**-exponent) == f"{10.0**-exponent:g}"
    for confidence in 1.0 - RNG.random(200) * 10.0**-exponent:
        risk = 1.0 - confidence
        assert risk * (1.0 - 1e-11) <= float(shown_risk(risk)) <= risk * 1.011
