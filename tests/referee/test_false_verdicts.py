"""What an adversary made the judge confirm or refute falsely."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim import referee as rf
from tests.referee.test_judge import statement, verdict

G = mi.GaussianTradeOff


def g_1(fpr):
    """FNR and TPR of G_1 by SciPy."""
    return ndtr(ndtri(1.0 - fpr) - 1.0), ndtr(1.0 - ndtri(1.0 - fpr))


@pytest.mark.parametrize(
    ("kind", "claimed", "truth", "expected"),
    [
        (rf.Bound(), 1e-12, 1e-10, "INCONCLUSIVE"),
        (rf.Bound(), 1e-12, 1e-12, "CONFIRMED"),
        (rf.Bound(), 1e-12, 1e-13, "CONFIRMED"),
        (rf.Bound(), 1e-5, rf.Number(1e-4, 1e-4), "INCONCLUSIVE"),
        (rf.Bound(), 1e-5, rf.Number(1e-4, 1e-6), "REFUTED"),
        (rf.Equality(), 1e-12, 5e-10, "INCONCLUSIVE"),
        (rf.Equality(), 1e-12, 1.01e-12, "CONFIRMED"),
    ],
)
def test_what_is_rounding_beside_1_is_none_beside_a_small_number(kind, claimed, truth, expected) -> None:
    assert verdict(kind, lambda mu: claimed, lambda mu: truth) == expected


@pytest.mark.parametrize(("kind", "claimed", "truth"), [(rf.Bound(), 14.0, 20.0), (rf.Ordering(), 8.0, 9.0)])
def test_an_excess_below_the_floor_is_not_confirmed(kind, claimed: float, truth: float) -> None:
    assert verdict(kind, lambda mu: G(claimed), lambda mu: G(truth)) == "INCONCLUSIVE"
    assert verdict(kind, lambda mu: G(claimed), lambda mu: G(claimed)) == "CONFIRMED"


def test_a_law_that_is_known_worse_away_from_its_largest_gap_confirms_nothing() -> None:
    class Between(mi.AbstractTradeOff):
        """G_1, known to 1e-6 but for FPRs in the middle."""

        def enclosure(self, log_fpr):
            known = [mi.bounds_from_rates(g_1, log_fpr, error=error) for error in (0.15, 1e-6)]
            return known[0].where(abs(np.exp(log_fpr) - 0.45) < 0.15, known[1])

    class Sloped(mi.AbstractTradeOff):
        """A claim whose slack is least at small FPRs."""

        def enclosure(self, log_fpr):
            def both(fpr):
                fnr = (1.0 - fpr) * ndtr(ndtri(1.0 - fpr) - 1.01)
                return fnr, 1.0 - fnr

            return mi.bounds_from_rates(both, log_fpr, error=1e-14)

    assert verdict(rf.Ordering(floor=0.01), lambda mu: Sloped(), lambda mu: Between()) == "INCONCLUSIVE"
    assert verdict(rf.Ordering(floor=0.01), lambda mu: Sloped(), lambda mu: G(1.0)) == "CONFIRMED"


def test_a_law_that_may_be_0_by_its_error_only_refutes_nothing() -> None:
    class Cut(mi.AbstractTradeOff):
        """All that is known is that it lies between 0 and G_1."""

        def enclosure(self, log_fpr):
            known, nothing = G(1.0).enclosure(log_fpr), np.full(log_fpr.shape, -np.inf)
            return known._replace(log_fnr_low=nothing, log_tpr_high=np.zeros(log_fpr.shape))

    assert verdict(rf.Bound(), lambda mu: G(1.5), lambda mu: Cut()) == "INCONCLUSIVE"
    assert verdict(rf.Bound(), lambda mu: G(0.9), lambda mu: Cut()) == "REFUTED"


def test_a_single_threshold_on_the_curve_does_not_confirm_a_curve() -> None:
    fpr = 0.2
    fnr = float(G(1.0).beta(fpr))
    tied = (lambda g, n: 1.0 * (g.random(n) < fpr), lambda g, n: 1.0 * (g.random(n) >= fnr))
    smooth = (lambda g, n: g.standard_normal(n), lambda g, n: 1.0 + g.standard_normal(n))
    chords = mi.PiecewiseLinearTradeOff([0.0, fpr, 1.0], [1.0, fnr, 0.0])
    cases = ((G(1.0), tied, "INCONCLUSIVE"), (G(1.0), smooth, "CONFIRMED"), (chords, tied, "CONFIRMED"))
    for claimed, scores, expected in cases:
        report = statement(rf.Equality(0.05), lambda mu, c=claimed: c, lambda mu, s=scores: s)
        # A true claim is not confirmed with probability 1e-3 at most, beside intervals four times as narrow as the tolerance.
        assert str(rf.judge(report, at={"mu": 1.0}, games=1_000_000).verdict) == expected


def test_a_bound_in_the_limit_is_not_confirmed_by_a_single_weak_attacker() -> None:
    data = mi.Gaussian(0.0, 1.0, d=4)
    blind = mi.Gaussian(0.0, np.array([1.0, 1e6, 1e6, 1e6]), d=4)

    def played(n: int, known):
        target = 0.5 * np.sqrt(n) * np.ones(4)
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target)
        return game, mi.CovarianceScore(known, n=n)

    for attack, expected in ((blind, "INCONCLUSIVE"), (data, "INCONCLUSIVE")):
        report = statement(
            rf.Limit("n", bound=True, sizes=tuple(100 * 2**k for k in range(6))),
            lambda: G(1.05),
            lambda n, a=attack: played(n, a),
            domain={"n": rf.Whole(100, 3200), "x": rf.Fixed(1)},
        )
        result = rf.judge(report, at={"x": 1})
        assert not result.failures
        assert str(result.verdict) == expected
        assert result.worst is not None
        assert "stronger attacker may exist" in result.worst.detail


@pytest.mark.parametrize(("floor", "expected"), [(0.05, "CONFIRMED"), (0.01, "REFUTED")])
def test_games_below_the_floor_of_a_claim_do_not_judge_it(floor: float, expected: str) -> None:
    """Members never exceed the 98% quantile by much: the attack is weaker than claimed at FPRs below 0.02 only."""
    top = ndtri(0.98)

    def member(generator, games):
        score = generator.standard_normal(games)
        return np.where(score > top, top + 1e-9 * (score - top), score)

    kind = rf.Equality(0.1, floor=floor)
    scores = (lambda g, n: g.standard_normal(n), member)
    report = statement(kind, lambda mu: G(0.0), lambda mu: scores)
    # A true claim is not confirmed with probability 1e-3 at most, beside intervals a third as wide as the tolerance.
    assert str(rf.judge(report, at={"mu": 1.0}, games=500_000).verdict) == expected
