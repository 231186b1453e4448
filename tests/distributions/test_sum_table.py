"""Tables of column sums against exact distribution functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.distributions.base import AbstractProduct, coordinates, moment_order
from mipsim.distributions.sum_table import StandardForm, lattice_table, standard_forms, sum_table


def standard_form(data) -> StandardForm:
    """The form that all coordinates share."""
    result = standard_forms(data)
    assert result is not None
    (form,), _ = result
    return form


def masses_of(entries, bits):
    """The masses of cells that a table of aliases draws, in units of 2^-32."""
    own = (entries >> np.uint32(bits)).astype(np.int64)
    masses = own.copy()
    np.add.at(masses, (entries & np.uint32(entries.size - 1)).astype(np.int64), (1 << (32 - bits)) - own)
    return masses


def cdf_of(table, x):
    """The distribution function that a table draws, at x."""
    share = np.clip((x[:, None] - table.left) / np.where(table.width > 0, table.width, 1.0), 0.0, 1.0)
    inside = table.start * share + (1 - table.start) * share**2
    return inside @ masses_of(table.entries, table.bits) / 2.0**32


def laplace_sum(x):
    """A sum of 9 Laplace numbers is sqrt(2 G) Z with G a Gamma(9): the normal law integrated over G's quantiles."""
    levels, weights = np.polynomial.legendre.leggauss(200)
    mixed = np.sqrt(2 * stats.gamma.ppf((levels + 1) / 2, 9))
    return np.array([float(weights @ stats.norm.cdf(at / mixed)) / 2 for at in x])


@pytest.mark.parametrize(
    ("data", "rows", "law", "most"),
    [
        *((mi.Exponential(1.0), n, lambda x, n=n: stats.gamma.cdf(x + n, n), 1e-9) for n in (12, 1000)),
        *(
            (mi.Gaussian(0.0, 1.0), n, lambda x, n=n: stats.norm.cdf(x / np.sqrt(n)), 1e-9)
            for n in (12, 1000)
        ),
        (mi.Uniform(0.0, 1.0), 8, lambda x: stats.irwinhall(8).cdf(x + 4), 1e-9),
        (mi.Laplace(0.0, 1.0), 9, laplace_sum, 1e-6),
    ],
)
def test_sums_of_known_laws(data, rows, law, most):
    grid = np.linspace(-6.0, 6.0, 501) * np.sqrt(rows) * data.variance[0] ** 0.5
    np.testing.assert_allclose(
        cdf_of(sum_table(standard_form(data), rows), grid), law(grid), rtol=0, atol=most
    )


def test_where_there_is_no_table():
    uniform = standard_form(mi.Uniform(0.0, 1.0))
    assert sum_table(uniform, 2) is None  # a triangle has corners
    assert standard_forms(mi.StudentT(np.linspace(3.0, 9.0, 65))) is None  # too many laws
    assert lattice_table(mi.Discrete([0.0, 1.0, np.sqrt(2.0)], [0.5, 0.25, 0.25]), 5) is None
    assert lattice_table(mi.Uniform(0.0, 1.0), 5) is None


@pytest.mark.parametrize("rows", [1, 3, 400])
def test_lattice_sums_are_multinomial(rows):
    values, law = np.array([-1.0, 0.5, 2.0]), np.array([0.2, 0.5, 0.3])
    table = lattice_table(mi.Discrete(values, law), rows)
    assert table is not None
    masses = masses_of(table.entries[0], table.bits)
    sums = table.origin[0] + table.step * np.arange(masses.size)
    # Values -1, 0.5, 2 are -1 + 1.5 k with k in {0, 1, 2}: convolve their law directly.
    exact = np.ones(1)
    for _ in range(rows):
        exact = np.convolve(exact, law)
    wanted = np.interp(sums, -rows + 1.5 * np.arange(exact.size), np.cumsum(exact))
    np.testing.assert_allclose(np.cumsum(masses) / 2.0**32, wanted, rtol=0, atol=1e-9)


@pytest.mark.evidence
def test_student_characteristic_function():
    form = standard_form(mi.StudentT(5.0))
    x = np.linspace(-2000, 2000, 4_000_001)
    density = stats.t.pdf(x, 5.0)
    for u in (0.1, 1.0, 3.0):
        np.testing.assert_allclose(
            form.characteristic(np.array([u]))[0], np.sum(np.cos(u * x) * density) * 1e-3, atol=1e-9
        )


class Erlang(AbstractProduct):
    """A user's own distribution: sums of `shape` exponential numbers, known by moments and a characteristic function."""

    shape: np.ndarray
    scale: np.ndarray

    def __init__(self, shape, scale):
        self.shape, self.scale = coordinates(None, shape=shape, scale=scale)

    @property
    def mean(self):
        return self.shape * self.scale

    def central_moment(self, order):
        assert moment_order(order) == 2
        return self.shape * self.scale**2

    def characteristic(self):
        return lambda u: np.exp(-1j * self.mean * u) / (1 - 1j * self.scale * u) ** self.shape

    def sample(self, key, n):
        parts = jax.random.exponential(
            key, (3, n, self.dimension)
        )  # JAX's own gamma numbers take seconds to compile
        return jnp.where(np.arange(3)[:, None, None] < self.shape, parts, 0.0).sum(axis=0) * self.scale

    def in_support(self, point):
        return bool((np.asarray(point) >= 0.0).all())

    def easiest_target(self):
        raise ValueError("unbounded")

    def hardest_target(self):
        return self.mean


@pytest.mark.evidence
def test_a_characteristic_function_gives_fast_sums():
    data = Erlang([2.0, 3.0, 2.0], [1.0, 0.5, 1.0])
    result = standard_forms(data)
    assert result is not None
    forms, which = result
    assert which.tolist() == [0, 1, 0]
    for form, shape, scale in zip(forms, (2.0, 3.0), (1.0, 0.5), strict=True):
        table, grid = sum_table(form, 20), np.linspace(-3.0, 3.0, 101) * form.sd * np.sqrt(20)
        sums = stats.gamma(20 * shape, scale=scale)
        np.testing.assert_allclose(cdf_of(table, grid), sums.cdf(grid + sums.mean()), rtol=0, atol=1e-9)
        wider = stats.gamma(20 * shape, scale=1.03 * scale)
        assert np.abs(cdf_of(table, grid) - wider.cdf(grid + wider.mean())).max() > 1e-3
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=20, target=[5.0, 4.0, 5.0])
    attack = mi.ScalarProduct(data.mean)
    assert mi.play(game, attack, games=1000, progress=False).manifest["sampler"] == "columns"
