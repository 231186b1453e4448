"""Both games, both routes, against the law that enumerating every set of records gives."""

import itertools

import jax
import numpy as np
import pytest

import mipsim as mi
from tests.enumeration import Law, literal_sums, random_target_sums, total_variation
from tests.law_agreement import has_frequencies
from tests.scope import in_exact_scope  # noqa: F401

P = (0.3, 0.6)
TARGET = (1, 0)
GAMES = 20_000


def play(game: mi.AbstractGame, route: str) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Targets and outputs of GAMES rounds "out", then "in"; the world is traced: a single compilation."""
    item = game.play if route == "literal" else game.exact_round()
    assert item is not None
    rounds = jax.jit(jax.vmap(item, in_axes=(0, None)))
    worlds = (rounds(jax.random.split(jax.random.key(7 + member), GAMES), member) for member in (False, True))
    return tuple((np.asarray(target), np.asarray(output)) for target, output in worlds)


def agrees(draws: np.ndarray, law: Law, top: int) -> bool:
    """Chi-square of whole-number vectors against a law; false-alarm probability 1e-9."""
    assert np.abs(draws - np.round(draws)).max() < 1e-9
    cells = list(itertools.product(range(top + 1), repeat=draws.shape[1]))
    codes = np.round(draws).astype(int) @ (top + 1) ** np.arange(draws.shape[1])[::-1]
    counts = np.bincount(codes, minlength=len(cells))
    return has_frequencies(counts, np.array([law.get(cell, 0.0) for cell in cells]))


@pytest.mark.evidence
@pytest.mark.parametrize("route", ["literal", "sufficient"])
def test_fixed_target_mean(route: str) -> None:
    game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli(P), n=3, target=TARGET)
    (target, out), (_, inside) = play(game, route)
    assert (target == TARGET).all()
    law_out, law_in = literal_sums(P, 3, None), literal_sums(P, 3, TARGET)
    assert agrees(3 * out, law_out, 3)
    assert agrees(3 * inside, law_in, 3)
    assert not agrees(3 * out, law_in, 3)
    assert not agrees(3 * inside, law_out, 3)
    # The planted error: p off by 0.04, which moves a mean of 60,000 draws by 20 standard errors.
    assert not agrees(3 * inside, literal_sums((0.34, 0.6), 3, TARGET), 3)


@pytest.mark.evidence
@pytest.mark.parametrize("route", ["literal", "sufficient"])
def test_fixed_target_subsample(route: str) -> None:
    mechanism = mi.Subsampled(mi.EmpiricalMean(), 0.5)
    (_, out), (_, inside) = play(mi.FixedTarget(mechanism, mi.Bernoulli(P), n=4, target=TARGET), route)
    assert agrees(2 * out, literal_sums(P, 4, None, chosen=2), 2)
    assert agrees(2 * inside, literal_sums(P, 4, TARGET, chosen=2), 2)
    # The planted error: the target always among the sampled rows.
    assert not agrees(2 * inside, literal_sums(P, 2, TARGET), 2)


@pytest.mark.evidence
@pytest.mark.parametrize("route", ["literal", "sufficient"])
def test_random_target(route: str) -> None:
    game = mi.RandomTarget(mi.EmpiricalMean(), mi.Bernoulli(P), n=3)
    worlds = [np.concatenate([target, 3 * output], axis=1) for target, output in play(game, route)]
    laws = [random_target_sums(P, 3, member) for member in (False, True)]
    for i, j in itertools.product((0, 1), repeat=2):
        assert agrees(worlds[i], laws[j], 3) is (i == j)


def test_the_random_target_advantage_is_the_average_over_targets() -> None:
    """Exact, by enumeration: the identity that links the two games."""
    average = 0.0
    for target in itertools.product((0, 1), repeat=2):
        weight = np.prod([p if z else 1 - p for z, p in zip(target, P, strict=True)])
        average += weight * total_variation(literal_sums(P, 3, target), literal_sums(P, 3, None))
    joint = total_variation(random_target_sums(P, 3, True), random_target_sums(P, 3, False))
    assert joint == pytest.approx(average, rel=1e-12)
    assert joint != pytest.approx(1.01 * average, rel=1e-3)
