"""The error that an exact law states is never exceeded: random games against direct sums over all their atoms.

SciPy's binomial mass and the quadrature of stacked noises are themselves right to some 1e-12, which is allowed for.
"""

from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, laplace, norm

import mipsim as mi
from mipsim.exact import exact_law
from mipsim.exact.binomial import binomial_error, binomial_probabilities, one_trial_less
from mipsim.exact.density_rows import ExponentialRow, LaplaceRow, NormalRow, UniformRow
from mipsim.exact.discrete_rows import AtomsRow, BernoulliRow
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.noise_transform import noise_tail
from mipsim.exact.phases import pair_phases
from mipsim.exact.poisson import PoissonRow
from mipsim.exact.rows import AbstractRow
from mipsim.exact.transform import RowsTransform
from tests.exact.direct_sums import Noise, binomial_atoms, noise_sf, noisy_sf

REFERENCE = 3e-12
MEAN = mi.EmpiricalMean()
mp: Any = mpmath
ALL_HEALTH: Any = list(HealthCheck)  # pyright takes the members for their metaclass
FAST = settings(max_examples=15, suppress_health_check=ALL_HEALTH)
MANY = settings(max_examples=3000, suppress_health_check=ALL_HEALTH)


def test_fine_laplace_noise_on_a_coin() -> None:
    """At sum 24.6 the law gave 0.45522, a direct sum 0.44476, the bound 9.6e-14."""
    n, scale = 50, 0.1 / 50
    game = mi.FixedTarget(mi.LaplaceNoise(MEAN, scale), mi.Bernoulli([0.5]), n, [1.0])
    law = exact_law(game, mi.ScalarProduct([0.0]))
    x = np.linspace(15.0, 35.0, 401) / n
    for member in (False, True):
        atoms, probability = binomial_atoms(np.ones(1) / n, np.array([0.5]), n - member)
        direct = noisy_sf(atoms + member / n, probability, [("laplace", scale)], x)
        assert np.abs(law.sf(x, inside=member) - direct).max() <= law.error_bound + REFERENCE
        wrong = noisy_sf(atoms + member / n, probability, [("laplace", 1.02 * scale)], x)
        assert (
            np.abs(law.sf(x, inside=member) - wrong).max() > law.error_bound + REFERENCE
        )  # noise 2% too wide shows
    assert law.error_bound < 1e-11


@st.composite
def noisy_rows(draw: st.DrawFn) -> tuple[RowsTransform, np.ndarray, np.ndarray, list[Noise]]:
    """Bernoulli rows, with weights on a lattice or not, and noises of .03 to 10 steps."""
    d = draw(st.integers(1, 3))
    n = draw(st.integers(2, 50 if d == 1 else 12 if d == 2 else 5))
    p = np.array([draw(st.sampled_from([0.5, 0.3, 0.97, 0.01, 0.1234])) for _ in range(d)])
    weight = st.one_of(st.sampled_from([1.0, -1.0, 2.0, -0.5]), st.floats(0.05, 2.0))
    weights = np.array([draw(weight) for _ in range(d)])
    step = float(np.abs(weights).max())
    kinds = draw(st.lists(st.sampled_from(["gauss", "laplace"]), max_size=2))
    noises = [(kind, step * float(np.exp(draw(st.floats(np.log(0.03), np.log(10.0)))))) for kind in kinds]
    parts: tuple[AbstractRow, ...] = tuple(
        NormalRow(scale**2) if kind == "gauss" else LaplaceRow(np.array([scale])) for kind, scale in noises
    )
    target = draw(st.one_of(st.just(float(weights.sum())), st.floats(-3.0, 3.0)))
    return (
        RowsTransform(BernoulliRow(weights, p), n, float(weights @ p), target, 0.0, parts),
        weights,
        p,
        noises,
    )


def judge(
    law: InvertedLaw, weights: np.ndarray, p: np.ndarray, noises: list[Noise], where: list[float]
) -> None:
    rows, target = law.transform.rows, law.transform.target  # pyright: ignore[reportAttributeAccessIssue]
    for member in (False, True):
        atoms, probability = binomial_atoms(weights, p, rows - member)
        atoms = atoms + member * target
        low, high = atoms.min(), atoms.max()
        x = low + np.array(where) * (high - low)
        if not noises:  # a threshold on an atom is a matter of rounding
            x = x[np.abs(x[:, None] - atoms).min(axis=1) > 1e-5 * np.abs(weights).max()]
        direct = noisy_sf(atoms, probability, noises, x)
        bound = law.error_bound + REFERENCE
        assert np.abs(law.sf(x, inside=member) - direct).max(initial=0.0) <= bound
        assert np.abs(law.cdf(x, inside=member) - (1.0 - direct)).max(initial=0.0) <= bound


PLACES = st.lists(st.floats(-0.1, 1.1), min_size=1, max_size=3)


@pytest.mark.slow
@MANY
@given(noisy_rows(), PLACES)
def test_the_bound_of_inversion_is_honoured_in_thousands_of_games(
    case: tuple[RowsTransform, np.ndarray, np.ndarray, list[Noise]], where: list[float]
) -> None:
    judge(InvertedLaw(case[0]), *case[1:], where)


def test_a_probability_without_a_digit_remains_a_probability() -> None:
    """A case of the test above: three rows of two rare values. The bound is 1, where the inversion gave 115."""
    weights, p, target = np.array([-1.0, 1.35963266]), np.array([0.01, 0.01]), 0.35963265578870574
    transform = RowsTransform(
        row=BernoulliRow(weights=weights, p=p),
        rows=3,
        row_mean=0.003596326557887058,
        target=target,
        offset=0.0,
        noise=(),
    )
    law = InvertedLaw(transform)
    assert law.error_bound <= 1.0
    x = np.linspace(-2.0, 3.0, 101)
    for result in (law.sf(x, inside=False), law.cdf(x, inside=True)):
        assert ((result >= 0.0) & (result <= 1.0)).all()
    judge(law, weights, p, [], [0.5])


def stacked(
    kinds: tuple[str, ...], scales: tuple[float, ...], n: int
) -> tuple[mi.AbstractMechanism, list[Noise]]:
    mechanism: mi.AbstractMechanism = MEAN
    noises: list[Noise] = []
    for kind, scale in zip(kinds, scales, strict=True):
        if kind == "gauss":
            mechanism = mi.GaussianNoise(mechanism, scale * np.sqrt(n))
        else:
            mechanism = mi.LaplaceNoise(mechanism, scale)
        noises.append((kind, scale))
    return mechanism, noises


@pytest.mark.parametrize(
    "kinds", [("laplace", "gauss"), ("gauss", "laplace"), ("laplace", "laplace"), ("gauss", "gauss")]
)
@pytest.mark.parametrize("scales", [(0.03, 0.02), (0.001, 0.004)])
def test_stacked_noises_are_convolutions(kinds: tuple[str, ...], scales: tuple[float, float]) -> None:
    """Both noises count: without either, the law is off by far more than its bound."""
    n, target = 20, 1.5
    mechanism, noises = stacked(kinds, scales, n)
    law = exact_law(mi.FixedTarget(mechanism, mi.Bernoulli([0.3]), n, [target]), mi.ScalarProduct([0.0]))
    for member in (False, True):
        moved = member * target * target / n
        atoms, probability = binomial_atoms(np.array([target / n]), np.array([0.3]), n - member)
        centre = float(probability @ atoms) + moved
        x = centre + np.array([-0.7, 0.013, 0.4]) * target * (scales[0] + scales[1])
        aimed = [(kind, scale * target) for kind, scale in noises]
        direct = noisy_sf(atoms + moved, probability, aimed, x)
        got = law.sf(x, inside=member)
        assert np.abs(got - direct).max() <= law.error_bound + 1e-11
        for left in (aimed[:1], aimed[1:]):
            item = noisy_sf(atoms + moved, probability, left, x)
            assert np.abs(got - item).max() > law.error_bound + 1e-11
    assert law.error_bound < 1e-9


@pytest.mark.slow
def test_noise_in_closed_form_is_a_convolution() -> None:
    x = np.array([-2.0, -0.3, 0.0, 0.1, 0.7, 5.0])
    for sd, scales in (
        (0.4, (0.3,)),
        (0.0, (0.5, 0.7)),
        (0.2, (0.5, 0.9)),
        (0.0, (1.0, 1.0)),
        (3.0, (0.05,)),
    ):
        tail = noise_tail(sd**2, np.array(scales))
        assert tail is not None
        noises: list[Noise] = [("laplace", b) for b in scales]
        direct = noise_sf([*noises, ("gauss", sd)] if sd else noises, x)
        np.testing.assert_allclose(tail.sf(x), direct, atol=tail.error_bound + 1e-12)
        wrong = noise_tail(sd**2, np.array([1.02 * scales[0], *scales[1:]]))
        assert wrong is not None
        assert np.abs(wrong.sf(x) - direct).max() > 1e-6


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


def test_pairs_of_counts_are_quiet_where_they_say() -> None:
    rng = np.random.default_rng(3)
    n, d = 60, 400
    p = rng.uniform(0.3, 0.7, d)
    count = np.arange(1.0, n + 1)
    table = binomial_probabilities(n, p, np.ones(d), n)
    values = np.log(count / (n * p[:, None]))
    phases = pair_phases(values, table, np.ones(d), np.ones(d), (-0.2, 0.2))
    assert phases is not None
    start = 12.0
    for level in (8.0, 20.0):
        until = phases.quiet_until(start, 1, level)
        assert until > start
        for c in (-0.2, 0.0, 0.2):
            q = table * np.exp(c * values)
            q /= q.sum(axis=1, keepdims=True)
            for t in rng.uniform(start, until, 100):
                modulus = np.abs(np.sum(q * np.exp(1j * t * values), axis=1))
                assert np.log(modulus).sum() <= -level


@pytest.mark.parametrize("odd", [0.0, 1e-3])
def test_pairs_are_pooled_over_coordinates_that_begin_at_other_counts(odd: float) -> None:
    """Rising and falling terms in windows of 61 counts; with `odd` a single term unlike the others, which must not be pooled with them."""
    rng = np.random.default_rng(4)
    n, d = 200, 300
    p = rng.uniform(0.3, 0.7, d)
    first = np.floor(n * p) - 30.0
    count = first[:, None] + np.arange(61)
    table = binomial_probabilities(n, p, first, 61)
    rises = rng.random(d) < 0.5
    values = np.where(
        rises[:, None], np.log(count / (n * p[:, None])), np.log((n - count) / (n * (1 - p[:, None])))
    )
    values[7] *= 1.0 + odd
    copies = rng.integers(1, 4, d).astype(float)
    phases = pair_phases(values, table, copies, first, (-0.5, 0.5))
    assert phases is not None
    # All strength is there: the cosine's bound by the distance, summed, is about that of the variance at small frequencies.
    t = 1e-3
    distance = (phases.strengths * (phases.frequencies * t) ** 2).sum()
    variance = copies @ (np.sum(table * values**2, axis=1) - np.sum(table * values, axis=1) ** 2)
    assert 0.02 * variance * t * t < distance < 0.5 * variance * t * t
    for t in rng.uniform(0.0, 400.0, 200):
        modulus = np.log(np.abs(np.sum(table * np.exp(1j * t * values), axis=1)))
        turn = phases.frequencies * t / (2 * np.pi)
        proven = (phases.strengths * (2 * np.pi * (turn - np.rint(turn))) ** 2).sum()
        assert proven <= -(copies @ modulus) * (1 + 1e-6)


def test_phases_of_empirical_records_do_not_overflow() -> None:
    """Pairs of records as weak as rounding made costs that overflowed, with a warning, which pytest makes an error."""
    for seed in range(1, 8, 2):
        records = np.random.default_rng(seed).normal(size=(30, 3))
        game = mi.FixedTarget(mi.GaussianNoise(MEAN, 0.05), mi.Empirical(records), 10, records[0])
        assert exact_law(game, mi.ScalarProduct(np.zeros(3))).error_bound <= 1e-3


def check_many_rows(n: int, p: float, noise: Noise, offset: float) -> None:
    """A single coin and so many rows that only the atoms near a threshold can be summed; the noise in lattice steps."""
    kind, size = noise
    smooth, wrap, unit = (
        (norm, mi.GaussianNoise, n**0.5) if kind == "gaussian" else (laplace, mi.LaplaceNoise, n)
    )
    game = mi.FixedTarget(wrap(MEAN, size / unit), mi.Bernoulli([p]), n=n, target=[1.0])
    law = exact_law(game, mi.ScalarProduct([0.0]))
    reach = np.ceil(40 * size) + 1
    for inside, rows, shift in ((False, n, 0), (True, n - 1, 1)):
        for at in np.floor(n * p + offset * (n * p * (1 - p)) ** 0.5) + np.arange(4) / 4:
            middle = np.floor(at - shift)
            near = np.arange(middle - reach, middle + reach + 1)
            masses = binom.pmf(near, rows, p)
            direct = masses @ smooth.sf(at - shift - near, scale=size) + binom.sf(near[-1], rows, p)
            # SciPy's masses of so many rows are right to some 1e-10 of themselves.
            allowed = law.error_bound + 1e-11
            assert abs(float(law.sf(at / n, inside=inside)) - direct) <= allowed, (n, p, noise, at, inside)


@pytest.mark.parametrize(
    ("n", "noise"), [(10**8, ("laplace", 1.0)), (4 * 10**7, ("gaussian", 0.5)), (10**8, ("gaussian", 0.3))]
)
def test_the_bound_holds_where_the_nodes_end_before_the_modulus_comes_back(n: int, noise: Noise) -> None:
    """So many rows that 2^14 nodes do not reach the second peak of the transform, and noise that is left there.

    The sum was once closed below the reach of the rows' envelope: an error of 6.1e-7 beside a bound of 2e-9.
    """
    check_many_rows(n, 0.5, noise, 0.0)


@pytest.mark.evidence
@pytest.mark.parametrize(("seed", "times"), [(20, 6), pytest.param(21, 400, marks=pytest.mark.slow)])
def test_many_rows_with_noise(seed: int, times: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(times):
        n, size = round(10 ** rng.uniform(4.0, 9.0)), float(10 ** rng.uniform(-1.5, 1.0))
        kind = str(rng.choice(["laplace", "gaussian"]))
        check_many_rows(n, float(rng.uniform(0.02, 0.98)), (kind, size), float(rng.normal()))
