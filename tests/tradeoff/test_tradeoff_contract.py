"""What every member of the family must do."""

import jax
import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff.stochastic import stochastic_composition
from tests.contracts import test_curves

MEMBERS = [
    mi.GaussianTradeOff(0.0),
    mi.GaussianTradeOff(1.0),
    mi.GaussianTradeOff(12.0),
    mi.MixtureTradeOff(mi.GaussianTradeOff(1.5), 0.25),
    mi.MixtureTradeOff(mi.MixtureTradeOff(mi.GaussianTradeOff(3.0), 0.5), 0.5),
    mi.GaussianMixtureTradeOff([0, 1, 2], [0.25, 0.5, 0.25], 1.5),
    mi.GaussianMixtureTradeOff([0, 1], [0.7, 0.3], 1.0, [0, 1], [0.7, 0.3]),
    mi.PiecewiseLinearTradeOff([0, 0.2, 0.5, 1], [0.9, 0.5, 0.2, 0]),
    mi.PiecewiseLinearTradeOff([0, 1], [1, 0]),
    mi.NoncentralChiSquareTradeOff(5, 100.0, 95.0, 20.0, 19.0, rejects="small"),
    mi.LaplaceTradeOff(0.0),
    mi.LaplaceTradeOff(1.0),
    mi.LaplaceTradeOff(30.0),
    mi.FoldedLaplaceTradeOff(0.5),
    mi.FoldedLaplaceTradeOff(4.0),
    mi.ApproxDPTradeOff(0.0, 0.0),
    mi.ApproxDPTradeOff(1.0, 0.1),
    mi.ApproxDPTradeOff(1.0, 1.0),
    mi.InverseTradeOff(mi.GaussianTradeOff(1.0)),
    mi.MixtureTradeOff(mi.GaussianTradeOff(1.5), 0.25).inverse(),
    mi.GaussianTradeOff(2.0).subsampled(0.3),
    mi.FoldedLaplaceTradeOff(1.0).symmetrized(),
    mi.compose(mi.ApproxDPTradeOff(0.3, 0.01), copies=5),
    mi.compose(mi.LaplaceTradeOff(0.3), mi.GaussianTradeOff(0.5)),
    stochastic_composition([mi.GaussianTradeOff(0.5), mi.GaussianTradeOff(2.0)], points=2048),
]
MEMBERS += {
    type(row[1]): row[1] for row in test_curves.MEMBERS if type(row[1]) not in map(type, MEMBERS)
}.values()
"""Of a class that is not in this list, a member that the contract of curves has."""
members = pytest.mark.parametrize(
    "member", MEMBERS, ids=[f"{i}-{type(member).__name__}" for i, member in enumerate(MEMBERS)]
)
GRID = np.unique(
    np.concatenate(
        [[0.0], np.geomspace(1e-12, 1, 200), np.linspace(0, 1, 201), 1 - np.geomspace(1e-12, 1, 99)]
    )
)


@members
def test_it_is_a_trade_off_function(member: mi.AbstractTradeOff) -> None:
    beta = member.beta(GRID)
    assert beta.dtype == np.float64
    assert beta.shape == GRID.shape
    assert (beta >= 0).all()
    assert (beta <= 1 - GRID + 1e-15).all()
    assert (np.diff(beta) <= 1e-15).all()
    share = (GRID[1:-1] - GRID[:-2]) / (GRID[2:] - GRID[:-2])
    assert (beta[1:-1] <= (1 - share) * beta[:-2] + share * beta[2:] + 1e-12).all()


@members
def test_its_inverse_exchanges_the_error_rates(member: mi.AbstractTradeOff) -> None:
    """Where the curve falls strictly; an FNR 3% off has another FPR."""
    alpha = np.array([0.02, 0.1, 0.3, 0.55, 0.8])
    near = [member.beta(alpha * share) for share in (0.99, 1.0, 1.01)]
    alpha = alpha[(near[1] > 1e-6) & (near[0] > near[1] + 1e-9) & (near[1] > near[2] + 1e-9)]
    beta, turned = member.beta(alpha), member.inverse()
    np.testing.assert_allclose(turned.beta(beta), alpha, rtol=1e-3)
    assert (np.abs(turned.beta(0.97 * beta) / alpha - 1.0) > 2e-3).all()


@pytest.mark.evidence
@members
def test_shapes_scalars_and_copies(member: mi.AbstractTradeOff) -> None:
    for missed, caught in zip(member.beta_bounds(GRID), member.tpr_bounds(GRID)[::-1], strict=True):
        assert np.allclose(missed + caught, 1.0, atol=4e-15)
    for name in ("beta", "tpr_at", "probit_beta", "delta"):
        for shape in ((), (1,), (2, 3)):
            values = getattr(member, name)(np.full(shape, 0.25))
            assert isinstance(values, np.ndarray)
            assert values.shape == shape
    for name in ("beta", "tpr_at", "probit_beta", "delta", "epsilon", "bayes_risk"):
        for scalar in (0.25, np.float64(0.25), 1):
            assert type(getattr(member, name)(scalar)) is float, name
    again = jax.tree.unflatten(*reversed(jax.tree.flatten(member)))
    assert np.array_equal(again.beta(GRID), member.beta(GRID))
    with pytest.raises(AttributeError):
        member.mu = 2.0  # type: ignore[attr-defined]


SOLVED = mi.InverseTradeOff, mi.ConvexHullTradeOff, mi.NoncentralChiSquareTradeOff


CORNERED = mi.ApproxDPTradeOff, mi.SampledTradeOff, mi.BoundedTradeOff


@pytest.mark.evidence
@members
def test_the_derived_numbers_agree_with_a_fine_grid(member: mi.AbstractTradeOff) -> None:
    slow = isinstance(member, SOLVED)
    size = 10_001 if slow else 100_001
    fine = np.unique(np.concatenate([np.linspace(0, 1, size), np.geomspace(1e-15, 1, size // 4)]))
    low, high = member.tpr_bounds(fine)
    for epsilon in (0.0, 0.5, 2.0):
        least, most = (max(0.0, float((tpr - np.exp(epsilon) * fine).max())) for tpr in (low, high))
        result = member.delta_bounds(epsilon)
        assert result[0] <= result[1]
        assert result[1] >= least - 1e-15
        # Between two points of the grid the TPR is at most that of the right point.
        assert result[0] <= max(0.0, float((high[1:] - np.exp(epsilon) * fine[:-1]).max())) + 1e-15
        # A smooth maximum is missed to second order of the spacing, a maximum at a corner to first order.
        cornered = isinstance(member, CORNERED)
        off = 1.2e-5 if slow else 8e-5 if cornered else 1.6e-7
        if isinstance(member, mi.ComposedTradeOff):
            off += 1e-5  # the relative width of its rates, which is ten times that of its deltas
        assert result[0] == pytest.approx(least, abs=off)
        assert result[1] == pytest.approx(most, abs=off + 0.2 * (most - least))
    assert member.advantage() == float(member.delta(0.0))


@members
def test_what_is_no_rate_is_refused(member: mi.AbstractTradeOff) -> None:
    for bad in (-1e-9, 1.0 + 1e-9, 2.0):
        for name in ("beta", "tpr_at", "probit_beta"):
            with pytest.raises(ValueError, match=r"(alpha|fpr) is .*; it must lie in \[0, 1\]"):
                getattr(member, name)([0.5, bad])
    for bad in (np.nan, np.inf, "half"):
        with pytest.raises(ValueError, match=r"alpha (holds|is) "):
            member.beta(bad)
    for bad in (-0.1, np.nan):
        with pytest.raises(ValueError, match="epsilon"):
            member.delta(bad)
