"""Every game is played as its rules say, and an exact law is that of games which NumPy plays by the rules."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mipsim as mi
from mipsim import games
from tests.contracts.family import agree, compiled, exported
from tests.law_agreement import FAILURE
from tests.scope import in_exact_scope  # noqa: F401

ROUNDS = 40_000
N, TARGET = 5, np.array([2.0, -1.0])
SD, MU = np.array([1.0, 1.5]), np.array([0.0, 1.0])
DATA = mi.Gaussian(MU, SD**2)
RECORDS = np.array([[0.0, 1.0], [1.0, 0.5], [4.0, 2.0], [2.0, -1.0], [3.0, 0.0], [5.0, 6.0]])
MEAN = mi.EmpiricalMean()
Rules = Callable[[np.random.Generator, int, bool], np.ndarray]


def fixed(rng: np.random.Generator, m: int, member: bool) -> np.ndarray:
    """The mean of n records, of which the target takes the place of a single record."""
    rows = rng.normal(MU, SD, (m, N, 2))
    rows[:, 2] = TARGET if member else rows[:, 2]
    return rows.mean(axis=1)


def random(rng: np.random.Generator, m: int, member: bool) -> np.ndarray:
    """The target is among the records, or another."""
    rows, other = rng.normal(MU, SD, (m, N, 2)), rng.normal(MU, SD, (m, 2))
    return np.concatenate([rows[:, 1] if member else other, rows.mean(axis=1)], axis=1)


def subset(rng: np.random.Generator, m: int, member: bool) -> np.ndarray:
    """A half of six records, with the record 2 or without it."""
    others = np.delete(RECORDS, 2, axis=0)[np.argsort(rng.random((m, 5)), axis=1)]
    return (others[:, :2].sum(axis=1) + RECORDS[2]) / 3.0 if member else others[:, :3].mean(axis=1)


def relaxed(rng: np.random.Generator, m: int, member: bool) -> np.ndarray:
    """The sum of known records and noise, with the record by a coin."""
    coin = (rng.random((m, 1)) < 0.5) if member else np.zeros((m, 1))
    return RECORDS.sum(axis=0) + coin * TARGET + rng.normal(0.0, 1.0, (m, 2))


def inputs(rng: np.random.Generator, m: int, member: bool) -> np.ndarray:
    return (TARGET if member else np.zeros(2)) + rng.laplace(size=(m, 2))


# Game, and the rules in NumPy: outputs of m rounds of a world, the targets before them where these differ.
MEMBERS: dict[str, tuple[mi.AbstractGame, Rules, mi.AbstractAttack | None]] = {
    "FixedTarget": (mi.FixedTarget(MEAN, DATA, N, TARGET), fixed, mi.ScalarProduct([0.0, 0.0])),
    "RandomTarget": (mi.RandomTarget(MEAN, DATA, N), random, None),
    "Subset": (mi.Subset(MEAN, RECORDS, 2), subset, None),
    "RelaxedThreat": (
        mi.RelaxedThreat(lambda rows: rows.sum(axis=0), RECORDS, TARGET, mi.Gaussian(0.0, 1.0, d=2), sampling_rate=0.5),
        relaxed, mi.FunctionAttack(lambda known, output: jnp.dot(TARGET, output - known)),
    ),
    "TwoInputs": (
        mi.TwoInputs(lambda key, x: x + jax.random.laplace(key, x.shape), np.zeros(2), TARGET), inputs, None
    ),
}  # fmt: skip


def played(game: mi.AbstractGame) -> list[np.ndarray]:
    """Outputs of both worlds, the targets before them where these differ."""

    @compiled
    def play(key: jax.Array, member: bool) -> tuple[jax.Array, jax.Array]:
        return jax.vmap(game.play, in_axes=(0, None))(jax.random.split(key, ROUNDS), member)

    worlds = [play(jax.random.key(7 + member), member) for member in (False, True)]
    return [
        np.hstack(world) if isinstance(game, mi.RandomTarget) else np.asarray(world[1]) for world in worlds
    ]


def test_every_member_has_its_rules() -> None:
    assert exported(games, mi.AbstractGame) == set(MEMBERS)


@pytest.mark.parametrize("name", MEMBERS)
def test_a_game_is_played_by_its_rules(name: str) -> None:
    game, rules, _ = MEMBERS[name]
    assert type(game).__name__ == name
    worlds = played(game)
    ruled = [rules(np.random.default_rng(1), 2 * ROUNDS, member) for member in (False, True)]
    assert [[agree(own, other) for other in ruled] for own in worlds] == [[True, False], [False, True]]
    assert not agree(1.05 * worlds[True], ruled[True])


@pytest.mark.parametrize("name", [name for name, row in MEMBERS.items() if row[2] is not None])
def test_the_exact_law_is_that_of_the_rules(name: str) -> None:
    game, rules, attack = MEMBERS[name]
    assert isinstance(game, mi.FixedTarget | mi.RelaxedThreat)
    law = game.exact(attack).law
    known = TARGET if name == "FixedTarget" else RECORDS.sum(axis=0)
    score = jax.vmap(lambda output: attack.score(jnp.asarray(known), output))  # type: ignore[union-attr]
    count = 8 * ROUNDS
    reach = np.sqrt(np.log(2.0 / FAILURE) / (2.0 * count)) + law.error_bound  # Dvoretzky, Kiefer & Wolfowitz
    away = {}
    for member in (False, True):
        scores = np.sort(np.asarray(score(jnp.asarray(rules(np.random.default_rng(2), count, member)))))
        x = scores[:: count // 400]
        at = np.searchsorted(scores, x, side="right") / count
        away |= {(member, by): np.abs(at - law.cdf(by * x, inside=member)).max() for by in (1.0, 1.05)}
    assert max(away[False, 1.0], away[True, 1.0]) < reach < min(away[False, 1.05], away[True, 1.05])
