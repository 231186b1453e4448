"""Curves of many independent coordinates between proven bounds: cells against 40 digits, bounds against other routes."""

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri
from scipy.stats import binom

from mipsim.exact import Terms, binomial_terms
from mipsim.exact.product.cells import (
    EDGE,
    BracketedTerms,
    bracketed_terms,
    gamma_pair,
    gaussian_pair,
    noisy_bernoulli_pair,
)
from mipsim.exact.product.lattice import experiment, product_tradeoff, thinned
from mipsim.exact.product.sums import laws_of_sums
from mipsim.referee.judging.gap import curve_gap
from mipsim.tradeoff import GaussianTradeOff
from tests.fourier_terms import density_terms


@pytest.mark.parametrize("pair", [gamma_pair, gaussian_pair, noisy_bernoulli_pair], ids=lambda f: f.__name__)
@pytest.mark.parametrize("t", [-2.5, 0.5, 1.5])
def test_the_tables_bracket_what_a_fourier_inversion_finds(pair, t):
    n = count = 400
    if pair is gamma_pair:
        made, other = (
            pair(n, 1.0, t),
            (lambda u: np.exp(-1j * u) / (1 - 1j * u), 1.0, 1.0, 1.0 + t, count, 0.0),
        )
    elif pair is gaussian_pair:
        made, other = (
            pair(n, t, 0.25),
            (lambda u: np.exp(-(u**2) / 2), 0.0, 1.0, t * np.sqrt(1.25), count, 0.25),
        )
    else:
        p, sd = 0.3, np.sqrt(0.21)
        made = pair(n, p, p + t * sd, 0.5)
        other = (
            lambda u: (1 - p) * np.exp(-1j * u * p) + p * np.exp(1j * u * (1 - p)),
            p,
            sd**2,
            p + t * sd,
            count,
            0.25,
        )
    tables = bracketed_terms(made, n, count)
    weak = experiment([tables.weaker], [tables.error], strong=False, relatives=[tables.relative])
    strong = experiment([tables.stronger], [tables.error], strong=True, relatives=[tables.relative])
    estimate = density_terms(n, *other)
    found = experiment([estimate], [0.0], strong=True)
    alpha = np.array([1e-3, 0.05, 0.5, 0.95])
    assert (strong.beta(alpha, -1) <= found.beta(alpha) + 1e-6).all()
    assert (found.beta(alpha) <= weak.beta(alpha, 1) + 1e-6).all()
    assert (ndtri(weak.beta(alpha, 1)) - ndtri(strong.beta(alpha, -1))).max() < 1e-3
    assert weak.delta(0.0, -1.0)[0] <= strong.delta(0.0, 1.0)[0]


def test_lattice_bounds_hold_the_curve_that_is_multiplied_out():
    terms = binomial_terms(4, 0.3, 1, 3)
    with np.errstate(divide="ignore"):
        ratio = np.add.outer(np.add.outer(terms.ratio, terms.ratio), terms.ratio).ravel()
    out, inside = (np.einsum("i,j,k->ijk", m, m, m).ravel() for m in (terms.out, terms.inside))
    order = np.argsort(-ratio, kind="stable")
    alpha = np.concatenate([[0.0], np.cumsum(out[order])])
    power = np.concatenate([[0.0], np.cumsum(inside[order])])
    at = np.linspace(0.001, 0.999, 99)
    exact = 1 - np.interp(at, alpha, power)
    low = experiment([terms], [terms.error], strong=True).beta(at, -1)
    high = experiment([terms], [terms.error], strong=False).beta(at, 1)
    assert (low <= exact + 1e-12).all()
    assert (exact <= high + 1e-12).all()
    assert (high - low).max() < 1e-3


def test_a_wrong_ratio_is_outside_the_bounds():
    """The control of the two tests above: 3% more leakage is not inside the bracket of the paper's own point."""
    terms = [binomial_terms(400, p, 1, 667) for p in (0.29, 0.375, 0.46)]
    law = product_tradeoff([BracketedTerms(one, one, one.error) for one in terms])
    more = [replace(one, count=round(1.06 * one.count)) for one in terms]
    other = experiment(more, [one.error for one in more], strong=True).beta(np.array([0.05, 0.3]))
    assert (other < law.beta_bounds(np.array([0.05, 0.3]))[0]).all()


def test_few_atoms_are_bounded_as_sharply_as_many():
    """The last union of a weaker attacker is lifted to the lattice by others: it was off by h, an error of 3e-5 of every probability."""
    out, inside = np.array([0.9, 0.1]), np.array([0.11, 0.89])
    parity = Terms(out, inside, np.log(inside / out), 1, 0.0, np.zeros(2), 100)
    coins = binomial_terms(100, 0.5, 1, 100)
    law = experiment([coins, parity], [coins.error, 0.0], strong=False)
    assert law.error < 1e-9
    assert (
        law.beta(np.array([0.5]))[0]
        < experiment([coins], [coins.error], strong=True).beta(np.array([0.5]))[0]
    )


def test_the_vertices_that_are_left_out_are_bounded():
    """Between two kept vertices the curve sags below its chord by at most what is told."""
    rng = np.random.default_rng(0)
    out = rng.dirichlet(np.full(2**15, 0.3))
    ratio = np.sort(rng.normal(size=out.size))
    inside = out * np.exp(ratio)
    inside /= inside.sum()
    found = thinned(out, inside, 0.0, 0.0, 0.0)
    alpha, power = np.cumsum(out[::-1])[:-1], np.cumsum(inside[::-1])[:-1]
    below, above = found.beta(alpha, -1.0), found.beta(alpha)
    assert (below <= 1 - power + 1e-12).all()
    assert (1 - power <= above + 1e-12).all()
    assert (above - below).max() < 1e-3


def test_tails_and_masses_are_as_right_as_the_tables_say():
    with mp.workdps(40):
        for a in (100.0, 12_800.0):
            for x in (-3.0, -1.0, 1.0, 3.0):
                s = a + x * np.sqrt(a)
                below = mp.gammainc(mp.mpf(a), 0, mp.mpf(s), regularized=True)
                found, exact = (stats.gamma(a).cdf(s), below) if x < 0 else (stats.gamma(a).sf(s), 1 - below)
                assert abs(float((mp.mpf(float(found)) - exact) / exact)) < EDGE
        n, p = 2000, mp.mpf(0.3)
        terms = binomial_terms(n, 0.3, 1, 1)
        counts = (terms.deviation * np.sqrt(n * 0.3 * 0.7) + n * 0.3).round()
        found = dict(zip(counts.tolist(), terms.out.tolist(), strict=True))
        term, error = (1 - p) ** n, mp.mpf(0)
        for k in range(n + 1):
            error += abs(mp.mpf(found.get(float(k), 0.0)) - term)
            term = term * (n - k) / (k + 1) * p / (1 - p)
        assert error / 2 < terms.error < 1e-12


@pytest.mark.parametrize(
    ("n", "shape"), [(2, 1.0), (10, 0.3), (10, 1.0), (20, 1.0), (50, 0.25), (1000, 4.0), (10**6, 1.0)]
)
def test_the_ratio_of_gamma_sums_is_right_for_few_and_for_many_rows(n: int, shape: float) -> None:
    t, x = 1.0, np.array([0.5, 1.5, 2.5])
    low, high = gamma_pair(n, shape, t).bounds(x)
    with mp.workdps(40):
        a, b = mp.mpf(n) * mp.mpf(shape), mp.mpf(n - 1) * mp.mpf(shape)
        z = mp.mpf(shape) + mp.mpf(t) * mp.sqrt(mp.mpf(shape))
        s = [a + mp.sqrt(a) * mp.mpf(one) for one in x.tolist()]
        wanted = [
            mp.loggamma(a) - mp.loggamma(b) + (b - 1) * mp.log(one - z) - (a - 1) * mp.log(one) + z
            for one in s
        ]
        for k in (0, 1):
            ends = sorted(wanted[k : k + 2])
            assert max(abs(low[k] - ends[0]), abs(high[k] - ends[1])) < 5e-14


def test_cells_far_below_the_mean_of_many_rows_are_right() -> None:
    """SciPy 1.17 ends its series early there: of 4 million rows 5e-3 of this mass was missing."""
    mass = gamma_pair(10**6, 4.0, 1.5).out(np.array([-4.6]))[0]
    with mp.workdps(30):
        a = mp.mpf(4_000_000)
        x = a - mp.mpf("4.6") * mp.sqrt(a)
        tail = mp.quad(
            lambda u: mp.exp(-(a - x) * u - x * (mp.expm1(-u) + u)),
            [k / mp.sqrt(a) for k in (0, 1, 3, 8, 15)],
        )
        wanted = tail * mp.exp(a * mp.log(x) - x - mp.loggamma(a))
    assert abs(float(mass / wanted) - 1.0) < 1e-12


@pytest.mark.parametrize("world", ["out", "inside"])
def test_cells_are_right_to_their_relative_error(world):
    """Each of 1000 cells and not only all together: that is what products of many coordinates need."""
    n, shape, t = 12_800, 2.0, 1.5
    pair = gamma_pair(n, shape, t)
    cuts = np.linspace(-9, 9, 1001)
    mass = getattr(pair, world)(cuts)
    rows, moved = (n, 0) if world == "out" else (n - 1, mp.mpf(shape) + mp.mpf(t) * mp.sqrt(shape))
    relative = bracketed_terms(pair, n, 1).relative
    assert relative < 1e-10
    with mp.workdps(40):
        ends = [mp.mpf(n) * shape + mp.sqrt(mp.mpf(n) * shape) * mp.mpf(x) - moved for x in cuts.tolist()]
        for k in (0, 100, 300, 499, 500, 700, 900, 999):
            a, b = (mp.gammainc(mp.mpf(rows) * shape, 0, end, regularized=True) for end in ends[k : k + 2])
            assert abs(float((mp.mpf(float(mass[k + 1])) - (b - a)) / (b - a))) < relative


def test_many_coordinates_do_not_blur_the_curve_of_gaussian_data():
    """240,000 coordinates: an error in total variation, that many times, was .001 probits, and a drift that looked like a slow limit."""
    law = product_tradeoff([bracketed_terms(gaussian_pair(25_600, -0.79), 25_600, 235_520)])
    size = curve_gap(law, GaussianTradeOff(0.79 * 9.2**0.5))
    assert size.low <= size.error  # the curves may be equal
    assert size.high + size.error < 5e-4
    assert curve_gap(law, GaussianTradeOff(1.03 * 0.79 * 9.2**0.5)).low < -0.05


def coin_tosses(count: int, p: float, strong: bool) -> float:
    """How far the bound is on the wrong side of the exact curve, at the vertices of the latter; at most 0 if it is none."""
    q = p + (p * (1 - p) / count) ** 0.5
    out, inside = np.array([1 - p, p]), np.array([1 - q, q])
    law = experiment(
        [Terms(out, inside, np.log(inside / out), count, 1.0, np.zeros(2), count)], [0.0], strong=strong
    )
    reach = 7 * (p * (1 - p) * count) ** 0.5
    least = np.arange(max(1, round(count * p - reach)), min(count, round(count * p + reach)))
    # SciPy's tails are right to 1e-11 of themselves; both are small at the ends where rounding counts.
    alpha, missed = binom.sf(least - 1, count, p), binom.cdf(least - 1, count, q)
    found = law.beta(alpha, -1.0 if strong else 1.0)
    return float(((found - missed) if strong else (missed - found)).max() - 1e-11 * missed.max())


@pytest.mark.parametrize("strong", [True, False])
@pytest.mark.parametrize("count", [3, 1000, 100_000, 1_000_000])
@pytest.mark.parametrize("p", [0.25, 0.5])
def test_no_rounding_of_a_transform_exceeds_the_bound(count, p, strong):
    """The bound was 1e-12 for any number of coordinates: at rates of 1e-11 it was off by 3e-9 of 100,000 coin tosses."""
    assert coin_tosses(count, p, strong) <= 0.0


def test_a_transform_that_is_taken_for_exact_is_found_out(monkeypatch):
    """The control: the fast transform alone, no rounding counted."""
    for name in ("sums.DIRECT", "sums.LEVEL", "sums.UNIT", "lattice.UNIT"):
        monkeypatch.setattr(f"mipsim.exact.product.{name}", 0)
    assert coin_tosses(1_000_000, 0.25, True) > 0.0


@pytest.mark.parametrize("step", [3, 1000, 1031])
def test_no_echo_between_the_frequencies_of_the_coarse_grid_is_missed(step: int):
    """The transform of a coarse lattice is 1 again at each multiple of points / step, which no coarse grid need hit."""
    points, count, p = 2**20, 1_000_000 // step, 0.3
    masses = np.array([1 - p, p])
    start = round(count * p * step) - points // 2
    (out, inside), error = laws_of_sums([(np.array([0, step]), masses, masses, count)], points, start)
    atoms = np.arange(count + 1) * step
    held = (atoms >= start) & (atoms < start + points)
    law = np.zeros(points)
    law[atoms[held] - start] = binom.pmf(np.arange(count + 1)[held], count, p)
    assert error < 1e-6
    assert np.abs(out - law).sum() <= error + 1e-9
    assert np.array_equal(out, inside)
