"""Closed laws are right to the error that they state: against mpmath, over sizes where digits are lost."""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammainc, ndtri_exp

import mipsim as mi
from mipsim.exact import chi_square
from mipsim.exact.chi_square import ChiSquareBounds, ChiSquareLaw, poisson_mixture
from mipsim.exact.derived_laws import MixedLaw, by_bisection, linked
from mipsim.exact.dispatch import LARGEST_ERROR
from mipsim.exact.gaussian import NormalLaw, QuadraticTransform, quadratic_law
from mipsim.theory import leemann
from mipsim.tradeoff import GaussianTradeOff
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

mp: Any = mpmath
mpf = mpmath.mpf


def log_tails(z: Any) -> tuple[Any, Any]:
    """Logs of P(N(0, 1) <= z) and P(N(0, 1) > z), by the smaller of both: no digits hold 1 - 1e-500."""
    small = mp.erfc(abs(z) / mp.sqrt(2)) / 2
    rest = mp.log1p(-small)
    return (mp.log(small), rest) if z < 0 else (rest, mp.log(small))


def normal_worlds(seed: int) -> tuple[NormalLaw, list[tuple[Any, Any]]]:
    """A law whose mean and sd have been computed with an error, and the mean and sd that are right."""
    rng = np.random.default_rng(seed)
    mean, sd = rng.normal(0.0, 10.0 ** rng.integers(-1, 4), 2), 10.0 ** rng.uniform(-2.0, 1.0, 2)
    blur = float(10.0 ** rng.uniform(-14.0, -5.0))
    shares = rng.uniform(-0.5, 0.5, (2, 2))
    right = [
        (mp.mpf(float(m)) + mp.mpf(blur) * a, mp.mpf(float(s)) + mp.mpf(blur) * b)
        for m, s, (a, b) in zip(mean, sd, shares.tolist(), strict=True)
    ]
    return NormalLaw(mean, sd, blur), right


@pytest.mark.evidence
@pytest.mark.parametrize("seed", range(12))
def test_tails_of_a_normal_law_that_is_computed_with_an_error(seed: int) -> None:
    """The true rates lie inside to 1e-300, and a law that states a hundredth of its error misses a rate."""
    law, right = normal_worlds(seed)
    missed = False
    for inside, (mean, sd) in zip((False, True), right, strict=True):
        x = law.mean[int(inside)] + law.sd[int(inside)] * np.array([-37.0, -12.0, -1.0, 0.0, 0.3, 5.0, 36.0])
        for stated in (law, NormalLaw(law.mean, law.sd, law.blur / 100.0)):
            ends = stated.tail_bounds(x, inside=inside)
            for k, point in enumerate(x):
                z = (mp.mpf(float(point)) - mean) / sd
                truth = log_tails(z)
                held = (
                    ends.log_fnr_low[k] <= truth[0] <= ends.log_fnr_high[k]
                    and ends.log_tpr_low[k] <= truth[1] <= ends.log_tpr_high[k]
                )
                assert held or stated is not law
                missed |= not held
        at = float(x[5])
        z = (mp.mpf(at) - mean) / sd
        assert abs(float(law.sf(at, inside=inside)) - float(mp.erfc(z / mp.sqrt(2)) / 2)) <= law.error_bound
    assert missed


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.evidence) for k in range(1, 6))])
def test_the_curve_and_the_auc_of_a_normal_law(seed: int) -> None:
    law, right = normal_worlds(seed)
    law = NormalLaw(np.array([0.0, 0.7]) * law.sd[0], law.sd, law.blur)
    right = [(mp.mpf(float(m)), s) for m, (_, s) in zip(law.mean, right, strict=True)]
    curve = ExactTradeOff(law)
    for log_fpr in (-600.0, -200.0, -20.0, -1.0, -1e-3, -1e-12):
        with mp.workdps(320):
            z = mp.findroot(
                lambda z, at=log_fpr: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - at, float(-ndtri_exp(log_fpr))
            )
            z = (right[0][0] + z * right[0][1] - right[1][0]) / right[1][1]
            fnr, tpr = log_tails(z)
            result = curve.enclosure(np.array([log_fpr]))
            assert result.log_fnr_low[0] <= fnr <= result.log_fnr_high[0]
            assert result.log_tpr_low[0] <= tpr <= result.log_tpr_high[0]
    low, high = curve.auc_bounds()
    auc = mp.ncdf((right[1][0] - right[0][0]) / mp.hypot(right[0][1], right[1][1]))
    assert low <= auc <= high
    assert high - low <= 1e-12 + 10.0 * law.blur / law.sd.min()
    # The likelihood ratio of normals of the same standard deviation is the score: a closed curve, within both ends.
    same = ExactTradeOff(NormalLaw(np.array([0.0, 0.7]), np.ones(2), 1e-14))
    for number, at in (("advantage_bounds", ()), ("bayes_risk_bounds", (0.3,)), ("delta_bounds", (2.0,))):
        (low, high), (least, most) = (getattr(item, number)(*at) for item in (same, GaussianTradeOff(0.7)))
        assert low <= most
        assert least <= high
        assert high - low < 1e-10


def truth_of_chi_square(x: float, d: int, noncentrality: float) -> Any:
    """P(X <= x) by mpmath's own sums over the Poisson law."""
    half, y, total = mp.mpf(noncentrality) / 2, mp.mpf(x) / 2, mp.mpf(0)
    spread = 12 * float(mp.sqrt(half)) + 60
    for k in range(max(0, int(half - spread)), int(half + spread) + 1):
        weight = mp.exp(-half + k * mp.log(half) - mp.loggamma(k + 1)) if half else mp.mpf(k == 0)
        total += weight * mp.gammainc(mp.mpf(d) / 2 + k, 0, y, regularized=True)
        if not half:
            break
    return total


@pytest.mark.parametrize(
    ("d", "noncentrality"), [(1, 0.0), (1, 3.0), (2, 0.5), (7, 40.0), (300, 0.0), (1000, 90.0)]
)
def test_the_mixture_honours_its_error(d: int, noncentrality: float) -> None:
    middle, sd = d + noncentrality, np.sqrt(2 * d + 4 * noncentrality)
    x = np.maximum(middle + sd * np.array([-3.0, -0.4, 0.8, 5.0]), 1e-3 * middle)
    value, error = poisson_mixture(x, float(d), noncentrality)
    with mp.workdps(25):
        off = [
            abs(float(mp.mpf(float(v)) - truth_of_chi_square(t, d, noncentrality)))
            for v, t in zip(value, x, strict=True)
        ]
    assert (np.array(off) <= error).all()
    assert error.max() < 1e-8


@settings(max_examples=40)
@given(
    st.integers(1, 2000),
    st.one_of(st.just(0.0), st.floats(1e-3, 3000.0)),
    st.floats(-8.0, 8.0),
    st.floats(0.0, 1.0),
)
def test_bounds_hold_between_the_points(d: int, noncentrality: float, z: float, share: float) -> None:
    """The mixture itself at points of no grid, to its own error."""
    bounds = ChiSquareBounds(float(d), noncentrality)
    root = max(np.sqrt(d + noncentrality) + z, 0.3 * share + 1e-6)
    x = np.array([root**2])
    low, high = bounds.at(x)
    value, error = poisson_mixture(x, float(d), noncentrality)
    assert low[0] <= value[0] + error[0]
    assert value[0] - error[0] <= high[0]
    assert high[0] - low[0] <= bounds.width < 1e-4


@pytest.mark.parametrize(("d", "noncentrality"), [(1, 0.0), (3, 2.0), (50, 400.0), (10_000, 1e6), (100, 1e6)])
def test_a_wrong_value_is_held_between_the_bounds(
    d: int, noncentrality: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: values of a law with 2% more noncentrality and 2% more freedom leave the bounds, and the law does not."""
    law = ChiSquareLaw(d, np.zeros(2), np.ones(2), np.full(2, noncentrality))
    middle, sd = d + noncentrality, np.sqrt(2 * d + 4 * noncentrality)
    x = np.maximum(middle + sd * np.linspace(-2.0, 2.0, 41), 0.01 * middle)
    good = law.cdf(x, inside=False)
    np.testing.assert_allclose(
        good + law.sf(x, inside=False), 1.0, atol=1e-9
    )  # the values are inside, untouched
    wrong = chi_square.noncentral_chi_square.logcdf(x, 1.02 * d, 1.02 * noncentrality)
    with monkeypatch.context() as patch:
        patch.setattr(chi_square.noncentral_chi_square, "logcdf", lambda *_: wrong)
        moved = law.cdf(x, inside=False)
    assert np.abs(np.exp(wrong) - good).max() > 10 * law.error_bound
    assert np.abs(moved - good).max() <= law.error_bound
    assert law.error_bound < 1e-4


def test_the_quadratic_ratio_is_proven_at_ordinary_sizes() -> None:
    for d in (3, 10_000):
        data = mi.Gaussian(100.0, 1.0, d=d)  # a mean far from 0 costs no digits
        game = mi.FixedTarget(mi.GaussianNoise(mi.EmpiricalMean(), 1.0), data, 50, data.mean + 1.0)
        assert game.exact(mi.LikelihoodRatio(game.mechanism, data, 50)).law.error_bound <= LARGEST_ERROR


@pytest.mark.parametrize(
    ("d", "noise"),
    [
        (4, 0.0),
        (5000, 1.0),
        *(
            pytest.param(*row, marks=pytest.mark.evidence)
            for row in ((4, 1.0), (20, 0.0), (20, 1.0), (5000, 0.0))
        ),
    ],
)
def test_rare_rates_of_the_optimal_attack_on_a_mean_are_those_of_the_chi_square(d: int, noise: float) -> None:
    """By the curve of the two distributions, whose centre and noncentralities are computed by hand: to 1e-6 of each rate."""
    n, target = 1000, np.random.default_rng(0).normal(size=d)
    data = mi.Gaussian(0.0, 1.0, d=d)
    mechanism = mi.GaussianNoise(mi.EmpiricalMean(), noise) if noise else mi.EmpiricalMean()
    exact = mi.FixedTarget(mechanism, data, n, target).exact(mi.LikelihoodRatio(mechanism, data, n))
    out, inside = (1.0 + noise**2) / n, (n - 1.0 + n * noise**2) / n**2  # variances
    shift = target @ target / n**2
    # The ratio falls with |x - centre|^2, the centre beyond the mean of world "in".
    far = inside / (out - inside)
    law = mi.NoncentralChiSquareTradeOff(
        d, shift * (1.0 + far) ** 2 / out, shift * far**2 / inside, out, inside, rejects="small"
    )
    low, high = exact.tpr_bounds([1e-6, 1e-3, 0.1])
    least, most = law.tpr_bounds([1e-6, 1e-3, 0.1])
    assert (low <= most).all()
    assert (least <= high).all()
    np.testing.assert_allclose(low, high, rtol=1e-6)


def test_nearly_equal_curves_are_paid_for() -> None:
    """Curves 1e-11 apart are taken as equal: the bound grows by it; 1e-3 apart they are not."""
    rng = np.random.default_rng(1)
    slope, curve = rng.normal(size=(2, 6)), np.full((2, 6), -0.5)
    same = quadratic_law(np.zeros(2), slope, curve)
    near = quadratic_law(np.zeros(2), slope, curve * (1.0 + 1e-11 * rng.uniform(size=(2, 6))))
    far = quadratic_law(np.zeros(2), slope, curve * (1.0 + 1e-3 * rng.uniform(size=(2, 6))))
    assert isinstance(same, ChiSquareLaw)
    assert isinstance(near, ChiSquareLaw)
    assert near.blur > 10 * same.blur
    assert not isinstance(far, ChiSquareLaw)
    # The same polynomial by inversion, which shares nothing with the chi-square.
    x = np.linspace(-12.0, 1.0, 60)
    turned = quadratic_law(np.zeros(2), slope, curve * np.array([1.0 + 1e-9] + [1.0] * 5))
    for member in (False, True):
        gap = np.abs(turned.sf(x, inside=member) - same.sf(x, inside=member)).max()
        assert gap <= turned.error_bound + same.error_bound + 1e-7


def test_mixtures_and_links_pass_their_bounds_on() -> None:
    good, poor = (NormalLaw(np.array([0.0, 2.0]), np.ones(2), blur) for blur in (0.0, 0.01))
    assert poor.error_bound > 0.003
    assert MixedLaw((poor,), (0.3,)).error_bound >= poor.error_bound
    assert MixedLaw((good, poor), (0.9, 0.1)).error_bound >= poor.error_bound
    assert linked(poor, lambda t: 3.0 * t).error_bound == poor.error_bound
    with pytest.raises(ValueError, match="it must increase"):
        linked(good, lambda t: (t - 20.0) ** 2)  # rises from -1 to 1000 nowhere but beyond 20


def test_links_of_any_size_are_inverted_to_the_last_digit() -> None:
    """A total beyond 1e6 is a score as any other."""
    law = linked(NormalLaw(np.array([5e6, 5e6]), np.full(2, 10.0)), lambda t: 0.5 * t)
    assert law.sf(2.5e6, inside=False) == pytest.approx(0.5, abs=1e-9)
    for x in (-3e200, -1.0, -1e-300, 0.0, 1e-10, 7.0, 1e150):
        assert by_bisection(lambda t: t, -1e300, 1e300)(np.array([x]))[0] == x


@pytest.mark.parametrize("scale", [1.0, 1e160])
def test_coordinates_of_equal_curves_are_summed_once(scale: float) -> None:
    """The cumulant is the sum over single coordinates by mpmath, to the rounding that it states."""
    rng = np.random.default_rng(2)
    curve = rng.choice([-0.3, 0.0, 0.25], (2, 40))
    slope = scale * rng.standard_normal((2, 40))
    transform = QuadraticTransform(np.zeros(2), slope, curve)
    s: Any = np.array([0.2 + 0.1j, -0.4 + 3.0j]) / scale

    def exact(world: int, at: complex, weight: float = 1.0) -> Any:
        total, z = mp.mpc(0), mp.mpc(at)
        for a, b in zip(slope[world], curve[world], strict=True):
            a, b = weight * mp.mpf(float(a)), mp.mpf(float(b))
            total += z**2 * a**2 / (2 * (1 - 2 * z * b)) - mp.log(1 - 2 * z * b) / 2 - z * b
        return total

    value, error = transform.cumulant(s), transform.rounding(s)
    for world in (0, 1):
        for k, at in enumerate(s):
            assert abs(mp.mpc(complex(value[world, k])) - exact(world, complex(at))) <= error[k]
            assert abs(mp.mpc(complex(value[world, k])) - exact(world, complex(at), 1.01)) > error[k]


@pytest.mark.parametrize("ratio", [0.0, 1.0, 1e4, 1e8])
def test_a_normal_law_far_from_zero(ratio: float) -> None:
    """Means are given as float64s whose last digits are lost: as 1/7 is, with a real mean of 1/7 exactly."""
    sd = 0.1
    with mp.workdps(40):
        for k in range(1, 14):
            mean = mp.mpf(ratio) * sd + mp.mpf(k) / 7
            law = NormalLaw(np.array([float(mean)] * 2), np.array([sd, sd]))
            for z in (-3.0, -0.5, 0.0, 0.1, 4.0):
                x = float(mean) + z * sd
                truth = mp.ncdf((mean - mp.mpf(x)) / mp.mpf(sd))
                assert abs(float(mp.mpf(float(law.sf(x, inside=False))) - truth)) <= law.error_bound
            assert law.error_bound <= 3e-14 + 1e-15 * ratio


@pytest.mark.evidence
@pytest.mark.parametrize("share", [1e-12, 0.01, 0.3, 0.9])
@pytest.mark.parametrize("way", [(1.0, 0.0), (0.0, -1.0), (-0.5, -0.5)])
def test_tails_to_the_end_of_float64_of_a_law_with_a_large_error(
    share: float, way: tuple[float, float]
) -> None:
    """Also beyond 37.7 deviations, where the log of the larger tail is 0 in SciPy."""
    law = NormalLaw(np.array([3.0, 3.0]), np.array([2.0, 2.0]), share * 2.0)
    mean, sd = (mp.mpf(float(x)) + mp.mpf(law.blur) * part for x, part in zip((3.0, 2.0), way, strict=True))
    x = 3.0 + 2.0 * np.array([-38.3, -30.0, -1.0, 0.0, 2.0, 37.6, 38.3])
    ends = law.tail_bounds(x, inside=True)
    for k, point in enumerate(x):
        fnr, tpr = log_tails((mp.mpf(float(point)) - mean) / sd)
        assert ends.log_fnr_low[k] <= fnr <= ends.log_fnr_high[k]
        assert ends.log_tpr_low[k] <= tpr <= ends.log_tpr_high[k]


def test_a_tail_of_many_degrees_of_freedom_keeps_its_digits() -> None:
    """SciPy's own lower tail is 2e-5 off there: it ends its series early."""
    a = 4e6
    y = a - 4.6 * np.sqrt(a)
    with mp.workdps(40):
        sd, top = mp.sqrt(a), mp.mpf(float(y))
        ends = [top - k * sd for k in (20, 10, 5, 2, 1, 0.5, 0)]
        truth = mp.quad(lambda t: mp.exp((a - 1) * mp.log(t) - t - mp.loggamma(a)), ends)
    value, _ = poisson_mixture(np.array([2 * y]), 2 * a, 0.0)
    assert abs(float(value[0] / truth) - 1.0) < 1e-9
    assert abs(float(gammainc(a, y) / truth) - 1.0) > 1e-6


@pytest.mark.parametrize(("d", "n"), [(4, 3), pytest.param(20, 2, marks=pytest.mark.evidence)])
def test_few_records_are_bounded_where_inversion_is_not_sharp(d: int, n: int) -> None:
    data = mi.Gaussian(0.9, 1.0, d=d)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n, data.mean - 0.6)
    assert game.exact(mi.LikelihoodRatio(game.mechanism, data, n)).law.error_bound <= 1e-4


@pytest.mark.evidence
@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_the_curve_of_glir_is_that_of_two_chi_square_laws(kind: str) -> None:
    """Equation 8 of Leemann et al. (2023), also of data whose coordinates depend on each other."""
    d, n, covariance = 3, 6, np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 0.5]])
    data = mi.Gaussian(np.zeros(d), np.diag(covariance) if kind == "diagonal" else covariance)
    target, alpha = np.array([1.0, -1.0, 0.5]), np.array([1e-6, 0.01, 0.3, 0.9])
    beta = mi.FixedTarget(mi.EmpiricalMean(), data, n, target).exact(mi.GLiR(data, n)).beta(alpha)
    known, off = (leemann.step_tradeoff(d, n, k * data.mahalanobis_squared(target)) for k in (1.0, 1.03))
    np.testing.assert_allclose(beta, known.beta(alpha), atol=1e-9)
    assert np.abs(beta - off.beta(alpha)).max() > 1e-4
