"""The best of a random number of runs, against exact selections and dp_accounting; and filters by quadrature, whose steps may depend on releases."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

import mipsim as mi
from mipsim.tradeoff.events import curve_of_event
from tests.bound_holds import holds
from tests.peers import peer


def selected(mu: float, runs: float, shape: float) -> Any:
    """delta of the largest of K runs of N(0, 1) or N(mu, 1), or of no run: between the outcomes at which the loss passes epsilon its law is a function of K's."""
    grid = [mpmath.mpf(k) / 3 for k in range(-24, 37)]

    def below(x: Any, shift: Any) -> Any:  # P(released, largest <= x) is E of F(x)^K
        share = mpmath.ncdf(x - shift)
        return mpmath.exp(-runs * (1 - share)) if math.isinf(shape) else share / (runs - (runs - 1) * share)

    def loss(x: Any) -> Any:
        steep = [below(x, shift) ** 2 / mpmath.ncdf(x - shift) ** 2 for shift in (mu, 0)]
        if math.isinf(shape):
            steep = [below(x, shift) for shift in (mu, 0)]
        return mu * x - mpmath.mpf(mu) ** 2 / 2 + mpmath.log(steep[0] / steep[1])

    losses = [loss(x) for x in grid]

    def one_way(sign: int, epsilon: Any) -> Any:
        above = [sign * x > epsilon for x in losses]
        ends = [-mpmath.inf] if above[0] else []
        for low, high, first, last in zip(grid, grid[1:], above, above[1:], strict=False):
            if first != last:
                ends.append(
                    mpmath.findroot(lambda x: sign * loss(x) - epsilon, (low, high), solver="anderson")
                )
        ends += [mpmath.inf] if above[-1] else []
        pairs = list(zip(ends[::2], ends[1::2], strict=True))
        first, last = (
            mpmath.fsum(below(b, shift) - below(a, shift) for a, b in pairs) for shift in (mu, 0)[::sign]
        )
        return first - mpmath.exp(epsilon) * last

    return lambda epsilon: max(one_way(sign, epsilon) for sign in (1, -1))


def hidden(epsilon: Any, mu: float, seen: Any) -> Any:
    """delta of a run that is made with a probability; else the other world shows."""
    own = mpmath.log(1 + mpmath.expm1(epsilon) / seen)
    return seen * (mpmath.ncdf(mu / 2 - own / mu) - mpmath.exp(own) * mpmath.ncdf(-mu / 2 - own / mu))


def largest(delta_of: Any, delta: float) -> float:
    """The epsilon at which a delta that falls is this."""
    low, high = mpmath.mpf(0), mpmath.mpf(30)
    for _ in range(27):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(middle) > delta else (low, middle)
    return float(high)


@pytest.mark.parametrize(
    ("mu", "runs", "shape"),
    [
        (0.3, 2.0, 1.0),
        (1.0, 100.0, 1.0),
        pytest.param(1.0, 5.0, math.inf, marks=pytest.mark.evidence),
        (0.3, 50.0, math.inf),
    ],
)
def test_selections_lie_between_both_ends(mu: float, runs: float, shape: float) -> None:
    """The largest of K runs in closed form stays below the upper end, which is that of the theorems; a run by itself is the lower end."""
    with mpmath.workdps(25):
        truth = largest(selected(mu, runs, shape), 1e-5)
        gone = mpmath.exp(-runs) if math.isinf(shape) else 0
        alone = [largest(lambda e, m=m: hidden(e, m, 1 - gone), 1e-5) for m in (0.97 * mu, mu, 1.03 * mu)]
    best = mi.best_of_runs(mi.GaussianTradeOff(mu), runs=runs, shape=shape)
    low, high = best.epsilon_bounds(1e-5)
    holds((low, low), (alone[1] - 1e-6, alone[1] + 1e-6), alone[0], alone[2])
    assert low <= truth <= high
    if runs >= 50.0:  # the bound of a single run would be refuted
        assert truth > 1.03 * low
    theirs = [published(share * mu, runs, shape) for share in (0.97, 1.0, 1.03)]
    holds((0.9999 * theirs[1], 1.002 * theirs[1]), high, theirs[0], theirs[2])
    tests = [largest_exceeds(x, mu, runs, shape) for x in (0.5, 2.0, 4.0)]
    assert all(tpr <= best.tpr_bounds(fpr)[1] for fpr, tpr in tests)
    if runs >= 50.0:
        assert any(tpr > 1.03 * mi.GaussianTradeOff(mu).tpr_at(fpr) for fpr, tpr in tests)


def largest_exceeds(x: float, mu: float, runs: float, shape: float) -> tuple[float, float]:
    """FPR and TPR of the test that the largest of K runs is released, and above x."""

    def passed(tail: float) -> float:
        return -math.expm1(-runs * tail) if math.isinf(shape) else runs * tail / (1.0 + (runs - 1.0) * tail)

    return passed(norm.sf(x)), passed(norm.sf(x - mu))


def published(mu: float, runs: float, shape: float) -> float:
    """Epsilon at delta 1e-5 by the divergences order x mu^2 / 2 of a run, of theorem 2 for the geometric distribution and theorem 6 for Poisson's."""
    order = 1.0 + np.geomspace(1e-2, 1e3, 4001)
    rdp = 0.5 * order * mu**2
    if math.isinf(shape):
        at = np.log1p(1.0 / (order - 1.0))
        best = (
            rdp
            + runs * (norm.cdf(mu / 2 - at / mu) - np.exp(at) * norm.cdf(-mu / 2 - at / mu))
            + math.log(runs) / (order - 1.0)
        )
    else:
        best = (
            rdp
            + 2.0 * np.min((1.0 - 1.0 / order) * rdp + math.log(runs) / order)
            + math.log(runs) / (order - 1.0)
        )
    return float(np.min(best + np.log1p(-1.0 / order) - np.log(1e-5 * order) / (order - 1.0)))


def test_dp_accounting_bounds_the_same_selections() -> None:
    """It has fewer orders, and so may be a little above."""
    dp = peer("dp_accounting.dp_event")
    rdp = peer("dp_accounting.rdp")
    for runs, shape in ((50.0, 1.0), (50.0, 0.0), (20.0, 2.5), (30.0, math.inf)):
        event = dp.RepeatAndSelectDpEvent(dp.GaussianDpEvent(2.0), runs, shape)
        theirs = rdp.RdpAccountant().compose(event).get_epsilon(1e-5)
        account = mi.account(event, delta=1e-5, epsilon=[], fpr=[])
        low, high = account.numbers["epsilon at delta 1e-05"]
        assert low < high <= 1.01 * theirs
        if math.isinf(shape):  # it converts a delta of each run from divergences, which here is exact
            continue
        assert high > 0.99 * theirs
        assert high != pytest.approx(
            mi.best_of_runs(mi.GaussianTradeOff(0.55), runs=runs, shape=shape).epsilon(1e-5), rel=0.01
        )


SAMPLED = mi.MixtureTradeOff(mi.GaussianTradeOff(1.0), 0.05)


def test_a_pure_epsilon_stays_pure() -> None:
    """Three times as large of a geometric number of runs, which a mass of 1e-15 at either end would hide."""
    best = mi.best_of_runs(mi.ApproxDPTradeOff(0.1), runs=10.0)
    for low, high in (
        best.epsilon_bounds(0.0),
        best.largest_loss_bounds(),
        best.inverse().largest_loss_bounds(),
    ):
        assert (low, high) == pytest.approx((0.1, 0.3), rel=1e-9)
    tiny = [mi.best_of_runs(mi.GaussianTradeOff(1.0), runs=3.0, shape=shape).epsilon(1e-5) for shape in (0.0, 1e-23, -1e-23)]  # fmt: skip
    assert tiny == pytest.approx([tiny[0]] * 3, rel=1e-12)


@pytest.mark.evidence
@pytest.mark.parametrize("base", [SAMPLED, SAMPLED.symmetrized()])
def test_composed_selections_keep_a_record_added_and_removed_apart(base: mi.AbstractTradeOff) -> None:
    """The private end is that of single runs; the hull of both directions, composed, would leak 0.0167."""
    alone = mi.compose(SAMPLED.symmetrized(), copies=3).delta_bounds(0.1)
    several = mi.compose(mi.best_of_runs(base, runs=1.01), copies=3)
    with pytest.warns(UserWarning, match="delta is known to"):  # the ends are far apart
        low, high = several.delta_bounds(0.1)
    assert alone[0] * (1.0 - 1e-5) <= low <= alone[1] < high


def test_selections_keep_a_record_added_and_removed_apart() -> None:
    dp = peer("dp_accounting.dp_event")
    best = dp.RepeatAndSelectDpEvent(dp.PoissonSampledDpEvent(0.05, dp.GaussianDpEvent(1.0)), 1.01, 1.0)
    removed = curve_of_event(best, "remove")
    assert removed.delta_bounds(0.1)[0] == pytest.approx(SAMPLED.delta(0.1), rel=1e-6)
    assert removed.inverse().delta_bounds(0.1)[0] == 0.0


def test_a_filter_spends_what_its_theorem_adds() -> None:
    gdp, zcdp = mi.PrivacyFilter(mu=1.0), mi.PrivacyFilter(rho=0.5)
    step = mi.GaussianTradeOff(0.25)
    assert [budget.step(step, 15) for budget in (gdp, zcdp)] == [True, True]
    assert (gdp.spent, zcdp.spent) == pytest.approx((15 / 16, 15 / 32))
    assert not gdp.step(mi.GaussianTradeOff(0.26))
    assert gdp.spent == 15 / 16  # what does not fit is not spent
    assert gdp.fits(step)
    assert not gdp.fits(step, 2)
    assert zcdp.fits(mi.GaussianTradeOff(0.2), 1)


RULES = [lambda y: y > 0.0, lambda y: y < 0.4, lambda y: True]
"""Whether a second step, of all that is left of the budget, follows a first release."""


@pytest.mark.parametrize(
    ("mu", "first", "follows"),
    [
        pytest.param(*pair, rule, marks=[pytest.mark.evidence] * (k > 0 and rule is not RULES[2]))
        for k, pair in enumerate([(1.0, 0.6), (2.5, 1.5), (0.3, 0.29)])
        for rule in RULES
    ],
)
def test_steps_that_depend_on_releases_keep_the_budget(mu: float, first: float, follows: Any) -> None:
    """By quadrature over the first release; where a second always follows, the budget is reached."""

    def second(share: float) -> tuple[list[Any], list[Any]]:
        """delta at three epsilons, and logs of the moments of three orders over order (order - 1)."""
        left = mpmath.sqrt(mpmath.mpf(mu) ** 2 - mpmath.mpf(first) ** 2) * share

        def loss(y: Any) -> Any:
            return first * y - mpmath.mpf(first) ** 2 / 2

        def rest(y: Any, epsilon: Any) -> Any:
            at = epsilon - loss(y)
            if not follows(y):
                return max(1 - mpmath.exp(at), 0)
            return mpmath.ncdf(left / 2 - at / left) - mpmath.exp(at) * mpmath.ncdf(-left / 2 - at / left)

        deltas, orders = [], []
        for epsilon in (0.0, mu / 2, 2 * mu):
            kinks = sorted({-12, 0, mpmath.mpf("0.4"), 14, (epsilon + mpmath.mpf(first) ** 2 / 2) / first})
            deltas.append(mpmath.quad(lambda y, e=epsilon: mpmath.npdf(y - first) * rest(y, e), kinks))
        for order in (1.5, 2, 8):
            moment = mpmath.quad(
                lambda y, a=order: (
                    mpmath.npdf(y)
                    * mpmath.exp(a * loss(y) + (a * (a - 1) * left**2 / 2 if follows(y) else 0))
                ),
                [-20, 0, 0.4, 10, 40],
            )
            orders.append(mpmath.log(moment) / (order * (order - 1)))
        return deltas, orders

    gdp, zcdp = mi.PrivacyFilter(mu=mu * (1.0 + 1e-12)), mi.PrivacyFilter(rho=0.5 * mu**2 * (1.0 + 1e-12))
    largest = math.sqrt(mu**2 - first**2)
    for budget in (gdp, zcdp):
        assert budget.step(mi.GaussianTradeOff(first))
        assert budget.fits(mi.GaussianTradeOff(largest))
        assert not budget.fits(mi.GaussianTradeOff(1.03 * largest))
    with mpmath.workdps(20):
        deltas, orders = second(1.0)
    promised = [mi.GaussianTradeOff(mu).delta(epsilon) for epsilon in (0.0, mu / 2, 2 * mu)]
    assert all(delta <= most * (1.0 + 1e-9) for delta, most in zip(deltas, promised, strict=True))
    assert max(orders) <= 0.5 * mu**2 * (1.0 + 1e-9)
    if follows(-1.0) and follows(1.0):
        assert all(delta >= most * (1.0 - 1e-9) for delta, most in zip(deltas, promised, strict=True))
        assert min(orders) >= 0.5 * mu**2 * (1.0 - 1e-9)
        with mpmath.workdps(20):
            more, higher = second(1.03)
        assert all(delta > most for delta, most in zip(more, promised, strict=True))
        assert min(higher) > 0.5 * mu**2


def test_a_filter_loses_no_small_step_beside_a_large_sum() -> None:
    budget, small = mi.PrivacyFilter(mu=1.0), mi.GaussianTradeOff(5e-9)  # 2.5e-17, a quarter of a rounding
    before = budget.cost(mi.GaussianTradeOff(0.999))
    assert budget.step(mi.GaussianTradeOff(0.999))
    assert all(budget.step(small) for _ in range(1000))
    assert budget.spent - before == pytest.approx(2.5e-14, rel=0.01)


def test_the_composition_that_a_filter_allows_keeps_its_budget() -> None:
    """An order of steps chosen without looking at releases is an ordinary composition: it never passes the promise."""
    rng, curves = (
        np.random.default_rng(0),
        [mi.GaussianTradeOff(0.3), mi.LaplaceTradeOff(0.2), mi.ApproxDPTradeOff(0.1)],
    )
    budget, taken = mi.PrivacyFilter(mu=1.0), []
    for _ in range(60):
        curve = curves[int(rng.integers(3))]
        if budget.step(curve):
            taken.append(curve)
    assert 5 < len(taken) < 60
    whole: Any = mi.compose(*taken, accuracy=1e-4)
    for epsilon in (0.0, 0.5):
        assert (
            whole.delta(epsilon)
            <= mi.GaussianTradeOff(1.0).delta(epsilon)
            < 1.6 * whole.delta(epsilon) + 0.05
        )
    assert whole.delta(0.5) > mi.GaussianTradeOff(0.6).delta(0.5)
    with pytest.raises(ValueError, match="has no rho that is proven"):
        mi.PrivacyFilter(rho=1.0).fits(mi.dpsgd(1.0, 0.1, 10, sampling="random_allocation"))
