"""Composition against closed forms, binomials, quadrature and properties."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import mipsim as mi
from mipsim import check


@pytest.mark.parametrize(
    ("sigma", "rate", "steps"), [(2.0, 0.5, 300_000), (0.5, 0.5, 60_000), (0.3, 0.9, 20_000)]
)
def test_the_bounds_hold_where_the_sum_drifts_on_the_grid(sigma: float, rate: float, steps: int) -> None:
    """min over a of a + f(a) is 1 - TV <= BC^steps, with BC the integral of sqrt(p q) of a single step: here far below the rounding.

    Of so many steps the rounding up to the grid of losses moves the sum beyond where the losses themselves end.
    """

    def root(x: float) -> float:
        return norm.pdf(x, scale=sigma) * np.sqrt(1.0 - rate + rate * np.exp((x - 0.5) / sigma**2))

    affinity = quad(root, -40.0 * sigma, 40.0 * sigma, epsabs=1e-13)[0]
    assert steps * np.log(affinity) < -100.0
    result = mi.dpsgd(sigma, rate, steps, neighbours="remove")
    low, _ = result.beta_bounds(np.array([0.0, 1e-9, 1e-8, 1e-7, 1e-6]))
    assert low[1:].max() <= 1e-12
    assert low[0] == 1.0  # no output surely reveals the world


def thrown(epsilon: float, rate: float, copies: int) -> tuple[check.Finite, check.arb]:
    """A randomised response that is sampled, so many times, by the number of equal answers; and the largest loss."""
    more = 1 / (1 + (-check.arb(epsilon)).exp())
    inside = rate * more + (1 - check.arb(rate)) * (1 - more)
    masses = [(check.arb_poly([1 - p, p]) ** copies).coeffs() for p in (inside, 1 - more)]
    return check.Finite(list(zip(*masses, strict=True)), ordered=True), copies * (inside / (1 - more)).log()


@check.ctx.workprec(2000)
def test_exact_powers_hold_what_rounding_adds() -> None:
    eps, n = 0.0816, 700
    truth, _ = thrown(eps, 1.0, n)
    result = mi.compose(mi.ApproxDPTradeOff(eps, 0.0), copies=n)
    assert isinstance(result, mi.SampledTradeOff)
    bare = mi.SampledTradeOff.from_points(result.alpha, result.complement, result.corners, result.tpr)
    for i in (1, 5, 200, 350, 360, 600, n - 20):
        log_fpr = float(truth.sums[i][1].log())  # near the corner
        at = check.arb(log_fpr).exp()
        (p, q), (more, last) = truth.sums[i - (at < truth.sums[i][1]) :][:2]
        tpr = p + (at - q) / (last - q) * (more - p)
        bounds = result.enclosure(np.array([log_fpr]))
        for k, rate in enumerate((1 - tpr, tpr)):
            assert bounds[2 * k][0] <= rate.log() <= bounds[2 * k + 1][0]
            assert bounds[2 * k + 1][0] - bounds[2 * k][0] < 1e-8
    advantage = truth.curve(check.arb(1))
    low, high = result.advantage_bounds()
    assert low <= advantage <= high
    # The check can fail: without the allowance for rounding the truth is outside.
    low, high = bare.advantage_bounds()
    assert not low <= advantage <= high


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore:delta is known to")
def test_an_epsilon_of_a_thousand_is_enclosed_after_any_other_question():
    """Noise 0.4, rate 0.05, 20,000 steps: bands far from an epsilon report that they cannot decide it."""
    curve = mi.dpsgd(0.4, 0.05, 20_000, neighbours="remove")
    low, high = curve.epsilon_bounds(1e-6)
    assert 0.0 < high - low < 2e-4 * high
    for epsilon in (500.0, 981.0, 1100.0, low):
        bounds, fresh = (
            curve.delta_bounds(epsilon),
            mi.dpsgd(0.4, 0.05, 20_000, neighbours="remove").delta_bounds(epsilon),
        )
        assert bounds[0] <= bounds[1] <= bounds[0] * (1.0 + 1e-4)
        assert bounds[0] <= fresh[1]
        assert fresh[0] <= bounds[1]


@pytest.mark.filterwarnings("ignore:.*both bounds hold")
@pytest.mark.parametrize(("epsilon", "rate", "copies"), [(1.0, 1.0, 1283), (0.1, 0.01, 1283)])
def test_masses_of_a_power_that_underflow_are_not_lost(epsilon: float, rate: float, copies: int):
    """The rarest outcomes have masses of e^-1685 and more, and the largest losses: by binomial sums in balls."""
    curve = mi.compose(mi.MixtureTradeOff(mi.ApproxDPTradeOff(epsilon), rate), copies=copies, accuracy=1e-2)
    with check.ctx.workprec(2000):
        truth, largest = thrown(epsilon, rate, copies)
        at = float(0.999 * largest)
        low, high = curve.log_delta_bounds(at)
        assert low <= truth.curve(check.arb(at).exp()).log() <= high
        assert high < low + 0.1 or high < -600.0  # a polygon has no corners below float64's range
        low, high = curve.epsilon_bounds(0.0)
        assert low <= largest <= high
        assert high - low < 1e-9


def test_beside_a_sure_mass_the_rest_is_as_narrow() -> None:
    """Less than 1e-96 of samples with replacement; and beyond the largest finite loss of three steps, log 8, the sure mass alone."""
    low, high = mi.fixed_samples(1.0, 256, 60_000, 1000, replacement=True).epsilon_bounds(1e-5)
    assert 9.3253 < low < high < 9.32535
    half = mi.MixtureTradeOff(mi.GaussianTradeOff(1.0), 0.5)
    curve = mi.compose(half, mi.ApproxDPTradeOff(0.0, 1e-9), copies=[3, 2]).inverse()
    low, high = curve.delta_bounds(2.08)
    assert low <= 2e-9 - 1e-18 <= high < low * (1.0 + 1e-12)
    assert curve.delta_bounds(1.8)[0] > 1.03 * high
