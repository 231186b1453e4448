"""The best of a random number of runs, against exact selections and dp_accounting; and filters, whose steps may depend on releases."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import mipsim as mi
from tests.peers import peer


def selected(world: np.ndarray, runs: float, shape: float) -> np.ndarray:
    """The exact output of the largest of K runs over ordered outcomes, and last that there is none."""
    below = np.concatenate([[0.0], np.cumsum(world)])
    if math.isinf(shape):
        return np.append(np.diff(np.exp(-runs * (1.0 - below))), math.exp(-runs))  # E of below^K
    return np.append(np.diff(below / runs / (1.0 - (1.0 - 1.0 / runs) * below)), 0.0)


@pytest.mark.parametrize(
    ("runs", "shape"), [(2.0, 1.0), (10.0, 1.0), (100.0, 1.0), (5.0, math.inf), (50.0, math.inf)]
)
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_no_exact_selection_passes_the_upper_end(runs: float, shape: float, mu: float) -> None:
    """Runs of N(0, 1) or N(mu, 1), of which the largest is released: more than a single run reveals."""
    edges = np.concatenate([[-math.inf], np.linspace(-9.0, 9.0 + mu, 20_001), [math.inf]])
    out, inside = (selected(np.diff(norm.cdf(edges - shift)), runs, shape) for shift in (0.0, mu))
    epsilons = np.linspace(0.0, 40.0, 1601)
    deltas = [
        max(np.maximum(p - math.exp(e) * q, 0.0).sum() for p, q in ((inside, out), (out, inside)))
        for e in epsilons
    ]
    truth = float(epsilons[np.argmax(np.array(deltas) <= 1e-5)])
    low, high = mi.best_of_runs(mi.GaussianTradeOff(mu), 1e-5, runs=runs, shape=shape)
    assert low - 0.025 <= truth <= high
    if runs >= 50.0:  # the bound of a single run would be refuted
        assert truth > 1.03 * mi.GaussianTradeOff(mu).epsilon(1e-5)


def test_dp_accounting_bounds_the_same_selections() -> None:
    """It has fewer orders, and so may be a little above."""
    dp = peer("dp_accounting.dp_event")
    rdp = peer("dp_accounting.rdp")
    for runs, shape in ((50.0, 1.0), (50.0, 0.0), (20.0, 2.5), (30.0, math.inf)):
        event = dp.RepeatAndSelectDpEvent(dp.GaussianDpEvent(2.0), runs, shape)
        theirs = rdp.RdpAccountant().compose(event).get_epsilon(1e-5)
        low, high = mi.best_of_runs(mi.GaussianTradeOff(0.5), 1e-5, runs=runs, shape=shape)
        assert low < high <= 1.01 * theirs
        if math.isinf(shape):  # it converts a delta of each run from divergences, which here is exact
            continue
        assert high > 0.99 * theirs
        assert high != pytest.approx(
            mi.best_of_runs(mi.GaussianTradeOff(0.55), 1e-5, runs=runs, shape=shape)[1], rel=0.01
        )


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
