"""Every sampling scheme is accounted by its own formula; a scheme that nothing accounts for cannot be stated."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

import mipsim as mi
from mipsim.tradeoff.schemes import SCHEMES, Scheme

Z = np.linspace(-14.0, 14.0, 2801)
DX = Z[1] - Z[0]


def hockey(inside: np.ndarray, out: np.ndarray, cell: float, epsilon: float) -> float:
    return float(np.maximum(inside - np.exp(epsilon) * out, 0.0).sum() * cell)


def poisson(s: float, epsilon: float) -> float:
    """Two steps, each with the target by its own coin: products of mixtures."""
    out, inside = norm.pdf(Z, 0.0, s), 0.5 * norm.pdf(Z, 0.0, s) + 0.5 * norm.pdf(Z, 1.0, s)
    return hockey(np.outer(inside, inside), np.outer(out, out), DX**2, epsilon)


def random_allocation(s: float, epsilon: float) -> float:
    """Two steps, the target in one of them."""
    out, moved = norm.pdf(Z, 0.0, s), norm.pdf(Z, 1.0, s)
    return hockey(0.5 * (np.outer(moved, out) + np.outer(out, moved)), np.outer(out, out), DX**2, epsilon)


def fixed_size(s: float, epsilon: float) -> float:
    """A step with half of the records: p delta(log(1 + (e^epsilon - 1) / p)) of the whole release, a shift by 2 / s."""
    at, mu = np.log1p(np.expm1(epsilon) / 0.5), 2.0 / s
    return float(0.5 * (norm.cdf(-at / mu + mu / 2) - np.exp(at) * norm.cdf(-at / mu - mu / 2)))


def known_batches(s: float, epsilon: float) -> float:
    """What the upper end says: two steps of an epoch, and it is known in which the target is."""
    return float(norm.cdf(-epsilon * s + 0.5 / s) - np.exp(epsilon) * norm.cdf(-epsilon * s - 0.5 / s))


# Scheme, neighbours, steps, delta at a noise and epsilon, and how wide the bounds may be.
ROWS: dict[str, tuple[str, int, Callable[[float, float], float], float]] = {
    "poisson": ("remove", 2, poisson, 1e-3),
    "fixed_size": ("replace", 1, fixed_size, 1e-3),
    "shuffled": ("remove", 2, known_batches, 1.0),
    "random_allocation": ("remove", 2, random_allocation, 3e-3),
}


def keeps_to(sampling: str, noise: float) -> bool:
    neighbours, steps, formula, wide = ROWS[sampling]
    result = mi.account(
        noise, 0.5, steps, neighbours=neighbours, sampling=sampling, epsilon=0.3, delta=[], fpr=[]
    )
    (low, high), truth = result.numbers["delta at epsilon 0.3"], formula(0.9, 0.3)
    return (
        low * (1.0 - 1e-5) <= truth <= high * (1.0 + 1e-5)
        and high - low <= wide * high
        and (wide < 1.0 or high < 1.001 * truth)
    )


@pytest.mark.parametrize("sampling", SCHEMES)
def test_a_scheme_is_accounted_by_its_formula(sampling: str) -> None:
    assert keeps_to(sampling, 0.9)
    assert not keeps_to(sampling, 0.9 * 0.97)
    assert not keeps_to(sampling, 0.9 * 1.03)
    others = [name for name in ROWS if name != sampling and ROWS[name][0] == ROWS[sampling][0]]
    assert all(abs(ROWS[name][2](0.9, 0.3) / ROWS[sampling][2](0.9, 0.3) - 1.0) > 0.01 for name in others)


@pytest.mark.parametrize("function", [{}, {"step": None}, {"step": "poisson"}, {"step": max, "epochs": max}])
def test_a_scheme_without_its_function_cannot_be_stated(function: dict) -> None:
    with pytest.raises(TypeError, match="a scheme needs one function that accounts for it"):
        Scheme(assumes="each step draws its sample with replacement", neighbours=("replace",), **function)


@pytest.mark.parametrize("function", [mi.account, mi.dpsgd])
def test_the_documentation_names_the_schemes_of_the_table(function: Callable) -> None:
    (named,) = re.findall(r"\n +sampling: (.*)\n", str(function.__doc__))
    assert re.findall(r'"(\w+)"', named) == list(SCHEMES)
