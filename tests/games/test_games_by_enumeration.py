"""Both games, both routes, against the law that enumerating every set of records gives."""

import itertools

import jax
import numpy as np
import pytest

import mipsim as mi
from tests.enumeration import Law, literal_sums, random_target_sums, total_variation
from tests.law_agreement import has_frequencies
from tests.scope import in_exact_scope  # noqa: F401

P, TARGET, DATA = (0.3, 0.6), (1, 0), mi.Bernoulli((0.3, 0.6))
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


WITH = literal_sums(P, 3, TARGET)
# Game, numbers of records in a release, the laws out and in, and what is wrong in: p off by 0.04, which moves a mean of 60,000 coins by 20 standard
# errors; and the target always among the sampled rows.
ROWS: dict[str, tuple[mi.AbstractGame, int, Law, Law, Law]] = {
    "mean": (mi.FixedTarget(mi.EmpiricalMean(), DATA, 3, TARGET), 3, literal_sums(P, 3, None), WITH, literal_sums((0.34, 0.6), 3, TARGET)),
    "sub-sample": (
        mi.FixedTarget(mi.Subsampled(mi.EmpiricalMean(), 0.5), DATA, 4, TARGET), 2, literal_sums(P, 4, None, chosen=2),
        literal_sums(P, 4, TARGET, chosen=2), literal_sums(P, 2, TARGET),
    ),
    "random target": (
        mi.RandomTarget(mi.EmpiricalMean(), DATA, 3), 3, random_target_sums(P, 3, False), random_target_sums(P, 3, True), random_target_sums(P, 3, False),
    ),
}  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize("route", ["literal", "sufficient"])
@pytest.mark.parametrize("name", ROWS)
def test_releases_have_the_enumerated_law(name: str, route: str) -> None:
    game, top, *laws, wrong = ROWS[name]
    worlds = [
        np.concatenate([target, top * output], axis=1) if name == "random target" else top * output
        for target, output in play(game, route)
    ]
    for i, j in itertools.product((0, 1), repeat=2):
        assert agrees(worlds[i], laws[j], top) is (i == j)
    assert not agrees(worlds[1], wrong, top)


def test_the_random_target_advantage_is_the_average_over_targets() -> None:
    """Exact, by enumeration: the identity that links the two games."""
    average = 0.0
    for target in itertools.product((0, 1), repeat=2):
        weight = np.prod([p if z else 1 - p for z, p in zip(target, P, strict=True)])
        average += weight * total_variation(literal_sums(P, 3, target), literal_sums(P, 3, None))
    joint = total_variation(random_target_sums(P, 3, True), random_target_sums(P, 3, False))
    assert joint == pytest.approx(average, rel=1e-12)
    assert joint != pytest.approx(1.01 * average, rel=1e-3)
