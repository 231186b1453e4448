"""Every route to a game's law gives the same curve, between the vertices too: compared with rational enumeration of all outcomes."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

import equinox as eqx
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

MEAN = mi.EmpiricalMean()
ALPHAS = np.concatenate([np.linspace(0.025, 1.0, 40), [0.1, 0.3, 1e-3]])
Vertices = list[tuple[Fraction, Fraction]]


class Weighted(mi.AbstractLinearAttack):
    w: np.ndarray = eqx.field(converter=np.asarray)

    def weights(self, target: Any) -> Any:
        return self.w

    def offset(self, target: Any) -> Any:
        return 0.0


def rates_of(p: list[float], n: int, target: list[float], w: list[float]) -> Vertices:
    """(FPR, FNR) of every threshold test, from the highest threshold on; without rounding."""
    rates, goal, weights = ([Fraction(x) for x in given] for given in (p, target, w))
    masses: dict[Fraction, list[Fraction]] = {}
    for world, rows in enumerate((n, n - 1)):
        for counts in product(range(rows + 1), repeat=len(p)):
            own = goal if world else [Fraction(0)] * len(p)
            score = sum(a * (c + z) for a, c, z in zip(weights, counts, own, strict=True)) or Fraction(0)
            chance = prod(
                comb(rows, c) * q**c * (1 - q) ** (rows - c) for c, q in zip(counts, rates, strict=True)
            )
            masses.setdefault(score, [Fraction(0), Fraction(0)])[world] += chance
    result = [(Fraction(0), Fraction(1))]
    for score in sorted(masses, reverse=True):
        result.append((result[-1][0] + masses[score][0], result[-1][1] - masses[score][1]))
    return result


def vertices(p: list[float], n: int, target: list[float], w: list[float]) -> Vertices:
    """(FPR, least FNR) of all threshold tests at every FPR that any of them has."""
    return sorted(dict(rates_of(p, n, target, w)).items())


def between(known: Vertices, alphas: np.ndarray) -> np.ndarray:
    """The FNR on the segment of two neighbouring tests that holds each FPR; the least at the FPR of a test. In float64."""
    result = []
    for alpha in (Fraction(float(x)) for x in alphas):
        last = max(i for i, (fpr, _) in enumerate(known) if fpr <= alpha)
        fpr, fnr = known[last]
        if fpr < alpha:
            above, less = known[last + 1]
            fnr += (alpha - fpr) / (above - fpr) * (less - fnr)
        result.append(float(fnr))
    return np.array(result)


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
        patch.setattr("mipsim.exact.linear._few_atoms", lambda *_: None)
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
    thresholds, coins = (between(of(p, n, target, w), ALPHAS) for of in (vertices, rates_of))
    assert ((low <= thresholds + 1e-14) & (thresholds <= coins) & (coins <= high + 1e-14)).all()
    if law.error_bound < 1e-11:
        np.testing.assert_allclose(low, thresholds, atol=1e-9)


def test_the_curve_of_ties_that_are_split_is_another() -> None:
    """The control: a coin at a tie, where only the "out" world has a score, leaves the FNR where it is."""
    known = vertices(*GAMES["between the vertices"])
    assert known == [
        (0, 1),
        (Fraction(1, 8), Fraction(3, 4)),
        (Fraction(1, 2), Fraction(1, 4)),
        (Fraction(7, 8), 0),
        (1, 0),
    ]
    at = np.array([0.3])
    assert between(known, at) == pytest.approx(0.75 - 0.5 * 0.175 / 0.375)
    assert between(rates_of(*GAMES["between the vertices"]), at) == 0.75


@pytest.mark.evidence
@pytest.mark.parametrize("target", [[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.5]])
@pytest.mark.parametrize("big", [-1e11, -1e13, 1e8])
def test_a_score_without_mass_does_not_say_which_others_are_equal(target: list[float], big: float) -> None:
    p, n, w = [1e-15, 0.5, 0.4], 10, [big, 0.0, 0.63]
    game = mi.FixedTarget(MEAN, mi.Bernoulli(p), n, target)
    low, high = game.exact(Weighted(w)).beta_bounds(ALPHAS)
    thresholds, coins = (between(of(p, n, target, w), ALPHAS) for of in (vertices, rates_of))
    assert ((low <= thresholds) & (coins <= high)).all()
    np.testing.assert_allclose(low[:-1], thresholds[:-1], atol=1e-11)
    np.testing.assert_allclose(high[:-1], coins[:-1], atol=1e-11)


def test_random_games_by_all_routes() -> None:
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(40):
        d, n = int(rng.integers(1, 3)), int(rng.integers(2, 5))
        p = [float(x) for x in rng.choice([1e-12, 0.1, 0.5, 0.75, 1 - 1e-9], d)]
        target = [float(x) for x in rng.choice([0.0, 1.0, 0.5, 2.0, -1.0], d)]
        w = [float(x) for x in rng.choice([1.0, 2.0, -1.0, 0.5, 3.0], d)]
        thresholds, coins = (between(of(p, n, target, w), ALPHAS) for of in (vertices, rates_of))
        for route in ROUTES:
            with exact_scope():
                law = route(mi.Bernoulli(p), n, target, w)
                if law is None:
                    continue
                if isinstance(law, InvertedLaw) and max(np.abs(np.array(p) - 0.5)) > 0.49:
                    continue  # nothing to invert: a single atom has nearly all of the mass
                seen += 1
                low, high = ExactTradeOff(law).beta_bounds(ALPHAS)
            inside = (low <= thresholds + 1e-14) & (thresholds <= coins) & (coins <= high + 1e-14)
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
