"""Tails against big floats: a stored table of Poisson mixtures, with 20 digits."""

import csv
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import mipsim as mi
from mipsim.special import noncentral_chi_square as law

TABLE = Path(__file__).with_name("noncentral_chi_square_reference.csv")
PROMISED = 1e-11  # relative error of a tail down to 1e-300; what was measured is some 5e-13
DEEP = mp.mpf("1e-300")


def mixture(x: float, d: float, centre: float, upper: bool) -> mp.mpf:
    """Tail of a non-central chi-square variable as a Poisson mixture of incomplete gamma functions."""
    total, weight, j = mp.mpf(0), mp.exp(-mp.mpf(centre) / 2), 0
    while j < 4 * centre + 120:
        low, high = (x / 2, mp.inf) if upper else (0, x / 2)
        total += weight * mp.gammainc(mp.mpf(d) / 2 + j, low, high, regularized=True)
        j += 1
        weight *= mp.mpf(centre) / 2 / j
    return total


class Reference:
    """The stored table: each row is a single tail, with 20 digits."""

    def __init__(self) -> None:
        with TABLE.open() as file:
            rows = list(csv.DictReader(file))
        self.d, self.centre, self.x = (
            np.array([float(row[k]) for row in rows]) for k in ("d", "noncentrality", "x")
        )
        self.upper = np.array([row["tail"] == "sf" for row in rows])
        self.value = [mp.mpf(row["value"]) for row in rows]
        self.deep = np.array([v < DEEP for v in self.value])

    def point(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.x, self.d, self.centre


REFERENCE = Reference()


def relative(values: np.ndarray, truth: list[mp.mpf]) -> np.ndarray:
    return np.array([float(abs(mp.mpf(float(a)) / b - 1)) for a, b in zip(values, truth, strict=True)])


def test_tails_and_their_logarithms_are_right() -> None:
    """To 1e-300, and logarithms beyond; the other tail is 1 minus it."""
    assert set(REFERENCE.d) >= {1.0, 1.5, 2.0, 3.0, 5.0, 50.0, 1000.0, 1e6}
    assert set(REFERENCE.centre) >= {0.0, 1e-3, 30.0, 1e5, 1e7, 1e8}
    assert min(REFERENCE.value) < mp.mpf("1e-8000")
    assert REFERENCE.x.size > 900
    retained, point = ~REFERENCE.deep, REFERENCE.point()
    cdf, sf, logcdf, logsf = (of(*point) for of in (law.cdf, law.sf, law.logcdf, law.logsf))
    own, other = np.where(REFERENCE.upper, sf, cdf), np.where(REFERENCE.upper, cdf, sf)
    assert relative(own, REFERENCE.value)[retained].max() < PROMISED
    assert relative(other, [1 - v for v in REFERENCE.value]).max() < 1e-13
    own, other = np.where(REFERENCE.upper, logsf, logcdf), np.where(REFERENCE.upper, logcdf, logsf)
    assert relative(own, [mp.log(v) for v in REFERENCE.value]).max() < 1e-13
    # The log of a tail near 1 is minus the other tail, with all its digits, as long as float64 holds it.
    truth = [mp.log1p(-v) for v, k in zip(REFERENCE.value, retained, strict=True) if k]
    assert relative(other[retained], truth).max() < PROMISED


def test_the_table_is_that_of_poisson_mixtures() -> None:
    """Rows of small sums and tails that 60 digits hold, computed again."""
    few = (REFERENCE.centre <= 30.0) & (REFERENCE.d <= 50.0) & [v > mp.mpf("1e-30") for v in REFERENCE.value]
    assert np.count_nonzero(few) > 100
    for k in np.flatnonzero(few)[::9]:
        x, d, centre = (float(value[k]) for value in REFERENCE.point())
        again = mixture(x, d, centre, bool(REFERENCE.upper[k]))
        assert abs(again / REFERENCE.value[k] - 1) < 1e-15  # as many digits as were read


def test_a_planted_error_of_1e_10_is_seen() -> None:
    x, d, centre = REFERENCE.point()
    shifted = np.where(REFERENCE.upper, law.sf(x, d, centre), law.cdf(x, d, centre)) * (1 + 1e-10)
    assert relative(shifted, REFERENCE.value)[~REFERENCE.deep].min() > PROMISED
    near = centre * (1 - 1e-9)
    moved = np.where(REFERENCE.upper, law.sf(x, d, near), law.cdf(x, d, near))
    far = ~REFERENCE.deep & (REFERENCE.centre > 1e5)
    assert relative(moved, REFERENCE.value)[far].max() > 100 * PROMISED


def test_the_ends() -> None:
    assert law.cdf([-np.inf, -1.0, 0.0, np.inf], 3, 2.0).tolist() == [0, 0, 0, 1]
    assert law.sf([-np.inf, -1.0, 0.0, np.inf], 3, 2.0).tolist() == [1, 1, 1, 0]
    assert law.logcdf([-1.0, 0.0, np.inf], 3, 2.0).tolist() == [-np.inf, -np.inf, 0]
    assert law.logpdf([-1.0, np.inf], 2, 2.0).tolist() == [-np.inf, -np.inf]
    assert law.logpdf(0.0, [1, 2, 3], 0.0).tolist() == [np.inf, pytest.approx(-np.log(2)), -np.inf]
    # Below 1e-290 the law is a power of x: d = 2 has P = x/2, also where x is subnormal.
    assert law.cdf([1e-300, 5e-324], 2, 0.0)[0] == pytest.approx(5e-301, rel=1e-12, abs=0)
    assert law.logcdf(5e-324, 2, 0.0) == pytest.approx(np.log(5e-324) - np.log(2), rel=1e-14)
    assert law.logsf(1e305, 7, 3.0) == pytest.approx(-5e304, rel=1e-12, abs=0)


def test_chi_square_of_1_degree_of_freedom_is_two_normal_tails() -> None:
    # P(|Z + m| <= r) = Phi(r - m) - Phi(-r - m), at random points and 60 digits.
    size = 150
    rng = np.random.default_rng(11)
    centre = 10.0 ** rng.uniform(-4, 8, size)
    root = np.maximum(np.sqrt(centre) + rng.uniform(-37, 37, size), 10.0 ** rng.uniform(-6, 0, size))
    x = root**2
    with mp.workdps(60):
        r, m = [mp.sqrt(mp.mpf(float(v))) for v in x], [mp.sqrt(mp.mpf(float(v))) for v in centre]
        lower = [mp.ncdf(a - b) - mp.ncdf(-a - b) for a, b in zip(r, m, strict=True)]
        upper = [mp.ncdf(b - a) + mp.ncdf(-a - b) for a, b in zip(r, m, strict=True)]
    assert relative(law.cdf(x, 1, centre), lower).max() < PROMISED
    assert relative(law.sf(x, 1, centre), upper).max() < PROMISED


@pytest.mark.evidence
@pytest.mark.parametrize("rejects", ["large", "small"])
@pytest.mark.parametrize("x", [0.5, 9.0, 40.0, 300.0])
def test_a_curve_pairs_the_tails_of_the_two_laws(rejects: str, x: float) -> None:
    upper = rejects == "large"
    d, out, member, out_scale, in_scale = 7.0, 3.0, 8.0, 1.5, 2.0
    curve = mi.NoncentralChiSquareTradeOff(d, out, member, out_scale, in_scale, rejects=rejects)
    alpha = float(mixture(x / out_scale, d, out, upper))
    caught, missed = (mixture(x / in_scale, d, member, side) for side in (upper, not upper))
    if alpha < 0.999:  # nearer to 1 the rounding of alpha itself, magnified by the slope, dominates
        # 1 - alpha is known to 1e-16 only, and that is magnified where alpha nears 1.
        slack = 1e-10 + 1e-15 / (1.0 - alpha)
        assert float(curve.tpr_at(alpha)) == pytest.approx(float(caught), rel=slack, abs=0)
        assert float(curve.beta(alpha)) == pytest.approx(float(missed), rel=slack, abs=0)
    assert float(curve.tpr_at(alpha)) != pytest.approx(float(caught) * (1 + 1e-6), rel=1e-8, abs=0)
