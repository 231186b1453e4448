"""The optimal split of the FPR over known targets, against direct minimisation."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri

from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    BoundedTradeOff,
    CurveBounds,
    GaussianTradeOff,
    LaplaceTradeOff,
    PiecewiseLinearTradeOff,
    compose,
    mix,
    stochastic_composition,
)


def least_by_search(curves: list[AbstractTradeOff], weights: np.ndarray, alpha: float) -> float:
    """min sum w f(a) over splits of alpha, by a constrained optimiser in the FPRs themselves."""
    best = 1.0
    for seed in range(3):
        start = np.full(len(curves), alpha) * (1 - 0.3 * np.random.default_rng(seed).random(len(curves)))
        result = minimize(
            lambda a: float(
                sum(w * c.beta(x) for w, c, x in zip(weights, curves, np.clip(a, 0, 1), strict=True))
            ),
            start,
            bounds=[(1e-9, 1 - 1e-9)] * len(curves),
            constraints={"type": "eq", "fun": lambda a: float(weights @ a) - alpha},
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        if abs(weights @ result.x - alpha) < 1e-8:
            best = min(best, float(result.fun))
    return best


@pytest.mark.evidence
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.4])
def test_it_is_the_least_over_all_splits(alpha: float) -> None:
    curves = [GaussianTradeOff(0.3), GaussianTradeOff(1.0), GaussianTradeOff(2.5)]
    weights = np.array([0.5, 0.3, 0.2])
    result = stochastic_composition(curves, weights)
    assert isinstance(result, BoundedTradeOff)
    low, high = result.beta_bounds(alpha)
    searched = least_by_search(list(curves), weights, alpha)
    assert float(low) - 1e-7 <= searched <= float(high) + 1e-6  # the search ends within 1e-6 of the least
    assert float(high - low) < 3e-6


def test_gaussians_share_a_likelihood_ratio() -> None:
    # At a common threshold log t: P0(reject) = Phi(-log t / mu - mu / 2), FNR Phi(log t / mu - mu / 2).
    mus, weights = np.array([0.5, 1.5]), np.array([0.4, 0.6])
    result = stochastic_composition([GaussianTradeOff(m) for m in mus], weights)
    assert isinstance(result, BoundedTradeOff)
    for t in (-1.0, 0.0, 0.7, 6.0):
        alpha, beta = weights @ ndtr(-t / mus - mus / 2), weights @ ndtr(t / mus - mus / 2)
        low, high = result.beta_bounds(alpha)
        assert float(low) <= beta <= float(high)


@pytest.mark.evidence
def test_it_beats_a_common_fpr_unless_the_targets_are_alike() -> None:
    unlike = [GaussianTradeOff(0.2), GaussianTradeOff(2.0)]
    alpha = np.linspace(0.01, 0.9, 30)
    split, common = stochastic_composition(unlike), mix(*unlike, weights=[0.5, 0.5])
    assert (split.beta(alpha) < common.beta(alpha)).all()
    alike = stochastic_composition([LaplaceTradeOff(1.0)] * 3)
    assert isinstance(alike, BoundedTradeOff)
    low, high = alike.beta_bounds(alpha)
    assert (low <= LaplaceTradeOff(1.0).beta(alpha)).all()
    assert (LaplaceTradeOff(1.0).beta(alpha) <= high).all()


def test_polygons_are_exact() -> None:
    result = stochastic_composition([ApproxDPTradeOff(np.log(3.0)), PiecewiseLinearTradeOff([0, 1], [1, 0])])
    # Slopes 3 (mass 1/8 of alpha), 1 (1/2), 1/3 (3/8).
    low, high = result.beta_bounds(np.array([0.0, 0.125, 0.625, 1.0]))
    truth = np.array([1.0, 0.625, 0.125, 0.0])
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low <= 1e-12).all()


def test_conjugates_add() -> None:
    curves = [GaussianTradeOff(1.0), LaplaceTradeOff(2.0)]
    result = stochastic_composition(curves, [0.3, 0.7])
    assert isinstance(result, BoundedTradeOff)
    for eps in (0.0, 0.5, 1.5):
        expected = 0.3 * float(curves[0].delta(eps)) + 0.7 * float(curves[1].delta(eps))
        low, high = result.delta_bounds(eps)
        assert float(low) - 1e-12 <= expected <= float(high) + 1e-12


def test_it_is_a_trade_off_function_at_rare_rates() -> None:
    result = stochastic_composition([GaussianTradeOff(0.5), GaussianTradeOff(3.0)], [0.9, 0.1])
    # At 1e-12 all of alpha goes to the second target, but for a share that its weight makes small.
    alone = 0.1 * ndtr(ndtri(1e-11) + 3.0)
    assert float(result.tpr_at(1e-12)) == pytest.approx(alone, rel=1e-3)


def test_ends_and_bad_input() -> None:
    item = GaussianTradeOff(1.0)
    assert stochastic_composition([item]) is item
    assert stochastic_composition([item, GaussianTradeOff(2.0)], [1.0, 0.0]) is item
    with pytest.raises(ValueError, match="curves is empty"):
        stochastic_composition([])
    with pytest.raises(ValueError, match=r"weights sum to 0.9"):
        stochastic_composition([item, item], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"weights holds -0.5"):
        stochastic_composition([item, item], [1.5, -0.5])
    with pytest.raises(ValueError, match="weights has shape"):
        stochastic_composition([item], [0.5, 0.5])
    with pytest.raises(ValueError, match="curves holds int"):
        stochastic_composition([1], [1.0])  # type: ignore[list-item]


class _Between(AbstractTradeOff):
    """Somewhere between two Gaussian curves."""

    most: float
    least: float

    def is_convex(self) -> bool:
        return True

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        low, high = (GaussianTradeOff(mu).enclosure(log_fpr) for mu in (self.most, self.least))
        return CurveBounds(low[0], high[1], high[2], low[3])


@pytest.mark.evidence
@pytest.mark.parametrize(
    "kind", [_Between, lambda a, b: BoundedTradeOff(GaussianTradeOff(a), GaussianTradeOff(b))]
)
@pytest.mark.parametrize(("most", "least"), [(1.05, 0.95), (1.0 + 1e-9, 1.0 - 1e-9)])
@pytest.mark.filterwarnings("ignore:.*both bounds hold")
def test_both_ends_of_a_curve_are_composed(kind: Callable, most: float, least: float) -> None:
    curve = kind(most, least)
    alpha = np.array([1e-100, 1e-9, 0.1, 0.5, 0.999])
    for result, copies in ((stochastic_composition([curve, curve]), 1), (compose(curve, copies=3), 3)):
        low, high = result.beta_bounds(alpha)
        for mu in (most, 1.0, least):
            least_end, most_end = GaussianTradeOff(mu * copies**0.5).beta_bounds(alpha)
            assert (low <= most_end).all()
            assert (least_end <= high).all()
        # The width is that of the curve itself, but for what the samples add.
        own = GaussianTradeOff(least * copies**0.5).beta(alpha) - GaussianTradeOff(most * copies**0.5).beta(
            alpha
        )
        assert (high - low <= 1.2 * own + 1e-3).all()
