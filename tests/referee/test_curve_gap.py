"""The largest gap of curves that are known between bounds, and what is left between two points."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from mipsim import referee as rf
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import judge_gap
from mipsim.referee.judging.gap import Gap, Known, Rates, gap_between
from mipsim.referee.judging.limit import judge_limit
from mipsim.referee.judging.point import judge_point
from mipsim.referee.judging.prepared import Share
from mipsim.referee.result import Verdict
from mipsim.tradeoff import (
    AbstractTradeOff,
    BoundedTradeOff,
    CurveBounds,
    GaussianTradeOff,
    PiecewiseLinearTradeOff,
)
from mipsim.tradeoff.bounds import log_complement
from verify.azize.laws.normal_sums import NormalCurve

SIZES = tuple(100 * 2**k for k in range(7))


def gap_of(truth, claimed, kind=None, **how) -> Gap:
    return gap_between(Claim(kind or rf.Equality(1.0), claimed), truth, **how)


def judged(kind, claimed, truth):
    return judge_gap(Claim(kind, claimed), gap_of(truth, claimed, kind), {}, "exact curve")


def test_a_curve_that_is_known_worse_from_below_is_stated_in_its_bracket():
    """The mean of the two FNRs is no mean of probits: the interval of the gap is that of the bounds, and no wider."""
    wide = BoundedTradeOff(GaussianTradeOff(1.5), GaussianTradeOff(0.5))
    result = gap_of(wide, GaussianTradeOff(1.0))
    assert result.over[1:] == pytest.approx((-0.5, 0.5), abs=0.01)
    assert result.over.sure == pytest.approx(-0.5, abs=1e-6)
    assert result.under.most >= 0.5 - 1e-6


def test_the_judged_range_ends_where_the_claim_leaves_it():
    claimed = PiecewiseLinearTradeOff([0.0, 0.3, 1.0], [1.0, 0.2, 0.0])
    result = gap_of(GaussianTradeOff(0.0), claimed, rf.Equality(1.0, floor=0.05))
    alpha = result.evidence.claimed_alpha  # pyright: ignore[reportOptionalMemberAccess]
    assert alpha[0] == pytest.approx(0.05)
    assert claimed.beta(alpha[-1]) == pytest.approx(0.05, abs=1e-9)


def test_a_curve_is_taken_as_convex_unless_it_is_surely_not():
    """What is known to 1e-3 only looks bent by that much; a bend that its bounds show leaves monotony alone."""
    smooth = GaussianTradeOff(1.0)

    def wavy(size: float):
        return lambda a: (
            smooth.beta(a) - size * a * (1.0 - a) * np.sin(20.0 * ndtri(np.clip(a, 1e-9, 1 - 1e-9)))
        )

    below, above = (lambda a: smooth.beta(a) - 1e-3, lambda a: smooth.beta(a) + 1e-3)
    alpha = ndtr(np.linspace(-3.0, 3.0, 81))

    def may_be(low, high) -> bool:
        return Known(np.array([[low, 1.0 - low], [high, 1.0 - high]])).may_be_convex(alpha)

    assert may_be(below(alpha), above(alpha))
    assert not may_be(*[wavy(0.01)(alpha)] * 2)
    assert not may_be(-below(alpha), -below(alpha))  # rises

    def points(curve, convex: bool) -> int:
        result = gap_of(curve, smooth, resolution=1e-3, convex=convex)
        return result.evidence.claimed_alpha.size  # pyright: ignore[reportOptionalMemberAccess]

    assert points(wavy(0.01), True) == points(wavy(0.01), False)
    assert points(GaussianTradeOff(1.1), True) < points(GaussianTradeOff(1.1), False)


@pytest.mark.parametrize("mu", [0.0015, 0.1])
def test_little_is_left_between_two_points_of_an_equality(mu):
    size = gap_of(GaussianTradeOff(1.01 * mu), GaussianTradeOff(mu), rf.Equality())
    worst, _, (_, most) = size.counted(one_sided=False)
    assert most - abs(worst) <= max(0.001 * mu, 0.01 * abs(worst)) + 1e-9
    assert worst == pytest.approx(0.01 * mu, rel=1e-6)


def test_the_value_of_a_curve_lies_in_its_bracket_where_the_true_positive_rate_is_rounded():
    """1 - beta of an end next to 1 has fewer digits than the curve's own TPR: the error came out negative, and nothing was judged."""
    level = NormalCurve(0.0, 1.0)  # of a constant score: g_0 itself, with a bracket of no width
    gap = gap_of(level, GaussianTradeOff(0.0))
    assert gap.over.sure <= gap.over.value <= gap.over.most
    assert gap.under.sure <= 0.0 <= gap.under.most


def test_certainty_of_a_side_is_no_certainty_of_the_other():
    """A claimed FNR of 1 where the true FNR is 0 is an infinite gap, by whatever zero the rates are written."""
    for zero in (0.0, -0.0):
        none, every = Rates(np.array([zero]), np.array([1.0])), Rates(np.array([1.0]), np.array([zero]))
        assert (none.below(every)[0], every.below(none)[0]) == (math.inf, -math.inf)
        assert none.below(none)[0] == every.below(every)[0] == 0.0


class Singular(AbstractTradeOff):
    """A curve whose FNR is 0, or so near to it that its bounds, up to `known`, do not tell."""

    known: float

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return CurveBounds.of_log_fnr(
            np.full_like(log_fpr, -np.inf), np.log(self.known) + log_complement(log_fpr)
        )


@pytest.mark.parametrize("known", [1e-5, 1e-9, 1e-300])
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_a_gap_where_the_error_rate_may_be_zero_has_no_upper_end(known: float, mu: float):
    """A bound of a rate is no end of the interval of its gap: the worlds may be mutually singular, and the gap infinite."""
    claim, truth = GaussianTradeOff(mu), Singular(known)
    for kind in (rf.Equality(), rf.Bound()):
        result = judged(kind, claim, truth)
        assert result.verdict is Verdict.REFUTED
        # Phi^-1(claimed FNR) - Phi^-1(known), at the FPR that makes it largest, which is near 1e-4 or 1 - 1e-4.
        assert 3.0 < result.interval[0] == result.gap < result.interval[1] == math.inf
        assert lone_gap(result.gap, result.interval).startswith("at least")
    for bound in (False, True):
        kind = rf.Limit("n", bound=bound, tolerance=0.02, sizes=SIZES)
        result = judge_limit(
            kind, lambda n, kind=kind: (Claim(kind, claim), truth, True), {}, SIZES, "exact curves"
        )
        assert result.headline.startswith("no sign of it")
        assert 3.0 < result.interval[0] == result.gap < result.interval[1] == math.inf
        assert lone_gap(result.gap, result.interval).startswith("at least")


@pytest.mark.parametrize(
    ("kind", "truth", "verdict", "low", "high"),
    [
        # Rates below the floor count as the floor for the verdict; the interval holds the gap of the curves themselves.
        (rf.Equality(0.02), GaussianTradeOff(0.5), "REFUTED", -math.inf, -59.5),
        (rf.Bound(), GaussianTradeOff(0.5), "CONFIRMED", -math.inf, -59.5),
        (rf.Bound(), GaussianTradeOff(50.0), "CONFIRMED", -math.inf, -10.0),  # of which nothing is seen
        # All that is seen at the floor is that the truth may be weaker than the claim.
        *((rf.Bound(), BoundedTradeOff(GaussianTradeOff(61.0), GaussianTradeOff(mu)), "INCONCLUSIVE", -math.inf, math.inf) for mu in (50.0, 5.0)),
        # Anything between the claim and blind guessing: the middle decides nothing.
        (rf.Equality(0.02), BoundedTradeOff(GaussianTradeOff(60.0), GaussianTradeOff(0.0)), "INCONCLUSIVE", -math.inf, 0.0),
    ],
)  # fmt: skip
def test_a_gap_from_a_claim_out_of_sight_has_no_lower_bound(
    kind, truth, verdict: str, low: float, high: float
):
    result = judged(kind, GaussianTradeOff(60.0), truth)
    assert str(result.verdict) == verdict
    assert result.interval[0] == low
    assert result.interval[1] >= high


def test_what_a_law_does_not_know_is_no_end_of_an_interval():
    unknown = judge_gap(Claim(rf.Equality(0.02), GaussianTradeOff(1.0)), Gap.near(0.1, 0.1, math.inf), {})
    assert (unknown.verdict, unknown.interval) == (Verdict.INCONCLUSIVE, (-math.inf, math.inf))


class Rough(AbstractTradeOff):
    """Between two curves below the FPR 0.01, and a third curve above."""

    strong: AbstractTradeOff
    weak: AbstractTradeOff
    known: AbstractTradeOff

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        low, high, sure = (curve.enclosure(log_fpr) for curve in (self.strong, self.weak, self.known))
        rare = log_fpr < np.log(0.01)
        return CurveBounds.of_log_fnr(
            np.where(rare, low.log_fnr_low, sure.log_fnr_low),
            np.where(rare, high.log_fnr_high, sure.log_fnr_high),
        )


def test_a_certain_gap_elsewhere_leaves_the_interval_of_the_largest_open():
    """Below the FPR 0.01 the truth may be G_1.3; above it is 0.1 probits off, which refutes."""
    truth = Rough(*(GaussianTradeOff(mu) for mu in (1.3, 0.2, 1.1)))
    statement = rf.Statement(
        name="rough", says="It is G_1.", source="a test", kind=rf.Equality(0.02), domain={"n": rf.Whole(1, 2)},
        claimed=lambda n: GaussianTradeOff(1.0), truth=lambda n: truth, points=[{"n": 1}], control=rf.Control({"n": 1}),
    )  # fmt: skip
    result = judge_point(statement, {"n": 1}, Share(1e-3, 100, 0))
    assert result.verdict is Verdict.REFUTED
    assert 0.02 < result.interval[0] <= 0.1 + 1e-9
    assert result.interval[1] >= 0.3 - 1e-6  # that of G_1.3


@pytest.mark.parametrize("limit", [False, True])
def test_the_interval_is_that_of_the_gap_that_is_surely_there(limit: bool):
    """At rare rates the truth may be G_0 or G_5, elsewhere it is G_.9: the least gap is -1 to -.1, the largest may be 4 or less than 0."""
    truth, claim = Rough(*(GaussianTradeOff(mu) for mu in (5.0, 0.0, 0.9))), GaussianTradeOff(1.0)
    kind = rf.Limit("n", tolerance=0.02, sizes=SIZES) if limit else rf.Equality(0.02)
    if isinstance(kind, rf.Limit):
        result = judge_limit(
            kind, lambda n, kind=kind: (Claim(kind, claim), truth, True), {}, SIZES, "exact curves"
        )
        assert result.headline.startswith("no sign of it")
    else:
        result = judged(kind, claim, truth)
        assert result.verdict is Verdict.REFUTED
    assert result.interval[0] <= -1.0 + 1e-6
    assert result.interval[1] == pytest.approx(-0.1, abs=1e-6)
