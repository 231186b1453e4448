"""The non-central chi-square curve against normal tails, big floats, literal games and its own inverse."""

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr, ndtri, ndtri_exp

from mipsim.tradeoff import GaussianTradeOff, InverseTradeOff, NoncentralChiSquareTradeOff

GRID = np.concatenate([10.0 ** -np.arange(300, 2, -18.0), np.linspace(0.01, 0.99, 25), [1 - 1e-9]])


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 6.0])
def test_dimension_1_is_the_two_sided_normal_test(mu: float) -> None:
    # Corollary 1 of the relaxed threat model, j(a) = Phi(z - mu) - Phi(-z - mu) with z = Phi^-1(1 - a/2).
    curve = NoncentralChiSquareTradeOff(1, 0.0, mu**2)
    z = -ndtri_exp(np.log(GRID) - np.log(2.0))
    power = ndtr(mu - z) + ndtr(-mu - z)
    assert np.allclose(curve.tpr_at(GRID), power, rtol=1e-10, atol=0)
    assert np.allclose(curve.beta(GRID), ndtr(z - mu) - ndtr(-z - mu), rtol=1e-10, atol=1e-13)


def mixture(x: float, d: float, centre: float, upper: bool) -> mp.mpf:
    """Tail of a non-central chi-square variable as a Poisson mixture of incomplete gamma functions."""
    total, weight, j = mp.mpf(0), mp.exp(-mp.mpf(centre) / 2), 0
    while j < 4 * centre + 120:
        low, high = (x / 2, mp.inf) if upper else (0, x / 2)
        total += weight * mp.gammainc(mp.mpf(d) / 2 + j, low, high, regularized=True)
        j += 1
        weight *= mp.mpf(centre) / 2 / j
    return total


@pytest.mark.evidence
@pytest.mark.parametrize("rejects", ["large", "small"])
@pytest.mark.parametrize("x", [0.5, 9.0, 40.0, 300.0])
def test_it_pairs_the_tails_of_the_two_laws(rejects: str, x: float) -> None:
    upper = rejects == "large"
    d, out, member, out_scale, in_scale = 7.0, 3.0, 8.0, 1.5, 2.0
    curve = NoncentralChiSquareTradeOff(d, out, member, out_scale, in_scale, rejects=rejects)
    alpha = float(mixture(x / out_scale, d, out, upper))
    caught, missed = (mixture(x / in_scale, d, member, side) for side in (upper, not upper))
    if alpha < 0.999:  # nearer to 1 the rounding of alpha itself, magnified by the slope, dominates
        # 1 - alpha is known to 1e-16 only, and that is magnified where alpha nears 1.
        slack = 1e-10 + 1e-15 / (1.0 - alpha)
        assert float(curve.tpr_at(alpha)) == pytest.approx(float(caught), rel=slack, abs=0)
        assert float(curve.beta(alpha)) == pytest.approx(float(missed), rel=slack, abs=0)
    assert float(curve.tpr_at(alpha)) != pytest.approx(float(caught) * (1 + 1e-6), rel=1e-8, abs=0)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "curve",
    [
        NoncentralChiSquareTradeOff(1, 0.0, 1.0),
        NoncentralChiSquareTradeOff(40, 0.0, 30.0),
        NoncentralChiSquareTradeOff(5, 100.0, 95.0, 20.0, 19.0, rejects="small"),
        NoncentralChiSquareTradeOff(1e5, 1e7, 1.01e7),
    ],
    ids=str,
)
def test_it_is_a_trade_off_function_with_the_closed_inverse(curve: NoncentralChiSquareTradeOff) -> None:
    alpha = np.linspace(0.0, 1.0, 201)
    beta = curve.beta(alpha)
    assert beta[0] == 1.0
    assert beta[-1] == 0.0
    assert (np.diff(beta) <= 0).all()
    assert (beta <= 1 - alpha + 1e-14).all()
    assert (np.diff(beta, 2) >= -1e-12).all()
    assert np.allclose(beta + curve.tpr_at(alpha), 1.0, rtol=0, atol=1e-14)
    turned = curve.inverse()
    assert isinstance(turned, NoncentralChiSquareTradeOff)
    assert turned.inverse() == curve
    inner = (beta > 1e-6) & (beta < 1 - 1e-6)
    assert np.allclose(turned.beta(beta[inner]), alpha[inner], rtol=1e-7, atol=0)
    few = alpha[::25]
    assert np.allclose(turned.beta(few), InverseTradeOff(curve).beta(few), rtol=0, atol=1e-9)


def step_game(n: int, d: int, target: np.ndarray, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Literal rows: |mean of n normal rows - target|^2, in the world without and with the target as a row."""
    rng = np.random.default_rng(seed)
    scores = []
    for member in (False, True):
        total = np.zeros((games, d))
        for _ in range(n - member):
            total += rng.standard_normal((games, d))
        scores.append((((total + member * target) / n - target) ** 2).sum(axis=1))
    return scores[0], scores[1]


def gaps(curve: NoncentralChiSquareTradeOff, out: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Standardised differences of FNR and curve at thresholds that the laws' means and spreads fix."""
    centre, spread = out.mean(), out.std()
    result = []
    for t in centre + spread * np.linspace(-1.5, 1.5, 7):
        a, b = (out < t).mean(), (member >= t).mean()
        step = 1e-4
        slope = (float(curve.beta(a + step)) - float(curve.beta(a - step))) / (2 * step)
        error = np.sqrt((b * (1 - b) + slope**2 * a * (1 - a)) / out.size)
        result.append((b - float(curve.beta(a))) / error)
    return np.abs(result)


@pytest.mark.evidence
def test_the_one_step_gradient_game_has_this_curve() -> None:
    n, d, games = 12, 3, 100_000
    target = np.array([1.0, -0.5, 0.7])
    k = float((target**2).sum())
    out, member = step_game(n, d, target, games, seed=20)
    curve = NoncentralChiSquareTradeOff(d, n * k, (n - 1) * k, n, n - 1, rejects="small")
    # 7 standard normals exceed 6.5 with probability 7 x 8e-11 = 6e-10.
    assert gaps(curve, out, member).max() < 6.5
    planted = NoncentralChiSquareTradeOff(d, n * k, (n - 2) * k, n, n - 1, rejects="small")
    assert gaps(planted, out, member).max() > 6.5


@pytest.mark.evidence
def test_the_magnitude_of_a_gaussian_vector_has_this_curve() -> None:
    d, mu, games = 6, 1.5, 100_000
    rng = np.random.default_rng(21)
    noise = rng.standard_normal((2, games, d))
    noise[1, :, 0] += mu
    out, member = (noise**2).sum(axis=2)
    curve = NoncentralChiSquareTradeOff(d, 0.0, mu**2)
    # Rejecting large values is rejecting small values of the negated magnitude. 7 x 8e-11 = 6e-10 as above.
    assert gaps(curve, -out, -member).max() < 6.5
    # An error of a tenth of the noncentrality moves the curve by some 9 standard errors.
    assert gaps(NoncentralChiSquareTradeOff(d, 0.0, 1.1 * mu**2), -out, -member).max() > 6.5


def test_many_dimensions_are_nearly_a_shift() -> None:
    # For large d the two laws are normal with nearly the same variance: mu = l / sqrt(2 d).
    d, centre = 1e6, 1500.0
    curve, shift = NoncentralChiSquareTradeOff(d, 0.0, centre), GaussianTradeOff(centre / np.sqrt(2 * d))
    alpha = np.array([1e-3, 0.1, 0.5, 0.9])
    assert np.allclose(curve.probit_beta(alpha), ndtri(shift.beta(alpha)), rtol=0, atol=5e-3)


def test_it_is_exact_at_the_lowest_rates() -> None:
    curve = NoncentralChiSquareTradeOff(3, 0.0, 4.0)
    assert curve.tpr_at([0.0, 5e-324, 1.0]).tolist()[::2] == [0.0, 1.0]
    assert curve.tpr_at(5e-324) > 1e-315
    assert curve.beta(np.zeros((2, 3))).shape == (2, 3)
