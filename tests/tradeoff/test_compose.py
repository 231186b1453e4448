"""Composition against closed forms, binomials, quadrature and properties."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import binom, norm

from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    CurveBounds,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    PiecewiseLinearTradeOff,
    SampledTradeOff,
    compose,
    dpsgd,
)
from mipsim.tradeoff.compose import ComposedTradeOff

ALPHA = np.concatenate(
    [np.geomspace(1e-12, 1e-2, 21), np.linspace(0.01, 0.99, 50), 1 - np.geomspace(1e-9, 1e-2, 8)]
)


class Unnamed(AbstractTradeOff):
    """A curve whose closed form `compose` cannot know."""

    inner: AbstractTradeOff

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return self.inner.enclosure(log_fpr)

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self


def test_gaussians_in_closed_form() -> None:
    assert compose(GaussianTradeOff(3.0), GaussianTradeOff(2.0), copies=[1, 4]) == GaussianTradeOff(5.0)
    assert compose(GaussianTradeOff(0.5), copies=16) == GaussianTradeOff(2.0)


@pytest.mark.evidence
@pytest.mark.parametrize(("mu", "copies"), [(0.5, 4), (0.1, 100), (0.02, 2500), (2.0, 9)])
def test_the_bounds_enclose_the_gaussian_truth(mu: float, copies: int) -> None:
    result = compose(Unnamed(GaussianTradeOff(mu)), copies=copies, accuracy=1e-4)
    truth = GaussianTradeOff(mu * copies**0.5)
    assert isinstance(result, ComposedTradeOff)
    low, high = result.at_accuracy(1e-6).beta_bounds(ALPHA)
    assert (low <= truth.beta(ALPHA)).all()
    assert (truth.beta(ALPHA) <= high).all()
    assert (high - low < 2e-5).all()
    # At rare rates too: the relative error of the TPR, down to an FPR of 1e-12.
    rare = ALPHA[ALPHA <= 1e-2]
    for bound in result.tpr_bounds(rare):
        assert np.allclose(bound, truth.tpr_at(rare), rtol=1e-3)
    for eps in (0.0, 1.0, 3.0):
        below, above = result.delta_bounds(eps)
        assert float(below) <= float(truth.delta(eps)) <= float(above)


def test_a_wrong_truth_falls_outside_the_bounds() -> None:
    result = compose(Unnamed(GaussianTradeOff(0.1)), copies=100)
    low, high = result.beta_bounds(0.3)
    assert type(low) is type(high) is float
    for wrong in (0.9999, 1.0001):
        beta = float(GaussianTradeOff(wrong).beta(0.3))
        assert not float(low) <= beta <= float(high)


@pytest.mark.parametrize(
    ("eps", "delta", "copies"), [(0.1, 0.0, 50), (0.5, 1e-3, 10), (2.0, 0.1, 3), (0.0, 0.2, 4)]
)
def test_approximate_dp_is_the_binomial_of_kairouz_oh_and_viswanath(
    eps: float, delta: float, copies: int
) -> None:
    result = compose(ApproxDPTradeOff(eps, delta), copies=copies)
    assert isinstance(result, SampledTradeOff)
    # i of the answers point to "in": a sum of losses of (2i - copies) eps, unless any of them reveals everything.
    i = np.arange(copies + 1)
    retained = (1 - delta) ** copies
    p = np.exp(eps) / (1 + np.exp(eps))
    for at in (0.0, 0.3, 1.0, 3.0):
        gain = binom.pmf(i, copies, p) - np.exp(at) * binom.pmf(i, copies, 1 - p)
        expected = 1 - retained + retained * np.maximum(gain, 0.0).sum()
        assert float(result.delta(at)) == pytest.approx(expected, rel=1e-11)


def test_two_laplaces_by_quadrature() -> None:
    a, b = 0.7, 1.1
    result = compose(LaplaceTradeOff(a), LaplaceTradeOff(b))

    def delta(eps: float) -> float:
        # E over the first output of the hockey stick of the second at the slope that is left.
        def integrand(x: float) -> float:
            first_in, first_out = 0.5 * np.exp(-abs(x - a)), 0.5 * np.exp(-abs(x))
            left = eps - (abs(x) - abs(x - a))
            stick = max(0.0, 1 - np.exp((left - b) / 2)) if left >= -b else 1 - np.exp(left)
            if -b <= left < 0:
                stick = 1 - np.exp(left) + np.exp(left) * max(0.0, 1 - np.exp((-left - b) / 2))
            assert first_out > 0
            return first_in * stick

        knots = [
            -40.0,
            0.0,
            a,
            40.0,
            *[x for x in ((eps - b + a) / 2, (eps + b + a) / 2, (eps + a) / 2) if 0 < x < a],
        ]
        knots.sort()
        return sum(quad(integrand, s, t, epsabs=1e-13)[0] for s, t in pairwise(knots))

    for eps in (0.0, 0.3, 1.0, 1.7):
        low, high = result.delta_bounds(eps)
        assert float(low) - 1e-11 <= delta(eps) <= float(high) + 1e-11
        assert float(high - low) < 2e-5
    assert float(result.delta(1.81)) == pytest.approx(0.0, abs=2e-5)


@pytest.mark.evidence
def test_two_steps_of_dpsgd_by_quadrature() -> None:
    # delta of two sub-sampled Gaussian releases, P = (p N(1, s^2) + (1 - p) N(0, s^2))^2 against N(0, s^2)^2.
    p, s = 0.3, 0.8
    result = dpsgd(s, p, 2, neighbours="remove")
    x = np.linspace(-9 * s, 1 + 9 * s, 4001)
    ratio = 1 - p + p * np.exp((x - 0.5) / s**2)
    null = norm.pdf(x, scale=s)
    for eps in (0.0, 0.5, 1.5):
        height = np.maximum(np.multiply.outer(ratio, ratio) - np.exp(eps), 0.0)
        value = float(null @ height @ null) * (x[1] - x[0]) ** 2
        low, high = result.delta_bounds(eps)
        assert float(low) - 2e-6 <= value <= float(high) + 2e-6  # the rectangle rule at a kink: 2e-6


@given(st.permutations([0, 1, 2]))
@settings(max_examples=4)
def test_it_commutes(order: list[int]) -> None:
    curves = [
        ApproxDPTradeOff(0.4, 0.01),
        PiecewiseLinearTradeOff([0, 0.2, 1], [0.9, 0.3, 0]),
        ApproxDPTradeOff(1.0),
    ]
    item, other = compose(*curves), compose(*(curves[i] for i in order))
    assert np.allclose(item.beta(ALPHA), other.beta(ALPHA), atol=1e-13)


def test_the_blind_curve_is_the_identity() -> None:
    curve = FoldedLaplaceTradeOff(1.0)
    assert compose(curve, GaussianTradeOff(0.0)) is curve
    assert compose(curve) is curve
    blind = compose(curve, LaplaceTradeOff(0.0))
    low, high = blind.beta_bounds(ALPHA)
    least, most = curve.beta_bounds(ALPHA)
    assert (low <= most).all()
    assert (least <= high).all()


def test_the_inverse_of_a_composition_composes_the_inverses() -> None:
    curve = MixtureTradeOff(GaussianTradeOff(1.0), 0.2)
    item, other = compose(curve, copies=3).inverse(), compose(curve.inverse(), copies=3)
    inside = ALPHA[(ALPHA > 1e-3) & (ALPHA < 0.999)]
    (low, high), (low2, high2) = item.beta_bounds(inside), other.beta_bounds(inside)
    assert (np.maximum(low, low2) <= np.minimum(high, high2)).all()


def test_more_copies_are_less_private() -> None:
    curve = PiecewiseLinearTradeOff([0, 0.2, 0.5, 1], [0.95, 0.5, 0.2, 0])
    betas = [compose(curve, copies=n).beta(ALPHA) for n in (1, 2, 4, 8)]
    for more, fewer in zip(betas[1:], betas[:-1], strict=True):
        assert (more <= fewer + 1e-13).all()


def test_the_masses_that_reveal_the_world() -> None:
    curve = PiecewiseLinearTradeOff([0, 0.8, 1], [0.9, 0, 0])  # 0.1 of "in" and 0.2 of "out" are seen at once
    result = compose(curve, copies=7)
    assert float(result.tpr_at(0.0)) == pytest.approx(1 - 0.9**7, abs=1e-12)
    assert float(result.inverse().tpr_at(0.0)) == pytest.approx(1 - 0.8**7, abs=1e-12)


def test_the_limit_of_dong_roth_and_su() -> None:
    # p sqrt(T) -> c: the curve tends to G_mu, mu = c sqrt(2) sqrt(e^(1/s^2) Phi(3/2s) + 3 Phi(-1/2s) - 2), symmetrised;
    # in a single direction mu = c sqrt(e^(1/s^2) - 1).
    p, s, steps = 0.01, 1.0, 2500
    result = dpsgd(s, p, steps, neighbours="remove")
    mu = p * steps**0.5 * np.sqrt(np.expm1(1 / s**2))
    assert result.advantage() == pytest.approx(2 * ndtr(mu / 2) - 1, abs=0.01)


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
    result = dpsgd(sigma, rate, steps, neighbours="remove")
    low, _ = result.beta_bounds(np.array([0.0, 1e-9, 1e-8, 1e-7, 1e-6]))
    assert low[1:].max() <= 1e-12
    assert low[0] == 1.0  # no output surely reveals the world


def test_exact_powers_hold_what_rounding_adds() -> None:
    # A coin that is thrown n times: the truth is a binomial sum in 400 digits.
    eps, n = 0.0816, 700
    result = compose(ApproxDPTradeOff(eps, 0.0), copies=n)
    assert isinstance(result, SampledTradeOff)
    bare = SampledTradeOff.from_points(result.alpha, result.complement, result.corners, result.tpr)
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


@pytest.mark.filterwarnings("error")
def test_what_tells_all_is_not_composed() -> None:
    assert compose(ApproxDPTradeOff(0.0, 1.0), LaplaceTradeOff(1.0)).beta(0.3) == 0.0


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore:delta is known to")
def test_an_epsilon_of_a_thousand_is_enclosed_after_any_other_question():
    """Noise 0.4, rate 0.05, 20,000 steps: bands far from an epsilon report that they cannot decide it."""
    curve = dpsgd(0.4, 0.05, 20_000, neighbours="remove")
    low, high = curve.epsilon_bounds(1e-6)
    assert 0.0 < high - low < 2e-4 * high
    for epsilon in (500.0, 981.0, 1100.0, low):
        bounds, fresh = (
            curve.delta_bounds(epsilon),
            dpsgd(0.4, 0.05, 20_000, neighbours="remove").delta_bounds(epsilon),
        )
        assert bounds[0] <= bounds[1] <= bounds[0] * (1.0 + 1e-4)
        assert bounds[0] <= fresh[1]
        assert fresh[0] <= bounds[1]


@pytest.mark.filterwarnings("ignore:.*both bounds hold")
@pytest.mark.parametrize(("epsilon", "rate", "copies"), [(1.0, 1.0, 1283), (0.1, 0.01, 1283)])
def test_masses_of_a_power_that_underflow_are_not_lost(epsilon: float, rate: float, copies: int):
    """The rarest outcomes have masses of e^-1685 and more, and the largest losses: by binomial sums in high precision."""
    curve = compose(MixtureTradeOff(ApproxDPTradeOff(epsilon), rate), copies=copies, accuracy=1e-2)
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
