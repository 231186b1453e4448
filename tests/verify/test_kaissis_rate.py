"""The proven rate of theorem 3 of Kaissis et al.: never below the gap, decides what sizes leave open, and is refused where it is too small."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mipsim import referee as rf
from verify.kaissis.laws.relaxed_steps import BOTH, EQUATION_7, SHORT, THIRD_MOMENT, D, rate
from verify.kaissis.statements import many_dimensions
from verify.kaissis.statements.many_dimensions import THEOREM_3_CORRECTED, claimed, exact

OPEN = {
    "what": BOTH,
    "c": 1.8849943551843975,
    "q": 0.4421432837843895,
    "d": 1,
    "form": SHORT,
    "part": "jinv",
    "alpha": 0.9126476430024951,
}
"""Two terms of the gap nearly cancel here, so that no power describes it at sizes up to a million."""
SEEN = OPEN | {"c": 0.3, "q": 0.5, "alpha": 0.5}
"""The rate is stated from 18,000 dimensions on here, which sizes reach."""


@pytest.mark.parametrize("form", [EQUATION_7, SHORT])
@pytest.mark.parametrize("part", ["j", "jinv"])
@pytest.mark.parametrize(("c", "q", "alpha"), [(0.3, 0.5, 0.5), (0.5, 0.2, 0.3), (1.0, 0.45, 0.8)])
def test_the_gap_is_within_the_rate(form: str, part: str, c: float, q: float, alpha: float) -> None:
    found = rate(BOTH, c, q, form, part, alpha)
    assert found is not None
    assert found.start < 1e6
    for size in np.geomspace(found.start + 1, 1e6, 5).astype(int):
        at = int(size), c, q, 1
        apart = abs(exact(BOTH, *at, part, alpha) - claimed(BOTH, *at, form, alpha))
        assert apart <= found.at(int(size))
        assert found.limit(int(size)) == claimed(BOTH, *at, form, alpha)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 3.0])
def test_the_third_moment_of_a_shifted_square(s: float) -> None:
    cube = quad(lambda g: abs((g + s) ** 2 - 1 - s * s) ** 3 * norm.pdf(g), -15, 15, limit=500)[0]
    assert cube / (2 + 4 * s * s) ** 1.5 < THIRD_MOMENT


def test_it_decides_what_sizes_leave_open() -> None:
    without = replace(THEOREM_3_CORRECTED, kind=many_dimensions.THEOREM_3.kind)
    assert rf.judge(without, at=OPEN, progress=False).verdict is rf.Verdict.INCONCLUSIVE
    decided = rf.judge(THEOREM_3_CORRECTED, at=OPEN, progress=False)
    assert decided.verdict is rf.Verdict.CONFIRMED
    assert "Proven rate" in str(decided)


def test_a_rate_that_is_too_small_or_a_claim_that_moves_away_is_refused() -> None:
    def small(what: str, c: float, q: float, form: str, part: str, alpha: float) -> rf.Rate | None:
        found = rate(what, c, q, form, part, alpha)
        return None if found is None else replace(found, constant=found.constant / 1e5)

    wrong = replace(THEOREM_3_CORRECTED, kind=replace(THEOREM_3_CORRECTED.kind, rate=small))
    assert "It is refused" in str(rf.judge(wrong, at=SEEN, progress=False))
    assert "It is refused" not in str(rf.judge(THEOREM_3_CORRECTED, at=SEEN, progress=False))


def test_a_claim_that_is_not_what_the_rate_is_about_is_not_confirmed_by_it() -> None:
    def off(what: str, size: int, c: float, q: float, d: int, form: str, alpha: float) -> float:
        return 1.03 * claimed(what, size, c, q, d, form, alpha)

    moved = replace(THEOREM_3_CORRECTED, claimed=off)
    result = rf.judge(moved, at=OPEN, progress=False)
    assert result.verdict is not rf.Verdict.CONFIRMED
    assert "the claim is not the limit of the rate" in str(result)


def test_it_says_nothing_where_dimensions_alone_grow() -> None:
    assert rate(D, 1.0, 0.5, SHORT, "j", 0.5) is None
    assert rate(BOTH, 1.0, 0.0, SHORT, "j", 0.5) is None
    assert rate(BOTH, 100.0, 0.5, SHORT, "j", 0.5) is None
