"""Compositions whose numbers hang on rare, very large losses: high precision, slopes of the rarest edges, and tests of any single step."""

import itertools
import math
import time
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim import check
from mipsim.sums.loss_bounds import _Line, _without_corners, pessimistic
from mipsim.tradeoff.any_step import any_step_tests, epsilon_of, log_delta_of
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.step_laws import MixedGaussian
from tests.enclosures.composed import SubsampledSteps

pytestmark = pytest.mark.filterwarnings("ignore:.*both bounds hold")


def hits(noise: float, p: float, n: int, epsilon: float) -> mp.mpf:
    """Delta where a step of the record shows for sure: the sum over the numbers of such steps of Gaussian mechanisms.

    Every other step has the loss log(1 - p) but for e^-1000.
    """
    mu, total = 1 / mp.mpf(noise), mp.mpf(0)
    for k in range(n + 1):
        mass = mp.binomial(n, k) * mp.mpf(p) ** k * (1 - mp.mpf(p)) ** (n - k)
        mean = k * mp.log(p) + (n - k) * mp.log(1 - mp.mpf(p)) + k * mu * mu / 2
        if k == 0:
            total += mass * max(0, 1 - mp.exp(epsilon - mean))
            continue
        spread = mu * mp.sqrt(k)
        above = mp.ncdf((mean - epsilon) / spread)
        paid = mp.exp(epsilon - mean + spread**2 / 2) * mp.ncdf((mean - epsilon - spread**2) / spread)
        total += mass * (above - paid)
    return total


def of_two(noise: float, p: float, epsilon: float) -> float:
    """Log of the delta of two steps: that of the second, in closed form, over the outcomes of the first, by quadrature."""
    mu = 1.0 / noise
    at = math.log(math.expm1(epsilon) / p) / mu + 0.5 * mu  # where a single step has this loss
    borders = np.unique(
        np.concatenate([np.linspace(-12.0, at + 12.0, 500), at + np.linspace(-1.0, 1.0, 1001)])
    )
    points, weights = np.polynomial.legendre.leggauss(16)
    middle, half = 0.5 * (borders[1:] + borders[:-1]), 0.5 * np.diff(borders)
    y, w = (middle[:, None] + half[:, None] * points).ravel(), (half[:, None] * weights).ravel()
    more = p * np.expm1(mu * y - 0.5 * mu * mu)
    left = epsilon - np.log1p(more)
    with np.errstate(divide="ignore"):
        other = np.log(np.maximum(np.expm1(left) + p, 0.0) / p) / mu + 0.5 * mu
    single = np.where(
        np.expm1(left) <= -p, -np.expm1(left), p * ndtr(mu - other) - (np.expm1(left) + p) * ndtr(-other)
    )
    return math.log(float(w @ (np.exp(-0.5 * y * y) / math.sqrt(2.0 * math.pi) * (1.0 + more) * single)))


@pytest.mark.parametrize(
    ("noise", "p", "epsilon"),
    [
        (0.95588, 4.79e-6, 0.01499),
        pytest.param(1.48, 0.0069, 0.0477, marks=pytest.mark.evidence),  # two large losses as well
        (1.07, 1.5e-4, 1.83),
        *(
            pytest.param(*row, marks=pytest.mark.evidence)
            for row in ((0.7, 1e-7, 1e-4), (2.9, 0.0064, 0.5648))
        ),
    ],
)
def test_losses_so_rare_and_large_that_no_tilt_has_its_mean_there(noise: float, p: float, epsilon: float):
    begun = time.process_time()
    low, high = mi.dpsgd(noise, p, 2, neighbours="remove").log_delta_bounds(epsilon)
    assert low - 1e-7 <= of_two(noise, p, epsilon) <= high + 1e-7
    assert high - low < 1e-4
    assert time.process_time() - begun < 20.0


@pytest.mark.parametrize(
    ("p", "n", "delta"),
    [
        (1e-5, 2, 1e-16),
        *(pytest.param(1e-5, *row, marks=pytest.mark.evidence) for row in ((1000, 1e-12), (10**5, 1e-16))),
    ],
)
def test_epsilons_of_rare_large_losses_are_narrow(p: float, n: int, delta: float):
    low, high = mi.dpsgd(1.0, p, n, neighbours="remove").epsilon_bounds(delta)
    assert high - low < 1e-4


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("noise", "p", "n"),
    [
        (0.01, 0.1, 10),
        (0.02, 0.3, 5),
        (0.03, 0.01, 40),
    ],
)
def test_tiny_noise(noise: float, p: float, n: int):
    curve = mi.dpsgd(noise, p, n, neighbours="remove")
    for delta in (1e-3, 1e-5):
        low, high = curve.epsilon_bounds(delta)
        assert hits(noise, p, n, high) <= delta <= hits(noise, p, n, low)
        assert high - low <= 1e-3 * high
    none = (1.0 - p) ** n
    low, high = curve.delta_bounds(1.0)
    assert low <= 1.0 - none <= high
    assert high - low < 1e-5
    low, high = curve.tpr_bounds(0.1)
    assert low <= 1.0 - 0.9 * none <= high
    assert high - low < 1e-5


@pytest.mark.parametrize(
    ("noise", "p", "n", "epsilon", "width"),
    [
        pytest.param(1.22, 0.0334, 11, 9.72, 1e-4, marks=pytest.mark.evidence),  # the oracle takes seconds
        (2.46, 0.18, 7, 6.63, 1e-5),
        (3.53, 0.0508, 86, 1.768, 1e-5),
        pytest.param(10.8, 0.00144, 7_583, 0.108, 1e-4, marks=pytest.mark.evidence),
    ],
)
def test_deltas_far_out(noise: float, p: float, n: int, epsilon: float, width: float):
    low, high = mi.dpsgd(noise, p, n, neighbours="remove").log_delta_bounds(epsilon)
    truth = float(mp.log(SubsampledSteps(1.0 / noise, p, n).hockey(mp.mpf(epsilon))))
    assert low <= truth <= high
    assert high - low <= width


def exact(inside: dict[float, Any], out: dict[float, Any], noise: float, epsilon: float) -> float:
    """The log of the delta of two mixtures {shift: weight} of noise, in balls of 600 bits."""
    sides = [
        [
            (Fraction(at) / Fraction(noise), Fraction(w) / sum(map(Fraction, side.values())))
            for at, w in side.items()
        ]
        for side in (inside, out)
    ]
    with check.ctx.workprec(600):
        pair, x, low, high = (
            check.Smooth("gaussian", *sides),
            check.ball(Fraction(epsilon)).exp(),
            -(2**14),
            2**14,
        )
        for _ in range(400):  # the place at which p - e^epsilon q of what is above it is largest
            y = Fraction(low + high) / 2
            low, high = (low, y) if pair.ratio(check.ball(y)) > x else (y, high)
        p, q = pair.tails(check.ball(high))
        return float((p - x * q).log()) if p > x * q else -math.inf


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.3])
@pytest.mark.parametrize(
    ("noise", "p"), [(0.0412, 1e-100), (1.0, 1e-10), (10.0, 1e-12), (3.0, 0.2), (0.7, 0.999)]
)
def test_a_rare_record_that_is_replaced(noise: float, p: float, epsilon: float):
    rest = 1 - Fraction(p)
    truth, other = (exact({0: rest, x: p}, {0: rest, -x: p}, noise, epsilon) for x in (1.0, 1.03))
    low, high = mi.dpsgd(noise, p, neighbours="replace").log_delta_bounds(epsilon)
    assert low <= truth <= high
    assert high - low <= 1e-6 * max(1.0, -high)
    assert noise < 0.1 or not low <= other <= high


@pytest.mark.parametrize(
    ("sensitivities", "probabilities", "noise"),
    [
        (
            [0.0, 0.7, 0.1 * 7],
            [0.5, 0.25, 0.25],
            1.2,
        ),  # which differ as floats, and not in units of the noise
        ([0.0, 5e-324, 1.0], [0.25, 0.25, 0.5], 4.0),
        ([0.0, 5e-324, 1.0], [0.5, 0.25, 0.25], 4.0),
        ([1e-8], [1.0], 1.0),
        ([0.0, 0.3, 2.0], [1e-300, 0.5, 0.5], 0.2),
    ],
)
@pytest.mark.parametrize("opposite", [([0.0], [1.0]), ([0.0, 0.5], [0.5, 0.5])])
@pytest.mark.filterwarnings("error")
def test_mixtures_whose_parts_lie_together_or_far_apart(sensitivities, probabilities, noise, opposite):
    curve = mi.GaussianMixtureTradeOff(sensitivities, probabilities, noise, *opposite)
    inside = dict(zip(sensitivities, probabilities, strict=True))
    out = {-at: w for at, w in zip(*opposite, strict=True)}
    for epsilon in (0.0, 0.3):
        low, high = curve.log_delta_bounds(epsilon)
        assert low <= exact(inside, out, noise, epsilon) <= high


@pytest.mark.evidence
def test_where_no_high_precision_reaches():
    """Bounds that were factors of 10^80 and 10^5 apart, and parts so far apart or so near that their squares are no floats."""
    low, high = mi.GaussianMixtureTradeOff([0.0, 1e160], [0.5, 0.5]).delta_bounds(1e5)
    assert low <= 0.5 <= high
    low, high = mi.GaussianMixtureTradeOff([0.0, 1e-160, 2e-160], [0.2, 0.3, 0.5]).log_delta_bounds(1.0)
    assert low <= high
    assert high > -math.inf
    low, high = mi.dpsgd(4.0, 0.00033, 10_000, neighbours="remove").log_delta_bounds(0.07)
    assert low <= high <= low + 1e-4
    curve = mi.dpsgd(3.872, 0.00208, 36, neighbours="replace", sampling="fixed_size")
    low, high = curve.delta_bounds(0.2413)
    assert 8.5e-23 < low < 9e-23 < high < 9.6e-23


def test_equal_parts_are_copies():
    step = mi.dpsgd(1.0, 0.01, 10, neighbours="remove")
    many = mi.compose(*[step] * 50)
    assert isinstance(many, mi.ComposedTradeOff)
    assert many.copies == (500,)
    pair = mi.compose(mi.LaplaceTradeOff(1.0), mi.LaplaceTradeOff(1.0))
    copies = mi.compose(mi.LaplaceTradeOff(1.0), copies=2)
    assert isinstance(pair, mi.ComposedTradeOff)
    assert pair.beta_bounds(0.3) == copies.beta_bounds(0.3)


def test_two_laplace_steps_at_many_rates():
    """Atoms at both ends of each loss, on a common lattice or not."""
    fprs = np.linspace(0.0, 1.0, 101)
    for sizes in ((1.0, 1.0), (1.0, 1.5)):
        low, high = mi.compose(*map(mi.LaplaceTradeOff, sizes)).beta_bounds(fprs)
        assert (low <= high).all()
        assert (high - low).max() < 3e-6


def hull(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The lower convex hull of points by rising abscissa."""
    result: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(result) > 1:
            (a, b), (c, d) = result[-2:]
            if (d - b) * (x - a) < (y - b) * (c - a):
                break
            result.pop()
        result.append((x, y))
    return result


@pytest.mark.parametrize("seed", range(6))
def test_concave_corners_are_left_out_as_by_the_convex_hull(seed: int):
    """Second differences at nodes, some negative: those of the lower convex hull of the same points, in rational arithmetic."""
    rng = np.random.default_rng(seed)
    size = int(rng.choice([6, 30, 300]))
    nodes = np.cumsum(rng.uniform(0.01, 0.1, size))
    weights = rng.uniform(0.5, 1.0, size)
    deep = rng.choice(np.arange(1, size - 1), max(1, size // 10), replace=False)
    weights[deep] -= rng.uniform(0.5, 1.0 if size < 30 else 8.0, deep.size)
    line = _Line(nodes, np.zeros(size), np.zeros(size - 1), nodes[:-1].copy(), 0.0)
    result = _without_corners(line, weights.copy())
    # The hockey-stick divergence as a function of x = e^loss has the slope changes `weights` at the nodes.
    x = [Fraction(float(v)) for v in np.exp(nodes)]
    out = [Fraction(float(w)) for w in weights]
    mass = [*itertools.accumulate(out[::-1])][::-1]
    mean = [*itertools.accumulate(w * z for w, z in zip(out[::-1], x[::-1], strict=True))][::-1]
    heights = [m - t * w for m, t, w in zip(mean, x, mass, strict=True)]
    corners = hull(list(zip(x, heights, strict=True)))
    slopes = [(d - b) / (c - a) for (a, b), (c, d) in itertools.pairwise(corners)]
    changes = {corners[k + 1][0]: slopes[k + 1] - slopes[k] for k in range(len(slopes) - 1)}
    ends = sum(out) + slopes[0], -slopes[-1]
    if min(ends) < 0:  # the end that no hull of positive masses has is named
        assert result == (-1 if ends[0] < 0 else 1) or max(ends) < 0
        return
    assert not isinstance(result, int)
    assert (result >= 0.0).all()
    for at, value in list(zip(x, result, strict=True))[1:-1]:
        assert math.isclose(float(changes.get(at, 0)), value, rel_tol=1e-9, abs_tol=1e-11)


@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("rate", [1e-2, 1e-6])
def test_a_record_that_hardly_ever_takes_part_needs_no_noise(rate: float, noise: str):
    """It takes part in any of the steps with probability 5 x rate at most."""
    least = 1e-3
    assert (
        mi.find_noise_multiplier_for_advantage(5.1 * rate, sampling_rate=rate, steps=5, noise=noise) == least
    )
    assert (
        mi.find_noise_multiplier_for_advantage(4.8 * rate, sampling_rate=rate, steps=5, noise=noise) > least
    )


@cache
def total_variation(noises: tuple[float, float], rate: float) -> mp.mpf:
    """Of two sub-sampled steps: E_out (1 - r s)_+ of both density ratios, the inner mean in closed form."""
    q, (mu, nu) = mp.mpf(rate), [1 / mp.mpf(noise) for noise in noises]

    def inner(y: mp.mpf) -> mp.mpf:
        r = 1 + q * mp.expm1(mu * y - mu * mu / 2)
        ratio = 1 + (1 / r - 1) / q
        if ratio <= 0:
            return mp.mpf(0)
        end = mp.log(ratio) / nu + nu / 2
        return mp.npdf(y) * (mp.ncdf(end) * (1 - r * (1 - q)) - r * q * mp.ncdf(end - nu))

    with mp.workdps(25 - int(math.log10(rate))):
        return mp.mpf(mp.quad(inner, [-15, -6, -3, -1, 0, 1, 2, 3, 6, 15]))


@pytest.mark.parametrize(
    ("noises", "rate", "width"),
    [
        ((0.7, 2.0), 1e-6, 1e-4),
        ((1.0, 1.0), 1e-100, 3e-4),
        *(
            pytest.param(*row, marks=pytest.mark.evidence)
            for row in (
                ((0.7, 0.7), 1e-6, 2e-5),
                ((0.05, 0.05), 1e-4, 1e-3),
                ((1.0, 3.0), 0.2, 1e-6),
                ((10.0, 10.0), 1e-12, 3e-3),
            )
        ),
    ],
)
@pytest.mark.parametrize("neighbours", ["remove", "add"])
def test_the_advantage_at_a_rare_rate(
    noises: tuple[float, float], rate: float, width: float, neighbours: Any
):
    """A lattice that holds the rare, large losses too had no upper end within 60%."""
    parts = [mi.dpsgd(noise, rate, 1, neighbours=neighbours) for noise in noises]
    low, high = mi.compose(*parts).advantage_bounds()
    assert low <= total_variation(noises, rate) <= high <= low * (1.0 + width)


@pytest.mark.evidence
def test_losses_of_hundreds_do_not_round_to_a_sure_mass():
    """Two of (486.3, 128.4, sure) with probabilities .5, .3, .2: all but two of 128.4 pass 600, of which 614.7 pays e^-14.7."""
    once = mi.PrivacyLossDistribution(
        np.array([486.3, 128.4]),
        np.array([0.5 * math.exp(-486.3), 0.3 * math.exp(-128.4)]),
        np.array([0.5, 0.3]),
        1.0,
        0.2,
    )
    low, high = mi.compose(once.tradeoff(), copies=2).log_delta_bounds(600.0)
    assert low <= math.log(0.91 - 0.3 * math.exp(-14.7)) <= high < -0.09


class Own(mi.AbstractTradeOff):
    """A curve of a user, whose fields no equality reads."""

    def __init__(self, mu: float) -> None:
        self.mu = mu

    def is_convex(self) -> bool:
        return True

    def enclosure(self, log_fpr: np.ndarray):
        return mi.GaussianTradeOff(self.mu).enclosure(log_fpr)


def test_different_curves_of_a_users_class_are_no_copies():
    low, high = mi.compose(Own(1.0), Own(3.0)).advantage_bounds()
    truth = mi.GaussianTradeOff(10.0**0.5).advantage()
    assert low <= truth <= high < truth + 1e-4


@pytest.mark.parametrize(("epsilon", "copies"), [(0.01, 2000), (0.1, 3000), (0.0136, 1309)])
def test_the_rarest_edge_of_a_long_composition_keeps_its_slope(epsilon: float, copies: int) -> None:
    """The product of pure mechanisms is pure: no FNR is 1 at a positive FPR, and TPR = e^(epsilon copies) FPR for the rarest output."""
    curve = mi.compose(mi.ApproxDPTradeOff(epsilon), copies=copies)
    assert isinstance(curve, SampledTradeOff)
    assert curve.lost > 0.0
    rarest = copies * float(np.log1p(np.exp(epsilon)))  # minus the log of the smallest probability
    for single in (curve, curve.inverse(), curve.symmetrized()):
        low, high = single.epsilon_bounds(0.0)
        assert low <= epsilon * copies <= high < low + 1e-9
        assert single.tpr_bounds(0.0) == (0.0, 0.0)
        x = np.array([-rarest, -2.0 * rarest, -1e7])
        bounds = single.enclosure(x)
        assert (bounds.log_tpr_low <= x + epsilon * copies).all()
        assert (bounds.log_tpr_high >= x + epsilon * copies - 1e-9 * abs(x)).all()
        low, high = single.epsilon_bounds(log_delta=np.array([-rarest - 50.0]))
        assert low[0] <= epsilon * copies
        assert high[0] >= epsilon * copies - 1e-6  # less than the rarest output reveals


def test_rare_edges_pass_through_further_operations() -> None:
    single = mi.compose(mi.ApproxDPTradeOff(0.01), copies=1500)
    assert isinstance(single, SampledTradeOff)
    assert single.lost > 0.0
    for curve, largest in (
        (mi.compose(single, copies=2), 30.0),
        (single.subsampled(0.5), np.log1p(0.5 * np.expm1(15.0))),
        (mi.MixtureTradeOff(single, 0.5), np.log1p(0.5 * np.expm1(15.0))),
    ):
        low, high = curve.epsilon_bounds(0.0)
        assert low <= largest <= high < low + 1e-9, curve


@pytest.mark.parametrize("copies", [1, 2, 1000, 10**6])
@pytest.mark.parametrize("mu", [0.0, 0.1, 3.0])
def test_rates_of_any_step_hold_in_high_precision(mu: float, copies: int):
    """1 - (1 - rate)^copies, the FPR rounded up and the TPR down; the TPR of a single Gaussian step by mpmath."""
    log_fpr, log_tpr = any_step_tests(mi.GaussianTradeOff(mu), copies)
    single, step = any_step_tests(mi.GaussianTradeOff(mu), 1)
    with mpmath.workdps(60):
        for k in range(0, log_fpr.size, 128):
            true = mpmath.log(-mpmath.expm1(copies * mpmath.log1p(-mpmath.exp(mpmath.mpf(single[k])))))
            assert float(log_fpr[k]) >= true * (1 + mpmath.mpf(2) ** -40) - mpmath.mpf(10) ** -12
            assert float(log_fpr[k]) - true <= 1e-11 * (1 + abs(true))
            caught = mpmath.log(-mpmath.expm1(copies * mpmath.log1p(-mpmath.exp(mpmath.mpf(step[k])))))
            assert abs(float(log_tpr[k]) - caught) <= 1e-11 * (1 + abs(caught))


@pytest.mark.parametrize(("mu", "copies"), [(0.01, 10_000), (0.3, 20), (5.0, 3), (1.0, 1)])
def test_the_bound_lies_below_a_composition_in_closed_form(mu: float, copies: int):
    epsilon = np.array([0.0, 0.5, 3.0, 20.0, 200.0])
    bound = log_delta_of(any_step_tests(mi.GaussianTradeOff(mu), copies), epsilon)
    truth = mi.compose(mi.GaussianTradeOff(mu), copies=copies)
    assert (bound <= truth.log_delta_bounds(epsilon)[1]).all()
    if copies == 1:
        near = epsilon <= 20.0  # beyond, the FPRs are rarer than those of the tests
        assert bound[near] == pytest.approx(truth.log_delta_bounds(epsilon[near])[0], rel=1e-2)
        at = epsilon_of(any_step_tests(mi.GaussianTradeOff(mu), 1), -50.0)
        assert truth.epsilon_bounds(log_delta=-50.0)[1] == pytest.approx(at, rel=1e-2)
        assert truth.log_delta_bounds(at)[1] >= -50.0


@pytest.mark.parametrize("neighbours", ["remove", "add_or_remove"])
def test_an_epsilon_that_no_transform_resolves_has_a_lower_bound(neighbours: str):
    """A step's rare, large loss makes most of the sum, and the transform leaves the lower end at 0."""
    low, high = mi.dpsgd(8.0, 0.01, 1000, neighbours=neighbours).epsilon_bounds(1e-50)
    assert 0.05 < low < high < math.inf


@pytest.mark.evidence
def test_a_delta_that_no_transform_resolves_has_a_lower_bound():
    """It is e^-255."""
    low, high = mi.dpsgd(4.0, 0.005, 1000, neighbours="remove").log_delta_bounds(1.0)
    assert -280.0 < low < -255.0 < high


@pytest.mark.parametrize("loss", [-1e3, 1e3])
def test_a_lattice_beyond_all_that_is_followed(loss: float) -> None:
    """All outcomes lie on the right side of it, and no measure on it is made."""
    cells, _ = MixedGaussian(1.0, 1.0).cells(np.arange(4.0), loss, 1.0)
    assert (cells.log_out == -np.inf).all()
    assert (cells.log_out_above, cells.log_out_below)[loss > 0.0] == pytest.approx(0.0, abs=1e-12)
    assert (cells.log_out_below, cells.log_out_above)[loss > 0.0] < -1e5
    with pytest.raises(ValueError, match="none of a step's losses lies on its lattice"):
        pessimistic(cells, 0.5)
