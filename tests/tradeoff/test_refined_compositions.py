"""Compositions whose bounds were once on the wrong side, far from the centre, or in the other direction; and dp-accounting's ends."""

import math

import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff.compose import step_law
from mipsim.tradeoff.loss_sum import LossSum


def test_a_width_that_is_infinite_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """No upper end of an epsilon, and no lower end of a delta, are a width that is not reached."""
    curve = mi.dpsgd(1.0, 0.1, 10, neighbours="remove")
    monkeypatch.setattr(type(curve), "_epsilon_at", lambda curve, *deltas: (0.5, math.inf))
    with pytest.warns(UserWarning, match="epsilon is known to inf only"):
        assert curve.epsilon_bounds(1e-5) == (0.5, math.inf)
    ends = np.array([-math.inf]), np.array([-50.0])
    monkeypatch.setattr(type(curve), "_directed", lambda curve, *at, **how: ends)
    monkeypatch.setattr(type(curve), "_any_step", lambda curve, ways: [(np.zeros(1), np.zeros(1))])
    with pytest.warns(UserWarning, match="delta is known to inf only"):
        assert curve.delta_bounds(1.0)[0] == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 20.0])
def test_many_gaussians_are_a_single_gaussian(epsilon: float) -> None:
    """A second route: the composition of shifts that the engine adds up is a shift in closed form."""
    mu, steps = 0.05, 400
    engine = LossSum([(step_law(mi.GaussianTradeOff(mu), {}), steps)])
    truth = mi.GaussianTradeOff(mu * steps**0.5).log_delta_bounds(epsilon)
    for loss, part, needs in ((epsilon, 0, "delta"), (-epsilon, 4, "other")):
        result, width = engine.sticks(np.array([loss]), 1e-4, needs)
        low, high = (
            result[part][0] + (epsilon if part else 0.0),
            result[part + 1][0] + (epsilon if part else 0.0),
        )
        assert low <= truth[1]
        assert truth[0] <= high
        assert width[0] <= 1e-4


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_a_rough_bound_of_the_other_direction(epsilon: float) -> None:
    curve = mi.dpsgd(1.0, 0.01, 500, neighbours="remove")
    assert isinstance(curve, mi.ComposedTradeOff)
    low, high = curve.inverse().log_delta_bounds(epsilon)
    bound = float(curve.losses.alone().rough_other(np.array([epsilon]), np.array([high + 4.0]))[0])
    assert bound - 5.0 < low <= bound <= high + 4.0  # the first is the control


def test_an_end_of_laplace_losses_on_a_node_is_an_atom_there() -> None:
    """Else the distribution that reveals less loses that atom, and the lower bound is off by a thousandth."""
    losses = LossSum([(step_law(mi.MixtureTradeOff(mi.LaplaceTradeOff(1.0), 0.1), {}), 100)])
    low, high, *_ = losses.band(5.0, 1e-3, "delta", 4e-4).sticks(np.array([4.15]))
    assert 0.0 < high[0] - low[0] < 1e-4


def test_the_curve_of_many_gaussians_at_rare_rates() -> None:
    engine = LossSum([(step_law(mi.GaussianTradeOff(0.05), {}), 400)])
    z = np.linspace(-30.0, 8.0, 39)
    truth = mi.GaussianTradeOff(1.0)
    from scipy.special import log_ndtr

    for turned in (False, True):
        result, width = engine.curve(log_ndtr(z), log_ndtr(-z), 1e-3, turned)
        bounds = truth.enclosure(log_ndtr(z))
        assert (result[0] <= bounds.log_fnr_high).all()
        assert (result[1] >= bounds.log_fnr_low).all()
        assert (result[2] <= bounds.log_tpr_high).all()
        assert (result[3] >= bounds.log_tpr_low).all()
        assert width.max() <= 1e-3
    shifted = mi.GaussianTradeOff(1.001).enclosure(log_ndtr(z))  # the control: another curve lies outside
    assert (shifted.log_tpr_low > result[3]).any()


@pytest.mark.evidence
def test_both_directions_are_the_worse_after_composition() -> None:
    ways = {how: mi.dpsgd(1.0, 0.1, 5, neighbours=how) for how in ("remove", "add", "add_or_remove")}
    for epsilon in (0.0, 0.2, 2.0):
        worst = max(ways["remove"].delta(epsilon), ways["add"].delta(epsilon))
        assert ways["add_or_remove"].delta(epsilon) == pytest.approx(worst, rel=2e-6)
    alpha = np.array([0.0, 1e-6, 0.05, 0.3, 0.5, 0.9, 1.0])
    low, high = ways["add_or_remove"].beta_bounds(alpha)
    for item in (ways["remove"], ways["add"]):
        assert (low <= item.beta_bounds(alpha)[1]).all()
    common = alpha >= 0.05  # at rarer rates the lower bound of the hull is wider
    assert (high - low <= 1e-4 * np.maximum(high, 1e-3))[common].all()


def test_samples_of_a_fixed_size_are_the_symmetrised_step() -> None:
    """A single step has the curve of Dong, Roth and Su, theorem 4.2; two are between it and a composition of coarse polygons."""
    item = mi.dpsgd(1.0, 0.2, neighbours="replace", sampling="fixed_size")
    step = mi.GaussianTradeOff(2.0).subsampled(0.2)
    assert item.delta(1.0) == pytest.approx(step.delta(1.0), rel=1e-9)
    two = mi.dpsgd(1.0, 0.2, 2, neighbours="replace", sampling="fixed_size")
    directed = mi.compose(mi.MixtureTradeOff(mi.GaussianTradeOff(2.0), 0.2), copies=2)
    assert two.delta(1.0) >= directed.delta(1.0)
    assert two.inverse().delta(1.0) == pytest.approx(two.delta(1.0), rel=3e-6)


def _fixed_size_laplace(mu: float, p: float, steps: int, epsilon: float) -> float:
    """delta(epsilon) to 1e-6: losses above 0 of a step by a midpoint rule, those below 0 of the worlds exchanged, added by Fourier transforms."""
    loss = np.linspace(-mu, mu, 200_001)
    middle, width = 0.5 * (loss[1:] + loss[:-1]), 2.0 * mu / 200_000
    out = np.append(0.25 * np.exp(-0.5 * (middle + mu)) * width, 0.5 * np.exp(-mu))
    middle = np.append(middle, mu)
    up = middle > 0.0
    middle, out = middle[up], out[up]
    inside = out * (1.0 + p * np.expm1(middle))
    losses = np.log1p(p * np.expm1(middle))
    losses, masses = np.concatenate([losses, -losses]), np.concatenate([out, inside])
    size, unit = 2**19, float(losses.max()) * steps / 2**17
    place = np.floor(losses / unit).astype(int)
    law = np.zeros(size)
    for at, share in ((place, place + 1.0 - losses / unit), (place + 1, losses / unit - place)):
        np.add.at(law, at % size, masses * share)
    law[0] += 1.0 - masses.sum()
    total = np.fft.irfft(np.fft.rfft(law) ** steps, size)[: size // 2]
    sums = unit * np.arange(size // 2)
    return float(total @ np.maximum(np.exp(sums) - np.exp(epsilon), 0.0))


@pytest.mark.parametrize(
    ("mu", "p", "steps", "epsilon"),
    [
        (1.0, 0.1, 2, 0.1),
        (3.0, 0.01, 10, 0.05),
        (8.0, 1e-3, 3, 0.5),
        pytest.param(1e-3, 0.9, 50, 1e-3, marks=pytest.mark.evidence),
    ],
)
def test_laplace_steps_of_a_fixed_size_are_sums_of_their_losses(
    mu: float, p: float, steps: int, epsilon: float
) -> None:
    step = mi.MixtureTradeOff(mi.LaplaceTradeOff(mu), p)
    low, high = mi.compose(mi.convex_hull(step, step.inverse()), copies=steps).delta_bounds(epsilon)
    truth, other = (_fixed_size_laplace(mu, q, steps, epsilon) for q in (p, 1.01 * p))
    assert low * (1.0 - 1e-6) <= truth <= high * (1.0 + 1e-6)
    assert other > 1.005 * high  # the control: another rate lies outside


class _Hidden(mi.AbstractTradeOff):
    """A Gaussian curve that is not known by name."""

    mu: float

    def is_convex(self) -> bool:
        return True

    def enclosure(self, log_fpr: np.ndarray) -> mi.CurveBounds:
        return mi.GaussianTradeOff(self.mu).enclosure(log_fpr)


RATES = np.concatenate(
    [[-np.inf, -1740.0, -700.0, -80.0], np.log([1e-9, 0.1, 0.42, 0.9]), [-1e-9, -1e-200, 0.0]]
)


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("curve", "copies"),
    [
        (_Hidden(0.003817749366307305), 56535),
        pytest.param(_Hidden(0.7002742022935903), 27, marks=pytest.mark.slow),
        pytest.param(
            mi.MixtureTradeOff(mi.ApproxDPTradeOff(0.0571, 0.0), 0.000796), 3880, marks=pytest.mark.slow
        ),
        pytest.param(mi.MixtureTradeOff(mi.GaussianTradeOff(2.0), 0.3), 5, marks=pytest.mark.slow),
        (mi.LaplaceTradeOff(0.3), 12),
    ],
)
@pytest.mark.filterwarnings("ignore:.*both bounds hold")
def test_an_array_is_answered_like_its_entries(curve: mi.AbstractTradeOff, copies: int) -> None:
    composed = mi.compose(curve, copies=copies)
    for direction in (composed, composed.inverse()):
        result = direction.enclosure(RATES)
        singly = mi.compose(curve, copies=copies)
        singly = singly if direction is composed else singly.inverse()
        for k in (0, 1):
            low, high = result[2 * k], result[2 * k + 1]
            assert (low <= high).all()
            for i, log_fpr in enumerate(RATES):
                alone = singly.enclosure(np.array([log_fpr]))
                assert alone[2 * k][0] <= high[i]
                assert low[i] <= alone[2 * k + 1][0]
        # Nothing that is reported at FPR 0 is a float's floor.
        assert result.log_tpr_low[0] == -np.inf
        assert result.log_fnr_high[0] == 0.0
        if isinstance(curve, _Hidden):
            truth = mi.GaussianTradeOff(curve.mu * copies**0.5).enclosure(RATES)
            for k in (0, 1):
                assert (result[2 * k] <= truth[2 * k + 1]).all()
                assert (truth[2 * k] <= result[2 * k + 1]).all()


def few_steps(noise: float, rate: float, steps: int, turned: bool, epsilon: float) -> float:
    """delta of two or three steps: the closed form of the last step, averaged over the others by the trapezoid rule."""
    from scipy.special import ndtr

    mu = 1.0 / noise
    y = np.linspace(-11.0, 11.0 + mu, 1501 if steps > 2 else 1_000_001)
    out = np.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi) * (y[1] - y[0])
    inside = (1.0 - rate) * out + rate * np.exp(-0.5 * (y - mu) ** 2) / math.sqrt(2.0 * math.pi) * (
        y[1] - y[0]
    )
    loss = np.logaddexp(math.log1p(-rate), math.log(rate) + mu * y - 0.5 * mu * mu)
    masses, losses = (out, -loss) if turned else (inside, loss)
    weights, gone = masses, losses
    for _ in range(steps - 2):
        weights, gone = np.multiply.outer(weights, masses).ravel(), np.add.outer(gone, losses).ravel()
    left = epsilon - gone
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = (np.exp(-left if turned else left) - (1.0 - rate)) / rate
        y = np.where(odds > 0.0, np.log(np.maximum(odds, 1e-300)) / mu + 0.5 * mu, -np.inf)
    if turned:  # the loss is above where the outcome is below
        last = ndtr(y) - np.exp(left) * ((1.0 - rate) * ndtr(y) + rate * ndtr(y - mu))
    else:
        last = (1.0 - rate) * ndtr(-y) + rate * ndtr(mu - y) - np.exp(left) * ndtr(-y)
    return float(weights @ np.maximum(last, 0.0))


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("noise", "rate", "steps", "turned", "delta"),
    [
        (0.4734, 0.1, 3, True, 1e-6),  # nearly all outcomes are within 0.002 of the largest loss
        (0.4734, 0.1, 3, False, 1e-6),
        (0.2847, 0.0041, 2, True, 3.5e-5),
        (0.63, 0.5, 3, True, 1e-4),
        (1.2, 0.02, 2, True, 1e-8),
        (0.25, 0.03, 2, False, 0.02),  # a tilt makes the rare large losses common at once
        (2.85, 0.0031, 2, False, 1e-5),
    ],
)
def test_a_few_steps(noise: float, rate: float, steps: int, turned: bool, delta: float) -> None:
    """Laws of few steps are far from a bell: dense near the least loss, with rare and large ones."""
    curve = mi.dpsgd(noise, rate, steps, neighbours="remove")
    curve = curve.inverse() if turned else curve
    low, high = curve.epsilon_bounds(delta)
    assert 0.0 <= high - low <= 1e-4
    off = 1e-8 if steps == 2 else 1e-5  # of the trapezoid rule, where the last step's delta bends
    assert few_steps(noise, rate, steps, turned, high) <= delta * (1.0 + off)
    assert few_steps(noise, rate, steps, turned, low) >= delta * (1.0 - off)
    middle = 0.5 * (low + high)
    truth = few_steps(noise, rate, steps, turned, middle)
    least, most = curve.at_accuracy(1e-5).delta_bounds(middle)  # type: ignore[attr-defined]
    assert least * (1.0 - off) <= truth <= most * (1.0 + off)
    assert most <= least * (1.0 + 1.1e-5)


def test_the_worse_direction_is_narrow_between_two_modes() -> None:
    """The narrow band of the other direction, near a wide band that bounds this FPR, replaces it in no later answer."""
    curve = mi.dpsgd(1.0 / 4.75, 4.2e-5, 1425)
    assert isinstance(curve, mi.ComposedTradeOff)
    low, high = curve.at_accuracy(1e-5).tpr_bounds(1.29e-3)
    assert low <= high < 1.001 * low
