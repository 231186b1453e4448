"""Far tails of exact laws against arbitrary precision, without a seam; the likeliest pairs of two lists."""

import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.exact import exact_law
from mipsim.exact.contours import LEAST_LOG
from mipsim.exact.discrete_rows import common_step
from mipsim.exact.independent import Independent, Stack, _pairs, heavy_atoms
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.phases import Phases

MEAN = mi.EmpiricalMean()


def bernoulli_game(
    n: int, d: int, copies: int = 1
) -> tuple[InvertedLaw, np.ndarray, np.ndarray, np.ndarray, float]:
    p = np.repeat(np.random.default_rng(5).uniform(0.25, 0.75, d // copies), copies)
    data = mi.Bernoulli(p)
    z = data.easiest_target()
    attack = mi.CovarianceScore(data, n)
    with exact_scope():
        weights, offset = np.asarray(attack.weights(jnp.asarray(z))), float(attack.offset(jnp.asarray(z)))
    law = exact_law(mi.FixedTarget(MEAN, data, n, z), attack)
    assert isinstance(law, InvertedLaw)
    return law, p, weights, z, offset


def gil_pelaez(
    x: float, n: int, p: np.ndarray, weights: np.ndarray, constant: float, sd: float, digits: int
) -> mp.mpf:
    """P(sum_j weights_j Binomial(n, p_j) / n + constant > x): midpoints on the real axis, in `digits` digits.

    An untilted line and plain arithmetic: another route than the route under test. Its aliases are tails a period away.
    """
    with mp.workdps(digits):
        reach = mp.sqrt(
            2 * digits * mp.log(10)
        )  # deviations at which a normal tail or transform is 10^-digits
        step = 2 * mp.pi / (3 * reach * sd)
        nodes = int(mp.ceil(1.15 * reach / (sd * step)))
        a = [mp.mpf(float(w)) / n for w in weights]
        q = [mp.mpf(float(v)) for v in p]
        mean = mp.fsum(v * b for v, b in zip(q, a, strict=True)) * n
        distance = mp.mpf(x) - mp.mpf(constant) - mean
        total = mp.mpf(0)
        for k in range(nodes):
            t = (k + mp.mpf(1) / 2) * step
            product = mp.mpc(1)
            for v, b in zip(q, a, strict=True):
                product *= (1 + v * mp.expm1(mp.mpc(0, t * b))) * mp.expj(-t * b * v)
            total += (product**n * mp.expj(-t * distance)).imag / (k + mp.mpf(1) / 2)
        return mp.mpf(1) / 2 + total / mp.pi


@pytest.mark.evidence
@pytest.mark.parametrize("far", [0.3, 4.0, 13.0, 21.0])
def test_distinct_coordinates_against_arbitrary_precision(far: float) -> None:
    n, d = 200, 40
    law, p, weights, z, offset = bernoulli_game(n, d)
    sd = float(np.sqrt(np.sum(weights**2 * p * (1 - p)) / n))
    x = float(law.transform.mean[0]) + far * sd
    digits = 20 + int(far**2 / 2 / np.log(10) * 1.1)
    exact = gil_pelaez(x, n, p, weights, offset, sd, digits + 15)
    assert abs(float(mp.mpf(float(law.logsf(x, inside=False))) - mp.log(exact))) < 2e-11
    constant = offset + float(weights @ z) / n
    within = gil_pelaez(x, n - 1, p, weights * (n - 1) / n, constant, sd, digits + 15)
    assert abs(float(mp.mpf(float(law.logsf(x, inside=True))) - mp.log(within))) < 2e-11
    wrong = gil_pelaez(x, n, p + 1e-6, weights, offset, sd, digits + 15)
    assert abs(float(mp.log(wrong / exact))) > 1e-9  # the planted error shows


def test_the_reference_game_states_the_requested_error() -> None:
    law, *_ = bernoulli_game(1000, 5000)
    assert law.error_bound < 1e-12
    alpha = np.array([1e-100, 1e-60, 1e-20, 1e-6, 0.1])
    x = law.threshold_at(alpha)
    np.testing.assert_allclose(law.sf(x, inside=False), alpha, rtol=1e-12)
    assert (law.errors(x, inside=False) < 1e-10 * alpha).all()


def test_far_thresholds_get_lines_of_their_own_without_a_seam() -> None:
    """The lines that are built at once end at a probability of exp(-100), 14 deviations out; those beyond where they are needed."""
    law, *_ = bernoulli_game(1000, 5000)
    whole = InvertedLaw(law.transform, LEAST_LOG)
    assert law.saddlepoints.points.size < whole.saddlepoints.points.size
    x = float(law.transform.mean[0]) + np.linspace(-25, 25, 1001) * float(
        law.saddlepoints.sd[law.saddlepoints.zero]
    )
    for inside in (False, True):
        for side in ("logsf", "logcdf"):
            result, exact = (getattr(item, side)(x, inside=inside) for item in (law, whole))
            np.testing.assert_allclose(result, exact, rtol=1e-12, atol=1e-12)
            assert (np.diff(result) * (1 if side == "logcdf" else -1) >= -1e-11).all()
        assert (law.errors(x, inside=inside) <= law.error_bound).all()
    alpha = np.array([1e-300, 1e-80, 1e-40, 1e-20, 0.3, 0.9])
    np.testing.assert_allclose(law.threshold_at(alpha), whole.threshold_at(alpha), rtol=1e-10)


@pytest.mark.parametrize(("first", "second", "wanted"), [(300, 500, 40), (500, 300, 40), (700, 3, 100), (2, 2000, 50), (90, 90, 1)])  # fmt: skip
def test_pairs_hold_the_largest_products(first: int, second: int, wanted: int) -> None:
    rng = np.random.default_rng(first)
    a, b = rng.exponential(size=first) ** 4, rng.exponential(size=second) ** 4
    i, j = _pairs(a, b, wanted)
    assert i.size == len(set(zip(i.tolist(), j.tolist(), strict=True))), "no pair twice"
    assert i.size <= wanted * (1 + np.log(wanted)) < a.size * b.size
    everything = np.sort(np.multiply.outer(a, b).ravel())[::-1]
    assert np.array_equal(np.sort(a[i] * b[j])[::-1][:wanted], everything[:wanted])


def test_the_quiet_range_of_phases_is_quiet() -> None:
    rng = np.random.default_rng(8)
    for count, rows in ((3, 40), (12, 100), (40, 30)):
        frequencies, strengths = rng.uniform(1.0, 3.0, count), rng.uniform(0.02, 0.05, count)
        phases = Phases(frequencies, strengths)
        start = np.pi / frequencies.max()
        for level in (3.0, 10.0):
            until = phases.quiet_until(start, rows, level)
            t = rng.uniform(start, until, 200_000)
            distance = np.abs(np.mod(np.outer(frequencies, t) + np.pi, 2 * np.pi) - np.pi)
            exponent = rows * (strengths @ distance**2)
            assert exponent.min() >= level or until == start
    assert (
        Phases(np.ones(4), np.full(4, 0.05)).quiet_until(1.0, 1000, 30.0) < 2 * np.pi
    )  # there they all return


def test_common_steps() -> None:
    assert common_step(np.array([3.0, -7.0]) / 2.1) == pytest.approx(1 / 2.1, rel=1e-12)
    assert common_step(np.array([1.0, np.pi])) is None
    assert common_step(np.random.default_rng(0).uniform(size=50)) is None


@pytest.mark.evidence
def test_the_law_of_few_records_of_a_list_takes_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares of squares of 200 unlike values were multiplied out: 4e8 products of 8 bytes, several times over."""
    built = []

    def counted(*given: object) -> tuple[np.ndarray, np.ndarray]:
        built.append(_pairs(*given))  # pyright: ignore[reportArgumentType]
        return built[-1]

    monkeypatch.setattr("mipsim.exact.independent._pairs", counted)
    rng = np.random.default_rng(0)
    table = Stack(rng.normal(size=(1, 200)), np.full((2, 1, 200), 1 / 200), np.full((2, 1), 16))
    result = heavy_atoms(Independent((table,), np.zeros(2)), 1e-35, 2**13)
    assert 0 < result.values.size <= 2**14
    assert built
    assert max(i.size for i, _ in built) < 2**26
