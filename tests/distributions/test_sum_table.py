"""Tables of column sums against exact distribution functions."""

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
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
