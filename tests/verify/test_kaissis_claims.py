"""The verdicts about Kaissis et al.: what the evidence says, and each check's power to say the opposite."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import integrate
from scipy.special import ndtr

from mipsim import referee as rf
from mipsim.referee import Verdict
from mipsim.special import noncentral_chi_square as chi_square
from mipsim.theory import kaissis
from verify.kaissis.laws import relaxed_tests
from verify.kaissis.laws.relaxed_attackers import (
    COORDINATES,
    NOTHING,
    RECORD,
    SIGN,
    best_guess,
    best_weighting,
)
from verify.kaissis.laws.relaxed_laws import (
    best_test,
    cell_edges,
    cell_law,
    lira,
    magnitude,
    norm_curves,
    resilience,
)
from verify.kaissis.laws.relaxed_tests import (
    COIN,
    HALVES,
    NO_COIN,
    falls,
    generalised_power,
    share_kept,
    two_sided_power,
)
from verify.kaissis.statements import MODULES
from verify.kaissis.statements.audits import LIRA
from verify.kaissis.statements.generalised import LEMMA_5
from verify.kaissis.statements.guarantees import LEMMA_9_GUARANTEE
from verify.kaissis.statements.lemmas import LEMMA_1, LEMMA_3, LEMMA_3_CORRECTED

STATEMENTS = {item.name: item for module in MODULES for item in module.STATEMENTS}


def verdict(statement: rf.Statement, **at) -> Verdict:
    return rf.judge(statement, at=at).verdict


def test_a_known_sign_brings_the_attacker_of_the_dptm_back():
    """A count: the shift is 0 or 1, and the curve is that of the one-sided test, 0.1 below J somewhere."""
    statement = STATEMENTS["kaissis-thm-2-guarantee"]
    at = {"mu": 1.0, "d": 1, "z": -0.5}
    assert verdict(statement, knows=SIGN, **at) is Verdict.REFUTED
    assert verdict(statement, knows=NOTHING, **at) is Verdict.CONFIRMED
    missed = [float(curve.beta(0.3)) for curve in (kaissis.gaussian_dptm(1.0), resilience(1.0))]
    assert missed[1] - missed[0] > 0.1
    sides = {"noise": "Gaussian", "delta": 1.0, "alpha": 0.05}
    assert verdict(LEMMA_1, second=0.5, **sides) is Verdict.REFUTED
    assert verdict(LEMMA_1, second=-1.0, **sides) is Verdict.CONFIRMED


@pytest.mark.parametrize("noise", ["Gaussian", "Laplace"])
def test_sub_sampled_laplace_noise_fails_as_gaussian_noise_does(noise):
    pair = {"mechanism": f"sub-sampled {noise}", "delta": 2.0, "rate": 0.5, "t": 1.0}
    assert falls(**pair, s=0.5).value > 0.01
    assert verdict(LEMMA_3_CORRECTED, **pair, s=0.0) is Verdict.CONFIRMED
    assert verdict(LEMMA_3, mechanism=noise, delta=2.0, rate=0.5, s=0.5, t=1.0) is Verdict.CONFIRMED


@pytest.mark.parametrize(("noise", "reading"), [("Laplace", NO_COIN), ("Gumbel", HALVES)])
def test_lemma_5_needs_its_readings(noise, reading):
    at = {"noise": noise, "delta": 1.0, "rate": 1.0, "nu": 1.0}
    assert verdict(LEMMA_5, reading=reading, **at) is Verdict.REFUTED
    assert verdict(LEMMA_5, reading=COIN, **at) is Verdict.CONFIRMED


def test_convex_h_is_not_enough_for_lemma_5():
    """h(z) = |z| + max(|z| - T, 0)^2, Delta < T: outputs from Delta to T tie, and a coin has another power than |z|."""
    delta, corner = 1.0, 2.0

    def density(z):
        return np.exp(-np.abs(z) - np.maximum(np.abs(z) - corner, 0.0) ** 2)

    def mass(low, high, shift=0.0):
        points = sorted({low, high, *(x for x in (shift, shift - corner, shift + corner) if low < x < high)})
        return sum(integrate.quad(lambda z: density(z - shift), a, b)[0] for a, b in pairwise(points))

    whole = mass(-12.0, 12.0)

    def both(low, high, shift=0.0):
        return (mass(low, high, shift) + mass(-high, -low, shift)) / whole

    tied, above = both(delta, corner), both(corner, 12.0)
    alpha = above + 0.5 * tied
    coin = both(corner, 12.0, delta) + 0.5 * both(delta, corner, delta)
    cut = np.linspace(delta, corner, 20_001)
    # The magnitude's cut of the same level: P(|z| > c) = alpha, where the density is e^-|z|.
    at = cut[np.argmin(np.abs(2 * (np.exp(-cut) - np.exp(-corner)) / whole + above - alpha))]
    assert both(at, 12.0) == pytest.approx(alpha, abs=1e-4)
    assert abs(coin - both(at, 12.0, delta)) > 1e-3


def test_few_shadow_models_miss_the_bound():
    assert verdict(LIRA, ratio=1.0, shadows=256, alpha=0.01) is Verdict.CONFIRMED
    assert verdict(LIRA, ratio=1.0, shadows=128, alpha=0.01) is Verdict.REFUTED
    assert verdict(LIRA, ratio=1.0, shadows=256, alpha=1e-4) is Verdict.REFUTED


def test_a_mask_for_each_coordinate_is_not_a_coin_for_the_record():
    at = {"mu": 3.0, "d": 2, "rate": 0.5, "z": -0.5}
    assert verdict(LEMMA_9_GUARANTEE, reading=COORDINATES, **at) is Verdict.REFUTED
    assert verdict(LEMMA_9_GUARANTEE, reading=RECORD, **at) is Verdict.CONFIRMED
    assert verdict(LEMMA_9_GUARANTEE, reading=COORDINATES, **at | {"d": 1}) is Verdict.CONFIRMED


def directionless(mu: float, d: int):
    """The best test of cells when every direction of the shift is as likely: they coarsen the output."""
    if d == 1:
        edges = cell_edges(mu, 0.016)
        out, item, other = (cell_law("Gaussian", edges, shift) for shift in (0.0, mu, -mu))
        return best_test(out, 0.5 * (item + other))
    square = np.linspace(0.0, np.sqrt(d + mu**2) + 9.0, 3001) ** 2
    return best_test(*(np.diff(chi_square.cdf(square, d, centre)) for centre in (0.0, mu**2)))


def test_a_score_that_is_no_ratio_is_weaker_than_the_best_test():
    """On the line, and in space: the magnitude is the best test where no direction is known, up to the cells; LiRA is weaker."""
    alpha = np.array([1e-4, 0.05, 0.5, 0.9])
    for d in (1, 3):
        exact = norm_curves(d, 2.0)[0].beta(alpha)
        np.testing.assert_allclose(directionless(2.0, d).beta(alpha), exact, atol=1e-4)
        assert np.all(directionless(2.0, d).beta(alpha) >= exact - 1e-12)
    assert np.all(lira(64, 2.0).beta(alpha) > magnitude("Gaussian", 2.0).beta(alpha))


@pytest.mark.evidence
@pytest.mark.parametrize(("mu", "d", "rate"), [(1.0, 1, 1.0), (3.0, 2, 0.3), (6.0, 1, 0.3), (1.0, 30, 0.9)])
def test_j_in_pieces_is_the_hull_of_samples(mu, d, rate):
    """Chords lie above it by less than they promise; it is its own inverse; 3% more noise is another curve."""
    curve = resilience(mu, d, rate)
    chords = kaissis.symmetrised(kaissis.sampled_tradeoff(kaissis.gaussian_tradeoff(mu, d), rate))
    alpha = np.concatenate([np.geomspace(1e-9, 0.1, 40), np.linspace(0.1, 0.999, 60)])
    above = chords.beta(alpha) - curve.beta(alpha)
    assert above.min() > -1e-12
    assert above.max() < 1e-6
    np.testing.assert_allclose(curve.beta(curve.beta(alpha[20:])), alpha[20:], rtol=1e-7)
    np.testing.assert_allclose(curve.tpr_at(alpha) + curve.beta(alpha), 1.0, atol=1e-14)
    assert np.abs(resilience(mu / 1.03, d, rate).beta(alpha) - curve.beta(alpha)).max() > 1e-4


@pytest.mark.evidence
@pytest.mark.parametrize("d", [1, 2, 5, 30, 300, 3000])
@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0, 6.0])
def test_j_lies_below_its_inverse_left_of_slope_minus_1(mu, d):
    """What `resilience` builds on: j(j(x)) >= x as long as x <= j(x)."""
    j, x = kaissis.gaussian_tradeoff(mu, d), np.geomspace(1e-6, 1.0, 400)
    left = x <= j.beta(x)
    assert np.all(j.beta(j.beta(x))[left] >= x[left] * (1 - 1e-9))


def test_sorting_finds_the_best_test():
    curve = best_test(np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.25, 0.5]))
    np.testing.assert_allclose(curve.beta([0.0, 0.4, 1.0]), [0.5, 0.3, 0.0])


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_the_best_guess_of_two_lengths_lies_between_its_bounds(mu):
    """Lengths 0 and mu on the line: the likelihoods cross where cosh(mu r) = e^(mu^2/2)."""
    cross = np.arccosh(np.exp(0.5 * mu**2)) / mu
    exact = 0.5 * (1 - 2 * ndtr(-cross) + ndtr(mu - cross) + ndtr(-mu - cross))
    result = best_guess(2, 0.0, 1.0, mu, 1)
    assert result.low - 1e-12 <= exact <= result.high + 1e-12
    assert result.error < 1e-6


@pytest.mark.parametrize("noise", ["Gaussian", "Laplace", "logistic", "Gumbel"])
def test_the_generalised_ratio_has_most_power_at_the_ends(noise):
    alpha = np.array([1e-3, 0.05, 0.3, 0.9])
    most = np.maximum(*(generalised_power(noise, 2.0, shift, alpha) for shift in (2.0, -2.0)))
    apart = 0.0
    for shift in np.linspace(-1.9, 1.9, 5):
        power = generalised_power(noise, 2.0, shift, alpha)
        assert np.all(power <= most + 1e-10)
        apart = float(np.abs(power - two_sided_power(noise, shift, alpha)).max())
        assert noise == "Gumbel" or apart <= 1e-10
    assert noise != "Gumbel" or apart > 0.01


@pytest.mark.parametrize("second", [-1.0, -0.01])
@pytest.mark.parametrize("noise", ["Laplace", "Gaussian"])
def test_what_a_single_test_loses_is_known_where_nearly_all_is_rejected(noise, second):
    """The best test against two small shifts keeps a few numbers beside a corner of the ratio, which are narrower than a cell."""
    lost = share_kept(noise, 0.01, second, 0.9999)
    assert lost.high < -1e-3
    assert lost.error < 1e-3
    if (
        noise == "Laplace" and second == -1.0
    ):  # the test keeps |z| <= a, where the ratio is exp(+-2z - s) on the first side and exp(-s) on the other
        a, s, retained = -np.log1p(-1e-4), 0.01, 1e-4
        missed = 0.5 * np.exp(-s) * (-np.expm1(-a) + np.expm1(a))
        assert -lost.value == pytest.approx(1 - (retained - missed) / (retained * -np.expm1(-s)), rel=1e-4)


@pytest.mark.parametrize(
    ("delta", "alpha"), [(0.1, 0.95), (3.0, 0.9999), (7.0, 0.999), (12.0, 0.99), (15.0, 0.9999)]
)
def test_rounding_of_thousands_of_cells_is_allowed_for(delta: float, alpha: float) -> None:
    """Laplace noise, shifts of delta and -delta: the test keeps |z| <= a, whose rates are elementary functions."""
    lost, retained = share_kept("Laplace", delta, -1.0, alpha), 1.0 - alpha
    reach = np.sinh(-np.log1p(-retained))
    of_advantage = 1.0 - (retained - np.exp(-delta) * reach) / (retained * -np.expm1(-delta))
    assert -lost.high <= max(of_advantage, 1.0 - retained / reach) <= -lost.low
    assert lost.error < 0.01 * -lost.value


def test_what_a_single_test_loses_lies_between_bounds_that_finer_cells_keep(monkeypatch):
    at = {"noise": "Gaussian", "delta": 1.0, "second": -0.4, "alpha": 0.3}
    finest = share_kept(**at)
    monkeypatch.setattr(relaxed_tests, "ROUNDS", 0)
    coarse = share_kept(**at)
    assert coarse.low <= finest.low <= finest.high <= coarse.high
    monkeypatch.setattr(relaxed_tests, "cell_edges", lambda reach, width: cell_edges(reach, width / 4))
    fine = share_kept(**at)
    assert coarse.low <= fine.low <= fine.high <= coarse.high
    assert fine.error < coarse.error / 4


@pytest.mark.parametrize(
    ("noise", "delta", "s", "t"),
    [
        ("Gaussian", 0.01, 0.001, 0.001001),
        ("Gaussian", 1.0, 1e-5, 1.001e-5),
        ("Laplace", 1.0, 1e-5, 1.001e-5),
    ],
)
def test_shifts_that_nearly_agree_are_no_rounding(noise: str, delta: float, s: float, t: float) -> None:
    """Far out, where small shifts fail, two log densities of 8e12 once left 1e-3 of their difference."""
    assert falls(noise, delta, 1.0, s, t).value <= 1e-12
    at = {"mechanism": noise, "delta": delta, "rate": 1.0, "s": s, "t": t}
    assert rf.judge(LEMMA_3_CORRECTED, at=[at]).verdict is rf.Verdict.CONFIRMED


@pytest.mark.parametrize("lengths", [(3.0, 0.5), (1.0, 1.0), (0.02, 4.0)])
def test_no_weights_beat_the_best_ones(lengths: tuple[float, float]) -> None:
    """The mean of the weighted sum at 200,001 angles, against the noncentrality of the curve that is called the best."""
    angle = np.linspace(0.0, 0.5 * np.pi, 200_001)
    result = (np.cos(angle) * lengths[0] + np.sin(angle) * lengths[1]).max()
    curve: Any = best_weighting(*lengths, 1.0, 1.0, 3)
    assert curve.in_noncentrality == pytest.approx(result**2, rel=1e-9)


@pytest.mark.parametrize(
    ("records", "nearest", "bend", "mu", "d"),
    [(4, 0.0, 1.0, 3.0, 2), (12, 0.86, 10.4, 0.014, 10), (3, 0.5, 2.0, 1.0, 1)],
)
def test_the_bracket_of_the_best_guess_is_narrow_and_holds_the_integral(
    records: int, nearest: float, bend: float, mu: float, d: int
) -> None:
    """The bound at small shifts has a slack of 7.5e-6; by quadrature, cell by cell, of the largest of SciPy's densities."""
    from verify.kaissis.laws.relaxed_attackers import best_guess, lengths

    result = best_guess(records, nearest, bend, mu, d)
    assert result.high - result.low < 1e-6
    shifts = np.maximum(lengths(records, nearest, bend, mu) ** 2, 1e-12)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(0.0, mu + d**0.5 + 10.0, 4001)
    radius = (0.5 * np.diff(edges)[:, None] * nodes + 0.5 * (edges[1:] + edges[:-1])[:, None]).ravel()
    density = np.max([2.0 * radius * scipy.stats.ncx2.pdf(radius**2, d, shift) for shift in shifts], axis=0)
    total = float(density @ np.tile(weights * 0.5 * (edges[1] - edges[0]), edges.size - 1)) / records
    assert result.low - 1e-7 <= total <= result.high + 1e-7  # kinks of the largest, in cells of 0.004
