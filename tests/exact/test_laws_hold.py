"""The error that an exact law states is never exceeded: games against direct sums, closed forms and every data set.

Many of the rows exceeded their bound once; a law may refuse, or say that it knows little, but not be wrong beyond what it says.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, laplace, norm

import mipsim as mi
from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.exact import exact_law
from mipsim.exact.density_rows import LaplaceRow, NormalRow
from mipsim.exact.discrete_rows import BernoulliRow
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.rows import AbstractRow
from mipsim.exact.transform import RowsTransform
from tests.bound_holds import Tail, law_holds
from tests.enumeration import Weighted, as_fraction, masses_of
from tests.exact.direct_sums import Noise, binomial_atoms, noisy_sf

MEAN = mi.EmpiricalMean()
EVIDENCE, SLOW = (pytest.mark.evidence,), (pytest.mark.evidence, pytest.mark.slow)


class Terms(AbstractAdditiveAttack):
    """Terms curve x^2 + slope x + level, as those of a score that is not known to be linear."""

    level: np.ndarray
    slope: np.ndarray
    curve: np.ndarray

    def contributions(self, target: Any, output: Any) -> Any:
        return self.curve * output**2 + self.slope * output + self.level

    def link(self, target: Any, total: Any) -> Any:
        return total


class Distance(AbstractAdditiveAttack):
    """Minus twice the squared distance of the target."""

    def contributions(self, target: Any, output: Any) -> Any:
        return -((output - target) ** 2)

    def link(self, target: Any, total: Any) -> Any:
        return 2.0 * total


Built = tuple[Callable[[], Any], Sequence[Tail], float]
"""What builds a law, its tails, and the most error that it may state."""


def of(game: mi.FixedTarget, attack: Any, *tails: Tail, most: float = np.inf) -> Built:
    return lambda: exact_law(game, attack), tails, most


def noisy_coin(
    kinds: Sequence[str],
    scales: Sequence[float],
    n: int = 20,
    p: float = 0.3,
    target: float = 1.5,
    x: Any = None,
) -> Built:
    """Wrong: either of two noises left out, and each 2% too wide."""
    mechanism: mi.AbstractMechanism = MEAN
    for kind, scale in zip(kinds, scales, strict=True):
        mechanism = (
            mi.GaussianNoise(mechanism, scale * n**0.5)
            if kind == "gauss"
            else mi.LaplaceNoise(mechanism, scale)
        )
    noises: list[Noise] = [(kind, scale * target) for kind, scale in zip(kinds, scales, strict=True)]
    lost = [noises[:1], noises[1:]] if len(noises) > 1 else []
    wider = [
        [(kind, scale * (1.02 if i == k else 1.0)) for i, (kind, scale) in enumerate(noises)]
        for k in range(len(noises))
    ]
    tails = []
    for member in (False, True):
        atoms, mass = binomial_atoms(np.array([target / n]), np.array([p]), n - member)
        atoms = atoms + member * target * target / n
        at = float(mass @ atoms) + np.array([-0.7, 0.013, 0.4]) * target * sum(scales) if x is None else x
        wrong = [noisy_sf(atoms, mass, other, at) for other in (() if member else (*lost, *wider))]
        tails.append(Tail(member, at, noisy_sf(atoms, mass, noises, at), wrong, 1e-11))
    game = mi.FixedTarget(mechanism, mi.Bernoulli([p]), n, [target])
    return of(game, mi.ScalarProduct([0.0]), *tails, most=1e-9)


def many_rows(n: int, p: float, kind: str, size: float, offset: float) -> Built:
    """A single coin and so many rows that only the atoms near a threshold can be summed; the noise in lattice steps.

    SciPy's masses of so many rows are right to some 1e-10 of themselves.
    """
    smooth, wrap, unit = (
        (norm, mi.GaussianNoise, n**0.5) if kind == "gauss" else (laplace, mi.LaplaceNoise, n)
    )
    reach, tails = np.ceil(40 * size) + 1, []
    for member in (0, 1):
        for at in np.floor(n * p + offset * (n * p * (1 - p)) ** 0.5) + np.arange(4) / 4 - member:
            near = np.arange(np.floor(at) - reach, np.floor(at) + reach + 1)
            truth = binom.pmf(near, n - member, p) @ smooth.sf(at - near, scale=size) + binom.sf(
                near[-1], n - member, p
            )
            tails.append(Tail(bool(member), (at + member) / n, truth, (), 1e-11))
    game = mi.FixedTarget(wrap(MEAN, size / unit), mi.Bernoulli([p]), n=n, target=[1.0])
    return of(game, mi.ScalarProduct([0.0]), *tails)


def rare_in_small_samples(n: int, p: float, rate: float, sign: float) -> Built:
    """Half a step below a count, or below the negative of a count."""
    count = np.arange(3)
    truth = binom.sf(count - 1, n, rate * p) if sign > 0 else binom.cdf(count, n, rate * p)
    game = mi.FixedTarget(mi.PoissonSubsampled(MEAN, rate), mi.Bernoulli([p]), n, [0.0])
    return of(game, Weighted(np.array([sign])), Tail(False, sign * (count - 0.5 * sign) / (n * rate), truth))


def rare_in_many_coordinates(d: int, n: int, p: float, noise: float, sign: float) -> Built:
    """Beside 0, where all but some 1e-3 of the mass is."""
    mechanism = mi.GaussianNoise(MEAN, noise) if noise else MEAN
    game, none = mi.FixedTarget(mechanism, mi.Bernoulli([p] * d), n, [0.0] * d), (1 - p) ** (n * d)
    attack = mi.ScalarProduct(sign * np.linspace(1, 2, d) * 2**0.5)
    return of(game, attack, Tail(False, -sign * 0.5 / n, none if sign > 0 else 1.0 - none))


def hardly_any_rows(n: int, mean: float, rate: float, weight: float, x: float) -> Built:
    k, at = np.arange(1, n + 1), x * n * rate / weight  # of the sum of the records
    above = norm.sf(at, k * mean, np.sqrt(k)) if weight > 0 else norm.cdf(at, k * mean, np.sqrt(k))
    truth = binom.pmf(k, n, rate) @ above + (x < 0.0) * (1 - rate) ** n
    game = mi.FixedTarget(mi.PoissonSubsampled(MEAN, rate), mi.Gaussian([mean], [1.0]), n, [0.0])
    return of(game, Weighted(np.array([weight])), Tail(False, x, float(truth)))


def chain(scale: float) -> Built:
    """Atoms 0.9e-10 apart are not all the same; without noise a threshold that is so near to an atom is on it."""
    n, small = 100, 0.9e-10
    a, x = binom.pmf(np.arange(n + 1), n, 0.5), 50 + small * 50.5
    away = (x - 50) - small * np.arange(n + 1)
    ends = [binom.sf(50, n, 0.5) + a[50] * (a @ (away < d)) for d in (-2e-11, 2e-11)]
    truth = binom.sf(50, n, 0.5) + a[50] * (a @ laplace.sf(away, scale=scale)) if scale else tuple(ends)
    game = mi.FixedTarget(
        mi.LaplaceNoise(MEAN, scale / n) if scale else MEAN, mi.Bernoulli([0.5, 0.5]), n, [1.0, 1.0]
    )
    return of(game, Weighted(np.array([100.0, small * 100])), Tail(False, x, truth))


def chain_in_a_bracket() -> Built:
    """Two coordinates of 201 counts each, too many to be multiplied out as atoms."""
    n, small = 200, 1e-10
    a, x = binom.pmf(np.arange(n + 1), n, 0.5), 100 + small * 100.5
    away = (x - 100) - small * np.arange(n + 1)
    ends = [binom.sf(100, n, 0.5) + a[100] * (a @ (away < d)) for d in (-4e-12 * n, 4e-12 * n)]
    game, none = mi.FixedTarget(MEAN, mi.Bernoulli([0.5, 0.5]), n, [1.0, 1.0]), np.zeros(2)
    return of(game, Terms(none, np.array([n, n * small]), none), Tail(False, x, tuple(ends)))


def scales_far_apart(tiny: float) -> Built:
    """Three uniforms, and as many that move the score by at most 3 tiny; the density of the others is at most 3 / 4."""
    x = np.array([0.3, 1.2])
    truth = 1.0 - sum((-1) ** k * comb(3, k) * np.maximum(x - k, 0.0) ** 3 for k in range(4)) / 6.0
    game = mi.FixedTarget(MEAN, mi.Uniform(np.zeros(2), np.ones(2)), 3, [0.5, 0.5])
    return of(game, Weighted(np.array([3.0, 3.0 * tiny])), Tail(False, x, truth, (), 2.25 * tiny), most=1e-3)


def cancelling_offset(big: float, s: float) -> Built:
    game = mi.FixedTarget(
        mi.GaussianNoise(MEAN, s * 3**0.5), mi.Discrete([big, big + 1], [0.5, 0.5], d=1), 3, [big + 1]
    )
    truth = binom.pmf(np.arange(4), 3, 0.5) @ norm.sf(1 / 3, loc=np.arange(4) / 3, scale=s)
    return of(game, Weighted(np.array([1.0]), -big), Tail(False, 1 / 3, float(truth)))


def rounded_weights() -> Built:
    """By symmetry; the offset cancels the mean of 1e14 rows."""
    n, data = 10**14 + 200, mi.Bernoulli([0.5])
    return of(
        mi.FixedTarget(mi.GaussianNoise(MEAN, 0.3), data, n, [1.0]),
        mi.CovarianceScore(data, n=n),
        Tail(False, -5.10702591327572e-15, 0.5),
    )


def cancelling_target(z: float) -> Built:
    mean = float((Fraction(z) - 3 * Fraction(z / 3)) / 10)
    game = mi.FixedTarget(MEAN, mi.Gaussian([0.0, 0.0], [1.0, 1.0]), 10, [z, z / 3])
    return of(game, Weighted(np.array([1.0, -3.0])), Tail(True, 0.0, float(norm.sf(0.0, mean, 0.9**0.5))))


def large_constants() -> Built:
    """Parabolas with constants of 1e8 that cancel; the truth is the law without them."""
    d, c, none = 200, 1e8, np.zeros(200)
    game, curve = mi.FixedTarget(MEAN, mi.Gaussian(none, none + 1.0), 4, none), np.repeat([1.0, 2.0], d // 2)
    plain = exact_law(game, Terms(none, none, curve))
    tails = [
        Tail(inside, 75.3, float(plain.sf(75.3, inside=inside)), (), plain.error_bound)
        for inside in (False, True)
    ]
    return of(game, Terms(np.where(np.arange(d) % 2, c, -c), none, curve), *tails)


def every_data_set(data: mi.Discrete, n: int, target: list[float], rate: float = 1.0) -> Built:
    """A score that is no line of the mean, between any two of its values. Wrong: the first probability 5% too large."""

    def enumerated(skew: float) -> tuple[np.ndarray, np.ndarray]:
        law, goal, size = data.probabilities.copy(), [as_fraction(z) for z in target], round(rate * n)
        law[:, 0] *= skew
        record = [
            {
                as_fraction(v): as_fraction(q) / sum(map(as_fraction, row))
                for v, q in zip(data.values, row, strict=True)
            }
            for row in law
        ]

        def distance(point: list[Fraction]) -> Fraction:
            return -2 * sum(((x / size - z) ** 2 for x, z in zip(point, goal, strict=True)), Fraction(0))

        scores, masses = zip(*masses_of(record, size, goal, distance).items(), strict=True)
        out, inside = np.array(masses, float).T
        return np.array(scores, float), np.stack([out, (1 - rate) * out + rate * inside])

    (scores, right), (_, planted) = (enumerated(skew) for skew in (1.0, 1.05))
    atoms = np.unique(np.round(scores, 12))
    x = (0.5 * (atoms[1:] + atoms[:-1]))[np.diff(atoms) > 1e-9]  # on an atom rounding decides
    truth, wrong = ((mass @ (scores[:, None] > x)) for mass in (right, planted))
    game = mi.FixedTarget(MEAN if rate == 1.0 else mi.Subsampled(MEAN, rate), data, n=n, target=target)
    return of(
        game, Distance(), Tail(False, x, truth[0], [wrong[0]], 1e-15), Tail(True, x, truth[1], (), 1e-15)
    )


Case = tuple[RowsTransform, np.ndarray, np.ndarray, list[Noise]]


def inverted(case: Case, where: Sequence[float]) -> Built:
    """Places are shares of the way from the least atom to the largest; without noise a threshold on an atom is a matter of rounding."""
    transform, weights, p, noises = case
    tails = []
    for member in (False, True):
        atoms, mass = binomial_atoms(weights, p, transform.rows - member)
        atoms = atoms + member * transform.target
        x = atoms.min() + np.array(where) * np.ptp(atoms)
        if not noises:
            x = x[np.abs(x[:, None] - atoms).min(axis=1) > 1e-5 * np.abs(weights).max()]
        tails.append(Tail(member, x, noisy_sf(atoms, mass, noises, x), both=True))
    return lambda: InvertedLaw(transform), tails, 1.0


def rows_of(weights: Sequence[float], p: Sequence[float], n: int, target: float, noises: list[Noise]) -> Case:
    w, q = np.array(weights), np.array(p)
    parts: tuple[AbstractRow, ...] = tuple(
        NormalRow(s**2) if kind == "gauss" else LaplaceRow(np.array([s])) for kind, s in noises
    )
    return RowsTransform(BernoulliRow(w, q), n, float(w @ q), target, 0.0, parts), w, q, noises


@st.composite
def noisy_rows(draw: st.DrawFn) -> Case:
    """Bernoulli rows, with weights on a lattice or not, and up to two noises of .03 to 10 steps."""
    d = draw(st.integers(1, 3))
    n = draw(st.integers(2, 50 if d == 1 else 12 if d == 2 else 5))
    p = [draw(st.sampled_from([0.5, 0.3, 0.97, 0.01, 0.1234])) for _ in range(d)]
    weights = [
        draw(st.one_of(st.sampled_from([1.0, -1.0, 2.0, -0.5]), st.floats(0.05, 2.0))) for _ in range(d)
    ]
    kinds, step = draw(st.lists(st.sampled_from(["gauss", "laplace"]), max_size=2)), max(map(abs, weights))
    noises = [(kind, step * float(np.exp(draw(st.floats(np.log(0.03), np.log(10.0)))))) for kind in kinds]
    target = draw(st.one_of(st.just(float(sum(weights))), st.floats(-3.0, 3.0)))
    return rows_of(weights, p, n, target, noises)


KINDS = [("laplace", "gauss"), ("gauss", "laplace"), ("laplace", "laplace"), ("gauss", "gauss")]
THREE = mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=2)
Row = tuple[Callable[..., Built], tuple[Any, ...], Any]
ROWS: list[Row] = [
    # At sum 24.6 the law gave 0.45522, a direct sum 0.44476, the bound 9.6e-14.
    (noisy_coin, (("laplace",), (0.1 / 50,), 50, 0.5, 1.0, np.linspace(15.0, 35.0, 101) / 50), ()),
    *((noisy_coin, (kinds, (0.03, 0.02)), ()) for kinds in KINDS),
    *((noisy_coin, (kinds, (0.001, 0.004)), ()) for kinds in KINDS[:2]),
    # 2^14 nodes do not reach the second peak of the transform, where noise is left: an error of 6.1e-7 beside a bound of 2e-9.
    *((many_rows, (n, 0.5, *noise, 0.0), ()) for n, noise in ((10**8, ("laplace", 1.0)), (4 * 10**7, ("gauss", 0.5)), (10**8, ("gauss", 0.3)))),
    *((rare_in_small_samples, (*case, sign), ()) for case, sign in product([(10, 1e-3, 0.3), (10, 1e-4, 0.5), (3, 1e-6, 0.9), (50, 0.999, 0.1)], (1.0, -1.0))),
    *((rare_in_many_coordinates, (50, 10, 1e-6, *how), EVIDENCE) for how in ((0.0, 1.0), (0.0, -1.0), (1e-4, -1.0))),
    *((rare_in_many_coordinates, (*case, *how), SLOW) for case in ((200, 5, 1e-6), (400, 100, 1e-9)) for how in product((0.0, 1e-4), (1.0, -1.0))),
    (hardly_any_rows, (100, -5.0, 0.5, -4.0, 0.001), ()),
    (hardly_any_rows, (400, 7.92710644956382, 0.3002661518873325, 0.00012874, 1e-7), ()),
    *((chain, (scale,), EVIDENCE) for scale in (1e-9, 1e-8, 0.0)),
    (chain_in_a_bracket, (), EVIDENCE),
    # Powers of the ratio of their scales overflowed, and the law was refused.
    *((scales_far_apart, (tiny,), EVIDENCE) for tiny in (1e-6, 1e-9, 1e-12)),
    *((cancelling_offset, case, ()) for case in ((1e6, 1e-3), (1e9, 1e-3), (1e9, 1e-5))),
    (rounded_weights, (), ()),
    *((cancelling_target, (z,), ()) for z in (1e6, 1e12)),
    (large_constants, (), ()),
    (every_data_set, (THREE, 4, [2.0, 0.0]), ()),
    (every_data_set, (mi.Discrete([-0.5, 0.0, 1.0], [[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]]), 4, [1.0, 0.3]), ()),
    (every_data_set, (mi.Discrete([0.1, 0.2, 0.4], [0.3, 0.3, 0.4], d=2), 4, [0.4, 0.1], 0.5), ()),
    (every_data_set, (mi.Discrete([0.0, 3.0], [0.98, 0.02], d=3), 3, [3.0, 3.0, 0.0]), ()),
    # Three rows of two rare values: the bound is 1, where the inversion gave 115.
    (lambda: inverted(rows_of([-1.0, 1.35963266], [0.01, 0.01], 3, 0.35963265578870574, []), [0.5]), (), ()),
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("build", "given_"), [pytest.param(row[0], row[1], marks=row[2], id=f"{k}-{row[0].__name__}") for k, row in enumerate(ROWS)]
)  # fmt: skip
def test_a_law_is_right_to_the_error_that_it_states(
    build: Callable[..., Built], given_: tuple[Any, ...]
) -> None:
    law, tails, most = build(*given_)
    try:
        built = law()
    except ValueError as refused:  # it says that it cannot
        assert "law" in str(refused)  # noqa: PT017
        assert not any(tail.wrong for tail in tails), "what is refused tells no error"
        return
    law_holds(built, tails, most, given_)


@pytest.mark.evidence
@pytest.mark.parametrize(("seed", "times"), [(20, 6), pytest.param(21, 400, marks=pytest.mark.slow)])
def test_many_rows_with_noise(seed: int, times: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(times):
        n, size = round(10 ** rng.uniform(4.0, 9.0)), float(10 ** rng.uniform(-1.5, 1.0))
        law, tails, most = many_rows(
            n,
            float(rng.uniform(0.02, 0.98)),
            str(rng.choice(["laplace", "gauss"])),
            size,
            float(rng.normal()),
        )
        law_holds(law(), tails, most)


MANY: Any = settings(suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]


@pytest.mark.evidence
@pytest.mark.parametrize("examples", [15, pytest.param(3000, marks=pytest.mark.slow)])
def test_inversion_is_right_in_random_games(examples: int) -> None:
    @settings(MANY, max_examples=examples)
    @given(noisy_rows(), st.lists(st.floats(-0.1, 1.1), min_size=1, max_size=3))
    def check(case: Case, where: list[float]) -> None:
        law, tails, most = inverted(case, where)
        law_holds(law(), tails, most)

    check()


@pytest.mark.parametrize(("n", "gamma"), [(1000, 1e-3), (200, 4e-3)])
def test_rates_between_the_steps_of_a_staircase(n: int, gamma: float) -> None:
    """Noise far finer than the gaps of the data. Newton's method does not end on such tails, and bounds missed the truth by a quarter."""
    d, p, alpha = 5, 0.3, np.array([1e-3, 0.05, 0.1, 0.2, 0.3])
    root: Any = brentq

    def tpr(p: float) -> np.ndarray:
        masses = [binom.pmf(np.arange(m * d + 1), m * d, p) for m in (n, n - 1)]

        def sf(x: float, world: int) -> float:
            atoms = np.arange(masses[world].size) + world * d
            return float(masses[world] @ norm.sf(x - atoms, scale=gamma * (n * d) ** 0.5))

        return np.array([sf(root(lambda x, a=a: sf(x, 0) - a, 0.0, n * d), 1) for a in alpha])

    data, target = mi.Bernoulli(np.full(d, p)), np.ones(d)
    game = mi.FixedTarget(mi.GaussianNoise(MEAN, gamma), data, n, target)
    low, high = game.exact(mi.CovarianceScore(data, n)).tpr_bounds(alpha)
    right, wrong = tpr(p), tpr(1.03 * p)
    assert ((low - 1e-9 <= right) & (right <= high + 1e-9)).all()
    assert (high - low < 1e-6).all()
    assert ((wrong < low) | (high < wrong)).any()
