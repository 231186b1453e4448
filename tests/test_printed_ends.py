"""No end is shown inwards, over all of float64."""

import numpy as np
import pytest

import mipsim as mi
from mipsim._printed import at_least, at_most, ceiling, enough, floor, shown, shown_risk

RNG = np.random.default_rng(0)
SIZES = np.concatenate(
    [
        RNG.integers(0, 0x7FEF_FFFF_FFFF_FFFF, 150).view(np.float64),  # all bit patterns, subnormal ones too
        [5e-324, 2.2250738585072014e-308, 1e308, float(np.finfo(np.float64).max), 0.0, 0.1, 1.0 - 2.0**-53],
        RNG.random(150),
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


@pytest.mark.parametrize(
    ("larger", "smaller", "digits", "shown_as"),
    [
        (1.95e-4, 1.9e-4, 1, "0.000195"),  # a width of an epsilon above 10, and what it was to be
        (2.4e-6, 1e-6, 1, "3e-06"),
        (0.80004, 0.8, 4, "0.80004"),
        (np.nextafter(0.3, 1.0), 0.3, 4, "0.30000000000000004"),
        (np.inf, 1e-6, 1, "inf"),
        (0.8, 0.8, 4, "0.8"),
    ],
)
def test_two_numbers_that_differ_read_differently(
    larger: float, smaller: float, digits: int, shown_as: str
) -> None:
    n = enough(larger, smaller, digits)
    assert ceiling(larger, n) == shown_as
    assert (float(floor(larger, n)) > float(ceiling(smaller, n))) == (larger > smaller)


def test_each_message_that_holds_a_number_against_another_shows_which_is_larger() -> None:
    """Control: with the usual digits both are the same text."""
    rng = np.random.default_rng(0)
    member = rng.random(2_000) < 0.5
    how: dict = {"design": "independent", "runs": 2_000}
    scores = rng.normal(size=2_000) + member
    bounds = mi.audit(scores, member, **how)
    for name, form in (("mu", "mu={!r}"), ("epsilon", "epsilon={!r},delta=1e-5")):
        bound = getattr(bounds, f"{name}_lower_bound")
        promised = bound * (1.0 - 1e-6)
        assert ceiling(promised) == ceiling(bound)
        result = mi.audit(scores, member, claim=form.format(promised), **how)
        assert result.verdict == "REFUTED"
        shown_bound = float(result.says.partition("at least ")[2].split()[0])
        assert promised < shown_bound <= bound
