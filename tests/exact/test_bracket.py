"""The bracket of a sum of independent terms against sums over all outcomes, and planted faults that must show.

The truth is a finite sum; a proven bracket holds in every case, so that no failure probability is involved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr, ndtri

import mipsim.exact.bracketed as bracket_module
import mipsim.exact.independent as independent_module
import mipsim.exact.tilted as tilted_module
from mipsim.exact.bracketed import BracketLaw, bracket
from mipsim.exact.density_rows import LaplaceRow, NormalRow
from mipsim.exact.independent import Independent, Stack, _product
from mipsim.exact.noise_transform import ScoreNoise
from mipsim.exact.selberg import tail_bounds
from mipsim.exact.tilted import TiltedBrackets
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff

Tables = list[tuple[np.ndarray, np.ndarray, np.ndarray]]
NOTHING = ScoreNoise()


def outcomes(tables: Tables, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every sum with its probability in the two worlds: (values of shape (2, A), masses of shape (2, A))."""
    result = []
    for world in (0, 1):
        values, mass = np.array([offset[world]]), np.ones(1)
        for v, p, copies in tables:
            for _ in range(int(copies[world])):
                values, mass = np.add.outer(values, v).ravel(), np.multiply.outer(mass, p[world]).ravel()
        result.append((values, mass))
    size = max(v.size for v, _ in result)
    padded = [(np.pad(v, (0, size - v.size)), np.pad(m, (0, size - m.size))) for v, m in result]
    return np.stack([v for v, _ in padded]), np.stack([m for _, m in padded])


def noise_of(normal: float = 0.0, laplace: float = 0.0) -> ScoreNoise:
    """Of this standard deviation and this scale."""
    both = [
        (NormalRow(normal**2), normal**2),
        (LaplaceRow(np.array([laplace])), 2.0 * laplace**2),
    ]
    retained = [pair for pair in both if pair[1] > 0.0]
    return ScoreNoise(
        tuple(row for row, _ in retained), (0.0,) * len(retained), tuple(v for _, v in retained)
    )


def above(noise: ScoreNoise, gap: np.ndarray) -> np.ndarray:
    """P(noise > gap) of a normal, a Laplace, or both, in closed form."""
    sd = np.sqrt(sum(part.variance for part in noise.parts if isinstance(part, NormalRow)))
    scales = np.array([part.scales[0] for part in noise.parts if isinstance(part, LaplaceRow)])
    if scales.size == 0:
        return ndtr(-gap / sd) if sd > 0.0 else (gap < 0.0).astype(float)
    b = float(scales[0])
    if sd == 0.0:
        return np.where(gap >= 0.0, 0.5 * np.exp(-np.abs(gap) / b), 1.0 - 0.5 * np.exp(-np.abs(gap) / b))

    def half(y: np.ndarray) -> np.ndarray:
        return np.exp(sd**2 / (2 * b**2) - y / b + log_ndtr(y / sd - sd / b))

    return ndtr(-gap / sd) + 0.5 * (half(gap) - half(-gap))


def excess(
    tables: Tables, offset: np.ndarray, noise: ScoreNoise, nodes: int, thresholds: np.ndarray
) -> float:
    """How far the truth leaves the bracket, at worst; at most 0 for a correct bracket."""
    stacks = tuple(Stack(v[None], p[:, None], copies[:, None]) for v, p, copies in tables)
    total = Independent(stacks, offset, noise)
    result = bracket(total, nodes)
    values, masses = outcomes(tables, offset)
    scale = 1e-11 * (1.0 + np.abs(values).max())  # scores nearer than rounding are not distinguished
    worst = -1.0
    for world in (0, 1):
        low, high = result.above_bounds(thresholds, world)
        for moved, bound, sign in ((scale, high, 1.0), (-scale, low, -1.0)):
            gap = (thresholds + moved)[:, None] - values[world]
            truth = above(noise, gap) @ masses[world]
            worst = max(worst, float(np.max(sign * (truth - bound))))
    return worst - 1e-13  # the truth is a float64 sum as well


@st.composite
def problems(draw: st.DrawFn) -> tuple[Tables, np.ndarray, ScoreNoise, int, np.ndarray]:
    """Random tables: ties, whole and incommensurable values, probabilities near 0 and 1, unequal copies, noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    tables: Tables = []
    budget = 3000.0
    for _ in range(draw(st.integers(1, 5))):
        size = draw(st.integers(1, 5))
        copies = draw(st.integers(1, 4))
        if float(size) ** copies > budget:
            break
        budget /= float(size) ** copies
        kind = draw(st.sampled_from(["whole", "real", "near", "far"]))
        value = {
            "whole": rng.integers(-3, 4, size).astype(float),
            "real": rng.normal(size=size),
            "near": rng.integers(-2, 3, size) + 1e-9 * rng.normal(size=size),
            "far": 10.0 ** rng.uniform(-6, 3, size) * rng.choice([-1, 1], size),
        }[kind]
        weights = rng.dirichlet(np.full(size, draw(st.sampled_from([0.02, 0.3, 3.0]))), 2)
        if draw(st.booleans()):
            weights[:, 0] *= rng.uniform(0.0, 1.0)  # the rest is infinite
        other = copies - 1 if draw(st.booleans()) else copies
        tables.append((value, weights, np.array([copies, other])))
    if not tables:
        tables.append((np.zeros(1), np.ones((2, 1)), np.array([1, 1])))
    offset = rng.normal(size=2) * draw(st.sampled_from([0.0, 1.0]))
    spread = float(sum(np.abs(v).max() for v, _, _ in tables)) + 1e-3
    size = 10.0 ** draw(st.floats(-3.0, 0.5)) * spread
    noise = draw(
        st.sampled_from(
            [
                NOTHING,
                noise_of(normal=size),
                noise_of(laplace=size),
                noise_of(normal=size, laplace=0.7 * size),
            ]
        )
    )
    values, _ = outcomes(tables, offset)
    atoms = rng.choice(values.ravel(), min(40, values.size))
    thresholds = np.concatenate([atoms, atoms + 1e-7 * spread, rng.uniform(-2, 2, 20) * spread, [-1e4, 1e4]])
    return tables, offset, noise, draw(st.sampled_from([15, 63, 511])), np.sort(thresholds)


@pytest.fixture(params=["multiplied out", "by frequencies"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both routes are tested on the same problems: what can be multiplied out is also bracketed by frequencies."""
    if request.param == "by frequencies":
        monkeypatch.setattr(independent_module, "_ENUMERATED", 0.5)
        monkeypatch.setattr(bracket_module, "_HEAVY", 2.0)
        monkeypatch.setattr(bracket_module, "_WIDE", 2.0)
        monkeypatch.setattr(bracket_module, "lattice_powers", lambda stacks: (stacks, np.zeros(2)))
    return request.param


QUICK = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.evidence
@QUICK
@given(problem=problems())
def test_the_truth_is_inside(route: str, problem: tuple[Any, ...]) -> None:
    assert excess(*problem) <= 0.0


def _nearest(values: np.ndarray, errors: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    low, high = tail_bounds(values, errors, slack)
    middle = np.append(0.5 * (low + high)[:-1], 0.0)
    return middle, middle


def _half(values: np.ndarray, errors: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    low, high = tail_bounds(values, errors, slack)
    return 0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high


def _short(total: Independent) -> tuple[float, float]:
    low, high = REACH(total)
    return low + 0.2 * (high - low), high - 0.2 * (high - low)


REACH = Independent.reach.func  # type: ignore[attr-defined]
FAULTS: dict[str, tuple[str, Any]] = {
    "rounded to the nearest": ("mipsim.exact.bracketed.tail_bounds", _nearest),
    "half of the kernel": ("mipsim.exact.bracketed.tail_bounds", _half),
    "wrapped around": ("mipsim.exact.independent.Independent.reach", property(_short)),
    "an extra row in": ("mipsim.exact.independent._product", lambda phi, copies: PRODUCT(phi, copies) * (phi[0] if copies[0] > 0 else 1.0)),
    "noise forgotten": ("mipsim.exact.noise_transform.ScoreNoise.on_axis", lambda self, t: (0.0 * t, 0.0 * t)),
    "second noise forgotten": ("mipsim.exact.noise_transform.ScoreNoise.on_axis",
         lambda self, t: self.parts[0].on_axis(t) if self.parts else (0.0 * t, 0.0 * t)),
    "tails cut unaccounted": ("mipsim.exact.bracketed.without_faint", lambda stacks: (_cut(stacks), np.zeros(2))),
}  # fmt: skip
PRODUCT = _product


def _cut(stacks: tuple[Stack, ...]) -> tuple[Stack, ...]:
    return tuple(
        Stack(s.values, np.where(s.probability < 0.02, 0.0, s.probability), s.copies) for s in stacks
    )


@pytest.mark.evidence
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("route", ["by frequencies"], indirect=True)
def test_a_planted_fault_leaves_the_bracket(fault: str, route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fault is detected among the first cases of the same property."""
    monkeypatch.setattr(*FAULTS[fault])
    result: list[float] = []

    @settings(QUICK, phases=[Phase.generate])
    @given(problem=problems())
    def collect(problem: tuple[Any, ...]) -> None:
        result.append(excess(*problem))

    collect()
    assert max(result) > 1e-6


@dataclass(frozen=True)
class Sampled:
    """A random sum of some ten tables, all its outcomes, and the law of brackets."""

    law: TiltedBrackets
    values: np.ndarray  # of all outcomes, rising, in the worlds, shape (2, A)
    masses: np.ndarray

    def above(self, x: np.ndarray, world: int) -> np.ndarray:
        beyond = np.append(np.cumsum(self.masses[world, ::-1])[::-1], 0.0)
        return beyond[np.searchsorted(self.values[world], x, side="right")]

    def below(self, x: np.ndarray, world: int) -> np.ndarray:
        beneath = self.law.below[world] + np.append(0.0, np.cumsum(self.masses[world]))
        return beneath[np.searchsorted(self.values[world], x, side="right")]


KINDS = (
    "likelihood ratio",
    "mostly infinite",
    "a likely end",
    "ties",
    "far values",
    "likely values",
    "plain",
)


def sampled(kind: str, seed: int) -> Sampled:
    rng = np.random.default_rng(seed)
    d, size = 5 if kind == "a likely end" else 11, 3
    v = rng.normal(size=(d, size)) * rng.uniform(0.2, 3.0)
    p = rng.dirichlet(np.full(size, 0.3 if kind == "far values" else 1.0), d)
    if kind == "likely values":
        v, p = v * [0.1, 1.0, 3.0], np.tile([0.9, 0.08, 0.02], (d, 1))
    if kind == "a likely end":
        v, p = np.abs(v) * [0.1, 0.3, 3.0], np.tile([0.7, 0.27, 0.03], (d, 1))
    if kind == "ties":
        v = np.round(v, 1)
    if kind == "far values":
        v[:, -1] *= 6.0
    q = p * np.exp(rng.uniform(0.0, 0.5) * v)
    q /= q.sum(axis=1, keepdims=True)
    if kind == "likelihood ratio":
        v = np.log(q / p)
    if kind == "mostly infinite":
        p, q = 0.3 * p, 0.96 * q
    offset = np.array([0.0, 0.0 if kind == "likelihood ratio" else 0.3])
    tables = [(v[j], np.stack([p[j], q[j]]), np.ones(2)) for j in range(d)]
    values, masses = outcomes(tables, offset)
    order = np.argsort(values, axis=1)
    total = Independent((Stack(v, np.stack([p, q]), np.ones((2, d), int)),), offset)
    below = 1.0 - total.finite if kind == "mostly infinite" else np.zeros(2)
    law = TiltedBrackets(total, bracket, 1e-13, 0.0, below)
    return Sampled(law, np.take_along_axis(values, order, 1), np.take_along_axis(masses, order, 1))


def missed(case: Sampled, rng: np.random.Generator) -> float:
    """How far, in the logarithm, the truth leaves the relative bounds of both tails at random thresholds; at most 0."""
    tails, worst = case.law, -1.0
    spread, scale = np.sqrt(tails.total.variance[0]), 1e-8  # nearer scores may be equal
    x = np.concatenate(
        [rng.choice(case.values[0], 20), tails.total.mean[0] + 4.0 * spread * rng.normal(size=20)]
    )
    for world in (0, 1):
        known = tails.tail_bounds(x, inside=bool(world))
        with np.errstate(divide="ignore", invalid="ignore"):
            for low, high, truth, sign in (
                (known.log_tpr_low, known.log_tpr_high, case.above, 1.0),
                (known.log_fnr_low, known.log_fnr_high, case.below, -1.0),
            ):
                most, least = (np.log(truth(x - side * sign * scale, world)) for side in (1.0, -1.0))
                gaps = np.stack([low - most, least - high])
                worst = max(worst, float(np.nan_to_num(gaps, nan=-1.0, neginf=-1.0).max()))
    return worst - 1e-11  # the truth is a float64 sum as well


@pytest.fixture
def unlisted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only values of a probability of 2^-15 are listed: with few outcomes all would be."""
    monkeypatch.setattr(independent_module, "_ENUMERATED", 1.0)
    monkeypatch.setattr(tilted_module, "_NODES", 2**12 - 1)


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.evidence] * (kind != "a likely end")) for kind in KINDS],
)
@pytest.mark.usefixtures("unlisted")
def test_small_tails_lie_in_relative_bounds_that_see_a_law_a_little_off(kind: str) -> None:
    case, rng = sampled(kind, 1), np.random.default_rng(7)
    assert missed(case, rng) <= 0.0
    # Probabilities of a hundredth more for the largest value of each table: the tails no longer hold.
    tails = case.law
    (stack,) = tails.total.stacks
    largest = stack.values == stack.values.max(axis=1, keepdims=True)
    off = stack.probability * np.where(largest, 1.02, 1.0)
    off *= (stack.probability.sum(axis=2) / off.sum(axis=2))[:, :, None]
    wrong = replace(tails.total, stacks=(replace(stack, probability=off),))
    changed = TiltedBrackets(wrong, tails.bracket, tails.relative, tails.lost, tails.below)
    assert missed(replace(case, law=changed), rng) > 1e-3


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind,
            marks=[pytest.mark.evidence]
            * (kind in ("mostly infinite", "likely values", "plain", "far values")),
        )
        for kind in KINDS
    ],
)
@pytest.mark.usefixtures("unlisted")
def test_curves_at_rare_rates_hold_the_truth_to_a_per_cent(kind: str) -> None:
    case = sampled(kind, 2)
    curve, rates = ExactTradeOff(case.law, case.law.sharper), np.array([1e-2, 1e-4, 1e-6, 1e-8])
    key = np.unique(np.round(case.values, 8))
    at = [np.searchsorted(key, np.round(case.values[world], 8)) for world in (0, 1)]
    fpr, tpr = (np.append(0.0, np.cumsum(np.bincount(at[w], case.masses[w], key.size)[::-1])) for w in (0, 1))
    known = rates > fpr[fpr > 0.0][0]
    assert known.any()
    truth = np.interp(rates[known], np.append(fpr, 1.0), np.append(tpr, 1.0))
    low, high = curve.tpr_bounds(rates[known])
    assert (low <= truth * (1 + 1e-11)).all()
    assert (truth <= high * (1 + 1e-11)).all()
    assert (high <= 1.01 * low).all()


def test_no_score_is_infinite_but_where_the_terms_are() -> None:
    rng = np.random.default_rng(0)
    item = Stack(rng.normal(size=(30, 3)), np.full((2, 30, 3), 0.33), np.ones((2, 30), int))
    total = Independent((item,), np.zeros(2))
    result = bracket(total, below=1.0 - total.finite)
    ends = np.array([-np.inf, np.inf])
    for world in (0, 1):
        low, high = result.above_bounds(ends, world)
        assert low[1] == high[1] == result.estimate(ends, world)[1] == 0.0
        assert result.estimate(ends, world)[0] == total.finite[world]
        assert low[0] <= total.finite[world] <= high[0]


def test_a_row_without_mass_in_a_world_has_a_characteristic_function_of_0():
    probability = np.stack([[[0.0, 0.0]], [[0.5, 0.5]]])
    total = Independent((Stack(np.array([[0.0, 1.0]]), probability, np.array([[2], [1]])),), np.zeros(2))
    value, error = total.characteristic(0.1, 4, 0.0)
    assert np.abs(value[0]).max() == 0.0
    assert np.isfinite(error).all()
    assert np.allclose(value[1], (0.5 + 0.5 * np.exp(0.1j * np.arange(5))), atol=1e-12)


def test_a_threshold_is_where_its_own_tails_say() -> None:
    nothing = Stack(np.zeros((1, 1)), np.ones((2, 1, 1)), np.ones((2, 1), int))
    law = BracketLaw(bracket(Independent((nothing,), np.array([0.0, 1.0]), noise_of(normal=1.0))))
    alpha = np.array([0.01, 0.3, 0.9])
    result = law.threshold_at(alpha)
    assert (law.sf(result, inside=False) <= alpha * (1 + 1e-12)).all()
    assert (law.sf(result - 1e-9, inside=False) > alpha).all()
    np.testing.assert_allclose(result, -ndtri(alpha), atol=1e-2)
