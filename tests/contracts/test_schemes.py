"""Every sampling scheme is accounted by its own formula; a scheme that nothing accounts for cannot be stated."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import norm

import mipsim as mi
from mipsim.tradeoff.schemes import SCHEMES, Scheme
from tests.bound_holds import holds

Shares = dict[float, float]
WIDE = 1e-5  # relative, of what is composed
Z = np.linspace(-14.0, 14.0, 2801)
DX = Z[1] - Z[0]


def hockey(inside: np.ndarray, out: np.ndarray, cell: float, epsilon: float) -> float:
    return float(np.maximum(inside - np.exp(epsilon) * out, 0.0).sum() * cell)


def composed(s: float, epsilon: float, steps: int, inside: Shares, out: Shares) -> float:
    """Mixtures {shift: weight} of noise s: the last step in closed form, the others by trapezoids, to 1e-6 of it."""

    def mixed(side: Shares, of: Callable[..., np.ndarray], y: np.ndarray) -> np.ndarray:
        return np.sum([weight * of(y, shift, s) for shift, weight in side.items()], axis=0)

    def loss(y: np.ndarray) -> np.ndarray:
        return np.log(mixed(inside, norm.pdf, y)) - np.log(mixed(out, norm.pdf, y))

    left, weight = np.array([epsilon]), np.ones(1)
    least, most = (pick([*inside, *out]) for pick in (min, max))
    y = np.linspace(least - 7.0 * s, most + 7.0 * s, 2881 if steps == 2 else 361)
    for _ in range(steps - 1):
        left = (left[:, None] - loss(y)).ravel()
        weight = (weight[:, None] * mixed(inside, norm.pdf, y) * (y[1] - y[0])).ravel()
    low, high = np.full(left.shape, least - 20.0 * s), np.full(left.shape, most + 20.0 * s)
    for _ in range(50):
        middle = 0.5 * (low + high)
        below = loss(middle) < left
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return float(weight @ (mixed(inside, norm.sf, low) - np.exp(left) * mixed(out, norm.sf, low)))


def random_allocation(s: float, epsilon: float) -> float:
    """Two steps, the target in one of them."""
    out, moved = norm.pdf(Z, 0.0, s), norm.pdf(Z, 1.0, s)
    return hockey(0.5 * (np.outer(moved, out) + np.outer(out, moved)), np.outer(out, out), DX**2, epsilon)


def late_allocation(s: float, epsilon: float) -> float:
    """The same with both worlds exchanged."""
    out, moved = norm.pdf(Z, 0.0, s), norm.pdf(Z, 1.0, s)
    return hockey(np.outer(out, out), 0.5 * (np.outer(moved, out) + np.outer(out, moved)), DX**2, epsilon)


def fixed_size(s: float, epsilon: float) -> float:
    """A step with half of the records: p delta(log(1 + (e^epsilon - 1) / p)) of the whole release, a shift by 2 / s."""
    at, mu = np.log1p(np.expm1(epsilon) / 0.5), 2.0 / s
    return float(0.5 * (norm.cdf(-at / mu + mu / 2) - np.exp(at) * norm.cdf(-at / mu - mu / 2)))


def known_batches(s: float, epsilon: float) -> float:
    """What the upper end says: two steps of an epoch, and it is known in which the target is."""
    return float(norm.cdf(-epsilon * s + 0.5 / s) - np.exp(epsilon) * norm.cdf(-epsilon * s - 0.5 / s))


ALONE: Shares = {0.0: 1.0}
HALF: Shares = {0.0: 0.5, 1.0: 0.5}
OPPOSITE: Shares = {0.0: 0.5, -1.0: 0.5}
OF_THREE: Shares = {0.0: 0.125, 1.0: 0.375, 2.0: 0.375, 3.0: 0.125}


class Row(NamedTuple):
    """A scheme, its neighbours and their number, steps, delta at a noise and epsilon, and how wide the bounds may be."""

    sampling: str
    neighbours: str
    group: int
    steps: int
    formula: Callable[[float, float], float]
    wide: float = WIDE

    @property
    def truth(self) -> float:
        return number(self.formula)

    def holds(self, noise: float) -> bool:
        how = {"neighbours": self.neighbours, "sampling": self.sampling, "group": self.group}
        result = mi.account(noise, 0.5, self.steps, **how, epsilon=0.3, delta=[], fpr=[])
        (low, high), truth = result.numbers["delta at epsilon 0.3"], self.truth
        error = 1e-5 if self.wide > WIDE else 1e-6
        return (
            low * (1.0 - error) <= truth <= high * (1.0 + error)
            and high - low <= self.wide * high
            and (self.wide < 1.0 or high < 1.001 * truth)
            # What is mu-GDP has no larger delta than a Gaussian release with this mu.
            and low <= known_batches(1.0 / result.numbers["least mu of mu-GDP"][1], 0.3) * (1.0 + error)
        )


@cache
def number(formula: Callable[[float, float], float]) -> float:
    """Delta at the noise and epsilon of the tests."""
    return formula(0.9, 0.3)


def of(steps: int, inside: Shares, out: Shares) -> Callable[[float, float], float]:
    return lambda s, epsilon: composed(s, epsilon, steps, inside, out)


ROWS = [
    Row("poisson", "remove", 1, 2, of(2, HALF, ALONE)),
    Row("poisson", "remove", 3, 1, of(1, OF_THREE, ALONE)),
    Row("poisson", "add", 3, 2, of(2, ALONE, {-shift: share for shift, share in OF_THREE.items()})),
    Row("poisson", "replace", 1, 1, of(1, HALF, OPPOSITE)),
    Row("poisson", "replace", 1, 3, of(3, HALF, OPPOSITE)),
    Row(
        "poisson",
        "replace",
        2,
        2,
        of(2, {0.0: 0.25, 1.0: 0.5, 2.0: 0.25}, {0.0: 0.25, -1.0: 0.5, -2.0: 0.25}),
    ),
    Row("fixed_size", "replace", 1, 1, fixed_size),
    Row("fixed_size", "remove", 1, 2, of(2, {0.0: 0.5, 2.0: 0.5}, ALONE)),
    Row("fixed_size", "add", 1, 2, of(2, ALONE, {0.0: 0.5, -2.0: 0.5})),
    Row("shuffled", "remove", 1, 2, known_batches, 1.0),
    Row("shuffled", "add", 1, 2, known_batches, 1.0),
    Row("shuffled", "replace", 1, 2, lambda s, epsilon: known_batches(0.5 * s, epsilon), 1.0),
    Row("random_allocation", "remove", 1, 2, random_allocation, 3e-3),
    Row("random_allocation", "add", 1, 2, late_allocation, 3e-3),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(map(str, row[:4])))
def test_a_scheme_is_accounted_by_its_formula(row: Row) -> None:
    assert row.holds(0.9)
    assert not row.holds(0.9 * 0.97)
    assert not row.holds(0.9 * 1.03)
    others = {other.truth for other in ROWS if other.formula is not row.formula}
    assert all(abs(other / row.truth - 1.0) > 0.01 for other in others)


def test_every_scheme_has_a_row_of_all_its_neighbours() -> None:
    """But of "add_or_remove", which is the worse of both directions."""
    proven = {(name, how) for name, scheme in SCHEMES.items() for how in scheme.neighbours}
    assert {row[:2] for row in ROWS} == {pair for pair in proven if pair[1] != "add_or_remove"}


@pytest.mark.filterwarnings("ignore:delta is known to")
@pytest.mark.parametrize("sampling", [name for name, scheme in SCHEMES.items() if scheme.epochs])
def test_three_epochs_are_an_epoch_three_times(sampling: str) -> None:
    """And not twice, which is also the number of steps of each."""

    def most(steps: int, copies: int) -> float:
        curve = mi.dpsgd(0.9, 0.5, steps, neighbours="remove", sampling=sampling)
        return mi.compose(curve, copies=copies).delta_bounds(0.3)[1]

    assert most(2, 3) == pytest.approx(most(6, 1), rel=1e-3)
    assert most(2, 2) != pytest.approx(most(6, 1), rel=1e-3)


BANDED = 2.0 * np.eye(5) + 1.5 * np.eye(5, k=-1)  # columns of norm 2.5, the last of norm 2
TREE = np.vstack([np.eye(4), np.kron(np.eye(2), np.ones(2)), np.ones(4)])
MATRICES: list[tuple[Any, int | None, float, Callable[[float, float], float]]] = [
    # matrix, period, rate, delta; what a record of constant contributions adds to the rows is the sum of its columns
    (np.tri(4), None, 1.0, of(1, {2.0: 1.0}, ALONE)),
    (TREE, None, 1.0, of(1, {3.0**0.5: 1.0}, ALONE)),
    (np.tri(4), 2, 1.0, of(1, {float(np.linalg.norm([1, 1, 2, 2])): 1.0}, ALONE)),
    (BANDED[:, :4], 2, 0.5, of(2, {0.0: 0.5, 2.5: 0.5}, ALONE)),
]


@pytest.mark.parametrize(("matrix", "period", "rate", "formula"), MATRICES)
def test_a_matrix_mechanism_has_the_norm_of_its_columns(
    matrix: Any, period: Any, rate: float, formula: Any
) -> None:
    def ends(noise: float) -> tuple[float, float]:
        return mi.matrix_mechanism(matrix, noise, period, rate, neighbours="remove").delta_bounds(0.3)

    truth = formula(3.0, 0.3)
    holds(ends(3.0), truth, slack=1e-6 * truth)
    for noise in (0.97 * 3.0, 1.03 * 3.0):
        low, high = ends(noise)
        assert not low <= truth <= high


def test_coins_need_columns_without_a_common_row() -> None:
    with pytest.raises(ValueError, match="matrix has columns 2 apart with a common row"):
        mi.matrix_mechanism(np.tri(4), 1.0, 2, 0.5)


@pytest.mark.parametrize("function", [{}, {"step": None}, {"step": "poisson"}, {"step": max, "epochs": max}])
def test_a_scheme_without_its_function_cannot_be_stated(function: dict) -> None:
    with pytest.raises(TypeError, match="a scheme needs one function that accounts for it"):
        Scheme(assumes="each step draws its sample with replacement", neighbours=("replace",), **function)


def test_the_page_of_a_noise_multiplier_has_the_schemes_of_the_table() -> None:
    page = Path(__file__).parents[2] / "docs/i-have-a-noise-multiplier.md"
    _, _, table = page.read_text(encoding="utf-8").partition("| `--sampling` |")
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(SCHEMES)
