"""The parts of the error that an exact law states: cumulants, tables, pairs of counts, ties, noise in closed form.

`test_laws_hold.py` has the whole.
"""

from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mipsim as mi
from mipsim.exact import exact_law
from mipsim.exact.atoms import without_ties
from mipsim.exact.binomial import binomial_error, binomial_probabilities, one_trial_less
from mipsim.exact.contours import find_saddlepoints
from mipsim.exact.density_rows import ExponentialRow, LaplaceRow, NormalRow, UniformRow
from mipsim.exact.discrete_rows import AtomsRow, BernoulliRow
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.poisson import PoissonRow
from mipsim.exact.rows import AbstractRow
from mipsim.exact.transform import RowsTransform

MEAN = mi.EmpiricalMean()
mp: Any = mpmath
ALL_HEALTH: Any = list(HealthCheck)  # pyright takes the members for their metaclass
FAST = settings(max_examples=15, suppress_health_check=ALL_HEALTH)


@st.composite
def ratios(draw: st.DrawFn) -> tuple[mi.FixedTarget, mi.LikelihoodRatio, np.ndarray, np.ndarray, int]:
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 12))
    p = np.array([draw(st.floats(0.05, 0.95)) for _ in range(d)])
    z = np.array([float(draw(st.booleans())) for _ in range(d)])
    data = mi.Bernoulli(p)
    return mi.FixedTarget(MEAN, data, n, z), mi.LikelihoodRatio(MEAN, data, n), p, z, n


@pytest.mark.slow
def test_tables_by_inversion_honour_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small games by inversion, which is at its worst there, against the sum over their atoms."""
    from mipsim.exact import dispatch, term_tables

    monkeypatch.setattr(dispatch, "LARGEST_ERROR", 1.0)
    shown = 0

    @settings(FAST, max_examples=6)
    @given(ratios(), st.floats(-3.0, 2.0))
    def check(case: tuple[mi.FixedTarget, mi.LikelihoodRatio, np.ndarray, np.ndarray, int], x: float) -> None:
        nonlocal shown
        game, attack, *_ = case
        exact = exact_law(game, attack)
        with monkeypatch.context() as patch:
            patch.setattr(term_tables, "_few", lambda *_: None)
            law = exact_law(game, attack)
        assume(np.isfinite(exact.logsf(x, inside=False)))
        for member in (False, True):
            error = abs(float(law.cdf(x, inside=member) - exact.cdf(x, inside=member)))
            assert error <= law.error_bound + 1e-13
            shown += error > 1e-6

    check()
    assert shown  # there are errors to bound


def exact_cumulant(row: AbstractRow, s: complex) -> Any:
    w = mp.mpc(s)
    if isinstance(row, NormalRow):
        return mp.mpf(row.variance) * w**2 / 2
    if isinstance(row, LaplaceRow):
        return -mp.fsum(mp.log(1 - (mp.mpf(b) * w) ** 2) for b in row.scales)
    if isinstance(row, ExponentialRow):
        return -mp.fsum(mp.log(1 - mp.mpf(a) * w) + mp.mpf(a) * w for a in row.scales)
    if isinstance(row, UniformRow):
        return mp.fsum(mp.log(mp.sinh(mp.mpf(h) * w) / (mp.mpf(h) * w)) for h in row.scales)
    if isinstance(row, BernoulliRow):
        pairs = [(mp.mpf(a), mp.mpf(q)) for a, q in zip(row.weights, row.p, strict=True)]
        return mp.fsum(mp.log(1 + q * mp.expm1(a * w)) - q * a * w for a, q in pairs)
    if isinstance(row, PoissonRow):
        rate, mean = mp.mpf(row.rate), mp.mpf(row.mean)
        return mp.log(1 + rate * mp.expm1(exact_cumulant(row.row, s) + mean * w)) - rate * mean * w
    assert isinstance(row, AtomsRow)
    total = mp.mpc(0)
    for v, q in zip(row.values, row.probabilities, strict=True):
        centre = float(np.sum(q * v))
        mass = mp.fsum(mp.mpf(b) for b in q)
        total += mp.log(
            mp.fsum(mp.mpf(b) * mp.exp(w * mp.mpf(float(a - centre))) for a, b in zip(v, q, strict=True))
            / mass
        )
    return total


RNG = np.random.default_rng(12)
ROWS: dict[str, AbstractRow] = {
    "normal": NormalRow(0.7),
    "laplace": LaplaceRow(RNG.uniform(0.01, 0.4, 9)),
    "exponential": ExponentialRow(RNG.uniform(-0.4, 0.4, 9)),
    "uniform": UniformRow(RNG.uniform(0.001, 2.0, 9)),
    "bernoulli": BernoulliRow(RNG.uniform(-2.0, 2.0, 9), RNG.uniform(0.01, 0.99, 9)),
    "atoms": AtomsRow(RNG.uniform(-1.0, 1.0, (4, 5)), RNG.dirichlet(np.ones(5), 4)),
    "poisson": PoissonRow(BernoulliRow(RNG.uniform(-2.0, 2.0, 3), RNG.uniform(0.1, 0.9, 3)), 0.4, 0.3),
}


@pytest.mark.parametrize("name", ROWS)
def test_rounding_of_cumulants_is_bounded(name: str) -> None:
    """Near s = 0, where digits cancel, and far out; the logarithms may differ by whole turns."""
    row, rng = ROWS[name], np.random.default_rng(13)
    size = 10.0 ** rng.uniform(-6, 1.5, 20)
    real = np.clip(size * rng.uniform(-1, 1, 20), -2.0, 2.0)
    s = real + 1j * size * rng.uniform(-1, 1, 20)
    shown = 0.0
    for point in np.concatenate([s, [1e-9 + 1e-9j, 0.5 + 0j]]):
        at = np.array([point])
        with mp.workdps(50):
            off = mp.mpc(complex(row.cumulant(at)[0])) - exact_cumulant(row, complex(point))
            error = float(abs(mp.mpc(off.real, off.imag - 2 * mp.pi * mp.nint(off.imag / (2 * mp.pi)))))
        bound = 2.0 * float(row.rounding(at)[0])
        assert error <= bound
        shown = max(shown, error / max(bound, 1e-300))
    assert shown > 1e-4  # the bound is not idle


def test_binomial_tables_are_right_to_their_bound() -> None:
    for n, p in ((1, 0.3), (2, 0.999), (50, 0.5), (400, 0.25), (400, 1e-4), (300, 1e-12)):
        table = binomial_probabilities(n, np.array([p]), np.zeros(1), n + 1)[0]
        with mp.workdps(40):
            q = mp.mpf(p)
            exact = [mp.binomial(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
            error = float(mp.fsum(abs(mp.mpf(float(a)) - b) for a, b in zip(table, exact, strict=True)))
            fewer = one_trial_less(table[None], n, np.zeros(1))[0]
            exact = [mp.binomial(n - 1, k) * q**k * (1 - q) ** (n - 1 - k) for k in range(n)]
            off = float(mp.fsum(abs(mp.mpf(float(a)) - b) for a, b in zip(fewer, exact, strict=False)))
        assert max(error, off) <= binomial_error(n, np.array([p]))[0]
        assert fewer[n] == 0.0


def test_phases_of_empirical_records_do_not_overflow() -> None:
    """Pairs of records as weak as rounding made costs that overflowed, with a warning, which pytest makes an error."""
    for seed in range(1, 8, 2):
        records = np.random.default_rng(seed).normal(size=(30, 3))
        game = mi.FixedTarget(mi.GaussianNoise(MEAN, 0.05), mi.Empirical(records), 10, records[0])
        assert exact_law(game, mi.ScalarProduct(np.zeros(3))).error_bound <= 1e-3


def test_a_side_without_a_line_knows_nothing() -> None:
    transform = RowsTransform(BernoulliRow(np.ones(1), np.array([0.3])), 5, 0.3, 1.0, 0.0)
    whole = InvertedLaw(transform)
    points = find_saddlepoints(transform)
    bare = {
        name: getattr(points, name)[..., : points.zero + 1] for name in ("points", "value", "location", "sd")
    }
    law = InvertedLaw(transform)
    object.__setattr__(law, "saddlepoints", replace(points, **bare, cut=(False, False)))
    assert whole.error_bound < 1e-3
    assert law.error_bound == 1.0
    assert 0.0 <= law.sf(4.5, inside=False) <= 1.0
    assert law.errors(4.5, inside=False) == 1.0


def test_a_chain_is_split_where_it_has_no_point_in_common() -> None:
    tenths = np.full(10, 0.1)
    table = without_ties(1.0 + 0.9e-12 * np.arange(10.0), tenths, tenths, np.full(10, 5e-13))
    assert table.values.size == 5
    assert table.out.sum() == pytest.approx(1.0)


def test_of_tied_values_the_sharpest_stands() -> None:
    """1e-3 is known to 1e-2 only; 0 and 0.002 are not made equal by it, nor by an improbable 1e11."""
    values, near = np.array([1e11, 1e-3, 0.0, 2e-3]), np.array([1e-3, 1e-2, 1e-15, 1e-15])
    table = without_ties(values, np.array([1e-15, 0.2, 0.3, 0.5]), np.full(4, 0.25), near)
    np.testing.assert_array_equal(table.values, [0.0, 2e-3, 1e11])
    np.testing.assert_allclose(table.out, [0.5, 0.5, 1e-15])
