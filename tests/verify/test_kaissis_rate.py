"""The proven rate of theorem 3 of Kaissis et al.: never below the gap, decides where it is inside the tolerance, and is refused where it is too small."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from mipsim import referee as rf
from verify.kaissis.laws.relaxed_steps import BOTH, EQUATION_7, SHORT, THIRD_MOMENT, D, rate
from verify.kaissis.statements import many_dimensions
from verify.kaissis.statements.many_dimensions import THEOREM_3_CORRECTED, claimed, exact

SEEN = {"what": BOTH, "c": 0.3, "q": 0.5, "d": 1, "form": SHORT, "part": "jinv", "alpha": 0.5}
"""The rate is stated from 2,500 dimensions on here; its bound at a million is 0.19."""
WIDE = replace(THEOREM_3_CORRECTED, kind=replace(THEOREM_3_CORRECTED.kind, tolerance=0.2))


@pytest.mark.parametrize("form", [EQUATION_7, SHORT])
@pytest.mark.parametrize("part", ["j", "jinv"])
@pytest.mark.parametrize(("c", "q", "alpha"), [(0.3, 0.5, 0.5), (0.5, 0.2, 0.3), (1.0, 0.45, 0.8)])
def test_the_gap_is_within_the_rate(form: str, part: str, c: float, q: float, alpha: float) -> None:
    result = rate(BOTH, c, q, form, part, alpha)
    assert result is not None
    assert result.start < 1e6
    for size in np.geomspace(result.start + 1, 1e6, 5).astype(int):
        at = int(size), c, q, 1
        apart = abs(exact(BOTH, *at, part, alpha).value - claimed(BOTH, *at, form, alpha).value)
        assert apart <= result.at(int(size))
        assert result.limit(int(size)) == pytest.approx(claimed(BOTH, *at, form, alpha).value, rel=1e-12)


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 3.0])
def test_the_third_moment_of_a_shifted_square(s: float) -> None:
    cube = quad(lambda g: abs((g + s) ** 2 - 1 - s * s) ** 3 * norm.pdf(g), -15, 15, limit=500)[0]
    assert cube / (2 + 4 * s * s) ** 1.5 < THIRD_MOMENT


@pytest.mark.parametrize(
    ("item", "says"),
    [(WIDE, "proven: within at most 0.2"), (THEOREM_3_CORRECTED, "It decides nothing: 0.02")],
)
def test_it_decides_where_its_bound_is_inside_the_tolerance(item: rf.Statement, says: str) -> None:
    result = rf.judge(item, at=SEEN, progress=False)
    assert result.verdict is rf.Verdict.CONFIRMED
    assert says in str(result)


def test_a_rate_that_is_too_small_or_a_claim_that_moves_away_is_refused() -> None:
    def small(what: str, c: float, q: float, form: str, part: str, alpha: float) -> rf.Rate | None:
        result = rate(what, c, q, form, part, alpha)
        return None if result is None else replace(result, constant=result.constant / 1e5)

    wrong = replace(THEOREM_3_CORRECTED, kind=replace(THEOREM_3_CORRECTED.kind, rate=small))
    assert "It is refused" in str(rf.judge(wrong, at=SEEN, progress=False))
    assert "It is refused" not in str(rf.judge(THEOREM_3_CORRECTED, at=SEEN, progress=False))


@pytest.mark.parametrize("form", [EQUATION_7, SHORT])
def test_a_formula_that_is_wrong_by_half_a_per_cent_is_not_confirmed_by_the_rate(
    form: str, monkeypatch
) -> None:
    """The code of the claim is wrong itself; the limit of the rate is written anew from the derivation."""
    right = many_dimensions.probits
    monkeypatch.setattr(many_dimensions, "probits", lambda *at: 1.005 * right(*at))
    result = rf.judge(WIDE, at=SEEN | {"form": form}, progress=False)
    assert result.verdict is not rf.Verdict.CONFIRMED
    assert "the claim is not the limit of the rate" in str(result)


def test_each_step_of_the_derivation_is_an_inequality() -> None:
    """What the constant is made of; the gap itself is far smaller, so that it cannot tell a constant that is too small."""
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        c, q, alpha = rng.uniform(0.05, 3.0), rng.uniform(0.01, 0.5), rng.uniform(0.02, 0.98)
        d = max(16.0 * c * c, 10.0) * 10 ** rng.uniform(0.0, 6.0)
        total, z, half = c * d**q, -norm.ppf(alpha), 0.5 * min(alpha, 1.0 - alpha)
        r, w = np.sqrt(1.0 + 2.0 * total / d), -norm.ppf(half)
        assert r <= 1.25
        assert r - 1.0 / r <= 2.0 * total / d
        assert 1.0 - 1.0 / r <= total / d
        assert total / np.sqrt(2.0 * d) <= c / np.sqrt(2.0)
        e = rng.uniform(0.0, half)
        y = norm.ppf(norm.cdf(z) + rng.choice([-1.0, 1.0]) * e)
        assert abs(y) <= w + 1e-12
        assert abs(y - z) <= e / norm.pdf(w) + 1e-12
        middle, shift = z / r - total / np.sqrt(2.0 * d + 4.0 * total), total / np.sqrt(2.0 * d)
        other = r * z - shift
        # (|z| + mu), 2 |z| + mu and |z|, each times L / d: what the forms with z differ by.
        mu = c / np.sqrt(2.0)
        assert abs(middle - (z - shift)) <= (abs(z) + mu) * total / d + 1e-12
        assert abs(other - middle) <= (2.0 * abs(z) + mu) * total / d + 1e-12
        assert abs(other - (z - shift)) <= abs(z) * total / d + 1e-12


def test_it_says_nothing_where_dimensions_alone_grow() -> None:
    assert rate(D, 1.0, 0.5, SHORT, "j", 0.5) is None
    assert rate(BOTH, 1.0, 0.0, SHORT, "j", 0.5) is None
    assert rate(BOTH, 100.0, 0.5, SHORT, "j", 0.5) is None
