"""Every route to a game's law gives the same curve, between the vertices too: compared with rational enumeration of all outcomes."""

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.exact.atoms import AtomsLaw
from mipsim.exact.bracketed import bracketed_law
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.linear import linear_law
from mipsim.forms.problem import FixedProblem
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.score_law import AbstractScoreLaw
from tests.enumeration import (
    Tests,
    Weighted,
    best_tests,
    coin,
    fnr_between,
    linear,
    masses_of,
    threshold_tests,
)

MEAN = mi.EmpiricalMean()
ALPHAS = np.concatenate([np.linspace(0.025, 1.0, 40), [0.1, 0.3, 1e-3]])


def coins(p: list[float], n: int, target: list[float], w: list[float]) -> Tests:
    return threshold_tests(masses_of([coin(x) for x in p], n, target, linear(w)))


def between(tests: Tests, alphas: np.ndarray) -> np.ndarray:
    """The FNR on the segment of two neighbouring tests that holds each FPR; the least at the FPR of a test. In float64."""
    return np.array([float(fnr_between(tests, Fraction(float(alpha)))) for alpha in alphas])


def ends(*game: Any) -> tuple[np.ndarray, np.ndarray]:
    """Between the best tests of every FPR, and between all of them."""
    return between(best_tests(coins(*game)), ALPHAS), between(coins(*game), ALPHAS)


def problem(
    data: mi.AbstractDistribution, n: int, target: list[float], w: list[float], **noise: float
) -> FixedProblem:
    mechanism = mi.DiscreteGaussianNoise(MEAN, **noise) if noise else MEAN
    release = mechanism.mean_of_rows(n)
    assert release is not None
    return FixedProblem(data, release, Weighted(w), np.asarray(target, float), np.asarray(target, float))


def by_atoms(
    data: mi.AbstractDistribution, n: int, target: list[float], w: list[float]
) -> AbstractScoreLaw | None:
    result = linear_law(problem(data, n, target, w))
    assert isinstance(result, AtomsLaw)
    return result


def by_inversion(
    data: mi.AbstractDistribution, n: int, target: list[float], w: list[float]
) -> AbstractScoreLaw | None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mipsim.exact.linear.convolve", lambda *_: None)
        result = linear_law(problem(data, n, target, w))
    return result if isinstance(result, InvertedLaw) and result.transform.lattice is not None else None


def by_bracket(
    data: mi.AbstractDistribution, n: int, target: list[float], w: list[float]
) -> AbstractScoreLaw | None:
    return bracketed_law(problem(data, n, target, w))


def through_faint_noise(
    data: mi.AbstractDistribution, n: int, target: list[float], w: list[float]
) -> AbstractScoreLaw | None:
    """Noise that is 0 but for some 1e-240."""
    return bracketed_law(problem(data, n, target, w, deviation=0.03, step=1.0 / n))


ROUTES = [by_atoms, by_inversion, by_bracket, through_faint_noise]
Game = tuple[list[float], int, list[float], list[float]]
GAMES: dict[str, Game] = {
    "between the vertices": ([0.5], 3, [0.5], [1.0]),
    "a target between the counts": ([0.3, 0.6], 3, [0.5, 0.25], [1.0, 2.0]),
    "a negative weight": ([0.2, 0.5], 4, [1.0, 0.0], [1.0, -1.0]),
    "a target far out": ([0.4], 4, [7.0], [1.0]),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_every_route_gives_the_same_curve(route: Callable[..., AbstractScoreLaw | None], game: Game) -> None:
    p, n, target, w = game
    with exact_scope():
        law = route(mi.Bernoulli(p), n, target, w)
        if law is None:
            assert route is by_inversion  # a target off the lattice
            return
        low, high = ExactTradeOff(law).beta_bounds(ALPHAS)
    best, every = ends(p, n, target, w)
    assert ((low <= best + 1e-14) & (best <= every) & (every <= high + 1e-14)).all()
    if law.error_bound < 1e-11:
        np.testing.assert_allclose(low, best, atol=1e-9)


def test_the_curve_of_ties_that_are_split_is_another() -> None:
    """The control: a coin at a tie, where only the "out" world has a score, leaves the FNR where it is."""
    every, at = coins(*GAMES["between the vertices"]), np.array([0.3])
    quarter, eighth = Fraction(1, 4), Fraction(1, 8)
    assert best_tests(every) == [
        (0, 0),
        (eighth, quarter),
        (4 * eighth, 3 * quarter),
        (7 * eighth, 1),
        (1, 1),
    ]
    assert between(best_tests(every), at) == pytest.approx(0.75 - 0.5 * 0.175 / 0.375)
    assert between(every, at) == 0.75


@pytest.mark.evidence
@pytest.mark.parametrize("target", [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.5]])
@pytest.mark.parametrize("big", [-1e11, -1e13, 1e8])
def test_a_score_without_mass_does_not_say_which_others_are_equal(target: list[float], big: float) -> None:
    p, n, w = [1e-15, 0.5, 0.4], 10, [big, 0.0, 0.63]
    game = mi.FixedTarget(MEAN, mi.Bernoulli(p), n, target)
    low, high = game.exact(Weighted(w)).beta_bounds(ALPHAS)
    best, every = ends(p, n, target, w)
    assert ((low <= best) & (every <= high)).all()
    np.testing.assert_allclose(low[:-1], best[:-1], atol=1e-11)
    np.testing.assert_allclose(high[:-1], every[:-1], atol=1e-11)


def test_random_games_by_all_routes() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(40):
        d, n = int(rng.integers(1, 3)), int(rng.integers(2, 5))
        p = [float(x) for x in rng.choice([1e-12, 0.1, 0.5, 0.75, 1 - 1e-9], d)]
        target = [float(x) for x in rng.choice([0.0, 1.0, 0.5, 2.0, -1.0], d)]
        w = [float(x) for x in rng.choice([1.0, 2.0, -1.0, 0.5, 3.0], d)]
        best, every = ends(p, n, target, w)
        for route in ROUTES:
            with exact_scope():
                law = route(mi.Bernoulli(p), n, target, w)
                if law is None:
                    continue
                if isinstance(law, InvertedLaw) and max(np.abs(np.array(p) - 0.5)) > 0.49:
                    continue  # nothing to invert: a single atom has nearly all of the mass
                seen += 1
                low, high = ExactTradeOff(law).beta_bounds(ALPHAS)
            inside = (low <= best + 1e-14) & (best <= every) & (every <= high + 1e-14)
            assert inside.all(), f"{route.__name__}: {p}, {n}, {target}, {w}"
    assert seen > 100


def test_a_threshold_near_an_atom_has_the_tail_of_the_atom() -> None:
    """Rows that coins keep: a threshold 9e-7 steps below the lowest atom, which counts as on it, was 3.5e-5 off."""
    n, rate, p = 2, 0.3, 0.5
    game = mi.FixedTarget(mi.PoissonSubsampled(MEAN, rate), mi.Bernoulli([p]), n, [1.0])
    law = game.exact(Weighted([1.0])).law
    ones = [comb(n, k) * (rate * p) ** k * (1 - rate * p) ** (n - k) for k in range(n + 1)]
    step = 1.0 / (n * rate)
    for k in range(n + 1):
        for off in (0.0, -1e-13, 1e-9, 0.5, -0.5, -1e-3):
            truth = sum(ones[: k + (off > -1e-12)])
            assert abs(float(law.cdf(step * (k + off), inside=False)) - truth) <= law.error_bound + 1e-15
        near = [sum(ones[: k + more]) for more in (0, 1)]
        for off in (-9e-7, -1e-9, -1e-10):  # on the atom or not: nothing between
            result = float(law.cdf(step * (k + off), inside=False))
            assert min(abs(result - truth) for truth in near) <= law.error_bound + 1e-15
    # The record takes part by its own coin, among a single other.
    inside = np.convolve([1 - rate, rate], [1 - rate * p, rate * p])
    for k in range(n + 1):
        result = float(law.cdf(step * (k + 0.5), inside=True))
        assert abs(result - inside[: k + 1].sum()) <= law.error_bound + 1e-15
    assert law.error_bound < 1e-3
