"""Composition against closed forms, binomials, quadrature and properties."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

import mpmath
import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.stats import norm

import mipsim as mi


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


def test_exact_powers_hold_what_rounding_adds() -> None:
    # A coin that is thrown n times: the truth is a binomial sum in 400 digits.
    eps, n = 0.0816, 700
    result = mi.compose(mi.ApproxDPTradeOff(eps, 0.0), copies=n)
    assert isinstance(result, mi.SampledTradeOff)
    bare = mi.SampledTradeOff.from_points(result.alpha, result.complement, result.corners, result.tpr)
    with mp.workdps(400):
        heads = 1 / (1 + mp.exp(-mp.mpf(eps)))
        fpr = [mp.mpf(0)]
        fnr = [mp.mpf(1)]
        for k in range(n, -1, -1):
            ways = mp.binomial(n, k)
            fpr.append(fpr[-1] + ways * (1 - heads) ** k * heads ** (n - k))
            fnr.append(fnr[-1] - ways * heads**k * (1 - heads) ** (n - k))
        for i in (1, 5, 200, 350, 360, 600, n - 20):
            # Read at a float near the corner, by the edge to its right.
            log_fpr = float(mp.log(fpr[i]) if fpr[i] < 0.5 else mp.log1p(-(1 - fpr[i])))
            at = mp.exp(mp.mpf(log_fpr))
            j = i if at >= fpr[i] else i - 1
            share = (at - fpr[j]) / (fpr[j + 1] - fpr[j])
            truth = (1 - share) * fnr[j] + share * fnr[j + 1]
            bounds = result.enclosure(np.array([log_fpr]))
            logs = mp.log(truth), mp.log(1 - truth)
            for k in (0, 1):
                assert bounds[2 * k][0] <= logs[k] <= bounds[2 * k + 1][0]
                assert bounds[2 * k + 1][0] - bounds[2 * k][0] < 1e-8
        advantage = mp.fsum(
            max(0, (fpr[i + 1] - fpr[i]) * (mp.exp((n - 2 * i) * mp.mpf(eps)) - 1)) for i in range(n + 1)
        )
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
    """The rarest outcomes have masses of e^-1685 and more, and the largest losses: by binomial sums in high precision."""
    curve = mi.compose(mi.MixtureTradeOff(mi.ApproxDPTradeOff(epsilon), rate), copies=copies, accuracy=1e-2)
    with mpmath.workdps(60):
        out = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        inside = mpmath.mpf(rate) * (1 - out) + (1 - mpmath.mpf(rate)) * out
        largest = copies * mpmath.log(inside / out)
        at = float(0.999 * largest)
        delta = mpmath.mpf(0)
        for k in range(copies - 5, copies + 1):  # others have a smaller loss
            p, q = (r**k * (1 - r) ** (copies - k) for r in (inside, out))
            delta += mpmath.binomial(copies, k) * max(p - mpmath.exp(mpmath.mpf(at)) * q, 0)
        low, high = curve.log_delta_bounds(at)
        assert low <= mpmath.log(delta) <= high
        assert high < low + 0.1 or high < -600.0  # a polygon has no corners below float64's range
        low, high = curve.epsilon_bounds(0.0)
        assert low <= largest <= high
        assert high - low < 1e-9
